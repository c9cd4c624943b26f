use std::fmt;
use std::time::Duration;

use crate::{CpuSet, Error, QosClass};

/// What the kernel says it applies to a thread: neither what was asked for, nor what was observed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Effective {
    /// A Linux thread's scheduling attributes.
    Linux(LinuxThread),
    /// An Apple thread's class and priorities.
    Apple(AppleThread),
    /// This system says nothing about it.
    NotAvailable,
}

impl Effective {
    /// Reads it for the current thread.
    ///
    /// # Errors
    /// When the system refuses to tell.
    pub fn current() -> Result<Self, Error> {
        crate::thread::effective()
    }

    /// The class in effect, where the system has classes: on Apple from the base priority, which shows clamps that the
    /// requested class hides; `None` elsewhere.
    #[must_use]
    pub fn class(&self) -> Option<QosClass> {
        match self {
            Effective::Apple(thread) => thread.effective_class,
            _ => None,
        }
    }
}

/// Scheduling attributes of a Linux thread, as `sched_getattr(2)`, `ioprio_get(2)` and `sched_getaffinity(2)` give them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LinuxThread {
    /// Scheduling policy.
    pub policy: Policy,
    /// Nice value, -20..=19; only the fair policies use it.
    pub nice: i32,
    /// Real-time priority, 1..=99; 0 for the other policies.
    pub realtime_priority: u32,
    /// The slice after which an equal thread may take over; `None` before Linux 6.12 and for real-time policies.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::seconds::maybe"))]
    pub slice: Option<Duration>,
    /// I/O priority of the thread.
    pub io_priority: IoPriority,
    /// Upper bound on the utilization the frequency governor and core choice see, 0..=1024; `None` where the kernel was
    /// built without utilization clamping.
    pub utilization_max: Option<u32>,
    /// The CPUs the thread may run on.
    pub cpus: CpuSet,
}

impl LinuxThread {
    /// A thread as recorded; slice and clamp are not known, and it has no real-time priority.
    #[must_use]
    pub const fn new(policy: Policy, nice: i32, io_priority: IoPriority, cpus: CpuSet) -> Self {
        LinuxThread { policy, nice, realtime_priority: 0, slice: None, io_priority, utilization_max: None, cpus }
    }
}

/// Class and priorities of an Apple thread.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct AppleThread {
    /// The class last asked for, as `pthread_get_qos_class_np` remembers it; `None` if the thread has none.
    pub requested_class: Option<QosClass>,
    /// The relative priority last asked for.
    pub relative_priority: i32,
    /// The class the kernel has on record as requested (`THREAD_QOS_POLICY`); `None` once quality of service was stripped.
    pub kernel_class: Option<QosClass>,
    /// The class the base priority corresponds to.
    pub effective_class: Option<QosClass>,
    /// Base scheduling priority: 4 background, 20 utility, 31 default, 37 user initiated, 46 or 47 user interactive, less
    /// the relative priority's share.
    pub base_priority: Option<i32>,
    /// Current scheduling priority.
    pub current_priority: Option<i32>,
    /// Highest priority the task lets the thread have: 4 under App Nap.
    pub max_priority: Option<i32>,
}

impl AppleThread {
    /// A thread as recorded: class and relative priority last asked for, the kernel's record of the class, and base,
    /// current and highest priority. The class in effect follows from the base priority: the kernel's bands are 4, 20, 31,
    /// 37 and 46 (47 in the frontmost app), each reaching down to just above the next lower one through the relative
    /// priority.
    #[must_use]
    pub const fn new(
        requested_class: Option<QosClass>,
        relative_priority: i32,
        kernel_class: Option<QosClass>,
        base_priority: Option<i32>,
        current_priority: Option<i32>,
        max_priority: Option<i32>,
    ) -> Self {
        let effective_class = match base_priority {
            Some(1..=4) => Some(QosClass::Background),
            Some(5..=20) => Some(QosClass::Utility),
            Some(21..=31) => Some(QosClass::Default),
            Some(32..=37) => Some(QosClass::UserInitiated),
            Some(38..=47) => Some(QosClass::UserInteractive),
            _ => None,
        };
        AppleThread { requested_class, relative_priority, kernel_class, effective_class, base_priority, current_priority, max_priority }
    }
}

/// A Linux scheduling policy; the numbers are those of `sched(7)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Policy {
    /// `SCHED_OTHER`, the usual one.
    Other,
    /// `SCHED_BATCH`: does not preempt others when it wakes up.
    Batch,
    /// `SCHED_IDLE`: weight 3 against 1024.
    Idle,
    /// `SCHED_FIFO`, real time.
    Fifo,
    /// `SCHED_RR`, real time with a time slice.
    RoundRobin,
    /// `SCHED_DEADLINE`.
    Deadline,
    /// Another one, by number.
    Unknown(u32),
}

impl Policy {
    /// From the kernel's number.
    #[must_use]
    pub const fn from_raw(number: u32) -> Self {
        match number {
            0 => Policy::Other,
            1 => Policy::Fifo,
            2 => Policy::RoundRobin,
            3 => Policy::Batch,
            5 => Policy::Idle,
            6 => Policy::Deadline,
            other => Policy::Unknown(other),
        }
    }

    /// The kernel's number.
    #[must_use]
    pub const fn to_raw(self) -> u32 {
        match self {
            Policy::Other => 0,
            Policy::Fifo => 1,
            Policy::RoundRobin => 2,
            Policy::Batch => 3,
            Policy::Idle => 5,
            Policy::Deadline => 6,
            Policy::Unknown(number) => number,
        }
    }

    /// Whether threads of this policy share the CPU by weight.
    #[must_use]
    pub const fn is_fair(self) -> bool {
        matches!(self, Policy::Other | Policy::Batch | Policy::Idle)
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Policy::Other => "SCHED_OTHER",
            Policy::Batch => "SCHED_BATCH",
            Policy::Idle => "SCHED_IDLE",
            Policy::Fifo => "SCHED_FIFO",
            Policy::RoundRobin => "SCHED_RR",
            Policy::Deadline => "SCHED_DEADLINE",
            Policy::Unknown(_) => "unknown policy",
        })
    }
}

/// A Linux I/O priority. Only the BFQ and mq-deadline schedulers act on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum IoPriority {
    /// None set: follows the nice value.
    None,
    /// Real time, level 0 (first) to 7.
    Realtime(u8),
    /// Best effort, level 0 (first) to 7.
    BestEffort(u8),
    /// Only when nobody else uses the disk.
    Idle,
}

impl IoPriority {
    /// From the kernel's number: class in the bits above 13, level in the lowest three.
    #[must_use]
    pub const fn from_raw(raw: u32) -> Self {
        let level = (raw & 7) as u8;
        match raw >> 13 {
            1 => IoPriority::Realtime(level),
            2 => IoPriority::BestEffort(level),
            3 => IoPriority::Idle,
            _ => IoPriority::None,
        }
    }

    /// The kernel's number.
    #[must_use]
    pub const fn to_raw(self) -> u32 {
        match self {
            IoPriority::None => 0,
            IoPriority::Realtime(level) => 1 << 13 | level as u32,
            IoPriority::BestEffort(level) => 2 << 13 | level as u32,
            IoPriority::Idle => 3 << 13,
        }
    }
}

impl fmt::Display for IoPriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IoPriority::None => f.pad("none"),
            IoPriority::Realtime(level) => write!(f, "realtime {level}"),
            IoPriority::BestEffort(level) => write!(f, "best effort {level}"),
            IoPriority::Idle => f.pad("idle"),
        }
    }
}
