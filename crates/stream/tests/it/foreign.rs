//! Files as other tools write them.

use gannet_stream::{Error, Format, Options, verify_file};
use lz4_flex::frame::BlockSize;
use zstd_safe::CParameter;

use crate::build::{Lz4, lz4_legacy, seek_table, skippable, table_checksum, zstd_seekable, zstd_stream, zstd_whole, zstd_zeros};
use crate::support::{Folder, compressed, decompressed, in_memory, inner, noise, options, text};

fn any() -> Options {
    options(Format::Zstd, 1 << 20)
}

/// Through files and through streams, with 1 and with 3 threads.
fn assert_decodes(packed: &[u8], plain: &[u8], what: &str) {
    for threads in [1, 3] {
        let options = any().threads(threads);
        assert!(decompressed(packed, &options).expect(what) == plain, "{what}, file, {threads} threads");
        assert!(in_memory(packed, &options).expect(what) == plain, "{what}, stream, {threads} threads");
    }
}

#[test]
fn zstd_frames_of_every_kind() {
    let plain = [text(900_000, 1), noise(300_000, 2), vec![0; 300_000]].concat();
    for level in [-5, 1, 3, 12] {
        let level = CParameter::CompressionLevel(level);
        for checksum in [false, true] {
            let checksum = CParameter::ChecksumFlag(checksum);
            assert_decodes(&zstd_stream(&plain, &[level, checksum]), &plain, "stream");
            assert_decodes(&zstd_whole(&plain, &[level, checksum]), &plain, "whole");
        }
    }
    for len in [0, 1, 255, 256, 65_791, 65_792] {
        assert_decodes(&zstd_whole(&plain[..len], &[]), &plain[..len], "short");
        assert_decodes(&zstd_stream(&plain[..len], &[]), &plain[..len], "short stream");
    }
}

#[test]
fn a_large_zstd_stream_is_decoded_step_by_step() {
    let plain = text(20 << 20, 3);
    for long in [false, true] {
        let packed =
            zstd_stream(&plain, &[CParameter::EnableLongDistanceMatching(long), CParameter::WindowLog(if long { 25 } else { 20 })]);
        assert_decodes(&packed, &plain, "large stream");
        for cut in [1, packed.len() / 2, packed.len() - 1] {
            let error = inner(decompressed(&packed[..cut], &any()).unwrap_err());
            assert!(matches!(error, Error::Truncated { offset } if offset == cut as u64), "{error}");
        }
    }
}

/// libzstd accepts any stated size where the last block is empty.
#[test]
fn a_stated_size_holds_in_large_frames_too() {
    for blocks in [0_u32, 130] {
        for last_is_empty in [true, false] {
            for wrong in [-1_i64, 0, 1] {
                let zeros = u64::from(blocks) * (128 << 10);
                let stated = if blocks == 0 { 0xBB00_0000 } else { zeros.wrapping_add_signed(wrong) };
                let mut packed = vec![0x28, 0xB5, 0x2F, 0xFD, 0x80, 7 << 3];
                packed.extend_from_slice(&(stated as u32).to_le_bytes());
                for block in 0..blocks {
                    let last = !last_is_empty && block + 1 == blocks;
                    packed.extend_from_slice(&((128_u32 << 10) << 3 | 1 << 1 | u32::from(last)).to_le_bytes()[..3]);
                    packed.push(0);
                }
                if last_is_empty || blocks == 0 {
                    packed.extend_from_slice(&[1, 0, 0]);
                }
                let result = in_memory(&packed, &any());
                if stated == zeros {
                    assert_eq!(result.unwrap().len() as u64, zeros);
                } else {
                    let error = result.unwrap_err();
                    assert!(matches!(error, Error::Corrupt { .. }), "{blocks} {last_is_empty} {wrong}: {error}");
                }
            }
        }
    }
}

#[test]
fn more_output_than_allowed_is_refused() {
    let plain = text(3 << 20, 5);
    let len = plain.len() as u64;
    // One frame, and many.
    for packed in [zstd_stream(&plain, &[]), compressed(&plain, &any().chunk_bytes(1 << 18))] {
        let error = inner(decompressed(&packed, &any().max_output_bytes(len - 1)).unwrap_err());
        assert!(matches!(error, Error::OutputLimit { limit } if limit == len - 1), "{error}");
        assert!(decompressed(&packed, &any().max_output_bytes(len)).unwrap() == plain);
    }
}

#[test]
fn a_window_above_the_limit_is_refused() {
    let plain = text(20 << 20, 4);
    let packed = zstd_stream(&plain, &[CParameter::WindowLog(24)]);
    let error = inner(decompressed(&packed, &any().max_window_bytes(1 << 23)).unwrap_err());
    assert!(matches!(error, Error::Limit { declared: 0x0100_0000, limit: 0x0080_0000, offset: 0, .. }), "{error}");
    assert!(decompressed(&packed, &any().max_window_bytes(1 << 24)).unwrap() == plain);
    // A window of 2 GiB over the default.
    let mut huge = zstd_zeros(200);
    huge[5] = 21 << 3;
    let error = inner(decompressed(&huge, &any()).unwrap_err());
    assert!(matches!(error, Error::Limit { declared: 0x8000_0000, .. }), "{error}");
}

