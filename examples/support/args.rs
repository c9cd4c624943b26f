//! Values that people type: sizes, lists of threads, levels of confidence.

/// Bytes from `4096`, `64KiB`, `1MB`, `2.5G`: decimal units (k M G T, with or without B) are powers of 1000, binary ones (Ki Mi Gi Ti) of 1024.
///
/// # Errors
/// Text that is not a number with one of these units, or a size that is not a whole number of bytes below 2^63.
pub fn size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: f64 = number.parse().map_err(|_| format!("not a size: {text:?} (write 4096, 64KiB or 1MB)"))?;
    let scale = match unit.trim().trim_end_matches(['B', 'b']).to_ascii_lowercase().as_str() {
        "" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        "g" => 1e9,
        "t" => 1e12,
        "ki" => 1024.0,
        "mi" => 1024f64.powi(2),
        "gi" => 1024f64.powi(3),
        "ti" => 1024f64.powi(4),
        _ => return Err(format!("unknown unit in {text:?} (use B, kB, MB, GB, KiB, MiB or GiB)")),
    };
    let bytes = number * scale;
    if bytes.fract() != 0.0 {
        return Err(format!("{text:?} is not a whole number of bytes"));
    }
    if bytes >= 9.2e18 {
        return Err(format!("{text:?} is too large"));
    }
    Ok(bytes as u64)
}

/// A [`size`] above zero.
///
/// # Errors
/// As [`size`], and zero.
pub fn positive_size(text: &str) -> Result<u64, String> {
    match size(text)? {
        0 => Err("must be above 0".into()),
        n => Ok(n),
    }
}

/// Most threads that a list may ask for.
pub const MAX_THREADS: usize = 1024;

/// Thread counts, each once and in rising order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadList(pub Vec<usize>);

impl std::str::FromStr for ThreadList {
    type Err = String;

    /// From `1,2,4`, `1-8` or both; every count is 1 to [`MAX_THREADS`].
    fn from_str(text: &str) -> Result<Self, String> {
        let count = |t: &str| -> Result<usize, String> {
            match t.trim().parse::<usize>() {
                Ok(0) => Err("a thread count must be at least 1".into()),
                Ok(n) if n > MAX_THREADS => Err(format!("a thread count may be {MAX_THREADS} at most")),
                Ok(n) => Ok(n),
                Err(_) => Err(format!("not a thread count: {:?} (write 1,2,4 or 1-8)", t.trim())),
            }
        };
        let mut list = Vec::new();
        for part in text.split(',') {
            match part.split_once("..=").or_else(|| part.split_once("..")).or_else(|| part.split_once('-')) {
                Some((from, to)) => {
                    let (from, to) = (count(from)?, count(to)?);
                    if from > to {
                        return Err(format!("the range {:?} is empty", part.trim()));
                    }
                    list.extend(from..=to);
                }
                None => list.push(count(part)?),
            }
        }
        list.sort_unstable();
        list.dedup();
        Ok(Self(list))
    }
}

/// A level of confidence above 0 and below 1: `0.95` or `95%`.
///
/// # Errors
/// Anything else.
pub fn confidence(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let value = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|p| p / 100.0),
        None => text.parse::<f64>(),
    };
    match value {
        Ok(level) if level > 0.0 && level < 1.0 => Ok(level),
        _ => Err("a level of confidence lies between 0 and 1, such as 0.95".into()),
    }
}

/// A number of seconds from a millisecond to ten minutes.
///
/// # Errors
/// Anything else.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(seconds) if (0.001..=600.0).contains(&seconds) => Ok(seconds),
        _ => Err("must be a number of seconds from 0.001 to 600".into()),
    }
}

/// A count from 1 to `most`.
///
/// # Errors
/// Anything else.
pub fn count(text: &str, most: usize) -> Result<usize, String> {
    match text.trim().parse::<usize>() {
        Ok(n) if (1..=most).contains(&n) => Ok(n),
        _ => Err(format!("must be a whole number from 1 to {most}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("4096"), Ok(4096));
        assert_eq!(size("64KiB"), Ok(65_536));
        assert_eq!(size("1MB"), Ok(1_000_000));
        assert_eq!(size("2.5G"), Ok(2_500_000_000));
        assert_eq!(size("1 GiB"), Ok(1 << 30));
        for bad in ["", "x", "1.0000001k", "1QB", "-1", "1e30T", "99999999999T", ".", "1.2.3"] {
            assert!(size(bad).is_err(), "{bad}");
        }
        assert!(positive_size("0").is_err());
    }

    #[test]
    fn thread_lists() {
        assert_eq!("2,1,2".parse(), Ok(ThreadList(vec![1, 2])));
        assert_eq!("1-3,8".parse(), Ok(ThreadList(vec![1, 2, 3, 8])));
        assert_eq!("1..4".parse(), Ok(ThreadList(vec![1, 2, 3, 4])));
        for bad in ["0", "", "1,", "3-1", "a", "1-", "1025", "1-99999999999"] {
            assert!(bad.parse::<ThreadList>().is_err(), "{bad}");
        }
    }

    #[test]
    fn short_times() {
        assert_eq!(seconds("0.5"), Ok(0.5));
        for bad in ["0", "601", "nan", "-1", "1s"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn confidence_levels() {
        assert_eq!(confidence("0.9"), Ok(0.9));
        assert_eq!(confidence("95%"), Ok(0.95));
        for bad in ["0", "1", "1.5", "nan", "x", "-0.5"] {
            assert!(confidence(bad).is_err(), "{bad}");
        }
    }
}
