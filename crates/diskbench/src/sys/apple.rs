//! macOS and its relatives.
#![expect(unsafe_code, reason = "system calls that the standard library does not have")]

use std::ffi::{CStr, CString};
use std::fs::{File, OpenOptions};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::ptr;

use crate::volume::{Identity, apple};
use crate::{Access, Method, Residency, Space, SyncPolicy};

/// The ways to try for an access, best first.
pub(crate) fn methods(access: Access) -> &'static [Method] {
    match access {
        Access::Uncached => &[Method::NoCache, Method::WriteBack],
        Access::Direct => &[Method::NoCache],
        Access::DontCache => &[],
        Access::WriteBack => &[Method::WriteBack],
        Access::Cached => &[Method::Buffered],
    }
}

/// Sets `F_NOCACHE` before the first byte: pages that are in the cache are used in spite of it.
fn with_method(file: File, method: Method) -> io::Result<File> {
    if method == Method::NoCache {
        let fd = file.as_raw_fd();
        // SAFETY: only numbers are passed.
        check(unsafe { libc::fcntl(fd, libc::F_NOCACHE, 1) })?;
    }
    Ok(file)
}

/// There are no files without a name.
pub(crate) fn create_unnamed(_: &Path, _: Method) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A new file; an error if the name exists.
pub(crate) fn create_new(path: &Path, method: Method) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).custom_flags(libc::O_NOFOLLOW).open(path)?;
    with_method(file, method)
}

/// An existing file, for reading.
pub(crate) fn open_read(path: &Path, method: Method) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(path)?;
    with_method(file, method)
}

/// One request; may be short.
pub(crate) fn write_at(file: &File, data: &[u8], offset: u64, _: Method) -> io::Result<usize> {
    file.write_at(data, offset)
}

/// One request; may be short; 0 at the end of the file.
pub(crate) fn read_at(file: &File, data: &mut [u8], offset: u64, _: Method) -> io::Result<usize> {
    file.read_at(data, offset)
}

/// Makes the data durable, and says by what: volumes without a full flush or a barrier get `fsync`.
///
/// The standard library's `sync_all` is `F_FULLFSYNC` here, so it is of no use.
pub(crate) fn sync(file: &File, policy: SyncPolicy) -> io::Result<SyncPolicy> {
    unsafe extern "C" {
        /// In libSystem, but not declared in the headers.
        fn fdatasync(fd: libc::c_int) -> libc::c_int;
    }
    let fd = file.as_raw_fd();
    let command = match policy {
        SyncPolicy::None => return Ok(SyncPolicy::None),
        SyncPolicy::Fsync => return fsync(file),
        SyncPolicy::Fdatasync => {
            // SAFETY: only a number is passed.
            check(unsafe { fdatasync(fd) })?;
            return Ok(SyncPolicy::Fdatasync);
        }
        SyncPolicy::FullFsync => libc::F_FULLFSYNC,
        SyncPolicy::BarrierFsync => libc::F_BARRIERFSYNC,
    };
    // SAFETY: only numbers are passed.
    match check(unsafe { libc::fcntl(fd, command) }) {
        Ok(()) => Ok(policy),
        Err(e) if matches!(e.raw_os_error(), Some(libc::ENOTSUP | libc::EINVAL | libc::ENOTTY)) => fsync(file),
        Err(e) => Err(e),
    }
}

fn fsync(file: &File) -> io::Result<SyncPolicy> {
    let fd = file.as_raw_fd();
    // SAFETY: only a number is passed.
    check(unsafe { libc::fsync(fd) })?;
    Ok(SyncPolicy::Fsync)
}

/// Nothing to start: there is no call for it, and `F_NOCACHE` writes at once.
pub(crate) fn start_writeback(_: &File, _: u64, _: u64) {}

/// Makes the file's blocks exist.
pub(crate) fn preallocate(file: &File, len: u64) -> io::Result<()> {
    let mut store = libc::fstore_t {
        fst_flags: libc::F_ALLOCATEALL,
        fst_posmode: libc::F_PEOFPOSMODE,
        fst_offset: 0,
        fst_length: len as libc::off_t,
        fst_bytesalloc: 0,
    };
    let fd = file.as_raw_fd();
    // SAFETY: the struct outlives the call.
    check(unsafe { libc::fcntl(fd, libc::F_PREALLOCATE, &raw mut store) })
}

