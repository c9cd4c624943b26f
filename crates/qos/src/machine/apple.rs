//! An Apple machine from sysctl values.

use super::{Machine, Missing, Power, Thermal, Virtualization};
use crate::topology::parse_sysctl;

/// The values to ask for.
#[cfg_attr(not(target_vendor = "apple"), expect(dead_code, reason = "only an Apple system is asked"))]
pub(super) const NAMES: &[&str] =
    &["machdep.cpu.brand_string", "hw.model", "hw.memsize", "kern.osproductversion", "kern.osrelease", "kern.hv_vmm_present"];

/// `time_remaining` is what `IOPSGetTimeRemainingEstimate` answers; `pressure` is the state of the notification
/// `com.apple.system.thermalpressurelevel` (`OSThermalNotification.h`).
pub(super) fn read(text: &str, time_remaining: Option<f64>, pressure: Option<u64>) -> Machine {
    let values = parse_sysctl(text);
    let word = |name: &str| values.get(name).map(|value| (*value).to_owned());
    let virtualization = match values.get("kern.hv_vmm_present") {
        Some(&"1") => Some((true, "kern.hv_vmm_present is 1")),
        Some(&"0") => Some((false, "kern.hv_vmm_present is 0")),
        _ => None,
    };
    let mut machine = Machine {
        cpu: word("machdep.cpu.brand_string"),
        model: word("hw.model"),
        os: Some("macOS".to_owned()),
        os_version: word("kern.osproductversion"),
        kernel: word("kern.osrelease"),
        memory_bytes: values.get("hw.memsize").and_then(|bytes| bytes.parse().ok()),
        virtualization: virtualization.map(|(is_virtual, evidence)| Virtualization { is_virtual, evidence: evidence.to_owned() }),
        power: time_remaining.map(power),
        power_profile: None,
        thermal: pressure.and_then(thermal),
        missing: Vec::new(),
    };
    let mut miss = |what, is_missing: bool, reason| {
        if is_missing {
            machine.missing.push(Missing { what, reason });
        }
    };
    miss("power_profile", true, "macOS tells it to Objective-C only");
    miss("power", time_remaining.is_none(), "IOPSGetTimeRemainingEstimate was not asked or not found");
    miss("thermal", machine.thermal.is_none(), "the thermal notification was not asked or gave an unknown level");
    machine.note_missing("the sysctl value is absent");
    machine
}

/// `kIOPSTimeRemainingUnlimited` (-2.0) is an unlimited source; anything else is a battery (`IOPowerSources.h`).
fn power(time_remaining: f64) -> Power {
    if time_remaining == -2.0 { Power::Mains } else { Power::Battery }
}

/// `OSThermalPressureLevel` of macOS: nominal 0, moderate 1, heavy 2, trapping 3, sleeping 4.
fn thermal(level: u64) -> Option<Thermal> {
    match level {
        0 => Some(Thermal::Nominal),
        1 => Some(Thermal::Moderate),
        2 => Some(Thermal::Heavy),
        3 | 4 => Some(Thermal::Critical),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_taken_and_absent_ones_have_a_reason() {
        let text = "machdep.cpu.brand_string: Apple M4 Pro\nhw.memsize: 51539607552\nkern.hv_vmm_present: 0\n";
        let machine = read(text, Some(-2.0), Some(2));
        assert_eq!(machine.cpu.as_deref(), Some("Apple M4 Pro"));
        assert_eq!(machine.memory_bytes, Some(51_539_607_552));
        assert!(!machine.virtualization.as_ref().unwrap().is_virtual);
        assert_eq!((machine.power, machine.thermal), (Some(Power::Mains), Some(Thermal::Heavy)));
        let missing: Vec<_> = machine.missing.iter().map(|missing| missing.what).collect();
        assert_eq!(missing, ["power_profile", "model", "os_version", "kernel"]);
    }

    #[test]
    fn power_and_thermal_levels() {
        assert_eq!(read("", Some(-1.0), None).power, Some(Power::Battery));
        assert_eq!(read("", Some(5400.0), None).power, Some(Power::Battery));
        let levels: Vec<_> = (0..6).map(thermal).collect();
        let critical = Some(Thermal::Critical);
        let expected = [Some(Thermal::Nominal), Some(Thermal::Moderate), Some(Thermal::Heavy), critical, critical, None];
        assert_eq!(levels, expected);
        assert!(read("", None, None).missing.iter().any(|missing| missing.what == "thermal"));
    }
}
