//! The same loop at every class: what a class does to its time, and where it ran.
//!
//! Each run is a thread of its own that asks for its class. The first run of all is discarded, as in the published
//! experiment: it finds the core asleep. Then the classes take turns, so that a machine that gets slower does so for all.

mod measure;
mod ratio;
mod show;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use qos::{Probe, Profile, QosClass, Workload};
use support::args::{confidence, count, seconds};
use support::cli::{self, Failure};
use support::json::Target;
use support::machine::Facts;
use support::print::Printer;

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
    /// Loops of each run [default: as many as take --seconds at the default class]
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    loops: Option<u64>,
    /// About how long a run takes at the default class
    #[arg(long, value_name = "S", default_value = "0.5", value_parser = seconds)]
    seconds: f64,
    /// Busy threads of the default class that compete for the CPUs meanwhile
    #[arg(long, value_name = "N", default_value = "0", value_parser = at_most_1024)]
    against: usize,
    /// Linux: also use what only a privileged thread can undo (`SCHED_IDLE`, nice 5)
    #[arg(long)]
    one_way: bool,
    /// Level of the intervals
    #[arg(long, value_name = "LEVEL", default_value = "0.95", value_parser = confidence)]
    confidence: f64,
    /// Write the result as JSON (`-` for standard output)
    #[arg(long, value_name = "FILE")]
    json: Option<Target>,
    /// Write a page with the table and a plot
    #[arg(long, value_name = "FILE.html")]
    report: Option<std::path::PathBuf>,
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
    let mut out = Printer::new(args.json.as_ref());
    let facts = Facts::detect();
    let topology = facts.topology.as_ref().map_err(|reason| Failure::run(reason.clone()))?;
    let probe = Probe::new(args.workload);
    // From the default class to the others, each once.
    let mut classes = vec![QosClass::Default];
    let all = QosClass::ALL.to_vec();
    for class in if args.classes.is_empty() { all } else { args.classes } {
        if !classes.contains(&class) {
            classes.push(class);
        }
    }
    let settings = Settings {
        classes,
        repeats: args.repeats,
        workload: args.workload,
        loops: match args.loops {
            Some(0) => return Err(Failure::Usage("--loops must be at least 1".into())),
            Some(loops) => loops,
            None => probe.loops_for(Duration::from_secs_f64(args.seconds)),
        },
        against: args.against,
        profile: if args.one_way { Profile::OneWay } else { Profile::Reversible },
        confidence: args.confidence,
    };
    let results = measure::all(&settings, &probe, topology)?;
    show::print(&mut out, &facts, &settings, &results);
    if let Some(target) = &args.json {
        target.write(&show::document(&facts, &settings, &results))?;
    }
    if let Some(path) = &args.report {
        show::page(&facts, &settings, &results)?.write(path)?;
    }
    Ok(())
}
