//! Systems without a backend.

use crate::{Applied, Effective, Error, Request};

#[derive(Debug, Clone)]
pub(crate) struct Saved;

pub(crate) fn apply(_request: &Request, _undo: bool) -> Result<(Applied, Saved), Error> {
    Err(Error::NotAvailable { what: "a quality-of-service class", reason: "this system has no backend yet; macOS and Linux have" })
}

pub(crate) fn restore(_saved: &Saved) -> Result<(), Error> {
    Ok(())
}

pub(crate) fn effective() -> Result<Effective, Error> {
    Ok(Effective::NotAvailable)
}
