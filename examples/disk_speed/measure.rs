//! The run, with its question before and its progress.

use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use diskbench::{Runner, Volume};
use support::cli::Failure;
use support::progress::{Progress, ticking};
use support::{interrupt, units};

use crate::args::Args;

/// Above this a run asks first: writing wears a solid-state disk a little.
const ASK_ABOVE: u64 = 10_000_000_000;

/// A runner that is ready to go.
pub(crate) fn prepare(args: &Args) -> Result<Runner, Failure> {
    let plan = args.plan();
    let (folder, writes) = args.folder()?;
    if !writes {
        return Runner::over_folder(&plan, folder).map_err(failure);
    }
    if plan.write_bytes() > ASK_ABOVE && !args.yes {
        // What cannot run need not be asked.
        let space = Volume::of(folder)?.space;
        if space.available >= plan.space_needed().saturating_add(plan.settings().reserve.of(space.available)) {
            ask(plan.write_bytes())?;
        }
    }
    Runner::new(&plan, folder).map_err(failure)
}

/// A plan that cannot be is one of bad arguments.
fn failure(error: diskbench::Error) -> Failure {
    match error {
        diskbench::Error::BadPlan { .. } => Failure::Usage(format!("{error} (try --help)")),
        error => error.into(),
    }
}

fn ask(bytes: u64) -> Result<(), Failure> {
    let what = format!("this writes {} and wears a solid-state disk a little", units::bytes(bytes));
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(Failure::Usage(format!("{what}: add --yes to do it")));
    }
    eprint!("{what}. Go on? [y/N] ");
    io::stderr().flush()?;
    // In a thread of its own, for ^C does not end a read.
    let (said, heard) = channel();
    std::thread::spawn(move || {
        let mut answer = String::new();
        let _ = io::stdin().lock().read_line(&mut answer);
        let _ = said.send(answer);
    });
    let answer = loop {
        interrupt::check().inspect_err(|_| eprintln!())?;
        match heard.recv_timeout(Duration::from_millis(50)) {
            Ok(answer) => break answer,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break String::new(),
        }
    };
    if matches!(answer.trim(), "y" | "Y" | "yes") { Ok(()) } else { Err(Failure::run("not done: nothing was written")) }
}

/// Does all of it; a time limit is no failure, a signal is.
pub(crate) fn run(runner: &mut Runner, args: &Args) -> Result<(), Failure> {
    let watch = runner.watch();
    let bar = Progress::bytes(watch.planned_bytes());
    bar.message(if args.read.is_some() { "reading" } else { "writing" });
    let tick = || {
        bar.set(watch.done_bytes());
        if interrupt::requested() {
            watch.cancel();
        }
    };
    let failure = ticking(tick, || {
        runner.find_map(|sample| match sample {
            Ok(sample) => {
                bar.message(format!("{} {}", sample.direction, units::bytes(sample.size)));
                None
            }
            Err(error) => Some(error),
        })
    });
    interrupt::check()?;
    match failure {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}
