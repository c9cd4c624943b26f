//! Incompressible data, made before the run, with a stamp in every 4096 bytes so that no block equals another.

use std::time::{Duration, Instant};

use crate::plan::STAMP_UNIT;
use crate::rng::Rng;

const POOL: u64 = 64 << 20;
/// Memory of requests is aligned to this: enough for direct I/O and the largest page.
const ALIGN: usize = 16_384;
const STAMP: usize = 24;

/// An aligned buffer.
#[derive(Debug)]
pub(crate) struct Buffer {
    memory: Vec<u8>,
    offset: usize,
    len: usize,
}

impl Buffer {
    pub(crate) fn new(len: usize) -> Self {
        let memory = vec![0; len + ALIGN];
        let offset = memory.as_ptr().align_offset(ALIGN);
        Buffer { memory, offset, len }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.memory[self.offset..self.offset + self.len]
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.offset..self.offset + self.len]
    }
}

/// Random slots of one block each. Block `i` of a file comes from slot `i % slots`.
#[derive(Debug)]
pub(crate) struct Pool {
    slots: Vec<Buffer>,
    run: u64,
}

impl Pool {
    /// For writing `bytes` in all: at least two blocks for each request under way, and 64 MiB or what is written; nothing for a depth of 0.
    pub(crate) fn new(seed: u64, run: u64, block: u64, queue_depth: u32, bytes: u64) -> Self {
        let block = block as usize;
        let depth = queue_depth as usize;
        let rounds = bytes.min(POOL).div_ceil((block * depth.max(1)) as u64).max(2) as usize;
        let mut rng = Rng::new(seed ^ 0x6761_6e6e_6574_0001);
        let slots = (0..rounds * depth)
            .map(|_| {
                let mut slot = Buffer::new(block);
                for word in slot.bytes_mut().chunks_exact_mut(8) {
                    word.copy_from_slice(&rng.next().to_le_bytes());
                }
                slot
            })
            .collect();
        Pool { slots, run }
    }

    /// The slots of each of `depth` writers: writer `w` has the slots `w`, `w + depth`, ….
    pub(crate) fn split(&mut self, depth: usize) -> Vec<Vec<&mut Buffer>> {
        let mut parts: Vec<Vec<&mut Buffer>> = (0..depth).map(|_| Vec::new()).collect();
        for (i, slot) in self.slots.iter_mut().enumerate() {
            parts[i % depth].push(slot);
        }
        parts
    }

    pub(crate) fn run(&self) -> u64 {
        self.run
    }

    /// The first block of 4096 bytes within `data` that is not what was written there.
    pub(crate) fn first_difference(&self, file: u32, offset: u64, block: u64, data: &[u8]) -> Option<u64> {
        let slot = self.slots[(offset / block) as usize % self.slots.len()].bytes();
        let mut at = offset;
        for (got, made) in data.chunks(STAMP_UNIT).zip(slot.chunks(STAMP_UNIT)) {
            let stamp = stamp(self.run, file, at);
            let mark = got.len().min(STAMP);
            if got[..mark] != stamp[..mark] || got[mark..] != made[mark..got.len()] {
                return Some(at);
            }
            at += STAMP_UNIT as u64;
        }
        None
    }

    /// Bytes per second at which blocks are made ready.
    pub(crate) fn measure(&mut self) -> f64 {
        let run = self.run;
        let mut bytes = 0;
        let begin = Instant::now();
        for slot in &mut self.slots {
            bytes += slot.len;
            stamp_all(slot.bytes_mut(), run, u32::MAX, 0);
        }
        bytes as f64 / begin.elapsed().max(Duration::from_nanos(1)).as_secs_f64()
    }
}

/// Stamps each 4096 bytes of a block that goes to `offset` of `file`.
pub(crate) fn stamp_all(block: &mut [u8], run: u64, file: u32, offset: u64) {
    let mut at = offset;
    for piece in block.chunks_mut(STAMP_UNIT) {
        piece[..STAMP].copy_from_slice(&stamp(run, file, at));
        at += STAMP_UNIT as u64;
    }
}

fn stamp(run: u64, file: u32, offset: u64) -> [u8; STAMP] {
    let mut stamp = [0; STAMP];
    stamp[..8].copy_from_slice(&run.to_le_bytes());
    stamp[8..16].copy_from_slice(&u64::from(file).to_le_bytes());
    stamp[16..].copy_from_slice(&offset.to_le_bytes());
    stamp
}

/// Whether every byte is zero.
pub(crate) fn all_zero(data: &[u8]) -> bool {
    let pieces = data.chunks_exact(64);
    pieces.remainder().iter().all(|b| *b == 0) && pieces.into_iter().all(|piece| piece == [0; 64])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_and_blocks_differ() {
        let mut pool = Pool::new(1, 2, 65_536, 2, u64::MAX);
        let parts = pool.split(2);
        assert_eq!(parts.len(), 2);
        assert!(parts[0].len() as u64 * 2 * 65_536 >= POOL);
        for slot in parts.iter().flatten() {
            assert_eq!(slot.bytes().as_ptr() as usize % ALIGN, 0);
            assert_eq!(slot.bytes().len(), 65_536);
        }
    }

    #[test]
    fn every_stamped_piece_is_unlike_every_other() {
        let mut pool = Pool::new(1, 2, 65_536, 1, 1 << 20);
        let mut seen = std::collections::HashSet::new();
        for file in 0..3 {
            let slot = pool.split(1).remove(0).remove(0);
            let block = slot.bytes_mut();
            for offset in [0, 65_536, 131_072] {
                stamp_all(block, 2, file, offset);
                for piece in block.chunks(STAMP_UNIT) {
                    assert!(seen.insert(piece.to_vec()));
                }
            }
        }
        assert_eq!(seen.len(), 3 * 3 * 16);
    }

    #[test]
    fn a_wrong_byte_is_found_in_its_piece() {
        let mut pool = Pool::new(1, 2, 65_536, 1, 1 << 20);
        let mut data = {
            let slot = pool.split(1).remove(0).remove(1);
            stamp_all(slot.bytes_mut(), 2, 7, 65_536);
            slot.bytes().to_vec()
        };
        assert_eq!(pool.first_difference(7, 65_536, 65_536, &data), None);
        assert_eq!(pool.first_difference(7, 65_536, 65_536, &data[..20_000]), None);
        assert_eq!(pool.first_difference(8, 65_536, 65_536, &data), Some(65_536));
        assert_eq!(pool.first_difference(7, 131_072, 65_536, &data), Some(131_072));
        data[9000] ^= 1;
        assert_eq!(pool.first_difference(7, 65_536, 65_536, &data), Some(65_536 + 8192));
    }

    #[test]
    fn zeros_are_told() {
        assert!(all_zero(&[]));
        assert!(all_zero(&[0; 133]));
        for at in [0, 63, 64, 127, 132] {
            let mut data = [0; 133];
            data[at] = 1;
            assert!(!all_zero(&data));
        }
    }
}
