//! What can be chosen, and what was.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use qos::QosClass;
use support::args::{ThreadList, confidence, count, positive_size};
use support::cli::Failure;
use support::json::Target;

/// Time compression and decompression in memory at 1 to N threads, fit the models of scaling, and predict other numbers of threads.
#[derive(Debug, Parser)]
#[command(name = "scaling", version)]
pub(crate) struct Args {
    /// The file to compress; without one, seeded data is made (see --seed)
    file: Option<PathBuf>,
    /// Thread counts to time, such as 1,2,4 or 1-8 [default: 1 to the CPUs this process may use]
    #[arg(long, value_name = "LIST")]
    threads: Option<ThreadList>,
    /// Thread counts to predict [default: the greatest timed one, twice and four times that]
    #[arg(long, value_name = "LIST")]
    predict: Option<ThreadList>,
    /// Bytes of the file to take at most, or of the data to make
    #[arg(long, value_name = "SIZE", default_value = "256MB", value_parser = positive_size)]
    size: u64,
    /// The codec
    #[arg(long, value_enum, default_value_t = Codec::Zstd)]
    codec: Codec,
    /// Level of compression, for zstd only: 1 to 22, or negative for speed [default: 3]
    #[arg(long, allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-131_072..=22))]
    level: Option<i32>,
    /// Quality-of-service class of the threads: background, utility, default, user-initiated or user-interactive
    #[arg(long, value_name = "CLASS", default_value = "default")]
    qos: QosClass,
    /// Runs at each thread count, after one that is not counted
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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Codec {
    /// Zstandard
    Zstd,
    /// LZ4
    Lz4,
}

/// Everything decided.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) file: Option<PathBuf>,
    pub(crate) threads: Vec<usize>,
    pub(crate) predict: Vec<usize>,
    pub(crate) size: u64,
    pub(crate) codec: Codec,
    pub(crate) level: Option<i32>,
    pub(crate) qos: QosClass,
    pub(crate) repeats: usize,
    pub(crate) seed: u64,
    pub(crate) confidence: f64,
}

impl Args {
    pub(crate) fn settings(&self, cpus: usize) -> Result<Settings, Failure> {
        if self.codec == Codec::Lz4 && self.level.is_some() {
            return Err(Failure::Usage("--level: lz4 has no levels".into()));
        }
        let level = (self.codec == Codec::Zstd).then(|| self.level.unwrap_or(3));
        let threads = self.threads.as_ref().map_or_else(|| (1..=cpus).collect(), |list| list.0.clone());
        let most = threads.last().copied().unwrap_or(1);
        let predict = self.predict.as_ref().map_or_else(|| vec![most, 2 * most, 4 * most], |list| list.0.clone());
        Ok(Settings {
            file: self.file.clone(),
            threads,
            predict,
            size: self.size,
            codec: self.codec,
            level,
            qos: self.qos,
            repeats: self.repeats,
            seed: self.seed,
            confidence: self.confidence,
        })
    }
}

impl Settings {
    pub(crate) fn codec_name(&self) -> &'static str {
        match self.codec {
            Codec::Zstd => "zstd",
            Codec::Lz4 => "lz4",
        }
    }

    pub(crate) fn options(&self, threads: usize) -> stream::Options {
        let options = stream::Options::new().threads(threads).format(match self.codec {
            Codec::Zstd => stream::Format::Zstd,
            Codec::Lz4 => stream::Format::Lz4,
        });
        self.level.map_or_else(|| options.clone(), |level| options.clone().level(level))
    }
}
