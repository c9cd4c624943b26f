//! A command on some of the CPUs.

use std::ffi::OsString;

use qos::{CacheKind, QosClass, Topology};
use support::cli::Failure;

/// The CPUs that this process may use, in the order a command gets them: fastest core level first, and of cores with several
/// CPUs the first of each before the second of any.
pub(crate) fn order(topology: &Topology) -> Result<Vec<usize>, Failure> {
    let Some(allowed) = &topology.usable.affinity else {
        return Err(Failure::run("this system cannot hold a command to some of its CPUs (Linux can): time threads instead"));
    };
    let level = |cpu: usize| topology.level_of(cpu).unwrap_or(usize::MAX);
    let sibling = |cpu: usize| {
        let of_core = topology.caches.iter().find(|c| c.level == 1 && c.kind != CacheKind::Instruction && c.cpus.contains(cpu));
        of_core.map_or(0, |c| c.cpus.intersection(allowed).iter().take_while(|&other| other != cpu).count())
    };
    let mut cpus: Vec<usize> = allowed.iter().collect();
    cpus.sort_by_key(|&cpu| (level(cpu), sibling(cpu), cpu));
    Ok(cpus)
}

/// Runs the command on these CPUs and returns its seconds. Its errors are shown unless the run is counted.
#[cfg(target_os = "linux")]
pub(crate) fn run(words: &[OsString], cpus: &[usize], class: QosClass, counted: bool) -> Result<f64, Failure> {
    linux::run(words, cpus, class, counted)
}

/// Nothing comes here, as there is no [`order`].
#[cfg(not(target_os = "linux"))]
pub(crate) fn run(_: &[OsString], _: &[usize], _: QosClass, _: bool) -> Result<f64, Failure> {
    Err(Failure::run("this system cannot hold a command to some of its CPUs"))
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsString;
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::{Child, ExitStatus, Stdio};
    use std::sync::mpsc::{self, RecvTimeoutError};
    use std::thread;
    use std::time::{Duration, Instant};

    use qos::{Hold, QosClass, Request};
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
    use support::cli::Failure;
    use support::interrupt;

    pub(super) fn run(words: &[OsString], cpus: &[usize], class: QosClass, counted: bool) -> Result<f64, Failure> {
        let Some((program, arguments)) = words.split_first() else { return Err(Failure::Usage("the command is empty".into())) };
        let request = Request::new(class).cpus(cpus.iter().copied().collect());
        let mut command = qos::child_command(program, request, Hold::Hint)?.command;
        // In a group of its own, so that what it starts ends with it.
        command.args(arguments).process_group(0).stdin(Stdio::null()).stdout(Stdio::null());
        if counted {
            command.stderr(Stdio::null());
        }
        let name = program.to_string_lossy();
        let start = Instant::now();
        let child = command.spawn().map_err(|e| Failure::run(format!("cannot start {name}: {e}")))?;
        let (seconds, status) = Running(child).wait(start).map_err(|failure| failure.context(&name))?;
        if status.success() {
            return Ok(seconds);
        }
        let end = match (status.code(), status.signal()) {
            (Some(code), _) => format!("ended with status {code}"),
            (None, Some(signal)) => format!("was ended by signal {signal}"),
            (None, None) => "did not end as it should".to_string(),
        };
        let plural = if cpus.len() == 1 { "" } else { "s" };
        Err(Failure::run(format!("{name} {end}, on {} CPU{plural}", cpus.len())))
    }

    /// A child that is ended, with all of its group, when nobody waits for it any longer.
    struct Running(Child);

    impl Drop for Running {
        fn drop(&mut self) {
            if let Ok(None) = self.0.try_wait() {
                let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
                let _ = self.0.wait();
            }
        }
    }

    impl Running {
        /// Seconds from `start` to its end, and how it ended.
        fn wait(mut self, start: Instant) -> Result<(f64, ExitStatus), Failure> {
            let pid = Pid::from_child(&self.0);
            let (sender, receiver) = mpsc::channel();
            thread::spawn(move || {
                // It is left for `self.0` to collect, so that its number remains its own until then.
                let options = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
                let change = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options));
                let _ = sender.send((start.elapsed().as_secs_f64(), change));
            });
            let mut asked: Option<Instant> = None;
            loop {
                match receiver.recv_timeout(Duration::from_millis(20)) {
                    Ok((_, Err(error))) => return Err(Failure::run(format!("cannot wait for it: {error}"))),
                    Ok((_, Ok(Some(change)))) if change.stopped() => {
                        return Err(Failure::run("it stopped instead of ending: does it ask for the terminal?"));
                    }
                    Ok((seconds, Ok(_))) => {
                        interrupt::check()?;
                        let status = self.0.wait().map_err(|error| Failure::run(format!("cannot wait for it: {error}")))?;
                        return Ok((seconds, status));
                    }
                    Err(RecvTimeoutError::Disconnected) => return Err(Failure::run("cannot wait for it")),
                    Err(RecvTimeoutError::Timeout) if !interrupt::requested() => {}
                    Err(RecvTimeoutError::Timeout) => match asked {
                        None => {
                            let _ = kill_process_group(pid, Signal::TERM);
                            asked = Some(Instant::now());
                        }
                        // It had its time to tidy up.
                        Some(since) if since.elapsed() > Duration::from_secs(2) => return Err(Failure::Interrupted),
                        Some(_) => {}
                    },
                }
            }
        }
    }
}
