//! Compression: from files and streams, in the container of the format.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use crate::codec::{Chunk, Codec, Store};
use crate::engine::{Meter, Run, Sink, Source, Task, run};
use crate::error::Error;
use crate::file::{Input, Output};
use crate::layout::Layout;
use crate::options::{Format, Options};
use crate::report::{OwnThread, Report, Stage};

/// Compresses a file.
///
/// The output has its name only when it is complete: on any error, and if the process dies, there is none. It gets the
/// permissions and times of the source. The source is only read. What the source holds when it is opened is compressed;
/// growth after that is not.
///
/// # Errors
/// [`Error::Exists`] unless [`Options::overwrite`], [`Error::SameFile`], and whatever goes wrong on the way.
pub fn compress_file(src: impl AsRef<Path>, dst: impl AsRef<Path>, options: &Options) -> Result<Report, Error> {
    match options.format {
        #[cfg(feature = "zstd")]
        Format::Zstd => {
            let codec = crate::codec::zstd::Zstd { level: options.checked_level()? };
            file_to_file(src.as_ref(), dst.as_ref(), codec, options)
        }
        #[cfg(feature = "lz4")]
        Format::Lz4 => {
            options.checked_level()?;
            file_to_file(src.as_ref(), dst.as_ref(), crate::codec::lz4::Lz4, options)
        }
        Format::Store => {
            options.checked_level()?;
            file_to_file(src.as_ref(), dst.as_ref(), Store, options)
        }
        #[cfg(not(all(feature = "zstd", feature = "lz4")))]
        _ => Err(Error::Unsupported { what: "a format that this build leaves out" }),
    }
}

/// Compresses a stream. `reader` gets a thread of its own; `writer` is written to on the calling thread and flushed at
/// the end.
///
/// # Errors
/// Whatever goes wrong on the way. What `writer` then got is incomplete.
pub fn compress(reader: impl Read + Send, writer: impl Write, options: &Options) -> Result<Report, Error> {
    match options.format {
        #[cfg(feature = "zstd")]
        Format::Zstd => {
            let codec = crate::codec::zstd::Zstd { level: options.checked_level()? };
            stream_to_stream(reader, writer, codec, options)
        }
        #[cfg(feature = "lz4")]
        Format::Lz4 => {
            options.checked_level()?;
            stream_to_stream(reader, writer, crate::codec::lz4::Lz4, options)
        }
        Format::Store => {
            options.checked_level()?;
            stream_to_stream(reader, writer, Store, options)
        }
        #[cfg(not(all(feature = "zstd", feature = "lz4")))]
        _ => Err(Error::Unsupported { what: "a format that this build leaves out" }),
    }
}

fn file_to_file<C: Codec>(src: &Path, dst: &Path, codec: C, options: &Options) -> Result<Report, Error> {
    let meter = Arc::new(Meter::new());
    let input = Arc::new(Input::open(src)?);
    let output = Arc::new(Output::create(dst, Some(&input), options.overwrite, !options.no_sync)?);
    let (report_of, container) = if input.is_regular() {
        let container = Layout::new(options.format, Some(input.len()));
        let own = OwnThread::default();
        let done = from_file(&input, codec, options, &container, Sink::File(Arc::clone(&output)), &meter);
        (done.map(|counts| (counts, own)), container)
    } else {
        let container = Layout::new(options.format, None);
        let own = OwnThread { read: true, write: false };
        let sink = Sink::File(Arc::clone(&output));
        let done = from_reader(input.file(), codec, options, &container, sink, &meter);
        (done.map(|counts| (counts, own)), container)
    };
    let ((chunks, threads), own) = report_of.map_err(|e| e.at(src))?;
    meter.time(Stage::Write, || {
        let tail = container.tail()?;
        output.write_all_at(&tail, meter.bytes(Stage::Write))?;
        meter.add_bytes(Stage::Write, tail.len() as u64);
        output.publish(Some(&input))
    })?;
    Ok(Report::new(&meter, threads, own, chunks))
}

fn stream_to_stream<C: Codec>(reader: impl Read + Send, mut writer: impl Write, codec: C, options: &Options) -> Result<Report, Error> {
    let meter = Arc::new(Meter::new());
    let container = Layout::new(options.format, None);
    let mut offset = 0;
    let (chunks, threads) = {
        let sink = Sink::Ordered(Box::new(|bytes| {
            write_all(&mut writer, bytes, offset)?;
            offset += bytes.len() as u64;
            Ok(())
        }));
        from_reader(reader, codec, options, &container, sink, &meter)?
    };
    meter.time(Stage::Write, || {
        let tail = container.tail()?;
        write_all(&mut writer, &tail, offset)?;
        offset += tail.len() as u64;
        meter.add_bytes(Stage::Write, tail.len() as u64);
        writer.flush().map_err(|source| Error::Write { offset, source })
    })?;
    Ok(Report::new(&meter, threads, OwnThread { read: true, write: true }, chunks))
}

fn write_all(writer: &mut impl Write, bytes: &[u8], offset: u64) -> Result<(), Error> {
    writer.write_all(bytes).map_err(|source| Error::Write { offset, source })
}

