//! What a caller may choose.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::{Settings, StartHook};
use crate::error::Error;
use crate::report::Progress;

/// The format of an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Zstandard frames (RFC 8878) with the seek table of the zstd seekable format.
    #[default]
    Zstd,
    /// LZ4 frames with the same seek table.
    Lz4,
    /// The bytes themselves: a copy through the pipeline.
    Store,
}

/// How to run: one value for all functions of this crate. Every function takes what concerns it.
///
/// ```
/// use gannet_stream::{Format, Options};
///
/// let options = Options::new().format(Format::Zstd).level(9).threads(2);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Options {
    pub(crate) format: Format,
    pub(crate) level: Option<i32>,
    pub(crate) threads: Option<usize>,
    pub(crate) chunk_bytes: Option<u64>,
    pub(crate) window: Option<usize>,
    pub(crate) no_sync: bool,
    pub(crate) overwrite: bool,
    pub(crate) max_window_bytes: Option<u64>,
    pub(crate) max_frame_bytes: Option<u64>,
    pub(crate) max_output_bytes: Option<u64>,
    pub(crate) ignore_seek_table: bool,
    pub(crate) on_worker_start: Option<Hook>,
    pub(crate) progress: Option<ProgressHook>,
}

/// A start hook that can be printed.
#[derive(Clone)]
pub(crate) struct Hook(pub(crate) StartHook);

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}

type ProgressFn = dyn FnMut(Progress) -> ControlFlow<()> + Send;

/// A progress callback that can be shared and printed.
#[derive(Clone)]
pub(crate) struct ProgressHook(Arc<Mutex<ProgressFn>>);

impl ProgressHook {
    pub(crate) fn call(&self, progress: &Progress) -> Result<(), Error> {
        let mut hook = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match hook(progress.clone()) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled),
        }
    }
}

impl fmt::Debug for ProgressHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProgressHook")
    }
}

const MIB: u64 = 1 << 20;

impl Options {
    /// zstd at level 3 on all processors that this process may use, with synced output that replaces nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The format to write. Default: [`Format::Zstd`]. Reading recognises the format itself.
    pub fn format(mut self, format: Format) -> Self {
        self.format = format;
        self
    }

    /// The compression level: 1 to 22 and negative levels down to -131072 for zstd (default 3). LZ4 and store have
    /// one level, 1.
    pub fn level(mut self, level: i32) -> Self {
        self.level = Some(level);
        self
    }

    /// Worker threads, 1 to 1024. Default: as many as [`std::thread::available_parallelism`] says. Never more are
    /// started than there are chunks.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Bytes of input per chunk, 1 to 1 GiB (LZ4: to 4 MiB is best, larger chunks become several blocks). Default, by
    /// format and level: LZ4 and store 4 MiB; zstd 2 MiB to level 1, 4 MiB from 2 to 8, 16 MiB above.
    pub fn chunk_bytes(mut self, bytes: u64) -> Self {
        self.chunk_bytes = Some(bytes);
        self
    }

    /// Chunks in memory at once, 1 to 65536. Default: 2 for each thread and 1 more.
    pub fn window(mut self, chunks: usize) -> Self {
        self.window = Some(chunks);
        self
    }

    /// Whether an output file is on the disk before it gets its name. Default: true. The time it takes counts as writing.
    pub fn sync(mut self, sync: bool) -> Self {
        self.no_sync = !sync;
        self
    }

    /// Whether an existing output file may be replaced (at once, when the new one is complete). Default: false.
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// The largest zstd window that is decoded, in bytes. Default: 128 MiB, the limit of the standard tool.
    pub fn max_window_bytes(mut self, bytes: u64) -> Self {
        self.max_window_bytes = Some(bytes);
        self
    }

    /// The largest frame that is decoded in one piece, in bytes of content. Default: 16 MiB, and never more than 8 MiB for
    /// frames that do not state their size. Larger ones are decoded step by step, by one thread. As many pieces as the
    /// window has chunks may be in memory at once.
    pub fn max_frame_bytes(mut self, bytes: u64) -> Self {
        self.max_frame_bytes = Some(bytes);
        self
    }

