//! Core levels, clusters and caches of a Linux machine from sysfs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::usable::{self, Usable};
use super::{Cache, CacheKind, CoreLevel, Topology};
use crate::{CpuSet, Error};

/// What the kernel writes where it doesn't know a cluster (`topology_cluster_id`, -1 as 16 bits, and -1).
const NO_CLUSTER: [&str; 2] = ["65535", "-1"];

pub(super) fn read(root: &Path, affinity: Option<CpuSet>) -> Result<Topology, Error> {
    let system = root.join("sys/devices/system/cpu");
    let online_file = system.join("online");
    let online: CpuSet = fs::read_to_string(&online_file)
        .map_err(|source| Error::Read { path: online_file.clone(), source })?
        .parse()
        .map_err(|_| Error::Unexpected { what: online_file.display().to_string(), found: "no CPU list".to_owned() })?;
    let cpus: Vec<Cpu> = online.iter().map(|number| Cpu::read(&system, number)).collect();
    let quota = usable::quota(root)?;
    let affinity = affinity.map(|cpus| cpus.intersection(&online));
    let caches = caches(&system, &online);
    let present = list(&system.join("present")).unwrap_or_default();
    Ok(Topology {
        levels: levels(root, &cpus, &caches),
        clusters: clusters(&cpus),
        logical_cpus: online.len(),
        physical_cores: cores(cpus.iter()),
        packages: Some(cpus.iter().filter_map(|cpu| cpu.package).collect::<BTreeSet<_>>().len()).filter(|n| *n > 0),
        offline: present.difference(&online),
        isolated: list(&system.join("isolated")).unwrap_or_default(),
        usable: Usable::new(online.len(), affinity, quota),
        online: Some(online),
        caches,
    })
}

/// What sysfs says of one CPU.
struct Cpu {
    number: usize,
    /// The CPUs of its physical core, itself included.
    siblings: CpuSet,
    cluster: Option<CpuSet>,
    package: Option<i64>,
    /// 1024 is the machine's biggest.
    capacity: Option<u64>,
    /// Highest performance the firmware states, on a scale of its own; cores of one kind differ a little.
    highest: Option<u64>,
    max_khz: Option<u64>,
}

impl Cpu {
    fn read(system: &Path, number: usize) -> Self {
        let folder = system.join(format!("cpu{number}"));
        let topology = folder.join("topology");
        let cluster = word(&topology.join("cluster_id"))
            .filter(|id| !NO_CLUSTER.contains(&id.as_str()))
            .and_then(|_| list(&topology.join("cluster_cpus_list")));
        Cpu {
            number,
            siblings: list(&topology.join("core_cpus_list"))
                .or_else(|| list(&topology.join("thread_siblings_list")))
                .filter(|siblings| siblings.contains(number))
                .unwrap_or_else(|| [number].into_iter().collect()),
            cluster,
            package: parsed(&topology.join("physical_package_id")).filter(|id| *id >= 0),
            capacity: parsed(&folder.join("cpu_capacity")),
            highest: parsed(&folder.join("acpi_cppc/highest_perf")).filter(|highest| *highest > 0),
            max_khz: parsed(&folder.join("cpufreq/cpuinfo_max_freq")),
        }
    }
}

/// The kinds of cores, fastest first. Sources in order of trust: the perf units of a hybrid processor, then
/// `cpu_capacity`; otherwise all are of one kind (different boost ranks of one kind are no kinds).
fn levels(root: &Path, cpus: &[Cpu], caches: &[Cache]) -> Vec<CoreLevel> {
    let mut groups: BTreeMap<String, Vec<&Cpu>> = BTreeMap::new();
    let units = core_units(root);
    for cpu in cpus {
        let name = match units.iter().find(|(_, list)| list.contains(cpu.number)) {
            Some((unit, _)) => unit.clone(),
            None => cpu.capacity.map_or_else(|| "CPU".to_owned(), |capacity| format!("capacity {capacity}")),
        };
        groups.entry(name).or_default().push(cpu);
    }
    // Relative speed: by the kernel's capacity, else by what the firmware states.
    let speed = |cpu: &Cpu| cpu.capacity.or(cpu.highest);
    let biggest = cpus.iter().filter_map(speed).max();
    let mut levels: Vec<CoreLevel> = groups
        .into_iter()
        .map(|(name, members)| {
            let set: CpuSet = members.iter().map(|cpu| cpu.number).collect();
            let capacity = members.iter().filter_map(|cpu| speed(cpu)).max();
            let first = members[0].number;
            let size = |level, kinds: &[CacheKind]| {
                caches.iter().find(|cache| cache.level == level && kinds.contains(&cache.kind) && cache.cpus.contains(first))
            };
            let l2 = size(2, &[CacheKind::Unified, CacheKind::Data]);
            CoreLevel {
                index: 0,
                name,
                physical_cores: cores(members.iter().copied()),
                logical_cpus: members.len(),
                capacity: capacity.zip(biggest).map(|(own, most)| own as f64 / most as f64),
                max_frequency_hz: members.iter().filter_map(|cpu| cpu.max_khz).max().map(|khz| khz * 1000),
                l1i_bytes: size(1, &[CacheKind::Instruction, CacheKind::Unified]).map(|cache| cache.bytes),
                l1d_bytes: size(1, &[CacheKind::Data, CacheKind::Unified]).map(|cache| cache.bytes),
                l2_bytes: l2.map(|cache| cache.bytes),
                cpus_per_l2: l2.map(|cache| cache.cpus.len()),
                l3_bytes: size(3, &[CacheKind::Unified]).map(|cache| cache.bytes),
                cpus: Some(set),
            }
        })
        .collect();
    levels.sort_by_key(|level| {
        let capacity = level.capacity.map_or(0, |capacity| (capacity * 1024.0) as u64);
        std::cmp::Reverse((capacity, rank(&level.name), level.max_frequency_hz))
    });
    if levels.len() == 1 {
        levels[0].name = "CPU".to_owned();
    }
    for (index, level) in levels.iter_mut().enumerate() {
        level.index = index;
    }
    levels
}

