//! Right frames, and any bytes where their seek table should be: the right content, by every way in.
#![no_main]

mod threads;

use std::io::{Cursor, Read as _, Seek as _, SeekFrom};
use std::sync::OnceLock;

use gannet_stream::{Encoder, Format, Options, SeekableReader};
use libfuzzer_sys::fuzz_target;

/// Frames without promise and table, and what they decode to.
fn frames() -> &'static (Vec<u8>, Vec<u8>) {
    static FRAMES: OnceLock<(Vec<u8>, Vec<u8>)> = OnceLock::new();
    FRAMES.get_or_init(|| {
        let plain: Vec<u8> = (0..1000_u32).flat_map(|number| (number * number).to_le_bytes()).collect();
        let mut packed = Vec::new();
        for piece in plain.chunks(700) {
            use std::io::Write as _;
            let options = Options::new().format(Format::Lz4).threads(1);
            let mut encoder = Encoder::new(Vec::new(), &options).unwrap();
            encoder.write_all(piece).unwrap();
            let (file, _) = encoder.finish().unwrap();
            // The promise is what follows the frame.
            let end = file.windows(4).position(|bytes| bytes == 0x184D_2A5D_u32.to_le_bytes()).unwrap();
            packed.extend_from_slice(&file[..end]);
        }
        (packed, plain)
    })
}

fuzz_target!(|data: &[u8]| threads::all_ended(|| run(data)));

fn run(data: &[u8]) {
    let (packed, plain) = frames();
    let mut file = packed.clone();
    // A table's frame around any payload, or any bytes.
    match data.split_first() {
        Some((0, payload)) => {
            file.extend_from_slice(&0x184D_2A5E_u32.to_le_bytes());
            file.extend_from_slice(&(payload.len() as u32).to_le_bytes());
            file.extend_from_slice(payload);
        }
        Some((_, bytes)) => file.extend_from_slice(bytes),
        None => {}
    }
    let Ok(mut reader) = SeekableReader::new(Cursor::new(&file), &Options::new().threads(1)) else {
        return;
    };
    for from in [0, 699, 700, 3999] {
        let mut bytes = [0; 1];
        reader.seek(SeekFrom::Start(from)).unwrap();
        if reader.read_exact(&mut bytes).is_ok() {
            assert_eq!(bytes[0], plain[from as usize]);
        }
    }
    reader.rewind().unwrap();
    let mut bytes = Vec::new();
    if reader.read_to_end(&mut bytes).is_ok() {
        assert!(bytes.starts_with(plain));
    }
}
