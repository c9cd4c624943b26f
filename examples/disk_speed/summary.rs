//! Figures of one direction, from its samples.

use std::collections::BTreeMap;

use diskbench::{Caveat, Direction, Method, Report, Sample};
use fit::robust::{AffineTime, Bootstrap, TheilSen, TrimmedMean, changepoint, median};
use fit::{Interval, LinearFit, Model};

/// A change is reported when it is this unlikely without one…
const SIGNIFICANCE: f64 = 0.01;
/// …and this large.
const LEAST_CHANGE: f64 = 0.05;
/// More sizes than this are shown by ranges.
const MOST_SIZES: usize = 24;
/// Share that the trimmed mean leaves out at each end.
const TRIM: f64 = 0.2;

/// Figures of one direction. Rates are bytes per second, times seconds.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) direction: Direction,
    pub(crate) method: Method,
    pub(crate) caveats: Vec<Caveat>,
    /// Largest number of bytes of a file seen in the page cache when it mattered, if that could be told for all.
    pub(crate) resident_bytes: Option<u64>,
    pub(crate) files: usize,
    pub(crate) bytes: u64,
    /// The robust line, or why there is none.
    pub(crate) affine: Result<Affine, String>,
    pub(crate) mean_rate: f64,
    pub(crate) trimmed: Option<(f64, Option<Interval>)>,
    pub(crate) theil_sen: Option<(f64, Option<Interval>)>,
    /// Rate and latency of the least-squares line.
    pub(crate) least_squares: Option<(f64, f64)>,
    pub(crate) total_rate: f64,
    pub(crate) by_size: Vec<BySize>,
    /// By ranges that begin at 1, 2 and 5 times the powers of ten, where there are many sizes; `bytes` is where a range begins.
    pub(crate) by_range: Option<Vec<BySize>>,
    pub(crate) change: Option<Change>,
    /// Why a change could not be looked for.
    pub(crate) change_reason: Option<String>,
    pub(crate) blocks: Blocks,
}

/// time = latency + bytes / bandwidth.
#[derive(Debug)]
pub(crate) struct Affine {
    pub(crate) bandwidth: f64,
    pub(crate) latency: f64,
    pub(crate) bandwidth_interval: Option<Interval>,
    pub(crate) latency_interval: Option<Interval>,
    /// The times call for a latency below 0, by more than chance: small files did not wait for the disk.
    pub(crate) below_zero: bool,
    /// Sizes of the files that got no weight.
    pub(crate) set_aside: Vec<u64>,
}

#[derive(Debug)]
pub(crate) struct BySize {
    pub(crate) bytes: u64,
    pub(crate) n: usize,
    pub(crate) median_rate: f64,
    /// Least and greatest rate.
    pub(crate) lower: f64,
    pub(crate) upper: f64,
}

/// Where the run changed its speed.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) after_bytes: u64,
    pub(crate) after_seconds: f64,
    pub(crate) rate_before: f64,
    pub(crate) rate_after: f64,
    pub(crate) p_value: f64,
}

/// Times of single reads or writes, in seconds.
#[derive(Debug)]
pub(crate) struct Blocks {
    pub(crate) n: usize,
    pub(crate) median: f64,
    /// `None` with fewer than 1000 blocks.
    pub(crate) p99: Option<f64>,
    pub(crate) greatest: f64,
}

impl Summary {
    /// `None` without samples.
    pub(crate) fn new(report: &Report, direction: Direction, confidence: f64) -> Option<Self> {
        let samples: Vec<&Sample> = report.samples(direction).collect();
        let method = report.method(direction)?;
        let total = report.total(direction)?;
        let (bytes, seconds) = report.points(direction);
        let rates: Vec<f64> = samples.iter().map(|s| s.bytes_per_second()).collect();
        let change = find_change(&samples);
        let by_size = grouped(&samples, |size| size);
        Some(Self {
            direction,
            method,
            caveats: report.caveats(direction),
            resident_bytes: samples.iter().map(|s| s.resident.bytes()).try_fold(0, |most, b| b.map(|b| most.max(b))),
            files: samples.len(),
            bytes: total.bytes,
            affine: Affine::new(&bytes, &seconds, confidence).map_err(|e| e.to_string()),
            mean_rate: rates.iter().sum::<f64>() / rates.len() as f64,
            trimmed: TrimmedMean::new(&rates, TRIM).ok().map(|mean| {
                // The interval of a few files may reach below 0, where no rate is.
                let interval = mean.interval(confidence).ok().map(|i| Interval { lower: i.lower.max(0.0), ..i });
                (mean.mean(), interval)
            }),
            theil_sen: TheilSen::fit(&bytes, &seconds).ok().filter(|line| line.slope() > 0.0).map(|line| {
                let interval = line.slope_interval(confidence).ok();
                (1.0 / line.slope(), interval.filter(|i| i.lower > 0.0).map(|i| Interval { lower: 1.0 / i.upper, upper: 1.0 / i.lower }))
            }),
            least_squares: least_squares(&bytes, &seconds),
            total_rate: total.bytes_per_second(),
            by_range: (by_size.len() > MOST_SIZES).then(|| grouped(&samples, range_of)),
            by_size,
            change_reason: change.as_ref().err().cloned(),
            change: change.ok().flatten(),
            blocks: Blocks::new(&samples),
        })
    }
}

