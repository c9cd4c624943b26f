//! What can be chosen.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Parser, ValueEnum};
use support::args::confidence;
use support::cli::Failure;
use support::json::Target;

/// Fit a model to the columns of a file: parameters with intervals, predictions, and how far to believe them.
#[derive(Debug, Parser)]
#[command(name = "curve", version)]
pub(crate) struct Args {
    /// Numbers in columns, x y [weight] or x1 … xk y, between commas, semicolons or blanks; - for standard input. What follows
    /// # and one line of names are passed over
    pub(crate) file: PathBuf,
    /// linear, origin, poly:K, power (log-log), power-nls, amdahl, usl, saturating, capped, columns, affine (latency and bandwidth from bytes
    /// and seconds), theil-sen, or all: those that scale with x, compared
    #[arg(long, default_value = "linear")]
    pub(crate) model: Kind,
    /// Predict y at these x; for columns each X is x1,x2,…
    #[arg(long, value_name = "X", num_args = 1.., allow_negative_numbers = true)]
    pub(crate) predict: Vec<Point>,
    /// Level of confidence of the intervals
    #[arg(long, value_name = "LEVEL", default_value = "0.95", value_parser = confidence)]
    pub(crate) confidence: f64,
    /// The last column holds weights: one over the variance of y, in any unit
    #[arg(long)]
    pub(crate) weights: bool,
    /// How errors behave [default: multiplicative for power and all, else additive]
    #[arg(long, value_enum)]
    pub(crate) errors: Option<ErrorsName>,
    /// What y is, for amdahl, usl, saturating, capped and all [default: times for amdahl, rates for the others; for all, times when y falls]
    #[arg(long, value_enum)]
    pub(crate) response: Option<ResponseName>,
    /// Write everything as one JSON object to FILE (- for standard output, and nothing else there)
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<Target>,
    /// Write a page with table, plot, band and residuals to FILE
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
}

impl Args {
    /// Refuses options that the model does not know.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let usage = |message: String| Err(Failure::Usage(message));
        let name = self.model.name();
        if self.response.is_some() && !self.model.has_response() {
            return usage(format!("--response does not apply to --model {name}"));
        }
        match (self.model.only_errors(), self.errors) {
            (Some(only), Some(asked)) if only != asked => {
                return usage(format!("--model {name} has {} errors only", only.name()));
            }
            _ => {}
        }
        if self.weights && !self.model.takes_weights() {
            return usage(format!("--weights does not apply to --model {name}"));
        }
        Ok(())
    }

    /// The points to predict at: for one predictor `1,2` is two of them.
    pub(crate) fn points(&self) -> Vec<Vec<f64>> {
        match self.model {
            Kind::Columns => self.predict.iter().map(|p| p.0.clone()).collect(),
            _ => self.predict.iter().flat_map(|p| p.0.iter().map(|&x| vec![x])).collect(),
        }
    }
}

/// One or several numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Point(Vec<f64>);

impl FromStr for Point {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |t: &str| match t.trim().parse::<f64>() {
            Ok(v) if v.is_finite() => Ok(v),
            _ => Err(format!("not a number: {:?}", t.trim())),
        };
        text.split(',').map(number).collect::<Result<_, _>>().map(Point)
    }
}

/// Which model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Linear,
    Origin,
    Polynomial(usize),
    Power,
    PowerNls,
    Amdahl,
    Usl,
    Saturating,
    Capped,
    Columns,
    Affine,
    TheilSen,
    All,
}

const NAMES: [(&str, Kind); 12] = [
    ("linear", Kind::Linear),
    ("origin", Kind::Origin),
    ("power", Kind::Power),
    ("power-nls", Kind::PowerNls),
    ("amdahl", Kind::Amdahl),
    ("usl", Kind::Usl),
    ("saturating", Kind::Saturating),
    ("capped", Kind::Capped),
    ("columns", Kind::Columns),
    ("affine", Kind::Affine),
    ("theil-sen", Kind::TheilSen),
    ("all", Kind::All),
];

impl Kind {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Polynomial(k) => format!("poly:{k}"),
            kind => NAMES.iter().find(|(_, k)| *k == kind).map_or_else(String::new, |(name, _)| (*name).to_string()),
        }
    }

    pub(crate) fn has_response(self) -> bool {
        matches!(self, Self::Amdahl | Self::Usl | Self::Saturating | Self::Capped | Self::All)
    }

    fn takes_weights(self) -> bool {
        !matches!(self, Self::Affine | Self::TheilSen)
    }

    fn only_errors(self) -> Option<ErrorsName> {
        match self {
            Self::Power | Self::Affine => Some(ErrorsName::Multiplicative),
            Self::Linear | Self::Origin | Self::Polynomial(_) | Self::PowerNls | Self::Columns | Self::TheilSen => {
                Some(ErrorsName::Additive)
            }
            _ => None,
        }
    }

    /// The errors taken when none are asked for.
    pub(crate) fn default_errors(self) -> ErrorsName {
        match self {
            Self::All => ErrorsName::Multiplicative,
            kind => kind.only_errors().unwrap_or(ErrorsName::Additive),
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(degree) = text.strip_prefix("poly:") {
            return match degree.parse::<usize>() {
                Ok(k) if (1..=30).contains(&k) => Ok(Self::Polynomial(k)),
                _ => Err("the degree of poly:K is 1 to 30".into()),
            };
        }
        let known = || NAMES.map(|(name, _)| name).join(", ");
        NAMES.iter().find(|(name, _)| *name == text).map(|(_, kind)| *kind).ok_or_else(|| format!("the models are {}, poly:K", known()))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ErrorsName {
    /// Of one size everywhere
    Additive,
    /// In proportion to y
    Multiplicative,
}

impl ErrorsName {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Additive => "additive",
            Self::Multiplicative => "multiplicative",
        }
    }
}

impl From<ErrorsName> for fit::Errors {
    fn from(name: ErrorsName) -> Self {
        match name {
            ErrorsName::Additive => Self::Additive,
            ErrorsName::Multiplicative => Self::Multiplicative,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResponseName {
    /// Seconds, or anything that falls as x helps
    Time,
    /// Work in a time, or anything that rises
    Rate,
}

impl ResponseName {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Rate => "rate",
        }
    }
}

impl From<ResponseName> for fit::Response {
    fn from(name: ResponseName) -> Self {
        match name {
            ResponseName::Time => Self::Time,
            ResponseName::Rate => Self::Rate,
        }
    }
}
