//! Nonlinear models.

use gannet_fit::{
    Amdahl, Capped, Error, Errors, LinearFit, Model, Nonlinear, Options, PowerLaw, RateLine, Response, Saturating, TwoClass, Usl,
};

use crate::assert_digits;
use crate::nist_data::*;

fn certified(fit: &dyn Model, set: &Set) {
    for (k, p) in fit.params().iter().enumerate() {
        assert_digits(&format!("{} {}", set.name, p.name), p.estimate, set.params[k], 10.0);
        assert_digits(&format!("{} se {}", set.name, p.name), p.std_error.unwrap(), set.std_errors[k], 10.0);
        assert!(!p.at_bound);
    }
    assert_digits(set.name, fit.residual_std_dev(), set.residual_std_dev, 10.0);
    assert_digits(set.name, fit.r_squared().unwrap(), set.r_squared, 10.0);
    assert_eq!(fit.f_statistic(), None);
}

#[test]
fn nist_models_of_ours() {
    certified(&PowerLaw::nls(DANWOOD.x[0], DANWOOD.y).unwrap(), &DANWOOD);
    for set in [MISRA1A, BOXBOD] {
        certified(&Saturating::fit(set.x[0], set.y, &Options::default()).unwrap(), &set);
    }
}

#[test]
fn nist_models_of_the_caller() {
    for set in [MGH09, THURBER, MISRA1A, BOXBOD, DANWOOD] {
        for start in set.starts {
            let names = ["b1", "b2", "b3", "b4", "b5", "b6", "b7"];
            let start: Vec<(&str, f64)> = names.iter().copied().zip(start.iter().copied()).collect();
            let function = match set.name {
                "MGH09" => |x: f64, b: &[f64], g: &mut [f64]| {
                    let (top, bottom) = (x * x + x * b[1], x * x + x * b[2] + b[3]);
                    let y = b[0] * top / bottom;
                    g.copy_from_slice(&[top / bottom, b[0] * x / bottom, -y * x / bottom, -y / bottom]);
                    y
                },
                "Thurber" => |x: f64, b: &[f64], g: &mut [f64]| {
                    let top = b[0] + x * (b[1] + x * (b[2] + x * b[3]));
                    let bottom = 1.0 + x * (b[4] + x * (b[5] + x * b[6]));
                    let (above, y) = (1.0 / bottom, top / bottom);
                    let below = -y * above;
                    g.copy_from_slice(&[above, above * x, above * x * x, above * x.powi(3), below * x, below * x * x, below * x.powi(3)]);
                    y
                },
                "DanWood" => |x: f64, b: &[f64], g: &mut [f64]| {
                    let power = x.powf(b[1]);
                    g.copy_from_slice(&[power, b[0] * power * x.ln()]);
                    b[0] * power
                },
                _ => |x: f64, b: &[f64], g: &mut [f64]| {
                    let e = (-b[1] * x).exp();
                    g.copy_from_slice(&[-(-b[1] * x).exp_m1(), b[0] * x * e]);
                    -b[0] * (-b[1] * x).exp_m1()
                },
            };
            match Nonlinear::fit(set.x[0], set.y, &start, &Options::default(), function) {
                Ok(fit) => certified(&fit, &set),
                Err(e) => panic!("{} from {start:?}: {e}", set.name),
            }
        }
    }
}

const N: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0];

/// Small errors without a pattern.
const NOISE: [f64; 8] = [0.3, -0.8, 0.5, 0.9, -1.1, -0.2, 0.7, -0.3];

fn noisy(f: impl Fn(f64) -> f64, size: f64) -> Vec<f64> {
    N.iter().zip(NOISE).map(|(&n, e)| f(n) * (1.0 + size * e)).collect()
}

fn all_options() -> Vec<Options<'static>> {
    let mut all = vec![];
    for errors in [Errors::Additive, Errors::Multiplicative] {
        for response in [Response::Time, Response::Rate] {
            all.push(Options::default().errors(errors).response(response));
        }
    }
    all
}

