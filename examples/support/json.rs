//! `--json FILE|-`: one object, whole or not at all.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::builder::{MapValueParser, OsStringValueParser, TypedValueParser, ValueParserFactory};
use serde_json::{Map, Value, json};

use crate::cli::{Failure, io_text};

/// Where `--json` writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Standard output (`-`); the program then prints nothing else there.
    Stdout,
    /// A file, which appears whole or not at all.
    File(PathBuf),
}

impl From<&OsStr> for Target {
    fn from(text: &OsStr) -> Self {
        if text == "-" { Self::Stdout } else { Self::File(text.into()) }
    }
}

impl From<OsString> for Target {
    fn from(text: OsString) -> Self {
        text.as_os_str().into()
    }
}

/// An argument of this type is given as `FILE` or `-`.
impl ValueParserFactory for Target {
    type Parser = MapValueParser<OsStringValueParser, fn(OsString) -> Self>;

    fn value_parser() -> Self::Parser {
        OsStringValueParser::new().map(Self::from)
    }
}

impl Target {
    /// Writes `value` there, indented, with a newline at the end.
    ///
    /// # Errors
    /// The file cannot be written. A closed pipe on standard output is none.
    pub fn write(&self, value: &Value) -> Result<(), Failure> {
        let mut text = serde_json::to_string_pretty(value)?;
        text.push('\n');
        match self {
            Self::Stdout => match io::stdout().lock().write_all(text.as_bytes()) {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::run(format!("standard output: {error}"))),
                _ => Ok(()),
            },
            Self::File(path) => write_whole(path, text.as_bytes()),
        }
    }
}

/// The folder that a file is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Writes a file so that its name never holds a part of it: a sibling first, then a rename.
/// What is no regular file (a pipe, `/dev/null`) is written to directly.
///
/// # Errors
/// The file cannot be written; then nothing is left of it.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::run(format!("{}: {}", path.display(), io_text(&error)));
    if std::fs::metadata(path).is_ok_and(|about| !about.is_file()) {
        return File::options().write(true).open(path).and_then(|mut f| f.write_all(content)).map_err(failed);
    }
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.prefix(".gannet-").tempfile_in(folder_of(path)).map_err(failed)?;
    file.write_all(content).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    file.persist(path).map_err(|e| failed(e.error))?;
    Ok(())
}

/// The object that every program writes: `schema`, `machine`, `settings`, then the results in the order given.
#[must_use]
pub fn document(schema: &str, machine: Value, settings: Value, results: Vec<(&str, Value)>) -> Value {
    let mut object = Map::new();
    object.insert("schema".into(), json!(schema));
    object.insert("machine".into(), machine);
    object.insert("settings".into(), settings);
    object.extend(results.into_iter().map(|(name, value)| (name.to_string(), value)));
    Value::Object(object)
}

/// A number, or `null` where it is none (JSON has no infinity).
#[must_use]
pub fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        Target::File(path.clone()).write(&json!({"a": 0.1})).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\n  \"a\": 0.1\n}\n");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("no/a.json");
        let Err(Failure::Run(message)) = Target::File(path).write(&Value::Null) else { panic!("must fail") };
        assert_eq!(message.matches("no/a.json").count(), 1, "{message}");
    }

    #[test]
    fn infinity_is_null() {
        assert_eq!(number(f64::INFINITY), Value::Null);
        assert_eq!(number(1.5), json!(1.5));
    }
}
