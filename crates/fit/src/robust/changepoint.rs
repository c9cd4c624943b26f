//! One change of level in a series.

use super::order::middle;
use crate::{Error, check};

/// The most likely single change of level in a series, by the test of Pettitt (1979).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ChangePoint {
    /// The first value after the change, counted from 0.
    pub index: usize,
    /// Pettitt's statistic K.
    pub statistic: f64,
    /// The probability of so great a statistic without a change, at most 1. It is an approximation from
    /// above (the true probability is smaller).
    pub p_value: f64,
    /// The median of the values before.
    pub before: f64,
    /// The median of the values from `index` on.
    pub after: f64,
}

impl ChangePoint {
    /// After over before.
    pub fn ratio(&self) -> f64 {
        self.after / self.before
    }
}

/// Looks for a change in values in the order they were measured: a disk whose cache fills up, a machine that
/// begins to throttle. Take it for real where `p_value` is below 0.01.
///
/// Only ranks count, so wild values do no harm. Values must be comparable along the run (of one size, or divided
/// by what a fit expects) and independent but for the change.
///
/// # Errors
/// [`Error::TooFew`] below 5 values, [`Error::Empty`], [`Error::NonFinite`].
pub fn changepoint(values: &[f64]) -> Result<ChangePoint, Error> {
    if values.is_empty() {
        return Err(Error::Empty);
    }
    check::finite("a value", values)?;
    let n = values.len();
    check::enough("a change point", n, 4)?;
    let ranks = ranks(values);
    let (mut sum, mut best, mut index) = (0.0, -1.0, 1);
    for (t, rank) in ranks.iter().enumerate().take(n - 1) {
        sum += rank;
        let u = (2.0 * sum - (t + 1) as f64 * (n + 1) as f64).abs();
        if u > best {
            (best, index) = (u, t + 1);
        }
    }
    let size = n as f64;
    let p_value = (2.0 * (-6.0 * best * best / (size.powi(3) + size.powi(2))).exp()).min(1.0);
    let (before, after) = values.split_at(index);
    Ok(ChangePoint { index, statistic: best, p_value, before: middle(&mut before.to_vec()), after: middle(&mut after.to_vec()) })
}

/// Ranks from 1; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    for group in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let shared = from as f64 + (group.len() as f64 + 1.0) / 2.0;
        group.iter().for_each(|&i| ranks[i] = shared);
        from += group.len();
    }
    ranks
}
