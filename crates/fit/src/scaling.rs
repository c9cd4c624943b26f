//! Models of how a time or a rate changes with the number of workers.

use crate::dd::Dd;
use crate::fitted::Fitted;
use crate::formula::{Formula, Sample};
use crate::levenberg::{self, Minimum};
use crate::linear::finite;
use crate::{Error, Errors, Model, Options, Param, Response, check, qr};

/// The law of Amdahl (1967): `time = serial + parallel / x`, both at least 0.
///
/// Fits times unless [`Options::response`] says otherwise.
///
/// ```
/// use gannet_fit::{Amdahl, Errors, Model, Options};
/// let threads = [1.0, 2.0, 4.0, 8.0];
/// let seconds = [10.1, 5.9, 4.1, 2.9];
/// let law = Amdahl::fit(&threads, &seconds, &Options::default().errors(Errors::Multiplicative))?;
/// assert!((0.1..0.3).contains(&law.serial_fraction()));
/// # Ok::<(), gannet_fit::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Amdahl(pub(crate) Fitted);

impl Amdahl {
    /// Fits `y` at numbers of workers `x`.
    ///
    /// # Errors
    /// [`Error::TooFew`] below 3 observations, [`Error::ConstantX`], [`Error::NonPositive`] for x, and for y
    /// where it is inverted or its logarithm taken, [`Error::NonFinite`], [`Error::LengthMismatch`],
    /// [`Error::Empty`], [`Error::Weight`], [`Error::NoConvergence`], [`Error::Range`].
    pub fn fit(x: &[f64], y: &[f64], options: &Options<'_>) -> Result<Amdahl, Error> {
        let task = Task { name: "Amdahl", names: &["serial", "parallel"], natural: Response::Time, distinct: 2 };
        task.check(x, y, options)?;
        let formula = Formula::new(1, &[0.0; 2], |xs, b, g| {
            if xs[0] <= 0.0 {
                return f64::NAN;
            }
            (g[0], g[1]) = (1.0, 1.0 / xs[0]);
            b[0] + b[1] / xs[0]
        });
        let columns = [vec![1.0; x.len()], x.iter().map(|x| 1.0 / x).collect()];
        let start = task.linear_start(&columns, y, options)?;
        // At the bound, all of it is parallel.
        let positive = start.iter().map(|b| b.max(0.0)).collect();
        let product = x.iter().zip(task.natural_values(y, options)).map(|(x, t)| x * t).fold(f64::INFINITY, f64::min);
        task.fit(formula, &[x], y, options, vec![positive, vec![0.0, product]]).map(Amdahl)
    }

    /// The time that no number of workers shortens.
    pub fn serial(&self) -> &Param {
        &self.params()[0]
    }

    /// The time of one worker that is shared out.
    pub fn parallel(&self) -> &Param {
        &self.params()[1]
    }

    /// The share of one worker's time that is serial, 0 to 1.
    pub fn serial_fraction(&self) -> f64 {
        let (serial, parallel) = (self.serial().estimate, self.parallel().estimate);
        serial / (serial + parallel)
    }
}

/// The Universal Scalability Law (Gunther, 1993):
/// `rate = scale · x / (1 + contention (x - 1) + coherency x (x - 1))`, the last two at least 0.
///
/// Fits rates unless [`Options::response`] says otherwise.
#[derive(Debug, Clone)]
pub struct Usl(pub(crate) Fitted);

