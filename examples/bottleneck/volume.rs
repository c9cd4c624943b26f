//! How fast the volume writes and reads, by a short plan of a few seconds.

use std::path::Path;

use diskbench::{Direction, Plan, Report, Reserve, Runner, SyncPolicy};
use support::cli::Failure;
use support::interrupt;
use support::progress::{Progress, ticking};

use crate::args::Settings;

/// What the volume was seen to do.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) report: Report,
    /// What is known of the source's volume, where that is another one.
    pub(crate) source_volume: Option<diskbench::Volume>,
}

impl Facts {
    /// Bytes a second over all files of one direction, sync included.
    pub(crate) fn rate(&self, direction: Direction) -> Option<f64> {
        self.report.total(direction).map(|total| total.bytes_per_second())
    }

    /// Median rate at each size of one direction: size in bytes, bytes a second.
    pub(crate) fn by_size(&self, direction: Direction) -> Vec<(u64, f64)> {
        let mut sizes: Vec<u64> = self.report.samples(direction).map(|s| s.bytes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let rates =
            |size| self.report.samples(direction).filter(move |s| s.bytes == size).map(|s| s.bytes_per_second()).collect::<Vec<_>>();
        sizes.into_iter().filter_map(|size| Some((size, crate::verdict::median(&rates(size))?))).collect()
    }

    /// Why the figures may not be the disk's, in words.
    pub(crate) fn caveats(&self) -> Vec<String> {
        [Direction::Write, Direction::Read]
            .into_iter()
            .flat_map(|direction| self.report.caveats(direction).into_iter().map(move |caveat| format!("{direction}: {caveat}")))
            .collect()
    }
}

/// What syncs the outputs of the pipeline, and so the test of the volume: Rust's `File::sync_all`, which flushes the drive on Apple systems too.
pub(crate) const SYNC: SyncPolicy = if cfg!(target_vendor = "apple") { SyncPolicy::FullFsync } else { SyncPolicy::Fsync };

/// Times the volume that `folder` is on.
pub(crate) fn measure(settings: &Settings, folder: &Path) -> Result<Facts, Failure> {
    // No reserve: a small disk is to be timed too, and the room for the runs was checked.
    let plan = Plan::short().seed(settings.seed).sync(SYNC).reserve(Reserve::Bytes(0));
    let mut runner = Runner::new(&plan, folder)?;
    let watch = runner.watch();
    let bar = Progress::bytes(watch.planned_bytes());
    bar.message("timing the volume");
    let tick = || {
        bar.set(watch.done_bytes());
        if interrupt::requested() {
            watch.cancel();
        }
    };
    let failure = ticking(tick, || runner.find_map(Result::err));
    interrupt::check()?;
    if let Some(error) = failure {
        return Err(error.into());
    }
    let report = runner.into_report();
    let source_volume = match &settings.file {
        Some(path) => Some(diskbench::Volume::of(path)?).filter(|v| v.mount_point != report.volume.mount_point),
        None => None,
    };
    Ok(Facts { report, source_volume })
}
