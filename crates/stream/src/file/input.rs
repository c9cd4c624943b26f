//! A source file.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::positioned::Positioned;
use crate::engine::grow;
use crate::error::Error;

/// Where bytes that the system copies should go: to a multiple of this. To other places the copy takes four times as long on
/// some processors (measured on AMD's Zen 3).
pub(crate) const ALIGN: usize = 64;

/// The first aligned place in a buffer, below [`ALIGN`] from its start.
pub(crate) fn aligned_start(buffer: &[u8]) -> usize {
    buffer.as_ptr().align_offset(ALIGN).min(ALIGN)
}

/// The first so many bytes of a buffer that are aligned; those of an earlier use are kept.
pub(crate) fn aligned_part(buffer: &mut Vec<u8>, size: usize) -> &mut [u8] {
    grow(buffer, size + ALIGN);
    let start = aligned_start(buffer);
    &mut buffer[start..start + size]
}

/// Refuses folders, and what can only be read forwards, without opening it: a pipe would wait for its other end.
pub(crate) fn check_seekable(path: &Path, doing: &'static str) -> Result<(), Error> {
    // What is not there is for opening to say.
    let Ok(found) = fs::metadata(path) else { return Ok(()) };
    #[cfg(unix)]
    let is_disk = std::os::unix::fs::FileTypeExt::is_block_device(&found.file_type());
    #[cfg(not(unix))]
    let is_disk = false;
    if found.is_dir() {
        Err(Error::Folder { path: path.to_path_buf() })
    } else if !found.is_file() && !is_disk {
        Err(Error::Unsupported { what: doing }.at(path))
    } else {
        Ok(())
    }
}

/// A source file, open for reading.
#[derive(Debug)]
pub(crate) struct Input {
    path: PathBuf,
    file: Positioned,
    metadata: Metadata,
}

impl Input {
    /// Opens a file; a folder is an error.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Open { path: path.to_path_buf(), source };
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(Error::Folder { path: path.to_path_buf() });
        }
        Ok(Self { path: path.to_path_buf(), file: Positioned::new(file), metadata })
    }

    /// The name it was opened by.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it has a length and can be read at offsets; pipes and devices have and can not.
    pub(crate) fn is_regular(&self) -> bool {
        self.metadata.is_file() && self.metadata.len() > 0
    }

    /// Its length in bytes when it was opened.
    pub(crate) fn len(&self) -> u64 {
        self.metadata.len()
    }

    /// Its metadata when it was opened.
    pub(crate) fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The file itself, for reading in order.
    pub(crate) fn file(&self) -> &File {
        self.file.file()
    }

    /// Fills the buffer from an offset. A file that ends early has shrunk: an error.
    pub(crate) fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        match self.file.read_full_at(buffer, offset) {
            Ok(n) if n == buffer.len() => Ok(()),
            Ok(n) => Err(Error::Read { offset: offset + n as u64, source: io::ErrorKind::UnexpectedEof.into() }),
            Err((offset, source)) => Err(Error::Read { offset, source }),
        }
    }

    /// Reads so many bytes into a buffer that is used again and again, and returns the part that holds them.
    pub(crate) fn read_aligned<'b>(&self, buffer: &'b mut Vec<u8>, size: usize, offset: u64) -> Result<&'b [u8], Error> {
        let part = aligned_part(buffer, size);
        self.read_exact_at(part, offset)?;
        Ok(part)
    }

    /// Tells the system that these bytes will be read soon, so that a disk works while the workers do.
    pub(crate) fn advise(&self, offset: u64, len: u64) {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            // One call starts at most one read-ahead unit, 128 KiB unless the device says more.
            const UNIT: u64 = 128 << 10;
            let end = offset.saturating_add(len).min(self.len());
            let mut at = offset;
            while at < end {
                let unit = std::num::NonZeroU64::new(UNIT.min(end - at));
                // Only advice: what it could not do, the read does.
                if rustix::fs::fadvise(self.file(), at, unit, rustix::fs::Advice::WillNeed).is_err() {
                    return;
                }
                at += UNIT;
            }
        }
        #[cfg(target_vendor = "apple")]
        {
            let _ = rustix::fs::fcntl_rdadvise(self.file(), offset, len.min(self.len().saturating_sub(offset)));
        }
        #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
        {
            let _ = (offset, len);
        }
    }
}
