//! A fit in the terms of this program, whatever the model.

use fit::robust::{AffineTime, Bootstrap, TheilSen};
use fit::{Error, Interval, Model};

/// A number, or why there is none.
pub(crate) type Known = Result<f64, String>;

/// One parameter.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) estimate: f64,
    pub(crate) std_error: Known,
    pub(crate) interval: Result<Interval, String>,
    pub(crate) at_bound: bool,
}

/// One prediction.
#[derive(Debug, Clone)]
pub(crate) struct Predicted {
    pub(crate) x: Vec<f64>,
    pub(crate) y: f64,
    pub(crate) mean: Result<Interval, String>,
    pub(crate) prediction: Result<Interval, String>,
    /// How far outside of the data: 1 within.
    pub(crate) extrapolation: Option<f64>,
}

/// All that is said of one model.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) model: String,
    pub(crate) equation: &'static str,
    pub(crate) n: usize,
    pub(crate) df: Option<usize>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) residual_std_dev: Known,
    pub(crate) r_squared: Known,
    pub(crate) r_squared_kind: Option<&'static str>,
    pub(crate) adjusted_r_squared: Known,
    pub(crate) f_statistic: Known,
    pub(crate) condition: Known,
    pub(crate) aicc: Known,
    pub(crate) predictions: Vec<Predicted>,
    /// Fitted values and residuals, in the order of the data.
    pub(crate) residuals: Vec<(f64, f64)>,
    /// The fitted curve for a plot, with the interval of one further observation.
    pub(crate) curve: Vec<(f64, f64, Option<Interval>)>,
    pub(crate) notes: Vec<String>,
}

