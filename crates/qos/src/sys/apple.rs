#![expect(unsafe_code, reason = "system calls of Apple systems")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::io;
use std::mem::transmute;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;

use libc::pthread_t;
use mach2::kern_return::KERN_SUCCESS;

use crate::Error;
use crate::apple::{self, EXTENDED_INFO_BYTES, Timebase};

// What libc lacks or types too narrowly. `qos_class_t` is a number here: a thread may have a class outside Rust's enum.
// All are public API in Apple's headers (pthread/qos.h, sys/resource.h, notify.h), except where noted.
unsafe extern "C" {
    fn pthread_set_qos_class_self_np(class: c_uint, relative_priority: c_int) -> c_int;
    fn pthread_get_qos_class_np(thread: pthread_t, class: *mut c_uint, relative_priority: *mut c_int) -> c_int;
    fn pthread_override_qos_class_start_np(thread: pthread_t, class: c_uint, relative_priority: c_int) -> *mut c_void;
    fn pthread_override_qos_class_end_np(started: *mut c_void) -> c_int;
    fn setiopolicy_np(kind: c_int, scope: c_int, policy: c_int) -> c_int;
    fn getiopolicy_np(kind: c_int, scope: c_int) -> c_int;
    fn notify_register_check(name: *const c_char, token: *mut c_int) -> u32;
    fn notify_get_state(token: c_int, state: *mut u64) -> u32;
    fn notify_cancel(token: c_int) -> u32;
}

/// `THREAD_QOS_POLICY`; private (`osfmk/mach/thread_policy_private.h`), reading needs no right.
const THREAD_QOS_POLICY: c_uint = 9;

/// Sets class and relative priority of the calling thread. The answer is an errno value, 0 if done.
pub(crate) fn set_class(class: u32, relative_priority: i32) -> i32 {
    // SAFETY: takes plain numbers; any wrong one is refused with an errno value.
    unsafe { pthread_set_qos_class_self_np(class, relative_priority) }
}

/// The class and relative priority the calling thread last asked for.
pub(crate) fn class() -> Result<(u32, i32), Error> {
    let (mut class, mut relative_priority) = (0, 0);
    // SAFETY: returns the calling thread's own handle.
    let this = unsafe { libc::pthread_self() };
    // SAFETY: the thread is alive, and both pointers are to live variables of the declared types.
    let errno = unsafe { pthread_get_qos_class_np(this, &raw mut class, &raw mut relative_priority) };
    if errno == 0 {
        Ok((class, relative_priority))
    } else {
        Err(Error::System { attempted: "read the thread's class", source: io::Error::from_raw_os_error(errno) })
    }
}

/// The calling thread's Mach port. It belongs to the thread's library and is not to be released.
fn port() -> libc::mach_port_t {
    // SAFETY: returns the calling thread's own handle.
    let this = unsafe { libc::pthread_self() };
    // SAFETY: the thread is alive.
    unsafe { libc::pthread_mach_thread_np(this) }
}

/// `THREAD_QOS_POLICY` of the calling thread: tier and its importance as the kernel has them on record.
pub(crate) fn kernel_policy() -> Option<[i32; 2]> {
    let mut values = [0i32; 2];
    let mut count = values.len() as c_uint;
    let mut default = 0;
    // SAFETY: the kernel writes at most `count` integers into `values`, and the count and flag into live variables.
    let answer = unsafe { libc::thread_policy_get(port(), THREAD_QOS_POLICY, values.as_mut_ptr(), &raw mut count, &raw mut default) };
    (answer == KERN_SUCCESS && count == 2).then_some(values)
}

/// `THREAD_EXTENDED_INFO` of the calling thread.
pub(crate) fn extended_info() -> Option<[u8; EXTENDED_INFO_BYTES]> {
    let mut words = [0i32; EXTENDED_INFO_BYTES / 4];
    let mut count = words.len() as c_uint;
    // SAFETY: the kernel writes at most `count` integers into `words` and their number into `count`.
    let answer = unsafe { libc::thread_info(port(), libc::THREAD_EXTENDED_INFO as c_uint, words.as_mut_ptr(), &raw mut count) };
    let mut bytes = [0; EXTENDED_INFO_BYTES];
    for (target, word) in bytes.chunks_exact_mut(4).zip(words) {
        target.copy_from_slice(&word.to_ne_bytes());
    }
    (answer == KERN_SUCCESS && count as usize == words.len()).then_some(bytes)
}

