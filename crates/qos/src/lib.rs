#![doc = include_str!("../README.md")]

mod applied;
mod class;
mod cpuset;
mod effective;
mod error;
mod machine;
mod request;
mod sys;
mod thread;
mod topology;

pub use applied::{Applied, Attribute, Outcome, Step};
pub use class::QosClass;
pub use cpuset::CpuSet;
pub use effective::{AppleThread, Effective, IoPriority, LinuxThread, Policy};
pub use error::Error;
pub use machine::{Machine, Missing, Power, Thermal, Virtualization};
pub use request::{MIN_RELATIVE_PRIORITY, Profile, Request};
pub use thread::{Guard, Spawned, WorkerOutcome, Workers, enter, set, spawn};
pub use topology::{Cache, CacheKind, CoreLevel, Limit, Topology, Usable};
