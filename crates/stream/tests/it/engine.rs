//! The engine through user codecs: order, bounds, pools, faults.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};

use gannet_stream::{BoxError, Chunk, Codec, Encoder, Error, Format, Options, compress, compress_file, transform, transform_file};

use crate::support::{Folder, noise, options, text};

/// Reverses each chunk, and fails or panics on one of them.
struct Reverse {
    fails_on: Option<u64>,
    panics: bool,
}

const SOUND: Reverse = Reverse { fails_on: None, panics: false };

impl Codec for Reverse {
    type Context = ();

    fn context(&self) -> Result<(), BoxError> {
        Ok(())
    }

    fn code(&self, _context: &mut (), chunk: Chunk<'_>, out: &mut Vec<u8>) -> Result<(), BoxError> {
        assert!(out.is_empty());
        if self.fails_on == Some(chunk.index) {
            if self.panics {
                panic!("chunk {} is bad", chunk.index);
            }
            return Err("bad chunk".into());
        }
        out.extend(chunk.bytes.iter().rev());
        Ok(())
    }
}

const CHUNK: usize = 1000;
const CHUNKS: u64 = 24;

fn source() -> Vec<u8> {
    text(CHUNK * (CHUNKS as usize - 1) + 7, 1)
}

fn reversed(bytes: &[u8]) -> Vec<u8> {
    bytes.chunks(CHUNK).flat_map(|chunk| chunk.iter().rev().copied()).collect()
}

fn small() -> Options {
    options(Format::Store, CHUNK as u64).threads(3).window(5)
}

fn inner(error: Error) -> Error {
    match error {
        Error::Path { source, .. } => *source,
        other => other,
    }
}

#[test]
fn a_transform_keeps_the_order() {
    let folder = Folder::new();
    let src = folder.file("src", &source());
    for threads in [1, 2, 3, 8] {
        for window in [1, 2, 9] {
            let options = small().threads(threads).window(window);
            let report = transform_file(&src, folder.path("dst"), SOUND, &options).unwrap();
            assert_eq!(std::fs::read(folder.path("dst")).unwrap(), reversed(&source()));
            assert_eq!((report.chunks, report.input_bytes), (CHUNKS, source().len() as u64));
            assert_eq!((report.output_bytes, report.threads), (source().len() as u64, threads));
            let mut streamed = Vec::new();
            transform(&source()[..], &mut streamed, SOUND, &options).unwrap();
            assert_eq!(streamed, reversed(&source()));
        }
    }
}

