//! Time and rate over threads, fitted: time = a·T^b and rate = a + b·T. Every run is a point of its own.

use fit::{LinearFit, Model, PowerLaw};
use support::units::{rate, seconds, significant};

use crate::measure::{Operation, Run, of};

/// The fits of both operations.
pub(crate) struct Fits {
    pub(crate) compress: Result<Fit, String>,
    pub(crate) decompress: Result<Fit, String>,
    pub(crate) confidence: f64,
}

/// The two models of one operation.
pub(crate) struct Fit {
    pub(crate) power: PowerLaw,
    pub(crate) line: LinearFit,
    /// Why no interval is given, if none is.
    pub(crate) no_interval: Option<String>,
    /// Largest number of threads measured.
    pub(crate) most_threads: f64,
}

impl Fits {
    pub(crate) fn new(runs: &[Run], confidence: f64) -> Self {
        Self { compress: fit(runs, Operation::Compress), decompress: fit(runs, Operation::Decompress), confidence }
    }

    pub(crate) fn of(&self, operation: Operation) -> &Result<Fit, String> {
        match operation {
            Operation::Compress => &self.compress,
            Operation::Decompress => &self.decompress,
        }
    }
}

fn fit(runs: &[Run], operation: Operation) -> Result<Fit, String> {
    let points: Vec<(usize, f64, f64)> = of(runs, operation).map(|run| (run.threads, run.seconds(), run.rate())).collect();
    Fit::new(&points)
}

impl Fit {
    /// From (threads, seconds, bytes a second) of each run.
    fn new(points: &[(usize, f64, f64)]) -> Result<Self, String> {
        let mut counts: Vec<usize> = points.iter().map(|p| p.0).collect();
        counts.sort_unstable();
        counts.dedup();
        if counts.len() < 2 {
            return Err("only one thread count was measured: there is nothing to fit over threads".into());
        }
        let threads: Vec<f64> = points.iter().map(|p| p.0 as f64).collect();
        let times: Vec<f64> = points.iter().map(|p| p.1).collect();
        let rates: Vec<f64> = points.iter().map(|p| p.2).collect();
        let no_interval = (counts.len() < 3).then(|| {
            "with fewer than three thread counts the models can't be told apart: both pass through the means, and no interval is given"
                .into()
        });
        Ok(Self {
            power: PowerLaw::log_log(&threads, &times).map_err(|e| e.to_string())?,
            line: LinearFit::ols(&threads, &rates).map_err(|e| e.to_string())?,
            no_interval,
            most_threads: *counts.last().expect("two at least") as f64,
        })
    }

    /// The equations, each with its intervals or without them.
    pub(crate) fn equations(&self, confidence: f64) -> Vec<String> {
        let power = [self.power.scale(), self.power.exponent()].map(|p| p.estimate);
        let line = self.line.params();
        let (intercept, slope) = (line[0].estimate, line[1].estimate);
        let mut time = format!("time = {} · T^{} s", significant(power[0], 6), significant(power[1], 6));
        let unit = unit_of(intercept.abs().max(slope.abs()));
        let sign = if slope < 0.0 { "−" } else { "+" };
        let mut speed =
            format!("rate = {} {sign} {} · T {}", significant(intercept / unit.0, 4), significant(slope.abs() / unit.0, 4), unit.1);
        if self.no_interval.is_none() {
            let level = significant(confidence * 100.0, 4);
            if let Ok(i) = self.power.confidence_intervals(confidence) {
                time.push_str(&format!("   ({level} %: scale {}, exponent {})", pair(i[0], 1.0, 4), pair(i[1], 1.0, 4)));
            }
            if let Ok(i) = self.line.confidence_intervals(confidence) {
                speed.push_str(&format!("   ({level} %: intercept {}, slope {})", pair(i[0], unit.0, 4), pair(i[1], unit.0, 4)));
            }
        }
        vec![time, speed]
    }

    /// What the two models say of another thread count, for people.
    pub(crate) fn prediction(&self, threads: usize) -> Option<String> {
        let x = threads as f64;
        let (time, speed) = (self.power.predict(x).ok()?, self.line.predict(x).ok()?);
        Some(format!("the power law gives {}, the line {}", seconds(time), rate(speed)))
    }
}

fn pair(interval: fit::Interval, unit: f64, digits: usize) -> String {
    format!("{} to {}", significant(interval.lower / unit, digits), significant(interval.upper / unit, digits))
}

fn unit_of(bytes_per_second: f64) -> (f64, &'static str) {
    if bytes_per_second >= 1e9 { (1e9, "GB/s") } else { (1e6, "MB/s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published timings of a 15.517 GB file on five performance cores of an M4 Pro, and the equations published with them.
    #[test]
    fn the_published_equations_come_out() {
        let points: Vec<_> = [49.32, 26.74, 18.6, 14.29, 11.21].iter().enumerate().map(|(i, &t)| (i + 1, t, 15.517e9 / t)).collect();
        let fit = Fit::new(&points).unwrap();
        let equations = fit.equations(0.95);
        assert!(equations[0].starts_with("time = 49.8863 · T^-0.91169 s"), "{equations:?}");
        assert!(equations[1].starts_with("rate = 46.4"), "{equations:?}");
        assert!(equations[1].contains("+ 264"), "{equations:?}");
        assert!(equations[0].contains("95 %: scale"), "{equations:?}");
    }

    #[test]
    fn two_thread_counts_give_no_interval_and_one_no_fit() {
        let two = Fit::new(&[(1, 10.0, 1e8), (1, 10.2, 0.98e8), (2, 5.1, 1.96e8), (2, 5.0, 2e8)]).unwrap();
        assert!(two.no_interval.is_some());
        assert!(two.equations(0.95).iter().all(|e| !e.contains('%')));
        assert!(Fit::new(&[(1, 10.0, 1e8), (1, 10.2, 0.98e8)]).is_err());
    }
}
