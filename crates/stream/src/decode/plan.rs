//! Finds the frames of the data and cuts them into jobs, looking only at headers.

use std::hash::Hasher as _;
use std::io::Read;

use twox_hash::XxHash64;

use crate::Stage;
#[cfg(feature = "lz4")]
use crate::container::lz4 as lz4_format;
use crate::container::promise::{self, Promise};
use crate::container::{seek_table, skippable, u32_at};
use crate::engine::{Buffers, Meter};
use crate::{Error, Options};

use super::bytes::{Bytes, Place};
use super::job::{Job, Kind};
#[cfg(feature = "lz4")]
use super::lz4;
use super::segment::Segment;
#[cfg(feature = "zstd")]
use super::zstd;

/// Decoded bytes of one job, where a frame is decoded in steps or blocks.
const STEP: usize = 1 << 20;
/// The first bytes of a frame.
const MAGIC: usize = 4;
const ZSTD_MAGIC: u32 = 0xFD2F_B528;
const LZ4_MAGIC: u32 = 0x184D_2204;
const LEGACY_MAGIC: u32 = 0x184C_2102;

/// What is allowed, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The most a zstd decoder must remember.
    pub(crate) window: u64,
    /// The largest frame that is decoded in one piece.
    pub(crate) piece: usize,
}

impl Limits {
    /// Those of the options, else the defaults.
    pub(crate) fn of(options: &Options) -> Self {
        let piece = options.max_frame_bytes.unwrap_or(16 << 20);
        Self { window: options.max_window_bytes.unwrap_or(128 << 20), piece: usize::try_from(piece).unwrap_or(usize::MAX >> 2) }
    }

    /// The same for a frame that does not state its size.
    pub(crate) fn unsized_piece(self) -> usize {
        self.piece.min(8 << 20)
    }

    /// The most such a frame takes in the file.
    pub(crate) fn stored_piece(self) -> u64 {
        (self.piece + self.piece / 128 + (64 << 10)) as u64
    }
}

/// A job, and what has to be checked of its output in order.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) job: Job,
    pub(crate) order: Order,
}

/// What has to be checked of the outputs, in order.
#[derive(Debug)]
pub(crate) enum Order {
    /// Nothing.
    Free,
    /// Blocks of this LZ4 frame.
    #[cfg(feature = "lz4")]
    Blocks(lz4_format::Header),
    /// The end of that frame, at this offset, with its content checksum if it has one.
    #[cfg(feature = "lz4")]
    End(u64, Option<u32>),
}

/// Inside of which frame the planner is.
enum State {
    Between,
    #[cfg(feature = "zstd")]
    Zstd(Box<zstd::Serial>, Option<u64>),
    #[cfg(feature = "lz4")]
    Lz4(Box<lz4::Serial>, Option<u64>),
    #[cfg(feature = "lz4")]
    Blocks(lz4_format::Header),
    #[cfg(feature = "lz4")]
    BlocksEnd(lz4_format::Header),
    #[cfg(feature = "lz4")]
    Legacy,
}

/// Walks the frames.
pub(crate) struct Planner {
    limits: Limits,
    /// The next byte to look at, and the first of the frame it is in.
    at: u64,
    start: u64,
    seen: bool,
    ended: bool,
    segment: Segment,
    state: State,
}

