//! How many CPUs a process may use: affinity and control-group quota.

use std::fs;
use std::path::Path;

use crate::{CpuSet, Error};

/// How many CPUs this process may use.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Usable {
    /// The number of threads that can run at once, at least 1: the affinity's CPUs or the quota rounded down, whichever
    /// is less. Agrees with `std::thread::available_parallelism`.
    pub cpus: usize,
    /// What sets that number.
    pub limit: Limit,
    /// The CPUs the affinity allows; `None` where there is no affinity.
    pub affinity: Option<CpuSet>,
    /// CPU seconds per second the control group grants; `None` without a quota.
    pub quota: Option<f64>,
}

/// What sets the number of usable CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Limit {
    /// The machine: all its CPUs may be used.
    Machine,
    /// The affinity or cpuset.
    Affinity,
    /// The control group's quota.
    Quota,
}

impl Usable {
    pub(super) fn new(machine: usize, affinity: Option<CpuSet>, quota: Option<f64>) -> Self {
        let mut cpus = machine;
        let mut limit = Limit::Machine;
        if let Some(allowed) = affinity.as_ref().map(CpuSet::len).filter(|allowed| *allowed < cpus) {
            cpus = allowed;
            limit = Limit::Affinity;
        }
        if let Some(granted) = quota.map(|quota| quota as usize).filter(|granted| *granted < cpus) {
            cpus = granted;
            limit = Limit::Quota;
        }
        Usable { cpus: cpus.max(1), limit, affinity, quota }
    }
}

/// The tightest CPU quota on the way from this process's control group to the root, version 2 and version 1.
pub(super) fn quota(root: &Path) -> Result<Option<f64>, Error> {
    let Ok(groups) = fs::read_to_string(root.join("proc/self/cgroup")) else { return Ok(None) };
    let mounts = fs::read_to_string(root.join("proc/self/mountinfo")).unwrap_or_default();
    let mut tightest: Option<f64> = None;
    for (group, controllers) in groups.lines().filter_map(group_of_line) {
        let Some((mount, below)) = mounts.lines().find_map(|line| mount_of_line(line, controllers)) else { continue };
        // The mount shows the tree from `below` on.
        let inside = Path::new(group).strip_prefix(below).unwrap_or(Path::new(""));
        let mount = root.join(mount.trim_start_matches('/'));
        for folder in inside.ancestors().map(|part| mount.join(part)) {
            let quota = if controllers.is_empty() { quota_v2(&folder)? } else { quota_v1(&folder)? };
            if let Some(quota) = quota {
                tightest = Some(tightest.map_or(quota, |least| least.min(quota)));
            }
        }
    }
    Ok(tightest)
}

/// The group's path and its controllers (none for version 2), if it may hold a CPU quota. `cgroups(7)`, /proc/PID/cgroup.
fn group_of_line(line: &str) -> Option<(&str, &str)> {
    let mut parts = line.splitn(3, ':');
    let (number, controllers, group) = (parts.next()?, parts.next()?, parts.next()?);
    let version_2 = number == "0" && controllers.is_empty();
    (version_2 || controllers.split(',').any(|name| name == "cpu")).then_some((group, controllers))
}

/// Mount point and mounted root of the hierarchy with these controllers. `proc_pid_mountinfo(5)`.
fn mount_of_line<'a>(line: &'a str, controllers: &str) -> Option<(&'a str, &'a str)> {
    let (fields, rest) = line.split_once(" - ")?;
    let mut fields = fields.split(' ').skip(3);
    let (below, mount) = (fields.next()?, fields.next()?);
    let mut rest = rest.split(' ');
    let (kind, options) = (rest.next()?, rest.nth(1)?);
    let fits =
        if controllers.is_empty() { kind == "cgroup2" } else { kind == "cgroup" && options.split(',').any(|option| option == "cpu") };
    fits.then_some((mount, below))
}

/// `cpu.max`: quota and period in microseconds, or `max`.
fn quota_v2(folder: &Path) -> Result<Option<f64>, Error> {
    let path = folder.join("cpu.max");
    let Ok(text) = fs::read_to_string(&path) else { return Ok(None) };
    let (quota, period) = text.trim().split_once(' ').unwrap_or((text.trim(), "100000"));
    if quota == "max" { Ok(None) } else { ratio(&path, quota, period) }
}

/// `cpu.cfs_quota_us` (-1 is none) over `cpu.cfs_period_us`.
fn quota_v1(folder: &Path) -> Result<Option<f64>, Error> {
    let path = folder.join("cpu.cfs_quota_us");
    let Ok(quota) = fs::read_to_string(&path) else { return Ok(None) };
    let Ok(period) = fs::read_to_string(folder.join("cpu.cfs_period_us")) else { return Ok(None) };
    if quota.trim().starts_with('-') { Ok(None) } else { ratio(&path, quota.trim(), period.trim()) }
}

fn ratio(path: &Path, quota: &str, period: &str) -> Result<Option<f64>, Error> {
    match (quota.parse::<u64>(), period.parse::<u64>()) {
        (Ok(quota), Ok(period)) if period > 0 => Ok(Some(quota as f64 / period as f64)),
        _ => Err(Error::Unexpected { what: path.display().to_string(), found: format!("{quota} {period}") }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_limit_counts_and_one_cpu_is_left() {
        let two: CpuSet = [4, 5].into_iter().collect();
        let usable = Usable::new(8, None, None);
        assert_eq!((usable.cpus, usable.limit), (8, Limit::Machine));
        let usable = Usable::new(8, Some(two.clone()), Some(3.5));
        assert_eq!((usable.cpus, usable.limit), (2, Limit::Affinity));
        let usable = Usable::new(8, Some(two), Some(1.9));
        assert_eq!((usable.cpus, usable.limit), (1, Limit::Quota));
        assert_eq!(Usable::new(8, None, Some(0.2)).cpus, 1);
    }
}
