//! Correct digits of linear fits and of Student's t, for gannet-fit and other crates.
//!
//! `fit-peers digits` and `fit-peers student` print the rows of tables, `fit-peers data` prints the data as JSON for peers.py and peers.R.

#[allow(dead_code)]
#[path = "../../../crates/fit/tests/it/nist_data.rs"]
mod nist_data;
#[allow(dead_code)]
#[path = "../../../crates/fit/tests/it/student_data.rs"]
mod student_data;

use fit::{LinearFit, Model, StudentT};
use linfa::prelude::Fit;
use ndarray::{Array1, Array2};
use nist_data::*;
use smartcore::linalg::basic::matrix::DenseMatrix;

fn sets() -> [Set; 7] {
    [NORRIS, LONGLEY, FILIP, WAMPLER1, WAMPLER2, WAMPLER4, WAMPLER5]
}

/// Columns without the constant one; powers are rounded to doubles, as a caller would.
fn columns(set: &Set) -> Vec<Vec<f64>> {
    let degree = set.params.len() - 1;
    match set.x {
        [x] => (1..=degree).map(|k| x.iter().map(|x| x.powi(k as i32)).collect()).collect(),
        many => many.iter().map(|c| c.to_vec()).collect(),
    }
}

fn digits(got: f64, want: f64) -> f64 {
    if got == want {
        return 16.0;
    }
    let scale = if want == 0.0 { 1.0 } else { want.abs() };
    let d = -((got - want).abs() / scale).log10();
    if d.is_nan() { 0.0 } else { d.clamp(0.0, 16.0) }
}

fn least(got: &[f64], want: &[f64]) -> String {
    if got.len() != want.len() {
        return "fails".into();
    }
    format!("{:.1}", got.iter().zip(want).map(|(g, w)| digits(*g, *w)).fold(16.0, f64::min))
}

fn row(name: &str, solve: impl Fn(&Set) -> Option<(Vec<f64>, Option<Vec<f64>>)>) {
    let mut cells = Vec::new();
    for set in sets() {
        cells.push(match solve(&set) {
            Some((p, se)) => {
                let se = se.map_or("–".to_string(), |se| least(&se, set.std_errors));
                format!("{} / {se}", least(&p, set.params))
            }
            None => "fails".into(),
        });
    }
    println!("| {name} | {} |", cells.join(" | "));
}

fn gannet(set: &Set) -> Option<(Vec<f64>, Option<Vec<f64>>)> {
    let fit = match set.name {
        "Longley" => LinearFit::columns(set.x, set.y),
        "Norris" => LinearFit::ols(set.x[0], set.y),
        _ => LinearFit::polynomial(set.x[0], set.y, set.params.len() - 1),
    }
    .ok()?;
    Some((fit.params().iter().map(|p| p.estimate).collect(), Some(fit.params().iter().filter_map(|p| p.std_error).collect())))
}

fn gannet_columns(set: &Set) -> Option<(Vec<f64>, Option<Vec<f64>>)> {
    let columns = columns(set);
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let fit = LinearFit::columns(&columns, set.y).ok()?;
    Some((fit.params().iter().map(|p| p.estimate).collect(), Some(fit.params().iter().filter_map(|p| p.std_error).collect())))
}

fn linregress(set: &Set) -> Option<(Vec<f64>, Option<Vec<f64>>)> {
    let mut data = vec![("y".to_string(), set.y.to_vec())];
    data.extend(columns(set).into_iter().enumerate().map(|(k, c)| (format!("x{}", k + 1), c)));
    let names: Vec<String> = data[1..].iter().map(|d| d.0.clone()).collect();
    let data = linregress::RegressionDataBuilder::new().build_from(data).ok()?;
    let model = linregress::FormulaRegressionBuilder::new().data(&data).data_columns("y", names).fit().ok()?;
    Some((model.parameters().to_vec(), Some(model.se().to_vec())))
}

