//! Chunks that are stored because nothing in them compresses.

use std::io::Write as _;

use gannet_stream::{Encoder, Format, FrameKind, Options, compress, frames};

use crate::support::{Folder, compressed, decompressed, in_memory, noise, options, text};

const CHUNK: u64 = 300_000;

/// Bytes in the file and window of every zstd frame.
fn zstd_frames(file: &[u8]) -> Vec<(u64, u64)> {
    let folder = Folder::new();
    let path = folder.file("packed", file);
    let frames = frames(path).unwrap().map(Result::unwrap).filter(|frame| frame.kind == FrameKind::Zstd);
    frames.map(|frame| (frame.compressed_bytes, frame.window_bytes)).collect()
}

/// What follows the promise: whether it knows the length is all that a file's bytes and a stream's differ in.
fn behind_promise(file: &[u8]) -> &[u8] {
    &file[28..]
}

fn streamed(plain: &[u8], options: &Options) -> Vec<u8> {
    let mut out = Vec::new();
    compress(plain, &mut out, options).unwrap();
    out
}

fn encoded(plain: &[u8], options: &Options) -> Vec<u8> {
    let mut encoder = Encoder::new(Vec::new(), options).unwrap();
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap().0
}

/// Chunks of noise, of text, of noise that ends in text, of noise that repeats, and a short one.
fn mixed() -> Vec<u8> {
    let chunk = CHUNK as usize;
    let mut plain = noise(2 * chunk, 1);
    plain.extend(text(chunk, 2));
    plain.extend([noise(chunk - 30_000, 3), text(30_000, 4)].concat());
    let half = noise(chunk / 2, 5);
    plain.extend([&half[..], &half[..]].concat());
    plain.extend(noise(140_000, 6));
    plain
}

#[test]
fn what_compresses_is_compressed_and_what_does_not_is_stored() {
    // Three bytes before each of three blocks, a header and a checksum.
    let stored = CHUNK + 3 * 3 + 10 + 4;
    for level in [-3, 1, 3, 4] {
        let options = options(Format::Zstd, CHUNK).level(level);
        let file = compressed(&mixed(), &options);
        let sizes = zstd_frames(&file);
        assert_eq!(sizes.len(), 6);
        assert_eq!(sizes[..2], [(stored, 128 << 10); 2]);
        assert_eq!(sizes[5], (140_000 + 2 * 3 + 10 + 4, 128 << 10));
        for (index, most) in [(2, CHUNK * 3 / 4), (3, CHUNK - 10_000), (4, CHUNK * 3 / 5)] {
            assert!(sizes[index].0 < most, "level {level}, chunk {index}: {} bytes", sizes[index].0);
        }
        assert!(decompressed(&file, &options).unwrap() == mixed());
    }
}

#[test]
fn the_bytes_are_the_same_from_everywhere() {
    let plain = mixed();
    for threads in [1, 2, 3, 8] {
        let options = options(Format::Zstd, CHUNK).threads(threads);
        let file = compressed(&plain, &options);
        assert!(file == compressed(&plain, &options.clone().threads(1)), "{threads} threads");
        let stream = streamed(&plain, &options);
        assert!(stream == encoded(&plain, &options), "{threads} threads");
        assert!(behind_promise(&stream) == behind_promise(&file), "{threads} threads");
        assert!(in_memory(&stream, &options).unwrap() == plain);
    }
}

#[test]
fn higher_levels_look_everywhere() {
    let plain = noise(CHUNK as usize, 1);
    let file = compressed(&plain, &options(Format::Zstd, CHUNK).level(5));
    // libzstd's own frame: one segment, so the window is the content.
    assert_eq!(zstd_frames(&file)[0].1, CHUNK);
}

#[test]
fn lengths_around_blocks_and_pieces() {
    let noise = noise((256 << 10) + (128 << 10) + 1, 7);
    for around in [128 << 10, 256 << 10, 384 << 10] {
        for len in [around - 1, around, around + 1] {
            let plain = &noise[..len];
            let options = options(Format::Zstd, 1 << 20);
            let file = compressed(plain, &options);
            assert!(decompressed(&file, &options).unwrap() == plain, "{len}");
            assert!(behind_promise(&file) == behind_promise(&streamed(plain, &options)), "{len}");
            assert_eq!(zstd_frames(&file)[0].1 == 128 << 10, len >= 128 << 10, "{len}");
        }
    }
}

#[test]
fn every_flipped_byte_of_a_header_is_noticed() {
    let options = options(Format::Zstd, CHUNK);
    let plain = noise(CHUNK as usize, 8);
    let file = compressed(&plain, &options);
    let frame = 28;
    let blocks = [0, 1, 2].map(|block| frame + 10 + block * ((128 << 10) + 3));
    for at in (frame..frame + 10).chain(blocks.into_iter().flat_map(|at| at..at + 3)) {
        for bit in 0..8 {
            let mut damaged = file.clone();
            damaged[at] ^= 1 << bit;
            // A larger window changes nothing; nor does a bit that readers ignore.
            if let Ok(decoded) = in_memory(&damaged, &options) {
                assert!(decoded == plain, "byte {at}, bit {bit}");
            }
        }
    }
}
