//! Linux.
#![expect(unsafe_code, reason = "system calls that the standard library does not have")]

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::ptr;

use crate::volume::{self, Identity};
use crate::{Access, Method, Residency, Space, SyncPolicy};

/// The ways to try for an access, best first.
pub(crate) fn methods(access: Access) -> &'static [Method] {
    match access {
        Access::Uncached => &[Method::Direct, Method::DontCache, Method::WriteBack],
        Access::Direct => &[Method::Direct],
        Access::DontCache => &[Method::DontCache],
        Access::WriteBack => &[Method::WriteBack],
        Access::Cached => &[Method::Buffered],
    }
}

fn flags(method: Method) -> i32 {
    if method == Method::Direct { libc::O_DIRECT } else { 0 }
}

/// A file that never has a name.
pub(crate) fn create_unnamed(folder: &Path, method: Method) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).mode(0o600).custom_flags(libc::O_TMPFILE | libc::O_EXCL | flags(method)).open(folder)
}

/// A new file; an error if the name exists.
pub(crate) fn create_new(path: &Path, method: Method) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).custom_flags(flags(method) | libc::O_NOFOLLOW).open(path)
}

/// An existing file, for reading. Its access time stays if the system lets this user keep it (the owner).
pub(crate) fn open_read(path: &Path, method: Method) -> io::Result<File> {
    let open = |more| OpenOptions::new().read(true).custom_flags(flags(method) | libc::O_NOFOLLOW | more).open(path);
    open(libc::O_NOATIME).or_else(|e| if e.kind() == io::ErrorKind::PermissionDenied { open(0) } else { Err(e) })
}

/// One request; may be short.
pub(crate) fn write_at(file: &File, data: &[u8], offset: u64, method: Method) -> io::Result<usize> {
    if method != Method::DontCache {
        return file.write_at(data, offset);
    }
    let part = libc::iovec { iov_base: data.as_ptr().cast_mut().cast(), iov_len: data.len() };
    let fd = file.as_raw_fd();
    // SAFETY: `part` describes `data`, which outlives the call; the kernel only reads from it.
    let n = unsafe { libc::pwritev2(fd, &part, 1, offset as libc::off_t, libc::RWF_DONTCACHE) };
    count(n)
}

/// One request; may be short; 0 at the end of the file.
pub(crate) fn read_at(file: &File, data: &mut [u8], offset: u64, method: Method) -> io::Result<usize> {
    if method != Method::DontCache {
        return file.read_at(data, offset);
    }
    let part = libc::iovec { iov_base: data.as_mut_ptr().cast(), iov_len: data.len() };
    let fd = file.as_raw_fd();
    // SAFETY: `part` describes `data`, which is borrowed mutably for the call.
    let n = unsafe { libc::preadv2(fd, &part, 1, offset as libc::off_t, libc::RWF_DONTCACHE) };
    count(n)
}

/// Makes the data durable, and says by what. Linux has two of the policies; both flush the drive.
pub(crate) fn sync(file: &File, policy: SyncPolicy) -> io::Result<SyncPolicy> {
    match policy {
        SyncPolicy::None => Ok(SyncPolicy::None),
        SyncPolicy::Fdatasync => file.sync_data().map(|()| SyncPolicy::Fdatasync),
        SyncPolicy::Fsync | SyncPolicy::FullFsync | SyncPolicy::BarrierFsync => file.sync_all().map(|()| SyncPolicy::Fsync),
    }
}

/// Starts writing a part of the file back, without waiting. Best effort.
pub(crate) fn start_writeback(file: &File, offset: u64, len: u64) {
    let fd = file.as_raw_fd();
    let flags = libc::SYNC_FILE_RANGE_WRITE;
    // SAFETY: only numbers are passed.
    let _ = unsafe { libc::sync_file_range(fd, offset as i64, len as i64, flags) };
}

/// Makes the file's blocks exist.
pub(crate) fn preallocate(file: &File, len: u64) -> io::Result<()> {
    let fd = file.as_raw_fd();
    // SAFETY: only numbers are passed.
    check(unsafe { libc::fallocate(fd, 0, 0, len as libc::off_t) })
}

/// Puts clean pages of the file out of the page cache.
pub(crate) fn drop_pages(file: &File, _len: u64) -> io::Result<()> {
    let fd = file.as_raw_fd();
    // SAFETY: only numbers are passed.
    match unsafe { libc::posix_fadvise(fd, 0, 0, libc::POSIX_FADV_DONTNEED) } {
        0 => Ok(()),
        errno => Err(io::Error::from_raw_os_error(errno)),
    }
}

