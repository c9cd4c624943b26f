//! What the program promises, on runs with given times.

use clap::Parser;
use serde_json::{Value, json};
use support::cli::Failure;

use crate::args::{Args, Settings, Task};
use crate::measure::Run;
use crate::{fits, measure, output};

/// On a machine of six CPUs of which four may be busy at once.
fn try_settings(options: &[&str]) -> Result<Settings, Failure> {
    let cpus = || Ok(vec![0, 2, 4, 1, 3, 5]);
    Args::try_parse_from(["scaling"].iter().chain(options)).map_err(|e| Failure::Usage(e.to_string()))?.settings(4, cpus)
}

fn settings(options: &[&str]) -> Settings {
    try_settings(options).unwrap()
}

/// Amdahl's law with 2 serial and 40 parallel seconds, and a small error that differs between repeats.
fn runs(settings: &Settings) -> Vec<Run> {
    let mut all = Vec::new();
    for task in settings.tasks() {
        for (k, &threads) in settings.threads.iter().enumerate() {
            for repeat in 0..settings.repeats {
                let error = 1.0 + 0.004 * ((7 * k + 3 * repeat) % 5) as f64 - 0.008;
                let bytes = (task != Task::Command).then_some(1000);
                all.push(Run { task, threads, repeat, seconds: (2.0 + 40.0 / threads as f64) * error, bytes });
            }
        }
    }
    all
}

const DECLARED: [&str; 13] = [
    "bytes",
    "codec",
    "command",
    "confidence",
    "cpus",
    "file",
    "level",
    "output_sync",
    "qos",
    "repeats",
    "seed",
    "source_cache",
    "threads",
];

fn keys(v: &Value) -> Vec<String> {
    v.as_object().unwrap().keys().cloned().collect()
}