impl Usl {
    /// Fits `y` at numbers of workers `x`, of which 1 need not be one.
    ///
    /// # Errors
    /// As [`Amdahl::fit`], but it needs 4 observations and 3 different x.
    pub fn fit(x: &[f64], y: &[f64], options: &Options<'_>) -> Result<Usl, Error> {
        let names = &["scale", "contention", "coherency"];
        let task = Task { name: "USL", names, natural: Response::Rate, distinct: 3 };
        task.check(x, y, options)?;
        let formula = Formula::new(1, &[0.0; 3], |xs, b, g| {
            let n = xs[0];
            if n <= 0.0 {
                return f64::NAN;
            }
            let d = 1.0 + (n - 1.0) * (b[1] + b[2] * n);
            let rate = b[0] * n / d;
            (g[0], g[1], g[2]) = (n / d, -rate * (n - 1.0) / d, -rate * n * (n - 1.0) / d);
            rate
        });
        let z = task.natural_values(y, options);
        // x / rate is linear in 1, x - 1 and x (x - 1); the greater terms may be left out.
        let mut starts = vec![];
        for terms in 1..=3 {
            let mut columns = vec![vec![1.0; x.len()]];
            columns.push(x.iter().map(|x| x - 1.0).collect());
            columns.push(x.iter().map(|x| x * (x - 1.0)).collect());
            columns.truncate(terms);
            let target: Vec<f64> = x.iter().zip(&z).map(|(x, z)| x / z).collect();
            let weights: Vec<f64> = target.iter().map(|t| 1.0 / (t * t)).collect();
            if let Ok(c) = weighted_start(&columns, &target, &weights) {
                let part = |k: usize| c.get(k).map_or(0.0, |v| (v / c[0]).max(0.0));
                if c[0] > 0.0 {
                    starts.push(vec![1.0 / c[0], part(1), part(2)]);
                }
            }
        }
        task.fit(formula, &[x], y, options, starts).map(Usl)
    }

    /// The rate of one worker.
    pub fn scale(&self) -> &Param {
        &self.params()[0]
    }

    /// The share of the work that workers wait for each other with.
    pub fn contention(&self) -> &Param {
        &self.params()[1]
    }

    /// The cost of keeping each pair of workers in step.
    pub fn coherency(&self) -> &Param {
        &self.params()[2]
    }

    /// The number of workers with the greatest rate, at least 1; `None` when the rate never falls.
    pub fn peak(&self) -> Option<f64> {
        let (sigma, kappa) = (self.contention().estimate, self.coherency().estimate);
        (kappa > 0.0).then(|| ((1.0 - sigma).max(0.0) / kappa).sqrt().max(1.0))
    }
}

/// A rate that grows by the same amount with every worker: `rate = intercept + slope · x`.
///
/// For rates with additive errors it is [`LinearFit::ols`](crate::LinearFit::ols); here for times, and for
/// errors in proportion. Fits rates unless [`Options::response`] says otherwise.
#[derive(Debug, Clone)]
pub struct RateLine(pub(crate) Fitted);

impl RateLine {
    /// Fits `y` at numbers of workers `x`.
    ///
    /// # Errors
    /// As [`Amdahl::fit`], but that x need not be positive.
    pub fn fit(x: &[f64], y: &[f64], options: &Options<'_>) -> Result<RateLine, Error> {
        let task = Task { name: "rate line", names: &["intercept", "slope"], natural: Response::Rate, distinct: 2 };
        task.check_any_x(x, y, options)?;
        let columns = [vec![1.0; x.len()], x.to_vec()];
        let start = task.linear_start(&columns, y, options)?;
        let middle = crate::robust::median(&task.natural_values(y, options))?;
        task.fit(line_formula(), &[x], y, options, vec![start, vec![middle, 0.0]]).map(RateLine)
    }
}

pub(crate) fn line_formula() -> Formula {
    Formula::new(1, &[f64::NEG_INFINITY; 2], |xs, b, g| {
        (g[0], g[1]) = (1.0, xs[0]);
        b[0] + b[1] * xs[0]
    })
}

/// Two kinds of core: `rate = intercept + performance · p + efficiency · e`, the last two at least 0.
///
/// Fits rates unless [`Options::response`] says otherwise. Predictions take both numbers:
/// [`Model::predict_at`].
#[derive(Debug, Clone)]
pub struct TwoClass(pub(crate) Fitted);

