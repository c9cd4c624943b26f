//! LZ4 frames: header, block sizes, end mark; and the legacy frame.
//!
//! Source: LZ4 frame format 1.6.4. All integers are little-endian.

use super::{Fault, u32_at, u64_at, xxh32};

/// Magic of an LZ4 frame.
pub(crate) const MAGIC: u32 = super::LZ4_MAGIC;
/// Decoded size of every block of a legacy frame but the last, in bytes.
pub(crate) const LEGACY_BLOCK: usize = 8 << 20;
/// The most such a block takes in the file, in bytes: the worst case of the block format.
pub(crate) const LEGACY_STORED: usize = LEGACY_BLOCK + LEGACY_BLOCK / 255 + 16;
/// The longest header, in bytes.
pub(crate) const MAX_HEADER: usize = 19;
/// What ends the blocks of a frame.
pub(crate) const END_MARK: [u8; 4] = [0; 4];
/// How far back a block may refer, in bytes.
pub(crate) const HISTORY: usize = 64 << 10;

const VERSION: u8 = 0x40;
const INDEPENDENT: u8 = 0x20;
const BLOCK_CHECKSUM: u8 = 0x10;
const CONTENT_SIZE: u8 = 0x08;
const CONTENT_CHECKSUM: u8 = 0x04;
const FLAG_RESERVED: u8 = 0x02;
const DICT_ID: u8 = 0x01;
const STORED: u32 = 0x8000_0000;

/// The most a block may decode to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BlockMax {
    /// 64 KiB.
    KiB64 = 4,
    /// 256 KiB.
    KiB256 = 5,
    /// 1 MiB.
    MiB1 = 6,
    /// 4 MiB.
    MiB4 = 7,
}

impl BlockMax {
    const ALL: [Self; 4] = [Self::KiB64, Self::KiB256, Self::MiB1, Self::MiB4];

    /// The size in bytes.
    pub(crate) fn bytes(self) -> usize {
        1 << (8 + 2 * self as u32)
    }

    /// The smallest one that holds `len` bytes in one block; else the largest.
    pub(crate) fn holding(len: usize) -> Self {
        Self::ALL.into_iter().find(|max| len <= max.bytes()).unwrap_or(Self::MiB4)
    }
}

/// A frame's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// Blocks do not refer to earlier ones.
    pub(crate) independent: bool,
    /// Each block is followed by the XXH32 of its stored bytes.
    pub(crate) block_checksum: bool,
    /// Bytes the frame decodes to, if stated.
    pub(crate) content_size: Option<u64>,
    /// The frame ends with the XXH32 of its content.
    pub(crate) content_checksum: bool,
    /// The most a block decodes to.
    pub(crate) block_max: BlockMax,
}

impl Header {
    /// Appends the header, magic first.
    pub(crate) fn push_to(&self, out: &mut Vec<u8>) {
        let mut flags = VERSION;
        for (set, bit) in [
            (self.independent, INDEPENDENT),
            (self.block_checksum, BLOCK_CHECKSUM),
            (self.content_size.is_some(), CONTENT_SIZE),
            (self.content_checksum, CONTENT_CHECKSUM),
        ] {
            flags |= if set { bit } else { 0 };
        }
        out.extend_from_slice(&MAGIC.to_le_bytes());
        let descriptor = out.len();
        out.push(flags);
        out.push((self.block_max as u8) << 4);
        if let Some(size) = self.content_size {
            out.extend_from_slice(&size.to_le_bytes());
        }
        let check = (xxh32(&out[descriptor..]) >> 8) as u8;
        out.push(check);
    }

    /// Reads the header at the start of `bytes`, which begin with [`MAGIC`], and says how long it is.
    ///
    /// # Errors
    /// [`Fault::Truncated`] if `bytes` end too early (never when there are [`MAX_HEADER`] of them); damage; another
    /// version; a dictionary.
    pub(crate) fn parse(bytes: &[u8]) -> Result<(Self, usize), Fault> {
        const CUT: Fault = Fault::Truncated;
        let (&flags, &block) = (bytes.get(4).ok_or(CUT)?, bytes.get(5).ok_or(CUT)?);
        let mut at = 6;
        let mut content_size = None;
        if flags & CONTENT_SIZE != 0 {
            content_size = Some(u64_at(bytes, at).ok_or(CUT)?);
            at += 8;
        }
        let mut dictionary = None;
        if flags & DICT_ID != 0 {
            dictionary = Some(u32_at(bytes, at).ok_or(CUT)?);
            at += 4;
        }
        let check = *bytes.get(at).ok_or(CUT)?;
        if check != (xxh32(&bytes[4..at]) >> 8) as u8 {
            return Err(Fault::Corrupt("LZ4 frame header: checksum"));
        }
        if flags & 0xC0 != VERSION {
            return Err(Fault::Unsupported("LZ4 frame version"));
        }
        if flags & FLAG_RESERVED != 0 || block & 0x8F != 0 {
            return Err(Fault::Unsupported("LZ4 frame header: reserved bits"));
        }
        let block_max =
            BlockMax::ALL.into_iter().find(|&max| max as u8 == block >> 4).ok_or(Fault::Corrupt("LZ4 frame header: block size"))?;
        if let Some(id) = dictionary {
            return Err(Fault::Dictionary(id));
        }
        let header = Self {
            independent: flags & INDEPENDENT != 0,
            block_checksum: flags & BLOCK_CHECKSUM != 0,
            content_size,
            content_checksum: flags & CONTENT_CHECKSUM != 0,
            block_max,
        };
        Ok((header, at + 1))
    }

