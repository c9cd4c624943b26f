//! Compresses files on all cores to standard zstd and LZ4 files, and says what it waited for.

mod shared;
#[cfg(test)]
mod tests;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use serde_json::{Value, json};
use stream::{compress, compress_file, compress_to_file};
use support::args::positive_size;
use support::cli::{self, Failure};
use support::codec::{Codec, CodecArgs};
use support::{json, units};

use shared::{Common, Done, Job, jobs, name, pace, stdout};

/// Compress a file on all cores, in a format that standard tools read, and tell what it waited for.
#[derive(Debug, Parser)]
#[command(name = "compress", version)]
struct Args {
    /// SRC [DST], each a file or - for a pipe [default DST: SRC.zst or SRC.lz4, or - after -]
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    codec: CodecArgs,
    /// Bytes in a chunk, such as 1MiB [default: what suits codec and level]
    #[arg(long, value_name = "SIZE", value_parser = positive_size)]
    chunk: Option<u64>,
    #[command(flatten)]
    common: Common,
}

fn extension(codec: Codec) -> Option<&'static str> {
    match codec {
        Codec::Zstd => Some("zst"),
        Codec::Lz4 => Some("lz4"),
        Codec::Store => None,
    }
}

fn main() -> ExitCode {
    cli::main(run)
}

fn run(args: Args) -> Result<(), Failure> {
    let level = args.codec.level()?;
    let jobs = jobs(&args.files, args.common.each, |source| beside(source, args.codec.codec))?;
    args.common.check(&jobs)?;
    let data_on_stdout = jobs.iter().any(|job| job.output.is_none());
    if data_on_stdout && io::stdout().is_terminal() && !args.common.force {
        return Err(Failure::Usage("compressed data is not written to a terminal without --force".into()));
    }
    args.common.each_job(&jobs, data_on_stdout, |job| one(&args, level, job), says, |files| document(&args, level, files))
}

/// The output's name when none is given.
fn beside(source: &Path, codec: Codec) -> Result<PathBuf, Failure> {
    let Some(extension) = extension(codec) else {
        return Err(Failure::Usage("--codec store needs DST".into()));
    };
    let mut name = source.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    Ok(name.into())
}

fn one(args: &Args, level: Option<i32>, job: &Job) -> Result<Done, Failure> {
    let total = job.source.as_ref().and_then(|path| std::fs::metadata(path).ok()).filter(|m| m.is_file()).map(|m| m.len());
    let label = name(job.source.as_deref());
    let report = args.common.run(&label, total, |mut options| {
        options = options.format(args.codec.codec.format());
        if let Some(level) = level {
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
    args.common.conclude(job, report, args.codec.codec.format(), false)
}

fn says(job: &Job, done: &Done) -> String {
    let report = &done.report;
    let (from, to) = (report.input_bytes, report.output_bytes);
    let mut text = format!("{}: {} -> {}", name(job.source.as_deref()), units::bytes(from), units::bytes(to));
    if from > 0 && to > 0 {
        let saved = 100.0 * (1.0 - to as f64 / from as f64);
        let change = if to > from { format!("{:.1} % larger", -saved) } else { format!("{saved:.1} % saved") };
        text += &format!(", ratio {}, {change}", units::significant(from as f64 / to as f64, 4));
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

fn document(args: &Args, level: Option<i32>, files: Vec<Value>) -> Value {
    let mut settings = args.common.settings();
    settings["codec"] = json!(args.codec.codec.name());
    settings["level"] = json!(level);
    settings["chunk_bytes"] = json!(args.chunk);
    let machine = support::machine::Facts::detect().json();
    json::document("gannet/compress/1", machine, settings, vec![("files", Value::Array(files))])
}
