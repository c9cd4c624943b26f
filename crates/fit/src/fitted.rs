//! The one representation behind all fitted models, and what is computed from it.

use crate::dd::{Dd, ldexp, pow2};
use crate::formula::Formula;
use crate::qr::Upper;
use crate::student::two_sided;
use crate::{Arithmetic, Diagnostics, Error, Errors, Interval, Param, Prediction, RSquared};

/// Keeps [`Model`](crate::Model) to the types of this crate.
pub trait Sealed {
    #[doc(hidden)]
    fn fitted(&self) -> &Fitted;
}

/// A fit in the space its errors are additive in.
#[derive(Debug, Clone)]
pub struct Fitted {
    pub(crate) name: &'static str,
    pub(crate) params: Vec<Param>,
    /// The coefficients as fitted: columns and y scaled by powers of two.
    pub(crate) coefficients: Vec<Dd>,
    pub(crate) curve: Curve,
    /// Of the columns of the free parameters.
    pub(crate) r: Upper,
    /// Which parameters the columns of `r` are of.
    pub(crate) free: Vec<usize>,
    /// For each parameter the factor from the coefficient's unit: `d param / d coefficient`.
    pub(crate) factors: Vec<f64>,
    /// y was divided by two to this power.
    pub(crate) y_exponent: i32,
    pub(crate) n: usize,
    pub(crate) df: usize,
    pub(crate) s: f64,
    pub(crate) rss: f64,
    /// The share of the sum of squares of y that is left; `None` when all y are equal.
    pub(crate) unexplained: Option<f64>,
    pub(crate) about: RSquared,
    pub(crate) linear: bool,
    pub(crate) condition: f64,
    pub(crate) errors: Errors,
    pub(crate) arithmetic: Arithmetic,
    pub(crate) points: Option<Points>,
    pub(crate) data: Data,
}

/// Per-observation results.
#[derive(Debug, Clone)]
pub(crate) struct Points {
    /// Residuals in the fit's space, not weighted.
    pub(crate) residuals: Vec<f64>,
    pub(crate) leverage: Vec<f64>,
    pub(crate) weights: Option<Vec<f64>>,
}

/// What of the data is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Data {
    /// The extremes of the first predictor.
    pub(crate) x: (f64, f64),
    pub(crate) fingerprint: u64,
    pub(crate) sum_ln_y: f64,
    pub(crate) sum_ln_weight: f64,
}

/// The function that was fitted.
#[derive(Debug, Clone)]
pub(crate) enum Curve {
    /// Powers of `x / 2^exponent`, from the zeroth or the first.
    Polynomial { exponent: i32, intercept: bool },
    /// Columns divided by powers of two.
    Columns { exponents: Vec<i32>, intercept: bool },
    /// `ln y` on 1 and `ln x`.
    LogLog,
    /// A nonlinear function of parameters.
    Formula(Formula),
}

impl Curve {
    pub(crate) fn predictors(&self) -> usize {
        match self {
            Curve::Columns { exponents, .. } => exponents.len(),
            Curve::Formula(formula) => formula.predictors,
            Curve::Polynomial { .. } | Curve::LogLog => 1,
        }
    }
}

