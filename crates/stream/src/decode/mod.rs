//! Decoding of any zstd or LZ4 data.
//!
//! [`plan`] walks the frames by their headers and cuts them into jobs; [`job`] decodes one on a worker; [`order`] checks what
//! only the whole output in order can show. The rest are the ways in.

#![cfg_attr(
    not(all(feature = "zstd", feature = "lz4")),
    allow(unused, irrefutable_let_patterns, reason = "a build without one of the codecs uses less of this")
)]

mod bytes;
mod decoder;
mod files;
mod frames;
mod index;
mod inline;
mod job;
#[cfg(feature = "lz4")]
mod lz4;
mod order;
mod plan;
mod scan;
mod seekable;
mod segment;
#[cfg(feature = "zstd")]
mod zstd;

pub use decoder::Decoder;
pub use files::{decompress, decompress_file, verify, verify_file};
pub use frames::{Frame, FrameKind, Frames, frames};
pub use seekable::{SeekableReader, read_range};
