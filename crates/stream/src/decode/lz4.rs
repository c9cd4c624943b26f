//! LZ4 frames: in one piece, as independent blocks, or one of any size step by step.

use std::hash::Hasher as _;
use std::io::Read;

use lz4_flex::block::decompress_into_with_dict;
use twox_hash::XxHash32;

use crate::Error;
use crate::Stage;
use crate::container::lz4::{Block, HISTORY, Header, LEGACY_BLOCK, LEGACY_STORED, MAX_HEADER};
use crate::container::{Fault, LEGACY_MAGIC, LZ4_MAGIC, ZSTD_MAGIC, skippable, u32_at, xxh32};
use crate::engine::{Meter, grow};

use super::bytes::Bytes;
use super::plan::Limits;
use super::scan::MAGIC;

/// How far back a block may refer, in bytes.
pub(crate) const WINDOW: u64 = HISTORY as u64;

const FRAME_CHECKSUM: Fault = Fault::Corrupt("LZ4 frame: content checksum");
const FRAME_SIZE: Fault = Fault::Corrupt("LZ4 frame: content size");
const BLOCK: Fault = Fault::Corrupt("LZ4 block");

/// How a frame can be decoded.
#[derive(Debug)]
pub(crate) enum Found {
    /// In one piece, up to this offset.
    Piece(Part, u64),
    /// As independent blocks.
    Blocks,
    /// Step by step.
    Steps,
}

/// Looks at the frame at `at`: its header, where its blocks begin, and where it ends if one piece can hold it.
pub(crate) fn find<R: Read>(bytes: &mut Bytes<R>, at: u64, limits: Limits) -> Result<(Header, u64, Found), Error> {
    let head = bytes.peek(at, MAX_HEADER)?;
    let parsed = Header::parse(head);
    let (header, len) = parsed.map_err(|fault| fault.at(at, bytes.end()))?;
    let start = at + len as u64;
    let (mut end, mut decoded) = (start, 0);
    let most_decoded = header.content_size.map_or(limits.unsized_piece, |_| limits.piece) as u64;
    loop {
        let group = blocks_at(&header, bytes, end, 1)?;
        decoded += group.decoded as u64;
        end = group.end;
        let too_large = header.content_size.unwrap_or(decoded) > most_decoded || end - at > limits.stored_piece();
        if too_large {
            return Ok((header, start, if header.independent { Found::Blocks } else { Found::Steps }));
        }
        if group.last {
            break;
        }
    }
    end += header.trailer() as u64;
    if !bytes.reaches(at, end)? {
        return Err(Error::Truncated { offset: bytes.end() });
    }
    if header.content_size.is_some_and(|size| size > decoded) {
        return Err(FRAME_SIZE.at(at, end));
    }
    // Both are at most the limit for one piece, a `usize`.
    let most = header.content_size.unwrap_or(decoded) as usize;
    Ok((header, start, Found::Piece(Part::Frame(header, most), end)))
}

/// The size of the legacy block whose size word is at `at`; `None` where the data or another frame ends its frame.
pub(crate) fn legacy_block<R: Read>(bytes: &mut Bytes<R>, at: u64) -> Result<Option<usize>, Error> {
    let head = bytes.peek(at, MAGIC)?;
    let len = match u32_at(head, 0) {
        None if head.is_empty() => return Ok(None),
        None => return Err(Error::Truncated { offset: bytes.end() }),
        Some(ZSTD_MAGIC | LZ4_MAGIC | LEGACY_MAGIC) => return Ok(None),
        Some(magic) if skippable::is_magic(magic) => return Ok(None),
        Some(len) => len as usize,
    };
    if len > LEGACY_STORED {
        return Err(Error::Trailing { offset: at });
    }
    let from = at + MAGIC as u64;
    if bytes.reaches(at, from + len as u64)? { Ok(Some(len)) } else { Err(Error::Truncated { offset: bytes.end() }) }
}

/// Some consecutive blocks.
#[derive(Debug)]
pub(crate) struct Group {
    /// Where they end; behind the end mark if they are the `last`.
    pub(crate) end: u64,
    /// The most they decode to.
    pub(crate) decoded: usize,
    /// The end mark follows them.
    pub(crate) last: bool,
}

