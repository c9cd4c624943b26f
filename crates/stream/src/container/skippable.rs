//! Skippable frames: one of sixteen magics, a `u32` size, and bytes every decoder steps over.
//!
//! Source: RFC 8878 section 3.1.2; the LZ4 frame format has the same ones.

use super::u32_at;

/// Magic and size: the bytes before the payload.
pub(crate) const HEADER: usize = 8;

/// The magic of the frame that promises a seek table.
pub(crate) const PROMISE_MAGIC: u32 = 0x184D_2A5D;
/// The magic of the frame that holds a seek table.
pub(crate) const SEEK_TABLE_MAGIC: u32 = 0x184D_2A5E;

const FIRST_MAGIC: u32 = 0x184D_2A50;

/// Whether `magic` is one of the sixteen.
pub(crate) fn is_magic(magic: u32) -> bool {
    magic & 0xFFFF_FFF0 == FIRST_MAGIC
}

/// Appends magic and payload size.
pub(crate) fn push_header(out: &mut Vec<u8>, magic: u32, payload: u32) {
    debug_assert!(is_magic(magic));
    out.extend_from_slice(&magic.to_le_bytes());
    out.extend_from_slice(&payload.to_le_bytes());
}

/// Magic and payload size, if `bytes` start with a whole header of a skippable frame.
pub(crate) fn header(bytes: &[u8]) -> Option<(u32, u32)> {
    let magic = u32_at(bytes, 0).filter(|&magic| is_magic(magic))?;
    Some((magic, u32_at(bytes, 4)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_magics() {
        assert!(!is_magic(0x184D_2A4F));
        assert!((0x184D_2A50..=0x184D_2A5F).all(is_magic));
        assert!(!is_magic(0x184D_2A60));
    }

    #[test]
    fn header_round_trip() {
        let mut bytes = Vec::new();
        push_header(&mut bytes, 0x184D_2A50, 12);
        assert_eq!(bytes, [0x50, 0x2A, 0x4D, 0x18, 12, 0, 0, 0]);
        assert_eq!(header(&bytes), Some((0x184D_2A50, 12)));
        assert_eq!(header(&bytes[..7]), None);
        assert_eq!(header(&[0; 8]), None);
    }
}
