//! Fits a model to the numbers in a file.

mod args;
mod data;
mod fits;
mod json;
mod outcome;
mod show;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use args::{Args, Kind};
use support::cli::Failure;
use support::interrupt;
use support::machine::Facts;
use support::print::Printer;
use support::results::check_results;

fn main() -> ExitCode {
    support::cli::main_unwatched(run)
}

fn run(args: Args) -> Result<(), Failure> {
    args.check()?;
    check_results(args.json.as_ref(), args.report.as_deref(), [args.file.as_path()])?;
    let (file, data) = data::read(&args.file, args.weights, args.model == Kind::Columns)?;
    let results = fits::run(&args, &data, &file)?;
    // The page first: nothing is written when it cannot be drawn.
    let page = args.report.as_ref().map(|path| show::page(&args, &results, &data, &file).map(|page| (path, page))).transpose()?;
    interrupt::watch()?;
    if let Some(target) = &args.json {
        target.write(&json::document(&args, &file, Facts::detect().json(), &results))?;
    }
    if let Some((path, page)) = page {
        page.write(path)?;
    }
    show::print(&args, &results, &file, &mut Printer::new(args.json.as_ref()));
    Ok(())
}
