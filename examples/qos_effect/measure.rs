//! The runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;

use qos::{Applied, Effective, Evidence, Meter, Observed, Probe, ProcessState, QosClass, Request, Topology, Verdict, Workload};
use support::cli::Failure;
use support::interrupt;
use support::progress::Progress;

use crate::Settings;

/// All runs of a class.
pub(crate) struct ClassResult {
    pub(crate) class: QosClass,
    pub(crate) runs: Vec<Run>,
}

/// One run.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) seconds: f64,
    pub(crate) applied: Applied,
    pub(crate) effective: Effective,
    pub(crate) observed: Observed,
    pub(crate) verdict: Verdict,
}

impl ClassResult {
    pub(crate) fn seconds(&self) -> Vec<f64> {
        self.runs.iter().map(|run| run.seconds).collect()
    }

    /// The verdict of most runs; of several as frequent ones, the last.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        let count = |verdict: &Verdict| self.runs.iter().filter(|run| run.verdict == *verdict).count();
        self.runs.iter().map(|run| run.verdict).max_by_key(count)
    }
}

/// Runs every class, the first run of all for nothing. The results are in order of the classes, lowest first.
pub(crate) fn all(settings: &Settings, probe: &Probe, topology: &Topology) -> Result<Vec<ClassResult>, Failure> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..settings.against {
            scope.spawn(|| {
                let probe = Probe::new(Workload::Integer);
                while !stop.load(Ordering::Relaxed) {
                    let _ = probe.run(10_000);
                }
            });
        }
        let results = rounds(settings, probe, topology);
        stop.store(true, Ordering::Relaxed);
        results
    })
}

fn rounds(settings: &Settings, probe: &Probe, topology: &Topology) -> Result<Vec<ClassResult>, Failure> {
    let progress = Progress::steps((settings.repeats * settings.classes.len() + 1) as u64);
    progress.message("first run, discarded");
    once(QosClass::Default, settings, probe, topology)?;
    progress.add(1);
    let mut results: Vec<_> = settings.classes.iter().map(|class| ClassResult { class: *class, runs: Vec::new() }).collect();
    for _ in 0..settings.repeats {
        for result in &mut results {
            interrupt::check()?;
            progress.message(result.class.name());
            result.runs.push(once(result.class, settings, probe, topology)?);
            progress.add(1);
        }
    }
    results.sort_by_key(|result| result.class);
    Ok(results)
}

/// One run in a thread of its own, which ends with it: so nothing needs to be undone.
fn once(class: QosClass, settings: &Settings, probe: &Probe, topology: &Topology) -> Result<Run, Failure> {
    let request = Request::new(class).profile(settings.profile);
    let (probe, topology, loops, asked) = (probe.clone(), topology.clone(), settings.loops, request.clone());
    let work = move || -> Result<_, qos::Error> {
        let meter = Meter::start(&topology)?;
        let time = probe.time(loops);
        let observed = meter.stop()?;
        let (effective, process) = (Effective::current()?, ProcessState::current()?);
        let evidence = Evidence { request: &asked, effective: &effective, process: &process, observed: &observed, topology: &topology };
        let verdict = Verdict::judge(&evidence);
        Ok((time, effective, observed, verdict))
    };
    let (thread, applied) = qos::spawn(Builder::new().name(class.name().into()), request, work)?;
    let outcome = thread.join().map_err(|_| Failure::run("a run panicked"))?;
    let (time, effective, observed, verdict) = outcome?;
    Ok(Run { seconds: time.as_secs_f64(), applied, effective, observed, verdict })
}
