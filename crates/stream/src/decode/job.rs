//! What a worker decodes, and how.

use crate::Error;
use crate::Stage;
use crate::container::Fault;
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
            (Place::Here(bytes), _) => bytes.len() as u64,
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
    let Task { job: Job { at, place, kind }, context, input, output, meter, buffers, .. } = task;
    let done = match (place, file) {
        (Place::Here(mut bytes), _) => {
            if let Kind::Ready = kind {
                std::mem::swap(&mut bytes, output);
            } else {
                let done = meter.time(Stage::Process, || context.decode(kind, &bytes, output));
                done.map_err(|fault| fault.at(at, at + bytes.len() as u64))?;
            }
            buffers.give(bytes);
            Ok(())
        }
        (Place::Range(from, len), Some(file)) => {
            let bytes = meter.time(Stage::Read, || file.read_aligned(input, len, from))?;
            meter.time(Stage::Process, || context.decode(kind, bytes, output)).map_err(|fault| fault.at(at, from + len as u64))
        }
        (Place::Range(from, _), None) => Err(Error::Truncated { offset: from }),
    };
    meter.add_bytes(Stage::Process, count);
    done
}

impl Context {
    /// Decodes the bytes of one job.
    pub(crate) fn decode(&mut self, kind: Kind, bytes: &[u8], output: &mut Vec<u8>) -> Result<(), Fault> {
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
        }
    }
}
