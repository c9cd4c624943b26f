//! The timed runs: compress, decompress, compare, in shuffled order.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::ops::ControlFlow;
use std::path::Path;

use corpus::SplitMix64;
use support::cli::Failure;
use support::codec::Codec;
use support::interrupt;
pub(crate) use support::operation::Operation;
use support::progress::Progress;
use support::workdir::WorkDir;

use crate::args::Settings;
use crate::source;

/// One timed run.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) operation: Operation,
    pub(crate) threads: usize,
    /// From 0.
    pub(crate) repeat: usize,
    pub(crate) report: stream::Report,
    /// What became of the cached pages of its source before it started; `None` with `--warm`.
    pub(crate) eviction: Option<diskbench::Eviction>,
}

impl Run {
    pub(crate) fn seconds(&self) -> f64 {
        self.report.elapsed.as_secs_f64()
    }

    /// Bytes of the uncompressed side over time: what a user calls the speed.
    pub(crate) fn rate(&self) -> f64 {
        self.volume_bytes() as f64 / self.seconds()
    }

    fn volume_bytes(&self) -> u64 {
        match self.operation {
            Operation::Compress => self.report.input_bytes,
            Operation::Decompress => self.report.output_bytes,
        }
    }
}

/// The runs of one operation.
pub(crate) fn of(runs: &[Run], operation: Operation) -> impl Iterator<Item = &Run> {
    runs.iter().filter(move |run| run.operation == operation)
}

/// A discarded warm-up, then every thread count `repeats` times; each repeat is shuffled afresh.
/// An error or a difference from the source ends it: what comes back has been compared byte by byte.
pub(crate) fn all(settings: &Settings, source: &source::Facts, folder: &WorkDir) -> Result<Vec<Run>, Failure> {
    let bench = Bench { settings, source, folder, bar: Progress::bytes(0) };
    let rounds = 1 + settings.repeats * settings.threads.len();
    bench.bar.set_total(2 * source.bytes * rounds as u64);

    let most = *settings.threads.last().ok_or_else(|| Failure::Usage("--threads: no thread count".into()))?;
    bench.round(most, 0, "warm-up")?;
    let mut random = SplitMix64::new(settings.seed);
    let mut runs = Vec::new();
    for repeat in 0..settings.repeats {
        let mut order = settings.threads.clone();
        random.shuffle(&mut order);
        for threads in order {
            let label = format!("repeat {} of {}, {}", repeat + 1, settings.repeats, plural(threads));
            runs.extend(bench.round(threads, repeat, &label)?);
        }
    }
    Ok(runs)
}

/// `1 thread`, `2 threads`.
pub(crate) fn plural(threads: usize) -> String {
    format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}

struct Bench<'a> {
    settings: &'a Settings,
    source: &'a source::Facts,
    folder: &'a WorkDir,
    bar: Progress,
}

impl Bench<'_> {
    /// Compresses, decompresses and compares.
    fn round(&self, threads: usize, repeat: usize, label: &str) -> Result<[Run; 2], Failure> {
        let packed = self.folder.file("packed");
        let unpacked = self.folder.file("unpacked");
        self.bar.message(format!("compressing ({label})"));
        let first = self.timed(Operation::Compress, threads, repeat, &self.source.path, &packed)?;
        self.bar.message(format!("decompressing ({label})"));
        let second = self.timed(Operation::Decompress, threads, repeat, &packed, &unpacked)?;
        self.bar.message("comparing");
        same_bytes(&self.source.path, &unpacked)?;
        for path in [&packed, &unpacked] {
            std::fs::remove_file(path).map_err(|e| Failure::run(format!("{}: {e}", path.display())))?;
        }
        Ok([first, second])
    }

    fn timed(&self, operation: Operation, threads: usize, repeat: usize, from: &Path, to: &Path) -> Result<Run, Failure> {
        interrupt::check()?;
        let eviction = if self.settings.warm { None } else { Some(diskbench::evict(from)?) };
        let before = self.bar.done();
        let bar = self.bar.handle();
        let workers = qos::Workers::new(self.settings.qos)?;
        // The bar counts uncompressed bytes, so that both directions move it alike.
        let options = self.settings.options(threads).on_worker_start(workers.start_handler()).progress(move |now: stream::Progress| {
            let bytes = if operation == Operation::Compress { now.processed_bytes } else { now.written_bytes };
            bar.set(before + bytes);
            if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let report = if operation == Operation::Compress || self.settings.codec == Codec::Store {
            // What was stored comes back by storing it again: its bytes may well be those of another format.
            stream::compress_file(from, to, &options)
        } else {
            stream::decompress_file(from, to, &options)
        }?;
        for outcome in workers.take_outcomes() {
            outcome.result.map_err(|e| Failure::from(e).context(&format!("--qos {}", self.settings.qos)))?;
        }
        self.bar.set(before + self.source.bytes);
        Ok(Run { operation, threads, repeat, report, eviction })
    }
}

/// Compares every byte.
fn same_bytes(source: &Path, copy: &Path) -> Result<(), Failure> {
    let failed = |path: &Path, e: std::io::Error| Failure::run(format!("{}: {e}", path.display()));
    let mut a = File::open(source).map_err(|e| failed(source, e))?;
    let mut b = File::open(copy).map_err(|e| failed(copy, e))?;
    let (mut left, mut right) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    let mut offset = 0;
    loop {
        let n = fill(&mut a, &mut left).map_err(|e| failed(source, e))?;
        let m = fill(&mut b, &mut right).map_err(|e| failed(copy, e))?;
        let same = left[..n].iter().zip(&right[..m]).take_while(|(x, y)| x == y).count();
        if same < n || n != m {
            let message = format!("{}: the decompressed copy differs from byte {} on", source.display(), offset + same as u64);
            return Err(Failure::run(message));
        }
        if n == 0 {
            return Ok(());
        }
        offset += n as u64;
    }
}

/// Reads until `buffer` is full or the file ends.
fn fill(file: &mut File, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_found_at_its_byte() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        let mut bytes = vec![7; (1 << 20) + 10];
        std::fs::write(&a, &bytes).unwrap();
        std::fs::write(&b, &bytes).unwrap();
        same_bytes(&a, &b).unwrap();
        bytes[(1 << 20) + 3] = 8;
        std::fs::write(&b, &bytes).unwrap();
        let Err(Failure::Run(message)) = same_bytes(&a, &b) else { panic!("they differ") };
        assert!(message.contains("byte 1048579"), "{message}");
        std::fs::write(&b, &bytes[..9]).unwrap();
        let Err(Failure::Run(message)) = same_bytes(&a, &b) else { panic!("one is shorter") };
        assert!(message.contains("byte 9 on"), "{message}");
    }
}
