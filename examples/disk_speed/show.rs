//! The findings as text.

use diskbench::{Direction, Ending, FileMode, Report, VolumeKind};
use fit::Interval;
use support::print::Printer;
use support::units;

use crate::Findings;
use crate::summary::{Affine, BySize, Summary};

/// Fits that differ by more than this are told.
const DISAGREEMENT: f64 = 0.03;

pub(crate) fn opening(out: &mut Printer, report: &Report) {
    for (label, value) in volume_lines(report) {
        out.line(format!("{label:<13}{value}"));
    }
    out.line(format!("{:<13}{}", "work", units::bytes(report.planned_bytes) + " to write and read, in shuffled order"));
}

/// What was measured, as labels and values.
pub(crate) fn volume_lines(report: &Report) -> Vec<(String, String)> {
    let v = &report.volume;
    let device = match &v.device {
        Some(device) => match &device.model {
            Some(model) => format!(", {} ({model})", device.name),
            None => format!(", {}", device.name),
        },
        None => String::new(),
    };
    let kind = match &v.kind {
        VolumeKind::Image { file: Some(file), .. } => format!("{} {}", v.kind, file.display()),
        kind => kind.to_string(),
    };
    vec![
        ("folder".into(), v.path.display().to_string()),
        ("volume".into(), format!("{} on {} from {}: {kind}{device}", v.file_system, v.mount_point.display(), v.source)),
        ("room".into(), format!("{} available of {}", units::bytes(v.space.available), units::bytes(v.space.total))),
    ]
}

/// How it was measured.
pub(crate) fn setting_lines(found: &Findings) -> Vec<(String, String)> {
    let s = &found.report.settings;
    let mut lines = Vec::new();
    let mut line = |label: &str, value: String| lines.push((label.to_string(), value));
    line("access asked", s.access.to_string());
    for summary in found.summaries() {
        line(if summary.direction == Direction::Write { "writing by" } else { "reading by" }, summary.method.to_string());
    }
    if let Some(sync) = found.report.sync() {
        let asked = if sync == s.sync { String::new() } else { format!(" ({} was asked and is not available here)", s.sync) };
        line("sync", format!("{sync}, within the timed window{asked}"));
    }
    if let Some(plan) = &found.plan {
        line("plan", plan.clone());
        let files = match s.file_mode {
            FileMode::New => "new",
            FileMode::Preallocated => "new, their blocks allocated before the timed window",
            FileMode::Overwrite => "written and synced before the timed window",
        };
        line("files", files.into());
    }
    line("block", format!("{} KiB, {} under way at once", s.block / 1024, s.queue_depth));
    line("order", format!("{} repeats, seed {}", s.repeats, s.seed));
    let (all, outside) = (units::duration(found.report.elapsed), units::duration(found.report.outside()));
    let data =
        found.report.generator_bytes_per_second.map_or(String::new(), |rate| format!("; blocks were made ready at {}", units::rate(rate)));
    line("time", format!("{all}, of which {outside} outside the timed windows{data}"));
    lines
}

pub(crate) fn results(out: &mut Printer, found: &Findings) {
    out.line("");
    for (label, value) in setting_lines(found) {
        out.line(format!("{label:<13}{value}"));
    }
    for line in warnings(found) {
        out.line(format!("! {line}"));
    }
    for summary in found.summaries() {
        out.heading(&heading(summary));
        for line in verdicts(summary) {
            out.line(format!("  {line}"));
        }
        for (label, value) in figures(summary, found.confidence) {
            out.line(format!("  {label:<20}{value}"));
        }
        out.table(&size_head(summary), &size_rows(summary));
    }
}

pub(crate) fn heading(summary: &Summary) -> String {
    let what = if summary.direction == Direction::Write { "Write" } else { "Read" };
    format!("{what}: {} files, {}", summary.files, units::bytes(summary.bytes))
}

/// What speaks against the figures, of the run as a whole.
pub(crate) fn warnings(found: &Findings) -> Vec<String> {
    let report = &found.report;
    let mut lines = Vec::new();
    match report.ending {
        Ending::TimeLimit => lines.push(format!("The time limit ended the run after {} of its files.", report.samples.len())),
        Ending::Cancelled => lines.push("The run was stopped before its end.".into()),
        _ => {}
    }
    if report.thread_lingers {
        lines.push("A request did not return in time: its thread, and so this process, lives on until the system lets go of it.".into());
    }
    for summary in found.summaries() {
        for caveat in &summary.caveats {
            lines.push(format!("The {} figures are not the speed of a disk: {caveat}.", summary.direction));
        }
    }
    if report.generator_is_slow() {
        lines.push("The data was made less than three times as fast as it was written: the disk had time to rest between blocks.".into());
    }
    if report.volume.kind == VolumeKind::VirtualDisk {
        lines.push("The disk is that of a virtual machine: the host may keep data in its memory, below what can be seen here.".into());
    }
    lines
}