/// Order of Intel's units where no capacity is given.
fn rank(unit: &str) -> u8 {
    match unit {
        "cpu_core" => 3,
        "cpu_atom" => 2,
        "cpu_lowpower" => 1,
        _ => 0,
    }
}

/// The perf units of a hybrid processor: every `/sys/devices/cpu_*` with a list of CPUs.
fn core_units(root: &Path) -> Vec<(String, CpuSet)> {
    let Ok(entries) = fs::read_dir(root.join("sys/devices")) else { return Vec::new() };
    let mut units: Vec<(String, CpuSet)> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok().filter(|name| name.starts_with("cpu_"))?;
            Some((name, list(&entry.path().join("cpus"))?))
        })
        .collect();
    units.sort_by_key(|(name, _)| std::cmp::Reverse(rank(name)));
    units
}

/// CPUs and event type of every perf unit that says them.
#[cfg(target_os = "linux")]
pub(crate) fn perf_units(root: &Path) -> Vec<(CpuSet, u32)> {
    let Ok(entries) = fs::read_dir(root.join("sys/bus/event_source/devices")) else { return Vec::new() };
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| Some((list(&entry.path().join("cpus"))?, parsed(&entry.path().join("type"))?)))
        .collect()
}

fn clusters(cpus: &[Cpu]) -> Vec<CpuSet> {
    let mut clusters: Vec<CpuSet> = Vec::new();
    for cluster in cpus.iter().filter_map(|cpu| cpu.cluster.as_ref()) {
        if !clusters.contains(cluster) {
            clusters.push(cluster.clone());
        }
    }
    clusters
}

fn cores<'a>(cpus: impl Iterator<Item = &'a Cpu>) -> usize {
    cpus.map(|cpu| cpu.siblings.iter().next()).collect::<BTreeSet<_>>().len()
}

fn caches(system: &Path, online: &CpuSet) -> Vec<Cache> {
    let mut caches: Vec<Cache> = Vec::new();
    for cpu in online.iter() {
        for index in 0.. {
            let folder = system.join(format!("cpu{cpu}/cache/index{index}"));
            if !folder.is_dir() {
                break;
            }
            if let Some(cache) = cache(&folder).filter(|cache| !caches.contains(cache)) {
                caches.push(cache);
            }
        }
    }
    caches.sort_by_key(|cache| (cache.level, cache.kind, cache.cpus.iter().next()));
    caches
}

fn cache(folder: &Path) -> Option<Cache> {
    let size = word(&folder.join("size"))?;
    let (digits, unit) = match size.strip_suffix('K') {
        Some(digits) => (digits, 1024),
        None => size.strip_suffix('M').map_or((size.as_str(), 1), |digits| (digits, 1024 * 1024)),
    };
    Some(Cache {
        level: parsed(&folder.join("level"))?,
        kind: match word(&folder.join("type"))?.as_str() {
            "Data" => CacheKind::Data,
            "Instruction" => CacheKind::Instruction,
            "Unified" => CacheKind::Unified,
            _ => return None,
        },
        bytes: digits.parse::<u64>().ok()?.checked_mul(unit)?,
        line_bytes: parsed(&folder.join("coherency_line_size")),
        cpus: list(&folder.join("shared_cpu_list"))?,
    })
}

fn word(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

fn parsed<T: std::str::FromStr>(path: &Path) -> Option<T> {
    word(path)?.parse().ok()
}

fn list(path: &Path) -> Option<CpuSet> {
    word(path)?.parse().ok()
}
