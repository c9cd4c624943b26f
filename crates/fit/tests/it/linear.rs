//! Properties of linear fits.

use gannet_fit::{Arithmetic, Design, Error, Errors, LinearFit, Model, Options, PowerLaw, RSquared};
use proptest::prelude::*;

use crate::random::{Random, share};
use crate::{assert_digits, digits};

/// Between 3 and 30 points with different x, and residuals that are not all zero.
fn points() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    prop::collection::vec((-1e3..1e3f64, -1e3..1e3f64), 3..30).prop_map(|p| p.into_iter().unzip()).prop_filter(
        "different x",
        |(x, _): &(Vec<f64>, Vec<f64>)| {
            let range = x.iter().fold((f64::MAX, f64::MIN), |(a, b), &v| (a.min(v), b.max(v)));
            range.1 - range.0 > 1.0
        },
    )
}

/// Agreement up to the rounding of the data themselves.
fn close(a: f64, b: f64, scale: f64) -> bool {
    (a - b).abs() <= 1e-11 * scale.abs().max(b.abs())
}

proptest! {
    #[test]
    fn order_does_not_matter((x, y) in points(), seed in 0u64..1000) {
        let mut random = Random::new(seed);
        let mut order: Vec<(u64, usize)> = (0..x.len()).map(|i| ((random.uniform() * 1e9) as u64, i)).collect();
        order.sort_unstable();
        let pick = |v: &[f64]| order.iter().map(|&(_, i)| v[i]).collect::<Vec<f64>>();
        for degree in 1..3 {
            let a = LinearFit::polynomial(&x, &y, degree);
            let b = LinearFit::polynomial(&pick(&x), &pick(&y), degree);
            let (Ok(a), Ok(b)) = (a, b) else { continue };
            for (a, b) in a.params().iter().zip(b.params()) {
                prop_assert!(digits(a.estimate, b.estimate) > 13.0, "{a:?} {b:?}");
            }
            prop_assert!(digits(a.residual_std_dev(), b.residual_std_dev()) > 13.0);
        }
    }

    #[test]
    fn scale_of_x_and_y((x, y) in points(), kx in -300i32..300, ky in -300i32..300) {
        // Powers of two are exact, so every digit must agree.
        let (cx, cy) = (2f64.powi(kx), 2f64.powi(ky));
        let scaled = |v: &[f64], c: f64| v.iter().map(|v| v * c).collect::<Vec<f64>>();
        let a = LinearFit::ols(&x, &y).unwrap();
        let b = LinearFit::ols(&scaled(&x, cx), &scaled(&y, cy)).unwrap();
        prop_assert_eq!(a.params()[0].estimate * cy, b.params()[0].estimate);
        prop_assert_eq!(a.params()[1].estimate * (cy / cx), b.params()[1].estimate);
        prop_assert_eq!(a.residual_std_dev() * cy, b.residual_std_dev());
        prop_assert_eq!(a.r_squared(), b.r_squared());
        prop_assert_eq!(a.predict(x[0]).unwrap() * cy, b.predict(x[0] * cx).unwrap());
    }

    #[test]
    fn shift_of_x_and_y((x, y) in points(), sx in -1e3..1e3f64, sy in -1e3..1e3f64) {
        let a = LinearFit::ols(&x, &y).unwrap();
        let shifted: Vec<f64> = x.iter().map(|x| x + sx).collect();
        let risen: Vec<f64> = y.iter().map(|y| y + sy).collect();
        let b = LinearFit::ols(&shifted, &risen).unwrap();
        // Shifting rounds the data.
        let (pa, pb) = (a.params(), b.params());
        prop_assert!(close(pa[1].estimate, pb[1].estimate, 1e3), "{pa:?} {pb:?}");
        prop_assert!(close(a.residual_std_dev(), b.residual_std_dev(), 1e3));
        prop_assert!(close(a.predict(5.0).unwrap() + sy, b.predict(5.0 + sx).unwrap(), 1e6));
    }

    /// A point given twice is a point of weight two, but for the degrees of freedom.
    #[test]
    fn duplicates_are_weights((x, y) in points(), twice in prop::collection::vec(any::<bool>(), 30)) {
        let weights: Vec<f64> = (0..x.len()).map(|i| if twice[i] { 2.0 } else { 1.0 }).collect();
        let repeat = |v: &[f64]| {
            let mut out = v.to_vec();
            out.extend((0..v.len()).filter(|&i| twice[i]).map(|i| v[i]));
            out
        };
        let (xx, yy) = (repeat(&x), repeat(&y));
        for design in [Design::Line(&x), Design::Polynomial(&x, 2), Design::Origin(&x)] {
            let repeated = match design {
                Design::Line(_) => Design::Line(&xx),
                Design::Origin(_) => Design::Origin(&xx),
                _ => Design::Polynomial(&xx, 2),
            };
            let a = LinearFit::fit(design, &y, &Options::default().weights(&weights));
            let b = LinearFit::fit(repeated, &yy, &Options::default());
            let (Ok(a), Ok(b)) = (a, b) else { continue };
            let freedom = (b.df() as f64 / a.df() as f64).sqrt();
            for (a, b) in a.params().iter().zip(b.params()) {
                prop_assert!(digits(a.estimate, b.estimate) > 12.0);
                prop_assert!(digits(a.std_error.unwrap(), b.std_error.unwrap() * freedom) > 12.0);
            }
            prop_assert!(digits(a.r_squared().unwrap(), b.r_squared().unwrap()) > 12.0);
        }
    }

    /// The fast path against the exact one: close, relative to what rounding leaves.
    #[test]
    fn fast_path_agrees((x, y) in points()) {
        let exact = LinearFit::ols(&x, &y).unwrap();
        let fast = LinearFit::fit(Design::Line(&x), &y, &Options::default().arithmetic(Arithmetic::Double)).unwrap();
        for (a, b) in fast.params().iter().zip(exact.params()) {
            prop_assert!(close(a.estimate, b.estimate, b.std_error.unwrap()), "{a:?} {b:?}");
            prop_assert!(digits(a.std_error.unwrap(), b.std_error.unwrap()) > 9.0 || exact.rss_is_tiny(), "{a:?} {b:?}");
        }
    }

    #[test]
    fn leverage_and_residuals((x, y) in points()) {
        let fit = LinearFit::polynomial(&x, &y, 1).unwrap();
        let d = fit.diagnostics().unwrap();
        prop_assert!((d.leverage.iter().sum::<f64>() - 2.0).abs() < 1e-12);
        prop_assert!(d.leverage.iter().all(|h| (0.0..=1.0).contains(h)));
        let scale = y.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        prop_assert!(d.residuals.iter().sum::<f64>().abs() < 1e-11 * scale);
        prop_assert!((0.0..=4.0).contains(&d.durbin_watson.unwrap_or(2.0)));
    }

    /// Logarithms turn a change of units into a shift.
    #[test]
    fn power_law_in_other_units((x, y) in points(), cx in 0.01..100.0f64, cy in 0.01..100.0f64) {
        let (x, y): (Vec<f64>, Vec<f64>) = (x.iter().map(|v| v.abs() + 1.0).collect(), y.iter().map(|v| v.abs() + 1.0).collect());
        let Ok(a) = PowerLaw::log_log(&x, &y) else { return Ok(()) };
        let scaled = |v: &[f64], c: f64| v.iter().map(|v| v * c).collect::<Vec<f64>>();
        let b = PowerLaw::log_log(&scaled(&x, cx), &scaled(&y, cy)).unwrap();
        prop_assert!(close(a.exponent().estimate, b.exponent().estimate, a.exponent().std_error.unwrap()));
        prop_assert!((b.predict(cx * 2.0).unwrap() / (cy * a.predict(2.0).unwrap()) - 1.0).abs() < 1e-9);
    }
}

