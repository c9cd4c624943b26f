//! Setting, reading and restoring a thread's class: one backend per platform with the same three functions.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as backend;

#[cfg(target_vendor = "apple")]
mod apple;
#[cfg(target_vendor = "apple")]
use apple as backend;

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
mod other;
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
use other as backend;

mod guard;
#[cfg(any(target_os = "linux", test))]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "elsewhere only tests use it"))]
pub(crate) mod linux_plan;
mod workers;

pub use guard::{Guard, Spawned, enter, set, spawn};
pub use workers::{WorkerOutcome, Workers};

pub(crate) use backend::effective;
#[cfg(target_os = "linux")]
pub(crate) use linux::request_before_exec;
