//! What stands at an offset between frames: which kind of frame, the end, or garbage.

use std::hash::Hasher as _;
use std::io::Read;

use twox_hash::XxHash64;

use crate::Error;
use crate::container::promise::{self, Promise};
use crate::container::{LEGACY_MAGIC, LZ4_MAGIC, ZSTD_MAGIC, seek_table, skippable, u32_at};

use super::bytes::Bytes;
use super::segment::Segment;

/// Bytes of a magic.
pub(crate) const MAGIC: usize = 4;

/// What stands between frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Head {
    End,
    #[cfg(feature = "zstd")]
    Zstd,
    #[cfg(feature = "lz4")]
    Lz4,
    #[cfg(feature = "lz4")]
    Legacy,
    Skippable,
}

/// Looks at `at`; `seen` tells whether a frame came before.
///
/// # Errors
/// Data that is cut, no frame, or of a format that this build leaves out.
pub(crate) fn head<R: Read>(bytes: &mut Bytes<R>, at: u64, seen: bool) -> Result<Head, Error> {
    bytes.forget(at);
    let found = bytes.peek(at, MAGIC)?;
    let Some(magic) = u32_at(found, 0) else {
        return match found {
            [] if seen => Ok(Head::End),
            rest if is_cut_magic(rest) => Err(Error::Truncated { offset: at + rest.len() as u64 }),
            _ => Err(unknown(at, seen)),
        };
    };
    match magic {
        #[cfg(feature = "zstd")]
        ZSTD_MAGIC => Ok(Head::Zstd),
        #[cfg(not(feature = "zstd"))]
        ZSTD_MAGIC => Err(Error::Unsupported { what: "zstd, which this build leaves out" }),
        #[cfg(feature = "lz4")]
        LZ4_MAGIC => Ok(Head::Lz4),
        #[cfg(feature = "lz4")]
        LEGACY_MAGIC => Ok(Head::Legacy),
        #[cfg(not(feature = "lz4"))]
        LZ4_MAGIC | LEGACY_MAGIC => Err(Error::Unsupported { what: "LZ4, which this build leaves out" }),
        _ if skippable::is_magic(magic) => Ok(Head::Skippable),
        _ => Err(unknown(at, seen)),
    }
}

fn unknown(offset: u64, seen: bool) -> Error {
    if seen { Error::Trailing { offset } } else { Error::Format }
}

/// Whether less than four bytes begin a magic.
fn is_cut_magic(rest: &[u8]) -> bool {
    let begins = |magic: [u8; 4]| magic.starts_with(rest);
    let skippable = rest.first().is_none_or(|first| first & 0xF0 == 0x50) && [0x2A, 0x4D].starts_with(rest.get(1..).unwrap_or(&[]));
    skippable || [ZSTD_MAGIC, LZ4_MAGIC, LEGACY_MAGIC].into_iter().any(|magic| begins(magic.to_le_bytes()))
}

/// What a skippable frame is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Skipped {
    Promise,
    /// A seek table, and what it says of contents if it has checksums.
    Table(Option<Contents>),
    Other,
}

/// What a seek table with checksums says of the frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Bytes of all frames in the file.
    pub(crate) compressed: u64,
    /// [`ContentDigest`] of the frames with content.
    pub(crate) digest: u64,
}

/// Sizes and checksums of the contents of frames, in order and in constant memory.
#[derive(Debug)]
pub(crate) struct ContentDigest(XxHash64);

impl ContentDigest {
    pub(crate) fn new() -> Self {
        Self(XxHash64::with_seed(0))
    }

    /// The next frame. Those without content count for nothing: a table may leave them out.
    pub(crate) fn frame(&mut self, len: u32, checksum: u32) {
        if len > 0 {
            self.0.write(&len.to_le_bytes());
            self.0.write(&checksum.to_le_bytes());
        }
    }

    pub(crate) fn finish(&self) -> u64 {
        self.0.finish()
    }
}

/// Steps over the skippable frame at `at`, looks into a promise and a seek table, and says where it ends.
///
/// # Errors
/// Data that is cut; a promise that is damaged or was not kept.
pub(crate) fn skip<R: Read>(bytes: &mut Bytes<R>, at: u64, segment: &mut Segment) -> Result<(u64, Skipped), Error> {
    let header = skippable::header(bytes.peek(at, skippable::HEADER)?);
    let (magic, payload) = header.ok_or(Error::Truncated { offset: bytes.end() })?;
    let from = at + skippable::HEADER as u64;
    let end = from + u64::from(payload);
    let start = bytes.peek(from, (promise::LEN - skippable::HEADER).min(payload as usize))?;
    let promised = Promise::parse(magic, payload, start).map_err(|fault| fault.at(at, end))?;
    let (entries, contents) = match magic {
        skippable::SEEK_TABLE_MAGIC => table(bytes, from, end)?,
        _ => (None, None),
    };
    if !bytes.skip(from, end)? {
        return Err(Error::Truncated { offset: bytes.end() });
    }
    let skipped = match promised {
        Some(promise) => {
            segment.promise(promise, at, end - at)?;
            Skipped::Promise
        }
        None if magic == skippable::SEEK_TABLE_MAGIC => {
            segment.table(at, payload, entries)?;
            Skipped::Table(contents)
        }
        None => {
            segment.frame(end - at, Some(0));
            Skipped::Other
        }
    };
    Ok((end, skipped))
}

/// Whether data of known length ends with what could be a seek table with checksums.
pub(crate) fn ends_with_checksums<R: Read>(bytes: &mut Bytes<R>) -> Result<bool, Error> {
    let Some(at) = bytes.end().checked_sub(seek_table::FOOTER as u64) else { return Ok(false) };
    let footer = bytes.peek(at, seek_table::FOOTER)?.try_into().ok().and_then(seek_table::Footer::parse);
    Ok(footer.is_some_and(|footer| footer.checksums))
}

/// What a table says, its payload from `at` to `end`: the digest of its entries if they are without checksums, else what they
/// say of contents. In constant memory.
fn table<R: Read>(bytes: &mut Bytes<R>, mut at: u64, end: u64) -> Result<(Option<u64>, Option<Contents>), Error> {
    let Some(last) = end.checked_sub(seek_table::FOOTER as u64).filter(|last| *last >= at) else {
        return Ok((None, None));
    };
    let payload = (end - at) as u32;
    // The footer, which tells how to read the entries, comes last: they are read both ways.
    let with_checksums = seek_table::Footer { frames: 0, checksums: true };
    let (mut digest, mut contents, mut compressed) = (XxHash64::with_seed(0), ContentDigest::new(), 0);
    while at < last {
        bytes.forget(at);
        // Whole entries of either kind.
        let piece = bytes.peek(at, (last - at).min(48 << 10) as usize)?;
        if piece.is_empty() {
            return Ok((None, None));
        }
        digest.write(piece);
        for entry in piece.chunks_exact(with_checksums.entry_len()).filter_map(|entry| with_checksums.entry(entry)) {
            compressed += u64::from(entry.compressed);
            contents.frame(entry.decompressed, entry.checksum.unwrap_or(0));
        }
        at += piece.len() as u64;
    }
    let footer = bytes.peek(last, seek_table::FOOTER)?.try_into().ok().and_then(seek_table::Footer::parse);
    Ok(match footer.filter(|footer| footer.matches(skippable::SEEK_TABLE_MAGIC, payload)) {
        Some(footer) if footer.checksums => (None, Some(Contents { compressed, digest: contents.finish() })),
        Some(_) => (Some(digest.finish()), None),
        None => (None, None),
    })
}
