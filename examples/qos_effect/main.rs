//! The same loop at every class: what a class does to its time, and where it ran.
//!
//! Each run is a thread of its own that asks for its class. The first run of all is discarded, as in the published
//! experiment: it finds the core asleep. Then the classes take turns, so that a machine that gets slower does so for all.

mod measure;
mod ratio;
mod show;

use std::process::ExitCode;

use clap::Parser;
use qos::{Probe, Profile, QosClass, Workload};
use support::args::count;
use support::cli::{self, Failure};
use support::machine::Facts;
use support::outputs::Outputs;
use support::probing::{ProbeArgs, unique};

/// Run the same loop at every quality-of-service class, and say what each class did.
#[derive(Debug, Parser)]
#[command(name = "qos_effect", version)]
struct Args {
    /// Classes to run, separated by commas; the default class is always among them [default: all five]
    #[arg(long, value_name = "CLASSES", value_delimiter = ',')]
    classes: Vec<QosClass>,
    /// Runs of each class
    #[arg(long, value_name = "N", default_value = "5", value_parser = |t: &str| count(t, 1000))]
    repeats: usize,
    /// Kind of work: integer, floating-point, simd or memory
    #[arg(long, value_name = "KIND", default_value = "floating-point")]
    workload: Workload,
    /// Busy threads of the default class that compete for the CPUs meanwhile
    #[arg(long, value_name = "N", default_value = "0", value_parser = at_most_1024)]
    against: usize,
    #[command(flatten)]
    probing: ProbeArgs,
    #[command(flatten)]
    outputs: Outputs,
}

fn at_most_1024(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| *n <= 1024).ok_or_else(|| "must be a whole number from 0 to 1024".into())
}

/// What all runs have in common.
struct Settings {
    classes: Vec<QosClass>,
    repeats: usize,
    workload: Workload,
    loops: u64,
    against: usize,
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
    let probe = Probe::new(args.workload);
    let classes = if args.classes.is_empty() { QosClass::ALL.to_vec() } else { args.classes };
    let settings = Settings {
        // From the default class to the others.
        classes: unique([QosClass::Default].into_iter().chain(classes)),
        repeats: args.repeats,
        workload: args.workload,
        loops: args.probing.loops(&probe),
        against: args.against,
        profile: args.probing.profile(),
        confidence: args.probing.confidence,
    };
    let results = measure::all(&settings, &probe, topology)?;
    show::print(&mut out, &facts, &settings, &results);
    args.outputs.write(|| show::document(&facts, &settings, &results), || show::page(&facts, &settings, &results))
}
