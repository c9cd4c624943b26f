//! zstd: one frame per chunk, with its content size and checksum.

use zstd_safe::{CCtx, CParameter, get_error_name};

use super::{Chunk, Codec, stored};
use crate::error::BoxError;

/// Compresses each chunk to one frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Zstd {
    pub(crate) level: i32,
    /// What does not compress is stored after a quick look.
    pub(crate) stores: bool,
}

fn check(code: Result<usize, usize>) -> Result<usize, BoxError> {
    code.map_err(|code| get_error_name(code).into())
}

impl Codec for Zstd {
    type Context = CCtx<'static>;

    fn context(&self) -> Result<Self::Context, BoxError> {
        let mut context = CCtx::try_create().ok_or("zstd has no memory for a context")?;
        check(context.set_parameter(CParameter::CompressionLevel(self.level)))?;
        check(context.set_parameter(CParameter::ChecksumFlag(true)))?;
        check(context.set_parameter(CParameter::ContentSizeFlag(true)))?;
        if self.level == 9 {
            // Half the table that the level has by itself: faster by a tenth, as more of it is in the caches, and larger by less
            // than the larger chunks save.
            check(context.set_parameter(CParameter::HashLog(20)))?;
        }
        Ok(context)
    }

    fn code(&self, context: &mut Self::Context, chunk: Chunk<'_>, out: &mut Vec<u8>) -> Result<(), BoxError> {
        if self.stores && stored::append(chunk.bytes, out) {
            return Ok(());
        }
        let start = out.len();
        out.reserve(zstd_safe::compress_bound(chunk.bytes.len()));
        // What stands there already is kept.
        let mut tail = std::io::Cursor::new(&mut *out);
        tail.set_position(start as u64);
        let written = check(context.compress2(&mut tail, chunk.bytes))?;
        debug_assert_eq!(out.len(), start + written);
        Ok(())
    }
}
