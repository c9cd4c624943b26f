//! A line up to a cap.

use crate::fitted::Fitted;
use crate::formula::{Formula, Sample};
use crate::levenberg::{self, minimise};
use crate::linear::finite;
use crate::scaling::{Task, line_formula, weighted_start};
use crate::{Error, Model, Options, Param, Response};

/// A rate that grows until something else holds it: `rate = min(intercept + slope · x, cap)`, slope above 0.
///
/// The place of the bend is found by trying every gap between the observations, never by derivatives.
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
        let mut knots = x.to_vec();
        knots.sort_unstable_by(f64::total_cmp);
        knots.dedup();
        let mut best: Option<Bend> = None;
        let mut keep = |bend: Option<Bend>| {
            if let Some(bend) = bend.filter(|b| best.as_ref().is_none_or(|best| b.rss < best.rss)) {
                best = Some(bend);
            }
        };
        for k in 1..knots.len() - 1 {
            keep(search.in_gap(knots[k], knots[k + 1]));
            keep(search.at(knots[k]));
        }
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

struct Search<'a> {
    x: &'a [f64],
    z: &'a [f64],
    weights: Vec<f64>,
    sample: &'a Sample<'a>,
    response: Response,
}

impl Search<'_> {
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
