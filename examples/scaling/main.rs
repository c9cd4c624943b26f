//! Times compression and decompression in memory at several numbers of threads, or a command on several numbers of CPUs, fits the
//! models of scaling, and predicts others.

mod args;
mod command;
mod fits;
mod measure;
mod output;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use args::Args;
use support::cli::Failure;
use support::machine::Facts;
use support::print::Printer;
use support::results::check_results;

fn main() -> ExitCode {
    support::cli::main(run)
}

fn run(args: Args) -> Result<(), Failure> {
    let facts = Facts::detect();
    let cpus = || facts.topology.as_ref().map_err(|reason| Failure::run(reason.clone())).and_then(command::order);
    let settings = args.settings(facts.usable_cpus(), cpus)?;
    check_results(args.json.as_ref(), args.report.as_deref(), args.file.as_deref())?;
    let runs = measure::all(&settings)?;
    let results = fits::all(&settings, &runs);
    let page = args.report.as_ref().map(|path| output::page(&settings, &runs, &results).map(|page| (path, page))).transpose()?;
    if let Some(target) = &args.json {
        target.write(&output::json(&settings, facts.json(), &runs, &results))?;
    }
    if let Some((path, page)) = page {
        page.write(path)?;
    }
    output::print(&settings, &runs, &results, &mut Printer::new(args.json.as_ref()));
    Ok(())
}
