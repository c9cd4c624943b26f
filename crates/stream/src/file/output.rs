//! An output file that has its final name only when it is complete.
//!
//! On Linux it has no name at all until then, where the file system can do that; elsewhere it is a hidden sibling
//! `.NAME.gannet-PID-N.part`, locked by its writer. A run that was killed leaves such a sibling behind at most, and the
//! next run to the same name removes it.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileTimes, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::input::Input;
use super::positioned::Positioned;
use crate::error::Error;

/// An output file under construction. Dropped without [`Output::publish`] it is gone.
#[derive(Debug)]
pub(crate) struct Output {
    /// The final name.
    path: PathBuf,
    file: Positioned,
    /// The temporary name, if there is one.
    sibling: Mutex<Option<PathBuf>>,
    overwrite: bool,
    sync: bool,
    kicked: Mutex<u64>,
}

/// How much is written before the system is told to start bringing it to the disk.
const WRITE_BACK: u64 = 8 << 20;

impl Output {
    /// Starts an output. `source` is what must not be overwritten and gives its permissions when it is a file.
    pub(crate) fn create(path: &Path, source: Option<&Input>, overwrite: bool, sync: bool) -> Result<Self, Error> {
        let failed = |source| Error::Create { path: path.to_path_buf(), source };
        let mut target = path.to_path_buf();
        match fs::metadata(path) {
            Ok(existing) => {
                if existing.is_dir() {
                    return Err(Error::Folder { path: target });
                }
                if source.is_some_and(|input| same_file(input, path, &existing)) {
                    return Err(Error::SameFile { path: target });
                }
                if !overwrite {
                    return Err(Error::Exists { path: target });
                }
                if !existing.is_file() {
                    let what = io::Error::new(io::ErrorKind::Unsupported, "a device or pipe cannot be replaced by a file");
                    return Err(failed(what));
                }
                // What a link points at is replaced, not the link.
                target = fs::canonicalize(path).map_err(failed)?;
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                if fs::symlink_metadata(path).is_ok() && !overwrite {
                    return Err(Error::Exists { path: target });
                }
            }
            Err(e) => return Err(failed(e)),
        }
        if target.file_name().is_none() {
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "the path names no file")));
        }
        sweep(&target);
        // Nobody else may read it before it has the source's permissions.
        let mode = if source.is_some_and(|input| input.metadata().is_file()) { 0o600 } else { 0o666 };
        let (file, sibling) = match unnamed(&target, mode) {
            Some(file) => (file, None),
            None => create_sibling(&target, mode).map(|(file, name)| (file, Some(name))).map_err(failed)?,
        };
        Ok(Self { path: target, file: Positioned::new(file), sibling: Mutex::new(sibling), overwrite, sync, kicked: Mutex::new(0) })
    }

    /// Writes at an offset. Several threads may write at once.
    pub(crate) fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        self.file.write_all_at(bytes, offset).map_err(|(offset, source)| Error::Write { offset, source }.at(&self.path))?;
        if self.sync {
            self.start_write_back(offset + bytes.len() as u64);
        }
        Ok(())
    }

    /// Brings the output to the disk (unless switched off), gives it the source's permissions and times, then its name.
    pub(crate) fn publish(&self, source: Option<&Input>) -> Result<(), Error> {
        let file = self.file.file();
        let failed = |source| Error::Publish { path: self.path.clone(), source };
        if let Some(metadata) = source.map(Input::metadata).filter(|m| m.is_file()) {
            file.set_permissions(permissions(metadata)).map_err(failed)?;
            let mut times = FileTimes::new();
            if let Ok(time) = metadata.modified() {
                times = times.set_modified(time);
            }
            if let Ok(time) = metadata.accessed() {
                times = times.set_accessed(time);
            }
            file.set_times(times).map_err(failed)?;
        }
        if self.sync {
            file.sync_all().map_err(|source| Error::Sync { path: self.path.clone(), source })?;
        }
        let mut sibling = self.sibling.lock().unwrap_or_else(PoisonError::into_inner);
        if sibling.is_none() {
            if !self.overwrite && link_unnamed(file, &self.path).map_err(|e| self.name_error(e))? {
                return self.sync_folder();
            }
            // Through a sibling for an instant: only a rename replaces a file at once.
            let name = sibling_name(&self.path);
            link_unnamed(file, &name).map_err(failed)?;
            *sibling = Some(name);
        }
        if let Some(name) = sibling.as_ref() {
            if self.overwrite {
                fs::rename(name, &self.path).map_err(failed)?;
            } else {
                rename_new(name, &self.path).map_err(|e| self.name_error(e))?;
            }
        }
        *sibling = None;
        self.sync_folder()
    }

    fn name_error(&self, source: io::Error) -> Error {
        if source.kind() == io::ErrorKind::AlreadyExists {
            Error::Exists { path: self.path.clone() }
        } else {
            Error::Publish { path: self.path.clone(), source }
        }
    }

    /// The name itself is on the disk only when the folder is. Not every system can do that, and none needs it for the content.
    fn sync_folder(&self) -> Result<(), Error> {
        if self.sync && cfg!(unix) {
            if let Ok(folder) = File::open(folder_of(&self.path)) {
                let _ = folder.sync_all();
            }
        }
        Ok(())
    }

    /// Starts bringing what is written to the disk without waiting, so that the disk works while the workers do and
    /// the sync at the end has little left.
    fn start_write_back(&self, end: u64) {
        let mut kicked = self.kicked.lock().unwrap_or_else(PoisonError::into_inner);
        if end < kicked.saturating_add(WRITE_BACK) {
            return;
        }
        // Once more over the last stretch: writes complete out of order.
        let start = kicked.saturating_sub(WRITE_BACK);
        *kicked = end;
        drop(kicked);
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            // Linux starts write-back of the dirty pages of a range that is "not needed", and keeps them till it is done.
            let len = std::num::NonZeroU64::new(end - start);
            let _ = rustix::fs::fadvise(self.file.file(), start, len, rustix::fs::Advice::DontNeed);
        }
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let _ = start;
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(name) = self.sibling.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = fs::remove_file(name);
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(unix)]
fn same_file(input: &Input, _path: &Path, existing: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let source = input.metadata();
    (source.dev(), source.ino()) == (existing.dev(), existing.ino())
}

