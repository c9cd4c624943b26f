//! What a class means on Linux, and whether it can be undone. Pure; the calls are in `linux.rs`.

use std::time::Duration;

use crate::{Attribute, IoPriority, LinuxThread, Policy, Profile, QosClass, Request};

/// The attributes a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) policy: Policy,
    pub(crate) nice: i32,
    /// `None` is the system's default slice.
    pub(crate) slice: Option<Duration>,
    pub(crate) io_priority: IoPriority,
    /// `None` is the system's default.
    pub(crate) utilization_max: Option<u32>,
}

/// What the thread may do without asking anybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rights {
    /// `CAP_SYS_NICE` in the initial user namespace, where the kernel looks for it.
    pub(crate) sys_nice: bool,
    /// `RLIMIT_NICE`.
    pub(crate) limit_nice: u64,
    /// `RLIMIT_RTPRIO`.
    pub(crate) limit_realtime: u64,
}

impl Rights {
    /// No right and no allowance.
    pub(crate) const NONE: Rights = Rights { sys_nice: false, limit_nice: 0, limit_realtime: 0 };
}

/// A fifth of the biggest core: the frequency governor and the core choice see no more of a background thread.
const BACKGROUND_UTILIZATION: u32 = 205;

impl Plan {
    /// The plan for a request on a thread that is now as `before` says.
    pub(crate) fn new(request: &Request, before: &LinuxThread) -> Plan {
        let one_way = request.profile == Profile::OneWay;
        let usual = Plan { policy: Policy::Other, nice: before.nice, slice: None, io_priority: IoPriority::None, utilization_max: None };
        match request.class {
            QosClass::UserInteractive => Plan { slice: Some(Duration::from_micros(500)), ..usual },
            QosClass::UserInitiated | QosClass::Default => usual,
            QosClass::Utility => Plan {
                policy: Policy::Batch,
                // A floor, not a step: asking twice does not add up.
                nice: if one_way { before.nice.max(5) } else { before.nice },
                slice: Some(Duration::from_millis(10)),
                io_priority: IoPriority::BestEffort(6),
                ..usual
            },
            QosClass::Background => Plan {
                policy: if one_way { Policy::Idle } else { Policy::Batch },
                slice: if one_way { None } else { Some(Duration::from_millis(100)) },
                io_priority: IoPriority::Idle,
                utilization_max: before.utilization_max.map(|now| now.min(BACKGROUND_UTILIZATION)),
                ..usual
            },
        }
    }

    /// The first attribute that could not be put back to `before`, and why.
    pub(crate) fn irreversible(&self, before: &LinuxThread, rights: Rights) -> Option<(Attribute, &'static str)> {
        if rights.sys_nice {
            return None;
        }
        let may_nice = rights.limit_nice >= (20 - before.nice).max(1) as u64;
        if self.policy != before.policy {
            match before.policy {
                Policy::Fifo | Policy::RoundRobin if rights.limit_realtime < u64::from(before.realtime_priority) => {
                    return Some((Attribute::Policy, "RLIMIT_RTPRIO does not allow its real-time priority again"));
                }
                Policy::Deadline | Policy::Unknown(_) => {
                    return Some((Attribute::Policy, "only CAP_SYS_NICE may enter its policy again"));
                }
                _ => {}
            }
            if self.policy == Policy::Idle && before.policy.is_fair() && !may_nice {
                return Some((
                    Attribute::Policy,
                    "leaving SCHED_IDLE needs CAP_SYS_NICE, or an RLIMIT_NICE that allows the present nice value",
                ));
            }
        }
        if self.nice > before.nice && !may_nice {
            return Some((Attribute::Nice, "lowering it again needs CAP_SYS_NICE, or an RLIMIT_NICE that allows it"));
        }
        if matches!(before.io_priority, IoPriority::Realtime(_)) {
            return Some((Attribute::IoPriority, "real-time I/O priority needs CAP_SYS_NICE"));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread() -> LinuxThread {
        LinuxThread {
            policy: Policy::Other,
            nice: 0,
            realtime_priority: 0,
            slice: Some(Duration::from_micros(1400)),
            io_priority: IoPriority::None,
            utilization_max: None,
            cpus: [0].into_iter().collect(),
        }
    }

    const NOBODY: Rights = Rights::NONE;

    fn refused(request: Request, before: &LinuxThread, rights: Rights) -> Option<Attribute> {
        Plan::new(&request, before).irreversible(before, rights).map(|(attribute, _)| attribute)
    }

    #[test]
    fn the_reversible_profile_is_reversible_for_anybody_on_any_fair_thread() {
        for policy in [Policy::Other, Policy::Batch] {
            for nice in [-20, 0, 19] {
                for class in QosClass::ALL {
                    let before = LinuxThread { policy, nice, ..thread() };
                    assert_eq!(refused(class.into(), &before, NOBODY), None);
                }
            }
        }
    }

    #[test]
    fn one_way_steps_are_refused_without_the_right_and_allowed_with_it() {
        let background = Request::new(QosClass::Background).profile(Profile::OneWay);
        let utility = Request::new(QosClass::Utility).profile(Profile::OneWay);
        let root = Rights { sys_nice: true, ..NOBODY };
        // RLIMIT_NICE 20 permits nice 0, 15 permits nice 5.
        let desktop = Rights { limit_nice: 20, ..NOBODY };
        let nearly = Rights { limit_nice: 19, ..NOBODY };
        for (request, attribute) in [(background, Attribute::Policy), (utility, Attribute::Nice)] {
            assert_eq!(refused(request.clone(), &thread(), NOBODY), Some(attribute));
            assert_eq!(refused(request.clone(), &thread(), nearly), Some(attribute));
            assert_eq!(refused(request.clone(), &thread(), desktop), None);
            assert_eq!(refused(request, &thread(), root), None);
        }
    }

    #[test]
    fn a_real_time_thread_changes_only_when_it_can_return() {
        let before = LinuxThread { policy: Policy::Fifo, realtime_priority: 10, ..thread() };
        let request = Request::new(QosClass::Background);
        assert_eq!(refused(request.clone(), &before, NOBODY), Some(Attribute::Policy));
        assert_eq!(refused(request.clone(), &before, Rights { limit_realtime: 9, ..NOBODY }), Some(Attribute::Policy));
        assert_eq!(refused(request.clone(), &before, Rights { limit_realtime: 10, ..NOBODY }), None);
        let before = LinuxThread { policy: Policy::Deadline, ..thread() };
        assert_eq!(refused(request, &before, Rights { limit_realtime: 99, ..NOBODY }), Some(Attribute::Policy));
    }

    #[test]
    fn nice_is_a_floor_that_does_not_add_up() {
        let utility = Request::new(QosClass::Utility).profile(Profile::OneWay);
        for (now, then) in [(0, 5), (5, 5), (10, 10), (-3, 5)] {
            assert_eq!(Plan::new(&utility, &LinuxThread { nice: now, ..thread() }).nice, then);
        }
    }
}
