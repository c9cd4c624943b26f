//! A Linux machine from its files.

use std::fs;
use std::path::Path;

use super::{Machine, Missing, Power, Thermal, Virtualization};

pub(super) fn read(root: &Path) -> Machine {
    let text = |path: &str| fs::read_to_string(root.join(path)).ok();
    let word = |path: &str| text(path).map(|text| text.trim_matches(['\0', '\n', ' ']).to_owned());
    let cpuinfo = text("proc/cpuinfo").unwrap_or_default();
    let release = text("etc/os-release").or_else(|| text("usr/lib/os-release")).unwrap_or_default();
    let mut machine = Machine {
        cpu: cpu(&cpuinfo),
        model: word("sys/class/dmi/id/product_name").or_else(|| word("proc/device-tree/model")),
        os: release_value(&release, "NAME").or_else(|| Some("Linux".to_owned())),
        os_version: release_value(&release, "VERSION_ID"),
        kernel: word("proc/sys/kernel/osrelease"),
        memory_bytes: text("proc/meminfo").as_deref().and_then(memory),
        virtualization: virtualization(root, &cpuinfo),
        power: power(root),
        power_profile: word("sys/firmware/acpi/platform_profile"),
        thermal: thermal(root),
        missing: Vec::new(),
    };
    let mut miss = |what, is_missing: bool, reason| {
        if is_missing {
            machine.missing.push(Missing { what, reason });
        }
    };
    miss("virtualization", machine.virtualization.is_none(), "neither the processor's flags nor the firmware say");
    miss("power", machine.power.is_none(), "no power supply is described in /sys/class/power_supply");
    miss("power_profile", machine.power_profile.is_none(), "the firmware offers no power profile");
    miss("thermal", machine.thermal.is_none(), "no thermal zone with a passive or hot trip point in /sys/class/thermal");
    machine.note_missing("the file is absent or says nothing of it");
    machine
}

fn cpu(cpuinfo: &str) -> Option<String> {
    let field =
        |name: &str| cpuinfo.lines().filter_map(|line| line.split_once(':')).find(|(key, _)| key.trim() == name).map(|(_, v)| v.trim());
    if let Some(name) = ["model name", "cpu model", "cpu"].into_iter().find_map(field) {
        return Some(name.to_owned());
    }
    // Arm kernels give numbers only.
    let (implementer, part) = (field("CPU implementer")?, field("CPU part")?);
    Some(format!("Arm implementer {implementer} part {part}"))
}

/// A value of `os-release(5)`, without its quotes.
fn release_value(release: &str, key: &str) -> Option<String> {
    let (_, value) = release.lines().filter_map(|line| line.split_once('=')).find(|(name, _)| *name == key)?;
    Some(value.trim().trim_matches(['"', '\'']).to_owned())
}

/// `MemTotal` of `/proc/meminfo`, whose kB are KiB.
fn memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Firmware vendors and products of virtual machines.
const VIRTUAL: [&str; 10] = [
    "QEMU",
    "KVM",
    "VMware",
    "VirtualBox",
    "innotek",
    "Xen",
    "Virtual Machine",
    "Parallels",
    "Google Compute Engine",
    "Apple Virtualization",
];

fn virtualization(root: &Path, cpuinfo: &str) -> Option<Virtualization> {
    let found = |is_virtual, evidence: String| Some(Virtualization { is_virtual, evidence });
    if let Ok(kind) = fs::read_to_string(root.join("sys/hypervisor/type")) {
        return found(true, format!("/sys/hypervisor/type is {}", kind.trim()));
    }
    if root.join("proc/device-tree/hypervisor").is_dir() {
        return found(true, "the device tree has a hypervisor node".to_owned());
    }
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags")).and_then(|line| line.split_once(':'));
    let flag = flags.map(|(_, flags)| flags.split_whitespace().any(|flag| flag == "hypervisor"));
    if flag == Some(true) {
        return found(true, "the processor sets the hypervisor flag".to_owned());
    }
    for file in ["sys_vendor", "product_name"] {
        if let Ok(text) = fs::read_to_string(root.join("sys/class/dmi/id").join(file)) {
            if VIRTUAL.iter().any(|name| text.contains(name)) {
                return found(true, format!("the firmware's {file} is {}", text.trim()));
            }
        }
    }
    // Only x86 has a flag whose absence says something; on Arm the firmware's own name does.
    match flag {
        Some(false) => found(false, "the processor does not set the hypervisor flag".to_owned()),
        _ => fs::read_to_string(root.join("proc/device-tree/model"))
            .ok()
            .and_then(|model| found(false, format!("the device tree names {}", model.trim_matches(['\0', '\n'])))),
    }
}