impl TwoClass {
    /// Fits `y` at numbers of performance cores `p` and efficiency cores `e`.
    ///
    /// # Errors
    /// [`Error::TooFew`] below 4 observations, [`Error::NotIdentified`] when one number follows from the
    /// other, [`Error::NonPositive`] for y where it is inverted or its logarithm taken, and the others of
    /// [`Amdahl::fit`].
    pub fn fit(p: &[f64], e: &[f64], y: &[f64], options: &Options<'_>) -> Result<TwoClass, Error> {
        let names = &["intercept", "performance", "efficiency"];
        let task = Task { name: "two classes", names, natural: Response::Rate, distinct: 1 };
        check::length("e", e, p.len())?;
        task.check_any_x(p, y, options)?;
        check::finite("e", e)?;
        check::enough(task.name, y.len(), 3)?;
        let formula = Formula::new(2, &[f64::NEG_INFINITY, 0.0, 0.0], |xs, b, g| {
            (g[0], g[1], g[2]) = (1.0, xs[0], xs[1]);
            b[0] + b[1] * xs[0] + b[2] * xs[1]
        });
        let start = task.linear_start(&[vec![1.0; p.len()], p.to_vec(), e.to_vec()], y, options)?;
        let middle = crate::robust::median(&task.natural_values(y, options))?;
        task.fit(formula, &[p, e], y, options, vec![start, vec![middle, 0.0, 0.0]]).map(TwoClass)
    }

    /// The rate that a performance core adds.
    pub fn performance(&self) -> &Param {
        &self.params()[1]
    }

    /// The rate that an efficiency core adds.
    pub fn efficiency(&self) -> &Param {
        &self.params()[2]
    }
}

/// A rate that comes near to a limit: `rate = limit · (1 - exp(-growth · x))`, growth at least 0.
///
/// Fits rates unless [`Options::response`] says otherwise.
#[derive(Debug, Clone)]
pub struct Saturating(pub(crate) Fitted);

impl Saturating {
    /// Fits `y` at `x`.
    ///
    /// # Errors
    /// As [`Amdahl::fit`]; x may be 0 or negative with additive errors of rates.
    pub fn fit(x: &[f64], y: &[f64], options: &Options<'_>) -> Result<Saturating, Error> {
        let task = Task { name: "saturating", names: &["limit", "growth"], natural: Response::Rate, distinct: 2 };
        if task.needs_positive(options) {
            task.check(x, y, options)?;
        } else {
            task.check_any_x(x, y, options)?;
        }
        let formula = Formula::new(1, &[f64::NEG_INFINITY, 0.0], |xs, b, g| {
            let risen = -(-b[1] * xs[0]).exp_m1();
            (g[0], g[1]) = (risen, b[0] * xs[0] * (1.0 - risen));
            b[0] * risen
        });
        let z = task.natural_values(y, options);
        let largest = x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        // For each growth the best limit is a line through the origin.
        let starts = (-12..=12).map(|k| {
            let growth = 2f64.powi(k) / largest;
            let risen: Vec<f64> = x.iter().map(|x| -(-growth * x).exp_m1()).collect();
            let weights = task.weights(&z, options);
            let sum = |f: &dyn Fn(usize) -> f64| (0..x.len()).map(|i| weights[i] * risen[i] * f(i)).sum::<f64>();
            vec![sum(&|i| z[i]) / sum(&|i| risen[i]), growth]
        });
        let sample = Sample::new(&[], y, options.weights, options.errors);
        let observed = formula.clone().observed_as(task.natural, options.response.unwrap_or(task.natural));
        let x_columns = [x];
        let sample = Sample { x: &x_columns, ..sample };
        let mut starts: Vec<(f64, Vec<f64>)> = starts.filter_map(|b| Some((sample.residuals(&observed, &b, None)?.1, b))).collect();
        starts.sort_by(|a, b| a.0.total_cmp(&b.0));
        let best = starts.into_iter().take(2).map(|s| s.1).collect();
        task.fit(formula, &[x], y, options, best).map(Saturating)
    }

    /// The rate that is never exceeded.
    pub fn limit(&self) -> &Param {
        &self.params()[0]
    }

    /// How fast it is approached, per unit of x.
    pub fn growth(&self) -> &Param {
        &self.params()[1]
    }
}