trait Tiny {
    fn rss_is_tiny(&self) -> bool;
}

impl Tiny for LinearFit {
    /// Residuals so small that doubles cannot hold their digits.
    fn rss_is_tiny(&self) -> bool {
        self.r_squared().is_none_or(|r| 1.0 - r < 1e-10)
    }
}

/// Leaving an observation out changes its prediction by e / (1 - h): the definition of leverage, and Cook's
/// distance is the change of all fitted values.
#[test]
fn leverage_is_what_leaving_out_shows() {
    let x = [1.0, 2.0, 3.0, 4.0, 9.0];
    let y = [1.3, 1.9, 3.4, 3.6, 8.1];
    let w = [1.0, 2.0, 1.0, 0.5, 1.5];
    let options = Options::default().weights(&w);
    let fit = LinearFit::fit(Design::Line(&x), &y, &options).unwrap();
    let d = fit.diagnostics().unwrap();
    for i in 0..5 {
        let without = |v: &[f64]| v.iter().enumerate().filter(|(k, _)| *k != i).map(|(_, v)| *v).collect::<Vec<f64>>();
        let (xs, ys, ws) = (without(&x), without(&y), without(&w));
        let left = LinearFit::fit(Design::Line(&xs), &ys, &Options::default().weights(&ws)).unwrap();
        let deleted = y[i] - left.predict(x[i]).unwrap();
        assert_digits("deleted", deleted, d.residuals[i] / (1.0 - d.leverage[i]), 12.0);
        let s2 = fit.residual_std_dev().powi(2);
        let moved: f64 = (0..5).map(|k| w[k] * (fit.predict(x[k]).unwrap() - left.predict(x[k]).unwrap()).powi(2)).sum();
        assert_digits("Cook", d.cooks_distance[i].unwrap(), moved / (2.0 * s2), 11.0);
        let t = d.residuals[i] * w[i].sqrt() / (s2 * (1.0 - d.leverage[i])).sqrt();
        assert_digits("studentized", d.studentized[i].unwrap(), t, 13.0);
    }
}