#[test]
fn an_error_on_any_chunk_is_that_chunks_error_and_leaves_nothing() {
    let folder = Folder::new();
    let src = folder.file("src", &source());
    for chunk in 0..CHUNKS {
        for panics in [false, true] {
            let codec = || Reverse { fails_on: Some(chunk), panics };
            let of_file = transform_file(&src, folder.path("dst"), codec(), &small()).unwrap_err();
            let of_stream = transform(&source()[..], std::io::sink(), codec(), &small()).unwrap_err();
            for error in [inner(of_file), of_stream] {
                match error {
                    Error::Codec { chunk: found, .. } if !panics => assert_eq!(found, chunk),
                    Error::Panicked { chunk: found, message } if panics => {
                        assert_eq!((found, message), (chunk, format!("chunk {chunk} is bad")));
                    }
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(folder.names(), ["src"]);
        }
    }
}

#[test]
fn results_before_a_failing_chunk_are_written() {
    for chunk in 0..CHUNKS {
        let mut out = Vec::new();
        transform(&source()[..], &mut out, Reverse { fails_on: Some(chunk), panics: false }, &small()).unwrap_err();
        assert_eq!(out, reversed(&source()[..chunk as usize * CHUNK]));
    }
}

/// No chunk starts while its distance from the first unfinished one is the window or more.
struct Bounded {
    window: u64,
    first_done: AtomicU64,
    others_done: AtomicU64,
}

impl Codec for Bounded {
    type Context = ();

    fn context(&self) -> Result<(), BoxError> {
        Ok(())
    }

    fn code(&self, _context: &mut (), chunk: Chunk<'_>, _out: &mut Vec<u8>) -> Result<(), BoxError> {
        if chunk.index > 0 {
            if chunk.index >= self.window && self.first_done.load(SeqCst) == 0 {
                return Err("started outside the window".into());
            }
            self.others_done.fetch_add(1, SeqCst);
            return Ok(());
        }
        // The first chunk is slow: all others that may start do.
        while self.others_done.load(SeqCst) < self.window - 1 {
            std::thread::yield_now();
        }
        for _ in 0..1000 {
            std::thread::yield_now();
        }
        self.first_done.store(1, SeqCst);
        Ok(())
    }
}

#[test]
fn a_slow_chunk_stops_the_others_at_the_window() {
    let folder = Folder::new();
    let src = folder.file("src", &source());
    for window in [2, 3, 8, 23] {
        let codec = || Bounded { window, first_done: AtomicU64::new(0), others_done: AtomicU64::new(0) };
        let options = small().threads(2).window(window as usize);
        transform_file(&src, folder.path("dst"), codec(), &options).unwrap();
        transform(&source()[..], std::io::sink(), codec(), &options).unwrap();
    }
}

/// Counts contexts.
struct Counting(Arc<AtomicUsize>);

impl Codec for Counting {
    type Context = ();

    fn context(&self) -> Result<(), BoxError> {
        self.0.fetch_add(1, SeqCst);
        Ok(())
    }

    fn code(&self, _context: &mut (), chunk: Chunk<'_>, out: &mut Vec<u8>) -> Result<(), BoxError> {
        out.extend_from_slice(chunk.bytes);
        Ok(())
    }
}

#[test]
fn contexts_are_reused() {
    let made = Arc::new(AtomicUsize::new(0));
    transform(&source()[..], std::io::sink(), Counting(Arc::clone(&made)), &small()).unwrap();
    assert!((1..=3).contains(&made.load(SeqCst)));
}

#[test]
fn a_context_that_cannot_be_made_is_an_error() {
    struct Broken;
    impl Codec for Broken {
        type Context = ();
        fn context(&self) -> Result<(), BoxError> {
            Err("no memory".into())
        }
        fn code(&self, _: &mut (), _: Chunk<'_>, _: &mut Vec<u8>) -> Result<(), BoxError> {
            Ok(())
        }
    }
    let error = transform(&source()[..], std::io::sink(), Broken, &small()).unwrap_err();
    assert!(matches!(error, Error::Codec { .. }));
}

#[test]
fn every_worker_runs_the_start_hook_first() {
    let started = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&started);
    let options = small().threads(3).on_worker_start(move |index| {
        seen.fetch_add(1 << (8 * index), SeqCst);
    });
    transform(&source()[..], std::io::sink(), SOUND, &options).unwrap();
    // A thread that got no work may still be starting: none may have started twice.
    assert_eq!(started.load(SeqCst) & !0x01_01_01, 0);
    assert_ne!(started.load(SeqCst), 0);
}

#[test]
fn a_start_hook_that_panics_is_an_error() {
    let options = small().threads(1).on_worker_start(|_| panic!("no such core"));
    let error = transform(&source()[..], std::io::sink(), SOUND, &options).unwrap_err();
    assert!(matches!(error, Error::Panicked { message, .. } if message == "no such core"));
}

#[test]
fn a_run_can_be_cancelled_at_every_call() {
    let folder = Folder::new();
    let src = folder.file("src", &source());
    for stop_at in 0..8 {
        let progress = || {
            let mut calls = 0;
            move |progress: gannet_stream::Progress| {
                assert!(progress.ingested_bytes >= progress.processed_bytes);
                calls += 1;
                if calls > stop_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            }
        };
        // Few chunks in memory: there are that many calls.
        let options = || small().window(1).threads(1);
        let cancelled = compress(&source()[..], std::io::sink(), &options().progress(progress())).unwrap_err();
        assert!(matches!(cancelled, Error::Cancelled));
        let mut encoder = Encoder::new(Vec::new(), &options().progress(progress())).unwrap();
        let written = std::io::copy(&mut &source()[..], &mut encoder);
        let ended = written.map_err(|e| e.downcast::<Error>().unwrap()).and_then(|_| encoder.finish().map(|_| ()));
        assert!(matches!(ended, Err(Error::Cancelled)));
    }
    let at_once = small().progress(|_| ControlFlow::Break(()));
    let error = compress_file(&src, folder.path("dst"), &at_once).unwrap_err();
    assert!(matches!(error, Error::Cancelled));
    assert_eq!(folder.names(), ["src"]);
}

#[test]
fn progress_ends_at_the_true_numbers() {
    let last = Arc::new(std::sync::Mutex::new(None));
    let seen = Arc::clone(&last);
    let options = small().progress(move |progress| {
        *seen.lock().unwrap() = Some(progress);
        ControlFlow::Continue(())
    });
    let mut out = Vec::new();
    compress(&source()[..], &mut out, &options).unwrap();
    let last = last.lock().unwrap().take().unwrap();
    assert_eq!(last.ingested_bytes, source().len() as u64);
    assert_eq!(last.processed_bytes, source().len() as u64);
    assert_eq!(last.written_bytes, out.len() as u64);
}

#[test]
fn it_runs_inside_a_pool_of_one_thread_and_nested() {
    /// A codec that itself runs a pipeline, and uses the pool it is on.
    struct Nested;
    impl Codec for Nested {
        type Context = ();
        fn context(&self) -> Result<(), BoxError> {
            Ok(())
        }
        fn code(&self, _: &mut (), chunk: Chunk<'_>, out: &mut Vec<u8>) -> Result<(), BoxError> {
            let (a, b) = rayon::join(|| chunk.bytes.len(), || chunk.bytes.iter().map(|&b| u64::from(b)).sum::<u64>());
            assert!(a > 0 && b > 0);
            let inner = Options::new().format(Format::Store).chunk_bytes(100).threads(2);
            transform(chunk.bytes, out, SOUND, &inner)?;
            Ok(())
        }
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let out = pool.install(|| {
        let mut out = Vec::new();
        transform(&source()[..], &mut out, Nested, &small()).unwrap();
        out
    });
    let expected: Vec<u8> =
        source().chunks(CHUNK).flat_map(|chunk| chunk.chunks(100).flat_map(|c| c.iter().rev().copied()).collect::<Vec<_>>()).collect();
    assert_eq!(out, expected);
}

#[test]
fn many_threads_run_pipelines_at_once() {
    let source = noise(50_000, 3);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for threads in 1..4 {
                    let mut out = Vec::new();
                    transform(&source[..], &mut out, SOUND, &small().threads(threads)).unwrap();
                    assert_eq!(out, reversed(&source));
                }
            });
        }
    });
}
