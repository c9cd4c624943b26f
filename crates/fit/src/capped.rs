//! A line up to a cap.

use crate::fitted::Fitted;
use crate::formula::{Formula, Sample};
use crate::levenberg::{self, minimise};
use crate::linear::finite;
use crate::scaling::{Task, line_formula, weighted_start};
use crate::{Error, Model, Options, Param, Response};

/// A rate that grows until something else holds it: `rate = min(intercept + slope · x, cap)`, slope above 0.
///
/// The place of the bend is found by trying every gap between the observations, never by derivatives; with more than 48 different x, those
/// gaps that weighted sums find promising.
/// Intervals take as known which observations are capped. Fits rates unless [`Options::response`] says
/// otherwise.
///
/// ```
/// use gannet_fit::{Capped, Model, Options};
/// let threads = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let rates = [1.02, 1.99, 3.01, 3.61, 3.59, 3.60];
/// let disk = Capped::fit(&threads, &rates, &Options::default())?;
/// assert!((disk.cap().estimate - 3.6).abs() < 1e-12);
/// assert!((disk.breakpoint() - 3.6).abs() < 0.05);
/// # Ok::<(), gannet_fit::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Capped(pub(crate) Fitted);

impl Capped {
    /// Fits `y` at `x`.
    ///
    /// # Errors
    /// [`Error::NotIdentified`] when no observation is capped or the rate does not grow; it needs 4
    /// observations and 3 different x; the others are those of [`RateLine::fit`](crate::RateLine::fit).
    pub fn fit(x: &[f64], y: &[f64], options: &Options<'_>) -> Result<Capped, Error> {
        let names = &["intercept", "slope", "cap"];
        let task = Task { name: "capped line", names, natural: Response::Rate, distinct: 3 };
        task.check_any_x(x, y, options)?;
        let response = options.response.unwrap_or(task.natural);
        let columns = [x];
        let sample = Sample::new(&columns, y, options.weights, options.errors);
        let z = task.natural_values(y, options);
        let search = Search { x, z: &z, weights: task.weights(&z, options), sample: &sample, response };
        let knots = search.knots();
        let best = search.best(&search.promising(&knots, KEEP.min(1 + EFFORT / x.len())));
        // The line without a cap must not be better.
        let uncapped = search.line(&(0..x.len()).collect::<Vec<_>>()).map_or(f64::INFINITY, |l| l.1);
        let bend = best.filter(|b| b.rss < uncapped).ok_or(Error::NotIdentified { parameter: "cap".into() })?;
        let formula = capped_formula(Some(bend.at)).observed_as(Response::Rate, response);
        let minimum = levenberg::Minimum { b: bend.b, rss: bend.rss };
        let names: Vec<_> = names.iter().map(|&n| n.into()).collect();
        let mut fitted = levenberg::finish(task.name, &names, formula, &sample, &minimum, (y, options.weights))?;
        let formula = capped_formula(None).observed_as(Response::Rate, response);
        fitted.curve = crate::fitted::Curve::Formula(formula);
        finite(fitted).map(Capped)
    }

    /// The cap.
    pub fn cap(&self) -> &Param {
        &self.params()[2]
    }

    /// The x where the line meets the cap.
    pub fn breakpoint(&self) -> f64 {
        let [a, b, cap] = [0, 1, 2].map(|k| self.params()[k].estimate);
        (cap - a) / b
    }
}

/// The line up to a given place, or to where it meets the cap.
fn capped_formula(bend: Option<f64>) -> Formula {
    Formula::new(1, &[f64::NEG_INFINITY; 3], move |xs, b, g| {
        let line = b[0] + b[1] * xs[0];
        if bend.map_or(line <= b[2], |bend| xs[0] <= bend) {
            (g[0], g[1], g[2]) = (1.0, xs[0], 0.0);
            line
        } else {
            (g[0], g[1], g[2]) = (0.0, 0.0, 1.0);
            b[2]
        }
    })
}

/// A candidate: the greatest x on the line, and the parameters.
struct Bend {
    at: f64,
    b: Vec<f64>,
    rss: f64,
}

/// Bends that are fitted exactly, of the many that data with many different x have.
const KEEP: usize = 48;
/// Observations in all of these fits together, about.
const EFFORT: usize = 100_000;

struct Search<'a> {
    x: &'a [f64],
    z: &'a [f64],
    weights: Vec<f64>,
    sample: &'a Sample<'a>,
    response: Response,
}

