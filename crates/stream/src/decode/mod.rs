//! Decoding of any zstd or LZ4 data.

mod bytes;
mod job;
#[cfg(feature = "lz4")]
mod lz4;
mod order;
mod plan;
mod segment;
#[cfg(feature = "zstd")]
mod zstd;

use std::path::Path;
use std::sync::Arc;

use crate::engine::{Feed, Meter, Run, Sink, Source, run};
use crate::file::{Input, Output};
use crate::report::OwnThread;
use crate::{Error, Options, Report, Stage};

use bytes::Bytes;
use job::Context;
use order::{Checker, Orders};
use plan::{Limits, Planner};

/// Decodes a zstd or LZ4 file into a new file. Recognises the format; any file that the standard tools write is read.
///
/// The output gets its name only when it is complete, checked and (unless [`Options::sync`] says otherwise) on the disk.
///
/// # Errors
/// Whatever is wrong with the data, with its offset; files that cannot be opened, created, read or written; a destination
/// that exists, unless [`Options::overwrite`] allows that, or that is the source.
pub fn decompress_file(src: impl AsRef<Path>, dst: impl AsRef<Path>, options: &Options) -> Result<Report, Error> {
    let src = src.as_ref();
    let meter = Arc::new(Meter::new());
    let input = Arc::new(Input::open(src)?);
    let output = Arc::new(Output::create(dst.as_ref(), Some(&input), options.overwrite, !options.no_sync)?);
    let counts = decode(&input, Sink::File(Arc::clone(&output)), options, &meter).map_err(|error| error.at(src))?;
    meter.time(Stage::Write, || output.publish(Some(&input)))?;
    let own = OwnThread { read: !input.is_regular(), write: false };
    Ok(Report::new(&meter, counts.threads, own, counts.chunks))
}

/// How a run went.
struct Counts {
    threads: usize,
    chunks: u64,
}

/// Decodes a whole file into a sink.
fn decode(input: &Arc<Input>, sink: Sink<'_>, options: &Options, meter: &Arc<Meter>) -> Result<Counts, Error> {
    let settings = options.settings(None)?;
    let threads = settings.threads;
    let mut planner = Planner::new(Limits::of(options));
    let orders = Orders::default();
    let mut checker = Checker::new(orders.clone());
    let regular = input.is_regular().then(|| Arc::clone(input));
    let source = match &regular {
        Some(file) => {
            let mut bytes = Bytes::file(Arc::clone(file), Arc::clone(meter));
            Source::Inline(Box::new(move |feed: &Feed<'_>| {
                Ok(planner.next(&mut bytes, feed.meter, feed.buffers)?.map(|planned| orders.note(planned)))
            }))
        }
        None => {
            let mut bytes = Bytes::stream(input.file(), Arc::clone(meter));
            Source::Thread(Box::new(move |feed: &Feed<'_>| {
                Ok(planner.next(&mut bytes, feed.meter, feed.buffers)?.map(|planned| orders.note(planned)))
            }))
        }
    };
    let total = regular.as_ref().map(|file| file.len());
    let chunks = run(Run {
        settings,
        total,
        source,
        context: Box::new(|| Ok(Context::default())),
        work: Box::new(move |task| job::work(task, regular.as_deref())),
        released: Some(Box::new(move |_, output| checker.check(output))),
        sink,
        meter: Arc::clone(meter),
        progress: options.progress.clone(),
    })?;
    Ok(Counts { threads, chunks })
}
