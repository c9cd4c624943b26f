use std::fmt;
use std::time::Duration;

use crate::{Effective, Observed, ProcessState, QosClass, Request, Source, Topology};

// The limits are where a deviation gets as large as what repeated runs differ by anyhow. The same loop takes 3.02 times as
// long at the slower level (published for an M4 Pro), so a part p of the CPU time elsewhere changes the work done by
// 2.02 p for background, and by (1 - 1/3.02) p for the others.

/// Share of the CPU time at the slowest level from which background counts as honoured: the published background runs
/// (2.35 to 2.81 s, mean 2.61 s) differ from their mean by 10 %, which 5 % of the time elsewhere amount to.
const BACKGROUND_SHARE: f64 = 0.95;
/// Share of the CPU time at the fastest level from which the other classes count as honoured: 10 % elsewhere cost 7 % of
/// the speed, about twice what 20 runs of half a second on a quiet virtual machine differed by (3.4 and 3.9 %).
const FAST_SHARE: f64 = 0.90;
/// Share of the time ready to run, from which waiting for a CPU counts as contention. A thread alone on a quiet machine
/// waited 0.01 % (median of 20 runs, 1.3 % at most); one of three that share two CPUs waits 33 %, one of 15 on 14 CPUs 7 %.
const WAITING_SHARE: f64 = 0.05;
/// Share of the CPU time on the CPUs asked for, from which a restriction counts as honoured. The kernel moves the thread
/// before the call returns, so nothing runs elsewhere afterwards; but a guard that is entered after the meter has started
/// takes up to 10 µs, a hundredth of the shortest run judged.
const RESTRICTED_SHARE: f64 = 0.99;
/// A sampled share does not speak for a request if two standard errors are more than this; 40 looks that all find the same
/// level are enough.
const MOST_DOUBT: f64 = 0.05;
/// Less CPU time than this shows nothing: the meter's own cost (5 µs) has to be out of the question.
const SHORTEST: Duration = Duration::from_millis(1);
/// The priority App Nap caps everything to: XNU's `MAXPRI_THROTTLE`.
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
    /// fastest, a restriction to CPUs at least 99 % on them (less two standard errors, if sampled).
    Honoured,
    /// The kernel applies a lower class than asked for.
    Clamped(ClampReason),
    /// The request is in effect, but its cores were busy: work spilled to slower ones, or waited at least 5 % of the time it
    /// was ready.
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
    /// The thread was looked at too seldom for shares as exact as a verdict needs; about 40 ms of work are enough.
    FewSamples,
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
        let verdict = match evidence.effective {
            Effective::Apple(_) => by_class(evidence.request.class, evidence.observed),
            _ => by_restriction(evidence),
        };
        // Background is meant to wait.
        let background = matches!(evidence.effective, Effective::Apple(_)) && evidence.request.class == QosClass::Background;
        if verdict == Verdict::Honoured && !background && waited(evidence.observed) { Verdict::Contended } else { verdict }
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

/// Two standard errors of a share; none where it was counted.
fn doubt(observed: &Observed) -> f64 {
    if let Source::Sampled { share_error, .. } = observed.source { 2.0 * share_error } else { 0.0 }
}

/// Whether the thread waited for a CPU for long.
fn waited(observed: &Observed) -> bool {
    let waited = observed.waiting.unwrap_or_default().as_secs_f64();
    waited >= WAITING_SHARE * (waited + observed.cpu_time.as_secs_f64())
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
    let doubt = doubt(evidence.observed);
    if inside + doubt < RESTRICTED_SHARE {
        Verdict::NotHonoured
    } else if doubt > MOST_DOUBT {
        Verdict::NotMeasurable(Unmeasurable::FewSamples)
    } else {
        Verdict::Honoured
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Honoured => f.write_str("honoured: the work ran where the class asks"),
            Verdict::Clamped(reason) => write!(f, "clamped: {reason}"),
            Verdict::Contended => f.write_str("contended: the cores asked for were busy"),
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
            Unmeasurable::FewSamples => f.write_str("the work ran too shortly to be sampled"),
        }
    }
}
