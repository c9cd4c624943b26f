//! ^C and termination as a flag that the programs look at, so that they stop tidily. A second signal ends the process at once.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::cli::Failure;

static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Starts watching for signals that ask the process to end. Calling it again does nothing.
///
/// # Errors
/// The system refuses to install a handler.
pub fn watch() -> io::Result<()> {
    if FLAG.get().is_some() {
        return Ok(());
    }
    let flag = Arc::new(AtomicBool::new(false));
    for signal in signals() {
        // In this order the first signal sets the flag, the second one ends the process.
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))?;
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
    }
    let _ = FLAG.set(flag);
    Ok(())
}

#[cfg(unix)]
fn signals() -> Vec<i32> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    vec![SIGINT, SIGTERM, SIGHUP]
}

#[cfg(not(unix))]
fn signals() -> Vec<i32> {
    vec![signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM]
}

/// Whether the process was asked to end.
#[must_use]
pub fn requested() -> bool {
    FLAG.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// An error once the process was asked to end.
///
/// # Errors
/// [`Failure::Interrupted`].
pub fn check() -> Result<(), Failure> {
    if requested() { Err(Failure::Interrupted) } else { Ok(()) }
}
