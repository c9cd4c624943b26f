//! The models of scaling, fitted to the times of every run.

use fit::{Envelope, Errors, Model, Options, Rank, Response};

use crate::args::{Settings, Task};
use crate::measure::Run;

/// One model.
#[derive(Debug)]
pub(crate) struct Fitted {
    pub(crate) name: &'static str,
    pub(crate) model: Box<dyn Model>,
    pub(crate) rank: Option<Rank>,
}

/// What all models together say of a number of threads.
#[derive(Debug)]
pub(crate) struct Predicted {
    pub(crate) threads: usize,
    pub(crate) envelope: Result<Envelope, String>,
}

/// One task.
#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) task: Task,
    /// The best of them first, those without a criterion last.
    pub(crate) models: Vec<Fitted>,
    pub(crate) failed: Vec<(&'static str, String)>,
    pub(crate) predictions: Vec<Predicted>,
}

pub(crate) fn all(settings: &Settings, runs: &[Run]) -> Vec<Results> {
    settings.tasks().into_iter().map(|task| one(settings, runs, task)).collect()
}

fn one(settings: &Settings, runs: &[Run], task: Task) -> Results {
    let (threads, seconds): (Vec<f64>, Vec<f64>) = runs.iter().filter(|r| r.task == task).map(|r| (r.threads as f64, r.seconds)).unzip();
    let options = Options::default().errors(Errors::Multiplicative).response(Response::Time);
    let (mut models, mut failed) = (Vec::new(), Vec::new());
    for (name, fitted) in fit::candidates(&threads, &seconds, &options) {
        match fitted {
            Ok(model) => models.push(Fitted { name, model, rank: None }),
            Err(error) => failed.push((name, error.to_string())),
        }
    }
    let able: Vec<usize> = (0..models.len()).filter(|&i| models[i].model.aicc().is_ok()).collect();
    let chosen: Vec<&dyn Model> = able.iter().map(|&i| &*models[i].model).collect();
    for rank in fit::compare(&chosen).unwrap_or_default() {
        let index = able[rank.index];
        models[index].rank = Some(rank);
    }
    let place = |f: &Fitted| f.rank.as_ref().map_or(f64::INFINITY, |r| r.aicc);
    models.sort_by(|a, b| place(a).total_cmp(&place(b)));
    let everything: Vec<&dyn Model> = models.iter().map(|f| &*f.model).collect();
    let predictions = settings
        .predict
        .iter()
        .map(|&threads| {
            let envelope = fit::envelope(&everything, threads as f64, settings.confidence);
            Predicted { threads, envelope: envelope.map_err(|_| "no model could be fitted".to_string()) }
        })
        .collect();
    Results { task, models, failed, predictions }
}
