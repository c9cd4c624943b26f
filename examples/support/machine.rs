//! What every program says of the machine it ran on.

use qos::{Machine, Topology};
use serde_json::{Value, json};

use crate::page::Page;
use crate::print::Printer;
use crate::units;

/// The machine and its cores, as far as the system tells.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Processor, system, memory, power, heat.
    pub machine: Machine,
    /// Core levels and the CPUs this process may use, or why they can't be had.
    pub topology: Result<Topology, String>,
}

impl Facts {
    /// Looks at this machine.
    #[must_use]
    pub fn detect() -> Self {
        Self { machine: Machine::detect(), topology: Topology::detect().map_err(|e| crate::cli::chain(&e)) }
    }

    /// CPUs this process may use: by the topology, else by the standard library; 1 at least.
    #[must_use]
    pub fn usable_cpus(&self) -> usize {
        match &self.topology {
            Ok(topology) => topology.usable.cpus.max(1),
            Err(_) => std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// The object `machine` of every JSON document.
    #[must_use]
    pub fn json(&self) -> Value {
        let mut value = serde_json::to_value(&self.machine).unwrap_or_else(|_| json!({}));
        if let Some(object) = value.as_object_mut() {
            object.insert("usable_cpus".into(), json!(self.usable_cpus()));
            match &self.topology {
                Ok(topology) => object.insert("topology".into(), serde_json::to_value(topology).unwrap_or(Value::Null)),
                Err(reason) => {
                    object.insert("topology_reason".into(), json!(reason));
                    object.insert("topology".into(), Value::Null)
                }
            };
        }
        value
    }

    /// Prints it for people.
    pub fn print(&self, out: &mut Printer) {
        for (label, value) in self.lines() {
            out.line(format!("{label:24} {value}"));
        }
    }

    /// Puts it onto a page, under a heading.
    pub fn put_on(&self, page: &mut Page) {
        page.heading("Machine");
        page.facts(&self.lines());
    }

    /// The same for people: a label and a value a line.
    #[must_use]
    pub fn lines(&self) -> Vec<(String, String)> {
        let m = &self.machine;
        let joined = |parts: [&Option<String>; 2]| parts.into_iter().flatten().cloned().collect::<Vec<_>>().join(" ");
        let mut lines = Vec::new();
        let mut add = |label: &str, value: String| {
            if !value.is_empty() {
                lines.push((label.to_string(), value));
            }
        };
        add("processor", joined([&m.cpu, &None]));
        add("model", joined([&m.model, &None]));
        add("system", joined([&m.os, &m.os_version]));
        add("memory", m.memory_bytes.map(units::bytes).unwrap_or_default());
        match &self.topology {
            Ok(topology) => {
                add("cores", topology.to_string());
                let usable = &topology.usable;
                add("usable by this process", format!("{} CPUs", usable.cpus));
            }
            Err(reason) => add("cores", format!("not known: {reason}")),
        }
        if let Some(v) = &m.virtualization {
            add("virtual machine", format!("{} ({})", if v.is_virtual { "yes" } else { "no" }, v.evidence));
        }
        let state = |value: Option<String>, what: &str| {
            value.unwrap_or_else(|| {
                let reason =
                    m.missing.iter().find(|missing| missing.what == what).map_or("the system does not say", |missing| missing.reason);
                format!("not known: {reason}")
            })
        };
        add("power", state(m.power.map(|p| format!("{p:?}").to_lowercase()), "power"));
        add("thermal state", state(m.thermal.map(|t| format!("{t:?}").to_lowercase()), "thermal"));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_described() {
        let facts = Facts::detect();
        let json = facts.json();
        assert!(json["usable_cpus"].as_u64().is_some_and(|n| n >= 1));
        assert!(json.get("topology").is_some() && json.get("missing").is_some());
        assert!(facts.lines().iter().any(|(label, _)| label == "cores"));
    }
}
