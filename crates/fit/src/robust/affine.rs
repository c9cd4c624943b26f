//! Transfer time as latency plus size over bandwidth, by a robust fit.

use super::bootstrap::Bootstrap;
use super::order::middle;
use crate::{Error, Interval, check};

/// Tukey's constant: 95 % efficiency at normal errors.
const TUKEY: f64 = 4.685;
/// From a median absolute deviation to a standard deviation.
const NORMAL: f64 = 1.482_602_218_505_602;
const ITERATIONS: usize = 200;

/// Transfer times as `seconds = latency + bytes / bandwidth`, with errors proportional to the time and Tukey's
/// biweight, which gives wild observations no weight at all.
///
/// ```
/// use gannet_fit::robust::AffineTime;
/// let bytes = [2e6, 2e6, 2e7, 2e7, 2e8, 2e8, 2e9, 2e9];
/// let seconds = [0.0031, 0.0029, 0.0119, 0.0121, 0.101, 0.103, 1.01, 1.77];
/// let disk = AffineTime::fit(&bytes, &seconds)?;
/// assert!((disk.bytes_per_second() / 2e9 - 1.0).abs() < 0.02);
/// assert!((disk.latency() - 0.002).abs() < 0.0002);
/// assert_eq!(disk.weights()[7], 0.0);
/// # Ok::<(), gannet_fit::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AffineTime {
    latency: f64,
    seconds_per_byte: f64,
    latency_at_bound: bool,
    relative_deviation: f64,
    weights: Vec<f64>,
    bytes: Vec<f64>,
    seconds: Vec<f64>,
}

/// Intervals of an [`AffineTime`], from resampling.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct AffineIntervals {
    /// Of the latency in seconds; begins at 0 when resamples reach the bound.
    pub latency: Interval,
    /// Of the bandwidth in bytes per second.
    pub bytes_per_second: Interval,
    /// The standard error of the latency, in seconds.
    pub latency_std_error: f64,
    /// The standard error of the bandwidth, in bytes per second.
    pub bytes_per_second_std_error: f64,
}

impl AffineTime {
    /// Fits sizes in bytes and times in seconds.
    ///
    /// # Errors
    /// [`Error::TooFew`] below 3 observations, [`Error::NonPositive`] unless all are positive,
    /// [`Error::ConstantX`], [`Error::NonFinite`], [`Error::LengthMismatch`], [`Error::Empty`];
    /// [`Error::NotIdentified`] when the time does not grow with the size, [`Error::NoConvergence`].
    pub fn fit(bytes: &[f64], seconds: &[f64]) -> Result<AffineTime, Error> {
        check::pair(bytes, seconds)?;
        check::positive("bytes", bytes)?;
        check::positive("seconds", seconds)?;
        check::enough("a latency and a bandwidth", seconds.len(), 2)?;
        check::distinct("a latency and a bandwidth", bytes, 2)?;
        AffineTime::from_start(bytes, seconds, None)
    }

    fn from_start(bytes: &[f64], seconds: &[f64], start: Option<(f64, f64)>) -> Result<AffineTime, Error> {
        let free = Iterated::run(bytes, seconds, true, start)?;
        let at_bound = free.latency < 0.0;
        let best = if at_bound { Iterated::run(bytes, seconds, false, None)? } else { free };
        if !(best.slope > 0.0 && best.slope.is_finite()) {
            return Err(Error::NotIdentified { parameter: "bandwidth".into() });
        }
        Ok(AffineTime {
            latency: best.latency,
            seconds_per_byte: best.slope,
            latency_at_bound: at_bound,
            relative_deviation: best.scale,
            weights: best.weights,
            bytes: bytes.to_vec(),
            seconds: seconds.to_vec(),
        })
    }

    /// The time a transfer takes however small it is, in seconds; never negative.
    pub fn latency(&self) -> f64 {
        self.latency
    }

    /// True when the data called for a negative latency and 0 was taken.
    pub fn latency_at_bound(&self) -> bool {
        self.latency_at_bound
    }

    /// The bandwidth that long transfers come near to.
    pub fn bytes_per_second(&self) -> f64 {
        1.0 / self.seconds_per_byte
    }

    /// The expected time of a transfer, in seconds.
    pub fn predict(&self, bytes: f64) -> f64 {
        self.latency + bytes * self.seconds_per_byte
    }

    /// The size at which half of the bandwidth is reached, in bytes (Hockney's n½).
    pub fn half_rate_bytes(&self) -> f64 {
        self.latency / self.seconds_per_byte
    }

    /// The robust standard deviation of a time over its expected value.
    pub fn relative_deviation(&self) -> f64 {
        self.relative_deviation
    }

    /// The weight of each observation, from 1 for those on the line to 0 for those that were set aside.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The times over what is expected for their sizes less one, in the order given.
    pub fn relative_residuals(&self) -> Vec<f64> {
        self.bytes.iter().zip(&self.seconds).map(|(&b, &t)| t / self.predict(b) - 1.0).collect()
    }

