//! Pairs of runs in one process: `pipeline FOLDER PAIRS WORDS NAME=FILE…` and `lz4 NAME=FILE…`.

use std::time::Instant;

use lz4_flex::block::{CompressTable, compress_into_with_table, decompress_into, get_maximum_output_size};

#[cfg(feature = "pipeline")]
mod pipeline;

/// Bytes of an LZ4 block.
const BLOCK: usize = 4 << 20;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let usage = "stream-peers pipeline FOLDER PAIRS WORDS NAME=FILE… | lz4 NAME=FILE…";
    match args.split_first().map(|(verb, rest)| (verb.as_str(), rest)) {
        #[cfg(feature = "pipeline")]
        Some(("pipeline", [folder, pairs, words, files @ ..])) => {
            let pairs = pipeline::Pairs { number: pairs.parse().expect(usage), words: words.clone() };
            pipeline::run(folder, &pairs, files);
        }
        Some(("lz4", files)) => files.iter().for_each(|file| lz4(file)),
        _ => panic!("{usage}"),
    }
}

fn split(file: &str) -> (&str, &str) {
    file.split_once('=').expect("NAME=FILE")
}

fn seconds(job: impl FnOnce()) -> f64 {
    let start = Instant::now();
    job();
    start.elapsed().as_secs_f64()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
}

/// Rates of lz4_flex's blocks in memory, as it was built: name, compression and decompression in MB/s.
fn lz4(file: &str) {
    let (name, path) = split(file);
    let plain = std::fs::read(path).expect(path);
    let (mut table, mut out) = (CompressTable::large(), vec![0; get_maximum_output_size(BLOCK)]);
    let mut packed = Vec::new();
    let mut times = [vec![], vec![]];
    for _ in 0..3 {
        packed.clear();
        times[0].push(seconds(|| {
            for block in plain.chunks(BLOCK) {
                let len = compress_into_with_table(block, &mut out, &mut table).expect("room");
                packed.push(out[..len].to_vec());
            }
        }));
        times[1].push(seconds(|| {
            let decoded: usize = packed.iter().map(|block| decompress_into(block, &mut out).expect("a sound block")).sum();
            assert_eq!(decoded, plain.len());
        }));
    }
    let [compress, decompress] = times.map(|mut times| plain.len() as f64 / median(&mut times) / 1e6);
    println!("{name} {compress:.0} {decompress:.0}");
}
