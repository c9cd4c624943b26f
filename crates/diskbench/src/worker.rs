//! The thread that writes and reads, so that a blocked disk does not block the run.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::data::{Buffer, Pool};
use crate::disk::{Clock, Disk, Open};
use crate::plan::Step;
use crate::sample::{Caveat, occupied};
use crate::transfer::{Halt, Stop, Transfer};
use crate::{Direction, Error, FileMode, Method, Phases, Residency, Result, Sample, Settings, SyncPolicy, VolumeKind};

/// What the runner, the worker and the watchers share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) clock: Clock,
    /// When the first step was asked for; times of the run count from there.
    pub(crate) begun: OnceLock<Duration>,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) cancelled: AtomicBool,
    /// Bytes moved in timed windows.
    pub(crate) done: AtomicU64,
    /// Of these, bytes written.
    pub(crate) written: AtomicU64,
}

impl Shared {
    /// Time since the first step was asked for.
    pub(crate) fn elapsed(&self) -> Duration {
        let now = self.clock.now();
        now.saturating_sub(*self.begun.get().unwrap_or(&now))
    }

    pub(crate) fn halt(&self) -> Option<Halt> {
        if self.cancelled.load(Ordering::Relaxed) {
            Some(Halt::Cancelled)
        } else if self.time_limit.is_some_and(|limit| self.elapsed() >= limit) {
            Some(Halt::TimeLimit)
        } else {
            None
        }
    }
}

#[derive(Debug)]
pub(crate) struct Worker {
    /// Files that were written and wait to be read. Dropped before the disk, so that its folder is empty then.
    pub(crate) files: HashMap<u32, Open>,
    pub(crate) disk: Disk,
    pub(crate) kind: VolumeKind,
    pub(crate) settings: Settings,
    /// Bytes to be left free.
    pub(crate) reserve: u64,
    pub(crate) pool: Pool,
    pub(crate) shared: Arc<Shared>,
    /// For reading, one for each request under way.
    pub(crate) buffers: Vec<Buffer>,
}

impl Worker {
    pub(crate) fn run(&mut self, step: Step) -> std::result::Result<Sample, Stop> {
        if let Some(halt) = self.shared.halt() {
            return Err(Stop::Halt(halt));
        }
        let result = match step.direction {
            Direction::Write => self.write(&step),
            Direction::Read => self.read(&step),
        };
        if step.last {
            self.disk.remove(&step);
        }
        result
    }

    fn write(&mut self, step: &Step) -> std::result::Result<Sample, Stop> {
        self.check_room(step)?;
        let now = || self.shared.clock.now();
        let before = now();
        let open = self.disk.create(step).map_err(|e| self.error("make a file in", step, None, e))?;
        let open = open.ok_or_else(|| Error::VolumeChanged { path: self.disk.path_of(step) })?;
        let opened = now() - before;
        self.prepare(step, &open)?;

        let transfer = Transfer { open: &open, step, block: self.settings.block, shared: &self.shared };
        let started = self.shared.elapsed();
        let depth = self.settings.queue_depth as usize;
        let run = self.pool.run();
        let chunks = transfer.write(self.pool.split(depth), run).map_err(|stop| self.named("write to", step, stop))?;

        let before = self.shared.clock.now();
        let sync = open.sync(self.settings.sync).map_err(|e| self.error("sync a file in", step, None, e))?;
        let synced = self.shared.clock.now() - before;
        let resident = open.resident(step.bytes);
        let caveats = self.caveats_of_write(step, &open, sync);
        let method = self.achieved(&resident, step);

        let mut phases =
            Phases { open: Some(opened), transfer: occupied(&chunks), sync: (sync != SyncPolicy::None).then_some(synced), close: None };
        if step.last || !self.disk.keeps_open() {
            phases.close = Some(self.close(open));
        } else {
            self.files.insert(step.file, open);
        }
        Ok(Sample {
            direction: step.direction,
            file: step.file,
            repeat: step.repeat,
            size: step.size,
            bytes: step.bytes,
            started,
            phases,
            chunks,
            method,
            sync: Some(sync),
            resident,
            caveats,
        })
    }

    fn read(&mut self, step: &Step) -> std::result::Result<Sample, Stop> {
        let before = self.shared.clock.now();
        let (open, opened) = match self.files.remove(&step.file) {
            Some(open) => (open, None),
            None => {
                let open = self.disk.open(step).map_err(|e| self.error("open", step, None, e))?;
                (open, Some(self.shared.clock.now() - before))
            }
        };
        let mut resident = open.resident(step.bytes);
        if self.disk.method() != Method::Buffered && resident != Residency::Bytes(0) {
            resident = open.evict(step.bytes);
        }
        let mut caveats = self.caveats_of_read(step, &open, &resident);

        let transfer = Transfer { open: &open, step, block: self.settings.block, shared: &self.shared };
        let started = self.shared.elapsed();
        let check = self.settings.verify.then_some(&self.pool);
        let read = transfer.read(&mut self.buffers, check).map_err(|stop| self.named("read", step, stop))?;
        if read.zero_bytes > step.bytes / 100 {
            caveats.push(Caveat::Zeros);
        }
        let method = self.achieved(&open.resident(step.bytes), step);
        let phases = Phases { open: opened, transfer: occupied(&read.chunks), sync: None, close: Some(self.close(open)) };
        Ok(Sample {
            direction: step.direction,
            file: step.file,
            repeat: step.repeat,
            size: step.size,
            bytes: step.bytes,
            started,
            phases,
            chunks: read.chunks,
            method,
            sync: None,
            resident,
            caveats,
        })
    }

