use std::fmt;
use std::str::FromStr;

use crate::Error;

/// A quality-of-service class: how much a person is waiting for the work, lowest first.
///
/// What each class promises, does and costs on each platform is tabled in `docs/platforms.md` of the repository. In
/// short: on Apple silicon `Background` runs on the efficiency cores only and the others prefer the fastest cores; on
/// Linux a class changes scheduling policy, slice and I/O priority, and chooses no kind of core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum QosClass {
    /// Nobody waits: indexing, backups, clean-up.
    Background,
    /// Somebody looks at the progress now and then: downloads, exports.
    Utility,
    /// Nothing was said; what every new thread has.
    #[default]
    Default,
    /// Somebody asked for it and waits for the result.
    UserInitiated,
    /// Somebody sees every late frame.
    UserInteractive,
}

impl QosClass {
    /// All five classes, lowest first.
    pub const ALL: [QosClass; 5] =
        [QosClass::Background, QosClass::Utility, QosClass::Default, QosClass::UserInitiated, QosClass::UserInteractive];

    /// The class's name in kebab case, as `FromStr` reads it: `background`, `utility`, `default`, `user-initiated`,
    /// `user-interactive`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            QosClass::Background => "background",
            QosClass::Utility => "utility",
            QosClass::Default => "default",
            QosClass::UserInitiated => "user-initiated",
            QosClass::UserInteractive => "user-interactive",
        }
    }
}

impl fmt::Display for QosClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for QosClass {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        QosClass::ALL.into_iter().find(|class| class.name() == text).ok_or_else(|| Error::UnknownClass { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_anything_else_is_refused() {
        for class in QosClass::ALL {
            assert_eq!(class.to_string().parse::<QosClass>().unwrap(), class);
        }
        for wrong in ["", "Background", "user_initiated", "userInitiated", "default "] {
            let message = wrong.parse::<QosClass>().unwrap_err().to_string();
            assert!(message.contains(&format!("{wrong:?}")), "{message}");
            assert!(message.contains("user-interactive"), "{message}");
        }
    }

    #[test]
    fn order_is_order_of_urgency() {
        assert!(QosClass::ALL.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
