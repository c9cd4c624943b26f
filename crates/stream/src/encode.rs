//! Compression: from files and streams, in the container of the format.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use crate::codec::stored::{Frame, START, is_worth_a_look};
use crate::codec::{BuiltIn, Chunk, Codec};
use crate::engine::{Meter, Run, Sink, Source, Task, run};
use crate::error::Error;
use crate::file::{ALIGN, Input, Output, aligned_part, aligned_start};
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
    file_to_file(src.as_ref(), dst.as_ref(), BuiltIn::new(options)?, options)
}

/// Compresses a stream. `reader` gets a thread of its own; `writer` is written to on the calling thread and flushed at
/// the end. An error is returned when the read or write that is under way comes back.
///
/// # Errors
/// Whatever goes wrong on the way. What `writer` then got is incomplete.
pub fn compress(reader: impl Read + Send, writer: impl Write, options: &Options) -> Result<Report, Error> {
    stream_to_stream(reader, writer, BuiltIn::new(options)?, options)
}

/// Compresses a stream to a file, which has its name only when it is complete, as with [`compress_file`].
///
/// # Errors
/// As for [`compress_file`].
pub fn compress_to_file(reader: impl Read + Send, dst: impl AsRef<Path>, options: &Options) -> Result<Report, Error> {
    let (codec, meter) = (BuiltIn::new(options)?, Arc::new(Meter::new()));
    let output = Arc::new(Output::create(dst.as_ref(), None, options.overwrite, !options.no_sync)?);
    let layout = Layout::new(options.format, None);
    let (chunks, threads) = from_reader(reader, codec, options, &layout, Sink::File(Arc::clone(&output)), &meter)?;
    complete(&output, &layout, None, &meter)?;
    Ok(Report::new(&meter, threads, OwnThread { read: true, write: false }, chunks))
}

/// Runs a codec of your own over a file: every chunk through [`Codec::code`], the results one after the other. Safe and
/// measured as [`compress_file`] is. Of the options, format and level are not used; chunks are 4 MiB unless
/// [`Options::chunk_bytes`] says otherwise.
///
/// # Errors
/// As for [`compress_file`]; [`Error::Codec`] for what the codec returns.
pub fn transform_file<C: Codec>(src: impl AsRef<Path>, dst: impl AsRef<Path>, codec: C, options: &Options) -> Result<Report, Error> {
    file_to_file(src.as_ref(), dst.as_ref(), codec, &options.clone().format(Format::Store))
}

/// Runs a codec of your own over a stream, as [`transform_file`] does over a file.
///
/// # Errors
/// As for [`compress`]; [`Error::Codec`] for what the codec returns.
pub fn transform<C: Codec>(reader: impl Read + Send, writer: impl Write, codec: C, options: &Options) -> Result<Report, Error> {
    stream_to_stream(reader, writer, codec, &options.clone().format(Format::Store))
}

fn file_to_file<C: Codec>(src: &Path, dst: &Path, codec: C, options: &Options) -> Result<Report, Error> {
    let meter = Arc::new(Meter::new());
    let input = Arc::new(Input::open(src)?);
    let output = Arc::new(Output::create(dst, Some(&input), options.overwrite, !options.no_sync)?);
    let sink = Sink::File(Arc::clone(&output));
    let regular = input.is_regular();
    let layout = Layout::new(options.format, regular.then(|| input.len()));
    let done = if regular {
        from_file(&input, codec, options, &layout, sink, &meter)
    } else {
        from_reader(input.file(), codec, options, &layout, sink, &meter)
    };
    let (chunks, threads) = done.map_err(|e| e.at(src))?;
    complete(&output, &layout, Some(&input), &meter)?;
    Ok(Report::new(&meter, threads, OwnThread { read: !regular, write: false }, chunks))
}

/// Writes what stands after the last frame and gives the output its name.
fn complete(output: &Output, layout: &Layout, source: Option<&Input>, meter: &Meter) -> Result<(), Error> {
    meter.time(Stage::Write, || {
        let tail = layout.tail()?;
        output.write_all_at(&tail, meter.bytes(Stage::Write))?;
        meter.add_bytes(Stage::Write, tail.len() as u64);
        output.publish(source)
    })
}

