use super::{Timebase, u64_at};
use crate::QosClass;
use crate::meter::LevelCounters;

/// `QOS_CLASS_UNSPECIFIED`.
pub(crate) const QOS_CLASS_UNSPECIFIED: u32 = 0x00;

/// `THSC_TIME_ENERGY_CPI_PER_PERF_LEVEL`, the kind of `thread_selfcounts` with everything for each core level.
pub(crate) const SELF_COUNTS_PER_LEVEL: u32 = 6;

/// `PROC_PIDTHREADCOUNTS` of `proc_pidinfo`.
pub(crate) const PROC_PIDTHREADCOUNTS: i32 = 34;

/// `sizeof(struct thsc_time_energy_cpi)` and of `struct proc_threadcounts_data`: instructions, cycles, user time, system
/// time (Mach time), energy (nJ).
pub(crate) const COUNTS_BYTES: usize = 40;

/// `sizeof(struct proc_threadcounts)` before its array.
const THREAD_COUNTS_HEADER: usize = 8;

/// `sizeof(thread_extended_info_data_t)`.
pub(crate) const EXTENDED_INFO_BYTES: usize = 112;

/// Offsets in it of `pth_curpri`, `pth_priority`, `pth_maxpriority`.
const CURRENT_PRIORITY: usize = 36;
const BASE_PRIORITY: usize = 40;
const MAX_PRIORITY: usize = 44;

/// `qos_class_t` of a class (`sys/qos.h`).
pub(crate) const fn class_to_raw(class: QosClass) -> u32 {
    match class {
        QosClass::Background => 0x09,
        QosClass::Utility => 0x11,
        QosClass::Default => 0x15,
        QosClass::UserInitiated => 0x19,
        QosClass::UserInteractive => 0x21,
    }
}

/// The class of a `qos_class_t`; the private maintenance class (0x05) counts as background.
pub(crate) const fn class_from_raw(raw: u32) -> Option<QosClass> {
    match raw {
        0x05 | 0x09 => Some(QosClass::Background),
        0x11 => Some(QosClass::Utility),
        0x15 => Some(QosClass::Default),
        0x19 => Some(QosClass::UserInitiated),
        0x21 => Some(QosClass::UserInteractive),
        _ => None,
    }
}

/// The class of a `THREAD_QOS_*` tier, as `thread_policy_get` gives it (`osfmk/mach/thread_policy_private.h`).
pub(crate) const fn class_of_tier(tier: i32) -> Option<QosClass> {
    match tier {
        1 | 2 => Some(QosClass::Background),
        3 => Some(QosClass::Utility),
        4 => Some(QosClass::Default),
        5 => Some(QosClass::UserInitiated),
        6 => Some(QosClass::UserInteractive),
        _ => None,
    }
}

/// Scheduling priorities of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Priorities {
    pub(crate) current: i32,
    pub(crate) base: i32,
    pub(crate) max: i32,
}

/// From `THREAD_EXTENDED_INFO` or `PROC_PIDTHREADINFO`, which have the same form.
pub(crate) fn parse_extended_info(bytes: &[u8]) -> Option<Priorities> {
    let number = |offset| super::u32_at(bytes, offset).map(|value| value as i32);
    Some(Priorities { current: number(CURRENT_PRIORITY)?, base: number(BASE_PRIORITY)?, max: number(MAX_PRIORITY)? })
}

/// Counters per core level from `thread_selfcounts`: as many levels as the bytes hold whole.
pub(crate) fn parse_counts(bytes: &[u8], timebase: Timebase) -> Vec<LevelCounters> {
    let level = |chunk: &[u8]| {
        let time = u64_at(chunk, 16)?.saturating_add(u64_at(chunk, 24)?);
        Some(LevelCounters {
            instructions: u64_at(chunk, 0),
            cycles: u64_at(chunk, 8),
            time_ns: timebase.nanoseconds(time),
            energy_nj: u64_at(chunk, 32),
        })
    };
    bytes.chunks_exact(COUNTS_BYTES).filter_map(level).collect()
}

