//! The straight line in closed form: two passes, the second over deviations from the means.

use std::borrow::Cow;

use crate::Arithmetic;
use crate::check::{self, Survey};
use crate::dd::{Dd, exponent, ldexp, pow2, two_sum};
use crate::fitted::{Curve, Data, Fitted, Points};
use crate::linear::Estimates;
use crate::qr::Upper;

/// In double-double.
pub(crate) fn exact(x: &[f64], y: &[f64], weights: Option<&[f64]>) -> Fitted {
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
    let (mx, my) = match weights {
        None => (sx / x.len() as f64, sy / x.len() as f64),
        Some(_) => (sx / sw, sy / sw),
    };
    let (mut sxx, mut sxy) = (Dd::ZERO, Dd::ZERO);
    for i in 0..x.len() {
        let (u, v) = scale.apply(x[i], y[i]);
        let (du, dv) = (Dd::from(u) - mx, Dd::from(v) - my);
        let wdu = if weights.is_some() { du * weight(i) } else { du };
        sxx += wdu * du;
        sxy += wdu * dv;
    }
    let slope = sxy / sxx;
    let mut points =
        Points { residuals: Vec::with_capacity(x.len()), leverage: Vec::with_capacity(x.len()), weights: weights.map(<[f64]>::to_vec) };
    let (over_w, over_sxx) = (1.0 / sw.to_f64(), 1.0 / sxx.to_f64());
    let mut rss = Dd::ZERO;
    for i in 0..x.len() {
        let (u, v) = scale.apply(x[i], y[i]);
        let du = Dd::from(u) - mx;
        let e = Dd::from(v) - my - slope * du;
        rss += if weights.is_some() { e.square() * weight(i) } else { e.square() };
        points.residuals.push(ldexp(e.to_f64(), ey));
        points.leverage.push((weight(i) * (over_w + du.hi * du.hi * over_sxx)).min(1.0));
    }
    // Sums of squares add up.
    let tss = slope * sxy + rss;
    let moments = Moments { sw, mx, my, sxx, slope, rss, tss };
    moments.finish(y, (ex, ey), Some(points), check::data(x, y, weights))
}

/// In doubles. The first pass finds the means and a first slope, the second sums what that line leaves of y, where nothing
/// large cancels; so the data come from memory twice. `None` where a sum is not finite or x is constant: it is
/// for the caller to find out why.
pub(crate) fn fast(x: &[f64], y: &[f64], weights: Option<&[f64]>) -> Option<Fitted> {
    if x.len() < 3 {
        return None;
    }
    let (x0, y0) = (x[0], y[0]);
    let mut survey = Survey::new(x0);
    let mut sums = Sums::default();
    for from in (0..x.len()).step_by(BLOCK) {
        let rows = from..x.len().min(from + BLOCK);
        let (x, y, w) = (&x[rows.clone()], &y[rows.clone()], weights.map(|w| &w[rows]));
        survey.add(x, y, w);
        sums.add(x, y, w, |x, y, w| {
            let (u, v) = (x - x0, y - y0);
            [w * u, w * v, w * u * u, w * u * v]
        });
    }
    let sw = weights.map_or(x.len() as f64, |w| w.iter().sum());
    let [su, sv, suu, suv] = sums.total();
    let (mut my, mx) = (y0 + sv / sw, x0 + su / sw);
    let mut slope = Dd::from((suv - su / sw * sv) / (suu - su / sw * su));
    if !slope.hi.is_finite() {
        // Nothing but rounding is left of the first differences: begin with a level line.
        slope = Dd::ZERO;
    }
    for last in [false, false, true] {
        let b = slope.hi;
        let mut sums = Sums::default();
        sums.add(x, y, weights, |x, y, w| {
            let d = x - mx;
            let e = (y - my) - b * d;
            [w * e, w * e * d, w * e * e, w * d * d]
        });
        let [se, sed, see, sxx] = sums.total();
        if !(sxx > 0.0 && [se, sed, see, sxx].iter().all(|s| s.is_finite())) {
            return None;
        }
        let rss = (see - se / sw * se - sed / sxx * sed).max(0.0);
        slope = two_sum(b, sed / sxx);
        let level = two_sum(my, se / sw);
        // Where the first line was poor, most of its squares cancel: once more from the better one.
        if !last && rss < 0.5 * see {
            my = level.to_f64();
            slope = Dd::from(slope.to_f64());
            continue;
        }
        let tss = slope.hi * slope.hi * sxx + rss;
        if !tss.is_finite() {
            return None;
        }
        let dd = Dd::from;
        let moments = Moments { sw: dd(sw), mx: dd(mx), my: level, sxx: dd(sxx), slope, rss: dd(rss), tss: dd(tss) };
        let mut fitted = moments.finish(y, (0, 0), None, survey.finish(weights));
        fitted.arithmetic = Arithmetic::Double;
        return Some(fitted);
    }
    None
}

/// Observations whose x and y fit the first level of any cache.
const BLOCK: usize = 1024;

/// Sums held at once of each term: two or more vector registers.
const LANES: usize = 4;

/// Sums of `K` terms over observations, laid out for vector instructions.
struct Sums<const K: usize>([[f64; LANES]; K]);

impl<const K: usize> Default for Sums<K> {
    fn default() -> Sums<K> {
        Sums([[0.0; LANES]; K])
    }
}

impl<const K: usize> Sums<K> {
    /// Adds the terms of x, y and weight of some observations.
    #[inline(always)]
    fn add(&mut self, x: &[f64], y: &[f64], weights: Option<&[f64]>, term: impl Fn(f64, f64, f64) -> [f64; K]) {
        let mut sums = self.0;
        let (xs, ys) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
        let mut tail = |i: usize, w: f64| {
            for (sum, t) in sums.iter_mut().zip(term(x[i], y[i], w)) {
                sum[0] += t;
            }
        };
        let whole = x.len() - x.len() % LANES;
        (whole..x.len()).for_each(|i| tail(i, weights.map_or(1.0, |w| w[i])));
        match weights {
            None => {
                for (x, y) in xs.zip(ys) {
                    for lane in 0..LANES {
                        let terms = term(x[lane], y[lane], 1.0);
                        (0..K).for_each(|k| sums[k][lane] += terms[k]);
                    }
                }
            }
            Some(w) => {
                for ((x, y), w) in xs.zip(ys).zip(w.chunks_exact(LANES)) {
                    for lane in 0..LANES {
                        let terms = term(x[lane], y[lane], w[lane]);
                        (0..K).for_each(|k| sums[k][lane] += terms[k]);
                    }
                }
            }
        }
        self.0 = sums;
    }

    fn total(&self) -> [f64; K] {
        self.0.map(|lanes| lanes.iter().sum())
    }
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
    /// The value of the line at `mx`.
    my: Dd,
    sxx: Dd,
    slope: Dd,
    rss: Dd,
    tss: Dd,
}

impl Moments {
    fn finish(self, y: &[f64], (ex, ey): (i32, i32), points: Option<Points>, data: Data) -> Fitted {
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
            size: self.tss + self.my.square() * self.sw,
            tss: self.tss,
            y_exponent: ey,
            intercept: true,
            points,
            arithmetic: Arithmetic::DoubleDouble,
        }
        .finish(y, data)
    }
}
