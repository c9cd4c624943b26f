//! The ordered, bounded, parallel map, as its users see it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, MutexGuard};

use super::Buffers;
use super::shared::{Parts, Shared, message};
use super::state::State;
use crate::error::Error;

/// An ordered, bounded, parallel map with a pool of its own. Dropping it stops the work and does not wait.
pub(crate) struct Line<J: Send + 'static, C: Send + 'static> {
    shared: Arc<Shared<J, C>>,
    pool: rayon::ThreadPool,
}

impl<J: Send + 'static, C: Send + 'static> Line<J, C> {
    /// Starts the worker threads.
    pub(crate) fn new(parts: Parts<J, C>) -> Result<Self, Error> {
        let (threads, hook) = (parts.settings.threads.max(1), parts.settings.on_worker_start.clone());
        let shared = Arc::new(Shared::new(parts));
        let mut builder = rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|index| format!("stream-{index}"));
        if let Some(hook) = hook {
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
        let index = state.accepted;
        state.queue.push_back((index, job));
        state.accepted += 1;
        self.spawn(state);
        Ok(())
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
            if let Some(result) = state.next_out() {
                if result.is_err() {
                    shared.changed.notify_all();
                }
                return result.map(|(_, bytes)| Some(bytes));
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
        self.shared.outputs.give(buffer);
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

    /// Jobs pushed or taken so far.
    pub(crate) fn accepted(&self) -> u64 {
        self.shared.lock().accepted
    }

    /// Jobs whose bytes have left memory.
    pub(crate) fn retired(&self) -> u64 {
        self.shared.lock().retired
    }

    /// Buffers for jobs that carry bytes.
    pub(crate) fn buffers(&self) -> &Buffers {
        &self.shared.inputs
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
