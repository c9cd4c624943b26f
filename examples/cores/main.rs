//! In-core throughput by kind of work, number of threads and class: what a core, and one more core, is worth.

mod line;
mod measure;
mod show;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use qos::{Probe, Profile, QosClass, Workload};
use support::args::{ThreadList, confidence, count, seconds};
use support::cli::{self, Failure};
use support::json::Target;
use support::machine::Facts;
use support::print::Printer;

/// Time in-core work on 1 to N threads at any class, and fit the total time over threads.
#[derive(Debug, Parser)]
#[command(name = "cores", version)]
struct Args {
    /// Kinds of work, separated by commas: integer, floating-point, simd, memory [default: all]
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    workloads: Vec<Workload>,
    /// Numbers of threads, such as 1-4 or 1,2,8 [default: 1 to the CPUs this process may use]
    #[arg(long, value_name = "LIST")]
    threads: Option<ThreadList>,
    /// Classes, separated by commas
    #[arg(long, value_name = "CLASSES", value_delimiter = ',', default_value = "default")]
    classes: Vec<QosClass>,
    /// Loops of each thread [default: as many as take --seconds on one thread]
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    loops: Option<u64>,
    /// About how long a run takes on one thread
    #[arg(long, value_name = "S", default_value = "0.5", value_parser = seconds)]
    seconds: f64,
    /// Runs of each combination
    #[arg(long, value_name = "N", default_value = "3", value_parser = |t: &str| count(t, 1000))]
    repeats: usize,
    /// Linux: also use what only a privileged thread can undo (`SCHED_IDLE`, nice 5)
    #[arg(long)]
    one_way: bool,
    /// Level of the intervals
    #[arg(long, value_name = "LEVEL", default_value = "0.95", value_parser = confidence)]
    confidence: f64,
    /// Write the result as JSON (`-` for standard output)
    #[arg(long, value_name = "FILE")]
    json: Option<Target>,
    /// Write a page with the tables and plots
    #[arg(long, value_name = "FILE.html")]
    report: Option<std::path::PathBuf>,
}

/// What all runs have in common.
struct Settings {
    workloads: Vec<Workload>,
    threads: Vec<usize>,
    classes: Vec<QosClass>,
    loops: Option<u64>,
    time: Duration,
    repeats: usize,
    profile: Profile,
    confidence: f64,
}

fn main() -> ExitCode {
    cli::main(run)
}

fn run(args: Args) -> Result<(), Failure> {
    let mut out = Printer::new(args.json.as_ref());
    let facts = Facts::detect();
    let topology = facts.topology.as_ref().map_err(|reason| Failure::run(reason.clone()))?;
    if args.loops == Some(0) {
        return Err(Failure::Usage("--loops must be at least 1".into()));
    }
    let settings = Settings {
        workloads: if args.workloads.is_empty() { Workload::ALL.to_vec() } else { unique(args.workloads) },
        threads: args.threads.map_or_else(|| (1..=facts.usable_cpus()).collect(), |list| list.0),
        classes: unique(args.classes),
        loops: args.loops,
        time: Duration::from_secs_f64(args.seconds),
        repeats: args.repeats,
        profile: if args.one_way { Profile::OneWay } else { Profile::Reversible },
        confidence: args.confidence,
    };
    let mut results = Vec::new();
    let runs = settings.workloads.len() * settings.classes.len() * settings.threads.len() * settings.repeats;
    let progress = support::progress::Progress::steps(runs as u64);
    for &workload in &settings.workloads {
        let probe = Probe::new(workload);
        let loops = settings.loops.unwrap_or_else(|| probe.loops_for(settings.time));
        for &class in &settings.classes {
            progress.message(format!("{workload}, {class}"));
            results.push(measure::series(&settings, &probe, class, loops, topology, &progress)?);
        }
    }
    drop(progress);
    show::print(&mut out, &facts, &settings, &results);
    if let Some(target) = &args.json {
        target.write(&show::document(&facts, &settings, &results))?;
    }
    if let Some(path) = &args.report {
        show::page(&facts, &settings, &results)?.write(path)?;
    }
    Ok(())
}

/// Each once, in the order given.
fn unique<T: PartialEq>(values: Vec<T>) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for value in values {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}
