//! Putting files out of the page cache, and what that achieved.

use std::fmt;
use std::fs::File;
use std::path::Path;

use crate::{Error, Result, Volume, VolumeKind, sys};

/// How much of a file lies in the page cache.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Residency {
    /// This many bytes, in whole pages.
    Bytes(u64),
    /// The system does not tell, for this reason.
    Unknown(String),
}

impl Residency {
    /// The bytes, if they are known.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Residency::Bytes(bytes) => Some(*bytes),
            Residency::Unknown(_) => None,
        }
    }

    /// Whether more than one part in a hundred of `length` bytes is resident; `None` if that is unknown.
    #[must_use]
    pub fn matters(&self, length: u64) -> Option<bool> {
        self.bytes().map(|bytes| bytes > length / 100)
    }
}

impl fmt::Display for Residency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Residency::Bytes(bytes) => write!(f, "{bytes} bytes in the page cache"),
            Residency::Unknown(why) => write!(f, "unknown: {why}"),
        }
    }
}

/// What an eviction achieved.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Eviction {
    /// Length of the file in bytes.
    pub length: u64,
    /// What lay in the page cache before.
    pub before: Residency,
    /// What lies there now.
    pub after: Residency,
    /// Why the file cannot be put out of the cache at all, or why the system refused; `None` if it did not.
    pub obstacle: Option<String>,
}

impl Eviction {
    /// Whether the next read comes from the disk: `Some(true)` if at most one part in a hundred is in the page
    /// cache, `None` if that cannot be told.
    #[must_use]
    pub fn is_cold(&self) -> Option<bool> {
        self.after.matters(self.length).map(|matters| !matters)
    }
}

/// Puts a file's pages out of the page cache, so that the next read comes from the disk.
///
/// Changed pages are written to the disk first where the system lets this user do so. A file in memory (`tmpfs`)
/// cannot be put out; the [`obstacle`](Eviction::obstacle) says so. Pages that another process has mapped may stay.
///
/// # Errors
/// [`Error::Io`] if the file cannot be opened for reading or is not a regular file.
pub fn evict(path: impl AsRef<Path>) -> Result<Eviction> {
    let path = path.as_ref();
    let failed = |e| Error::io("open", path, None, e);
    let file = File::open(path).map_err(failed)?;
    let facts = file.metadata().map_err(failed)?;
    if !facts.is_file() {
        let e = std::io::Error::new(std::io::ErrorKind::InvalidInput, "not a regular file");
        return Err(failed(e));
    }
    let mut eviction = evict_pages(&file, facts.len());
    if matches!(Volume::of(path), Ok(volume) if volume.kind == VolumeKind::Memory) {
        eviction.obstacle = Some("the volume is in memory: there is no disk to read from".into());
    }
    Ok(eviction)
}

/// The same for an open file; see [`evict`]. It cannot tell a volume in memory by name: there all pages stay.
///
/// # Errors
/// [`Error::Io`] if the length of the file cannot be read.
pub fn evict_file(file: &File) -> Result<Eviction> {
    let facts = file.metadata().map_err(|e| Error::io("look at", "the open file", None, e))?;
    Ok(evict_pages(file, facts.len()))
}

pub(crate) fn evict_pages(file: &File, length: u64) -> Eviction {
    let before = sys::resident(file, length);
    // Only clean pages can go. A file that is open for reading only may be synced as well.
    let synced = sys::sync(file, crate::SyncPolicy::Fdatasync).map(|_| ());
    let dropped = synced.and_then(|()| sys::drop_pages(file, length));
    let after = sys::resident(file, length);
    Eviction { length, before, after, obstacle: dropped.err().map(|e| e.to_string()) }
}
