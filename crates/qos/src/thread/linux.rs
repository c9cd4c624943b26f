//! Linux: `sched_setattr`, `ioprio_set` and `sched_setaffinity` on the calling thread.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::linux_plan::{Plan, Rights};
use crate::sys::linux::{self as sys, SchedAttr};
use crate::{Applied, Attribute, CpuSet, Effective, Error, IoPriority, LinuxThread, Outcome, Policy, Request, Step};

/// `SCHED_FLAG_RESET_ON_FORK`; clearing it needs a privilege, so it is always carried along.
const RESET_ON_FORK: u64 = 0x01;
const UTIL_CLAMP_MIN: u64 = 0x20;
const UTIL_CLAMP_MAX: u64 = 0x40;
/// `SCHED_CAPACITY_SCALE`: no clamp.
const MOST_UTILIZATION: u32 = 1024;

/// The kernel's default slice in ns as last seen; 0 before. Reading a thread's slice does not tell the default from a
/// chosen one of that length.
static DEFAULT_SLICE: AtomicU64 = AtomicU64::new(0);

/// What to put back.
#[derive(Debug, Clone)]
pub(crate) struct Saved {
    attr: SchedAttr,
    io_priority: u32,
    /// Whether the request set them, so that they are certain to differ now, as long as nobody else changes them back.
    set: Changes,
    /// Only if the request restricted the CPUs.
    cpus: Option<CpuSet>,
}

/// Which attributes a request has set.
#[derive(Debug, Clone, Copy)]
struct Changes {
    attr: bool,
    io_priority: bool,
}

pub(crate) fn apply(request: &Request, undo: bool) -> Result<(Applied, Saved), Error> {
    let attr = sys::sched_getattr()?;
    let io_priority = sys::ioprio_get()?;
    let before = describe(&attr, io_priority, sys::affinity()?);
    let plan = Plan::new(request, &before);
    if undo {
        // The rights are only looked up when they matter.
        if plan.irreversible(&before, Rights::NONE).is_some() {
            if let Some((attribute, reason)) = plan.irreversible(&before, rights(&before)) {
                return Err(Error::Irreversible { class: request.class, attribute, reason });
            }
        }
    }
    let cpus = allowed(request, &before)?;
    let settings = attributes(&plan, &attr, DEFAULT_SLICE.load(Ordering::Relaxed));
    let new_io_priority = Some(plan.io_priority.to_raw()).filter(|new| *new != io_priority);
    let set = Changes { attr: !settings.is_empty(), io_priority: new_io_priority.is_some() };
    let saved = Saved { attr, io_priority, set, cpus: cpus.as_ref().map(|_| before.cpus.clone()) };
    if let Err(error) = carry_out(&settings, new_io_priority, cpus.as_ref()) {
        // Whatever was done before the refusal is undone; the refusal is the error to tell.
        let _ = restore(&saved);
        return Err(error);
    }
    let now = sys::sched_getattr()?;
    if plan.slice.is_none() && plan.policy != Policy::Idle {
        DEFAULT_SLICE.store(now.runtime, Ordering::Relaxed);
    }
    // Nothing else here changes the affinity.
    let cpus_now = if cpus.is_some() { sys::affinity()? } else { before.cpus.clone() };
    let after = describe(&now, sys::ioprio_get()?, cpus_now);
    let steps = steps(request, &before, &after);
    let applied = Applied { request: request.clone(), before: Effective::Linux(before), after: Effective::Linux(after), steps };
    Ok((applied, saved))
}

pub(crate) fn restore(saved: &Saved) -> Result<(), Error> {
    // Each is tried even if an earlier one failed; the first failure is told.
    let attributes = restore_attributes(&saved.attr, saved.set.attr);
    let io_priority = restore_io_priority(saved.io_priority, saved.set.io_priority);
    let cpus = saved.cpus.as_ref().map_or(Ok(()), sys::set_affinity);
    attributes.and(io_priority).and(cpus)
}

pub(crate) fn effective() -> Result<Effective, Error> {
    Ok(Effective::Linux(describe(&sys::sched_getattr()?, sys::ioprio_get()?, sys::affinity()?)))
}

/// Makes a command set the request's attributes before it runs the program.
pub(crate) fn request_before_exec(command: &mut std::process::Command, request: &Request) -> Result<(), Error> {
    let attr = sys::sched_getattr()?;
    let before = describe(&attr, sys::ioprio_get()?, sys::affinity()?);
    let plan = Plan::new(request, &before);
    let cpus = allowed(request, &before)?;
    sys::before_exec(command, &attributes(&plan, &attr, DEFAULT_SLICE.load(Ordering::Relaxed)), plan.io_priority.to_raw(), cpus);
    Ok(())
}

/// Those of the CPUs asked for that the thread may use.
fn allowed(request: &Request, before: &LinuxThread) -> Result<Option<CpuSet>, Error> {
    let Some(cpus) = &request.cpus else { return Ok(None) };
    let cpus = cpus.intersection(&before.cpus);
    if cpus.is_empty() {
        return Err(Error::NotAvailable { what: "a restriction to these CPUs", reason: "the thread may use none of them" });
    }
    Ok(Some(cpus))
}

