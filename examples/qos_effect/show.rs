//! The results for people, as JSON, and as a page.

use serde_json::{Value, json};
use support::cli::Failure;
use support::json::number;
use support::machine::Facts;
use support::page::Page;
use support::plot::{Plot, Series, Shape};
use support::print::Printer;
use support::units;

use crate::Settings;
use crate::measure::{ClassResult, Run};
use crate::ratio::{self, Ratio};

const HEAD: [&str; 7] = ["class", "median", "spread", "ratio to default", "interval", "where it ran", "verdict"];

pub(crate) fn print(out: &mut Printer, facts: &Facts, settings: &Settings, results: &[ClassResult]) {
    facts.print(out);
    out.heading(&title(settings));
    out.table(&HEAD, &rows(settings, results));
    for sentence in sentences(settings, results) {
        out.line(sentence);
    }
}

fn title(settings: &Settings) -> String {
    let against = match settings.against {
        0 => String::new(),
        1 => ", against 1 busy thread".into(),
        n => format!(", against {n} busy threads"),
    };
    format!("{} loops of {} work in each of {} runs{against}", settings.loops, settings.workload, settings.repeats)
}

fn rows(settings: &Settings, results: &[ClassResult]) -> Vec<Vec<String>> {
    results
        .iter()
        .map(|result| {
            let seconds = result.seconds();
            let found = ratio(result, results, settings);
            vec![
                result.class.to_string(),
                units::seconds(median(&seconds)),
                units::percent(spread(&seconds)),
                found.map_or_else(|| "–".into(), |found| format!("{:.2}", found.ratio)),
                found.and_then(|found| found.interval).map_or_else(|| "–".into(), |i| format!("{:.2} to {:.2}", i.lower, i.upper)),
                result.runs.last().map_or_else(|| "–".into(), place),
                result.verdict().map_or_else(|| "–".into(), |verdict| verdict.to_string()),
            ]
        })
        .collect()
}

/// Shares of the levels, with the clock where it is known.
fn place(run: &Run) -> String {
    let level = |level: &qos::ObservedLevel| {
        let share = level.share.map_or_else(|| "–".into(), units::percent);
        let clock = level.mean_frequency_hz().map_or_else(String::new, |hz| format!(" at {:.2} GHz", hz / 1e9));
        format!("{share} {}{clock}", level.name)
    };
    let levels: Vec<_> = run.observed.levels.iter().map(level).collect();
    if levels.is_empty() { "not known".into() } else { levels.join(", ") }
}

/// What the ratios mean, in words.
fn sentences(settings: &Settings, results: &[ClassResult]) -> Vec<String> {
    let mut lines = vec![format!(
        "A ratio is mean time over mean time at the default class, the interval at {}; the first run of all was discarded.",
        units::percent(settings.confidence)
    )];
    let mut told = 0;
    for result in results {
        let Some(interval) = ratio(result, results, settings).and_then(|found| found.interval) else { continue };
        told += 1;
        let class = result.class;
        if interval.lower > 1.0 {
            lines.push(format!("{class} takes {:.2} to {:.2} times as long as default.", interval.lower, interval.upper));
        } else if interval.upper < 1.0 {
            lines.push(format!("{class} takes {:.0} to {:.0} % of the time of default.", interval.lower * 100.0, interval.upper * 100.0));
        }
    }
    if told == 0 && results.len() > 1 {
        lines.push("The runs are too few, or too much alike, to tell the classes apart.".into());
    } else if lines.len() == 1 {
        lines.push("No class differs from default by more than the runs of one class differ among themselves.".into());
    }
    lines
}

fn median(values: &[f64]) -> f64 {
    fit::robust::median(values).unwrap_or(f64::NAN)
}

/// Slowest less fastest, over the median.
fn spread(values: &[f64]) -> f64 {
    let (least, most) = values.iter().fold((f64::INFINITY, 0.0f64), |(least, most), &v| (least.min(v), most.max(v)));
    (most - least) / median(values)
}

/// `None` for the default class itself.
fn ratio(result: &ClassResult, results: &[ClassResult], settings: &Settings) -> Option<Ratio> {
    let base = results.iter().find(|other| other.class == qos::QosClass::Default)?;
    (result.class != base.class).then(|| ratio::of_means(&result.seconds(), &base.seconds(), settings.confidence))
}

