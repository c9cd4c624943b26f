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

/// Squares that a double holds, with all their digits.
pub(crate) fn squares(values: &[f64]) -> Result<(), Error> {
    let sum: f64 = values.iter().map(|v| v * v).sum();
    let least = f64::MIN_POSITIVE / f64::EPSILON / f64::EPSILON;
    if (sum.is_finite() && sum >= least) || values.iter().all(|&v| v == 0.0) { Ok(()) } else { Err(Error::Range) }
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
pub(crate) struct Survey {
    least: [f64; 8],
    most: [f64; 8],
    fingerprint: u64,
}

impl Survey {
    pub(crate) fn new(x0: f64) -> Survey {
        Survey { least: [x0; 8], most: [x0; 8], fingerprint: 0 }
    }

    /// Takes in some of the observations.
    pub(crate) fn add(&mut self, x: &[f64], y: &[f64], weights: Option<&[f64]>) {
        let (mut least, mut most) = (self.least, self.most);
        let mut take = |lane: usize, v: f64| {
            least[lane] = if v < least[lane] { v } else { least[lane] };
            most[lane] = if v > most[lane] { v } else { most[lane] };
        };
        let mut blocks = x.chunks_exact(8);
        for block in &mut blocks {
            (0..8).for_each(|lane| take(lane, block[lane]));
        }
        blocks.remainder().iter().for_each(|&v| take(0, v));
        (self.least, self.most) = (least, most);
        let mix = |v: f64| v.to_bits() ^ (v.to_bits() >> 23);
        let sum = match weights {
            None => y.iter().fold(0u64, |s, &v| s.wrapping_add(mix(v))),
            Some(w) => y.iter().zip(w).fold(0u64, |s, (&y, &w)| s.wrapping_add(mix(y) ^ mix(w).rotate_left(17))),
        };
        self.fingerprint = self.fingerprint.wrapping_add(sum);
    }

    pub(crate) fn finish(&self, weights: Option<&[f64]>) -> Data {
        let least = self.least.into_iter().fold(f64::INFINITY, f64::min);
        let most = self.most.into_iter().fold(f64::NEG_INFINITY, f64::max);
        Data {
            x: (least, most),
            // Weights of 1 are not the same as none.
            fingerprint: self.fingerprint.wrapping_add(u64::from(weights.is_some())),
            sum_ln_y: 0.0,
            sum_ln_weight: weights.map_or(0.0, |w| w.iter().map(|w| w.ln()).sum()),
        }
    }
}

/// Of all observations at once.
pub(crate) fn data(x: &[f64], y: &[f64], weights: Option<&[f64]>) -> Data {
    let mut survey = Survey::new(x[0]);
    survey.add(x, y, weights);
    survey.finish(weights)
}
