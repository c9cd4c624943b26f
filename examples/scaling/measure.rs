//! The timed runs. Those of a codec are all in memory: no disk takes part.

use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

use corpus::SplitMix64;
use support::cli::Failure;
use support::codec::Codec;
use support::interrupt;
use support::operation::Operation;
use support::progress::Progress;

use crate::args::{Settings, Subject, Task};
use crate::command;

/// One timed run.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) task: Task,
    pub(crate) threads: usize,
    /// From 0.
    pub(crate) repeat: usize,
    pub(crate) seconds: f64,
    /// Of the uncompressed side; `None` for a command.
    pub(crate) bytes: Option<u64>,
}

/// A round that is not counted, then every count `repeats` times; each repeat is shuffled afresh.
pub(crate) fn all(settings: &Settings) -> Result<Vec<Run>, Failure> {
    match &settings.subject {
        Subject::Codec { file, size, codec, level } => {
            let source = source(file.as_deref(), *size, settings.seed)?;
            let options = stream::Options::new().format(codec.format());
            let options = level.map_or_else(|| options.clone(), |level| options.clone().level(level));
            let mut bench = Bench { settings, codec: *codec, options, source: &source, packed: Vec::new(), unpacked: Vec::new() };
            rounds(settings, |threads, _| bench.round(threads))
        }
        Subject::Command { words, cpus } => rounds(settings, |count, counted| {
            let seconds = command::run(words, &cpus[..count], settings.qos, counted)?;
            Ok(vec![(Task::Command, seconds, None)])
        }),
    }
}

/// One round: for each task its seconds and bytes.
type Round = Vec<(Task, f64, Option<u64>)>;

fn rounds(settings: &Settings, mut round: impl FnMut(usize, bool) -> Result<Round, Failure>) -> Result<Vec<Run>, Failure> {
    let bar = Progress::steps(1 + (settings.repeats * settings.threads.len()) as u64);
    let mut random = SplitMix64::new(settings.seed);
    let mut runs = Vec::new();
    let mut next = |threads: usize, counted: bool| {
        interrupt::check()?;
        bar.message(format!("{threads} {}", settings.unit()));
        let done = round(threads, counted);
        bar.add(1);
        done
    };
    next(settings.threads.last().copied().unwrap_or(1), false)?;
    for repeat in 0..settings.repeats {
        let mut order = settings.threads.clone();
        random.shuffle(&mut order);
        for threads in order {
            let done = next(threads, true)?;
            runs.extend(done.into_iter().map(|(task, seconds, bytes)| Run { task, threads, repeat, seconds, bytes }));
        }
    }
    Ok(runs)
}

/// The bytes to compress.
pub(crate) fn source(file: Option<&Path>, size: u64, seed: u64) -> Result<Vec<u8>, Failure> {
    let Some(path) = file else {
        let size = usize::try_from(size).map_err(|_| Failure::Usage("--size: more than this machine can address".into()))?;
        return Ok(corpus::bytes(seed, size));
    };
    let failed = |e: std::io::Error| Failure::run(format!("{}: {e}", path.display()));
    let mut bytes = Vec::new();
    File::open(path).and_then(|f| f.take(size).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.is_empty() {
        return Err(Failure::run(format!("{}: the file is empty", path.display())));
    }
    Ok(bytes)
}

struct Bench<'a> {
    settings: &'a Settings,
    codec: Codec,
    options: stream::Options,
    source: &'a [u8],
    packed: Vec<u8>,
    unpacked: Vec<u8>,
}

impl Bench<'_> {
    /// What is decompressed is compared with the source.
    fn round(&mut self, threads: usize) -> Result<Round, Failure> {
        let options = self.options.clone().threads(threads);
        let bytes = Some(self.source.len() as u64);
        // The buffers keep their memory, so that only the first round waits for it.
        self.packed.clear();
        let packing = timed(self.settings, options.clone(), |options| stream::compress(self.source, &mut self.packed, options))?;
        self.unpacked.clear();
        let unpacking = timed(self.settings, options, |options| match self.codec {
            Codec::Store => stream::compress(self.packed.as_slice(), &mut self.unpacked, options),
            Codec::Zstd | Codec::Lz4 => stream::decompress(self.packed.as_slice(), &mut self.unpacked, options),
        })?;
        if self.unpacked != self.source {
            return Err(Failure::run("what was decompressed differs from the source"));
        }
        Ok(vec![(Task::Codec(Operation::Compress), packing, bytes), (Task::Codec(Operation::Decompress), unpacking, bytes)])
    }
}

fn timed(
    settings: &Settings,
    options: stream::Options,
    run: impl FnOnce(&stream::Options) -> Result<stream::Report, stream::Error>,
) -> Result<f64, Failure> {
    interrupt::check()?;
    let workers = qos::Workers::new(settings.qos)?;
    let options = options
        .on_worker_start(workers.start_handler())
        .progress(|_| if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
    let report = run(&options)?;
    for outcome in workers.take_outcomes() {
        outcome.result.map_err(|e| Failure::from(e).context(&format!("--qos {}", settings.qos)))?;
    }
    Ok(report.elapsed.as_secs_f64())
}
