//! The program as a user runs it, in this process: what it writes, what it refuses, what it leaves.

use std::collections::BTreeSet;
use std::path::Path;

use clap::Parser;
use serde_json::Value;

use super::*;

/// Runs the program with its output in `folder`.
fn bottleneck(folder: &Path, arguments: &[&str]) -> Result<(), Failure> {
    let dir = folder.to_str().unwrap();
    let all = ["bottleneck", "--dir", dir, "--size", "3MB", "--chunk", "256KiB"].into_iter().chain(arguments.iter().copied());
    run(Args::try_parse_from(all).map_err(|e| Failure::Usage(e.to_string()))?)
}

fn document(folder: &Path, arguments: &[&str]) -> Value {
    let json = folder.join("out.json");
    let mut all = vec!["--json", json.to_str().unwrap()];
    all.extend(arguments);
    bottleneck(folder, &all).unwrap();
    serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Every name in a document, objects within objects included.
fn keys(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => object.iter().for_each(|(key, inner)| {
            into.insert(key.clone());
            keys(inner, into);
        }),
        Value::Array(items) => items.iter().for_each(|item| keys(item, into)),
        _ => {}
    }
}

#[test]
fn the_document_has_the_published_schema() {
    let folder = tempfile::tempdir().unwrap();
    let mut found = document(folder.path(), &["--threads", "1-3", "--repeats", "2"]);
    assert_eq!(names(folder.path()), ["out.json"], "everything else is removed");

    assert_eq!(found["schema"], "gannet/bottleneck/1");
    assert_eq!(found["verified"], true);
    let settings = &found["settings"];
    assert_eq!(
        (&settings["qos"], &settings["source_cache"], &settings["output_sync"]),
        (&"default".into(), &"evicted".into(), &"fsync".into())
    );
    for field in ["write_bytes_per_second", "read_bytes_per_second", "access", "sync", "samples"] {
        assert!(!found["disk"][field].is_null(), "disk.{field}");
    }
    let runs = found["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2 * 2 * 3, "two operations, two repeats, three thread counts");
    for run in runs {
        assert!(run["seconds"].as_f64().unwrap() > 0.0);
        let (whole, packed) = match run["operation"].as_str().unwrap() {
            "compress" => (&run["input_bytes"], &run["output_bytes"]),
            "decompress" => (&run["output_bytes"], &run["input_bytes"]),
            other => panic!("{other}"),
        };
        assert_eq!(whole, 3_000_000);
        assert!(packed.as_u64().unwrap() < 3_000_000);
        for stage in ["read", "process", "write"] {
            for time in ["busy_seconds", "cpu_seconds", "occupied_seconds", "blocked_on_input_seconds", "blocked_on_room_seconds"] {
                assert!(run["stages"][stage][time].as_f64().unwrap() >= 0.0, "{stage}.{time}");
            }
        }
        assert!(["read", "process", "write", "starved"].contains(&run["limiting_stage"].as_str().unwrap()));
    }
    let fit = &found["fits"]["compress"];
    for (model, parameters) in [("power_law", ["scale", "exponent"]), ("rate_line", ["intercept", "slope"])] {
        for parameter in parameters {
            assert!(fit[model][parameter].is_f64() && fit[model][format!("{parameter}_std_error")].is_f64(), "{model}.{parameter}");
            let interval = &fit["intervals"][model][parameter];
            assert!(interval[0].as_f64().unwrap() < fit[model][parameter].as_f64().unwrap(), "{model}.{parameter}");
        }
    }
    let threads: Vec<_> = found["verdict"].as_array().unwrap().iter().map(|v| v["threads"].as_u64().unwrap()).collect();
    assert_eq!(threads, [1, 2, 3]);
    assert!(found["verdict"].as_array().unwrap().iter().all(|v| v["evidence"].as_str().unwrap().contains('%')));

    // What the crates serialise is described there, not here.
    found["machine"]["topology"].take();
    found["disk"]["volume"].take();
    let mut used = BTreeSet::new();
    keys(&found, &mut used);
    let described = include_str!("../../docs/json.md");
    let missing: Vec<_> = used.iter().filter(|key| !described.contains(key.as_str())).collect();
    assert!(missing.is_empty(), "docs/json.md does not describe {missing:?}");
}

#[test]
fn few_thread_counts_give_fewer_answers() {
    let folder = tempfile::tempdir().unwrap();
    let two = document(folder.path(), &["--threads", "1,2", "--repeats", "2", "--codec", "lz4"]);
    let fit = &two["fits"]["compress"];
    assert!(fit["power_law"]["exponent"].is_f64());
    assert!(fit["intervals"].is_null() && fit["intervals_reason"].is_string());
    let one = document(folder.path(), &["--threads", "2", "--repeats", "2", "--warm"]);
    assert!(one["fits"]["compress"].is_null() && one["fits"]["reason"].is_string());
    assert_eq!((&one["settings"]["source_cache"], &one["settings"]["output_sync"]), (&"kept".into(), &"none".into()));
}

#[test]
fn a_file_is_compressed_where_it_lies_and_left_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("täst file");
    std::fs::write(&file, corpus::bytes(3, 700_001)).unwrap();
    for codec in ["zstd", "lz4", "store"] {
        let json = folder.path().join("j");
        let (file, json) = (file.to_str().unwrap(), json.to_str().unwrap());
        let arguments = [
            "bottleneck",
            file,
            "--dir",
            folder.path().to_str().unwrap(),
            "--codec",
            codec,
            "--threads",
            "2",
            "--repeats",
            "1",
            "--json",
            json,
        ];
        run(Args::try_parse_from(arguments).unwrap()).unwrap();
        let found: Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
        assert_eq!(found["source"]["bytes"], 700_001);
        assert_eq!(found["settings"]["codec"], codec);
    }
    assert_eq!(std::fs::read(&file).unwrap(), corpus::bytes(3, 700_001));
    assert_eq!(names(folder.path()).len(), 2);
}

