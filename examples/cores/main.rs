//! In-core throughput by kind of work, number of threads and class: what a core, and one more core, is worth.

mod line;
mod measure;
mod show;

use std::process::ExitCode;

use clap::Parser;
use qos::{Probe, Profile, QosClass, Workload};
use support::args::{ThreadList, count};
use support::cli::{self, Failure};
use support::machine::Facts;
use support::outputs::Outputs;
use support::probing::{ProbeArgs, unique};

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
    /// Runs of each combination
    #[arg(long, value_name = "N", default_value = "3", value_parser = |t: &str| count(t, 1000))]
    repeats: usize,
    #[command(flatten)]
    probing: ProbeArgs,
    #[command(flatten)]
    outputs: Outputs,
}

/// What all runs have in common.
struct Settings {
    workloads: Vec<Workload>,
    threads: Vec<usize>,
    classes: Vec<QosClass>,
    repeats: usize,
    profile: Profile,
    confidence: f64,
}

fn main() -> ExitCode {
    cli::main(run)
}

fn run(args: Args) -> Result<(), Failure> {
    let mut out = args.outputs.open()?;
    let facts = Facts::detect();
    let topology = facts.topology.as_ref().map_err(|reason| Failure::run(reason.clone()))?;
    let settings = Settings {
        workloads: if args.workloads.is_empty() { Workload::ALL.to_vec() } else { unique(args.workloads) },
        threads: args.threads.map_or_else(|| (1..=facts.usable_cpus()).collect(), |list| list.0),
        classes: unique(args.classes),
        repeats: args.repeats,
        profile: args.probing.profile(),
        confidence: args.probing.confidence,
    };
    let mut results = Vec::new();
    let runs = settings.workloads.len() * settings.classes.len() * settings.threads.len() * settings.repeats;
    let progress = support::progress::Progress::steps(runs as u64);
    for &workload in &settings.workloads {
        let probe = Probe::new(workload);
        let loops = args.probing.loops(&probe);
        for &class in &settings.classes {
            progress.message(format!("{workload}, {class}"));
            results.push(measure::series(&settings, &probe, class, loops, topology, &progress)?);
        }
    }
    drop(progress);
    show::print(&mut out, &facts, &settings, &results);
    args.outputs.write(|| show::document(&facts, &settings, &results), || show::page(&facts, &settings, &results))
}