fn power(root: &Path) -> Option<Power> {
    let supplies = fs::read_dir(root.join("sys/class/power_supply")).ok()?;
    let mut battery = None;
    for folder in supplies.filter_map(Result::ok).map(|entry| entry.path()) {
        let word = |file: &str| fs::read_to_string(folder.join(file)).unwrap_or_default().trim().to_owned();
        // A mouse's battery says nothing about the machine.
        if word("scope") == "Device" {
            continue;
        }
        match word("type").as_str() {
            "Mains" | "USB" if word("online") == "1" => return Some(Power::Mains),
            "Battery" => {
                let state = if word("status") == "Discharging" { Power::Battery } else { Power::Mains };
                battery = Some(if battery == Some(Power::Battery) { Power::Battery } else { state });
            }
            _ => {}
        }
    }
    battery
}

/// From each zone's temperature and trip points: beyond a passive one the kernel slows down.
fn thermal(root: &Path) -> Option<Thermal> {
    let zones = fs::read_dir(root.join("sys/class/thermal")).ok()?;
    let mut hottest = None;
    for folder in zones.filter_map(Result::ok).map(|entry| entry.path()) {
        let number = |file: String| fs::read_to_string(folder.join(file)).ok()?.trim().parse::<i64>().ok();
        let Some(now) = number("temp".to_owned()) else { continue };
        for point in 0..32 {
            let Ok(kind) = fs::read_to_string(folder.join(format!("trip_point_{point}_type"))) else { break };
            let Some(limit) = number(format!("trip_point_{point}_temp")).filter(|limit| *limit > 0) else { continue };
            let beyond = match kind.trim() {
                "passive" => Thermal::Moderate,
                "hot" => Thermal::Heavy,
                "critical" => Thermal::Critical,
                _ => continue,
            };
            let state = if now >= limit { beyond } else { Thermal::Nominal };
            hottest = hottest.max(Some(state));
        }
    }
    hottest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn a_laptop_on_battery_and_hot() {
        let root = tree(&[
            ("proc/cpuinfo", "processor\t: 0\nmodel name\t: 12th Gen Intel(R) Core(TM) i7-1260P\nflags\t\t: fpu vme\n"),
            ("proc/meminfo", "MemTotal:       16180412 kB\nMemFree: 1 kB\n"),
            ("etc/os-release", "NAME=\"Fedora Linux\"\nVERSION_ID=41\n"),
            ("sys/class/power_supply/AC/type", "Mains\n"),
            ("sys/class/power_supply/AC/online", "0\n"),
            ("sys/class/power_supply/BAT0/type", "Battery\n"),
            ("sys/class/power_supply/BAT0/status", "Discharging\n"),
            ("sys/class/power_supply/hidpp_battery_0/type", "Battery\n"),
            ("sys/class/power_supply/hidpp_battery_0/scope", "Device\n"),
            ("sys/class/power_supply/hidpp_battery_0/status", "Full\n"),
            ("sys/class/thermal/thermal_zone0/temp", "97000\n"),
            ("sys/class/thermal/thermal_zone0/trip_point_0_type", "critical\n"),
            ("sys/class/thermal/thermal_zone0/trip_point_0_temp", "105000\n"),
            ("sys/class/thermal/thermal_zone0/trip_point_1_type", "passive\n"),
            ("sys/class/thermal/thermal_zone0/trip_point_1_temp", "95000\n"),
            ("sys/firmware/acpi/platform_profile", "low-power\n"),
        ]);
        let machine = read(root.path());
        assert_eq!(machine.cpu.as_deref(), Some("12th Gen Intel(R) Core(TM) i7-1260P"));
        assert_eq!(machine.memory_bytes, Some(16_180_412 * 1024));
        assert_eq!((machine.os.as_deref(), machine.os_version.as_deref()), (Some("Fedora Linux"), Some("41")));
        assert!(!machine.virtualization.as_ref().unwrap().is_virtual);
        assert_eq!((machine.power, machine.thermal), (Some(Power::Battery), Some(Thermal::Moderate)));
        assert_eq!(machine.power_profile.as_deref(), Some("low-power"));
    }

    #[test]
    fn virtual_machines_by_their_evidence() {
        for (file, text, word) in [
            ("proc/cpuinfo", "flags : fpu hypervisor\n", "flag"),
            ("sys/class/dmi/id/sys_vendor", "QEMU\n", "QEMU"),
            ("sys/hypervisor/type", "xen\n", "xen"),
            ("proc/device-tree/hypervisor/compatible", "linux,kvm\0", "device tree"),
        ] {
            let machine = read(tree(&[(file, text)]).path());
            let found = machine.virtualization.unwrap();
            assert!(found.is_virtual && found.evidence.contains(word), "{found:?}");
        }
        let metal = read(tree(&[("proc/device-tree/model", "Raspberry Pi 5 Model B Rev 1.0\0")]).path());
        assert!(!metal.virtualization.unwrap().is_virtual);
    }

    #[test]
    fn an_empty_tree_gives_a_reason_for_everything() {
        let machine = read(tree(&[]).path());
        assert_eq!(machine.os.as_deref(), Some("Linux"));
        assert_eq!(machine.missing.len(), 9, "{:?}", machine.missing);
    }
}
