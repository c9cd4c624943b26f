//! The ordered, bounded, parallel map.
//!
//! One pool task is one job. A task never waits for another: where the window is full no task is spawned,
//! and a task that ends spawns the next. Results leave in job order.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::meter::Blocked;
use super::run::Feed;
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
    /// Where the result goes; empty.
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
    /// They wait for [`Line::pop`].
    Pop,
    /// The worker that completes the run writes them, at offsets assigned in order.
    File(Arc<Output>),
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

/// An ordered, bounded, parallel map with a pool of its own. Dropping it stops the work and does not wait.
pub(crate) struct Line<J: Send + 'static, C: Send + 'static> {
    shared: Arc<Shared<J, C>>,
    pool: rayon::ThreadPool,
}

struct Shared<J, C> {
    threads: usize,
    window: u64,
    context: MakeContext<C>,
    work: Work<J, C>,
    deliver: Deliver,
    meter: Arc<Meter>,
    buffers: Buffers,
    idle: Mutex<Vec<Worker<C>>>,
    /// Locked before `state` where both are.
    next: Mutex<Option<Next<J>>>,
    state: Mutex<State<J>>,
    /// Anything that a thread outside the pool may wait for has changed.
    changed: Condvar,
}

/// What a worker keeps from job to job. Popped for a job, so a codec that itself uses the pool meets no second user.
struct Worker<C> {
    context: C,
    input: Vec<u8>,
}

struct State<J> {
    /// Pushed jobs that no worker took yet.
    queue: VecDeque<J>,
    /// Whether workers take jobs from `Shared::next`.
    pulls: bool,
    /// Jobs taken or pushed.
    accepted: u64,
    /// Jobs whose bytes have left memory.
    retired: u64,
    /// Pool tasks spawned and not ended.
    tasks: usize,
    /// The job to be released next, and the results from there on.
    first: u64,
    done: VecDeque<Option<Result<Vec<u8>, Error>>>,
    /// Where the next released result goes in the output file.
    offset: u64,
    released: Option<Released>,
    /// No job will come any more.
    ended: bool,
    /// A job failed: none after it starts, those before it are still released.
    halted: bool,
    /// Everything stops; the error is what the run ends with.
    stopped: bool,
    failure: Option<Error>,
    /// When the idle workers were last counted.
    counted: Instant,
}

