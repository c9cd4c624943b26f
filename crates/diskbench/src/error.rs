//! What can go wrong.

use std::io;
use std::path::PathBuf;

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a run, a look at a volume or an eviction failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The plan contradicts itself or asks for the impossible.
    #[error("bad plan: {what}")]
    BadPlan {
        /// What is wrong with it.
        what: String,
    },
    /// The path is not a folder.
    #[error("{path:?} is not a folder")]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// The volume is mounted read-only, so nothing can be written to it.
    #[error("the volume of {path:?} is read-only")]
    ReadOnly {
        /// The folder on it.
        path: PathBuf,
    },
    /// The plan needs more room than this user may take.
    #[error("{path:?} needs {needed} bytes free for the plan and {reserve} in reserve, but only {available} are available")]
    NotEnoughSpace {
        /// The folder.
        path: PathBuf,
        /// Bytes that the files of the plan take at once.
        needed: u64,
        /// Bytes to be left free.
        reserve: u64,
        /// Bytes that this user may use now.
        available: u64,
    },
    /// The volume ran full during the run.
    #[error("the volume of {path:?} ran full after {written} bytes of the run were written")]
    Full {
        /// The folder.
        path: PathBuf,
        /// Bytes written by the run so far, in whole blocks.
        written: u64,
    },
    /// Something was mounted or unmounted during the run, so that new files would lie on another volume.
    #[error("{path:?} is not on the volume any more that the run began on")]
    VolumeChanged {
        /// The folder.
        path: PathBuf,
    },
    /// The asked way of access does not exist here.
    #[error("{access} access is not available in {path:?}: {reason}")]
    AccessNotAvailable {
        /// What was asked.
        access: crate::Access,
        /// The folder.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A folder that was to be read holds no file of at least one byte.
    #[error("{path:?} holds no file to read")]
    NoFiles {
        /// The folder.
        path: PathBuf,
    },
    /// What was read is not what was written.
    #[error("{path:?}: the block at byte {offset} of file {file} is not what was written")]
    Verify {
        /// The folder of the run.
        path: PathBuf,
        /// Number of the file within the run.
        file: u32,
        /// Where the first wrong block begins.
        offset: u64,
    },
    /// A file shrank or ended early while it was read.
    #[error("{path:?} ended at byte {offset}, before its length of {length}")]
    Truncated {
        /// The file or folder.
        path: PathBuf,
        /// Where the data ended.
        offset: u64,
        /// The length it should have.
        length: u64,
    },
    /// The operating system refused or failed.
    #[error("cannot {action} {path:?}{}", at_offset(*offset))]
    Io {
        /// What was attempted, as a verb: "open", "write to", …
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The place in the file, if it is known.
        offset: Option<u64>,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// This operating system is not supported.
    #[error("disk timing is not available on this operating system")]
    NotAvailable,
}

impl Error {
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>, offset: Option<u64>, source: io::Error) -> Self {
        Error::Io { action, path: path.into(), offset, source }
    }
}

fn at_offset(offset: Option<u64>) -> String {
    offset.map_or_else(String::new, |offset| format!(" at byte {offset}"))
}
