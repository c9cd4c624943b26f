//! The system calls, one file per platform. All unsafe code of the crate is here, and nothing else is: what the calls
//! return is taken apart elsewhere.

#[cfg(target_os = "linux")]
pub(crate) mod linux;

#[cfg(target_vendor = "apple")]
pub(crate) mod apple;
