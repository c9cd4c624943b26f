//! The program through its own functions: what it writes, says and refuses.

use std::collections::BTreeSet;

use clap::Parser;
use serde_json::Value;

use super::{Args, run};

fn args(words: &[&str]) -> Args {
    Args::try_parse_from([&["compress"], words].concat()).unwrap()
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn it_writes_what_its_documentation_lists() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("a"), b"some bytes ".repeat(100_000)).unwrap();
    std::fs::write(path("b"), b"").unwrap();
    let words = ["--each", &path("a"), &path("b"), "--verify", "--json", &path("json"), "--chunk", "64KiB"];
    run(args(&words)).unwrap();
    let document: Value = serde_json::from_slice(&std::fs::read(path("json")).unwrap()).unwrap();
    assert_eq!(keys(&document), BTreeSet::from(["schema", "machine", "settings", "files"]));
    assert_eq!(document["schema"], "gannet/compress/1");
    assert_eq!(
        keys(&document["settings"]),
        BTreeSet::from([
            "threads",
            "qos",
            "force",
            "verify",
            "remove_source",
            "source_cache",
            "output_sync",
            "codec",
            "level",
            "chunk_bytes"
        ])
    );
    let file = &document["files"][0];
    assert_eq!(
        keys(file),
        BTreeSet::from([
            "source",
            "output",
            "input_bytes",
            "output_bytes",
            "chunks",
            "threads",
            "cpus",
            "seconds",
            "stages",
            "limiting_stage",
            "evidence",
            "verified",
            "source_removed",
            "error"
        ])
    );
    assert_eq!(file["input_bytes"], 1_100_000);
    assert_eq!(file["verified"], true);
    for stage in ["read", "process", "write"] {
        assert_eq!(
            keys(&file["stages"][stage]),
            BTreeSet::from([
                "threads",
                "busy_seconds",
                "cpu_seconds",
                "occupied_seconds",
                "blocked_on_input_seconds",
                "blocked_on_room_seconds",
                "bytes"
            ])
        );
    }
    assert!(std::fs::metadata(path("b.zst")).unwrap().len() > 0);
}

#[test]
fn a_failing_file_does_not_stop_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("b"), b"content").unwrap();
    run(args(&["--each", &path("none"), &path("b"), "--json", &path("json")])).unwrap_err();
    assert!(folder.path().join("b.zst").exists());
    let document: Value = serde_json::from_slice(&std::fs::read(path("json")).unwrap()).unwrap();
    assert!(document["files"][0]["error"].as_str().unwrap().contains("none"));
    assert_eq!(document["files"][1]["error"], Value::Null);
}

#[test]
fn the_source_goes_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (words, left) in [(vec!["--keep"], true), (vec!["--remove-source"], false)] {
        std::fs::write(path("a"), b"content").unwrap();
        run(args(&[&words[..], &["--codec", "lz4", &path("a")]].concat())).unwrap();
        assert_eq!(folder.path().join("a").exists(), left);
        std::fs::remove_file(path("a.lz4")).unwrap();
    }
}

/// Who takes `--json` for a switch names the source after it.
#[test]
fn results_never_replace_what_is_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("text"), b"content").unwrap();
    std::fs::write(path("other"), b"more").unwrap();
    std::fs::write(path("result"), b"{\"schema\": \"gannet/compress/1\"}").unwrap();
    for words in [
        &["--json", &path("text"), &path("other")][..],
        &["--json", &path("result"), &path("result"), &path("out")],
        &["--json", &path("other.zst"), &path("other")],
        &["--json", &path("out"), "--force", &path("other"), &path("out")],
        &["--json", &path("text"), "--each", &path("other"), &path("result")],
    ] {
        assert!(matches!(run(args(words)), Err(super::Failure::Run(_))), "{words:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "{words:?}");
        assert_eq!(std::fs::read(path("text")).unwrap(), b"content");
    }
    for _ in 0..2 {
        run(args(&["--json", &path("result"), "--force", &path("text")])).unwrap();
        let document: Value = serde_json::from_slice(&std::fs::read(path("result")).unwrap()).unwrap();
        assert_eq!(document["files"][0]["input_bytes"], 7);
    }
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_removed_or_verified() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("a"), b"content").unwrap();
    std::os::unix::fs::symlink("a", path("link")).unwrap();
    std::os::unix::fs::symlink("/dev/null", path("null")).unwrap();
    for words in [["--remove-source", "link"], ["--remove-source", "null"], ["--verify", "null"]] {
        assert!(matches!(run(args(&[words[0], &path(words[1]), &path("out")])), Err(super::Failure::Run(_))), "{words:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    }
    run(args(&["--verify", &path("link"), &path("out")])).unwrap();
}

/// With `--force` an output may replace a file, but none that is another source or output of the same run.
#[test]
fn no_output_is_another_file_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for name in ["a", "a.zst"] {
        std::fs::write(path(name), name).unwrap();
    }
    for words in [[path("a"), path("a.zst")], [path("a.zst"), path("./a")], [path("a"), path("a")]] {
        let refused = run(args(&["--each", "--force", &words[0], &words[1]]));
        assert!(matches!(refused, Err(super::Failure::Usage(_))), "{words:?}");
        assert_eq!(std::fs::read(path("a.zst")).unwrap(), b"a.zst");
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for words in [
        &["a", "b", "c"][..],
        &["--codec", "store", "a"],
        &["--codec", "lz4", "--level", "3", "a"],
        &["--level", "0", "a"],
        &["--each", "-"],
        &["--verify", "-", "x"],
        &["a", "-", "--json", "-"],
    ] {
        assert!(matches!(run(args(words)), Err(super::Failure::Usage(_))), "{words:?}");
    }
    Args::try_parse_from(["compress"]).unwrap_err();
    Args::try_parse_from(["compress", "--threads", "0", "a"]).unwrap_err();
}
