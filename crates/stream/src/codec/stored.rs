//! zstd frames of what does not compress: raw blocks.
//!
//! The frame of a chunk in which a [`Probe`] finds nothing, instead of the codec's longer look, which ends with the same. What
//! comes from a file is read to its place in the frame, and only the first block of it copied there.

use std::hash::Hasher;
use std::ops::Range;

use twox_hash::XxHash64;

use super::probe::Probe;
use crate::container::ZSTD_MAGIC;
use crate::engine::grow;

/// What is looked at first, where the codec wants it: most of what compresses shows there, and nothing was copied then.
pub(crate) const START: usize = BLOCK;
/// Content of a block, at most: also the window, the smallest that allows it. Source: RFC 8878 section 3.1.1.2.4.
const BLOCK: usize = 128 << 10;
/// What is read, looked at and hashed at once, while it is in the cache.
const PIECE: usize = 2 * BLOCK;
/// Content size of four bytes, a window, a checksum.
const DESCRIPTOR: u8 = 0x84;
/// 2^(10 + 7) bytes.
const WINDOW: u8 = 7 << 3;
const FRAME_HEADER: usize = 4 + 1 + 1 + 4;
const BLOCK_HEADER: usize = 3;
const CHECKSUM: usize = 4;

/// Whether a chunk is large enough to be looked at.
pub(crate) fn is_worth_a_look(len: usize) -> bool {
    len >= BLOCK
}

/// The frame of a chunk in memory, where nothing in it compresses; else nothing.
pub(crate) fn append(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    if !is_worth_a_look(bytes.len()) {
        return false;
    }
    let mut probe = Probe::new();
    if !(bytes.chunks(PIECE).all(|piece| probe.finds_nothing(piece)) && probe.ends_with_nothing()) {
        return false;
    }
    let start = out.len();
    out.resize(start + frame_len(bytes.len()), 0);
    let frame = &mut out[start..];
    for (block, content) in bytes.chunks(BLOCK).enumerate() {
        frame[content_of(block, bytes.len())].copy_from_slice(content);
    }
    write_headers(frame, bytes.len(), XxHash64::oneshot(0, bytes));
    true
}

/// A frame that is made in its place, as long as nothing in it compresses.
pub(crate) struct Frame<'o> {
    out: &'o mut Vec<u8>,
    /// Where it starts in `out`.
    start: usize,
    len: usize,
    done: usize,
    hash: XxHash64,
    probe: Probe,
}

impl<'o> Frame<'o> {
    /// A frame of so much content behind `lead` in `out`, whose earlier content is lost.
    pub(crate) fn new(out: &'o mut Vec<u8>, lead: &[u8], len: usize) -> Self {
        let start = lead.len();
        out.reserve((start + frame_len(len)).saturating_sub(out.len()));
        grow(out, start);
        out[..start].copy_from_slice(lead);
        Self { out, start, len, done: 0, hash: XxHash64::with_seed(0), probe: Probe::new() }
    }

    /// Content that is in its place, in bytes.
    pub(crate) fn done(&self) -> usize {
        self.done
    }

    /// Looks at the first [`START`] bytes of the chunk, and takes them in. False where something compresses: the frame is not to be had.
    pub(crate) fn starts_with(&mut self, content: &[u8]) -> bool {
        if !self.probe.finds_nothing(content) {
            return false;
        }
        self.hash.write(content);
        let place = content_of(0, self.len);
        grow(self.out, self.start + place.end);
        self.out[self.start..][place].copy_from_slice(content);
        self.done = content.len();
        self.done < self.len || self.probe.ends_with_nothing()
    }

    /// Lets `read` fill the next piece, from an offset in the chunk. Returns its length.
    pub(crate) fn read<E>(&mut self, mut read: impl FnMut(&mut [u8], usize) -> Result<(), E>) -> Result<usize, E> {
        let piece = piece_from(self.done, self.len);
        grow(self.out, self.start + content_of(blocks(&piece).end - 1, self.len).end);
        for block in blocks(&piece) {
            read(&mut self.out[self.start..][content_of(block, self.len)], block * BLOCK)?;
        }
        self.done = piece.end;
        Ok(piece.len())
    }

    /// Looks at the `len` bytes read last. False where something compresses: the frame is not to be had.
    pub(crate) fn looks_at(&mut self, len: usize) -> bool {
        let piece = self.done - len..self.done;
        for block in blocks(&piece) {
            let content = &self.out[self.start..][content_of(block, self.len)];
            if !self.probe.finds_nothing(content) {
                return false;
            }
            self.hash.write(content);
        }
        self.done < self.len || self.probe.ends_with_nothing()
    }

    /// Completes the frame of a chunk that was read and looked at to its end. Returns its length.
    pub(crate) fn finish(self) -> usize {
        let len = frame_len(self.len);
        self.out.resize(self.start + len, 0);
        write_headers(&mut self.out[self.start..], self.len, self.hash.finish());
        len
    }

    /// Copies the content read so far to where the codec wants it.
    pub(crate) fn give_back(self, content: &mut [u8]) {
        for (block, part) in content[..self.done].chunks_mut(BLOCK).enumerate() {
            part.copy_from_slice(&self.out[self.start..][content_of(block, self.len)]);
        }
    }
}

fn frame_len(len: usize) -> usize {
    FRAME_HEADER + len.div_ceil(BLOCK) * BLOCK_HEADER + len + CHECKSUM
}

fn piece_from(at: usize, len: usize) -> Range<usize> {
    at..len.min(at + PIECE)
}

fn blocks(piece: &Range<usize>) -> Range<usize> {
    piece.start / BLOCK..piece.end.div_ceil(BLOCK)
}

/// Where in the frame the content of a block stands.
fn content_of(block: usize, len: usize) -> Range<usize> {
    let start = FRAME_HEADER + block * (BLOCK + BLOCK_HEADER) + BLOCK_HEADER;
    start..start + BLOCK.min(len - block * BLOCK)
}

fn write_headers(frame: &mut [u8], len: usize, hash: u64) {
    let size = u32::try_from(len).expect("chunks are limited to 1 GiB");
    frame[..4].copy_from_slice(&ZSTD_MAGIC.to_le_bytes());
    frame[4..6].copy_from_slice(&[DESCRIPTOR, WINDOW]);
    frame[6..FRAME_HEADER].copy_from_slice(&size.to_le_bytes());
    let count = len.div_ceil(BLOCK);
    for block in 0..count {
        let content = content_of(block, len);
        // Raw blocks are of type 0.
        let word = (content.len() as u32) << 3 | u32::from(block + 1 == count);
        frame[content.start - BLOCK_HEADER..content.start].copy_from_slice(&word.to_le_bytes()[..BLOCK_HEADER]);
    }
    let end = frame.len() - CHECKSUM;
    frame[end..].copy_from_slice(&(hash as u32).to_le_bytes());
}
