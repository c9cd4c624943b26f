//! What can only be checked over the output in order.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::Error;
use crate::container::seek_table;

use super::job::Job;
#[cfg(feature = "lz4")]
use super::lz4::Content;
use super::plan::{Order, Planned};
use super::scan::ContentDigest;

/// The orders of jobs that are planned and not out yet. The planner pushes, the sink's side pops.
#[derive(Clone, Debug, Default)]
pub(crate) struct Orders(Arc<Mutex<VecDeque<Order>>>);

impl Orders {
    /// Notes what the next job's output has to pass.
    pub(crate) fn note(&self, planned: Planned) -> Job {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(planned.order);
        planned.job
    }

    fn pop(&self) -> Order {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front().unwrap_or(Order::Free)
    }
}

/// Sees every output in order.
#[derive(Debug)]
pub(crate) struct Checker {
    orders: Orders,
    /// Bytes that went by, and the most that may.
    decoded: u64,
    limit: Option<u64>,
    #[cfg(feature = "lz4")]
    content: Option<(Content, Option<u64>)>,
    /// Frames without a checksum of their own, since the last table.
    unproved: ContentDigest,
}

impl Checker {
    pub(crate) fn new(orders: Orders, limit: Option<u64>) -> Self {
        Self {
            orders,
            decoded: 0,
            limit,
            #[cfg(feature = "lz4")]
            content: None,
            unproved: ContentDigest::new(),
        }
    }

    /// The next job's output.
    ///
    /// # Errors
    /// It completes a frame that is not what its header or its checksum says, or is more than may be decoded.
    pub(crate) fn check(&mut self, output: &[u8]) -> Result<(), Error> {
        self.decoded += output.len() as u64;
        if let Some(limit) = self.limit.filter(|&limit| self.decoded > limit) {
            return Err(Error::OutputLimit { limit });
        }
        match self.orders.pop() {
            Order::Free => Ok(()),
            Order::Frame(sum) => {
                // Whoever decoded the frame has set it.
                if let Some(&(len, checksum)) = sum.get() {
                    self.unproved.frame(len, checksum);
                }
                Ok(())
            }
            Order::Table(at, expected) => {
                let found = std::mem::replace(&mut self.unproved, ContentDigest::new()).finish();
                match expected {
                    Some(expected) if expected != found => Err(Error::Corrupt { offset: at, what: seek_table::OTHER_CONTENT }),
                    _ => Ok(()),
                }
            }
            #[cfg(feature = "lz4")]
            Order::Blocks(header) => {
                let (content, _) = self.content.get_or_insert_with(|| (Content::new(&header), header.content_size));
                content.write(output);
                Ok(())
            }
            #[cfg(feature = "lz4")]
            Order::End(at, checksum) => match self.content.take() {
                Some((content, size)) => content.finish(size, checksum).map_err(|fault| fault.at(at, at)),
                None => Ok(()),
            },
        }
    }
}
