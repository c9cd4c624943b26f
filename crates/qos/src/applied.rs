use std::fmt;

use crate::{Effective, Request};

/// What setting a class did: the request, the thread before and after as the kernel tells it, and each step.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Applied {
    /// What was asked for.
    pub request: Request,
    /// The thread as the kernel described it before.
    pub before: Effective,
    /// The thread as the kernel describes it now.
    pub after: Effective,
    /// What became of each attribute.
    pub steps: Vec<Step>,
}

impl Applied {
    /// Whether anything differs from before.
    #[must_use]
    pub fn changed(&self) -> bool {
        self.steps.iter().any(|step| step.outcome == Outcome::Changed)
    }

    /// The outcome for one attribute; `None` if the request does not concern it.
    #[must_use]
    pub fn outcome(&self, attribute: Attribute) -> Option<Outcome> {
        self.steps.iter().find(|step| step.attribute == attribute).map(|step| step.outcome)
    }
}

/// One attribute and what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Step {
    /// The attribute.
    pub attribute: Attribute,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Outcome {
    /// It now has another value.
    Changed,
    /// It already had the value asked for.
    Unchanged,
    /// Not done, and why.
    NotAvailable(&'static str),
}

/// An attribute of a thread that a class may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Attribute {
    /// Quality-of-service class (Apple).
    Class,
    /// Priority relative to the class (Apple).
    RelativePriority,
    /// Scheduling policy (Linux).
    Policy,
    /// Nice value (Linux).
    Nice,
    /// Scheduling slice (Linux).
    Slice,
    /// I/O priority (Linux).
    IoPriority,
    /// Upper bound of the utilization clamp (Linux).
    Utilization,
    /// CPU affinity (Linux).
    Affinity,
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Attribute::Class => "the class",
            Attribute::RelativePriority => "the relative priority",
            Attribute::Policy => "the scheduling policy",
            Attribute::Nice => "the nice value",
            Attribute::Slice => "the scheduling slice",
            Attribute::IoPriority => "the I/O priority",
            Attribute::Utilization => "the utilization clamp",
            Attribute::Affinity => "the CPU affinity",
        })
    }
}
