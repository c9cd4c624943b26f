//! The one engine under everything: jobs in, a codec on the workers, bytes out in order.
//!
//! [`Line`] is the core: an ordered, bounded, parallel map. [`run`] drives it from a source to a sink;
//! the adaptors push and pop.

mod buffers;
mod line;
mod meter;
mod run;
mod shared;
mod state;

pub(crate) use buffers::{Buffers, grow};
pub(crate) use line::Line;
pub(crate) use meter::{Blocked, Meter, Reading};
pub(crate) use run::{Feed, Run, Sink, Source, run};
pub(crate) use shared::{Deliver, Parts, Task};

use std::sync::Arc;

/// A closure that a worker thread runs first, with its index.
pub(crate) type StartHook = Arc<dyn Fn(usize) + Send + Sync>;

/// How wide a line is.
#[derive(Clone)]
pub(crate) struct Settings {
    /// Worker threads, at least 1.
    pub(crate) threads: usize,
    /// Chunks in memory at once, at least 1.
    pub(crate) window: usize,
    /// Run first on every worker thread.
    pub(crate) on_worker_start: Option<StartHook>,
}
