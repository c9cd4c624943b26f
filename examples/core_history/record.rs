//! Watching.

use std::ffi::OsString;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use qos::{Activity, Calibration, CpuLoad, ProcessUsage, Resolution, ThreadPlace, Topology};
use support::cli::Failure;
use support::interrupt;

use crate::show::Live;

/// What was seen.
pub(crate) struct History {
    pub(crate) interval: Duration,
    pub(crate) resolution: Resolution,
    pub(crate) command: Vec<String>,
    pub(crate) ending: Ending,
    /// The command's exit status; `None` without a command, and if it had to be killed.
    pub(crate) exit: Option<ExitStatus>,
    /// End of each reading, in s since the start.
    pub(crate) times: Vec<f64>,
    /// By level, then cluster, then number.
    pub(crate) cpus: Vec<Cpu>,
    /// Moves of the command's threads to another CPU, or why that can't be had.
    pub(crate) migrations: Result<Migrations, String>,
    /// What the command used by level, or why that can't be had.
    pub(crate) usage: Result<ProcessUsage, String>,
}

/// Moves of threads to another CPU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Migrations {
    pub(crate) count: u64,
    /// Whether the kernel counted every one; otherwise threads were seen on another CPU than at the reading before.
    pub(crate) counted: bool,
}

/// Why the watching ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ending {
    /// Its time was over.
    Duration,
    /// The command has ended.
    Command,
    /// Somebody asked for it.
    Interrupted,
}

/// One CPU's history.
pub(crate) struct Cpu {
    pub(crate) cpu: usize,
    /// Index and name of its level, where known.
    pub(crate) level: Option<(usize, String)>,
    /// Which cluster, where known.
    pub(crate) cluster: Option<usize>,
    /// Busy share of each reading; `None` while the CPU was offline.
    pub(crate) busy: Vec<Option<f64>>,
}

/// Mean busy share of the readings there are, by their lengths; the first begins at `start`.
pub(crate) fn mean(start: f64, times: &[f64], busy: &[Option<f64>]) -> Option<f64> {
    let (mut from, mut work, mut seen) = (start, 0.0, 0.0);
    for (&to, busy) in times.iter().zip(busy) {
        if let Some(busy) = busy {
            work += busy * (to - from);
            seen += to - from;
        }
        from = to;
    }
    (seen > 0.0).then(|| work / seen)
}

/// The command, which is ended with the watching.
struct Watched(Child);

/// How long the command may take to end after a signal.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often to look whether it has ended.
const LOOK: Duration = Duration::from_millis(20);
/// Seconds in which a load can be told: two ticks.
const SHORTEST: f64 = 0.02;

impl Watched {
    fn ended(&mut self) -> Result<Option<ExitStatus>, Failure> {
        self.0.try_wait().map_err(|error| Failure::run(format!("waiting for the command: {error}")))
    }

    /// Ends the command.
    fn end(mut self) -> Result<Option<ExitStatus>, Failure> {
        // ^C at a terminal has reached it too, and a second signal could keep it from tidying up.
        let status = self.ended_within(PATIENCE)?;
        if status.is_some() {
            return Ok(status);
        }
        #[cfg(unix)]
        let _ = rustix::process::kill_process(rustix::process::Pid::from_child(&self.0), rustix::process::Signal::TERM);
        self.ended_within(PATIENCE)
    }

