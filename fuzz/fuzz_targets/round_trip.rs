//! What is compressed decodes to itself; cut or with a flipped bit it is refused or still right.
#![no_main]

mod threads;

use std::io::Write as _;

use gannet_stream::{Encoder, Format, Options, decompress};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u16, u32, &[u8])| threads::all_ended(|| run(input)));

fn run(input: (u8, u16, u32, &[u8])) {
    let (kind, chunk, damage, plain) = input;
    let format = if kind & 1 == 0 { Format::Zstd } else { Format::Lz4 };
    let level = if format == Format::Zstd { 1 + i32::from(kind >> 1) % 9 } else { 1 };
    let options = Options::new().format(format).level(level).threads(1).chunk_bytes(u64::from(chunk).max(1));
    let mut encoder = Encoder::new(Vec::new(), &options).unwrap();
    encoder.write_all(plain).unwrap();
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