/// Exact data give the parameters back, whatever the errors and whether times or rates are given.
#[test]
fn exact_data_return_their_parameters() {
    let usl = |n: f64| 5.0 * n / (1.0 + 0.03 * (n - 1.0) + 0.002 * n * (n - 1.0));
    let amdahl = |n: f64| 1.0 / (2.0 + 40.0 / n);
    let line = |n: f64| 0.05 + 0.26 * n;
    let saturating = |n: f64| 30.0 * (1.0 - (-0.2 * n).exp());
    let capped = |n: f64| (0.1 + 0.3 * n).min(2.2);
    let p = [1.0, 2.0, 4.0, 8.0, 8.0, 8.0, 8.0, 3.0];
    let e = [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 4.0, 2.0];
    for (k, options) in all_options().into_iter().enumerate() {
        let observe =
            |rate: &dyn Fn(f64) -> f64| -> Vec<f64> { N.iter().map(|&n| if k % 2 == 0 { 1.0 / rate(n) } else { rate(n) }).collect() };
        let check = |fit: &dyn Model, want: &[f64]| {
            for (p, &want) in fit.params().iter().zip(want) {
                assert_digits(&format!("{} {} of {k}", fit.name(), p.name), p.estimate, want, 9.0);
            }
        };
        check(&Usl::fit(&N, &observe(&usl), &options).unwrap(), &[5.0, 0.03, 0.002]);
        check(&Amdahl::fit(&N, &observe(&amdahl), &options).unwrap(), &[2.0, 40.0]);
        check(&RateLine::fit(&N, &observe(&line), &options).unwrap(), &[0.05, 0.26]);
        check(&Saturating::fit(&N, &observe(&saturating), &options).unwrap(), &[30.0, 0.2]);
        let cap = Capped::fit(&N, &observe(&capped), &options).unwrap();
        check(&cap, &[0.1, 0.3, 2.2]);
        assert_digits("breakpoint", cap.breakpoint(), 7.0, 9.0);
        assert_digits("at the bend", cap.predict(7.0).unwrap(), if k % 2 == 0 { 1.0 / 2.2 } else { 2.2 }, 9.0);
        let rates: Vec<f64> = p.iter().zip(e).map(|(p, e)| 0.2 + 0.3 * p + 0.1 * e).collect();
        let y: Vec<f64> = rates.iter().map(|r| if k % 2 == 0 { 1.0 / r } else { *r }).collect();
        let two = TwoClass::fit(&p, &e, &y, &options).unwrap();
        check(&two, &[0.2, 0.3, 0.1]);
        let at = two.predict_at(&[10.0, 4.0]).unwrap();
        assert_digits("10P 4E", at, if k % 2 == 0 { 1.0 / 3.6 } else { 3.6 }, 9.0);
        assert_eq!(two.predict(1.0), Err(Error::Predictors { expected: 2, got: 1 }));
    }
}

/// Models that are linear after all agree with the linear engine, intervals included.
#[test]
fn linear_cases_agree_with_the_linear_engine() {
    let rates = noisy(|n| 0.3 * n + 0.1, 0.02);
    let times = noisy(|n| 5.0 + 40.0 / n, 0.02);
    let inverse: Vec<f64> = N.iter().map(|n| 1.0 / n).collect();
    let line = RateLine::fit(&N, &rates, &Options::default()).unwrap();
    let amdahl = Amdahl::fit(&N, &times, &Options::default()).unwrap();
    let pairs: [(&dyn Model, LinearFit, f64); 2] =
        [(&line, LinearFit::ols(&N, &rates).unwrap(), 30.0), (&amdahl, LinearFit::ols(&inverse, &times).unwrap(), 1.0 / 30.0)];
    for (nonlinear, linear, x) in &pairs {
        for (a, b) in nonlinear.params().iter().zip(linear.params()) {
            assert_digits("estimate", a.estimate, b.estimate, 12.0);
            assert_digits("se", a.std_error.unwrap(), b.std_error.unwrap(), 12.0);
        }
        let a = nonlinear.prediction_at(&[30.0], 0.9).unwrap();
        let b = linear.prediction_at(&[*x], 0.9).unwrap();
        assert_digits("mean", a.mean.lower, b.mean.lower, 11.0);
        assert_digits("prediction", a.prediction.upper, b.prediction.upper, 11.0);
        assert_digits("aicc", nonlinear.aicc().unwrap(), linear.aicc().unwrap(), 11.0);
        let (a, b) = (nonlinear.diagnostics().unwrap(), linear.diagnostics().unwrap());
        for i in 0..N.len() {
            assert_digits("leverage", a.leverage[i], b.leverage[i], 11.0);
            assert_digits("cook", a.cooks_distance[i].unwrap(), b.cooks_distance[i].unwrap(), 9.0);
        }
    }
}

