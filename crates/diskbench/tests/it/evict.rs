use std::fs;

use gannet_diskbench::{Error, Residency, evict, evict_file};

#[test]
fn a_file_leaves_the_cache_and_that_is_told() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("file");
    fs::write(&path, vec![7; 1_000_000]).unwrap();
    let eviction = evict(&path).unwrap();
    assert_eq!(eviction.length, 1_000_000);
    // What other systems' page caches do is not known so exactly.
    if cfg!(target_os = "linux") && eviction.obstacle.is_none() {
        assert!(eviction.before.bytes().unwrap() >= 1_000_000);
        assert_eq!(eviction.after, Residency::Bytes(0));
        assert_eq!(eviction.is_cold(), Some(true));
    }
    assert_eq!(fs::read(&path).unwrap(), vec![7; 1_000_000]);
    let file = fs::File::open(&path).unwrap();
    assert_eq!(evict_file(&file).unwrap().length, 1_000_000);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_in_memory_cannot_leave() {
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else { return };
    let path = folder.path().join("file");
    fs::write(&path, vec![7; 100_000]).unwrap();
    let eviction = evict(&path).unwrap();
    assert!(eviction.obstacle.as_ref().unwrap().contains("in memory"), "{eviction:?}");
    assert_eq!(eviction.is_cold(), Some(false));
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(evict(folder.path()), Err(Error::Io { .. })));
    assert!(matches!(evict(folder.path().join("absent")), Err(Error::Io { .. })));
}
