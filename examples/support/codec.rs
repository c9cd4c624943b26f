//! `--codec` and `--level`.

use clap::ValueEnum;
use stream::Format;

use crate::cli::Failure;

/// Which codec.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Codec {
    /// Zstandard
    Zstd,
    /// LZ4
    Lz4,
    /// No compression: a copy
    Store,
}

impl Codec {
    /// The name in arguments, tables and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Lz4 => "lz4",
            Self::Store => "store",
        }
    }

    /// The format it writes.
    #[must_use]
    pub fn format(self) -> Format {
        match self {
            Self::Zstd => Format::Zstd,
            Self::Lz4 => Format::Lz4,
            Self::Store => Format::Store,
        }
    }
}

/// The arguments of a program that compresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::Args)]
pub struct CodecArgs {
    /// The codec
    #[arg(long, value_enum, default_value_t = Codec::Zstd)]
    pub codec: Codec,
    /// Level of compression, for zstd only: 1 to 22, or negative for speed [default: 3]
    #[arg(long, short, allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-131_072..=22))]
    level: Option<i32>,
}

impl CodecArgs {
    /// The level, of zstd only.
    ///
    /// # Errors
    /// Level 0, and any level of a codec that has none.
    pub fn level(&self) -> Result<Option<i32>, Failure> {
        match (self.codec, self.level) {
            (Codec::Zstd, Some(0)) => Err(Failure::Usage("--level 0 is no level of zstd: use 1 to 22, or a negative one".into())),
            (Codec::Zstd, level) => Ok(Some(level.unwrap_or(3))),
            (_, None) => Ok(None),
            (codec, Some(_)) => Err(Failure::Usage(format!("--level is for zstd only: {} has no levels", codec.name()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_arguments() {
        for codec in Codec::value_variants() {
            assert_eq!(codec.to_possible_value().unwrap().get_name(), codec.name());
        }
    }

    #[test]
    fn only_zstd_has_levels() {
        let level = |codec, level| CodecArgs { codec, level }.level();
        assert_eq!(level(Codec::Zstd, None).unwrap(), Some(3));
        assert_eq!(level(Codec::Zstd, Some(-5)).unwrap(), Some(-5));
        assert_eq!(level(Codec::Lz4, None).unwrap(), None);
        for (codec, asked) in [(Codec::Zstd, 0), (Codec::Lz4, 3), (Codec::Store, 1)] {
            assert!(matches!(level(codec, Some(asked)), Err(Failure::Usage(_))), "{codec:?}");
        }
    }
}
