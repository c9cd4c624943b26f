//! The runs.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Instant;

use qos::{Applied, Meter, Observed, Probe, QosClass, Request, Topology, Workload};
use support::cli::Failure;
use support::interrupt;
use support::progress::Progress;

use crate::Settings;

/// A kind of work at a class on several numbers of threads.
pub(crate) struct Series {
    pub(crate) workload: Workload,
    pub(crate) class: QosClass,
    pub(crate) loops: u64,
    pub(crate) runs: Vec<Run>,
    pub(crate) applied: Option<Applied>,
}

/// One run on so many threads at once.
pub(crate) struct Run {
    pub(crate) threads: usize,
    /// Of each thread, in s.
    pub(crate) seconds: Vec<f64>,
    /// From the first thread's start to the last one's end, in s.
    pub(crate) wall: f64,
    pub(crate) observed: Vec<Observed>,
}

impl Run {
    pub(crate) fn total(&self) -> f64 {
        self.seconds.iter().sum()
    }

    /// Share of the CPU time of all threads at each level.
    pub(crate) fn shares(&self) -> Vec<(String, f64)> {
        let mut shares: Vec<(String, f64)> = Vec::new();
        for level in self.observed.iter().flat_map(|observed| &observed.levels) {
            let time = level.time.as_secs_f64();
            match shares.iter_mut().find(|(name, _)| *name == level.name) {
                Some((_, sum)) => *sum += time,
                None => shares.push((level.name.clone(), time)),
            }
        }
        let all: f64 = shares.iter().map(|(_, time)| time).sum();
        shares.iter_mut().for_each(|(_, time)| *time /= all);
        shares.retain(|(_, share)| share.is_finite());
        shares
    }
}

pub(crate) fn series(
    settings: &Settings,
    probe: &Probe,
    class: QosClass,
    loops: u64,
    topology: &Topology,
    progress: &Progress,
) -> Result<Series, Failure> {
    let mut series = Series { workload: probe.workload(), class, loops, runs: Vec::new(), applied: None };
    let request = Request::new(class).profile(settings.profile);
    for _ in 0..settings.repeats {
        for &threads in &settings.threads {
            interrupt::check()?;
            let (run, applied) = once(probe, &request, loops, threads, topology)?;
            series.runs.push(run);
            series.applied = Some(applied);
            progress.add(1);
        }
    }
    Ok(series)
}

/// Where the threads of a run wait for each other, so that they start together, or not at all.
struct Gate {
    /// How many have yet to come; `None` once one of them could not be started.
    missing: Mutex<Option<usize>>,
    changed: Condvar,
}

impl Gate {
    fn new(threads: usize) -> Self {
        Gate { missing: Mutex::new(Some(threads)), changed: Condvar::new() }
    }

    /// Waits for the others. Says whether the run takes place.
    fn pass(&self) -> bool {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        *missing = missing.map(|count| count - 1);
        self.changed.notify_all();
        while missing.is_some_and(|count| count > 0) {
            missing = self.changed.wait(missing).unwrap_or_else(PoisonError::into_inner);
        }
        missing.is_some()
    }

    /// Sends everybody home.
    fn close(&self) {
        *self.missing.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.changed.notify_all();
    }
}

fn once(probe: &Probe, request: &Request, loops: u64, threads: usize, topology: &Topology) -> Result<(Run, Applied), Failure> {
    let gate = Arc::new(Gate::new(threads));
    let mut handles = Vec::with_capacity(threads);
    for index in 0..threads {
        let (probe, topology, at_start) = (probe.clone(), topology.clone(), Arc::clone(&gate));
        let work = move || -> Result<_, qos::Error> {
            let _ = probe.run(loops.min(1 << 16));
            if !at_start.pass() {
                return Ok(None);
            }
            let meter = Meter::start(&topology)?;
            let start = Instant::now();
            let time = probe.time(loops);
            Ok(Some((start, time, meter.stop()?)))
        };
        match qos::spawn(Builder::new().name(format!("probe {index}")), request.clone(), work) {
            Ok(handle) => handles.push(handle),
            Err(error) => {
                gate.close();
                return Err(Failure::from(error).context(&format!("thread {} of {threads}", index + 1)));
            }
        }
    }
    let mut run = Run { threads, seconds: Vec::new(), wall: 0.0, observed: Vec::new() };
    let mut last = None;
    let mut span: Option<(Instant, Instant)> = None;
    for (handle, applied) in handles {
        let outcome = handle.join().map_err(|_| Failure::run("a run panicked"))??;
        let (start, time, observed) = outcome.ok_or_else(|| Failure::run("the run did not take place"))?;
        let (first, end) = span.unwrap_or((start, start + time));
        span = Some((first.min(start), end.max(start + time)));
        run.seconds.push(time.as_secs_f64());
        run.observed.push(observed);
        last = Some(applied);
    }
    run.wall = span.map_or(0.0, |(first, end)| (end - first).as_secs_f64());
    let applied = last.ok_or_else(|| Failure::run("no thread was started"))?;
    Ok((run, applied))
}
