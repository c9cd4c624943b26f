//! Resampling within strata.

use super::rng::Rng;
use crate::student::normal_upper_quantile;
use crate::{Error, Interval, StudentT};

/// How to resample. Equal settings give equal results on every machine.
///
/// Intervals of a slope from fewer than some 20 observations are too narrow when bootstrapped; take the t
/// intervals of a fit there.
///
/// ```
/// use gannet_fit::robust::{Bootstrap, median};
/// let values: Vec<f64> = (0..30).map(|i| f64::from(i * 7 % 30)).collect();
/// let strata = vec![0; values.len()];
/// let resampled = Bootstrap::default().run(&strata, |chosen| {
///     let drawn: Vec<f64> = chosen.iter().map(|&i| values[i]).collect();
///     Some(vec![median(&drawn).ok()?])
/// })?;
/// assert!(resampled.bca(0, 0.95)?.contains(14.5));
/// # Ok::<(), gannet_fit::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bootstrap {
    replicates: usize,
    seed: u64,
}

impl Default for Bootstrap {
    /// 1999 resamples, seed 1.
    fn default() -> Bootstrap {
        Bootstrap { replicates: 1999, seed: 1 }
    }
}

impl Bootstrap {
    /// The number of resamples. Default: 1999.
    #[must_use]
    pub fn replicates(mut self, replicates: usize) -> Bootstrap {
        self.replicates = replicates;
        self
    }

    /// The seed of the random numbers. Default: 1.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Bootstrap {
        self.seed = seed;
        self
    }

    /// Draws observations with replacement within each stratum (equal labels, such as the size of a file), and
    /// hands their indices to `statistic`, which returns its estimates or `None` when it has none for that draw.
    ///
    /// Of a stratum of m > 1, m - 1 are drawn, so that the spread is right for small strata too (Rao and
    /// Wu, 1988); an observation alone in its stratum is in every draw.
    ///
    /// # Errors
    /// [`Error::Empty`] without observations; [`Error::TooFew`] when every stratum holds one observation, and
    /// when `statistic` has no estimate for all of the data; [`Error::Setting`] below 100 replicates;
    /// [`Error::Resamples`] when it has none for a tenth of the draws.
    pub fn run<F>(&self, strata: &[u64], mut statistic: F) -> Result<Resampled, Error>
    where
        F: FnMut(&[usize]) -> Option<Vec<f64>>,
    {
        if strata.is_empty() {
            return Err(Error::Empty);
        }
        if self.replicates < 100 {
            return Err(Error::Setting { what: "the number of resamples", range: "at least 100" });
        }
        let mut order: Vec<usize> = (0..strata.len()).collect();
        order.sort_by_key(|&i| strata[i]);
        let groups: Vec<&[usize]> = order.chunk_by(|&a, &b| strata[a] == strata[b]).collect();
        let largest = groups.iter().map(|g| g.len()).max().unwrap_or(0);
        if largest < 2 {
            return Err(Error::TooFew { what: "a stratum to resample", n: largest, need: 2 });
        }
        let all: Vec<usize> = (0..strata.len()).collect();
        let few = Error::TooFew { what: "this statistic", n: strata.len(), need: strata.len() + 1 };
        let estimates = statistic(&all).ok_or(few)?;
        let mut draws: Vec<Vec<f64>> = vec![Vec::with_capacity(self.replicates); estimates.len()];
        let mut rng = Rng::new(self.seed);
        let mut chosen = Vec::with_capacity(strata.len());
        let mut failed = 0;
        for _ in 0..self.replicates {
            chosen.clear();
            for group in &groups {
                let draw = (group.len() - 1).max(1);
                chosen.extend((0..draw).map(|_| group[rng.below(group.len())]));
            }
            match statistic(&chosen) {
                Some(values) if values.len() == draws.len() && values.iter().all(|v| !v.is_nan()) => {
                    for (kept, value) in draws.iter_mut().zip(values) {
                        kept.push(value);
                    }
                }
                _ => failed += 1,
            }
        }
        if failed * 10 > self.replicates {
            return Err(Error::Resamples { failed, of: self.replicates });
        }
        for kept in &mut draws {
            kept.sort_unstable_by(f64::total_cmp);
        }
        let acceleration = acceleration(&groups, &estimates, &mut statistic);
        Ok(Resampled { estimates, draws, acceleration, failed })
    }
}