/// Finds the blocks at `at` that together may decode to `enough` bytes, at least one.
pub(crate) fn blocks_at<R: Read>(header: &Header, bytes: &mut Bytes<R>, at: u64, enough: usize) -> Result<Group, Error> {
    let mut group = Group { end: at, decoded: 0, last: false };
    // Empty blocks count too, so that a group stays short.
    let mut blocks = 0;
    while group.decoded < enough && blocks < 64 {
        let word = u32_at(bytes.peek(group.end, 4)?, 0).ok_or(Error::Truncated { offset: bytes.end() })?;
        let block = header.block(word).map_err(|fault| fault.at(group.end, group.end))?;
        group.end += 4;
        let Block::Data { len, stored } = block else {
            group.last = true;
            break;
        };
        group.decoded += if stored { len } else { header.block_max.bytes() };
        group.end += (len + header.block_trailer()) as u64;
        blocks += 1;
    }
    Ok(group)
}

/// A part of a frame that is decoded in one piece.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// Everything behind the header; decodes to at most so many bytes.
    Frame(Header, usize),
    /// Whole independent blocks with their size words; decode to at most so many bytes.
    Blocks(Header, usize),
    /// One block of a legacy frame, without its size word.
    Legacy,
}

impl Part {
    /// Decodes the whole part.
    pub(crate) fn decode(self, bytes: &[u8], output: &mut Vec<u8>) -> Result<(), Fault> {
        match self {
            Self::Frame(header, most) => {
                let rest = blocks(&header, most, bytes, output)?;
                if header.content_size.is_some_and(|size| size != output.len() as u64) {
                    return Err(FRAME_SIZE);
                }
                if header.content_checksum && u32_at(rest, 0) != Some(xxh32(output)) {
                    return Err(FRAME_CHECKSUM);
                }
                Ok(())
            }
            Self::Blocks(header, most) => blocks(&header, most, bytes, output).map(drop),
            Self::Legacy => {
                // No byte of a block yields more than 255.
                let most = LEGACY_BLOCK.min(bytes.len().saturating_mul(255));
                grow(output, most);
                let len = lz4_flex::block::decompress_into(bytes, &mut output[..most]).map_err(|_| BLOCK)?;
                output.truncate(len);
                Ok(())
            }
        }
    }
}

/// Decodes blocks until the end mark or the end of `bytes`, and returns what is behind them.
fn blocks<'a>(header: &Header, most: usize, mut bytes: &'a [u8], output: &mut Vec<u8>) -> Result<&'a [u8], Fault> {
    grow(output, most);
    let mut filled = 0;
    while let Some(word) = u32_at(bytes, 0) {
        bytes = &bytes[4..];
        let Block::Data { len, stored } = header.block(word)? else { break };
        let trailer = header.block_trailer();
        let data = bytes.get(..len).ok_or(Fault::Truncated)?;
        let check = bytes.get(len..len + trailer).ok_or(Fault::Truncated)?;
        bytes = &bytes[len + trailer..];
        let (before, free) = output[..most].split_at_mut(filled);
        let limit = free.len().min(header.block_max.bytes());
        let history = if header.independent { &[] } else { &before[filled.saturating_sub(HISTORY)..] };
        filled += block(data, check, stored, history, &mut free[..limit])?;
    }
    output.truncate(filled);
    Ok(bytes)
}

/// Decodes one block into the start of `free`.
fn block(data: &[u8], check: &[u8], stored: bool, history: &[u8], free: &mut [u8]) -> Result<usize, Fault> {
    if u32_at(check, 0).is_some_and(|check| check != xxh32(data)) {
        return Err(Fault::Corrupt("LZ4 block checksum"));
    }
    if stored {
        free.get_mut(..data.len()).ok_or(FRAME_SIZE)?.copy_from_slice(data);
        return Ok(data.len());
    }
    decompress_into_with_dict(data, free, history).map_err(|_| BLOCK)
}

/// A frame whose blocks refer to earlier ones, step by step.
pub(crate) struct Serial {
    header: Header,
    start: u64,
    at: u64,
    hash: XxHash32,
    decoded: u64,
    history: Vec<u8>,
}

