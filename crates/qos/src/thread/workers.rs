use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Applied, Error, Request, set};

/// Asks for a class in every thread of a pool, and keeps what came of it.
///
/// The closure it gives fits hooks that run in each new thread: `stream`'s `on_worker_start`, rayon's `start_handler`,
/// and, called with any number, tokio's `on_thread_start`.
#[derive(Clone)]
pub struct Workers {
    request: Request,
    outcomes: Arc<Mutex<Vec<WorkerOutcome>>>,
}

/// What came of a worker's request.
#[derive(Debug)]
#[non_exhaustive]
pub struct WorkerOutcome {
    /// The worker's index, as the pool gave it.
    pub index: usize,
    /// What was applied, or why nothing was.
    pub result: Result<Applied, Error>,
}

impl Workers {
    /// Workers that ask for a class when they start.
    ///
    /// # Errors
    /// When the relative priority is out of range.
    pub fn new(request: impl Into<Request>) -> Result<Self, Error> {
        let request = request.into();
        request.check()?;
        Ok(Workers { request, outcomes: Arc::default() })
    }

    /// The closure to run in each new thread. It never panics; what the system refused is kept.
    pub fn start_handler(&self) -> impl Fn(usize) + Send + Sync + Clone + 'static {
        let workers = self.clone();
        move |index| {
            let result = set(workers.request.clone());
            workers.lock().push(WorkerOutcome { index, result });
        }
    }

    /// Takes out what came of the workers that have started so far, in the order they started.
    #[must_use]
    pub fn take_outcomes(&self) -> Vec<WorkerOutcome> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<WorkerOutcome>> {
        // A vector is whole after any panic.
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").field("request", &self.request).field("outcomes", &self.lock().len()).finish()
    }
}