impl<J: Send + 'static, C: Send + 'static> Line<J, C> {
    /// Starts the worker threads.
    pub(crate) fn new(parts: Parts<J, C>) -> Result<Self, Error> {
        let Parts { settings, context, work, next, released, deliver, meter } = parts;
        let threads = settings.threads.max(1);
        let shared = Arc::new(Shared {
            threads,
            window: settings.window.max(1) as u64,
            context,
            work,
            deliver,
            meter,
            buffers: Buffers::default(),
            idle: Mutex::default(),
            state: Mutex::new(State {
                queue: VecDeque::new(),
                pulls: next.is_some(),
                accepted: 0,
                retired: 0,
                tasks: 0,
                first: 0,
                done: VecDeque::new(),
                offset: 0,
                released,
                ended: false,
                halted: false,
                stopped: false,
                failure: None,
                counted: Instant::now(),
            }),
            next: Mutex::new(next),
            changed: Condvar::new(),
        });
        let mut builder = rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|index| format!("stream-{index}"));
        if let Some(hook) = settings.on_worker_start {
            let shared = Arc::downgrade(&shared);
            builder = builder.start_handler(move |index| {
                // A panic here would abort the process.
                if let Err(payload) = catch_unwind(AssertUnwindSafe(|| hook(index))) {
                    if let Some(shared) = shared.upgrade() {
                        shared.fail(Error::Panicked { chunk: 0, message: message(&*payload) });
                    }
                }
            });
        }
        let pool = builder.build().map_err(|e| Error::Pool { source: Box::new(e) })?;
        let line = Self { shared, pool };
        line.spawn(line.shared.lock());
        Ok(line)
    }

    /// Queues a job; waits while the window is full. For threads outside the pool.
    pub(crate) fn push(&self, job: J) -> Result<(), Error> {
        let shared = &*self.shared;
        let mut state = shared.lock();
        while !state.stopped && !state.halted && !shared.room(&state) {
            state = shared.wait(state);
        }
        if state.stopped || state.halted {
            return Err(Error::Cancelled);
        }
        shared.account(&mut state);
        state.queue.push_back(job);
        state.accepted += 1;
        self.spawn(state);
        Ok(())
    }

    /// Whether a job may be pushed without waiting.
    pub(crate) fn has_room(&self) -> bool {
        self.shared.room(&self.shared.lock())
    }

    /// No job will be pushed any more.
    pub(crate) fn end(&self) {
        let mut state = self.shared.lock();
        self.shared.account(&mut state);
        state.ended = true;
        drop(state);
        self.shared.changed.notify_all();
    }

    /// No job will be pushed any more: the source failed. The error comes out after the results of all jobs before it.
    pub(crate) fn end_with(&self, error: Error) {
        self.shared.source_failed(error);
    }

    /// Stops everything; [`Line::pop`] and [`Line::wait_progress`] return this error.
    pub(crate) fn fail(&self, error: Error) {
        self.shared.fail(error);
    }

    /// The next result in order; waits for it. `None` when all are out. Give the buffer back with [`Line::give`].
    pub(crate) fn pop(&self) -> Result<Option<Vec<u8>>, Error> {
        let shared = &*self.shared;
        let mut state = shared.lock();
        loop {
            if state.stopped {
                return Err(state.failure.take().unwrap_or(Error::Cancelled));
            }
            if let Some(Some(_)) = state.done.front() {
                let result = state.done.pop_front().flatten().expect("the front is there");
                return match result {
                    Ok(bytes) => match state.release(&bytes) {
                        Ok(_) => Ok(Some(bytes)),
                        Err(error) => {
                            state.stopped = true;
                            shared.changed.notify_all();
                            Err(error)
                        }
                    },
                    Err(error) => {
                        state.stopped = true;
                        shared.changed.notify_all();
                        Err(error)
                    }
                };
            }
            if state.ended && state.first == state.accepted {
                return Ok(None);
            }
            state = shared.wait(state);
        }
    }

    /// Like [`Line::pop`] without waiting: `None` where the next result is not there yet.
    pub(crate) fn try_pop(&self) -> Result<Option<Vec<u8>>, Error> {
        let ready = {
            let state = self.shared.lock();
            state.stopped || matches!(state.done.front(), Some(Some(_)))
        };
        if ready { self.pop() } else { Ok(None) }
    }

    /// Takes a popped buffer back; its chunk has left memory.
    pub(crate) fn give(&self, buffer: Vec<u8>) {
        self.shared.buffers.give(buffer);
        let mut state = self.shared.lock();
        self.shared.account(&mut state);
        state.retired += 1;
        self.spawn(state);
        self.shared.changed.notify_all();
    }

    /// Waits until more chunks than `seen` have left memory or the run is over, and returns their count; `None` when it is over.
    pub(crate) fn wait_progress(&self, seen: u64) -> Result<Option<u64>, Error> {
        let shared = &*self.shared;
        let mut state = shared.lock();
        loop {
            if state.stopped {
                return Err(state.failure.take().unwrap_or(Error::Cancelled));
            }
            if state.ended && state.retired == state.accepted {
                return Ok(None);
            }
            if state.retired > seen {
                return Ok(Some(state.retired));
            }
            state = shared.wait(state);
        }
    }

    /// Waits until no task runs any more. For threads outside the pool, after the end or a stop.
    pub(crate) fn settle(&self) {
        let mut state = self.shared.lock();
        while state.tasks > 0 {
            state = self.shared.wait(state);
        }
    }

    /// Jobs whose bytes have left memory.
    pub(crate) fn retired(&self) -> u64 {
        self.shared.lock().retired
    }

    /// The buffers that go round.
    pub(crate) fn buffers(&self) -> &Buffers {
        &self.shared.buffers
    }

    fn spawn(&self, mut state: MutexGuard<'_, State<J>>) {
        let count = self.shared.wanted(&state);
        state.tasks += count;
        drop(state);
        for _ in 0..count {
            let shared = Arc::clone(&self.shared);
            self.pool.spawn(move || shared.task());
        }
    }
}

impl<J: Send + 'static, C: Send + 'static> Drop for Line<J, C> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.stopped = true;
        state.queue.clear();
        drop(state);
        self.shared.changed.notify_all();
    }
}

