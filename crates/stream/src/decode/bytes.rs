//! The compressed bytes: a file read at any offset, or a stream read forwards.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use crate::Error;
use crate::Stage;
use crate::engine::{Buffers, Meter, grow};
use crate::file;

/// Bytes asked of a stream at once.
const READ: usize = 128 << 10;
/// Reads of a file that are shorter are not worth timing.
const TIMED: usize = 4 << 10;

/// The compressed bytes.
pub(crate) struct Bytes<R> {
    from: Origin<R>,
    meter: Arc<Meter>,
}

enum Origin<R> {
    File {
        file: Arc<file::Input>,
        len: u64,
        scratch: Vec<u8>,
    },
    Seek {
        reader: R,
        read_at: ReadAt<R>,
        len: u64,
        scratch: Vec<u8>,
    },
    /// Keeps the bytes from the last [`Bytes::forget`] on: from `head` to `tail` in the buffer, from `start` on in the stream.
    /// Behind `tail` the buffer has what was in it, so that making room costs no zeroing.
    Stream {
        reader: R,
        buffer: Vec<u8>,
        head: usize,
        tail: usize,
        start: u64,
        end: bool,
    },
}

type ReadAt<R> = fn(&mut R, u64, &mut [u8]) -> io::Result<()>;

/// Where the bytes of one job are.
#[derive(Debug)]
pub(crate) enum Place {
    /// In the file: offset and length.
    Range(u64, usize),
    /// Here, in a part of a pooled buffer.
    Here(Vec<u8>, Range<usize>),
}

impl Place {
    /// All of a buffer.
    pub(crate) fn all(buffer: Vec<u8>) -> Self {
        let len = buffer.len();
        Self::Here(buffer, 0..len)
    }
}

impl Bytes<io::Empty> {
    /// A regular file.
    pub(crate) fn file(file: Arc<file::Input>, meter: Arc<Meter>) -> Self {
        Self { from: Origin::File { len: file.len(), file, scratch: Vec::new() }, meter }
    }
}

impl<R: Read + Seek> Bytes<R> {
    /// Anything that can be read at any offset.
    pub(crate) fn seekable(mut reader: R, meter: Arc<Meter>) -> Result<Self, Error> {
        let len = reader.seek(SeekFrom::End(0)).map_err(|source| Error::Read { offset: 0, source })?;
        let read_at: ReadAt<R> = |reader, at, into| {
            reader.seek(SeekFrom::Start(at))?;
            reader.read_exact(into)
        };
        Ok(Self { from: Origin::Seek { reader, read_at, len, scratch: Vec::new() }, meter })
    }
}

impl<R: Read> Bytes<R> {
    /// A stream, whose first byte has offset 0.
    pub(crate) fn stream(reader: R, meter: Arc<Meter>) -> Self {
        Self { from: Origin::Stream { reader, buffer: Vec::new(), head: 0, tail: 0, start: 0, end: false }, meter }
    }

    /// Up to `want` bytes at `at`; fewer only where the data ends.
    pub(crate) fn peek(&mut self, at: u64, want: usize) -> Result<&[u8], Error> {
        match &mut self.from {
            Origin::File { file, len, scratch } => {
                let there = len.saturating_sub(at).min(want as u64) as usize;
                grow(scratch, there);
                let into = &mut scratch[..there];
                if there < TIMED {
                    file.read_exact_at(into, at)?;
                } else {
                    self.meter.time(Stage::Read, || file.read_exact_at(into, at))?;
                }
                Ok(&scratch[..there])
            }
            Origin::Seek { reader, read_at, len, scratch } => {
                let there = len.saturating_sub(at).min(want as u64) as usize;
                grow(scratch, there);
                let into = &mut scratch[..there];
                self.meter.time(Stage::Read, || read_at(reader, at, into)).map_err(|source| Error::Read { offset: at, source })?;
                Ok(&scratch[..there])
            }
            Origin::Stream { reader, buffer, head, tail, start, end } => {
                debug_assert!(at >= *start, "forgotten bytes");
                let skip = usize::try_from(at - *start).map_err(|_| Error::Truncated { offset: at })?;
                while !*end && *tail - *head < skip.saturating_add(want) {
                    let offset = *start + (*tail - *head) as u64;
                    let count = self.meter.time(Stage::Read, || fill(reader, buffer, *tail, offset))?;
                    *tail += count;
                    *end = count == 0;
                }
                let from = (*tail).min(*head + skip);
                let to = (*tail).min(from.saturating_add(want));
                Ok(&buffer[from..to])
            }
        }
    }

