use crate::{CpuSet, Error, QosClass};

/// The lowest relative priority within a class.
pub const MIN_RELATIVE_PRIORITY: i32 = -15;

/// Which means a class may use on Linux. Apple systems know one way only and ignore this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Profile {
    /// Only what an unprivileged thread can undo: scheduling policy, slice, I/O priority. This changes how soon a thread
    /// gets the CPU and how long it keeps it, **not its share** of a contended CPU.
    #[default]
    Reversible,
    /// Also `SCHED_IDLE` (background) and nice 5 (utility), which do lower the share under contention, and which only a
    /// privileged thread can undo: a guard refuses them beforehand where it could not restore.
    OneWay,
}

/// What to ask the system for. A plain value; `QosClass` converts into it.
///
/// ```
/// use gannet_qos::{Profile, QosClass, Request};
/// let request = Request::new(QosClass::Utility).relative_priority(-5).profile(Profile::OneWay);
/// assert_eq!(request.class, QosClass::Utility);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Request {
    /// The class. Default: `QosClass::Default`.
    pub class: QosClass,
    /// Priority relative to the class, -15..=0. Default: 0. Linux has no such thing and reports it as ignored.
    pub relative_priority: i32,
    /// Which means may be used on Linux. Default: `Reversible`.
    pub profile: Profile,
    /// The CPUs the thread may run on. Default: none asked for. Apple silicon has no thread affinity and reports it as
    /// ignored.
    pub cpus: Option<CpuSet>,
}

impl Request {
    /// Asks for a class and nothing else.
    #[must_use]
    pub const fn new(class: QosClass) -> Self {
        Request { class, relative_priority: 0, profile: Profile::Reversible, cpus: None }
    }

    /// Priority relative to the class, -15..=0; default 0. Checked when the request is applied.
    #[must_use]
    pub const fn relative_priority(mut self, priority: i32) -> Self {
        self.relative_priority = priority;
        self
    }

    /// Which means may be used on Linux; default `Profile::Reversible`.
    #[must_use]
    pub const fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Also restricts the thread to these CPUs, for example those of a core level of the topology; default: no
    /// restriction. CPUs the thread may not use anyway are left out.
    #[must_use]
    pub fn cpus(mut self, cpus: CpuSet) -> Self {
        self.cpus = Some(cpus);
        self
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        if (MIN_RELATIVE_PRIORITY..=0).contains(&self.relative_priority) {
            Ok(())
        } else {
            Err(Error::RelativePriority { value: self.relative_priority })
        }
    }
}

impl From<QosClass> for Request {
    fn from(class: QosClass) -> Self {
        Request::new(class)
    }
}
