//! Systems without a backend.

use crate::{Counters, Error, Source, Topology};

#[derive(Debug)]
pub(crate) struct Counting;

impl Counting {
    pub(crate) fn start(_topology: &Topology) -> Result<Self, Error> {
        let reason = "this system has no backend yet; macOS and Linux have";
        Err(Error::NotAvailable { what: "a meter", reason })
    }

    pub(crate) fn read(&self) -> Result<Counters, Error> {
        Ok(Counters::default())
    }

    pub(crate) fn source(&self, _before: &Counters, _after: &Counters) -> Source {
        Source::NotAvailable { reason: "this system has no backend yet" }
    }
}