fn stream_to_stream<C: Codec>(reader: impl Read + Send, mut writer: impl Write, codec: C, options: &Options) -> Result<Report, Error> {
    let meter = Arc::new(Meter::new());
    let layout = Layout::new(options.format, None);
    let mut offset = 0;
    let (chunks, threads) = {
        let sink = Sink::Ordered(Box::new(|bytes| {
            write_all(&mut writer, bytes, offset)?;
            offset += bytes.len() as u64;
            Ok(())
        }));
        from_reader(reader, codec, options, &layout, sink, &meter)?
    };
    meter.time(Stage::Write, || {
        let tail = layout.tail()?;
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
    layout: &Layout,
    sink: Sink<'_>,
    meter: &Arc<Meter>,
) -> Result<Counts, Error> {
    let chunk = options.checked_chunk()?;
    let len = input.len();
    let settings = options.settings(Some(len.div_ceil(chunk as u64)))?;
    let threads = settings.threads;
    // The next chunk of every worker: more would only make what else the disk has to do wait.
    let ahead = (threads as u64 + 1) * chunk as u64;
    let (input, codec, wrap) = (Arc::clone(input), Arc::new(codec), layout.clone());
    let maker = Arc::clone(&codec);
    let stores = options.stores();
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
            });
            let place = Place { index, offset, size };
            let have = if stores { store(&input, place, &wrap, buffer, output, meter)? } else { Some(0) };
            let Some(have) = have else { return Ok(()) };
            let bytes = aligned_part(buffer, size);
            meter.time(Stage::Read, || input.read_exact_at(&mut bytes[have..], offset + have as u64))?;
            meter.add_bytes(Stage::Read, (size - have) as u64);
            let chunk = Chunk { index, offset, bytes };
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

/// A chunk of a file.
#[derive(Clone, Copy)]
struct Place {
    index: u64,
    offset: u64,
    size: usize,
}

/// Reads a chunk to its place in the frame of a stored one, as long as nothing in it compresses. Where that is to its end, the
/// frame is the output and the work done. Else what was read so far is in the buffer; returns how much that is.
fn store(
    input: &Input,
    place: Place,
    layout: &Layout,
    buffer: &mut Vec<u8>,
    out: &mut Vec<u8>,
    meter: &Meter,
) -> Result<Option<usize>, Error> {
    let Place { index, offset, size } = place;
    if !is_worth_a_look(size) {
        return Ok(Some(0));
    }
    let lead = layout.head().filter(|_| index == 0);
    let mut frame = meter.time(Stage::Process, || Frame::new(out, lead.as_slice().as_flattened(), size));
    let start = &mut aligned_part(buffer, size)[..START];
    meter.time(Stage::Read, || input.read_exact_at(start, offset))?;
    meter.add_bytes(Stage::Read, START as u64);
    if !meter.time(Stage::Process, || frame.starts_with(start)) {
        return Ok(Some(START));
    }
    while frame.done() < size {
        let read = |content: &mut [u8], at| input.read_exact_at(content, offset + at as u64);
        let len = meter.time(Stage::Read, || frame.read(read))?;
        meter.add_bytes(Stage::Read, len as u64);
        if !meter.time(Stage::Process, || frame.looks_at(len)) {
            let have = frame.done();
            meter.time(Stage::Process, || frame.give_back(aligned_part(buffer, size)));
            return Ok(Some(have));
        }
    }
    layout.note(index, meter.time(Stage::Process, || frame.finish()), size);
    meter.add_bytes(Stage::Process, size as u64);
    Ok(None)
}

/// A thread of its own reads chunks in order.
fn from_reader<C: Codec>(
    mut reader: impl Read + Send,
    codec: C,
    options: &Options,
    layout: &Layout,
    sink: Sink<'_>,
    meter: &Arc<Meter>,
) -> Result<Counts, Error> {
    let chunk = options.checked_chunk()?;
    let settings = options.settings(None)?;
    let threads = settings.threads;
    let (codec, wrap) = (Arc::new(codec), layout.clone());
    let maker = Arc::clone(&codec);
    let (mut offset, mut first) = (0, true);
    let at_least_one = layout.needs_a_frame();
    let chunks = run(Run {
        settings,
        total: None,
        source: Source::Thread(Box::new(move |feed| {
            let start = offset;
            let mut bytes = feed.buffers.take();
            let pad = feed.meter.time(Stage::Read, || fill(&mut reader, &mut bytes, chunk, start))?;
            let len = (bytes.len() - pad) as u64;
            feed.meter.add_bytes(Stage::Read, len);
            offset += len;
            let wanted = len > 0 || (first && at_least_one);
            first = false;
            Ok(wanted.then_some((start, pad, bytes)))
        })),
        context: Box::new(move || maker.context().map_err(|source| Error::Codec { chunk: 0, source })),
        work: Box::new(move |task: Task<'_, (u64, usize, Vec<u8>), C::Context>| {
            let Task { index, job: (offset, pad, bytes), context, output, meter, buffers, .. } = task;
            let chunk = Chunk { index, offset, bytes: &bytes[pad..] };
            meter.time(Stage::Process, || code(&*codec, context, chunk, &wrap, output))?;
            meter.add_bytes(Stage::Process, chunk.bytes.len() as u64);
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

/// Reads one chunk, short only at the end, into an emptied buffer; returns where in it the chunk starts.
fn fill(reader: &mut impl Read, bytes: &mut Vec<u8>, size: usize, offset: u64) -> Result<usize, Error> {
    bytes.clear();
    bytes.reserve_exact(size + ALIGN);
    let pad = aligned_start(bytes);
    bytes.resize(pad, 0);
    match reader.by_ref().take(size as u64).read_to_end(bytes) {
        Ok(_) => Ok(pad),
        Err(source) => Err(Error::Read { offset: offset + (bytes.len() - pad) as u64, source }),
    }
}

/// Codes one chunk, with the promise beside the first.
pub(crate) fn code<C: Codec>(
    codec: &C,
    context: &mut C::Context,
    chunk: Chunk<'_>,
    layout: &Layout,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let index = chunk.index;
    let len = chunk.bytes.len();
    out.clear();
    if index == 0 {
        out.extend(layout.head().iter().flatten());
    }
    let start = out.len();
    codec.code(context, chunk, out).map_err(|source| Error::Codec { chunk: index, source })?;
    layout.note(index, out.len() - start, len);
    if index == 0 {
        out.extend(layout.after_first().iter().flatten());
    }
    Ok(())
}
