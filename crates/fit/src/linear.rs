//! Models that are linear in their parameters.

use std::borrow::Cow;

use crate::dd::{self, Dd, exponent, ldexp};
use crate::fitted::{Curve, Data, Fitted, Points};
use crate::qr::{self, Upper};
use crate::{Arithmetic, Error, Errors, Model, Options, Param, RSquared, check, line};

/// What y is fitted to.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Design<'a> {
    /// `y = intercept + slope x`.
    Line(&'a [f64]),
    /// `y = slope x`.
    Origin(&'a [f64]),
    /// `y = b0 + b1 x + … + bk x^k`, the powers formed in double-double.
    Polynomial(&'a [f64], usize),
    /// `y = intercept + b1 x1 + … + bk xk`.
    Columns(&'a [&'a [f64]]),
    /// `y = b1 x1 + … + bk xk`.
    ColumnsOrigin(&'a [&'a [f64]]),
}

/// A linear least-squares fit.
///
/// Parameters: `intercept` and `slope`; of a polynomial `b0`, `b1`, …; of columns `intercept` and
/// `b1`, `b2`, ….
///
/// ```
/// use gannet_fit::{LinearFit, Model};
/// let line = LinearFit::ols(&[1.0, 2.0, 3.0, 4.0], &[2.1, 3.9, 6.2, 7.8])?;
/// assert!((line.params()[1].estimate - 1.94).abs() < 1e-14);
/// let next = line.prediction_interval(5.0, 0.95)?;
/// assert!(next.contains(9.85));
/// # Ok::<(), gannet_fit::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LinearFit(pub(crate) Fitted);

impl LinearFit {
    /// A straight line by ordinary least squares.
    ///
    /// # Errors
    /// [`Error::TooFew`] below 3 observations, [`Error::ConstantX`], [`Error::NonFinite`],
    /// [`Error::LengthMismatch`], [`Error::Empty`], [`Error::Range`].
    pub fn ols(x: &[f64], y: &[f64]) -> Result<LinearFit, Error> {
        LinearFit::fit(Design::Line(x), y, &Options::default())
    }

    /// A straight line through the origin.
    ///
    /// # Errors
    /// As [`ols`](LinearFit::ols); it needs 2 observations, and [`Error::Collinear`] is returned when all x are zero.
    pub fn through_origin(x: &[f64], y: &[f64]) -> Result<LinearFit, Error> {
        LinearFit::fit(Design::Origin(x), y, &Options::default())
    }

    /// A straight line with weights, one over the variances of the observations in any unit.
    ///
    /// # Errors
    /// As [`ols`](LinearFit::ols), and [`Error::Weight`].
    pub fn weighted(x: &[f64], y: &[f64], weights: &[f64]) -> Result<LinearFit, Error> {
        LinearFit::fit(Design::Line(x), y, &Options::default().weights(weights))
    }

    /// A polynomial of the given degree.
    ///
    /// # Errors
    /// As [`ols`](LinearFit::ols); it needs `degree + 2` observations and `degree + 1` different x, or
    /// [`Error::TooFewDistinct`] is returned.
    pub fn polynomial(x: &[f64], y: &[f64], degree: usize) -> Result<LinearFit, Error> {
        LinearFit::fit(Design::Polynomial(x, degree), y, &Options::default())
    }

    /// An intercept and several columns.
    ///
    /// # Errors
    /// As [`ols`](LinearFit::ols), and [`Error::Collinear`] when a column is, to the rounding of its entries, a
    /// combination of those before it.
    pub fn columns(columns: &[&[f64]], y: &[f64]) -> Result<LinearFit, Error> {
        LinearFit::fit(Design::Columns(columns), y, &Options::default())
    }

    /// Any of these with options.
    ///
    /// # Errors
    /// Those of the functions above.
    pub fn fit(design: Design<'_>, y: &[f64], options: &Options<'_>) -> Result<LinearFit, Error> {
        let weights = options.weights;
        match design {
            Design::Line(x) => {
                let check = || {
                    check_data(x, y, weights)?;
                    check::enough("a line", y.len(), 2)?;
                    check::distinct("a line", x, 2)
                };
                match options.arithmetic {
                    Arithmetic::DoubleDouble => check().map(|()| line::exact(x, y, weights)),
                    Arithmetic::Double => {
                        check::length("y", y, x.len())?;
                        check::weights(weights, y.len())?;
                        // What is not finite shows in its sums; only then the data are looked at.
                        line::fast(x, y, weights).map_or_else(|| check().and(Err(Error::Range)), Ok)
                    }
                }
            }
            Design::Origin(x) => {
                check_data(x, y, weights)?;
                check::enough("a line through the origin", y.len(), 1)?;
                powers(x, y, weights, 1..=1)
            }
            Design::Polynomial(x, degree) => {
                check_data(x, y, weights)?;
                check::enough("a polynomial", y.len(), degree + 1)?;
                check::distinct("a polynomial", x, degree + 1)?;
                powers(x, y, weights, 0..=degree)
            }
            Design::Columns(c) => columns(c, y, weights, true),
            Design::ColumnsOrigin(c) => columns(c, y, weights, false),
        }
        .and_then(finite)
        .map(LinearFit)
    }

