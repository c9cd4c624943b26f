//! What can go wrong, and where.

use std::io;
use std::path::{Path, PathBuf};

/// The source of a codec's failure: any error that may cross threads.
pub type BoxError = Box<dyn std::error::Error + Send + Sync + 'static>;

/// Every failure of this crate. Each says what was attempted and at which path, chunk or offset.
///
/// Offsets are bytes from the start of the file or stream.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An option has a value that cannot be used.
    #[error("option {option}: {reason}")]
    Option {
        /// The name of the option.
        option: &'static str,
        /// What is wrong with its value.
        reason: String,
    },
    /// The run was stopped by its progress callback.
    #[error("cancelled")]
    Cancelled,
    /// A file could not be opened for reading.
    #[error("cannot open {}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// An output could not be created beside its final name.
    #[error("cannot create {}", path.display())]
    Create {
        /// The final name.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The output exists and overwriting was not asked for.
    #[error("{} exists", path.display())]
    Exists {
        /// The final name.
        path: PathBuf,
    },
    /// Source and output are the same file.
    #[error("{} is both source and output", path.display())]
    SameFile {
        /// The output's name.
        path: PathBuf,
    },
    /// A folder stands where a file is needed.
    #[error("{} is a folder", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// Reading the source failed.
    #[error("cannot read the source at byte {offset}")]
    Read {
        /// Where in the source.
        offset: u64,
        /// Why.
        source: io::Error,
    },
    /// Writing the output failed.
    #[error("cannot write the output at byte {offset}")]
    Write {
        /// Where in the output.
        offset: u64,
        /// Why.
        source: io::Error,
    },
    /// The output could not be brought to the disk.
    #[error("cannot sync {}", path.display())]
    Sync {
        /// The final name.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The complete output could not be given its final name.
    #[error("cannot give the output its name {}", path.display())]
    Publish {
        /// The final name.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A codec failed on one chunk.
    #[error("the codec failed on chunk {chunk}")]
    Codec {
        /// The number of the chunk, from 0.
        chunk: u64,
        /// Why.
        source: BoxError,
    },
    /// A codec (or a worker's start hook) panicked; the panic was caught.
    #[error("panic on chunk {chunk}: {message}")]
    Panicked {
        /// The number of the chunk, from 0.
        chunk: u64,
        /// The panic's message, where it was text.
        message: String,
    },
    /// The worker threads could not be started.
    #[error("cannot start the worker threads")]
    Pool {
        /// Why.
        source: BoxError,
    },
    /// The file is in none of the formats that this build reads.
    #[error("not a zstd or LZ4 file")]
    Format,
    /// The data ends before it is complete.
    #[error("truncated: the data ends at byte {offset}")]
    Truncated {
        /// Where the data ends.
        offset: u64,
    },
    /// The data is damaged.
    #[error("corrupt at byte {offset}: {what}")]
    Corrupt {
        /// The start of the damaged frame or field.
        offset: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// Something other than a frame follows the last frame.
    #[error("unknown data after the last frame, at byte {offset}")]
    Trailing {
        /// Where it starts.
        offset: u64,
    },
    /// A declared size is above a limit that the options set.
    #[error("{what} of {declared} bytes at byte {offset} is above the limit of {limit}")]
    Limit {
        /// What is too large.
        what: &'static str,
        /// Its size in bytes.
        declared: u64,
        /// The largest size allowed, in bytes.
        limit: u64,
        /// Where it is declared.
        offset: u64,
    },
    /// The data decodes to more than [`Options::max_output_bytes`](crate::Options::max_output_bytes).
    #[error("the data decodes to more than the limit of {limit} bytes")]
    OutputLimit {
        /// The most that was allowed, in bytes.
        limit: u64,
    },
    /// The data needs a dictionary, which this crate does not read.
    #[error("the frame at byte {offset} needs dictionary {id}, and dictionaries are not supported")]
    Dictionary {
        /// The start of the frame.
        offset: u64,
        /// The dictionary's id.
        id: u32,
    },
    /// The data or the request is valid but not supported here.
    #[error("not supported: {what}")]
    Unsupported {
        /// What is not supported.
        what: &'static str,
    },
    /// Any of the above, with the file it happened in.
    #[error("{}", path.display())]
    Path {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: Box<Error>,
    },
}

impl Error {
    /// The same error, with the name of the file unless it has one.
    pub(crate) fn at(self, path: &Path) -> Self {
        match self {
            Self::Read { .. }
            | Self::Write { .. }
            | Self::Codec { .. }
            | Self::Format
            | Self::Truncated { .. }
            | Self::Corrupt { .. }
            | Self::Trailing { .. }
            | Self::Limit { .. }
            | Self::OutputLimit { .. }
            | Self::Dictionary { .. }
            | Self::Unsupported { .. } => Self::Path { path: path.to_path_buf(), source: Box::new(self) },
            other => other,
        }
    }

    /// The kind of the I/O error inside, or the nearest kind.
    fn kind(&self) -> io::ErrorKind {
        use io::ErrorKind as Kind;
        match self {
            Self::Open { source, .. }
            | Self::Create { source, .. }
            | Self::Read { source, .. }
            | Self::Write { source, .. }
            | Self::Sync { source, .. }
            | Self::Publish { source, .. } => source.kind(),
            Self::Path { source, .. } => source.kind(),
            Self::Option { .. } | Self::SameFile { .. } | Self::Folder { .. } => Kind::InvalidInput,
            Self::Exists { .. } => Kind::AlreadyExists,
            Self::Truncated { .. } => Kind::UnexpectedEof,
            Self::Format
            | Self::Corrupt { .. }
            | Self::Trailing { .. }
            | Self::Limit { .. }
            | Self::OutputLimit { .. }
            | Self::Dictionary { .. } => Kind::InvalidData,
            Self::Unsupported { .. } => Kind::Unsupported,
            Self::Cancelled | Self::Codec { .. } | Self::Panicked { .. } | Self::Pool { .. } => Kind::Other,
        }
    }
}

/// Keeps the kind; [`io::Error::downcast`] gives the [`Error`](enum@Error) back.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::new(error.kind(), error)
    }
}
