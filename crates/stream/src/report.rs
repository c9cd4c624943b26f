//! What a run did: bytes, and times per stage.

use std::time::Duration;

use crate::engine::{Meter, Reading};

/// The three stages of every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
pub enum Stage {
    /// Reading the source.
    Read,
    /// The codec.
    Process,
    /// Writing the output, syncing it included.
    Write,
}

/// How far a run is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes read from the source.
    pub ingested_bytes: u64,
    /// Bytes of the source that the codec is done with.
    pub processed_bytes: u64,
    /// Bytes of output written.
    pub written_bytes: u64,
    /// Bytes of the whole source, where known.
    pub total_bytes: Option<u64>,
    /// Time since the start.
    pub elapsed: Duration,
}

/// The times of one stage of one run.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct StageReport {
    /// Threads that can be inside at once: the workers, or 1 where the stage has a thread of its own.
    pub threads: usize,
    /// Wall time inside, summed over threads.
    #[cfg_attr(feature = "serde", serde(rename = "busy_seconds", serialize_with = "seconds"))]
    pub busy: Duration,
    /// Processor time within it; `None` where the system does not tell.
    #[cfg_attr(feature = "serde", serde(rename = "cpu_seconds", serialize_with = "maybe_seconds"))]
    pub cpu: Option<Duration>,
    /// Wall time with at least one thread inside.
    #[cfg_attr(feature = "serde", serde(rename = "occupied_seconds", serialize_with = "seconds"))]
    pub occupied: Duration,
    /// Time in which its threads had to wait for input, summed over threads. Workers that read for themselves wait
    /// while they read.
    #[cfg_attr(feature = "serde", serde(rename = "blocked_on_input_seconds", serialize_with = "seconds"))]
    pub blocked_on_input: Duration,
    /// Time in which its threads had to wait for room to put their result, summed over threads. Workers that write for
    /// themselves wait while they write.
    #[cfg_attr(feature = "serde", serde(rename = "blocked_on_room_seconds", serialize_with = "seconds"))]
    pub blocked_on_room: Duration,
    /// Bytes: of the source for read and process, of the output for write.
    pub bytes: u64,
}

impl StageReport {
    /// The stage's own rate: bytes over occupied time. `None` where it took no time.
    #[must_use]
    pub fn bytes_per_second(&self) -> Option<f64> {
        rate(self.bytes, self.occupied)
    }

    fn new(reading: Reading, threads: usize) -> Self {
        let Reading { busy, cpu, occupied, blocked_on_input, blocked_on_room, bytes } = reading;
        Self { threads, busy, cpu, occupied, blocked_on_input, blocked_on_room, bytes }
    }
}

/// What a run did.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Report {
    /// Bytes of the source.
    pub input_bytes: u64,
    /// Bytes of the output, containers and tables included.
    pub output_bytes: u64,
    /// Chunks processed.
    pub chunks: u64,
    /// Worker threads.
    pub threads: usize,
    /// Processors that this process may use; 0 where the system does not tell.
    pub cpus: usize,
    /// Wall time, from opening the source to the finished (and, unless switched off, synced) output.
    #[cfg_attr(feature = "serde", serde(rename = "seconds", serialize_with = "seconds"))]
    pub elapsed: Duration,
    /// Reading.
    pub read: StageReport,
    /// Processing.
    pub process: StageReport,
    /// Writing.
    pub write: StageReport,
}

/// Which stages have a thread of their own.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OwnThread {
    pub(crate) read: bool,
    pub(crate) write: bool,
}

impl Report {
    /// Input bytes over wall time. `None` where it took no time.
    #[must_use]
    pub fn bytes_per_second(&self) -> Option<f64> {
        rate(self.input_bytes, self.elapsed)
    }

    /// The stage of that name.
    #[must_use]
    pub fn stage(&self, stage: Stage) -> &StageReport {
        match stage {
            Stage::Read => &self.read,
            Stage::Process => &self.process,
            Stage::Write => &self.write,
        }
    }

    /// The part of its workers' time that the run spent processing, 0 to 1: the parallel efficiency of the pipeline.
    #[must_use]
    pub fn efficiency(&self) -> f64 {
        let available = self.threads as f64 * self.elapsed.as_secs_f64();
        if available > 0.0 { (self.process.busy.as_secs_f64() / available).min(1.0) } else { 0.0 }
    }

    /// Reads the clocks at the end of a run.
    pub(crate) fn new(meter: &Meter, threads: usize, own: OwnThread, chunks: u64) -> Self {
        let stage = |stage, own| StageReport::new(meter.reading(stage), if own { 1 } else { threads });
        let (read, mut process) = (stage(Stage::Read, own.read), stage(Stage::Process, false));
        let write = stage(Stage::Write, own.write);
        if !own.read {
            process.blocked_on_input += read.busy;
        }
        if !own.write {
            process.blocked_on_room += write.busy;
        }
        let elapsed = meter.elapsed();
        let cpus = std::thread::available_parallelism().map_or(0, usize::from);
        Self { input_bytes: read.bytes, output_bytes: write.bytes, chunks, threads, cpus, elapsed, read, process, write }
    }
}

fn rate(bytes: u64, time: Duration) -> Option<f64> {
    (time > Duration::ZERO).then(|| bytes as f64 / time.as_secs_f64())
}

#[cfg(feature = "serde")]
fn seconds<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

#[cfg(feature = "serde")]
fn maybe_seconds<S: serde::Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => serializer.serialize_some(&time.as_secs_f64()),
        None => serializer.serialize_none(),
    }
}
