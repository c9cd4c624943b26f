//! Any bytes: an error or a result, and the same content by every way in.
#![no_main]

mod threads;

use std::io::{Cursor, Read as _};

use gannet_stream::{Options, SeekableReader, decompress};
use libfuzzer_sys::fuzz_target;

/// What a small input may grow to before the comparison is not worth its time.
const ENOUGH: u64 = 8 << 20;

fuzz_target!(|data: &[u8]| threads::all_ended(|| run(data)));

fn run(data: &[u8]) {
    let options = Options::new().threads(1).max_window_bytes(8 << 20).max_frame_bytes(1 << 20);
    let mut at_random = Vec::new();
    let reader = SeekableReader::new(Cursor::new(data), &options);
    let read = reader.and_then(|reader| Ok(reader.take(ENOUGH).read_to_end(&mut at_random).is_ok()));
    if at_random.len() as u64 == ENOUGH {
        return;
    }
    let mut streamed = Vec::new();
    if decompress(data, &mut streamed, &options).is_ok() {
        assert!(matches!(read, Ok(true)), "streamed but not read at random");
        assert!(streamed == at_random, "the ways in differ");
    }
}
