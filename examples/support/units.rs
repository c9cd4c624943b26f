//! Numbers as people read them. MB = 10^6 bytes, KiB = 1024 bytes, written so.

use std::time::Duration;

/// A number of bytes in decimal units: `512 MB`, `1.07 GB`.
#[must_use]
pub fn bytes(n: u64) -> String {
    match decimal(n as f64) {
        (value, "") => format!("{value} bytes"),
        (value, prefix) => format!("{} {prefix}B", significant(value, 4)),
    }
}

/// A rate in decimal units a second: `1.234 GB/s`.
#[must_use]
pub fn rate(bytes_per_second: f64) -> String {
    if !bytes_per_second.is_finite() {
        return "not known".into();
    }
    let (value, prefix) = decimal(bytes_per_second);
    format!("{} {prefix}B/s", significant(value, 4))
}

/// A time: `1.234 s`, `12.3 ms`, `45.6 µs`, `2 min 3 s`.
#[must_use]
pub fn seconds(s: f64) -> String {
    let magnitude = s.abs();
    if !s.is_finite() {
        "not known".into()
    } else if magnitude >= 120.0 {
        let whole = s.round() as i64;
        format!("{} min {} s", whole / 60, (whole % 60).abs())
    } else if magnitude >= 1.0 || magnitude == 0.0 {
        format!("{} s", significant(s, 4))
    } else if magnitude >= 1e-3 {
        format!("{} ms", significant(s * 1e3, 3))
    } else if magnitude >= 1e-6 {
        format!("{} µs", significant(s * 1e6, 3))
    } else {
        format!("{} ns", significant(s * 1e9, 3))
    }
}

/// [`seconds`] of a [`Duration`].
#[must_use]
pub fn duration(d: Duration) -> String {
    seconds(d.as_secs_f64())
}

/// A share as a percentage: `0.853` is `85 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.0} %", share * 100.0) } else { "not known".into() }
}

/// A number with at most `digits` significant digits, without trailing zeros and without an exponent where it can be read.
#[must_use]
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let digits = digits.max(1);
    // The exponent after rounding: 9.996 with three digits is 10.0, not 9.10.
    let scientific = format!("{:.*e}", digits - 1, value);
    let exponent: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    if !(-5..=15).contains(&exponent) {
        return scientific;
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

fn decimal(value: f64) -> (f64, &'static str) {
    for (scale, prefix) in [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")] {
        if value.abs() >= scale {
            return (value / scale, prefix);
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(bytes(0), "0 bytes");
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(bytes(512_000_000), "512 MB");
        assert_eq!(bytes(536_870_912), "536.9 MB");
        assert_eq!(rate(1.2345e9), "1.234 GB/s");
        assert_eq!(rate(0.0), "0 B/s");
        assert_eq!(rate(f64::NAN), "not known");
        assert_eq!(seconds(0.0123), "12.3 ms");
        assert_eq!(seconds(125.0), "2 min 5 s");
        assert_eq!(percent(0.8571), "86 %");
    }

    #[test]
    fn significant_digits_round_once() {
        assert_eq!(significant(49.886_31, 6), "49.8863");
        assert_eq!(significant(-0.911_690_2, 6), "-0.91169");
        assert_eq!(significant(9.996, 3), "10");
        assert_eq!(significant(1234.5, 2), "1234");
        assert_eq!(significant(1e-9, 3), "1.00e-9");
    }
}
