use crate::Error;

/// What holds a process down, as the system tells it without any right. Everything `false` where the system has no such
/// state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ProcessState {
    /// It put itself into the background, or inherited that.
    pub background: bool,
    /// Another process put it into the background (`taskpolicy -b -p`); it can't undo that itself.
    pub background_by_other: bool,
    /// The system suppresses it: App Nap.
    pub suppressed: bool,
    /// It is an application with the higher ceilings of one. Without, the highest class in effect is user-initiated.
    pub application: bool,
}

impl ProcessState {
    /// The state of this process.
    ///
    /// # Errors
    /// When the system refuses to tell.
    pub fn current() -> Result<Self, Error> {
        ProcessState::of(std::process::id())
    }

    /// The state of a process of the same user.
    ///
    /// # Errors
    /// When there is no such process, or it belongs to another user.
    #[cfg_attr(not(target_vendor = "apple"), expect(unused_variables, reason = "no other system has such a state"))]
    pub fn of(pid: u32) -> Result<Self, Error> {
        #[cfg(target_vendor = "apple")]
        {
            use crate::apple::{BSD_INFO_BYTES, PROC_PIDTBSDINFO, parse_bsd_info};
            let bytes = crate::sys::apple::process_info(pid as i32, PROC_PIDTBSDINFO, 0, BSD_INFO_BYTES)?;
            parse_bsd_info(&bytes).ok_or_else(|| Error::Unexpected {
                what: "the answer of PROC_PIDTBSDINFO".to_owned(),
                found: format!("{} bytes", bytes.len()),
            })
        }
        #[cfg(not(target_vendor = "apple"))]
        Ok(ProcessState::default())
    }
}

/// Puts a process into the background or takes it out: efficiency cores, slow disk and network. `None` is this process.
///
/// On Apple, what one process did to another only a process other than the target can undo, and what a process did to
/// itself only itself. Children inherit it.
///
/// # Errors
/// When the process belongs to another user; always elsewhere than on Apple systems, where no process has such a state
/// (ask in each thread, or start a child by [`child_command`](crate::child_command)).
#[cfg_attr(not(target_vendor = "apple"), expect(unused_variables, reason = "no other system has such a state"))]
pub fn set_background(pid: Option<u32>, on: bool) -> Result<(), Error> {
    #[cfg(target_vendor = "apple")]
    return crate::sys::apple::set_process_background(pid.unwrap_or(0), on);
    #[cfg(not(target_vendor = "apple"))]
    Err(Error::NotAvailable { what: "background for a whole process", reason: super::APPLE_ONLY })
}

/// How the disk serves a process (Apple).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum IoPolicy {
    /// What the class of each thread says.
    Default,
    /// First.
    Important,
    /// Not counted as use of the disk.
    Passive,
    /// Last: waits whenever others use the disk.
    Throttle,
    /// Before throttled, after everything else.
    Utility,
    /// After important.
    Standard,
}

impl IoPolicy {
    /// All policies.
    pub const ALL: [IoPolicy; 6] =
        [IoPolicy::Default, IoPolicy::Important, IoPolicy::Passive, IoPolicy::Throttle, IoPolicy::Utility, IoPolicy::Standard];
}

/// Sets how the disk serves this process. There is no such call for one thread: it would strip the thread of its class.
///
/// # Errors
/// When the system refuses; always elsewhere than on Apple systems (on Linux the class sets each thread's I/O priority).
#[cfg_attr(not(target_vendor = "apple"), expect(unused_variables, reason = "no other system has such a policy"))]
pub fn set_io_policy(policy: IoPolicy) -> Result<(), Error> {
    #[cfg(target_vendor = "apple")]
    return crate::sys::apple::set_io_policy(crate::apple::io_policy_to_raw(policy));
    #[cfg(not(target_vendor = "apple"))]
    Err(Error::NotAvailable { what: "an I/O policy for the process", reason: super::APPLE_ONLY })
}

/// How the disk serves this process.
///
/// # Errors
/// When the system refuses or answers an unknown number; always elsewhere than on Apple systems.
pub fn io_policy() -> Result<IoPolicy, Error> {
    #[cfg(target_vendor = "apple")]
    {
        let raw = crate::sys::apple::io_policy()?;
        crate::apple::io_policy_from_raw(raw)
            .ok_or_else(|| Error::Unexpected { what: "the process's I/O policy".to_owned(), found: raw.to_string() })
    }
    #[cfg(not(target_vendor = "apple"))]
    Err(Error::NotAvailable { what: "an I/O policy for the process", reason: super::APPLE_ONLY })
}
