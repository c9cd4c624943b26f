mod cpus;
#[cfg(any(target_os = "linux", test))]
mod linux;
mod threads;

pub use cpus::{Activity, CpuLoad, Resolution};
pub use threads::{ThreadPlace, migrations, thread_places};
