//! A folder for a program's own files that goes away with it, even when the process was killed: the next run sweeps it.

use std::fs::{DirEntry, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::cli::{Failure, io_text};

const LOCK: &str = "lock";

/// A folder of this process's own. It is removed when dropped.
#[derive(Debug)]
pub struct WorkDir {
    // Held, and so locked, as long as the folder is in use. Dropped before the folder.
    _lock: File,
    folder: TempDir,
}

impl WorkDir {
    /// Makes one named `gannet-PROGRAM-…` in `parent`, after removing those of killed runs of the same program.
    ///
    /// # Errors
    /// `parent` is missing, no folder, or not writable.
    pub fn new(program: &str, parent: &Path) -> Result<Self, Failure> {
        let prefix = prefix(program);
        let failed = |error: io::Error| Failure::run(format!("{}: cannot make a working folder: {}", parent.display(), io_text(&error)));
        for dead in left(program, parent) {
            // Another user's folder may refuse; it is not ours to mend.
            let _ = std::fs::remove_dir_all(&dead.path);
        }
        for _ in 0..8 {
            let folder = tempfile::Builder::new().prefix(&prefix).tempdir_in(parent).map_err(failed)?;
            let path = folder.path().join(LOCK);
            let lock = File::create_new(&path).map_err(failed)?;
            // A sweeper may have had it in the moment between the two calls; then the folder is gone.
            lock.lock().map_err(failed)?;
            if path.exists() {
                return Ok(Self { _lock: lock, folder });
            }
        }
        Err(Failure::run(format!("{}: cannot keep a working folder", parent.display())))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The path of a file in it.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// The folder of a run that was killed. As long as this is held, nobody else takes it for left.
#[derive(Debug)]
pub struct Left {
    /// Where it is.
    pub path: PathBuf,
    _lock: File,
}

/// The folders that killed runs of `program` left in `parent`: those whose lock can be had.
#[must_use]
pub fn left(program: &str, parent: &Path) -> Vec<Left> {
    let prefix = prefix(program);
    let of_dead = |entry: DirEntry| {
        let named = entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix));
        if !named || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            return None;
        }
        let lock = File::open(entry.path().join(LOCK)).ok()?;
        lock.try_lock().ok()?;
        Some(Left { path: entry.path(), _lock: lock })
    };
    let Ok(entries) = std::fs::read_dir(parent) else { return Vec::new() };
    entries.flatten().filter_map(of_dead).collect()
}

fn prefix(program: &str) -> String {
    format!("gannet-{program}-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_folder_is_named_once() {
        let parent = tempfile::tempdir().unwrap();
        let Err(Failure::Run(message)) = WorkDir::new("demo", &parent.path().join("absent")) else { panic!("must fail") };
        assert_eq!(message.matches("absent").count(), 1, "{message}");
    }

    #[test]
    fn a_killed_run_is_swept_and_a_living_one_is_not() {
        let parent = tempfile::tempdir().unwrap();
        let dead = parent.path().join("gannet-demo-dead");
        std::fs::create_dir(&dead).unwrap();
        std::fs::write(dead.join(LOCK), "").unwrap();
        std::fs::write(dead.join("data"), "x").unwrap();
        let foreign = parent.path().join("gannet-demo-foreign");
        std::fs::create_dir(&foreign).unwrap();
        let first = WorkDir::new("demo", parent.path()).unwrap();
        let second = WorkDir::new("demo", parent.path()).unwrap();
        assert!(!dead.exists());
        assert!(foreign.exists(), "no lock file: not ours");
        assert!(first.path().exists() && second.path().exists());
        drop(first);
        drop(second);
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 1);
    }
}
