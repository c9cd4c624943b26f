//! How files are opened, written, synced: as asked, and as achieved.

use std::fmt;

/// How a run is asked to reach the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Access {
    /// Past the page cache, by the best way the volume offers: direct I/O, else uncached buffered I/O, else
    /// buffered with early write-back and eviction. The default.
    #[default]
    Uncached,
    /// Direct I/O: `O_DIRECT` on Linux, `F_NOCACHE` on Apple systems. An error where it is refused.
    Direct,
    /// Uncached buffered I/O: `RWF_DONTCACHE`, Linux 6.14 and later, on some file systems.
    DontCache,
    /// Through the page cache, with write-back started as the file grows, and eviction before reading.
    WriteBack,
    /// Through the page cache as any program does, without eviction. Reads measure memory, not the disk.
    Cached,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Access::Uncached => "uncached",
            Access::Direct => "direct",
            Access::DontCache => "dontcache",
            Access::WriteBack => "writeback",
            Access::Cached => "cached",
        })
    }
}

/// How the disk was reached indeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Method {
    /// `O_DIRECT`, which the file system states that it does, and which left nothing in the page cache.
    Direct,
    /// `O_DIRECT`, accepted by a file system that does not state that it does it (FUSE, btrfs): it may have gone through
    /// the page cache, though nothing was left there.
    DirectUnverified,
    /// `F_NOCACHE`, set before the first byte, and eviction before reading (Apple systems).
    NoCache,
    /// `RWF_DONTCACHE` (Linux).
    DontCache,
    /// Buffered with early write-back, and eviction before reading.
    WriteBack,
    /// Plain buffered.
    Buffered,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Method::Direct => "direct I/O",
            Method::DirectUnverified => "direct I/O, accepted but not stated by the file system",
            Method::NoCache => "F_NOCACHE",
            Method::DontCache => "RWF_DONTCACHE",
            Method::WriteBack => "buffered with early write-back",
            Method::Buffered => "buffered",
        })
    }
}

/// What makes written data durable, within the timed window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum SyncPolicy {
    /// `fsync`. Flushes the drive on Linux, not on Apple systems. The default.
    #[default]
    Fsync,
    /// `fdatasync`: the data, and of the metadata what is needed to read it.
    Fdatasync,
    /// `F_FULLFSYNC`: `fsync` and a flush of the drive (Apple systems). Elsewhere `fsync`, and labelled so.
    FullFsync,
    /// `F_BARRIERFSYNC`: `fsync` and an order barrier in the drive (Apple systems). Elsewhere `fsync`, and labelled so.
    BarrierFsync,
    /// Nothing: the rate is that of handing data over, not of storing it.
    None,
}

impl fmt::Display for SyncPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            SyncPolicy::Fsync => "fsync",
            SyncPolicy::Fdatasync => "fdatasync",
            SyncPolicy::FullFsync => "F_FULLFSYNC",
            SyncPolicy::BarrierFsync => "F_BARRIERFSYNC",
            SyncPolicy::None => "no sync",
        })
    }
}

/// When written files are read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum ReadBack {
    /// After the last write, in the order of writing. All files exist at once. The default.
    #[default]
    AfterAll,
    /// After the writes of each repeat, so that a run cut short has both; the files of one repeat exist at once.
    AfterEachRepeat,
    /// Never: each file goes as soon as it is written.
    Never,
}

/// What a timed write meets on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum FileMode {
    /// A new file that grows, as most programs write. The default.
    #[default]
    New,
    /// A new file whose blocks were allocated before the timed window.
    Preallocated,
    /// A file that was written in full and synced before the timed window.
    Overwrite,
}

/// Room that a run leaves free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Reserve {
    /// A tenth of what is available, and at least 5 GB. The default.
    #[default]
    Standard,
    /// This many bytes.
    Bytes(u64),
}

impl Reserve {
    /// The reserve in bytes when `available` bytes are.
    #[must_use]
    pub fn of(self, available: u64) -> u64 {
        match self {
            Reserve::Standard => (available / 10).max(5_000_000_000),
            Reserve::Bytes(bytes) => bytes,
        }
    }
}

/// Writing or reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Direction {
    /// To the disk.
    Write,
    /// From the disk.
    Read,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Direction::Write => "write",
            Direction::Read => "read",
        })
    }
}