#[test]
fn weights_and_intervals_by_hand() {
    // Two groups: the weighted mean of each decides.
    let x = [0.0, 0.0, 1.0, 1.0];
    let y = [1.0, 3.0, 10.0, 14.0];
    let w = [1.0, 1.0, 1.0, 3.0];
    let fit = LinearFit::weighted(&x, &y, &w).unwrap();
    assert_eq!((fit.intercept().unwrap().estimate, fit.slope().unwrap().estimate), (2.0, 11.0));
    // RSS 2 + 9 + 3 over 2 degrees of freedom.
    assert_digits("s", fit.residual_std_dev(), 7f64.sqrt(), 15.0);
    // The variance of the value at 1 is that of the mean of weights 4.
    let t = 4.302_652_729_749_462;
    let mean = fit.mean_interval(1.0, 0.95).unwrap();
    assert_digits("mean", mean.upper - 13.0, t * (7.0f64 / 4.0).sqrt(), 14.0);
    let next = fit.prediction_interval(1.0, 0.95).unwrap();
    assert_digits("prediction", 13.0 - next.lower, t * (7.0f64 * 1.25).sqrt(), 14.0);
    let covariance = fit.covariance();
    assert_digits("var", covariance[0][0], 3.5, 14.0);
    assert_digits("cov", covariance[0][1], -3.5, 14.0);
    assert_digits("var", covariance[1][1], 3.5 + 1.75, 14.0);
}

#[test]
fn without_an_intercept() {
    let x = [1.0, 2.0, 3.0];
    let y = [2.0, 4.1, 5.9];
    let a = LinearFit::through_origin(&x, &y).unwrap();
    let b = LinearFit::fit(Design::ColumnsOrigin(&[&x]), &y, &Options::default()).unwrap();
    assert_eq!(a.slope().unwrap().estimate, b.params()[0].estimate);
    assert_eq!((a.r_squared_kind(), a.intercept()), (RSquared::AboutZero, None));
    assert_eq!(LinearFit::ols(&x, &y).unwrap().r_squared_kind(), RSquared::AboutMean);
    let f = a.f_statistic().unwrap();
    let t = a.slope().unwrap().estimate / a.slope().unwrap().std_error.unwrap();
    assert_digits("F is t squared", f, t * t, 13.0);
}

