#![doc = include_str!("../README.md")]

mod codec;
mod container;
mod encode;
mod engine;
mod error;
mod file;
mod layout;
mod options;
mod report;
mod verdict;

pub use codec::{Chunk, Codec};
pub use encode::{compress, compress_file};
pub use error::{BoxError, Error};
pub use options::{Format, Options};
pub use report::{Progress, Report, Stage, StageReport};
pub use verdict::{LimitingStage, Verdict};
