//! `compress`, `Encoder`: the same bytes everywhere, and faults of readers and writers.

use std::io::{self, Read, Write};

use gannet_stream::{Encoder, Error, Format, Options, compress, compress_file, compress_to_file};
use proptest::prelude::*;

use crate::support::{Folder, compressed, decompressed, options, text};

fn streamed(bytes: &[u8], options: &Options) -> Vec<u8> {
    let mut out = Vec::new();
    let report = compress(bytes, &mut out, options).unwrap();
    assert_eq!((report.input_bytes, report.output_bytes), (bytes.len() as u64, out.len() as u64));
    out
}

fn encoded(bytes: &[u8], options: &Options, piece: usize) -> Vec<u8> {
    let mut encoder = Encoder::new(Vec::new(), options).unwrap();
    for piece in bytes.chunks(piece) {
        encoder.write_all(piece).unwrap();
    }
    let (out, report) = encoder.finish().unwrap();
    assert_eq!((report.input_bytes, report.output_bytes), (bytes.len() as u64, out.len() as u64));
    out
}

#[test]
fn the_bytes_do_not_depend_on_the_threads() {
    let source = text(300_001, 5);
    let levels = [(Format::Zstd, -5), (Format::Zstd, 1), (Format::Zstd, 3), (Format::Zstd, 12), (Format::Lz4, 1), (Format::Store, 1)];
    for (format, level) in levels {
        let options = |threads| options(format, 20_000).level(level).threads(threads);
        let (file, stream) = (compressed(&source, &options(1)), streamed(&source, &options(1)));
        for threads in [2, 3, 8] {
            assert_eq!(compressed(&source, &options(threads)), file, "{format:?} {level}");
            assert_eq!(streamed(&source, &options(threads)), stream, "{format:?} {level}");
            assert_eq!(encoded(&source, &options(threads), 7_777), stream, "{format:?} {level}");
        }
        // Short last chunks and contexts that have seen long ones.
        assert_eq!(compressed(&source[..20_001], &options(1)), compressed(&source[..20_001], &options(2)));
    }
}

#[test]
fn an_empty_source_is_a_complete_file() {
    for format in [Format::Zstd, Format::Lz4] {
        let options = options(format, 1000);
        for packed in [compressed(b"", &options), streamed(b"", &options), encoded(b"", &options, 1)] {
            assert!(!packed.is_empty());
            assert_eq!(decompressed(&packed, &options).unwrap(), b"");
        }
    }
    assert_eq!(compressed(b"", &options(Format::Store, 1000)), b"");
    assert_eq!(encoded(b"", &options(Format::Store, 1000), 1), b"");
}

/// Reads and writes a byte or a few at a time, interrupted now and then, and fails after so many bytes.
#[derive(Debug)]
struct Shaky<T> {
    inner: T,
    left: usize,
    calls: usize,
}

impl<T> Shaky<T> {
    fn next(&mut self, wanted: usize) -> io::Result<usize> {
        self.calls += 1;
        if self.calls % 3 == 0 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if self.left == 0 {
            return Err(io::Error::other("it broke"));
        }
        let len = wanted.min(1 + self.calls % 997).min(self.left);
        self.left -= len;
        Ok(len)
    }
}

impl<R: Read> Read for Shaky<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.next(buffer.len())?;
        self.inner.read(&mut buffer[..len])
    }
}

impl<W: Write> Write for Shaky<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.next(bytes.len())?;
        self.inner.write(&bytes[..len])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[test]
fn short_and_interrupted_calls_change_nothing() {
    let source = text(50_000, 6);
    for format in [Format::Zstd, Format::Lz4, Format::Store] {
        let options = options(format, 3_000);
        let mut out = Shaky { inner: Vec::new(), left: usize::MAX, calls: 0 };
        let reader = Shaky { inner: &source[..], left: usize::MAX, calls: 0 };
        compress(reader, &mut out, &options).unwrap();
        assert_eq!(out.inner, streamed(&source, &options));
    }
}

#[test]
fn a_reader_that_fails_anywhere_is_an_error_with_its_offset() {
    let source = text(20_000, 7);
    let folder = Folder::new();
    for left in (0..20_000).step_by(487) {
        let reader = || Shaky { inner: &source[..], left, calls: 0 };
        let of_stream = compress(reader(), io::sink(), &options(Format::Zstd, 2_000)).unwrap_err();
        let of_file = compress_to_file(reader(), folder.path("dst"), &options(Format::Zstd, 2_000)).unwrap_err();
        for error in [of_stream, of_file] {
            assert!(matches!(error, Error::Read { offset, .. } if offset == left as u64), "{error:?}");
        }
        assert!(folder.names().is_empty());
    }
}

