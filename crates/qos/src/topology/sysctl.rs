//! Core levels of an Apple machine from sysctl values.

use std::collections::BTreeMap;

use super::{CoreLevel, Topology, Usable};
use crate::{CpuSet, Error};

/// The values to ask for; `%` is the number of a core level.
#[cfg_attr(not(target_vendor = "apple"), expect(dead_code, reason = "only an Apple system is asked"))]
pub(super) const NAMES: &[&str] = &[
    "hw.nperflevels",
    "hw.logicalcpu",
    "hw.physicalcpu",
    "hw.packages",
    "hw.logicalcpu_max",
    "hw.l1icachesize",
    "hw.l1dcachesize",
    "hw.l2cachesize",
    "hw.l3cachesize",
    "hw.perflevel%.name",
    "hw.perflevel%.physicalcpu",
    "hw.perflevel%.logicalcpu",
    "hw.perflevel%.l1icachesize",
    "hw.perflevel%.l1dcachesize",
    "hw.perflevel%.l2cachesize",
    "hw.perflevel%.l3cachesize",
    "hw.perflevel%.cpusperl2",
];

/// More levels than any machine has; a wrong answer must not start a long loop.
const MAX_LEVELS: usize = 16;

pub(super) fn read(text: &str) -> Result<Topology, Error> {
    let values = parse(text);
    let number = |name: &str| values.get(name).and_then(|value| value.parse::<u64>().ok());
    let count = |name: &str| number(name).map(|value| value as usize);
    let logical = count("hw.logicalcpu").ok_or_else(|| Error::Unexpected {
        what: "sysctl hw.logicalcpu".to_owned(),
        found: values.get("hw.logicalcpu").copied().unwrap_or_default().to_owned(),
    })?;
    let physical = count("hw.physicalcpu").unwrap_or(logical);
    // Before macOS 12, on Intel and in virtual machines there is one level without a name.
    let levels = count("hw.nperflevels").unwrap_or(0).min(MAX_LEVELS);
    let mut found: Vec<CoreLevel> = (0..levels)
        .filter_map(|index| {
            let name = |what: &str| format!("hw.perflevel{index}.{what}");
            Some(CoreLevel {
                index,
                // Names came with macOS 13.
                name: values.get(name("name").as_str()).map_or_else(|| format!("level {index}"), |v| (*v).to_owned()),
                logical_cpus: count(&name("logicalcpu"))?,
                physical_cores: count(&name("physicalcpu"))?,
                l1i_bytes: number(&name("l1icachesize")),
                l1d_bytes: number(&name("l1dcachesize")),
                l2_bytes: number(&name("l2cachesize")),
                l3_bytes: number(&name("l3cachesize")).filter(|bytes| *bytes > 0),
                cpus_per_l2: count(&name("cpusperl2")),
                ..CoreLevel::default()
            })
        })
        .collect();
    if found.is_empty() {
        found.push(CoreLevel {
            name: "CPU".to_owned(),
            logical_cpus: logical,
            physical_cores: physical,
            l1i_bytes: number("hw.l1icachesize"),
            l1d_bytes: number("hw.l1dcachesize"),
            l2_bytes: number("hw.l2cachesize"),
            l3_bytes: number("hw.l3cachesize").filter(|bytes| *bytes > 0),
            ..CoreLevel::default()
        });
    }
    Ok(Topology {
        levels: found,
        clusters: Vec::new(),
        caches: Vec::new(),
        logical_cpus: logical,
        physical_cores: physical,
        packages: count("hw.packages"),
        online: None,
        offline: CpuSet::new(),
        isolated: CpuSet::new(),
        usable: Usable::new(logical, None, None),
    })
}

/// Lines `name: value`, as sysctl prints them.
pub(crate) fn parse(text: &str) -> BTreeMap<&str, &str> {
    text.lines().filter_map(|line| line.split_once(':')).map(|(name, value)| (name.trim(), value.trim())).collect()
}
