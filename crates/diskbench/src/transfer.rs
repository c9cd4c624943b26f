//! Moving one file block by block, one or several requests at a time.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::Duration;

use crate::data::{Buffer, Pool, all_zero, stamp_all};
use crate::disk::Open;
use crate::plan::{STAMP_UNIT, Step};
use crate::worker::Shared;
use crate::{ChunkTime, Direction, Error};

/// Why a run ends before its plan without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Halt {
    Cancelled,
    TimeLimit,
}

/// Why a file was not moved.
#[derive(Debug)]
pub(crate) enum Stop {
    Halt(Halt),
    Failed(Error),
    /// Without a path yet.
    Io {
        offset: u64,
        source: io::Error,
    },
    Different {
        offset: u64,
    },
    Short {
        offset: u64,
    },
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Failed(error)
    }
}

pub(crate) struct Read {
    pub(crate) chunks: Vec<ChunkTime>,
    /// Bytes in blocks of zeros.
    pub(crate) zero_bytes: u64,
}

pub(crate) struct Transfer<'a> {
    pub(crate) open: &'a Open,
    pub(crate) step: &'a Step,
    pub(crate) block: u64,
    pub(crate) shared: &'a Shared,
}

impl Transfer<'_> {
    /// Writes the file from `slots`, a set for each request under way.
    pub(crate) fn write(&self, slots: Vec<Vec<&mut Buffer>>, run: u64) -> Result<Vec<ChunkTime>, Stop> {
        self.spread(slots, |slots, round, offset, len| {
            let count = slots.len();
            let data = &mut slots[round % count].bytes_mut()[..len];
            stamp_all(data, run, self.step.file, offset);
            self.timed(offset, len, len, |done| self.open.write_at(&data[done..], offset + done as u64))
        })
    }

    /// Reads the file, and compares it if `check` is there.
    pub(crate) fn read(&self, buffers: &mut [Buffer], check: Option<&Pool>) -> Result<Read, Stop> {
        let zero_bytes = AtomicU64::new(0);
        let chunks = self.spread(buffers.iter_mut().collect(), |buffer, _, offset, len| {
            // Direct I/O asks for whole units at the end of a file too.
            let ask = len.next_multiple_of(STAMP_UNIT);
            let data = &mut buffer.bytes_mut()[..ask];
            let time = self.timed(offset, len, ask, |done| self.open.read_at(&mut data[done..], offset + done as u64))?;
            if all_zero(&data[..len]) {
                zero_bytes.fetch_add(len as u64, Ordering::Relaxed);
            }
            let difference = check.and_then(|pool| pool.first_difference(self.step.file, offset, self.block, &data[..len]));
            match difference {
                Some(offset) => Err(Stop::Different { offset }),
                None => Ok(time),
            }
        })?;
        Ok(Read { chunks, zero_bytes: zero_bytes.into_inner() })
    }

    /// Calls `request` until `len` bytes are through; the time of all of it.
    fn timed(&self, offset: u64, len: usize, ask: usize, mut request: impl FnMut(usize) -> io::Result<usize>) -> Result<ChunkTime, Stop> {
        let begin = self.shared.clock.now();
        let mut done = 0;
        while done < len {
            match request(done) {
                Ok(0) if self.step.direction == Direction::Read => {
                    return Err(Stop::Short { offset: offset + done as u64 });
                }
                Ok(0) => {
                    let source = io::ErrorKind::WriteZero.into();
                    return Err(Stop::Io { offset: offset + done as u64, source });
                }
                Ok(n) => done += n.min(ask - done),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(Stop::Io { offset: offset + done as u64, source }),
            }
        }
        let end = self.shared.clock.now();
        self.shared.done.fetch_add(len as u64, Ordering::Relaxed);
        if self.step.direction == Direction::Write {
            self.shared.written.fetch_add(len as u64, Ordering::Relaxed);
        }
        Ok(ChunkTime { begin, end, bytes: len as u64 })
    }

    /// Gives block `i` to lane `i % lanes`; each lane has its own memory and, if there are several, its own thread.
    fn spread<L: Send>(
        &self,
        mut lanes: Vec<L>,
        work: impl Fn(&mut L, usize, u64, usize) -> Result<ChunkTime, Stop> + Sync,
    ) -> Result<Vec<ChunkTime>, Stop> {
        let count = lanes.len();
        let failed = AtomicBool::new(false);
        let run_lane = |index: usize, lane: &mut L| -> Result<Vec<ChunkTime>, Stop> {
            let mut times = Vec::new();
            for round in 0.. {
                let offset = (round * count + index) as u64 * self.block;
                if offset >= self.step.bytes || failed.load(Ordering::Relaxed) {
                    break;
                }
                if let Some(halt) = self.shared.halt() {
                    return Err(Stop::Halt(halt));
                }
                let len = self.block.min(self.step.bytes - offset) as usize;
                times.push(work(lane, round, offset, len)?);
            }
            Ok(times)
        };
        let mut times = if count == 1 {
            run_lane(0, &mut lanes[0])?
        } else {
            let all = Mutex::new(Ok(Vec::new()));
            let start = Barrier::new(count);
            std::thread::scope(|scope| {
                for (index, lane) in lanes.iter_mut().enumerate() {
                    let (all, start, failed, run_lane) = (&all, &start, &failed, &run_lane);
                    scope.spawn(move || {
                        start.wait();
                        let result = run_lane(index, lane);
                        failed.fetch_or(result.is_err(), Ordering::Relaxed);
                        let mut all = all.lock().unwrap_or_else(|e| e.into_inner());
                        match (&mut *all, result) {
                            (Ok(times), Ok(more)) => times.extend(more),
                            (Ok(_), Err(stop)) => *all = Err(stop),
                            (Err(_), _) => {}
                        }
                    });
                }
            });
            all.into_inner().unwrap_or_else(|e| e.into_inner())?
        };
        times.sort_by_key(|time| time.begin);
        let first = times.first().map_or(Duration::ZERO, |time| time.begin);
        for time in &mut times {
            time.begin -= first;
            time.end -= first;
        }
        Ok(times)
    }
}
