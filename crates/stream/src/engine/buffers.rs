//! Byte buffers that go round: fresh ones for every chunk cost up to a third of the speed in page faults.

use std::sync::{Mutex, PoisonError};

/// Makes a buffer at least `len` long. What is there already stays: only what is beyond an earlier length is zeroed.
pub(crate) fn grow(buffer: &mut Vec<u8>, len: usize) {
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
}

/// A pool of buffers. It never holds more than were in use at once.
#[derive(Debug, Default)]
pub(crate) struct Buffers(Mutex<Vec<Vec<u8>>>);

impl Buffers {
    /// A buffer with length and content of an earlier use, or an empty one. The user sets the length: growing one that is
    /// long already costs no zeroing.
    pub(crate) fn take(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Gives a buffer back.
    pub(crate) fn give(&self, buffer: Vec<u8>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
    }
}
