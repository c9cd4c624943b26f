//! What can be chosen.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use diskbench::{Access, FileMode, Plan, ReadBack, Reserve, SyncPolicy};
use support::args::{confidence, count, positive_size, size};
use support::cli::Failure;
use support::json::Target;

/// Time writing and reading a volume over many sizes, past the page cache, and say how far the figures can be believed.
#[derive(Debug, Parser)]
#[command(name = "disk_speed", version)]
pub(crate) struct Args {
    /// A folder on the volume; files are written there and leave nothing behind
    #[arg(required_unless_present_any = ["read", "compare"], conflicts_with_all = ["read", "compare"])]
    dir: Option<PathBuf>,
    /// standard (16 sizes, 2 MB to 2 GB: 53 GB in 10 repeats), quick (10 sizes to 400 MB, 3 repeats), short (3 sizes, 20 s at most),
    /// or sizes such as 2MB,20MB,200MB
    #[arg(long, value_name = "PLAN", default_value = "quick")]
    plan: PlanName,
    /// Repeats of each size [default: those of the plan; 10 for sizes of your own, 1 for --read]
    #[arg(long, value_name = "N", value_parser = |t: &str| count(t, 10_000))]
    repeats: Option<usize>,
    /// How the disk is to be reached; what was achieved stands in the result
    #[arg(long, value_enum, default_value_t = AccessName::Uncached)]
    access: AccessName,
    /// What makes written data durable, within the timed window
    #[arg(long, value_enum, default_value_t = SyncName::Fsync)]
    sync: SyncName,
    /// Bytes of one read or write: a multiple of 4096
    #[arg(long, value_name = "SIZE", default_value = "8MiB", value_parser = positive_size)]
    block: u64,
    /// Reads or writes under way at once
    #[arg(long, value_name = "N", default_value = "1", value_parser = |t: &str| count(t, 64))]
    queue_depth: usize,
    /// What writes meet: a new file, one with its blocks allocated, or one that was written before
    #[arg(long, value_enum, default_value_t = FileName::New)]
    file: FileName,
    /// When files are read back: after all writes, after each repeat (needs less room), or never
    #[arg(long, value_enum)]
    reads: Option<ReadsName>,
    /// Seed of the order and the data
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// End after this time with what is there: 90, 90s or 5m
    #[arg(long, value_name = "TIME", value_parser = time)]
    time_limit: Option<Duration>,
    /// Bytes to leave free [default: a tenth of what is available, at least 5 GB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    reserve: Option<u64>,
    /// Compare what is read with what was written
    #[arg(long, conflicts_with = "read")]
    verify: bool,
    /// Only read the files that are in DIR, and change nothing there
    #[arg(long, value_name = "DIR", conflicts_with = "compare")]
    pub(crate) read: Option<PathBuf>,
    /// Compare two results of --json
    #[arg(long, value_names = ["A.json", "B.json"], num_args = 2)]
    pub(crate) compare: Option<Vec<PathBuf>>,
    /// Write more than 10 GB without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Level of confidence of the intervals
    #[arg(long, value_name = "LEVEL", default_value = "0.95", value_parser = confidence)]
    pub(crate) confidence: f64,
    /// Write everything as one JSON object to FILE (- for standard output, and nothing else there)
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<Target>,
    /// Write a page with tables and plots to FILE
    #[arg(long, value_name = "FILE.html", conflicts_with = "compare")]
    pub(crate) report: Option<PathBuf>,
}

impl Args {
    /// The folder to work in, and whether files are written there.
    pub(crate) fn folder(&self) -> Result<(&PathBuf, bool), Failure> {
        match (&self.dir, &self.read) {
            (Some(dir), _) => Ok((dir, true)),
            (None, Some(dir)) => Ok((dir, false)),
            (None, None) => Err(Failure::Usage("a folder is needed".into())),
        }
    }

    pub(crate) fn plan(&self) -> Plan {
        let mut plan = match &self.plan {
            PlanName::Standard => Plan::standard(),
            PlanName::Quick => Plan::quick(),
            PlanName::Short => Plan::short(),
            PlanName::Sizes(sizes) => Plan::sizes(sizes.clone()),
        }
        .access(self.access.into())
        .sync(self.sync.into())
        .file_mode(self.file.into())
        .block(self.block)
        .queue_depth(self.queue_depth as u32)
        .seed(self.seed)
        .verify(self.verify);
        if self.read.is_some() {
            plan = plan.repeats(1);
        }
        if let Some(repeats) = self.repeats {
            plan = plan.repeats(repeats as u32);
        }
        if let Some(reads) = self.reads {
            plan = plan.reads(reads.into());
        }
        if let Some(limit) = self.time_limit {
            plan = plan.time_limit(limit);
        }
        if let Some(bytes) = self.reserve {
            plan = plan.reserve(Reserve::Bytes(bytes));
        }
        plan
    }
}

