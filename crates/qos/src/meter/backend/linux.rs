//! Linux: the thread's clock, `schedstat`, and for several kinds of cores perf events or a sampler.

use std::cell::OnceCell;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;

use super::super::schedstat::SchedStat;
use super::sampler::Sampler;
use crate::sys::linux as sys;
use crate::{Counters, Error, LevelCounters, Source, Topology};

#[derive(Debug)]
pub(crate) struct Counting {
    levels: Levels,
}

#[derive(Debug)]
enum Levels {
    One,
    Perf(Vec<PerfLevel>),
    Sampled(Sampler),
    Unknown,
}

/// The two events of one core kind; `time_running` of the first is the time at that kind.
#[derive(Debug)]
struct PerfLevel {
    cycles: OwnedFd,
    instructions: OwnedFd,
    /// Whether the kernel's own cycles are counted; without them, cycles over time would be too low.
    whole: bool,
}

thread_local! {
    /// The thread's `schedstat`, opened once; kernels without it have `None`.
    static SCHEDSTAT: OnceCell<Option<File>> = const { OnceCell::new() };
}

impl Counting {
    pub(crate) fn start(topology: &Topology) -> Result<Self, Error> {
        let levels = if topology.levels.len() < 2 {
            Levels::One
        } else if topology.levels.iter().any(|level| level.cpus.is_none()) {
            Levels::Unknown
        } else {
            match perf_levels(Path::new("/"), topology) {
                Some(levels) => Levels::Perf(levels),
                None => Levels::Sampled(Sampler::start(topology)?),
            }
        };
        Ok(Counting { levels })
    }

    pub(crate) fn read(&self) -> Result<Counters, Error> {
        let cpu_ns = sys::thread_cpu_ns()?;
        let scheduler = scheduler();
        let mut samples = 0;
        let levels = match &self.levels {
            Levels::One => vec![LevelCounters::new(cpu_ns, None, None, None)],
            Levels::Perf(levels) => levels.iter().map(PerfLevel::read).collect::<Result<_, _>>()?,
            Levels::Sampled(sampler) => {
                let (levels, looks) = sampler.read();
                samples = looks;
                levels
            }
            Levels::Unknown => Vec::new(),
        };
        Ok(Counters {
            cpu_ns,
            waiting_ns: scheduler.map(|seen| seen.waiting_ns),
            switches: scheduler.map(|seen| seen.switches),
            levels,
            samples,
        })
    }

    pub(crate) fn source(&self, before: &Counters, after: &Counters) -> Source {
        match &self.levels {
            Levels::One => Source::OneLevel,
            Levels::Perf(_) => Source::Perf,
            Levels::Sampled(_) => super::sampler::source(before, after),
            Levels::Unknown => Source::NotAvailable { reason: "the topology does not say which CPU is of which kind" },
        }
    }
}

/// What the scheduler counts of the calling thread.
fn scheduler() -> Option<SchedStat> {
    SCHEDSTAT.with(|file| SchedStat::read(file.get_or_init(|| File::open("/proc/thread-self/schedstat").ok()).as_ref()?))
}

/// One pair of events per level, if each level is exactly one perf unit and the kernel lets this thread count.
fn perf_levels(root: &Path, topology: &Topology) -> Option<Vec<PerfLevel>> {
    let units = crate::topology::perf_units(root);
    topology
        .levels
        .iter()
        .map(|level| {
            let (_, unit) = units.iter().find(|(cpus, _)| Some(cpus) == level.cpus.as_ref())?;
            PerfLevel::open(*unit, true).or_else(|| PerfLevel::open(*unit, false))
        })
        .collect()
}

impl PerfLevel {
    fn open(unit: u32, whole: bool) -> Option<Self> {
        let cycles = sys::perf_open(unit, sys::PERF_COUNT_HW_CPU_CYCLES, whole)?;
        let instructions = sys::perf_open(unit, sys::PERF_COUNT_HW_INSTRUCTIONS, whole)?;
        Some(PerfLevel { cycles, instructions, whole })
    }

    fn read(&self) -> Result<LevelCounters, Error> {
        let [cycles, _, running] = sys::perf_read(&self.cycles)?;
        let [instructions, ..] = sys::perf_read(&self.instructions)?;
        Ok(LevelCounters::new(running, self.whole.then_some(cycles), self.whole.then_some(instructions), None))
    }
}
