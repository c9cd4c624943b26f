//! What the programs share: arguments, units, progress, JSON and reports.
