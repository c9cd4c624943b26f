use std::time::Duration;

use super::{Timebase, u32_at, u64_at};
use crate::process::{ClassTimes, IoPolicy, LevelUsage, ProcessState, ProcessUsage};

/// `IOPOL_TYPE_DISK` and `IOPOL_SCOPE_PROCESS` (`sys/resource.h`).
pub(crate) const IOPOL_TYPE_DISK: i32 = 0;
pub(crate) const IOPOL_SCOPE_PROCESS: i32 = 0;

/// `PROC_PIDTBSDINFO` and `sizeof(struct proc_bsdinfo)` (`sys/proc_info.h`); its first field is `pbi_flags`.
pub(crate) const PROC_PIDTBSDINFO: i32 = 3;
pub(crate) const BSD_INFO_BYTES: usize = 136;

/// Bits of `pbi_flags`. `SUPPRESSED` and `APPLICATION` are in `sys/proc_info_private.h` only.
const DARWIN_BACKGROUND: u32 = 0x8000;
const EXTERNAL_BACKGROUND: u32 = 0x1_0000;
const SUPPRESSED: u32 = 0x80_0000;
const APPLICATION: u32 = 0x100_0000;

/// A version of `struct rusage_info_vN`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UsageFlavor {
    /// macOS 10.13: classes, instructions, cycles.
    V4,
    /// macOS 13: also the performance cores' part, and energy.
    V6,
}

impl UsageFlavor {
    pub(crate) const fn number(self) -> i32 {
        match self {
            UsageFlavor::V4 => 4,
            UsageFlavor::V6 => 6,
        }
    }

    pub(crate) const fn bytes(self) -> usize {
        match self {
            UsageFlavor::V4 => 296,
            UsageFlavor::V6 => 464,
        }
    }
}

/// `IOPOL_*` of a policy.
pub(crate) const fn io_policy_to_raw(policy: IoPolicy) -> i32 {
    match policy {
        IoPolicy::Default => 0,
        IoPolicy::Important => 1,
        IoPolicy::Passive => 2,
        IoPolicy::Throttle => 3,
        IoPolicy::Utility => 4,
        IoPolicy::Standard => 5,
    }
}

/// The policy of an `IOPOL_*`.
pub(crate) fn io_policy_from_raw(raw: i32) -> Option<IoPolicy> {
    IoPolicy::ALL.into_iter().find(|policy| io_policy_to_raw(*policy) == raw)
}

/// From `struct proc_bsdinfo`.
pub(crate) fn parse_bsd_info(bytes: &[u8]) -> Option<ProcessState> {
    let flags = u32_at(bytes, 0)?;
    Some(ProcessState {
        background: flags & DARWIN_BACKGROUND != 0,
        background_by_other: flags & EXTERNAL_BACKGROUND != 0,
        suppressed: flags & SUPPRESSED != 0,
        application: flags & APPLICATION != 0,
    })
}

/// From `struct rusage_info_v4` or `v6`; the longer has what the shorter has at the same places. Its times are Mach time.
pub(crate) fn parse_usage(bytes: &[u8], timebase: Timebase) -> Option<ProcessUsage> {
    let number = |offset| u64_at(bytes, offset);
    let time = |offset| number(offset).map(|ticks| Duration::from_nanos(timebase.nanoseconds(ticks)));
    let total = LevelUsage { time: time(16)? + time(24)?, instructions: number(248)?, cycles: number(256)?, energy_nj: number(336) };
    let performance = (bytes.len() >= UsageFlavor::V6.bytes()).then(|| {
        Some(LevelUsage { time: time(304)? + time(312)?, instructions: number(320)?, cycles: number(328)?, energy_nj: number(344) })
    });
    Some(ProcessUsage {
        total,
        performance: performance.flatten(),
        waiting: time(288)?,
        classes: ClassTimes {
            unspecified: time(160)?,
            maintenance: time(168)?,
            background: time(176)?,
            utility: time(184)?,
            default: time(192)?,
            user_initiated: time(200)?,
            user_interactive: time(208)?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_a_process() {
        let mut bytes = [0u8; BSD_INFO_BYTES];
        bytes[..4].copy_from_slice(&0x0181_8000u32.to_ne_bytes());
        let state = parse_bsd_info(&bytes).unwrap();
        assert!(state.background && state.background_by_other && state.suppressed && state.application);
        assert_eq!(parse_bsd_info(&[0; 136]), Some(ProcessState::default()));
        assert_eq!(parse_bsd_info(&[0; 3]), None);
    }

    #[test]
    fn usage_of_both_versions_and_too_short() {
        let silicon = Timebase { numerator: 125, denominator: 3 };
        let bytes: Vec<u8> = (0..58u64).flat_map(|word| (word * 24).to_ne_bytes()).collect();
        let usage = parse_usage(&bytes, silicon).unwrap();
        // Word n holds n microseconds.
        assert_eq!(usage.total.time, Duration::from_micros(2 + 3));
        assert_eq!(usage.classes.unspecified, Duration::from_micros(20));
        assert_eq!(usage.classes.user_interactive, Duration::from_micros(26));
        assert_eq!(usage.waiting, Duration::from_micros(36));
        let performance = usage.performance.unwrap();
        assert_eq!(performance.time, Duration::from_micros(38 + 39));
        assert_eq!((performance.cycles, performance.energy_nj), (41 * 24, Some(43 * 24)));
        let old = parse_usage(&bytes[..296], silicon).unwrap();
        assert_eq!((old.performance, old.total.energy_nj), (None, None));
        assert_eq!(parse_usage(&bytes[..295], silicon), None);
    }

    #[test]
    fn io_policies_round_trip() {
        for policy in IoPolicy::ALL {
            assert_eq!(io_policy_from_raw(io_policy_to_raw(policy)), Some(policy));
        }
        assert_eq!(io_policy_from_raw(6), None);
    }
}
