//! The document of `--json`; `docs/json.md` describes it.

use diskbench::{Residency, Sample};
use fit::Interval;
use serde_json::{Value, json};
use support::json::number;

use crate::Findings;
use crate::summary::Summary;

pub(crate) const SCHEMA: &str = "gannet/disk_speed/1";

pub(crate) fn document(found: &Findings) -> Value {
    let report = &found.report;
    let results = vec![
        ("volume", json!(report.volume)),
        ("ending", json!(report.ending)),
        ("thread_lingers", json!(report.thread_lingers)),
        ("elapsed_seconds", number(report.elapsed.as_secs_f64())),
        ("outside_seconds", number(report.outside().as_secs_f64())),
        ("generator_bytes_per_second", report.generator_bytes_per_second.map_or(Value::Null, number)),
        ("generator_is_slow", json!(report.generator_is_slow())),
        ("unnamed_files", json!(report.unnamed_files)),
        ("samples", report.samples.iter().map(sample).collect()),
        ("summary", json!({"write": found.write.as_ref().map(summary), "read": found.read.as_ref().map(summary)})),
    ];
    support::json::document(SCHEMA, found.machine.json(), settings(found), results)
}

fn settings(found: &Findings) -> Value {
    let s = &found.report.settings;
    // A run that only reads has no such settings.
    let of_writing = |value: Value| if found.plan.is_some() { value } else { Value::Null };
    json!({
        "plan": found.plan,
        "repeats": s.repeats,
        "seed": s.seed,
        "block_bytes": s.block,
        "queue_depth": s.queue_depth,
        "access_requested": s.access,
        "access_achieved": {
            "write": found.write.as_ref().map(|s| s.method),
            "read": found.read.as_ref().map(|s| s.method),
        },
        "sync_requested": of_writing(json!(s.sync)),
        "sync": found.report.sync(),
        "reads": of_writing(json!(s.reads)),
        "file_mode": of_writing(json!(s.file_mode)),
        "reserve": of_writing(json!(s.reserve)),
        "time_limit_seconds": s.time_limit.map(|t| t.as_secs_f64()),
        "verify": s.verify,
        "qos": "default",
        "planned_bytes": found.report.planned_bytes,
        "confidence": found.confidence,
    })
}

fn sample(s: &Sample) -> Value {
    let (resident, reason) = match &s.resident {
        Residency::Bytes(bytes) => (json!(bytes), Value::Null),
        Residency::Unknown(reason) => (Value::Null, json!(reason)),
    };
    json!({
        "direction": s.direction,
        "file": s.file,
        "repeat": s.repeat,
        "size": s.size,
        "bytes": s.bytes,
        "started_seconds": number(s.started.as_secs_f64()),
        "open_seconds": s.phases.open.map(|t| t.as_secs_f64()),
        "transfer_seconds": number(s.phases.transfer.as_secs_f64()),
        "sync_seconds": s.phases.sync.map(|t| t.as_secs_f64()),
        "close_seconds": s.phases.close.map(|t| t.as_secs_f64()),
        "seconds": number(s.elapsed().as_secs_f64()),
        "bytes_per_second": number(s.bytes_per_second()),
        "access_achieved": s.method,
        "sync": s.sync,
        "resident_bytes": resident,
        "resident_reason": reason,
        "caveats": s.caveats,
        "block_seconds": s.chunks.iter().map(|c| number((c.end - c.begin).as_secs_f64())).collect::<Vec<_>>(),
    })
}

fn summary(s: &Summary) -> Value {
    let affine = s.affine.as_ref().ok();
    let optional = |value: Option<f64>| value.map_or(Value::Null, number);
    json!({
        "access_achieved": s.method,
        "caveats": s.caveats,
        "resident_bytes": s.resident_bytes,
        "files": s.files,
        "bytes": s.bytes,
        "bandwidth_bytes_per_second": optional(affine.map(|a| a.bandwidth)),
        "bandwidth_interval": interval(affine.and_then(|a| a.bandwidth_interval)),
        "latency_seconds": optional(affine.map(|a| a.latency)),
        "latency_interval": interval(affine.and_then(|a| a.latency_interval)),
        "latency_below_zero": affine.map(|a| a.below_zero),
        "set_aside": affine.map(|a| &a.set_aside),
        "fit_reason": s.affine.as_ref().err(),
        "mean_rate": number(s.mean_rate),
        "trimmed_mean_rate": optional(s.trimmed.map(|t| t.0)),
        "trimmed_mean_interval": interval(s.trimmed.and_then(|t| t.1)),
        "theil_sen_rate": optional(s.theil_sen.map(|t| t.0)),
        "theil_sen_interval": interval(s.theil_sen.and_then(|t| t.1)),
        "least_squares_rate": optional(s.least_squares.map(|l| l.0)),
        "least_squares_latency_seconds": optional(s.least_squares.map(|l| l.1)),
        "total_rate": number(s.total_rate),
        "by_size": s.by_size.iter().map(|b| json!({
            "bytes": b.bytes, "n": b.n, "median_rate": number(b.median_rate), "lower": number(b.lower), "upper": number(b.upper),
        })).collect::<Vec<_>>(),
        "changepoint": s.change.as_ref().map(|c| json!({
            "after_bytes": c.after_bytes,
            "after_seconds": number(c.after_seconds),
            "rate_before": number(c.rate_before),
            "rate_after": number(c.rate_after),
            "p_value": number(c.p_value),
        })),
        "changepoint_reason": s.change_reason,
        "block_seconds": {"n": s.blocks.n, "median": number(s.blocks.median), "p99": optional(s.blocks.p99), "greatest": number(s.blocks.greatest)},
    })
}

fn interval(interval: Option<Interval>) -> Value {
    interval.map_or(Value::Null, |i| json!([number(i.lower), number(i.upper)]))
}
