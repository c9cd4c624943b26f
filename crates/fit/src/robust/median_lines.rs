//! Lines from medians of slopes.

use super::kendall;
use super::order::middle;
use crate::student::normal_upper_quantile;
use crate::{Error, Interval, check};

/// Observations up to which the interval's probabilities are exact.
const EXACT: usize = 100;
/// Observations up to which all pairs are kept: 100 MB of slopes.
const MOST: usize = 5000;

/// The line of Theil (1950) and Sen (1968): the median of the slopes through all pairs of points
/// with different x. It stands up to 29 % of wild observations.
///
/// ```
/// use gannet_fit::robust::TheilSen;
/// let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let y = [1.1, 2.0, 2.9, 4.2, 5.0, 60.0];
/// let line = TheilSen::fit(&x, &y)?;
/// assert!((line.slope() - 1.0).abs() < 0.1);
/// let interval = line.slope_interval(0.95)?;
/// assert!(interval.contains(1.0));
/// # Ok::<(), gannet_fit::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TheilSen {
    slope: f64,
    intercept: f64,
    /// Sorted.
    slopes: Vec<f64>,
    /// The numbers of equal x.
    groups: Vec<usize>,
    n: usize,
}

impl TheilSen {
    /// Fits the line.
    ///
    /// # Errors
    /// [`Error::TooFew`] below 2 observations, [`Error::ConstantX`], [`Error::NonFinite`], [`Error::LengthMismatch`],
    /// [`Error::Empty`], [`Error::Range`]; [`Error::Setting`] above 5000 observations, as all pairs are kept.
    pub fn fit(x: &[f64], y: &[f64]) -> Result<TheilSen, Error> {
        check_line("Theil-Sen", x, y)?;
        if x.len() > MOST {
            return Err(Error::Setting { what: "the number of observations of Theil-Sen", range: "at most 5000" });
        }
        let mut slopes = Vec::with_capacity(x.len() * (x.len() - 1) / 2);
        for i in 0..x.len() {
            for j in 0..i {
                if x[i] != x[j] {
                    slopes.push((y[i] - y[j]) / (x[i] - x[j]));
                }
            }
        }
        if slopes.iter().any(|s| !s.is_finite()) {
            return Err(Error::Range);
        }
        slopes.sort_unstable_by(f64::total_cmp);
        let slope = middle(&mut slopes.clone());
        let intercept = intercept(x, y, slope)?;
        let mut sorted = x.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let groups = sorted.chunk_by(|a, b| a == b).map(<[f64]>::len).collect();
        Ok(TheilSen { slope, intercept, slopes, groups, n: x.len() })
    }

    /// The median slope, in units of y over x.
    pub fn slope(&self) -> f64 {
        self.slope
    }

    /// The median of `y - slope x`, in the unit of y.
    pub fn intercept(&self) -> f64 {
        self.intercept
    }

    /// The number of observations.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The value of the line at `x`.
    pub fn predict(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }

    /// Whether [`slope_interval`](TheilSen::slope_interval) uses the exact distribution: up to 100 observations.
    pub fn is_exact(&self) -> bool {
        self.n <= EXACT
    }

    /// A confidence interval for the slope (Sen, 1968), free of assumptions on the errors but that they are
    /// independent and alike. Its level is at least the one asked for.
    ///
    /// Up to 100 observations from the exact distribution of Kendall's statistic, equal x allowed for; above by its
    /// normal approximation.
    ///
    /// # Errors
    /// [`Error::NoInterval`] when there is none of that level, as for 95 % with fewer than 5 observations;
    /// [`Error::Level`].
    pub fn slope_interval(&self, level: f64) -> Result<Interval, Error> {
        if !(level > 0.0 && level < 1.0) {
            return Err(Error::Level(level));
        }
        let tail = (1.0 - level) / 2.0;
        let cut = if self.is_exact() { self.exact_cut(tail) } else { self.normal_cut(tail) };
        if cut == 0 {
            return Err(Error::NoInterval { n: self.n, level });
        }
        Ok(Interval { lower: self.slopes[cut - 1], upper: self.slopes[self.slopes.len() - cut] })
    }

    /// The greatest number of slopes outside at each end, less than one, plus one: the r-th from each end bounds.
    fn exact_cut(&self, tail: f64) -> usize {
        let mut sum = 0.0;
        for (u, p) in kendall::reversals(&self.groups).iter().enumerate() {
            sum += p;
            // A little room for the rounding of a sum of probabilities.
            if sum > tail * (1.0 + 1e-12) {
                return u.min(self.slopes.len() / 2);
            }
        }
        0
    }

    fn normal_cut(&self, tail: f64) -> usize {
        let term = |n: usize| (n * (n - 1) * (2 * n + 5)) as f64;
        let variance = (term(self.n) - self.groups.iter().map(|&t| term(t)).sum::<f64>()) / 18.0;
        let half = normal_upper_quantile(tail) * variance.sqrt();
        let cut = (self.slopes.len() as f64 - half) / 2.0;
        cut.floor().max(0.0) as usize
    }
}

/// The line of repeated medians (Siegel, 1982): for each point the median slope to all others, then the median of
/// these. It stands up to half of the observations being wild.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RepeatedMedians {
    slope: f64,
    intercept: f64,
}

impl RepeatedMedians {
    /// Fits the line, in a time that grows with the square of the number of observations.
    ///
    /// # Errors
    /// As [`TheilSen::fit`], without a limit on the number of observations.
    pub fn fit(x: &[f64], y: &[f64]) -> Result<RepeatedMedians, Error> {
        check_line("repeated medians", x, y)?;
        let mut own = Vec::with_capacity(x.len());
        let mut slopes = Vec::with_capacity(x.len());
        for i in 0..x.len() {
            slopes.clear();
            slopes.extend((0..x.len()).filter(|&j| x[i] != x[j]).map(|j| (y[i] - y[j]) / (x[i] - x[j])));
            if slopes.iter().any(|s| !s.is_finite()) {
                return Err(Error::Range);
            }
            own.push(middle(&mut slopes));
        }
        let slope = middle(&mut own);
        Ok(RepeatedMedians { slope, intercept: intercept(x, y, slope)? })
    }

    /// The slope, in units of y over x.
    pub fn slope(&self) -> f64 {
        self.slope
    }

    /// The median of `y - slope x`, in the unit of y.
    pub fn intercept(&self) -> f64 {
        self.intercept
    }

    /// The value of the line at `x`.
    pub fn predict(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

fn check_line(what: &'static str, x: &[f64], y: &[f64]) -> Result<(), Error> {
    check::pair(x, y)?;
    check::enough(what, x.len(), 1)?;
    check::distinct(what, x, 2)
}

fn intercept(x: &[f64], y: &[f64], slope: f64) -> Result<f64, Error> {
    let mut rest: Vec<f64> = x.iter().zip(y).map(|(x, y)| y - slope * x).collect();
    if rest.iter().any(|v| !v.is_finite()) {
        return Err(Error::Range);
    }
    Ok(middle(&mut rest))
}
