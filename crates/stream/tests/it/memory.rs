//! Memory, measured in a process of its own.
#![cfg(target_os = "linux")]

use std::io::Read;
use std::process::Command;

use gannet_stream::{Format, Options, SeekableReader, compress_file, decompress, decompress_file, frames, verify_file};

use crate::build::{seek_table, zstd_zeros};
use crate::support::{Folder, text};

/// The most memory this process has had, in MiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_ascii_whitespace().nth(1).unwrap().parse::<u64>().unwrap() >> 10
}

/// Runs an ignored test of this file by itself, with one word to choose what it does.
fn in_a_process_of_its_own(name: &str, case: &str) {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program).args(["--exact", name, "--ignored", "--test-threads", "1"]).env(CASE, case).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{case}: {text}{}", String::from_utf8_lossy(&output.stderr));
}

const CASE: &str = "GANNET_TEST_CASE";

#[test]
fn hostile_files_take_little_memory() {
    in_a_process_of_its_own("memory::hostile_files", "");
}

#[test]
#[ignore = "run by hostile_files_take_little_memory"]
fn hostile_files() {
    let folder = Folder::new();
    let options = Options::new().threads(2);
    let path = folder.path("file");
    let try_all = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let _ = verify_file(&path, &options);
        let _ = decompress(bytes, std::io::sink(), &options);
        for frame in frames(&path).unwrap() {
            let _ = frame;
        }
        if let Ok(mut reader) = SeekableReader::open(&path, &options) {
            let _ = reader.read(&mut [0; 100]);
        }
    };
    // 1 GiB of zeros in 32 KiB; and 256 frames of 8 MiB, each in 256 bytes.
    try_all(&zstd_zeros(8192));
    try_all(&zstd_zeros(64).repeat(256));
    // Windows and contents of 2^60 bytes.
    for descriptor in [0xE0, 0xC0] {
        let mut bytes = vec![0x28, 0xB5, 0x2F, 0xFD, descriptor];
        if descriptor == 0xC0 {
            bytes.push(0xFF);
        }
        bytes.extend_from_slice(&(1_u64 << 60).to_le_bytes());
        bytes.extend_from_slice(&[0x09, 0, 0, b'x']);
        try_all(&bytes);
    }
    // A million empty LZ4 blocks, and legacy blocks of 8 MiB that are not there.
    let mut empty = vec![0x04, 0x22, 0x4D, 0x18, 0x60, 0x40, 0x82];
    for _ in 0..1_000_000 {
        empty.extend_from_slice(&0x8000_0000_u32.to_le_bytes());
    }
    try_all(&empty);
    try_all(&[&0x184C_2102_u32.to_le_bytes()[..], &[0xFF, 0xFF, 0x7F, 0]].concat());
    // A skippable frame of 4 GiB, and tables of 134 million frames.
    try_all(&[&0x184D_2A53_u32.to_le_bytes()[..], &[0xFF; 4], &[0; 100]].concat());
    let mut table = seek_table(&[(9, 1); 1000], None);
    let len = table.len();
    table[len - 9..len - 5].copy_from_slice(&0x0800_0000_u32.to_le_bytes());
    try_all(&[&zstd_zeros(1)[..], &table].concat());
    assert!(peak() <= 80, "{} MiB", peak());

    // A file that has room for such a table, and holds nothing.
    let file = std::fs::File::create(&path).unwrap();
    let frame = 8 + 8 * 0x0800_0000_u64 + 9;
    file.set_len(frame + 1000).unwrap();
    use std::os::unix::fs::FileExt as _;
    file.write_all_at(&[0x5E, 0x2A, 0x4D, 0x18, 9, 0, 0, 0x40], 1000).unwrap();
    file.write_all_at(&[0, 0, 0, 8, 0, 0xB1, 0xEA, 0x92, 0x8F], frame + 1000 - 9).unwrap();
    assert!(SeekableReader::open(&path, &options).is_err());
    assert!(verify_file(&path, &options).is_err());
    assert!(peak() <= 80, "{} MiB", peak());
}

#[test]
fn memory_does_not_grow_with_the_file() {
    let folder = Folder::new();
    let piece = text(8 << 20, 1);
    let mut file = std::fs::File::create(folder.path("source")).unwrap();
    for _ in 0..24 {
        std::io::Write::write_all(&mut file, &piece).unwrap();
    }
    for (format, job) in ["zstd", "lz4"].into_iter().flat_map(|format| ["compress", "decompress", "seek"].map(|job| (format, job))) {
        in_a_process_of_its_own("memory::large_file", &format!("{format} {job} {}", folder.path("").display()));
    }
}

#[test]
#[ignore = "run by memory_does_not_grow_with_the_file"]
fn large_file() {
    let case = std::env::var(CASE).unwrap();
    let [format, job, folder] = case.splitn(3, ' ').collect::<Vec<_>>().try_into().unwrap();
    let path = |name: &str| std::path::Path::new(folder).join(name);
    let (packed, plain) = (path(&format!("packed.{format}")), path("plain"));
    let options = Options::new().format(if format == "lz4" { Format::Lz4 } else { Format::Zstd }).threads(2).sync(false).overwrite(true);
    match job {
        "compress" => drop(compress_file(path("source"), &packed, &options).unwrap()),
        "decompress" => {
            decompress_file(&packed, &plain, &options).unwrap();
            assert_eq!(std::fs::metadata(&plain).unwrap().len(), 24 * (8 << 20));
        }
        _ => drop(std::io::copy(&mut SeekableReader::open(&packed, &options).unwrap(), &mut std::io::sink()).unwrap()),
    }
    // The file has 192 MiB. The programs take 19 to 34 MiB; the test's own frame and unlucky heaps add to that.
    assert!(peak() <= 56, "{} MiB", peak());
}
