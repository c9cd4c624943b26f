//! The findings as text.

use diskbench::Direction;
use stream::Stage;
use support::machine;
use support::print::Printer;
use support::units::{self, bytes, percent, rate, seconds};

use crate::Findings;
use crate::args::Settings;
use crate::fits::Fits;
use crate::measure::{Operation, Run, of, plural};
use crate::verdict::{Verdict, median};
use crate::{source, volume};

/// The machine, what will be done to what.
pub(crate) fn opening(out: &mut Printer, machine: &machine::Facts, settings: &Settings, source: &source::Facts) {
    out.line("Machine");
    for (label, value) in machine.lines() {
        out.line(format!("  {label:22} {value}"));
    }
    out.heading("Task");
    for (label, value) in task(settings, source) {
        out.line(format!("  {label:22} {value}"));
    }
}

/// What is done, as labels and values.
pub(crate) fn task(settings: &Settings, source: &source::Facts) -> Vec<(&'static str, String)> {
    let data = if source.made {
        format!("{} of made data (seed {}), as no file was given", bytes(source.bytes), settings.seed)
    } else {
        format!("{} ({})", source.path.display(), bytes(source.bytes))
    };
    let codec = match settings.level {
        Some(level) => format!("{} level {level}", settings.codec.name()),
        None => settings.codec.name().to_string(),
    };
    let window = if settings.warm {
        "source left in the page cache, output not synced (--warm)"
    } else {
        "source evicted from the page cache, output synced, the sync counted as writing"
    };
    let threads: Vec<String> = settings.threads.iter().map(usize::to_string).collect();
    vec![
        ("data", data),
        ("output in", settings.dir.display().to_string()),
        ("codec", codec),
        ("threads", format!("{}; {} runs of each, in shuffled order, after a warm-up", threads.join(", "), settings.repeats)),
        ("QoS class", settings.qos.to_string()),
        ("timed window", window.to_string()),
    ]
}

/// The volume and its speed.
pub(crate) fn volume(out: &mut Printer, volume: &volume::Facts) {
    out.heading("Volume");
    for line in volume_lines(volume) {
        out.line(format!("  {line}"));
    }
}

/// The same as lines.
pub(crate) fn volume_lines(volume: &volume::Facts) -> Vec<String> {
    let report = &volume.report;
    let v = &report.volume;
    let mut lines = vec![format!("{} on {} ({}), {} available", v.file_system, v.source, v.kind, bytes(v.space.available))];
    for direction in [Direction::Write, Direction::Read] {
        let (Some(speed), Some(method)) = (volume.rate(direction), report.method(direction)) else { continue };
        let sync = if direction == Direction::Write { report.sync().map(|s| format!(", {s} included")) } else { None };
        lines.push(format!("{direction:6} {} ({method}{})", rate(speed), sync.unwrap_or_default()));
    }
    lines.extend(volume.caveats().into_iter().map(|caveat| format!("not the speed of the disk: {caveat}")));
    if let Some(other) = &volume.source_volume {
        lines.push(format!(
            "the source is on another volume, which was not timed: {} on {} ({})",
            other.file_system, other.source, other.kind
        ));
    }
    lines
}

/// Everything that the runs showed.
pub(crate) fn results(out: &mut Printer, found: &Findings) {
    for operation in Operation::ALL {
        out.heading(if operation == Operation::Compress { "Compression" } else { "Decompression (every byte compared with the source)" });
        let (head, rows) = run_table(&found.runs, operation, &found.settings);
        out.table(&head, &rows);
    }
    for note in run_notes(found) {
        out.line(format!("  {note}"));
    }
    out.heading("Over threads (T)");
    for line in fit_lines(&found.fits) {
        out.line(format!("  {line}"));
    }
    out.heading("Rate-limiting stage of compression");
    for verdict in &found.verdicts {
        out.line(format!("  {}", verdict_line(verdict)));
    }
    out.heading("What would help");
    for line in &found.advice.would_help {
        out.line(format!("  {line}"));
    }
    out.heading("What this cannot know");
    for line in &found.advice.not_known {
        out.line(format!("  {line}"));
    }
}

/// Medians at each thread count.
pub(crate) fn run_table(runs: &[Run], operation: Operation, settings: &Settings) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let head = vec!["threads", "time", "lowest", "highest", "rate", "read", "process", "write", "ratio"];
    let rows = settings
        .threads
        .iter()
        .filter_map(|&threads| {
            let here: Vec<&Run> = of(runs, operation).filter(|run| run.threads == threads).collect();
            let times: Vec<f64> = here.iter().map(|run| run.seconds()).collect();
            let middle = median(&times)?;
            let occupied = |stage| {
                let parts: Vec<f64> = here.iter().map(|run| run.report.stage(stage).occupied.as_secs_f64() / run.seconds()).collect();
                median(&parts).map_or_else(String::new, percent)
            };
            let report = &here.first()?.report;
            let (whole, packed) = match operation {
                Operation::Compress => (report.input_bytes, report.output_bytes),
                Operation::Decompress => (report.output_bytes, report.input_bytes),
            };
            Some(vec![
                threads.to_string(),
                seconds(middle),
                seconds(times.iter().copied().fold(f64::INFINITY, f64::min)),
                seconds(times.iter().copied().fold(0.0, f64::max)),
                rate(whole as f64 / middle),
                occupied(Stage::Read),
                occupied(Stage::Process),
                occupied(Stage::Write),
                units::significant(whole as f64 / packed as f64, 4),
            ])
        })
        .collect();
    (head, rows)
}

/// What must be known to read the tables.
pub(crate) fn run_notes(found: &Findings) -> Vec<String> {
    let mut notes =
        vec!["time is the median; read, process and write are the part of it with at least one thread in that stage".to_string()];
    let fewest = of(&found.runs, Operation::Compress).filter(|run| run.report.threads < run.threads).map(|run| run.report.threads).min();
    if let Some(threads) = fewest {
        notes.push(format!(
            "the data has too few chunks for all threads: {} at most were used (a smaller --chunk makes more)",
            plural(threads)
        ));
    }
    let warm = found.runs.iter().filter(|run| run.eviction.as_ref().is_some_and(|e| e.is_cold() != Some(true)));
    let warm: Vec<&Run> = warm.collect();
    if let Some(run) = warm.first() {
        let why = run.eviction.as_ref().and_then(|e| e.obstacle.clone()).unwrap_or_else(|| "its pages stayed or cannot be counted".into());
        notes.push(format!("in {} of {} runs the source was not known to be out of the page cache: {why}", warm.len(), found.runs.len()));
    }
    notes
}

/// The equations, or why there are none.
pub(crate) fn fit_lines(fits: &Fits) -> Vec<String> {
    let mut lines = Vec::new();
    for operation in Operation::ALL {
        match fits.of(operation) {
            Ok(fit) => {
                lines.extend(fit.equations(fits.confidence).into_iter().map(|equation| format!("{:11} {equation}", operation.name())));
                lines.extend(fit.no_interval.iter().map(|why| format!("{:11} {why}", "")));
            }
            Err(why) => lines.push(format!("{:11} no fit: {why}", operation.name())),
        }
    }
    lines
}

/// A verdict with its evidence.
pub(crate) fn verdict_line(verdict: &Verdict) -> String {
    format!("{}: {} — {}", plural(verdict.threads), verdict.stage, verdict.sentence())
}
