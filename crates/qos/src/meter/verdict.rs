use std::fmt;
use std::time::Duration;

use crate::{Effective, Observed, ProcessState, QosClass, Request, Source, Topology};

/// Share of the CPU time at the slowest level from which background counts as honoured.
const BACKGROUND_SHARE: f64 = 0.95;
/// Share of the CPU time at the fastest level from which the other classes count as honoured.
const FAST_SHARE: f64 = 0.90;
/// Share of the time ready to run, from which waiting for a CPU counts as contention.
const WAITING_SHARE: f64 = 0.10;
/// Share of the CPU time on the CPUs asked for, from which a restriction counts as honoured.
const RESTRICTED_SHARE: f64 = 0.99;
/// Less CPU time than this shows nothing.
const SHORTEST: Duration = Duration::from_millis(1);
/// The priority App Nap caps everything to.
const NAPPING_PRIORITY: i32 = 4;

/// What a verdict is made from. All of it can be recorded, so a verdict can be had later and elsewhere.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// What was asked for.
    pub request: &'a Request,
    /// What the kernel says it applies.
    pub effective: &'a Effective,
    /// What holds the process down.
    pub process: &'a ProcessState,
    /// Where the work ran.
    pub observed: &'a Observed,
    /// The cores.
    pub topology: &'a Topology,
}

/// Whether a request did what its class promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Verdict {
    /// The work ran where the class asks: background at least 95 % at the slowest level, the others at least 90 % at the
    /// fastest, a restriction to CPUs at least 99 % on them.
    Honoured,
    /// The kernel applies a lower class than asked for.
    Clamped(ClampReason),
    /// The class is in effect, but the cores it prefers were busy: work spilled to slower ones, or waited at least 10 % of
    /// the time it was ready.
    Contended,
    /// The work ran elsewhere than asked, and nothing explains it.
    NotHonoured,
    /// The class chooses no kind of core on this system, so where the work ran says nothing about it.
    NotPromised,
    /// All cores are of one kind, so no choice could show.
    NoDistinction,
    /// What it did can't be told.
    NotMeasurable(Unmeasurable),
}

/// Why a class is not in effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum ClampReason {
    /// The process put itself into the background, or inherited it.
    ProcessBackground,
    /// Another process put it into the background.
    BackgroundByOther,
    /// App Nap: the system suppresses the process.
    AppNap,
    /// Only applications reach user-interactive; others stop at user-initiated.
    NotAnApplication,
    /// Another call stripped the thread of quality of service.
    Stripped,
    /// None of the visible reasons: most likely a clamp put on when the process was started, which nothing shows.
    StartedClamped,
}

/// Why nothing can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Unmeasurable {
    /// A virtual machine, whose counters stand still.
    VirtualMachine,
    /// The system has no counters per core level.
    NoCounters(&'static str),
    /// The work ran less than 1 ms.
    TooShort,
}

impl Verdict {
    /// Judges a request by what was seen. Pure: recorded evidence gives the same verdict everywhere.
    #[must_use]
    pub fn judge(evidence: &Evidence<'_>) -> Self {
        if let Some(reason) = clamp(evidence) {
            return Verdict::Clamped(reason);
        }
        if let Some(reason) = unmeasurable(evidence.observed) {
            return Verdict::NotMeasurable(reason);
        }
        if evidence.topology.levels.len() < 2 {
            return Verdict::NoDistinction;
        }
        match evidence.effective {
            Effective::Apple(_) => by_class(evidence.request.class, evidence.observed),
            _ => by_restriction(evidence),
        }
    }
}

