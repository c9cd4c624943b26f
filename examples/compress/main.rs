//! Compresses files on all cores to standard zstd and LZ4 files, and says what it waited for.

mod shared;
#[cfg(test)]
mod tests;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use serde_json::{Value, json};
use stream::{Format, compress, compress_file, compress_to_file};
use support::args::positive_size;
use support::cli::{self, Failure};
use support::{json, units};

use shared::{Common, Done, Job, jobs, name, pace, stdout};

/// Compress a file on all cores, in a format that standard tools read, and tell what it waited for.
#[derive(Debug, Parser)]
#[command(name = "compress", version)]
struct Args {
    /// SRC [DST], each a file or - for a pipe [default DST: SRC.zst or SRC.lz4, or - after -]
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The codec
    #[arg(long, value_enum, default_value_t = Codec::Zstd)]
    codec: Codec,
    /// Level of compression, for zstd only: 1 to 22, or negative for speed [default: 3]
    #[arg(long, short, allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-131_072..=22))]
    level: Option<i32>,
    /// Bytes in a chunk, such as 1MiB [default: what suits codec and level]
    #[arg(long, value_name = "SIZE", value_parser = positive_size)]
    chunk: Option<u64>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Codec {
    /// Zstandard
    Zstd,
    /// LZ4
    Lz4,
    /// No compression: a copy
    Store,
}

impl Codec {
    fn format(self) -> Format {
        match self {
            Self::Zstd => Format::Zstd,
            Self::Lz4 => Format::Lz4,
            Self::Store => Format::Store,
        }
    }

    fn extension(self) -> Option<&'static str> {
        match self {
            Self::Zstd => Some("zst"),
            Self::Lz4 => Some("lz4"),
            Self::Store => None,
        }
    }
}

fn main() -> ExitCode {
    cli::main(run)
}

fn run(args: Args) -> Result<(), Failure> {
    if args.level == Some(0) || (args.level.is_some() && args.codec != Codec::Zstd) {
        return Err(Failure::Usage("--level: zstd has 1 to 22 and negative levels, the other codecs have none".into()));
    }
    let jobs = jobs(&args.files, args.common.each, |source| beside(source, args.codec))?;
    args.common.check(&jobs)?;
    let data_on_stdout = jobs.iter().any(|job| job.output.is_none());
    if data_on_stdout && io::stdout().is_terminal() && !args.common.force {
        return Err(Failure::Usage("compressed data is not written to a terminal without --force".into()));
    }
    args.common.each_job(&jobs, data_on_stdout, |job| one(&args, job), says, |files| document(&args, files))
}

/// The output's name when none is given.
fn beside(source: &Path, codec: Codec) -> Result<PathBuf, Failure> {
    let Some(extension) = codec.extension() else {
        return Err(Failure::Usage("--codec store needs DST".into()));
    };
    let mut name = source.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    Ok(name.into())
}

fn one(args: &Args, job: &Job) -> Result<Done, Failure> {
    let total = job.source.as_ref().and_then(|path| std::fs::metadata(path).ok()).filter(|m| m.is_file()).map(|m| m.len());
    let label = name(job.source.as_deref());
    let report = args.common.run(&label, total, |mut options| {
        options = options.format(args.codec.format());
        if let Some(level) = args.level {
            options = options.level(level);
        }
        if let Some(chunk) = args.chunk {
            options = options.chunk_bytes(chunk);
        }
        let stdout = || stdout().map_err(|source| stream::Error::Write { offset: 0, source });
        match (&job.source, &job.output) {
            (Some(source), Some(output)) => compress_file(source, output, &options),
            (None, Some(output)) => compress_to_file(io::stdin(), output, &options),
            (None, None) => compress(io::stdin(), stdout()?, &options),
            (Some(source), None) => {
                let file = std::fs::File::open(source).map_err(|e| stream::Error::Open { path: source.clone(), source: e })?;
                compress(file, stdout()?, &options)
            }
        }
    })?;
    args.common.conclude(job, report, args.codec.format(), false)
}

fn says(job: &Job, done: &Done) -> String {
    let report = &done.report;
    let (from, to) = (report.input_bytes, report.output_bytes);
    let mut text = format!("{}: {} -> {}", name(job.source.as_deref()), units::bytes(from), units::bytes(to));
    if from > 0 && to > 0 {
        let saved = 100.0 * (1.0 - to as f64 / from as f64);
        text += &format!(", ratio {}, {saved:.1} % saved", units::significant(from as f64 / to as f64, 4));
    }
    text += &format!(", in {}", pace(report, from));
    if done.verified {
        text += "; verified";
    }
    if done.source_removed {
        text += "; source removed";
    }
    text
}

fn document(args: &Args, files: Vec<Value>) -> Value {
    let mut settings = args.common.settings();
    settings["codec"] = json!(args.codec.to_possible_value().map(|v| v.get_name().to_owned()));
    settings["level"] = if args.codec == Codec::Zstd { json!(args.level.unwrap_or(3)) } else { Value::Null };
    settings["chunk_bytes"] = json!(args.chunk);
    let machine = support::machine::Facts::detect().json();
    json::document("gannet/compress/1", machine, settings, vec![("files", Value::Array(files))])
}
