//! What every fitted model can tell: the sealed trait and the plain values it returns.

use std::borrow::Cow;
use std::fmt::Debug;

use crate::Error;
use crate::fitted::{Fitted, Sealed};

/// How the errors of the observations are taken to behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Errors {
    /// Of the same size everywhere: `y = f(x) + e`. The default.
    #[default]
    Additive,
    /// Proportional to the value, as timing noise usually is: `ln y = ln f(x) + e`.
    Multiplicative,
}

/// What the observations are, where a model could be of either.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Response {
    /// How long it took: falls with more workers.
    Time,
    /// How much was done in a time: the inverse.
    Rate,
}

/// The arithmetic a straight line is computed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Arithmetic {
    /// Double-double, about 31 digits. The default, and the only one for other models.
    #[default]
    DoubleDouble,
    /// Ordinary doubles, for millions of points: some 20 times faster, about 12 digits, and
    /// without [`Diagnostics`].
    Double,
}

/// What may be set for a fit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Options<'a> {
    pub(crate) weights: Option<&'a [f64]>,
    pub(crate) errors: Errors,
    pub(crate) response: Option<Response>,
    pub(crate) arithmetic: Arithmetic,
}

impl<'a> Options<'a> {
    /// Weights of the observations, one over their variances in any unit. Default: all 1.
    #[must_use]
    pub fn weights(mut self, weights: &'a [f64]) -> Options<'a> {
        self.weights = Some(weights);
        self
    }

    /// How the errors behave. Default: [`Errors::Additive`]. Linear fits are always additive.
    #[must_use]
    pub fn errors(mut self, errors: Errors) -> Options<'a> {
        self.errors = errors;
        self
    }

    /// What the observations of a scaling model are. Default: what the model is of by nature, times for
    /// [`Amdahl`](crate::Amdahl) and rates for the others. Fits to compare must be of the same observations.
    #[must_use]
    pub fn response(mut self, response: Response) -> Options<'a> {
        self.response = Some(response);
        self
    }

    /// The arithmetic of a straight line. Default: [`Arithmetic::DoubleDouble`]. Other models
    /// ignore it; [`Model::arithmetic`] tells what was used.
    #[must_use]
    pub fn arithmetic(mut self, arithmetic: Arithmetic) -> Options<'a> {
        self.arithmetic = arithmetic;
        self
    }
}

/// One estimated parameter.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Param {
    /// Its name, such as `slope`.
    pub name: Cow<'static, str>,
    /// The estimate, in units of y and x as the model says.
    pub estimate: f64,
    /// Its standard error; `None` for a parameter at a bound.
    pub std_error: Option<f64>,
    /// True when the best value lies at the edge of what the model allows, where standard errors
    /// and t intervals do not hold.
    pub at_bound: bool,
}

/// An interval; an end that is infinite means that the data set no limit there.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Interval {
    /// The lower end.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
}

impl Interval {
    /// Whether both ends are finite.
    pub fn is_bounded(&self) -> bool {
        self.lower.is_finite() && self.upper.is_finite()
    }

    /// Whether the value lies in the interval, its ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }

    pub(crate) fn around(centre: f64, half: f64) -> Interval {
        Interval { lower: centre - half, upper: centre + half }
    }

    pub(crate) fn exp(self) -> Interval {
        Interval { lower: self.lower.exp(), upper: self.upper.exp() }
    }
}

/// A predicted value with its intervals.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Prediction {
    /// The value of the model; with multiplicative errors the median.
    pub y: f64,
    /// The confidence interval of the value of the model.
    pub mean: Interval,
    /// The interval for one further observation, of weight 1.
    pub prediction: Interval,
    /// How far outside of the data it was made: see [`Model::extrapolation`].
    pub extrapolation: f64,
}

/// What the coefficient of determination is measured against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum RSquared {
    /// The mean of y; with multiplicative errors that of ln y.
    AboutMean,
    /// Zero, for linear fits without an intercept.
    AboutZero,
}

