//! Levenberg-Marquardt with bounds, and what is made of its end.
//!
//! Steps come from a QR of the Jacobian over a scaled diagonal (Moré, 1978), never from its
//! square. Parameters pressed against a bound are left out of the step. The end is polished by
//! undamped steps, as far as rounding lets them shrink, so that standard errors have their digits.

use std::borrow::Cow;

use crate::check;
use crate::dd::{self, Dd};
use crate::fitted::{Curve, Fitted, Points};
use crate::formula::{Formula, Sample};
use crate::qr::{self, Upper};
use crate::{Arithmetic, Error, Errors, Param, RSquared};

const ITERATIONS: usize = 1000;

/// The parameters at a minimum.
pub(crate) struct Minimum {
    pub(crate) b: Vec<f64>,
    pub(crate) rss: f64,
}

/// Minimises the sum of squares from a start, which is moved into the bounds.
pub(crate) fn minimise(formula: &Formula, sample: &Sample<'_>, start: &[f64]) -> Result<Minimum, Error> {
    let p = start.len();
    let n = sample.n();
    let mut b: Vec<f64> = start.iter().zip(&formula.lower).map(|(b, l)| b.max(*l)).collect();
    let mut jacobian = vec![vec![0.0; n]; p];
    let none = Error::NoConvergence { iterations: 0 };
    let (mut r, mut rss) = sample.residuals(formula, &b, Some(&mut jacobian)).ok_or(none)?;
    let mut scales = vec![0.0f64; p];
    let (mut damping, mut growth) = (1e-1, 2.0);
    for iteration in 0..ITERATIONS {
        for (scale, column) in scales.iter_mut().zip(&jacobian) {
            *scale = scale.max(length(column));
        }
        let free = free(formula, &b, &jacobian, &r);
        let size = length(&sample.y).max(f64::MIN_POSITIVE);
        let step = step(&jacobian, &r, &free, &scales, damping);
        let (trial, moved) = moved(formula, &b, &free, &step);
        let change = (0..p).map(|k| (moved[k] * scales[k]).abs()).fold(0.0, f64::max);
        let mut next = jacobian.clone();
        let tried = sample.residuals(formula, &trial, Some(&mut next)).filter(|t| t.1 <= rss);
        let Some((new_r, new_rss)) = tried else {
            if change <= 1e-13 * size || free.is_empty() {
                return Ok(polish(formula, sample, b, rss));
            }
            damping *= growth;
            growth *= 2.0;
            if damping > 1e40 {
                return Err(Error::NoConvergence { iterations: iteration });
            }
            continue;
        };
        // How much of what the linear model promised was kept.
        let promised: f64 =
            rss - (0..n).map(|i| (r[i] - free.iter().map(|&k| jacobian[k][i] * moved[k]).sum::<f64>()).powi(2)).sum::<f64>();
        let kept = if promised > 0.0 { (rss - new_rss) / promised } else { 1.0 };
        damping *= (1.0 - (2.0 * kept - 1.0).powi(3)).clamp(0.1, 2.0);
        growth = 2.0;
        let gain = rss - new_rss;
        (b, r, rss, jacobian) = (trial, new_r, new_rss, next);
        if change <= 1e-9 * size && gain <= 1e-12 * rss {
            return Ok(polish(formula, sample, b, rss));
        }
    }
    Err(Error::NoConvergence { iterations: ITERATIONS })
}

/// Undamped steps while they shrink.
fn polish(formula: &Formula, sample: &Sample<'_>, mut b: Vec<f64>, mut rss: f64) -> Minimum {
    let mut jacobian = vec![vec![0.0; sample.n()]; b.len()];
    let (mut last, mut stalled) = (f64::INFINITY, 0);
    for _ in 0..200 {
        let Some((r, _)) = sample.residuals(formula, &b, Some(&mut jacobian)) else { break };
        let free = free(formula, &b, &jacobian, &r);
        let step = step(&jacobian, &r, &free, &vec![0.0; b.len()], 0.0);
        let (trial, moved) = moved(formula, &b, &free, &step);
        let change = moved.iter().zip(&jacobian).map(|(m, j)| (m * length(j)).abs()).fold(0.0, f64::max);
        stalled += u32::from(change >= last * 0.95);
        if stalled == 3 || change == 0.0 {
            break;
        }
        match sample.residuals(formula, &trial, None) {
            Some((_, new)) if new <= rss * (1.0 + 1e-9) => (b, rss) = (trial, new),
            _ => break,
        }
        last = change;
    }
    Minimum { b, rss }
}

/// The parameters that are not pressed against their bounds.
fn free(formula: &Formula, b: &[f64], jacobian: &[Vec<f64>], r: &[f64]) -> Vec<usize> {
    (0..b.len())
        .filter(|&k| {
            let downhill: f64 = jacobian[k].iter().zip(r).map(|(j, r)| j * r).sum();
            b[k] > formula.lower[k] || downhill > 0.0
        })
        .collect()
}