impl Affine {
    fn new(bytes: &[f64], seconds: &[f64], confidence: f64) -> Result<Self, fit::Error> {
        let line = AffineTime::fit(bytes, seconds)?;
        let intervals = line.intervals(confidence, &Bootstrap::default()).ok();
        let mut set_aside: Vec<u64> = bytes.iter().zip(line.weights()).filter(|(_, w)| **w == 0.0).map(|(b, _)| *b as u64).collect();
        set_aside.sort_unstable();
        Ok(Self {
            bandwidth: line.bytes_per_second(),
            latency: line.latency(),
            bandwidth_interval: intervals.as_ref().map(|i| i.bytes_per_second),
            latency_interval: intervals.as_ref().map(|i| i.latency),
            below_zero: line.latency_at_bound() && is_below_zero(bytes, seconds, line.weights(), confidence),
            set_aside,
        })
    }

    /// Expected time of a file, in seconds.
    pub(crate) fn predict(&self, bytes: f64) -> f64 {
        self.latency + bytes / self.bandwidth
    }
}

/// Whether the interval of the latency lies below 0, for the line of least squares of relative errors through what the robust one kept.
fn is_below_zero(bytes: &[f64], seconds: &[f64], robust: &[f64], confidence: f64) -> bool {
    let kept: Vec<usize> = (0..bytes.len()).filter(|i| robust[*i] > 0.0).collect();
    let of = |values: &[f64]| kept.iter().map(|i| values[*i]).collect::<Vec<_>>();
    let weights: Vec<f64> = of(seconds).iter().map(|t| 1.0 / (t * t)).collect();
    let interval = LinearFit::weighted(&of(bytes), &of(seconds), &weights).and_then(|line| line.confidence_intervals(confidence));
    interval.is_ok_and(|intervals| intervals.first().is_some_and(|i| i.upper < 0.0))
}

fn least_squares(bytes: &[f64], seconds: &[f64]) -> Option<(f64, f64)> {
    let line = LinearFit::ols(bytes, seconds).ok()?;
    let (slope, intercept) = (line.slope()?.estimate, line.intercept()?.estimate);
    (slope > 0.0).then(|| (1.0 / slope, intercept))
}

/// Rates of the samples whose sizes have the same key, by key.
fn grouped(samples: &[&Sample], key: impl Fn(u64) -> u64) -> Vec<BySize> {
    let mut rates: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for sample in samples {
        rates.entry(key(sample.size)).or_default().push(sample.bytes_per_second());
    }
    let of_group = |(bytes, rates): (u64, Vec<f64>)| {
        Some(BySize {
            bytes,
            n: rates.len(),
            median_rate: median(&rates).ok()?,
            lower: rates.iter().copied().fold(f64::INFINITY, f64::min),
            upper: rates.iter().copied().fold(0.0, f64::max),
        })
    };
    rates.into_iter().filter_map(of_group).collect()
}

/// Where the range of a size begins: 1, 2 or 5 times a power of ten.
fn range_of(size: u64) -> u64 {
    let power = 10_u64.pow(size.max(1).ilog10());
    [5, 2, 1].into_iter().map(|n| n * power).find(|begin| *begin <= size).unwrap_or(0)
}

/// Logarithms of times over what their sizes let expect, in run order: by the robust line, or by the median time of the size.
fn residuals(samples: &[&Sample]) -> Vec<f64> {
    let bytes: Vec<f64> = samples.iter().map(|s| s.bytes as f64).collect();
    let seconds: Vec<f64> = samples.iter().map(|s| s.elapsed().as_secs_f64()).collect();
    let expected = |i: usize| -> f64 {
        let same: Vec<f64> = bytes.iter().zip(&seconds).filter(|(b, _)| **b == bytes[i]).map(|(_, s)| *s).collect();
        median(&same).unwrap_or(1.0)
    };
    match AffineTime::fit(&bytes, &seconds) {
        Ok(line) => bytes.iter().zip(&seconds).map(|(b, s)| (s / line.predict(*b)).ln()).collect(),
        Err(_) => (0..bytes.len()).map(|i| (seconds[i] / expected(i)).ln()).collect(),
    }
}

