//! Files that this crate wrote.

use std::io::{Cursor, Read as _};

use gannet_stream::{Error, Format, Options, SeekableReader};

use crate::support::{Random, compressed, decompressed, in_memory, inner, noise, options, text};

const FORMATS: [Format; 2] = [Format::Zstd, Format::Lz4];

/// A small file of several chunks.
fn small(format: Format) -> (Vec<u8>, Vec<u8>) {
    let mut plain = text(1500, 1);
    plain.extend(noise(300, 2));
    let packed = compressed(&plain, &options(format, 512));
    (plain, packed)
}

#[test]
fn round_trip_of_many_lengths() {
    for format in FORMATS {
        for len in [0, 1, 511, 512, 513, 1024, 5000, 70_000] {
            let plain = text(len, len as u64);
            let packed = compressed(&plain, &options(format, 512));
            assert!(decompressed(&packed, &options(format, 512)).unwrap() == plain, "{format:?} {len}");
        }
    }
}

#[test]
fn large_chunks_round_trip() {
    for format in FORMATS {
        let plain = text(20 << 20, 3);
        for chunk in [1 << 20, 17 << 20] {
            let packed = compressed(&plain, &options(format, chunk));
            for threads in [1, 3] {
                let options = options(format, chunk).threads(threads);
                assert!(decompressed(&packed, &options).unwrap() == plain, "{format:?} {chunk} {threads}");
            }
        }
    }
}

#[test]
fn concatenations_decode_to_the_concatenation() {
    for (first, second) in FORMATS.into_iter().flat_map(|first| FORMATS.map(|second| (first, second))) {
        let (plain, mut packed) = small(first);
        let (more, packed_more) = small(second);
        packed.extend(packed_more);
        assert!(decompressed(&packed, &options(first, 512)).unwrap() == [plain, more].concat());
    }
}

/// Every cut is an error, save after the first frame of an LZ4 file, where no reader can have seen the promise yet.
#[test]
fn every_truncation_is_an_error() {
    for format in FORMATS {
        let (plain, packed) = small(format);
        let mut allowed = Vec::new();
        for len in 0..packed.len() {
            match decompressed(&packed[..len], &options(format, 512)) {
                Ok(bytes) => {
                    assert_eq!(bytes, plain[..512]);
                    allowed.push(len);
                }
                Err(error) => match inner(error) {
                    Error::Truncated { offset } => assert!(offset <= len as u64),
                    other => panic!("{format:?} {len}: {other}"),
                },
            }
        }
        assert_eq!(allowed.len(), if format == Format::Lz4 { 1 } else { 0 }, "{format:?}: {allowed:?}");
    }
}

#[test]
fn every_truncation_of_a_concatenation_is_an_error() {
    for format in FORMATS {
        let (plain, packed) = small(format);
        let twice = [&packed[..], &packed[..]].concat();
        for len in packed.len() + 1..twice.len() {
            if let Ok(bytes) = decompressed(&twice[..len], &options(format, 512)) {
                assert_eq!((format, bytes.len()), (Format::Lz4, plain.len() + 512));
            }
        }
    }
}

#[test]
fn a_flipped_bit_never_gives_wrong_bytes() {
    for format in FORMATS {
        let (plain, packed) = small(format);
        let mut refused = 0;
        for bit in 0..packed.len() * 8 {
            let mut damaged = packed.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            match in_memory(&damaged, &options(format, 512)) {
                Ok(bytes) => assert_eq!(bytes, plain, "{format:?} bit {bit}"),
                Err(_) => refused += 1,
            }
        }
        assert!(refused > packed.len() * 7, "{format:?}: {refused}");
    }
}

/// A skippable frame of ours whose size is off must not hide what follows it: not the rest of the file, not its first frames,
/// not another file behind it.
#[test]
fn a_wrong_size_hides_nothing() {
    for format in FORMATS {
        let (_, packed) = small(format);
        let tag = packed.windows(4).position(|bytes| bytes == b"Gnt1").unwrap();
        let twice = [&packed[..], &packed].concat();
        let table = packed.windows(4).position(|bytes| bytes == 0x184D_2A5E_u32.to_le_bytes()).unwrap();
        for (size, from) in [(tag - 4, tag), (table + 4, table + 8)] {
            for until in from..=twice.len() {
                let (mut damaged, wrong) = (twice.clone(), (until - from) as u32);
                if damaged[size..size + 4] == wrong.to_le_bytes() {
                    continue;
                }
                damaged[size..size + 4].copy_from_slice(&wrong.to_le_bytes());
                assert!(in_memory(&damaged, &options(format, 512).threads(1)).is_err(), "{format:?}: {wrong} at {size}");
            }
        }
    }
}

#[test]
fn missing_frames_are_noticed() {
    let (_, packed) = small(Format::Zstd);
    // The frames behind the promise, found by their magic.
    let frames: Vec<_> = (0..packed.len() - 4).filter(|&at| packed[at..at + 4] == 0xFD2F_B528_u32.to_le_bytes()).collect();
    assert_eq!(frames.len(), 4);
    let without = [&packed[..frames[1]], &packed[frames[2]..]].concat();
    let error = inner(decompressed(&without, &options(Format::Zstd, 512)).unwrap_err());
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
}

#[test]
fn garbage_is_refused_with_its_offset() {
    for format in FORMATS {
        let (_, packed) = small(format);
        for garbage in [&b"x"[..], b"garbage", &[0; 9]] {
            let with = [&packed[..], garbage].concat();
            let error = inner(decompressed(&with, &options(format, 512)).unwrap_err());
            assert!(matches!(error, Error::Trailing { offset } if offset == packed.len() as u64), "{error}");
            let error = inner(decompressed(garbage, &options(format, 512)).unwrap_err());
            assert!(matches!(error, Error::Format), "{error}");
        }
        let error = inner(decompressed(b"", &options(format, 512)).unwrap_err());
        assert!(matches!(error, Error::Truncated { offset: 0 }), "{error}");
    }
}

#[test]
fn twenty_thousand_random_flips() {
    for format in FORMATS {
        let (plain, packed) = small(format);
        let mut random = Random(7);
        for round in 0..20_000 {
            let mut damaged = packed.clone();
            for _ in 0..1 + random.next() % 4 {
                let bit = random.next() as usize % (damaged.len() * 8);
                damaged[bit / 8] ^= 1 << (bit % 8);
            }
            let mut bytes = Vec::new();
            let reader = SeekableReader::new(Cursor::new(&damaged), &Options::new());
            if reader.is_ok_and(|mut reader| reader.read_to_end(&mut bytes).is_ok()) {
                assert!(bytes == plain, "{format:?} round {round}, random access");
            }
            if let Ok(bytes) = in_memory(&damaged, &options(format, 512).threads(1)) {
                assert!(bytes == plain, "{format:?} round {round}, stream");
            }
        }
    }
}
