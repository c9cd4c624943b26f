//! What can be chosen, and what was.

use std::path::PathBuf;

use clap::Parser;
use qos::QosClass;
use support::args::{ThreadList, confidence, count, positive_size};
use support::cli::Failure;
use support::codec::{Codec, CodecArgs};
use support::json::Target;

/// Find what compressing a file waits for: reading, processing or writing, and what would make it faster.
#[derive(Debug, Parser)]
#[command(name = "bottleneck", version)]
pub(crate) struct Args {
    /// The file to compress; without one, seeded data is made (see --size and --seed)
    file: Option<PathBuf>,
    /// Folder for the output and the made data [default: the system's temporary folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Thread counts to try, such as 1,2,4 or 1-8 [default: 1 to the CPUs this process may use]
    #[arg(long, value_name = "LIST")]
    threads: Option<ThreadList>,
    #[command(flatten)]
    codec: CodecArgs,
    /// Bytes in a chunk, such as 1MiB [default: what suits codec and level]
    #[arg(long, value_name = "SIZE", value_parser = positive_size)]
    chunk: Option<u64>,
    /// Quality-of-service class of the threads: background, utility, default, user-initiated or user-interactive
    #[arg(long, value_name = "CLASS", default_value = "default")]
    qos: QosClass,
    /// Runs at each thread count, after one that is not counted
    #[arg(long, value_name = "N", default_value = "3", value_parser = |t: &str| count(t, 1000))]
    repeats: usize,
    /// Size of the made data
    #[arg(long, value_name = "SIZE", default_value = "512MB", value_parser = positive_size, conflicts_with = "file")]
    size: u64,
    /// Seed of the made data and of the order of the runs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Leave the source in the page cache and don't sync the output: how fast it is when the disk hardly matters
    #[arg(long)]
    warm: bool,
    /// Level of confidence of the intervals
    #[arg(long, value_name = "LEVEL", default_value = "0.95", value_parser = confidence)]
    confidence: f64,
    /// Write everything as one JSON object to FILE (- for standard output, and nothing else there)
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<Target>,
    /// Write a page with tables and plots to FILE
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
}

/// What holds for the whole run.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) file: Option<PathBuf>,
    pub(crate) dir: PathBuf,
    /// Each once, rising.
    pub(crate) threads: Vec<usize>,
    pub(crate) codec: Codec,
    /// Of zstd; the other codecs have none.
    pub(crate) level: Option<i32>,
    pub(crate) chunk: Option<u64>,
    pub(crate) qos: QosClass,
    pub(crate) repeats: usize,
    pub(crate) size: u64,
    pub(crate) seed: u64,
    pub(crate) warm: bool,
    pub(crate) confidence: f64,
}

impl Settings {
    pub(crate) fn new(args: &Args, usable_cpus: usize) -> Result<Self, Failure> {
        let threads = args.threads.clone().map_or_else(|| (1..=usable_cpus).collect(), |list| list.0);
        Ok(Self {
            file: args.file.clone(),
            dir: args.dir.clone().unwrap_or_else(std::env::temp_dir),
            threads,
            codec: args.codec.codec,
            level: args.codec.level()?,
            chunk: args.chunk,
            qos: args.qos,
            repeats: args.repeats,
            size: args.size,
            seed: args.seed,
            warm: args.warm,
            confidence: args.confidence,
        })
    }

    /// The options of one run of the pipeline.
    pub(crate) fn options(&self, threads: usize) -> stream::Options {
        let mut options = stream::Options::default().format(self.codec.format()).threads(threads).sync(!self.warm);
        if let Some(level) = self.level {
            options = options.level(level);
        }
        if let Some(chunk) = self.chunk {
            options = options.chunk_bytes(chunk);
        }
        options
    }
}