#[test]
fn bad_input_is_refused() {
    let x = [1.0, 2.0, 3.0, 4.0];
    let y = [1.0, 2.0, 3.5, 4.0];
    assert_eq!(LinearFit::ols(&[], &[]).unwrap_err(), Error::Empty);
    assert_eq!(LinearFit::ols(&x, &y[..3]).unwrap_err(), Error::LengthMismatch { what: "y", got: 3, expected: 4 });
    assert_eq!(LinearFit::ols(&[1.0, f64::NAN, 2.0], &x[..3]).unwrap_err(), Error::NonFinite { what: "x", index: 1 });
    assert_eq!(LinearFit::ols(&x, &[1.0, 2.0, f64::INFINITY, 2.0]).unwrap_err(), Error::NonFinite { what: "y", index: 2 });
    assert!(matches!(LinearFit::ols(&x[..2], &y[..2]), Err(Error::TooFew { n: 2, need: 3, .. })));
    for constant in [0.1, 0.0, 1e-300, -7.3] {
        assert_eq!(LinearFit::ols(&[constant; 4], &y).unwrap_err(), Error::ConstantX);
    }
    // Different by one unit in the last place is different.
    let nearly = [0.1, 0.1, 0.1, f64::from_bits(0.1f64.to_bits() + 1)];
    assert!(LinearFit::ols(&nearly, &y).is_ok());
    assert!(matches!(LinearFit::polynomial(&[1.0, 1.0, 2.0, 2.0], &y, 2), Err(Error::TooFewDistinct { distinct: 2, need: 3, .. })));
    assert!(matches!(LinearFit::polynomial(&x, &y, 3), Err(Error::TooFew { need: 5, .. })));
    assert_eq!(LinearFit::through_origin(&[0.0; 4], &y).unwrap_err(), Error::Collinear { column: 0 });
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(LinearFit::weighted(&x, &y, &[1.0, 1.0, bad, 1.0]).unwrap_err(), Error::Weight { index: 2 });
    }
    assert_eq!(LinearFit::weighted(&x, &y, &[1.0]).unwrap_err(), Error::LengthMismatch { what: "weights", got: 1, expected: 4 });
    assert_eq!(PowerLaw::log_log(&[0.0, 1.0, 2.0], &y[..3]).unwrap_err(), Error::NonPositive { what: "x", index: 0 });
    assert_eq!(PowerLaw::log_log(&x, &[1.0, -1.0, 2.0, 3.0]).unwrap_err(), Error::NonPositive { what: "y", index: 1 });
    let fit = LinearFit::ols(&x, &y).unwrap();
    for level in [0.0, 1.0, 95.0, -0.5] {
        assert_eq!(fit.confidence_intervals(level).unwrap_err(), Error::Level(level));
        assert_eq!(fit.prediction_interval(1.0, level).unwrap_err(), Error::Level(level));
    }
    assert!(fit.confidence_intervals(f64::NAN).is_err());
    assert_eq!(fit.predict(f64::INFINITY).unwrap_err(), Error::Domain(f64::INFINITY));
    assert_eq!(fit.predict_at(&[1.0, 2.0]).unwrap_err(), Error::Predictors { expected: 1, got: 2 });
    assert_eq!(PowerLaw::log_log(&x, &y).unwrap().predict(-1.0).unwrap_err(), Error::Domain(-1.0));
    assert_eq!(LinearFit::ols(&[1e-300, 2e-300, 3e-300], &[1e300, -1e300, 2e300]).unwrap_err(), Error::Range);
}

