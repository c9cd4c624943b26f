//! The activity of every core over time, live or while a command runs.

mod record;
mod show;
mod strip;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use record::Ending;
use support::cli::{self, Failure};
use support::json::Target;
use support::machine::Facts;
use support::outputs::Outputs;
use support::results::check_results;

/// Show how busy every core is, for a time or while a command runs.
#[derive(Debug, Parser)]
#[command(name = "core_history", version)]
struct Args {
    /// Time between two readings, 20ms at least: 100ms, 0.5s
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = |t: &str| time(t, 0.02, 60.0))]
    interval: Duration,
    /// How long to watch without a command, ^C ends it earlier: 10s, 2.5s
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = |t: &str| time(t, 0.02, 86_400.0))]
    duration: Duration,
    /// Show nothing while watching
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    outputs: Outputs,
    /// Write the strip chart alone
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<std::path::PathBuf>,
    /// A command to run and watch, after --
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<std::ffi::OsString>,
}

/// As many as fit into memory and a chart.
const MOST_READINGS: f64 = 1e6;

fn time(text: &str, least: f64, most: f64) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    let seconds = number.trim().parse::<f64>().map_err(|_| format!("not a time: {text:?} (write 100ms or 2.5s)"))? * unit;
    if (least..=most).contains(&seconds) { Ok(Duration::from_secs_f64(seconds)) } else { Err(format!("must be {least}s to {most}s")) }
}

fn main() -> ExitCode {
    cli::main(run)
}

fn run(args: Args) -> Result<(), Failure> {
    if !args.command.is_empty() && args.outputs.json == Some(Target::Stdout) {
        return Err(Failure::Usage("--json - and a command would both write to standard output: give a file".into()));
    }
    if args.command.is_empty() && args.duration.as_secs_f64() > MOST_READINGS * args.interval.as_secs_f64() {
        return Err(Failure::Usage("--duration and --interval ask for more than a million readings: use a longer --interval".into()));
    }
    let mut out = args.outputs.open()?;
    let pages = [args.outputs.report.as_deref(), args.svg.as_deref()];
    check_results(args.outputs.json.as_ref(), pages.into_iter().flatten(), [])?;
    let facts = Facts::detect();
    let topology = facts.topology.as_ref().map_err(|reason| Failure::run(reason.clone()))?;
    let live = !args.quiet && std::io::stderr().is_terminal();
    let history = record::watch(topology, args.interval, args.duration, &args.command, live)?;
    show::print(&mut out, &history);
    if let Some(path) = &args.svg {
        support::json::write_whole(path, strip::svg(&history).as_bytes())?;
    }
    args.outputs.write(|| show::document(&facts, &history), || Ok(show::page(&facts, &history)))?;
    match (history.ending, history.exit) {
        // What was seen until then is all there is to tell; without a command this is the usual end.
        (Ending::Interrupted, _) if args.command.is_empty() => Ok(()),
        (Ending::Interrupted, _) => Err(Failure::Interrupted),
        (_, Some(status)) if !status.success() => Err(Failure::run(format!("the command ended with {status}"))),
        _ => Ok(()),
    }
}