/// Bytes of the file in the page cache: by `cachestat` (Linux 6.5), else by `mincore`.
pub(crate) fn resident(file: &File, len: u64) -> Residency {
    match cachestat(file) {
        Ok(bytes) => Residency::Bytes(bytes),
        Err(refused) => mincore(file, len).unwrap_or_else(|| Residency::Unknown(refused.to_string())),
    }
}

/// `struct cachestat` of `linux/mman.h`.
#[repr(C)]
#[derive(Default)]
struct CacheStat {
    cache: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

fn cachestat(file: &File) -> io::Result<u64> {
    // One number for all architectures.
    const SYS_CACHESTAT: libc::c_long = 451;
    let range = [0_u64, 0]; // from the start; a length of 0 reaches to the end
    let mut stat = CacheStat::default();
    let (fd, at, to) = (file.as_raw_fd(), range.as_ptr(), &raw mut stat);
    // SAFETY: both structs have the layout of linux/mman.h and outlive the call, which writes to the second only.
    let result = unsafe { libc::syscall(SYS_CACHESTAT, fd, at, to, 0) };
    check(result as libc::c_int)?;
    Ok(stat.cache * page_size())
}

/// `None` if the kernel does not tell: it marks all pages of files that this user may not write (since Linux 5.2).
fn mincore(file: &File, len: u64) -> Option<Residency> {
    let len = usize::try_from(len).ok()?;
    if len == 0 {
        return Some(Residency::Bytes(0));
    }
    let fd = file.as_raw_fd();
    // SAFETY: a new shared mapping that nothing reads through; it is removed below.
    let map = unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_READ, libc::MAP_SHARED, fd, 0) };
    if map == libc::MAP_FAILED {
        return None;
    }
    let page = page_size() as usize;
    let mut pages = vec![0_u8; len.div_ceil(page)];
    // SAFETY: `map` is a mapping of `len` bytes, and `pages` has a byte for each of its pages.
    let result = unsafe { libc::mincore(map, len, pages.as_mut_ptr()) };
    // SAFETY: `map` is the mapping made above, and nothing refers to it.
    let _ = unsafe { libc::munmap(map, len) };
    if result != 0 {
        return None;
    }
    let count = pages.iter().filter(|p| **p & 1 == 1).count();
    Some(Residency::Bytes((count * page) as u64))
}

fn page_size() -> u64 {
    // SAFETY: no arguments but a number.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as u64 }
}

/// The alignment of memory and of offsets for direct I/O, if the file system states it (Linux 6.1).
pub(crate) fn direct_alignment(file: &File) -> Option<(u32, u32)> {
    let mut stat = MaybeUninit::<libc::statx>::zeroed();
    let (fd, to) = (file.as_raw_fd(), stat.as_mut_ptr());
    let mask = libc::STATX_DIOALIGN;
    // SAFETY: the empty path is a valid C string, and the struct outlives the call.
    let result = unsafe { libc::statx(fd, c"".as_ptr(), libc::AT_EMPTY_PATH, mask, to) };
    if result != 0 {
        return None;
    }
    // SAFETY: all zeros is a valid value, and the kernel filled it.
    let stat = unsafe { stat.assume_init() };
    let told = stat.stx_mask & mask != 0 && stat.stx_dio_offset_align > 0;
    told.then_some((stat.stx_dio_mem_align, stat.stx_dio_offset_align))
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
    let result = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    (result == 0).then_some(limit.rlim_cur)
}

/// The user that files of this process belong to.
pub(crate) fn user() -> u32 {
    // SAFETY: no arguments, never fails.
    unsafe { libc::geteuid() }
}

/// The room on the volume of `path`, and whether it is read-only.
pub(crate) fn space(path: &Path) -> io::Result<(Space, bool)> {
    let path = c_path(path)?;
    let mut stat = MaybeUninit::<libc::statvfs>::zeroed();
    let (at, to) = (path.as_ptr(), stat.as_mut_ptr());
    // SAFETY: the path is a C string, and the struct outlives the call.
    check(unsafe { libc::statvfs(at, to) })?;
    // SAFETY: all zeros is a valid value, and the call filled it.
    let stat = unsafe { stat.assume_init() };
    #[allow(clippy::unnecessary_cast, reason = "32 bits wide on some architectures")]
    let (unit, available, total) = (stat.f_frsize as u64, stat.f_bavail as u64, stat.f_blocks as u64);
    let space = Space { available: available.saturating_mul(unit), total: total.saturating_mul(unit) };
    Ok((space, stat.f_flag & libc::ST_RDONLY != 0))
}

/// What and where the volume of `path` is; `path` is canonical.
pub(crate) fn identify(path: &Path) -> io::Result<Identity> {
    volume::linux::identify(Path::new("/"), path)
}

fn c_path(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn count(n: isize) -> io::Result<usize> {
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}
