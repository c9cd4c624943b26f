//! Whole files and streams.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::engine::{Feed, Meter, Run, Sink, Source, run};
use crate::file::{Input, Output};
use crate::report::OwnThread;
use crate::{Error, Options, Report, Stage};

use super::bytes::Bytes;
use super::job::{self, Context, Job};
use super::order::{Checker, Orders};
use super::plan::{Limits, Planner};
use super::scan;

/// Decodes a zstd or LZ4 file into a new file. Recognises the format; any file that the standard tools write is read.
///
/// The output gets its name only when it is complete, checked and (unless [`Options::sync`] says otherwise) on the disk.
/// Frames of up to [`Options::max_frame_bytes`] and independent LZ4 blocks are decoded in parallel.
///
/// # Errors
/// Whatever is wrong with the data, with its offset; files that cannot be opened, created, read or written; a destination
/// that exists, unless [`Options::overwrite`] allows that, or that is the source.
pub fn decompress_file(src: impl AsRef<Path>, dst: impl AsRef<Path>, options: &Options) -> Result<Report, Error> {
    let src = src.as_ref();
    let meter = Arc::new(Meter::new());
    let input = Arc::new(Input::open(src)?);
    let output = Arc::new(Output::create(dst.as_ref(), Some(&input), options.overwrite, !options.no_sync)?);
    let done = decode_file(&input, Sink::File(Arc::clone(&output)), options, &meter);
    let counts = done.map_err(|error| error.at(src))?;
    meter.time(Stage::Write, || output.publish(Some(&input)))?;
    let own = OwnThread { read: !input.is_regular(), write: false };
    Ok(Report::new(&meter, counts.threads, own, counts.chunks))
}

/// Decodes a whole file and checks everything that can be checked, and writes nothing. The output bytes of the report are
/// those that the file decodes to.
///
/// Stricter than [`decompress_file`] in two things: a file of this crate must have an undamaged seek table, and contents are
/// held against every table with checksums, not only against one at the end.
///
/// # Errors
/// Whatever is wrong with the data, with its offset; a file that cannot be opened or read.
pub fn verify_file(src: impl AsRef<Path>, options: &Options) -> Result<Report, Error> {
    let src = src.as_ref();
    let meter = Arc::new(Meter::new());
    let input = Arc::new(Input::open(src)?);
    let counts = decode_with(&input, Sink::Discard, options, &meter, true).map_err(|error| error.at(src))?;
    let own = OwnThread { read: !input.is_regular(), write: false };
    let mut report = Report::new(&meter, counts.threads, own, counts.chunks);
    report.output_bytes = counts.decoded;
    Ok(report)
}

/// Decodes and checks a whole stream as [`verify_file`] does a file. `reader` gets a thread of its own.
///
/// # Errors
/// Whatever is wrong with the data, with its offset, or with reading it.
pub fn verify(reader: impl Read + Send, options: &Options) -> Result<Report, Error> {
    let meter = Arc::new(Meter::new());
    let bytes = Bytes::stream(reader, Arc::clone(&meter));
    let counts = decode_stream(bytes, Sink::Discard, options, &meter, true)?;
    let mut report = Report::new(&meter, counts.threads, OwnThread { read: true, write: false }, counts.chunks);
    report.output_bytes = counts.decoded;
    Ok(report)
}

/// Decodes a stream of zstd or LZ4 data. `reader` gets a thread of its own; `writer` is written to on the calling thread
/// and flushed at the end.
///
/// # Errors
/// Whatever is wrong with the data or goes wrong on the way. What `writer` then got is incomplete.
pub fn decompress(reader: impl Read + Send, mut writer: impl Write, options: &Options) -> Result<Report, Error> {
    let meter = Arc::new(Meter::new());
    let mut offset = 0;
    let counts = {
        let sink = Sink::Ordered(Box::new(|bytes| {
            writer.write_all(bytes).map_err(|source| Error::Write { offset, source })?;
            offset += bytes.len() as u64;
            Ok(())
        }));
        let bytes = Bytes::stream(reader, Arc::clone(&meter));
        decode_stream(bytes, sink, options, &meter, false)?
    };
    meter.time(Stage::Write, || writer.flush()).map_err(|source| Error::Write { offset, source })?;
    Ok(Report::new(&meter, counts.threads, OwnThread { read: true, write: true }, counts.chunks))
}

/// How a run went.
struct Counts {
    threads: usize,
    chunks: u64,
    decoded: u64,
}

fn decode_file(input: &Arc<Input>, sink: Sink<'_>, options: &Options, meter: &Arc<Meter>) -> Result<Counts, Error> {
    decode_with(input, sink, options, meter, false)
}

fn decode_with(input: &Arc<Input>, sink: Sink<'_>, options: &Options, meter: &Arc<Meter>, strict: bool) -> Result<Counts, Error> {
    if !input.is_regular() {
        let bytes = Bytes::stream(input.file(), Arc::clone(meter));
        return decode_stream(bytes, sink, options, meter, strict);
    }
    let orders = Orders::default();
    let checker = Checker::new(orders.clone(), options.max_output_bytes);
    let mut bytes = Bytes::file(Arc::clone(input), Arc::clone(meter));
    // A table in the middle may have checksums too, but hashing every frame in case it has costs more than most need.
    let hash = strict || scan::ends_with_checksums(&mut bytes)?;
    let mut planner = Planner::new(Limits::of(options)).strict(strict).hash(hash);
    let source = Source::Inline(Box::new(move |feed: &Feed<'_>| {
        let planned = planner.next(&mut bytes, feed.meter, feed.buffers)?;
        Ok(planned.map(|planned| orders.note(planned)))
    }));
    drive(source, Some(Arc::clone(input)), checker, sink, options, meter)
}

fn decode_stream<R: Read + Send>(
    mut bytes: Bytes<R>,
    sink: Sink<'_>,
    options: &Options,
    meter: &Arc<Meter>,
    strict: bool,
) -> Result<Counts, Error> {
    let orders = Orders::default();
    let checker = Checker::new(orders.clone(), options.max_output_bytes);
    // Whether a table with checksums comes is known when it is there.
    let mut planner = Planner::new(Limits::of(options)).strict(strict).hash(true);
    let source = Source::Thread(Box::new(move |feed: &Feed<'_>| {
        let planned = planner.next(&mut bytes, feed.meter, feed.buffers)?;
        Ok(planned.map(|planned| orders.note(planned)))
    }));
    drive(source, None, checker, sink, options, meter)
}

fn drive(
    source: Source<'_, Job>,
    file: Option<Arc<Input>>,
    mut checker: Checker,
    sink: Sink<'_>,
    options: &Options,
    meter: &Arc<Meter>,
) -> Result<Counts, Error> {
    let settings = options.settings(None)?;
    let threads = settings.threads;
    let decoded = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&decoded);
    let total = file.as_ref().map(|file| file.len());
    let chunks = run(Run {
        settings,
        total,
        source,
        context: Box::new(|| Ok(Context::default())),
        work: Box::new(move |task| job::work(task, file.as_deref())),
        released: Some(Box::new(move |_, output| {
            counter.fetch_add(output.len() as u64, Ordering::Relaxed);
            checker.check(output)
        })),
        sink,
        meter: Arc::clone(meter),
        progress: options.progress.clone(),
    })?;
    Ok(Counts { threads, chunks, decoded: decoded.load(Ordering::Relaxed) })
}
