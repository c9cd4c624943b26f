//! Certified results.

use gannet_fit::{Design, LinearFit, Model, Options};

use crate::nist_data::*;
use crate::{assert_digits, digits};

fn linear(set: &Set) -> LinearFit {
    let x = set.x[0];
    let degree = set.params.len() - 1;
    match set.name {
        "Norris" => LinearFit::ols(x, set.y),
        "NoInt1" => LinearFit::through_origin(x, set.y),
        "Longley" => LinearFit::columns(set.x, set.y),
        _ => LinearFit::polynomial(x, set.y, degree),
    }
    .unwrap()
}

#[test]
fn linear_sets() {
    for set in [NORRIS, NOINT1, LONGLEY, FILIP, WAMPLER1, WAMPLER4, WAMPLER5] {
        let fit = linear(&set);
        for (k, p) in fit.params().iter().enumerate() {
            assert_digits(&format!("{} {}", set.name, p.name), p.estimate, set.params[k], 13.0);
            let se = p.std_error.unwrap();
            assert_digits(&format!("{} se {}", set.name, p.name), se, set.std_errors[k], 13.0);
        }
        assert_digits(set.name, fit.residual_std_dev(), set.residual_std_dev, 12.0);
        assert_digits(set.name, fit.r_squared().unwrap(), set.r_squared, 12.0);
        let f = fit.f_statistic().unwrap();
        if set.f_statistic.is_finite() {
            assert_digits(set.name, f, set.f_statistic, 12.0);
        } else {
            assert!(f > 1e30, "{} F {f}", set.name);
        }
    }
}

#[test]
fn wampler1_is_exact() {
    let fit = linear(&WAMPLER1);
    for p in fit.params() {
        assert_eq!((p.estimate, p.std_error), (1.0, Some(0.0)), "{}", p.name);
    }
    assert_eq!((fit.residual_std_dev(), fit.r_squared()), (0.0, Some(1.0)));
}

/// Its y are no doubles. The exact solution of what rounding makes of them, in rational arithmetic, has 13.2 digits of the certified one in
/// the worst parameter; and it is this solution that is found.
#[test]
fn wampler2_is_the_exact_solution_of_its_rounded_data() {
    let fit = linear(&WAMPLER2);
    let exact = [
        (0.999_999_999_999_999_7, 6.385_093_232_145_04e-16),
        (0.100_000_000_000_000_81, 7.011_714_979_363_868e-16),
        (0.009_999_999_999_999_616, 2.312_001_291_703_046_6e-16),
        (0.001_000_000_000_000_063, 3.010_373_438_771_421e-17),
        (0.000_099_999_999_999_995_88, 1.674_843_589_045_736e-18),
        (1.000_000_000_000_009e-5, 3.332_230_281_013_217e-20),
    ];
    for ((p, (estimate, std_error)), certified) in fit.params().iter().zip(exact).zip(WAMPLER2.params) {
        assert_digits(&p.name, p.estimate, estimate, 15.0);
        assert_digits(&p.name, p.std_error.unwrap(), std_error, 14.0);
        assert_digits(&p.name, p.estimate, *certified, 13.0);
    }
    assert_digits("s", fit.residual_std_dev(), 7.001_608_627_331_804e-16, 14.0);
    assert_digits("R2", fit.r_squared().unwrap(), 1.0, 15.0);
}

/// Weights of 4 double every row: the same estimates and errors, twice the deviation.
#[test]
fn equal_weights_change_nothing() {
    for set in [NORRIS, FILIP, LONGLEY] {
        let w = vec![4.0; set.y.len()];
        let options = Options::default().weights(&w);
        let design = match set.name {
            "Norris" => Design::Line(set.x[0]),
            "Filip" => Design::Polynomial(set.x[0], 10),
            _ => Design::Columns(set.x),
        };
        let fit = LinearFit::fit(design, set.y, &options).unwrap();
        for (k, p) in fit.params().iter().enumerate() {
            assert_digits(set.name, p.estimate, set.params[k], 13.0);
            assert_digits(set.name, p.std_error.unwrap(), set.std_errors[k], 13.0);
        }
        assert_digits(set.name, fit.residual_std_dev(), 2.0 * set.residual_std_dev, 13.0);
        assert_digits(set.name, fit.r_squared().unwrap(), set.r_squared, 13.0);
    }
}

/// The line's closed form and the general engine are two ways to the same numbers.
#[test]
fn line_agrees_with_degree_one() {
    let line = LinearFit::ols(NORRIS.x[0], NORRIS.y).unwrap();
    let general = LinearFit::polynomial(NORRIS.x[0], NORRIS.y, 1).unwrap();
    let (a, b) = (line.diagnostics().unwrap(), general.diagnostics().unwrap());
    for i in 0..line.n() {
        assert_digits("residual", a.residuals[i], b.residuals[i], 15.0);
        assert_digits("leverage", a.leverage[i], b.leverage[i], 14.0);
    }
    for x in [-5.0, 100.0, 5000.0] {
        let (p, q) = (line.prediction_at(&[x], 0.95).unwrap(), general.prediction_at(&[x], 0.95).unwrap());
        assert_digits("y", p.y, q.y, 15.0);
        assert_digits("mean", p.mean.lower, q.mean.lower, 15.0);
        assert_digits("prediction", p.prediction.upper, q.prediction.upper, 15.0);
    }
    assert_digits("condition", line.condition(), general.condition(), 14.0);
}

/// Filip as ready-made columns: the powers are then rounded, and only half the digits remain.
#[test]
fn rounded_powers_cost_digits_not_sense() {
    let powers: Vec<Vec<f64>> = (1..=10).map(|k| FILIP.x[0].iter().map(|x| x.powi(k)).collect()).collect();
    let columns: Vec<&[f64]> = powers.iter().map(Vec::as_slice).collect();
    match LinearFit::columns(&columns, FILIP.y) {
        Ok(fit) => {
            let least = fit.params().iter().zip(FILIP.params).map(|(p, &w)| digits(p.estimate, w)).fold(16.0, f64::min);
            assert!((5.0..10.0).contains(&least), "{least}");
            assert!(fit.condition() > 1e8, "{}", fit.condition());
        }
        Err(e) => panic!("{e}"),
    }
}

#[test]
fn fast_path_says_so_and_is_close() {
    let options = Options::default().arithmetic(gannet_fit::Arithmetic::Double);
    let fit = LinearFit::fit(Design::Line(NORRIS.x[0]), NORRIS.y, &options).unwrap();
    assert_eq!(fit.arithmetic(), gannet_fit::Arithmetic::Double);
    assert!(fit.diagnostics().is_none());
    for (k, p) in fit.params().iter().enumerate() {
        assert_digits("Norris", p.estimate, NORRIS.params[k], 13.0);
        assert_digits("Norris", p.std_error.unwrap(), NORRIS.std_errors[k], 13.0);
    }
    assert_eq!(linear(&NORRIS).arithmetic(), gannet_fit::Arithmetic::DoubleDouble);
}
