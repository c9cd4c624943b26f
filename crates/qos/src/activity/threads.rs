use std::collections::BTreeMap;

use crate::Error;

/// The CPU a thread is on, or was on last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ThreadPlace {
    /// The thread's id.
    pub thread: u64,
    /// The CPU's number.
    pub cpu: usize,
}

/// The CPU of each thread of a process.
///
/// # Errors
/// When there is no such process; always elsewhere than on Linux, since no other system tells it of another thread.
#[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "no other system tells"))]
pub fn thread_places(pid: u32) -> Result<Vec<ThreadPlace>, Error> {
    #[cfg(target_os = "linux")]
    {
        let folder = std::path::PathBuf::from(format!("/proc/{pid}/task"));
        let entries = std::fs::read_dir(&folder).map_err(|source| Error::Read { path: folder.clone(), source })?;
        let place = |entry: std::fs::DirEntry| {
            // A thread may end at any time.
            let thread = entry.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            Some(ThreadPlace { thread, cpu: crate::meter::processor_of_stat(&stat)? })
        };
        Ok(entries.filter_map(Result::ok).filter_map(place).collect())
    }
    #[cfg(not(target_os = "linux"))]
    Err(Error::NotAvailable { what: "the CPU of another thread", reason: "only Linux tells it" })
}

/// How many threads are on another CPU than before: a lower bound on the migrations between.
#[must_use]
pub fn migrations(before: &[ThreadPlace], after: &[ThreadPlace]) -> usize {
    let places: BTreeMap<u64, usize> = before.iter().map(|place| (place.thread, place.cpu)).collect();
    after.iter().filter(|place| places.get(&place.thread).is_some_and(|cpu| *cpu != place.cpu)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_threads_seen_twice_can_have_migrated() {
        let place = |thread, cpu| ThreadPlace { thread, cpu };
        let before = [place(1, 0), place(2, 0), place(3, 1)];
        let after = [place(1, 0), place(2, 1), place(4, 1)];
        assert_eq!(migrations(&before, &after), 1);
        assert_eq!(migrations(&[], &after), 0);
    }
}