    /// Direct I/O that left the file in the page cache was none: the file system took it and went its own way.
    fn achieved(&self, resident_after: &Residency, step: &Step) -> Method {
        match self.disk.method() {
            Method::Direct if resident_after.matters(step.bytes) == Some(true) => Method::Buffered,
            Method::Direct if !self.disk.direct_is_stated() => Method::DirectUnverified,
            method => method,
        }
    }

    fn close(&self, open: Open) -> Duration {
        let before = self.shared.clock.now();
        drop(open);
        self.shared.clock.now() - before
    }

    fn check_room(&self, step: &Step) -> Result<()> {
        let available = self.disk.available()?;
        if available < step.bytes.saturating_add(self.reserve) {
            return Err(Error::NotEnoughSpace { path: self.disk.path_of(step), needed: step.bytes, reserve: self.reserve, available });
        }
        Ok(())
    }

    /// Outside the timed window: what the write is to meet.
    fn prepare(&mut self, step: &Step, open: &Open) -> std::result::Result<(), Stop> {
        match self.settings.file_mode {
            FileMode::New => Ok(()),
            FileMode::Preallocated => Ok(open.preallocate(step.bytes).map_err(|e| self.error("allocate a file in", step, None, e))?),
            FileMode::Overwrite => {
                let transfer = Transfer { open, step, block: self.settings.block, shared: &self.shared };
                let run = !self.pool.run();
                let depth = self.settings.queue_depth as usize;
                transfer.write(self.pool.split(depth), run).map_err(|stop| self.named("write to", step, stop))?;
                self.shared.done.fetch_sub(step.bytes, Ordering::Relaxed);
                open.sync(SyncPolicy::Fsync).map_err(|e| self.error("sync a file in", step, None, e))?;
                Ok(())
            }
        }
    }

    fn caveats_of_write(&self, step: &Step, open: &Open, sync: SyncPolicy) -> Vec<Caveat> {
        let mut caveats = Vec::new();
        if self.kind == VolumeKind::Memory {
            caveats.push(Caveat::Memory);
        }
        if sync == SyncPolicy::None {
            caveats.push(Caveat::NotSynced);
        } else if self.is_sparse(step, open) {
            caveats.push(Caveat::Sparse);
        }
        caveats
    }

    fn caveats_of_read(&self, step: &Step, open: &Open, resident: &Residency) -> Vec<Caveat> {
        let mut caveats = Vec::new();
        if self.kind == VolumeKind::Memory {
            caveats.push(Caveat::Memory);
        } else {
            match resident.matters(step.bytes) {
                Some(true) => caveats.push(Caveat::Cached),
                // Stated direct I/O does not look into the cache.
                None if !self.disk.direct_is_stated() => caveats.push(Caveat::CacheUnknown),
                _ => {}
            }
        }
        match self.kind {
            VolumeKind::Image { direct_io: Some(false), .. } => caveats.push(Caveat::CachedBelow),
            VolumeKind::Image { direct_io: None, .. } if !caveats.contains(&Caveat::CacheUnknown) => caveats.push(Caveat::CacheUnknown),
            _ => {}
        }
        if self.is_sparse(step, open) {
            caveats.push(Caveat::Sparse);
        }
        caveats
    }

    /// Whether over one part in a hundred has no blocks. Volumes of other machines and programs do not tell truly.
    fn is_sparse(&self, step: &Step, open: &Open) -> bool {
        !matches!(self.kind, VolumeKind::UserSpace | VolumeKind::Network)
            && open.allocated().is_some_and(|bytes| bytes < step.bytes - step.bytes / 100)
    }

    /// Gives an error of a transfer its path.
    fn named(&self, action: &'static str, step: &Step, stop: Stop) -> Stop {
        match stop {
            Stop::Io { offset, source } => Stop::Failed(self.error(action, step, Some(offset), source)),
            Stop::Different { offset } => Stop::Failed(Error::Verify { path: self.disk.path_of(step), file: step.file, offset }),
            Stop::Short { offset } => Stop::Failed(Error::Truncated { path: self.disk.path_of(step), offset, length: step.bytes }),
            other => other,
        }
    }

    fn error(&self, action: &'static str, step: &Step, offset: Option<u64>, source: io::Error) -> Error {
        let path = self.disk.path_of(step);
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Error::Full { path, written: self.shared.written.load(Ordering::Relaxed) }
            }
            _ => Error::io(action, path, offset, source),
        }
    }
}
