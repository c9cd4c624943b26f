//! Integration tests.
#![cfg(any(target_os = "linux", target_vendor = "apple"))]

mod evict;
mod model;
mod plan;
mod runner;
mod volume;

/// A small plan for tests: no room is kept free.
fn plan(sizes: &[u64]) -> gannet_diskbench::Plan {
    gannet_diskbench::Plan::sizes(sizes).reserve(gannet_diskbench::Reserve::Bytes(0)).repeats(2)
}
