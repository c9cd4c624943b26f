mod work;

use std::fmt;
use std::hint::black_box;
use std::str::FromStr;
use std::time::{Duration, Instant};

use crate::Error;

/// A kind of in-core work. One *loop* is the same work everywhere:
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Workload {
    /// A shift, an exclusive or, a multiplication and an addition on 64 bits, each depending on the one before.
    Integer,
    /// A multiplication and an addition in double precision, each depending on the one before.
    FloatingPoint,
    /// A multiplication and an addition on 16 numbers of single precision.
    Simd,
    /// A load that depends on the one before, at a random place of 96 KiB: within the core's own caches, mostly the
    /// second-level one. Main memory and the caches before it are shared, and are not measured.
    Memory,
}

impl Workload {
    /// All kinds.
    pub const ALL: [Workload; 4] = [Workload::Integer, Workload::FloatingPoint, Workload::Simd, Workload::Memory];

    /// The kind's name, as `FromStr` reads it: `integer`, `floating-point`, `simd`, `memory`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Workload::Integer => "integer",
            Workload::FloatingPoint => "floating-point",
            Workload::Simd => "simd",
            Workload::Memory => "memory",
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Workload {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Workload::ALL.into_iter().find(|workload| workload.name() == text).ok_or_else(|| Error::UnknownWorkload { text: text.to_owned() })
    }
}

/// In-core work to time: what a class, a core level or a number of threads is worth.
///
/// The loops can neither be skipped nor shortened by the compiler, and their time is proportional to their number.
///
/// ```
/// use gannet_qos::{Probe, Workload};
/// let probe = Probe::new(Workload::Integer);
/// let timing = probe.measure(1 << 16, 5);
/// println!("{:?} for {} loops", timing.median(), timing.loops);
/// ```
#[derive(Debug, Clone)]
pub struct Probe {
    workload: Workload,
    /// A random cycle through the memory, for [`Workload::Memory`].
    cycle: Vec<u32>,
}

/// Repeated timings of the same number of loops.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Timing {
    /// Loops of each run.
    pub loops: u64,
    /// The time of each run, in the order they were made.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::seconds::many"))]
    pub times: Vec<Duration>,
}

impl Probe {
    /// Prepares a kind of work; memory gets 96 KiB.
    #[must_use]
    pub fn new(workload: Workload) -> Self {
        let cycle = if workload == Workload::Memory { work::cycle() } else { Vec::new() };
        Probe { workload, cycle }
    }

    /// The kind of work.
    #[must_use]
    pub const fn workload(&self) -> Workload {
        self.workload
    }

    /// Does the work of so many loops. The result depends on all of them.
    #[must_use]
    pub fn run(&self, loops: u64) -> u64 {
        let loops = black_box(loops);
        black_box(match self.workload {
            Workload::Integer => work::probe_integer(loops),
            Workload::FloatingPoint => work::probe_floating_point(loops),
            Workload::Simd => work::probe_simd(loops),
            Workload::Memory => work::probe_memory(&self.cycle, loops),
        })
    }

    /// The time of so many loops.
    #[must_use]
    pub fn time(&self, loops: u64) -> Duration {
        let start = Instant::now();
        black_box(self.run(loops));
        start.elapsed()
    }

    /// Times so many loops `repeats` times, at least once, after a short run that wakes the core.
    #[must_use]
    pub fn measure(&self, loops: u64, repeats: usize) -> Timing {
        black_box(self.run(loops.min(1 << 16)));
        Timing { loops, times: (0..repeats.max(1)).map(|_| self.time(loops)).collect() }
    }

    /// A number of loops that takes about this long on this core now; at least 1024.
    #[must_use]
    pub fn loops_for(&self, time: Duration) -> u64 {
        let mut loops = 1024;
        loop {
            // The best of five, since other work on the core only ever adds time.
            let taken = (0..5).map(|_| self.time(loops)).min().unwrap_or_default();
            // A hundredth of the aim, or 2 ms, is long enough to extrapolate from.
            if taken >= (time / 100).max(Duration::from_millis(2)) {
                let aim = loops as f64 * time.as_secs_f64() / taken.as_secs_f64();
                return (aim as u64).max(1024);
            }
            loops *= 2;
        }
    }
}

impl Timing {
    /// Timings made elsewhere: the loops of each run, and their times.
    #[must_use]
    pub const fn new(loops: u64, times: Vec<Duration>) -> Self {
        Timing { loops, times }
    }

    /// The median time; zero without runs.
    #[must_use]
    pub fn median(&self) -> Duration {
        let mut sorted = self.times.clone();
        sorted.sort_unstable();
        let middle = sorted.len() / 2;
        match sorted.get(middle) {
            Some(time) if sorted.len() % 2 == 1 => *time,
            Some(time) => (*time + sorted[middle - 1]) / 2,
            None => Duration::ZERO,
        }
    }

    /// The spread: slowest less fastest, over the median.
    #[must_use]
    pub fn spread(&self) -> f64 {
        let least = self.times.iter().min().copied().unwrap_or_default();
        let most = self.times.iter().max().copied().unwrap_or_default();
        let median = self.median().as_secs_f64();
        if median > 0.0 { (most - least).as_secs_f64() / median } else { 0.0 }
    }

    /// Loops per second, by the median.
    #[must_use]
    pub fn loops_per_second(&self) -> f64 {
        self.loops as f64 / self.median().as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_depends_on_every_loop() {
        for workload in Workload::ALL {
            let probe = Probe::new(workload);
            let results: std::collections::BTreeSet<u64> = (100..140).map(|loops| probe.run(loops)).collect();
            assert_eq!(results.len(), 40, "{workload}");
            assert_eq!(probe.run(100), probe.run(100));
        }
    }

    #[test]
    fn median_and_spread() {
        let timing = |times: &[u64]| Timing { loops: 10, times: times.iter().map(|t| Duration::from_secs(*t)).collect() };
        assert_eq!(timing(&[5, 1, 3]).median(), Duration::from_secs(3));
        assert_eq!(timing(&[4, 1, 3, 2]).median(), Duration::from_millis(2500));
        assert!((timing(&[4, 1, 3, 2]).spread() - 1.2).abs() < 1e-12);
        assert!((timing(&[5, 5]).loops_per_second() - 2.0).abs() < 1e-12);
    }

    #[test]
    fn names_round_trip() {
        for workload in Workload::ALL {
            assert_eq!(workload.to_string().parse::<Workload>().unwrap(), workload);
        }
        assert!("float".parse::<Workload>().unwrap_err().to_string().contains("floating-point"));
    }
}
