//! What Apple's kernel answers, taken apart. Pure: bytes and numbers in, values out, so it is tested on every system.
//!
//! `.ci/apple-layout.c` checks every size, offset and number here against Apple's headers.

mod process;
mod thread;

pub(crate) use process::*;
pub(crate) use thread::*;

/// The `u64` at a byte offset; `None` beyond the end.
fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(offset..offset + 8)?.try_into().ok()?))
}

/// The `u32` at a byte offset; `None` beyond the end.
fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(offset..offset + 4)?.try_into().ok()?))
}

/// A sysctl value as text: strings by name, everything else as a little integer of 4 or 8 bytes.
pub(crate) fn sysctl_value(name: &str, bytes: &[u8]) -> Option<String> {
    const STRINGS: [&str; 5] = ["name", "brand_string", "model", "osproductversion", "osrelease"];
    if name.rsplit('.').next().is_some_and(|last| STRINGS.contains(&last)) {
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        return Some(String::from_utf8_lossy(&bytes[..end]).into_owned());
    }
    match bytes.len() {
        4 => u32_at(bytes, 0).map(|value| value.to_string()),
        8 => u64_at(bytes, 0).map(|value| value.to_string()),
        _ => None,
    }
}

/// How Mach time converts to nanoseconds: times numerator over denominator (125/3 on Apple silicon).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timebase {
    pub(crate) numerator: u32,
    pub(crate) denominator: u32,
}

impl Timebase {
    pub(crate) fn nanoseconds(self, ticks: u64) -> u64 {
        let product = u128::from(ticks) * u128::from(self.numerator) / u128::from(self.denominator.max(1));
        u64::try_from(product).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sysctl_values_by_length_and_name() {
        assert_eq!(sysctl_value("hw.memsize", &8u64.to_ne_bytes()).as_deref(), Some("8"));
        assert_eq!(sysctl_value("hw.nperflevels", &2u32.to_ne_bytes()).as_deref(), Some("2"));
        assert_eq!(sysctl_value("hw.perflevel0.name", b"Super\0\0").as_deref(), Some("Super"));
        assert_eq!(sysctl_value("hw.perflevel1.name", b"Efficiency").as_deref(), Some("Efficiency"));
        assert_eq!(sysctl_value("hw.nperflevels", &[1, 2]), None);
        assert_eq!(sysctl_value("hw.nperflevels", &[]), None);
    }

    #[test]
    fn mach_time_converts_without_overflow() {
        let silicon = Timebase { numerator: 125, denominator: 3 };
        assert_eq!(silicon.nanoseconds(24_000_000), 1_000_000_000);
        assert_eq!(silicon.nanoseconds(u64::MAX), u64::MAX);
        let year = 24_000_000 * 86_400 * 365;
        assert_eq!(silicon.nanoseconds(year), 86_400 * 365 * 1_000_000_000);
    }
}
