//! The trimmed mean.

use crate::student::two_sided;
use crate::{Error, Interval, check};

/// The mean of what is left when the same share of the least and of the greatest values is taken off.
///
/// ```
/// use gannet_fit::robust::TrimmedMean;
/// let mean = TrimmedMean::new(&[2.1, 2.0, 1.9, 2.0, 9.9], 0.2)?;
/// assert!((mean.mean() - 2.0333333333333333).abs() < 1e-15);
/// # Ok::<(), gannet_fit::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrimmedMean {
    mean: f64,
    std_error: f64,
    n: usize,
    cut: usize,
}

impl TrimmedMean {
    /// Of `values`, with `floor(share · n)` of them taken off **each** end. A share of 0.2 is usual, 0 is the mean.
    ///
    /// # Errors
    /// [`Error::Setting`] unless `0 <= share < 0.5`, [`Error::TooFew`] when fewer than 2 values are left,
    /// [`Error::Empty`], [`Error::NonFinite`], [`Error::Range`].
    pub fn new(values: &[f64], share: f64) -> Result<TrimmedMean, Error> {
        if !(0.0..0.5).contains(&share) {
            return Err(Error::Setting { what: "the share to trim at each end", range: "at least 0 and below 0.5" });
        }
        if values.is_empty() {
            return Err(Error::Empty);
        }
        check::finite("a value", values)?;
        let n = values.len();
        // 0.1 · 30 is a little below 3 in binary.
        let cut = (share * n as f64 + 1e-9).floor() as usize;
        if n < 2 * cut + 2 {
            return Err(Error::TooFew { what: "this trimmed mean", n, need: 2 * cut + 2 });
        }
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let left = &sorted[cut..n - cut];
        let mean = mean(left);
        // The variance with the values that were cut replaced by the nearest left (Winsorised).
        let winsorized = (0..n).map(|i| sorted[i.clamp(cut, n - cut - 1)]).collect::<Vec<f64>>();
        let centre = self::mean(&winsorized);
        let squares: f64 = winsorized.iter().map(|v| (v - centre).powi(2)).sum();
        // Yuen (1974): over the values that are left.
        let h = left.len() as f64;
        let std_error = (squares / (h * (h - 1.0))).sqrt();
        if !(mean.is_finite() && std_error.is_finite()) {
            return Err(Error::Range);
        }
        Ok(TrimmedMean { mean, std_error, n, cut })
    }

    /// The trimmed mean.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Its standard error (Yuen, 1974).
    pub fn std_error(&self) -> f64 {
        self.std_error
    }

    /// The number of values given.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The number taken off at each end.
    pub fn cut(&self) -> usize {
        self.cut
    }

    /// The confidence interval, by Student's t with as many degrees of freedom as values are left, less one.
    ///
    /// # Errors
    /// [`Error::Level`].
    pub fn interval(&self, level: f64) -> Result<Interval, Error> {
        let t = two_sided(level, self.n - 2 * self.cut - 1)?;
        Ok(Interval::around(self.mean, t * self.std_error))
    }
}

fn mean(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let rough = values.iter().map(|v| v / n).sum::<f64>();
    rough + values.iter().map(|v| (v - rough) / n).sum::<f64>()
}