impl Search<'_> {
    /// The different x, rising.
    fn knots(&self) -> Vec<f64> {
        let mut knots = self.x.to_vec();
        knots.sort_unstable_by(f64::total_cmp);
        knots.dedup();
        knots
    }

    /// The best of the bends in these gaps and at their lower ends.
    fn best(&self, gaps: &[(f64, f64)]) -> Option<Bend> {
        let bends = gaps.iter().flat_map(|&(from, to)| [self.in_gap(from, to), self.at(from)]).flatten();
        bends.fold(None, |best: Option<Bend>, bend| if best.as_ref().is_none_or(|b| bend.rss < b.rss) { Some(bend) } else { best })
    }

    /// At most `keep` gaps between neighbouring x: those where a line up to the gap and a level after it, both by weighted
    /// least squares, leave least. Their sums grow from gap to gap, so that this costs little.
    fn promising(&self, knots: &[f64], keep: usize) -> Vec<(f64, f64)> {
        let gaps: Vec<(f64, f64)> = knots.windows(2).skip(1).map(|k| (k[0], k[1])).collect();
        if gaps.len() <= keep {
            return gaps;
        }
        let mut order: Vec<usize> = (0..self.x.len()).collect();
        order.sort_unstable_by(|&a, &b| self.x[a].total_cmp(&self.x[b]));
        let total = |f: &dyn Fn(usize) -> f64| order.iter().map(|&i| self.weights[i] * f(i)).sum::<f64>();
        let sw = total(&|_| 1.0);
        let (mx, mz) = (total(&|i| self.x[i]) / sw, total(&|i| self.z[i]) / sw);
        let terms = |i: usize| {
            let (w, u, v) = (self.weights[i], self.x[i] - mx, self.z[i] - mz);
            [w, w * u, w * u * u, w * v, w * u * v, w * v * v]
        };
        let mut all = [0.0; 6];
        order.iter().for_each(|&i| add(&mut all, terms(i)));
        let mut left = [0.0; 6];
        let mut next = order.iter().peekable();
        let mut scored: Vec<(f64, (f64, f64))> = gaps
            .into_iter()
            .map(|(from, to)| {
                while let Some(&i) = next.next_if(|&&i| self.x[i] <= from) {
                    add(&mut left, terms(i));
                }
                (score(&left, &all, (from - mx, to - mx)), (from, to))
            })
            .collect();
        scored.sort_by(|a, b| a.0.total_cmp(&b.0));
        scored.into_iter().take(keep).map(|s| s.1).collect()
    }

    /// The best line and the best cap of their own, when they meet within the gap.
    fn in_gap(&self, from: f64, to: f64) -> Option<Bend> {
        let (left, right): (Vec<usize>, Vec<usize>) = (0..self.x.len()).partition(|&i| self.x[i] <= from);
        let (line, rss) = self.line(&left)?;
        let (cap, rest) = self.cap(&right)?;
        let meet = (cap - line[0]) / line[1];
        (line[1] > 0.0 && from <= meet && meet <= to).then(|| Bend { at: from, b: vec![line[0], line[1], cap], rss: rss + rest })
    }

    /// The best with the bend at a given x.
    fn at(&self, bend: f64) -> Option<Bend> {
        let rows: Vec<usize> = (0..self.x.len()).collect();
        let formula = Formula::new(1, &[f64::NEG_INFINITY, 0.0], move |xs, b, g| {
            (g[0], g[1]) = (1.0, (xs[0] - bend).min(0.0));
            b[0] + b[1] * g[1]
        });
        let columns = [vec![1.0; rows.len()], self.x.iter().map(|x| (x - bend).min(0.0)).collect()];
        let (b, rss) = self.solve(formula, &columns, &rows)?;
        (b[1] > 0.0).then(|| Bend { at: bend, b: vec![b[0] - b[1] * bend, b[1], b[0]], rss })
    }

    fn line(&self, rows: &[usize]) -> Option<(Vec<f64>, f64)> {
        let columns = [vec![1.0; rows.len()], rows.iter().map(|&i| self.x[i]).collect()];
        self.solve(line_formula(), &columns, rows)
    }

    fn cap(&self, rows: &[usize]) -> Option<(f64, f64)> {
        let formula = Formula::new(1, &[f64::NEG_INFINITY], |_, b, g| {
            g[0] = 1.0;
            b[0]
        });
        let (b, rss) = self.solve(formula, &[vec![1.0; rows.len()]], rows)?;
        Some((b[0], rss))
    }

    fn solve(&self, formula: Formula, columns: &[Vec<f64>], rows: &[usize]) -> Option<(Vec<f64>, f64)> {
        let pick = |v: &[f64]| rows.iter().map(|&i| v[i]).collect::<Vec<f64>>();
        let (x, z, w) = (pick(self.x), pick(self.z), pick(&self.weights));
        let start = weighted_start(columns, &z, &w).ok()?;
        let x = [x.as_slice()];
        let sample = self.sample.select(&x, rows);
        let formula = formula.observed_as(Response::Rate, self.response);
        let minimum = minimise(&formula, &sample, &start).ok()?;
        Some((minimum.b, minimum.rss))
    }
}

