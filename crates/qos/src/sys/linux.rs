#![expect(unsafe_code, reason = "system calls of Linux")]

use std::io;

use crate::{CpuSet, Error};

/// `struct sched_attr` of `linux/sched/types.h`, version with utilization clamps (56 bytes).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SchedAttr {
    pub(crate) size: u32,
    pub(crate) policy: u32,
    pub(crate) flags: u64,
    pub(crate) nice: i32,
    pub(crate) priority: u32,
    pub(crate) runtime: u64,
    pub(crate) deadline: u64,
    pub(crate) period: u64,
    pub(crate) util_min: u32,
    pub(crate) util_max: u32,
}

const _: () = assert!(size_of::<SchedAttr>() == 56);

/// `IOPRIO_WHO_PROCESS` of `linux/ioprio.h`; the id 0 is the calling thread.
const IOPRIO_WHO_PROCESS: libc::c_int = 1;

/// `CAP_SYS_NICE` of `linux/capability.h`.
const CAP_SYS_NICE: u32 = 23;

/// Scheduling attributes of the calling thread.
pub(crate) fn sched_getattr() -> Result<SchedAttr, Error> {
    let mut attr = SchedAttr::default();
    // SAFETY: the kernel writes at most the given 56 bytes into `attr`, which is that long; any bytes are valid for it.
    let answer =
        unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attr, size_of::<SchedAttr>() as u32, 0) };
    if answer == 0 { Ok(attr) } else { Err(Error::last_os("read the thread's scheduling attributes")) }
}

/// Sets the scheduling attributes of the calling thread.
pub(crate) fn sched_setattr(attr: &SchedAttr) -> Result<(), Error> {
    let mut attr = *attr;
    attr.size = size_of::<SchedAttr>() as u32;
    // SAFETY: the kernel reads `size` bytes of `attr`, which is that long, and keeps no pointer to it.
    let answer = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attr, 0) };
    if answer == 0 { Ok(()) } else { Err(Error::last_os("set the thread's scheduling attributes")) }
}

/// I/O priority of the calling thread, as the kernel's number.
pub(crate) fn ioprio_get() -> Result<u32, Error> {
    // SAFETY: takes and returns plain numbers.
    let answer = unsafe { libc::syscall(libc::SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0) };
    if answer >= 0 { Ok(answer as u32) } else { Err(Error::last_os("read the thread's I/O priority")) }
}

/// Sets the I/O priority of the calling thread.
pub(crate) fn ioprio_set(raw: u32) -> Result<(), Error> {
    // SAFETY: takes plain numbers.
    let answer = unsafe { libc::syscall(libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, raw) };
    if answer == 0 { Ok(()) } else { Err(Error::last_os("set the thread's I/O priority")) }
}

/// CPUs the calling thread may run on.
pub(crate) fn affinity() -> Result<CpuSet, Error> {
    let mut words = vec![0u64; 16];
    loop {
        let bytes = words.len() * 8;
        // SAFETY: the kernel writes at most `bytes` bytes, which is the length of `words`.
        let answer = unsafe { libc::syscall(libc::SYS_sched_getaffinity, 0, bytes, words.as_mut_ptr()) };
        if answer >= 0 {
            return Ok(CpuSet::from_words(words));
        }
        let error = io::Error::last_os_error();
        // The kernel refuses a mask shorter than its own.
        if error.raw_os_error() != Some(libc::EINVAL) || bytes >= 1 << 16 {
            return Err(Error::System { attempted: "read the thread's CPU affinity", source: error });
        }
        words.resize(words.len() * 2, 0);
    }
}

/// Restricts the calling thread to these CPUs.
pub(crate) fn set_affinity(cpus: &CpuSet) -> Result<(), Error> {
    let words = cpus.words();
    // SAFETY: the kernel reads `size_of_val(words)` bytes, the length of the slice.
    let answer = unsafe { libc::syscall(libc::SYS_sched_setaffinity, 0, size_of_val(words), words.as_ptr()) };
    if answer == 0 { Ok(()) } else { Err(Error::last_os("set the thread's CPU affinity")) }
}

/// The soft limit of a resource; `u64::MAX` is unlimited.
fn limit(resource: libc::__rlimit_resource_t) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call fills the struct it is given.
    let answer = unsafe { libc::getrlimit(resource, &raw mut limit) };
    if answer == 0 { limit.rlim_cur } else { 0 }
}

/// `RLIMIT_NICE`: 20 minus the lowest nice value the thread may take.
pub(crate) fn limit_nice() -> u64 {
    limit(libc::RLIMIT_NICE)
}

/// `RLIMIT_RTPRIO`: the highest real-time priority the thread may take.
pub(crate) fn limit_realtime() -> u64 {
    limit(libc::RLIMIT_RTPRIO)
}

/// Whether the calling thread has `CAP_SYS_NICE` in its own user namespace.
pub(crate) fn has_cap_sys_nice() -> bool {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    // `_LINUX_CAPABILITY_VERSION_3`, which fills two blocks of {effective, permitted, inheritable}.
    let header = Header { version: 0x2008_0522, pid: 0 };
    let mut data = [0u32; 6];
    // SAFETY: version 3 writes 24 bytes, the length of `data`, and reads the header.
    let answer = unsafe { libc::syscall(libc::SYS_capget, &raw const header, data.as_mut_ptr()) };
    answer == 0 && data[0] & (1 << CAP_SYS_NICE) != 0
}
