//! From data to outcomes.

use fit::robust::{AffineTime, TheilSen, median};
use fit::{Amdahl, Capped, Design, Envelope, Errors, LinearFit, Model, Options, PowerLaw, Rank, Response, Saturating, Usl};
use support::cli::Failure;

use crate::args::{Args, ErrorsName, Kind, ResponseName};
use crate::data::Data;
use crate::outcome::Outcome;

/// What came of it.
#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) outcomes: Vec<Outcome>,
    /// Models that could not be fitted, and why; only of several.
    pub(crate) failed: Vec<(String, String)>,
    pub(crate) comparison: Option<Comparison>,
    pub(crate) errors: ErrorsName,
    /// Of models that could be of either.
    pub(crate) response: Option<ResponseName>,
}

/// Several models side by side.
#[derive(Debug)]
pub(crate) struct Comparison {
    /// Best first; indices are those of the outcomes. Models without a criterion are left out.
    pub(crate) ranks: Vec<Rank>,
    pub(crate) unranked: Vec<(String, String)>,
    /// At the points asked for.
    pub(crate) envelopes: Vec<(f64, Envelope)>,
}

/// Fits what was asked for.
pub(crate) fn run(args: &Args, data: &Data, file: &str) -> Result<Results, Failure> {
    let points = args.points();
    for point in &points {
        if point.len() != data.x.len() {
            let needs = format!("--predict: {} predictors, but the file has {} columns of x", point.len(), data.x.len());
            return Err(Failure::Usage(needs));
        }
    }
    let errors = args.errors.unwrap_or_else(|| args.model.default_errors());
    let mut options = Options::default().errors(errors.into());
    if let Some(weights) = &data.weights {
        options = options.weights(weights);
    }
    let x = &data.x[0];
    let response = match (args.response, args.model) {
        (Some(r), _) => Some(r),
        (None, Kind::All) => Some(if falls(x, &data.y) { ResponseName::Time } else { ResponseName::Rate }),
        (None, _) => None,
    };
    if let Some(response) = response {
        options = options.response(response.into());
    }
    let job = Job { args, data, options, points };
    let named = |e: fit::Error| Failure::run(format!("{file}: {}", job.explain(&e)));
    if args.model == Kind::All {
        return job.all(errors, response).map_err(named);
    }
    let outcome = job.one().map_err(named)?;
    let natural = || if args.model == Kind::Amdahl { ResponseName::Time } else { ResponseName::Rate };
    let response = args.model.has_response().then(|| response.unwrap_or_else(natural));
    Ok(Results { outcomes: vec![outcome], failed: vec![], comparison: None, errors, response })
}

/// Whether y is smaller in the upper half of x than in the lower one.
fn falls(x: &[f64], y: &[f64]) -> bool {
    let centre = median(x).unwrap_or(0.0);
    let half = |upper: bool| -> Vec<f64> { x.iter().zip(y).filter(|(x, _)| (**x > centre) == upper).map(|(_, y)| *y).collect() };
    match (median(&half(false)), median(&half(true))) {
        (Ok(low), Ok(high)) => high < low,
        _ => false,
    }
}

struct Job<'a> {
    args: &'a Args,
    data: &'a Data,
    options: Options<'a>,
    points: Vec<Vec<f64>>,
}

