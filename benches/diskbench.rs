//! What the runner's care costs: its timed windows beside a plain loop of writes and reads, in memory, where nothing hides it.

use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use diskbench::{Access, Direction, Plan, ReadBack, Reserve, Runner, SyncPolicy};

const SIZE: u64 = 64 << 20;
const BLOCK: usize = 1 << 20;

/// Memory where there is some, so that the disk's own time does not matter.
fn folder() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.into() } else { std::env::temp_dir() }
}

/// Time in the windows of `count` files.
fn windows(direction: Direction, count: u64, depth: u32) -> Duration {
    let reads = if direction == Direction::Read { ReadBack::AfterEachRepeat } else { ReadBack::Never };
    let plan = Plan::sizes([SIZE])
        .repeats(count as u32)
        .block(BLOCK as u64)
        .queue_depth(depth)
        .access(Access::Cached)
        .sync(SyncPolicy::None)
        .reads(reads)
        .reserve(Reserve::Bytes(0));
    let mut runner = Runner::new(&plan, folder()).expect("the folder takes files");
    let mut total = Duration::ZERO;
    for sample in &mut runner {
        let sample = sample.expect("memory does not fail");
        if sample.direction == direction {
            total += sample.elapsed();
        }
    }
    total
}

fn scratch() -> File {
    let path = folder().join(format!("gannet-bench-{}", std::process::id()));
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path).expect("the folder takes files");
    std::fs::remove_file(&path).expect("it was just made");
    file
}

fn naive_write(file: &File, data: &[u8]) -> io::Result<()> {
    (0..SIZE / BLOCK as u64).try_for_each(|i| file.write_all_at(data, i * BLOCK as u64))
}

fn naive_read(file: &File, data: &mut [u8]) -> io::Result<()> {
    (0..SIZE / BLOCK as u64).try_for_each(|i| file.read_exact_at(data, i * BLOCK as u64))
}

/// The same with no care: one buffer, no stamps, no times of blocks.
fn naive(direction: Direction, count: u64) -> Duration {
    let mut data = vec![0x5a; BLOCK];
    let mut total = Duration::ZERO;
    for _ in 0..count {
        let file = scratch();
        let begin = Instant::now();
        naive_write(&file, &data).expect("memory does not fail");
        if direction == Direction::Write {
            total += begin.elapsed();
            continue;
        }
        let begin = Instant::now();
        naive_read(&file, &mut data).expect("memory does not fail");
        total += begin.elapsed();
        black_box(&data);
    }
    total
}

fn transfers(c: &mut Criterion) {
    for direction in [Direction::Write, Direction::Read] {
        let mut group = c.benchmark_group(format!("{direction} 64 MiB in memory, 1 MiB blocks"));
        group.throughput(Throughput::Bytes(SIZE)).sample_size(10);
        group.bench_function("plain loop", |b| b.iter_custom(|count| naive(direction, count)));
        for depth in [1, 2] {
            let name = BenchmarkId::new("runner, under way at once", depth);
            group.bench_function(name, |b| b.iter_custom(|count| windows(direction, count, depth)));
        }
        group.finish();
    }
}

fn volume(c: &mut Criterion) {
    c.bench_function("look at a volume", |b| b.iter(|| diskbench::Volume::of(folder()).expect("it is there")));
}

criterion_group!(benches, transfers, volume);
criterion_main!(benches);
