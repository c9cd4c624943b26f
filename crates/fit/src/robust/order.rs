//! Medians.

use crate::{Error, check};

/// The middle value, or the mean of the two middle ones.
///
/// # Errors
/// [`Error::Empty`], [`Error::NonFinite`].
pub fn median(values: &[f64]) -> Result<f64, Error> {
    if values.is_empty() {
        return Err(Error::Empty);
    }
    check::finite("a value", values)?;
    Ok(middle(&mut values.to_vec()))
}

/// The median of the distances from the median, in the unit of the values. Times 1.4826 it
/// estimates the standard deviation of normal values.
///
/// # Errors
/// [`Error::Empty`], [`Error::NonFinite`].
pub fn median_absolute_deviation(values: &[f64]) -> Result<f64, Error> {
    let centre = median(values)?;
    Ok(middle(&mut values.iter().map(|v| (v - centre).abs()).collect::<Vec<f64>>()))
}

/// The median of at least one finite value; changes their order.
pub(super) fn middle(values: &mut [f64]) -> f64 {
    let n = values.len();
    let (below, upper, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
    let upper = *upper;
    if n % 2 == 1 {
        return upper;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    lower + (upper - lower) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Ok(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Ok(2.5));
        assert_eq!(median(&[]), Err(Error::Empty));
        assert_eq!(median(&[1.0, f64::NAN]), Err(Error::NonFinite { what: "a value", index: 1 }));
        assert_eq!(median_absolute_deviation(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), Ok(1.0));
    }
}