impl Planner {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, at: 0, start: 0, seen: false, ended: false, segment: Segment::new(), state: State::Between }
    }

    /// The next job; `None` where the data ends well.
    ///
    /// # Errors
    /// Whatever is wrong with headers, or where the planner decodes by itself with the data.
    pub(crate) fn next<R: Read>(&mut self, bytes: &mut Bytes<R>, meter: &Meter, buffers: &Buffers) -> Result<Option<Planned>, Error> {
        loop {
            let before = self.at;
            let planned = match self.state {
                State::Between => self.frame(bytes, buffers)?,
                #[cfg(any(feature = "zstd", feature = "lz4"))]
                _ => self.inside(bytes, meter, buffers)?,
            };
            meter.add_bytes(Stage::Read, self.at - before);
            let place = planned.as_ref().map(|planned| planned.job.worker_bytes());
            // What no worker counts.
            meter.add_bytes(Stage::Process, self.at - before - place.unwrap_or(0));
            if planned.is_some() || self.ended {
                return Ok(planned);
            }
        }
    }

    /// At a frame's first byte, or at the end.
    fn frame<R: Read>(&mut self, bytes: &mut Bytes<R>, buffers: &Buffers) -> Result<Option<Planned>, Error> {
        bytes.forget(self.at);
        self.start = self.at;
        let head = bytes.peek(self.at, MAGIC)?;
        let Some(magic) = u32_at(head, 0) else {
            let rest = head.to_vec();
            return self.end(&rest).map(|()| None);
        };
        match magic {
            #[cfg(feature = "zstd")]
            ZSTD_MAGIC => self.zstd_frame(bytes, buffers),
            #[cfg(not(feature = "zstd"))]
            ZSTD_MAGIC => Err(Error::Unsupported { what: "zstd, which this build leaves out" }),
            #[cfg(feature = "lz4")]
            LZ4_MAGIC => self.lz4_frame(bytes, buffers),
            #[cfg(feature = "lz4")]
            LEGACY_MAGIC => {
                self.seen = true;
                self.at += MAGIC as u64;
                self.state = State::Legacy;
                Ok(None)
            }
            #[cfg(not(feature = "lz4"))]
            LZ4_MAGIC | LEGACY_MAGIC => Err(Error::Unsupported { what: "LZ4, which this build leaves out" }),
            _ if skippable::is_magic(magic) => self.skippable(bytes).map(|()| None),
            _ if self.seen => Err(Error::Trailing { offset: self.at }),
            _ => Err(Error::Format),
        }
    }

    /// The data ends here, save for less than a magic.
    fn end(&mut self, rest: &[u8]) -> Result<(), Error> {
        let end = self.at + rest.len() as u64;
        if rest.is_empty() && self.seen {
            self.ended = true;
            return self.segment.end(end);
        }
        if is_cut_magic(rest) {
            return Err(Error::Truncated { offset: end });
        }
        Err(if self.seen { Error::Trailing { offset: self.at } } else { Error::Format })
    }

    /// Steps over a skippable frame; looks into a promise and a seek table.
    fn skippable<R: Read>(&mut self, bytes: &mut Bytes<R>) -> Result<(), Error> {
        let header = skippable::header(bytes.peek(self.at, skippable::HEADER)?);
        let (magic, payload) = header.ok_or(Error::Truncated { offset: bytes.end() })?;
        let from = self.at + skippable::HEADER as u64;
        let end = from + u64::from(payload);
        let mut promised = None;
        if payload as usize == promise::LEN - skippable::HEADER {
            let payload = bytes.peek(from, payload as usize)?;
            promised = Promise::parse(magic, payload).map_err(|fault| fault.at(self.at, end))?;
        }
        let entries = match magic {
            skippable::SEEK_TABLE_MAGIC => entries(bytes, from, end)?,
            _ => None,
        };
        if !bytes.skip(from, end)? {
            return Err(Error::Truncated { offset: bytes.end() });
        }
        match promised {
            Some(promise) => self.segment.promise(promise, self.at, end - self.at)?,
            None if magic == skippable::SEEK_TABLE_MAGIC => self.segment.table(self.at, entries)?,
            None => self.segment.frame(end - self.at, Some(0)),
        }
        self.seen = true;
        self.at = end;
        Ok(())
    }

    /// A frame ends at `end`.
    fn close(&mut self, end: u64, content: Option<u64>) {
        self.seen = true;
        self.at = end;
        self.segment.frame(end - self.start, content);
        self.state = State::Between;
    }

    #[cfg(feature = "zstd")]
    fn zstd_frame<R: Read>(&mut self, bytes: &mut Bytes<R>, buffers: &Buffers) -> Result<Option<Planned>, Error> {
        let at = self.at;
        let (header, found) = zstd::find(bytes, at, self.limits)?;
        let zstd::Found::Piece(frame, end) = found else {
            self.state = State::Zstd(Box::new(zstd::Serial::new(&header, at)?), header.content_size);
            return Ok(None);
        };
        let place = bytes.place(at, (end - at) as usize, buffers)?;
        self.close(end, header.content_size);
        Ok(Some(Planned { job: Job { at, place, kind: Kind::Zstd(frame) }, order: Order::Free }))
    }

    #[cfg(feature = "lz4")]
    fn lz4_frame<R: Read>(&mut self, bytes: &mut Bytes<R>, buffers: &Buffers) -> Result<Option<Planned>, Error> {
        let at = self.at;
        let (header, blocks, found) = lz4::find(bytes, at, self.limits)?;
        match found {
            lz4::Found::Piece(part, end) => {
                let place = bytes.place(blocks, (end - blocks) as usize, buffers)?;
                self.close(end, header.content_size);
                return Ok(Some(Planned { job: Job { at, place, kind: Kind::Lz4(part) }, order: Order::Free }));
            }
            lz4::Found::Blocks => self.state = State::Blocks(header),
            lz4::Found::Steps => {
                self.state = State::Lz4(Box::new(lz4::Serial::new(header, at, blocks)), header.content_size);
            }
        }
        self.at = blocks;
        Ok(None)
    }

    /// Inside a frame that is not decoded in one piece.
    #[cfg(any(feature = "zstd", feature = "lz4"))]
    fn inside<R: Read>(&mut self, bytes: &mut Bytes<R>, meter: &Meter, buffers: &Buffers) -> Result<Option<Planned>, Error> {
        let at = self.at;
        match &mut self.state {
            State::Between => Ok(None),
            #[cfg(feature = "zstd")]
            State::Zstd(serial, content) => {
                let content = *content;
                let mut output = buffers.take();
                output.reserve(STEP);
                match serial.step(bytes, meter, &mut output)? {
                    Some(end) => self.close(end, content),
                    None => self.at = serial.at(),
                }
                Ok(Some(ready(at, output)))
            }
            #[cfg(feature = "lz4")]
            State::Lz4(serial, content) => {
                let content = *content;
                let mut output = buffers.take();
                match serial.step(bytes, meter, STEP, &mut output)? {
                    Some(end) => self.close(end, content),
                    None => self.at = serial.at(),
                }
                Ok(Some(ready(at, output)))
            }
            #[cfg(feature = "lz4")]
            &mut State::Blocks(header) => {
                bytes.forget(at);
                let group = lz4::blocks_at(&header, bytes, at, STEP)?;
                if !bytes.reaches(at, group.end)? {
                    return Err(Error::Truncated { offset: bytes.end() });
                }
                let place = bytes.place(at, (group.end - at) as usize, buffers)?;
                self.at = group.end;
                if group.last {
                    self.state = State::BlocksEnd(header);
                }
                let kind = Kind::Lz4(lz4::Part::Blocks(header, group.decoded));
                Ok(Some(Planned { job: Job { at, place, kind }, order: Order::Blocks(header) }))
            }
            #[cfg(feature = "lz4")]
            &mut State::BlocksEnd(header) => {
                let trailer = header.trailer();
                let checksum = u32_at(bytes.peek(at, trailer)?, 0);
                if checksum.is_some() != (trailer > 0) {
                    return Err(Error::Truncated { offset: bytes.end() });
                }
                let start = self.start;
                self.close(at + trailer as u64, header.content_size);
                Ok(Some(Planned { order: Order::End(start, checksum), ..ready(at, Vec::new()) }))
            }
            #[cfg(feature = "lz4")]
            State::Legacy => {
                bytes.forget(at);
                // The end of the data or another frame ends it.
                let head = bytes.peek(at, MAGIC)?;
                let word = u32_at(head, 0);
                let len = match word {
                    None if head.is_empty() => None,
                    None => return Err(Error::Truncated { offset: bytes.end() }),
                    Some(ZSTD_MAGIC | LZ4_MAGIC | LEGACY_MAGIC) => None,
                    Some(magic) if skippable::is_magic(magic) => None,
                    Some(len) if len as usize > lz4_format::LEGACY_STORED => {
                        return Err(Error::Trailing { offset: at });
                    }
                    Some(len) => Some(len as usize),
                };
                let Some(len) = len else {
                    self.close(at, None);
                    return Ok(None);
                };
                let (from, end) = (at + MAGIC as u64, at + (MAGIC + len) as u64);
                if !bytes.reaches(at, end)? {
                    return Err(Error::Truncated { offset: bytes.end() });
                }
                let place = bytes.place(from, len, buffers)?;
                self.at = end;
                Ok(Some(Planned { job: Job { at, place, kind: Kind::Lz4(lz4::Part::Legacy) }, order: Order::Free }))
            }
        }
    }
}

