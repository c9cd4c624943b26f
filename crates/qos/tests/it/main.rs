//! Integration tests.

#[cfg(target_os = "linux")]
mod linux_restore;
mod workers;