impl Fitted {
    /// The value in the fit's space, and the gradient by the free coefficients.
    fn evaluate(&self, xs: &[f64]) -> Result<(f64, Vec<Dd>), Error> {
        let expected = self.curve.predictors();
        if xs.len() != expected {
            return Err(Error::Predictors { expected, got: xs.len() });
        }
        if let Some(&x) = xs.iter().find(|x| !x.is_finite()) {
            return Err(Error::Domain(x));
        }
        let gradient: Vec<Dd> = match &self.curve {
            Curve::Polynomial { exponent, intercept } => {
                let u = Dd::from(ldexp(xs[0], -exponent));
                let mut power = if *intercept { Dd::ONE } else { u };
                (0..self.coefficients.len())
                    .map(|_| {
                        let this = power;
                        power = power * u;
                        this
                    })
                    .collect()
            }
            Curve::Columns { exponents, intercept } => {
                let scaled = xs.iter().zip(exponents).map(|(&x, &e)| Dd::from(ldexp(x, -e)));
                intercept.then_some(Dd::ONE).into_iter().chain(scaled).collect()
            }
            Curve::LogLog => {
                if xs[0] <= 0.0 {
                    return Err(Error::Domain(xs[0]));
                }
                vec![Dd::ONE, Dd::from(xs[0].ln())]
            }
            Curve::Formula(formula) => {
                let b: Vec<f64> = self.params.iter().map(|p| p.estimate).collect();
                let mut gradient = vec![0.0; formula.parameters()];
                let value = formula.value(xs, &b, self.errors, &mut gradient);
                if value.is_nan() {
                    return Err(Error::Domain(xs[0]));
                }
                return Ok((value, self.free.iter().map(|&k| Dd::from(gradient[k])).collect()));
            }
        };
        let sum = gradient.iter().zip(&self.coefficients).fold(Dd::ZERO, |s, (&g, &c)| s + g * c);
        Ok((ldexp(sum.to_f64(), self.y_exponent), gradient))
    }

    /// Undoes the scaling of columns and y by powers of two.
    pub(crate) fn unscale(&mut self, exponents: &[i32], y_exponent: i32) {
        for (k, &e) in exponents.iter().enumerate() {
            self.coefficients[k] = self.coefficients[k].scale(pow2(y_exponent - e));
            for i in 0..=k {
                let v = self.r.at(i, k).scale(pow2(e));
                self.r.set(i, k, v);
            }
            self.factors[k] = 1.0;
        }
        self.y_exponent = 0;
    }

    fn observed(&self, value: f64) -> f64 {
        match self.errors {
            Errors::Additive => value,
            Errors::Multiplicative => value.exp(),
        }
    }

    pub(crate) fn predict(&self, xs: &[f64]) -> Result<f64, Error> {
        let y = self.observed(self.evaluate(xs)?.0);
        if y.is_finite() { Ok(y) } else { Err(Error::Range) }
    }

    pub(crate) fn prediction(&self, xs: &[f64], level: f64) -> Result<Prediction, Error> {
        let t = two_sided(level, self.df)?;
        let (value, gradient) = self.evaluate(xs)?;
        let h = self.r.quadratic(&gradient).to_f64();
        let mean = Interval::around(value, t * self.s * h.sqrt());
        let prediction = Interval::around(value, t * self.s * (1.0 + h).sqrt());
        let y = self.observed(value);
        if !y.is_finite() {
            return Err(Error::Range);
        }
        let (mean, prediction) = match self.errors {
            Errors::Additive => (mean, prediction),
            Errors::Multiplicative => (mean.exp(), prediction.exp()),
        };
        Ok(Prediction { y, mean, prediction, extrapolation: self.extrapolation(xs[0]) })
    }

    pub(crate) fn extrapolation(&self, x: f64) -> f64 {
        let (least, most) = self.data.x;
        if least <= x && x <= most {
            1.0
        } else if least > 0.0 && x > 0.0 {
            if x > most { x / most } else { least / x }
        } else {
            1.0 + (x - most).max(least - x) / (most - least)
        }
    }

    pub(crate) fn confidence_intervals(&self, level: f64) -> Result<Vec<Interval>, Error> {
        let t = two_sided(level, self.df)?;
        let logarithmic = matches!(self.curve, Curve::LogLog);
        Ok(self
            .params
            .iter()
            .enumerate()
            .map(|(k, p)| match p.std_error {
                // The scale of a log-log fit is the exponential of a coefficient.
                Some(se) if logarithmic && k == 0 => {
                    let centre = self.coefficients[0].to_f64();
                    Interval::around(centre, t * se / self.factors[0]).exp()
                }
                Some(se) => Interval::around(p.estimate, t * se),
                None => Interval { lower: p.estimate, upper: f64::INFINITY },
            })
            .collect())
    }