#[test]
fn dependent_columns_are_named() {
    let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.5];
    let b = [0.3, 0.1, 0.4, 0.1, 0.5, 0.9];
    let y = [1.0, 2.0, 3.0, 4.0, 5.5, 6.0];
    // Rounded combinations count as dependent, not as independent noise in the last place.
    let c: Vec<f64> = a.iter().zip(&b).map(|(a, b)| 0.1 * a + 0.7 * b).collect();
    let constant = [3.0; 6];
    assert_eq!(LinearFit::columns(&[&a, &b, &c], &y).unwrap_err(), Error::Collinear { column: 2 });
    assert_eq!(LinearFit::columns(&[&a, &constant], &y).unwrap_err(), Error::Collinear { column: 1 });
    assert_eq!(LinearFit::columns(&[&constant, &a], &y).unwrap_err(), Error::Collinear { column: 0 });
    assert_eq!(LinearFit::columns(&[&a, &[0.0; 6]], &y).unwrap_err(), Error::Collinear { column: 1 });
    assert!(matches!(LinearFit::columns(&[], &y), Err(Error::TooFew { .. })));
    assert!(matches!(LinearFit::columns(&[&a, &b[..3]], &y), Err(Error::LengthMismatch { .. })));
    let fit = LinearFit::columns(&[&a, &b], &y).unwrap();
    assert_eq!(fit.predictors(), 2);
    assert_eq!(fit.predict(1.0).unwrap_err(), Error::Predictors { expected: 2, got: 1 });
    let sum: f64 = fit.params().iter().zip([1.0, 2.0, 0.5]).map(|(p, x)| p.estimate * x).sum();
    assert_digits("predict", fit.predict_at(&[2.0, 0.5]).unwrap(), sum, 14.0);
}

/// Whatever the number and the weights, equal y leave nothing to the other parameters: not a slope of 1e-33 with a share of 0.7 explained.
#[test]
fn constant_y_has_no_r_squared() {
    for n in 4..40 {
        for constant in [0.1, -7.3, 1e300, 3e-310, 0.0] {
            let x: Vec<f64> = (0..n).map(|i| 0.1 * f64::from(i * i) - 1.0).collect();
            let x2: Vec<f64> = x.iter().map(|x| x.sin()).collect();
            let y = vec![constant; x.len()];
            let w: Vec<f64> = (0..n).map(|i| 0.1 + f64::from(i % 3)).collect();
            for options in [Options::default(), Options::default().weights(&w)] {
                let fast = options.arithmetic(Arithmetic::Double);
                for fit in [
                    LinearFit::fit(Design::Line(&x), &y, &options),
                    LinearFit::fit(Design::Line(&x), &y, &fast),
                    LinearFit::fit(Design::Polynomial(&x, 2), &y, &options),
                    LinearFit::fit(Design::Columns(&[&x, &x2]), &y, &options),
                ] {
                    let fit = fit.unwrap();
                    assert_eq!(fit.params()[0].estimate, constant, "{n}");
                    assert!(fit.params()[1..].iter().all(|p| p.estimate == 0.0), "{n} {:?}", fit.params());
                    assert_eq!((fit.residual_std_dev(), fit.residual_sum_of_squares()), (0.0, 0.0));
                    assert_eq!((fit.r_squared(), fit.f_statistic(), fit.adjusted_r_squared()), (None, None, None));
                    assert_eq!(fit.predict_at(&vec![100.0; fit.predictors()]), Ok(constant));
                    assert_eq!(fit.log_likelihood(), Err(Error::PerfectFit));
                }
            }
        }
    }
}