/// The damped step of the free parameters; zero when they are dependent without damping.
fn step(jacobian: &[Vec<f64>], r: &[f64], free: &[usize], scales: &[f64], damping: f64) -> Vec<f64> {
    let n = r.len();
    let extra = if damping > 0.0 { free.len() } else { 0 };
    let columns = free
        .iter()
        .enumerate()
        .map(|(row, &k)| {
            let mut column: Vec<Dd> = jacobian[k].iter().map(|&v| Dd::from(v)).collect();
            column.resize(n + extra, Dd::ZERO);
            if extra > 0 {
                column[n + row] = Dd::from(damping.sqrt() * if scales[k] > 0.0 { scales[k] } else { 1.0 });
            }
            column
        })
        .collect();
    let mut y: Vec<Dd> = r.iter().map(|&v| Dd::from(v)).collect();
    y.resize(n + extra, Dd::ZERO);
    match qr::solve(columns, y, 0.0) {
        Ok(solution) => solution.coefficients.iter().map(|c| c.to_f64()).collect(),
        Err(_) => vec![0.0; free.len()],
    }
}

/// The parameters after a step kept within the bounds, and how far each went.
fn moved(formula: &Formula, b: &[f64], free: &[usize], step: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut trial = b.to_vec();
    for (&k, step) in free.iter().zip(step) {
        trial[k] = (b[k] + step).max(formula.lower[k]);
    }
    let moved = trial.iter().zip(b).map(|(t, b)| t - b).collect();
    (trial, moved)
}

fn length(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// Standard errors and the rest at a minimum.
pub(crate) fn finish(
    name: &'static str,
    names: &[Cow<'static, str>],
    formula: Formula,
    sample: &Sample<'_>,
    minimum: &Minimum,
    (y, weights): (&[f64], Option<&[f64]>),
) -> Result<Fitted, Error> {
    let (n, p) = (sample.n(), minimum.b.len());
    let mut jacobian = vec![vec![0.0; n]; p];
    let none = Error::NoConvergence { iterations: 0 };
    let (r, rss) = sample.residuals(&formula, &minimum.b, Some(&mut jacobian)).ok_or(none)?;
    let free = free(&formula, &minimum.b, &jacobian, &r);
    let df = n - free.len();
    let columns = free.iter().map(|&k| jacobian[k].iter().map(|&v| Dd::from(v)).collect()).collect();
    let residuals: Vec<Dd> = r.iter().map(|&v| Dd::from(v)).collect();
    let solution =
        qr::solve(columns, residuals, 1e-12).map_err(|qr::Dependent(k)| Error::NotIdentified { parameter: names[free[k]].to_string() })?;
    let size: f64 = (0..n).map(|i| (sample.root(i) * sample.y[i]).powi(2)).sum();
    let noise = 16.0 * f64::EPSILON;
    let rss = if rss <= noise * noise * size { 0.0 } else { rss };
    let s = (rss / df as f64).sqrt();
    let total = total(sample);
    let inverse = solution.r.inverse();
    let mut params: Vec<Param> = names
        .iter()
        .zip(&minimum.b)
        .map(|(name, &estimate)| Param { name: name.clone(), estimate, std_error: None, at_bound: true })
        .collect();
    for (row, &k) in free.iter().enumerate() {
        let sum = (row..free.len()).fold(Dd::ZERO, |sum, j| sum + inverse.at(row, j).square());
        params[k].std_error = Some(s * sum.sqrt().to_f64());
        params[k].at_bound = false;
    }
    let mut data = check::data(sample.x[0], y, weights);
    if sample.errors == Errors::Multiplicative {
        data.sum_ln_y = sample.y.iter().sum();
    }
    Ok(Fitted {
        name,
        params,
        coefficients: minimum.b.iter().map(|&b| Dd::from(b)).collect(),
        curve: Curve::Formula(formula),
        condition: condition(&solution.r, &inverse),
        r: solution.r,
        free,
        factors: vec![1.0; p],
        y_exponent: 0,
        n,
        df,
        s,
        rss,
        unexplained: (total > 0.0).then(|| rss / total),
        about: RSquared::AboutMean,
        linear: false,
        errors: sample.errors,
        arithmetic: Arithmetic::DoubleDouble,
        points: Some(Points {
            residuals: r.iter().enumerate().map(|(i, r)| r / sample.root(i)).collect(),
            leverage: solution.leverage,
            weights: weights.map(<[f64]>::to_vec),
        }),
        data,
    })
}

fn condition(r: &Upper, inverse: &Upper) -> f64 {
    if r.size() == 0 { 1.0 } else { r.condition(inverse) }
}

/// The weighted sum of squares about the mean.
fn total(sample: &Sample<'_>) -> f64 {
    let weight = |i: usize| sample.root(i) * sample.root(i);
    let (mut sum, mut weights) = (Dd::ZERO, Dd::ZERO);
    for (i, &y) in sample.y.iter().enumerate() {
        sum += dd::two_prod(weight(i), y);
        weights = weights + weight(i);
    }
    let mean = (sum / weights).to_f64();
    sample.y.iter().enumerate().map(|(i, y)| weight(i) * (y - mean).powi(2)).sum()
}
