//! Text, page and JSON.

use serde_json::{Value, json};
use support::cli::Failure;
use support::json::number;
use support::page::Page;
use support::plot::{Plot, Series, Shape};
use support::print::Printer;
use support::units::{rate, seconds, significant};

use crate::args::{Settings, Subject};
use crate::fits::{Predicted, Results};
use crate::measure::Run;

const TIMES: [&str; 4] = ["median", "rate", "speed-up", "runs"];
const MODELS: [&str; 4] = ["model", "parameters", "AICc", "weight"];
const PREDICTIONS: [&str; 5] = ["least model", "greatest model", "next lower", "next upper", "outside"];

/// The head of a table whose first column is a count.
fn head<'a>(settings: &Settings, rest: &[&'a str]) -> Vec<&'a str> {
    [settings.unit()].into_iter().chain(rest.iter().copied()).collect()
}

fn median_seconds(runs: &[Run], results: &Results, threads: usize) -> Option<(f64, usize)> {
    let times: Vec<f64> = runs.iter().filter(|r| r.task == results.task && r.threads == threads).map(|r| r.seconds).collect();
    Some((fit::robust::median(&times).ok()?, times.len()))
}

fn times(settings: &Settings, runs: &[Run], results: &Results) -> Vec<Vec<String>> {
    let bytes = runs.first().and_then(|r| r.bytes);
    let one = settings.threads.first().and_then(|&t| Some((t, median_seconds(runs, results, t)?.0)));
    let row = |&threads: &usize| {
        let (time, n) = median_seconds(runs, results, threads)?;
        let up = one.map_or_else(String::new, |(_, first)| format!("×{}", significant(first / time, 3)));
        Some(vec![threads.to_string(), seconds(time), bytes.map_or_else(|| "–".into(), |b| rate(b as f64 / time)), up, n.to_string()])
    };
    settings.threads.iter().filter_map(row).collect()
}

fn parameters(model: &dyn fit::Model) -> String {
    let one = |p: &fit::Param| match p.std_error {
        Some(se) => format!("{} {} ± {}", p.name, significant(p.estimate, 5), significant(se, 2)),
        None => format!("{} {} (at bound)", p.name, significant(p.estimate, 5)),
    };
    model.params().iter().map(one).collect::<Vec<_>>().join(", ")
}

fn models(results: &Results) -> Vec<Vec<String>> {
    let row = |f: &crate::fits::Fitted| {
        let (aicc, weight) = f.rank.as_ref().map_or(("–".into(), "–".into()), |r| (significant(r.aicc, 5), format!("{:.2}", r.weight)));
        vec![f.name.to_string(), parameters(&*f.model), aicc, weight]
    };
    results.models.iter().map(row).collect()
}

fn predictions(results: &Results) -> Vec<Vec<String>> {
    let end = |v: f64| if v.is_finite() { seconds(v) } else { "no limit".into() };
    let row = |p: &Predicted| {
        let e = p.envelope.as_ref().ok()?;
        let outside = if e.is_extrapolated() {
            format!("×{}: beware", significant(e.extrapolation, 3))
        } else if e.extrapolation > 1.0 {
            format!("×{}", significant(e.extrapolation, 3))
        } else {
            "no".into()
        };
        let ends = [e.values.lower, e.values.upper, e.prediction.lower, e.prediction.upper].map(end);
        Some([p.threads.to_string()].into_iter().chain(ends).chain([outside]).collect())
    };
    results.predictions.iter().filter_map(row).collect()
}

fn notes(settings: &Settings, results: &Results) -> Vec<String> {
    let mut lines: Vec<String> = results.failed.iter().map(|(name, why)| format!("{name} was not fitted: {why}")).collect();
    lines.push(format!("intervals: {} %; they hold if the model does", significant(settings.confidence * 100.0, 6)));
    lines.push(format!("no model knows of another kind of core, a cluster or a disk that more {} would meet", settings.unit()));
    lines
}

/// The words of the command, as JSON and people get them.
fn words(words: &[std::ffi::OsString]) -> Vec<String> {
    words.iter().map(|w| w.to_string_lossy().into_owned()).collect()
}

fn title(settings: &Settings, runs: &[Run]) -> String {
    let qos = settings.qos;
    match &settings.subject {
        Subject::Codec { file, codec, level, .. } => {
            let level = level.map_or_else(String::new, |l| format!(" level {l}"));
            let bytes = support::units::bytes(runs.first().and_then(|r| r.bytes).unwrap_or(0));
            let what = file.as_ref().map_or_else(|| "made data".to_string(), |f| f.display().to_string());
            format!("{}{level}, {bytes} of {what}, in memory; QoS {qos}", codec.name())
        }
        Subject::Command { words: command, cpus } => {
            let most = settings.threads.last().copied().unwrap_or(1).min(cpus.len());
            let list: Vec<String> = cpus[..most].iter().map(ToString::to_string).collect();
            format!("{} on the first of the CPUs {}; QoS {qos}", words(command).join(" "), list.join(", "))
        }
    }
}