/// Puts clean pages of the file out of the page cache, by invalidating a shared mapping of it.
pub(crate) fn drop_pages(file: &File, len: u64) -> io::Result<()> {
    let Some(map) = Map::new(file, len)? else { return Ok(()) };
    // SAFETY: the mapping is of this length, and nothing reads through it.
    check(unsafe { libc::msync(map.at, map.len, libc::MS_INVALIDATE) })
}

/// Bytes of the file in the page cache, by `mincore`.
pub(crate) fn resident(file: &File, len: u64) -> Residency {
    count_resident(file, len).unwrap_or_else(|e| Residency::Unknown(e.to_string()))
}

fn count_resident(file: &File, len: u64) -> io::Result<Residency> {
    let Some(map) = Map::new(file, len)? else { return Ok(Residency::Bytes(0)) };
    // SAFETY: no arguments but a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let mut pages: Vec<libc::c_char> = vec![0; map.len.div_ceil(page)];
    // SAFETY: the mapping is of this length, and `pages` has a byte for each of its pages.
    check(unsafe { libc::mincore(map.at, map.len, pages.as_mut_ptr()) })?;
    let count = pages.iter().filter(|page| **page & 1 == 1).count();
    Ok(Residency::Bytes((count * page) as u64))
}

/// A shared mapping of a file, for reading, that nothing reads through.
struct Map {
    at: *mut libc::c_void,
    len: usize,
}

impl Map {
    /// `None` for an empty file.
    fn new(file: &File, len: u64) -> io::Result<Option<Map>> {
        let len = usize::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        if len == 0 {
            return Ok(None);
        }
        let fd = file.as_raw_fd();
        // SAFETY: a new mapping at a place of the system's choice.
        let at = unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_READ, libc::MAP_SHARED, fd, 0) };
        if at == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(Some(Map { at, len })) }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: it was mapped by `new`, and nothing refers to it.
        let _ = unsafe { libc::munmap(self.at, self.len) };
    }
}

/// File systems here do not state alignments.
pub(crate) fn direct_alignment(_: &File) -> Option<(u32, u32)> {
    None
}

/// Takes an exclusive lock if it is free: `Ok(false)` if another process has it.
pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
    let fd = file.as_raw_fd();
    // SAFETY: only numbers are passed.
    match check(unsafe { libc::flock(fd, libc::LOCK_EX | libc::LOCK_NB) }) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(e) => Err(e),
    }
}

/// How many files this process may have open.
pub(crate) fn open_file_limit() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the struct outlives the call.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    (result == 0).then_some(limit.rlim_cur)
}

/// The user that files of this process belong to.
pub(crate) fn user() -> u32 {
    // SAFETY: no arguments, never fails.
    unsafe { libc::geteuid() }
}

/// The room on the volume of `path`, and whether it is read-only.
pub(crate) fn space(path: &Path) -> io::Result<(Space, bool)> {
    let stat = statfs(path)?;
    let unit = u64::from(stat.f_bsize);
    let space = Space { available: stat.f_bavail.saturating_mul(unit), total: stat.f_blocks.saturating_mul(unit) };
    Ok((space, stat.f_flags & libc::MNT_RDONLY as u32 != 0))
}

/// What and where the volume of `path` is; `path` is canonical.
pub(crate) fn identify(path: &Path) -> io::Result<Identity> {
    let stat = statfs(path)?;
    let file_system = text(&stat.f_fstypename);
    let source = text(&stat.f_mntfromname);
    let local = stat.f_flags & libc::MNT_LOCAL as u32 != 0;
    let (kind, device) = apple::kind_of(&file_system, &source, local);
    Ok(Identity { mount_point: PathBuf::from(text(&stat.f_mntonname)), file_system, source, kind, device })
}

fn statfs(path: &Path) -> io::Result<libc::statfs> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let mut stat = MaybeUninit::<libc::statfs>::zeroed();
    let (at, to) = (path.as_ptr(), stat.as_mut_ptr());
    // SAFETY: the path is a C string, and the struct outlives the call.
    check(unsafe { libc::statfs(at, to) })?;
    // SAFETY: all zeros is a valid value, and the call filled it.
    Ok(unsafe { stat.assume_init() })
}

/// A name in a struct of the kernel: up to its first zero.
fn text(name: &[libc::c_char]) -> String {
    let bytes: Vec<u8> = name.iter().map(|c| *c as u8).chain([0]).collect();
    CStr::from_bytes_until_nul(&bytes).map_or_else(|_| String::new(), |s| s.to_string_lossy().into_owned())
}

fn check(result: libc::c_int) -> io::Result<()> {
    // fcntl gives numbers of its own for success.
    if result >= 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