fn carry_out(settings: &[SchedAttr], io_priority: Option<u32>, cpus: Option<&CpuSet>) -> Result<(), Error> {
    if let Some(cpus) = cpus {
        sys::set_affinity(cpus)?;
    }
    for attr in settings {
        sys::sched_setattr(attr)?;
    }
    io_priority.map_or(Ok(()), sys::ioprio_set)
}

/// What to set, in this order, to reach a plan; nothing if all is so already.
fn attributes(plan: &Plan, before: &SchedAttr, default_slice: u64) -> Vec<SchedAttr> {
    let mut attr = SchedAttr {
        policy: plan.policy.to_raw(),
        flags: before.flags & RESET_ON_FORK,
        nice: plan.nice,
        runtime: plan.slice.map_or(0, |slice| slice.as_nanos() as u64),
        ..SchedAttr::default()
    };
    let usual_slice = before.runtime == default_slice;
    let same_slice = plan.slice.map_or(usual_slice, |slice| u128::from(before.runtime) == slice.as_nanos());
    let mut same = same_slice && (before.policy, before.nice) == (attr.policy, attr.nice);
    if has_clamps(before) {
        same &= before.util_max == plan.utilization_max.unwrap_or(MOST_UTILIZATION);
        attr.flags |= UTIL_CLAMP_MAX;
        // All ones resets the clamp to the system's default.
        attr.util_max = plan.utilization_max.unwrap_or(u32::MAX);
    }
    if same {
        Vec::new()
    } else if plan.policy == Policy::Idle && Policy::from_raw(before.policy) != Policy::Idle && !usual_slice {
        // The kernel takes no slice together with SCHED_IDLE: a chosen one has to go before.
        vec![SchedAttr { policy: Policy::Other.to_raw(), ..attr }, attr]
    } else {
        vec![attr]
    }
}

fn restore_attributes(saved: &SchedAttr, differ: bool) -> Result<(), Error> {
    if !differ && sys::sched_getattr()? == *saved {
        return Ok(());
    }
    let mut attr = SchedAttr { flags: saved.flags & RESET_ON_FORK, ..*saved };
    if has_clamps(saved) {
        attr.flags |= UTIL_CLAMP_MIN | UTIL_CLAMP_MAX;
        attr.util_min = if saved.util_min == 0 { u32::MAX } else { saved.util_min };
        attr.util_max = if saved.util_max == MOST_UTILIZATION { u32::MAX } else { saved.util_max };
    }
    match Policy::from_raw(saved.policy) {
        Policy::Idle => {
            // The kernel takes no slice together with SCHED_IDLE, but keeps the one from before.
            if sys::sched_getattr()?.policy != saved.policy {
                set_slice(&SchedAttr { policy: Policy::Batch.to_raw(), ..attr })?;
            }
            attr.runtime = 0;
            sys::sched_setattr(&attr)
        }
        policy if policy.is_fair() => set_slice(&attr),
        _ => sys::sched_setattr(&attr),
    }
}

/// Sets attributes of a fair policy so that the slice reads as in `attr`.
fn set_slice(attr: &SchedAttr) -> Result<(), Error> {
    let default = DEFAULT_SLICE.load(Ordering::Relaxed);
    if default == 0 || attr.runtime == default {
        // Not to choose what was not chosen: the default follows the system's setting.
        sys::sched_setattr(&SchedAttr { runtime: 0, ..*attr })?;
        let now = sys::sched_getattr()?.runtime;
        DEFAULT_SLICE.store(now, Ordering::Relaxed);
        if now == attr.runtime {
            return Ok(());
        }
    }
    sys::sched_setattr(attr)
}

fn restore_io_priority(saved: u32, differs: bool) -> Result<(), Error> {
    if !differs && sys::ioprio_get()? == saved {
        return Ok(());
    }
    // Some kernels report the priority that follows from nice where none is set: try none first.
    let none = IoPriority::None.to_raw();
    sys::ioprio_set(none)?;
    if saved == none || sys::ioprio_get()? == saved { Ok(()) } else { sys::ioprio_set(saved) }
}

/// Whether the kernel has utilization clamps: without, it leaves both zero, and an upper bound of zero is no default.
fn has_clamps(attr: &SchedAttr) -> bool {
    attr.util_max != 0 || attr.util_min != 0
}

fn describe(attr: &SchedAttr, io_priority: u32, cpus: CpuSet) -> LinuxThread {
    let policy = Policy::from_raw(attr.policy);
    LinuxThread {
        policy,
        nice: attr.nice,
        realtime_priority: attr.priority,
        slice: (policy.is_fair() && attr.runtime > 0).then(|| Duration::from_nanos(attr.runtime)),
        io_priority: IoPriority::from_raw(io_priority),
        utilization_max: has_clamps(attr).then_some(attr.util_max),
        cpus,
    }
}

