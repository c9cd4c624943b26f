//! The time of a straight line, in one run for gannet-fit and other crates.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use fit::{Arithmetic, Design, LinearFit, Options};
use linfa::prelude::Fit;
use ndarray::{Array1, Array2};

fn lines(criterion: &mut Criterion, name: &str, x: &[f64], y: &[f64]) {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(20).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));
    let fast = Options::default().arithmetic(Arithmetic::Double);
    // What linfa fits is made beforehand, and not counted.
    let dataset = linfa::Dataset::new(Array2::from_shape_vec((x.len(), 1), x.to_vec()).unwrap(), Array1::from(y.to_vec()));
    group.bench_function("gannet-fit in doubles", |b| b.iter(|| LinearFit::fit(Design::Line(black_box(x)), y, &fast).unwrap()));
    group.bench_function("linfa-linear", |b| {
        b.iter(|| linfa_linear::LinearRegression::default().fit(black_box(&dataset)).unwrap());
    });
    group.bench_function("gannet-fit", |b| b.iter(|| LinearFit::ols(black_box(x), y).unwrap()));
    if x.len() < 1000 {
        group.bench_function("linregress", |b| {
            b.iter(|| {
                let data = [("y", black_box(y).to_vec()), ("x", x.to_vec())];
                let data = linregress::RegressionDataBuilder::new().build_from(data).unwrap();
                linregress::FormulaRegressionBuilder::new().data(&data).formula("y ~ x").fit().unwrap()
            });
        });
    }
    group.finish();
}

fn all(criterion: &mut Criterion) {
    lines(criterion, "five points", &[1.0, 2.0, 3.0, 4.0, 5.0], &[49.32, 26.74, 18.60, 14.29, 11.21]);
    let x: Vec<f64> = (0..1_000_000).map(|i| f64::from(i) * 1e-3).collect();
    let y: Vec<f64> = x.iter().enumerate().map(|(i, x)| 0.5 + 2.0 * x + ((i * 7919) % 1000) as f64 * 1e-3).collect();
    lines(criterion, "a million points", &x, &y);
}

criterion_group!(benches, all);
criterion_main!(benches);