#[cfg(not(unix))]
fn same_file(input: &Input, path: &Path, _existing: &fs::Metadata) -> bool {
    matches!((fs::canonicalize(input.path()), fs::canonicalize(path)), (Ok(a), Ok(b)) if a == b)
}

/// The source's permissions without set-user-id and the like, which belong to the source's content.
#[cfg(unix)]
fn permissions(metadata: &fs::Metadata) -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(metadata.permissions().mode() & 0o777)
}

#[cfg(not(unix))]
fn permissions(metadata: &fs::Metadata) -> fs::Permissions {
    metadata.permissions()
}

/// A file without a name in the target's folder, where the system can give it one later.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn unnamed(target: &Path, mode: u32) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(folder_of(target), flags, Mode::from_bits_truncate(mode)).ok()?);
    // Locked, as it may have a sibling's name for an instant.
    (fs::symlink_metadata(proc_name(&file)).is_ok() && lock(&file)).then_some(file)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn unnamed(_target: &Path, _mode: u32) -> Option<File> {
    None
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn proc_name(file: &File) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Gives an unnamed file a name that must be free. `true`: done.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn link_unnamed(file: &File, name: &Path) -> io::Result<bool> {
    use rustix::fs::{AtFlags, CWD};
    rustix::fs::linkat(CWD, proc_name(file), CWD, name, AtFlags::SYMLINK_FOLLOW)?;
    Ok(true)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn link_unnamed(_file: &File, _name: &Path) -> io::Result<bool> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Renames to a name that must be free.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags};
        match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(()),
            Err(e) if e == rustix::io::Errno::EXIST => return Err(e.into()),
            // File systems that cannot: FUSE ones, some network ones.
            Err(_) => {}
        }
    }
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(e),
        Err(_) if fs::symlink_metadata(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        // No hard links either (FAT): a file created between the check and here is lost.
        Err(_) => fs::rename(from, to),
    }
}

/// What siblings of a target start with. Cut to leave room below the usual limit of 255 bytes.
fn sibling_prefix(target: &Path) -> OsString {
    let name = target.file_name().unwrap_or(OsStr::new("output"));
    let mut prefix = OsString::from(".");
    if name.len() <= 200 {
        prefix.push(name);
    } else {
        let hash = name
            .as_encoded_bytes()
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
        prefix.push(format!("{hash:016x}"));
    }
    prefix.push(".gannet-");
    prefix
}

const SIBLING_SUFFIX: &str = ".part";

fn sibling_name(target: &Path) -> PathBuf {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let mut name = sibling_prefix(target);
    name.push(format!("{}-{}{SIBLING_SUFFIX}", std::process::id(), COUNTER.fetch_add(1, Relaxed)));
    folder_of(target).join(name)
}

fn create_sibling(target: &Path, mode: u32) -> io::Result<(File, PathBuf)> {
    loop {
        let name = sibling_name(target);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
        #[cfg(not(unix))]
        let _ = mode;
        match options.open(&name) {
            // Locked, or swept by another run between the two.
            Ok(file) if lock(&file) && fs::symlink_metadata(&name).is_ok() => return Ok((file, name)),
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
}

/// Locks a sibling while its writer lives. `false`: somebody else has it.
#[cfg(unix)]
fn lock(file: &File) -> bool {
    use rustix::fs::{FlockOperation, flock};
    // Where there are no locks nothing is swept either.
    flock(file, FlockOperation::NonBlockingLockExclusive) != Err(rustix::io::Errno::WOULDBLOCK)
}

#[cfg(not(unix))]
fn lock(_file: &File) -> bool {
    true
}

/// Removes siblings that killed runs left.
#[cfg(unix)]
fn sweep(target: &Path) {
    use rustix::fs::{FlockOperation, flock};
    let prefix = sibling_prefix(target);
    let Ok(entries) = fs::read_dir(folder_of(target)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let bytes = name.as_encoded_bytes();
        if !bytes.starts_with(prefix.as_encoded_bytes()) || !bytes.ends_with(SIBLING_SUFFIX.as_bytes()) {
            continue;
        }
        // Never through a link, and only what no living writer has locked.
        if entry.file_type().is_ok_and(|kind| kind.is_file()) {
            if let Ok(file) = File::open(entry.path()) {
                if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
    }
}

#[cfg(not(unix))]
fn sweep(_target: &Path) {}
