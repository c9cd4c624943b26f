//! All platform code. Each file has the same items.

#[cfg(target_vendor = "apple")]
mod apple;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
mod other;

#[cfg(target_vendor = "apple")]
pub(crate) use apple::*;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub(crate) use other::*;