/// Looks for one change of speed: among files by Pettitt's test, then within the files beside it block by block.
fn find_change(samples: &[&Sample]) -> Result<Option<Change>, String> {
    // Of so few files even a clean step would pass for chance: all the first half below all of the second.
    let n = samples.len() as f64;
    let most = (n / 2.0).floor() * (n / 2.0).ceil();
    if 2.0 * (-6.0 * most * most / (n.powi(3) + n.powi(2))).exp() >= SIGNIFICANCE {
        return Err(format!("{n} files are too few to tell"));
    }
    let found = changepoint(&residuals(samples)).map_err(|e| e.to_string())?;
    if found.p_value >= SIGNIFICANCE || found.index == 0 {
        return Ok(None);
    }
    let knee = Knee::within(samples, found.index);
    let (Some(rate_before), Some(rate_after)) = (bandwidth(&samples[..knee.last_before]), bandwidth(&samples[knee.first_after..])) else {
        return Ok(None);
    };
    if (rate_after / rate_before - 1.0).abs() < LEAST_CHANGE {
        return Ok(None);
    }
    Ok(Some(Change { after_bytes: knee.bytes, after_seconds: knee.seconds, rate_before, rate_after, p_value: found.p_value }))
}

/// Robust bandwidth, or total over total where there is no line.
fn bandwidth(samples: &[&Sample]) -> Option<f64> {
    let bytes: Vec<f64> = samples.iter().map(|s| s.bytes as f64).collect();
    let seconds: Vec<f64> = samples.iter().map(|s| s.elapsed().as_secs_f64()).collect();
    match AffineTime::fit(&bytes, &seconds) {
        Ok(line) => Some(line.bytes_per_second()),
        Err(_) => {
            let time: f64 = seconds.iter().sum();
            (time > 0.0).then(|| bytes.iter().sum::<f64>() / time)
        }
    }
}

/// The place of a change.
struct Knee {
    bytes: u64,
    seconds: f64,
    /// Files before this one are of the old speed…
    last_before: usize,
    /// …and from this one on of the new.
    first_after: usize,
}

impl Knee {
    /// Near file `index`: the split of the blocks of the file before it and of itself into two levels with the least sum of absolute
    /// deviations of the logarithm of the rate.
    fn within(samples: &[&Sample], index: usize) -> Self {
        let near = index - 1..(index + 1).min(samples.len());
        let before: u64 = samples[..near.start].iter().map(|s| s.bytes).sum();
        let mut blocks = Vec::new();
        let mut at = before;
        for (file, sample) in near.clone().map(|i| (i, samples[i])) {
            for chunk in &sample.chunks {
                let time = (chunk.end - chunk.begin).as_secs_f64().max(1e-9);
                blocks.push((at, file, (chunk.bytes as f64 / time).ln(), (sample.started + chunk.begin).as_secs_f64()));
                at += chunk.bytes;
            }
        }
        let cost = |part: &[(u64, usize, f64, f64)]| {
            let values: Vec<f64> = part.iter().map(|b| b.2).collect();
            let middle = median(&values).unwrap_or(0.0);
            values.iter().map(|v| (v - middle).abs()).sum::<f64>()
        };
        let best = (1..blocks.len()).min_by(|a, b| {
            let of = |i: usize| cost(&blocks[..i]) + cost(&blocks[i..]);
            of(*a).total_cmp(&of(*b))
        });
        match best.map(|i| blocks[i]) {
            Some((bytes, file, _, seconds)) => {
                let whole = bytes == samples[..file].iter().map(|s| s.bytes).sum::<u64>();
                Knee { bytes, seconds, last_before: file, first_after: if whole { file } else { (file + 1).min(samples.len()) } }
            }
            None => {
                let bytes = samples[..index].iter().map(|s| s.bytes).sum();
                Knee { bytes, seconds: samples[index].started.as_secs_f64(), last_before: index, first_after: index }
            }
        }
    }
}

impl Blocks {
    fn new(samples: &[&Sample]) -> Self {
        let mut times: Vec<f64> = samples.iter().flat_map(|s| &s.chunks).map(|c| (c.end - c.begin).as_secs_f64()).collect();
        times.sort_by(f64::total_cmp);
        Self {
            n: times.len(),
            median: median(&times).unwrap_or(f64::NAN),
            p99: (times.len() >= 1000).then(|| times[times.len() * 99 / 100]),
            greatest: times.last().copied().unwrap_or(f64::NAN),
        }
    }
}
