//! Student's t distribution.

use gannet_fit::{Error, StudentT};
use proptest::prelude::*;

use crate::assert_digits;
use crate::student_data::*;

#[test]
fn quantiles() {
    for &(p, df, t) in ORDINARY {
        let distribution = StudentT::new(df).unwrap();
        assert_digits(&format!("p {p} df {df}"), distribution.quantile(p), t, 13.0);
    }
}

#[test]
fn far_tails_and_many_degrees() {
    for &(q, df, t) in EXTREME {
        let distribution = StudentT::new(df).unwrap();
        assert_digits(&format!("q {q:e} df {df:e}"), distribution.upper_quantile(q), t, 12.0);
        // The tail loses as many digits as the logarithm of q grows.
        let back = distribution.sf(t);
        assert_digits(&format!("sf {q:e} df {df:e}"), back, q, 11.5);
    }
}

#[test]
fn edges() {
    let t = StudentT::new(5.0).unwrap();
    assert_eq!((t.quantile(0.0), t.quantile(0.5), t.quantile(1.0)), (f64::NEG_INFINITY, 0.0, f64::INFINITY));
    assert!(t.quantile(1.1).is_nan() && t.upper_quantile(-0.1).is_nan() && t.quantile(f64::NAN).is_nan());
    assert_eq!((t.sf(f64::INFINITY), t.cdf(f64::INFINITY), t.sf(0.0)), (0.0, 1.0, 0.5));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(StudentT::new(bad), Err(Error::Setting { .. })));
    }
}

fn degrees() -> impl Strategy<Value = f64> {
    prop_oneof![(1u32..200).prop_map(f64::from), (0.0..9.0f64).prop_map(|e| 10f64.powf(e))]
}

proptest! {
    #[test]
    fn quantile_is_monotone(df in degrees(), a in -690.0..-0.7f64, step in 1e-9..10.0f64) {
        let t = StudentT::new(df).unwrap();
        let (low, high) = (t.upper_quantile((a - step).exp()), t.upper_quantile(a.exp()));
        prop_assert!(low > high, "{low} {high}");
    }

    #[test]
    fn quantile_is_symmetric(df in degrees(), q in 0.0..1.0f64) {
        let t = StudentT::new(df).unwrap();
        prop_assert_eq!(t.upper_quantile(q), -t.quantile(q));
    }

    #[test]
    fn tail_and_quantile_are_inverse(df in degrees(), a in -690.0..-0.7f64) {
        let t = StudentT::new(df).unwrap();
        let q = a.exp();
        let back = t.sf(t.upper_quantile(q));
        // An error of one digit in t is one of t² or df digits in q.
        prop_assert!((back / q - 1.0).abs() < 1e-11, "{q:e} {back:e}");
    }

    #[test]
    fn sides_add_to_one(df in degrees(), x in -50.0..50.0f64) {
        let t = StudentT::new(df).unwrap();
        prop_assert!((t.sf(x) + t.cdf(x) - 1.0).abs() < 1e-15);
        prop_assert_eq!(t.sf(x), t.cdf(-x));
    }
}
