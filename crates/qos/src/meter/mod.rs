mod backend;
mod elsewhere;
mod observed;
#[cfg(target_os = "linux")]
mod schedstat;
mod verdict;

use std::marker::PhantomData;
use std::time::Instant;

#[cfg(target_os = "linux")]
pub(crate) use backend::processor_of_stat;
pub use elsewhere::thread_id;
pub use observed::{Counters, LevelCounters, Observed, ObservedLevel, Source};
pub use verdict::{ClampReason, Evidence, Unmeasurable, Verdict};

use crate::{Error, Topology};

/// Measures where the current thread runs: time, cycles, instructions and energy per core level, without any right.
///
/// ```
/// use gannet_qos::{Meter, Topology};
/// let topology = Topology::detect()?;
/// let meter = Meter::start(&topology)?;
/// let sum: u64 = (0..100_000u64).map(std::hint::black_box).sum();
/// let observed = meter.stop()?;
/// assert_eq!(sum, 4_999_950_000);
/// assert_eq!(observed.levels.len(), topology.levels.len());
/// # Ok::<(), gannet_qos::Error>(())
/// ```
#[derive(Debug)]
pub struct Meter<'a> {
    topology: &'a Topology,
    counting: backend::Counting,
    before: Counters,
    started: Instant,
    /// The counters are those of the thread that started.
    not_send: PhantomData<*const ()>,
}

impl<'a> Meter<'a> {
    /// Starts measuring the current thread.
    ///
    /// - Apple: the kernel's counters per core level (macOS 13 and later).
    /// - Linux, cores of one kind: the thread's clock and `schedstat`.
    /// - Linux, several kinds: perf events per kind where allowed, else a helper thread that looks 1000 times a second
    ///   which CPU the thread is on, and states its error.
    ///
    /// # Errors
    /// When the thread's clock can't be read. Missing counters are no error: the observation says so.
    pub fn start(topology: &'a Topology) -> Result<Self, Error> {
        let counting = backend::Counting::start(topology)?;
        let before = counting.read()?;
        Ok(Meter { topology, counting, before, started: Instant::now(), not_send: PhantomData })
    }

    /// What happened since the start; measuring goes on.
    ///
    /// # Errors
    /// When the counters can't be read any more.
    pub fn observe(&self) -> Result<Observed, Error> {
        let wall = self.started.elapsed();
        let after = self.counting.read()?;
        Ok(Observed::between(&self.before, &after, wall, self.topology, self.counting.source(&self.before, &after)))
    }

    /// What happened since the start.
    ///
    /// # Errors
    /// When the counters can't be read any more.
    pub fn stop(self) -> Result<Observed, Error> {
        self.observe()
    }
}