/// The estimates of many resamples.
#[derive(Debug, Clone, PartialEq)]
pub struct Resampled {
    estimates: Vec<f64>,
    /// For each estimate, sorted.
    draws: Vec<Vec<f64>>,
    acceleration: Vec<f64>,
    failed: usize,
}

impl Resampled {
    /// The estimates from all of the data.
    pub fn estimates(&self) -> &[f64] {
        &self.estimates
    }

    /// The number of draws without an estimate.
    pub fn failed(&self) -> usize {
        self.failed
    }

    /// The standard deviation of the k-th estimate over the resamples.
    ///
    /// # Panics
    /// When there are not more than `k` estimates.
    pub fn std_error(&self, k: usize) -> f64 {
        let draws = &self.draws[k];
        let n = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / n;
        (draws.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
    }

    /// The interval between the quantiles of the resampled k-th estimate.
    ///
    /// # Errors
    /// [`Error::Level`].
    ///
    /// # Panics
    /// When there are not more than `k` estimates.
    pub fn percentile(&self, k: usize, level: f64) -> Result<Interval, Error> {
        let tail = tail(level)?;
        Ok(self.between(k, tail, 1.0 - tail))
    }

    /// The interval corrected for bias and for a spread that changes with the estimate (bias-corrected and accelerated; Efron, 1987).
    ///
    /// # Errors
    /// [`Error::Level`].
    ///
    /// # Panics
    /// When there are not more than `k` estimates.
    pub fn bca(&self, k: usize, level: f64) -> Result<Interval, Error> {
        let tail = tail(level)?;
        let (draws, estimate) = (&self.draws[k], self.estimates[k]);
        let below = draws.iter().filter(|&&v| v < estimate).count() as f64;
        let equal = draws.iter().filter(|&&v| v == estimate).count() as f64;
        let n = draws.len() as f64;
        let share = ((below + equal / 2.0) / n).clamp(0.5 / n, 1.0 - 0.5 / n);
        let bias = -normal_upper_quantile(share);
        let z = normal_upper_quantile(tail);
        let normal = StudentT::new(crate::student::NORMAL)?;
        let end = |z: f64| {
            let shifted = bias + z;
            normal.cdf(bias + shifted / (1.0 - self.acceleration[k] * shifted))
        };
        Ok(self.between(k, end(-z), end(z)))
    }

    fn between(&self, k: usize, low: f64, high: f64) -> Interval {
        let draws = &self.draws[k];
        // The p-quantile is the p(N + 1)-th of N, between its neighbours in proportion.
        let quantile = |p: f64| {
            let place = (p * (draws.len() + 1) as f64 - 1.0).clamp(0.0, (draws.len() - 1) as f64);
            let (i, part) = (place as usize, place.fract());
            if part == 0.0 { draws[i] } else { draws[i] + part * (draws[i + 1] - draws[i]) }
        };
        Interval { lower: quantile(low), upper: quantile(high) }
    }
}

fn tail(level: f64) -> Result<f64, Error> {
    if level > 0.0 && level < 1.0 { Ok((1.0 - level) / 2.0) } else { Err(Error::Level(level)) }
}

/// The acceleration from leaving out one observation at a time, within strata (Davison and Hinkley, 1997, 5.3).
fn acceleration(groups: &[&[usize]], estimates: &[f64], statistic: &mut dyn FnMut(&[usize]) -> Option<Vec<f64>>) -> Vec<f64> {
    let p = estimates.len();
    let (mut cubes, mut squares) = (vec![0.0; p], vec![0.0; p]);
    for (g, group) in groups.iter().enumerate().filter(|(_, group)| group.len() > 1) {
        let others: Vec<usize> = groups.iter().enumerate().filter(|(o, _)| *o != g).flat_map(|(_, o)| o.iter().copied()).collect();
        let mut without = Vec::with_capacity(group.len());
        for &left in *group {
            let kept: Vec<usize> = others.iter().copied().chain(group.iter().copied().filter(|&i| i != left)).collect();
            without.extend(statistic(&kept).filter(|v| v.len() == p && v.iter().all(|v| v.is_finite())));
        }
        let m = without.len() as f64;
        for k in 0..p {
            let mean = without.iter().map(|v| v[k]).sum::<f64>() / m;
            for value in &without {
                let influence = (m - 1.0) / m * (mean - value[k]);
                squares[k] += influence.powi(2);
                cubes[k] += influence.powi(3);
            }
        }
    }
    cubes.iter().zip(&squares).map(|(c, s)| if *s > 0.0 { c / (6.0 * s.powf(1.5)) } else { 0.0 }).collect()
}
