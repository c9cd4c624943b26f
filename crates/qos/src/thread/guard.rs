use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};

use super::backend::{self, Saved};
use crate::{Applied, Error, Request};

/// Asks for a class for the current thread, for as long as the thread lives or until the next request.
///
/// With `Profile::OneWay` this may be for good: an unprivileged Linux thread can't leave `SCHED_IDLE`.
///
/// # Errors
/// When the relative priority is out of range, when the thread takes no class any more, or when the system refuses.
pub fn set(request: impl Into<Request>) -> Result<Applied, Error> {
    let request = request.into();
    request.check()?;
    backend::apply(&request, false).map(|(applied, _)| applied)
}

/// Asks for a class for the current thread until the guard is dropped or left.
///
/// Everything the request changes is checked beforehand to be undoable.
///
/// # Errors
/// Like [`set`], and `Error::Irreversible` where a change could not be undone; then nothing was changed.
pub fn enter(request: impl Into<Request>) -> Result<Guard, Error> {
    let request = request.into();
    request.check()?;
    let (applied, saved) = backend::apply(&request, true)?;
    let id = STACK.with_borrow_mut(|stack| {
        stack.next += 1;
        stack.entries.push((stack.next, saved));
        stack.next
    });
    Ok(Guard { applied, id, left: false, not_send: PhantomData })
}

/// Starts a thread that asks for a class before it runs `work`.
///
/// # Errors
/// When the thread can't be started, or like [`set`]; then `work` does not run.
pub fn spawn<T, F>(builder: Builder, request: impl Into<Request>, work: F) -> Result<(Spawned<T>, Applied), Error>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let request = request.into();
    request.check()?;
    let (tell, told) = mpsc::sync_channel(1);
    let work = move || {
        let outcome = set(request);
        let refused = outcome.is_err();
        // The other end waits for this message, so it arrives.
        let _ = tell.send(outcome);
        if refused { None } else { Some(work()) }
    };
    let thread = builder.spawn(work).map_err(|source| Error::System { attempted: "start a thread", source })?;
    let applied = told
        .recv()
        .map_err(|_| Error::System { attempted: "hear from the new thread", source: std::io::ErrorKind::BrokenPipe.into() })??;
    Ok((Spawned(thread), applied))
}

/// The handle of a thread started at a class.
#[derive(Debug)]
pub struct Spawned<T>(JoinHandle<Option<T>>);

impl<T> Spawned<T> {
    /// Waits for the thread and returns what the work returned.
    ///
    /// # Errors
    /// The panic's payload, if the work panicked.
    pub fn join(self) -> std::thread::Result<T> {
        // `spawn` gives a handle only when the class was set, and then the work runs.
        self.0.join()?.ok_or_else(|| Box::new("the work did not run") as _)
    }

    /// The standard library's handle to the thread.
    #[must_use]
    pub fn thread(&self) -> &std::thread::Thread {
        self.0.thread()
    }

    /// Whether the work has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

/// Restores the thread's class when dropped.
///
/// Guards nest. One dropped out of order leaves the class of the guards entered after it in place, and the last of them
/// restores what was before the first. A guard belongs to its thread:
///
/// ```compile_fail,E0277
/// let guard = gannet_qos::enter(gannet_qos::QosClass::Utility).unwrap();
/// std::thread::spawn(move || drop(guard));
/// ```
#[derive(Debug)]
#[must_use = "dropping the guard restores the class at once"]
pub struct Guard {
    applied: Applied,
    id: u64,
    left: bool,
    not_send: PhantomData<*const ()>,
}

impl Guard {
    /// What entering did.
    #[must_use]
    pub const fn applied(&self) -> &Applied {
        &self.applied
    }

    /// Restores the class now, and says so if the system refuses (dropping can't say it).
    ///
    /// # Errors
    /// When the system refuses to restore an attribute, for example because the process lost a privilege meanwhile.
    pub fn leave(mut self) -> Result<(), Error> {
        self.restore()
    }

    fn restore(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.left, true) {
            return Ok(());
        }
        // While the thread ends, its guards may outlive the stack; there is nothing left to restore for then.
        let saved = STACK.try_with(|stack| stack.borrow_mut().remove(self.id)).ok().flatten();
        saved.map_or(Ok(()), |saved| backend::restore(&saved))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.restore();
    }
}

thread_local! {
    static STACK: RefCell<Stack> = const { RefCell::new(Stack { next: 0, entries: Vec::new() }) };
}

/// What the guards of this thread put back, outermost first.
struct Stack {
    next: u64,
    entries: Vec<(u64, Saved)>,
}

impl Stack {
    /// Takes a guard out. Returns what to restore: nothing for an inner one, whose successor inherits its duty.
    fn remove(&mut self, id: u64) -> Option<Saved> {
        let place = self.entries.iter().position(|(entry, _)| *entry == id)?;
        let (_, saved) = self.entries.remove(place);
        match self.entries.get_mut(place) {
            None => Some(saved),
            Some((_, successor)) => {
                *successor = saved;
                None
            }
        }
    }
}