fn rights(before: &LinuxThread) -> Rights {
    // The scheduler looks for the capability in the initial user namespace, `capget` in the thread's own. Whoever has a
    // right in the initial one is in it; otherwise the namespace's own map tells, which takes 20 times as long to read.
    let whole = |map: String| map.split_whitespace().eq(["0", "0", "4294967295"]);
    let initial = || sys::may_give_realtime_io() || fs::read_to_string("/proc/thread-self/uid_map").is_ok_and(whole);
    if sys::has_cap_sys_nice() && initial() {
        return Rights { sys_nice: true, ..Rights::NONE };
    }
    let limit_realtime = if before.realtime_priority > 0 { sys::limit_realtime() } else { 0 };
    Rights { sys_nice: false, limit_nice: sys::limit_nice(), limit_realtime }
}

fn steps(request: &Request, before: &LinuxThread, after: &LinuxThread) -> Vec<Step> {
    let outcome = |same| if same { Outcome::Unchanged } else { Outcome::Changed };
    let mut steps = vec![
        Step { attribute: Attribute::Policy, outcome: outcome(before.policy == after.policy) },
        Step { attribute: Attribute::Nice, outcome: outcome(before.nice == after.nice) },
        Step {
            attribute: Attribute::Slice,
            outcome: match (before.slice, after.slice) {
                (_, None) => Outcome::NotAvailable("the kernel has no per-thread slice; Linux 6.12 brought it"),
                (then, now) => outcome(then == now),
            },
        },
        Step { attribute: Attribute::IoPriority, outcome: outcome(before.io_priority == after.io_priority) },
        Step {
            attribute: Attribute::Utilization,
            outcome: match (before.utilization_max, after.utilization_max) {
                (None, None) => Outcome::NotAvailable("the kernel was built without utilization clamping"),
                (then, now) => outcome(then == now),
            },
        },
    ];
    if request.relative_priority != 0 {
        let outcome = Outcome::NotAvailable("Linux has no priority within a class");
        steps.push(Step { attribute: Attribute::RelativePriority, outcome });
    }
    if request.cpus.is_some() {
        steps.push(Step { attribute: Attribute::Affinity, outcome: outcome(before.cpus == after.cpus) });
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Profile, QosClass};

    const DEFAULT: u64 = 1_400_000;

    fn thread() -> SchedAttr {
        SchedAttr { size: 56, runtime: DEFAULT, ..SchedAttr::default() }
    }

    fn set(request: impl Into<Request>, before: &SchedAttr) -> Vec<SchedAttr> {
        let plan = Plan::new(&request.into(), &describe(before, 0, CpuSet::new()));
        attributes(&plan, before, DEFAULT)
    }

    #[test]
    fn what_is_so_already_is_not_set() {
        assert!(set(QosClass::Default, &thread()).is_empty());
        assert!(set(QosClass::UserInitiated, &SchedAttr { nice: 7, ..thread() }).is_empty());
        assert_eq!(set(QosClass::Default, &SchedAttr { runtime: 3_000_000, ..thread() }).len(), 1);
        assert_eq!(set(QosClass::Default, &SchedAttr { policy: 3, ..thread() }).len(), 1);
        // Before Linux 6.12 no slice is told.
        let plan = Plan::new(&QosClass::Default.into(), &describe(&thread(), 0, CpuSet::new()));
        assert!(attributes(&plan, &SchedAttr { runtime: 0, ..thread() }, 0).is_empty());
    }

    #[test]
    fn clamps_are_set_where_there_are_some_and_reset_by_all_ones() {
        let clamps = SchedAttr { util_max: 1024, ..thread() };
        let background = set(QosClass::Background, &clamps);
        assert_eq!((background[0].flags, background[0].util_max), (UTIL_CLAMP_MAX, 205));
        // A tighter one stays.
        assert_eq!(set(QosClass::Background, &SchedAttr { util_max: 100, ..thread() })[0].util_max, 100);
        let default = set(QosClass::Default, &SchedAttr { util_max: 205, ..thread() });
        assert_eq!((default[0].flags, default[0].util_max), (UTIL_CLAMP_MAX, u32::MAX));
        assert!(set(QosClass::Default, &clamps).is_empty());
        assert_eq!(set(QosClass::Background, &thread())[0].flags, 0);
    }

    #[test]
    fn reset_on_fork_stays() {
        let before = SchedAttr { flags: RESET_ON_FORK, ..thread() };
        assert_eq!(set(QosClass::Utility, &before)[0].flags, RESET_ON_FORK);
    }

    #[test]
    fn a_chosen_slice_goes_before_the_idle_policy() {
        let idle = Request::new(QosClass::Background).profile(Profile::OneWay);
        let policies = |before: &SchedAttr| set(idle.clone(), before).iter().map(|attr| (attr.policy, attr.runtime)).collect::<Vec<_>>();
        assert_eq!(policies(&thread()), [(5, 0)]);
        assert_eq!(policies(&SchedAttr { runtime: 9_000_000, ..thread() }), [(0, 0), (5, 0)]);
    }
}
