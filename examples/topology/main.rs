//! The cores of this machine by level, their caches, and how many of them this process may use.

use std::process::ExitCode;

use clap::Parser;
use qos::{CacheKind, CoreLevel, Limit, Topology};
use serde_json::{Value, json};
use support::cli::{self, Failure};
use support::json::Target;
use support::machine::Facts;
use support::print::Printer;
use support::results::check_results;
use support::units;

/// Show the kinds of cores, fastest first, their caches, and how many CPUs this process may really use.
#[derive(Debug, Parser)]
#[command(name = "topology", version)]
struct Args {
    /// Write the result as JSON (`-` for standard output)
    #[arg(long, value_name = "FILE")]
    json: Option<Target>,
}

fn main() -> ExitCode {
    cli::main(run)
}

fn run(args: Args) -> Result<(), Failure> {
    check_results(args.json.as_ref(), [], [])?;
    let mut out = Printer::new(args.json.as_ref());
    let facts = Facts::detect();
    facts.print(&mut out);
    let topology = facts.topology.as_ref().map_err(|reason| Failure::run(reason.clone()))?;
    out.heading("Core levels, fastest first");
    let head = ["level", "name", "cores", "CPUs", "which", "capacity", "max. clock", "L1i", "L1d", "L2", "CPUs per L2", "L3"];
    out.table(&head, &topology.levels.iter().map(level_row).collect::<Vec<_>>());
    if !topology.caches.is_empty() {
        out.heading("Caches");
        let rows: Vec<_> = cache_rows(topology);
        out.table(&["cache", "size", "number", "shared by"], &rows);
    }
    out.heading("This process");
    for line in usable_lines(topology) {
        out.line(format!("  {line}"));
    }
    if let Some(target) = &args.json {
        target.write(&document(&facts))?;
    }
    Ok(())
}

fn or_dash(value: Option<String>) -> String {
    value.unwrap_or_else(|| "–".into())
}

fn size(bytes: Option<u64>) -> String {
    or_dash(bytes.map(binary))
}

/// Caches come in binary units.
fn binary(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", units::significant(bytes as f64 / 1048576.0, 4)) } else { format!("{} KiB", bytes >> 10) }
}

fn level_row(level: &CoreLevel) -> Vec<String> {
    vec![
        level.index.to_string(),
        level.name.clone(),
        level.physical_cores.to_string(),
        level.logical_cpus.to_string(),
        or_dash(level.cpus.as_ref().map(ToString::to_string)),
        or_dash(level.capacity.map(units::percent)),
        or_dash(level.max_frequency_hz.map(|hz| format!("{} GHz", units::significant(hz as f64 / 1e9, 3)))),
        size(level.l1i_bytes),
        size(level.l1d_bytes),
        size(level.l2_bytes),
        or_dash(level.cpus_per_l2.map(|count| count.to_string())),
        size(level.l3_bytes),
    ]
}

/// Caches of the same level, kind and size together.
fn cache_rows(topology: &Topology) -> Vec<Vec<String>> {
    let mut rows: Vec<(String, String, usize, Vec<String>)> = Vec::new();
    for cache in &topology.caches {
        let kind = match cache.kind {
            CacheKind::Data => "data",
            CacheKind::Instruction => "instructions",
            CacheKind::Unified => "both",
        };
        let (name, bytes, cpus) = (format!("L{} {kind}", cache.level), binary(cache.bytes), cache.cpus.to_string());
        match rows.iter_mut().find(|row| row.0 == name && row.1 == bytes) {
            Some(row) => {
                row.2 += 1;
                row.3.push(cpus);
            }
            None => rows.push((name, bytes, 1, vec![cpus])),
        }
    }
    rows.into_iter().map(|(name, bytes, count, cpus)| vec![name, bytes, count.to_string(), cpus.join(" | ")]).collect()
}

fn usable_lines(topology: &Topology) -> Vec<String> {
    let usable = &topology.usable;
    let why = match usable.limit {
        Limit::Machine => "all of the machine",
        Limit::Affinity => "its affinity allows no more",
        Limit::Quota => "its control group's quota grants no more",
        _ => "for another reason",
    };
    let mut lines = vec![format!("may use {} of {} CPUs: {why}", usable.cpus, topology.logical_cpus)];
    if let Some(cpus) = &usable.affinity {
        lines.push(format!("affinity {cpus}"));
    }
    if let Some(quota) = usable.quota {
        lines.push(format!("quota {} CPU seconds a second", units::significant(quota, 4)));
    }
    if !topology.offline.is_empty() {
        lines.push(format!("offline CPUs {}", topology.offline));
    }
    if !topology.isolated.is_empty() {
        lines.push(format!("isolated CPUs {}", topology.isolated));
    }
    lines
}

fn document(facts: &Facts) -> Value {
    let topology = facts.topology.as_ref().map_or(Value::Null, |topology| json!(topology));
    support::json::document("gannet/topology/1", facts.json(), json!({}), vec![("topology", topology)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_its_fields() {
        let value = document(&Facts::detect());
        assert_eq!(value["schema"], "gannet/topology/1");
        let topology = &value["topology"];
        for field in
            ["levels", "clusters", "caches", "logical_cpus", "physical_cores", "packages", "online", "offline", "isolated", "usable"]
        {
            assert!(topology.get(field).is_some(), "{field}");
        }
        for field in ["index", "name", "physical_cores", "logical_cpus", "cpus", "capacity", "max_frequency_hz", "l2_bytes"] {
            assert!(topology["levels"][0].get(field).is_some(), "{field}");
        }
        assert!(topology["usable"]["limit"].is_string());
    }

    #[test]
    fn caches_are_counted_by_kind_and_size() {
        let text = "hw.logicalcpu: 8\nhw.nperflevels: 1\nhw.perflevel0.logicalcpu: 8\nhw.perflevel0.physicalcpu: 8\n";
        let topology = Topology::from_sysctl(text).unwrap();
        assert!(cache_rows(&topology).is_empty());
        assert_eq!(usable_lines(&topology), ["may use 8 of 8 CPUs: all of the machine"]);
        assert_eq!((binary(131_072), binary(12 << 20)), ("128 KiB".into(), "12 MiB".into()));
    }
}
