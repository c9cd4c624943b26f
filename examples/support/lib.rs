//! What the programs share: arguments, units, progress, JSON, plots and pages.
//!
//! A program is arguments, calls to the four libraries, and print. Whatever two of them need lives here.

pub mod args;
pub mod cli;
pub mod codec;
pub mod interrupt;
pub mod json;
pub mod machine;
pub mod operation;
pub mod outputs;
pub mod page;
pub mod plot;
pub mod print;
pub mod probing;
pub mod progress;
pub mod results;
pub mod units;
pub mod workdir;