#[test]
fn many_frames_and_skippable_ones_between() {
    let plain = text(700_000, 5);
    let mut packed = Vec::new();
    for (number, piece) in plain.chunks(100_000).enumerate() {
        packed.extend(skippable(number as u32 * 2, &noise(number * 37, 6)));
        let frame = zstd_stream(piece, &[]);
        // As pzstd does.
        packed.extend(skippable(0, &(frame.len() as u32).to_le_bytes()));
        packed.extend(frame);
        packed.extend(zstd_whole(b"", &[]));
    }
    packed.extend(skippable(15, b""));
    assert_decodes(&packed, &plain, "many frames");
    let only_skippable = skippable(3, b"nothing");
    assert_decodes(&only_skippable, b"", "skippable only");
}

#[test]
fn lz4_frames_of_every_kind() {
    let plain = [text(900_000, 7), noise(300_000, 8), vec![0; 300_000]].concat();
    for block in [BlockSize::Max64KB, BlockSize::Max256KB, BlockSize::Max1MB, BlockSize::Max4MB] {
        for bits in 0..16 {
            let form = Lz4 {
                linked: bits & 1 != 0,
                block,
                block_checksums: bits & 2 != 0,
                content_checksum: bits & 4 != 0,
                content_size: bits & 8 != 0,
            };
            let packed = form.frame(&plain);
            assert!(in_memory(&packed, &any()).unwrap() == plain, "{form:?}");
        }
    }
    for len in [0, 1, 12, 13, 65_536, 65_537] {
        assert_decodes(&Lz4::PLAIN.frame(&plain[..len]), &plain[..len], "short");
    }
}

/// Larger than what is decoded in one piece: as blocks where they are independent, step by step where they are linked.
#[test]
fn large_lz4_frames() {
    let plain = text(20 << 20, 9);
    for linked in [false, true] {
        for block in [BlockSize::Max64KB, BlockSize::Max4MB] {
            for content_size in [false, true] {
                let form = Lz4 { linked, block, content_size, ..Lz4::PLAIN };
                let packed = form.frame(&plain);
                assert_decodes(&packed, &plain, "large");
                // The content checksum is the last word.
                let mut damaged = packed.clone();
                *damaged.last_mut().unwrap() ^= 1;
                let error = inner(decompressed(&damaged, &any()).unwrap_err());
                assert!(matches!(error, Error::Corrupt { offset: 0, .. }), "{form:?}: {error}");
                for cut in [5, packed.len() / 2, packed.len() - 5, packed.len() - 1] {
                    let error = inner(decompressed(&packed[..cut], &any()).unwrap_err());
                    assert!(matches!(error, Error::Truncated { .. }), "{form:?} {cut}: {error}");
                }
            }
        }
    }
}

#[test]
fn lz4_blocks_that_are_empty_or_not_full() {
    // Header of `lz4 -B4 --no-frame-crc`, stored blocks of 0 and 2 and 1 bytes, end mark.
    let packed = [
        &[0x04, 0x22, 0x4D, 0x18, 0x60, 0x40, 0x82][..],
        &[0, 0, 0, 0x80],
        &[2, 0, 0, 0x80, b'a', b'b'],
        &[0, 0, 0, 0x80],
        &[1, 0, 0, 0x80, b'c'],
        &[0; 4],
    ]
    .concat();
    assert_decodes(&packed, b"abc", "stored blocks");
}

#[test]
fn legacy_lz4() {
    let plain = text(17 << 20, 10);
    let packed = lz4_legacy(&plain);
    assert_decodes(&packed, &plain, "legacy");
    let zeros = vec![0; 9 << 20];
    assert_decodes(&lz4_legacy(&zeros), &zeros, "legacy, as small as can be");
    let twice = [&packed[..], &Lz4::PLAIN.frame(b"more"), &packed, &zstd_whole(b"end", &[])].concat();
    assert_decodes(&twice, &[&plain[..], b"more", &plain, b"end"].concat(), "legacy among others");
    let error = inner(decompressed(&packed[..packed.len() - 1], &any()).unwrap_err());
    assert!(matches!(error, Error::Truncated { .. }), "{error}");
    let garbage = [&packed[..], &[0xFF; 8]].concat();
    let error = inner(decompressed(&garbage, &any()).unwrap_err());
    assert!(matches!(error, Error::Trailing { offset } if offset == packed.len() as u64), "{error}");
}

#[test]
fn dictionaries_are_refused() {
    let zstd = [0x28, 0xB5, 0x2F, 0xFD, 0x21, 77, 1, 9, 0, 0, b'x'];
    let error = inner(in_memory(&zstd, &any()).unwrap_err());
    assert!(matches!(error, Error::Dictionary { offset: 0, id: 77 }), "{error}");
    // lz4 -B4 -D: the checksum byte is that of 61 40 | 4d 00 00 00.
    let good = zstd_whole(b"first", &[]);
    let mut lz4 = vec![0x04, 0x22, 0x4D, 0x18, 0x61, 0x40, 77, 0, 0, 0];
    let check = (twox_hash::XxHash32::oneshot(0, &lz4[4..]) >> 8) as u8;
    lz4.push(check);
    let error = inner(in_memory(&[&good[..], &lz4].concat(), &any()).unwrap_err());
    assert!(matches!(error, Error::Dictionary { offset, id: 77 } if offset == good.len() as u64), "{error}");
}

