//! What can be chosen.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use diskbench::{Access, FileMode, Plan, ReadBack, Reserve, SyncPolicy};
use support::args::{confidence, count, positive_size, size};
use support::cli::Failure;
use support::json::Target;

/// Options that mean nothing where nothing is run.
const OF_A_RUN: [&str; 16] = [
    "read",
    "plan",
    "repeats",
    "access",
    "sync",
    "block",
    "queue_depth",
    "file",
    "reads",
    "seed",
    "time_limit",
    "reserve",
    "verify",
    "yes",
    "confidence",
    "report",
];

/// Time writing and reading a volume over many sizes, past the page cache, and say how far the figures can be believed.
#[derive(Debug, Parser)]
#[command(name = "disk_speed", version)]
pub(crate) struct Args {
    /// A folder on the volume; files are written there and leave nothing behind
    #[arg(required_unless_present_any = ["read", "compare"], conflicts_with_all = ["read", "compare"])]
    dir: Option<PathBuf>,
    /// standard (16 sizes, 2 MB to 2 GB: 53 GB in 10 repeats), quick (10 sizes to 400 MB, 3 repeats), short (3 sizes, 20 s at most),
    /// sizes such as 2MB,20MB,200MB, or random:N or random:N:LOW-HIGH: in each repeat N sizes drawn by the seed, evenly in their logarithm
    /// [LOW-HIGH: 2MB-2GB]
    #[arg(long, value_name = "PLAN", default_value = "quick", conflicts_with = "read")]
    plan: NamedPlan,
    /// Repeats of each size [default: those of the plan; 10 for sizes of your own and random ones, 1 for --read]
    #[arg(long, value_name = "N", value_parser = |t: &str| count(t, 10_000))]
    repeats: Option<usize>,
    /// How the disk is to be reached; what was achieved stands in the result
    #[arg(long, value_enum, default_value_t = AccessName::Uncached)]
    access: AccessName,
    /// What makes written data durable, within the timed window
    #[arg(long, value_enum, default_value_t = SyncName::Fsync, conflicts_with = "read")]
    sync: SyncName,
    /// Bytes of one read or write: a multiple of 4096
    #[arg(long, value_name = "SIZE", default_value = "8MiB", value_parser = positive_size)]
    block: u64,
    /// Reads or writes under way at once
    #[arg(long, value_name = "N", default_value = "1", value_parser = |t: &str| count(t, 64))]
    queue_depth: usize,
    /// What writes meet: a new file, one with its blocks allocated, or one that was written before
    #[arg(long, value_enum, default_value_t = FileName::New, conflicts_with = "read")]
    file: FileName,
    /// When files are read back: after all writes, after each repeat (needs less room), or never
    #[arg(long, value_enum, conflicts_with = "read")]
    reads: Option<ReadsName>,
    /// Seed of the order, of random sizes and of the data
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// End after this time with what is there: 90, 90s or 5m
    #[arg(long, value_name = "TIME", value_parser = time)]
    time_limit: Option<Duration>,
    /// Bytes to leave free [default: a tenth of what is available, at least 5 GB]
    #[arg(long, value_name = "SIZE", value_parser = size, conflicts_with = "read")]
    reserve: Option<u64>,
    /// Compare what is read with what was written
    #[arg(long, conflicts_with = "read")]
    verify: bool,
    /// Only read the files that are in DIR, and change nothing there
    #[arg(long, value_name = "DIR")]
    pub(crate) read: Option<PathBuf>,
    /// Compare two results of --json
    #[arg(long, value_names = ["A.json", "B.json"], num_args = 2, conflicts_with_all = OF_A_RUN)]
    pub(crate) compare: Option<Vec<PathBuf>>,
    /// Write more than 10 GB without asking
    #[arg(long, conflicts_with = "read")]
    pub(crate) yes: bool,
    /// Level of confidence of the intervals
    #[arg(long, value_name = "LEVEL", default_value = "0.95", value_parser = confidence)]
    pub(crate) confidence: f64,
    /// Write everything as one JSON object to FILE (- for standard output, and nothing else there)
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<Target>,
    /// Write a page with tables and plots to FILE
    #[arg(long, value_name = "FILE.html")]
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

    /// The plan as it was asked for; `None` for reading what is there.
    pub(crate) fn plan_text(&self) -> Option<&str> {
        self.read.is_none().then_some(&self.plan.text)
    }

    pub(crate) fn plan(&self) -> Plan {
        let mut plan = self
            .plan
            .plan
            .clone()
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

/// A plan, and the words it was asked for by.
#[derive(Debug, Clone, PartialEq)]
struct NamedPlan {
    text: String,
    plan: Plan,
}

impl std::str::FromStr for NamedPlan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let plan = match text {
            "standard" => Plan::standard(),
            "quick" => Plan::quick(),
            "short" => Plan::short(),
            _ => match text.strip_prefix("random:") {
                Some(random) => random_plan(random)?,
                None => Plan::sizes(text.split(',').map(positive_size).collect::<Result<Vec<_>, _>>()?),
            },
        };
        Ok(Self { text: text.into(), plan })
    }
}

/// `N` or `N:LOW-HIGH`.
fn random_plan(text: &str) -> Result<Plan, String> {
    let (number, bounds) = text.split_once(':').unwrap_or((text, "2MB-2GB"));
    let (low, high) = bounds.split_once('-').ok_or_else(|| format!("not a range of sizes: {bounds:?} (write 2MB-2GB)"))?;
    let (low, high) = (positive_size(low)?, positive_size(high)?);
    if low > high {
        return Err(format!("the range {bounds:?} is empty"));
    }
    Ok(Plan::random_sizes(count(number, 1000)? as u32, low, high))
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
        let plan = |text: &str| text.parse::<NamedPlan>().map(|named| named.plan);
        assert_eq!(plan("standard"), Ok(Plan::standard()));
        assert_eq!(plan("2MB,16KiB"), Ok(Plan::sizes([2_000_000, 16_384])));
        assert_eq!(plan("random:20"), Ok(Plan::random_sizes(20, 2_000_000, 2_000_000_000)));
        assert_eq!(plan("random:5:1MiB-1GB"), Ok(Plan::random_sizes(5, 1 << 20, 1_000_000_000)));
        for bad in ["fast", "2MB,,3MB", "random", "random:", "random:0", "random:5:", "random:5:1MB", "random:5:2MB-1MB", "random:5:0-1MB"]
        {
            assert!(plan(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_would_mean_nothing_is_refused() {
        for options in ["--plan quick", "--sync none", "--file overwrite", "--reads never", "--reserve 0", "--yes", "--verify"] {
            let with = |rest: &[&str]| Args::try_parse_from(["disk_speed"].iter().chain(rest).copied().chain(options.split(' '))).is_ok();
            assert!(with(&["d"]), "{options}");
            assert!(!with(&["--read", "d"]), "{options}");
            assert!(!with(&["--compare", "a", "b"]), "{options}");
        }
        assert!(Args::try_parse_from(["disk_speed", "--read", "d", "--block", "1MiB", "--seed", "2", "--repeats", "3"]).is_ok());
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