/// Proportional errors do not care whether times or rates are given: the same parameters, and the
/// same evidence for each model up to the change of variable.
#[test]
fn times_and_rates_are_one_with_proportional_errors() {
    let times = noisy(|n| 3.0 + 40.0 / n + 0.1 * n, 0.01);
    let rates: Vec<f64> = times.iter().map(|t| 1.0 / t).collect();
    let options = Options::default().errors(Errors::Multiplicative);
    let (t, r) = (options.response(Response::Time), options.response(Response::Rate));
    let pairs: [(Box<dyn Model>, Box<dyn Model>); 4] = [
        (Box::new(Usl::fit(&N, &times, &t).unwrap()), Box::new(Usl::fit(&N, &rates, &r).unwrap())),
        (Box::new(Amdahl::fit(&N, &times, &t).unwrap()), Box::new(Amdahl::fit(&N, &rates, &r).unwrap())),
        (Box::new(Saturating::fit(&N, &times, &t).unwrap()), Box::new(Saturating::fit(&N, &rates, &r).unwrap())),
        (Box::new(RateLine::fit(&N, &times, &t).unwrap()), Box::new(RateLine::fit(&N, &rates, &r).unwrap())),
    ];
    let shift = 4.0 * times.iter().map(|t| t.ln()).sum::<f64>();
    for (of_times, of_rates) in &pairs {
        for (a, b) in of_times.params().iter().zip(of_rates.params()) {
            assert_digits(of_times.name(), a.estimate, b.estimate, 9.0);
        }
        let (a, b) = (of_times.prediction_interval(20.0, 0.95).unwrap(), of_rates.prediction_interval(20.0, 0.95).unwrap());
        assert_digits("interval", a.lower, 1.0 / b.upper, 9.0);
        assert_digits("aicc", of_times.aicc().unwrap() - of_rates.aicc().unwrap(), shift, 8.0);
    }
}

#[test]
fn parameters_at_a_bound_say_so() {
    // Faster than in proportion: no serial part.
    let times = noisy(|n| 40.0 / n.powf(1.05), 0.002);
    for errors in [Errors::Additive, Errors::Multiplicative] {
        let fit = Amdahl::fit(&N, &times, &Options::default().errors(errors)).unwrap();
        assert!(fit.serial().at_bound && !fit.parallel().at_bound, "{fit:?}");
        assert_eq!((fit.serial().estimate, fit.serial().std_error, fit.serial_fraction()), (0.0, None, 0.0));
        assert_eq!(fit.df(), N.len() - 1);
        let intervals = fit.confidence_intervals(0.95).unwrap();
        assert_eq!((intervals[0].lower, intervals[0].is_bounded()), (0.0, false));
        assert!(intervals[1].is_bounded() && intervals[1].contains(fit.parallel().estimate));
        assert_eq!(fit.covariance()[0], [0.0, 0.0]);
        let usl = Usl::fit(&N, &times, &Options::default().errors(errors).response(Response::Time)).unwrap();
        assert!(usl.contention().at_bound && usl.coherency().at_bound);
        assert_eq!(usl.peak(), None);
    }
    // Contention alone: the law of Amdahl.
    let rates: Vec<f64> = N.iter().map(|n| n / (1.0 + 0.05 * (n - 1.0))).collect();
    let usl = Usl::fit(&N, &rates, &Options::default()).unwrap();
    assert_digits("contention", usl.contention().estimate, 0.05, 9.0);
    assert!(usl.coherency().estimate < 1e-12);
}

#[test]
fn peak_of_the_scalability_law() {
    let rates = noisy(|n| 5.0 * n / (1.0 + 0.02 * (n - 1.0) + 0.01 * n * (n - 1.0)), 0.001);
    let usl = Usl::fit(&N, &rates, &Options::default().errors(Errors::Multiplicative)).unwrap();
    assert!((usl.peak().unwrap() - (0.98f64 / 0.01).sqrt()).abs() < 0.2);
}

/// Against a search over all bends on a fine grid.
#[test]
fn cap_is_the_best_of_all_bends() {
    let x: Vec<f64> = (1..=10).map(f64::from).collect();
    for (shift, cap) in [(0.0, 5.2), (0.3, 7.0), (-0.2, 3.01), (0.1, 8.7)] {
        let y: Vec<f64> = x.iter().map(|x| (x + shift).min(cap) + 0.2 * (x * 7.7).sin()).collect();
        let fit = Capped::fit(&x, &y, &Options::default()).unwrap();
        let mut best = f64::INFINITY;
        for step in 2001..9999 {
            let bend = f64::from(step) / 1000.0;
            let hinge: Vec<f64> = x.iter().map(|x| (x - bend).min(0.0)).collect();
            if let Ok(line) = LinearFit::ols(&hinge, &y) {
                best = best.min(line.residual_sum_of_squares());
            }
        }
        let rss = fit.residual_sum_of_squares();
        assert!(rss <= best * (1.0 + 1e-9) && rss > best * 0.999, "{rss} {best}");
    }
}

