//! The document of `--json`; `docs/json.md` describes it.

use diskbench::Direction;
use fit::{Model, Param};
use serde_json::{Map, Value, json};
use stream::{Report, Stage, StageReport};
use support::json::number;

use crate::Findings;
use crate::args::Settings;
use crate::fits::{Fit, Fits};
use crate::measure::{Operation, Run};
use crate::verdict::Verdict;
use crate::volume;

pub(crate) const SCHEMA: &str = "gannet/bottleneck/1";

/// Everything that was found out, as one object.
pub(crate) fn document(found: &Findings) -> Value {
    let results = vec![
        ("source", json!({"path": found.source.path.to_string_lossy(), "bytes": found.source.bytes, "made": found.source.made})),
        ("disk", disk(&found.volume)),
        ("runs", found.runs.iter().map(run).collect()),
        ("fits", fits(&found.fits)),
        ("verdict", found.verdicts.iter().map(verdict).collect()),
        ("advice", json!({"would_help": found.advice.would_help, "not_known": found.advice.not_known})),
        // An error ends the program before this, so what is here has been compared.
        ("verified", json!(true)),
    ];
    support::json::document(SCHEMA, found.machine.json(), settings(&found.settings), results)
}

fn settings(s: &Settings) -> Value {
    json!({
        "file": s.file.as_ref().map(|p| p.to_string_lossy()),
        "dir": s.dir.to_string_lossy(),
        "threads": s.threads,
        "codec": s.codec.name(),
        "level": s.level,
        "chunk_bytes": s.chunk,
        "qos": s.qos.name(),
        "repeats": s.repeats,
        "size_bytes": if s.file.is_none() { json!(s.size) } else { Value::Null },
        "seed": s.seed,
        "source_cache": if s.warm { "kept" } else { "evicted" },
        "output_sync": if s.warm { diskbench::SyncPolicy::None } else { volume::SYNC },
        "confidence": s.confidence,
    })
}

fn disk(volume: &volume::Facts) -> Value {
    let report = &volume.report;
    let rate = |direction| volume.rate(direction).map_or(Value::Null, number);
    json!({
        "write_bytes_per_second": rate(Direction::Write),
        "read_bytes_per_second": rate(Direction::Read),
        "access": report.method(Direction::Write),
        "read_access": report.method(Direction::Read),
        "sync": report.sync(),
        "ending": report.ending,
        "caveats": volume.caveats(),
        "volume": report.volume,
        "source_volume": volume.source_volume,
        "samples": report.samples.iter().map(|s| json!({
            "direction": s.direction,
            "repeat": s.repeat,
            "bytes": s.bytes,
            "seconds": number(s.elapsed().as_secs_f64()),
            "bytes_per_second": number(s.bytes_per_second()),
        })).collect::<Vec<_>>(),
    })
}

fn run(run: &Run) -> Value {
    json!({
        "operation": run.operation.name(),
        "threads": run.threads,
        "repeat": run.repeat,
        "seconds": number(run.seconds()),
        "bytes_per_second": number(run.rate()),
        "input_bytes": run.report.input_bytes,
        "output_bytes": run.report.output_bytes,
        "stages": stages(&run.report),
        "limiting_stage": run.report.limiting_stage().stage,
        "source_resident_bytes": run.eviction.as_ref().and_then(|e| e.after.bytes()),
        "source_eviction_obstacle": run.eviction.as_ref().and_then(|e| e.obstacle.clone()),
    })
}

fn stages(report: &Report) -> Value {
    let stage = |s: &StageReport| {
        json!({
            "busy_seconds": s.busy.as_secs_f64(),
            "cpu_seconds": s.cpu.map(|t| t.as_secs_f64()),
            "occupied_seconds": s.occupied.as_secs_f64(),
            "blocked_on_input_seconds": s.blocked_on_input.as_secs_f64(),
            "blocked_on_room_seconds": s.blocked_on_room.as_secs_f64(),
            "bytes": s.bytes,
        })
    };
    json!({"read": stage(report.stage(Stage::Read)), "process": stage(report.stage(Stage::Process)), "write": stage(report.stage(Stage::Write))})
}

fn fits(fits: &Fits) -> Value {
    let mut object = Map::new();
    let mut reason = Value::Null;
    for operation in Operation::ALL {
        let value = match fits.of(operation) {
            Ok(fit) => models(fit, fits.confidence),
            Err(why) => {
                reason = json!(why);
                Value::Null
            }
        };
        object.insert(operation.name().into(), value);
    }
    object.insert("reason".into(), reason);
    Value::Object(object)
}

fn models(fit: &Fit, confidence: f64) -> Value {
    let mut value = json!({
        "power_law": parameters(&[fit.power.scale(), fit.power.exponent()]),
        "rate_line": parameters(&fit.line.params().iter().collect::<Vec<_>>()),
        "intervals": Value::Null,
        "intervals_reason": fit.no_interval,
    });
    if fit.no_interval.is_none() {
        value["intervals"] = json!({
            "confidence": confidence,
            "power_law": intervals(&fit.power, confidence),
            "rate_line": intervals(&fit.line, confidence),
        });
    }
    value
}

fn parameters(params: &[&Param]) -> Value {
    let mut object = Map::new();
    for p in params {
        object.insert(p.name.to_string(), number(p.estimate));
        object.insert(format!("{}_std_error", p.name), p.std_error.map_or(Value::Null, number));
    }
    Value::Object(object)
}

fn intervals(model: &dyn Model, confidence: f64) -> Value {
    let Ok(intervals) = model.confidence_intervals(confidence) else { return Value::Null };
    let named = model.params().iter().zip(intervals);
    Value::Object(named.map(|(p, i)| (p.name.to_string(), json!([number(i.lower), number(i.upper)]))).collect())
}

fn verdict(v: &Verdict) -> Value {
    json!({
        "threads": v.threads,
        "limiting_stage": v.stage,
        "evidence": v.sentence(),
        "loads": {"read": number(v.evidence.read_load), "process": number(v.evidence.process_load), "write": number(v.evidence.write_load)},
        "on_core": v.evidence.on_core.map_or(Value::Null, number),
        "runs": v.runs,
        "agreeing_runs": v.agreeing,
        "median_seconds": number(v.median_seconds),
    })
}
