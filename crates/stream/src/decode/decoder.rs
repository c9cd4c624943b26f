//! Decoding as a reader.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

use crate::engine::{Deliver, Feed, Line, Meter, Parts};
use crate::report::OwnThread;
use crate::{Error, Options, Report};

use super::bytes::Bytes;
use super::job::{self, Context, Job};
use super::order::{Checker, Orders};
use super::plan::{Limits, Planner};

/// Reads the content of zstd or LZ4 data: all frames of it, in parallel where they can be found without decoding.
///
/// A thread of its own reads the compressed data, the workers decode ahead. Errors are [`enum@Error`] within
/// [`io::Error`]: [`io::Error::downcast`] gives them back. The end of the data is reported only when all of it was checked.
/// Dropping it stops the work and does not wait for the reader.
///
/// ```
/// # #[cfg(feature = "zstd")]
/// # {
/// use std::io::Read as _;
///
/// use gannet_stream::{Decoder, Options};
///
/// // "hello" as a zstd frame of one raw block.
/// let packed = [0x28, 0xB5, 0x2F, 0xFD, 0x20, 5, 0x29, 0, 0, b'h', b'e', b'l', b'l', b'o'];
/// let mut decoder = Decoder::new(std::io::Cursor::new(packed), &Options::new())?;
/// let mut plain = String::new();
/// decoder.read_to_string(&mut plain)?;
/// assert_eq!(plain, "hello");
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Decoder {
    line: Arc<Line<Job, Context>>,
    meter: Arc<Meter>,
    threads: usize,
    current: Vec<u8>,
    at: usize,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Ended,
    Failed,
}

impl Decoder {
    /// Starts to read and decode.
    ///
    /// # Errors
    /// Options that cannot be used; threads that cannot be started.
    pub fn new(reader: impl Read + Send + 'static, options: &Options) -> Result<Self, Error> {
        let settings = options.settings(None)?;
        let threads = settings.threads;
        let meter = Arc::new(Meter::new());
        let orders = Orders::default();
        let mut checker = Checker::new(orders.clone(), options.max_output_bytes);
        let line = Arc::new(Line::new(Parts {
            settings,
            context: Box::new(|| Ok(Context::default())),
            work: Box::new(|task| job::work(task, None)),
            next: None,
            released: Some(Box::new(move |_, output| checker.check(output))),
            deliver: Deliver::Pop,
            meter: Arc::clone(&meter),
        })?);
        let mut planner = Planner::new(Limits::of(options)).hash(true);
        let mut bytes = Bytes::stream(reader, Arc::clone(&meter));
        let (feeder, clocks) = (Arc::clone(&line), Arc::clone(&meter));
        let feed = move || {
            let end = EndOnPanic(&feeder);
            let feed = Feed { meter: &clocks, buffers: feeder.buffers() };
            loop {
                match planner.next(&mut bytes, feed.meter, feed.buffers) {
                    Ok(Some(planned)) => {
                        if feeder.push(orders.note(planned)).is_err() {
                            break;
                        }
                    }
                    Ok(None) => {
                        feeder.end();
                        break;
                    }
                    Err(error) => {
                        feeder.end_with(error);
                        break;
                    }
                }
            }
            std::mem::forget(end);
        };
        let thread = std::thread::Builder::new().name("stream-read".to_owned());
        thread.spawn(feed).map_err(|error| Error::Pool { source: Box::new(error) })?;
        Ok(Self { line, meter, threads, current: Vec::new(), at: 0, state: State::Running })
    }

    /// What was done so far.
    #[must_use]
    pub fn report(&self) -> Report {
        Report::new(&self.meter, self.threads, OwnThread { read: true, write: true }, self.line.retired())
    }

    /// Makes the next decoded bytes current; `false` at the end.
    fn advance(&mut self) -> Result<bool, Error> {
        match self.state {
            State::Running => {}
            State::Ended => return Ok(false),
            State::Failed => return Err(Error::Unsupported { what: "reading on after an error" }),
        }
        while self.at == self.current.len() {
            if self.current.capacity() > 0 {
                self.line.give(std::mem::take(&mut self.current));
            }
            self.at = 0;
            match self.line.pop() {
                Ok(Some(bytes)) => self.current = bytes,
                Ok(None) => {
                    self.state = State::Ended;
                    return Ok(false);
                }
                Err(error) => {
                    self.state = State::Failed;
                    return Err(error);
                }
            }
        }
        Ok(true)
    }
}

impl Read for Decoder {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() || !self.advance()? {
            return Ok(0);
        }
        let count = into.len().min(self.current.len() - self.at);
        into[..count].copy_from_slice(&self.current[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        // Lets the reading thread go; it may be inside of a read that never ends.
        self.line.fail(Error::Cancelled);
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").field("threads", &self.threads).field("state", &self.state).finish_non_exhaustive()
    }
}

/// A reader that panics must not leave the other side waiting.
struct EndOnPanic<'a>(&'a Line<Job, Context>);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        self.0.fail(Error::Panicked { chunk: 0, message: "the reader panicked".to_owned() });
    }
}
