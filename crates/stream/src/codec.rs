//! Codecs: chunk in, bytes out.

#[cfg(feature = "lz4")]
pub(crate) mod lz4;
pub(crate) mod probe;
#[cfg_attr(not(feature = "zstd"), allow(dead_code, reason = "only zstd frames are stored"))]
pub(crate) mod stored;
#[cfg(feature = "zstd")]
pub(crate) mod zstd;

use crate::error::{BoxError, Error};
use crate::options::{Format, Options};

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

/// The codecs of this crate, by the format they write.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BuiltIn {
    #[cfg(feature = "zstd")]
    Zstd(zstd::Zstd),
    #[cfg(feature = "lz4")]
    Lz4(lz4::Lz4),
    Store,
}

/// What a worker keeps for a [`BuiltIn`].
pub(crate) enum BuiltInContext {
    #[cfg(feature = "zstd")]
    Zstd(<zstd::Zstd as Codec>::Context),
    #[cfg(feature = "lz4")]
    Lz4(<lz4::Lz4 as Codec>::Context),
    Store,
}

impl BuiltIn {
    /// The codec that the options ask for.
    pub(crate) fn new(options: &Options) -> Result<Self, Error> {
        let level = options.checked_level()?;
        match options.format {
            #[cfg(feature = "zstd")]
            Format::Zstd => Ok(Self::Zstd(zstd::Zstd { level, stores: options.stores() })),
            #[cfg(feature = "lz4")]
            Format::Lz4 => Ok(Self::Lz4(lz4::Lz4)),
            Format::Store => Ok(Self::Store),
            #[cfg(not(all(feature = "zstd", feature = "lz4")))]
            _ => {
                let _ = level;
                Err(Error::Unsupported { what: "a format that this build leaves out" })
            }
        }
    }
}

impl Codec for BuiltIn {
    type Context = BuiltInContext;

    fn context(&self) -> Result<BuiltInContext, BoxError> {
        match self {
            #[cfg(feature = "zstd")]
            Self::Zstd(codec) => codec.context().map(BuiltInContext::Zstd),
            #[cfg(feature = "lz4")]
            Self::Lz4(codec) => codec.context().map(BuiltInContext::Lz4),
            Self::Store => Ok(BuiltInContext::Store),
        }
    }

    fn code(&self, context: &mut BuiltInContext, chunk: Chunk<'_>, out: &mut Vec<u8>) -> Result<(), BoxError> {
        match (self, context) {
            #[cfg(feature = "zstd")]
            (Self::Zstd(codec), BuiltInContext::Zstd(context)) => codec.code(context, chunk, out),
            #[cfg(feature = "lz4")]
            (Self::Lz4(codec), BuiltInContext::Lz4(context)) => codec.code(context, chunk, out),
            (Self::Store, BuiltInContext::Store) => {
                out.extend_from_slice(chunk.bytes);
                Ok(())
            }
            #[cfg(any(feature = "zstd", feature = "lz4"))]
            _ => Err("a context of another codec".into()),
        }
    }
}
