//! Encoding and decoding by codec, level, chunk and threads, beside the same codec in a plain loop of one thread in memory
//! (`loop`), and a memcpy.
//!
//! Parallel efficiency is the rate of `threads/N` over N times that of `loop`; the pipeline's overhead is that of
//! `threads/1` over `loop`. `file` is from file to file in the system's temporary folder, without syncing.

use std::hint::black_box;
use std::io;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lz4_flex::block::{CompressTable, compress_into_with_table, decompress_into, get_maximum_output_size};
use stream::{Format, Options, compress, compress_file, decompress, decompress_file};
use zstd_safe::{CCtx, CParameter, DCtx};

/// Bytes of the data.
const SIZE: usize = 64 << 20;

/// Codec, level and bytes in a chunk.
const CASES: [(Format, i32, usize); 6] = [
    (Format::Zstd, 1, 1 << 20),
    (Format::Zstd, 3, 1 << 20),
    (Format::Zstd, 3, 4 << 20),
    (Format::Zstd, 9, 8 << 20),
    (Format::Lz4, 1, 1 << 20),
    (Format::Lz4, 1, 4 << 20),
];

fn threads() -> Vec<usize> {
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    let mut counts: Vec<usize> = [1, 2, 4, 8, 16].into_iter().filter(|&n| n < most).collect();
    counts.push(most);
    counts
}

fn options(case: (Format, i32, usize), threads: usize) -> Options {
    Options::new().format(case.0).level(case.1).chunk_bytes(case.2 as u64).threads(threads).sync(false).overwrite(true)
}

fn name(case: (Format, i32, usize)) -> String {
    format!("{:?} {} {} KiB", case.0, case.1, case.2 >> 10).to_lowercase()
}

fn group<'a>(c: &'a mut Criterion, name: String, bytes: usize) -> BenchmarkGroup<'a, WallTime> {
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::BytesDecimal(bytes as u64)).sample_size(10).measurement_time(Duration::from_secs(3));
    group
}

/// The codec alone: each chunk to a buffer that is used again. Returns the compressed chunks.
struct Loop {
    zstd: CCtx<'static>,
    table: CompressTable,
    out: Vec<u8>,
}

impl Loop {
    fn new(level: i32, chunk: usize) -> Self {
        let mut zstd = CCtx::create();
        for parameter in [CParameter::CompressionLevel(level), CParameter::ChecksumFlag(true), CParameter::ContentSizeFlag(true)] {
            zstd.set_parameter(parameter).expect("a valid parameter");
        }
        let bound = zstd_safe::compress_bound(chunk).max(get_maximum_output_size(chunk));
        Self { zstd, table: CompressTable::large(), out: vec![0; bound] }
    }

    fn chunk(&mut self, format: Format, chunk: &[u8]) -> &[u8] {
        let len = match format {
            Format::Zstd => self.zstd.compress2(&mut self.out[..], chunk).expect("room for any result"),
            _ => compress_into_with_table(chunk, &mut self.out, &mut self.table).expect("room for any result"),
        };
        &self.out[..len]
    }
}

fn encode(c: &mut Criterion) {
    let data = corpus::bytes(1, SIZE);
    for case in CASES {
        let mut group = group(c, format!("encode {}", name(case)), SIZE);
        let mut codec = Loop::new(case.1, case.2);
        group.bench_function("loop", |b| {
            b.iter(|| data.chunks(case.2).map(|chunk| codec.chunk(case.0, chunk).len()).sum::<usize>());
        });
        for threads in threads() {
            let options = options(case, threads);
            group.bench_function(BenchmarkId::new("threads", threads), |b| {
                b.iter(|| compress(&data[..], io::sink(), &options).expect("it compresses").output_bytes);
            });
        }
    }
}

fn decode(c: &mut Criterion) {
    let data = corpus::bytes(1, SIZE);
    for case in CASES {
        let mut group = group(c, format!("decode {}", name(case)), SIZE);
        let mut codec = Loop::new(case.1, case.2);
        let chunks: Vec<Vec<u8>> = data.chunks(case.2).map(|chunk| codec.chunk(case.0, chunk).to_vec()).collect();
        let (mut zstd, mut out) = (DCtx::create(), vec![0; case.2]);
        group.bench_function("loop", |b| {
            b.iter(|| {
                let decode = |chunk: &Vec<u8>| match case.0 {
                    Format::Zstd => zstd.decompress(&mut out[..], chunk).expect("a sound frame"),
                    _ => decompress_into(chunk, &mut out).expect("a sound block"),
                };
                chunks.iter().map(decode).sum::<usize>()
            });
        });
        let mut packed = Vec::new();
        compress(&data[..], &mut packed, &options(case, 1)).expect("it compresses");
        for threads in threads() {
            let options = options(case, threads);
            group.bench_function(BenchmarkId::new("threads", threads), |b| {
                b.iter(|| decompress(&packed[..], io::sink(), &options).expect("it decodes").output_bytes);
            });
        }
    }
}

fn file(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("plain"), corpus::bytes(1, SIZE)).expect("room for the data");
    for case in [CASES[2], CASES[5]] {
        let mut group = group(c, format!("file {}", name(case)), SIZE);
        for threads in threads() {
            let options = options(case, threads);
            let mut run = |name: &str, job: &dyn Fn() -> stream::Report| {
                group.bench_function(BenchmarkId::new(name, threads), |b| b.iter(job));
            };
            run("compress", &|| compress_file(path("plain"), path("packed"), &options).expect("it compresses"));
            run("decompress", &|| decompress_file(path("packed"), path("again"), &options).expect("it decodes"));
        }
    }
}

fn memcpy(c: &mut Criterion) {
    let data = corpus::bytes(1, SIZE);
    let mut group = group(c, "memcpy".to_owned(), SIZE);
    let mut out = vec![0; 1 << 20];
    group.bench_function("1024 KiB", |b| {
        b.iter(|| {
            for chunk in data.chunks(out.len()) {
                out.copy_from_slice(chunk);
                black_box(&mut out);
            }
        });
    });
}

criterion_group!(benches, memcpy, encode, decode, file);
criterion_main!(benches);
