//! `--compare`: the ratio of two results, if they can be compared.

use std::path::Path;

use serde_json::{Value, json};
use support::cli::Failure;
use support::print::Printer;
use support::units;

use crate::args::Args;
use crate::json::SCHEMA;

/// Bandwidths within this share of each other are called equal.
const EQUAL: f64 = 0.03;

/// What must be the same, as JSON pointers.
const MUST_MATCH: [&str; 6] = [
    "/settings/access_achieved",
    "/settings/sync",
    "/settings/block_bytes",
    "/settings/queue_depth",
    "/settings/file_mode",
    "/settings/seed",
];

/// The ratio of B over A in one direction.
#[derive(Debug, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) direction: &'static str,
    pub(crate) a: f64,
    pub(crate) b: f64,
    pub(crate) ratio: f64,
    /// `None` if one of the two has no interval.
    pub(crate) interval: Option<(f64, f64)>,
}

impl Ratio {
    pub(crate) fn verdict(&self) -> &'static str {
        match self.interval {
            None => "not known: an interval is missing",
            Some((lower, upper)) if lower > 1.0 / (1.0 + EQUAL) && upper < 1.0 + EQUAL => "equal within 3 %",
            Some((lower, _)) if lower > 1.0 => "B is faster",
            Some((_, upper)) if upper < 1.0 => "B is slower",
            Some(_) => "not known: the interval holds both equality and a difference",
        }
    }
}

pub(crate) fn run(a: &Path, b: &Path, args: &Args, out: &mut Printer) -> Result<(), Failure> {
    let (left, right) = (load(a)?, load(b)?);
    if let Some(difference) = difference(&left, &right) {
        return Err(Failure::run(format!("{} and {} cannot be compared: {difference}", a.display(), b.display())));
    }
    let ratios = ratios(&left, &right);
    if ratios.is_empty() {
        return Err(Failure::run(format!("{} and {} have no bandwidth in common", a.display(), b.display())));
    }
    out.line(format!("A  {}: {}", a.display(), place(&left)));
    out.line(format!("B  {}: {}", b.display(), place(&right)));
    let row = |r: &Ratio| {
        let interval = r.interval.map_or("-".into(), |(l, u)| format!("{l:.4} to {u:.4}"));
        vec![r.direction.into(), units::rate(r.a), units::rate(r.b), format!("{:.4}", r.ratio), interval, r.verdict().into()]
    };
    out.table(&["", "A", "B", "B / A", "interval", "verdict"], &ratios.iter().map(row).collect::<Vec<_>>());
    for (name, document) in [("A", &left), ("B", &right)] {
        for direction in ["write", "read"] {
            for caveat in document["summary"][direction]["caveats"].as_array().into_iter().flatten() {
                out.line(format!("! The {direction} figures of {name} are not the speed of a disk: {}.", caveat.as_str().unwrap_or("?")));
            }
            if !document["summary"][direction]["changepoint"].is_null() {
                out.line(format!("! {name} changed its speed while it was {}: its bandwidth mixes two.", gerund(direction)));
            }
        }
    }
    if let Some(target) = &args.json {
        let results: Vec<Value> = ratios
            .iter()
            .map(|r| {
                json!({"direction": r.direction, "a": r.a, "b": r.b, "ratio": r.ratio,
                    "interval": r.interval.map(|(l, u)| [l, u]), "verdict": r.verdict()})
            })
            .collect();
        target.write(&json!({
            "schema": "gannet/disk_speed_comparison/1",
            "machine": support::machine::Facts::detect().json(),
            "settings": {"a": a.to_string_lossy(), "b": b.to_string_lossy()},
            "ratios": results,
        }))?;
    }
    Ok(())
}

fn gerund(direction: &str) -> &'static str {
    if direction == "write" { "writing" } else { "reading" }
}

fn load(path: &Path) -> Result<Value, Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::run(format!("{}: {e}", path.display()));
    let text = std::fs::read(path).map_err(|e| failed(&e))?;
    let value: Value = serde_json::from_slice(&text).map_err(|e| failed(&e))?;
    if value["schema"] == SCHEMA { Ok(value) } else { Err(failed(&format!("not a result of disk_speed --json ({SCHEMA})"))) }
}

fn place(document: &Value) -> String {
    let text = |field: &str| document["volume"][field].as_str().unwrap_or("?").to_string();
    format!("{} on {}", text("file_system"), text("mount_point"))
}

/// The first thing that forbids a comparison.
pub(crate) fn difference(a: &Value, b: &Value) -> Option<String> {
    for pointer in MUST_MATCH {
        let (left, right) = (a.pointer(pointer).unwrap_or(&Value::Null), b.pointer(pointer).unwrap_or(&Value::Null));
        if left != right {
            let name = pointer.rsplit('/').next().unwrap_or(pointer);
            return Some(format!("{name} is {left} in one and {right} in the other"));
        }
    }
    let sizes = |document: &Value| -> Vec<Value> {
        document["samples"].as_array().into_iter().flatten().map(|s| json!([s["direction"], s["size"]])).collect()
    };
    (sizes(a) != sizes(b)).then(|| "their files differ in size, order or number".into())
}

/// Ratios of the bandwidths of the robust fits. The interval is from those of the two: in logarithms, the root of the sum of squares.
pub(crate) fn ratios(a: &Value, b: &Value) -> Vec<Ratio> {
    let of = |direction: &'static str| {
        let figure = |document: &Value| {
            let summary = &document["summary"][direction];
            let interval = &summary["bandwidth_interval"];
            let bounds = interval[0].as_f64().zip(interval[1].as_f64());
            Some((summary["bandwidth_bytes_per_second"].as_f64().filter(|rate| *rate > 0.0)?, bounds))
        };
        let ((left, left_bounds), (right, right_bounds)) = (figure(a)?, figure(b)?);
        let ratio = right / left;
        let interval = left_bounds.zip(right_bounds).map(|((al, au), (bl, bu))| {
            let down = (right / bl).ln().hypot((au / left).ln());
            let up = (bu / right).ln().hypot((left / al).ln());
            (ratio * (-down).exp(), ratio * up.exp())
        });
        Some(Ratio { direction, a: left, b: right, ratio, interval })
    };
    ["write", "read"].into_iter().filter_map(of).collect()
}
