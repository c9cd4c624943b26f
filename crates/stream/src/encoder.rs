//! Compression as a `Write`.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;

use crate::codec::{BuiltIn, BuiltInContext, Chunk, Codec};
use crate::encode::code;
use crate::engine::{Blocked, Deliver, Line, Meter, Parts, Task};
use crate::error::Error;
use crate::layout::Layout;
use crate::options::{Options, ProgressHook};
use crate::report::{OwnThread, Progress, Report, Stage};

/// A chunk on its way: where it starts, and its bytes.
type Job = (u64, Vec<u8>);

/// Compresses what is written to it, on several threads, and writes the result to `W` on the calling thread.
///
/// [`Encoder::finish`] completes the output. Dropped without it, the encoder stops: what `W` got is incomplete, and
/// every decoder says so, save that a file cut at certain places cannot be told from a shorter one (see the crate's page).
///
/// In its [`Report`], reading is the time that the caller spent elsewhere between writes.
///
/// ```
/// use std::io::Write;
/// use gannet_stream::{Encoder, Options};
///
/// # #[cfg(feature = "zstd")] {
/// let mut encoder = Encoder::new(Vec::new(), &Options::new().threads(2))?;
/// encoder.write_all(b"some bytes")?;
/// let (compressed, report) = encoder.finish()?;
/// assert_eq!(report.input_bytes, 10);
/// assert_eq!(report.output_bytes, compressed.len() as u64);
/// # }
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Encoder<W: Write> {
    writer: W,
    line: Line<Job, BuiltInContext>,
    layout: Layout,
    meter: Arc<Meter>,
    progress: Option<ProgressHook>,
    threads: usize,
    window: usize,
    chunk: usize,
    /// The chunk being filled, and where it starts.
    pending: Vec<u8>,
    offset: u64,
    pushed: u64,
    written: u64,
    /// Chunks pushed and not yet written.
    inside: usize,
    failed: bool,
    left: Instant,
}