#[derive(Debug, Clone, PartialEq)]
enum PlanName {
    Standard,
    Quick,
    Short,
    Sizes(Vec<u64>),
}

impl std::str::FromStr for PlanName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "standard" => Ok(Self::Standard),
            "quick" => Ok(Self::Quick),
            "short" => Ok(Self::Short),
            sizes => sizes.split(',').map(positive_size).collect::<Result<_, _>>().map(Self::Sizes),
        }
    }
}

/// Seconds, or minutes with `m`.
fn time(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let (number, scale) = match text.strip_suffix('m') {
        Some(minutes) => (minutes, 60.0),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    let seconds = number.trim().parse::<f64>().map_err(|_| format!("not a time: {text:?} (write 90, 90s or 5m)"))? * scale;
    if seconds > 0.0 && seconds <= 1e7 {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("a time limit lies above 0 and below 1e7 s".into())
    }
}

/// A choice on the command line and what it stands for in the library.
macro_rules! choices {
    ($(#[$about:meta])* $name:ident => $target:ident { $($(#[$doc:meta])* $choice:ident => $value:ident),* $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
        enum $name { $($(#[$doc])* $choice),* }

        impl From<$name> for $target {
            fn from(name: $name) -> Self {
                match name { $($name::$choice => $target::$value),* }
            }
        }
    };
}

choices!(AccessName => Access {
    /// Past the page cache by the best way the volume offers
    Uncached => Uncached,
    /// `O_DIRECT` on Linux, `F_NOCACHE` on macOS; an error where it is refused
    Direct => Direct,
    /// `RWF_DONTCACHE` (Linux 6.14 and later)
    Dontcache => DontCache,
    /// Through the page cache with early write-back, evicted before reading
    Writeback => WriteBack,
    /// Through the page cache: reads measure memory
    Cached => Cached,
});

choices!(SyncName => SyncPolicy {
    /// fsync: flushes the drive on Linux, not on macOS
    Fsync => Fsync,
    /// fdatasync
    Fdatasync => Fdatasync,
    /// `F_FULLFSYNC` on macOS; fsync elsewhere
    Full => FullFsync,
    /// `F_BARRIERFSYNC` on macOS; fsync elsewhere
    Barrier => BarrierFsync,
    /// Nothing: not the speed of the disk
    None => None,
});

choices!(FileName => FileMode {
    /// A new file that grows
    New => New,
    /// A new file with its blocks allocated before
    Preallocated => Preallocated,
    /// A file that was written and synced before
    Overwrite => Overwrite,
});

choices!(ReadsName => ReadBack {
    /// After all writes
    AfterAll => AfterAll,
    /// After the writes of each repeat
    AfterEach => AfterEachRepeat,
    /// Never
    Never => Never,
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_plans() {
        assert_eq!(time("90"), Ok(Duration::from_secs(90)));
        assert_eq!(time("1.5 s"), Ok(Duration::from_millis(1500)));
        assert_eq!(time("5m"), Ok(Duration::from_secs(300)));
        for bad in ["", "0", "-1", "x", "1h", "nan", "inf", "1e9"] {
            assert!(time(bad).is_err(), "{bad}");
        }
        assert_eq!("2MB,16KiB".parse(), Ok(PlanName::Sizes(vec![2_000_000, 16_384])));
        assert!("fast".parse::<PlanName>().is_err());
        assert!("2MB,,3MB".parse::<PlanName>().is_err());
    }

    #[test]
    fn a_folder_is_needed_and_one_only() {
        assert!(Args::try_parse_from(["disk_speed"]).is_err());
        assert!(Args::try_parse_from(["disk_speed", "d", "--read", "e"]).is_err());
        assert!(Args::try_parse_from(["disk_speed", "--read", "e"]).is_ok());
        assert!(Args::try_parse_from(["disk_speed", "--compare", "a"]).is_err());
        assert!(Args::try_parse_from(["disk_speed", "--compare", "a", "b"]).is_ok());
    }
}
