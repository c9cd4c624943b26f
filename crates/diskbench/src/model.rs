//! A disk of known behaviour with a clock of its own.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crate::{Access, Method, Residency, SyncPolicy};

/// A disk of known behaviour with a clock of its own, for trying plans and analyses: a run on it
/// ([`Runner::on_model`](crate::Runner::on_model)) takes no time, and its samples are exact.
///
/// Requests take the disk one after the other, `latency + bytes / rate` each.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelDisk {
    write_rate: f64,
    read_rate: f64,
    memory_rate: f64,
    latency: Duration,
    sync: Duration,
    fast: Option<(u64, f64)>,
    capacity: u64,
    direct: bool,
    evicts: bool,
    keeps_data: bool,
    faults: Vec<Fault>,
}

/// What a model disk does wrong. Bytes are counted over the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Requests take this many bytes at most.
    Short(u64),
    /// A write that would go past so many bytes fails (EIO).
    WriteError(u64),
    /// A read that would go past so many bytes fails (EIO).
    ReadError(u64),
    /// The sync of this number, from 0, fails (EIO).
    SyncError(u64),
    /// Takes so many bytes and then says that it is full, whatever it said about its room.
    Full(u64),
    /// The write that would go past so many bytes does not return until the run has given up.
    Hang(u64),
    /// A bit is wrong in the byte of this number of those written. Needs [`keeps_data`](ModelDisk::keeps_data).
    FlippedBit(u64),
}

impl ModelDisk {
    /// A disk with these rates in bytes per second, no latency, and 1 TB of room.
    #[must_use]
    pub fn new(write_rate: f64, read_rate: f64) -> Self {
        ModelDisk {
            write_rate,
            read_rate,
            memory_rate: 5e9,
            latency: Duration::ZERO,
            sync: Duration::ZERO,
            fast: None,
            capacity: 1_000_000_000_000,
            direct: true,
            evicts: true,
            keeps_data: false,
            faults: Vec::new(),
        }
    }

    /// Time of each request beside its transfer. Default 0.
    #[must_use]
    pub fn latency(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }

    /// Time of each sync beside the writing of what is still in memory. Default 0.
    #[must_use]
    pub fn sync_time(mut self, time: Duration) -> Self {
        self.sync = time;
        self
    }

    /// The first `bytes` written go at the write rate, later ones at `slow_rate` bytes per second. Default: all are fast.
    #[must_use]
    pub fn fast_region(mut self, bytes: u64, slow_rate: f64) -> Self {
        self.fast = Some((bytes, slow_rate));
        self
    }

    /// Room in bytes. Default 1 TB.
    #[must_use]
    pub fn capacity(mut self, bytes: u64) -> Self {
        self.capacity = bytes;
        self
    }

    /// Whether it does direct I/O. Default true.
    #[must_use]
    pub fn direct(mut self, direct: bool) -> Self {
        self.direct = direct;
        self
    }

    /// Whether files can be put out of its page cache. Default true.
    #[must_use]
    pub fn evicts(mut self, evicts: bool) -> Self {
        self.evicts = evicts;
        self
    }

    /// Whether data is kept, so that reads can be verified; it takes memory. Otherwise reads give a constant. Default false.
    #[must_use]
    pub fn keeps_data(mut self, keeps: bool) -> Self {
        self.keeps_data = keeps;
        self
    }

    /// Adds a fault.
    #[must_use]
    pub fn fault(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    pub(crate) fn method(&self, access: Access) -> Option<Method> {
        match access {
            Access::Uncached | Access::Direct if self.direct => Some(Method::Direct),
            Access::Uncached | Access::WriteBack => Some(Method::WriteBack),
            Access::Cached => Some(Method::Buffered),
            Access::Direct | Access::DontCache => None,
        }
    }
}

/// A model disk in use.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    disk: Arc<ModelDisk>,
    state: Arc<Mutex<State>>,
    /// Tells a blocked request that the run has given up.
    given_up: Arc<Condvar>,
    pub(crate) method: Method,
}

#[derive(Debug, Default)]
struct State {
    now: Duration,
    used: u64,
    written: u64,
    read: u64,
    syncs: u64,
    given_up: bool,
}

/// A file on a model disk; its room comes back on drop.
#[derive(Debug)]
pub(crate) struct ModelFile {
    model: Model,
    file: Mutex<Content>,
}

#[derive(Debug, Default)]
struct Content {
    length: u64,
    dirty: u64,
    cached: u64,
    data: Vec<u8>,
}

