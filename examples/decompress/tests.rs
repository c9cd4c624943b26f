//! The program through its own functions.

use clap::Parser;
use serde_json::Value;
use stream::{Format, Options, compress_file};

use super::{Args, range, run};

fn args(words: &[&str]) -> Args {
    Args::try_parse_from([&["decompress"], words].concat()).unwrap()
}

struct Folder(tempfile::TempDir);

impl Folder {
    /// A folder with a packed file of these bytes.
    fn with(bytes: &[u8], format: Format, packed: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        std::fs::write(folder.path("plain"), bytes).unwrap();
        let options = Options::new().format(format).chunk_bytes(10_000);
        compress_file(folder.path("plain"), folder.path(packed), &options).unwrap();
        std::fs::remove_file(folder.path("plain")).unwrap();
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.path("json")).unwrap()).unwrap()
    }
}

fn content() -> Vec<u8> {
    (0..40_000_u32).flat_map(|n| (n / 7).to_le_bytes()).collect()
}

#[test]
fn it_decodes_beside_the_source_and_removes_it_when_asked() {
    for (format, packed) in [(Format::Zstd, "plain.zst"), (Format::Lz4, "plain.lz4")] {
        let folder = Folder::with(&content(), format, packed);
        run(args(&[&folder.path(packed), "--remove-source", "--json", &folder.path("json")])).unwrap();
        assert_eq!(std::fs::read(folder.path("plain")).unwrap(), content());
        assert!(!std::path::Path::new(&folder.path(packed)).exists());
        let file = &folder.json()["files"][0];
        assert_eq!((&file["verified"], &file["source_removed"]), (&Value::Bool(true), &Value::Bool(true)));
        assert_eq!(folder.json()["schema"], "gannet/decompress/1");
    }
}

#[test]
fn a_test_writes_nothing_and_tells_damage() {
    let folder = Folder::with(&content(), Format::Zstd, "a.zst");
    run(args(&["--test", &folder.path("a.zst")])).unwrap();
    let mut bytes = std::fs::read(folder.path("a.zst")).unwrap();
    bytes[1000] ^= 1;
    std::fs::write(folder.path("a.zst"), bytes).unwrap();
    run(args(&["--test", &folder.path("a.zst")])).unwrap_err();
    assert_eq!(std::fs::read_dir(folder.0.path()).unwrap().count(), 1);
}

#[test]
fn more_output_than_allowed_is_refused() {
    for (format, packed) in [(Format::Zstd, "a.zst"), (Format::Lz4, "a.lz4")] {
        let folder = Folder::with(&content(), format, packed);
        run(args(&["--max-output", "159999", &folder.path(packed)])).unwrap_err();
        run(args(&["--test", "--max-output", "159999", &folder.path(packed)])).unwrap_err();
        assert_eq!(std::fs::read_dir(folder.0.path()).unwrap().count(), 1);
        run(args(&["--max-output", "160000", &folder.path(packed)])).unwrap();
        assert_eq!(std::fs::read(folder.path("a")).unwrap(), content());
    }
}

#[test]
fn results_never_replace_a_source() {
    let folder = Folder::with(&content(), Format::Zstd, "a.zst");
    let before = std::fs::read(folder.path("a.zst")).unwrap();
    let packed = folder.path("a.zst");
    for words in
        [["--json", &packed, "--test", &packed], ["--json", &packed, "--list", &packed], ["--json", &folder.path("a"), "--keep", &packed]]
    {
        run(args(&words)).unwrap_err();
        assert_eq!(std::fs::read_dir(folder.0.path()).unwrap().count(), 1, "{words:?}");
    }
    assert!(std::fs::read(&packed).unwrap() == before);
}

#[test]
fn a_part_is_the_part() {
    let folder = Folder::with(&content(), Format::Lz4, "a.lz4");
    for (text, part) in [("100..25000", 100..25_000), ("..7", 0..7), ("159990..", 159_990..160_000), ("5..5", 5..5)] {
        run(args(&["--range", text, "--force", &folder.path("a.lz4"), &folder.path("part")])).unwrap();
        assert_eq!(std::fs::read(folder.path("part")).unwrap(), content()[part]);
    }
    run(args(&["--range", "0..160001", &folder.path("a.lz4"), &folder.path("other")])).unwrap_err();
    range("5").unwrap_err();
    range("6..5").unwrap_err();
}