/// Whether less than four bytes begin a magic.
fn is_cut_magic(rest: &[u8]) -> bool {
    let begins = |magic: [u8; 4]| magic.starts_with(rest);
    let skippable = rest.first().is_none_or(|first| first & 0xF0 == 0x50) && [0x2A, 0x4D].starts_with(rest.get(1..).unwrap_or(&[]));
    skippable || [ZSTD_MAGIC, LZ4_MAGIC, LEGACY_MAGIC].into_iter().any(|magic| begins(magic.to_le_bytes()))
}

/// Output that is decoded already.
fn ready(at: u64, output: Vec<u8>) -> Planned {
    Planned { job: Job { at, place: Place::Here(output), kind: Kind::Ready }, order: Order::Free }
}

/// The digest of a table's entries without checksums, its payload from `at` to `end`; in constant memory.
fn entries<R: Read>(bytes: &mut Bytes<R>, mut at: u64, end: u64) -> Result<Option<u64>, Error> {
    let Some(last) = end.checked_sub(seek_table::FOOTER as u64).filter(|last| *last >= at) else {
        return Ok(None);
    };
    let payload = (end - at) as u32;
    let mut digest = XxHash64::with_seed(0);
    while at < last {
        bytes.forget(at);
        let piece = bytes.peek(at, (last - at).min(64 << 10) as usize)?;
        if piece.is_empty() {
            return Ok(None);
        }
        digest.write(piece);
        at += piece.len() as u64;
    }
    let footer = bytes.peek(last, seek_table::FOOTER)?.try_into().ok().and_then(seek_table::Footer::parse);
    Ok(footer.filter(|footer| footer.matches(skippable::SEEK_TABLE_MAGIC, payload) && !footer.checksums).map(|_| digest.finish()))
}