fn clamp(evidence: &Evidence<'_>) -> Option<ClampReason> {
    let Effective::Apple(thread) = evidence.effective else { return None };
    let (process, asked) = (evidence.process, evidence.request.class);
    if thread.requested_class.is_some() && thread.kernel_class.is_none() {
        return Some(ClampReason::Stripped);
    }
    let capped = thread.max_priority.is_some_and(|max| max <= NAPPING_PRIORITY) && asked > QosClass::Background;
    let lower = thread.effective_class.is_some_and(|class| class < asked);
    if !capped && !lower {
        return None;
    }
    Some(if process.background_by_other {
        ClampReason::BackgroundByOther
    } else if process.background {
        ClampReason::ProcessBackground
    } else if process.suppressed || capped {
        ClampReason::AppNap
    } else if asked == QosClass::UserInteractive && thread.effective_class == Some(QosClass::UserInitiated) && !process.application {
        ClampReason::NotAnApplication
    } else {
        ClampReason::StartedClamped
    })
}

fn unmeasurable(observed: &Observed) -> Option<Unmeasurable> {
    if let Source::NotAvailable { reason } = observed.source {
        return Some(Unmeasurable::NoCounters(reason));
    }
    if observed.cpu_time < SHORTEST {
        return Some(Unmeasurable::TooShort);
    }
    let standing = observed.levels.iter().all(|level| level.cycles == Some(0));
    (observed.source == Source::Kernel && standing).then_some(Unmeasurable::VirtualMachine)
}

fn by_class(class: QosClass, observed: &Observed) -> Verdict {
    let share = |level: Option<&crate::ObservedLevel>| level.and_then(|level| level.share).unwrap_or(0.0);
    if class == QosClass::Background {
        let slow = share(observed.levels.last());
        return if slow >= BACKGROUND_SHARE { Verdict::Honoured } else { Verdict::NotHonoured };
    }
    let waited = observed.waiting.unwrap_or_default().as_secs_f64();
    if waited > WAITING_SHARE * (waited + observed.cpu_time.as_secs_f64()) {
        return Verdict::Contended;
    }
    let fast = share(observed.levels.first());
    match class {
        _ if fast >= FAST_SHARE => Verdict::Honoured,
        // Work of this class may go to either kind, as the system likes.
        QosClass::Utility => Verdict::NotPromised,
        _ => Verdict::Contended,
    }
}

/// Linux: a class chooses no kind of core, a restriction to the CPUs of some levels does.
fn by_restriction(evidence: &Evidence<'_>) -> Verdict {
    let Some(cpus) = &evidence.request.cpus else { return Verdict::NotPromised };
    let allowed: Vec<usize> = cpus.iter().filter_map(|cpu| evidence.topology.level_of(cpu)).collect();
    let levels = &evidence.observed.levels;
    if levels.iter().all(|level| allowed.contains(&level.index)) {
        return Verdict::NotPromised;
    }
    let inside: f64 = levels.iter().filter(|level| allowed.contains(&level.index)).filter_map(|level| level.share).sum();
    if inside >= RESTRICTED_SHARE { Verdict::Honoured } else { Verdict::NotHonoured }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Honoured => f.write_str("honoured: the work ran where the class asks"),
            Verdict::Clamped(reason) => write!(f, "clamped: {reason}"),
            Verdict::Contended => f.write_str("contended: the cores the class prefers were busy"),
            Verdict::NotHonoured => f.write_str("not honoured: the work ran elsewhere, and nothing explains it"),
            Verdict::NotPromised => f.write_str("not promised: this class chooses no kind of core here"),
            Verdict::NoDistinction => f.write_str("no distinction: all cores are of one kind"),
            Verdict::NotMeasurable(reason) => write!(f, "not measurable: {reason}"),
        }
    }
}

impl fmt::Display for ClampReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ClampReason::ProcessBackground => "the process is in the background by its own doing or its parent's",
            ClampReason::BackgroundByOther => "another process put this one into the background",
            ClampReason::AppNap => "App Nap suppresses the process",
            ClampReason::NotAnApplication => "only applications reach user-interactive",
            ClampReason::Stripped => "another call stripped the thread of quality of service",
            ClampReason::StartedClamped => "the process was most likely started with a clamp",
        })
    }
}

impl fmt::Display for Unmeasurable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmeasurable::VirtualMachine => f.write_str("counters stand still in a virtual machine"),
            Unmeasurable::NoCounters(reason) => f.write_str(reason),
            Unmeasurable::TooShort => f.write_str("the work ran less than a millisecond"),
        }
    }
}
