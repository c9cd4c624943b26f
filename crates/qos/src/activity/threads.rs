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
    /// How often the thread has moved to another CPU since it began; `None` where the kernel does not count it (Linux
    /// without `CONFIG_SCHED_DEBUG`).
    pub migrations: Option<u64>,
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
            let scheduler = std::fs::read_to_string(entry.path().join("sched")).unwrap_or_default();
            Some(ThreadPlace { thread, cpu: crate::meter::processor_of_stat(&stat)?, migrations: moves(&scheduler) })
        };
        Ok(entries.filter_map(Result::ok).filter_map(place).collect())
    }
    #[cfg(not(target_os = "linux"))]
    Err(Error::NotAvailable { what: "the CPU of another thread", reason: "only Linux tells it" })
}

/// `se.nr_migrations` of `/proc/PID/task/TID/sched`.
#[cfg(any(target_os = "linux", test))]
fn moves(scheduler: &str) -> Option<u64> {
    let line = scheduler.lines().find_map(|line| line.strip_prefix("se.nr_migrations"))?;
    line.split_once(':')?.1.trim().parse().ok()
}

/// How often the threads of a process moved to another CPU between two looks, new threads since they began.
///
/// It is a lower bound: a thread that has ended is not seen, and where the kernel does not count, a thread counts once if it
/// is on another CPU than before.
#[must_use]
pub fn migrations(before: &[ThreadPlace], after: &[ThreadPlace]) -> u64 {
    let earlier: BTreeMap<u64, &ThreadPlace> = before.iter().map(|place| (place.thread, place)).collect();
    let moved = |now: &ThreadPlace| match (earlier.get(&now.thread), now.migrations) {
        (Some(then), Some(count)) => count.saturating_sub(then.migrations.unwrap_or(0)),
        (Some(then), None) => u64::from(then.cpu != now.cpu),
        (None, count) => count.unwrap_or(0),
    };
    after.iter().map(moved).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_moves_are_all_seen() {
        let place = |thread, migrations| ThreadPlace { thread, cpu: 0, migrations: Some(migrations) };
        let before = [place(1, 5), place(2, 1)];
        assert_eq!(migrations(&before, &[place(1, 9), place(2, 1), place(3, 2)]), 4 + 2);
        assert_eq!(migrations(&before, &[place(1, 4)]), 0);
        let text = "cat (17, #threads: 1)\n---\nse.sum_exec_runtime    :   0.9\nse.nr_migrations      :    12\nnr_switches : 3\n";
        assert_eq!((moves(text), moves("se.nr_migrations : x"), moves("")), (Some(12), None, None));
    }

    #[test]
    fn without_a_count_only_threads_seen_twice_can_have_migrated() {
        let place = |thread, cpu| ThreadPlace { thread, cpu, migrations: None };
        let before = [place(1, 0), place(2, 0), place(3, 1)];
        let after = [place(1, 0), place(2, 1), place(4, 1)];
        assert_eq!(migrations(&before, &after), 1);
        assert_eq!(migrations(&[], &after), 0);
    }
}
