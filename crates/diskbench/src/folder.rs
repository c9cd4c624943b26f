//! An own locked folder for files that must have names, and the sweeping of those that dead runs left.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use crate::{Error, Method, Result, sys};

const PREFIX: &str = ".gannet-diskbench-";
/// Spotlight does not index folders with this ending.
const SUFFIX: &str = ".noindex";
const LOCK: &str = "lock";
const DATA: &str = "data-";

/// A folder of this run, removed with all in it on drop.
#[derive(Debug)]
pub(crate) struct OwnFolder {
    path: PathBuf,
    /// Holds the lock.
    _lock: File,
}

impl OwnFolder {
    /// Makes a new folder in `parent` and locks it. `run` tells runs of one process apart.
    pub(crate) fn create(parent: &Path, run: u64) -> Result<Self> {
        for attempt in 0..16 {
            let name = format!("{PREFIX}{}-{run:016x}-{attempt}{SUFFIX}", process::id());
            let path = parent.join(name);
            match make(&path) {
                Ok(Some(lock)) => return Ok(OwnFolder { path, _lock: lock }),
                // Another run swept it between making and locking.
                Ok(None) => {}
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => {
                    let _ = fs::remove_dir(&path);
                    return Err(Error::io("make a folder in", parent, None, e));
                }
            }
        }
        let e = io::Error::new(io::ErrorKind::AlreadyExists, "16 names were taken");
        Err(Error::io("make a folder in", parent, None, e))
    }

    pub(crate) fn file(&self, number: u32) -> PathBuf {
        self.path.join(format!("{DATA}{number}"))
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        let _ = remove(&self.path);
    }
}

/// `None` if the lock is not of this folder any more.
fn make(path: &Path) -> io::Result<Option<File>> {
    fs::create_dir(path)?;
    let lock_path = path.join(LOCK);
    let lock = match sys::create_new(&lock_path, Method::Buffered) {
        Ok(lock) => lock,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    };
    match sys::try_lock(&lock) {
        Ok(true) => {}
        Ok(false) => return Ok(None),
        // No locks here: nobody else can take it either, and nobody sweeps.
        Err(_) => return Ok(Some(lock)),
    }
    Ok(lock_path.exists().then_some(lock))
}

/// Removes folders whose run is dead: those of this user whose lock is free. Returns how many.
pub(crate) fn sweep(parent: &Path) -> usize {
    let Ok(entries) = fs::read_dir(parent) else { return 0 };
    entries.flatten().filter(|entry| is_ours(entry) && remove_if_dead(&entry.path())).count()
}

fn is_ours(entry: &fs::DirEntry) -> bool {
    let name = entry.file_name();
    let Some(name) = name.to_str() else { return false };
    name.starts_with(PREFIX)
        && name.ends_with(SUFFIX)
        && entry.path().symlink_metadata().is_ok_and(|facts| facts.is_dir() && belongs_to_user(&facts))
}

#[cfg(unix)]
fn belongs_to_user(facts: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(facts) == sys::user()
}

#[cfg(not(unix))]
fn belongs_to_user(_: &fs::Metadata) -> bool {
    false
}

fn remove_if_dead(path: &Path) -> bool {
    match sys::open_read(&path.join(LOCK), Method::Buffered) {
        Ok(lock) => matches!(sys::try_lock(&lock), Ok(true)) && remove(path).is_ok(),
        // Without a lock it is either empty (then this removes it) or not what it seems (then this fails).
        Err(e) if e.kind() == io::ErrorKind::NotFound => fs::remove_dir(path).is_ok(),
        Err(_) => false,
    }
}

/// Removes what this crate puts into such a folder, the lock last, and the folder if nothing else is in it.
fn remove(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)?.flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(DATA)) {
            let _ = fs::remove_file(entry.path());
        }
    }
    let _ = fs::remove_file(path.join(LOCK));
    fs::remove_dir(path)
}

#[cfg(all(test, any(target_os = "linux", target_vendor = "apple")))]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_folder_goes_with_its_run() {
        let parent = tempfile::tempdir().unwrap();
        let own = OwnFolder::create(parent.path(), 1).unwrap();
        fs::write(own.file(3), "x").unwrap();
        assert_eq!(names(parent.path()).len(), 1);
        drop(own);
        assert!(names(parent.path()).is_empty());
    }

    #[test]
    fn the_dead_are_swept_and_the_living_are_not() {
        let parent = tempfile::tempdir().unwrap();
        let living = OwnFolder::create(parent.path(), 1).unwrap();
        fs::write(living.file(0), "x").unwrap();
        // What a killed run leaves: the same, and nobody holds the lock.
        let dead = parent.path().join(format!("{PREFIX}1-2-0{SUFFIX}"));
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join(LOCK), "").unwrap();
        fs::write(dead.join(format!("{DATA}0")), "x").unwrap();
        // Killed between making the folder and its lock.
        fs::create_dir(parent.path().join(format!("{PREFIX}1-3-0{SUFFIX}"))).unwrap();
        assert_eq!(sweep(parent.path()), 2);
        assert!(living.file(0).exists());
        assert_eq!(names(parent.path()).len(), 1);
        assert_eq!(sweep(parent.path()), 0);
    }

    #[test]
    fn what_is_not_ours_stays() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        // Files of others in a folder of ours, a file with such a name, a link to somebody's folder, another name.
        let mixed = at(&format!("{PREFIX}1-2-0{SUFFIX}"));
        fs::create_dir(&mixed).unwrap();
        fs::write(mixed.join(LOCK), "").unwrap();
        fs::write(mixed.join("letter"), "dear").unwrap();
        fs::write(at(&format!("{PREFIX}file{SUFFIX}")), "x").unwrap();
        fs::create_dir(at("mine")).unwrap();
        fs::write(at("mine").join(LOCK), "").unwrap();
        fs::write(at("mine").join(format!("{DATA}0")), "x").unwrap();
        std::os::unix::fs::symlink(at("mine"), at(&format!("{PREFIX}link{SUFFIX}"))).unwrap();
        assert_eq!(sweep(parent.path()), 0);
        assert_eq!(fs::read(mixed.join("letter")).unwrap(), b"dear");
        assert!(at("mine").join(format!("{DATA}0")).exists());
        assert_eq!(names(parent.path()).len(), 4);
    }
}