#[test]
fn the_report_needs_nothing_else_and_says_what_the_document_says() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    let found = document(folder.path(), &["--threads", "1-3", "--repeats", "1", "--report", page.to_str().unwrap()]);
    let html = std::fs::read_to_string(&page).unwrap();
    for verdict in found["verdict"].as_array().unwrap() {
        let sentence = verdict["evidence"].as_str().unwrap();
        assert!(html.contains(&support::page::escape(sentence)), "{sentence}");
    }
    assert_eq!(html.matches("<svg").count(), 4);
    assert!(html.find("class=\"lead\"").unwrap() < html.find("<svg").unwrap(), "the verdict comes first");
    for reference in ["src=", "href=", "url(", "<script", "@import"] {
        assert!(!html.contains(reference), "{reference}");
    }
}

#[test]
fn bad_input_is_one_line_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let work = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty");
    std::fs::write(&empty, "").unwrap();
    let missing = folder.path().join("missing");
    let dir = work.path().to_str().unwrap();
    for (file, word) in [(&empty, "empty"), (&missing, "missing"), (&folder.path().to_path_buf(), "folder")] {
        let arguments = ["bottleneck", file.to_str().unwrap(), "--dir", dir];
        let Err(Failure::Run(message)) = run(Args::try_parse_from(arguments).unwrap()) else { panic!("{word}") };
        assert!(message.contains(file.to_str().unwrap()) && message.contains(word), "{message}");
    }
    let arguments = ["bottleneck", "--dir", dir, "--size", "900000TB"];
    let Err(Failure::Run(message)) = run(Args::try_parse_from(arguments).unwrap()) else { panic!("no disk has room for it") };
    assert!(message.contains("available"), "{message}");
    for arguments in [
        ["--threads", "0"],
        ["--level", "23"],
        ["--level", "0"],
        ["--repeats", "0"],
        ["--confidence", "1"],
        ["--qos", "fast"],
        ["--chunk", "0"],
    ] {
        assert!(matches!(bottleneck(work.path(), &arguments), Err(Failure::Usage(_))), "{arguments:?}");
    }
    assert!(matches!(bottleneck(work.path(), &["--codec", "lz4", "--level", "3"]), Err(Failure::Usage(_))));
    assert!(names(work.path()).is_empty());
}
