#![expect(unsafe_code, reason = "system calls of Linux")]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

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
    let answer = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attr, size_of::<SchedAttr>() as u32, 0) };
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

/// Whether the kernel lets the calling thread give real-time I/O priority: certainly, or perhaps not.
///
/// It looks for that right (`CAP_SYS_NICE`, or `CAP_SYS_ADMIN`, in the initial user namespace) before it looks for the
/// process, so a process that cannot exist, of a number beyond the kernel's highest (2^22), tells without any change.
pub(crate) fn may_give_realtime_io() -> bool {
    const NO_PROCESS: libc::c_int = libc::c_int::MAX;
    const REALTIME: libc::c_int = 1 << 13;
    // SAFETY: takes plain numbers.
    let answer = unsafe { libc::syscall(libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS, NO_PROCESS, REALTIME) };
    answer == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
}

/// CPU time of the calling thread in ns.
pub(crate) fn thread_cpu_ns() -> Result<u64, Error> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills the struct it is given.
    let answer = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    if answer == 0 { Ok(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64) } else { Err(Error::last_os("read the thread's clock")) }
}

/// The id of the calling thread.
pub(crate) fn thread_id() -> i32 {
    // SAFETY: takes nothing and returns a number.
    unsafe { libc::gettid() }
}

/// `PERF_COUNT_HW_CPU_CYCLES` and `PERF_COUNT_HW_INSTRUCTIONS` of `linux/perf_event.h`.
pub(crate) const PERF_COUNT_HW_CPU_CYCLES: u64 = 0;
pub(crate) const PERF_COUNT_HW_INSTRUCTIONS: u64 = 1;

/// Starts counting a hardware event of the calling thread on the CPUs of one perf unit; `None` if the kernel refuses.
/// `whole` counts in the kernel too, which needs more rights.
pub(crate) fn perf_open(unit: u32, event: u64, whole: bool) -> Option<OwnedFd> {
    /// `struct perf_event_attr`, first published version (`PERF_ATTR_SIZE_VER0`, 64 bytes).
    #[repr(C)]
    #[derive(Default)]
    struct Attr {
        kind: u32,
        size: u32,
        config: u64,
        sample_period: u64,
        sample_type: u64,
        read_format: u64,
        flags: u64,
        wakeup: u32,
        breakpoint: u32,
        config1: u64,
    }
    const _: () = assert!(size_of::<Attr>() == 64);
    let attr = Attr {
        // PERF_TYPE_HARDWARE, with the unit in the upper half of the event's number.
        kind: 0,
        size: 64,
        config: u64::from(unit) << 32 | event,
        // PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING
        read_format: 0b11,
        // exclude_kernel (bit 5), exclude_hv (bit 6)
        flags: if whole { 0 } else { 0b110_0000 },
        ..Attr::default()
    };
    let (this_thread, any_cpu, no_group, close_on_exec) = (0, -1, -1, 8);
    // SAFETY: the kernel reads the 64 bytes of `attr`, which say their length.
    let fd = unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attr, this_thread, any_cpu, no_group, close_on_exec) };
    // SAFETY: the call returned a new descriptor that nobody else owns.
    (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Count, time enabled and time running (ns) of an event.
pub(crate) fn perf_read(event: &OwnedFd) -> Result<[u64; 3], Error> {
    let mut values = [0u64; 3];
    // SAFETY: the kernel writes at most 24 bytes, the length of `values`.
    let read = unsafe { libc::read(event.as_raw_fd(), values.as_mut_ptr().cast(), 24) };
    if read == 24 { Ok(values) } else { Err(Error::last_os("read a perf event")) }
}

/// Makes a command set these attributes of itself before it runs.
pub(crate) fn before_exec(command: &mut Command, attributes: &[SchedAttr], io_priority: u32, cpus: Option<CpuSet>) {
    let attributes = attributes.to_vec();
    let enter = move || {
        let as_io = |error| match error {
            Error::System { source, .. } => source,
            _ => io::Error::from_raw_os_error(libc::EINVAL),
        };
        if let Some(cpus) = &cpus {
            set_affinity(cpus).map_err(as_io)?;
        }
        for attr in &attributes {
            sched_setattr(attr).map_err(as_io)?;
        }
        ioprio_set(io_priority).map_err(as_io)
    };
    // SAFETY: the closure makes bare system calls, and allocates and locks nothing, as the time between fork and exec asks.
    unsafe { command.pre_exec(enter) };
}
