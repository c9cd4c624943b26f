//! Total time over threads: its slope is the time a thread takes, and loops over that the rate of a thread.

use fit::{Interval, LinearFit, Model};

/// The fitted line and what follows from it.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// Seconds.
    pub(crate) intercept: f64,
    /// Seconds a thread.
    pub(crate) slope: f64,
    /// Interval of the slope; `None` where the points are too few for one.
    pub(crate) interval: Option<Interval>,
}

impl Line {
    /// From threads and total seconds; `None` with fewer than three runs or two different numbers of threads.
    pub(crate) fn fit(points: &[(usize, f64)], confidence: f64) -> Option<Self> {
        let x: Vec<f64> = points.iter().map(|(threads, _)| *threads as f64).collect();
        let y: Vec<f64> = points.iter().map(|(_, total)| *total).collect();
        let line = LinearFit::ols(&x, &y).ok()?;
        let intervals = line.confidence_intervals(confidence).ok();
        let place = line.params().iter().position(|param| param.name == "slope")?;
        Some(Line {
            intercept: line.intercept()?.estimate,
            slope: line.slope()?.estimate,
            interval: intervals.and_then(|intervals| intervals.get(place).copied()).filter(Interval::is_bounded),
        })
    }

    /// Loops a second of a thread.
    pub(crate) fn loops_per_second(&self, loops: u64) -> f64 {
        loops as f64 / self.slope
    }
}

#[cfg(test)]
mod tests {
    use support::units::significant;

    use super::*;

    #[test]
    fn the_published_figures_follow() {
        // Seconds a thread for 1e9 floating-point loops on an Apple M3 Pro and an M4 Pro; total times on a line of that slope.
        let loops = 1_000_000_000;
        let rate = |slope: f64| {
            let points: Vec<_> = (1..=6).map(|threads| (threads, 0.05 + slope * threads as f64)).collect();
            let line = Line::fit(&points, 0.95).unwrap();
            assert_eq!(significant(line.slope, 3), significant(slope, 3));
            line.loops_per_second(loops)
        };
        let (m3, m4) = (rate(6.04), rate(4.69));
        assert_eq!((format!("{m3:.2e}"), format!("{m4:.2e}")), ("1.66e8".into(), "2.13e8".into()));
        // 128 % as published, from the rates as published.
        let rounded = |rate: f64| significant(rate / 1e8, 3).parse::<f64>().unwrap();
        assert_eq!(format!("{:.0}", 100.0 * rounded(m4) / rounded(m3)), "128");
    }

    #[test]
    fn too_few_runs_have_no_line() {
        assert!(Line::fit(&[(2, 1.0), (2, 1.1)], 0.95).is_none());
        assert!(Line::fit(&[], 0.95).is_none());
        // Two points lie on any line, which says nothing of how far they stray.
        assert!(Line::fit(&[(1, 1.0), (2, 2.0)], 0.95).is_none());
        let three = Line::fit(&[(1, 1.0), (2, 2.0), (3, 3.0)], 0.95).unwrap();
        assert!((three.slope - 1.0).abs() < 1e-12 && three.intercept.abs() < 1e-12);
    }
}
