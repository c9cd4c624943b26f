#![doc = include_str!("../README.md")]

mod codec;
mod container;
mod decode;
mod encode;
mod encoder;
mod engine;
mod error;
mod file;
mod layout;
mod model;
mod options;
mod report;
mod verdict;

pub use codec::{Chunk, Codec};
pub use decode::{Decoder, Frame, FrameKind, Frames, SeekableReader, decompress, decompress_file, frames, read_range, verify, verify_file};
pub use encode::{compress, compress_file, compress_to_file, transform, transform_file};
pub use encoder::Encoder;
pub use error::{BoxError, Error};
pub use model::{Pipeline, Prediction};
pub use options::{Format, Options};
pub use report::{Progress, Report, Stage, StageReport};
pub use verdict::{LimitingStage, Verdict};
