//! Random flipped bits in files as other tools write them: an error, or the right bytes.

use std::cell::RefCell;
use std::io::{Cursor, Read as _};

use gannet_stream::{Error, Options, SeekableReader, decompress};
use zstd_safe::CParameter::{self, ChecksumFlag};

use crate::build::{Lz4, lz4_legacy, skippable, zstd_seekable, zstd_stream, zstd_whole};
use crate::support::{Random, noise, text};

const CHECKED: [CParameter; 1] = [ChecksumFlag(true)];

fn plain() -> Vec<u8> {
    [text(1500, 1), noise(300, 2)].concat()
}

/// Options under which these small frames are decoded in one piece, or step by step like large ones.
fn options(in_steps: bool) -> Options {
    let options = Options::new().threads(1);
    if in_steps { options.max_frame_bytes(100) } else { options }
}

fn streamed(packed: &[u8], options: &Options) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    decompress(packed, &mut bytes, options).map(|_| bytes)
}

fn at_random(packed: &[u8], options: &Options) -> Result<Vec<u8>, Error> {
    let mut reader = SeekableReader::new(Cursor::new(packed), options)?;
    let (mut bytes, len) = (Vec::new(), reader.content_bytes());
    reader.read_to_end(&mut bytes).map_err(|error| error.downcast::<Error>().unwrap())?;
    assert!(bytes.len() as u64 == len || reader.content_bytes() == bytes.len() as u64);
    Ok(bytes)
}

/// 20,000 times up to so many flipped bits, and what comes of it by each way in is shown to `judge`. The one with threads, which
/// takes the most time, is taken every tenth time.
fn flip(packed: &[u8], most: u64, has_table: bool, judge: impl Fn(&str, Result<Vec<u8>, Error>)) {
    for in_steps in [false, true] {
        let options = options(in_steps);
        assert!(streamed(packed, &options).is_ok() && at_random(packed, &options).is_ok(), "the file itself");
    }
    let mut random = Random(7);
    for round in 0..20_000 {
        let mut damaged = packed.to_vec();
        for _ in 0..1 + random.next() % most {
            let bit = random.next() as usize % (damaged.len() * 8);
            damaged[bit / 8] ^= 1 << (bit % 8);
        }
        let options = options(round % 2 == 1);
        judge(&format!("round {round}, at random"), at_random(&damaged, &options));
        if round % 10 == 0 {
            judge(&format!("round {round}, stream"), streamed(&damaged, &options));
        }
        if has_table {
            judge(&format!("round {round}, walked"), at_random(&damaged, &options.use_seek_table(false)));
        }
    }
}

fn never_wrong(packed: &[u8], most: u64, has_table: bool) {
    let plain = plain();
    flip(packed, most, has_table, |what, result| {
        if let Ok(bytes) = result {
            assert!(bytes == plain, "{what}");
        }
    });
}

#[test]
fn zstd_frames_with_sizes() {
    never_wrong(&plain().chunks(512).flat_map(|piece| zstd_whole(piece, &CHECKED)).collect::<Vec<_>>(), 4, false);
}

#[test]
fn pzstd_frames() {
    let frame = |piece: &[u8]| {
        let frame = zstd_stream(piece, &CHECKED);
        [skippable(0, &(frame.len() as u32).to_le_bytes()), frame].concat()
    };
    never_wrong(&plain().chunks(512).flat_map(frame).collect::<Vec<_>>(), 4, false);
}

#[test]
fn a_zstd_stream() {
    never_wrong(&zstd_stream(&plain(), &CHECKED), 4, false);
}

/// One bit only: where the table alone has checksums, damage to both can be beyond notice.
#[test]
fn a_seekable_file_with_checksums_in_its_table() {
    never_wrong(&zstd_seekable(&plain(), 512, &[]), 1, true);
}

#[test]
fn a_seekable_file_with_checksums_in_both() {
    never_wrong(&zstd_seekable(&plain(), 512, &CHECKED), 4, true);
}

#[test]
fn lz4_linked_blocks() {
    never_wrong(&Lz4 { linked: true, ..Lz4::PLAIN }.frame_of_blocks(&plain(), 512), 4, false);
}

#[test]
fn lz4_independent_blocks() {
    never_wrong(&Lz4 { block_checksums: true, ..Lz4::PLAIN }.frame_of_blocks(&plain(), 512), 4, false);
}

/// Nothing in it tells wrong bytes, so it is enough that both ways agree and no more comes out than a block holds.
#[test]
fn legacy_lz4_without_checksums() {
    let first = RefCell::new(None);
    flip(&lz4_legacy(&plain()), 4, false, |what, result| {
        let bytes = result.ok();
        assert!(bytes.as_ref().is_none_or(|bytes| bytes.len() <= 8 << 20), "{what}");
        if what.ends_with("stream") {
            assert!(*first.borrow() == bytes, "{what}");
        }
        first.replace(bytes);
    });
}