/// The figures, as labels and values.
pub(crate) fn figures(s: &Summary, confidence: f64) -> Vec<(String, String)> {
    let level = format!("{} %", units::significant(confidence * 100.0, 4));
    let mut lines = Vec::new();
    let mut line = |label: &str, value: String| lines.push((label.to_string(), value));
    match &s.affine {
        Ok(a) => {
            line("bandwidth", units::rate(a.bandwidth) + &within(a.bandwidth_interval, units::rate, &level));
            line("latency", units::seconds(a.latency) + &within(a.latency_interval, units::seconds, &level));
        }
        Err(reason) => line("bandwidth, latency", format!("not known: {reason}")),
    }
    line("total over total", units::rate(s.total_rate));
    line("mean of rates", units::rate(s.mean_rate));
    let pair = |figure: &Option<(f64, Option<Interval>)>| match figure {
        Some((rate, interval)) => units::rate(*rate) + &within(*interval, units::rate, &level),
        None => "not known: too few files, or the time does not grow with the size".into(),
    };
    line("20 % trimmed mean", pair(&s.trimmed));
    line("Theil-Sen rate", pair(&s.theil_sen));
    line(
        "least squares",
        match s.least_squares {
            Some((rate, latency)) => format!("{}, latency {}", units::rate(rate), units::seconds(latency)),
            None => "not known: the time does not grow with the size".into(),
        },
    );
    let b = &s.blocks;
    let p99 = b.p99.map_or(String::new(), |t| format!(", 99 % within {}", units::seconds(t)));
    line("time of a block", format!("median {}{p99}, longest {} of {}", units::seconds(b.median), units::seconds(b.greatest), b.n));
    lines
}

/// What comes before the figures: the verdict on a change of speed, and what speaks against the fit.
pub(crate) fn verdicts(s: &Summary) -> Vec<String> {
    let mut lines = vec![change_line(s)];
    if let Ok(affine) = &s.affine {
        lines.extend(notes(s, affine));
    }
    lines
}

pub(crate) fn change_line(s: &Summary) -> String {
    match (&s.change, &s.change_reason) {
        (Some(c), _) => format!(
            "The speed CHANGED after {} ({} into the run): from {} to {}. Figures over all files mix the two.",
            units::bytes(c.after_bytes),
            units::seconds(c.after_seconds),
            units::rate(c.rate_before),
            units::rate(c.rate_after)
        ),
        (None, Some(reason)) => format!("Whether the speed changed during the run is not known: {reason}."),
        (None, None) => "No change of speed during the run was found.".into(),
    }
}

fn notes(s: &Summary, a: &Affine) -> Vec<String> {
    let mut lines = Vec::new();
    if a.below_zero {
        lines.push("Small files were faster than any latency allows: they cannot have waited for the disk.".into());
    }
    if !a.set_aside.is_empty() {
        let mut sizes = a.set_aside.clone();
        sizes.dedup();
        let sizes: Vec<String> = sizes.into_iter().map(units::bytes).collect();
        lines.push(format!("{} of {} files were so far off that they got no weight: of {}.", a.set_aside.len(), s.files, sizes.join(", ")));
    }
    match s.theil_sen {
        Some((rate, _)) if (rate / a.bandwidth - 1.0).abs() > DISAGREEMENT => {
            lines.push("The Theil-Sen rate differs from the bandwidth by more than 3 %: the times are not those of one line.".into());
        }
        _ => {}
    }
    lines
}

fn within(interval: Option<Interval>, unit: impl Fn(f64) -> String, level: &str) -> String {
    interval.map_or(String::new(), |i| format!("  ({} to {}, {level})", unit(i.lower), unit(i.upper)))
}

pub(crate) fn size_head(s: &Summary) -> [&'static str; 5] {
    [if s.by_range.is_some() { "size from" } else { "size" }, "files", "median", "least", "greatest"]
}

pub(crate) fn size_rows(s: &Summary) -> Vec<Vec<String>> {
    let row =
        |b: &BySize| vec![units::bytes(b.bytes), b.n.to_string(), units::rate(b.median_rate), units::rate(b.lower), units::rate(b.upper)];
    s.by_range.as_ref().unwrap_or(&s.by_size).iter().map(row).collect()
}
