//! The file that is compressed: the user's, or made data.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use support::cli::Failure;
use support::interrupt;
use support::progress::Progress;
use support::units;
use support::workdir::WorkDir;

use crate::args::Settings;

/// The source of all runs.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    /// Made here from the seed, not the user's.
    pub(crate) made: bool,
}

/// Checks the user's file or makes data in `folder`.
pub(crate) fn prepare(settings: &Settings, folder: &WorkDir) -> Result<Facts, Failure> {
    match &settings.file {
        Some(path) => check(path),
        None => make(settings, folder),
    }
}

fn check(path: &Path) -> Result<Facts, Failure> {
    let failed = |what: &dyn std::fmt::Display| Failure::run(format!("{}: {what}", path.display()));
    let about = std::fs::metadata(path).map_err(|e| failed(&e))?;
    if about.is_dir() {
        return Err(failed(&"is a folder, not a file"));
    }
    if !about.is_file() {
        return Err(failed(&"is no regular file: its bytes cannot be read more than once"));
    }
    File::open(path).map_err(|e| failed(&e))?;
    if about.len() == 0 {
        return Err(failed(&"is empty: there is nothing to time"));
    }
    Ok(Facts { path: path.into(), bytes: about.len(), made: false })
}

fn make(settings: &Settings, folder: &WorkDir) -> Result<Facts, Failure> {
    let path = folder.file("data");
    let failed = |e: std::io::Error| {
        Failure::run(format!("cannot make {} of data in {}: {e}", units::bytes(settings.size), folder.path().display()))
    };
    room(settings, settings.size)?;
    let bar = Progress::bytes(settings.size);
    bar.message("making data");
    let mut sink = BufWriter::with_capacity(1 << 20, File::create(&path).map_err(failed)?);
    corpus::write(settings.seed, settings.size, &mut sink, |written| {
        bar.set(written);
        !interrupt::requested()
    })
    .and_then(|()| sink.flush())
    .map_err(failed)?;
    interrupt::check()?;
    // On the disk now, so that no run pays for it and the page cache can let go of it.
    sink.get_ref().sync_all().map_err(failed)?;
    Ok(Facts { path, bytes: settings.size, made: true })
}

/// Whether the output of one run and its decompressed copy will fit.
pub(crate) fn check_room(settings: &Settings, source: &Facts) -> Result<(), Failure> {
    // An incompressible file grows a little: frame headers and the table.
    room(settings, source.bytes.saturating_mul(2).saturating_add(source.bytes / 64).saturating_add(1 << 20))
}

fn room(settings: &Settings, need: u64) -> Result<(), Failure> {
    let volume = diskbench::Volume::of(&settings.dir)?;
    if volume.space.available < need {
        let (need, has) = (units::bytes(need), units::bytes(volume.space.available));
        return Err(Failure::run(format!("{}: {need} are needed at most and only {has} are available", settings.dir.display())));
    }
    Ok(())
}