/// What the single observations say about a fit, in the order they were passed.
///
/// With multiplicative errors, residuals are those of ln y.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Diagnostics {
    /// Observed minus fitted.
    pub residuals: Vec<f64>,
    /// The share of its own fitted value that an observation decides, 0 to 1.
    pub leverage: Vec<f64>,
    /// Residuals over their own standard deviations, `e √w / (s √(1 - h))` (internally
    /// studentised); `None` where the fit passes through the observation whatever it is.
    pub studentized: Vec<Option<f64>>,
    /// Cook's distance (1977), `t² h / (p (1 - h))`; `None` where the above is.
    pub cooks_distance: Vec<Option<f64>>,
    /// The statistic of Durbin and Watson (1950) in the order given: near 2 without serial
    /// correlation. `None` for a perfect fit.
    pub durbin_watson: Option<f64>,
}

/// A fitted model. Sealed: the models are those of this crate.
///
/// A `level` is the confidence of an interval, such as 0.95, in all of the crate.
pub trait Model: Sealed + Debug {
    /// The name of the model, such as `power law`.
    fn name(&self) -> &'static str {
        self.fitted().name
    }

    /// The estimated parameters.
    fn params(&self) -> &[Param] {
        &self.fitted().params
    }

    /// The parameter of a name.
    fn param(&self, name: &str) -> Option<&Param> {
        self.params().iter().find(|p| p.name == name)
    }

    /// The confidence intervals of the parameters, in their order.
    ///
    /// Exact t intervals for linear fits and the log-log power law, otherwise by the delta method.
    /// For a parameter at a bound the interval is open-ended.
    ///
    /// # Errors
    /// [`Error::Level`] unless the level lies between 0 and 1.
    fn confidence_intervals(&self, level: f64) -> Result<Vec<Interval>, Error> {
        self.fitted().confidence_intervals(level)
    }

    /// The covariance matrix of the estimates; rows and columns of parameters at a bound are zero.
    fn covariance(&self) -> Vec<Vec<f64>> {
        self.fitted().covariance()
    }

    /// The number of observations.
    fn n(&self) -> usize {
        self.fitted().n
    }

    /// The degrees of freedom of the error: observations minus parameters that are free.
    fn df(&self) -> usize {
        self.fitted().df
    }

    /// The estimated standard deviation of an observation of weight 1, in the unit of y; with
    /// multiplicative errors that of ln y, which is the relative deviation while small.
    fn residual_std_dev(&self) -> f64 {
        self.fitted().s
    }

    /// The (weighted) sum of squared residuals that was minimised; 0 or infinite where a double cannot hold it.
    fn residual_sum_of_squares(&self) -> f64 {
        self.fitted().rss
    }

    /// The coefficient of determination; `None` when all y are equal.
    ///
    /// Never compare that of a fit with multiplicative errors with that of one without.
    fn r_squared(&self) -> Option<f64> {
        self.fitted().r_squared()
    }

    /// What [`r_squared`](Model::r_squared) is measured against.
    fn r_squared_kind(&self) -> RSquared {
        self.fitted().about
    }

    /// The coefficient of determination corrected for the number of parameters.
    fn adjusted_r_squared(&self) -> Option<f64> {
        self.fitted().adjusted_r_squared()
    }

    /// The F statistic against the mean alone (without an intercept, against zero); `None` when the
    /// model is not linear or all y are equal, infinite for a perfect fit.
    fn f_statistic(&self) -> Option<f64> {
        self.fitted().f_statistic()
    }

    /// The condition number of the design with its columns scaled to length one (in the Frobenius norm
    /// over the number of columns): 1 for orthogonal columns; about 16 minus its decimal
    /// logarithm digits survive rounding of the input.
    fn condition(&self) -> f64 {
        self.fitted().condition
    }

    /// How the errors were taken to behave.
    fn errors(&self) -> Errors {
        self.fitted().errors
    }

    /// The arithmetic that was used.
    fn arithmetic(&self) -> Arithmetic {
        self.fitted().arithmetic
    }

    /// Residuals, leverage and what follows from them; `None` after [`Arithmetic::Double`].
    fn diagnostics(&self) -> Option<Diagnostics> {
        self.fitted().diagnostics()
    }

    /// The number of predictors of the model: 1 but for several columns and two core classes.
    fn predictors(&self) -> usize {
        self.fitted().curve.predictors()
    }

    /// The value of the model at `x`; with multiplicative errors that is the median.
    ///
    /// # Errors
    /// [`Error::Domain`] where the model is not defined, [`Error::Predictors`] unless it has one
    /// predictor.
    fn predict(&self, x: f64) -> Result<f64, Error> {
        self.fitted().predict(&[x])
    }

    /// The value of the model at the given predictors.
    ///
    /// # Errors
    /// [`Error::Domain`] where the model is not defined, [`Error::Predictors`] for a wrong number.
    fn predict_at(&self, xs: &[f64]) -> Result<f64, Error> {
        self.fitted().predict(xs)
    }

    /// The confidence interval of the value of the model at `x`.
    ///
    /// It says where the curve is, not where observations fall, and it holds if the model does.
    ///
    /// # Errors
    /// As [`predict`](Model::predict), and [`Error::Level`].
    fn mean_interval(&self, x: f64, level: f64) -> Result<Interval, Error> {
        Ok(self.fitted().prediction(&[x], level)?.mean)
    }

    /// The interval for one further observation of weight 1 at `x`.
    ///
    /// # Errors
    /// As [`predict`](Model::predict), and [`Error::Level`].
    fn prediction_interval(&self, x: f64, level: f64) -> Result<Interval, Error> {
        Ok(self.fitted().prediction(&[x], level)?.prediction)
    }

    /// Value, both intervals and extrapolation at the given predictors.
    ///
    /// # Errors
    /// As [`predict_at`](Model::predict_at), and [`Error::Level`].
    fn prediction_at(&self, xs: &[f64], level: f64) -> Result<Prediction, Error> {
        self.fitted().prediction(xs, level)
    }

    /// How far outside of the data `x` lies: 1 within, else the ratio to the nearest x of the
    /// data (2 for twice the largest). When data or `x` are not all positive, one plus the distance
    /// over the range of the data. Of several predictors the first counts.
    fn extrapolation(&self, x: f64) -> f64 {
        self.fitted().extrapolation(x)
    }

    /// The factor of Duan (1983) that turns a predicted median into a mean: the mean of the
    /// exponentials of the residuals. 1 for additive errors, `None` after [`Arithmetic::Double`].
    fn smearing_factor(&self) -> Option<f64> {
        self.fitted().smearing_factor()
    }

    /// The logarithm of the greatest likelihood under normal errors, of y itself whatever the
    /// errors, so that it compares across them.
    ///
    /// # Errors
    /// [`Error::PerfectFit`] when it is unbounded.
    fn log_likelihood(&self) -> Result<f64, Error> {
        self.fitted().log_likelihood()
    }

    /// Akaike's criterion corrected for few observations (Hurvich and Tsai, 1989), the error's
    /// scale counted as a parameter.
    ///
    /// # Errors
    /// [`Error::NoAicc`] when there are too few observations, [`Error::PerfectFit`].
    fn aicc(&self) -> Result<f64, Error> {
        self.fitted().aicc()
    }
}

impl<T: Sealed + Debug> Model for T {}

/// The seal: a type that holds a [`Fitted`].
macro_rules! sealed {
    ($($name:ident),*) => { $(
        impl Sealed for crate::$name {
            fn fitted(&self) -> &Fitted { &self.0 }
        }
    )* };
}

sealed!(LinearFit, PowerLaw, Amdahl, Usl, RateLine, TwoClass, Saturating, Capped, Nonlinear);
