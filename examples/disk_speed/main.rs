//! Times writing and reading a volume over many sizes, and says how far the figures can be believed.
//!
//! Bandwidth and latency come from a robust fit of time over size, with intervals; the change-point verdict comes first, since every
//! average hides a disk that slowed down. `docs/measuring.md` tells how the numbers come about.

mod args;
mod compare;
mod html;
mod json;
mod measure;
mod show;
mod summary;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::process::ExitCode;

use support::cli::{self, Failure};
use support::machine::Facts;
use support::print::Printer;
use support::results::check_results;

use args::Args;
use summary::Summary;

fn main() -> ExitCode {
    cli::main(run)
}

/// What was found, ready to be shown.
struct Findings {
    machine: Facts,
    report: diskbench::Report,
    /// The plan as it was asked for; `None` if only what was there was read.
    plan: Option<String>,
    confidence: f64,
    write: Option<Summary>,
    read: Option<Summary>,
}

fn run(args: Args) -> Result<(), Failure> {
    let mut out = Printer::new(args.json.as_ref());
    let compared = args.compare.iter().flatten().map(PathBuf::as_path);
    check_results(args.json.as_ref(), args.report.as_deref(), compared)?;
    if let Some(files) = &args.compare {
        return compare::run(&files[0], &files[1], &args, &mut out);
    }
    let machine = Facts::detect();
    let mut runner = measure::prepare(&args)?;
    show::opening(&mut out, runner.report());
    let outcome = measure::run(&mut runner, &args);
    let report = runner.into_report();
    outcome?;
    let findings = Findings::new(machine, report, args.plan_text(), args.confidence);
    show::results(&mut out, &findings);
    if let Some(target) = &args.json {
        target.write(&json::document(&findings))?;
    }
    if let Some(path) = &args.report {
        html::page(&findings)?.write(path)?;
        out.line(format!("\nThe report is in {}.", path.display()));
    }
    Ok(())
}

impl Findings {
    fn new(machine: Facts, report: diskbench::Report, plan: Option<&str>, confidence: f64) -> Self {
        let summary = |direction| Summary::new(&report, direction, confidence);
        let (write, read) = (summary(diskbench::Direction::Write), summary(diskbench::Direction::Read));
        Self { machine, report, plan: plan.map(str::to_owned), confidence, write, read }
    }

    fn summaries(&self) -> impl Iterator<Item = &Summary> {
        self.write.iter().chain(&self.read)
    }
}