impl Job<'_> {
    /// An error with the line of the file instead of an index.
    fn explain(&self, error: &fit::Error) -> String {
        let at = |what: &str, index: usize, rest: &str| match self.data.lines.get(index) {
            Some(line) => format!("line {line}: {what} {rest}"),
            None => error.to_string(),
        };
        match error {
            fit::Error::NonPositive { what, index } => at(what, *index, "is not above 0, which this model needs"),
            fit::Error::Weight { index } => at("the weight", *index, "is not above 0"),
            other => other.to_string(),
        }
    }

    fn one(&self) -> Result<Outcome, fit::Error> {
        let (x, y) = (&self.data.x[0], &self.data.y);
        let columns: Vec<&[f64]> = self.data.x.iter().map(Vec::as_slice).collect();
        let linear = |design: Design<'_>| LinearFit::fit(design, y, &self.options);
        let model: Box<dyn Model> = match self.args.model {
            Kind::Linear => Box::new(linear(Design::Line(x))?),
            Kind::Origin => Box::new(linear(Design::Origin(x))?),
            Kind::Polynomial(k) => Box::new(linear(Design::Polynomial(x, k))?),
            Kind::Columns => Box::new(linear(Design::Columns(&columns))?),
            Kind::Power => Box::new(PowerLaw::fit(x, y, &self.options.errors(Errors::Multiplicative))?),
            Kind::PowerNls => Box::new(PowerLaw::fit(x, y, &self.options.errors(Errors::Additive))?),
            Kind::Amdahl => Box::new(Amdahl::fit(x, y, &self.options)?),
            Kind::Usl => Box::new(Usl::fit(x, y, &self.options)?),
            Kind::Saturating => Box::new(Saturating::fit(x, y, &self.options)?),
            Kind::Capped => Box::new(Capped::fit(x, y, &self.options)?),
            Kind::Affine => {
                let fit = AffineTime::fit(x, y)?;
                let mut outcome = Outcome::of_affine(&fit, self.args.confidence, x, y, &self.points);
                outcome.curve = self.grid().into_iter().map(|x| (x, fit.predict(x), None)).collect();
                return Ok(outcome);
            }
            Kind::TheilSen | Kind::All => {
                let line = TheilSen::fit(x, y)?;
                let mut outcome = Outcome::of_theil_sen(&line, self.args.confidence, x, y, &self.points);
                outcome.curve = self.grid().into_iter().map(|x| (x, line.predict(x), None)).collect();
                return Ok(outcome);
            }
        };
        self.outcome(self.args.model.name(), &*model)
    }

    fn outcome(&self, name: String, model: &dyn Model) -> Result<Outcome, fit::Error> {
        let level = self.args.confidence;
        let mut outcome = Outcome::of_model(name, model, level, &self.data.x, &self.points)?;
        if self.data.x.len() == 1 {
            let at = |x: f64| model.prediction_at(&[x], level).ok().filter(|p| p.y.is_finite());
            outcome.curve = self
                .grid()
                .into_iter()
                .filter_map(|x| at(x).map(|p| (x, p.y, Some(p.prediction).filter(fit::Interval::is_bounded))))
                .collect();
        }
        let far = outcome.predictions.iter().filter_map(|p| p.extrapolation).fold(1.0, f64::max);
        if far > 1.5 {
            outcome.notes.push(format!(
                "a prediction lies {} times outside of the data: its interval does not hold the error of choosing this model; compare with --model all",
                support::units::significant(far, 3)
            ));
        }
        Ok(outcome)
    }

    /// The models that scale with x, fitted to the same observations with the same errors.
    fn all(&self, errors: ErrorsName, response: Option<ResponseName>) -> Result<Results, fit::Error> {
        let (x, y) = (&self.data.x[0], &self.data.y);
        let (mut models, mut outcomes, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = None;
        for (name, fitted) in fit::candidates(x, y, &self.options) {
            match fitted.and_then(|model| Ok((self.outcome(name.into(), &*model)?, model))) {
                Ok((outcome, model)) => {
                    models.push(model);
                    outcomes.push(outcome);
                }
                Err(error) => {
                    failed.push((name.to_string(), self.explain(&error)));
                    first.get_or_insert(error);
                }
            }
        }
        if let (true, Some(error)) = (models.is_empty(), first) {
            return Err(error);
        }
        let ranked: Vec<usize> = (0..models.len()).filter(|&i| models[i].aicc().is_ok()).collect();
        let unranked = outcomes.iter().filter_map(|o| Some((o.model.clone(), o.aicc.as_ref().err()?.clone()))).collect();
        let chosen: Vec<&dyn Model> = ranked.iter().map(|&i| &*models[i]).collect();
        let mut ranks = if chosen.is_empty() { Vec::new() } else { fit::compare(&chosen)? };
        ranks.iter_mut().for_each(|rank| rank.index = ranked[rank.index]);
        let everything: Vec<&dyn Model> = models.iter().map(|m| &**m).collect();
        let envelopes = self
            .points
            .iter()
            .map(|p| Ok((p[0], fit::envelope(&everything, p[0], self.args.confidence)?)))
            .collect::<Result<_, fit::Error>>()?;
        Ok(Results { outcomes, failed, comparison: Some(Comparison { ranks, unranked, envelopes }), errors, response })
    }

    /// Places for a smooth curve over data and predictions.
    fn grid(&self) -> Vec<f64> {
        let all = self.data.x[0].iter().copied().chain(self.points.iter().map(|p| p[0]));
        let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        (0..=240).map(|i| low + (high - low) * f64::from(i) / 240.0).collect()
    }
}

/// The response by its name.
pub(crate) fn response_name(response: Option<ResponseName>) -> Option<&'static str> {
    response.map(|r| match Response::from(r) {
        Response::Time => "time",
        Response::Rate => "rate",
    })
}