impl<J: Send + 'static, C: Send + 'static> Shared<J, C> {
    /// One pool task: takes a job, does it, releases what is complete, spawns what may follow.
    fn task(self: Arc<Self>) {
        if let Some((index, job)) = self.take() {
            let result = self.perform(index, job);
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
            let job = state.queue.pop_front()?;
            return Some((state.accepted - state.queue.len() as u64 - 1, job));
        };
        let state = self.lock();
        if state.stopped || state.halted || state.ended || !self.room(&state) {
            return None;
        }
        drop(state);
        let feed = Feed { meter: &self.meter, buffers: &self.buffers };
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
        let mut output = self.buffers.take();
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
                buffers: &self.buffers,
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

    /// Puts a result in its place and lets out what is next in order.
    fn complete(self: &Arc<Self>, index: u64, result: Result<Vec<u8>, Error>) {
        let mut state = self.lock();
        state.halted |= result.is_err();
        state.place(index, result);
        let mut batch = Vec::new();
        if !matches!(self.deliver, Deliver::Pop) {
            while !state.stopped && matches!(state.done.front(), Some(Some(_))) {
                match state.done.pop_front().flatten().expect("the front is there") {
                    Ok(bytes) => match state.release(&bytes) {
                        Ok(offset) => batch.push((offset, bytes)),
                        Err(error) => {
                            state.stopped = true;
                            state.failure = Some(error);
                        }
                    },
                    Err(error) => {
                        state.stopped = true;
                        state.failure = Some(error);
                    }
                }
            }
        }
        drop(state);
        self.changed.notify_all();
        for (offset, bytes) in batch {
            if let Deliver::File(output) = &self.deliver {
                let written = self.meter.time(Stage::Write, || output.write_all_at(&bytes, offset));
                if let Err(error) = written {
                    self.fail(error);
                    return;
                }
                self.meter.add_bytes(Stage::Write, bytes.len() as u64);
            }
            self.buffers.give(bytes);
            let mut state = self.lock();
            self.account(&mut state);
            state.retired += 1;
            let count = self.wanted(&state);
            state.tasks += count;
            drop(state);
            self.changed.notify_all();
            // Not only at the task's end: others may go on while this worker writes the rest.
            self.spawn_more(count);
        }
    }

    fn source_failed(self: &Arc<Self>, error: Error) {
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

    fn fail(&self, error: Error) {
        let mut state = self.lock();
        state.stopped = true;
        state.failure.get_or_insert(error);
        state.queue.clear();
        drop(state);
        self.changed.notify_all();
    }

    /// How many tasks to spawn now.
    fn wanted(&self, state: &State<J>) -> usize {
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

    fn room(&self, state: &State<J>) -> bool {
        state.accepted - state.retired < self.window
    }

    /// Books the time since the last change to what the idle workers waited for. Call before changing what it reads.
    fn account(&self, state: &mut State<J>) {
        let now = Instant::now();
        let idle = self.threads.saturating_sub(state.tasks) as u32;
        if idle > 0 && !state.ended {
            let time = now.saturating_duration_since(state.counted) * idle;
            let why = if self.room(state) { Blocked::OnInput } else { Blocked::OnRoom };
            self.meter.add_blocked(Stage::Process, why, time);
        }
        state.counted = now;
    }

    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<J>>) -> MutexGuard<'a, State<J>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

impl<J> State<J> {
    fn place(&mut self, index: u64, result: Result<Vec<u8>, Error>) {
        let slot = usize::try_from(index - self.first).expect("within the window");
        while self.done.len() <= slot {
            self.done.push_back(None);
        }
        self.done[slot] = Some(result);
    }

    /// Lets the next result out: its offset in the output.
    fn release(&mut self, bytes: &[u8]) -> Result<u64, Error> {
        let (index, offset) = (self.first, self.offset);
        self.first += 1;
        self.offset += bytes.len() as u64;
        if let Some(released) = &mut self.released {
            released(index, bytes)?;
        }
        Ok(offset)
    }
}

/// The text of a panic.
fn message(payload: &(dyn std::any::Any + Send)) -> String {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (None, Some(text)) => text.clone(),
        (None, None) => "not text".to_owned(),
    }
}