impl<W: Write> Encoder<W> {
    /// Starts the workers.
    ///
    /// # Errors
    /// [`Error::Option`], and [`Error::Pool`] if the threads cannot be started.
    pub fn new(writer: W, options: &Options) -> Result<Self, Error> {
        let codec = Arc::new(BuiltIn::new(options)?);
        let chunk = options.checked_chunk()?;
        let settings = options.settings(None)?;
        let (threads, window) = (settings.threads, settings.window);
        let (meter, layout) = (Arc::new(Meter::new()), Layout::new(options.format, None));
        let (maker, wrap) = (Arc::clone(&codec), layout.clone());
        let line = Line::new(Parts {
            settings,
            context: Box::new(move || maker.context().map_err(|source| Error::Codec { chunk: 0, source })),
            work: Box::new(move |task: Task<'_, Job, BuiltInContext>| {
                let Task { index, job: (offset, bytes), context, output, meter, buffers, .. } = task;
                let chunk = Chunk { index, offset, bytes: &bytes };
                meter.time(Stage::Process, || code(&*codec, context, chunk, &wrap, output))?;
                meter.add_bytes(Stage::Process, bytes.len() as u64);
                buffers.give(bytes);
                Ok(())
            }),
            next: None,
            released: None,
            deliver: Deliver::Pop,
            meter: Arc::clone(&meter),
        })?;
        Ok(Self {
            writer,
            line,
            layout,
            meter,
            progress: options.progress.clone(),
            threads,
            window,
            chunk,
            pending: Vec::new(),
            offset: 0,
            pushed: 0,
            written: 0,
            inside: 0,
            failed: false,
            left: Instant::now(),
        })
    }

    /// The writer.
    pub fn get_ref(&self) -> &W {
        &self.writer
    }

    /// Compresses what is left, writes the seek table, flushes the writer and gives it back.
    ///
    /// # Errors
    /// The error of any chunk or of the writer; also when an earlier write failed.
    pub fn finish(mut self) -> Result<(W, Report), Error> {
        self.enter()?;
        if !self.pending.is_empty() || (self.pushed == 0 && self.layout.needs_a_frame()) {
            self.submit()?;
        }
        self.line.end();
        while self.inside > 0 {
            self.write_one()?;
        }
        let tail = self.layout.tail()?;
        self.write_out(&tail)?;
        let offset = self.written;
        let writer = &mut self.writer;
        self.meter.time(Stage::Write, || writer.flush()).map_err(|source| Error::Write { offset, source })?;
        self.line.settle();
        let own = OwnThread { read: true, write: true };
        let report = Report::new(&self.meter, self.threads, own, self.pushed);
        Ok((self.writer, report))
    }

    /// The caller is back: what it did meanwhile is reading.
    fn enter(&mut self) -> Result<(), Error> {
        self.meter.add_busy(Stage::Read, self.left.elapsed());
        if self.failed {
            let source = io::Error::other("an earlier write to the encoder failed");
            return Err(Error::Write { offset: self.written, source });
        }
        Ok(())
    }

    /// Pushes the pending chunk, after making room.
    fn submit(&mut self) -> Result<(), Error> {
        while self.inside >= self.window {
            self.write_one()?;
        }
        let mut next = self.line.buffers().take();
        next.clear();
        let bytes = std::mem::replace(&mut self.pending, next);
        let len = bytes.len() as u64;
        self.meter.add_bytes(Stage::Read, len);
        if self.line.push((self.offset, bytes)).is_err() {
            // A chunk failed: its error comes out after the chunks before it.
            while self.inside > 0 {
                self.write_one()?;
            }
            return Err(Error::Cancelled);
        }
        self.offset += len;
        self.pushed += 1;
        self.inside += 1;
        // What is ready goes out now, so that the writer is not idle until the window is full.
        while let Some(bytes) = self.line.try_pop()? {
            self.retire(bytes)?;
        }
        Ok(())
    }

    /// Waits for the next result and writes it.
    fn write_one(&mut self) -> Result<(), Error> {
        let start = Instant::now();
        let popped = self.line.pop();
        self.meter.add_blocked(Stage::Write, Blocked::OnInput, start.elapsed());
        match popped? {
            Some(bytes) => self.retire(bytes),
            None => {
                self.inside = 0;
                Ok(())
            }
        }
    }

    fn retire(&mut self, bytes: Vec<u8>) -> Result<(), Error> {
        self.write_out(&bytes)?;
        self.line.give(bytes);
        self.inside -= 1;
        match &self.progress {
            Some(hook) => hook.call(&Progress {
                ingested_bytes: self.meter.bytes(Stage::Read),
                processed_bytes: self.meter.bytes(Stage::Process),
                written_bytes: self.written,
                total_bytes: None,
                elapsed: self.meter.elapsed(),
            }),
            None => Ok(()),
        }
    }

    fn write_out(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let (writer, offset) = (&mut self.writer, self.written);
        self.meter.time(Stage::Write, || writer.write_all(bytes)).map_err(|source| Error::Write { offset, source })?;
        self.meter.add_bytes(Stage::Write, bytes.len() as u64);
        self.written += bytes.len() as u64;
        Ok(())
    }

    fn accept(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        self.enter()?;
        if self.pending.len() >= self.chunk {
            self.submit()?;
        }
        if self.pending.capacity() < self.chunk {
            self.pending.reserve_exact(self.chunk - self.pending.len());
        }
        let len = bytes.len().min(self.chunk - self.pending.len());
        self.pending.extend_from_slice(&bytes[..len]);
        Ok(len)
    }

    fn drain(&mut self) -> Result<(), Error> {
        self.enter()?;
        while self.inside > 0 {
            self.write_one()?;
        }
        let offset = self.written;
        let writer = &mut self.writer;
        self.meter.time(Stage::Write, || writer.flush()).map_err(|source| Error::Write { offset, source })
    }

    fn leave<T>(&mut self, result: Result<T, Error>) -> io::Result<T> {
        self.failed |= result.is_err();
        self.left = Instant::now();
        result.map_err(io::Error::from)
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.accept(bytes);
        self.leave(result)
    }

    /// Writes every full chunk and flushes the writer. The bytes of a chunk that is not full stay: cutting it would cost
    /// compression, and the last chunk only may be shorter.
    fn flush(&mut self) -> io::Result<()> {
        let result = self.drain();
        self.leave(result)
    }
}

impl<W: Write> fmt::Debug for Encoder<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder")
            .field("threads", &self.threads)
            .field("pushed", &self.pushed)
            .field("written", &self.written)
            .finish_non_exhaustive()
    }
}
