mod apple;
mod linux;

use std::fmt;
use std::path::Path;

use crate::Error;

/// The machine a figure was measured on, as far as the system says.
///
/// A value the system doesn't give is `None`, and `missing` says why.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Machine {
    /// The processor, for example `Apple M4 Pro`.
    pub cpu: Option<String>,
    /// The maker's model, for example `Mac16,8`.
    pub model: Option<String>,
    /// The operating system's name, for example `macOS`, `Debian GNU/Linux`.
    pub os: Option<String>,
    /// The operating system's version, for example `15.5`.
    pub os_version: Option<String>,
    /// The kernel's version.
    pub kernel: Option<String>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Whether this is a virtual machine, and what shows it.
    pub virtualization: Option<Virtualization>,
    /// What the machine runs on.
    pub power: Option<Power>,
    /// The firmware's power profile, for example `low-power` (Linux).
    pub power_profile: Option<String>,
    /// How hot it is.
    pub thermal: Option<Thermal>,
    /// What could not be had, and why.
    pub missing: Vec<Missing>,
}

/// Whether a machine is virtual.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Virtualization {
    /// Whether it is.
    pub is_virtual: bool,
    /// What shows it.
    pub evidence: String,
}

/// What a machine runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Power {
    /// Mains, or another unlimited source.
    Mains,
    /// Its battery.
    Battery,
}

/// Thermal state, coolest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Thermal {
    /// Nothing is held back.
    Nominal,
    /// The system has begun to hold back.
    Moderate,
    /// Speed is reduced for certain.
    Heavy,
    /// Near the emergency stop.
    Critical,
}

/// A value that could not be had.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Missing {
    /// The field.
    pub what: &'static str,
    /// Why it is `None`.
    pub reason: &'static str,
}

impl Machine {
    /// Looks at this machine. What can't be read is `None` with its reason.
    #[must_use]
    pub fn detect() -> Self {
        #[cfg(target_os = "linux")]
        {
            Machine::from_linux(Path::new("/"))
        }
        #[cfg(target_vendor = "apple")]
        {
            use crate::sys::apple as sys;
            apple::read(&sys::sysctl_text(apple::NAMES), sys::time_remaining(), sys::thermal_pressure())
        }
        #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
        {
            let mut machine = Machine { os: Some(std::env::consts::OS.to_owned()), ..Machine::default() };
            machine.note_missing("this system has no backend yet; macOS and Linux have");
            machine
        }
    }

    /// Reads a Linux machine from its `proc`, `sys` and `etc` trees below `root` (`/` for this one).
    #[must_use]
    pub fn from_linux(root: &Path) -> Self {
        linux::read(root)
    }

    /// Reads an Apple machine from lines `name: value`, as `sysctl` prints them; power and thermal state are not there.
    ///
    /// # Errors
    /// When the text holds none of the values.
    pub fn from_sysctl(text: &str) -> Result<Self, Error> {
        let machine = apple::read(text, None, None);
        if machine.cpu.is_none() && machine.memory_bytes.is_none() {
            let found = text.lines().next().unwrap_or_default().to_owned();
            return Err(Error::Unexpected { what: "sysctl values of a machine".to_owned(), found });
        }
        Ok(machine)
    }

    /// Notes one reason for every field that is still missing and has none.
    fn note_missing(&mut self, reason: &'static str) {
        let fields = [
            ("cpu", self.cpu.is_none()),
            ("model", self.model.is_none()),
            ("os", self.os.is_none()),
            ("os_version", self.os_version.is_none()),
            ("kernel", self.kernel.is_none()),
            ("memory_bytes", self.memory_bytes.is_none()),
            ("virtualization", self.virtualization.is_none()),
            ("power", self.power.is_none()),
            ("power_profile", self.power_profile.is_none()),
            ("thermal", self.thermal.is_none()),
        ];
        for (what, is_missing) in fields {
            if is_missing && !self.missing.iter().any(|missing| missing.what == what) {
                self.missing.push(Missing { what, reason });
            }
        }
    }
}

impl fmt::Display for Machine {
    /// One line: processor, memory, system, and whether it is virtual.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
        write!(f, "{}", or_unknown(&self.cpu))?;
        if let Some(bytes) = self.memory_bytes {
            write!(f, ", {:.1} GiB", bytes as f64 / (1u64 << 30) as f64)?;
        }
        write!(f, ", {} {}", or_unknown(&self.os), or_unknown(&self.os_version))?;
        match &self.virtualization {
            Some(Virtualization { is_virtual: true, .. }) => write!(f, ", virtual machine"),
            Some(_) => Ok(()),
            None => write!(f, ", unknown whether virtual"),
        }
    }
}