impl Serial {
    /// `start` is the frame's first byte, `blocks` its first block.
    pub(crate) fn new(header: Header, start: u64, blocks: u64) -> Self {
        Self { header, start, at: blocks, hash: XxHash32::with_seed(0), decoded: 0, history: Vec::with_capacity(HISTORY) }
    }

    /// The next byte to look at.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Decodes at least `enough` bytes, or up to the end of the frame; then says where that is.
    pub(crate) fn step<R: Read>(
        &mut self,
        bytes: &mut Bytes<R>,
        meter: &Meter,
        enough: usize,
        output: &mut Vec<u8>,
    ) -> Result<Option<u64>, Error> {
        let block_max = self.header.block_max.bytes();
        let trailer = self.header.block_trailer();
        let mut filled = 0;
        while filled < enough {
            bytes.forget(self.at);
            let word = u32_at(bytes.peek(self.at, 4)?, 0).ok_or(Error::Truncated { offset: bytes.end() })?;
            let found = self.header.block(word).map_err(|fault| fault.at(self.at, self.at))?;
            self.at += 4;
            let Block::Data { len, stored } = found else {
                output.truncate(filled);
                return self.finish(bytes).map(Some);
            };
            let end = bytes.end();
            let piece = bytes.peek(self.at, len + trailer)?;
            if piece.len() < len + trailer {
                return Err(Error::Truncated { offset: end.max(self.at + piece.len() as u64) });
            }
            grow(output, filled + block_max);
            let free = &mut output[filled..filled + block_max];
            let (data, check) = piece.split_at(len);
            let done = meter.time(Stage::Process, || block(data, check, stored, &self.history, free));
            let count = done.map_err(|fault| fault.at(self.at - 4, self.at))?;
            self.at += (len + trailer) as u64;
            self.decoded += count as u64;
            if self.header.content_size.is_some_and(|size| self.decoded > size) {
                return Err(FRAME_SIZE.at(self.start, self.at));
            }
            let fresh = &output[filled..filled + count];
            meter.time(Stage::Process, || {
                if self.header.content_checksum {
                    self.hash.write(fresh);
                }
                remember(&mut self.history, fresh);
            });
            filled += count;
        }
        output.truncate(filled);
        Ok(None)
    }

    fn finish<R: Read>(&mut self, bytes: &mut Bytes<R>) -> Result<u64, Error> {
        if self.header.content_checksum {
            let check = u32_at(bytes.peek(self.at, 4)?, 0).ok_or(Error::Truncated { offset: bytes.end() })?;
            if check != self.hash.finish_32() {
                return Err(FRAME_CHECKSUM.at(self.start, self.at));
            }
            self.at += 4;
        }
        if self.header.content_size.is_some_and(|size| size != self.decoded) {
            return Err(FRAME_SIZE.at(self.start, self.at));
        }
        bytes.forget(self.at);
        Ok(self.at)
    }
}

/// Keeps the last [`HISTORY`] bytes of what was decoded.
fn remember(history: &mut Vec<u8>, fresh: &[u8]) {
    let fresh = &fresh[fresh.len().saturating_sub(HISTORY)..];
    let surplus = (history.len() + fresh.len()).saturating_sub(HISTORY);
    history.drain(..surplus);
    history.extend_from_slice(fresh);
}

/// Checks, over the output in order, what independent blocks cannot check by themselves.
#[derive(Debug)]
pub(crate) struct Content {
    hash: Option<XxHash32>,
    len: u64,
}

impl Content {
    /// For a new frame.
    pub(crate) fn new(header: &Header) -> Self {
        Self { hash: header.content_checksum.then(|| XxHash32::with_seed(0)), len: 0 }
    }

    /// The next bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.len += bytes.len() as u64;
        if let Some(hash) = &mut self.hash {
            hash.write(bytes);
        }
    }

    /// Against what the frame states.
    pub(crate) fn finish(self, size: Option<u64>, checksum: Option<u32>) -> Result<(), Fault> {
        if size.is_some_and(|size| size != self.len) {
            return Err(FRAME_SIZE);
        }
        match self.hash {
            Some(hash) if Some(hash.finish_32()) != checksum => Err(FRAME_CHECKSUM),
            _ => Ok(()),
        }
    }
}