/// To standard output.
pub(crate) fn print(settings: &Settings, runs: &[Run], all: &[Results], out: &mut Printer) {
    out.line(title(settings, runs));
    for results in all {
        out.heading(results.task.name());
        out.table(&head(settings, &TIMES), &times(settings, runs, results));
        if !results.models.is_empty() {
            out.table(&MODELS, &models(results));
            out.table(&head(settings, &PREDICTIONS), &predictions(results));
        }
        for note in notes(settings, results) {
            out.line(format!("  note: {note}"));
        }
    }
}

/// The page.
pub(crate) fn page(settings: &Settings, runs: &[Run], all: &[Results]) -> Result<Page, Failure> {
    let mut page = Page::new(&title(settings, runs));
    for results in all {
        page.heading(results.task.name());
        let most = settings.threads.iter().chain(&settings.predict).copied().max().unwrap_or(1) as f64;
        let least = settings.threads.first().copied().unwrap_or(1) as f64;
        let grid: Vec<f64> = (0..=200).map(|i| least + (most - least) * f64::from(i) / 200.0).collect();
        let mut plot = Plot::new(settings.unit(), "seconds");
        for (k, f) in results.models.iter().enumerate() {
            let line = grid.iter().filter_map(|&x| Some((x, f.model.predict(x).ok()?))).collect();
            plot = plot.with(Series::new(f.name, k, Shape::Line(line)));
        }
        let points = runs.iter().filter(|r| r.task == results.task).map(|r| (r.threads as f64, r.seconds)).collect();
        plot = plot.with(Series::new("runs", 5, Shape::Points(points)));
        page.figure(&plot.svg()?, "Times of the runs and the models through them.");
        page.table(&head(settings, &TIMES), &times(settings, runs, results));
        page.table(&MODELS, &models(results));
        page.table(&head(settings, &PREDICTIONS), &predictions(results));
        page.list(&notes(settings, results));
    }
    Ok(page)
}

/// The document.
pub(crate) fn json(settings: &Settings, machine: Value, runs: &[Run], all: &[Results]) -> Value {
    let mut about = json!({
        "file": null, "command": null, "cpus": null, "bytes": runs.first().and_then(|r| r.bytes), "threads": settings.threads,
        "codec": null, "level": null, "qos": settings.qos.to_string(), "repeats": settings.repeats, "seed": settings.seed,
        "confidence": settings.confidence, "source_cache": "memory", "output_sync": "none",
    });
    match &settings.subject {
        Subject::Codec { file, codec, level, .. } => {
            (about["file"], about["codec"], about["level"]) = (json!(file), json!(codec.name()), json!(level));
        }
        Subject::Command { words: command, cpus } => {
            (about["command"], about["cpus"]) = (json!(words(command)), json!(cpus));
            (about["source_cache"], about["output_sync"]) = (json!("as_command"), json!("as_command"));
        }
    }
    let runs_json: Value = runs
        .iter()
        .map(|r| {
            json!({
                "operation": r.task.name(), "threads": r.threads, "repeat": r.repeat, "seconds": r.seconds,
                "bytes_per_second": r.bytes.map(|b| number(b as f64 / r.seconds)),
            })
        })
        .collect();
    let fits: Value = all.iter().map(|results| fitted(settings, results)).collect();
    support::json::document("gannet/scaling/1", machine, about, vec![("runs", runs_json), ("fits", fits)])
}

fn fitted(settings: &Settings, results: &Results) -> Value {
    let model = |f: &crate::fits::Fitted| {
        let intervals = f.model.confidence_intervals(settings.confidence).unwrap_or_default();
        let parameters: Value = f
            .model
            .params()
            .iter()
            .zip(intervals)
            .map(|(p, i)| {
                json!({"name": p.name, "estimate": p.estimate, "std_error": p.std_error, "lower": number(i.lower), "upper": number(i.upper), "at_bound": p.at_bound})
            })
            .collect();
        json!({
            "model": f.name, "parameters": parameters, "residual_std_dev": f.model.residual_std_dev(), "df": f.model.df(),
            "aicc": f.rank.as_ref().map(|r| r.aicc), "weight": f.rank.as_ref().map(|r| r.weight),
            "aicc_reason": f.model.aicc().err().map(|e| e.to_string()),
        })
    };
    let predicted = |p: &Predicted| match &p.envelope {
        Ok(e) => json!({
            "threads": p.threads, "lower": number(e.values.lower), "upper": number(e.values.upper),
            "prediction_lower": number(e.prediction.lower), "prediction_upper": number(e.prediction.upper),
            "extrapolation": number(e.extrapolation), "extrapolated": e.is_extrapolated(), "reason": Value::Null,
        }),
        Err(reason) => json!({
            "threads": p.threads, "lower": Value::Null, "upper": Value::Null, "prediction_lower": Value::Null,
            "prediction_upper": Value::Null, "extrapolation": Value::Null, "extrapolated": Value::Null, "reason": reason,
        }),
    };
    json!({
        "operation": results.task.name(),
        "models": results.models.iter().map(model).collect::<Value>(),
        "failed": results.failed.iter().map(|(model, reason)| json!({"model": model, "reason": reason})).collect::<Value>(),
        "predictions": results.predictions.iter().map(predicted).collect::<Value>(),
    })
}
