//! Random access, ranges, lists of frames.

use std::io::{Cursor, Read as _, Seek as _, SeekFrom};

use gannet_stream::{Error, Format, FrameKind, Options, SeekableReader, frames, read_range, verify, verify_file};
use zstd_safe::CParameter;

use crate::build::{Lz4, lz4_legacy, seek_table, skippable, table_checksum, zstd_seekable, zstd_stream, zstd_whole};
use crate::support::{Folder, Random, compressed, inner, options, text};

/// Random ranges agree with the content.
fn assert_ranges(packed: &[u8], plain: &[u8], has_table: bool, what: &str) {
    let mut reader = SeekableReader::new(Cursor::new(packed), &Options::new()).expect(what);
    assert_eq!((reader.content_bytes(), reader.has_seek_table()), (plain.len() as u64, has_table), "{what}");
    let mut random = Random(1);
    for round in 0..60 {
        let from = random.next() as usize % (plain.len() + 1);
        let len = random.next() as usize % if round % 2 == 0 { 100 } else { 100_000 };
        let mut bytes = Vec::new();
        assert_eq!(reader.seek(SeekFrom::Start(from as u64)).unwrap(), from as u64);
        reader.by_ref().take(len as u64).read_to_end(&mut bytes).expect(what);
        assert!(bytes == plain[from..plain.len().min(from + len)], "{what}: {from} {len}");
    }
    let mut all = Vec::new();
    reader.rewind().unwrap();
    reader.read_to_end(&mut all).expect(what);
    assert!(all == plain, "{what}: all");
}

#[test]
fn ranges_of_own_files() {
    let plain = text(400_000, 1);
    for format in [Format::Zstd, Format::Lz4] {
        let packed = compressed(&plain, &options(format, 10_000));
        assert_ranges(&packed, &plain, true, "own");
        let twice = [&packed[..], &packed].concat();
        assert_ranges(&twice, &[&plain[..], &plain].concat(), false, "concatenated");
        assert_ranges(&compressed(b"", &options(format, 10_000)), b"", true, "empty");
    }
}

#[test]
fn ranges_of_foreign_files() {
    let plain = text(400_000, 2);
    assert_ranges(&zstd_whole(&plain, &[]), &plain, false, "one frame");
    assert_ranges(&zstd_stream(&plain, &[]), &plain, false, "one frame without size");
    let pieces = || plain.chunks(70_000);
    assert_ranges(&pieces().flat_map(|piece| zstd_stream(piece, &[])).collect::<Vec<_>>(), &plain, false, "without sizes");
    assert_ranges(&Lz4::PLAIN.frame(&plain), &plain, false, "LZ4");
    assert_ranges(&Lz4 { linked: true, ..Lz4::PLAIN }.frame(&plain), &plain, false, "LZ4 linked");
    let legacy = [lz4_legacy(&plain), zstd_stream(&plain, &[]), lz4_legacy(b""), lz4_legacy(&plain)].concat();
    assert_ranges(&legacy, &[&plain[..], &plain, &plain].concat(), false, "LZ4 legacy");
}

#[test]
fn ranges_of_large_frames() {
    let plain = text(20 << 20, 3);
    assert_ranges(&zstd_stream(&plain, &[]), &plain, false, "large zstd frame");
    assert_ranges(&Lz4::PLAIN.frame(&plain), &plain, false, "large LZ4 frame");
}

#[test]
fn tables_of_others_and_wrong_ones() {
    let plain = text(300_000, 4);
    let frames: Vec<_> = plain.chunks(100_000).map(|piece| zstd_stream(piece, &[])).collect();
    let mut entries: Vec<_> = frames.iter().map(|frame| (frame.len() as u32, 100_000)).collect();
    let body = frames.concat();
    let checksums: Vec<_> = plain.chunks(100_000).map(table_checksum).collect();
    assert_ranges(&[&body[..], &seek_table(&entries, Some(&checksums))].concat(), &plain, true, "with checksums");
    assert_ranges(&[&body[..], &seek_table(&entries[..2], None)].concat(), &plain, false, "too short");
    let more = [&skippable(3, b"12345")[..], &body].concat();
    let with_skippable = [&[(13, 0)], &entries[..]].concat();
    assert_ranges(&[&more[..], &seek_table(&with_skippable, None)].concat(), &plain, true, "skippable frame listed");

    // Sums that match, and frames that do not: found out when touched.
    entries[0].0 += 1;
    entries[1].0 -= 1;
    let shifted = [&body[..], &seek_table(&entries, None)].concat();
    let mut reader = SeekableReader::new(Cursor::new(&shifted), &Options::new()).unwrap();
    let mut bytes = vec![0; 100_000];
    reader.seek(SeekFrom::Start(150_000)).unwrap();
    reader.read_exact(&mut bytes).unwrap();
    assert!(bytes == plain[150_000..250_000] && !reader.has_seek_table());

    entries = frames.iter().map(|frame| (frame.len() as u32, 100_000)).collect();
    entries[0].1 -= 7;
    let mut reader = SeekableReader::new(Cursor::new([&body[..], &seek_table(&entries, None)].concat()), &Options::new()).unwrap();
    assert_eq!(reader.content_bytes(), 299_993);
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).unwrap();
    assert!(bytes == plain);
}