    fn ended_within(&mut self, time: Duration) -> Result<Option<ExitStatus>, Failure> {
        let start = Instant::now();
        loop {
            let status = self.ended()?;
            if status.is_some() || start.elapsed() >= time {
                return Ok(status);
            }
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // Nothing happens to a process that has ended and was waited for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn watch(
    topology: &Topology,
    interval: Duration,
    duration: Duration,
    command: &[OsString],
    live: bool,
) -> Result<History, Failure> {
    let mut activity = Activity::start()?;
    let mut calibration = Calibration::new();
    let start = Instant::now();
    let mut child = start_command(command)?;
    let mut history = History {
        interval,
        resolution: activity.resolution(),
        command: command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        ending: Ending::Duration,
        exit: None,
        times: Vec::new(),
        cpus: Vec::new(),
        migrations: Err("no command was watched".into()),
        usage: Err("no command was watched".into()),
    };
    let mut places: Vec<ThreadPlace> = Vec::new();
    let mut view = live.then(Live::new);
    if let Some(Watched(child)) = &child {
        history.add_places(child.id(), &mut places);
    }
    for reading in 1u32.. {
        let end = child.is_none().then(|| start + duration);
        let ending = history.wait(start + interval * reading, end, &mut child)?;
        let seen = start.elapsed().as_secs_f64();
        // What is left at the end may be too short to say anything.
        if ending.is_none() || seen - history.times.last().copied().unwrap_or(0.0) >= SHORTEST || history.times.is_empty() {
            calibration.observe(topology);
            let loads = activity.loads()?;
            if !loads.is_empty() {
                history.add(seen, &loads);
            }
        }
        if let Some(Watched(child)) = &child {
            history.add_places(child.id(), &mut places);
        }
        if let Some(ending) = ending {
            history.ending = ending;
            break;
        }
        if let Some(view) = &mut view {
            history.arrange(topology, &calibration);
            view.draw(&history);
        }
    }
    if let (None, Some(child)) = (history.exit, child) {
        history.exit = child.end()?;
    }
    history.arrange(topology, &calibration);
    Ok(history)
}

fn start_command(command: &[OsString]) -> Result<Option<Watched>, Failure> {
    let Some((program, arguments)) = command.split_first() else { return Ok(None) };
    let child = Command::new(program).args(arguments).spawn();
    child.map(|child| Some(Watched(child))).map_err(|error| Failure::run(format!("cannot start {}: {error}", program.to_string_lossy())))
}

impl History {
    fn add(&mut self, time: f64, loads: &[CpuLoad]) {
        let before = self.times.len();
        self.times.push(time);
        for load in loads {
            let place = match self.cpus.iter().position(|cpu| cpu.cpu == load.cpu) {
                Some(place) => place,
                None => {
                    self.cpus.push(Cpu { cpu: load.cpu, level: None, cluster: None, busy: vec![None; before] });
                    self.cpus.len() - 1
                }
            };
            self.cpus[place].busy.push(Some(load.busy));
        }
        for cpu in &mut self.cpus {
            cpu.busy.resize(before + 1, None);
        }
    }

    /// Waits for the next reading, or for the end of the watching, which it returns.
    fn wait(&mut self, due: Instant, end: Option<Instant>, child: &mut Option<Watched>) -> Result<Option<Ending>, Failure> {
        loop {
            if interrupt::requested() {
                return Ok(Some(Ending::Interrupted));
            }
            if let Some(child) = child {
                self.add_usage(child.0.id());
                self.exit = child.ended()?;
                if self.exit.is_some() {
                    return Ok(Some(Ending::Command));
                }
            }
            let now = Instant::now();
            if end.is_some_and(|end| now >= end) {
                return Ok(Some(Ending::Duration));
            }
            if now >= due {
                return Ok(None);
            }
            std::thread::sleep((end.unwrap_or(due).min(due) - now).min(LOOK));
        }
    }

    fn add_places(&mut self, pid: u32, places: &mut Vec<ThreadPlace>) {
        match qos::thread_places(pid) {
            Ok(now) => {
                let before = self.migrations.as_ref().copied().unwrap_or_default();
                let counted = now.iter().all(|place| place.migrations.is_some());
                self.migrations = Ok(Migrations { count: before.count + qos::migrations(places, &now), counted });
                *places = now;
            }
            Err(error) if self.migrations.is_err() => self.migrations = Err(support::cli::chain(&error)),
            // The command has ended.
            Err(_) => {}
        }
    }

    fn add_usage(&mut self, pid: u32) {
        match ProcessUsage::of(pid) {
            Ok(usage) => self.usage = Ok(usage),
            Err(error) if self.usage.is_err() => self.usage = Err(support::cli::chain(&error)),
            Err(_) => {}
        }
    }

    /// Sorts the CPUs by level, cluster and number.
    fn arrange(&mut self, topology: &Topology, calibration: &Calibration) {
        for cpu in &mut self.cpus {
            let level = topology.level_of(cpu.cpu).or_else(|| calibration.level_of(cpu.cpu));
            cpu.level = level.and_then(|index| topology.levels.get(index)).map(|level| (level.index, level.name.clone()));
            cpu.cluster = topology.clusters.iter().position(|cluster| cluster.contains(cpu.cpu));
        }
        self.cpus.sort_by_key(|cpu| (cpu.level.as_ref().map_or(usize::MAX, |level| level.0), cpu.cluster, cpu.cpu));
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn history() -> History {
        let busy = |values: &[f64]| values.iter().map(|value| Some(*value)).collect();
        History {
            interval: Duration::from_millis(100),
            resolution: Resolution::IdleTimes,
            command: vec!["true".into()],
            ending: Ending::Command,
            exit: Some(ExitStatus::default()),
            times: vec![0.1, 0.2, 0.3],
            cpus: vec![
                Cpu { cpu: 1, level: None, cluster: None, busy: busy(&[1.0, 0.5, 0.0]) },
                Cpu { cpu: 0, level: None, cluster: None, busy: busy(&[0.0, 0.0, 0.25]) },
            ],
            migrations: Ok(Migrations { count: 2, counted: false }),
            usage: Err("only Apple systems have it".into()),
        }
    }

    #[test]
    fn cpus_are_grouped_by_level_and_may_come_and_go() {
        let mut seen = history();
        let text = "hw.logicalcpu: 2\nhw.nperflevels: 2\nhw.perflevel0.name: Performance\nhw.perflevel0.logicalcpu: 1\n\
                    hw.perflevel0.physicalcpu: 1\nhw.perflevel1.name: Efficiency\nhw.perflevel1.logicalcpu: 1\nhw.perflevel1.physicalcpu: 1\n";
        let topology = Topology::from_sysctl(text).unwrap();
        let mut calibration = Calibration::new();
        let at = |fast, slow| [fast, slow].map(|ns| qos::LevelCounters::new(ns, None, None, None));
        calibration.learn((1, &at(0, 0)), (1, &at(9, 0)));
        calibration.learn((0, &at(9, 0)), (0, &at(9, 9)));
        seen.arrange(&topology, &calibration);
        let order: Vec<_> = seen.cpus.iter().map(|cpu| (cpu.cpu, cpu.level.clone().unwrap().1)).collect();
        assert_eq!(order, [(1, "Performance".into()), (0, "Efficiency".into())]);
        seen.add(0.4, &[]);
        assert!(seen.cpus.iter().all(|cpu| cpu.busy.len() == 4 && cpu.busy[3].is_none()));
    }

    #[test]
    fn means_are_by_time() {
        assert_eq!(mean(1.0, &[2.0, 5.0, 6.0], &[Some(1.0), Some(0.5), None]), Some(2.5 / 4.0));
        assert_eq!((mean(0.0, &[1.0], &[None]), mean(0.0, &[], &[])), (None, None));
    }

    #[test]
    fn a_missing_command_is_named() {
        let command = [OsString::from("no-such-command-anywhere")];
        let Err(Failure::Run(message)) = start_command(&command) else { panic!("must fail") };
        assert!(message.contains("no-such-command-anywhere"), "{message}");
    }
}
