//! Zstandard frames: header and block headers, enough to find where a frame ends without decoding it.
//!
//! Source: RFC 8878 section 3.1.1. All integers are little-endian.

use super::{Fault, u32_at, u64_at};

/// Magic of a Zstandard frame.
pub(crate) const MAGIC: u32 = super::ZSTD_MAGIC;
/// The longest header with its magic, in bytes.
pub(crate) const MAX_HEADER: usize = 18;
/// Size of a block header, in bytes.
pub(crate) const BLOCK_HEADER: usize = 3;

/// The most any block holds or decodes to, in bytes.
const MAX_BLOCK: u64 = 128 << 10;

/// A frame's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// How far back the decoder must remember, in bytes.
    pub(crate) window: u64,
    /// Bytes the frame decodes to, if stated.
    pub(crate) content_size: Option<u64>,
    /// The frame ends with the low half of XXH64 of its content.
    pub(crate) checksum: bool,
}

impl Header {
    /// Reads the header at the start of `bytes`, which begin with [`MAGIC`], and says how long it is.
    ///
    /// # Errors
    /// [`Fault::Truncated`] if `bytes` end too early (never when there are [`MAX_HEADER`] of them); damage; a dictionary.
    pub(crate) fn parse(bytes: &[u8]) -> Result<(Self, usize), Fault> {
        const CUT: Fault = Fault::Truncated;
        let descriptor = *bytes.get(4).ok_or(CUT)?;
        if descriptor & 0x08 != 0 {
            return Err(Fault::Unsupported("zstd frame header: reserved bit"));
        }
        let single_segment = descriptor & 0x20 != 0;
        let mut at = 5;
        let mut window = 0;
        if !single_segment {
            let byte = *bytes.get(at).ok_or(CUT)?;
            let base = 1_u64 << (10 + (byte >> 3));
            window = base + base / 8 * u64::from(byte & 7);
            at += 1;
        }
        let (dictionary, len) = match descriptor & 3 {
            0 => (Some(0), 0),
            1 => (bytes.get(at).map(|&id| u32::from(id)), 1),
            2 => (u16_at(bytes, at).map(u32::from), 2),
            _ => (u32_at(bytes, at), 4),
        };
        let dictionary = dictionary.ok_or(CUT)?;
        at += len;
        let (content_size, len) = match (descriptor >> 6, single_segment) {
            (0, false) => (None, 0),
            (0, true) => (Some(bytes.get(at).map(|&size| u64::from(size))), 1),
            (1, _) => (Some(u16_at(bytes, at).map(|size| u64::from(size) + 256)), 2),
            (2, _) => (Some(u32_at(bytes, at).map(u64::from)), 4),
            _ => (Some(u64_at(bytes, at)), 8),
        };
        let content_size = content_size.map(|size| size.ok_or(CUT)).transpose()?;
        at += len;
        if dictionary != 0 {
            return Err(Fault::Dictionary(dictionary));
        }
        let header = Self {
            window: if single_segment { content_size.unwrap_or(0) } else { window },
            content_size,
            checksum: descriptor & 0x04 != 0,
        };
        Ok((header, at))
    }

    /// Reads a block header.
    ///
    /// # Errors
    /// A reserved type, or a block larger than the frame allows.
    pub(crate) fn block(&self, bytes: [u8; BLOCK_HEADER]) -> Result<Block, Fault> {
        let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]);
        let size = u64::from(word >> 3);
        let most = self.window.min(MAX_BLOCK);
        let (stored, decoded) = match (word >> 1) & 3 {
            0 => (size, size),
            1 => (1, size),
            2 => (size, most),
            _ => return Err(Fault::Corrupt("zstd block type")),
        };
        if size > most {
            return Err(Fault::Corrupt("zstd block size"));
        }
        Ok(Block { last: word & 1 != 0, stored, decoded_at_most: decoded })
    }

    /// Bytes after the last block.
    pub(crate) fn trailer(&self) -> u64 {
        if self.checksum { 4 } else { 0 }
    }
}

/// What a block header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    /// No block follows.
    pub(crate) last: bool,
    /// Bytes in the file after the header.
    pub(crate) stored: u64,
    /// The most it decodes to, in bytes.
    pub(crate) decoded_at_most: u64,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let field = bytes.get(at..at + 2)?;
    Some(u16::from_le_bytes([field[0], field[1]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(rest: &[u8]) -> Vec<u8> {
        [&MAGIC.to_le_bytes(), rest].concat()
    }

    #[test]
    fn headers_of_every_shape() {
        let cases: [(&[u8], u64, Option<u64>, bool); 7] = [
            (&[0x20, 7], 7, Some(7), false),
            (&[0x24, 0], 0, Some(0), true),
            (&[0x60, 1, 0], 257, Some(257), false),
            (&[0x00, 0x00], 1024, None, false),
            (&[0x04, 0x59], 2359296, None, true),
            (&[0x80, 0x58, 4, 3, 2, 1], 2 << 20, Some(0x0102_0304), false),
            (&[0xE0, 8, 7, 6, 5, 4, 3, 2, 1], 0x0102_0304_0506_0708, Some(0x0102_0304_0506_0708), false),
        ];
        for (rest, window, content_size, checksum) in cases {
            let bytes = frame(rest);
            let header = Header { window, content_size, checksum };
            assert_eq!(Header::parse(&bytes), Ok((header, bytes.len())));
            for cut in 4..bytes.len() {
                assert_eq!(Header::parse(&bytes[..cut]), Err(Fault::Truncated));
            }
        }
    }

    #[test]
    fn dictionaries_and_reserved_bits_are_refused() {
        assert_eq!(Header::parse(&frame(&[0x21, 9, 0])), Err(Fault::Dictionary(9)));
        assert_eq!(Header::parse(&frame(&[0x22, 9, 1, 0])), Err(Fault::Dictionary(265)));
        assert_eq!(Header::parse(&frame(&[0x23, 0, 0, 0, 1, 0])), Err(Fault::Dictionary(1 << 24)));
        assert!(Header::parse(&frame(&[0x23, 0, 0, 0, 0, 0])).is_ok());
        assert!(matches!(Header::parse(&frame(&[0x28, 0])), Err(Fault::Unsupported(_))));
    }

    #[test]
    fn the_largest_header_fits() {
        let bytes = frame(&[0xC3, 0xFF, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(bytes.len(), MAX_HEADER);
        let (header, len) = Header::parse(&bytes).unwrap();
        assert_eq!((header.window, len), ((1 << 41) + 7 * (1 << 38), MAX_HEADER));
    }

    #[test]
    fn blocks() {
        let header = Header { window: 1 << 20, content_size: None, checksum: true };
        let block = |word: u32| header.block(word.to_le_bytes()[..3].try_into().unwrap());
        let expect = |last, stored, decoded_at_most| Ok(Block { last, stored, decoded_at_most });
        assert_eq!(block(10 << 3), expect(false, 10, 10));
        assert_eq!(block(1 | 1 << 1 | 500 << 3), expect(true, 1, 500));
        assert_eq!(block(2 << 1 | 10 << 3), expect(false, 10, 128 << 10));
        assert!(block(3 << 1).is_err());
        assert!(block((128 << 10 | 1) << 3).is_err());
        assert_eq!(header.trailer(), 4);
    }
}
