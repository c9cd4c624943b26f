#![doc = include_str!("../README.md")]

mod data;
mod disk;
mod error;
mod evict;
mod folder;
mod model;
mod plan;
mod policy;
mod report;
mod rng;
mod runner;
mod sample;
#[cfg(feature = "serde")]
mod ser;
mod sys;
mod transfer;
mod volume;
mod worker;

pub use error::{Error, Result};
pub use evict::{Eviction, Residency, evict, evict_file};
pub use model::{Fault, ModelDisk};
pub use plan::{Plan, Settings};
pub use policy::{Access, Direction, FileMode, Method, ReadBack, Reserve, SyncPolicy};
pub use report::{Ending, Report, Total};
pub use runner::{Runner, Watch};
pub use sample::{Caveat, ChunkTime, Phases, Sample};
pub use volume::{Device, Space, Volume, VolumeKind};
