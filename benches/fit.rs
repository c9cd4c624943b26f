//! What a fit costs: the straight line in doubles and in double-double beside the textbook sums, and the other models at the sizes
//! that timings have.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use fit::robust::{AffineTime, Bootstrap, TheilSen};
use fit::{Amdahl, Arithmetic, Design, Errors, LinearFit, Model, Options, PowerLaw, StudentT, Usl};

const THREADS: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];
const SECONDS: [f64; 5] = [49.32, 26.74, 18.60, 14.29, 11.21];

/// The formula of textbooks, in one pass: fast, and wrong for large means.
fn textbook(x: &[f64], y: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let (mut sx, mut sy, mut sxx, mut sxy) = (0.0, 0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    let slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
    ((sy - slope * sx) / n, slope)
}

fn five_points(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fit/five points");
    group.bench_function("textbook sums (baseline)", |b| b.iter(|| textbook(black_box(&THREADS), black_box(&SECONDS))));
    group.bench_function("line", |b| b.iter(|| LinearFit::ols(black_box(&THREADS), black_box(&SECONDS)).expect("a line")));
    group.bench_function("power law, log-log", |b| b.iter(|| PowerLaw::log_log(black_box(&THREADS), &SECONDS).expect("a law")));
    group.bench_function("power law, nonlinear", |b| b.iter(|| PowerLaw::nls(black_box(&THREADS), &SECONDS).expect("a law")));
    let options = Options::default().errors(Errors::Multiplicative);
    group.bench_function("Amdahl", |b| b.iter(|| Amdahl::fit(black_box(&THREADS), &SECONDS, &options).expect("a law")));
    let rates = SECONDS.map(|s| 15.517 / s);
    group.bench_function("USL", |b| b.iter(|| Usl::fit(black_box(&THREADS), &rates, &options).expect("a law")));
    let law = PowerLaw::log_log(&THREADS, &SECONDS).expect("a law");
    group.bench_function("prediction interval", |b| b.iter(|| law.prediction_interval(black_box(10.0), 0.95).expect("an interval")));
    group.bench_function("quantile of Student's t", |b| {
        b.iter(|| StudentT::new(black_box(7.0)).expect("degrees").upper_quantile(black_box(0.025)));
    });
    group.finish();
}

fn million_points(criterion: &mut Criterion) {
    let x: Vec<f64> = (0..1_000_000).map(|i| f64::from(i) * 1e-3).collect();
    let y: Vec<f64> = x.iter().enumerate().map(|(i, x)| 0.5 + 2.0 * x + ((i * 7919) % 1000) as f64 * 1e-3).collect();
    let mut group = criterion.benchmark_group("fit/million points");
    group.throughput(Throughput::Elements(x.len() as u64)).sample_size(10);
    group.bench_function("textbook sums (baseline)", |b| b.iter(|| textbook(black_box(&x), black_box(&y))));
    let fast = Options::default().arithmetic(Arithmetic::Double);
    group.bench_function("line in doubles", |b| {
        b.iter(|| LinearFit::fit(Design::Line(black_box(&x)), &y, &fast).expect("a line"));
    });
    group.bench_function("line in double-double", |b| {
        b.iter_batched(|| (), |()| LinearFit::ols(black_box(&x), &y).expect("a line"), BatchSize::PerIteration);
    });
    group.finish();
}

fn robust(criterion: &mut Criterion) {
    let bytes: Vec<f64> = (0..160).map(|i| 2e6 * f64::from(1 << (i % 10))).collect();
    let seconds: Vec<f64> = bytes.iter().enumerate().map(|(i, b)| (0.003 + b / 2e9) * (1.0 + 0.02 * ((i * 37) % 11) as f64)).collect();
    let mut group = criterion.benchmark_group("fit/160 transfers");
    group.sample_size(10);
    group.bench_function("line (baseline)", |b| b.iter(|| LinearFit::ols(black_box(&bytes), &seconds).expect("a line")));
    group.bench_function("Theil-Sen", |b| b.iter(|| TheilSen::fit(black_box(&bytes), &seconds).expect("a line")));
    group.bench_function("latency and bandwidth", |b| b.iter(|| AffineTime::fit(black_box(&bytes), &seconds).expect("a disk")));
    let disk = AffineTime::fit(&bytes, &seconds).expect("a disk");
    group.bench_function("their intervals, 1999 resamples", |b| {
        b.iter(|| disk.intervals(0.95, &Bootstrap::default()).expect("intervals"));
    });
    group.finish();
}

criterion_group!(benches, five_points, million_points, robust);
criterion_main!(benches);
