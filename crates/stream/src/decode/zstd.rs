//! Zstandard frames: one in a piece, or one of any size step by step.

use std::hash::Hasher as _;
use std::io::Read;

use twox_hash::XxHash64;
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

use crate::Error;
use crate::Stage;
use crate::container::Fault;
use crate::container::zstd::{BLOCK_HEADER, Header, MAX_HEADER};
use crate::engine::Meter;

use super::bytes::Bytes;
use super::job::{Sum, sum_of};
use super::plan::Limits;

/// Compressed bytes looked at in one step.
const STEP: usize = 128 << 10;

/// How a frame can be decoded.
#[derive(Debug)]
pub(crate) enum Found {
    /// In one piece, up to this offset.
    Piece(Frame, u64),
    /// Step by step.
    Steps,
}

/// Looks at the frame at `at`: its header, and where it ends if one piece can hold it.
pub(crate) fn find<R: Read>(bytes: &mut Bytes<R>, at: u64, limits: Limits) -> Result<(Header, Found), Error> {
    let head = bytes.peek(at, MAX_HEADER)?;
    let parsed = Header::parse(head);
    let (header, len) = parsed.map_err(|fault| fault.at(at, bytes.end()))?;
    let most_decoded = header.content_size.map_or(limits.unsized_piece, |_| limits.piece) as u64;
    let mut end = at + len as u64;
    let mut decoded = 0;
    loop {
        let word = bytes.peek(end, BLOCK_HEADER)?.try_into();
        let word = word.map_err(|_| Error::Truncated { offset: bytes.end() })?;
        let block = header.block(word).map_err(|fault| fault.at(end, end))?;
        decoded += block.decoded_at_most;
        end += BLOCK_HEADER as u64 + block.stored;
        let too_large = header.content_size.unwrap_or(decoded) > most_decoded || end - at > limits.stored_piece();
        if too_large {
            if header.window > limits.window {
                let fault = Fault::TooLarge { what: "zstd window", declared: header.window, limit: limits.window };
                return Err(fault.at(at, end));
            }
            return Ok((header, Found::Steps));
        }
        if block.last {
            break;
        }
    }
    end += header.trailer();
    if !bytes.reaches(at, end)? {
        return Err(Error::Truncated { offset: bytes.end() });
    }
    if header.content_size.is_some_and(|size| size > decoded) {
        return Err(Error::Corrupt { offset: at, what: "zstd frame: content size" });
    }
    // Both are at most the limit for one piece, a `usize`.
    let frame = Frame { exact: header.content_size.map(|size| size as usize), most: decoded as usize };
    Ok((header, Found::Piece(frame, end)))
}

/// A frame that is decoded in one piece.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    /// Bytes it decodes to, if stated.
    pub(crate) exact: Option<usize>,
    /// The most it decodes to.
    pub(crate) most: usize,
}

impl Frame {
    /// Decodes the whole frame.
    pub(crate) fn decode(self, context: &mut DCtx<'_>, bytes: &[u8], output: &mut Vec<u8>) -> Result<(), Fault> {
        output.clear();
        output.reserve_exact(self.exact.unwrap_or(self.most));
        let decoded = context.decompress(output, bytes).map_err(fault)?;
        match self.exact {
            Some(exact) if exact != decoded => Err(Fault::Corrupt("zstd frame: content size")),
            _ => Ok(()),
        }
    }
}

/// A frame that is decoded step by step.
pub(crate) struct Serial {
    context: DCtx<'static>,
    at: u64,
    start: u64,
    content_size: Option<u64>,
    decoded: u64,
    /// Where the checksum goes at the end, and what it is so far.
    sum: Option<(Sum, XxHash64)>,
}

impl Serial {
    /// Starts at a frame's magic. The window must be within the limit already.
    pub(crate) fn new(header: &Header, at: u64, sum: Option<Sum>) -> Result<Self, Error> {
        let mut context = DCtx::try_create().ok_or(Error::Unsupported { what: "a zstd decoder: out of memory" })?;
        let log = header.window.max(1 << 10).next_power_of_two().trailing_zeros();
        context.set_parameter(DParameter::WindowLogMax(log)).map_err(|code| fault(code).at(at, at))?;
        let sum = sum.map(|sum| (sum, XxHash64::with_seed(0)));
        Ok(Self { context, at, start: at, content_size: header.content_size, decoded: 0, sum })
    }

    /// The next byte to look at.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// The checksum, if it was wanted and the frame has ended.
    pub(crate) fn sum(&self) -> Option<Sum> {
        self.sum.as_ref().map(|(sum, _)| sum.clone())
    }

    /// Decodes until `output` is full or the frame ends; then says where it ended.
    pub(crate) fn step<R: Read>(&mut self, bytes: &mut Bytes<R>, meter: &Meter, output: &mut Vec<u8>) -> Result<Option<u64>, Error> {
        let end = self.decode(bytes, meter, output)?;
        if let Some((sum, hash)) = &mut self.sum {
            hash.write(output);
            if end.is_some() {
                let _ = sum.set(sum_of(self.decoded, hash.finish() as u32));
            }
        }
        Ok(end)
    }

    fn decode<R: Read>(&mut self, bytes: &mut Bytes<R>, meter: &Meter, output: &mut Vec<u8>) -> Result<Option<u64>, Error> {
        output.clear();
        let mut out = OutBuffer::around(output);
        while out.pos() < out.capacity() {
            bytes.forget(self.at);
            let piece = bytes.peek(self.at, STEP)?;
            if piece.is_empty() {
                return Err(Error::Truncated { offset: self.at });
            }
            let mut input = InBuffer::around(piece);
            let before = out.pos();
            let hint = meter.time(Stage::Process, || self.context.decompress_stream(&mut out, &mut input));
            let read = input.pos();
            let hint = hint.map_err(|code| fault(code).at(self.start, self.at))?;
            self.at += read as u64;
            self.decoded += (out.pos() - before) as u64;
            if hint == 0 {
                // libzstd does not look at the stated size where the last block is empty.
                if self.content_size.is_some_and(|size| size != self.decoded) {
                    return Err(Error::Corrupt { offset: self.start, what: "zstd frame: content size" });
                }
                bytes.forget(self.at);
                return Ok(Some(self.at));
            }
            if read == 0 && out.pos() == before {
                return Err(Error::Corrupt { offset: self.start, what: "zstd frame" });
            }
        }
        Ok(None)
    }
}

/// What libzstd says, in our words.
fn fault(code: usize) -> Fault {
    let what = match zstd_safe::get_error_name(code) {
        name if name.contains("checksum") => "zstd frame: checksum",
        name if name.contains("Allocation") => return Fault::Unsupported("a zstd decoder: out of memory"),
        _ => "zstd frame",
    };
    Fault::Corrupt(what)
}
