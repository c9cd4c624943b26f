//! What becomes of names, modes, times and what killed runs left.

use std::fs;
use std::time::{Duration, SystemTime};

use gannet_stream::{Error, Format, Options, compress_file, compress_to_file};

use crate::support::{Folder, text};

fn options() -> Options {
    Options::new().format(Format::Zstd).chunk_bytes(1000).threads(2)
}

#[test]
fn an_existing_output_stays_unless_asked() {
    let folder = Folder::new();
    let src = folder.file("src", &text(5_000, 1));
    let dst = folder.file("dst", b"precious");
    assert!(matches!(compress_file(&src, &dst, &options()).unwrap_err(), Error::Exists { path } if path == dst));
    assert_eq!(fs::read(&dst).unwrap(), b"precious");
    compress_file(&src, &dst, &options().overwrite(true)).unwrap();
    assert_ne!(fs::read(&dst).unwrap(), b"precious");
    assert_eq!(folder.names(), ["dst", "src"]);
}

#[test]
fn source_and_output_must_differ() {
    let folder = Folder::new();
    let src = folder.file("src", b"content");
    for options in [options(), options().overwrite(true)] {
        assert!(matches!(compress_file(&src, &src, &options).unwrap_err(), Error::SameFile { .. }));
        fs::hard_link(&src, folder.path("link")).unwrap();
        assert!(matches!(compress_file(&src, folder.path("link"), &options).unwrap_err(), Error::SameFile { .. }));
        fs::remove_file(folder.path("link")).unwrap();
    }
    assert_eq!(fs::read(&src).unwrap(), b"content");
}

#[test]
fn folders_and_missing_files_are_named() {
    let folder = Folder::new();
    let src = folder.file("src", b"content");
    fs::create_dir(folder.path("folder")).unwrap();
    let open = options().overwrite(true);
    assert!(matches!(compress_file(folder.path("folder"), folder.path("dst"), &open).unwrap_err(), Error::Folder { .. }));
    assert!(matches!(compress_file(&src, folder.path("folder"), &open).unwrap_err(), Error::Folder { .. }));
    assert!(
        matches!(compress_file(folder.path("none"), folder.path("dst"), &open).unwrap_err(), Error::Open { path, .. } if path == folder.path("none"))
    );
    assert!(matches!(compress_file(&src, folder.path("none/dst"), &open).unwrap_err(), Error::Create { .. }));
    assert_eq!(folder.names(), ["folder", "src"]);
}

#[test]
fn times_are_kept() {
    let folder = Folder::new();
    let src = folder.file("src", &text(5_000, 1));
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_234_567_890);
    fs::File::options().write(true).open(&src).unwrap().set_modified(time).unwrap();
    compress_file(&src, folder.path("dst"), &options()).unwrap();
    assert_eq!(fs::metadata(folder.path("dst")).unwrap().modified().unwrap(), time);
}

#[cfg(unix)]
#[test]
fn the_mode_is_kept() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let src = folder.file("src", &text(5_000, 1));
    for mode in [0o600, 0o640, 0o755, 0o4755] {
        fs::set_permissions(&src, fs::Permissions::from_mode(mode)).unwrap();
        compress_file(&src, folder.path("dst"), &options().overwrite(true)).unwrap();
        let kept = fs::metadata(folder.path("dst")).unwrap().permissions().mode();
        assert_eq!(kept & 0o7777, mode & 0o777);
    }
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_stays() {
    let folder = Folder::new();
    let src = folder.file("src", &text(5_000, 1));
    folder.file("real", b"old");
    std::os::unix::fs::symlink(folder.path("real"), folder.path("link")).unwrap();
    compress_file(&src, folder.path("link"), &options().overwrite(true)).unwrap();
    assert!(fs::symlink_metadata(folder.path("link")).unwrap().is_symlink());
    assert_ne!(fs::read(folder.path("real")).unwrap(), b"old");
}

#[cfg(unix)]
#[test]
fn a_device_is_not_replaced() {
    let folder = Folder::new();
    let src = folder.file("src", b"content");
    let error = compress_file(&src, "/dev/null", &options().overwrite(true)).unwrap_err();
    assert!(matches!(error, Error::Create { .. }));
}

