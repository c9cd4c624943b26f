//! The one error type of the crate.

/// Why no fit, interval or statistic was returned.
///
/// Indices count from 0 and refer to the slices as they were passed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No observation was given.
    #[error("no observations")]
    Empty,
    /// The model needs more observations than were given.
    #[error("{what} needs at least {need} observations, got {n}")]
    TooFew {
        /// The model or statistic.
        what: &'static str,
        /// Observations given.
        n: usize,
        /// Observations needed: enough to leave a degree of freedom for the error.
        need: usize,
    },
    /// The slices differ in length.
    #[error("{what} has {got} values where {expected} were expected")]
    LengthMismatch {
        /// Which slice.
        what: &'static str,
        /// Its length.
        got: usize,
        /// The length it should have.
        expected: usize,
    },
    /// A value is NaN or infinite.
    #[error("{what} is not finite at index {index}")]
    NonFinite {
        /// Which slice.
        what: &'static str,
        /// Where.
        index: usize,
    },
    /// A value is zero or negative where its logarithm, or a count, is needed.
    #[error("{what} is not positive at index {index}")]
    NonPositive {
        /// Which slice.
        what: &'static str,
        /// Where.
        index: usize,
    },
    /// A weight is not a finite number above zero.
    #[error("the weight at index {index} is not a finite number above zero")]
    Weight {
        /// Where.
        index: usize,
    },
    /// All x are equal, so that nothing can be said about a slope.
    #[error("all values of x are equal")]
    ConstantX,
    /// Fewer different values of x than parameters.
    #[error("{what} needs at least {need} different values of x, got {distinct}")]
    TooFewDistinct {
        /// The model.
        what: &'static str,
        /// Different values given.
        distinct: usize,
        /// Different values needed.
        need: usize,
    },
    /// A column is, to rounding, a combination of the columns before it.
    #[error("column {column} is a linear combination of the columns before it")]
    Collinear {
        /// Which column, 0 being the first after the intercept.
        column: usize,
    },
    /// The data do not determine a parameter of the model.
    #[error("the data do not identify the parameter {parameter}")]
    NotIdentified {
        /// The parameter.
        parameter: String,
    },
    /// The iteration ended without reaching a minimum.
    #[error("no convergence after {iterations} iterations")]
    NoConvergence {
        /// Iterations made.
        iterations: usize,
    },
    /// The result is too large or too small for a double.
    #[error("the result is outside the range of a double")]
    Range,
    /// A level of confidence is not between 0 and 1.
    #[error("a level of confidence must lie between 0 and 1, got {0}")]
    Level(f64),
    /// A prediction was asked for with the wrong number of predictors.
    #[error("the model has {expected} predictors, got {got}")]
    Predictors {
        /// Predictors of the model.
        expected: usize,
        /// Values given.
        got: usize,
    },
    /// A prediction was asked for where the model is not defined.
    #[error("the model is not defined at x = {0}")]
    Domain(f64),
    /// A setting is outside its range.
    #[error("{what} must be {range}")]
    Setting {
        /// Which setting.
        what: &'static str,
        /// What it may be.
        range: &'static str,
    },
    /// The corrected Akaike criterion does not exist with so few observations.
    #[error("AICc needs more than {need} observations for this model, got {n}")]
    NoAicc {
        /// Observations.
        n: usize,
        /// Parameters (the error's scale counted) plus one.
        need: usize,
    },
    /// The residuals are all zero, so the likelihood is unbounded.
    #[error("a perfect fit has no likelihood to compare")]
    PerfectFit,
    /// The models were not fitted to the same observations.
    #[error("the fits to compare are not of the same observations and weights")]
    DifferentData,
    /// No interval of that level exists for so few observations.
    #[error("no interval of level {level} exists for {n} observations")]
    NoInterval {
        /// Observations.
        n: usize,
        /// The level asked for.
        level: f64,
    },
    /// Too many resamples had no estimate.
    #[error("{failed} of {of} resamples gave no estimate")]
    Resamples {
        /// Resamples without one.
        failed: usize,
        /// All resamples.
        of: usize,
    },
}