/// Wrong tables are no reason to refuse right frames.
#[test]
fn foreign_and_damaged_seek_tables() {
    let plain = text(300_000, 11);
    let frames: Vec<_> = plain.chunks(100_000).map(|piece| zstd_whole(piece, &[])).collect();
    let entries: Vec<_> = frames.iter().map(|frame| (frame.len() as u32, 100_000)).collect();
    let body = frames.concat();
    for table in [
        seek_table(&entries, None),
        seek_table(&entries, Some(&plain.chunks(100_000).map(table_checksum).collect::<Vec<_>>())),
        seek_table(&entries[..2], None),
        seek_table(&[(u32::MAX, u32::MAX); 3], None),
        seek_table(&[], None),
        skippable(14, b"not a table"),
        skippable(14, b""),
    ] {
        assert_decodes(&[&body[..], &table].concat(), &plain, "with a table");
    }
}

/// Checksums of a table are what frames without any are held against. Frames with their own are right whatever a table says.
#[test]
fn checksums_of_seek_tables() {
    let plain = text(300_000, 12);
    for threads in [1, 3] {
        for limit in [16 << 20, 50_000] {
            let options = any().threads(threads).max_frame_bytes(limit);
            let refused = |packed: &[u8]| {
                let error = inner(decompressed(packed, &options).unwrap_err());
                assert!(matches!(error, Error::Corrupt { .. }), "{error}");
                assert!(matches!(in_memory(packed, &options).unwrap_err(), Error::Corrupt { .. }));
            };
            let own = CParameter::ChecksumFlag(true);
            let (bare, guarded) = (zstd_seekable(&plain, 100_000, &[]), zstd_seekable(&plain, 100_000, &[own]));
            for (entry, field) in [(0, 4), (0, 8), (1, 8), (2, 4), (2, 8)] {
                let damaged = |packed: &[u8]| {
                    let mut damaged = packed.to_vec();
                    damaged[packed.len() - 9 - 12 * (3 - entry) + field] ^= 1;
                    damaged
                };
                refused(&damaged(&bare));
                refused(&[&damaged(&bare)[..], &bare].concat());
                refused(&[&bare[..], &damaged(&bare)].concat());
                assert!(decompressed(&damaged(&guarded), &options).unwrap() == plain);
                assert!(in_memory(&damaged(&guarded), &options).unwrap() == plain);
            }
            // With checksums of frames that are not there, a table says nothing of those that are.
            let longer = [&zstd_stream(b"more", &[])[..], &bare].concat();
            assert!(in_memory(&longer, &options).unwrap() == [b"more", &plain[..]].concat());
            let twice = [&bare[..], &guarded, &skippable(3, b"between"), &bare].concat();
            assert!(in_memory(&twice, &options).unwrap() == plain.repeat(3));
        }
    }
}

/// 5 GiB from 160 KiB, in constant memory; sizes beyond 32 bits.
#[test]
fn five_gib_of_zeros() {
    let folder = Folder::new();
    let path = folder.file("zeros.zst", &zstd_zeros(5 << 13));
    let report = verify_file(path, &any()).unwrap();
    assert_eq!(report.output_bytes, 5 << 30);
}

#[test]
fn absurd_sizes_are_refused() {
    // One segment of 2^60 bytes: the window would be as large.
    let mut zstd = vec![0x28, 0xB5, 0x2F, 0xFD, 0xE0];
    zstd.extend_from_slice(&(1_u64 << 60).to_le_bytes());
    zstd.extend_from_slice(&[0x09, 0, 0, b'x']);
    let error = inner(in_memory(&zstd, &any()).unwrap_err());
    assert!(matches!(error, Error::Limit { .. }), "{error}");
    // 2^60 bytes in a small window, and 16 MiB in one piece, that are not there.
    for size in [1_u64 << 60, 16 << 20] {
        let mut zstd = vec![0x28, 0xB5, 0x2F, 0xFD, 0xC0, 0];
        zstd.extend_from_slice(&size.to_le_bytes());
        zstd.extend_from_slice(&[0x09, 0, 0, b'x']);
        let error = inner(in_memory(&zstd, &any()).unwrap_err());
        assert!(matches!(error, Error::Corrupt { offset: 0, .. }), "{error}");
    }
    let mut lz4 = Lz4 { content_size: true, ..Lz4::PLAIN }.frame(b"some content");
    lz4[6..14].copy_from_slice(&(1_u64 << 60).to_le_bytes());
    lz4[14] = (twox_hash::XxHash32::oneshot(0, &lz4[4..14]) >> 8) as u8;
    let error = inner(in_memory(&lz4, &any()).unwrap_err());
    assert!(matches!(error, Error::Corrupt { offset: 0, .. }), "{error}");
}