    /// The intercept of a line or of columns.
    pub fn intercept(&self) -> Option<&Param> {
        self.param("intercept")
    }

    /// The slope of a line.
    pub fn slope(&self) -> Option<&Param> {
        self.param("slope")
    }
}

fn check_data(x: &[f64], y: &[f64], weights: Option<&[f64]>) -> Result<(), Error> {
    check::pair(x, y)?;
    check::weights(weights, y.len())
}

/// No estimate left the range of a double.
pub(crate) fn finite(fitted: Fitted) -> Result<Fitted, Error> {
    let sound = fitted.params.iter().all(|p| p.estimate.is_finite() && p.std_error.is_none_or(f64::is_finite));
    if sound && fitted.s.is_finite() { Ok(fitted) } else { Err(Error::Range) }
}

fn powers(x: &[f64], y: &[f64], weights: Option<&[f64]>, degrees: std::ops::RangeInclusive<usize>) -> Result<Fitted, Error> {
    let e = exponent(x);
    let from = *degrees.start();
    let mut columns = Vec::with_capacity(degrees.size_hint().0);
    let mut power = vec![Dd::ONE; x.len()];
    for degree in 0..=*degrees.end() {
        if degree > 0 {
            for (p, &x) in power.iter_mut().zip(x) {
                *p = *p * ldexp(x, -e);
            }
        }
        if degree >= from {
            columns.push(power.clone());
        }
    }
    let exponents: Vec<i32> = degrees.map(|d| e.saturating_mul(d as i32)).collect();
    let names = (0..columns.len()).map(|k| match from {
        1 => Cow::Borrowed("slope"),
        _ => Cow::Owned(format!("b{k}")),
    });
    let names = names.collect();
    let curve = Curve::Polynomial { exponent: e, intercept: from == 0 };
    let name = if from == 0 { "polynomial" } else { "line through the origin" };
    let problem = Problem { name, names, curve, columns, exponents, intercept: from == 0 };
    // Powers are exact to double-double, so only exact dependence counts.
    problem.solve(x, y, weights, 0.0)
}

fn columns(columns: &[&[f64]], y: &[f64], weights: Option<&[f64]>, intercept: bool) -> Result<Fitted, Error> {
    let Some(first) = columns.first() else {
        return Err(Error::TooFew { what: "a fit of columns", n: 0, need: 1 });
    };
    check::length("y", y, first.len())?;
    if y.is_empty() {
        return Err(Error::Empty);
    }
    for column in columns {
        check::length("a column", column, y.len())?;
        check::finite("a column", column)?;
    }
    check::finite("y", y)?;
    check::weights(weights, y.len())?;
    check::enough("a fit of these columns", y.len(), columns.len() + usize::from(intercept))?;
    let own: Vec<i32> = columns.iter().map(|c| exponent(*c)).collect();
    let ones = intercept.then(|| vec![Dd::ONE; y.len()]);
    let scaled = columns.iter().zip(&own).map(|(c, &e)| c.iter().map(|&v| Dd::from(ldexp(v, -e))).collect::<Vec<_>>());
    let names = intercept
        .then_some(Cow::Borrowed("intercept"))
        .into_iter()
        .chain((1..=columns.len()).map(|k| Cow::Owned(format!("b{k}"))))
        .collect();
    let problem = Problem {
        name: "linear in columns",
        names,
        columns: ones.into_iter().chain(scaled).collect(),
        exponents: intercept.then_some(0).into_iter().chain(own.iter().copied()).collect(),
        curve: Curve::Columns { exponents: own, intercept },
        intercept,
    };
    // Entries are rounded to doubles: less than that is no independent information.
    problem.solve(first, y, weights, 8.0 * f64::EPSILON)
}

/// A design ready to be solved.
struct Problem {
    name: &'static str,
    names: Vec<Cow<'static, str>>,
    curve: Curve,
    columns: Vec<Vec<Dd>>,
    /// Each column was divided by two to this power.
    exponents: Vec<i32>,
    intercept: bool,
}

