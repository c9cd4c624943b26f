//! Files as other tools write them, built with their codecs or by hand.

use std::io::Write as _;

use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer};

/// A zstd frame written as a stream: no content size.
pub(crate) fn zstd_stream(bytes: &[u8], parameters: &[CParameter]) -> Vec<u8> {
    let mut context = CCtx::create();
    for &parameter in parameters {
        context.set_parameter(parameter).unwrap();
    }
    let mut packed = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()) + 64);
    let mut out = OutBuffer::around(&mut packed);
    for piece in bytes.chunks(100_000) {
        let mut input = InBuffer::around(piece);
        while input.pos() < piece.len() {
            context.compress_stream(&mut out, &mut input).unwrap();
        }
    }
    while context.end_stream(&mut out).unwrap() > 0 {}
    packed
}

/// A zstd frame written in one call: content size known.
pub(crate) fn zstd_whole(bytes: &[u8], parameters: &[CParameter]) -> Vec<u8> {
    let mut context = CCtx::create();
    for &parameter in parameters {
        context.set_parameter(parameter).unwrap();
    }
    let mut packed = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
    context.compress2(&mut packed, bytes).unwrap();
    packed
}

/// A zstd frame of `blocks` runs of 128 KiB zeros, without content size or checksum.
pub(crate) fn zstd_zeros(blocks: u32) -> Vec<u8> {
    // Window 128 KiB.
    let mut packed = vec![0x28, 0xB5, 0x2F, 0xFD, 0x00, 7 << 3];
    for block in 0..blocks {
        let word = (128_u32 << 10) << 3 | 1 << 1 | u32::from(block + 1 == blocks);
        packed.extend_from_slice(&word.to_le_bytes()[..3]);
        packed.push(0);
    }
    packed
}

/// What a frame of LZ4 is written with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lz4 {
    pub(crate) linked: bool,
    pub(crate) block: BlockSize,
    pub(crate) block_checksums: bool,
    pub(crate) content_checksum: bool,
    pub(crate) content_size: bool,
}

impl Lz4 {
    pub(crate) const PLAIN: Self =
        Self { linked: false, block: BlockSize::Max64KB, block_checksums: false, content_checksum: true, content_size: false };

    pub(crate) fn frame(self, bytes: &[u8]) -> Vec<u8> {
        self.frame_of_blocks(bytes, usize::MAX)
    }

    /// A frame whose blocks hold so many bytes, or as many as there may be.
    pub(crate) fn frame_of_blocks(self, bytes: &[u8], block: usize) -> Vec<u8> {
        let info = FrameInfo::new()
            .block_mode(if self.linked { BlockMode::Linked } else { BlockMode::Independent })
            .block_size(self.block)
            .block_checksums(self.block_checksums)
            .content_checksum(self.content_checksum)
            .content_size(self.content_size.then_some(bytes.len() as u64));
        let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
        for piece in bytes.chunks(block) {
            encoder.write_all(piece).unwrap();
            encoder.flush().unwrap();
        }
        encoder.finish().unwrap()
    }
}

/// A legacy LZ4 frame.
pub(crate) fn lz4_legacy(bytes: &[u8]) -> Vec<u8> {
    let mut packed = 0x184C_2102_u32.to_le_bytes().to_vec();
    for block in bytes.chunks(8 << 20) {
        let block = lz4_flex::block::compress(block);
        packed.extend_from_slice(&(block.len() as u32).to_le_bytes());
        packed.extend_from_slice(&block);
    }
    packed
}

/// A skippable frame.
pub(crate) fn skippable(number: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (0x184D_2A50 + number).to_le_bytes().to_vec();
    frame.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    frame.extend_from_slice(payload);
    frame
}

/// A seek table: compressed size, content size and perhaps a checksum of every frame.
pub(crate) fn seek_table(entries: &[(u32, u32)], checksums: Option<&[u32]>) -> Vec<u8> {
    let mut payload = Vec::new();
    for (number, (compressed, content)) in entries.iter().enumerate() {
        payload.extend_from_slice(&compressed.to_le_bytes());
        payload.extend_from_slice(&content.to_le_bytes());
        payload.extend(checksums.iter().flat_map(|checksums| checksums[number].to_le_bytes()));
    }
    payload.extend_from_slice(&(entries.len() as u32).to_le_bytes());
    payload.push(if checksums.is_some() { 0x80 } else { 0 });
    payload.extend_from_slice(&0x8F92_EAB1_u32.to_le_bytes());
    skippable(14, &payload)
}

/// A file as the seekable format's own writer makes it: streamed frames without size or checksum, and a table that has both.
pub(crate) fn zstd_seekable(bytes: &[u8], piece: usize, parameters: &[CParameter]) -> Vec<u8> {
    let frames: Vec<_> = bytes.chunks(piece).map(|piece| zstd_stream(piece, parameters)).collect();
    let sizes: Vec<_> = frames.iter().zip(bytes.chunks(piece)).map(|(frame, piece)| (frame.len() as u32, piece.len() as u32)).collect();
    let checksums: Vec<_> = bytes.chunks(piece).map(table_checksum).collect();
    [frames.concat(), seek_table(&sizes, Some(&checksums))].concat()
}

/// The checksum that a seek table has of a frame with this content.
pub(crate) fn table_checksum(content: &[u8]) -> u32 {
    twox_hash::XxHash64::oneshot(0, content) as u32
}
