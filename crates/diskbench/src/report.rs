//! What a run found.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::{Caveat, Direction, Method, Sample, Settings, SyncPolicy, Volume};

/// What a run found, and all that is needed to judge it. Samples are in run order.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Report {
    /// Where.
    pub volume: Volume,
    /// How, as asked.
    pub settings: Settings,
    /// Bytes that the plan wanted to write and read.
    pub planned_bytes: u64,
    /// Bytes per second at which data is made ready between blocks, outside the timed windows; `None` if nothing is written.
    pub generator_bytes_per_second: Option<f64>,
    /// Whether the files had no names, so that nothing can stay behind.
    pub unnamed_files: bool,
    /// The files written and read, in run order.
    pub samples: Vec<Sample>,
    /// How the run ended.
    pub ending: Ending,
    /// A request did not return in time: its thread lives on until the system lets go of it.
    pub thread_lingers: bool,
    /// All of the run, in seconds.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::ser::seconds"))]
    pub elapsed: Duration,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Ending {
    /// All of the plan was done.
    Finished,
    /// The caller stopped it.
    Cancelled,
    /// The time limit of the plan was reached.
    TimeLimit,
    /// The last item of the run was an error.
    Failed,
}

/// Bytes and the time of their windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Total {
    /// Files.
    pub files: u64,
    /// Bytes.
    pub bytes: u64,
    /// Time within the timed windows, in seconds.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::ser::seconds"))]
    pub elapsed: Duration,
}

impl Total {
    /// Total bytes over total time, in bytes per second.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.elapsed.as_secs_f64()
    }
}

impl Report {
    /// The samples of one direction, in run order.
    pub fn samples(&self, direction: Direction) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(move |sample| sample.direction == direction)
    }

    /// Total bytes and time of one direction; `None` without samples.
    #[must_use]
    pub fn total(&self, direction: Direction) -> Option<Total> {
        let mut total = Total { files: 0, bytes: 0, elapsed: Duration::ZERO };
        for sample in self.samples(direction) {
            total.files += 1;
            total.bytes += sample.bytes;
            total.elapsed += sample.elapsed();
        }
        (total.files > 0).then_some(total)
    }

    /// Bytes and seconds of each sample of one direction, in run order, as regression wants them.
    #[must_use]
    pub fn points(&self, direction: Direction) -> (Vec<f64>, Vec<f64>) {
        self.samples(direction).map(|sample| (sample.bytes as f64, sample.elapsed().as_secs_f64())).unzip()
    }

    /// How the disk was reached in one direction: what was achieved for most samples; `None` without samples.
    #[must_use]
    pub fn method(&self, direction: Direction) -> Option<Method> {
        let mut methods: Vec<Method> = self.samples(direction).map(|sample| sample.method).collect();
        methods.sort_unstable();
        methods.get(methods.len() / 2).copied()
    }

    /// What made written data durable; `None` without written samples.
    #[must_use]
    pub fn sync(&self) -> Option<SyncPolicy> {
        self.samples(Direction::Write).find_map(|sample| sample.sync)
    }

    /// All reasons why samples of one direction may not show the speed of the disk. Empty if none does.
    #[must_use]
    pub fn caveats(&self, direction: Direction) -> Vec<Caveat> {
        let all: BTreeSet<Caveat> = self.samples(direction).flat_map(|sample| sample.caveats.iter().copied()).collect();
        all.into_iter().collect()
    }

    /// Time of the run outside all timed windows, in seconds: making data ready, opening, closing, checking.
    #[must_use]
    pub fn outside(&self) -> Duration {
        self.elapsed.saturating_sub(self.samples.iter().map(Sample::elapsed).sum())
    }

    /// Whether data was made ready less than three times as fast as the disk wrote it, so that it had time to rest.
    #[must_use]
    pub fn generator_is_slow(&self) -> bool {
        match (self.generator_bytes_per_second, self.total(Direction::Write)) {
            (Some(generator), Some(total)) => generator < 3.0 * total.bytes_per_second(),
            _ => false,
        }
    }
}