    pub(crate) fn covariance(&self) -> Vec<Vec<f64>> {
        let p = self.params.len();
        let inverse = self.r.inverse();
        let size = self.r.size();
        let mut matrix = vec![vec![0.0; p]; p];
        for (a, &i) in self.free.iter().enumerate() {
            for (b, &j) in self.free.iter().enumerate() {
                let sum = (a.max(b)..size).fold(Dd::ZERO, |s, k| s + inverse.at(a, k) * inverse.at(b, k)).to_f64();
                matrix[i][j] = self.s * self.factors[i] * (self.s * self.factors[j] * sum);
            }
        }
        matrix
    }

    pub(crate) fn r_squared(&self) -> Option<f64> {
        self.unexplained.map(|u| 1.0 - u)
    }

    fn counted(&self) -> usize {
        usize::from(self.about == RSquared::AboutMean)
    }

    pub(crate) fn adjusted_r_squared(&self) -> Option<f64> {
        let total = (self.n - self.counted()) as f64;
        self.unexplained.map(|u| 1.0 - u * total / self.df as f64)
    }

    pub(crate) fn f_statistic(&self) -> Option<f64> {
        let regressors = self.params.len() - self.counted().min(self.params.len());
        if !self.linear || regressors == 0 {
            return None;
        }
        self.unexplained.map(|u| (1.0 - u) / regressors as f64 / (u / self.df as f64))
    }

    pub(crate) fn diagnostics(&self) -> Option<Diagnostics> {
        let points = self.points.as_ref()?;
        let weight = |i: usize| points.weights.as_ref().map_or(1.0, |w| w[i]);
        let p = self.free.len() as f64;
        let studentized: Vec<Option<f64>> = (0..self.n)
            .map(|i| {
                let left = 1.0 - points.leverage[i];
                let deviation = self.s * left.sqrt();
                (left > 1e-12 && deviation > 0.0).then(|| points.residuals[i] * weight(i).sqrt() / deviation)
            })
            .collect();
        let cooks_distance = studentized.iter().zip(&points.leverage).map(|(t, h)| t.map(|t| t * t * h / (p * (1.0 - h)))).collect();
        let weighted: Vec<f64> = points.residuals.iter().enumerate().map(|(i, e)| e / self.s * weight(i).sqrt()).collect();
        let total: f64 = weighted.iter().map(|e| e * e).sum();
        let differences: f64 = weighted.windows(2).map(|e| (e[1] - e[0]).powi(2)).sum();
        Some(Diagnostics {
            residuals: points.residuals.clone(),
            leverage: points.leverage.clone(),
            studentized,
            cooks_distance,
            durbin_watson: (self.s > 0.0).then(|| differences / total),
        })
    }

    pub(crate) fn smearing_factor(&self) -> Option<f64> {
        let points = self.points.as_ref()?;
        Some(match self.errors {
            Errors::Additive => 1.0,
            Errors::Multiplicative => points.residuals.iter().map(|e| e.exp()).sum::<f64>() / self.n as f64,
        })
    }

    pub(crate) fn log_likelihood(&self) -> Result<f64, Error> {
        if self.s <= 0.0 {
            return Err(Error::PerfectFit);
        }
        let n = self.n as f64;
        // The mean square is s² df / n; s² alone may leave the range of a double.
        let ln_mean_square = 2.0 * self.s.ln() + (self.df as f64 / n).ln();
        let normal = -0.5 * n * ((2.0 * std::f64::consts::PI).ln() + ln_mean_square + 1.0) + 0.5 * self.data.sum_ln_weight;
        // A density of ln y is one of y after division by y.
        Ok(match self.errors {
            Errors::Additive => normal,
            Errors::Multiplicative => normal - self.data.sum_ln_y,
        })
    }

    pub(crate) fn aicc(&self) -> Result<f64, Error> {
        let k = self.params.len() + 1;
        if self.n <= k + 1 {
            return Err(Error::NoAicc { n: self.n, need: k + 1 });
        }
        let (n, k) = (self.n as f64, k as f64);
        Ok(-2.0 * self.log_likelihood()? + 2.0 * k + 2.0 * k * (k + 1.0) / (n - k - 1.0))
    }
}
