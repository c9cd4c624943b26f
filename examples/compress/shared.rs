//! What `compress` and `decompress` share.

use std::collections::HashSet;
use std::fs::{File, Metadata};
use std::io::{self, IsTerminal, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use clap::Args;
use qos::QosClass;
use serde_json::{Value, json};
use stream::{Error, Format, LimitingStage, Options, Report, decompress};
use support::args::count;
use support::cli::{self, Failure};
use support::json::Target;
use support::print::Printer;
use support::progress::{Progress, ticking};
use support::results::{check_results, real_path};
use support::{interrupt, units};

/// Tenths of a second that an interrupted run gets to end by itself.
const GRACE_TICKS: u32 = 20;

/// Options of both programs.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Worker threads [default: the CPUs this process may use]
    #[arg(long, short = 'T', value_name = "N", value_parser = |t: &str| count(t, 1024))]
    pub(crate) threads: Option<usize>,
    /// Quality-of-service class of the threads: background, utility, default, user-initiated or user-interactive
    #[arg(long, value_name = "CLASS", default_value = "default")]
    pub(crate) qos: QosClass,
    /// Replace an output that exists, and write compressed data to a terminal
    #[arg(long, short)]
    pub(crate) force: bool,
    /// Decode the compressed file once more and compare every byte with the plain one
    #[arg(long)]
    pub(crate) verify: bool,
    /// Keep the source (the default)
    #[arg(long, short, overrides_with = "remove_source")]
    pub(crate) keep: bool,
    /// Remove the source once the output is on the disk and verified
    #[arg(long, overrides_with = "keep")]
    pub(crate) remove_source: bool,
    /// Every argument is a source; the outputs stand beside them
    #[arg(long)]
    pub(crate) each: bool,
    /// Write everything as one JSON object to FILE (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<Target>,
}

/// One source and where it goes. `None` is standard input or output.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) source: Option<PathBuf>,
    pub(crate) output: Option<PathBuf>,
}

/// What became of one job.
pub(crate) struct Done {
    pub(crate) report: Report,
    pub(crate) verified: bool,
    pub(crate) source_removed: bool,
}

/// The jobs that the arguments ask for: `SRC [DST]`, or with `--each` any number of sources.
pub(crate) fn jobs(files: &[PathBuf], each: bool, default_output: impl Fn(&Path) -> Result<PathBuf, Failure>) -> Result<Vec<Job>, Failure> {
    let named = |path: &Path| (path != Path::new("-")).then(|| path.to_path_buf());
    if each {
        return files
            .iter()
            .map(|path| match named(path) {
                Some(source) => Ok(Job { output: Some(default_output(&source)?), source: Some(source) }),
                None => Err(Failure::Usage("--each takes files, not -".into())),
            })
            .collect();
    }
    match files {
        [source] => match named(source) {
            Some(source) => Ok(vec![Job { output: Some(default_output(&source)?), source: Some(source) }]),
            None => Ok(vec![Job { source: None, output: None }]),
        },
        [source, output] => Ok(vec![Job { source: named(source), output: named(output) }]),
        _ => Err(Failure::Usage("more than SRC and DST: use --each for several sources".into())),
    }
}

impl Common {
    /// What cannot be combined.
    pub(crate) fn check(&self, jobs: &[Job]) -> Result<(), Failure> {
        let usage = |text: &str| Err(Failure::Usage(text.into()));
        let to_stdout = jobs.iter().any(|job| job.output.is_none());
        if to_stdout && self.json == Some(Target::Stdout) {
            return usage("--json - and the output cannot both go to standard output");
        }
        let pipes = to_stdout || jobs.iter().any(|job| job.source.is_none());
        if pipes && (self.remove_source || self.verify) {
            return usage("--verify and --remove-source need files, not -");
        }
        Self::check_outputs(jobs)
    }

    /// Refuses an output that is another source or output of the same run: with --force it would replace it.
    fn check_outputs(jobs: &[Job]) -> Result<(), Failure> {
        if jobs.len() < 2 {
            return Ok(());
        }
        let mut taken: HashSet<_> = jobs.iter().filter_map(|job| job.source.as_deref()).map(real_path).collect();
        match jobs.iter().filter_map(|job| job.output.as_deref()).find(|output| !taken.insert(real_path(output))) {
            Some(output) => {
                Err(Failure::Usage(format!("{}: is the output of one source and another file of this run too", output.display())))
            }
            None => Ok(()),
        }
    }

