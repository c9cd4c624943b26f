//! A helper thread that looks from time to time on which CPU a thread is, for kernels that count nothing per core kind.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::super::schedstat::SchedStat;
use crate::sys::linux as sys;
use crate::{Counters, Error, LevelCounters, Source, Topology};

/// Time between two looks.
const INTERVAL: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(crate) struct Sampler {
    shared: Arc<Shared>,
    helper: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    stop: AtomicBool,
    tally: Mutex<Tally>,
}

impl Sampler {
    /// Starts looking at the calling thread.
    pub(crate) fn start(topology: &Topology) -> Result<Self, Error> {
        let levels: Vec<_> = topology.levels.iter().filter_map(|level| level.cpus.clone()).collect();
        let level_of = move |cpu| levels.iter().position(|cpus| cpus.contains(cpu));
        let folder = format!("/proc/self/task/{}", sys::thread_id());
        let open = |name: &str| {
            let path = format!("{folder}/{name}");
            File::open(&path).map_err(|source| Error::Read { path: path.into(), source })
        };
        let (stat, schedstat) = (open("stat")?, open("schedstat")?);
        let tally = Mutex::new(Tally::new(topology.levels.len()));
        let shared = Arc::new(Shared { stop: AtomicBool::new(false), tally });
        let theirs = Arc::clone(&shared);
        let look = move || {
            while !theirs.stop.load(Ordering::Relaxed) {
                // The thread has ended when its files can't be read.
                let Some((cpu, running)) = look(&stat, &schedstat) else { break };
                theirs.tally.lock().unwrap_or_else(PoisonError::into_inner).add(level_of(cpu), running);
                std::thread::park_timeout(INTERVAL);
            }
        };
        let helper = std::thread::Builder::new()
            .name("qos sampler".to_owned())
            .spawn(look)
            .map_err(|source| Error::System { attempted: "start the sampler's thread", source })?;
        Ok(Sampler { shared, helper: Some(helper) })
    }

    /// Times per level so far, and the number of looks.
    pub(crate) fn read(&self) -> (Vec<LevelCounters>, u64) {
        let tally = self.shared.tally.lock().unwrap_or_else(PoisonError::into_inner);
        let levels = tally.levels.iter().map(|time| LevelCounters::new(*time, None, None, None)).collect();
        (levels, tally.looks)
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(helper) = self.helper.take() {
            helper.thread().unpark();
            // Its panic would be a defect here; it must not become one in the measured thread.
            let _ = helper.join();
        }
    }
}

/// The CPU the thread is or was last on, and its run time in ns.
fn look(stat: &File, schedstat: &File) -> Option<(usize, u64)> {
    let mut bytes = [0; 1024];
    let length = stat.read_at(&mut bytes, 0).ok()?;
    let cpu = processor(std::str::from_utf8(&bytes[..length]).ok()?)?;
    Some((cpu, SchedStat::read(schedstat)?.running_ns))
}

/// Field 39 of `proc_pid_stat(5)`. The name in field 2 may hold spaces and parentheses, so count from its last one.
pub(crate) fn processor(stat: &str) -> Option<usize> {
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(36)?.parse().ok()
}

/// Run time by level, from looks.
#[derive(Debug, PartialEq, Eq)]
struct Tally {
    levels: Vec<u64>,
    looks: u64,
    last: Option<(Option<usize>, u64)>,
}

impl Tally {
    fn new(levels: usize) -> Self {
        Tally { levels: vec![0; levels], looks: 0, last: None }
    }

    /// Adds a look: what ran since the last one goes to the level it was at, half each if that has changed between.
    fn add(&mut self, level: Option<usize>, running: u64) {
        if let Some((before, then)) = self.last.replace((level, running)) {
            let ran = running.saturating_sub(then);
            // A look at a thread that did not run shows nothing.
            if ran > 0 {
                self.looks += 1;
            }
            for (share, level) in [(ran / 2, before), (ran - ran / 2, level)] {
                if let Some(time) = level.and_then(|level| self.levels.get_mut(level)) {
                    *time += share;
                }
            }
        }
    }
}

/// The sampling error: that of a share seen in so many independent looks, sqrt(p(1-p)/n), with one look added on either
/// side (Wilson's centre), so that "always the same" is not "without error".
pub(crate) fn source(before: &Counters, after: &Counters) -> Source {
    let samples = after.samples.saturating_sub(before.samples);
    if samples == 0 {
        return Source::NotAvailable { reason: "the thread ran too shortly to be looked at" };
    }
    let times = before.levels.iter().zip(&after.levels).map(|(b, a)| a.time_ns.saturating_sub(b.time_ns));
    let (most, total) = times.fold((0, 0), |(most, total): (u64, u64), time| (most.max(time), total + time));
    let count = samples as f64;
    let share = if total == 0 { 0.5 } else { (most as f64 / total as f64 * count + 1.0) / (count + 2.0) };
    Source::Sampled { samples, share_error: (share * (1.0 - share) / count).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_found_behind_any_name() {
        let tail = (3..=52).map(|field| field.to_string()).collect::<Vec<_>>().join(" ");
        for name in ["a", "a b", "a) S 1 (b"] {
            assert_eq!(processor(&format!("17 ({name}) {tail}\n")), Some(39));
        }
        assert_eq!(processor("17 (a) 3 4"), None);
        assert_eq!(processor(""), None);
    }

    #[test]
    fn run_time_goes_to_the_level_seen() {
        let mut tally = Tally::new(2);
        for (level, running) in [(0, 1000), (0, 1100), (1, 1200), (1, 1500), (1, 1500)] {
            tally.add(Some(level), running);
        }
        assert_eq!((tally.levels.as_slice(), tally.looks), ([150, 350].as_slice(), 3));
        tally.add(None, 1700);
        assert_eq!(tally.levels, [150, 450]);
    }

    #[test]
    fn the_error_shrinks_with_the_looks_and_never_vanishes() {
        let counters = |times: [u64; 2], samples| Counters {
            levels: times.map(|time| LevelCounters::new(time, None, None, None)).to_vec(),
            samples,
            ..Counters::default()
        };
        let error = |times, samples| match source(&counters([0, 0], 0), &counters(times, samples)) {
            Source::Sampled { share_error, .. } => share_error,
            other => panic!("{other:?}"),
        };
        assert!((error([50, 50], 100) - 0.05).abs() < 1e-3);
        assert!(error([50, 50], 10_000) < error([50, 50], 100) / 9.0);
        assert!(error([100, 0], 100) > 0.0);
        assert!(matches!(source(&counters([0, 0], 0), &counters([9, 0], 0)), Source::NotAvailable { .. }));
    }
}
