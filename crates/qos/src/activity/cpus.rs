use std::time::{Duration, Instant};

use crate::Error;

/// Watches how busy each CPU of the machine is.
///
/// The finest source the system has: idle times by the idle loop on Linux (µs), ticks of 10 ms on Apple and on Linux
/// kernels without an idle driver.
#[derive(Debug)]
pub struct Activity {
    last: Vec<CpuTimes>,
    taken: Instant,
}

/// How busy a CPU was.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CpuLoad {
    /// The CPU's number.
    pub cpu: usize,
    /// Share of the time it was not idle, 0..=1. In a virtual machine this includes time the host took away.
    pub busy: f64,
}

/// How exact a CPU's load is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Resolution {
    /// Idle times in µs, counted when a CPU leaves its sleep; while one sleeps through, ticks of 10 ms fill in.
    IdleTimes,
    /// Ticks of 10 ms.
    Ticks,
}

/// A reading of one CPU, counting up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct CpuTimes {
    pub(super) cpu: usize,
    /// Idle time by the idle driver.
    pub(super) idle: Option<Duration>,
    /// Idle time by ticks.
    pub(super) idle_ticks: Duration,
    /// All time by ticks; `None` where the wall clock tells it.
    pub(super) all_ticks: Option<Duration>,
}

/// Length of a tick of `/proc/stat` and `host_processor_info`.
pub(super) const TICK: Duration = Duration::from_millis(10);
/// So that a tick at least passes between two readings, however they fall.
const SHORTEST: Duration = Duration::from_millis(15);

impl Activity {
    /// Takes a first reading.
    ///
    /// # Errors
    /// When the system doesn't tell, or its answer has another form than documented.
    pub fn start() -> Result<Self, Error> {
        Ok(Activity { last: read()?, taken: Instant::now() })
    }

    /// How busy each CPU was since the last call, or the start. CPUs that came or went meanwhile are left out.
    ///
    /// Empty if less than 15 ms have passed: no system tells so soon whether a CPU that sleeps is asleep. The next call then
    /// covers this time too.
    ///
    /// # Errors
    /// As [`Activity::start`].
    pub fn loads(&mut self) -> Result<Vec<CpuLoad>, Error> {
        if self.taken.elapsed() < SHORTEST {
            return Ok(Vec::new());
        }
        let now = read()?;
        let taken = Instant::now();
        let wall = taken.duration_since(self.taken);
        let loads = now
            .iter()
            .filter_map(|now| {
                let before = self.last.iter().find(|before| before.cpu == now.cpu)?;
                Some(CpuLoad { cpu: now.cpu, busy: busy(before, now, wall) })
            })
            .collect();
        self.last = now;
        self.taken = taken;
        Ok(loads)
    }

    /// How exact the loads are.
    #[must_use]
    pub fn resolution(&self) -> Resolution {
        if self.last.iter().any(|cpu| cpu.idle.is_some()) { Resolution::IdleTimes } else { Resolution::Ticks }
    }
}

/// The share of `wall` a CPU was not idle.
fn busy(before: &CpuTimes, now: &CpuTimes, wall: Duration) -> f64 {
    let by_ticks = now.idle_ticks.saturating_sub(before.idle_ticks);
    if let (Some(before), Some(now)) = (before.all_ticks, now.all_ticks) {
        let all = now.saturating_sub(before);
        // No tick has passed: nothing is known, and nothing ran for long.
        return if all.is_zero() { 0.0 } else { (1.0 - by_ticks.as_secs_f64() / all.as_secs_f64()).clamp(0.0, 1.0) };
    }
    let idle = match (before.idle, now.idle) {
        // The driver counts a sleep when it ends. If it disagrees with the ticks, which are idle times rounded down, by as
        // much as a tick, a sleep is going on, or one that began earlier has ended.
        (Some(before), Some(now)) if now.saturating_sub(before).abs_diff(by_ticks) < TICK => now.saturating_sub(before),
        _ => by_ticks,
    };
    if wall.is_zero() { 0.0 } else { (1.0 - idle.as_secs_f64() / wall.as_secs_f64()).clamp(0.0, 1.0) }
}

#[cfg(target_os = "linux")]
fn read() -> Result<Vec<CpuTimes>, Error> {
    super::linux::read(std::path::Path::new("/"))
}

#[cfg(target_vendor = "apple")]
fn read() -> Result<Vec<CpuTimes>, Error> {
    let cpus = crate::sys::apple::cpu_ticks()?.into_iter().enumerate();
    Ok(cpus
        .map(|(cpu, [user, system, idle, nice])| CpuTimes {
            cpu,
            idle: None,
            idle_ticks: TICK * idle,
            all_ticks: Some(TICK * user + TICK * system + TICK * idle + TICK * nice),
        })
        .collect())
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn read() -> Result<Vec<CpuTimes>, Error> {
    let reason = "this system has no backend yet; macOS and Linux have";
    Err(Error::NotAvailable { what: "activity per CPU", reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(idle: Option<u64>, ticks: u64) -> CpuTimes {
        CpuTimes { cpu: 0, idle: idle.map(Duration::from_micros), idle_ticks: TICK * ticks as u32, all_ticks: None }
    }

    #[test]
    fn idle_times_are_finer_than_ticks() {
        let wall = Duration::from_millis(100);
        let load = |idle, ticks| busy(&times(Some(0), 0), &times(Some(idle), ticks), wall);
        assert!((load(33_300, 3) - 0.667).abs() < 1e-12);
        assert_eq!(load(0, 0), 1.0);
        // Asleep all the time: the driver has counted nothing yet.
        assert_eq!(load(0, 10), 0.0);
        // Woken after a long sleep: the driver counts all of it at once.
        assert!((load(5_000_000, 4) - 0.6).abs() < 1e-12);
        // Asleep through two ticks, and through one of them.
        let short = |ticks, wall| busy(&times(Some(0), 0), &times(Some(0), ticks), Duration::from_millis(wall));
        assert_eq!((short(2, 20), short(1, 20)), (0.0, 0.5));
    }

    #[test]
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    fn too_soon_is_nothing_rather_than_wrong() {
        let mut activity = Activity { last: read().unwrap(), taken: Instant::now() + Duration::from_secs(3600) };
        assert_eq!(activity.loads().unwrap(), []);
        activity.taken = Instant::now() - 2 * SHORTEST;
        let loads = activity.loads().unwrap();
        assert!(!loads.is_empty() && loads.iter().all(|load| (0.0..=1.0).contains(&load.busy)), "{loads:?}");
    }

    #[test]
    fn without_an_idle_driver_ticks_count() {
        let wall = Duration::from_millis(100);
        assert!((busy(&times(None, 100), &times(None, 107), wall) - 0.3).abs() < 1e-12);
        let apple = |idle: u32, all: u32| CpuTimes { cpu: 0, idle: None, idle_ticks: TICK * idle, all_ticks: Some(TICK * all) };
        assert_eq!(busy(&apple(50, 100), &apple(55, 120), wall), 0.75);
        assert_eq!(busy(&apple(50, 100), &apple(50, 100), wall), 0.0);
        assert_eq!(busy(&apple(50, 100), &apple(40, 120), wall), 1.0);
    }
}
