//! What would make it faster, in plain words, and what the numbers cannot tell. The arithmetic is the pipeline model's.

use diskbench::{Direction, VolumeKind};
use stream::{LimitingStage, Pipeline};
use support::machine;
use support::units::{percent, rate, seconds};

use crate::args::Settings;
use crate::fits::Fits;
use crate::measure::{Operation, Run, of, plural};
use crate::verdict::Verdict;
use crate::volume;

/// Sentences for people.
pub(crate) struct Advice {
    pub(crate) would_help: Vec<String>,
    pub(crate) not_known: Vec<String>,
}

impl Advice {
    pub(crate) fn new(
        settings: &Settings,
        machine: &machine::Facts,
        volume: &volume::Facts,
        runs: &[Run],
        verdicts: &[Verdict],
        fits: &Fits,
    ) -> Self {
        let mut advice = Self { would_help: Vec::new(), not_known: Vec::new() };
        if let Some(case) = Case::new(settings, machine, volume, runs, verdicts) {
            case.threads(&mut advice.would_help);
            case.disk(&mut advice.would_help);
        }
        not_known(&mut advice.not_known, settings, machine, volume, fits);
        advice
    }
}

/// Compression at the largest thread count.
struct Case<'a> {
    verdicts: &'a [Verdict],
    last: &'a Verdict,
    pipeline: Pipeline,
    usable: usize,
}

impl<'a> Case<'a> {
    fn new(settings: &Settings, machine: &machine::Facts, volume: &volume::Facts, runs: &[Run], verdicts: &'a [Verdict]) -> Option<Self> {
        let last = verdicts.last()?;
        let distance = |run: &&Run| (run.seconds() - last.median_seconds).abs();
        let typical =
            of(runs, Operation::Compress).filter(|run| run.threads == last.threads).min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        let mut pipeline = Pipeline::of(&typical.report);
        let usable = machine.usable_cpus();
        pipeline.threads = pipeline.threads.min(usable);
        if !settings.warm {
            // What the run saw of a disk it hardly waited for says little; the volume's own test says more.
            if let Some(speed) = volume.rate(Direction::Write).filter(|_| last.stage != LimitingStage::Write) {
                pipeline.write_bytes_per_second = speed;
            }
            let same_volume = volume.source_volume.is_none();
            if let Some(speed) = volume.rate(Direction::Read).filter(|_| same_volume && last.stage != LimitingStage::Read) {
                pipeline.read_bytes_per_second = speed;
            }
        }
        Some(Self { verdicts, last, pipeline, usable })
    }

    /// Seconds that the model gives for `threads`, and what limits then.
    fn with_threads(&self, threads: usize) -> (f64, LimitingStage) {
        let mut pipeline = self.pipeline;
        pipeline.threads = threads;
        let predicted = pipeline.predict();
        (predicted.time.as_secs_f64(), predicted.limiting)
    }

    fn threads(&self, lines: &mut Vec<String>) {
        let (n, now) = (self.last.threads, self.last.median_seconds);
        if let [first, .., last] = self.verdicts {
            let gain = first.median_seconds / last.median_seconds;
            let share = gain * first.threads as f64 / last.threads as f64;
            lines.push(format!(
                "From {} to {}: {} became {}, {:.2} times as fast ({} of what the threads could bring).",
                plural(first.threads),
                plural(last.threads),
                seconds(first.median_seconds),
                seconds(last.median_seconds),
                gain,
                percent(share)
            ));
        }
        match self.last.stage {
            LimitingStage::Read | LimitingStage::Write => {
                let what = if self.last.stage == LimitingStage::Read { "reading" } else { "writing" };
                lines.push(format!("More threads than {n} would bring nothing: {what} sets the time."));
            }
            LimitingStage::Starved => {
                let on_core = self
                    .last
                    .evidence
                    .on_core
                    .map_or_else(String::new, |part| format!(" (the threads were on a core for {} of it)", percent(part)));
                let (alone, _) = self.with_threads(n.min(self.usable));
                lines.push(format!(
                    "Ending the other work that holds the cores{on_core}: with cores of their own the {n} threads would take about {}.",
                    seconds(alone)
                ));
                lines.push("More threads would not help while the cores are taken.".into());
            }
            LimitingStage::Process if n > self.usable => {
                lines.push(format!(
                    "More threads would not help: {n} threads share the {} CPUs that this process may use already.",
                    self.usable
                ));
            }
            LimitingStage::Process if n < self.usable => {
                let (time, limit) = self.with_threads(self.usable);
                lines.push(format!(
                    "More threads: {} on the {} CPUs this process may use should take about {} rather than {}, if the CPUs are alike{}.",
                    plural(self.usable),
                    self.usable,
                    seconds(time),
                    seconds(now),
                    then(limit)
                ));
            }
            LimitingStage::Process => {
                let double = 2 * n;
                let (time, limit) = self.with_threads(double);
                lines.push(format!(
                    "More threads need more cores: this process may use {} CPU{}. {double} cores of the same kind should take about {} rather than {}{}.",
                    self.usable,
                    if self.usable == 1 { "" } else { "s" },
                    seconds(time),
                    seconds(now),
                    then(limit)
                ));
            }
        }
    }

