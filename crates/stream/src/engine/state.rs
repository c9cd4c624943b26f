//! Where every job of a line is.

use std::collections::VecDeque;
use std::time::Instant;

use super::shared::Released;
use crate::error::Error;

/// Everything about a line that changes, under one lock.
pub(super) struct State<J> {
    /// Pushed jobs that no worker took yet.
    pub(super) queue: VecDeque<(u64, J)>,
    /// Whether workers take jobs from `Shared::next`.
    pub(super) pulls: bool,
    /// Jobs taken or pushed.
    pub(super) accepted: u64,
    /// Jobs whose bytes have left memory.
    pub(super) retired: u64,
    /// Pool tasks spawned and not ended.
    pub(super) tasks: usize,
    /// The job to be released next, and the results from there on.
    pub(super) first: u64,
    pub(super) done: VecDeque<Option<Result<Vec<u8>, Error>>>,
    /// Where the next released result goes in the output file.
    pub(super) offset: u64,
    pub(super) released: Option<Released>,
    /// Released results with their offsets, and whether a worker is letting them out.
    pub(super) leaving: VecDeque<(u64, Vec<u8>)>,
    pub(super) writing: bool,
    /// No job will come any more.
    pub(super) ended: bool,
    /// A job failed: none after it starts, those before it are still released.
    pub(super) halted: bool,
    /// Everything stops; the error is what the run ends with.
    pub(super) stopped: bool,
    pub(super) failure: Option<Error>,
    /// When the idle workers were last counted.
    pub(super) counted: Instant,
}

impl<J> State<J> {
    /// Nothing has happened yet.
    pub(super) fn new(pulls: bool, released: Option<Released>) -> Self {
        Self {
            queue: VecDeque::new(),
            pulls,
            accepted: 0,
            retired: 0,
            tasks: 0,
            first: 0,
            done: VecDeque::new(),
            offset: 0,
            released,
            leaving: VecDeque::new(),
            writing: false,
            ended: false,
            halted: false,
            stopped: false,
            failure: None,
            counted: Instant::now(),
        }
    }

    /// Puts a result in its place.
    pub(super) fn place(&mut self, index: u64, result: Result<Vec<u8>, Error>) {
        let slot = usize::try_from(index - self.first).expect("within the window");
        while self.done.len() <= slot {
            self.done.push_back(None);
        }
        self.done[slot] = Some(result);
    }

    /// The next result in order, with its offset in the output, where it is there. An error stops everything.
    pub(super) fn next_out(&mut self) -> Option<Result<(u64, Vec<u8>), Error>> {
        self.done.front()?.as_ref()?;
        let result = self.done.pop_front().flatten()?.and_then(|bytes| {
            let offset = self.release(&bytes)?;
            Ok((offset, bytes))
        });
        self.stopped |= result.is_err();
        Some(result)
    }

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
