use std::time::Duration;

use crate::Topology;

/// Below this, a rate over CPU time says nothing.
const SHORTEST: Duration = Duration::from_millis(1);

/// A reading of a thread's counters; all count up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// CPU time of the thread on all cores, in ns.
    pub cpu_ns: u64,
    /// Time the thread was ready and had no CPU, in ns; `None` where the system doesn't count it.
    pub waiting_ns: Option<u64>,
    /// Times the thread was put onto a CPU; `None` where not counted.
    pub switches: Option<u64>,
    /// By core level, fastest first; empty where nothing is known.
    pub levels: Vec<LevelCounters>,
    /// Looks at the thread, if it is sampled.
    pub samples: u64,
}

/// A reading of one core level's counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LevelCounters {
    /// CPU time at this level, in ns.
    pub time_ns: u64,
    /// Cycles; `None` where not counted.
    pub cycles: Option<u64>,
    /// Instructions; `None` where not counted.
    pub instructions: Option<u64>,
    /// Energy in nanojoules; `None` where not counted.
    pub energy_nj: Option<u64>,
}

impl Counters {
    /// A reading of CPU time in ns and of the core levels; nothing else is counted.
    #[must_use]
    pub fn new(cpu_ns: u64, levels: Vec<LevelCounters>) -> Self {
        Counters { cpu_ns, levels, ..Counters::default() }
    }
}

impl LevelCounters {
    /// A reading of time and counters; `None` for what is not counted.
    #[must_use]
    pub const fn new(time_ns: u64, cycles: Option<u64>, instructions: Option<u64>, energy_nj: Option<u64>) -> Self {
        LevelCounters { time_ns, cycles, instructions, energy_nj }
    }
}

/// Where and how a thread ran, as measured: neither what it asked for nor what the kernel says it applies.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Observed {
    /// Wall time.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::seconds::one"))]
    pub wall: Duration,
    /// CPU time of the thread.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::seconds::one"))]
    pub cpu_time: Duration,
    /// Time it was ready and had no CPU; `None` where the system doesn't count it.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::seconds::maybe"))]
    pub waiting: Option<Duration>,
    /// Times it was put onto a CPU: after it had waited for something, and after other work had taken the CPU from it;
    /// `None` where not counted.
    pub switches: Option<u64>,
    /// One for each core level of the topology, fastest first; empty if `source` says that nothing is known.
    pub levels: Vec<ObservedLevel>,
    /// Where the levels' times come from.
    pub source: Source,
}

/// What a thread did at one core level.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ObservedLevel {
    /// The level's index, 0 for the fastest.
    pub index: usize,
    /// The level's name.
    pub name: String,
    /// CPU time at this level.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::seconds::one"))]
    pub time: Duration,
    /// Its share of the thread's CPU time, 0..=1; `None` if the thread did not run.
    pub share: Option<f64>,
    /// Cycles; `None` where not counted.
    pub cycles: Option<u64>,
    /// Instructions; `None` where not counted.
    pub instructions: Option<u64>,
    /// Energy in nanojoules; `None` where not counted. Apple counts it up to the thread's last switch only.
    pub energy_nj: Option<u64>,
}

/// Where the times per core level come from.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Source {
    /// The kernel counts them.
    Kernel,
    /// Perf events of each core kind.
    Perf,
    /// All cores are of one kind, so the thread's clock is all there is to know.
    OneLevel,
    /// The thread was looked at from time to time.
    Sampled {
        /// How often.
        samples: u64,
        /// Standard error of the largest level's share.
        share_error: f64,
    },
    /// Nothing is known.
    NotAvailable {
        /// Why.
        reason: &'static str,
    },
}

impl Observed {
    /// The difference of two readings, by the levels of a topology. Counters that went backwards count as zero.
    #[must_use]
    pub fn between(before: &Counters, after: &Counters, wall: Duration, topology: &Topology, source: Source) -> Self {
        let difference = |before: Option<u64>, after: Option<u64>| Some(after?.saturating_sub(before?));
        let known = !matches!(source, Source::NotAvailable { .. });
        let pairs = || before.levels.iter().zip(&after.levels);
        let total: u64 = pairs().map(|(before, after)| after.time_ns.saturating_sub(before.time_ns)).sum();
        let levels = pairs().enumerate().filter(|_| known).map(|(index, (before, after))| {
            let time = after.time_ns.saturating_sub(before.time_ns);
            ObservedLevel {
                index,
                // Kernels have been seen to know of more levels than the topology names.
                name: topology.levels.get(index).map_or_else(|| format!("level {index}"), |level| level.name.clone()),
                time: Duration::from_nanos(time),
                share: (total > 0).then(|| time as f64 / total as f64),
                cycles: difference(before.cycles, after.cycles),
                instructions: difference(before.instructions, after.instructions),
                energy_nj: difference(before.energy_nj, after.energy_nj),
            }
        });
        Observed {
            wall,
            cpu_time: Duration::from_nanos(after.cpu_ns.saturating_sub(before.cpu_ns)),
            waiting: difference(before.waiting_ns, after.waiting_ns).map(Duration::from_nanos),
            switches: difference(before.switches, after.switches),
            levels: levels.collect(),
            source,
        }
    }
}