/// What the models have in common.
pub(crate) struct Task {
    pub(crate) name: &'static str,
    pub(crate) names: &'static [&'static str],
    pub(crate) natural: Response,
    /// Different x needed.
    pub(crate) distinct: usize,
}

impl Task {
    fn inverted(&self, options: &Options<'_>) -> bool {
        options.response.is_some_and(|r| r != self.natural)
    }

    fn needs_positive(&self, options: &Options<'_>) -> bool {
        self.inverted(options) || options.errors == Errors::Multiplicative
    }

    pub(crate) fn check_any_x(&self, x: &[f64], y: &[f64], options: &Options<'_>) -> Result<(), Error> {
        check::pair(x, y)?;
        check::weights(options.weights, y.len())?;
        check::enough(self.name, y.len(), self.names.len())?;
        check::distinct(self.name, x, self.distinct)?;
        if options.errors == Errors::Additive {
            check::squares(y)?;
        }
        if self.needs_positive(options) { check::positive("y", y) } else { Ok(()) }
    }

    pub(crate) fn check(&self, x: &[f64], y: &[f64], options: &Options<'_>) -> Result<(), Error> {
        self.check_any_x(x, y, options)?;
        check::positive("x", x)
    }

    /// y as what the model is of.
    pub(crate) fn natural_values(&self, y: &[f64], options: &Options<'_>) -> Vec<f64> {
        if self.inverted(options) { y.iter().map(|y| 1.0 / y).collect() } else { y.to_vec() }
    }

    /// Weights under which the natural values have errors about as the observations do.
    pub(crate) fn weights(&self, z: &[f64], options: &Options<'_>) -> Vec<f64> {
        let power = match (options.errors, self.inverted(options)) {
            (Errors::Multiplicative, _) => 2,
            (Errors::Additive, true) => 4,
            (Errors::Additive, false) => 0,
        };
        z.iter().enumerate().map(|(i, z)| options.weights.map_or(1.0, |w| w[i]) / z.powi(power)).collect()
    }

    /// The linear fit of the natural values, without bounds.
    fn linear_start(&self, columns: &[Vec<f64>], y: &[f64], options: &Options<'_>) -> Result<Vec<f64>, Error> {
        let z = self.natural_values(y, options);
        weighted_start(columns, &z, &self.weights(&z, options)).map_err(|k| Error::NotIdentified { parameter: self.names[k].to_string() })
    }

    /// From the best of several starts.
    pub(crate) fn fit(
        &self,
        formula: Formula,
        x: &[&[f64]],
        y: &[f64],
        options: &Options<'_>,
        starts: Vec<Vec<f64>>,
    ) -> Result<Fitted, Error> {
        let formula = formula.observed_as(self.natural, options.response.unwrap_or(self.natural));
        let sample = Sample::new(x, y, options.weights, options.errors);
        let mut best: Option<Minimum> = None;
        let mut failure = Error::NoConvergence { iterations: 0 };
        for start in starts {
            match levenberg::minimise(&formula, &sample, &start) {
                Ok(m) if best.as_ref().is_none_or(|b| m.rss < b.rss) => best = Some(m),
                Ok(_) => {}
                Err(e) => failure = e,
            }
        }
        let names: Vec<_> = self.names.iter().map(|&n| n.into()).collect();
        let minimum = best.ok_or(failure)?;
        levenberg::finish(self.name, &names, formula, &sample, &minimum, (y, options.weights)).and_then(finite)
    }
}

/// Weighted least squares; the error is the dependent column.
pub(crate) fn weighted_start(columns: &[Vec<f64>], z: &[f64], weights: &[f64]) -> Result<Vec<f64>, usize> {
    let scaled = |v: &[f64]| v.iter().zip(weights).map(|(v, w)| Dd::from(v * w.sqrt())).collect();
    match qr::solve(columns.iter().map(|c| scaled(c)).collect(), scaled(z), 16.0 * f64::EPSILON) {
        Ok(s) => Ok(s.coefficients.iter().map(|c| c.to_f64()).collect()),
        Err(qr::Dependent(k)) => Err(k),
    }
}