impl Outcome {
    /// From a least-squares model.
    pub(crate) fn of_model(name: String, fit: &dyn Model, level: f64, x: &[Vec<f64>], points: &[Vec<f64>]) -> Result<Self, Error> {
        let intervals = fit.confidence_intervals(level)?;
        let parameters = fit
            .params()
            .iter()
            .zip(intervals)
            .map(|(p, interval)| Parameter {
                name: p.name.to_string(),
                estimate: p.estimate,
                std_error: p.std_error.ok_or_else(|| "it lies at its bound".to_string()),
                interval: Ok(interval),
                at_bound: p.at_bound,
            })
            .collect();
        let predictions = points
            .iter()
            .map(|xs| {
                let p = fit.prediction_at(xs, level)?;
                let extrapolation = (xs.len() == 1).then_some(p.extrapolation);
                Ok(Predicted { x: xs.clone(), y: p.y, mean: Ok(p.mean), prediction: Ok(p.prediction), extrapolation })
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let diagnostics = fit.diagnostics();
        let residuals = diagnostics.map_or_else(Vec::new, |d| {
            let row = |i: usize| x.iter().map(|c| c[i]).collect::<Vec<f64>>();
            d.residuals.iter().enumerate().filter_map(|(i, &e)| Some((fit.predict_at(&row(i)).ok()?, e))).collect()
        });
        let constant = || "all y are equal".to_string();
        let f_statistic = match fit.f_statistic() {
            Some(f) if f.is_finite() => Ok(f),
            Some(_) => Err("the fit is perfect".to_string()),
            None if fit.r_squared().is_none() => Err(constant()),
            None => Err("the model is not linear in its parameters".to_string()),
        };
        let mut notes = Vec::new();
        for p in fit.params().iter().filter(|p| p.at_bound) {
            notes.push(format!("{} lies at its bound: the data call for a value beyond it", p.name));
        }
        if fit.condition() > 1e7 {
            notes.push(format!("the columns are nearly dependent (condition {:.1e}): rounding of the input matters", fit.condition()));
        }
        Ok(Self {
            model: name,
            equation: equation(fit),
            n: fit.n(),
            df: Some(fit.df()),
            parameters,
            residual_std_dev: Ok(fit.residual_std_dev()),
            r_squared: fit.r_squared().ok_or_else(constant),
            r_squared_kind: Some(match (fit.r_squared_kind(), fit.errors()) {
                (fit::RSquared::AboutZero, _) => "about_zero",
                (fit::RSquared::AboutMean, fit::Errors::Additive) => "about_mean",
                (fit::RSquared::AboutMean, fit::Errors::Multiplicative) => "about_mean_of_logarithms",
            }),
            adjusted_r_squared: fit.adjusted_r_squared().ok_or_else(constant),
            f_statistic,
            condition: Ok(fit.condition()),
            aicc: fit.aicc().map_err(|e| e.to_string()),
            predictions,
            residuals,
            curve: Vec::new(),
            notes,
        })
    }

    /// From a robust line.
    pub(crate) fn of_theil_sen(line: &TheilSen, level: f64, x: &[f64], y: &[f64], points: &[Vec<f64>]) -> Self {
        let only = "the Theil-Sen line has an interval for its slope only";
        let interval = line.slope_interval(level).map_err(|e| e.to_string());
        let parameter = |name: &str, estimate: f64, interval: Result<Interval, String>| Parameter {
            name: name.into(),
            estimate,
            std_error: Err("its interval is made of ranks".into()),
            interval,
            at_bound: false,
        };
        let kind = if line.is_exact() { "exact" } else { "approximate, for many points" };
        Self {
            equation: "y = intercept + slope x",
            parameters: vec![parameter("intercept", line.intercept(), Err(only.into())), parameter("slope", line.slope(), interval)],
            predictions: points.iter().map(|p| bare(p, line.predict(p[0]), only)).collect(),
            residuals: x.iter().zip(y).map(|(&x, &y)| (line.predict(x), y - line.predict(x))).collect(),
            notes: vec![format!("the interval of the slope is from Kendall's statistic ({kind})")],
            ..Self::robust("theil-sen", x.len())
        }
    }

    /// From a latency and a bandwidth.
    pub(crate) fn of_affine(fit: &AffineTime, level: f64, x: &[f64], y: &[f64], points: &[Vec<f64>]) -> Self {
        let intervals = fit.intervals(level, &Bootstrap::default()).map_err(|e| e.to_string());
        let parameter = |name: &str, estimate: f64, pick: &dyn Fn(&fit::robust::AffineIntervals) -> (Interval, f64)| Parameter {
            name: name.into(),
            estimate,
            std_error: intervals.as_ref().map(|i| pick(i).1).map_err(Clone::clone),
            interval: intervals.as_ref().map(|i| pick(i).0).map_err(Clone::clone),
            at_bound: name == "latency" && fit.latency_at_bound(),
        };
        let set_aside = fit.weights().iter().filter(|w| **w == 0.0).count();
        let mut notes = vec![format!("{set_aside} of {} observations were set aside as wild", x.len())];
        if fit.latency_at_bound() {
            notes.push("the data call for a latency below 0; 0 was taken".into());
        }
        notes.push("intervals and standard errors are from resampling (seed 1)".into());
        Self {
            equation: "seconds = latency + bytes / bandwidth",
            parameters: vec![
                parameter("latency", fit.latency(), &|i| (i.latency, i.latency_std_error)),
                parameter("bandwidth", fit.bytes_per_second(), &|i| (i.bytes_per_second, i.bytes_per_second_std_error)),
            ],
            residual_std_dev: Ok(fit.relative_deviation()),
            predictions: points
                .iter()
                .map(|p| bare(p, fit.predict(p[0]), "the robust time model has intervals for its parameters only"))
                .collect(),
            residuals: x.iter().zip(y).map(|(&x, &y)| (fit.predict(x), y - fit.predict(x))).collect(),
            notes,
            ..Self::robust("affine", x.len())
        }
    }

    fn robust(model: &str, n: usize) -> Self {
        let none = || Err("the model is not fitted by least squares".to_string());
        Self {
            model: model.into(),
            equation: "",
            n,
            df: None,
            parameters: Vec::new(),
            residual_std_dev: none(),
            r_squared: none(),
            r_squared_kind: None,
            adjusted_r_squared: none(),
            f_statistic: none(),
            condition: none(),
            aicc: none(),
            predictions: Vec::new(),
            residuals: Vec::new(),
            curve: Vec::new(),
            notes: Vec::new(),
        }
    }
}

fn bare(xs: &[f64], y: f64, reason: &str) -> Predicted {
    Predicted { x: xs.to_vec(), y, mean: Err(reason.into()), prediction: Err(reason.into()), extrapolation: None }
}

fn equation(fit: &dyn Model) -> &'static str {
    match fit.name() {
        "line" => "y = intercept + slope x",
        "line through the origin" => "y = slope x",
        "polynomial" => "y = b0 + b1 x + b2 x² + …",
        "linear in columns" => "y = intercept + b1 x1 + b2 x2 + …",
        "power law" => "y = scale · x^exponent",
        "Amdahl" => "time = serial + parallel / x",
        "USL" => "rate = scale x / (1 + contention (x - 1) + coherency x (x - 1))",
        "rate line" => "rate = intercept + slope x",
        "saturating" => "rate = limit (1 - exp(-growth x))",
        "capped line" => "rate = min(intercept + slope x, cap)",
        _ => "",
    }
}