/// A raised class on another thread, as its library keeps it.
#[derive(Debug)]
pub(crate) struct RawOverride(*mut c_void);

// SAFETY: the library's object names a thread and may be ended from any thread.
unsafe impl Send for RawOverride {}

/// Raises the class of a thread of this process until the override is ended. The caller keeps the thread unjoined.
pub(crate) fn start_override(thread: pthread_t, class: u32, relative_priority: i32) -> Option<RawOverride> {
    // SAFETY: the caller keeps the handle valid (an unjoined thread); wrong numbers are answered with null.
    let started = unsafe { pthread_override_qos_class_start_np(thread, class, relative_priority) };
    (!started.is_null()).then_some(RawOverride(started))
}

/// Ends an override.
pub(crate) fn end_override(started: RawOverride) -> i32 {
    // SAFETY: comes from a start, and ends once, because it is consumed.
    unsafe { pthread_override_qos_class_end_np(started.0) }
}

/// A sysctl value's bytes; `None` if there is no such value.
fn sysctl(name: &str) -> Option<Vec<u8>> {
    let name = std::ffi::CString::new(name).ok()?;
    let mut bytes = vec![0u8; 256];
    let mut length = bytes.len();
    // SAFETY: the name ends in zero, the kernel writes at most `length` bytes, and nothing is set.
    let answer = unsafe { libc::sysctlbyname(name.as_ptr(), bytes.as_mut_ptr().cast(), &raw mut length, std::ptr::null_mut(), 0) };
    bytes.truncate(length);
    (answer == 0).then_some(bytes)
}

/// Lines `name: value` for the names the system has; `%` in a name stands for the number of each core level.
pub(crate) fn sysctl_text(names: &[&str]) -> String {
    let levels = levels();
    let mut text = String::new();
    for pattern in names {
        let count = if pattern.contains('%') { levels } else { 1 };
        for name in (0..count).map(|level| pattern.replace('%', &level.to_string())) {
            if let Some(value) = sysctl(&name).and_then(|bytes| apple::sysctl_value(&name, &bytes)) {
                text.push_str(&format!("{name}: {value}\n"));
            }
        }
    }
    text
}

/// `hw.nperflevels`; 0 before macOS 12. Never more than 16.
pub(crate) fn levels() -> usize {
    static LEVELS: OnceLock<usize> = OnceLock::new();
    *LEVELS.get_or_init(|| {
        let value = sysctl("hw.nperflevels").and_then(|bytes| apple::sysctl_value("hw.nperflevels", &bytes));
        value.and_then(|text| text.parse::<usize>().ok()).unwrap_or(0).min(16)
    })
}

/// A function of the system looked up at run time.
fn look_up(library: *mut c_void, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name ends in zero, and the handle is RTLD_DEFAULT or a library that stays open.
    let symbol = unsafe { libc::dlsym(library, name.as_ptr()) };
    (!symbol.is_null()).then_some(symbol)
}

/// `thread_selfcounts` of the calling thread: 40 bytes for each of `levels` core levels. The function is not in the
/// public headers, so it is looked up at run time.
pub(crate) fn self_counts(levels: usize) -> Result<Vec<u8>, Error> {
    type Function = unsafe extern "C" fn(u32, *mut c_void, usize) -> c_int;
    static FUNCTION: OnceLock<Option<Function>> = OnceLock::new();
    let function = FUNCTION.get_or_init(|| {
        let symbol = look_up(libc::RTLD_DEFAULT, c"thread_selfcounts")?;
        // SAFETY: the symbol of this name has this signature since macOS 13 (libsyscall, sys/resource_private.h);
        // macOS 12.4 has it with kind 1 only and answers others with an error.
        Some(unsafe { transmute::<*mut c_void, Function>(symbol) })
    });
    let reason = "macOS before 13 has no thread_selfcounts";
    let function = function.ok_or(Error::NotAvailable { what: "counters per core level", reason })?;
    let mut bytes = vec![0u8; levels * apple::COUNTS_BYTES];
    // SAFETY: the kernel writes at most the given length, which is the vector's.
    let answer = unsafe { function(apple::SELF_COUNTS_PER_LEVEL, bytes.as_mut_ptr().cast(), bytes.len()) };
    if answer == 0 { Ok(bytes) } else { Err(Error::last_os("read the thread's counters")) }
}

