//! Codecs: chunk in, bytes out.

#[cfg(feature = "lz4")]
pub(crate) mod lz4;
#[cfg(feature = "zstd")]
pub(crate) mod zstd;

use crate::error::BoxError;

/// One chunk of a source.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Chunk<'a> {
    /// The number of the chunk, from 0.
    pub index: u64,
    /// Where the chunk starts in the source, in bytes.
    pub offset: u64,
    /// The bytes. Only the last chunk of a source is shorter than the others.
    pub bytes: &'a [u8],
}

/// What is done to every chunk: chunk in, bytes out.
///
/// Chunks are coded independently, several at once and in any order; the outputs are written in the order of the
/// chunks. So the output must depend on the chunk alone, not on what the context saw before.
pub trait Codec: Send + Sync + 'static {
    /// What a worker keeps from chunk to chunk: state that is dear to make, such as tables.
    type Context: Send + 'static;

    /// Makes a worker's context. Called at most once for each worker, on the worker, and again after a failure.
    ///
    /// # Errors
    /// Whatever the codec finds; the run ends with [`Error::Codec`](crate::Error::Codec).
    fn context(&self) -> Result<Self::Context, BoxError>;

    /// Codes one chunk. `out` is empty and keeps its capacity from earlier chunks.
    ///
    /// # Errors
    /// Whatever the codec finds; the run ends with [`Error::Codec`](crate::Error::Codec).
    fn code(&self, context: &mut Self::Context, chunk: Chunk<'_>, out: &mut Vec<u8>) -> Result<(), BoxError>;
}

/// The bytes as they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Store;

impl Codec for Store {
    type Context = ();

    fn context(&self) -> Result<(), BoxError> {
        Ok(())
    }

    fn code(&self, _context: &mut (), chunk: Chunk<'_>, out: &mut Vec<u8>) -> Result<(), BoxError> {
        out.extend_from_slice(chunk.bytes);
        Ok(())
    }
}
