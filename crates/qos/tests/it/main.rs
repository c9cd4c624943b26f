//! Integration tests.

#[cfg(target_os = "linux")]
mod linux_child;
#[cfg(target_os = "linux")]
mod linux_effects;
#[cfg(target_os = "linux")]
mod linux_restore;
#[cfg(target_os = "linux")]
mod linux_sampler;
#[cfg(target_os = "linux")]
mod linux_tools;
mod probes;
mod recorded;
mod topologies;
mod verdicts;
mod workers;
