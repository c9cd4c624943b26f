use crate::{LevelCounters, Topology};

/// Learns which CPU belongs to which core level on systems that don't say it (Apple).
///
/// If a thread was on the same CPU before and after a moment, and during it the counters of one level only have moved, that
/// CPU is of that level. Feed it such moments; the map is the same until the machine starts anew.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Calibration {
    levels: Vec<Option<usize>>,
}

impl Calibration {
    /// Nothing learnt yet.
    #[must_use]
    pub const fn new() -> Self {
        Calibration { levels: Vec::new() }
    }

    /// Takes in a moment: the CPU and the counters per level before and after it. Says whether it taught anything.
    pub fn learn(&mut self, before: (usize, &[LevelCounters]), after: (usize, &[LevelCounters])) -> bool {
        let (cpu, earlier) = before;
        if cpu != after.0 || earlier.len() != after.1.len() {
            return false;
        }
        let mut moved = earlier
            .iter()
            .zip(after.1)
            .enumerate()
            .filter(|(_, (before, after))| after.time_ns > before.time_ns || after.cycles > before.cycles)
            .map(|(level, _)| level);
        let (Some(level), None) = (moved.next(), moved.next()) else { return false };
        if cpu >= self.levels.len() {
            self.levels.resize(cpu + 1, None);
        }
        self.levels[cpu].replace(level) != Some(level)
    }

    /// The level of a CPU; `None` if nothing was learnt of it.
    #[must_use]
    pub fn level_of(&self, cpu: usize) -> Option<usize> {
        self.levels.get(cpu).copied().flatten()
    }

    /// Works for about 50 µs on the current thread and learns from it; call it now and then while threads run.
    ///
    /// Says whether it taught anything: never on systems that tell the levels of CPUs, which need none of this.
    #[cfg_attr(not(target_vendor = "apple"), expect(unused_variables, reason = "no other system needs it"))]
    pub fn observe(&mut self, topology: &Topology) -> bool {
        #[cfg(target_vendor = "apple")]
        {
            use crate::apple::parse_counts;
            use crate::sys::apple as sys;
            let levels = topology.levels.len();
            let read = || {
                let bytes = sys::self_counts(levels).ok()?;
                Some((sys::cpu_number()?, parse_counts(&bytes, sys::timebase())))
            };
            let Some(before) = read() else { return false };
            let _ = crate::Probe::new(crate::Workload::Integer).run(1 << 15);
            let Some(after) = read() else { return false };
            self.learn((before.0, &before.1), (after.0, &after.1))
        }
        #[cfg(not(target_vendor = "apple"))]
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(times: [u64; 2]) -> Vec<LevelCounters> {
        times.iter().map(|time| LevelCounters::new(*time, Some(time * 3), None, None)).collect()
    }

    #[test]
    fn a_quiet_moment_on_one_cpu_teaches_its_level() {
        let mut calibration = Calibration::new();
        assert!(calibration.learn((4, &levels([10, 5])), (4, &levels([20, 5]))));
        assert!(!calibration.learn((4, &levels([20, 5])), (4, &levels([30, 5]))));
        assert!(calibration.learn((0, &levels([30, 5])), (0, &levels([30, 9]))));
        assert_eq!((calibration.level_of(4), calibration.level_of(0)), (Some(0), Some(1)));
        assert_eq!((calibration.level_of(1), calibration.level_of(99)), (None, None));
    }

    #[test]
    fn a_moment_across_cpus_levels_or_readings_teaches_nothing() {
        let mut calibration = Calibration::new();
        assert!(!calibration.learn((1, &levels([1, 1])), (2, &levels([9, 1]))));
        assert!(!calibration.learn((1, &levels([1, 1])), (1, &levels([9, 9]))));
        assert!(!calibration.learn((1, &levels([1, 1])), (1, &levels([1, 1]))));
        assert!(!calibration.learn((1, &levels([1, 1])), (1, &levels([9, 1])[..1])));
        assert_eq!(calibration, Calibration::new());
    }
}
