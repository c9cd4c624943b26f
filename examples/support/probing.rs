//! What programs that time in-core work have in common.

use std::time::Duration;

use qos::{Probe, Profile};

use crate::args::{confidence, seconds};

/// How long runs are, and how a class is asked for.
#[derive(Debug, Clone, clap::Args)]
pub struct ProbeArgs {
    /// Loops of each thread in a run [default: as many as take --seconds]
    #[arg(long, value_name = "N", conflicts_with = "seconds", value_parser = clap::value_parser!(u64).range(1..))]
    pub loops: Option<u64>,
    /// About how long a run takes on one thread at the default class
    #[arg(long, value_name = "S", default_value = "0.5", value_parser = seconds)]
    pub seconds: f64,
    /// Linux: also use what only a privileged thread can undo (`SCHED_IDLE`, nice 5)
    #[arg(long)]
    pub one_way: bool,
    /// Level of the intervals
    #[arg(long, value_name = "LEVEL", default_value = "0.95", value_parser = confidence)]
    pub confidence: f64,
}

impl ProbeArgs {
    /// Loops of each thread in a run of this kind of work.
    #[must_use]
    pub fn loops(&self, probe: &Probe) -> u64 {
        self.loops.unwrap_or_else(|| probe.loops_for(Duration::from_secs_f64(self.seconds)))
    }

    /// The means a class may use.
    #[must_use]
    pub fn profile(&self) -> Profile {
        if self.one_way { Profile::OneWay } else { Profile::Reversible }
    }
}

/// Each value once, in the order given.
pub fn unique<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for value in values {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_first_of_equal_values_stays() {
        assert_eq!(super::unique([3, 1, 3, 2, 1]), [3, 1, 2]);
    }
}
