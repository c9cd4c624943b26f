//! Several models of the same observations.

use crate::{Amdahl, Capped, Error, Interval, Model, Options, PowerLaw, RateLine, Saturating, Usl};

/// One model among others.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Rank {
    /// Its place in what was passed to [`compare`].
    pub index: usize,
    /// Akaike's corrected criterion.
    pub aicc: f64,
    /// The same less the least of all.
    pub delta: f64,
    /// Its share of the evidence among those compared (Akaike weight), 0 to 1.
    pub weight: f64,
}

/// Ranks models of the same observations by Akaike's corrected criterion, the best first.
///
/// It judges the fit to the observations, at the x where they were made. It does **not** protect a
/// prediction beyond them: on timings at 1 to 5 threads it can rank models in exactly the
/// reverse order of their errors at 10. Use [`envelope`] there.
///
/// # Errors
/// [`Error::Empty`] without models, [`Error::DifferentData`] unless all were fitted to the same y
/// and weights, and those of [`Model::aicc`].
pub fn compare(models: &[&dyn Model]) -> Result<Vec<Rank>, Error> {
    let first = models.first().ok_or(Error::Empty)?.fitted();
    let mut ranks = Vec::with_capacity(models.len());
    for (index, model) in models.iter().enumerate() {
        let fitted = model.fitted();
        if (fitted.n, fitted.data.fingerprint) != (first.n, first.data.fingerprint) {
            return Err(Error::DifferentData);
        }
        ranks.push(Rank { index, aicc: model.aicc()?, delta: 0.0, weight: 0.0 });
    }
    ranks.sort_by(|a, b| a.aicc.total_cmp(&b.aicc));
    let least = ranks[0].aicc;
    let mut total = 0.0;
    for rank in &mut ranks {
        rank.delta = rank.aicc - least;
        rank.weight = (-0.5 * rank.delta).exp();
        total += rank.weight;
    }
    ranks.iter_mut().for_each(|r| r.weight /= total);
    Ok(ranks)
}

/// A short name, and the model or why it could not be fitted.
pub type Candidate = (&'static str, Result<Box<dyn Model>, Error>);

/// Fits every model of one predictor that describes how times or rates change with workers to the same observations: `power`,
/// `rate-line`, `amdahl`, `usl`, `saturating`, `capped`.
///
/// Set [`Options::response`] to what y is, or each model takes y for what it is of by nature.
pub fn candidates(x: &[f64], y: &[f64], options: &Options<'_>) -> Vec<Candidate> {
    fn boxed<M: Model + 'static>(model: Result<M, Error>) -> Result<Box<dyn Model>, Error> {
        model.map(|m| Box::new(m) as Box<dyn Model>)
    }
    vec![
        ("power", boxed(PowerLaw::fit(x, y, options))),
        ("rate-line", boxed(RateLine::fit(x, y, options))),
        ("amdahl", boxed(Amdahl::fit(x, y, options))),
        ("usl", boxed(Usl::fit(x, y, options))),
        ("saturating", boxed(Saturating::fit(x, y, options))),
        ("capped", boxed(Capped::fit(x, y, options))),
    ]
}

/// What several models together predict.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Envelope {
    /// The least and the greatest value of any model.
    pub values: Interval,
    /// From the least lower to the greatest upper end of any prediction interval.
    pub prediction: Interval,
    /// The greatest extrapolation factor of any model: see [`Model::extrapolation`].
    pub extrapolation: f64,
}

impl Envelope {
    /// Whether the prediction leaves the data so far (beyond 1.5 times) that the choice of the
    /// model decides it more than the observations do.
    pub fn is_extrapolated(&self) -> bool {
        self.extrapolation > 1.5
    }
}

/// The range of what models of the same thing predict at `x`. No single model's interval contains
/// the error of choosing that model; far from the data this range is the better guide.
///
/// # Errors
/// [`Error::Empty`] without models, and those of [`Model::prediction_interval`].
pub fn envelope(models: &[&dyn Model], x: f64, level: f64) -> Result<Envelope, Error> {
    if models.is_empty() {
        return Err(Error::Empty);
    }
    let nothing = Interval { lower: f64::INFINITY, upper: f64::NEG_INFINITY };
    let mut envelope = Envelope { values: nothing, prediction: nothing, extrapolation: 1.0 };
    let widen = |a: Interval, b: Interval| Interval { lower: a.lower.min(b.lower), upper: a.upper.max(b.upper) };
    for model in models {
        let p = model.prediction_at(&[x], level)?;
        envelope.values = widen(envelope.values, Interval { lower: p.y, upper: p.y });
        envelope.prediction = widen(envelope.prediction, p.prediction);
        envelope.extrapolation = envelope.extrapolation.max(p.extrapolation);
    }
    Ok(envelope)
}
