//! How values are serialized: times in seconds, paths as text.

use std::path::Path;
use std::time::Duration;

use serde::Serializer;

pub(crate) fn seconds<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_secs_f64())
}

pub(crate) fn seconds_option<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => to.serialize_some(&time.as_secs_f64()),
        None => to.serialize_none(),
    }
}

pub(crate) fn path<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&path.to_string_lossy())
}

pub(crate) fn path_option<S: Serializer>(path: &Option<std::path::PathBuf>, to: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => to.serialize_some(&path.to_string_lossy()),
        None => to.serialize_none(),
    }
}