/// Chunks and threads of a run.
type Counts = (u64, usize);

/// Workers read their chunks from a regular file themselves.
fn from_file<C: Codec>(
    input: &Arc<Input>,
    codec: C,
    options: &Options,
    container: &Layout,
    sink: Sink<'_>,
    meter: &Arc<Meter>,
) -> Result<Counts, Error> {
    let chunk = options.checked_chunk()?;
    let len = input.len();
    let settings = options.settings(Some(len.div_ceil(chunk as u64)))?;
    let threads = settings.threads;
    let ahead = (settings.window as u64) * chunk as u64;
    let (input, codec, wrap) = (Arc::clone(input), Arc::new(codec), container.clone());
    let maker = Arc::clone(&codec);
    let mut offset = 0;
    let chunks = run(Run {
        settings,
        total: Some(len),
        source: Source::Inline(Box::new(move |_| {
            let start = offset;
            let size = (len - start).min(chunk as u64);
            offset += size;
            Ok((size > 0).then_some((start, size as usize)))
        })),
        context: Box::new(move || maker.context().map_err(|source| Error::Codec { chunk: 0, source })),
        work: Box::new(move |task: Task<'_, (u64, usize), C::Context>| {
            let Task { index, job: (offset, size), context, input: buffer, output, meter, .. } = task;
            meter.time(Stage::Read, || {
                // The first worker also starts what lies between.
                let from = if index == 0 { size as u64 } else { offset + ahead - chunk as u64 };
                let until = offset + ahead;
                input.advise(from, until.saturating_sub(from));
                // Kept at the largest size: growing means zeroing.
                if buffer.len() < size {
                    buffer.resize(size, 0);
                }
                input.read_exact_at(&mut buffer[..size], offset)
            })?;
            meter.add_bytes(Stage::Read, size as u64);
            let chunk = Chunk { index, offset, bytes: &buffer[..size] };
            meter.time(Stage::Process, || code(&*codec, context, chunk, &wrap, output))?;
            meter.add_bytes(Stage::Process, size as u64);
            Ok(())
        }),
        released: None,
        sink,
        meter: Arc::clone(meter),
        progress: options.progress.clone(),
    })?;
    Ok((chunks, threads))
}

/// A thread of its own reads chunks in order.
fn from_reader<C: Codec>(
    mut reader: impl Read + Send,
    codec: C,
    options: &Options,
    container: &Layout,
    sink: Sink<'_>,
    meter: &Arc<Meter>,
) -> Result<Counts, Error> {
    let chunk = options.checked_chunk()?;
    let settings = options.settings(None)?;
    let threads = settings.threads;
    let (codec, wrap) = (Arc::new(codec), container.clone());
    let maker = Arc::clone(&codec);
    let (mut offset, mut first) = (0, true);
    let at_least_one = container.needs_a_frame();
    let chunks = run(Run {
        settings,
        total: None,
        source: Source::Thread(Box::new(move |feed| {
            let start = offset;
            let mut bytes = feed.buffers.take();
            feed.meter.time(Stage::Read, || fill(&mut reader, &mut bytes, chunk, start))?;
            feed.meter.add_bytes(Stage::Read, bytes.len() as u64);
            offset += bytes.len() as u64;
            let empty = bytes.is_empty() && !(std::mem::take(&mut first) && at_least_one);
            Ok((!empty).then_some((start, bytes)))
        })),
        context: Box::new(move || maker.context().map_err(|source| Error::Codec { chunk: 0, source })),
        work: Box::new(move |task: Task<'_, (u64, Vec<u8>), C::Context>| {
            let Task { index, job: (offset, bytes), context, output, meter, buffers, .. } = task;
            let chunk = Chunk { index, offset, bytes: &bytes };
            meter.time(Stage::Process, || code(&*codec, context, chunk, &wrap, output))?;
            meter.add_bytes(Stage::Process, bytes.len() as u64);
            buffers.give(bytes);
            Ok(())
        }),
        released: None,
        sink,
        meter: Arc::clone(meter),
        progress: options.progress.clone(),
    })?;
    Ok((chunks, threads))
}

/// Reads one chunk; short only at the end.
fn fill(reader: &mut impl Read, bytes: &mut Vec<u8>, size: usize, offset: u64) -> Result<(), Error> {
    bytes.reserve_exact(size);
    match reader.by_ref().take(size as u64).read_to_end(bytes) {
        Ok(_) => Ok(()),
        Err(source) => Err(Error::Read { offset: offset + bytes.len() as u64, source }),
    }
}

/// Codes one chunk, with the promise beside the first.
fn code<C: Codec>(codec: &C, context: &mut C::Context, chunk: Chunk<'_>, container: &Layout, out: &mut Vec<u8>) -> Result<(), Error> {
    let index = chunk.index;
    let len = chunk.bytes.len();
    if index == 0 {
        out.extend(container.head().iter().flatten());
    }
    let start = out.len();
    codec.code(context, chunk, out).map_err(|source| Error::Codec { chunk: index, source })?;
    container.note(index, out.len() - start, len);
    if index == 0 {
        out.extend(container.after_first().iter().flatten());
    }
    Ok(())
}