impl Model {
    pub(crate) fn new(disk: ModelDisk, method: Method) -> Self {
        Model { disk: Arc::new(disk), state: Arc::default(), given_up: Arc::default(), method }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub(crate) fn now(&self) -> Duration {
        self.state().now
    }

    /// Lets a blocked request go.
    pub(crate) fn give_up(&self) {
        self.state().given_up = true;
        self.given_up.notify_all();
    }

    pub(crate) fn available(&self) -> u64 {
        self.disk.capacity - self.state().used
    }

    pub(crate) fn create(&self) -> ModelFile {
        ModelFile { model: self.clone(), file: Mutex::default() }
    }

    /// How many of `len` bytes go through, from `moved` of this direction; blocks if it hangs.
    fn admit(&self, state: MutexGuard<'_, State>, len: u64, write: bool) -> io::Result<u64> {
        let moved = if write { state.written } else { state.read };
        let mut state = Some(state);
        let mut n = len;
        for fault in &self.disk.faults {
            match *fault {
                Fault::Short(most) => n = n.min(most),
                Fault::WriteError(at) if write && moved + n > at => return Err(eio()),
                Fault::ReadError(at) if !write && moved + n > at => return Err(eio()),
                Fault::Full(at) if write => {
                    n = n.min(at.saturating_sub(moved));
                    if n == 0 {
                        return Err(io::ErrorKind::StorageFull.into());
                    }
                }
                Fault::Hang(at) if write && moved + n > at => {
                    let mut state = state.take().unwrap_or_else(|| self.state());
                    // Time goes on, so that limits are reached.
                    while !state.given_up {
                        state.now += Duration::from_secs(1);
                        let wait = self.given_up.wait_timeout(state, Duration::from_millis(1));
                        state = wait.unwrap_or_else(|e| e.into_inner()).0;
                    }
                    return Err(eio());
                }
                _ => {}
            }
        }
        Ok(n)
    }

    /// Time to bring `n` bytes to the disk, the first of which is number `from`.
    fn write_time(&self, from: u64, n: u64) -> Duration {
        let (fast, slow_rate) = self.disk.fast.unwrap_or((u64::MAX, self.disk.write_rate));
        let quick = fast.saturating_sub(from).min(n);
        Duration::from_secs_f64(quick as f64 / self.disk.write_rate + (n - quick) as f64 / slow_rate)
    }
}

impl ModelFile {
    fn content(&self) -> MutexGuard<'_, Content> {
        self.file.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub(crate) fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize> {
        let disk = &self.model.disk;
        let n = self.model.admit(self.model.state(), data.len() as u64, true)?;
        let mut file = self.content();
        let mut state = self.model.state();
        let grown = (offset + n).saturating_sub(file.length);
        if state.used + grown > disk.capacity {
            return Err(io::ErrorKind::StorageFull.into());
        }
        state.used += grown;
        file.length += grown;
        let time = match self.model.method {
            Method::Buffered => {
                file.dirty += n;
                Duration::from_secs_f64(n as f64 / disk.memory_rate)
            }
            _ => disk.latency + self.model.write_time(state.written, n),
        };
        state.now += time;
        if self.model.method != Method::Direct {
            file.cached = file.length;
        }
        if disk.keeps_data {
            let end = (offset + n) as usize;
            if file.data.len() < end {
                file.data.resize(end, 0);
            }
            file.data[offset as usize..end].copy_from_slice(&data[..n as usize]);
            for fault in &disk.faults {
                if let Fault::FlippedBit(at) = *fault {
                    if (state.written..state.written + n).contains(&at) {
                        file.data[(offset + at - state.written) as usize] ^= 1;
                    }
                }
            }
        }
        state.written += n;
        Ok(n as usize)
    }

    pub(crate) fn read_at(&self, data: &mut [u8], offset: u64) -> io::Result<usize> {
        let disk = &self.model.disk;
        let n = self.model.admit(self.model.state(), data.len() as u64, false)?;
        let file = self.content();
        let mut state = self.model.state();
        let n = n.min(file.length.saturating_sub(offset));
        state.now += if file.cached == 0 {
            disk.latency + Duration::from_secs_f64(n as f64 / disk.read_rate)
        } else {
            Duration::from_secs_f64(n as f64 / disk.memory_rate)
        };
        state.read += n;
        let to = &mut data[..n as usize];
        match file.data.get(offset as usize..(offset + n) as usize) {
            Some(kept) => to.copy_from_slice(kept),
            // The buffer is used again and again: fill it once.
            None if to.first() != Some(&0xa5) => to.fill(0xa5),
            None => {}
        }
        Ok(n as usize)
    }

    pub(crate) fn sync(&self, policy: SyncPolicy) -> io::Result<SyncPolicy> {
        if policy == SyncPolicy::None {
            return Ok(policy);
        }
        let mut file = self.content();
        let mut state = self.model.state();
        let number = state.syncs;
        state.syncs += 1;
        if self.model.disk.faults.contains(&Fault::SyncError(number)) {
            return Err(eio());
        }
        let from = state.written - file.dirty.min(state.written);
        let time = self.model.disk.sync + self.model.write_time(from, file.dirty);
        state.now += time;
        file.dirty = 0;
        Ok(policy)
    }

    pub(crate) fn resident(&self) -> Residency {
        Residency::Bytes(self.content().cached)
    }

    pub(crate) fn evict(&self) -> Residency {
        if self.model.disk.evicts {
            self.content().cached = 0;
        }
        self.resident()
    }
}

impl Drop for ModelFile {
    fn drop(&mut self) {
        let length = self.content().length;
        self.model.state().used -= length;
    }
}

fn eio() -> io::Error {
    io::Error::other("the model disk fails here")
}
