//! Finds what compressing a file waits for on this machine: reading, processing or writing; how that changes with threads; what would help.
//!
//! It times the volume, compresses and decompresses the file at several thread counts with every byte compared, fits time and rate over
//! threads, and names the rate-limiting stage at each thread count. `docs/measuring.md` tells how the numbers come about.

mod advice;
mod args;
mod fits;
mod html;
mod json;
mod measure;
mod show;
mod source;
#[cfg(test)]
mod tests;
mod verdict;
mod volume;

use std::process::ExitCode;

use support::cli::{self, Failure};
use support::print::Printer;
use support::results::check_results;
use support::workdir::WorkDir;

use args::{Args, Settings};

fn main() -> ExitCode {
    cli::main(run)
}

/// Everything that was found out, ready to be shown.
struct Findings {
    settings: Settings,
    machine: support::machine::Facts,
    source: source::Facts,
    volume: volume::Facts,
    runs: Vec<measure::Run>,
    fits: fits::Fits,
    verdicts: Vec<verdict::Verdict>,
    advice: advice::Advice,
}

fn run(args: Args) -> Result<(), Failure> {
    let mut out = Printer::new(args.json.as_ref());
    let machine = support::machine::Facts::detect();
    let settings = Settings::new(&args, machine.usable_cpus())?;
    check_results(args.json.as_ref(), args.report.as_deref(), settings.file.as_deref())?;
    let folder = WorkDir::new("bottleneck", &settings.dir)?;

    let source = source::prepare(&settings, &folder)?;
    show::opening(&mut out, &machine, &settings, &source);
    source::check_room(&settings, &source)?;
    let volume = volume::measure(&settings, folder.path())?;
    show::volume(&mut out, &volume);
    let runs = measure::all(&settings, &source, &folder)?;
    drop(folder);

    let fits = fits::Fits::new(&runs, settings.confidence);
    let verdicts = verdict::all(&runs, &settings.threads);
    let advice = advice::Advice::new(&settings, &machine, &volume, &runs, &verdicts, &fits);
    let findings = Findings { settings, machine, source, volume, runs, fits, verdicts, advice };
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