    /// Reads the size word before a block.
    ///
    /// # Errors
    /// A block larger than the header allows.
    pub(crate) fn block(&self, word: u32) -> Result<Block, Fault> {
        // 0x80000000 is an empty stored block, not the end mark.
        if word == 0 {
            return Ok(Block::End);
        }
        let len = (word & !STORED) as usize;
        if len > self.block_max.bytes() {
            return Err(Fault::Corrupt("LZ4 block size"));
        }
        let stored = word & STORED != 0;
        Ok(Block::Data { len, stored })
    }

    /// Bytes of a block's checksum.
    pub(crate) fn block_trailer(&self) -> usize {
        if self.block_checksum { 4 } else { 0 }
    }

    /// Bytes after the end mark.
    pub(crate) fn trailer(&self) -> usize {
        if self.content_checksum { 4 } else { 0 }
    }
}

/// What the size word before a block says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    /// `len` bytes follow, as they are (`stored`) or compressed.
    Data { len: usize, stored: bool },
    /// No more blocks.
    End,
}

/// The size word of a block of `len` bytes in the file.
pub(crate) fn block_word(len: usize, stored: bool) -> [u8; 4] {
    debug_assert!(len <= BlockMax::MiB4.bytes());
    let word = len as u32 | if stored { STORED } else { 0 };
    word.to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(content_size: Option<u64>) -> Header {
        Header { independent: true, block_checksum: false, content_size, content_checksum: true, block_max: BlockMax::MiB1 }
    }

    fn bytes(header: &Header) -> Vec<u8> {
        let mut out = Vec::new();
        header.push_to(&mut out);
        out
    }

    #[test]
    fn bytes_are_those_of_the_lz4_program() {
        // lz4 -4 -B4 --no-frame-crc writes 0x60 0x40 0x82; with the content checksum 0x64 0x40 0xa7.
        let plain = Header { content_checksum: false, block_max: BlockMax::KiB64, ..header(None) };
        assert_eq!(bytes(&plain), [0x04, 0x22, 0x4D, 0x18, 0x60, 0x40, 0x82]);
        let checked = Header { content_checksum: true, ..plain };
        assert_eq!(bytes(&checked), [0x04, 0x22, 0x4D, 0x18, 0x64, 0x40, 0xA7]);
    }

    #[test]
    fn header_round_trip_and_truncation() {
        for bits in 0..8 {
            for block_max in BlockMax::ALL {
                let header = Header {
                    independent: bits & 1 != 0,
                    block_checksum: bits & 2 != 0,
                    content_checksum: bits & 4 != 0,
                    content_size: (bits != 3).then_some(u64::MAX - bits),
                    block_max,
                };
                let written = bytes(&header);
                assert_eq!(Header::parse(&written), Ok((header, written.len())));
                for cut in 4..written.len() {
                    assert_eq!(Header::parse(&written[..cut]), Err(Fault::Truncated));
                }
            }
        }
    }

    #[test]
    fn damaged_headers_are_refused() {
        let good = bytes(&header(Some(77)));
        for bit in 32..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            // One byte of checksum: a flip of a length-changing flag may go unseen, one of the rest may not.
            if !matches!(bit, 32 | 35) {
                assert!(Header::parse(&bad).is_err(), "bit {bit}");
            }
        }
    }

    #[test]
    fn a_dictionary_is_refused() {
        let mut bytes = vec![0x04, 0x22, 0x4D, 0x18, 0x61, 0x40, 9, 0, 0, 0];
        bytes.push((xxh32(&bytes[4..]) >> 8) as u8);
        assert_eq!(Header::parse(&bytes), Err(Fault::Dictionary(9)));
    }

    #[test]
    fn block_words() {
        let header = header(None);
        assert_eq!(header.block(0), Ok(Block::End));
        assert_eq!(header.block(STORED), Ok(Block::Data { len: 0, stored: true }));
        assert_eq!(header.block(5), Ok(Block::Data { len: 5, stored: false }));
        assert!(header.block((1 << 20) + 1).is_err());
        assert!(header.block(u32::MAX).is_err());
        assert_eq!(block_word(5, true), [5, 0, 0, 0x80]);
        assert_eq!(BlockMax::holding(65536), BlockMax::KiB64);
        assert_eq!(BlockMax::holding(65537), BlockMax::KiB256);
        assert_eq!(BlockMax::holding(usize::MAX), BlockMax::MiB4);
    }
}
