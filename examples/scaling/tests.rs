//! What the program promises, on runs with given times.

use clap::Parser;
use serde_json::{Value, json};
use support::cli::Failure;

use crate::args::{Args, Settings};
use crate::measure::{Operation, Run};
use crate::{fits, measure, output};

fn settings(options: &[&str]) -> Settings {
    Args::try_parse_from(["scaling"].iter().chain(options)).unwrap().settings(4).unwrap()
}

/// Amdahl's law with 2 serial and 40 parallel seconds, and a small error that differs between repeats.
fn runs(settings: &Settings) -> Vec<Run> {
    let mut all = Vec::new();
    for operation in Operation::ALL {
        for (k, &threads) in settings.threads.iter().enumerate() {
            for repeat in 0..settings.repeats {
                let error = 1.0 + 0.004 * ((7 * k + 3 * repeat) % 5) as f64 - 0.008;
                all.push(Run { operation, threads, repeat, seconds: (2.0 + 40.0 / threads as f64) * error, bytes: 1000 });
            }
        }
    }
    all
}

#[test]
fn schema() {
    let settings = settings(&["--threads", "1-6", "--predict", "6,12"]);
    let runs = runs(&settings);
    let results = fits::all(&settings, &runs);
    let v = output::json(&settings, json!({}), &runs, &results);
    let keys = |v: &Value| v.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&v), ["fits", "machine", "runs", "schema", "settings"]);
    assert_eq!(v["schema"], "gannet/scaling/1");
    let declared = ["bytes", "codec", "confidence", "file", "level", "output_sync", "qos", "repeats", "seed", "source_cache", "threads"];
    assert_eq!(keys(&v["settings"]), declared);
    assert_eq!(keys(&v["runs"][0]), ["bytes_per_second", "operation", "repeat", "seconds", "threads"]);
    let fits = &v["fits"][0];
    assert_eq!(keys(fits), ["failed", "models", "operation", "predictions"]);
    assert_eq!(keys(&fits["models"][0]), ["aicc", "aicc_reason", "df", "model", "parameters", "residual_std_dev", "weight"]);
    let predicted = ["extrapolated", "extrapolation", "lower", "prediction_lower", "prediction_upper", "reason", "threads", "upper"];
    assert_eq!(keys(&fits["predictions"][1]), predicted);
    assert_eq!((&fits["predictions"][0]["extrapolated"], &fits["predictions"][1]["extrapolated"]), (&json!(false), &json!(true)));
}

#[test]
fn the_law_behind_the_times_is_found() {
    let settings = settings(&["--threads", "1-6", "--predict", "12"]);
    let results = fits::all(&settings, &runs(&settings));
    let best = results[0].models.iter().position(|f| f.name == "amdahl").unwrap();
    assert!(best <= 1, "{:?}", results[0].models.iter().map(|f| f.name).collect::<Vec<_>>());
    let amdahl = &results[0].models[best].model;
    assert!((amdahl.params()[0].estimate - 2.0).abs() < 0.2 && (amdahl.params()[1].estimate - 40.0).abs() < 0.5);
    let envelope = results[0].predictions[0].envelope.as_ref().unwrap();
    assert!(envelope.values.contains(2.0 + 40.0 / 12.0), "{envelope:?}");
}

/// One number of threads identifies nothing: the times stand alone, with the reasons.
#[test]
fn a_single_thread_count_has_reasons() {
    let settings = settings(&["--threads", "3"]);
    let runs = runs(&settings);
    let results = fits::all(&settings, &runs);
    assert!(results[0].models.is_empty());
    assert_eq!(results[0].failed.len(), 6);
    let v = output::json(&settings, json!({}), &runs, &results);
    assert_eq!(v["fits"][1]["predictions"][0]["lower"], Value::Null);
    assert!(v["fits"][1]["predictions"][0]["reason"].is_string());
    assert!(output::page(&settings, &runs, &results).is_ok());
}

#[test]
fn real_runs_of_every_codec() {
    for options in [&["--codec", "zstd", "--level", "1"][..], &["--codec", "lz4"]] {
        let mut given = vec!["--threads", "1,2", "--repeats", "2", "--size", "3MB"];
        given.extend(options);
        let settings = settings(&given);
        let source = measure::source(&settings).unwrap();
        assert_eq!(source.len(), 3_000_000);
        let runs = measure::all(&settings, &source).unwrap();
        assert_eq!(runs.len(), 8);
        assert!(runs.iter().all(|r| r.seconds > 0.0 && r.bytes == 3_000_000));
        let html = output::page(&settings, &runs, &fits::all(&settings, &runs)).unwrap().html();
        assert_eq!(html.matches("<svg").count(), 2);
    }
}

#[test]
fn bad_arguments_and_files() {
    let lz4 = Args::try_parse_from(["scaling", "--codec", "lz4", "--level", "3"]).unwrap();
    assert!(matches!(lz4.settings(2), Err(Failure::Usage(_))));
    for bad in [&["--threads", "0"][..], &["--level", "23"], &["--confidence", "95"], &["--size", "0"], &["--repeats", "0"]] {
        assert!(Args::try_parse_from(["scaling"].iter().chain(bad)).is_err(), "{bad:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty");
    std::fs::write(&empty, "").unwrap();
    for (path, part) in [(empty, "empty"), (folder.path().join("none"), "No such file")] {
        let mut settings = settings(&[]);
        settings.file = Some(path);
        let Err(Failure::Run(message)) = measure::source(&settings) else { panic!("must fail") };
        assert!(message.contains(part), "{message}");
    }
}
