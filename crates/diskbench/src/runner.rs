//! Running a plan.

use std::collections::HashMap;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::data::{Buffer, Pool};
use crate::disk::{Clock, Disk, MODEL, System};
use crate::model::{Model, ModelDisk};
use crate::plan::{Step, check_number};
use crate::rng::Rng;
use crate::transfer::{Halt, Stop};
use crate::worker::{Shared, Worker};
use crate::{Direction, Ending, Error, Plan, Report, Result, Sample, Settings, Space, Volume, VolumeKind};

/// How long a run that is to end waits for a request under way.
const GRACE: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(20);

/// A run under way: an iterator of samples.
///
/// To cancel, stop iterating and drop it, or call [`Watch::cancel`] from elsewhere. Nothing stays behind: files have no
/// names where the system allows it; elsewhere they are in an own folder that goes with the runner, and
/// if the process is killed, with the next run.
#[derive(Debug)]
pub struct Runner {
    steps: std::vec::IntoIter<Step>,
    shared: Arc<Shared>,
    watch: Watch,
    jobs: Option<Sender<Step>>,
    results: Receiver<std::result::Result<Sample, Stop>>,
    thread: Option<JoinHandle<()>>,
    report: Report,
}

/// The progress of a run, to be looked at from any thread.
#[derive(Debug, Clone)]
pub struct Watch {
    shared: Arc<Shared>,
    planned: u64,
}

impl Watch {
    /// Bytes that the plan writes and reads.
    #[must_use]
    pub fn planned_bytes(&self) -> u64 {
        self.planned
    }

    /// Bytes written and read so far.
    #[must_use]
    pub fn done_bytes(&self) -> u64 {
        self.shared.done.load(Ordering::Relaxed)
    }

    /// Ends the run before its next block.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }
}

impl Runner {
    /// Makes ready to write and read files in `folder`: looks at the volume, its room and the ways of access, sweeps what
    /// killed runs of this user left there, and makes the data.
    ///
    /// # Errors
    /// [`Error::BadPlan`]; [`Error::NotAFolder`], [`Error::ReadOnly`] and [`Error::NotEnoughSpace`] about the folder;
    /// [`Error::AccessNotAvailable`] if the asked access is refused; [`Error::Io`].
    pub fn new(plan: &Plan, folder: impl AsRef<Path>) -> Result<Self> {
        plan.check()?;
        let folder = folder.as_ref();
        let volume = look_at(folder)?;
        if volume.read_only {
            return Err(Error::ReadOnly { path: folder.into() });
        }
        let settings = plan.settings().clone();
        let (needed, available) = (plan.space_needed(), volume.space.available);
        let reserve = settings.reserve.of(available);
        if available < needed.saturating_add(reserve) {
            return Err(Error::NotEnoughSpace { path: folder.into(), needed, reserve, available });
        }
        let run = random();
        let steps = plan.steps();
        let files = match settings.reads {
            crate::ReadBack::Never => 1,
            _ => steps.len() as u64 / 2,
        };
        let disk = System::for_writing(&volume.path, settings.access, files, run)?;
        Self::start(Disk::System(disk), system_clock(), volume, settings, steps, reserve, run)
    }

    /// Makes ready to read the files that are in `folder` (not in folders within), [`repeats`](Plan::repeats) times
    /// in shuffled order. Changes nothing there (on Linux not even access times, if the files are this user's); sizes, sync
    /// and other settings of writing are not used.
    ///
    /// # Errors
    /// [`Error::BadPlan`]; [`Error::NotAFolder`]; [`Error::NoFiles`]; [`Error::AccessNotAvailable`]; [`Error::Io`].
    pub fn over_folder(plan: &Plan, folder: impl AsRef<Path>) -> Result<Self> {
        let mut settings = plan.settings().clone();
        settings.check()?;
        if settings.verify {
            let what = "files of others cannot be verified".into();
            return Err(Error::BadPlan { what });
        }
        settings.sync = crate::SyncPolicy::None;
        let folder = folder.as_ref();
        let volume = look_at(folder)?;
        let files = files_of(folder)?;
        check_number((files.len() as u64).saturating_mul(u64::from(settings.repeats)))?;
        let mut rng = Rng::new(settings.seed);
        let mut steps = Vec::new();
        for repeat in 0..settings.repeats {
            let begin = steps.len();
            steps.extend(files.iter().enumerate().map(|(file, (_, bytes))| Step {
                direction: Direction::Read,
                file: file as u32,
                repeat,
                size: *bytes,
                bytes: *bytes,
                last: false,
            }));
            rng.shuffle(&mut steps[begin..]);
        }
        let paths = files.into_iter().map(|(path, _)| path).collect();
        let disk = System::for_reading(&volume.path, paths, settings.access)?;
        Self::start(Disk::System(disk), system_clock(), volume, settings, steps, 0, random())
    }

