//! The two directions of a pipeline that the programs time.

/// What a timed run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// From plain to packed.
    Compress,
    /// Back again.
    Decompress,
}

impl Operation {
    /// Both, in the order of a round.
    pub const ALL: [Self; 2] = [Self::Compress, Self::Decompress];

    /// The name in tables and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Compress => "compress",
            Self::Decompress => "decompress",
        }
    }
}