    /// The most that may be decoded, in bytes: data that decodes to more is refused ([`Error::OutputLimit`]), and nothing
    /// above the limit is written. For data from strangers: a small file can hold terabytes of zeros. Default: no limit.
    /// Not for [`SeekableReader`](crate::SeekableReader), which decodes only what is read.
    pub fn max_output_bytes(mut self, bytes: u64) -> Self {
        self.max_output_bytes = Some(bytes);
        self
    }

    /// Whether [`SeekableReader`](crate::SeekableReader) and [`read_range`](crate::read_range) find frames by the file's seek
    /// table. Default: true. Without it they walk over the headers of all blocks before they read: right for files from
    /// strangers, whose table may have been made to deceive.
    pub fn use_seek_table(mut self, yes: bool) -> Self {
        self.ignore_seek_table = !yes;
        self
    }

    /// Runs `hook` first on every worker thread, with the thread's index from 0: to place it, name it or count it.
    /// Default: nothing.
    pub fn on_worker_start(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.on_worker_start = Some(Hook(Arc::new(hook)));
        self
    }

    /// Calls `hook` on the calling thread whenever chunks have been written. [`ControlFlow::Break`] stops the run, which
    /// then ends with [`Error::Cancelled`]. Default: nothing.
    pub fn progress(mut self, hook: impl FnMut(Progress) -> ControlFlow<()> + Send + 'static) -> Self {
        self.progress = Some(ProgressHook(Arc::new(Mutex::new(hook))));
        self
    }

    /// The level, checked.
    pub(crate) fn checked_level(&self) -> Result<i32, Error> {
        let reason = match (self.format, self.level) {
            (Format::Zstd, None) => return Ok(3),
            (Format::Zstd, Some(level)) if level != 0 && (-131_072..=22).contains(&level) => {
                return Ok(level);
            }
            (Format::Zstd, Some(level)) => format!("{level} is not in 1 to 22 or -131072 to -1"),
            (Format::Lz4 | Format::Store, None | Some(1)) => return Ok(1),
            (format, Some(level)) => format!("{level}, but {format:?} has level 1 only"),
        };
        Err(Error::Option { option: "level", reason })
    }

    /// Whether a chunk in which a quick look finds nothing to compress is stored as it is. At the levels that are made for
    /// speed; at the others the codec looks everywhere.
    pub(crate) fn stores(&self) -> bool {
        cfg!(feature = "zstd") && self.format == Format::Zstd && self.level.is_none_or(|level| level <= 4)
    }

    /// The chunk size, checked.
    pub(crate) fn checked_chunk(&self) -> Result<usize, Error> {
        let level = self.level.unwrap_or(3);
        let bytes = self.chunk_bytes.unwrap_or(match self.format {
            Format::Lz4 | Format::Store => 4 * MIB,
            Format::Zstd if level <= 1 => 2 * MIB,
            Format::Zstd if level <= 8 => 4 * MIB,
            Format::Zstd => 16 * MIB,
        });
        match usize::try_from(bytes) {
            Ok(size) if (1..=1024 * MIB).contains(&bytes) => Ok(size),
            _ => Err(Error::Option { option: "chunk_bytes", reason: format!("{bytes} is not in 1 to 1073741824") }),
        }
    }

    /// Threads and window, checked; not more threads than chunks.
    pub(crate) fn settings(&self, chunks: Option<u64>) -> Result<Settings, Error> {
        let available = || std::thread::available_parallelism().map_or(1, usize::from).min(1024);
        let threads = self.threads.unwrap_or_else(available);
        if !(1..=1024).contains(&threads) {
            let reason = format!("{threads} is not in 1 to 1024");
            return Err(Error::Option { option: "threads", reason });
        }
        let most = chunks.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX));
        let threads = threads.min(most.max(1));
        let window = self.window.unwrap_or(2 * threads + 1);
        if !(1..=65_536).contains(&window) {
            let reason = format!("{window} is not in 1 to 65536");
            return Err(Error::Option { option: "window", reason });
        }
        let on_worker_start = self.on_worker_start.as_ref().map(|hook| Arc::clone(&hook.0));
        Ok(Settings { threads, window, on_worker_start })
    }
}
