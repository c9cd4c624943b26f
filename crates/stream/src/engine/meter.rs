//! Clocks of the three stages: wall time per thread, processor time within it, and time with anyone inside.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::report::Stage;

/// The clocks of one run.
#[derive(Debug)]
pub(crate) struct Meter {
    start: Instant,
    stages: [Clock; 3],
}

#[derive(Debug, Default)]
struct Clock {
    busy: AtomicU64,
    cpu: AtomicU64,
    bytes: AtomicU64,
    blocked_on_input: AtomicU64,
    blocked_on_room: AtomicU64,
    inside: Mutex<Inside>,
}

#[derive(Debug, Default)]
struct Inside {
    threads: u32,
    since: Option<Instant>,
    occupied: Duration,
}

/// Which way a stage waits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Blocked {
    OnInput,
    OnRoom,
}

/// What a clock shows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) busy: Duration,
    pub(crate) cpu: Option<Duration>,
    pub(crate) occupied: Duration,
    pub(crate) blocked_on_input: Duration,
    pub(crate) blocked_on_room: Duration,
    pub(crate) bytes: u64,
}

impl Meter {
    /// Clocks at zero; the run starts now.
    pub(crate) fn new() -> Self {
        Self { start: Instant::now(), stages: Default::default() }
    }

    /// Wall time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Runs `f` inside a stage. A panic in `f` is timed too.
    pub(crate) fn time<R>(&self, stage: Stage, f: impl FnOnce() -> R) -> R {
        let _visit = Visit::enter(&self.stages[stage as usize]);
        f()
    }

    /// Counts bytes of a stage: of the input for read and process, of the output for write.
    pub(crate) fn add_bytes(&self, stage: Stage, bytes: u64) {
        self.stages[stage as usize].bytes.fetch_add(bytes, Relaxed);
    }

    /// Bytes of a stage so far.
    pub(crate) fn bytes(&self, stage: Stage) -> u64 {
        self.stages[stage as usize].bytes.load(Relaxed)
    }

    /// Adds time of a stage that runs outside the crate, in one thread.
    pub(crate) fn add_busy(&self, stage: Stage, time: Duration) {
        let clock = &self.stages[stage as usize];
        clock.busy.fetch_add(nanos(time), Relaxed);
        clock.inside.lock().unwrap_or_else(PoisonError::into_inner).occupied += time;
    }

    /// Adds time in which a stage (or so many of its threads together) had nothing to do.
    pub(crate) fn add_blocked(&self, stage: Stage, why: Blocked, time: Duration) {
        let clock = &self.stages[stage as usize];
        match why {
            Blocked::OnInput => &clock.blocked_on_input,
            Blocked::OnRoom => &clock.blocked_on_room,
        }
        .fetch_add(nanos(time), Relaxed);
    }

    /// What a stage's clock shows.
    pub(crate) fn reading(&self, stage: Stage) -> Reading {
        let clock = &self.stages[stage as usize];
        let time = |counter: &AtomicU64| Duration::from_nanos(counter.load(Relaxed));
        let inside = clock.inside.lock().unwrap_or_else(PoisonError::into_inner);
        Reading {
            busy: time(&clock.busy),
            cpu: thread_cpu().map(|_| time(&clock.cpu)),
            occupied: inside.occupied,
            blocked_on_input: time(&clock.blocked_on_input),
            blocked_on_room: time(&clock.blocked_on_room),
            bytes: clock.bytes.load(Relaxed),
        }
    }
}

/// One thread inside one stage; the times are booked when it is dropped.
struct Visit<'a> {
    clock: &'a Clock,
    start: Instant,
    cpu: Option<Duration>,
}

impl<'a> Visit<'a> {
    fn enter(clock: &'a Clock) -> Self {
        let start = Instant::now();
        let mut inside = clock.inside.lock().unwrap_or_else(PoisonError::into_inner);
        inside.threads += 1;
        if inside.threads == 1 {
            inside.since = Some(start);
        }
        drop(inside);
        Self { clock, start, cpu: thread_cpu() }
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        let cpu = thread_cpu();
        let end = Instant::now();
        let mut inside = self.clock.inside.lock().unwrap_or_else(PoisonError::into_inner);
        inside.threads -= 1;
        if inside.threads == 0 {
            if let Some(since) = inside.since.take() {
                inside.occupied += end.saturating_duration_since(since);
            }
        }
        drop(inside);
        self.clock.busy.fetch_add(nanos(end.saturating_duration_since(self.start)), Relaxed);
        if let (Some(before), Some(after)) = (self.cpu, cpu) {
            self.clock.cpu.fetch_add(nanos(after.saturating_sub(before)), Relaxed);
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Processor time of the calling thread, where the system tells it.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn thread_cpu() -> Option<Duration> {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(now).ok()
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn thread_cpu() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_visits_count_once_as_occupied() {
        let meter = Meter::new();
        meter.time(Stage::Process, || meter.time(Stage::Process, || std::hint::black_box(1 + 1)));
        let reading = meter.reading(Stage::Process);
        assert!(reading.busy >= reading.occupied);
        assert!(reading.occupied > Duration::ZERO);
        assert_eq!(meter.reading(Stage::Read).busy, Duration::ZERO);
    }

    #[test]
    fn a_panic_is_booked() {
        let meter = Meter::new();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| meter.time(Stage::Write, || panic!("boom"))));
        assert!(panicked.is_err());
        assert!(meter.reading(Stage::Write).busy > Duration::ZERO);
        meter.time(Stage::Write, || ());
        assert!(meter.reading(Stage::Write).occupied <= meter.elapsed());
    }
}
