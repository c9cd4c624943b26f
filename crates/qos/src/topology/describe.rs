use std::fmt;

use super::{CoreLevel, Topology};

impl fmt::Display for Topology {
    /// One line: the levels, and what this process may use if that is less.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let levels: Vec<String> = self.levels.iter().map(CoreLevel::to_string).collect();
        write!(f, "{}", levels.join(" + "))?;
        if self.usable.cpus < self.logical_cpus {
            write!(f, ", this process may use {}", self.usable.cpus)?;
        }
        Ok(())
    }
}

impl fmt::Display for CoreLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.physical_cores, self.name)?;
        if self.logical_cpus != self.physical_cores {
            write!(f, " ({} threads)", self.logical_cpus)?;
        }
        Ok(())
    }
}
