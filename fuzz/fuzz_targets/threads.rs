//! Waits for the threads that a run started.

use std::sync::OnceLock;

/// Runs it, and returns when the process has no more threads than before the first run.
///
/// A pool does not wait for its threads to end, and what one that is just ending has not freed yet looks like a leak. A thread
/// that never ends is a finding: the fuzzer's time limit reports it.
pub fn all_ended<T>(run: impl FnOnce() -> T) -> T {
    static BEFORE: OnceLock<usize> = OnceLock::new();
    let before = *BEFORE.get_or_init(threads);
    let result = run();
    while threads() > before {
        std::thread::yield_now();
    }
    result
}

/// Threads of this process, where the system lists them; leaks are looked for there only.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}