    /// Confidence intervals by resampling the repeats of each size (all observations where no size was repeated).
    ///
    /// # Errors
    /// Those of [`Bootstrap::run`], and [`Error::Level`].
    pub fn intervals(&self, level: f64, bootstrap: &Bootstrap) -> Result<AffineIntervals, Error> {
        let labels: Vec<u64> = self.bytes.iter().map(|b| b.to_bits()).collect();
        let mut sorted = labels.clone();
        sorted.sort_unstable();
        let repeated = sorted.chunk_by(|a, b| a == b).filter(|g| g.len() > 1).count() * 2 > sorted.chunk_by(|a, b| a == b).count();
        let strata = if repeated { labels } else { vec![0; self.bytes.len()] };
        let resampled = bootstrap.run(&strata, |chosen| {
            let pick = |from: &[f64]| chosen.iter().map(|&i| from[i]).collect::<Vec<f64>>();
            let start = (self.latency, self.seconds_per_byte);
            let fit = AffineTime::from_start(&pick(&self.bytes), &pick(&self.seconds), Some(start)).ok()?;
            Some(vec![fit.latency, fit.bytes_per_second()])
        })?;
        Ok(AffineIntervals {
            latency: resampled.percentile(0, level)?,
            bytes_per_second: resampled.percentile(1, level)?,
            latency_std_error: resampled.std_error(0),
            bytes_per_second_std_error: resampled.std_error(1),
        })
    }
}

/// Iteratively reweighted least squares on relative errors.
struct Iterated {
    latency: f64,
    slope: f64,
    scale: f64,
    weights: Vec<f64>,
}

impl Iterated {
    /// From a start, or from medians.
    fn run(bytes: &[f64], seconds: &[f64], with_latency: bool, start: Option<(f64, f64)>) -> Result<Iterated, Error> {
        let none = || Error::NotIdentified { parameter: "bandwidth".into() };
        let (mut latency, mut slope) = start.unwrap_or_else(|| medians(bytes, seconds, with_latency));
        let n = seconds.len();
        let few = (n as f64 / (n as f64 - if with_latency { 2.0 } else { 1.0 })).sqrt();
        let (mut expected, mut residuals, mut sizes, mut weights) = (vec![0.0; n], vec![0.0; n], vec![0.0; n], vec![1.0; n]);
        let mut scale = 0.0;
        // First least absolute residuals, a good start whatever the outliers; then the biweight, whose
        // scale is held after a while, as it may swing for ever.
        for iteration in 0..ITERATIONS {
            let absolute = iteration < 10;
            let floor = bytes.iter().map(|b| latency + slope * b).filter(|&e| e > 0.0).fold(f64::INFINITY, f64::min);
            if !floor.is_finite() {
                return Err(none());
            }
            for i in 0..n {
                let value = latency + slope * bytes[i];
                expected[i] = value.max(floor);
                residuals[i] = (seconds[i] - value) / expected[i];
                sizes[i] = residuals[i].abs();
            }
            if iteration < 30 {
                scale = (NORMAL * few * middle(&mut sizes)).max(1e-13);
            }
            for (w, r) in weights.iter_mut().zip(&residuals) {
                let u = (r / scale).abs();
                *w = match absolute {
                    true => 1.0 / u.max(0.1),
                    false if u < TUKEY => (1.0 - (u / TUKEY).powi(2)).powi(2),
                    false => 0.0,
                };
            }
            let (a, b) = weighted(bytes, seconds, &weights, &expected, with_latency).ok_or_else(none)?;
            let moved = ((a - latency) / floor).abs().max((b / slope - 1.0).abs());
            (latency, slope) = (a, b);
            if !absolute && moved < 1e-10 {
                return Ok(Iterated { latency, slope, scale, weights });
            }
        }
        Err(Error::NoConvergence { iterations: ITERATIONS })
    }
}

/// Medians of the larger and the smaller half of the sizes.
fn medians(bytes: &[f64], seconds: &[f64], with_latency: bool) -> (f64, f64) {
    let centre = middle(&mut bytes.to_vec());
    let large = |b: f64| b > centre || bytes.iter().all(|&b| b <= centre);
    let rates = bytes.iter().zip(seconds).filter(|(b, _)| large(**b)).map(|(b, t)| t / b);
    let slope = middle(&mut rates.collect::<Vec<f64>>());
    if !with_latency {
        return (0.0, slope);
    }
    let small = bytes.iter().zip(seconds).filter(|(b, _)| **b <= centre);
    let rest = middle(&mut small.map(|(b, t)| t - slope * b).collect::<Vec<f64>>());
    (rest.max(0.0), slope)
}

/// The weighted line, centred, with weights over the squares of the expected times.
fn weighted(bytes: &[f64], seconds: &[f64], weights: &[f64], expected: &[f64], with_latency: bool) -> Option<(f64, f64)> {
    let weight = |i: usize| weights[i] / (expected[i] * expected[i]);
    let (mut sum, mut sx, mut sy) = (0.0, 0.0, 0.0);
    for i in 0..weights.len() {
        let w = weight(i);
        sum += w;
        sx += w * bytes[i];
        sy += w * seconds[i];
    }
    let (mx, my) = if with_latency { (sx / sum, sy / sum) } else { (0.0, 0.0) };
    let (mut sxx, mut sxy) = (0.0, 0.0);
    for i in 0..weights.len() {
        let wdx = weight(i) * (bytes[i] - mx);
        sxx += wdx * (bytes[i] - mx);
        sxy += wdx * (seconds[i] - my);
    }
    let slope = sxy / sxx;
    (slope > 0.0 && slope.is_finite()).then_some((my - slope * mx, slope))
}
