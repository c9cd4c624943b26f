//! The ratio of two mean times.

use fit::{Interval, StudentT};

/// A ratio with its interval; the interval is `None` where the runs are too few or too alike to have one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) ratio: f64,
    pub(crate) interval: Option<Interval>,
}

pub(crate) fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}

/// Mean of `times` over mean of `base`. The interval is Welch's, on the logarithm of the ratio (the variance of ln(mean) is
/// s²/(n·mean²) to first order; degrees of freedom by Welch and Satterthwaite).
pub(crate) fn of_means(times: &[f64], base: &[f64], confidence: f64) -> Ratio {
    let ratio = mean(times) / mean(base);
    let part = |values: &[f64]| {
        let (n, centre) = (values.len() as f64, mean(values));
        let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
        (squares / (n - 1.0) / n / centre.powi(2), n - 1.0)
    };
    let interval = if times.len() < 2 || base.len() < 2 {
        None
    } else {
        let ((a, df_a), (b, df_b)) = (part(times), part(base));
        let df = (a + b).powi(2) / (a.powi(2) / df_a + b.powi(2) / df_b);
        StudentT::new(df).ok().map(|t| {
            let half = t.upper_quantile((1.0 - confidence) / 2.0) * (a + b).sqrt();
            Interval { lower: ratio * (-half).exp(), upper: ratio * half.exp() }
        })
    };
    Ratio { ratio, interval }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_times_give_the_published_ratio() {
        // One loop of 4e8 on an Apple M4 Pro: default class (the first run discarded), then background.
        let default = [1.4, 0.86, 0.87];
        let background = [2.67, 2.35, 2.81];
        let found = of_means(&background, &default[1..], 0.95);
        assert_eq!(format!("{:.2}", found.ratio), "3.02");
        let interval = found.interval.unwrap();
        assert!(interval.contains(found.ratio) && interval.lower > 2.0 && interval.upper < 4.5, "{interval:?}");
    }

    #[test]
    fn the_interval_is_welchs() {
        // By hand: variances of ln(mean) 1/(3·100) and 1/(3·25), df = (1/60)²/((1/300)²/2+(1/75)²/2) = 50/17.
        let found = of_means(&[9.0, 10.0, 11.0], &[4.0, 5.0, 6.0], 0.95);
        assert!((found.ratio - 2.0).abs() < 1e-15);
        let half = StudentT::new(50.0 / 17.0).unwrap().upper_quantile(0.025) * (1.0f64 / 60.0).sqrt();
        let interval = found.interval.unwrap();
        assert!((interval.upper - 2.0 * half.exp()).abs() < 1e-12 && (interval.lower - 2.0 * (-half).exp()).abs() < 1e-12);
    }

    #[test]
    fn single_and_identical_runs_have_no_interval() {
        assert_eq!(of_means(&[2.0], &[1.0, 1.1], 0.95).interval, None);
        assert_eq!(of_means(&[2.0, 2.0], &[1.0, 1.0], 0.95), Ratio { ratio: 2.0, interval: None });
    }
}
