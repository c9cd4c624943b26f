//! Numbers in columns.

use std::io::Read;
use std::path::Path;

use support::cli::Failure;

/// What the file holds: columns of the same length, and their names if it has a line of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Data {
    pub(crate) x: Vec<Vec<f64>>,
    pub(crate) y: Vec<f64>,
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) names: Vec<String>,
    /// The line of each row, for messages.
    pub(crate) lines: Vec<usize>,
}

/// Reads the file, or standard input for `-`.
pub(crate) fn read(path: &Path, weights: bool, many: bool) -> Result<(String, Data), Failure> {
    let stdin = path.as_os_str() == "-";
    let name = if stdin { "standard input".to_string() } else { path.display().to_string() };
    let mut bytes = Vec::new();
    let read = if stdin {
        std::io::stdin().lock().read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|mut f| f.read_to_end(&mut bytes))
    };
    read.map_err(|e| Failure::run(format!("{name}: {e}")))?;
    let data = parse(&bytes, weights, many).map_err(|message| Failure::run(format!("{name}: {message}")))?;
    Ok((name, data))
}

/// Rows of the same number of columns: predictors, y, and a weight where asked.
pub(crate) fn parse(bytes: &[u8], weights: bool, many: bool) -> Result<Data, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut names: Vec<String> = Vec::new();
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut lines = Vec::new();
    // Some programs end lines by a carriage return alone.
    let end = if bytes.contains(&b'\n') { b'\n' } else { b'\r' };
    for (number, line) in bytes.split(|&b| b == end).enumerate().map(|(i, l)| (i + 1, l)) {
        let line = std::str::from_utf8(line).map_err(|_| format!("line {number} is not text in UTF-8"))?;
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let cells = cells(line);
        let values: Result<Vec<f64>, String> = cells.iter().map(|c| value(c)).collect();
        match values {
            Ok(values) => {
                if rows.first().is_some_and(|first| first.len() != values.len()) {
                    return Err(format!("line {number} has {} columns, those before have {}", values.len(), rows[0].len()));
                }
                rows.push(values);
                lines.push(number);
            }
            // One line of names, none of them a number.
            Err(_) if rows.is_empty() && names.is_empty() && cells.iter().all(|c| c.parse::<f64>().is_err()) => {
                names = cells.iter().map(ToString::to_string).collect();
            }
            Err(message) => return Err(format!("line {number}: {message}")),
        }
    }
    let Some(width) = rows.first().map(Vec::len) else { return Err("there are no numbers in it".into()) };
    let expected = 2 + usize::from(weights);
    if width < expected || (!many && width != expected) {
        let what = match (weights, many) {
            (false, false) => "x and y (a third one needs --weights, more --model columns)",
            (true, false) => "x, y and a weight",
            (false, true) => "at least one x, and y",
            (true, true) => "at least one x, y and a weight",
        };
        return Err(format!("it has {width} column{}; expected {what}", if width == 1 { "" } else { "s" }));
    }
    if !names.is_empty() && names.len() != width {
        return Err(format!("{} names stand over {width} columns", names.len()));
    }
    let mut columns: Vec<Vec<f64>> = (0..width).map(|k| rows.iter().map(|r| r[k]).collect()).collect();
    let weights = if weights { columns.pop() } else { None };
    let y = columns.pop().unwrap_or_default();
    Ok(Data { x: columns, y, weights, names, lines })
}

/// Between semicolons or commas where there are some, else between blanks; without the quotes around a cell.
fn cells(line: &str) -> Vec<&str> {
    let unquoted = |cell| unquoted(str::trim(cell));
    match [';', ','].into_iter().find(|&c| line.contains(c)) {
        Some(separator) => line.split(separator).map(unquoted).collect(),
        None => line.split_whitespace().map(unquoted).collect(),
    }
}

fn unquoted(cell: &str) -> &str {
    cell.strip_prefix('"').and_then(|c| c.strip_suffix('"')).map_or(cell, str::trim)
}

fn value(cell: &str) -> Result<f64, String> {
    match cell.parse::<f64>() {
        Ok(v) if v.is_finite() => Ok(v),
        Ok(_) => Err(format!("{cell:?} is not a finite number")),
        Err(_) if cell.replace(',', ".").parse::<f64>().is_ok() => {
            Err(format!("{cell:?} is not a number: decimals are written with a point"))
        }
        Err(_) => Err(format!("{cell:?} is not a number")),
    }
}
