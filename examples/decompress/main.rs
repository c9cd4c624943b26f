//! Decompresses zstd and LZ4 files on all cores; tests and lists them; reads a part of one.

#[path = "../compress/shared.rs"]
mod shared;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use serde_json::{Value, json};
use stream::{Format, FrameKind, Options, SeekableReader, decompress, decompress_file, frames, verify, verify_file};
use support::args::positive_size;
use support::cli::{self, Failure};
use support::print::Printer;
use support::results::check_results;
use support::{interrupt, json, units};

use shared::{Common, Done, Job, jobs, name, pace, stdout};

/// Decompress a zstd or LZ4 file on all cores, whichever tool wrote it, and tell what it waited for.
#[derive(Debug, Parser)]
#[command(name = "decompress", version)]
struct Args {
    /// SRC [DST], each a file or - for a pipe [default DST: SRC without .zst or .lz4, or - after -]
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Decode and check every SRC, and write nothing
    #[arg(long, conflicts_with_all = ["range", "list", "verify", "remove_source"])]
    test: bool,
    /// Write only the bytes from A up to B (not included) of the content; either may be left out. DST is - by default
    #[arg(long, value_name = "A..B", value_parser = range, conflicts_with_all = ["list", "verify", "remove_source", "each"])]
    range: Option<Range<u64>>,
    /// With --range: find the frames by their headers and not by the seek table, which may lie in a file from a stranger
    #[arg(long, requires = "range")]
    walk: bool,
    /// List the frames of every SRC: offset, kind, sizes, ratio, checksum
    #[arg(long, conflicts_with_all = ["verify", "remove_source"])]
    list: bool,
    /// The largest zstd window to accept, such as 2GiB for files of `zstd --long=31`
    #[arg(long, value_name = "SIZE", default_value = "128MiB", value_parser = positive_size)]
    max_window: u64,
    /// Refuse a SRC that decodes to more than this, such as 10GB [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = positive_size, conflicts_with_all = ["range", "list"])]
    max_output: Option<u64>,
    #[command(flatten)]
    common: Common,
}

fn main() -> ExitCode {
    cli::main(run)
}

/// `A..B`, where either side may be left out.
fn range(text: &str) -> Result<Range<u64>, String> {
    let (from, to) = text.split_once("..").ok_or("a range is written A..B")?;
    let side = |text: &str, open: u64| if text.is_empty() { Ok(open) } else { support::args::size(text) };
    let range = side(from, 0)?..side(to, u64::MAX)?;
    if range.start > range.end { Err("the range ends before it starts".into()) } else { Ok(range) }
}

fn run(args: Args) -> Result<(), Failure> {
    if args.list {
        return list(&args);
    }
    if let Some(range) = args.range.clone() {
        return part(&args, range);
    }
    let jobs = if args.test {
        let source = |path: &PathBuf| Job { source: (path != Path::new("-")).then(|| path.clone()), output: None };
        args.files.iter().map(source).collect()
    } else {
        jobs(&args.files, args.common.each, plain_name)?
    };
    if !args.test {
        args.common.check(&jobs)?;
    }
    let data_on_stdout = !args.test && jobs.iter().any(|job| job.output.is_none());
    args.common.each_job(&jobs, data_on_stdout, |job| one(&args, job), |job, done| says(&args, job, done), |files| document(&args, files))
}

/// The output's name when none is given.
fn plain_name(source: &Path) -> Result<PathBuf, Failure> {
    match source.extension().and_then(|extension| extension.to_str()) {
        Some("zst" | "zstd" | "lz4") => Ok(source.with_extension("")),
        _ => Err(Failure::Usage(format!("{}: say DST, as the name ends in none of .zst .zstd .lz4", source.display()))),
    }
}

fn one(args: &Args, job: &Job) -> Result<Done, Failure> {
    let total = job.source.as_ref().and_then(|path| std::fs::metadata(path).ok()).filter(|m| m.is_file()).map(|m| m.len());
    let label = name(job.source.as_deref());
    let report = args.common.run(&label, total, |options| {
        let mut options = options.max_window_bytes(args.max_window);
        if let Some(limit) = args.max_output {
            options = options.max_output_bytes(limit);
        }
        let stdout = || stdout().map_err(|source| stream::Error::Write { offset: 0, source });
        match (&job.source, &job.output) {
            (Some(source), None) if args.test => verify_file(source, &options),
            (None, None) if args.test => verify(io::stdin(), &options),
            (Some(source), Some(output)) => decompress_file(source, output, &options),
            // Standard input under its name, so that the output is as safe as from a file.
            (None, Some(output)) => decompress_file("/dev/stdin", output, &options),
            (None, None) => decompress(io::stdin(), stdout()?, &options),
            (Some(source), None) => {
                let file = File::open(source).map_err(|e| stream::Error::Open { path: source.clone(), source: e })?;
                decompress(file, stdout()?, &options)
            }
        }
    })?;
    if args.test {
        return Ok(Done { report, verified: true, source_removed: false });
    }
    args.common.conclude(job, report, Format::Zstd, true)
}

fn says(args: &Args, job: &Job, done: &Done) -> String {
    let report = &done.report;
    let (from, to) = (report.input_bytes, report.output_bytes);
    let mut text = format!("{}: {} -> {}", name(job.source.as_deref()), units::bytes(from), units::bytes(to));
    text += &format!(", in {}", pace(report, to));
    if args.test {
        text += "; sound";
    } else if done.verified {
        text += "; verified";
    }
    if done.source_removed {
        text += "; source removed";
    }
    text
}