/// `proc_pidinfo`: what the system knows of a process or, by `argument`, one of its threads.
pub(crate) fn process_info(pid: i32, flavor: i32, argument: u64, length: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0u8; length];
    // SAFETY: the kernel writes at most the given length, which is the vector's.
    let written = unsafe { libc::proc_pidinfo(pid, flavor, argument, bytes.as_mut_ptr().cast(), length as c_int) };
    if written <= 0 {
        return Err(Error::last_os("read the process's state"));
    }
    bytes.truncate(written as usize);
    Ok(bytes)
}

/// `proc_pid_rusage`. The flavors have fixed sizes, so `length` must be the flavor's.
pub(crate) fn process_usage(pid: i32, flavor: apple::UsageFlavor) -> Result<Vec<u8>, Error> {
    let mut words = vec![0u64; flavor.bytes() / 8];
    // SAFETY: the kernel writes as many bytes as this flavor has, which is the vector's length.
    let answer = unsafe { libc::proc_pid_rusage(pid, flavor.number(), words.as_mut_ptr().cast()) };
    if answer != 0 {
        return Err(Error::last_os("read the process's usage"));
    }
    Ok(words.iter().flat_map(|word| word.to_ne_bytes()).collect())
}

/// How Mach time converts to nanoseconds.
pub(crate) fn timebase() -> Timebase {
    static TIMEBASE: OnceLock<Timebase> = OnceLock::new();
    *TIMEBASE.get_or_init(|| {
        let mut info = mach2::mach_time::mach_timebase_info { numer: 0, denom: 0 };
        // SAFETY: fills the struct it is given.
        unsafe { mach2::mach_time::mach_timebase_info(&raw mut info) };
        Timebase { numerator: info.numer.max(1), denominator: info.denom.max(1) }
    })
}

/// The id of the calling thread, as the counters of other threads take it.
pub(crate) fn thread_id() -> u64 {
    let mut id = 0;
    // SAFETY: 0 is the calling thread; the id is written to a live variable.
    unsafe { libc::pthread_threadid_np(0, &raw mut id) };
    id
}

/// The number of the CPU this runs on.
pub(crate) fn cpu_number() -> Option<usize> {
    let mut number = 0;
    // SAFETY: writes to a live variable of the declared type.
    let errno = unsafe { libc::pthread_cpu_number_np(&raw mut number) };
    (errno == 0).then_some(number)
}

/// Puts a process (0 is this one) into the background or takes it out.
pub(crate) fn set_process_background(pid: u32, on: bool) -> Result<(), Error> {
    let value = if on { libc::PRIO_DARWIN_BG } else { 0 };
    // SAFETY: takes plain numbers.
    let answer = unsafe { libc::setpriority(libc::PRIO_DARWIN_PROCESS, pid, value) };
    if answer == 0 { Ok(()) } else { Err(Error::last_os("change the process's background state")) }
}

/// Sets the I/O policy of this process for disks.
pub(crate) fn set_io_policy(policy: i32) -> Result<(), Error> {
    // SAFETY: takes plain numbers.
    let answer = unsafe { setiopolicy_np(apple::IOPOL_TYPE_DISK, apple::IOPOL_SCOPE_PROCESS, policy) };
    if answer == 0 { Ok(()) } else { Err(Error::last_os("set the process's I/O policy")) }
}

