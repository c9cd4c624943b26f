//! What is compressed decodes to itself; cut or with a flipped bit it is refused or still right.
#![no_main]

mod threads;

use std::io::Write as _;

use gannet_stream::{Encoder, Format, Options, decompress};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u16, u32, &[u8])| threads::all_ended(|| run(input)));

fn run(input: (u8, u16, u32, &[u8])) {
    let (kind, chunk, damage, part) = input;
    let (plain, chunk) = if kind < 0xC0 { (part.to_vec(), u64::from(chunk).max(1)) } else { within_noise(part, chunk.into(), damage) };
    let format = if kind & 1 == 0 { Format::Zstd } else { Format::Lz4 };
    let level = if format == Format::Zstd { 1 + i32::from(kind >> 1) % 9 } else { 1 };
    let options = Options::new().format(format).level(level).threads(1).chunk_bytes(chunk);
    let mut encoder = Encoder::new(Vec::new(), &options).unwrap();
    encoder.write_all(&plain).unwrap();
    let (mut packed, _) = encoder.finish().unwrap();
    let mut decoded = Vec::new();
    decompress(&packed[..], &mut decoded, &options).unwrap();
    assert!(decoded == plain);

    let bit = damage as usize % (packed.len() * 8);
    packed[bit / 8] ^= 1 << (bit % 8);
    decoded.clear();
    if decompress(&packed[..], &mut decoded, &options).is_ok() {
        assert!(decoded == plain);
    }
}

/// The input within so much noise that chunks of it are stored, and a size of chunk for it.
fn within_noise(part: &[u8], at: usize, seed: u32) -> (Vec<u8>, u64) {
    let mut state = u64::from(seed) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let mut plain: Vec<u8> = std::iter::repeat_with(&mut next).take(270_000 + at).collect();
    let at = at * 4;
    let len = part.len().min(plain.len() - at);
    plain[at..at + len].copy_from_slice(&part[..len]);
    (plain, 131_072 + u64::from(seed % 50_000))
}
