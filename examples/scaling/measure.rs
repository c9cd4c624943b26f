//! The timed runs, all in memory: no disk takes part.

use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;

use corpus::SplitMix64;
use support::cli::Failure;
use support::interrupt;
pub(crate) use support::operation::Operation;
use support::progress::Progress;

use crate::args::Settings;

/// One timed run.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) operation: Operation,
    pub(crate) threads: usize,
    /// From 0.
    pub(crate) repeat: usize,
    pub(crate) seconds: f64,
    /// Of the uncompressed side.
    pub(crate) bytes: u64,
}

/// The bytes to compress.
pub(crate) fn source(settings: &Settings) -> Result<Vec<u8>, Failure> {
    let Some(path) = &settings.file else {
        let size = usize::try_from(settings.size).map_err(|_| Failure::Usage("--size: more than this machine can address".into()))?;
        return Ok(corpus::bytes(settings.seed, size));
    };
    let failed = |e: std::io::Error| Failure::run(format!("{}: {e}", path.display()));
    let mut bytes = Vec::new();
    File::open(path).and_then(|f| f.take(settings.size).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.is_empty() {
        return Err(Failure::run(format!("{}: the file is empty", path.display())));
    }
    Ok(bytes)
}

/// A round that is not counted, then every thread count `repeats` times; each repeat is shuffled afresh. What is decompressed is
/// compared with the source.
pub(crate) fn all(settings: &Settings, source: &[u8]) -> Result<Vec<Run>, Failure> {
    let rounds = 1 + settings.repeats * settings.threads.len();
    let bar = Progress::steps(2 * rounds as u64);
    let mut random = SplitMix64::new(settings.seed);
    let mut runs = Vec::new();
    let mut bench = Bench { settings, source, packed: Vec::new(), unpacked: Vec::new(), bar };
    let most = settings.threads.last().copied().unwrap_or(1);
    bench.round(most, 0)?;
    for repeat in 0..settings.repeats {
        let mut order = settings.threads.clone();
        random.shuffle(&mut order);
        for threads in order {
            runs.extend(bench.round(threads, repeat)?);
        }
    }
    Ok(runs)
}

struct Bench<'a> {
    settings: &'a Settings,
    source: &'a [u8],
    packed: Vec<u8>,
    unpacked: Vec<u8>,
    bar: Progress,
}

impl Bench<'_> {
    fn round(&mut self, threads: usize, repeat: usize) -> Result<[Run; 2], Failure> {
        self.bar.message(format!("{threads} threads"));
        // The buffers keep their memory, so that only the first round waits for it.
        self.packed.clear();
        let seconds = timed(self.settings, threads, |options| stream::compress(self.source, &mut self.packed, options))?;
        self.bar.add(1);
        let first = Run { operation: Operation::Compress, threads, repeat, seconds, bytes: self.source.len() as u64 };
        self.unpacked.clear();
        let seconds = timed(self.settings, threads, |options| stream::decompress(self.packed.as_slice(), &mut self.unpacked, options))?;
        self.bar.add(1);
        if self.unpacked != self.source {
            return Err(Failure::run("what was decompressed differs from the source"));
        }
        let second = Run { operation: Operation::Decompress, seconds, ..first.clone() };
        Ok([first, second])
    }
}

fn timed(
    settings: &Settings,
    threads: usize,
    run: impl FnOnce(&stream::Options) -> Result<stream::Report, stream::Error>,
) -> Result<f64, Failure> {
    interrupt::check()?;
    let workers = qos::Workers::new(settings.qos)?;
    let options = settings
        .options(threads)
        .on_worker_start(workers.start_handler())
        .progress(|_| if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
    let report = run(&options)?;
    for outcome in workers.take_outcomes() {
        outcome.result.map_err(|e| Failure::from(e).context(&format!("--qos {}", settings.qos)))?;
    }
    Ok(report.elapsed.as_secs_f64())
}