#[test]
fn a_reader_that_panics_is_an_error() {
    struct Panicking(usize);
    impl Read for Panicking {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            assert!(self.0 > 0, "no more");
            self.0 -= 1;
            Ok(buffer.len().min(100))
        }
    }
    for calls in [0, 1, 100, 101] {
        let error = compress(Panicking(calls), io::sink(), &options(Format::Zstd, 2_000)).unwrap_err();
        assert!(matches!(error, Error::Panicked { message, .. } if message == "no more"));
    }
}

#[test]
fn a_writer_that_fails_anywhere_is_an_error() {
    let source = text(20_000, 8);
    let options = options(Format::Zstd, 2_000);
    let whole = streamed(&source, &options).len();
    for left in (0..whole).step_by(59) {
        let writer = || Shaky { inner: io::sink(), left, calls: 0 };
        assert!(matches!(compress(&source[..], writer(), &options).unwrap_err(), Error::Write { .. }));
        let mut encoder = Encoder::new(writer(), &options).unwrap();
        match encoder.write_all(&source) {
            Ok(()) => assert!(matches!(encoder.finish().unwrap_err(), Error::Write { .. })),
            Err(error) => {
                assert!(matches!(error.downcast::<Error>().unwrap(), Error::Write { .. }));
                // It stays failed.
                encoder.write_all(&source).unwrap_err();
                encoder.flush().unwrap_err();
                encoder.finish().unwrap_err();
            }
        }
    }
}

#[test]
fn dropping_an_encoder_leaves_an_incomplete_output_and_no_panic() {
    let source = text(30_000, 9);
    for written in (0..30_000).step_by(1_999) {
        let mut out = Vec::new();
        let mut encoder = Encoder::new(&mut out, &options(Format::Zstd, 2_000)).unwrap();
        encoder.write_all(&source[..written]).unwrap();
        drop(encoder);
        decompressed(&out, &options(Format::Zstd, 2_000)).unwrap_err();
    }
}

#[test]
fn flush_writes_every_full_chunk() {
    let source = text(5_000, 10);
    let mut encoder = Encoder::new(Vec::new(), &options(Format::Store, 1_000)).unwrap();
    encoder.write_all(&source[..3_500]).unwrap();
    encoder.flush().unwrap();
    assert_eq!(encoder.get_ref()[..], source[..3_000]);
    encoder.write_all(&source[3_500..]).unwrap();
    assert_eq!(encoder.finish().unwrap().0, source);
}

#[test]
fn bad_options_are_named() {
    let folder = Folder::new();
    let src = folder.file("src", b"x");
    let bad = [
        ("threads", Options::new().threads(0)),
        ("threads", Options::new().threads(1025)),
        ("level", Options::new().level(23)),
        ("level", Options::new().level(0)),
        ("level", Options::new().format(Format::Lz4).level(2)),
        ("chunk_bytes", Options::new().chunk_bytes(0)),
        ("chunk_bytes", Options::new().chunk_bytes((1 << 30) + 1)),
        ("window", Options::new().window(0)),
    ];
    for (name, options) in bad {
        for error in [
            compress_file(&src, folder.path("dst"), &options).unwrap_err(),
            compress(&b"x"[..], io::sink(), &options).unwrap_err(),
            Encoder::new(io::sink(), &options).map(|_| ()).unwrap_err(),
        ] {
            assert!(matches!(error, Error::Option { option, .. } if option == name), "{name}");
        }
    }
    assert_eq!(folder.names(), ["src"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_is_compressed_decodes_to_the_same(
        len in 0usize..100_000, seed: u64, chunk in 1u64..60_000, threads in 1usize..5, window in 1usize..9,
        format in prop::sample::select(vec![(Format::Zstd, -7), (Format::Zstd, 1), (Format::Zstd, 5), (Format::Zstd, 19), (Format::Lz4, 1)]),
    ) {
        let source = text(len, seed);
        let options = options(format.0, chunk.max(len as u64 / 500)).level(format.1).threads(threads).window(window);
        prop_assert_eq!(&decompressed(&compressed(&source, &options), &options).unwrap(), &source);
        prop_assert_eq!(&decompressed(&streamed(&source, &options), &options).unwrap(), &source);
    }
}