fn matrix(set: &Set) -> (Array2<f64>, Array1<f64>) {
    let columns = columns(set);
    (Array2::from_shape_fn((set.y.len(), columns.len()), |(i, j)| columns[j][i]), Array1::from(set.y.to_vec()))
}

fn linfa(set: &Set) -> Option<(Vec<f64>, Option<Vec<f64>>)> {
    let (x, y) = matrix(set);
    let model = linfa_linear::LinearRegression::default().fit(&linfa::Dataset::new(x, y)).ok()?;
    Some(([model.intercept()].into_iter().chain(model.params().iter().copied()).collect(), None))
}

fn smartcore(set: &Set, qr: bool) -> Option<(Vec<f64>, Option<Vec<f64>>)> {
    use smartcore::linalg::basic::arrays::Array;
    use smartcore::linear::linear_regression::{LinearRegression, LinearRegressionParameters, LinearRegressionSolverName};
    let columns = columns(set);
    let rows: Vec<Vec<f64>> = (0..set.y.len()).map(|i| columns.iter().map(|c| c[i]).collect()).collect();
    let x = DenseMatrix::from_2d_vec(&rows).ok()?;
    let solver = if qr { LinearRegressionSolverName::QR } else { LinearRegressionSolverName::SVD };
    let model = LinearRegression::fit(&x, &set.y.to_vec(), LinearRegressionParameters { solver }).ok()?;
    let slopes = (0..columns.len()).map(|k| *model.coefficients().get((k, 0)));
    Some(([*model.intercept()].into_iter().chain(slopes).collect(), None))
}

fn student() {
    use statrs::distribution::ContinuousCDF;
    let ordinary = |f: &dyn Fn(f64, f64) -> f64| {
        student_data::ORDINARY.iter().map(|&(p, df, t)| digits(f(p, df), t)).fold(16.0, f64::min)
    };
    let extreme = |f: &dyn Fn(f64, f64) -> f64| {
        student_data::EXTREME.iter().map(|&(q, df, t)| digits(f(q, df), t)).fold(16.0, f64::min)
    };
    println!("| **gannet-fit** | {:.1} | {:.1} |", ordinary(&|p, df| StudentT::new(df).unwrap().quantile(p)), extreme(&|q, df| StudentT::new(df).unwrap().upper_quantile(q)));
    let statrs = |p: f64, df: f64| statrs::distribution::StudentsT::new(0.0, 1.0, df).unwrap().inverse_cdf(p);
    // Its only way to the upper tail is the lower one with the sign turned. The far tails hang, so only p of 1e-10 and more.
    let near = student_data::EXTREME.iter().filter(|e| e.0 >= 1e-10 && e.1 <= 1e6);
    let least = near.map(|&(q, df, t)| digits(-statrs(q, df), t)).fold(16.0, f64::min);
    println!("| statrs 0.19.1 | {:.1} | {least:.1} (p ≥ 1e-10, ν ≤ 1e6 only) |", ordinary(&statrs));
}

fn data() {
    let all: Vec<serde_json::Value> = sets()
        .iter()
        .map(|s| serde_json::json!({"name": s.name, "columns": columns(s), "x": s.x, "y": s.y, "params": s.params, "std_errors": s.std_errors}))
        .collect();
    let t: Vec<_> = student_data::EXTREME.iter().map(|&(q, df, t)| serde_json::json!([q, df, t])).collect();
    println!("{}", serde_json::json!({"sets": all, "ordinary": student_data::ORDINARY, "extreme": t}));
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("digits") => {
            row("**gannet-fit**", gannet);
            row("gannet-fit, columns rounded by the caller", gannet_columns);
            row("linregress 0.5.4", linregress);
            row("linfa-linear 0.8.1", linfa);
            row("smartcore 0.7.0, SVD", |s| smartcore(s, false));
            row("smartcore 0.7.0, QR", |s| smartcore(s, true));
        }
        Some("student") => student(),
        Some("data") => data(),
        _ => eprintln!("fit-peers digits|student|data"),
    }
}
