//! The work of a line.
//!
//! One pool task is one job. A task never waits for another: where the window is full no task is spawned,
//! and a task that ends spawns the next. Results leave in job order.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use super::meter::Blocked;
use super::run::Feed;
use super::state::State;
use super::{Buffers, Meter, Settings};
use crate::error::Error;
use crate::file::Output;
use crate::report::Stage;

/// What the work function gets: one job, the worker's context and buffers.
pub(crate) struct Task<'a, J, C> {
    /// The number of the job, from 0.
    pub(crate) index: u64,
    /// The job.
    pub(crate) job: J,
    /// This worker's context, kept from job to job.
    pub(crate) context: &'a mut C,
    /// This worker's own buffer, kept from job to job.
    pub(crate) input: &'a mut Vec<u8>,
    /// Where the result goes; has the length and content of an earlier use.
    pub(crate) output: &'a mut Vec<u8>,
    /// The clocks.
    pub(crate) meter: &'a Meter,
    /// Where a job's buffer goes back.
    pub(crate) buffers: &'a Buffers,
}

pub(crate) type MakeContext<C> = Box<dyn Fn() -> Result<C, Error> + Send + Sync>;
pub(crate) type Work<J, C> = Box<dyn Fn(Task<'_, J, C>) -> Result<(), Error> + Send + Sync>;
pub(crate) type Next<J> = Box<dyn FnMut(&Feed<'_>) -> Result<Option<J>, Error> + Send>;
pub(crate) type Released = Box<dyn FnMut(u64, &[u8]) -> Result<(), Error> + Send>;

/// Where results go.
pub(crate) enum Deliver {
    /// They wait to be popped.
    Pop,
    /// A worker writes them, one at a time, at offsets assigned in order.
    /// Weak: when the run is over, the caller alone has the file.
    File(Weak<Output>),
    /// They are dropped, in order.
    Discard,
}

/// What a line does.
pub(crate) struct Parts<J, C> {
    pub(crate) settings: Settings,
    pub(crate) context: MakeContext<C>,
    pub(crate) work: Work<J, C>,
    pub(crate) next: Option<Next<J>>,
    pub(crate) released: Option<Released>,
    pub(crate) deliver: Deliver,
    pub(crate) meter: Arc<Meter>,
}

/// What the tasks of a line share.
pub(super) struct Shared<J, C> {
    threads: usize,
    window: u64,
    context: MakeContext<C>,
    work: Work<J, C>,
    deliver: Deliver,
    meter: Arc<Meter>,
    /// What jobs carry, and what they become. Apart, as buffers keep their length: see [`Buffers::take`].
    pub(super) inputs: Buffers,
    pub(super) outputs: Buffers,
    idle: Mutex<Vec<Worker<C>>>,
    /// Locked before `state` where both are.
    next: Mutex<Option<Next<J>>>,
    state: Mutex<State<J>>,
    /// Anything that a thread outside the pool may wait for has changed.
    pub(super) changed: Condvar,
}

/// What a worker keeps from job to job. Popped for a job, so a codec that itself uses the pool meets no second user.
struct Worker<C> {
    context: C,
    input: Vec<u8>,
}

impl<J: Send + 'static, C: Send + 'static> Shared<J, C> {
    pub(super) fn new(parts: Parts<J, C>) -> Self {
        let Parts { settings, context, work, next, released, deliver, meter } = parts;
        Self {
            threads: settings.threads.max(1),
            window: settings.window.max(1) as u64,
            context,
            work,
            deliver,
            meter,
            inputs: Buffers::default(),
            outputs: Buffers::default(),
            idle: Mutex::default(),
            state: Mutex::new(State::new(next.is_some(), released)),
            next: Mutex::new(next),
            changed: Condvar::new(),
        }
    }

    /// One pool task: takes a job, does it, releases what is complete, spawns what may follow.
    pub(super) fn task(self: Arc<Self>) {
        if let Some((index, job)) = self.take() {
            let result = self.perform(index, job);
            if result.is_err() {
                self.lock().halted = true;
            }
            self.complete(index, result);
        }
        let mut state = self.lock();
        self.account(&mut state);
        state.tasks -= 1;
        let count = self.wanted(&state);
        state.tasks += count;
        drop(state);
        self.changed.notify_all();
        self.spawn_more(count);
    }

    /// Spawns tasks on the calling pool thread's own pool.
    fn spawn_more(self: &Arc<Self>, count: usize) {
        for _ in 0..count {
            let shared = Arc::clone(self);
            rayon::spawn(move || shared.task());
        }
    }

    fn take(self: &Arc<Self>) -> Option<(u64, J)> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(next) = next.as_mut() else {
            let mut state = self.lock();
            if state.stopped || state.halted {
                return None;
            }
            return state.queue.pop_front();
        };
        let state = self.lock();
        if state.stopped || state.halted || state.ended || !self.room(&state) {
            return None;
        }
        drop(state);
        let feed = Feed { meter: &self.meter, buffers: &self.inputs };
        let job = catch_unwind(AssertUnwindSafe(|| next(&feed)));
        let mut state = self.lock();
        match job {
            Ok(Ok(Some(job))) => {
                state.accepted += 1;
                Some((state.accepted - 1, job))
            }
            Ok(Ok(None)) => {
                state.ended = true;
                None
            }
            Ok(Err(error)) => {
                drop(state);
                self.source_failed(error);
                None
            }
            Err(payload) => {
                let chunk = state.accepted;
                drop(state);
                self.source_failed(Error::Panicked { chunk, message: message(&*payload) });
                None
            }
        }
    }

    fn perform(&self, index: u64, job: J) -> Result<Vec<u8>, Error> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut output = self.outputs.take();
        let result = catch_unwind(AssertUnwindSafe(|| {
            let mut worker = match idle {
                Some(worker) => worker,
                None => Worker { context: (self.context)()?, input: Vec::new() },
            };
            (self.work)(Task {
                index,
                job,
                context: &mut worker.context,
                input: &mut worker.input,
                output: &mut output,
                meter: &self.meter,
                buffers: &self.inputs,
            })?;
            // A context that failed is not used again.
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
            Ok(())
        }));
        match result {
            Ok(Ok(())) => Ok(output),
            Ok(Err(error)) => Err(error),
            Err(payload) => Err(Error::Panicked { chunk: index, message: message(&*payload) }),
        }
    }

    /// Puts a result in its place, and lets out what is next in order unless another worker is at that.
    fn complete(self: &Arc<Self>, index: u64, result: Result<Vec<u8>, Error>) {
        let mut state = self.lock();
        state.place(index, result);
        if !matches!(self.deliver, Deliver::Pop) {
            while !state.stopped {
                match state.next_out() {
                    Some(Ok(out)) => state.leaving.push_back(out),
                    Some(Err(error)) => state.failure = Some(error),
                    None => break,
                }
            }
        }
        // Systems write to one place of a file at a time: who would wait for that goes on with other work.
        let is_free = !state.leaving.is_empty() && !state.writing;
        state.writing |= is_free;
        drop(state);
        self.changed.notify_all();
        if is_free {
            self.let_out();
        }
    }

    /// Lets out what is leaving until nothing is, also what comes meanwhile.
    fn let_out(self: &Arc<Self>) {
        let mut state = self.lock();
        while let Some((offset, bytes)) = state.leaving.pop_front() {
            drop(state);
            if let Deliver::File(output) = &self.deliver {
                let Some(output) = output.upgrade() else { return };
                let written = self.meter.time(Stage::Write, || output.write_all_at(&bytes, offset));
                if let Err(error) = written {
                    self.fail(error);
                    return;
                }
                self.meter.add_bytes(Stage::Write, bytes.len() as u64);
            }
            self.outputs.give(bytes);
            state = self.lock();
            self.account(&mut state);
            state.retired += 1;
            let count = self.wanted(&state);
            state.tasks += count;
            drop(state);
            self.changed.notify_all();
            // Not only at the task's end: others may go on while this worker writes the rest.
            self.spawn_more(count);
            state = self.lock();
        }
        state.writing = false;
    }

    pub(super) fn source_failed(self: &Arc<Self>, error: Error) {
        let mut state = self.lock();
        self.account(&mut state);
        if state.ended || state.stopped {
            return;
        }
        state.ended = true;
        let index = state.accepted;
        state.accepted += 1;
        drop(state);
        self.complete(index, Err(error));
    }

    pub(super) fn fail(&self, error: Error) {
        let mut state = self.lock();
        state.stopped = true;
        state.failure.get_or_insert(error);
        state.queue.clear();
        drop(state);
        self.changed.notify_all();
    }

    /// How many tasks to spawn now.
    pub(super) fn wanted(&self, state: &State<J>) -> usize {
        if state.stopped || state.halted {
            return 0;
        }
        let jobs = if !state.pulls {
            state.queue.len()
        } else if state.ended {
            0
        } else {
            usize::try_from(self.window.saturating_sub(state.accepted - state.retired)).unwrap_or(usize::MAX)
        };
        jobs.min(self.threads.saturating_sub(state.tasks))
    }

    pub(super) fn room(&self, state: &State<J>) -> bool {
        state.accepted - state.retired < self.window
    }

    /// Books the time since the last change to what the idle workers waited for. Call before changing what it reads.
    pub(super) fn account(&self, state: &mut State<J>) {
        let now = Instant::now();
        let idle = self.threads.saturating_sub(state.tasks) as u32;
        if idle > 0 && !state.ended {
            let time = now.saturating_duration_since(state.counted) * idle;
            let why = if self.room(state) { Blocked::OnInput } else { Blocked::OnRoom };
            self.meter.add_blocked(Stage::Process, why, time);
        }
        state.counted = now;
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wait<'a>(&self, state: MutexGuard<'a, State<J>>) -> MutexGuard<'a, State<J>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

/// The text of a panic.
pub(super) fn message(payload: &(dyn std::any::Any + Send)) -> String {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (None, Some(text)) => text.clone(),
        (None, None) => "not text".to_owned(),
    }
}
