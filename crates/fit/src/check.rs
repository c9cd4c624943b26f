//! Checks of the input, and what is kept of it.

use crate::Error;
use crate::fitted::Data;

/// Same lengths, at least one, all finite.
pub(crate) fn pair(x: &[f64], y: &[f64]) -> Result<(), Error> {
    length("y", y, x.len())?;
    if x.is_empty() {
        return Err(Error::Empty);
    }
    finite("x", x)?;
    finite("y", y)
}

pub(crate) fn length(what: &'static str, values: &[f64], expected: usize) -> Result<(), Error> {
    if values.len() == expected { Ok(()) } else { Err(Error::LengthMismatch { what, got: values.len(), expected }) }
}

pub(crate) fn finite(what: &'static str, values: &[f64]) -> Result<(), Error> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(index) => Err(Error::NonFinite { what, index }),
        None => Ok(()),
    }
}

pub(crate) fn positive(what: &'static str, values: &[f64]) -> Result<(), Error> {
    match values.iter().position(|&v| v <= 0.0) {
        Some(index) => Err(Error::NonPositive { what, index }),
        None => Ok(()),
    }
}

pub(crate) fn weights(weights: Option<&[f64]>, n: usize) -> Result<(), Error> {
    let Some(weights) = weights else { return Ok(()) };
    length("weights", weights, n)?;
    match weights.iter().position(|&w| !(w > 0.0 && w.is_finite())) {
        Some(index) => Err(Error::Weight { index }),
        None => Ok(()),
    }
}

/// More observations than parameters.
pub(crate) fn enough(what: &'static str, n: usize, parameters: usize) -> Result<(), Error> {
    if n > parameters { Ok(()) } else { Err(Error::TooFew { what, n, need: parameters + 1 }) }
}

/// At least `need` different values; an exact comparison, before any arithmetic.
pub(crate) fn distinct(what: &'static str, x: &[f64], need: usize) -> Result<(), Error> {
    let mut seen: Vec<f64> = Vec::with_capacity(need);
    for &v in x {
        if !seen.contains(&v) {
            seen.push(v);
            if seen.len() >= need {
                return Ok(());
            }
        }
    }
    match seen.len() {
        1 if need > 1 => Err(Error::ConstantX),
        distinct => Err(Error::TooFewDistinct { what, distinct, need }),
    }
}

/// The extremes of x, and a fingerprint of y and the weights that does not depend on their order.
pub(crate) fn data(x: &[f64], y: &[f64], weights: Option<&[f64]>) -> Data {
    let range = x.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
    let mix = |v: f64| (v.to_bits() ^ (v.to_bits() >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let sum = |v: &[f64]| v.iter().fold(0u64, |s, &v| s.wrapping_add(mix(v)));
    let fingerprint = match weights {
        None => sum(y),
        Some(w) => y.iter().zip(w).fold(1u64, |s, (&y, &w)| s.wrapping_add(mix(y) ^ mix(w).rotate_left(17))),
    };
    Data { x: range, fingerprint, sum_ln_y: 0.0, sum_ln_weight: weights.map_or(0.0, |w| w.iter().map(|w| w.ln()).sum()) }
}