/// Writes a part of the content.
fn part(args: &Args, range: Range<u64>) -> Result<(), Failure> {
    let (source, output) = match &args.files[..] {
        [source] => (source, None),
        [source, output] => (source, (output != Path::new("-")).then_some(output)),
        _ => return Err(Failure::Usage("--range takes SRC [DST]".into())),
    };
    if source == Path::new("-") {
        return Err(Failure::Usage("--range needs a file, not -".into()));
    }
    if args.common.json.is_some() {
        return Err(Failure::Usage("--range has no --json".into()));
    }
    let same = |output: &PathBuf| matches!((output.canonicalize(), source.canonicalize()), (Ok(a), Ok(b)) if a == b);
    if output.is_some_and(same) {
        return Err(Failure::run(format!("{} is both source and output", source.display())));
    }
    let options = Options::new().max_window_bytes(args.max_window).use_seek_table(!args.walk);
    let mut reader = SeekableReader::open(source, &options)?;
    if let Some(why) = beyond(&reader, &range) {
        return Err(Failure::run(format!("{}: {why}", source.display())));
    }
    io::Seek::seek(&mut reader, io::SeekFrom::Start(range.start))?;
    let part = Part { left: range.end - range.start, range, reader };
    match output {
        None => {
            let (mut part, mut out) = (part, stdout()?);
            io::copy(&mut part, &mut out).and_then(|_| out.flush()).map_err(|e| Failure::run(format!("{}: {e}", source.display())))
        }
        Some(output) => {
            let options = Options::new().format(Format::Store).overwrite(args.common.force);
            stream::compress_to_file(part, output, &options)?;
            Ok(())
        }
    }
}

/// What is wrong with a range that the content does not have.
fn beyond(reader: &SeekableReader<File>, range: &Range<u64>) -> Option<String> {
    let len = reader.content_bytes();
    (range.start > len || (range.end != u64::MAX && range.end > len)).then(|| format!("the content has {len} bytes"))
}

/// A part of the content, all of it or an error: the program is asked to end, or the frames hold less than the seek table says.
struct Part {
    reader: SeekableReader<File>,
    range: Range<u64>,
    left: u64,
}

impl Read for Part {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        interrupt::check().map_err(|_| io::Error::other("interrupted"))?;
        let count = self.reader.by_ref().take(self.left).read(into)?;
        self.left -= count as u64;
        match beyond(&self.reader, &self.range) {
            Some(why) if count == 0 && !into.is_empty() => Err(io::Error::new(io::ErrorKind::UnexpectedEof, why)),
            _ => Ok(count),
        }
    }
}

/// Lists frames.
fn list(args: &Args) -> Result<(), Failure> {
    check_results(args.common.json.as_ref(), [], args.files.iter().map(PathBuf::as_path))?;
    let mut out = Printer::new(args.common.json.as_ref());
    let mut files = Vec::new();
    for source in &args.files {
        if source == Path::new("-") {
            return Err(Failure::Usage("--list needs files, not -".into()));
        }
        let (mut rows, mut entries) = (Vec::new(), Vec::new());
        for frame in frames(source)? {
            interrupt::check()?;
            let frame = frame?;
            let content = frame.content_bytes;
            let ratio = content.filter(|&bytes| bytes > 0).map(|bytes| bytes as f64 / frame.compressed_bytes as f64);
            rows.push(vec![
                frame.offset.to_string(),
                kind(frame.kind).to_owned(),
                frame.compressed_bytes.to_string(),
                content.map_or_else(|| "not stated".into(), |bytes| bytes.to_string()),
                ratio.map_or_else(|| "-".into(), |ratio| units::significant(ratio, 4)),
                frame.window_bytes.to_string(),
                if frame.checksum { "yes" } else { "no" }.to_owned(),
            ]);
            entries.push(json!({
                "offset": frame.offset, "kind": kind(frame.kind), "compressed_bytes": frame.compressed_bytes, "content_bytes": content,
                "ratio": ratio, "window_bytes": frame.window_bytes, "checksum": frame.checksum,
            }));
        }
        let plural = if rows.len() == 1 { "" } else { "s" };
        out.line(format!("{}: {} frame{plural}", source.display(), rows.len()));
        out.table(&["offset", "kind", "bytes", "content bytes", "ratio", "window", "checksum"], &rows);
        files.push(json!({"source": source.display().to_string(), "frames": entries}));
    }
    if let Some(target) = &args.common.json {
        let machine = support::machine::Facts::detect().json();
        let settings = json!({});
        target.write(&json::document("gannet/frames/1", machine, settings, vec![("files", Value::Array(files))]))?;
    }
    out.finish()
}

fn kind(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::Zstd => "zstd",
        FrameKind::Lz4 => "lz4",
        FrameKind::Lz4Legacy => "lz4_legacy",
        FrameKind::Promise => "promise",
        FrameKind::SeekTable => "seek_table",
        _ => "skippable",
    }
}

fn document(args: &Args, files: Vec<Value>) -> Value {
    let mut settings = args.common.settings();
    settings["test"] = json!(args.test);
    settings["max_window_bytes"] = json!(args.max_window);
    settings["max_output_bytes"] = json!(args.max_output);
    let machine = support::machine::Facts::detect().json();
    json::document("gannet/decompress/1", machine, settings, vec![("files", Value::Array(files))])
}