/// `--force` replaces an output, never the source.
#[test]
fn a_part_never_replaces_its_source() {
    let folder = Folder::with(&content(), Format::Zstd, "a.zst");
    let before = std::fs::read(folder.path("a.zst")).unwrap();
    let dotted = folder.path("./a.zst");
    for output in [&folder.path("a.zst"), &dotted] {
        run(args(&["--range", "0..5", "--force", &folder.path("a.zst"), output])).unwrap_err();
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a.zst", folder.path("link")).unwrap();
        run(args(&["--range", "0..5", "--force", &folder.path("a.zst"), &folder.path("link")])).unwrap_err();
        run(args(&["--range", "0..5", "--force", &folder.path("link"), &folder.path("a.zst")])).unwrap_err();
    }
    assert!(std::fs::read(folder.path("a.zst")).unwrap() == before);
}

/// Frame sizes that are moved from one entry of the table to another keep their sum, and so deceive who believes it.
#[test]
fn a_part_is_right_past_a_table_that_lies() {
    let folder = Folder::with(&content(), Format::Zstd, "a.zst");
    let mut bytes = std::fs::read(folder.path("a.zst")).unwrap();
    // Entries of 8 bytes, before a footer of 9: the second and the last but one chunk.
    for (entry, change) in [(15, -3), (2, 3)] {
        let at = bytes.len() - 9 - 8 * entry + 4;
        let size = i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        bytes[at..at + 4].copy_from_slice(&(size + change).to_le_bytes());
    }
    std::fs::write(folder.path("a.zst"), bytes).unwrap();
    run(args(&["--range", "50000..90000", "--walk", &folder.path("a.zst"), &folder.path("part")])).unwrap();
    assert!(std::fs::read(folder.path("part")).unwrap() == content()[50_000..90_000]);
    Args::try_parse_from(["decompress", "--walk", "a"]).unwrap_err();
}

/// A frame that does not state its size, with a table that says too little or too much of it.
#[test]
fn a_part_is_whole_where_the_table_is_wrong() {
    let folder = Folder::with(&content(), Format::Zstd, "other.zst");
    for content in [1, 4, 6] {
        let table =
            [&[0x5E, 0x2A, 0x4D, 0x18, 17, 0, 0, 0][..], &[14, 0, 0, 0, content, 0, 0, 0], &[1, 0, 0, 0, 0, 0xB1, 0xEA, 0x92, 0x8F]];
        let frame = [0x28, 0xB5, 0x2F, 0xFD, 0, 0, 0x29, 0, 0, b'h', b'e', b'l', b'l', b'o'];
        std::fs::write(folder.path("a.zst"), [&frame[..], &table.concat()].concat()).unwrap();
        run(args(&["--range", "0..", "--force", &folder.path("a.zst"), &folder.path("part")])).unwrap();
        assert_eq!(std::fs::read(folder.path("part")).unwrap(), b"hello", "{content}");
        for range in ["0..6", "7.."] {
            run(args(&["--range", range, &folder.path("a.zst"), &folder.path("none")])).unwrap_err();
            assert!(!std::path::Path::new(&folder.path("none")).exists(), "{range} of {content}");
        }
    }
}

#[test]
fn the_list_has_every_frame() {
    let folder = Folder::with(&content(), Format::Zstd, "a.zst");
    run(args(&["--list", &folder.path("a.zst"), "--json", &folder.path("json")])).unwrap();
    let document = folder.json();
    let frames = document["files"][0]["frames"].as_array().unwrap();
    let kinds: Vec<_> = frames.iter().map(|frame| frame["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds.len(), 18);
    assert_eq!((kinds[0], kinds[1], kinds[17]), ("promise", "zstd", "seek_table"));
    let content: u64 = frames.iter().filter(|f| f["kind"] == "zstd").map(|f| f["content_bytes"].as_u64().unwrap()).sum();
    assert_eq!(content, 160_000);
}