impl ObservedLevel {
    /// Mean clock while running, in Hz: cycles over CPU time. This is what the core really ran at, not the state its
    /// governor asked for. `None` without cycles (also in virtual machines, which count 0) and below 1 ms.
    #[must_use]
    pub fn mean_frequency_hz(&self) -> Option<f64> {
        let cycles = self.cycles.filter(|cycles| *cycles > 0 && self.time >= SHORTEST)?;
        Some(cycles as f64 / self.time.as_secs_f64())
    }

    /// Instructions per cycle; `None` without both.
    #[must_use]
    pub fn instructions_per_cycle(&self) -> Option<f64> {
        let cycles = self.cycles.filter(|cycles| *cycles > 0)?;
        self.instructions.map(|instructions| instructions as f64 / cycles as f64)
    }

    /// Power while running, in watts: energy over CPU time. `None` without energy (a count of 0 is none) and below 1 ms.
    #[must_use]
    pub fn watts(&self) -> Option<f64> {
        let energy = self.energy_nj.filter(|energy| *energy > 0 && self.time >= SHORTEST)?;
        Some(energy as f64 * 1e-9 / self.time.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topology() -> Topology {
        Topology::from_sysctl(
            "hw.logicalcpu: 8\nhw.nperflevels: 2\nhw.perflevel0.name: Performance\nhw.perflevel0.logicalcpu: 4\n\
             hw.perflevel0.physicalcpu: 4\nhw.perflevel1.name: Efficiency\nhw.perflevel1.logicalcpu: 4\n\
             hw.perflevel1.physicalcpu: 4\n",
        )
        .unwrap()
    }

    fn reading(levels: &[[u64; 4]]) -> Counters {
        let level =
            |[time, cycles, instructions, energy]: &[u64; 4]| LevelCounters::new(*time, Some(*cycles), Some(*instructions), Some(*energy));
        let levels: Vec<_> = levels.iter().map(level).collect();
        Counters { cpu_ns: levels.iter().map(|level| level.time_ns).sum(), levels, ..Counters::default() }
    }

    #[test]
    fn shares_frequency_and_power_follow_from_the_counters() {
        let before = reading(&[[100, 7, 7, 7], [50, 1, 1, 1]]);
        let after = reading(&[
            [100 + 300_000_000, 7 + 1_200_000_000, 7 + 2_400_000_000, 7 + 900_000_000],
            [50 + 100_000_000, 1 + 250_000_000, 1, 1],
        ]);
        let wall = Duration::from_millis(500);
        let observed = Observed::between(&before, &after, wall, &topology(), Source::Kernel);
        assert_eq!(observed.cpu_time, Duration::from_millis(400));
        let (fast, slow) = (&observed.levels[0], &observed.levels[1]);
        assert_eq!((fast.name.as_str(), slow.name.as_str()), ("Performance", "Efficiency"));
        assert_eq!((fast.share, slow.share), (Some(0.75), Some(0.25)));
        assert_eq!((fast.mean_frequency_hz(), slow.mean_frequency_hz()), (Some(4e9), Some(2.5e9)));
        assert_eq!(fast.instructions_per_cycle(), Some(2.0));
        assert!((fast.watts().unwrap() - 3.0).abs() < 1e-12);
        assert_eq!(slow.watts(), None);
    }

    #[test]
    fn a_virtual_machine_and_too_short_a_run_give_no_rates() {
        let before = reading(&[[0, 0, 0, 0]; 2]);
        let after = reading(&[[5_000_000, 0, 0, 0], [900_000, 4_000_000, 1, 1]]);
        let observed = Observed::between(&before, &after, Duration::from_millis(6), &topology(), Source::Kernel);
        assert_eq!(observed.levels[0].mean_frequency_hz(), None);
        assert_eq!(observed.levels[1].mean_frequency_hz(), None);
    }

    #[test]
    fn a_thread_that_never_ran_has_no_shares_and_extra_levels_keep_a_name() {
        let reading = reading(&[[9, 9, 9, 9]; 3]);
        let observed = Observed::between(&reading, &reading, Duration::ZERO, &topology(), Source::Kernel);
        assert!(observed.levels.iter().all(|level| level.share.is_none()));
        assert_eq!(observed.levels[2].name, "level 2");
        let unknown = Source::NotAvailable { reason: "a test" };
        assert!(Observed::between(&reading, &reading, Duration::ZERO, &topology(), unknown).levels.is_empty());
    }
}
