//! What can be chosen, and what was.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Parser;
use qos::QosClass;
use support::args::{ThreadList, confidence, count, positive_size};
use support::cli::Failure;
use support::codec::{Codec, CodecArgs};
use support::json::Target;
use support::operation::Operation;

/// Time compression and decompression in memory at 1 to N threads, or any command on 1 to N CPUs, fit the models of scaling, and
/// predict other numbers.
#[derive(Debug, Parser)]
#[command(name = "scaling", version)]
pub(crate) struct Args {
    /// The file to compress; without one, seeded data is made (see --seed)
    pub(crate) file: Option<PathBuf>,
    /// Thread counts to time, or of a command CPUs, such as 1,2,4 or 1-8 [default: 1 to the CPUs this process may use]
    #[arg(long, value_name = "LIST")]
    threads: Option<ThreadList>,
    /// Counts to predict [default: the greatest timed one, twice and four times that]
    #[arg(long, value_name = "LIST")]
    predict: Option<ThreadList>,
    /// Bytes of the file to take at most, or of the data to make
    #[arg(long, value_name = "SIZE", default_value = "256MB", value_parser = positive_size)]
    size: u64,
    #[command(flatten)]
    codec: CodecArgs,
    /// Quality-of-service class of the threads or of the command: background, utility, default, user-initiated or user-interactive
    #[arg(long, value_name = "CLASS", default_value = "default")]
    qos: QosClass,
    /// Runs at each count, after one that is not counted
    #[arg(long, value_name = "N", default_value = "5", value_parser = |t: &str| count(t, 1000))]
    repeats: usize,
    /// Seed of the made data and of the order of the runs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Level of confidence of the intervals
    #[arg(long, value_name = "LEVEL", default_value = "0.95", value_parser = confidence)]
    confidence: f64,
    /// Write everything as one JSON object to FILE (- for standard output, and nothing else there)
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<Target>,
    /// Write a page with tables and plots to FILE
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// A command to time instead, after --, held to as many of this process's CPUs as each count says: fastest cores first, one CPU of
    /// each core before its second. What it prints is discarded, but for the errors of the run that is not counted. Linux
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["file", "size", "codec", "level"])]
    command: Vec<OsString>,
}

/// What is timed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subject {
    /// Compression and decompression in memory.
    Codec {
        file: Option<PathBuf>,
        size: u64,
        codec: Codec,
        /// Of zstd; the others have none.
        level: Option<i32>,
    },
    /// A command, and the CPUs it gets in this order.
    Command { words: Vec<OsString>, cpus: Vec<usize> },
}

/// What one run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    Codec(Operation),
    Command,
}

impl Task {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Codec(operation) => operation.name(),
            Self::Command => "command",
        }
    }
}

/// Everything decided.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) subject: Subject,
    pub(crate) threads: Vec<usize>,
    pub(crate) predict: Vec<usize>,
    pub(crate) qos: QosClass,
    pub(crate) repeats: usize,
    pub(crate) seed: u64,
    pub(crate) confidence: f64,
}

impl Args {
    /// With the number of CPUs this process may use, and a way to list them for a command.
    pub(crate) fn settings(&self, usable: usize, cpus: impl FnOnce() -> Result<Vec<usize>, Failure>) -> Result<Settings, Failure> {
        let (subject, default_most) = if self.command.is_empty() {
            let CodecArgs { codec, .. } = self.codec;
            (Subject::Codec { file: self.file.clone(), size: self.size, codec, level: self.codec.level()? }, usable)
        } else {
            let cpus = cpus()?;
            let most = usable.min(cpus.len());
            (Subject::Command { words: self.command.clone(), cpus }, most)
        };
        let threads = self.threads.as_ref().map_or_else(|| (1..=default_most).collect(), |list| list.0.clone());
        let most = threads.last().copied().unwrap_or(1);
        if let Subject::Command { cpus, .. } = &subject
            && most > cpus.len()
        {
            return Err(Failure::Usage(format!("--threads: a command on {most} CPUs, but this process may use {}", cpus.len())));
        }
        let predict = self.predict.as_ref().map_or_else(|| vec![most, 2 * most, 4 * most], |list| list.0.clone());
        let (qos, repeats, seed, confidence) = (self.qos, self.repeats, self.seed, self.confidence);
        Ok(Settings { subject, threads, predict, qos, repeats, seed, confidence })
    }
}

impl Settings {
    /// What a round of runs consists of.
    pub(crate) fn tasks(&self) -> Vec<Task> {
        match self.subject {
            Subject::Codec { .. } => Operation::ALL.map(Task::Codec).into(),
            Subject::Command { .. } => vec![Task::Command],
        }
    }

    /// What is counted.
    pub(crate) fn unit(&self) -> &'static str {
        match self.subject {
            Subject::Codec { .. } => "threads",
            Subject::Command { .. } => "CPUs",
        }
    }
}
