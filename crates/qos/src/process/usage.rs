use std::time::Duration;

use crate::Error;

/// What a process has used since it started, where the system counts it by core level and class (Apple).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ProcessUsage {
    /// On all cores.
    pub total: LevelUsage,
    /// On performance cores; `None` before macOS 13. All zero in a virtual machine.
    pub performance: Option<LevelUsage>,
    /// Time its threads were ready to run, running included.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::seconds::one"))]
    pub waiting: Duration,
    /// Time by the class that was **in effect**, not the one asked for: what shows that a hint was honoured or clamped.
    pub classes: ClassTimes,
}

/// What was used on a kind of core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LevelUsage {
    /// CPU time, user and system.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::seconds::one"))]
    pub time: Duration,
    /// Instructions; 0 in a virtual machine.
    pub instructions: u64,
    /// Cycles; 0 in a virtual machine.
    pub cycles: u64,
    /// Energy in nanojoules; `None` before macOS 13.
    pub energy_nj: Option<u64>,
}

/// CPU time by class in effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ClassTimes {
    /// Threads without a class.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::seconds::one"))]
    pub unspecified: Duration,
    /// The private class below background.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::seconds::one"))]
    pub maintenance: Duration,
    /// Background.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::seconds::one"))]
    pub background: Duration,
    /// Utility.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::seconds::one"))]
    pub utility: Duration,
    /// Default.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::seconds::one"))]
    pub default: Duration,
    /// User-initiated.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::seconds::one"))]
    pub user_initiated: Duration,
    /// User-interactive.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::seconds::one"))]
    pub user_interactive: Duration,
}

impl ProcessUsage {
    /// What a process of the same user has used; children that ended are not in it. Threads that are running are counted
    /// up to their last switch.
    ///
    /// # Errors
    /// When there is no such process or it belongs to another user; always elsewhere than on Apple systems.
    #[cfg_attr(not(target_vendor = "apple"), expect(unused_variables, reason = "no other system counts it"))]
    pub fn of(pid: u32) -> Result<Self, Error> {
        #[cfg(target_vendor = "apple")]
        {
            use crate::apple::{UsageFlavor, parse_usage};
            use crate::sys::apple as sys;
            let bytes = sys::process_usage(pid as i32, UsageFlavor::V6).or_else(|_| sys::process_usage(pid as i32, UsageFlavor::V4))?;
            parse_usage(&bytes, sys::timebase()).ok_or_else(|| Error::Unexpected {
                what: "the answer of proc_pid_rusage".to_owned(),
                found: format!("{} bytes", bytes.len()),
            })
        }
        #[cfg(not(target_vendor = "apple"))]
        Err(Error::NotAvailable { what: "usage by class and core level", reason: super::APPLE_ONLY })
    }
}
