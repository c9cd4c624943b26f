//! A quick look for anything in a chunk that a compressor could use.

/// How far apart the looks are, in bytes.
const STRETCH: usize = 4 << 10;
/// How much of a stretch is counted by value, in bytes.
const COUNTED: usize = 128;
/// Content is remembered every so many bytes, and looked for at as many places in a row at the start of each stretch: so each
/// stretch of a repetition meets one place that was remembered, if nothing took its slot since.
const STEP: usize = 64;
/// Places remembered: those of 2 MiB.
const TAGS: usize = 1 << 15;
/// Bytes counted before they are judged.
const SAMPLE: u32 = 4096;

/// Looks at a chunk, piece by piece, for what compressors live on: values that are more frequent than others, content that
/// repeats, pages that are filled up. It sees a part of the bytes only, so a few small places that would compress may go unnoticed.
pub(crate) struct Probe {
    counts: [u32; 256],
    counted: u32,
    tags: [u32; TAGS],
}

impl Probe {
    /// Nothing seen yet.
    pub(crate) fn new() -> Self {
        Self { counts: [0; 256], counted: 0, tags: [0; TAGS] }
    }

    /// Looks at the next piece; its length is a multiple of 4 KiB, save the last one's. False where something was found.
    pub(crate) fn finds_nothing(&mut self, piece: &[u8]) -> bool {
        piece.chunks(STRETCH).all(|stretch| !ends_in_a_run(stretch) && self.is_even(&stretch[..stretch.len().min(COUNTED)]))
            && piece.chunks(STRETCH).all(|stretch| self.is_new(stretch))
    }

    /// Looks at what the last pieces left.
    pub(crate) fn ends_with_nothing(&mut self) -> bool {
        self.judge()
    }

    /// Counts values, and judges when there are enough.
    fn is_even(&mut self, bytes: &[u8]) -> bool {
        for &byte in bytes {
            self.counts[usize::from(byte)] += 1;
        }
        self.counted += bytes.len() as u32;
        self.counted < SAMPLE || self.judge()
    }

    /// Pearson's chi-squared test against equal frequencies: n + chi² = 256/n · Σ count². Of equal frequencies chi² is 255, give
    /// or take 23. What is left to gain where the entropy is h bits a byte adds about 1.4 n (8 - h): the limit lies four
    /// standard deviations and half a percent of gain above.
    fn judge(&mut self) -> bool {
        let n = u64::from(self.counted);
        let squares: u64 = self.counts.iter().map(|&count| u64::from(count) * u64::from(count)).sum();
        self.counts.fill(0);
        self.counted = 0;
        squares * 256 <= n * (n + 255 + 4 * 23 + n / 18)
    }

    /// Looks for the first places of a stretch in what was before, then remembers the stretch.
    fn is_new(&mut self, stretch: &[u8]) -> bool {
        let known = stretch.windows(8).take(STEP).any(|bytes| {
            let (slot, tag) = place(bytes);
            self.tags[slot] == tag
        });
        for bytes in stretch.chunks_exact(STEP) {
            let (slot, tag) = place(bytes);
            self.tags[slot] = tag;
        }
        !known
    }
}

/// Whether a stretch ends with one value again and again: what is kept in pages of 4 KiB is filled up so behind its last byte, and
/// nowhere else shows anything where each piece of it is compressed or encrypted by itself.
fn ends_in_a_run(stretch: &[u8]) -> bool {
    stretch.last_chunk::<8>().is_some_and(|bytes| bytes.iter().all(|byte| *byte == bytes[0]))
}

/// Slot and tag of six bytes. Two contents of one tag are one in 2^32.
fn place(bytes: &[u8]) -> (usize, u32) {
    // The golden ratio's fraction, as in Knuth's multiplicative hashing.
    const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
    let word = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
    let hash = (word << 16).wrapping_mul(SPREAD);
    ((hash >> (64 - TAGS.trailing_zeros())) as usize, (hash >> 16) as u32 | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes without order, from a linear congruential generator.
    fn noise(len: usize, seed: u64) -> Vec<u8> {
        let mut state = seed.wrapping_mul(2).wrapping_add(1);
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        (0..len).map(|_| next()).collect()
    }

    fn finds_nothing(bytes: &[u8]) -> bool {
        let mut probe = Probe::new();
        bytes.chunks(256 << 10).all(|piece| probe.finds_nothing(piece)) && probe.ends_with_nothing()
    }

    #[test]
    fn noise_has_nothing() {
        for seed in 0..20 {
            for len in [128 << 10, 1 << 20, (1 << 20) + 5000] {
                assert!(finds_nothing(&noise(len, seed)), "seed {seed}, {len} bytes");
            }
        }
    }

    #[test]
    fn uneven_values_are_found_anywhere() {
        // Noise without one bit in every second byte: 7.8 bits a byte.
        let thin = |bytes: &mut [u8]| bytes.iter_mut().step_by(2).for_each(|byte| *byte &= 0x7F);
        for at in [0, 300 << 10, (1 << 20) - (100 << 10)] {
            let mut bytes = noise(1 << 20, at as u64);
            thin(&mut bytes[at..at + (100 << 10)]);
            assert!(!finds_nothing(&bytes), "at {at}");
        }
    }

    #[test]
    fn long_repetitions_are_found_at_every_place() {
        let source = noise(1 << 20, 3);
        let len = 8 * STRETCH;
        for (from, to) in [(0, 500_000), (1, 500_000), (77_777, 600_001), (200_063, 900_000), (31, (1 << 20) - len)] {
            let mut bytes = source.clone();
            bytes.copy_within(from..from + len, to);
            assert!(!finds_nothing(&bytes), "{from} to {to}");
        }
    }

    #[test]
    fn pages_filled_up_are_found() {
        for (page, value) in [(0, 0), (10, 0xFF), (255, 0)] {
            let mut bytes = noise(1 << 20, 4);
            bytes[page * STRETCH + 4000..(page + 1) * STRETCH].fill(value);
            assert!(!finds_nothing(&bytes), "page {page}");
        }
    }

    #[test]
    fn records_are_found() {
        // Random records of 24 bytes, each of them many times: no byte is more frequent than another.
        let records: Vec<Vec<u8>> = (0..500).map(|seed| noise(24, seed)).collect();
        let order = noise(40_000, 9);
        let bytes: Vec<u8> = order.chunks(2).flat_map(|two| &records[usize::from(two[0]) + usize::from(two[1] % 244)]).copied().collect();
        assert!(!finds_nothing(&bytes));
    }
}
