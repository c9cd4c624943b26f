//! Statistics that a few wild observations do not spoil.

mod affine;
mod bootstrap;
mod changepoint;
mod kendall;
mod median_lines;
mod order;
mod rng;
mod trimmed;

pub use affine::{AffineIntervals, AffineTime};
pub use bootstrap::{Bootstrap, Resampled};
pub use changepoint::{ChangePoint, changepoint};
pub use median_lines::{RepeatedMedians, TheilSen};
pub use order::{median, median_absolute_deviation};
pub use trimmed::TrimmedMean;
