//! The bytes of the containers: frames, blocks, the seek table and the promise of one.
//!
//! Everything here is pure: bytes in, values out. What the bytes mean is written down in `docs/formats.md`.

#![cfg_attr(not(all(feature = "zstd", feature = "lz4")), allow(unused, reason = "a build without one of the codecs uses less of this"))]

pub(crate) mod promise;
pub(crate) mod seek_table;
pub(crate) mod skippable;

#[cfg(feature = "lz4")]
pub(crate) mod lz4;
#[cfg(feature = "zstd")]
pub(crate) mod zstd;

use crate::Error;

/// Magic of a Zstandard frame.
pub(crate) const ZSTD_MAGIC: u32 = 0xFD2F_B528;
/// Magic of an LZ4 frame.
pub(crate) const LZ4_MAGIC: u32 = 0x184D_2204;
/// Magic of a legacy LZ4 frame.
pub(crate) const LEGACY_MAGIC: u32 = 0x184C_2102;

/// Why bytes are not what a container allows. The reader adds file and offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The bytes end too early.
    Truncated,
    /// The named thing is damaged.
    Corrupt(&'static str),
    /// Legal, but refused: the named thing is not supported.
    Unsupported(&'static str),
    /// The frame needs this dictionary.
    Dictionary(u32),
    /// The named size is over its limit, both in bytes.
    TooLarge { what: &'static str, declared: u64, limit: u64 },
}

impl Fault {
    /// The error for the thing at `at`, in data known to reach to `end`.
    pub(crate) fn at(self, at: u64, end: u64) -> Error {
        match self {
            Self::Truncated => Error::Truncated { offset: end },
            Self::Corrupt(what) => Error::Corrupt { offset: at, what },
            Self::Unsupported(what) => Error::Unsupported { what },
            Self::Dictionary(id) => Error::Dictionary { offset: at, id },
            Self::TooLarge { what, declared, limit } => Error::Limit { what, declared, limit, offset: at },
        }
    }
}

/// Little-endian `u32` at `at`, when the slice reaches that far.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let field = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(field.try_into().ok()?))
}

/// Little-endian `u64` at `at`, when the slice reaches that far.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let field = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(field.try_into().ok()?))
}

/// XXH32 with seed 0, as LZ4 frames and the promise use it.
pub(crate) fn xxh32(bytes: &[u8]) -> u32 {
    twox_hash::XxHash32::oneshot(0, bytes)
}
