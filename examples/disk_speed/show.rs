//! The findings as text.

use diskbench::{Direction, Ending, Report, VolumeKind};
use fit::Interval;
use support::print::Printer;
use support::units;

use crate::Findings;
use crate::summary::{Affine, Summary};

/// Fits that differ by more than this are told.
const DISAGREEMENT: f64 = 0.03;

pub(crate) fn opening(out: &mut Printer, report: &Report) {
    for (label, value) in volume_lines(report) {
        out.line(format!("{label:<13}{value}"));
    }
    out.line(format!("{:<13}{}", "plan", units::bytes(report.planned_bytes) + " to write and read, in shuffled order"));
}

/// What was measured, as labels and values.
pub(crate) fn volume_lines(report: &Report) -> Vec<(&'static str, String)> {
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
        ("folder", v.path.display().to_string()),
        ("volume", format!("{} on {} from {}: {kind}{device}", v.file_system, v.mount_point.display(), v.source)),
        ("room", format!("{} available of {}", units::bytes(v.space.available), units::bytes(v.space.total))),
    ]
}

/// How it was measured.
pub(crate) fn setting_lines(found: &Findings) -> Vec<(&'static str, String)> {
    let s = &found.report.settings;
    let mut lines = vec![("access asked", s.access.to_string())];
    for summary in found.summaries() {
        let label = if summary.direction == Direction::Write { "writing by" } else { "reading by" };
        lines.push((label, summary.method.to_string()));
    }
    if let Some(sync) = found.report.sync() {
        let asked = if sync == s.sync { String::new() } else { format!(" ({} was asked and is not available here)", s.sync) };
        lines.push(("sync", format!("{sync}, within the timed window{asked}")));
    }
    lines.push(("block", format!("{} KiB, {} under way at once", s.block / 1024, s.queue_depth)));
    lines.push(("order", format!("{} repeats, seed {}", s.repeats, s.seed)));
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
        for line in lines(summary, found.confidence) {
            out.line(format!("  {line}"));
        }
        out.table(&["size", "files", "median", "least", "greatest"], &size_rows(summary));
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

/// The change-point verdict first, then the figures.
pub(crate) fn lines(s: &Summary, confidence: f64) -> Vec<String> {
    let level = format!("{} %", units::significant(confidence * 100.0, 4));
    let mut lines = vec![change_line(s)];
    match &s.affine {
        Ok(a) => {
            lines.push(format!("bandwidth           {}{}", units::rate(a.bandwidth), within(a.bandwidth_interval, units::rate, &level)));
            lines.push(format!("latency             {}{}", units::seconds(a.latency), within(a.latency_interval, units::seconds, &level)));
            lines.extend(notes(s, a));
        }
        Err(reason) => lines.push(format!("bandwidth, latency  not known: {reason}")),
    }
    lines.push(format!("total over total    {}", units::rate(s.total_rate)));
    lines.push(format!("mean of rates       {}", units::rate(s.mean_rate)));
    let pair = |figure: &Option<(f64, Option<Interval>)>| match figure {
        Some((rate, interval)) => units::rate(*rate) + &within(*interval, units::rate, &level),
        None => "not known: too few files, or the time does not grow with the size".into(),
    };
    lines.push(format!("20 % trimmed mean   {}", pair(&s.trimmed)));
    lines.push(format!("Theil-Sen rate      {}", pair(&s.theil_sen)));
    lines.push(match s.least_squares {
        Some((rate, latency)) => format!("least squares       {}, latency {}", units::rate(rate), units::seconds(latency)),
        None => "least squares       not known: the time does not grow with the size".into(),
    });
    let b = &s.blocks;
    let p99 = b.p99.map_or(String::new(), |t| format!(", 99 % within {}", units::seconds(t)));
    lines.push(format!("time of a block     median {}{p99}, longest {} of {}", units::seconds(b.median), units::seconds(b.greatest), b.n));
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
        lines.push("  small files were faster than any latency allows: they cannot have waited for the disk".into());
    }
    if !a.set_aside.is_empty() {
        let mut sizes = a.set_aside.clone();
        sizes.dedup();
        let sizes: Vec<String> = sizes.into_iter().map(units::bytes).collect();
        lines.push(format!(
            "  {} of {} files were so far off that they got no weight: of {}",
            a.set_aside.len(),
            s.files,
            sizes.join(", ")
        ));
    }
    match s.theil_sen {
        Some((rate, _)) if (rate / a.bandwidth - 1.0).abs() > DISAGREEMENT => {
            lines.push("  the Theil-Sen rate differs by more than 3 %: the times are not those of one line".into());
        }
        _ => {}
    }
    lines
}

fn within(interval: Option<Interval>, unit: impl Fn(f64) -> String, level: &str) -> String {
    interval.map_or(String::new(), |i| format!("  ({} to {}, {level})", unit(i.lower), unit(i.upper)))
}

pub(crate) fn size_rows(s: &Summary) -> Vec<Vec<String>> {
    s.by_size
        .iter()
        .map(|b| vec![units::bytes(b.bytes), b.n.to_string(), units::rate(b.median_rate), units::rate(b.lower), units::rate(b.upper)])
        .collect()
}
