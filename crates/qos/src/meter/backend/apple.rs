//! Apple: `thread_selfcounts`.

use crate::apple::parse_counts;
use crate::sys::apple as sys;
use crate::{Counters, Error, Source, Topology};

#[derive(Debug)]
pub(crate) struct Counting {
    levels: usize,
}

impl Counting {
    pub(crate) fn start(topology: &Topology) -> Result<Self, Error> {
        Ok(Counting { levels: topology.levels.len().max(sys::levels()) })
    }

    pub(crate) fn read(&self) -> Result<Counters, Error> {
        let levels = sys::self_counts(self.levels).map(|bytes| parse_counts(&bytes, sys::timebase()));
        // Without counters the thread's clock is left.
        Ok(Counters { cpu_ns: sys::thread_cpu_ns()?, levels: levels.unwrap_or_default(), ..Counters::default() })
    }

    pub(crate) fn source(&self, before: &Counters, after: &Counters) -> Source {
        if before.levels.is_empty() || after.levels.is_empty() {
            Source::NotAvailable { reason: "macOS before 13 counts nothing per core level" }
        } else {
            Source::Kernel
        }
    }
}