/// Squares leave the range of a double long before the data do.
#[test]
fn sizes_of_y_do_not_matter() {
    let x = [1.0, 2.0, 3.0, 4.0, 6.0];
    let y = [1.0, 2.5, 2.75, 4.25, 5.5];
    let plain = LinearFit::ols(&x, &y).unwrap();
    for exponent in [-1000, -600, 600, 1000] {
        let scaled = y.map(|y| y * 2f64.powi(exponent));
        let fit = LinearFit::ols(&x, &scaled).unwrap();
        assert_eq!((fit.r_squared(), fit.f_statistic()), (plain.r_squared(), plain.f_statistic()));
        assert_eq!(fit.adjusted_r_squared(), plain.adjusted_r_squared());
        assert_eq!(fit.diagnostics().unwrap().durbin_watson, plain.diagnostics().unwrap().durbin_watson);
        let shift = 2.0 * 5.0 * f64::from(exponent) * std::f64::consts::LN_2;
        assert_digits("AICc", fit.aicc().unwrap(), plain.aicc().unwrap() + shift, 13.0);
    }
}

#[test]
fn extrapolation_factor() {
    let fit = LinearFit::ols(&[2.0, 4.0, 8.0], &[1.0, 2.0, 5.0]).unwrap();
    for (x, factor) in [(5.0, 1.0), (8.0, 1.0), (12.0, 1.5), (16.0, 2.0), (1.0, 2.0), (-1.0, 1.5)] {
        assert_eq!(fit.extrapolation(x), factor, "{x}");
    }
}

/// 95 % intervals of the exact methods hold what they should 95 % of the time.
#[test]
fn intervals_cover() {
    let x: [f64; 5] = [1.0, 2.0, 3.0, 5.0, 8.0];
    let w = [1.0, 4.0, 1.0, 2.0, 0.5];
    let mut random = Random::new(77);
    let runs = 10_000;
    // Slope, mean, prediction of lines with weights; exponent, scale and prediction of power laws.
    let mut hits = [0u32; 6];
    share(runs, |_| {
        let y: Vec<f64> = x.iter().zip(w).map(|(x, w): (&f64, f64)| 1.0 + 0.5 * x + random.normal() / w.sqrt()).collect();
        let line = LinearFit::weighted(&x, &y, &w).unwrap();
        hits[0] += u32::from(line.confidence_intervals(0.95).unwrap()[1].contains(0.5));
        let p = line.prediction_at(&[12.0], 0.95).unwrap();
        hits[1] += u32::from(p.mean.contains(7.0));
        hits[2] += u32::from(p.prediction.contains(7.0 + random.normal()));
        let y: Vec<f64> = x.iter().map(|x| 50.0 * x.powf(-0.9) * (0.1 * random.normal()).exp()).collect();
        let law = PowerLaw::log_log(&x, &y).unwrap();
        let intervals = law.confidence_intervals(0.95).unwrap();
        hits[3] += u32::from(intervals[1].contains(-0.9));
        hits[4] += u32::from(intervals[0].contains(50.0));
        let next = 50.0 * 12f64.powf(-0.9) * (0.1 * random.normal()).exp();
        hits[5] += u32::from(law.prediction_interval(12.0, 0.95).unwrap().contains(next));
        true
    });
    for (k, hit) in hits.iter().enumerate() {
        let covered = f64::from(*hit) / runs as f64;
        println!("{}: {covered}", ["slope", "mean", "prediction", "exponent", "scale", "prediction of the law"][k]);
        assert!((0.944..=0.956).contains(&covered), "{k}: {covered}");
    }
}

/// A nonlinear fit's intervals are approximate, but honest when the errors are what the model says.
#[test]
fn nonlinear_intervals_cover() {
    let x: [f64; 7] = [1.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0];
    let mut random = Random::new(5);
    let covered = share(4_000, |_| {
        let y: Vec<f64> = x.iter().map(|x| 50.0 * x.powf(-0.9) + 0.5 * random.normal()).collect();
        let law = PowerLaw::fit(&x, &y, &Options::default().errors(Errors::Additive)).unwrap();
        law.prediction_interval(10.0, 0.95).unwrap().contains(50.0 * 10f64.powf(-0.9) + 0.5 * random.normal())
    });
    println!("prediction of the nonlinear law: {covered}");
    assert!((0.94..0.96).contains(&covered), "{covered}");
}
