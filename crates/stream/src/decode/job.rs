//! What a worker decodes, and how.

use std::sync::{Arc, OnceLock};

use crate::Error;
use crate::Stage;
use crate::container::{Fault, seek_table};
use crate::engine::Task;
use crate::file;

use super::bytes::Place;
#[cfg(feature = "lz4")]
use super::lz4;
#[cfg(feature = "zstd")]
use super::zstd;

/// One piece of the data that can be decoded without any other.
#[derive(Debug)]
pub(crate) struct Job {
    /// Offset of the frame or of the first block.
    pub(crate) at: u64,
    /// Where the bytes are.
    pub(crate) place: Place,
    /// What they are.
    pub(crate) kind: Kind,
    /// Where the checksum of the output is wanted.
    pub(crate) sum: Option<Sum>,
}

/// The length of a frame's content and its checksum as in a seek table, once it is decoded.
pub(crate) type Sum = Arc<OnceLock<(u32, u32)>>;

/// What a [`Sum`] holds. A length beyond its field is no table's.
pub(crate) fn sum_of(len: u64, checksum: u32) -> (u32, u32) {
    (u32::try_from(len).unwrap_or(u32::MAX), checksum)
}

/// What the bytes of a job are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// A whole zstd frame.
    #[cfg(feature = "zstd")]
    Zstd(zstd::Frame),
    /// A part of an LZ4 frame.
    #[cfg(feature = "lz4")]
    Lz4(lz4::Part),
    /// Decoded already.
    Ready,
}

impl Job {
    /// Compressed bytes that the worker decodes.
    pub(crate) fn worker_bytes(&self) -> u64 {
        match (&self.place, self.kind) {
            (_, Kind::Ready) => 0,
            (Place::Range(_, len), _) => *len as u64,
            (Place::Here(_, part), _) => part.len() as u64,
        }
    }
}

/// What a worker keeps from job to job.
#[derive(Default)]
pub(crate) struct Context {
    #[cfg(feature = "zstd")]
    zstd: Option<zstd_safe::DCtx<'static>>,
}

/// Decodes the task's job into its output; reads it from `file` first if it is there.
pub(crate) fn work(task: Task<'_, Job, Context>, file: Option<&file::Input>) -> Result<(), Error> {
    let count = task.job.worker_bytes();
    let Task { job: Job { at, place, kind, sum }, context, input, output, meter, buffers, .. } = task;
    let done = match (place, file) {
        (Place::Here(mut bytes, part), _) => {
            if let Kind::Ready = kind {
                std::mem::swap(&mut bytes, output);
            } else {
                let done = meter.time(Stage::Process, || context.decode(kind, sum.as_ref(), &bytes[part.clone()], output));
                done.map_err(|fault| fault.at(at, at + part.len() as u64))?;
            }
            buffers.give(bytes);
            Ok(())
        }
        (Place::Range(from, len), Some(file)) => {
            let bytes = meter.time(Stage::Read, || file.read_aligned(input, len, from))?;
            meter
                .time(Stage::Process, || context.decode(kind, sum.as_ref(), bytes, output))
                .map_err(|fault| fault.at(at, from + len as u64))
        }
        (Place::Range(from, _), None) => Err(Error::Truncated { offset: from }),
    };
    meter.add_bytes(Stage::Process, count);
    done
}

impl Context {
    /// Decodes the bytes of one job, and sets its checksum if that is wanted.
    pub(crate) fn decode(&mut self, kind: Kind, sum: Option<&Sum>, bytes: &[u8], output: &mut Vec<u8>) -> Result<(), Fault> {
        match kind {
            #[cfg(feature = "zstd")]
            Kind::Zstd(frame) => {
                let context = self.zstd.get_or_insert_with(zstd_safe::DCtx::create);
                frame.decode(context, bytes, output)
            }
            #[cfg(feature = "lz4")]
            Kind::Lz4(part) => part.decode(bytes, output),
            Kind::Ready => {
                output.clear();
                output.extend_from_slice(bytes);
                Ok(())
            }
        }?;
        if let Some(sum) = sum {
            let _ = sum.set(sum_of(output.len() as u64, seek_table::checksum(output)));
        }
        Ok(())
    }
}
