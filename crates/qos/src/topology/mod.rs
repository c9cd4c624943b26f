mod describe;
mod linux;
mod sysctl;
mod usable;

use std::path::Path;

pub use usable::{Limit, Usable};

use crate::{CpuSet, Error};

/// The cores of this machine, and how many of them this process may use.
///
/// Core levels go by index, fastest first, and by the name the system gives them. There is no "performance or
/// efficiency" switch: machines with three levels, with other names, and with one level only are all common.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Topology {
    /// Kinds of cores, fastest first. Never empty.
    pub levels: Vec<CoreLevel>,
    /// Groups of cores that share a cluster, by CPU numbers; empty where the system doesn't say.
    pub clusters: Vec<CpuSet>,
    /// Caches and who shares them; empty where the system doesn't say (sizes by level are in `levels`).
    pub caches: Vec<Cache>,
    /// Logical CPUs that are online.
    pub logical_cpus: usize,
    /// Physical cores that are online.
    pub physical_cores: usize,
    /// Processor packages (sockets); `None` where the system doesn't say.
    pub packages: Option<usize>,
    /// CPUs that are online, by number; `None` where CPUs have no public numbers.
    pub online: Option<CpuSet>,
    /// CPUs that are present and offline.
    pub offline: CpuSet,
    /// CPUs the scheduler leaves alone (`isolcpus`).
    pub isolated: CpuSet,
    /// How many CPUs this process may use, and what limits it.
    pub usable: Usable,
}

/// A kind of core.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CoreLevel {
    /// 0 is the fastest.
    pub index: usize,
    /// The system's name: `Performance`, `Efficiency`, `Super` on Apple; the perf unit (`cpu_core`, `cpu_atom`) or the
    /// relative capacity (`capacity 446`) on Linux; `CPU` where all are alike.
    pub name: String,
    /// Physical cores of this level that are online.
    pub physical_cores: usize,
    /// Logical CPUs of this level that are online.
    pub logical_cpus: usize,
    /// Their numbers; `None` where CPUs have no public numbers (Apple).
    pub cpus: Option<CpuSet>,
    /// Speed relative to the fastest core, 1.0 for the fastest; `None` where the system doesn't say.
    pub capacity: Option<f64>,
    /// Highest clock in Hz the system states; `None` where it doesn't.
    pub max_frequency_hz: Option<u64>,
    /// Level-1 instruction cache of a core, bytes.
    pub l1i_bytes: Option<u64>,
    /// Level-1 data cache of a core, bytes.
    pub l1d_bytes: Option<u64>,
    /// Level-2 cache, bytes, shared by `cpus_per_l2` logical CPUs.
    pub l2_bytes: Option<u64>,
    /// Logical CPUs that share a level-2 cache.
    pub cpus_per_l2: Option<usize>,
    /// Level-3 cache, bytes.
    pub l3_bytes: Option<u64>,
}

/// A cache and the CPUs that share it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Cache {
    /// 1, 2, 3…
    pub level: u32,
    /// What it holds.
    pub kind: CacheKind,
    /// Size in bytes.
    pub bytes: u64,
    /// Line size in bytes; `None` where the system doesn't say.
    pub line_bytes: Option<u32>,
    /// The CPUs that share it.
    pub cpus: CpuSet,
}

/// What a cache holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum CacheKind {
    /// Data.
    Data,
    /// Instructions.
    Instruction,
    /// Both.
    Unified,
}

impl Topology {
    /// Looks at this machine and this process.
    ///
    /// # Errors
    /// When the system's files or values can't be read or understood.
    pub fn detect() -> Result<Self, Error> {
        #[cfg(target_os = "linux")]
        {
            let affinity = crate::sys::linux::affinity()?;
            Topology::from_linux(Path::new("/"), Some(affinity))
        }
        #[cfg(target_vendor = "apple")]
        {
            Topology::from_sysctl(&crate::sys::apple::sysctl_text(sysctl::NAMES))
        }
        #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
        {
            let reason = "this system has no backend yet; macOS and Linux have";
            Err(Error::NotAvailable { what: "the topology", reason })
        }
    }

    /// Reads a Linux machine from its `sys` and `proc` trees below `root` (`/` for this one), for a process that may run
    /// on `affinity` (all online CPUs if `None`). Recorded trees of other machines work as well.
    ///
    /// # Errors
    /// When the list of online CPUs is missing, or a file has another form than the kernel documents.
    pub fn from_linux(root: &Path, affinity: Option<CpuSet>) -> Result<Self, Error> {
        linux::read(root, affinity)
    }

    /// Reads an Apple machine from lines `name: value`, as `sysctl hw` prints them.
    ///
    /// # Errors
    /// When the number of CPUs is missing or no number.
    pub fn from_sysctl(text: &str) -> Result<Self, Error> {
        sysctl::read(text)
    }

    /// The level a CPU belongs to; `None` for unknown CPUs and where CPUs have no public numbers.
    #[must_use]
    pub fn level_of(&self, cpu: usize) -> Option<usize> {
        self.levels.iter().find(|level| level.cpus.as_ref().is_some_and(|cpus| cpus.contains(cpu))).map(|l| l.index)
    }
}

#[cfg(target_os = "linux")]
pub(crate) use linux::perf_units;
pub(crate) use sysctl::parse as parse_sysctl;