impl Problem {
    fn solve(self, x: &[f64], y: &[f64], weights: Option<&[f64]>, tolerance: f64) -> Result<Fitted, Error> {
        let mut columns = self.columns;
        let y_exponent = exponent(y);
        let mut rows: Vec<Dd> = y.iter().map(|&v| Dd::from(ldexp(v, -y_exponent))).collect();
        let tss = total(&rows, weights, self.intercept);
        let roots = weights.map(|w| w.iter().map(|&w| Dd::from(w).sqrt()).collect::<Vec<_>>());
        if let Some(roots) = &roots {
            for column in columns.iter_mut().chain([&mut rows]) {
                for (v, &root) in column.iter_mut().zip(roots) {
                    *v = *v * root;
                }
            }
        }
        let size: Dd = rows.iter().fold(Dd::ZERO, |s, v| s + v.square());
        let solution = qr::solve(columns, rows, tolerance)
            .map_err(|qr::Dependent(k)| Error::Collinear { column: k - usize::from(self.intercept && k > 0) })?;
        let residuals = solution
            .residuals
            .iter()
            .enumerate()
            .map(|(i, &e)| {
                let e = roots.as_ref().map_or(e, |r| e / r[i]);
                ldexp(e.to_f64(), y_exponent)
            })
            .collect();
        let estimates = Estimates {
            name: self.name,
            names: self.names,
            curve: self.curve,
            exponents: self.exponents,
            coefficients: solution.coefficients,
            r: solution.r,
            rss: solution.rss,
            size,
            tss,
            y_exponent,
            intercept: self.intercept,
            points: Some(Points { residuals, leverage: solution.leverage, weights: weights.map(<[f64]>::to_vec) }),
            arithmetic: Arithmetic::DoubleDouble,
        };
        Ok(estimates.finish(y, check::data(x, y, weights)))
    }
}

/// The (weighted) sum of squares about the mean or about zero.
fn total(y: &[Dd], weights: Option<&[f64]>, about_mean: bool) -> Dd {
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let mut centre = Dd::ZERO;
    if about_mean {
        let (mut sum, mut sum_weights) = (Dd::ZERO, Dd::ZERO);
        for (i, &v) in y.iter().enumerate() {
            sum += v * weight(i);
            sum_weights = sum_weights + weight(i);
        }
        centre = sum / sum_weights;
    }
    y.iter().enumerate().fold(Dd::ZERO, |s, (i, &v)| s + (v - centre).square() * weight(i))
}

/// A solution in scaled units.
pub(crate) struct Estimates {
    pub(crate) name: &'static str,
    pub(crate) names: Vec<Cow<'static, str>>,
    pub(crate) curve: Curve,
    pub(crate) exponents: Vec<i32>,
    pub(crate) coefficients: Vec<Dd>,
    pub(crate) r: Upper,
    pub(crate) rss: Dd,
    /// The sum of squares of y itself.
    pub(crate) size: Dd,
    pub(crate) tss: Dd,
    pub(crate) y_exponent: i32,
    pub(crate) intercept: bool,
    pub(crate) points: Option<Points>,
    pub(crate) arithmetic: Arithmetic,
}

impl Estimates {
    /// Back to the units of the data, with standard errors.
    pub(crate) fn finish(mut self, y: &[f64], data: Data) -> Fitted {
        let (n, p) = (y.len(), self.coefficients.len());
        let df = n - p;
        // What double-double itself leaves of a perfect fit is none.
        let noise = (n * p) as f64 * 16.0 * dd::EPSILON;
        if self.rss.hi <= noise * noise * self.size.hi {
            self.rss = Dd::ZERO;
        }
        if self.intercept && y.iter().all(|&v| v == y[0]) {
            self.be_constant(y[0]);
        }
        let variance = self.rss / df as f64;
        let inverse = self.r.inverse();
        let params = self
            .names
            .into_iter()
            .enumerate()
            .map(|(k, name)| {
                let row = (k..p).fold(Dd::ZERO, |sum, j| sum + inverse.at(k, j).square());
                let e = self.y_exponent - self.exponents[k];
                Param {
                    name,
                    estimate: ldexp(self.coefficients[k].to_f64(), e),
                    std_error: Some(ldexp((variance * row).to_f64().sqrt(), e)),
                    at_bound: false,
                }
            })
            .collect();
        let square = |v: Dd| ldexp(ldexp(v.to_f64(), self.y_exponent), self.y_exponent);
        Fitted {
            name: self.name,
            params,
            coefficients: self.coefficients,
            curve: self.curve,
            condition: self.r.condition(&inverse),
            r: self.r,
            free: (0..p).collect(),
            factors: self.exponents.iter().map(|e| ldexp(1.0, -e)).collect(),
            y_exponent: self.y_exponent,
            n,
            df,
            s: ldexp(variance.to_f64().sqrt(), self.y_exponent),
            rss: square(self.rss),
            unexplained: (self.tss.hi > 0.0).then(|| (self.rss / self.tss).to_f64()),
            about: if self.intercept { RSquared::AboutMean } else { RSquared::AboutZero },
            linear: true,
            errors: Errors::Additive,
            arithmetic: self.arithmetic,
            points: self.points,
            data,
        }
    }

    /// Equal y: nothing else than the intercept, and not even rounding is left.
    fn be_constant(&mut self, y: f64) {
        self.coefficients.fill(Dd::ZERO);
        self.coefficients[0] = Dd::from(ldexp(y, -self.y_exponent));
        (self.rss, self.tss) = (Dd::ZERO, Dd::ZERO);
        if let Some(points) = &mut self.points {
            points.residuals.fill(0.0);
        }
    }
}
