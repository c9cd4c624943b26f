//! Power laws, `y = scale · x^exponent`.

use crate::fitted::{Curve, Fitted};
use crate::formula::{Formula, Sample};
use crate::linear::finite;
use crate::{Error, Errors, Model, Options, Param, check, levenberg, line};

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

    /// By nonlinear least squares: right when errors are of the same size for all y, as from a coarse clock or a
    /// start-up of varying length. y may be zero or negative.
    ///
    /// # Errors
    /// [`Error::NonPositive`] unless all x are positive, [`Error::NotIdentified`] when all y are zero,
    /// [`Error::NoConvergence`], and the errors of [`LinearFit::ols`](crate::LinearFit::ols).
    pub fn nls(x: &[f64], y: &[f64]) -> Result<PowerLaw, Error> {
        PowerLaw::fit(x, y, &Options::default())
    }

    /// With options: multiplicative errors by [`log_log`](PowerLaw::log_log), additive ones by [`nls`](PowerLaw::nls).
    /// A power law of times is one of rates too, so [`Options::response`] changes nothing.
    ///
    /// # Errors
    /// Those of the functions above, and [`Error::Weight`].
    pub fn fit(x: &[f64], y: &[f64], options: &Options<'_>) -> Result<PowerLaw, Error> {
        check::pair(x, y)?;
        check::weights(options.weights, y.len())?;
        check::positive("x", x)?;
        check::enough("a power law", y.len(), 2)?;
        check::distinct("a power law", x, 2)?;
        match options.errors {
            Errors::Multiplicative => {
                check::positive("y", y)?;
                log_log(x, y, options.weights)
            }
            Errors::Additive => check::squares(y).and_then(|()| nls(x, y, options.weights)),
        }
        .and_then(finite)
        .map(PowerLaw)
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
    let mut fitted = line::exact(&ln_x, &ln_y, weights);
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

/// Variable projection: for each exponent the best scale is known, which leaves a search in one
/// dimension (Golub and Pereyra, 1973; the derivative after Kaufman, 1975). x over its geometric mean makes the two
/// nearly independent.
fn nls(x: &[f64], y: &[f64], weights: Option<&[f64]>) -> Result<Fitted, Error> {
    if y.iter().all(|&y| y == 0.0) {
        return Err(Error::NotIdentified { parameter: "exponent".into() });
    }
    let ln_x: Vec<f64> = x.iter().map(|x| x.ln()).collect();
    check::distinct("a power law", &ln_x, 2)?;
    let centre = ln_x.iter().sum::<f64>() / x.len() as f64;
    let u: Vec<f64> = ln_x.iter().map(|v| v - centre).collect();
    let search = Projection { u: &u, y, weights };
    let (scale, exponent) = search.minimise(search.start())?;
    // Standard errors, and the last digits, in the parameters asked for.
    let formula = Formula::new(1, &[f64::NEG_INFINITY; 2], |xs, b, g| {
        if xs[0] <= 0.0 {
            return f64::NAN;
        }
        let power = xs[0].powf(b[1]);
        (g[0], g[1]) = (power, b[0] * power * xs[0].ln());
        b[0] * power
    });
    let columns = [x];
    let sample = Sample::new(&columns, y, weights, Errors::Additive);
    let start = [scale * (-exponent * centre).exp(), exponent];
    let minimum = levenberg::minimise(&formula, &sample, &start)?;
    let names = ["scale".into(), "exponent".into()];
    levenberg::finish("power law", &names, formula, &sample, &minimum, (y, weights))
}

struct Projection<'a> {
    /// Logarithms of x, centred.
    u: &'a [f64],
    y: &'a [f64],
    weights: Option<&'a [f64]>,
}

impl Projection<'_> {
    /// The exponent of the line through the logarithms where there are some, or the best of a grid.
    fn start(&self) -> f64 {
        let grid = (-40..=40).map(|k| f64::from(k) / 8.0);
        let logarithmic = {
            let (mut suu, mut suv) = (0.0, 0.0);
            for (u, y) in self.u.iter().zip(self.y).filter(|(_, y)| **y > 0.0) {
                suu += u * u;
                suv += u * y.ln();
            }
            (suu > 0.0).then(|| suv / suu)
        };
        let best = grid.chain(logarithmic).map(|b| (self.at(b).1, b)).filter(|v| v.0.is_finite());
        best.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0.0, |v| v.1)
    }

    /// The best scale at an exponent, and the sum of squares.
    fn at(&self, b: f64) -> (f64, f64) {
        let w = |i: usize| self.weights.map_or(1.0, |w| w[i]);
        let (mut gg, mut gy) = (0.0, 0.0);
        for (i, u) in self.u.iter().enumerate() {
            let g = (b * u).exp();
            gg += w(i) * g * g;
            gy += w(i) * g * self.y[i];
        }
        let a = gy / gg;
        let rss = self.u.iter().enumerate().map(|(i, u)| w(i) * (self.y[i] - a * (b * u).exp()).powi(2)).sum();
        (a, rss)
    }

    fn minimise(&self, start: f64) -> Result<(f64, f64), Error> {
        let w = |i: usize| self.weights.map_or(1.0, |w| w[i]);
        let mut b = start;
        let (mut a, mut rss) = self.at(b);
        for _ in 0..200 {
            // Gauss-Newton with the derivative of the curve less its part along the curve itself.
            let (mut gg, mut gd) = (0.0, 0.0);
            for (i, u) in self.u.iter().enumerate() {
                let g = (b * u).exp();
                gg += w(i) * g * g;
                gd += w(i) * g * g * u;
            }
            let (mut dd, mut dr) = (0.0, 0.0);
            for (i, u) in self.u.iter().enumerate() {
                let g = (b * u).exp();
                let d = a * g * (u - gd / gg);
                dd += w(i) * d * d;
                dr += w(i) * d * (self.y[i] - a * g);
            }
            let mut step = dr / dd;
            if !step.is_finite() {
                break;
            }
            let better = (0..60).find_map(|_| {
                let (trial, new) = self.at(b + step);
                let tried = (new < rss).then_some((b + step, trial, new));
                step /= 2.0;
                tried
            });
            match better {
                Some((new_b, new_a, new_rss)) => {
                    let moved = (new_b - b).abs();
                    (b, a, rss) = (new_b, new_a, new_rss);
                    if moved <= 1e-15 * b.abs() {
                        break;
                    }
                }
                None => break,
            }
        }
        if a.is_finite() && rss.is_finite() { Ok((a, b)) } else { Err(Error::NoConvergence { iterations: 200 }) }
    }
}
