//! Files: a source read at offsets, and an output that has its final name only when it is complete.

mod input;
mod output;
mod positioned;

pub(crate) use input::{ALIGN, Input, aligned_part, aligned_start, check_seekable};
pub(crate) use output::Output;
