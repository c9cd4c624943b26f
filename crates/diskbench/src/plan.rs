//! What to time: sizes, repeats, order.

use std::time::Duration;

use crate::rng::Rng;
use crate::{Access, Direction, Error, FileMode, ReadBack, Reserve, Result, SyncPolicy};

/// Lengths of files are rounded up to a multiple of this (the largest page of the supported systems).
pub(crate) const SIZE_UNIT: u64 = 16_384;
/// Blocks are multiples of this, and each piece of this length is stamped.
pub(crate) const STAMP_UNIT: usize = 4096;
const MB: u64 = 1_000_000;
const MAX_BLOCK: u64 = 64 << 20;
const MAX_QUEUE_DEPTH: u32 = 64;
const MAX_FILES: u64 = 1_000_000;

/// What to write and read, in which order and how.
///
/// The order of sizes within each repeat is shuffled from the seed, so that size, heat and cache fill
/// are not confused with each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    sizes: Sizes,
    settings: Settings,
}

#[derive(Debug, Clone, PartialEq)]
enum Sizes {
    List(Vec<u64>),
    Random { count: u32, low: u64, high: u64 },
}

/// The settings of a plan, as they stand in the report beside every number.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Settings {
    /// How often each size is timed. Default 10.
    pub repeats: u32,
    /// The seed of order, sizes and data. Default 1.
    pub seed: u64,
    /// Bytes of one read or write. Default 8 MiB.
    pub block: u64,
    /// Reads or writes under way at once. Default 1.
    pub queue_depth: u32,
    /// How the disk is to be reached. Default uncached.
    pub access: Access,
    /// What makes the data durable within the timed window. Default `fsync`.
    pub sync: SyncPolicy,
    /// When files are read back. Default after all writes.
    pub reads: ReadBack,
    /// What writes meet. Default new files.
    pub file_mode: FileMode,
    /// Room left free. Default a tenth of what is available, at least 5 GB.
    pub reserve: Reserve,
    /// The run ends after this time. Default none.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::ser::seconds_option"))]
    pub time_limit: Option<Duration>,
    /// Whether what is read is compared with what was written. Default false.
    pub verify: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            repeats: 10,
            seed: 1,
            block: 8 << 20,
            queue_depth: 1,
            access: Access::default(),
            sync: SyncPolicy::default(),
            reads: ReadBack::default(),
            file_mode: FileMode::default(),
            reserve: Reserve::default(),
            time_limit: None,
            verify: false,
        }
    }
}

impl Plan {
    /// 16 sizes from 2 MB to 2 GB, 10 repeats: 160 files, 53.3 GB.
    #[must_use]
    pub fn standard() -> Self {
        Plan::sizes([2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400, 600, 800, 1000, 2000].map(|mb| mb * MB))
    }

    /// 10 sizes from 2 MB to 400 MB, 3 repeats: 30 files, 2.6 GB; about a minute at 100 MB/s.
    #[must_use]
    pub fn quick() -> Self {
        Plan::sizes([2, 4, 8, 10, 20, 40, 80, 100, 200, 400].map(|mb| mb * MB)).repeats(3)
    }

    /// 10, 40 and 100 MB, 3 repeats, each read back at once, 20 s at most: a first look.
    #[must_use]
    pub fn short() -> Self {
        Plan::sizes([10, 40, 100].map(|mb| mb * MB)).repeats(3).reads(ReadBack::AfterEachRepeat).time_limit(Duration::from_secs(20))
    }

    /// These sizes, in bytes. Each is rounded up to a multiple of 16 KiB when it is written.
    #[must_use]
    pub fn sizes(sizes: impl Into<Vec<u64>>) -> Self {
        Plan { sizes: Sizes::List(sizes.into()), settings: Settings::default() }
    }

    /// `count` sizes for each repeat, drawn from the seed between `low` and `high` bytes, evenly in their logarithm.
    #[must_use]
    pub fn random_sizes(count: u32, low: u64, high: u64) -> Self {
        Plan { sizes: Sizes::Random { count, low, high }, settings: Settings::default() }
    }

    /// How often each size is timed. Default 10.
    #[must_use]
    pub fn repeats(mut self, repeats: u32) -> Self {
        self.settings.repeats = repeats;
        self
    }

    /// The seed of order, random sizes and data. Default 1.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// Bytes of one read or write: a multiple of 4096, up to 64 MiB. Default 8 MiB.
    #[must_use]
    pub fn block(mut self, bytes: u64) -> Self {
        self.settings.block = bytes;
        self
    }

    /// Reads or writes under way at once, each in a thread of its own: 1 to 64. Default 1.
    #[must_use]
    pub fn queue_depth(mut self, depth: u32) -> Self {
        self.settings.queue_depth = depth;
        self
    }

    /// How the disk is to be reached. Default [`Access::Uncached`].
    #[must_use]
    pub fn access(mut self, access: Access) -> Self {
        self.settings.access = access;
        self
    }

    /// What makes written data durable, within the timed window. Default [`SyncPolicy::Fsync`].
    #[must_use]
    pub fn sync(mut self, sync: SyncPolicy) -> Self {
        self.settings.sync = sync;
        self
    }

    /// When files are read back. Default [`ReadBack::AfterAll`].
    #[must_use]
    pub fn reads(mut self, reads: ReadBack) -> Self {
        self.settings.reads = reads;
        self
    }

    /// What writes meet. Default [`FileMode::New`].
    #[must_use]
    pub fn file_mode(mut self, mode: FileMode) -> Self {
        self.settings.file_mode = mode;
        self
    }