/// Frames without checksums are held against those of the table, whether they were found by it or not.
#[test]
fn damage_that_only_the_table_shows() {
    let plain = text(1000, 13);
    let frame = |piece: &[u8]| [&[0x28, 0xB5, 0x2F, 0xFD, 0, 0][..], &((piece.len() as u32) << 3 | 1).to_le_bytes()[..3], piece].concat();
    let frames: Vec<_> = plain.chunks(100).map(frame).collect();
    let sizes: Vec<_> = frames.iter().map(|frame| (frame.len() as u32, 100)).collect();
    let checksums: Vec<_> = plain.chunks(100).map(table_checksum).collect();
    let first = [frames.concat(), seek_table(&sizes, Some(&checksums))].concat();
    for (packed, plain, damage) in [
        (first.clone(), plain.clone(), 5 * sizes[0].0 as usize + 50),
        ([&first[..], &first].concat(), plain.repeat(2), first.len() + 5 * sizes[0].0 as usize + 50),
    ] {
        for use_table in [true, false] {
            let options = Options::new().use_seek_table(use_table);
            let mut damaged = packed.clone();
            damaged[damage] ^= 1;
            let mut reader = SeekableReader::new(Cursor::new(damaged), &options).unwrap();
            let mut failed = 0;
            for at in (0..plain.len()).step_by(50) {
                let mut bytes = [0; 50];
                reader.seek(SeekFrom::Start(at as u64)).unwrap();
                match reader.read_exact(&mut bytes) {
                    Ok(()) => assert_eq!(bytes, plain[at..at + 50]),
                    Err(error) => {
                        assert!(matches!(error.downcast::<Error>().unwrap(), Error::Corrupt { .. }));
                        failed += 1;
                    }
                }
            }
            assert_eq!(failed, 2);
        }
    }
}

/// Every pair of entries with one size moved between them. Whoever reads from the start, or walks, gets the right bytes or an
/// error, whatever the table says.
#[test]
fn tables_that_lie_and_keep_their_sums() {
    let plain = text(6_000, 11);
    for format in [Format::Zstd, Format::Lz4] {
        let packed = compressed(&plain, &options(format, 1000));
        let entries = 7;
        let first = packed.len() - 9 - 8 * entries;
        for (a, b, field) in (0..entries).flat_map(|a| (0..entries).flat_map(move |b| [(a, b, 0), (a, b, 4)])).filter(|(a, b, _)| a != b) {
            for change in [1_u32, 8, 28, 500, 1000] {
                let mut lying = packed.clone();
                for (entry, change) in [(a, change), (b, change.wrapping_neg())] {
                    let at = first + 8 * entry + field;
                    let size = u32::from_le_bytes(lying[at..at + 4].try_into().unwrap()).wrapping_add(change);
                    lying[at..at + 4].copy_from_slice(&size.to_le_bytes());
                }
                let what = format!("{format:?}: {change} of field {field} from {b} to {a}");
                let mut bytes = Vec::new();
                SeekableReader::new(Cursor::new(&lying), &Options::new()).unwrap().read_to_end(&mut bytes).expect(&what);
                assert!(bytes == plain, "{what}: from the start");

                let options = Options::new().use_seek_table(false);
                let mut reader = SeekableReader::new(Cursor::new(&lying), &options).unwrap();
                for at in (0..6000).step_by(499) {
                    let mut part = [0; 1];
                    reader.seek(SeekFrom::Start(at)).unwrap();
                    reader.read_exact(&mut part).expect(&what);
                    assert_eq!(part[0], plain[at as usize], "{what}: walked, {at}");
                }
            }
        }
    }
}

