//! The table of the zstd seekable format 0.1.0, in a skippable frame at the end of a file.
//!
//! All integers are little-endian:
//! ```text
//! u32 0x184D2A5E    skippable magic
//! u32 size          entries + 9
//!   per frame: u32 compressed size, u32 decompressed size [, u32 low half of XXH64 of the content]
//! u32 frames, u8 descriptor, u32 0x8F92EAB1
//! ```
//! Descriptor: bit 7 says that entries have a checksum, bits 6-2 must be 0, bits 1-0 are ignored.

use super::{Fault, skippable, u32_at};

/// The bytes that end a seekable file.
pub(crate) const FOOTER: usize = 9;

const FOOTER_MAGIC: u32 = 0x8F92_EAB1;
const CHECKSUMS: u8 = 0x80;
const RESERVED: u8 = 0x7C;
/// The most frames the reference implementation allows.
const MAX_FRAMES: u32 = 0x0800_0000;

/// What is wrong where a table with checksums says otherwise than frames that have none.
pub(crate) const OTHER_CONTENT: &str = "the frames' content is not that of the seek table";

/// One frame, as the table describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Bytes of the frame in the file.
    pub(crate) compressed: u32,
    /// Bytes it decodes to; 0 for a skippable frame.
    pub(crate) decompressed: u32,
    /// Low half of XXH64 of the content, if the table has checksums.
    pub(crate) checksum: Option<u32>,
}

/// The checksum of some content, as a table with checksums has it.
pub(crate) fn checksum(content: &[u8]) -> u32 {
    twox_hash::XxHash64::oneshot(0, content) as u32
}

/// Collects entries while a file is written. Uses 8 bytes of memory per frame.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    entries: Vec<(u32, u32)>,
}

impl Writer {
    /// Notes the next frame of the file, skippable ones (decompressed size 0) too.
    ///
    /// # Errors
    /// More frames than the format allows.
    pub(crate) fn push(&mut self, compressed: u32, decompressed: u32) -> Result<(), Fault> {
        if self.entries.len() >= MAX_FRAMES as usize {
            return Err(Fault::TooLarge {
                what: "frames in a seek table",
                declared: self.entries.len() as u64 + 1,
                limit: u64::from(MAX_FRAMES),
            });
        }
        self.entries.push((compressed, decompressed));
        Ok(())
    }

    /// The whole skippable frame.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let payload = self.entries.len() * 8 + FOOTER;
        let mut frame = Vec::with_capacity(skippable::HEADER + payload);
        // MAX_FRAMES entries of 8 bytes are 1 GiB: the size fits its field.
        skippable::push_header(&mut frame, skippable::SEEK_TABLE_MAGIC, payload as u32);
        for (compressed, decompressed) in &self.entries {
            frame.extend_from_slice(&compressed.to_le_bytes());
            frame.extend_from_slice(&decompressed.to_le_bytes());
        }
        frame.extend_from_slice(&(self.entries.len() as u32).to_le_bytes());
        frame.push(0);
        frame.extend_from_slice(&FOOTER_MAGIC.to_le_bytes());
        frame
    }
}

/// The last bytes of a file that may have a table: how many entries, of which size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Footer {
    /// Frames listed.
    pub(crate) frames: u32,
    /// Whether entries have a checksum.
    pub(crate) checksums: bool,
}

impl Footer {
    /// Reads the last nine bytes of a file. `None`: no table, or none of this version.
    pub(crate) fn parse(bytes: &[u8; FOOTER]) -> Option<Self> {
        let frames = u32_at(bytes, 0)?;
        let descriptor = bytes[4];
        let known = u32_at(bytes, 5)? == FOOTER_MAGIC && descriptor & RESERVED == 0 && frames <= MAX_FRAMES;
        known.then_some(Self { frames, checksums: descriptor & CHECKSUMS != 0 })
    }

    /// Size of one entry, in bytes.
    pub(crate) fn entry_len(self) -> usize {
        if self.checksums { 12 } else { 8 }
    }

    /// Size of the whole skippable frame, in bytes.
    pub(crate) fn frame_len(self) -> u64 {
        (skippable::HEADER + FOOTER) as u64 + u64::from(self.frames) * self.entry_len() as u64
    }

    /// Whether a skippable frame's magic and payload size are the ones this footer belongs to.
    pub(crate) fn matches(self, magic: u32, payload: u32) -> bool {
        magic == skippable::SEEK_TABLE_MAGIC && u64::from(payload) + skippable::HEADER as u64 == self.frame_len()
    }

    /// One entry, from its `entry_len` bytes.
    pub(crate) fn entry(self, bytes: &[u8]) -> Option<Entry> {
        let checksum = if self.checksums { Some(u32_at(bytes, 8)?) } else { None };
        Some(Entry { compressed: u32_at(bytes, 0)?, decompressed: u32_at(bytes, 4)?, checksum })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn footer(frame: &[u8]) -> Option<Footer> {
        Footer::parse(frame[frame.len() - FOOTER..].try_into().unwrap())
    }

    #[test]
    fn bytes_are_those_of_the_format() {
        let mut writer = Writer::default();
        writer.push(28, 0).unwrap();
        writer.push(0x0102, 0x0304).unwrap();
        let expected: [u8; 33] = [
            0x5E, 0x2A, 0x4D, 0x18, 25, 0, 0, 0, // magic, size
            28, 0, 0, 0, 0, 0, 0, 0, //
            2, 1, 0, 0, 4, 3, 0, 0, //
            2, 0, 0, 0, 0, 0xB1, 0xEA, 0x92, 0x8F,
        ];
        assert_eq!(writer.to_bytes(), expected);
        let footer = footer(&expected).unwrap();
        assert_eq!(footer.frame_len(), 33);
        assert!(footer.matches(0x184D_2A5E, 25));
        assert!(!footer.matches(0x184D_2A5E, 24));
        assert!(!footer.matches(0x184D_2A5D, 25));
        let entry = footer.entry(&expected[16..24]).unwrap();
        assert_eq!((entry.compressed, entry.decompressed), (0x0102, 0x0304));
    }

    #[test]
    fn checksummed_entries_are_read() {
        let footer = Footer::parse(&[1, 0, 0, 0, 0x83, 0xB1, 0xEA, 0x92, 0x8F]).unwrap();
        assert_eq!((footer.entry_len(), footer.frame_len()), (12, 29));
        let entry = footer.entry(&[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]).unwrap();
        assert_eq!((entry.compressed, entry.decompressed), (1, 2));
    }

    #[test]
    fn absurd_footers_are_no_table() {
        for bit in 2..7 {
            assert_eq!(Footer::parse(&[1, 0, 0, 0, 1 << bit, 0xB1, 0xEA, 0x92, 0x8F]), None);
        }
        assert_eq!(Footer::parse(&[0xFF, 0xFF, 0xFF, 0xFF, 0, 0xB1, 0xEA, 0x92, 0x8F]), None);
        assert_eq!(Footer::parse(&[1, 0, 0, 0, 0, 0xB1, 0xEA, 0x92, 0x8E]), None);
    }
}