#[test]
fn schema() {
    let settings = settings(&["--threads", "1-6", "--predict", "6,12"]);
    let runs = runs(&settings);
    let results = fits::all(&settings, &runs);
    let v = output::json(&settings, json!({}), &runs, &results);
    assert_eq!(keys(&v), ["fits", "machine", "runs", "schema", "settings"]);
    assert_eq!(v["schema"], "gannet/scaling/1");
    assert_eq!(keys(&v["settings"]), DECLARED);
    assert_eq!((&v["settings"]["command"], &v["settings"]["cpus"]), (&Value::Null, &Value::Null));
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

/// The same fields, with what a command does not have as null.
#[test]
fn schema_of_a_command() {
    let settings = settings(&["--threads", "1-6", "--predict", "12", "--", "make", "-j"]);
    let runs = runs(&settings);
    let results = fits::all(&settings, &runs);
    let v = output::json(&settings, json!({}), &runs, &results);
    let about = &v["settings"];
    assert_eq!(keys(about), DECLARED);
    assert_eq!((&about["command"], &about["cpus"]), (&json!(["make", "-j"]), &json!([0, 2, 4, 1, 3, 5])));
    for none in ["bytes", "codec", "file", "level"] {
        assert_eq!(about[none], Value::Null, "{none}");
    }
    assert_eq!((&about["source_cache"], &about["output_sync"]), (&json!("as_command"), &json!("as_command")));
    assert_eq!((v["runs"].as_array().unwrap().len(), v["fits"].as_array().unwrap().len()), (6 * 5, 1));
    assert_eq!((&v["runs"][0]["operation"], &v["runs"][0]["bytes_per_second"]), (&json!("command"), &Value::Null));
    assert_eq!(v["fits"][0]["operation"], "command");
    let html = output::page(&settings, &runs, &results).unwrap().html();
    assert!(html.contains("make -j") && html.contains("CPUs"));
}

#[test]
fn a_command_gets_what_there_is() {
    assert_eq!(settings(&["--", "true"]).threads, [1, 2, 3, 4]);
    for options in [
        &["--threads", "7", "--", "true"][..],
        &["--codec", "lz4", "--", "true"],
        &["--level", "3", "--", "true"],
        &["--size", "1MB", "--", "true"],
        &["file", "--", "true"],
    ] {
        assert!(matches!(try_settings(options), Err(Failure::Usage(_))), "{options:?}");
    }
}

/// Two levels; on the fast one two CPUs of each core, numbered as x86 does it.
#[cfg(target_os = "linux")]
#[test]
fn cores_come_before_their_second_cpus() {
    let root = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put("sys/devices/system/cpu/online", "0-5\n");
    for (cpu, core, capacity) in
        [(0, "0-1", "1024"), (1, "0-1", "1024"), (2, "2-3", "1024"), (3, "2-3", "1024"), (4, "4", "446"), (5, "5", "446")]
    {
        let cpu = format!("sys/devices/system/cpu/cpu{cpu}");
        put(&format!("{cpu}/cpu_capacity"), capacity);
        put(&format!("{cpu}/topology/thread_siblings_list"), core);
        put(&format!("{cpu}/topology/core_cpus_list"), core);
        for (file, text) in [("level", "1"), ("type", "Data"), ("size", "32K"), ("shared_cpu_list", core)] {
            put(&format!("{cpu}/cache/index0/{file}"), text);
        }
    }
    let order = |cpus: &[usize]| {
        let allowed = cpus.iter().copied().collect();
        crate::command::order(&qos::Topology::from_linux(root.path(), Some(allowed)).unwrap()).unwrap()
    };
    assert_eq!(order(&[0, 1, 2, 3, 4, 5]), [0, 2, 1, 3, 4, 5]);
    assert_eq!(order(&[1, 3, 4]), [1, 3, 4]);
}

#[cfg(target_os = "linux")]
mod commands {
    use super::*;

    /// The CPUs that this process may use.
    fn cpus() -> Vec<usize> {
        crate::command::order(&qos::Topology::detect().unwrap()).unwrap()
    }

    fn run(command: &[&str]) -> Result<Vec<Run>, Failure> {
        let list = format!("1-{}", cpus().len().min(2));
        let options = ["scaling", "--threads", &list, "--repeats", "2", "--"];
        measure::all(&Args::try_parse_from(options.iter().chain(command)).unwrap().settings(2, || Ok(cpus())).unwrap())
    }

    #[test]
    fn is_held_to_its_cpus() {
        let folder = tempfile::tempdir().unwrap();
        let seen = folder.path().join("seen");
        let runs = run(&["sh", "-c", &format!("echo on standard output; nproc >> '{}'", seen.display())]).unwrap();
        let counts: Vec<usize> = std::fs::read_to_string(seen).unwrap().lines().map(|l| l.parse().unwrap()).collect();
        // The first is not counted.
        assert_eq!(counts[1..], runs.iter().map(|r| r.threads).collect::<Vec<_>>());
        assert!(runs.iter().all(|r| r.seconds > 0.0 && r.bytes.is_none()));
    }

    #[test]
    fn failing_is_an_error() {
        for (command, part) in [
            (&["sh", "-c", "exit 3"][..], "sh ended with status 3, on"),
            (&["sh", "-c", "kill -9 $$"], "sh was ended by signal 9, on"),
            (&["sh", "-c", "kill -STOP $$"], "sh: it stopped instead of ending"),
            (&["no-such-command-anywhere"], "cannot start no-such-command-anywhere"),
        ] {
            let Err(Failure::Run(message)) = run(command) else { panic!("{command:?} must fail") };
            assert!(message.contains(part), "{message}");
        }
    }
}

#[test]
fn real_runs_of_every_codec() {
    for options in [&["--codec", "zstd", "--level", "1"][..], &["--codec", "lz4"], &["--codec", "store"]] {
        let mut given = vec!["--threads", "1,2", "--repeats", "2", "--size", "3MB"];
        given.extend(options);
        let settings = settings(&given);
        let runs = measure::all(&settings).unwrap();
        assert_eq!(runs.len(), 8);
        assert!(runs.iter().all(|r| r.seconds > 0.0 && r.bytes == Some(3_000_000)));
        let html = output::page(&settings, &runs, &fits::all(&settings, &runs)).unwrap().html();
        assert_eq!(html.matches("<svg").count(), 2);
    }
}

#[test]
fn bad_arguments_and_files() {
    assert!(matches!(try_settings(&["--codec", "lz4", "--level", "3"]), Err(Failure::Usage(_))));
    for bad in [&["--threads", "0"][..], &["--level", "23"], &["--confidence", "95"], &["--size", "0"], &["--repeats", "0"]] {
        assert!(Args::try_parse_from(["scaling"].iter().chain(bad)).is_err(), "{bad:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty");
    std::fs::write(&empty, "").unwrap();
    for (path, part) in [(empty, "empty"), (folder.path().join("none"), "No such file")] {
        let Err(Failure::Run(message)) = measure::source(Some(&path), 1000, 1) else { panic!("must fail") };
        assert!(message.contains(part), "{message}");
    }
}
