//! The loops themselves. Each is a function of its own, so that its body can be found in the machine code.

/// Places in the memory probe's cycle: 96 KiB at one per cache line of 64 bytes.
///
/// The loads must stay within the core, or what other cores and other programs do would show. 96 KiB is well off the sizes
/// of first-level data caches (32 to 64 KiB, 128 KiB on Apple's performance cores) and second-level caches (256 KiB and
/// more): a cycle about as large as a cache depends on every line that somebody else brings in. `docs/measuring.md` has the
/// measurements. Its 24 pages of 4 KiB fit first-level address translation.
const PLACES: usize = 96 << 4;
/// `u32` in a cache line.
const LINE: usize = 16;

/// The exclusive or with a shifted copy keeps a compiler from folding many steps into one.
#[inline(never)]
pub(super) fn probe_integer(loops: u64) -> u64 {
    let mut x = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..loops {
        x ^= x >> 29;
        // Constants of a full-period generator (Knuth, MMIX).
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    }
    x
}

/// Rust never reorders floating-point arithmetic, so each step waits for the one before. The value swings ever closer
/// around 0.5: far from infinity and from subnormal numbers, which some cores take longer for.
#[inline(never)]
pub(super) fn probe_floating_point(loops: u64) -> u64 {
    let mut x = 0.3f64;
    for _ in 0..loops {
        x = x * -0.999_999_9 + 1.0;
    }
    x.to_bits()
}

#[inline(never)]
pub(super) fn probe_simd(loops: u64) -> u64 {
    let mut x = [0f32; 16];
    for (lane, value) in x.iter_mut().enumerate() {
        *value = lane as f32 * 0.01;
    }
    for _ in 0..loops {
        for value in &mut x {
            *value = *value * 0.999_999 + 0.25;
        }
    }
    x.iter().fold(0, |sum, value| sum.rotate_left(3) ^ u64::from(value.to_bits()))
}

#[inline(never)]
pub(super) fn probe_memory(cycle: &[u32], loops: u64) -> u64 {
    let mut place = 0u32;
    for _ in 0..loops {
        place = cycle[place as usize];
    }
    u64::from(place)
}

/// A random cycle through all lines of the memory (Sattolo's algorithm): each line's first number is the next line's
/// place.
pub(super) fn cycle() -> Vec<u32> {
    let mut order: Vec<u32> = (0..PLACES as u32).collect();
    let mut state = 0x2545_f491_4f6c_dd1du64;
    for last in (1..PLACES).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        order.swap(last, (state % last as u64) as usize);
    }
    let mut memory = vec![0u32; PLACES * LINE];
    for (place, next) in order.into_iter().enumerate() {
        memory[place * LINE] = next * LINE as u32;
    }
    memory
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_cycle_visits_every_line_once() {
        let memory = cycle();
        assert_eq!(probe_memory(&memory, PLACES as u64), 0);
        let mut seen = vec![false; PLACES];
        let mut place = 0usize;
        for _ in 0..PLACES {
            assert!(!std::mem::replace(&mut seen[place / LINE], true));
            place = memory[place] as usize;
        }
    }
}
