#![doc = include_str!("../README.md")]

mod activity;
#[cfg(any(target_vendor = "apple", test))]
#[cfg_attr(not(target_vendor = "apple"), allow(dead_code, unused_imports, reason = "elsewhere only tests use it"))]
mod apple;
mod applied;
mod calibration;
mod class;
mod cpuset;
mod effective;
mod error;
mod machine;
mod meter;
mod probe;
mod process;
mod request;
#[cfg(feature = "serde")]
mod seconds;
mod sys;
mod thread;
mod topology;

pub use activity::{Activity, CpuLoad, Resolution, ThreadPlace, migrations, thread_places};
pub use applied::{Applied, Attribute, Outcome, Step};
pub use calibration::Calibration;
pub use class::QosClass;
pub use cpuset::CpuSet;
pub use effective::{AppleThread, Effective, IoPriority, LinuxThread, Policy};
pub use error::Error;
pub use machine::{Machine, Missing, Power, Thermal, Virtualization};
pub use meter::{ClampReason, Counters, Evidence, LevelCounters, Meter, Observed, ObservedLevel, Source, Unmeasurable, Verdict, thread_id};
pub use probe::{Probe, Timing, Workload};
pub use process::{
    ChildCommand, ClassTimes, Hold, IoPolicy, LevelUsage, Override, ProcessState, ProcessUsage, child_command, io_policy, set_background,
    set_io_policy,
};
pub use request::{MIN_RELATIVE_PRIORITY, Profile, Request};
pub use thread::{Guard, Spawned, WorkerOutcome, Workers, enter, set, spawn};
pub use topology::{Cache, CacheKind, CoreLevel, Limit, Topology, Usable};
