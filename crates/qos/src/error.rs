use std::io;
use std::path::PathBuf;

use crate::{Attribute, QosClass};

/// What went wrong, and at what.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text names no class.
    #[error("{text:?} is no quality-of-service class: use background, utility, default, user-initiated or user-interactive")]
    UnknownClass {
        /// The text given.
        text: String,
    },
    /// The text names no kind of work.
    #[error("{text:?} is no kind of work: use integer, floating-point, simd or memory")]
    UnknownWorkload {
        /// The text given.
        text: String,
    },
    /// The relative priority lies outside -15..=0.
    #[error("relative priority {value} is outside -15..=0")]
    RelativePriority {
        /// The value given.
        value: i32,
    },
    /// The text is no list of CPU numbers such as `0-3,8`.
    #[error("{text:?} is no list of CPU numbers such as 0-3,8")]
    CpuList {
        /// The text given.
        text: String,
    },
    /// A guard could not undo this change afterwards, so nothing was changed.
    #[error("class {class} refused: {attribute} could not be restored afterwards, because {reason}")]
    Irreversible {
        /// The class asked for.
        class: QosClass,
        /// What could not be put back.
        attribute: Attribute,
        /// Which right is missing.
        reason: &'static str,
    },
    /// This thread has given up quality of service for good (a priority or policy call did that), or the system
    /// manages it itself.
    #[error("this thread takes no quality-of-service class: a priority call such as pthread_setschedparam removed it")]
    NoQosThread,
    /// The system refused a call.
    #[error("cannot {attempted}")]
    System {
        /// What was attempted.
        attempted: &'static str,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// A file of the system could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The system's answer has another form than documented.
    #[error("cannot understand {what}: {found:?}")]
    Unexpected {
        /// Which answer.
        what: String,
        /// What it said instead.
        found: String,
    },
    /// This system has no such thing.
    #[error("{what} is not available: {reason}")]
    NotAvailable {
        /// What was asked for.
        what: &'static str,
        /// Why there is none.
        reason: &'static str,
    },
}

impl Error {
    /// The error of a failed call, from `errno`.
    #[cfg(unix)]
    pub(crate) fn last_os(attempted: &'static str) -> Self {
        Error::System { attempted, source: io::Error::last_os_error() }
    }
}
