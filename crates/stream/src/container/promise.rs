//! The promise: a skippable frame near the start saying that a seek table stands at the end, and how many bytes the
//! file decodes to when the writer knew. It makes a file cut between two frames detectable.
//!
//! All integers are little-endian:
//! ```text
//! u32 0x184D2A5D   skippable magic
//! u32 20           payload size
//! u32 0x31746E47   "Gnt1"
//! u32 flags        bit 0: the content length is known; bit 1: the table begins with the frame before this one,
//!                  else with this one; all others 0
//! u64 length       bytes of decoded content; 0 when not known
//! u32 check        XXH32, seed 0, of the 16 payload bytes before it
//! ```

use super::{Fault, skippable, u32_at, u64_at, xxh32};

/// Size of the whole frame, in bytes.
pub(crate) const LEN: usize = skippable::HEADER + PAYLOAD;

const PAYLOAD: usize = 20;
const TAG: u32 = u32::from_le_bytes(*b"Gnt1");
const LENGTH_KNOWN: u32 = 1;
const FOLLOWS_FRAME: u32 = 2;

/// What the frame says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Promise {
    /// Bytes the file decodes to, when the writer knew before it began.
    pub(crate) content_len: Option<u64>,
    /// The table begins with the frame before this one (LZ4), not with this one (zstd).
    pub(crate) follows_frame: bool,
}

impl Promise {
    /// The whole skippable frame.
    pub(crate) fn to_bytes(self) -> [u8; LEN] {
        let mut frame = Vec::with_capacity(LEN);
        skippable::push_header(&mut frame, skippable::PROMISE_MAGIC, PAYLOAD as u32);
        frame.extend_from_slice(&TAG.to_le_bytes());
        let mut flags = if self.content_len.is_some() { LENGTH_KNOWN } else { 0 };
        flags |= if self.follows_frame { FOLLOWS_FRAME } else { 0 };
        frame.extend_from_slice(&flags.to_le_bytes());
        frame.extend_from_slice(&self.content_len.unwrap_or(0).to_le_bytes());
        let check = xxh32(&frame[skippable::HEADER..]);
        frame.extend_from_slice(&check.to_le_bytes());
        let mut bytes = [0; LEN];
        bytes.copy_from_slice(&frame);
        bytes
    }

    /// Reads a skippable frame from its magic, the size it states and the start of its payload. `None`: somebody else's frame.
    ///
    /// # Errors
    /// A promise that is damaged or of a later version.
    pub(crate) fn parse(magic: u32, size: u32, payload: &[u8]) -> Result<Option<Self>, Fault> {
        if magic != skippable::PROMISE_MAGIC || u32_at(payload, 0) != Some(TAG) {
            return Ok(None);
        }
        // A wrong size could hide the frames that follow.
        if size as usize != PAYLOAD {
            return Err(Fault::Corrupt("promise of a seek table: size"));
        }
        let (Some(flags), Some(length), Some(check)) = (u32_at(payload, 4), u64_at(payload, 8), u32_at(payload, 16)) else {
            return Ok(None);
        };
        if check != xxh32(&payload[..16]) {
            return Err(Fault::Corrupt("promise of a seek table: checksum"));
        }
        let length_known = flags & LENGTH_KNOWN != 0;
        if flags & !(LENGTH_KNOWN | FOLLOWS_FRAME) != 0 || (!length_known && length != 0) {
            return Err(Fault::Unsupported("promise of a seek table: flags"));
        }
        Ok(Some(Self { content_len: length_known.then_some(length), follows_frame: flags & FOLLOWS_FRAME != 0 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(frame: &[u8]) -> Result<Option<Promise>, Fault> {
        let (magic, size) = skippable::header(frame).unwrap();
        Promise::parse(magic, size, &frame[skippable::HEADER..])
    }

    #[test]
    fn round_trip() {
        for content_len in [None, Some(0), Some(1), Some(u64::MAX)] {
            for follows_frame in [false, true] {
                let promise = Promise { content_len, follows_frame };
                assert_eq!(parse(&promise.to_bytes()), Ok(Some(promise)));
            }
        }
    }

    #[test]
    fn every_flipped_bit_is_seen() {
        let promise = Promise { content_len: Some(0x0123_4567_89AB_CDEF), follows_frame: true };
        let frame = promise.to_bytes();
        for bit in 0..LEN * 8 {
            let mut damaged = frame;
            damaged[bit / 8] ^= 1 << (bit % 8);
            if skippable::header(&damaged).is_none() {
                continue;
            }
            assert!(!matches!(parse(&damaged), Ok(Some(_))), "bit {bit}");
        }
    }

    #[test]
    fn other_frames_are_not_ours() {
        assert_eq!(Promise::parse(skippable::PROMISE_MAGIC, 20, &[0; 20]), Ok(None));
        assert_eq!(Promise::parse(skippable::PROMISE_MAGIC, 3, b"Gnt"), Ok(None));
        assert!(Promise::parse(skippable::PROMISE_MAGIC, 4, b"Gnt1").is_err());
        let frame = Promise { content_len: None, follows_frame: false }.to_bytes();
        assert_eq!(Promise::parse(0x184D_2A50, 20, &frame[8..]), Ok(None));
    }
}
