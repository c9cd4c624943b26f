//! Where the frames of a file are: by its seek table, or by walking over their headers.

use std::io::Read;

use crate::Error;
#[cfg(feature = "lz4")]
use crate::container::lz4;
use crate::container::promise::{self, Promise};
use crate::container::seek_table::{self, Entry, Footer};
#[cfg(feature = "zstd")]
use crate::container::zstd;
use crate::container::{skippable, u32_at};

use super::bytes::Bytes;
use super::frames::{Frame, FrameKind, Walk};
use super::inline::Inline;
use super::plan::Limits;

/// The most frames an index holds: 64 MiB of memory.
const MAX_FRAMES: usize = 4 << 20;
/// The most frames without content in a table that is used.
const MAX_EMPTY: usize = 4096;
/// No frame header is longer.
const HEADER: usize = 19;
/// The least a frame takes in a file: the header of a skippable one.
const MIN_FRAME: u32 = 8;

/// Where frames with content start.
pub(crate) struct Index {
    /// Offset in the file and in the content, ascending.
    pub(crate) frames: Vec<(u64, u64)>,
    /// Length of the content.
    pub(crate) len: u64,
    /// Where the seek table begins, if the frames were found by it.
    pub(crate) table: Option<u64>,
    /// Offset in the file and checksum of frames that tables have checksums of, ascending.
    checksums: Vec<(u64, u32)>,
}

impl Index {
    /// From the seek table at the end, if it covers the whole file.
    pub(crate) fn from_table<R: Read>(bytes: &mut Bytes<R>) -> Result<Option<Self>, Error> {
        let end = bytes.end();
        let Some((table, footer)) = table_before(bytes, end)? else { return Ok(None) };
        let mut index = Self { table: Some(table), ..Self::new() };
        let (mut empty, mut offset) = (Vec::new(), 0);
        let is_good = entries(bytes, table, footer, |entry| {
            if entry.decompressed == 0 {
                empty.push(offset);
            } else if let Some(checksum) = entry.checksum {
                index.checksums.push((offset, checksum));
            }
            index.push(offset, u64::from(entry.decompressed))?;
            offset += u64::from(entry.compressed);
            Ok(entry.compressed >= MIN_FRAME && empty.len() <= MAX_EMPTY)
        })?;
        let right = is_good && offset == table && index.matches_frames(bytes, &empty, footer)?;
        Ok(right.then_some(index))
    }

    fn new() -> Self {
        Self { frames: Vec::new(), len: 0, table: None, checksums: Vec::new() }
    }

    /// Whether a table has checksums of some frames.
    pub(crate) fn has_checksums(&self) -> bool {
        !self.checksums.is_empty()
    }

    /// Holds the frame at `offset`, which has no checksum of its own, against what a table has of it.
    pub(crate) fn check(&self, offset: u64, (_, checksum): (u32, u32)) -> Result<(), Error> {
        match self.checksums.binary_search_by_key(&offset, |known| known.0) {
            Ok(number) if self.checksums[number].1 != checksum => Err(other_content(offset)),
            _ => Ok(()),
        }
    }

