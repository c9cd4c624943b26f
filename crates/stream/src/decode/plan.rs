//! Finds the frames of the data and cuts them into jobs, looking only at headers.

use std::io::Read;

use crate::Stage;
#[cfg(feature = "lz4")]
use crate::container::lz4 as lz4_format;
#[cfg(feature = "lz4")]
use crate::container::u32_at;
use crate::engine::{Buffers, Meter};
use crate::{Error, Options};

use super::bytes::{Bytes, Place};
use super::job::{Job, Kind, Sum};
#[cfg(feature = "lz4")]
use super::lz4;
use super::scan::{self, Head, MAGIC, Skipped};
use super::segment::Segment;
#[cfg(feature = "zstd")]
use super::zstd;

/// Decoded bytes of one job, where a frame is decoded in steps or blocks.
const STEP: usize = 1 << 20;

/// What is allowed, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The most a zstd decoder must remember.
    pub(crate) window: u64,
    /// The largest content of a frame that is decoded in one piece.
    pub(crate) piece: usize,
    /// The same for a frame that does not state its size.
    pub(crate) unsized_piece: usize,
}

impl Limits {
    /// Those of the options, else the defaults.
    pub(crate) fn of(options: &Options) -> Self {
        let piece = usize::try_from(options.max_frame_bytes.unwrap_or(16 << 20)).unwrap_or(usize::MAX >> 2);
        let window = options.max_window_bytes.unwrap_or(128 << 20);
        Self { window, piece, unsized_piece: piece.min(8 << 20) }
    }

    /// None: for looking at frames without decoding them.
    pub(crate) const NONE: Self = Self { window: u64::MAX, piece: usize::MAX >> 2, unsized_piece: usize::MAX >> 2 };

    /// The most that a frame decoded in one piece takes in the file.
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
    /// A frame without a checksum of its own ends; a table may have one.
    Frame(Sum),
    /// A seek table at this offset, and the digest of the contents since the last one if it has their checksums.
    Table(u64, Option<u64>),
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
    tables: Tables,
}

/// What has to be known to hold frames without checksums of their own against a seek table that has some.
#[derive(Debug)]
struct Tables {
    /// Whether such frames are hashed.
    hash: bool,
    /// Behind the last table, if the data was seen from there on.
    from: Option<u64>,
    /// Since then: a frame that was hashed, and one that was not.
    hashed: bool,
    others: bool,
}

impl Planner {
    pub(crate) fn new(limits: Limits) -> Self {
        Self::starting_at(limits, 0)
    }

    /// Starts at a frame inside of the data.
    pub(crate) fn starting_at(limits: Limits, at: u64) -> Self {
        let tables = Tables { hash: false, from: (at == 0).then_some(0), hashed: false, others: false };
        Self { limits, at, start: at, seen: at > 0, ended: false, segment: Segment::new(), state: State::Between, tables }
    }

    /// Whether a promised table must be right even where the promised length shows that nothing is missing.
    pub(crate) fn strict(mut self, strict: bool) -> Self {
        self.segment.strict = strict;
        self
    }

    /// Whether frames without a checksum of their own get one: [`Order::Frame`].
    pub(crate) fn hash(mut self, hash: bool) -> Self {
        self.tables.hash = hash;
        self
    }

    /// The first byte of the frame that the planner is in, or was in last.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// The offset of the next frame, if the planner is between frames.
    pub(crate) fn between(&self) -> Option<u64> {
        matches!(self.state, State::Between).then_some(self.at)
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
        self.start = self.at;
        match scan::head(bytes, self.at, self.seen)? {
            Head::End => {
                self.ended = true;
                self.segment.end(self.at)?;
                Ok(None)
            }
            #[cfg(feature = "zstd")]
            Head::Zstd => self.zstd_frame(bytes, buffers),
            #[cfg(feature = "lz4")]
            Head::Lz4 => self.lz4_frame(bytes, buffers),
            #[cfg(feature = "lz4")]
            Head::Legacy => {
                self.seen = true;
                self.tables.others = true;
                self.at += MAGIC as u64;
                self.state = State::Legacy;
                Ok(None)
            }
            Head::Skippable => {
                let at = self.at;
                let (end, skipped) = scan::skip(bytes, at, &mut self.segment)?;
                self.at = end;
                self.seen = true;
                let Skipped::Table(contents) = skipped else { return Ok(None) };
                let from = self.tables.from.replace(end);
                // A table of other frames than these says nothing of them.
                let contents = contents.filter(|contents| from.is_some_and(|from| contents.compressed == at - from));
                let expected = contents.filter(|_| !self.tables.others).map(|contents| contents.digest);
                self.tables.others = false;
                let is_due = std::mem::take(&mut self.tables.hashed);
                Ok(is_due.then(|| Planned { order: Order::Table(at, expected), ..ready(at, Vec::new()) }))
            }
        }
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
        let sum = self.tables.sum(header.checksum);
        let zstd::Found::Piece(frame, end) = found else {
            self.state = State::Zstd(Box::new(zstd::Serial::new(&header, at, sum)?), header.content_size);
            return Ok(None);
        };
        let place = bytes.place(at, (end - at) as usize, buffers)?;
        self.close(end, header.content_size);
        let order = sum.clone().map_or(Order::Free, Order::Frame);
        Ok(Some(Planned { job: Job { at, place, kind: Kind::Zstd(frame), sum }, order }))
    }

    #[cfg(feature = "lz4")]
    fn lz4_frame<R: Read>(&mut self, bytes: &mut Bytes<R>, buffers: &Buffers) -> Result<Option<Planned>, Error> {
        let at = self.at;
        self.tables.others = true;
        let (header, blocks, found) = lz4::find(bytes, at, self.limits)?;
        match found {
            lz4::Found::Piece(part, end) => {
                let place = bytes.place(blocks, (end - blocks) as usize, buffers)?;
                self.close(end, header.content_size);
                return Ok(Some(Planned { job: Job { at, place, kind: Kind::Lz4(part), sum: None }, order: Order::Free }));
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
                output.clear();
                output.reserve(STEP);
                let mut order = Order::Free;
                match serial.step(bytes, meter, &mut output)? {
                    Some(end) => {
                        order = serial.sum().map_or(Order::Free, Order::Frame);
                        self.close(end, content);
                    }
                    None => self.at = serial.at(),
                }
                Ok(Some(Planned { order, ..ready(at, output) }))
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
                Ok(Some(Planned { job: Job { at, place, kind, sum: None }, order: Order::Blocks(header) }))
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
                let Some(len) = lz4::legacy_block(bytes, at)? else {
                    self.close(at, None);
                    return Ok(None);
                };
                let place = bytes.place(at + MAGIC as u64, len, buffers)?;
                self.at = at + (MAGIC + len) as u64;
                if lz4::legacy_block(bytes, self.at)?.is_none() {
                    self.close(self.at, None);
                }
                Ok(Some(Planned { job: Job { at, place, kind: Kind::Lz4(lz4::Part::Legacy), sum: None }, order: Order::Free }))
            }
        }
    }
}

impl Tables {
    /// Where the checksum of the next zstd frame is to go, if it is to be found out.
    fn sum(&mut self, has_checksum: bool) -> Option<Sum> {
        let wanted = self.hash && !has_checksum;
        self.hashed |= wanted;
        self.others |= !wanted;
        wanted.then(Sum::default)
    }
}

/// Output that is decoded already.
fn ready(at: u64, output: Vec<u8>) -> Planned {
    Planned { job: Job { at, place: Place::all(output), kind: Kind::Ready, sum: None }, order: Order::Free }
}