    /// Room left free. Default [`Reserve::Standard`].
    #[must_use]
    pub fn reserve(mut self, reserve: Reserve) -> Self {
        self.settings.reserve = reserve;
        self
    }

    /// The run ends this time after its first step, with what it has; a block under way is awaited for 2 s more. Default: no limit.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.settings.time_limit = Some(limit);
        self
    }

    /// Whether what is read is compared with what was written. Default false.
    #[must_use]
    pub fn verify(mut self, verify: bool) -> Self {
        self.settings.verify = verify;
        self
    }

    /// The settings as they are now.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Bytes that the plan writes in timed windows.
    #[must_use]
    pub fn write_bytes(&self) -> u64 {
        bytes_of(&self.steps(), Direction::Write)
    }

    /// Bytes that the plan reads back.
    #[must_use]
    pub fn read_bytes(&self) -> u64 {
        bytes_of(&self.steps(), Direction::Read)
    }

    /// Bytes of the files that exist at once.
    #[must_use]
    pub fn space_needed(&self) -> u64 {
        let (mut now, mut most) = (0_u64, 0_u64);
        for step in self.steps() {
            if step.direction == Direction::Write {
                now = now.saturating_add(step.bytes);
                most = most.max(now);
            }
            if step.last {
                now = now.saturating_sub(step.bytes);
            }
        }
        most
    }

    /// The files in the order of the run: writes, and reads where they come.
    pub(crate) fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut reads = Vec::new();
        let mut rng = Rng::new(self.settings.seed);
        let keep = self.settings.reads != ReadBack::Never;
        let mut file = 0;
        for repeat in 0..self.settings.repeats {
            for size in self.sizes_of_repeat(&mut rng) {
                let bytes = size.div_ceil(SIZE_UNIT).saturating_mul(SIZE_UNIT);
                let write = Step { direction: Direction::Write, file, repeat, size, bytes, last: !keep };
                steps.push(write);
                if keep {
                    reads.push(Step { direction: Direction::Read, last: true, ..write });
                }
                file += 1;
            }
            if self.settings.reads == ReadBack::AfterEachRepeat {
                steps.append(&mut reads);
            }
        }
        steps.append(&mut reads);
        steps
    }

    fn sizes_of_repeat(&self, rng: &mut Rng) -> Vec<u64> {
        match &self.sizes {
            Sizes::List(sizes) => {
                let mut sizes = sizes.clone();
                rng.shuffle(&mut sizes);
                sizes
            }
            Sizes::Random { count, low, high } => {
                let (low, high) = ((*low as f64).ln(), (*high as f64).ln());
                (0..*count).map(|_| (low + (high - low) * rng.unit()).exp().round() as u64).collect()
            }
        }
    }

    pub(crate) fn check(&self) -> Result<()> {
        self.settings.check()?;
        let (files, smallest, largest) = match &self.sizes {
            Sizes::List(sizes) => (sizes.len() as u64, sizes.iter().copied().min().unwrap_or(0), sizes.iter().copied().max().unwrap_or(0)),
            Sizes::Random { count, low, high } => (u64::from(*count), *low, *high),
        };
        if files == 0 {
            return bad("it has no sizes");
        }
        if smallest == 0 {
            return bad("a size is 0 bytes");
        }
        if smallest > largest {
            return bad("the smallest random size is above the largest");
        }
        if largest > i64::MAX as u64 / 2 {
            return bad(format!("a file of {largest} bytes is larger than any file can be"));
        }
        let all = files.saturating_mul(u64::from(self.settings.repeats));
        check_number(all)?;
        if all.checked_mul(largest).is_none_or(|bytes| bytes > i64::MAX as u64) {
            return bad("its files are larger together than any volume");
        }
        Ok(())
    }
}

impl Default for Plan {
    /// [`Plan::standard`].
    fn default() -> Self {
        Plan::standard()
    }
}

impl Settings {
    pub(crate) fn check(&self) -> Result<()> {
        if self.repeats == 0 {
            return bad("it has no repeats");
        }
        if self.block == 0 || self.block % STAMP_UNIT as u64 != 0 || self.block > MAX_BLOCK {
            return bad(format!("a block of {} bytes is not a multiple of {STAMP_UNIT} up to {MAX_BLOCK}", self.block));
        }
        if self.queue_depth == 0 || self.queue_depth > MAX_QUEUE_DEPTH {
            return bad(format!("a queue depth of {} is not in 1..={MAX_QUEUE_DEPTH}", self.queue_depth));
        }
        if u64::from(self.queue_depth) * self.block > 1 << 30 {
            return bad("queue depth times block is over 1 GiB");
        }
        Ok(())
    }
}

pub(crate) fn check_number(files: u64) -> Result<()> {
    if files > MAX_FILES { bad(format!("{files} files are more than {MAX_FILES}")) } else { Ok(()) }
}

fn bad<T>(what: impl Into<String>) -> Result<T> {
    Err(Error::BadPlan { what: what.into() })
}

fn bytes_of(steps: &[Step], direction: Direction) -> u64 {
    steps.iter().filter(|s| s.direction == direction).fold(0, |sum, s| sum.saturating_add(s.bytes))
}

/// One file to write or to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) direction: Direction,
    pub(crate) file: u32,
    pub(crate) repeat: u32,
    /// As asked.
    pub(crate) size: u64,
    /// As written.
    pub(crate) bytes: u64,
    /// The file goes after this.
    pub(crate) last: bool,
}
