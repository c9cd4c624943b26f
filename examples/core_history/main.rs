//! The activity of every core over time, live or while a command runs.

mod record;
mod show;
mod strip;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use support::cli::{self, Failure};
use support::json::Target;
use support::machine::Facts;
use support::print::Printer;

/// Show how busy every core is, for a time or while a command runs.
#[derive(Debug, Parser)]
#[command(name = "core_history", version)]
struct Args {
    /// Time between two readings: 100ms, 0.5s
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = interval)]
    interval: Duration,
    /// How long to watch without a command: 10s, 2.5s
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    duration: Duration,
    /// Show nothing while watching
    #[arg(long)]
    quiet: bool,
    /// Write the result as JSON (`-` for standard output)
    #[arg(long, value_name = "FILE")]
    json: Option<Target>,
    /// Write a page with the strip chart
    #[arg(long, value_name = "FILE.html")]
    report: Option<std::path::PathBuf>,
    /// Write the strip chart alone
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<std::path::PathBuf>,
    /// A command to run and watch, after --
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<std::ffi::OsString>,
}

fn time(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    let seconds = number.trim().parse::<f64>().map_err(|_| format!("not a time: {text:?} (write 100ms or 2.5s)"))? * unit;
    if (0.001..=86_400.0).contains(&seconds) { Ok(Duration::from_secs_f64(seconds)) } else { Err("must be 1 ms to a day".into()) }
}

fn interval(text: &str) -> Result<Duration, String> {
    time(text).and_then(|time| if time <= Duration::from_secs(60) { Ok(time) } else { Err("must be a minute at most".into()) })
}

fn main() -> ExitCode {
    cli::main(run)
}

fn run(args: Args) -> Result<(), Failure> {
    if !args.command.is_empty() && args.json == Some(Target::Stdout) {
        return Err(Failure::Usage("--json - and a command would both write to standard output: give a file".into()));
    }
    let mut out = Printer::new(args.json.as_ref());
    let facts = Facts::detect();
    let topology = facts.topology.as_ref().map_err(|reason| Failure::run(reason.clone()))?;
    let live = !args.quiet && std::io::stderr().is_terminal();
    let history = record::watch(topology, args.interval, args.duration, &args.command, live)?;
    show::print(&mut out, &history);
    if let Some(target) = &args.json {
        target.write(&show::document(&facts, &history))?;
    }
    if let Some(path) = &args.svg {
        support::json::write_whole(path, strip::svg(&history).as_bytes())?;
    }
    if let Some(path) = &args.report {
        show::page(&facts, &history).write(path)?;
    }
    match history.exit_code {
        None | Some(0) => Ok(()),
        Some(code) => Err(Failure::run(format!("the command ended with status {code}"))),
    }
}
