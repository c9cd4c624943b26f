//! The rate-limiting stage at each thread count.

use stream::{LimitingStage, Verdict as Evidence};

use crate::measure::{Operation, Run, of};

/// What limited compression at one thread count.
#[derive(Debug, Clone)]
pub(crate) struct Verdict {
    pub(crate) threads: usize,
    /// CPUs that the process may use, 0 if unknown.
    pub(crate) cpus: usize,
    pub(crate) stage: LimitingStage,
    /// Of the run that is nearest the median among those that were limited so.
    pub(crate) evidence: Evidence,
    /// Runs limited by this stage, and all runs at this thread count.
    pub(crate) agreeing: usize,
    pub(crate) runs: usize,
    pub(crate) median_seconds: f64,
}

impl Verdict {
    /// The evidence as a sentence.
    pub(crate) fn sentence(&self) -> String {
        let mut text = self.evidence.to_string();
        if self.cpus > 0 && self.threads > self.cpus {
            text.push_str(&format!("; the {} threads share {} CPUs", self.threads, self.cpus));
        }
        if self.agreeing < self.runs {
            text.push_str(&format!("; {} of {} runs were limited so", self.agreeing, self.runs));
        }
        text
    }
}

/// One verdict for each thread count.
pub(crate) fn all(runs: &[Run], threads: &[usize]) -> Vec<Verdict> {
    threads.iter().filter_map(|&count| one(of(runs, Operation::Compress).filter(|run| run.threads == count).collect(), count)).collect()
}

fn one(mut runs: Vec<&Run>, threads: usize) -> Option<Verdict> {
    runs.sort_by(|a, b| a.seconds().total_cmp(&b.seconds()));
    let judged: Vec<Evidence> = runs.iter().map(|run| run.report.limiting_stage()).collect();
    let votes = |stage: LimitingStage| judged.iter().filter(|e| e.stage == stage).count();
    // Among equals the one of the faster runs: what disturbs a run makes it slower.
    let stage = judged.iter().map(|e| e.stage).rev().max_by_key(|&stage| votes(stage))?;
    let agreeing: Vec<&Evidence> = judged.iter().filter(|e| e.stage == stage).collect();
    Some(Verdict {
        threads,
        cpus: runs.first()?.report.cpus,
        stage,
        evidence: *agreeing[(agreeing.len() - 1) / 2],
        agreeing: agreeing.len(),
        runs: runs.len(),
        median_seconds: median(&runs.iter().map(|run| run.seconds()).collect::<Vec<_>>())?,
    })
}

/// The middle value, or the mean of the two in the middle.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
    }
}
