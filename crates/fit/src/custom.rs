//! Models of the caller's own.

use std::borrow::Cow;

use crate::fitted::Fitted;
use crate::formula::{Formula, Sample};
use crate::linear::finite;
use crate::{Error, Errors, Options, check, levenberg};

/// Any function with parameters, by the method of Levenberg and Marquardt with derivatives of yours.
///
/// ```
/// use gannet_fit::{Model, Nonlinear, Options};
/// let x = [0.0, 1.0, 2.0, 3.0, 4.0];
/// let y = [5.1, 3.0, 1.9, 1.0, 0.7];
/// // y = a exp(-b x)
/// let fit = Nonlinear::fit(&x, &y, &[("a", 1.0), ("b", 1.0)], &Options::default(), |x, b, gradient| {
///     let e = (-b[1] * x).exp();
///     gradient.copy_from_slice(&[e, -b[0] * x * e]);
///     b[0] * e
/// })?;
/// assert!((fit.param("a").unwrap().estimate - 5.1).abs() < 0.1);
/// # Ok::<(), gannet_fit::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Nonlinear(pub(crate) Fitted);

impl Nonlinear {
    /// Fits `y` at `x` from named starting values. The function is handed x and the parameters, writes its
    /// derivatives by the parameters, and returns its value; NaN where it has none.
    ///
    /// It finds the minimum that lies downhill from the start, which need not be the least.
    ///
    /// # Errors
    /// [`Error::TooFew`] unless there are more observations than parameters, [`Error::NonPositive`] for y with
    /// multiplicative errors, [`Error::NotIdentified`], [`Error::NoConvergence`] (at once when the
    /// function has no value at the start), [`Error::NonFinite`], [`Error::LengthMismatch`],
    /// [`Error::Empty`], [`Error::Weight`], [`Error::Range`].
    pub fn fit<F>(x: &[f64], y: &[f64], start: &[(&str, f64)], options: &Options<'_>, function: F) -> Result<Nonlinear, Error>
    where
        F: Fn(f64, &[f64], &mut [f64]) -> f64 + Send + Sync + 'static,
    {
        check::pair(x, y)?;
        check::weights(options.weights, y.len())?;
        check::enough("this model", y.len(), start.len())?;
        match options.errors {
            Errors::Additive => check::squares(y)?,
            Errors::Multiplicative => check::positive("y", y)?,
        }
        let values: Vec<f64> = start.iter().map(|s| s.1).collect();
        check::finite("a starting value", &values)?;
        let free = vec![f64::NEG_INFINITY; start.len()];
        let formula = Formula::new(1, &free, move |xs, b, g| function(xs[0], b, g));
        let columns = [x];
        let sample = Sample::new(&columns, y, options.weights, options.errors);
        let minimum = levenberg::minimise(&formula, &sample, &values)?;
        let names: Vec<Cow<'static, str>> = start.iter().map(|s| Cow::Owned(s.0.to_string())).collect();
        levenberg::finish("nonlinear", &names, formula, &sample, &minimum, (y, options.weights)).and_then(finite).map(Nonlinear)
    }
}
