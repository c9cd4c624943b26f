//! The pipeline from file to file, beside libzstd's own workers and the codec in a plain loop.

use std::fs::File;
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::path::Path;

use lz4_flex::block::{CompressTable, compress_into_with_table, decompress_into, get_maximum_output_size};
use stream::{Format, Options, compress_file, decompress, decompress_file, verify_file};
use twox_hash::XxHash32;
use zstd_safe::{CCtx, CParameter, DCtx};

use super::{median, seconds, split};

/// Codec, level and the default chunk.
const CASES: [(Format, i32, usize); 3] = [(Format::Zstd, 1, 2 << 20), (Format::Zstd, 3, 4 << 20), (Format::Lz4, 1, 4 << 20)];

/// How many pairs of runs, and of which lines: those that contain the words.
pub(super) struct Pairs {
    pub(super) number: usize,
    pub(super) words: String,
}

pub(super) fn run(folder: &str, pairs: &Pairs, files: &[String]) {
    let folder = Path::new(folder);
    let (source, packed, out) = (folder.join("peers-source"), folder.join("peers-packed"), folder.join("peers-out"));
    println!("| line | theirs, s | ours, s | ratio | range |\n|---|---|---|---|---|");
    for file in files {
        let (name, path) = split(file);
        std::fs::copy(path, &source).expect(path);
        let plain = std::fs::read(path).expect(path);
        for (format, level, chunk) in CASES {
            let label = format!("{name}, {format:?} {level}").to_lowercase();
            let options = |threads| Options::new().format(format).level(level).threads(threads);
            let gone = |path: &Path| drop(std::fs::remove_file(path));
            let compress = |threads| {
                gone(&packed);
                seconds(|| _ = compress_file(&source, &packed, &options(threads)).expect("it compresses"))
            };
            let mut codec = Loop::new(level, chunk);
            if format == Format::Zstd {
                let theirs = || {
                    gone(&out);
                    seconds(|| workers(&source, &out, level))
                };
                pairs.line(&format!("compress {label}, libzstd with 2 workers"), 1.0, theirs, || compress(2));
            }
            let theirs = || seconds(|| plain.chunks(chunk).for_each(|chunk| _ = codec.chunk(format, chunk)));
            pairs.line(&format!("compress {label}, half the time of a loop in memory"), 0.5, theirs, || compress(2));
            pairs.line(&format!("compress {label}, 1 thread"), 1.0, || compress(1), || compress(2));
            let in_memory = format!("decompress {label} in memory, half the time of a loop");
            let to_a_writer = format!("decompress {label} from a Read to a Write, half the time of a loop");
            let to_a_file = format!("decompress {label}, 1 thread");
            if ![&in_memory, &to_a_writer, &to_a_file].into_iter().any(|label| pairs.want(label)) {
                continue;
            }
            compress(2);
            let chunks: Vec<Vec<u8>> = plain.chunks(chunk).map(|chunk| codec.chunk(format, chunk).to_vec()).collect();
            let bytes = std::fs::read(&packed).expect("the packed file");
            let (mut context, mut buffer) = (DCtx::create(), vec![0; chunk]);
            let mut theirs = || {
                seconds(|| {
                    for chunk in &chunks {
                        match format {
                            Format::Zstd => context.decompress(&mut buffer[..], chunk).expect("a sound frame"),
                            _ => {
                                let len = decompress_into(chunk, &mut buffer).expect("a sound block");
                                black_box(XxHash32::oneshot(0, &buffer[..len]));
                                len
                            }
                        };
                    }
                })
            };
            let ours = || seconds(|| _ = verify_file(&packed, &options(2)).expect("it decodes"));
            pairs.line(&in_memory, 0.5, &mut theirs, ours);
            let ours = || seconds(|| _ = decompress(&bytes[..], io::sink(), &options(2)).expect("it decodes"));
            pairs.line(&to_a_writer, 0.5, &mut theirs, ours);
            let to_file = |threads| {
                gone(&out);
                seconds(|| _ = decompress_file(&packed, &out, &options(threads)).expect("it decodes"))
            };
            pairs.line(&to_a_file, 1.0, || to_file(1), || to_file(2));
        }
    }
    for path in [&source, &packed, &out] {
        let _ = std::fs::remove_file(path);
    }
}

impl Pairs {
    fn want(&self, label: &str) -> bool {
        label.contains(&self.words)
    }

    /// Theirs and ours in turn; the ratio of each pair is taken by itself. `share` of their time is what ours is held against.
    fn line(&self, label: &str, share: f64, mut theirs: impl FnMut() -> f64, mut ours: impl FnMut() -> f64) {
        if !self.want(label) {
            return;
        }
        let pairs = self.number;
        let (mut a, mut b, mut ratios) = (vec![], vec![], vec![]);
        for round in 0..=pairs {
            let (x, y) = (theirs() * share, ours());
            // The first warms up.
            if round > 0 {
                a.push(x);
                b.push(y);
                ratios.push(x / y);
            }
        }
        let (x, y, ratio) = (median(&mut a), median(&mut b), median(&mut ratios));
        println!("| {label} | {x:.3} | {y:.3} | {ratio:.2} | {:.2} to {:.2} |", ratios[0], ratios[pairs - 1]);
    }
}

/// libzstd's own multithreading, as its Rust binding offers it.
fn workers(source: &Path, out: &Path, level: i32) {
    let mut source = File::open(source).expect("the source");
    let mut encoder = zstd::Encoder::new(File::create(out).expect("the output"), level).expect("an encoder");
    encoder.multithread(2).expect("workers");
    let mut buffer = vec![0; 1 << 20];
    loop {
        match source.read(&mut buffer).expect("a read") {
            0 => break,
            n => encoder.write_all(&buffer[..n]).expect("a write"),
        }
    }
    encoder.finish().expect("the end");
}

/// The codec alone, with its checksum: each chunk to a buffer that is used again.
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
            _ => {
                black_box(XxHash32::oneshot(0, chunk));
                compress_into_with_table(chunk, &mut self.out, &mut self.table).expect("room for any result")
            }
        };
        &self.out[..len]
    }
}
