//! One file, written or read, and its times.

use std::fmt;
use std::time::Duration;

use crate::{Direction, Method, Residency, SyncPolicy};

/// One file, written or read.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Sample {
    /// Writing or reading.
    pub direction: Direction,
    /// Number of the file within the run, from 0.
    pub file: u32,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// Bytes as the plan has them.
    pub size: u64,
    /// Bytes written or read: the size rounded up to a multiple of 16 KiB, or the length of the file read.
    pub bytes: u64,
    /// Seconds from the start of the run (its first step) to the first byte.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::ser::seconds"))]
    pub started: Duration,
    /// The times of its parts.
    pub phases: Phases,
    /// The time of each block, by beginning.
    pub chunks: Vec<ChunkTime>,
    /// How the disk was reached.
    pub method: Method,
    /// What made the data durable; `None` for reads.
    pub sync: Option<SyncPolicy>,
    /// Bytes of the file in the page cache: after a write, before a read.
    pub resident: Residency,
    /// Why the rate may not be that of the disk.
    pub caveats: Vec<Caveat>,
}

impl Sample {
    /// The timed window: transfer and sync.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.phases.transfer + self.phases.sync.unwrap_or_default()
    }

    /// Bytes over [`elapsed`](Self::elapsed), in bytes per second. Infinite if no time passed.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.elapsed().as_secs_f64()
    }

    /// Whether nothing speaks against this being the speed of the disk.
    #[must_use]
    pub fn is_disk_speed(&self) -> bool {
        self.caveats.is_empty()
    }
}

/// The parts of a sample, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Phases {
    /// Opening (creating) the file; `None` where a read uses the descriptor of the write.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::ser::seconds_option"))]
    pub open: Option<Duration>,
    /// Time with at least one block under way.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::ser::seconds"))]
    pub transfer: Duration,
    /// Making the data durable; `None` for reads and where no sync was asked.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::ser::seconds_option"))]
    pub sync: Option<Duration>,
    /// Closing; frees the blocks of a file without a name. `None` for a file that stays open to be read.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::ser::seconds_option"))]
    pub close: Option<Duration>,
}

/// When a block was under way, in seconds from the first byte of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ChunkTime {
    /// The request was made.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::ser::seconds"))]
    pub begin: Duration,
    /// It was done.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::ser::seconds"))]
    pub end: Duration,
    /// Its length.
    pub bytes: u64,
}

/// Time with at least one block under way; the blocks are in order of beginning.
pub(crate) fn occupied(chunks: &[ChunkTime]) -> Duration {
    let mut total = Duration::ZERO;
    let mut until = Duration::ZERO;
    for chunk in chunks {
        total += chunk.end.saturating_sub(chunk.begin.max(until));
        until = until.max(chunk.end);
    }
    total
}

/// Why a rate may not be that of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Caveat {
    /// The volume is in memory.
    Memory,
    /// What was read lay in the page cache, or may have: over one part in a hundred of the file.
    Cached,
    /// Whether what was read lay in the page cache, or in that of the volume below a disk image, cannot be told.
    CacheUnknown,
    /// A loop device without direct I/O: the cache of the volume below stands between.
    CachedBelow,
    /// Nothing made the data durable.
    NotSynced,
    /// The file has fewer blocks than bytes: it has holes, is compressed, or shares blocks.
    Sparse,
    /// What was read is all zeros: unwritten, or what a compressing disk need not read.
    Zeros,
}

impl fmt::Display for Caveat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Caveat::Memory => "the volume is in memory",
            Caveat::Cached => "the data was in the page cache",
            Caveat::CacheUnknown => "whether the data was in the page cache cannot be told",
            Caveat::CachedBelow => "the loop device reads through the page cache of the volume below",
            Caveat::NotSynced => "nothing made the data durable",
            Caveat::Sparse => "the file has fewer blocks than bytes (holes, compression or shared blocks)",
            Caveat::Zeros => "the data is all zeros",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occupied_time_is_the_union() {
        let ms = Duration::from_millis;
        let chunk = |begin, end| ChunkTime { begin: ms(begin), end: ms(end), bytes: 1 };
        assert_eq!(occupied(&[]), ms(0));
        assert_eq!(occupied(&[chunk(0, 2), chunk(3, 5)]), ms(4));
        assert_eq!(occupied(&[chunk(0, 10), chunk(1, 2), chunk(5, 12), chunk(20, 21)]), ms(13));
    }
}