#[test]
fn cap_must_show_in_the_data() {
    let options = Options::default();
    let rising = noisy(|n| n, 0.001);
    assert_eq!(Capped::fit(&N, &N, &options).unwrap_err(), Error::NotIdentified { parameter: "cap".into() });
    let falling: Vec<f64> = rising.iter().map(|r| 20.0 - r).collect();
    assert_eq!(Capped::fit(&N, &falling, &options).unwrap_err(), Error::NotIdentified { parameter: "cap".into() });
    let x = [1.0, 2.0, 2.0, 2.0];
    assert!(matches!(Capped::fit(&x, &x, &options), Err(Error::TooFewDistinct { distinct: 2, need: 3, .. })));
}

#[test]
fn one_class_from_the_other_is_not_identified() {
    let p = [1.0, 2.0, 3.0, 4.0, 5.0];
    let e = p.map(|p| 2.0 * p + 1.0);
    let y = [1.0, 2.1, 2.9, 4.0, 5.1];
    for errors in [Errors::Additive, Errors::Multiplicative] {
        let fit = TwoClass::fit(&p, &e, &y, &Options::default().errors(errors));
        assert_eq!(fit.unwrap_err(), Error::NotIdentified { parameter: "efficiency".into() });
    }
}

#[test]
fn scaling_models_refuse_bad_input() {
    let options = Options::default();
    let logs = options.errors(Errors::Multiplicative);
    let y = [3.0, 2.0, 1.5, 1.2];
    let x = [1.0, 2.0, 3.0, 4.0];
    assert_eq!(Amdahl::fit(&[0.0, 1.0, 2.0], &y[..3], &options).unwrap_err(), Error::NonPositive { what: "x", index: 0 });
    assert_eq!(Usl::fit(&x, &[1.0, -1.0, 2.0, 3.0], &logs).unwrap_err(), Error::NonPositive { what: "y", index: 1 });
    assert!(matches!(Usl::fit(&x[..3], &y[..3], &options), Err(Error::TooFew { need: 4, .. })));
    assert_eq!(Amdahl::fit(&[2.0; 4], &y, &options).unwrap_err(), Error::ConstantX);
    assert!(matches!(Usl::fit(&[1.0, 2.0, 2.0, 1.0], &y, &options), Err(Error::TooFewDistinct { .. })));
    assert_eq!(Saturating::fit(&[0.0, 1.0, 2.0], &[1.0; 3], &logs).unwrap_err(), Error::NonPositive { what: "x", index: 0 });
    let nan = [1.0, f64::NAN, 1.0, 1.0];
    assert_eq!(RateLine::fit(&x, &nan, &options).unwrap_err(), Error::NonFinite { what: "y", index: 1 });
    assert_eq!(TwoClass::fit(&x, &nan, &y, &options).unwrap_err(), Error::NonFinite { what: "e", index: 1 });
    assert_eq!(PowerLaw::nls(&x, &[0.0; 4]).unwrap_err(), Error::NotIdentified { parameter: "exponent".into() });
    let bad = Nonlinear::fit(&x, &y, &[("b", 1.0)], &options, |_, _, _| f64::NAN);
    assert_eq!(bad.unwrap_err(), Error::NoConvergence { iterations: 0 });
    // Their squares are no doubles, or have lost digits.
    for size in [1e200, 1e-200, 1e-145] {
        let y = y.map(|y| y * size);
        assert_eq!(Amdahl::fit(&x, &y, &options).unwrap_err(), Error::Range);
        assert_eq!(Usl::fit(&x, &y, &options.response(Response::Time)).unwrap_err(), Error::Range);
        assert_eq!(PowerLaw::nls(&x, &y).unwrap_err(), Error::Range);
        assert_eq!(
            Nonlinear::fit(&x, &y, &[("b", 1.0)], &options, |_, b, g| {
                g[0] = 1.0;
                b[0]
            })
            .unwrap_err(),
            Error::Range
        );
        assert!(PowerLaw::log_log(&x, &y).is_ok());
    }
    let amdahl = Amdahl::fit(&x, &y, &options).unwrap();
    assert_eq!(amdahl.predict(0.0), Err(Error::Domain(0.0)));
    assert_eq!(amdahl.mean_interval(2.0, 95.0), Err(Error::Level(95.0)));
}
