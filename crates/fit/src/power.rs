//! Power laws, `y = scale · x^exponent`.

use crate::fitted::{Curve, Fitted};
use crate::linear::finite;
use crate::{Error, Errors, Model, Options, Param, check, line};

/// A power law, `y = scale · x^exponent`.
///
/// ```
/// use gannet_fit::{Model, PowerLaw};
/// let threads = [1.0, 2.0, 3.0, 4.0, 5.0];
/// let seconds = [49.32, 26.74, 18.60, 14.29, 11.21];
/// let law = PowerLaw::log_log(&threads, &seconds)?;
/// assert!((law.exponent().estimate + 0.91169).abs() < 5e-6);
/// let ten = law.prediction_interval(10.0, 0.95)?;
/// assert!(5.53 < ten.lower && ten.upper < 6.76);
/// assert_eq!(law.extrapolation(10.0), 2.0);
/// # Ok::<(), gannet_fit::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PowerLaw(pub(crate) Fitted);

impl PowerLaw {
    /// By a straight line through the logarithms: right when errors are proportional to y, as the
    /// noise of timings usually is. All intervals are exact t intervals, transformed.
    ///
    /// # Errors
    /// [`Error::NonPositive`] unless all x and y are positive, and the errors of
    /// [`LinearFit::ols`](crate::LinearFit::ols).
    pub fn log_log(x: &[f64], y: &[f64]) -> Result<PowerLaw, Error> {
        PowerLaw::fit(x, y, &Options::default().errors(Errors::Multiplicative))
    }

    /// With options: multiplicative errors by [`log_log`](PowerLaw::log_log).
    ///
    /// # Errors
    /// Those of the functions above, and [`Error::Weight`].
    pub fn fit(x: &[f64], y: &[f64], options: &Options<'_>) -> Result<PowerLaw, Error> {
        check::pair(x, y)?;
        check::weights(options.weights, y.len())?;
        check::positive("x", x)?;
        check::enough("a power law", y.len(), 2)?;
        check::distinct("a power law", x, 2)?;
        check::positive("y", y)?;
        log_log(x, y, options.weights).and_then(finite).map(PowerLaw)
    }

    /// y at x = 1.
    pub fn scale(&self) -> &Param {
        &self.params()[0]
    }

    /// The power of x: -1 for a time inversely proportional to x.
    pub fn exponent(&self) -> &Param {
        &self.params()[1]
    }
}

fn log_log(x: &[f64], y: &[f64], weights: Option<&[f64]>) -> Result<Fitted, Error> {
    let ln = |v: &[f64]| v.iter().map(|v| v.ln()).collect::<Vec<f64>>();
    let (ln_x, ln_y) = (ln(x), ln(y));
    // Different x may have the same logarithm.
    check::distinct("a power law", &ln_x, 2)?;
    let mut fitted = line::exact(&ln_x, &ln_y, weights)?;
    // The line's columns are scaled by powers of two; these are not.
    let (ex, ey) = (crate::dd::exponent(&ln_x), crate::dd::exponent(&ln_y));
    fitted.unscale(&[0, ex], ey);
    fitted.name = "power law";
    fitted.curve = Curve::LogLog;
    fitted.errors = Errors::Multiplicative;
    let scale = fitted.coefficients[0].to_f64().exp();
    fitted.factors[0] = scale;
    for (param, name) in fitted.params.iter_mut().zip(["scale", "exponent"]) {
        param.name = name.into();
    }
    fitted.params[0].estimate = scale;
    fitted.params[0].std_error = fitted.params[0].std_error.map(|se| se * scale);
    let sum_ln_y = fitted.data.sum_ln_y + ln_y.iter().sum::<f64>();
    fitted.data = check::data(x, y, weights);
    fitted.data.sum_ln_y = sum_ln_y;
    Ok(fitted)
}
