//! Seeded data that compresses as mixed real files do: prose, log lines, binary records and already compressed parts.
//!
//! The bytes depend on the seed and the position only, so that a seed names the same data on every machine.

use std::io::{self, Write};

/// Bytes in one block; the kind of content changes from block to block.
pub const BLOCK: usize = 1 << 16;

/// Writes `bytes` bytes of the data of `seed` to `sink`, calling `each` with the bytes written so far after every block.
/// `each` stops the writing by returning `false`.
///
/// # Errors
/// What `sink` says.
pub fn write(seed: u64, bytes: u64, sink: &mut impl Write, mut each: impl FnMut(u64) -> bool) -> io::Result<()> {
    let corpus = Corpus::new(seed);
    let mut block = Vec::with_capacity(BLOCK);
    let mut written = 0;
    let mut index = 0;
    while written < bytes {
        corpus.block(index, &mut block);
        let take = (BLOCK as u64).min(bytes - written) as usize;
        sink.write_all(&block[..take])?;
        written += take as u64;
        index += 1;
        if !each(written) {
            break;
        }
    }
    Ok(())
}

/// The first `bytes` bytes of the data of `seed`.
#[must_use]
pub fn bytes(seed: u64, bytes: usize) -> Vec<u8> {
    let corpus = Corpus::new(seed);
    let (mut data, mut block) = (Vec::with_capacity(bytes), Vec::with_capacity(BLOCK));
    for index in 0..bytes.div_ceil(BLOCK) as u64 {
        corpus.block(index, &mut block);
        data.extend_from_slice(&block[..BLOCK.min(bytes - data.len())]);
    }
    data
}

/// The vocabulary of a seed, from which blocks are made in any order.
#[derive(Debug)]
pub struct Corpus {
    seed: u64,
    words: Vec<String>,
}

impl Corpus {
    /// Makes the vocabulary of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        const SYLLABLES: [&str; 24] = [
            "an", "ber", "con", "de", "el", "fi", "gra", "hol", "in", "ju", "ka", "lor", "men", "no", "or", "pre", "qua", "re", "sta",
            "ti", "un", "ver", "wi", "ty",
        ];
        let mut random = SplitMix64::new(seed ^ 0x57_4f_52_44);
        let words = (0..8192)
            .map(|rank| {
                // Frequent words are short, as in every language.
                let syllables = 1 + random.below(if rank < 64 { 1 } else { 3 }) + usize::from(rank > 1024);
                (0..syllables).map(|_| SYLLABLES[random.below(SYLLABLES.len())]).collect()
            })
            .collect();
        Self { seed, words }
    }

    /// Fills `block` with the [`BLOCK`] bytes of block `index`.
    pub fn block(&self, index: u64, block: &mut Vec<u8>) {
        block.clear();
        // Twice mixed: seeds that are a step of the generator apart would give the same numbers, one place on.
        let mut random = SplitMix64::new(SplitMix64::new(self.seed ^ SplitMix64::new(index).next()).next());
        match random.below(20) {
            0..7 => self.prose(&mut random, block),
            7..12 => self.log(&mut random, index, block),
            12..19 => records(&mut random, block),
            _ => noise(&mut random, block),
        }
        block.truncate(BLOCK);
    }

    fn word(&self, random: &mut SplitMix64) -> &str {
        // Zipf's law, nearly: the rank is spread evenly over its logarithm.
        let exponent = random.unit() * (self.words.len() as f64).ln();
        &self.words[(exponent.exp() as usize - 1).min(self.words.len() - 1)]
    }

    fn prose(&self, random: &mut SplitMix64, block: &mut Vec<u8>) {
        while block.len() < BLOCK {
            let first = block.len();
            for _ in 0..4 + random.below(14) {
                block.extend_from_slice(self.word(random).as_bytes());
                block.push(b' ');
            }
            block[first].make_ascii_uppercase();
            block.pop();
            block.extend_from_slice(if random.below(6) == 0 { b".\n\n" } else { b". " });
        }
    }

    fn log(&self, random: &mut SplitMix64, index: u64, block: &mut Vec<u8>) {
        let mut clock = index * 60_000;
        while block.len() < BLOCK {
            clock += random.below(400) as u64;
            let (seconds, level) = (clock / 1000, ["INFO", "INFO", "INFO", "WARN", "DEBUG"][random.below(5)]);
            let (a, b) = (self.word(random), self.word(random));
            let line = format!(
                "2026-01-{:02}T{:02}:{:02}:{:02}.{:03}Z {level} {a}::{b} request={:08x} bytes={} elapsed_us={}\n",
                1 + seconds / 86_400 % 28,
                seconds / 3600 % 24,
                seconds / 60 % 60,
                seconds % 60,
                clock % 1000,
                random.next() as u32,
                random.below(1 << 14),
                random.below(5000),
            );
            block.extend_from_slice(line.as_bytes());
        }
    }
}

/// Tables of machine code and data: fields that change slowly beside fields that don't.
fn records(random: &mut SplitMix64, block: &mut Vec<u8>) {
    let mut address = random.next() as u32;
    let kinds: Vec<u32> = (0..48).map(|_| random.next() as u32).collect();
    while block.len() < BLOCK {
        address = address.wrapping_add(4 * random.below(64) as u32);
        block.extend_from_slice(&address.to_le_bytes());
        block.extend_from_slice(&kinds[random.below(kinds.len())].to_le_bytes());
        block.extend_from_slice(&(random.below(96) as u16 * 16).to_le_bytes());
        block.extend_from_slice(&[0, random.below(3) as u8]);
        if random.below(12) == 0 {
            block.extend_from_slice(&random.next().to_le_bytes()[..random.below(7)]);
        }
    }
}

/// Pictures, sound and archives: nothing to gain.
fn noise(random: &mut SplitMix64, block: &mut Vec<u8>) {
    while block.len() < BLOCK {
        block.extend_from_slice(&random.next().to_le_bytes());
    }
}

/// Steele, Lea and Flood's generator (OOPSLA 2014): eight bytes of state, every seed is good.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator that starts at `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    #[expect(clippy::should_implement_trait, reason = "it never ends, and no iterator is wanted")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`, which must not be 0.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// A number from 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Puts `items` in a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_names_the_same_bytes() {
        let data = bytes(1, 3 * BLOCK + 5);
        assert_eq!(data.len(), 3 * BLOCK + 5);
        assert_eq!(data, bytes(1, 3 * BLOCK + 5));
        assert_eq!(data[..BLOCK], bytes(1, BLOCK)[..], "a shorter length is a prefix");
        assert_ne!(data[..BLOCK], bytes(2, BLOCK)[..]);
    }

    #[test]
    fn blocks_share_no_random_numbers() {
        let corpus = Corpus::new(1);
        let mut seen = std::collections::HashSet::new();
        let mut block = Vec::new();
        for index in 0..200 {
            corpus.block(index, &mut block);
            for word in block.chunks_exact(8) {
                let word: [u8; 8] = word.try_into().unwrap();
                if word.iter().all(|b| *b > 127) {
                    assert!(seen.insert(word), "block {index} repeats another one");
                }
            }
        }
        assert!(seen.len() > 100, "there is noise to compare");
    }

    #[test]
    fn the_generator_is_the_published_one() {
        // The reference implementation's first outputs for seed 1234567.
        let mut random = SplitMix64::new(1_234_567);
        assert_eq!([random.next(), random.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn writing_can_be_stopped() {
        let mut sink = Vec::new();
        write(1, 1 << 30, &mut sink, |written| written < 2 * BLOCK as u64).unwrap();
        assert_eq!(sink.len(), 2 * BLOCK);
    }
}