    /// A pipe cannot be read twice to verify it, and a device must not be removed; nor a link, which is not the source.
    fn check_source(&self, job: &Job) -> Result<(), Failure> {
        let Some(source) = &job.source else { return Ok(()) };
        let is_other = |found: io::Result<Metadata>| found.is_ok_and(|found| !found.is_file() && !found.is_dir());
        let refuse = |what: &str| Err(Failure::run(format!("{}: {what}", source.display())));
        if self.remove_source && is_other(std::fs::symlink_metadata(source)) {
            return refuse("is no regular file, which is all that --remove-source removes");
        }
        if self.verify && is_other(std::fs::metadata(source)) {
            return refuse("is no regular file, and only such are verified");
        }
        Ok(())
    }

    /// Runs one job under the progress bar, with the hooks set in the options it is given.
    pub(crate) fn run(
        &self,
        label: &str,
        total: Option<u64>,
        job: impl FnOnce(Options) -> Result<Report, Error>,
    ) -> Result<Report, Failure> {
        interrupt::check()?;
        let bar = total.map_or_else(Progress::unknown, Progress::bytes);
        bar.message(label);
        let handle = bar.handle();
        let workers = qos::Workers::new(self.qos)?;
        let mut options = Options::new().overwrite(self.force).on_worker_start(workers.start_handler()).progress(move |now| {
            handle.set(now.ingested_bytes);
            if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if let Some(threads) = self.threads {
            options = options.threads(threads);
        }
        // A pipe that nobody writes to, a disk that does not answer: cancelling cannot interrupt a call to the system.
        let ticks = AtomicU32::new(0);
        let leave_if_stuck = || {
            if interrupt::requested() && ticks.fetch_add(1, Ordering::Relaxed) >= GRACE_TICKS {
                cli::say(&format!("{label}: interrupted while reading or writing did not come back"));
                std::process::exit(130);
            }
        };
        let report = match ticking(leave_if_stuck, || job(options)) {
            Err(Error::Cancelled) if interrupt::requested() => return Err(Failure::Interrupted),
            result => result?,
        };
        for outcome in workers.take_outcomes() {
            outcome.result.map_err(|e| Failure::from(e).context(&format!("--qos {}", self.qos)))?;
        }
        Ok(report)
    }

    /// Verifies and removes as asked, after a job between two files. `packed` is the compressed one.
    pub(crate) fn conclude(&self, job: &Job, report: Report, packed: Format, is_source_packed: bool) -> Result<Done, Failure> {
        let mut done = Done { report, verified: false, source_removed: false };
        let (Some(source), Some(output)) = (&job.source, &job.output) else { return Ok(done) };
        if self.verify || self.remove_source {
            let (packed_file, plain_file) = if is_source_packed { (source, output) } else { (output, source) };
            let label = format!("verifying {}", output.display());
            let total = std::fs::metadata(packed_file).ok().map(|m| m.len());
            let mut compare = Compare::new(plain_file)?;
            if packed == Format::Store {
                io::copy(&mut open(packed_file)?, &mut compare)?;
            } else {
                let file = open(packed_file)?;
                self.run(&label, total, |options| decompress(file, &mut compare, &options))?;
            }
            compare.finish()?;
            done.verified = true;
        }
        if self.remove_source {
            std::fs::remove_file(source).map_err(|e| Failure::run(format!("{}: cannot remove it: {e}", source.display())))?;
            done.source_removed = true;
        }
        Ok(done)
    }

    /// The settings of both programs in JSON.
    pub(crate) fn settings(&self) -> Value {
        json!({
            "threads": self.threads,
            "qos": self.qos.to_string(),
            "force": self.force,
            "verify": self.verify || self.remove_source,
            "remove_source": self.remove_source,
            "source_cache": "as_found",
            "output_sync": "fsync",
        })
    }

    /// Does every job, says what came of it, and fails at the end if one failed.
    pub(crate) fn each_job(
        &self,
        jobs: &[Job],
        data_on_stdout: bool,
        does: impl Fn(&Job) -> Result<Done, Failure>,
        says: impl Fn(&Job, &Done) -> String,
        document: impl FnOnce(Vec<Value>) -> Value,
    ) -> Result<(), Failure> {
        let used = jobs.iter().flat_map(|job| [job.source.as_deref(), job.output.as_deref()]).flatten();
        check_results(self.json.as_ref(), [], used)?;
        let mut out = Printer::new(self.json.as_ref());
        let (mut files, mut failed) = (Vec::new(), None);
        for job in jobs {
            let (source, output) = (name(job.source.as_deref()), name(job.output.as_deref()));
            match self.check_source(job).and_then(|()| does(job)) {
                Ok(done) => {
                    let text = says(job, &done);
                    if !data_on_stdout {
                        out.line(text);
                    } else if io::stderr().is_terminal() {
                        cli::say(&text);
                    }
                    let mut entry = report_json(&done.report);
                    entry["source"] = json!(source);
                    entry["output"] = json!(output);
                    entry["verified"] = json!(done.verified);
                    entry["source_removed"] = json!(done.source_removed);
                    entry["error"] = Value::Null;
                    files.push(entry);
                }
                Err(Failure::Run(message)) => {
                    files.push(json!({"source": source, "output": output, "error": message}));
                    if jobs.len() > 1 {
                        cli::say(&message);
                    }
                    failed = Some(message);
                }
                Err(other) => return Err(other),
            }
        }
        if let Some(target) = &self.json {
            target.write(&document(files))?;
        }
        match failed {
            Some(message) if jobs.len() == 1 => Err(Failure::Run(message)),
            Some(_) => Err(Failure::run("not all files could be done")),
            None => Ok(()),
        }
    }
}

/// A name for people: `-` for a pipe.
pub(crate) fn name(path: Option<&Path>) -> String {
    path.map_or_else(|| "-".into(), |path| path.display().to_string())
}

fn open(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(|e| Failure::run(format!("{}: {e}", path.display())))
}

/// Standard output without a line buffer in between, where the system has it as a file.
pub(crate) fn stdout() -> io::Result<Box<dyn Write>> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        Ok(Box::new(File::from(io::stdout().as_fd().try_clone_to_owned()?)))
    }
    #[cfg(not(unix))]
    Ok(Box::new(io::stdout()))
}

