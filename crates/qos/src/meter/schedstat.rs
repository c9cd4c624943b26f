//! `/proc/PID/task/TID/schedstat`: run time (ns), time ready without a CPU (ns), times put onto a CPU. Kernels keep it
//! with `CONFIG_SCHED_INFO`, whether or not they have scheduler statistics.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// A reading of a thread's `schedstat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SchedStat {
    /// Up to the last tick or switch, if the thread is running now.
    pub(crate) running_ns: u64,
    pub(crate) waiting_ns: u64,
    pub(crate) switches: u64,
}

impl SchedStat {
    /// Reads an open file anew.
    pub(crate) fn read(file: &File) -> Option<Self> {
        let mut bytes = [0; 80];
        let length = file.read_at(&mut bytes, 0).ok()?;
        SchedStat::parse(&bytes[..length])
    }

    /// Three numbers with a space between them.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut numbers = bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(number);
        let (running_ns, waiting_ns, switches) = (numbers.next()??, numbers.next()??, numbers.next()??);
        numbers.next().is_none().then_some(SchedStat { running_ns, waiting_ns, switches })
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |value, digit| {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numbers_and_nothing_else() {
        let parsed = SchedStat { running_ns: 12_345, waiting_ns: 0, switches: u64::MAX };
        assert_eq!(SchedStat::parse(b"12345 0 18446744073709551615\n"), Some(parsed));
        for wrong in ["", "1 2", "1 2 3 4", "1 2 x", "1 -2 3", "1 2 18446744073709551616"] {
            assert_eq!(SchedStat::parse(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
