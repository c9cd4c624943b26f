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
    // Blocks without an early end, which compilers turn into vector instructions.
    if values.chunks(64).all(|block| block.iter().fold(true, |sound, v| sound & v.is_finite())) {
        return Ok(());
    }
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
    let mut ends = ([x[0]; 8], [x[0]; 8]);
    let mut blocks = x.chunks_exact(8);
    let mut take = |lane: usize, v: f64| {
        ends.0[lane] = if v < ends.0[lane] { v } else { ends.0[lane] };
        ends.1[lane] = if v > ends.1[lane] { v } else { ends.1[lane] };
    };
    for block in &mut blocks {
        (0..8).for_each(|lane| take(lane, block[lane]));
    }
    blocks.remainder().iter().for_each(|&v| take(0, v));
    let range = (ends.0.into_iter().fold(x[0], f64::min), ends.1.into_iter().fold(x[0], f64::max));
    let mix = |v: f64| v.to_bits() ^ (v.to_bits() >> 23);
    let sum = |v: &[f64]| v.iter().fold(0u64, |s, &v| s.wrapping_add(mix(v)));
    let fingerprint = match weights {
        None => sum(y),
        Some(w) => y.iter().zip(w).fold(1u64, |s, (&y, &w)| s.wrapping_add(mix(y) ^ mix(w).rotate_left(17))),
    };
    Data { x: range, fingerprint, sum_ln_y: 0.0, sum_ln_weight: weights.map_or(0.0, |w| w.iter().map(|w| w.ln()).sum()) }
}