/// Counters per core level from `PROC_PIDTHREADCOUNTS`: a header with the number of levels, then the levels. `None` if the
/// answer is shorter than it says.
pub(crate) fn parse_thread_counts(bytes: &[u8], timebase: Timebase) -> Option<Vec<LevelCounters>> {
    let levels = usize::from(u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?));
    let end = THREAD_COUNTS_HEADER + levels * COUNTS_BYTES;
    Some(parse_counts(bytes.get(THREAD_COUNTS_HEADER..end)?, timebase))
}

/// How many bytes `PROC_PIDTHREADCOUNTS` needs.
pub(crate) const fn thread_counts_bytes(levels: usize) -> usize {
    THREAD_COUNTS_HEADER + levels * COUNTS_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    const SILICON: Timebase = Timebase { numerator: 125, denominator: 3 };

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn classes_round_trip_and_unknown_numbers_are_none() {
        for class in QosClass::ALL {
            assert_eq!(class_from_raw(class_to_raw(class)), Some(class));
        }
        assert_eq!((class_from_raw(0), class_from_raw(0x22)), (None, None));
        assert_eq!((class_of_tier(0), class_of_tier(7)), (None, None));
        assert_eq!(class_from_raw(0x05), Some(QosClass::Background));
    }

    #[test]
    fn base_priorities_with_any_relative_priority_stay_in_their_class() {
        let class_of = |base| crate::AppleThread::new(None, 0, None, Some(base), None, None).effective_class;
        // The kernel's own formula: delta = -(((own - next lower) * -relative) >> 4).
        let own = [4, 20, 31, 37, 46];
        for (index, class) in QosClass::ALL.into_iter().enumerate().skip(1) {
            for relative in -15..=0 {
                let base = own[index] - (((own[index] - own[index - 1]) * -relative) >> 4);
                assert_eq!(class_of(base), Some(class), "{class} {relative}");
            }
        }
        assert_eq!(class_of(4), Some(QosClass::Background));
        assert_eq!((class_of(0), class_of(97)), (None, None));
    }

    #[test]
    fn counters_of_levels_short_and_long() {
        let bytes = words(&[1000, 2000, 24_000, 48_000, 77, 1, 2, 3, 0, 0]);
        let levels = parse_counts(&bytes, SILICON);
        assert_eq!(levels.len(), 2);
        assert_eq!((levels[0].instructions, levels[0].cycles, levels[0].energy_nj), (Some(1000), Some(2000), Some(77)));
        assert_eq!((levels[0].time_ns, levels[1].time_ns), (3_000_000, 125));
        // A short buffer loses the level it cuts, and no other.
        assert_eq!(parse_counts(&bytes[..79], SILICON).len(), 1);
        assert!(parse_counts(&[], SILICON).is_empty());
    }

    #[test]
    fn thread_counts_follow_their_header() {
        let mut bytes = vec![0u8; THREAD_COUNTS_HEADER];
        bytes[..2].copy_from_slice(&3u16.to_ne_bytes());
        bytes.extend(words(&[5; 15]));
        assert_eq!(bytes.len(), thread_counts_bytes(3));
        assert_eq!(parse_thread_counts(&bytes, SILICON).unwrap().len(), 3);
        assert_eq!(parse_thread_counts(&bytes[..bytes.len() - 1], SILICON), None);
        assert_eq!(parse_thread_counts(&[], SILICON), None);
        bytes.extend(words(&[9; 5]));
        assert_eq!(parse_thread_counts(&bytes, SILICON).unwrap().len(), 3);
    }

    #[test]
    fn extended_info_by_offset() {
        let mut bytes = [0u8; EXTENDED_INFO_BYTES];
        for (offset, value) in [(36, 31i32), (40, 20), (44, 63)] {
            bytes[offset..offset + 4].copy_from_slice(&value.to_ne_bytes());
        }
        assert_eq!(parse_extended_info(&bytes), Some(Priorities { current: 31, base: 20, max: 63 }));
        assert_eq!(parse_extended_info(&bytes[..47]), None);
    }
}