pub(crate) fn document(facts: &Facts, settings: &Settings, results: &[ClassResult]) -> Value {
    let classes: Vec<Value> = results
        .iter()
        .map(|result| {
            let seconds = result.seconds();
            let found = ratio(result, results, settings);
            let last = result.runs.last();
            json!({
                "class": result.class,
                "applied": last.map(|run| &run.applied),
                "effective": last.map(|run| &run.effective),
                "seconds": seconds,
                "median_seconds": number(median(&seconds)),
                "mean_seconds": number(ratio::mean(&seconds)),
                "spread": number(spread(&seconds)),
                "ratio_to_default": found.map_or(json!(1.0), |found| number(found.ratio)),
                "ratio_interval": found.and_then(|found| found.interval).map(|i| [i.lower, i.upper]),
                "levels": last.map(levels),
                "source": last.map(|run| run.observed.source),
                "waiting_seconds": last.and_then(|run| run.observed.waiting).map(|waiting| waiting.as_secs_f64()),
                "verdict": result.verdict(),
                "verdict_text": result.verdict().map(|verdict| verdict.to_string()),
                "verdicts": result.runs.iter().map(|run| run.verdict).collect::<Vec<_>>(),
            })
        })
        .collect();
    let settings = json!({
        "qos": settings.classes,
        "profile": settings.profile,
        "workload": settings.workload,
        "loops": settings.loops,
        "repeats": settings.repeats,
        "discarded_runs": 1,
        "against": settings.against,
        "confidence": settings.confidence,
    });
    support::json::document("gannet/qos_effect/1", facts.json(), settings, vec![("classes", json!(classes))])
}

fn levels(run: &Run) -> Vec<Value> {
    let level = |level: &qos::ObservedLevel| {
        json!({
            "index": level.index,
            "name": level.name,
            "seconds": level.time.as_secs_f64(),
            "share": level.share,
            "cycles": level.cycles,
            "instructions": level.instructions,
            "energy_nj": level.energy_nj,
            "mean_frequency_hz": level.mean_frequency_hz(),
        })
    };
    run.observed.levels.iter().map(level).collect()
}

pub(crate) fn page(facts: &Facts, settings: &Settings, results: &[ClassResult]) -> Result<Page, Failure> {
    let mut page = Page::new("What quality-of-service classes do here");
    page.lead(&sentences(settings, results));
    page.paragraph(&title(settings));
    page.table(&HEAD, &rows(settings, results));
    let mut plot = Plot::new("run", "seconds");
    for (index, result) in results.iter().enumerate() {
        let points = result.seconds().iter().enumerate().map(|(run, &s)| (run as f64 + 1.0, s)).collect();
        plot = plot.with(Series::new(result.class.name(), index, Shape::Points(points)));
    }
    page.figure(&plot.svg()?, "The time of every run, in the order made: a slope is a machine that got slower or faster.");
    facts.put_on(&mut page);
    Ok(page)
}

#[cfg(test)]
mod tests {
    use qos::{Probe, Profile, QosClass, Workload};

    use super::*;

    #[test]
    fn the_document_has_its_fields() {
        let settings = Settings {
            classes: vec![QosClass::Default, QosClass::Background],
            repeats: 2,
            workload: Workload::Integer,
            loops: 1000,
            against: 1,
            profile: Profile::Reversible,
            confidence: 0.9,
        };
        let facts = Facts::detect();
        let results = crate::measure::all(&settings, &Probe::new(Workload::Integer), facts.topology.as_ref().unwrap()).unwrap();
        let value = document(&facts, &settings, &results);
        assert_eq!(value["schema"], "gannet/qos_effect/1");
        assert_eq!(value["classes"].as_array().unwrap().len(), 2);
        assert_eq!((value["classes"][0]["class"].as_str(), value["classes"][1]["class"].as_str()), (Some("background"), Some("default")));
        for field in [
            "applied",
            "effective",
            "seconds",
            "median_seconds",
            "ratio_to_default",
            "ratio_interval",
            "levels",
            "source",
            "waiting_seconds",
            "verdict",
            "verdict_text",
        ] {
            assert!(value["classes"][0].get(field).is_some(), "{field}");
        }
        if let Some(thread) = value["classes"][0]["effective"].get("linux") {
            assert!(thread["slice"].is_null() || thread["slice"].is_f64(), "{thread}");
        }
        assert_eq!(value["classes"][0]["seconds"].as_array().unwrap().len(), 2);
        assert_eq!(value["classes"][1]["ratio_to_default"], 1.0);
        let html = page(&facts, &settings, &results).unwrap().html();
        assert!(html.contains("<svg") && !html.contains("user-") && html.contains("background"));
    }

    #[test]
    fn spread_is_relative_to_the_median() {
        assert!((spread(&[1.0, 2.0, 3.0]) - 1.0).abs() < 1e-15);
        assert_eq!(spread(&[2.0]), 0.0);
    }
}
