//! The sequence for each kind.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use diskbench::{Direction, Plan, ReadBack, Report, Reserve, Runner, Volume};
use support::cli::Failure;
use support::interrupt;
use support::progress::{Progress, ticking};
use support::units;
use support::workdir::WorkDir;

use crate::Args;
use crate::image::Image;
use crate::kind::Kind;

/// What one kind did.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) kind: Kind,
    pub(crate) write: Report,
    pub(crate) read: Report,
    /// Bytes that the image takes on the volume below: new, and with the files in it.
    pub(crate) empty_bytes: u64,
    pub(crate) filled_bytes: u64,
    /// Bytes of the files in it.
    pub(crate) file_bytes: u64,
}

impl Outcome {
    pub(crate) fn report(&self, direction: Direction) -> &Report {
        match direction {
            Direction::Write => &self.write,
            Direction::Read => &self.read,
        }
    }

    /// Bytes per second over all files of one direction.
    pub(crate) fn rate(&self, direction: Direction) -> Option<f64> {
        self.report(direction).total(direction).map(|total| total.bytes_per_second())
    }
}

pub(crate) fn check_room(args: &Args) -> Result<(), Failure> {
    let available = Volume::of(&args.dir)?.space.available;
    let reserve = Reserve::Standard.of(available);
    if available < args.size.saturating_add(reserve) {
        let [size, reserve, available] = [args.size, reserve, available].map(units::bytes);
        return Err(Failure::run(format!(
            "{}: an image of {size} and {reserve} that stay free need more room than the {available} available",
            args.dir.display()
        )));
    }
    Ok(())
}

pub(crate) fn all(args: &Args, kinds: &[Kind], folder: &WorkDir) -> Result<Vec<Outcome>, Failure> {
    let bar = Progress::steps(kinds.len() as u64);
    let mut results = Vec::new();
    for kind in kinds {
        bar.message(kind.name());
        results.push(one(args, *kind, folder).map_err(|e| e.context(kind.name()))?);
        bar.add(1);
    }
    Ok(results)
}

fn one(args: &Args, kind: Kind, folder: &WorkDir) -> Result<Outcome, Failure> {
    let plan = Plan::sizes(args.files.clone()).repeats(args.repeats as u32).reserve(Reserve::Bytes(0));
    let mut image = Image::make(kind, args.size, folder)?;
    let empty_bytes = image.allocated()?;
    interrupt::check()?;

    let top = image.mount()?.to_path_buf();
    let write = finish(Runner::new(&plan.clone().reads(ReadBack::Never), &top)?)?;
    let files = top.join("files");
    std::fs::create_dir(&files)?;
    let file_bytes = fill(args, &files)?;
    image.unmount()?;
    let filled_bytes = image.allocated()?;
    if filled_bytes < file_bytes {
        return Err(Failure::run(format!(
            "the image takes {filled_bytes} bytes with {file_bytes} bytes of files in it: not all was written"
        )));
    }

    image.mount()?;
    pause(args.wait)?;
    let read = finish(Runner::over_folder(&plan.repeats(1), &files)?)?;
    image.unmount()?;
    Ok(Outcome { kind, write, read, empty_bytes, filled_bytes, file_bytes })
}

/// Files that stay, of random bytes, for reading after the image was mounted again.
fn fill(args: &Args, folder: &Path) -> Result<u64, Failure> {
    let mut random = File::open("/dev/urandom").map_err(|e| Failure::run(format!("/dev/urandom: {e}")))?;
    let mut buffer = vec![0; 1 << 20];
    let mut total = 0;
    for (number, size) in args.files.iter().cycle().take(args.files.len() * args.repeats).enumerate() {
        let path = folder.join(format!("{number:04}"));
        let failed = |e| Failure::run(format!("{}: {e}", path.display()));
        let mut file = File::create_new(&path).map_err(failed)?;
        let mut left = *size;
        while left > 0 {
            interrupt::check()?;
            let part = &mut buffer[..left.min(1 << 20) as usize];
            random.read_exact(part).and_then(|()| file.write_all(part)).map_err(failed)?;
            left -= part.len() as u64;
        }
        file.sync_all().map_err(failed)?;
        total += size;
    }
    Ok(total)
}

/// All of a run; a signal ends it.
fn finish(mut runner: Runner) -> Result<Report, Failure> {
    let watch = runner.watch();
    let tick = || {
        if interrupt::requested() {
            watch.cancel();
        }
    };
    let failure = ticking(tick, || runner.find_map(Result::err));
    interrupt::check()?;
    match failure {
        Some(error) => Err(error.into()),
        None => Ok(runner.into_report()),
    }
}

fn pause(seconds: u64) -> Result<(), Failure> {
    for _ in 0..seconds * 20 {
        interrupt::check()?;
        sleep(Duration::from_millis(50));
    }
    Ok(())
}
