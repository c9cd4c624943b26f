use super::Counters;
use crate::Error;

/// The id of the current thread, by which [`Counters::of_thread`] finds it.
///
/// # Errors
/// On systems without a backend.
pub fn thread_id() -> Result<u64, Error> {
    #[cfg(target_os = "linux")]
    return Ok(crate::sys::linux::thread_id() as u64);
    #[cfg(target_vendor = "apple")]
    return Ok(crate::sys::apple::thread_id());
    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    Err(Error::NotAvailable { what: "a thread's id", reason: "this system has no backend yet" })
}

impl Counters {
    /// Reads the counters of any thread of this process, or of another process of the same user. A running thread is
    /// counted up to its last switch.
    ///
    /// Apple gives the counters per core level (macOS 13 and later), Linux CPU and waiting time and switches.
    ///
    /// # Errors
    /// When there is no such thread, or it belongs to another user.
    pub fn of_thread(pid: u32, thread: u64) -> Result<Self, Error> {
        read(pid, thread)
    }
}

#[cfg(target_vendor = "apple")]
fn read(pid: u32, thread: u64) -> Result<Counters, Error> {
    use crate::apple::{PROC_PIDTHREADCOUNTS, parse_thread_counts, thread_counts_bytes};
    use crate::sys::apple as sys;
    // One level more than known, should the kernel know of more.
    let length = thread_counts_bytes(sys::levels().max(1) + 1);
    let bytes = sys::process_info(pid as i32, PROC_PIDTHREADCOUNTS, thread, length)?;
    let levels = parse_thread_counts(&bytes, sys::timebase()).ok_or_else(|| Error::Unexpected {
        what: "the answer of PROC_PIDTHREADCOUNTS".to_owned(),
        found: format!("{} bytes", bytes.len()),
    })?;
    Ok(Counters { cpu_ns: levels.iter().map(|level| level.time_ns).sum(), levels, ..Counters::default() })
}

#[cfg(target_os = "linux")]
fn read(pid: u32, thread: u64) -> Result<Counters, Error> {
    let path = std::path::PathBuf::from(format!("/proc/{pid}/task/{thread}/schedstat"));
    let text = std::fs::read_to_string(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
    let Some(seen) = super::schedstat::SchedStat::parse(text.as_bytes()) else {
        return Err(Error::Unexpected { what: path.display().to_string(), found: text });
    };
    Ok(Counters { cpu_ns: seen.running_ns, waiting_ns: Some(seen.waiting_ns), switches: Some(seen.switches), ..Counters::default() })
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn read(_pid: u32, _thread: u64) -> Result<Counters, Error> {
    Err(Error::NotAvailable { what: "counters of a thread", reason: "this system has no backend yet" })
}
