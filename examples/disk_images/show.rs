//! The table, the document and the page.

use diskbench::{Caveat, Direction};
use serde_json::{Value, json};
use support::cli::Failure;
use support::json::number;
use support::machine::Facts;
use support::page::Page;
use support::plot::Bars;
use support::print::Printer;
use support::units;

use crate::Args;
use crate::kind::Kind;
use crate::measure::Outcome;

const HEAD: [&str; 6] = ["kind", "write", "read", "empty", "filled", "files in it"];

fn rows(results: &[Outcome]) -> Vec<Vec<String>> {
    let rate = |outcome: &Outcome, direction| {
        let mark = if caveats(outcome, direction).is_empty() { "" } else { " *" };
        outcome.rate(direction).map_or("not known".into(), units::rate) + mark
    };
    let row = |o: &Outcome| {
        let sizes = [o.empty_bytes, o.filled_bytes, o.file_bytes].map(units::bytes);
        [vec![o.kind.name().into(), rate(o, Direction::Write), rate(o, Direction::Read)], sizes.to_vec()].concat()
    };
    results.iter().map(row).collect()
}

/// What was done, and what speaks against the figures.
fn notes(args: &Args, results: &[Outcome]) -> Vec<String> {
    let mut lines = vec![format!(
        "Total bytes over total time of {} files of each of {} sizes; reading {} s after the image was mounted again.",
        args.repeats,
        args.files.len(),
        args.wait
    )];
    for outcome in results {
        for direction in [Direction::Write, Direction::Read] {
            let report = outcome.report(direction);
            let how = report.method(direction).map_or(String::new(), |method| format!(" by {method}"));
            let sync = report.sync().map_or(String::new(), |sync| format!(", {sync}"));
            let against: Vec<String> = caveats(outcome, direction).iter().map(|c| format!("; *not the speed of a disk: {c}")).collect();
            lines.push(format!("{}, {direction}{how}{sync}{}", outcome.kind.name(), against.concat()));
        }
    }
    lines
}

/// Why the figures of one direction may not be those of a disk. Whether macOS keeps the file of an image in memory is told nowhere.
fn caveats(outcome: &Outcome, direction: Direction) -> Vec<Caveat> {
    let mut caveats = outcome.report(direction).caveats(direction);
    if direction == Direction::Read && matches!(outcome.kind, Kind::Hdiutil { .. }) && !caveats.contains(&Caveat::CacheUnknown) {
        caveats.push(Caveat::CacheUnknown);
    }
    caveats
}

pub(crate) fn results(out: &mut Printer, args: &Args, results: &[Outcome]) {
    let width = results.iter().map(|outcome| outcome.kind.name().len()).max().unwrap_or(0) + 2;
    for outcome in results {
        out.line(format!("{:<width$}{}", outcome.kind.name(), outcome.kind.about()));
    }
    out.line("");
    out.table(&HEAD, &rows(results));
    out.line("");
    for line in notes(args, results) {
        out.line(line);
    }
}

pub(crate) fn document(args: &Args, machine: &Facts, results: &[Outcome]) -> Value {
    let settings = json!({
        "dir": args.dir.to_string_lossy(),
        "size_bytes": args.size,
        "file_bytes": args.files,
        "repeats": args.repeats,
        "wait_seconds": args.wait,
        "qos": "default",
        "access_requested": "uncached",
    });
    let side = |o: &Outcome, direction| {
        let report = o.report(direction);
        json!({
            "bytes_per_second": o.rate(direction).map_or(Value::Null, number),
            "access_achieved": report.method(direction),
            "sync": report.sync(),
            "caveats": caveats(o, direction),
            "files": report.samples.len(),
        })
    };
    let image = |o: &Outcome| {
        json!({
            "kind": o.kind.name(),
            "about": o.kind.about(),
            "volume": o.read.volume,
            "write": side(o, Direction::Write),
            "read": side(o, Direction::Read),
            "empty_bytes": o.empty_bytes,
            "filled_bytes": o.filled_bytes,
            "file_bytes": o.file_bytes,
        })
    };
    let images = results.iter().map(image).collect();
    support::json::document("gannet/disk_images/1", machine.json(), settings, vec![("images", images)])
}

pub(crate) fn page(args: &Args, machine: &Facts, results: &[Outcome]) -> Result<Page, Failure> {
    let mut page = Page::new("Disk images");
    let bar = |o: &Outcome| {
        let rate = |direction| o.rate(direction).unwrap_or(0.0) * 1e-6;
        (o.kind.name().to_string(), vec![rate(Direction::Write), rate(Direction::Read)])
    };
    let bars = Bars { x_label: "MB/s".into(), parts: vec!["write".into(), "read".into()], rows: results.iter().map(bar).collect() };
    page.figure(&bars.svg()?, "Total bytes over total time, sync included. What the table marks with * is not the speed of a disk.");
    page.table(&HEAD, &rows(results));
    page.list(&notes(args, results));
    page.facts(&machine.lines());
    Ok(page)
}
