//! The pipeline model: what a run would take on another disk or with other threads.

use std::time::Duration;

use crate::report::{Report, StageReport};
use crate::verdict::LimitingStage;

/// A pipeline as numbers: three stages that run at the same time, so that the slowest sets the time.
///
/// Reading takes `input_bytes / read_bytes_per_second`, writing takes `output_bytes / write_bytes_per_second`, and the
/// threads take `work / threads`; the whole takes the longest of the three. What happens before the first chunk is read
/// and after the last is processed is left out: it is one chunk's share, and with it the prediction is a lower bound.
///
/// ```
/// use std::time::Duration;
/// use gannet_stream::{LimitingStage, Pipeline};
///
/// // 1 GB at 300 MB/s per thread, compressed to a third, on a disk of 500 MB/s.
/// let mut pipeline = Pipeline::new(1_000_000_000, 333_000_000, Duration::from_secs_f64(3.33), 2);
/// pipeline.read_bytes_per_second = 500e6;
/// pipeline.write_bytes_per_second = 500e6;
/// assert_eq!(pipeline.predict().time, Duration::from_secs(2));
/// assert_eq!(pipeline.predict().limiting, LimitingStage::Read);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Pipeline {
    /// Bytes read.
    pub input_bytes: u64,
    /// Bytes written.
    pub output_bytes: u64,
    /// Seconds of one thread that all processing takes, with the copies in and out. How this changes with the number of
    /// threads is the caller's knowledge (a fitted scaling model, say): set it together with `threads`.
    pub work_seconds: f64,
    /// Threads that have a core each.
    pub threads: usize,
    /// What the source's disk gives; infinite if it never limits.
    pub read_bytes_per_second: f64,
    /// What the output's disk takes; infinite if it never limits.
    pub write_bytes_per_second: f64,
}

/// What a [`Pipeline`] predicts.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Prediction {
    /// Wall time.
    pub time: Duration,
    /// The stage that sets it: never [`LimitingStage::Starved`], as every thread of the model has a core.
    pub limiting: LimitingStage,
    /// Seconds that reading alone would take.
    pub read_seconds: f64,
    /// Seconds that processing alone would take.
    pub process_seconds: f64,
    /// Seconds that writing alone would take.
    pub write_seconds: f64,
}

impl Pipeline {
    /// A pipeline whose disks never limit.
    #[must_use]
    pub fn new(input_bytes: u64, output_bytes: u64, work: Duration, threads: usize) -> Self {
        Self {
            input_bytes,
            output_bytes,
            work_seconds: work.as_secs_f64(),
            threads,
            read_bytes_per_second: f64::INFINITY,
            write_bytes_per_second: f64::INFINITY,
        }
    }

    /// The pipeline that a run shows. The work is its processor time (where the system tells none: its busy time); a
    /// disk's rate is bytes over the time in which the run waited for it, so it is what the disk did and at least what
    /// it can do.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        let cpu = |stage: &StageReport| stage.cpu.unwrap_or(stage.busy);
        let work = cpu(&report.read) + cpu(&report.process) + cpu(&report.write);
        let mut pipeline = Self::new(report.input_bytes, report.output_bytes, work, report.threads);
        pipeline.read_bytes_per_second = waited_rate(&report.read);
        pipeline.write_bytes_per_second = waited_rate(&report.write);
        pipeline
    }

    /// The time it takes and why. Rates and threads of zero take for ever ([`Duration::MAX`]).
    #[must_use]
    pub fn predict(&self) -> Prediction {
        let read_seconds = quotient(self.input_bytes as f64, self.read_bytes_per_second);
        let process_seconds = quotient(self.work_seconds, self.threads as f64);
        let write_seconds = quotient(self.output_bytes as f64, self.write_bytes_per_second);
        let longest = read_seconds.max(process_seconds).max(write_seconds);
        let limiting = if process_seconds >= longest {
            LimitingStage::Process
        } else if read_seconds >= longest {
            LimitingStage::Read
        } else {
            LimitingStage::Write
        };
        let time = Duration::try_from_secs_f64(longest).unwrap_or(Duration::MAX);
        Prediction { time, limiting, read_seconds, process_seconds, write_seconds }
    }
}

fn quotient(amount: f64, rate: f64) -> f64 {
    if amount <= 0.0 {
        0.0
    } else if rate > 0.0 {
        amount / rate
    } else {
        f64::INFINITY
    }
}

/// Bytes over the time in which at least one thread waited for the device: infinite where none did.
fn waited_rate(stage: &StageReport) -> f64 {
    let busy = stage.busy.as_secs_f64();
    let on_core = stage.cpu.map_or(0.0, |cpu| (cpu.as_secs_f64() / busy).min(1.0));
    let waited = stage.occupied.as_secs_f64() * (1.0 - on_core);
    if busy > 0.0 && waited > 0.0 { stage.bytes as f64 / waited } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipeline() -> Pipeline {
        let mut pipeline = Pipeline::new(1000, 500, Duration::from_secs(8), 2);
        pipeline.read_bytes_per_second = 500.0;
        pipeline.write_bytes_per_second = 100.0;
        pipeline
    }

    #[test]
    fn the_slowest_stage_sets_the_time() {
        let mut pipeline = pipeline();
        assert_eq!((pipeline.predict().time.as_secs(), pipeline.predict().limiting), (5, LimitingStage::Write));
        pipeline.threads = 1;
        assert_eq!((pipeline.predict().time.as_secs(), pipeline.predict().limiting), (8, LimitingStage::Process));
        pipeline.read_bytes_per_second = 10.0;
        assert_eq!((pipeline.predict().time.as_secs(), pipeline.predict().limiting), (100, LimitingStage::Read));
    }

    #[test]
    fn nothing_is_done_at_no_rate_and_nothing_takes_no_time() {
        let mut pipeline = pipeline();
        pipeline.read_bytes_per_second = 0.0;
        assert_eq!(pipeline.predict().time, Duration::MAX);
        pipeline.threads = 0;
        assert_eq!(pipeline.predict().time, Duration::MAX);
        assert_eq!(Pipeline::new(0, 0, Duration::ZERO, 1).predict().time, Duration::ZERO);
    }

    #[test]
    fn a_run_that_never_waited_for_its_disks_has_infinite_ones() {
        let mut report = Report { input_bytes: 1000, output_bytes: 10, threads: 2, ..Report::default() };
        report.read.bytes = 1000;
        report.read.busy = Duration::from_secs(1);
        report.read.occupied = Duration::from_secs(1);
        report.read.cpu = Some(Duration::from_secs(1));
        report.process.busy = Duration::from_secs(6);
        report.process.cpu = Some(Duration::from_secs(5));
        let seen = Pipeline::of(&report);
        assert_eq!((seen.work_seconds, seen.threads), (6.0, 2));
        assert!(seen.read_bytes_per_second.is_infinite() && seen.write_bytes_per_second.is_infinite());
        report.read.cpu = Some(Duration::from_millis(500));
        assert_eq!(Pipeline::of(&report).read_bytes_per_second, 2000.0);
    }
}
