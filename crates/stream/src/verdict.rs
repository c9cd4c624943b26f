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
        } else if on_core.is_some_and(|part| part < STARVED_BELOW * own_share(self.threads, self.cpus)) {
            LimitingStage::Starved
        } else {
            LimitingStage::Process
        };
        Verdict { stage, read_load, process_load, write_load, on_core }
    }
}

/// The part of its time that a thread can be on a core when nobody else wants one: more threads than processors share
/// them, and that is no other work's doing.
fn own_share(threads: usize, cpus: usize) -> f64 {
    if cpus > 0 && threads > cpus { cpus as f64 / threads as f64 } else { 1.0 }
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Busy, processor and occupied seconds.
    type Times = (f64, f64, f64);

    fn report(threads: usize, elapsed: f64, read: Times, process: Times, write: Times) -> Report {
        let stage = |(busy, cpu, occupied): Times| StageReport {
            threads,
            busy: Duration::from_secs_f64(busy),
            cpu: Some(Duration::from_secs_f64(cpu)),
            occupied: Duration::from_secs_f64(occupied),
            ..StageReport::default()
        };
        Report {
            threads,
            elapsed: Duration::from_secs_f64(elapsed),
            read: stage(read),
            process: stage(process),
            write: stage(write),
            ..Report::default()
        }
    }

    /// Runs as they were recorded on a machine of two cores.
    #[test]
    fn recorded_runs_get_the_verdict_that_their_disk_and_load_were_made_for() {
        use LimitingStage::{Process, Read, Starved, Write};
        let recorded = [
            // zstd 3 from memory to memory, one thread and two.
            (Process, report(1, 1.371, (0.359, 0.358, 0.359), (0.968, 0.965, 0.968), (0.033, 0.033, 0.033))),
            (Process, report(2, 0.791, (0.405, 0.390, 0.361), (1.122, 1.095, 0.728), (0.032, 0.032, 0.032))),
            // The same while another program spins on the second core.
            (Process, report(1, 1.718, (0.396, 0.394, 0.396), (1.282, 1.248, 1.282), (0.032, 0.032, 0.032))),
            (Starved, report(2, 1.738, (0.798, 0.407, 0.691), (2.591, 1.352, 1.610), (0.048, 0.032, 0.048))),
            // LZ4 on a disk of 30 MB/s without a cache: to it, and from it.
            (Write, report(2, 0.702, (0.099, 0.085, 0.095), (0.163, 0.142, 0.151), (1.111, 0.017, 0.660))),
            (Read, report(2, 3.619, (5.839, 0.141, 3.245), (0.179, 0.159, 0.179), (0.876, 0.019, 0.604))),
            // LZ4 through the page cache of ext4 on a disk of 30 MB/s: to it, and from it on two threads and one.
            (Write, report(2, 3.045, (0.441, 0.422, 0.368), (0.807, 0.774, 0.571), (2.463, 0.095, 2.459))),
            (Read, report(2, 3.358, (4.301, 0.140, 2.305), (0.177, 0.166, 0.168), (2.099, 0.013, 1.105))),
            (Read, report(1, 3.318, (3.134, 0.122, 3.134), (0.152, 0.147, 0.152), (0.028, 0.012, 0.028))),
            // zstd 19 on the same disks.
            (Process, report(2, 4.058, (0.032, 0.023, 0.026), (7.658, 7.381, 4.026), (0.003, 0.001, 0.003))),
            (Process, report(2, 4.150, (0.738, 0.026, 0.628), (6.810, 6.691, 4.011), (0.005, 0.002, 0.005))),
        ];
        for (index, (expected, report)) in recorded.iter().enumerate() {
            let verdict = report.limiting_stage();
            assert_eq!(verdict.stage, *expected, "run {index}: {verdict:?}");
        }
    }

    #[test]
    fn copies_by_many_threads_are_no_device() {
        // 64 threads that read 5 % of their time: at nearly every moment one of them reads.
        let report = report(64, 1.0, (3.2, 3.2, 0.96), (60.0, 60.0, 1.0), (0.3, 0.3, 0.2));
        assert_eq!(report.limiting_stage().stage, LimitingStage::Process);
    }

    #[test]
    fn more_threads_than_processors_starve_nobody_but_other_work_does() {
        let mut report = report(4, 1.0, (0.1, 0.1, 0.1), (3.6, 1.75, 1.0), (0.1, 0.1, 0.1));
        report.cpus = 2;
        assert_eq!(report.limiting_stage().stage, LimitingStage::Process);
        report.process.cpu = Some(Duration::from_secs_f64(1.2));
        assert_eq!(report.limiting_stage().stage, LimitingStage::Starved);
    }

    #[test]
    fn without_processor_times_nothing_is_starved() {
        let mut report = report(2, 1.0, (0.1, 0.1, 0.1), (1.8, 0.9, 1.0), (0.1, 0.1, 0.1));
        assert_eq!(report.limiting_stage().stage, LimitingStage::Starved);
        report.process.cpu = None;
        assert_eq!(report.limiting_stage().stage, LimitingStage::Process);
        assert_eq!(report.limiting_stage().on_core, None);
    }

    #[test]
    fn an_empty_run_has_a_verdict() {
        let verdict = Report::default().limiting_stage();
        assert_eq!((verdict.stage, verdict.process_load), (LimitingStage::Process, 0.0));
        assert!(verdict.to_string().contains("0 %"));
    }
}