/// A table may leave out a frame and still match every header that it names.
#[test]
fn a_frame_that_the_table_leaves_out_is_found() {
    let plain = text(300, 12);
    let frames: Vec<_> = plain.chunks(100).map(|piece| zstd_whole(piece, &[])).collect();
    let sizes: Vec<_> = frames.iter().map(|frame| frame.len() as u32).collect();
    let body = frames.concat();
    for table in [[(sizes[0] + sizes[1], 100), (sizes[2], 100)], [(sizes[0], 100), (sizes[1] + sizes[2], 100)]] {
        let file = [&body[..], &seek_table(&table, None)].concat();
        let mut reader = SeekableReader::new(Cursor::new(&file), &Options::new()).unwrap();
        assert_eq!((reader.content_bytes(), reader.has_seek_table()), (200, true));
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        assert!(bytes == plain && !reader.has_seek_table());
    }
    // Frames without content may be left out.
    let file = [&frames[0][..], &skippable(3, b"12345"), &zstd_whole(b"", &[]), &frames[1]].concat();
    let table = [(file.len() as u32 - sizes[1], 100), (sizes[1], 100)];
    assert_ranges(&[&file[..], &seek_table(&table, None)].concat(), &plain[..200], true, "empty frames left out");
}

/// A pipe has no end to seek from, and nobody may write to it: it must not even be opened.
#[cfg(unix)]
#[test]
fn pipes_are_refused_at_once() {
    let folder = Folder::new();
    let pipe = folder.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let error = frames(&pipe).map(drop).unwrap_err();
    assert!(matches!(inner(error), Error::Unsupported { .. }));
    let error = SeekableReader::open(&pipe, &Options::new()).map(drop).unwrap_err();
    assert!(matches!(inner(error), Error::Unsupported { .. }));
}

/// A frame that is decoded in steps of 1 MiB, with an end behind the last of them: where the table has less of it, no step ends
/// the frame.
#[test]
fn what_a_table_takes_from_a_large_frame_is_found() {
    let plain = text(3 << 20, 13);
    for parameters in [&[][..], &[CParameter::ChecksumFlag(true)]] {
        let frame = zstd_stream(&plain, parameters);
        for content in [plain.len() - 1, 2 << 20, 1 << 20, 1, plain.len() + 1] {
            let file = [&frame[..], &seek_table(&[(frame.len() as u32, content as u32)], None)].concat();
            let options = Options::new().max_frame_bytes(100_000);
            let mut reader = SeekableReader::new(Cursor::new(&file), &options).unwrap();
            assert_eq!((reader.content_bytes(), reader.has_seek_table()), (content as u64, true));
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).unwrap();
            assert!(bytes == plain && !reader.has_seek_table(), "{content}");
        }
    }
}

/// Who reads a part is told the same as who reads it all.
#[test]
fn a_promised_table_has_no_checksums() {
    let plain = text(250, 14);
    for format in [Format::Zstd, Format::Lz4] {
        let packed = compressed(&plain, &options(format, 100));
        let table = packed.len() - 17 - 8 * 4;
        let entries: Vec<_> = packed[table + 8..packed.len() - 9].chunks(4).map(|n| u32::from_le_bytes(n.try_into().unwrap())).collect();
        let entries: Vec<_> = entries.chunks(2).map(|entry| (entry[0], entry[1])).collect();
        let with = |checksums| [&packed[..table], &seek_table(&entries, checksums)].concat();
        assert_eq!(with(None), packed);
        let other = with(Some(&[0; 4]));
        crate::support::decompressed(&other, &options(format, 100)).unwrap_err();
        SeekableReader::new(Cursor::new(&other), &Options::new()).unwrap_err();
    }
}

#[test]
fn read_range_clips_at_the_end() {
    let folder = Folder::new();
    assert!(matches!(read_range(folder.path(""), 0..1, &Options::new()), Err(Error::Folder { .. })));
    let plain = text(50_000, 5);
    let path = folder.file("packed", &compressed(&plain, &options(Format::Zstd, 4096)));
    for range in [0..0, 0..1, 4095..4097, 0..50_000, 49_999..60_000, 50_000..50_001, 60_000..u64::MAX] {
        let bytes = read_range(&path, range.clone(), &Options::new()).unwrap();
        let (from, to) = (range.start.min(50_000) as usize, range.end.min(50_000) as usize);
        assert!(bytes == plain[from..to], "{range:?}");
    }
}

#[test]
fn seeking() {
    let packed = compressed(&text(1000, 6), &options(Format::Lz4, 100));
    let mut reader = SeekableReader::new(Cursor::new(packed), &Options::new()).unwrap();
    assert_eq!(reader.seek(SeekFrom::End(-1)).unwrap(), 999);
    assert_eq!(reader.seek(SeekFrom::Current(500)).unwrap(), 1499);
    assert_eq!(reader.read(&mut [0; 8]).unwrap(), 0);
    assert!(reader.seek(SeekFrom::Current(-1500)).is_err());
    assert_eq!(reader.stream_position().unwrap(), 1499);
}

