//! Durations in seconds, for `serde`: its own form is an object of two numbers.

use std::time::Duration;

use serde::{Serialize, Serializer};

pub(crate) fn one<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

pub(crate) fn maybe<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64()).serialize(serializer)
}

pub(crate) fn many<S: Serializer>(times: &[Duration], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(times.iter().map(Duration::as_secs_f64))
}