    /// Makes ready to run on a disk of known behaviour, in its time.
    ///
    /// # Errors
    /// [`Error::BadPlan`]; [`Error::NotEnoughSpace`]; [`Error::AccessNotAvailable`]; [`Error::Io`] if no thread starts.
    pub fn on_model(plan: &Plan, disk: ModelDisk) -> Result<Self> {
        plan.check()?;
        let settings = plan.settings().clone();
        let Some(method) = disk.method(settings.access) else {
            let reason = "the model does not have it".into();
            return Err(Error::AccessNotAvailable { access: settings.access, path: MODEL.into(), reason });
        };
        let model = Model::new(disk, method);
        let (needed, available) = (plan.space_needed(), model.available());
        let reserve = settings.reserve.of(available);
        if available < needed.saturating_add(reserve) {
            return Err(Error::NotEnoughSpace { path: MODEL.into(), needed, reserve, available });
        }
        let volume = Volume {
            path: MODEL.into(),
            mount_point: MODEL.into(),
            file_system: "none".into(),
            source: MODEL.into(),
            kind: VolumeKind::Model,
            device: None,
            space: Space { available, total: available },
            read_only: false,
        };
        let clock = Clock::Model(model.clone());
        Self::start(Disk::Model(model), clock, volume, settings, plan.steps(), reserve, random())
    }

    fn start(disk: Disk, clock: Clock, volume: Volume, settings: Settings, steps: Vec<Step>, reserve: u64, run: u64) -> Result<Self> {
        let depth = settings.queue_depth;
        let to_write: u64 = steps.iter().filter(|step| step.direction == Direction::Write).map(|step| step.bytes).sum();
        let writes = to_write > 0;
        let reads = steps.iter().any(|step| step.direction == Direction::Read);
        let mut pool = Pool::new(settings.seed, run, settings.block, if writes { depth } else { 0 }, to_write);
        let generator = writes.then(|| pool.measure());
        let buffers = (0..if reads { depth } else { 0 }).map(|_| Buffer::new(settings.block as usize)).collect();
        let planned = steps.iter().map(|step| step.bytes).sum();
        let shared = Arc::new(Shared {
            clock,
            begun: OnceLock::new(),
            time_limit: settings.time_limit,
            cancelled: AtomicBool::new(false),
            done: AtomicU64::new(0),
            written: AtomicU64::new(0),
        });
        let report = Report {
            unnamed_files: disk.is_unnamed(),
            volume: volume.clone(),
            settings: settings.clone(),
            planned_bytes: planned,
            generator_bytes_per_second: generator,
            samples: Vec::with_capacity(steps.len()),
            ending: Ending::Cancelled,
            thread_lingers: false,
            elapsed: Duration::ZERO,
        };
        let mut worker =
            Worker { disk, kind: volume.kind, settings, reserve, pool, shared: Arc::clone(&shared), files: HashMap::new(), buffers };
        let (jobs, todo) = channel::<Step>();
        let (done, results) = channel();
        let thread = thread::Builder::new()
            .name("diskbench".into())
            .spawn(move || {
                for step in todo {
                    if done.send(worker.run(step)).is_err() {
                        break;
                    }
                }
            })
            .map_err(|e| Error::io("start a thread for", &report.volume.path, None, e))?;
        Ok(Runner {
            steps: steps.into_iter(),
            watch: Watch { shared: Arc::clone(&shared), planned },
            shared,
            jobs: Some(jobs),
            results,
            thread: Some(thread),
            report,
        })
    }

