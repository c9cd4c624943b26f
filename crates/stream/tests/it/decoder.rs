//! Decoding as a reader.

use std::io::{self, Cursor, Read};

use gannet_stream::{Decoder, Error, Format, Options};

use crate::build::{Lz4, zstd_stream};
use crate::support::{compressed, options, text};

/// Gives one byte at a time, and an interruption before each.
struct Trickle(Cursor<Vec<u8>>, bool);

impl Read for Trickle {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let len = into.len().min(1);
        self.0.read(&mut into[..len])
    }
}

/// Fails or panics behind the bytes.
struct Broken(Cursor<Vec<u8>>, bool);

impl Read for Broken {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.0.read(into)? {
            0 if self.1 => panic!("the reader gives up"),
            0 => Err(io::ErrorKind::ConnectionReset.into()),
            count => Ok(count),
        }
    }
}

/// Never ends: the source of a pipe that stays open.
struct Endless(std::sync::mpsc::Receiver<()>);

impl Read for Endless {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        // Blocks until the sender is gone.
        let _ = self.0.recv();
        Ok(0)
    }
}

#[test]
fn reads_everything() {
    let plain = text(300_000, 1);
    for packed in [
        compressed(&plain, &options(Format::Zstd, 10_000)),
        compressed(&plain, &options(Format::Lz4, 10_000)),
        zstd_stream(&plain, &[]),
        Lz4::PLAIN.frame(&plain),
    ] {
        for threads in [1, 2, 5] {
            let options = Options::new().threads(threads);
            let mut decoder = Decoder::new(Trickle(Cursor::new(packed.clone()), false), &options).unwrap();
            let mut bytes = Vec::new();
            let mut piece = vec![0; 777];
            loop {
                match decoder.read(&mut piece).unwrap() {
                    0 => break,
                    count => bytes.extend_from_slice(&piece[..count]),
                }
            }
            assert!(bytes == plain);
            assert_eq!(decoder.read(&mut piece).unwrap(), 0);
            let report = decoder.report();
            assert_eq!(report.input_bytes, packed.len() as u64);
        }
    }
}

#[test]
fn errors_come_after_what_is_right_and_stay() {
    let plain = text(50_000, 2);
    let packed = compressed(&plain, &options(Format::Zstd, 1000));
    for panics in [false, true] {
        let cut = packed[..packed.len() / 2].to_vec();
        let mut decoder = Decoder::new(Broken(Cursor::new(cut), panics), &Options::new().threads(2)).unwrap();
        let mut bytes = Vec::new();
        let error = decoder.read_to_end(&mut bytes).unwrap_err();
        assert!(plain.starts_with(&bytes));
        match error.downcast::<Error>().unwrap() {
            Error::Read { source, .. } => assert!(!panics && source.kind() == io::ErrorKind::ConnectionReset && bytes.len() > 1000),
            Error::Panicked { .. } => assert!(panics),
            other => panic!("{other}"),
        }
        assert!(decoder.read(&mut [0; 8]).is_err());
    }
    let mut truncated = Decoder::new(Cursor::new(packed[..packed.len() - 1].to_vec()), &Options::new()).unwrap();
    let mut bytes = Vec::new();
    let error = truncated.read_to_end(&mut bytes).unwrap_err();
    assert!(bytes == plain && error.kind() == io::ErrorKind::UnexpectedEof);
}

#[test]
fn dropping_it_early_waits_for_nobody() {
    let packed = compressed(&text(500_000, 3), &options(Format::Zstd, 1000));
    let mut decoder = Decoder::new(Cursor::new(packed), &Options::new()).unwrap();
    decoder.read_exact(&mut [0; 10]).unwrap();
    drop(decoder);
    let (sender, receiver) = std::sync::mpsc::channel();
    drop(Decoder::new(Endless(receiver), &Options::new()).unwrap());
    drop(sender);
}

#[test]
fn it_works_inside_a_pool_of_one_thread() {
    let plain = text(100_000, 4);
    let packed = compressed(&plain, &options(Format::Lz4, 1000));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let bytes = pool.install(|| {
        let mut decoder = Decoder::new(Cursor::new(packed), &Options::new().threads(2)).unwrap();
        let mut bytes = Vec::new();
        decoder.read_to_end(&mut bytes).unwrap();
        bytes
    });
    assert!(bytes == plain);
}
