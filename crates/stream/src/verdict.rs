//! Which stage limited a run, with the evidence.

use std::fmt;

use crate::report::{Report, StageReport};

/// What limited a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
pub enum LimitingStage {
    /// Reading the source: a faster source disk helps, more threads do not.
    Read,
    /// The codec on the threads it had: more threads, faster cores or a lower level help.
    Process,
    /// Writing the output: a faster target disk or a higher level helps, more threads do not.
    Write,
    /// The codec, but its threads often had no core: other work holds the cores, so more threads would not help.
    Starved,
}

impl fmt::Display for LimitingStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Process => "process",
            Self::Write => "write",
            Self::Starved => "starved",
        })
    }
}

/// What limited a run, and the numbers it was judged by. Its `Display` is the evidence as one sentence.
///
/// The *load* of a stage is how much of what it can do was used: of the time of the threads it has, or, where it waits
/// for a device, of the device's time. The stage with the highest load limits.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Verdict {
    /// What limited the run.
    pub stage: LimitingStage,
    /// Load of reading, 0 to 1.
    pub read_load: f64,
    /// Load of processing, 0 to 1.
    pub process_load: f64,
    /// Load of writing, 0 to 1.
    pub write_load: f64,
    /// The part of the processing time in which the threads were on a core, 0 to 1. `None` where the system does not
    /// tell processor time; then nothing is ever called starved.
    pub on_core: Option<f64>,
}

/// Processing threads that were off their core for more than this part of their time had to share it. Alone on their
/// cores they are on them for 0.97 and more; sharing one of two with one other thread leaves 0.75.
const STARVED_BELOW: f64 = 0.87;

impl Report {
    /// Which stage limited the run.
    #[must_use]
    pub fn limiting_stage(&self) -> Verdict {
        let elapsed = self.elapsed.as_secs_f64();
        let read_load = io_load(&self.read, elapsed);
        let write_load = io_load(&self.write, elapsed);
        let process_load = thread_load(&self.process, elapsed);
        let on_core = on_core(&self.process);
        let stage = if read_load > process_load && read_load >= write_load {
            LimitingStage::Read
        } else if write_load > process_load {
            LimitingStage::Write
        } else if on_core.is_some_and(|part| part < STARVED_BELOW) {
            LimitingStage::Starved
        } else {
            LimitingStage::Process
        };
        Verdict { stage, read_load, process_load, write_load, on_core }
    }
}

/// The part of its threads' time that a stage used.
fn thread_load(stage: &StageReport, elapsed: f64) -> f64 {
    let available = stage.threads as f64 * elapsed;
    if available > 0.0 { (stage.busy.as_secs_f64() / available).min(1.0) } else { 0.0 }
}

/// The same, or the part of the time in which at least one thread waited for the device, where that is more: a device
/// is one however many threads wait for it, while copies from and to the page cache run side by side.
fn io_load(stage: &StageReport, elapsed: f64) -> f64 {
    let threads = thread_load(stage, elapsed);
    match on_core(stage) {
        Some(part) if elapsed > 0.0 => {
            let waiting = stage.occupied.as_secs_f64() * (1.0 - part) / elapsed;
            threads.max(waiting).min(1.0)
        }
        _ => threads,
    }
}

fn on_core(stage: &StageReport) -> Option<f64> {
    let busy = stage.busy.as_secs_f64();
    let cpu = stage.cpu?.as_secs_f64();
    (busy > 0.0).then(|| (cpu / busy).min(1.0))
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |load: f64| (100.0 * load).round();
        let (read, process, write) = (percent(self.read_load), percent(self.process_load), percent(self.write_load));
        match self.stage {
            LimitingStage::Read => {
                write!(f, "reading was busy {read} % of the time, writing {write} %, and the threads processed {process} %")
            }
            LimitingStage::Write => {
                write!(f, "writing was busy {write} % of the time, reading {read} %, and the threads processed {process} %")
            }
            LimitingStage::Process | LimitingStage::Starved => {
                write!(f, "the threads processed {process} % of the time, reading was busy {read} %, writing {write} %")
            }
        }?;
        match self.on_core {
            Some(part) => write!(f, "; processing was on a core for {} % of its time", percent(part)),
            None => Ok(()),
        }
    }
}
