//! Decoding on the calling thread, piece by piece, from any frame on.

use std::io::Read;

use crate::Error;
use crate::engine::{Buffers, Meter};

use super::bytes::{Bytes, Place};
use super::job::{Context, Job, Sum};
use super::order::{Checker, Orders};
use super::plan::{Limits, Order, Planner};

/// A decoder without threads.
pub(crate) struct Inline {
    planner: Planner,
    orders: Orders,
    checker: Checker,
    context: Context,
    buffers: Buffers,
    meter: Meter,
    hash: bool,
    sum: Option<Sum>,
}

impl Inline {
    /// Starts at a frame.
    pub(crate) fn starting_at(limits: Limits, at: u64) -> Self {
        let orders = Orders::default();
        Self {
            planner: Planner::starting_at(limits, at),
            checker: Checker::new(orders.clone(), None),
            orders,
            context: Context::default(),
            buffers: Buffers::default(),
            meter: Meter::new(),
            hash: false,
            sum: None,
        }
    }

    /// Whether frames without a checksum of their own get one from now on: [`Self::sum`].
    pub(crate) fn hash(&mut self, hash: bool) {
        self.hash = hash;
    }

    /// Continues at another frame, with the buffers there are.
    pub(crate) fn restart(&mut self, limits: Limits, at: u64) {
        self.planner = Planner::starting_at(limits, at).hash(self.hash);
        self.sum = None;
        self.orders = Orders::default();
        self.checker = Checker::new(self.orders.clone(), None);
    }

    /// The offset of the next frame, if the last piece ended one.
    pub(crate) fn between(&self) -> Option<u64> {
        self.planner.between()
    }

    /// If the last piece ended a frame without a checksum of its own: its first byte, its content's length and checksum.
    pub(crate) fn sum(&self) -> Option<(u64, (u32, u32))> {
        Some((self.planner.start(), *self.sum.as_ref()?.get()?))
    }

    /// Decodes the next piece into `output`; `false` where the data ends. A piece may be empty.
    ///
    /// # Errors
    /// Whatever is wrong with the data.
    pub(crate) fn next<R: Read>(&mut self, bytes: &mut Bytes<R>, output: &mut Vec<u8>) -> Result<bool, Error> {
        let Some(planned) = self.planner.next(bytes, &self.meter, &self.buffers)? else {
            return Ok(false);
        };
        self.sum = if let Order::Frame(sum) = &planned.order { Some(sum.clone()) } else { None };
        let Job { at, place, kind, sum } = self.orders.note(planned);
        let (here, part) = match place {
            Place::Here(here, part) => (here, part),
            Place::Range(from, len) => {
                let mut here = self.buffers.take();
                here.clear();
                here.extend_from_slice(bytes.peek(from, len)?);
                (here, 0..len)
            }
        };
        let done = self.context.decode(kind, sum.as_ref(), &here[part.clone()], output);
        done.map_err(|fault| fault.at(at, at + part.len() as u64))?;
        self.buffers.give(here);
        self.checker.check(output)?;
        Ok(true)
    }
}