    /// Whether the data reaches `to`; the bytes before it are kept.
    pub(crate) fn reaches(&mut self, from: u64, to: u64) -> Result<bool, Error> {
        match &mut self.from {
            Origin::File { len, .. } | Origin::Seek { len, .. } => Ok(to <= *len),
            Origin::Stream { .. } => match usize::try_from(to - from) {
                Ok(want) => Ok(self.peek(from, want)?.len() == want),
                Err(_) => Ok(false),
            },
        }
    }

    /// Steps over the bytes from `at` to `to`, in constant memory. Whether all of them are there.
    pub(crate) fn skip(&mut self, mut at: u64, to: u64) -> Result<bool, Error> {
        match &self.from {
            Origin::File { len, .. } | Origin::Seek { len, .. } => return Ok(to <= *len),
            Origin::Stream { start, .. } => at = at.max(*start),
        }
        while at < to {
            self.forget(at);
            let step = self.peek(at, (to - at).min(READ as u64) as usize)?.len();
            if step == 0 {
                return Ok(false);
            }
            at += step as u64;
        }
        self.forget(to);
        Ok(true)
    }

    /// The bytes before `to` are not needed any more.
    pub(crate) fn forget(&mut self, to: u64) {
        if let Origin::Stream { buffer, head, tail, start, .. } = &mut self.from {
            let gone = (to.saturating_sub(*start) as usize).min(*tail - *head);
            *head += gone;
            *start += gone as u64;
            if *head >= *tail / 2 {
                buffer.copy_within(*head..*tail, 0);
                *tail -= *head;
                *head = 0;
            }
        }
    }

    /// The `len` bytes at `at` for a job, and forgets what is before their end. They must be there.
    pub(crate) fn place(&mut self, at: u64, len: usize, buffers: &Buffers) -> Result<Place, Error> {
        if let Origin::File { .. } = &mut self.from {
            return Ok(Place::Range(at, len));
        }
        let mut other = buffers.take();
        if let Origin::Stream { .. } = &self.from {
            self.peek(at, len)?;
        }
        if let Origin::Stream { buffer, head, tail, start, .. } = &mut self.from {
            let from = *head + (at - *start) as usize;
            let to = from + len;
            let rest = *tail - to;
            // The smaller part moves to another buffer.
            if rest <= len {
                grow(&mut other, rest);
                other[..rest].copy_from_slice(&buffer[to..*tail]);
                let here = std::mem::replace(buffer, other);
                (*head, *tail, *start) = (0, rest, at + len as u64);
                return Ok(Place::Here(here, from..to));
            }
        }
        grow(&mut other, len);
        other[..len].copy_from_slice(self.peek(at, len)?);
        self.forget(at + len as u64);
        Ok(Place::Here(other, 0..len))
    }

    /// Where the data ends, as far as known: the length of a file, or what was read of a stream.
    pub(crate) fn end(&self) -> u64 {
        match &self.from {
            Origin::File { len, .. } | Origin::Seek { len, .. } => *len,
            Origin::Stream { head, tail, start, .. } => *start + (*tail - *head) as u64,
        }
    }
}

/// One read to the place behind `tail`, which is at `offset` of the stream. How many bytes; none at the end.
fn fill(reader: &mut impl Read, buffer: &mut Vec<u8>, tail: usize, offset: u64) -> Result<usize, Error> {
    grow(buffer, tail + READ);
    loop {
        match reader.read(&mut buffer[tail..tail + READ]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(Error::Read { offset, source }),
            // A reader that says it read more than there was room for is wrong.
            Ok(count) => return Ok(count.min(READ)),
        }
    }
}