#[test]
fn damage_shows_where_it_is_touched() {
    let plain = text(1000, 7);
    for format in [Format::Zstd, Format::Lz4] {
        let mut packed = compressed(&plain, &options(format, 100));
        let damage = packed.len() / 2;
        packed[damage] ^= 1;
        let mut reader = SeekableReader::new(Cursor::new(packed), &Options::new()).unwrap();
        let mut good = 0;
        for at in (0..1000).step_by(50) {
            let mut bytes = [0; 50];
            reader.seek(SeekFrom::Start(at)).unwrap();
            match reader.read_exact(&mut bytes) {
                Ok(()) => {
                    assert_eq!(bytes, plain[at as usize..at as usize + 50]);
                    good += 1;
                }
                Err(error) => assert!(matches!(error.downcast::<Error>().unwrap(), Error::Corrupt { .. })),
            }
        }
        assert!((10..20).contains(&good), "{format:?}: {good}");
    }
}

#[test]
fn frames_of_own_files() {
    let folder = Folder::new();
    for format in [Format::Zstd, Format::Lz4] {
        let packed = compressed(&text(250, 8), &options(format, 100));
        let list: Vec<_> = frames(folder.file("packed", &packed)).unwrap().map(Result::unwrap).collect();
        let data = if format == Format::Zstd { FrameKind::Zstd } else { FrameKind::Lz4 };
        let kinds: Vec<_> = list.iter().map(|frame| frame.kind).collect();
        if format == Format::Zstd {
            assert_eq!(kinds, [FrameKind::Promise, data, data, data, FrameKind::SeekTable]);
        } else {
            assert_eq!(kinds, [data, FrameKind::Promise, data, data, FrameKind::SeekTable]);
        }
        let sizes = list.iter().filter(|frame| frame.kind == data).map(|frame| frame.content_bytes.unwrap());
        assert_eq!(sizes.collect::<Vec<_>>(), [100, 100, 50]);
        let mut offset = 0;
        for frame in &list {
            assert_eq!(frame.offset, offset);
            assert_eq!(frame.checksum, frame.kind == data);
            offset += frame.compressed_bytes;
        }
        assert_eq!(offset, packed.len() as u64);
    }
}

#[test]
fn frames_of_damaged_files_end_with_the_error() {
    let folder = Folder::new();
    let packed = compressed(&text(250, 9), &options(Format::Zstd, 100));
    let path = folder.file("packed", &packed[..packed.len() - 1]);
    let list: Vec<_> = frames(path).unwrap().collect();
    assert_eq!(list.len(), 5);
    assert!(list[..4].iter().all(Result::is_ok));
    let error = list.into_iter().last().unwrap().unwrap_err();
    assert!(matches!(inner(error), Error::Truncated { .. }));
}

/// Decoding can do without the table; verifying cannot.
#[test]
fn verify_is_strict_about_the_table() {
    let folder = Folder::new();
    let plain = text(250, 10);
    for format in [Format::Zstd, Format::Lz4] {
        let mut packed = compressed(&plain, &options(format, 100));
        let report = verify_file(folder.file("packed", &packed), &options(format, 100)).unwrap();
        assert_eq!((report.output_bytes, report.input_bytes), (250, packed.len() as u64));
        let entry = packed.len() - 9 - 4;
        packed[entry] ^= 1;
        assert!(crate::support::decompressed(&packed, &options(format, 100)).unwrap() == plain);
        let error = verify_file(folder.file("packed", &packed), &options(format, 100)).unwrap_err();
        assert!(matches!(inner(error), Error::Corrupt { .. }));
        assert!(matches!(verify(&packed[..], &options(format, 100)), Err(Error::Corrupt { .. })));
    }
}

/// Decoding a file hashes nothing where its end shows no checksums; verifying always does.
#[test]
fn verify_looks_into_every_table() {
    let folder = Folder::new();
    let plain = text(20_000, 11);
    let mut packed = zstd_seekable(&plain, 5_000, &[]);
    let entry = packed.len() - 9 - 4;
    for damage in [false, true] {
        packed[entry] ^= u8::from(damage);
        let file = [&packed[..], &zstd_whole(&plain, &[])].concat();
        assert_eq!(verify_file(folder.file("packed", &file), &Options::new()).is_err(), damage);
        assert_eq!(verify(&file[..], &Options::new()).is_err(), damage);
        assert_eq!(verify(&file[..], &Options::new()).map(|report| report.output_bytes).unwrap_or(40_000), 40_000);
    }
}