fn add(sums: &mut [f64; 6], terms: [f64; 6]) {
    sums.iter_mut().zip(terms).for_each(|(sum, t)| *sum += t);
}

/// What the better of both kinds of bend leaves: where a line of its own and a level of its own meet in the gap, or the bend at
/// its lower end. From the sums of w, wu, wuu, wv, wuv and wvv up to the gap and of all.
fn score(left: &[f64; 6], all: &[f64; 6], (from, to): (f64, f64)) -> f64 {
    let [w, u, uu, v, uv, vv] = *left;
    let [right_w, right_v, right_vv] = [all[0] - w, all[3] - v, all[5] - vv];
    let (suu, suv) = (uu - u * u / w, uv - u * v / w);
    let slope = suv / suu;
    let meet = u / w + (right_v / right_w - v / w) / slope;
    let apart = (vv - v * v / w - suv * slope) + (right_vv - right_v * right_v / right_w);
    // On t = u - from up to the gap and 0 after it.
    let (t, tt, tv) = (u - from * w, uu - 2.0 * from * u + from * from * w, uv - from * v);
    let (stt, stv) = (tt - t * t / all[0], tv - t * all[3] / all[0]);
    let joined = all[5] - all[3] * all[3] / all[0] - stv * stv / stt;
    if slope > 0.0 && from <= meet && meet <= to { apart } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Errors, LinearFit};

    /// Few gaps are fitted; the best of all is among them.
    #[test]
    fn the_best_gap_is_promising() {
        for (seed, bend) in [(1u32, 31.5), (2, 60.0), (3, 88.2), (4, 12.9)] {
            let x: Vec<f64> = (0..120).map(|i| f64::from(i) * 0.9 + f64::from(i % 4)).collect();
            let noise = |i: usize| f64::from((i as u32 * 7919 * seed + 13 * seed) % 1000) / 1000.0 - 0.5;
            let rates: Vec<f64> = x.iter().enumerate().map(|(i, x)| (2.0 + x.min(bend)) * (1.0 + 0.2 * noise(i))).collect();
            for errors in [Errors::Additive, Errors::Multiplicative] {
                for response in [Response::Rate, Response::Time] {
                    let y: Vec<f64> = rates.iter().map(|r| if response == Response::Time { 1.0 / r } else { *r }).collect();
                    let options = Options::default().errors(errors).response(response);
                    let task = Task { name: "capped line", names: &["intercept", "slope", "cap"], natural: Response::Rate, distinct: 3 };
                    let columns = [&x[..]];
                    let sample = Sample::new(&columns, &y, None, errors);
                    let z = task.natural_values(&y, &options);
                    let search = Search { x: &x, z: &z, weights: task.weights(&z, &options), sample: &sample, response };
                    let knots = search.knots();
                    let exhaustive = search.best(&search.promising(&knots, usize::MAX)).unwrap();
                    let quick = search.best(&search.promising(&knots, 8)).unwrap();
                    assert_eq!((quick.rss, quick.at), (exhaustive.rss, exhaustive.at), "{seed} {errors:?} {response:?}");
                }
            }
        }
    }

    /// With additive errors of rates the score is what is left.
    #[test]
    fn the_score_is_exact_where_all_is_linear() {
        let (u, v) = ([-2.0, -1.0, 0.5, 1.0, 2.0, 3.0], [0.0, 1.2, 2.9, 3.0, 3.2, 2.9]);
        let sums = |n: usize| {
            let mut sums = [0.0; 6];
            (0..n).for_each(|i| add(&mut sums, [1.0, u[i], u[i] * u[i], v[i], u[i] * v[i], v[i] * v[i]]));
            sums
        };
        // The line through the first three meets the mean of the rest in their gap; that through the first four does not.
        let line = LinearFit::ols(&u[..3], &v[..3]).unwrap().residual_sum_of_squares();
        let mean = (3.0 + 3.2 + 2.9) / 3.0;
        let level: f64 = v[3..].iter().map(|v| (v - mean) * (v - mean)).sum();
        assert!((score(&sums(3), &sums(6), (0.5, 1.0)) - (line + level)).abs() < 1e-12);
        let hinge: Vec<f64> = u.iter().map(|u| (u - 1.0f64).min(0.0)).collect();
        let joined = LinearFit::ols(&hinge, &v).unwrap().residual_sum_of_squares();
        assert!((score(&sums(4), &sums(6), (1.0, 2.0)) - joined).abs() < 1e-12);
    }
}
