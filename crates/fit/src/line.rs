//! The straight line in closed form: two passes, the second over deviations from the means.

use std::borrow::Cow;

use crate::dd::{Dd, exponent, ldexp, pow2};
use crate::fitted::{Curve, Fitted, Points};
use crate::linear::Estimates;
use crate::qr::Upper;
use crate::{Arithmetic, Error};

/// In double-double.
pub(crate) fn exact(x: &[f64], y: &[f64], weights: Option<&[f64]>) -> Result<Fitted, Error> {
    let (ex, ey) = (exponent(x), exponent(y));
    let scale = Scale::new(ex, ey);
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let (mut sw, mut sx, mut sy) = (Dd::ZERO, Dd::ZERO, Dd::ZERO);
    for i in 0..x.len() {
        let (u, v) = scale.apply(x[i], y[i]);
        match weights {
            None => (sx, sy) = (sx + u, sy + v),
            Some(w) => {
                sw = sw + w[i];
                sx += Dd::from(w[i]) * u;
                sy += Dd::from(w[i]) * v;
            }
        }
    }
    if weights.is_none() {
        sw = Dd::from(x.len() as f64);
    }
    let (mx, my) = (sx / sw, sy / sw);
    let (mut sxx, mut sxy, mut syy) = (Dd::ZERO, Dd::ZERO, Dd::ZERO);
    for i in 0..x.len() {
        let (u, v) = scale.apply(x[i], y[i]);
        let (du, dv) = (Dd::from(u) - mx, Dd::from(v) - my);
        let wdu = if weights.is_some() { du * weight(i) } else { du };
        sxx += wdu * du;
        sxy += wdu * dv;
        syy += if weights.is_some() { dv.square() * weight(i) } else { dv.square() };
    }
    let slope = sxy / sxx;
    let mut points =
        Points { residuals: Vec::with_capacity(x.len()), leverage: Vec::with_capacity(x.len()), weights: weights.map(<[f64]>::to_vec) };
    let (over_w, over_sxx) = ((Dd::ONE / sw).to_f64(), 1.0 / sxx.to_f64());
    let mut rss = Dd::ZERO;
    for i in 0..x.len() {
        let (u, v) = scale.apply(x[i], y[i]);
        let du = Dd::from(u) - mx;
        let e = Dd::from(v) - my - slope * du;
        rss += if weights.is_some() { e.square() * weight(i) } else { e.square() };
        points.residuals.push(ldexp(e.to_f64(), ey));
        points.leverage.push((weight(i) * (over_w + du.hi * du.hi * over_sxx)).min(1.0));
    }
    let moments = Moments { sw, mx, my, sxx, syy, slope, rss };
    Ok(moments.finish(x, y, weights, (ex, ey), Some(points)))
}

/// In doubles, eight sums at a time, which compilers turn into vector instructions.
pub(crate) fn fast(x: &[f64], y: &[f64], weights: Option<&[f64]>) -> Result<Fitted, Error> {
    let n = x.len();
    let [sw, sx, sy] = match weights {
        None => {
            let [sx, sy, _] = blocks(n, |i| [x[i], y[i], 0.0]);
            [n as f64, sx, sy]
        }
        Some(w) => blocks(n, |i| [w[i], w[i] * x[i], w[i] * y[i]]),
    };
    let (mx, my) = (sx / sw, sy / sw);
    let [sxx, sxy, syy] = match weights {
        None => blocks(n, |i| {
            let (dx, dy) = (x[i] - mx, y[i] - my);
            [dx * dx, dx * dy, dy * dy]
        }),
        Some(w) => blocks(n, |i| {
            let (dx, dy) = (x[i] - mx, y[i] - my);
            [w[i] * dx * dx, w[i] * dx * dy, w[i] * dy * dy]
        }),
    };
    if !(sxx > 0.0 && sxx.is_finite() && syy.is_finite()) {
        return Err(Error::Range);
    }
    let slope = sxy / sxx;
    let [rss, _, _] = match weights {
        None => blocks(n, |i| [(y[i] - my - slope * (x[i] - mx)).powi(2), 0.0, 0.0]),
        Some(w) => blocks(n, |i| [w[i] * (y[i] - my - slope * (x[i] - mx)).powi(2), 0.0, 0.0]),
    };
    let dd = Dd::from;
    let moments = Moments { sw: dd(sw), mx: dd(mx), my: dd(my), sxx: dd(sxx), syy: dd(syy), slope: dd(slope), rss: dd(rss) };
    let mut fitted = moments.finish(x, y, weights, (0, 0), None);
    fitted.arithmetic = Arithmetic::Double;
    Ok(fitted)
}

/// Sums three terms over `0..n`.
#[inline(always)]
fn blocks(n: usize, term: impl Fn(usize) -> [f64; 3]) -> [f64; 3] {
    const LANES: usize = 8;
    let mut lanes = [[0.0f64; 3]; LANES];
    let whole = n - n % LANES;
    for from in (0..whole).step_by(LANES) {
        for (lane, sums) in lanes.iter_mut().enumerate() {
            let terms = term(from + lane);
            for (sum, t) in sums.iter_mut().zip(terms) {
                *sum += t;
            }
        }
    }
    let mut sums = [0.0; 3];
    for lane in lanes {
        for (sum, t) in sums.iter_mut().zip(lane) {
            *sum += t;
        }
    }
    for i in whole..n {
        for (sum, t) in sums.iter_mut().zip(term(i)) {
            *sum += t;
        }
    }
    sums
}

/// Multiplication by powers of two that brings the data near one.
struct Scale {
    x: f64,
    y: f64,
    exponents: Option<(i32, i32)>,
}

impl Scale {
    fn new(ex: i32, ey: i32) -> Scale {
        let plain = ex.abs() < 1000 && ey.abs() < 1000;
        Scale { x: pow2(-ex), y: pow2(-ey), exponents: (!plain).then_some((ex, ey)) }
    }

    #[inline(always)]
    fn apply(&self, x: f64, y: f64) -> (f64, f64) {
        match self.exponents {
            None => (x * self.x, y * self.y),
            Some((ex, ey)) => (ldexp(x, -ex), ldexp(y, -ey)),
        }
    }
}

/// Means and sums of squares of the scaled data.
struct Moments {
    sw: Dd,
    mx: Dd,
    my: Dd,
    sxx: Dd,
    syy: Dd,
    slope: Dd,
    rss: Dd,
}

impl Moments {
    fn finish(self, x: &[f64], y: &[f64], weights: Option<&[f64]>, (ex, ey): (i32, i32), points: Option<Points>) -> Fitted {
        let root = self.sw.sqrt();
        let mut r = Upper::zero(2);
        r.set(0, 0, root);
        r.set(0, 1, root * self.mx);
        r.set(1, 1, self.sxx.sqrt());
        Estimates {
            name: "line",
            names: vec![Cow::Borrowed("intercept"), Cow::Borrowed("slope")],
            curve: Curve::Polynomial { exponent: ex, intercept: true },
            exponents: vec![0, ex],
            coefficients: vec![self.my - self.slope * self.mx, self.slope],
            r,
            rss: self.rss,
            size: self.syy + self.my.square() * self.sw,
            tss: self.syy,
            y_exponent: ey,
            intercept: true,
            points,
            arithmetic: Arithmetic::DoubleDouble,
        }
        .finish(x, y, weights)
    }
}
