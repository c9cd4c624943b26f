//! Functions with parameters, and least squares over them.

use std::fmt;
use std::sync::Arc;

use crate::dd::Dd;
use crate::{Errors, Response};

/// `f(predictors, parameters, gradient by parameters)`.
type Function = dyn Fn(&[f64], &[f64], &mut [f64]) -> f64 + Send + Sync;

/// A function with parameters and their bounds.
#[derive(Clone)]
pub(crate) struct Formula {
    function: Arc<Function>,
    pub(crate) predictors: usize,
    /// The least value of each parameter.
    pub(crate) lower: Vec<f64>,
    /// Whether observations are one over the function.
    inverse: bool,
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Formula")
            .field("predictors", &self.predictors)
            .field("lower", &self.lower)
            .field("inverse", &self.inverse)
            .finish_non_exhaustive()
    }
}

impl Formula {
    /// A function of `predictors` numbers with as many parameters as `lower` has bounds.
    pub(crate) fn new<F>(predictors: usize, lower: &[f64], function: F) -> Formula
    where
        F: Fn(&[f64], &[f64], &mut [f64]) -> f64 + Send + Sync + 'static,
    {
        Formula { function: Arc::new(function), predictors, lower: lower.to_vec(), inverse: false }
    }

    /// For observations of the given kind, the function being of `natural`.
    pub(crate) fn observed_as(mut self, natural: Response, observed: Response) -> Formula {
        self.inverse = natural != observed;
        self
    }

    pub(crate) fn parameters(&self) -> usize {
        self.lower.len()
    }

    /// The value in the space of the errors, and its gradient there; not finite where there is none.
    pub(crate) fn value(&self, xs: &[f64], b: &[f64], errors: Errors, gradient: &mut [f64]) -> f64 {
        let mut value = (self.function)(xs, b, gradient);
        if self.inverse {
            value = 1.0 / value;
            gradient.iter_mut().for_each(|g| *g *= -value * value);
        }
        match errors {
            Errors::Additive => value,
            Errors::Multiplicative => {
                gradient.iter_mut().for_each(|g| *g /= value);
                // The logarithm of a negative number is NaN, as it should be.
                value.ln()
            }
        }
    }
}

/// Observations in the space of the errors.
pub(crate) struct Sample<'a> {
    /// A column for each predictor.
    pub(crate) x: &'a [&'a [f64]],
    /// y or its logarithm.
    pub(crate) y: Vec<f64>,
    pub(crate) roots: Option<Vec<f64>>,
    pub(crate) errors: Errors,
}

impl<'a> Sample<'a> {
    pub(crate) fn new(x: &'a [&'a [f64]], y: &[f64], weights: Option<&[f64]>, errors: Errors) -> Sample<'a> {
        let y = match errors {
            Errors::Additive => y.to_vec(),
            Errors::Multiplicative => y.iter().map(|y| y.ln()).collect(),
        };
        Sample { x, y, roots: weights.map(|w| w.iter().map(|w| w.sqrt()).collect()), errors }
    }

    /// Some of the observations.
    pub(crate) fn select(&self, x: &'a [&'a [f64]], rows: &[usize]) -> Sample<'a> {
        let pick = |v: &Vec<f64>| rows.iter().map(|&i| v[i]).collect();
        Sample { x, y: pick(&self.y), roots: self.roots.as_ref().map(pick), errors: self.errors }
    }

    pub(crate) fn n(&self) -> usize {
        self.y.len()
    }

    pub(crate) fn root(&self, i: usize) -> f64 {
        self.roots.as_ref().map_or(1.0, |r| r[i])
    }

    /// Weighted residuals and their sum of squares; with the Jacobian, a column for each
    /// parameter, where asked. `None` where the function has no value.
    pub(crate) fn residuals(&self, formula: &Formula, b: &[f64], mut jacobian: Option<&mut [Vec<f64>]>) -> Option<(Vec<f64>, f64)> {
        let mut gradient = vec![0.0; b.len()];
        let mut xs = vec![0.0; self.x.len()];
        let mut residuals = Vec::with_capacity(self.n());
        let mut sum = Dd::ZERO;
        for i in 0..self.n() {
            for (x, column) in xs.iter_mut().zip(self.x) {
                *x = column[i];
            }
            let root = self.root(i);
            let r = root * (self.y[i] - formula.value(&xs, b, self.errors, &mut gradient));
            if !r.is_finite() {
                return None;
            }
            sum += Dd::from(r) * r;
            residuals.push(r);
            if let Some(columns) = jacobian.as_deref_mut() {
                for (column, g) in columns.iter_mut().zip(&gradient) {
                    if !g.is_finite() {
                        return None;
                    }
                    column[i] = root * g;
                }
            }
        }
        let rss = sum.to_f64();
        rss.is_finite().then_some((residuals, rss))
    }
}
