//! Published timings of one compression task (15.517 GB on an Apple M4 Pro), the equations
//! published with them, and the same fits by R 4.2.2.

use gannet_fit::{LinearFit, Model, PowerLaw};

use crate::assert_digits;

const GB: f64 = 15.517;
const P_THREADS: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];
const P_SECONDS: [f64; 5] = [49.32, 26.74, 18.60, 14.29, 11.21];
const V_THREADS: [f64; 4] = [2.0, 3.0, 4.0, 5.0];
const V_SECONDS: [f64; 4] = [30.13, 21.36, 17.18, 13.59];

fn rates(seconds: &[f64]) -> Vec<f64> {
    seconds.iter().map(|s| GB / s).collect()
}

/// The equations as printed: to the last digit given.
#[test]
fn equations() {
    let law = PowerLaw::log_log(&P_THREADS, &P_SECONDS).unwrap();
    assert_eq!(format!("{:.4} {:.5}", law.scale().estimate, law.exponent().estimate), "49.8863 -0.91169");
    let law = PowerLaw::log_log(&V_THREADS, &V_SECONDS).unwrap();
    assert_eq!(format!("{:.3} {:.6}", law.scale().estimate, law.exponent().estimate), "54.737 -0.854318");

    let line = LinearFit::ols(&P_THREADS, &rates(&P_SECONDS)).unwrap();
    let p = line.params();
    assert_eq!(format!("{:.4} {:.3}", p[0].estimate, p[1].estimate), "0.0464 0.264");
    let line = LinearFit::ols(&V_THREADS, &rates(&V_SECONDS)).unwrap();
    let p = line.params();
    assert_eq!(format!("{:.3} {:.3}", p[0].estimate, p[1].estimate), "0.102 0.206");
}

#[test]
fn log_log_reference() {
    let law = PowerLaw::log_log(&P_THREADS, &P_SECONDS).unwrap();
    let (a, b) = (law.scale(), law.exponent());
    assert_digits("ln a", a.estimate.ln(), 3.9097454519, 8.0);
    assert_digits("se ln a", a.std_error.unwrap() / a.estimate, 0.01802226723, 8.0);
    assert_digits("b", b.estimate, -0.9116901781, 8.0);
    assert_digits("se b", b.std_error.unwrap(), 0.01618512061, 8.0);
    // R printed these to six decimals.
    let ten = law.prediction_at(&[10.0], 0.95).unwrap();
    assert!((ten.y - 6.113511).abs() < 5.1e-7);
    assert!((ten.prediction.lower - 5.533301).abs() < 5.1e-7);
    assert!((ten.prediction.upper - 6.754561).abs() < 5.1e-7);
    assert_eq!(ten.extrapolation, 2.0);
}

#[test]
fn rate_line_reference() {
    let line = LinearFit::ols(&P_THREADS, &rates(&P_SECONDS)).unwrap();
    let ten = line.prediction_at(&[10.0], 0.95).unwrap();
    assert!((ten.y - 2.691176).abs() < 5.1e-7);
    assert!((ten.prediction.lower - 2.575686).abs() < 5.1e-7);
    assert!((ten.prediction.upper - 2.806666).abs() < 5.1e-7);
    // The same as a time.
    assert_eq!(format!("{:.2}", GB / ten.y), "5.77");
}
