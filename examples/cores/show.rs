//! The results for people, as JSON, and as a page.

use serde_json::{Value, json};
use support::cli::Failure;
use support::json::number;
use support::machine::Facts;
use support::page::Page;
use support::plot::{Plot, Series as Curve, Shape};
use support::print::Printer;
use support::units::{self, significant};

use crate::Settings;
use crate::line::Line;
use crate::measure::Series;

const HEAD: [&str; 5] = ["threads", "total time", "wall time", "loops a second, all", "where they ran"];

pub(crate) fn print(out: &mut Printer, facts: &Facts, settings: &Settings, results: &[Series]) {
    facts.print(out);
    for series in results {
        out.heading(&title(series));
        out.table(&HEAD, &rows(settings, series));
        out.line(sentence(settings, series));
    }
}

fn title(series: &Series) -> String {
    format!("{} work at class {}, {} loops a thread", series.workload, series.class, series.loops)
}

/// Medians over the repeats.
fn rows(settings: &Settings, series: &Series) -> Vec<Vec<String>> {
    settings
        .threads
        .iter()
        .map(|&threads| {
            let runs = || series.runs.iter().filter(|run| run.threads == threads);
            let middle = |values: Vec<f64>| fit::robust::median(&values).unwrap_or(f64::NAN);
            let wall = middle(runs().map(|run| run.wall).collect());
            let shares = runs().next_back().map(|run| run.shares()).unwrap_or_default();
            let place: Vec<_> = shares.iter().map(|(name, share)| format!("{} {name}", units::percent(*share))).collect();
            vec![
                threads.to_string(),
                units::seconds(middle(runs().map(|run| run.total()).collect())),
                units::seconds(wall),
                format!("{:.2e}", threads as f64 * series.loops as f64 / wall),
                if place.is_empty() { "not known".into() } else { place.join(", ") },
            ]
        })
        .collect()
}

fn line(settings: &Settings, series: &Series) -> Option<Line> {
    let points: Vec<_> = series.runs.iter().map(|run| (run.threads, run.total())).collect();
    Line::fit(&points, settings.confidence)
}

fn sentence(settings: &Settings, series: &Series) -> String {
    let Some(line) = line(settings, series) else {
        return "Fewer than three runs or two numbers of threads: no line to fit.".into();
    };
    let interval = line.interval.map_or_else(String::new, |i| format!(" ({} to {})", significant(i.lower, 3), significant(i.upper, 3)));
    format!(
        "Total time = {} s + {} s{interval} a thread: {} loops a second and thread.",
        significant(line.intercept, 3),
        significant(line.slope, 4),
        format_args!("{:.2e}", line.loops_per_second(series.loops))
    )
}

pub(crate) fn document(facts: &Facts, settings: &Settings, results: &[Series]) -> Value {
    let series: Vec<Value> = results
        .iter()
        .map(|series| {
            let runs: Vec<Value> = series
                .runs
                .iter()
                .map(|run| {
                    let levels: Vec<_> = run.shares().into_iter().map(|(name, share)| json!({"name": name, "share": share})).collect();
                    json!({
                        "threads": run.threads,
                        "seconds": run.seconds,
                        "total_seconds": number(run.total()),
                        "wall_seconds": number(run.wall),
                        "levels": levels,
                        "source": run.observed.first().map(|observed| observed.source),
                    })
                })
                .collect();
            let line = line(settings, series);
            json!({
                "workload": series.workload,
                "class": series.class,
                "applied": series.applied,
                "loops": series.loops,
                "runs": runs,
                "line": line.as_ref().map(|line| json!({
                    "intercept_seconds": number(line.intercept),
                    "slope_seconds": number(line.slope),
                    "slope_interval": line.interval.map(|i| [i.lower, i.upper]),
                    "loops_per_second": number(line.loops_per_second(series.loops)),
                })),
                "line_reason": line.is_none().then_some("fewer than three runs or two numbers of threads"),
            })
        })
        .collect();
    let settings = json!({
        "qos": settings.classes,
        "profile": settings.profile,
        "workloads": settings.workloads,
        "threads": settings.threads,
        "repeats": settings.repeats,
        "confidence": settings.confidence,
    });
    support::json::document("gannet/cores/1", facts.json(), settings, vec![("series", json!(series))])
}

pub(crate) fn page(facts: &Facts, settings: &Settings, results: &[Series]) -> Result<Page, Failure> {
    let mut page = Page::new("What cores and threads are worth here");
    for series in results {
        page.heading(&title(series));
        page.lead(&[sentence(settings, series)]);
        page.table(&HEAD, &rows(settings, series));
        let points: Vec<_> = series.runs.iter().map(|run| (run.threads as f64, run.total())).collect();
        let mut plot = Plot::new("threads", "total time, s").with(Curve::new("runs", 0, Shape::Points(points)));
        if let (Some(line), Some(&least), Some(&most)) = (line(settings, series), settings.threads.first(), settings.threads.last()) {
            let at = |threads: usize| (threads as f64, line.intercept + line.slope * threads as f64);
            plot = plot.with(Curve::new("line", 1, Shape::Line(vec![at(least), at(most)])));
        }
        page.figure(&plot.svg()?, "Total time of all threads over their number: a line as long as each thread has a core of its own.");
    }
    facts.put_on(&mut page);
    Ok(page)
}

#[cfg(test)]
mod tests {
    use qos::{Probe, Profile, QosClass, Workload};
    use support::progress::Progress;

    use super::*;

    #[test]
    fn the_document_has_its_fields() {
        let facts = Facts::detect();
        let settings = Settings {
            workloads: vec![Workload::Integer],
            threads: vec![1, 3],
            classes: vec![QosClass::Utility],
            repeats: 2,
            profile: Profile::Reversible,
            confidence: 0.95,
        };
        let (probe, topology) = (Probe::new(Workload::Integer), facts.topology.as_ref().unwrap());
        let found = crate::measure::series(&settings, &probe, QosClass::Utility, 2000, topology, &Progress::steps(4)).unwrap();
        let value = document(&facts, &settings, &[found]);
        assert_eq!(value["schema"], "gannet/cores/1");
        let series = &value["series"][0];
        assert_eq!((series["workload"].as_str(), series["class"].as_str()), (Some("integer"), Some("utility")));
        let runs = series["runs"].as_array().unwrap();
        let threads: Vec<_> = runs.iter().map(|run| run["seconds"].as_array().unwrap().len()).collect();
        assert_eq!(threads, [1, 3, 1, 3]);
        for field in ["intercept_seconds", "slope_seconds", "slope_interval", "loops_per_second"] {
            assert!(series["line"].get(field).is_some(), "{field}");
        }
        for run in runs {
            let slowest = run["seconds"].as_array().unwrap().iter().filter_map(Value::as_f64).fold(0.0, f64::max);
            assert!(run["wall_seconds"].as_f64().unwrap() >= slowest);
        }
        for field in ["total_seconds", "wall_seconds", "levels", "source"] {
            assert!(runs[0].get(field).is_some(), "{field}");
        }
    }
}