    /// The volume, as it was when the run was made ready.
    #[must_use]
    pub fn volume(&self) -> &Volume {
        &self.report.volume
    }

    /// The progress, for another thread.
    #[must_use]
    pub fn watch(&self) -> Watch {
        self.watch.clone()
    }

    /// What is known so far.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Ends the run, removes its files and gives the report.
    #[must_use]
    pub fn into_report(mut self) -> Report {
        self.finish();
        self.report.clone()
    }

    /// The result of the step under way; `None` if it did not come in time.
    fn wait(&mut self) -> Option<std::result::Result<Sample, Stop>> {
        let mut since = None;
        loop {
            match self.results.recv_timeout(POLL) {
                Ok(result) => return Some(result),
                Err(RecvTimeoutError::Disconnected) => self.pass_on_panic(),
                Err(RecvTimeoutError::Timeout) => {
                    let now = self.shared.clock.now();
                    if self.shared.halt().is_none() {
                        continue;
                    }
                    if now.saturating_sub(*since.get_or_insert(now)) >= GRACE {
                        self.report.thread_lingers = true;
                        return None;
                    }
                }
            }
        }
    }

    /// The thread ends early only by a panic: it goes on in the caller's.
    fn pass_on_panic(&mut self) -> ! {
        self.jobs = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            _ => unreachable!("the thread of the run ends when its jobs do"),
        }
    }

    fn end(&mut self, ending: Ending) {
        self.report.ending = ending;
        self.steps = Vec::new().into_iter();
        self.finish();
    }

    /// Lets the thread go, and waits until its files are gone unless it is blocked.
    fn finish(&mut self) {
        if self.jobs.take().is_some() {
            self.report.elapsed = self.shared.elapsed();
        }
        if let Some(thread) = self.thread.take() {
            if self.report.thread_lingers {
                self.shared.clock.give_up();
            } else {
                // A panic in the thread has been told already.
                let _ = thread.join();
            }
        }
    }
}

impl Iterator for Runner {
    type Item = Result<Sample>;

    fn next(&mut self) -> Option<Self::Item> {
        let jobs = self.jobs.as_ref()?;
        self.shared.begun.get_or_init(|| self.shared.clock.now());
        let Some(step) = self.steps.next() else {
            self.end(Ending::Finished);
            return None;
        };
        if jobs.send(step).is_err() {
            self.pass_on_panic();
        }
        match self.wait() {
            Some(Ok(sample)) => {
                self.report.samples.push(sample.clone());
                Some(Ok(sample))
            }
            Some(Err(Stop::Halt(halt))) => {
                self.end(ending_of(halt));
                None
            }
            Some(Err(Stop::Failed(error))) => {
                self.end(Ending::Failed);
                Some(Err(error))
            }
            Some(Err(stop)) => unreachable!("{stop:?} has been given a path"),
            None => {
                let ending = self.shared.halt().map_or(Ending::Failed, ending_of);
                self.end(ending);
                None
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.steps.len()))
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.watch.cancel();
        self.finish();
    }
}

fn system_clock() -> Clock {
    Clock::System(Instant::now())
}

fn ending_of(halt: Halt) -> Ending {
    match halt {
        Halt::Cancelled => Ending::Cancelled,
        Halt::TimeLimit => Ending::TimeLimit,
    }
}

fn look_at(folder: &Path) -> Result<Volume> {
    let facts = fs::metadata(folder).map_err(|e| Error::io("look at", folder, None, e))?;
    if !facts.is_dir() {
        return Err(Error::NotAFolder { path: folder.into() });
    }
    Volume::of(folder)
}

/// Regular files of at least one byte, by name.
fn files_of(folder: &Path) -> Result<Vec<(PathBuf, u64)>> {
    let failed = |e| Error::io("list", folder, None, e);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        let facts = path.symlink_metadata().map_err(|e| Error::io("look at", &path, None, e))?;
        if facts.is_file() && facts.len() > 0 {
            files.push((path, facts.len()));
        }
    }
    if files.is_empty() {
        return Err(Error::NoFiles { path: folder.into() });
    }
    files.sort();
    Ok(files)
}

/// Tells runs apart, so that no block equals one of an earlier run.
fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}
