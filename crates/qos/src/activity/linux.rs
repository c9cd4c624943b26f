//! Idle times of a Linux machine.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::cpus::{CpuTimes, TICK};
use crate::Error;

pub(super) fn read(root: &Path) -> Result<Vec<CpuTimes>, Error> {
    let path = root.join("proc/stat");
    let stat = fs::read_to_string(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
    let mut cpus = Vec::new();
    for line in stat.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu ")) {
        let (cpu, idle_ticks) =
            line_of_stat(line).ok_or_else(|| Error::Unexpected { what: path.display().to_string(), found: line.to_owned() })?;
        cpus.push(CpuTimes { cpu, idle: idle(root, cpu), idle_ticks, all_ticks: None });
    }
    Ok(cpus)
}

/// The CPU's number and its idle time, waiting for I/O included. `proc_stat(5)`: user nice system idle iowait …
fn line_of_stat(line: &str) -> Option<(usize, Duration)> {
    let mut fields = line.split_whitespace();
    let cpu = fields.next()?.strip_prefix("cpu")?.parse().ok()?;
    let ticks = |text: Option<&str>| text?.parse::<u64>().ok();
    let (idle, waiting) = (ticks(fields.nth(3))?, ticks(fields.next())?);
    Some((cpu, Duration::from_millis(idle.checked_add(waiting)?.checked_mul(TICK.as_millis() as u64)?)))
}

/// Time in all sleeping states of the idle driver (`cpuidle/stateN/time`, µs); polling is no sleep but idle all the same.
fn idle(root: &Path, cpu: usize) -> Option<Duration> {
    let states = root.join(format!("sys/devices/system/cpu/cpu{cpu}/cpuidle"));
    let mut total: Option<u64> = None;
    for state in 0..16 {
        let Ok(text) = fs::read_to_string(states.join(format!("state{state}/time"))) else { break };
        total = Some(total.unwrap_or(0).saturating_add(text.trim().parse().ok()?));
    }
    total.map(Duration::from_micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_stat() {
        assert_eq!(line_of_stat("cpu12 1 2 3 400 50 6 7 8 0 0"), Some((12, Duration::from_millis(4500))));
        assert_eq!(line_of_stat("cpu12 1 2 3"), None);
        assert_eq!(line_of_stat("cpux 1 2 3 4 5"), None);
    }

    #[test]
    fn states_add_up_and_a_wrong_file_is_named() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("proc/stat", "cpu  9 9 9 9 9\ncpu0 1 2 3 4 5 6\ncpu3 0 0 0 7 0 0\nintr 5\n");
        write("sys/devices/system/cpu/cpu0/cpuidle/state0/time", "10\n");
        write("sys/devices/system/cpu/cpu0/cpuidle/state1/time", "2000\n");
        let cpus = read(root.path()).unwrap();
        assert_eq!(cpus.len(), 2);
        assert_eq!((cpus[0].idle, cpus[0].idle_ticks), (Some(Duration::from_micros(2010)), TICK * 9));
        assert_eq!((cpus[1].cpu, cpus[1].idle), (3, None));
        write("proc/stat", "cpu0 1 2\n");
        assert!(read(root.path()).unwrap_err().to_string().contains("proc/stat"));
    }
}
