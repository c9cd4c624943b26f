//! Makes each kind of disk image that this system offers, and times it: writing when it is new, reading after it was mounted again.
//!
//! A program's first look at an image is not what it does later: an image that was just made may still be in memory, and one that was just
//! mounted is still being looked at by the system. So files are written, the image is unmounted and mounted again, some seconds pass, and
//! only then are the files read, past the page cache.

mod command;
mod hdiutil;
mod image;
mod kind;
mod measure;
mod show;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use support::args::{count, positive_size};
use support::cli::{self, Failure};
use support::json::Target;
use support::machine::Facts;
use support::print::Printer;
use support::results::check_results;
use support::workdir::WorkDir;

use kind::Kind;

/// Make, mount and time each kind of disk image that this system offers.
#[derive(Debug, Parser)]
#[command(name = "disk_images", version)]
struct Args {
    /// Folder in which the images are made, one after the other
    dir: PathBuf,
    /// Kinds, such as ext4,ext4-direct [default: all that this system offers]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    kinds: Vec<String>,
    /// Size of each image
    #[arg(long, value_name = "SIZE", default_value = "1GB", value_parser = positive_size)]
    size: u64,
    /// Sizes of the files that are written and read
    #[arg(long, value_name = "SIZES", default_value = "2MB,20MB,100MB", value_delimiter = ',', value_parser = positive_size)]
    files: Vec<u64>,
    /// Files of each size
    #[arg(long, value_name = "N", default_value = "2", value_parser = |t: &str| count(t, 1000))]
    repeats: usize,
    /// Seconds between mounting again and reading
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = clap::value_parser!(u64).range(..=3600))]
    wait: u64,
    /// Write everything as one JSON object to FILE (- for standard output, and nothing else there)
    #[arg(long, value_name = "FILE")]
    json: Option<Target>,
    /// Write a page with a table and a plot to FILE
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

fn main() -> ExitCode {
    command::apart();
    cli::main(run)
}

fn run(args: Args) -> Result<(), Failure> {
    let kinds = chosen(&args.kinds)?;
    let most = args.files.iter().sum::<u64>().saturating_mul(args.repeats as u64);
    // Room for a file system's own needs.
    if most > args.size / 10 * 8 {
        let what = "the files fill more than four fifths of the image: make it larger (--size) or them fewer (--files, --repeats)";
        return Err(Failure::Usage(what.into()));
    }
    image::check_rights(&kinds)?;
    check_results(args.json.as_ref(), args.report.as_deref(), [])?;
    let mut out = Printer::new(args.json.as_ref());
    let machine = Facts::detect();
    image::release_left(&args.dir);
    let folder = WorkDir::new(image::PROGRAM, &args.dir)?;
    measure::check_room(&args)?;
    let results = measure::all(&args, &kinds, &folder)?;
    drop(folder);
    show::results(&mut out, &args, &results);
    if let Some(target) = &args.json {
        target.write(&show::document(&args, &machine, &results))?;
    }
    if let Some(path) = &args.report {
        show::page(&args, &machine, &results)?.write(path)?;
        out.line(format!("\nThe report is in {}.", path.display()));
    }
    Ok(())
}

/// The kinds that were named, or all.
fn chosen(names: &[String]) -> Result<Vec<Kind>, Failure> {
    let offered = kind::offered();
    if offered.is_empty() {
        return Err(Failure::run("this system offers no disk images that this program knows"));
    }
    if names.is_empty() {
        return Ok(offered);
    }
    let find = |name: &String| {
        offered.iter().find(|kind| kind.name() == name.trim()).copied().ok_or_else(|| {
            let known: Vec<_> = offered.iter().map(|kind| kind.name()).collect();
            Failure::Usage(format!("--kinds: {name:?} is none of {}", known.join(", ")))
        })
    };
    names.iter().map(find).collect()
}