/// The I/O policy of this process for disks.
pub(crate) fn io_policy() -> Result<i32, Error> {
    // SAFETY: takes plain numbers.
    let answer = unsafe { getiopolicy_np(apple::IOPOL_TYPE_DISK, apple::IOPOL_SCOPE_PROCESS) };
    if answer >= 0 { Ok(answer) } else { Err(Error::last_os("read the process's I/O policy")) }
}

/// Makes a command put itself into the background before it runs.
pub(crate) fn background_before_exec(command: &mut Command) {
    let enter = || {
        // SAFETY: takes plain numbers, and is a bare system call, as the time between fork and exec allows.
        let answer = unsafe { libc::setpriority(libc::PRIO_DARWIN_PROCESS, 0, libc::PRIO_DARWIN_BG) };
        if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: the closure makes one system call and touches no memory of the parent.
    unsafe { command.pre_exec(enter) };
}

/// Ticks of each CPU since boot: user, system, idle, nice, 100 a second.
pub(crate) fn cpu_ticks() -> Result<Vec<[u32; 4]>, Error> {
    // SAFETY: returns a port this process holds anyway.
    let host = unsafe { mach2::mach_init::mach_host_self() };
    let (mut cpus, mut values, mut count) = (0, std::ptr::null_mut(), 0);
    // SAFETY: all three are live variables of the declared types.
    let answer = unsafe { libc::host_processor_info(host, libc::PROCESSOR_CPU_LOAD_INFO, &raw mut cpus, &raw mut values, &raw mut count) };
    if answer != KERN_SUCCESS || values.is_null() {
        return Err(Error::NotAvailable { what: "activity per CPU", reason: "host_processor_info refuses" });
    }
    // SAFETY: the kernel mapped `count` integers at `values` into this process.
    let ticks = unsafe { std::slice::from_raw_parts(values.cast::<u32>(), count as usize) };
    let ticks = ticks.chunks_exact(4).map(|cpu| [cpu[0], cpu[1], cpu[2], cpu[3]]).collect();
    // SAFETY: returns the port of this process, which needs no release.
    let this = unsafe { mach2::traps::mach_task_self() };
    // SAFETY: unmaps what the kernel mapped above; nothing refers to it any more.
    unsafe { mach2::vm::mach_vm_deallocate(this, values as u64, u64::from(count) * 4) };
    Ok(ticks)
}

/// `IOPSGetTimeRemainingEstimate` (`IOKit`, `IOPowerSources.h`), without linking the framework.
pub(crate) fn time_remaining() -> Option<f64> {
    type Function = unsafe extern "C" fn() -> f64;
    let path = c"/System/Library/Frameworks/IOKit.framework/IOKit";
    // SAFETY: the path ends in zero; the framework is the system's own and stays open.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY) };
    if library.is_null() {
        return None;
    }
    let symbol = look_up(library, c"IOPSGetTimeRemainingEstimate")?;
    // SAFETY: the public header declares exactly this signature.
    let function = unsafe { transmute::<*mut c_void, Function>(symbol) };
    // SAFETY: takes nothing and returns a number.
    Some(unsafe { function() })
}

/// The state of `com.apple.system.thermalpressurelevel` (`OSThermalNotification.h`).
pub(crate) fn thermal_pressure() -> Option<u64> {
    let mut token = 0;
    // SAFETY: the name ends in zero, and the token is written to a live variable.
    let status = unsafe { notify_register_check(c"com.apple.system.thermalpressurelevel".as_ptr(), &raw mut token) };
    if status != 0 {
        return None;
    }
    let mut state = 0;
    // SAFETY: the token is registered, and the state is written to a live variable.
    let status = unsafe { notify_get_state(token, &raw mut state) };
    // SAFETY: the token is registered, and not used after.
    unsafe { notify_cancel(token) };
    (status == 0).then_some(state)
}

/// CPU time of the calling thread in ns.
pub(crate) fn thread_cpu_ns() -> Result<u64, Error> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills the struct it is given.
    let answer = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    if answer == 0 { Ok(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64) } else { Err(Error::last_os("read the thread's clock")) }
}