#[cfg(unix)]
#[test]
fn what_killed_runs_left_is_swept_and_nothing_else() {
    let folder = Folder::new();
    let src = folder.file("src", &text(5_000, 1));
    let left = folder.file(".dst.gannet-1-0.part", b"left behind");
    folder.file(".dst.gannet-1-0.partial", b"not ours");
    folder.file(".other.gannet-1-0.part", b"of another output");
    // A living writer holds its lock.
    let living = folder.file(".dst.gannet-2-0.part", b"in use");
    let file = fs::File::open(&living).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    compress_file(&src, folder.path("dst"), &options()).unwrap();
    assert!(!left.exists());
    assert_eq!(folder.names(), [".dst.gannet-1-0.partial", ".dst.gannet-2-0.part", ".other.gannet-1-0.part", "dst", "src"]);
}

#[test]
fn a_stream_goes_to_a_file_under_the_same_rules() {
    let folder = Folder::new();
    let source = text(5_000, 1);
    compress_to_file(&source[..], folder.path("dst"), &options()).unwrap();
    assert!(matches!(compress_to_file(&source[..], folder.path("dst"), &options()).unwrap_err(), Error::Exists { .. }));
    assert_eq!(folder.names(), ["dst"]);
}

#[cfg(target_os = "linux")]
#[test]
fn names_need_not_be_text_or_short() {
    use std::os::unix::ffi::OsStringExt;
    let folder = Folder::new();
    let mut name = vec![b'x'; 250];
    name[100] = 0xFF;
    let name = std::ffi::OsString::from_vec(name);
    let src = folder.file("src", &text(5_000, 1));
    let dst = src.with_file_name(name);
    for _ in 0..2 {
        compress_file(&src, &dst, &options().overwrite(true)).unwrap();
        assert_eq!(fs::read_dir(src.parent().unwrap()).unwrap().count(), 2);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_of_the_system_without_a_length_is_read_to_its_end() {
    let folder = Folder::new();
    compress_file("/proc/version", folder.path("dst"), &options().format(Format::Store)).unwrap();
    assert_eq!(fs::read(folder.path("dst")).unwrap(), fs::read("/proc/version").unwrap());
}

/// The variable that tells the child of the kill test its folder.
#[cfg(unix)]
const CHILD: &str = "GANNET_STREAM_KILLED_CHILD";

/// Compresses until it is killed. Only a child of the test below.
#[cfg(unix)]
#[test]
#[ignore = "the child of another test"]
fn compress_until_killed() {
    let folder = std::path::PathBuf::from(std::env::var_os(CHILD).expect("run by its parent"));
    let overwrite = folder.join("dst").exists();
    let options = options().overwrite(overwrite).sync(false);
    println!("started");
    loop {
        compress_file(folder.join("src"), folder.join("dst"), &options).unwrap();
        if !overwrite {
            fs::remove_file(folder.join("dst")).unwrap();
        }
    }
}

/// Kills compressing processes at random moments; whatever the moment, this holds.
#[cfg(unix)]
#[test]
fn a_killed_run_leaves_no_part_of_an_output() {
    use std::io::BufRead;
    let source = text(200_000, 2);
    let mut random = crate::support::Random(11);
    for overwrite in [false, true] {
        let folder = Folder::new();
        let src = folder.file("src", &source);
        if overwrite {
            compress_file(&src, folder.path("dst"), &options()).unwrap();
        }
        for _ in 0..25 {
            let mut child = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--ignored", "--exact", "outputs::compress_until_killed", "--nocapture"])
                .env(CHILD, src.parent().unwrap())
                .stdout(std::process::Stdio::piped())
                .spawn()
                .unwrap();
            let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
            assert!(lines.any(|line| line.unwrap().contains("started")));
            std::thread::sleep(Duration::from_micros(random.next() % 20_000));
            child.kill().unwrap();
            child.wait().unwrap();
            let mut names = folder.names();
            if let Ok(packed) = fs::read(folder.path("dst")) {
                assert_eq!(crate::support::decompressed(&packed, &options()).unwrap(), source);
                names.retain(|name| name != "dst");
            } else {
                assert!(!overwrite);
            }
            let left = names.iter().filter(|name| name.starts_with(".dst.gannet-") && name.ends_with(".part")).count();
            assert!(left <= 1 && names.len() == left + 1, "{names:?}");
            if !overwrite {
                let _ = fs::remove_file(folder.path("dst"));
            }
        }
        // The next run sweeps.
        compress_file(&src, folder.path("dst"), &options().overwrite(true)).unwrap();
        assert_eq!(folder.names(), ["dst", "src"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    use std::fs::OpenOptions;
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    let error = gannet_stream::compress(&text(5_000, 1)[..], full(), &options()).unwrap_err();
    assert!(matches!(error, Error::Write { source, .. } if source.kind() == std::io::ErrorKind::StorageFull));
}