/// Rate and limiting stage, for the end of a line.
pub(crate) fn pace(report: &Report, plain_bytes: u64) -> String {
    let seconds = report.elapsed.as_secs_f64();
    let verdict = report.limiting_stage();
    let stage = match verdict.stage {
        LimitingStage::Starved => "starved by other work".to_owned(),
        stage => format!("limited by {stage}"),
    };
    format!(
        "{}, {} on {} thread{}, {stage}: {verdict}",
        units::duration(report.elapsed),
        units::rate(plain_bytes as f64 / seconds),
        report.threads,
        if report.threads == 1 { "" } else { "s" },
    )
}

fn report_json(report: &Report) -> Value {
    let mut value = serde_json::to_value(report).expect("a report is plain numbers");
    let verdict = report.limiting_stage();
    let stages: serde_json::Map<String, Value> =
        ["read", "process", "write"].into_iter().map(|stage| (stage.to_owned(), value[stage].take())).collect();
    let object = value.as_object_mut().expect("a report is an object");
    for stage in stages.keys() {
        object.remove(stage);
    }
    value["stages"] = Value::Object(stages);
    value["limiting_stage"] = json!(verdict.stage);
    value["evidence"] = json!(verdict.to_string());
    value
}

/// A `Write` that compares what it gets with a file.
struct Compare {
    path: PathBuf,
    file: File,
    offset: u64,
    buffer: Vec<u8>,
}

impl Compare {
    fn new(path: &Path) -> Result<Self, Failure> {
        Ok(Self { path: path.to_path_buf(), file: open(path)?, offset: 0, buffer: Vec::new() })
    }

    fn differs(&self) -> io::Error {
        io::Error::other(format!("{} differs from what was decoded, near byte {}", self.path.display(), self.offset))
    }

    fn finish(&mut self) -> Result<(), Failure> {
        match self.file.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.differs().into()),
            Err(e) => Err(Failure::run(format!("{}: {e}", self.path.display()))),
        }
    }
}

impl Write for Compare {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.resize(bytes.len(), 0);
        self.file.read_exact(&mut self.buffer).map_err(|e| if e.kind() == io::ErrorKind::UnexpectedEof { self.differs() } else { e })?;
        if self.buffer != bytes {
            return Err(self.differs());
        }
        self.offset += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