    fn disk(&self, lines: &mut Vec<String>) {
        let now = self.last.median_seconds;
        let predicted = self.pipeline.predict();
        let alone = |what: &str, time: f64, speed: f64| {
            if speed.is_finite() {
                format!("{what} alone would take {} at {}", seconds(time), rate(speed))
            } else {
                format!("{what} never had to wait for a disk")
            }
        };
        let read = alone("reading", predicted.read_seconds, self.pipeline.read_bytes_per_second);
        let write = alone("writing", predicted.write_seconds, self.pipeline.write_bytes_per_second);
        let mut faster = self.pipeline;
        match self.last.stage {
            LimitingStage::Read => faster.read_bytes_per_second *= 2.0,
            LimitingStage::Write => faster.write_bytes_per_second *= 2.0,
            LimitingStage::Process | LimitingStage::Starved => {
                let disk = predicted.read_seconds.max(predicted.write_seconds);
                lines.push(format!("A faster disk would bring little: of {}, {read}, and {write}, while the threads work.", seconds(now)));
                if disk > 0.0 {
                    let enough = (self.pipeline.work_seconds / disk).ceil();
                    if enough.is_finite() && enough > self.last.threads as f64 {
                        lines.push(format!("This disk would begin to limit at about {enough:.0} threads of the same kind."));
                    }
                }
                return;
            }
        }
        let (which, other) = if self.last.stage == LimitingStage::Read { ("read", write) } else { ("written", read) };
        let then_time = faster.predict();
        lines.push(format!(
            "A disk that can be {which} twice as fast: about {} rather than {}{}; {other}.",
            seconds(then_time.time.as_secs_f64()),
            seconds(now),
            then(then_time.limiting)
        ));
        if self.last.stage == LimitingStage::Write {
            lines.push("Writing less: a codec or a level that compresses better, as long as the threads keep up.".into());
        }
    }
}

/// What limits after a change.
fn then(limit: LimitingStage) -> &'static str {
    match limit {
        LimitingStage::Read => ", and reading would limit then",
        LimitingStage::Write => ", and writing would limit then",
        LimitingStage::Process | LimitingStage::Starved => ", and processing would still limit",
    }
}

fn not_known(lines: &mut Vec<String>, settings: &Settings, machine: &machine::Facts, volume: &volume::Facts, fits: &Fits) {
    if let Ok(fit) = &fits.compress {
        let most = fit.most_threads as usize;
        if let Some(text) = fit.prediction(2 * most) {
            lines.push(format!("Thread counts beyond {most}: the models go on without data. For {} {text}.", 2 * most));
        }
    }
    if machine.topology.as_ref().is_ok_and(|t| t.levels.len() > 1) {
        lines.push("Which cores the threads ran on: the cores are of several kinds, and the model counts them as equal.".into());
    }
    if machine.machine.virtualization.as_ref().is_some_and(|v| v.is_virtual) {
        lines.push("What else the host does: in a virtual machine its other guests share the cores, and it may cache the disk.".into());
    }
    if settings.warm {
        lines.push("What the disk does: with --warm the source comes from memory, and the output may still be there at the end.".into());
    } else if volume.report.volume.kind == VolumeKind::Memory {
        lines.push("What a disk would do: this volume is in memory.".into());
    }
    if volume.source_volume.is_some() {
        lines.push("How fast the source's volume is: only the output's was timed.".into());
    }
    lines.push("Longer work: disks slow down when their fast cache is full, and cores when they get hot; these runs took seconds.".into());
    lines.push("Other data: both the codec's speed and the bytes to be written depend on what is compressed.".into());
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn verdict(threads: usize, stage: LimitingStage, median_seconds: f64) -> Verdict {
        let evidence = stream::Report::default().limiting_stage();
        Verdict { threads, cpus: 0, stage, evidence, agreeing: 1, runs: 1, median_seconds }
    }

    fn said(verdicts: &[Verdict], read: f64, write: f64, usable: usize) -> String {
        let last = verdicts.last().unwrap();
        let mut pipeline = Pipeline::new(1_000_000_000, 400_000_000, Duration::from_secs(8), last.threads);
        pipeline.read_bytes_per_second = read;
        pipeline.write_bytes_per_second = write;
        let case = Case { verdicts, last, pipeline, usable };
        let mut lines = Vec::new();
        case.threads(&mut lines);
        case.disk(&mut lines);
        lines.join("\n")
    }

    #[test]
    fn where_processing_limits_cores_help_until_the_disk_does() {
        let verdicts = [verdict(1, LimitingStage::Process, 8.0), verdict(2, LimitingStage::Process, 4.1)];
        let text = said(&verdicts, 1e9, 1e9, 2);
        assert!(text.contains("1.95 times as fast"), "{text}");
        assert!(text.contains("4 cores of the same kind should take about 2 s rather than 4.1 s"), "{text}");
        assert!(text.contains("reading alone would take 1 s at 1 GB/s") && text.contains("at about 8 threads"), "{text}");
        let text = said(&verdicts, 1e9, 1e9, 16);
        assert!(text.contains("16 threads") && text.contains("about 1 s") && text.contains("reading would limit then"), "{text}");
    }

    #[test]
    fn where_a_disk_limits_threads_do_not_help() {
        let text = said(&[verdict(2, LimitingStage::Write, 40.0)], f64::INFINITY, 1e7, 2);
        assert!(text.contains("would bring nothing: writing sets the time"), "{text}");
        assert!(text.contains("about 20 s rather than 40 s, and writing would limit then"), "{text}");
        let text = said(&[verdict(2, LimitingStage::Read, 5.0)], 2e8, 1e9, 2);
        assert!(text.contains("about 4 s rather than 5 s, and processing would still limit"), "{text}");
    }

    #[test]
    fn where_cores_are_taken_they_are_what_is_missing() {
        let text = said(&[verdict(2, LimitingStage::Starved, 6.0)], 1e9, 1e9, 2);
        assert!(text.contains("Ending the other work") && text.contains("about 4 s"), "{text}");
    }
}
