mod child;
mod raise;
mod state;
mod usage;

pub use child::{ChildCommand, Hold, child_command};
pub use raise::Override;
pub use state::{IoPolicy, ProcessState, io_policy, set_background, set_io_policy};
pub use usage::{ClassTimes, LevelUsage, ProcessUsage};

#[cfg(not(target_vendor = "apple"))]
const APPLE_ONLY: &str = "only Apple systems have it";