    /// Whether frames without content have none, and the others have what the table says: together as promised, or each as
    /// its header states.
    fn matches_frames<R: Read>(&self, bytes: &mut Bytes<R>, empty: &[u64], footer: Footer) -> Result<bool, Error> {
        let mut promised = None;
        for &at in empty {
            let head = bytes.peek(at, promise::LEN)?;
            match skippable::header(head) {
                Some((magic, size)) => match Promise::parse(magic, size, &head[skippable::HEADER..]) {
                    // A promised table has no checksums.
                    Ok(Some(_)) if footer.checksums => return Ok(false),
                    Ok(found) => promised = found.and_then(|promise| promise.content_len).or(promised),
                    Err(_) => return Ok(false),
                },
                None if stated_content(head) == Some(Some(0)) => {}
                None => return Ok(false),
            }
        }
        if let Some(promised) = promised {
            return Ok(promised == self.len);
        }
        for (number, &(at, content)) in self.frames.iter().enumerate() {
            let next = self.frames.get(number + 1).map_or(self.len, |next| next.1);
            match stated_content(bytes.peek(at, HEADER)?) {
                Some(stated) if stated.is_none_or(|stated| stated == next - content) => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// From the headers of the frames.
    pub(crate) fn from_walk<R: Read>(bytes: &mut Bytes<R>, limits: Limits) -> Result<Self, Error> {
        let mut index = Self::new();
        let (mut walk, mut decoder, mut output) = (Walk::new(), None, Vec::new());
        let mut since = Since::default();
        while let Some(frame) = walk.next(bytes)? {
            if !matches!(frame.kind, FrameKind::Zstd | FrameKind::Lz4 | FrameKind::Lz4Legacy) {
                if frame.kind == FrameKind::SeekTable {
                    index.take_checksums(bytes, &frame, &since)?;
                    let (at, first) = (frame.offset + frame.compressed_bytes, index.frames.len());
                    since = Since { at, first, ..Since::default() };
                }
                continue;
            }
            let is_bare = frame.kind == FrameKind::Zstd && !frame.checksum;
            since.bare |= is_bare;
            since.others |= !is_bare;
            let content = match frame.content_bytes {
                Some(content) => content,
                None => {
                    let decoder = decoder.get_or_insert_with(|| Inline::starting_at(limits, frame.offset));
                    decoder.restart(limits, frame.offset);
                    let mut content = 0;
                    while decoder.next(bytes, &mut output)? {
                        content += output.len() as u64;
                        if decoder.between().is_some() {
                            break;
                        }
                    }
                    content
                }
            };
            index.push(frame.offset, content)?;
        }
        Ok(index)
    }

    /// Takes the checksums of a table, if the frames since the last table are the table's and have none of their own.
    ///
    /// # Errors
    /// The table has frames of other lengths: one of the two is damaged.
    fn take_checksums<R: Read>(&mut self, bytes: &mut Bytes<R>, frame: &Frame, since: &Since) -> Result<(), Error> {
        let Some((table, footer)) = table_before(bytes, frame.offset + frame.compressed_bytes)? else { return Ok(()) };
        let is_about_them = since.bare && !since.others && footer.checksums;
        if !is_about_them || table != frame.offset || footer.frames as usize > MAX_FRAMES {
            return Ok(());
        }
        let (mut covered, mut number, mut fits) = (0, since.first, true);
        let known = self.checksums.len();
        let Self { frames, len, checksums, .. } = self;
        entries(bytes, table, footer, |entry| {
            covered += u64::from(entry.compressed);
            if let (1.., Some(checksum)) = (entry.decompressed, entry.checksum) {
                let end = frames.get(number + 1).map_or(*len, |next| next.1);
                match frames.get(number) {
                    Some(&(at, start)) if end - start == u64::from(entry.decompressed) => checksums.push((at, checksum)),
                    _ => fits = false,
                }
                number += 1;
            }
            Ok(true)
        })?;
        if covered != table - since.at {
            // A table of other frames than these.
            self.checksums.truncate(known);
            return Ok(());
        }
        if fits && number == self.frames.len() { Ok(()) } else { Err(other_content(table)) }
    }

    fn push(&mut self, offset: u64, content: u64) -> Result<(), Error> {
        if content == 0 {
            return Ok(());
        }
        if self.frames.len() == MAX_FRAMES {
            let declared = MAX_FRAMES as u64 + 1;
            return Err(Error::Limit { what: "index of frames", declared, limit: MAX_FRAMES as u64, offset });
        }
        self.frames.push((offset, self.len));
        self.len = self.len.checked_add(content).ok_or(Error::Corrupt { offset, what: "content sizes" })?;
        Ok(())
    }
}

/// What a walk has seen since the last table.
#[derive(Default)]
struct Since {
    /// The offset behind that table.
    at: u64,
    /// The number of the first frame with content.
    first: usize,
    /// There is a zstd frame without a checksum.
    bare: bool,
    /// There is any other data frame.
    others: bool,
}

fn other_content(offset: u64) -> Error {
    Error::Corrupt { offset, what: seek_table::OTHER_CONTENT }
}

/// The seek table that ends at `end`, if there is one: where it begins, and its footer.
fn table_before<R: Read>(bytes: &mut Bytes<R>, end: u64) -> Result<Option<(u64, Footer)>, Error> {
    let Some(footer_at) = end.checked_sub(seek_table::FOOTER as u64) else { return Ok(None) };
    let footer = bytes.peek(footer_at, seek_table::FOOTER)?.try_into().ok().and_then(Footer::parse);
    let Some((footer, table)) = footer.and_then(|footer| Some((footer, end.checked_sub(footer.frame_len())?))) else {
        return Ok(None);
    };
    let header = skippable::header(bytes.peek(table, skippable::HEADER)?);
    Ok(header.is_some_and(|(magic, payload)| footer.matches(magic, payload)).then_some((table, footer)))
}

/// Shows `each` entry of the table at `table`, until it says `false`. Whether it said that of none.
fn entries<R: Read>(
    bytes: &mut Bytes<R>,
    table: u64,
    footer: Footer,
    mut each: impl FnMut(Entry) -> Result<bool, Error>,
) -> Result<bool, Error> {
    let mut at = table + skippable::HEADER as u64;
    let end = table + footer.frame_len() - seek_table::FOOTER as u64;
    while at < end {
        // Whole entries of either kind.
        let piece = bytes.peek(at, (end - at).min(48 << 10) as usize)?;
        at += piece.len() as u64;
        for entry in piece.chunks_exact(footer.entry_len()) {
            let Some(entry) = footer.entry(entry) else { return Ok(false) };
            if !each(entry)? {
                return Ok(false);
            }
        }
        if piece.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether nothing but frames without content lies between two offsets.
pub(crate) fn only_empty_frames<R: Read>(bytes: &mut Bytes<R>, mut at: u64, to: u64) -> Result<bool, Error> {
    while at < to {
        if let Some((_, payload)) = skippable::header(bytes.peek(at, skippable::HEADER)?) {
            at += skippable::HEADER as u64 + u64::from(payload);
            continue;
        }
        // A data frame: its header tells whether it is empty.
        let mut walk = Walk::starting_at(at);
        match walk.next(bytes) {
            Ok(Some(frame)) if frame.content_bytes == Some(0) => at += frame.compressed_bytes,
            Ok(_) | Err(Error::Corrupt { .. } | Error::Trailing { .. } | Error::Format | Error::Truncated { .. }) => return Ok(false),
            Err(other) => return Err(other),
        }
    }
    Ok(at == to)
}

/// The content size that a frame's header states, if it does; `None` where there is no frame.
fn stated_content(head: &[u8]) -> Option<Option<u64>> {
    match u32_at(head, 0)? {
        #[cfg(feature = "zstd")]
        zstd::MAGIC => zstd::Header::parse(head).ok().map(|(header, _)| header.content_size),
        #[cfg(feature = "lz4")]
        lz4::MAGIC => lz4::Header::parse(head).ok().map(|(header, _)| header.content_size),
        _ => None,
    }
}
