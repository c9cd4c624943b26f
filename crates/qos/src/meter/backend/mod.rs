//! Reading a thread's counters: one backend per platform with the same functions.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod sampler;
#[cfg(target_os = "linux")]
pub(super) use linux::Counting;
#[cfg(target_os = "linux")]
pub(crate) use sampler::processor as processor_of_stat;

#[cfg(target_vendor = "apple")]
mod apple;
#[cfg(target_vendor = "apple")]
pub(super) use apple::Counting;

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
mod other;
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub(super) use other::Counting;
