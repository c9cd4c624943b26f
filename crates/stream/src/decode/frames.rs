//! The frames of a file, without decoding them.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::Error;
use crate::engine::Meter;
use crate::file::{Input, check_seekable};

use super::bytes::Bytes;
#[cfg(feature = "lz4")]
use super::lz4;
#[cfg(any(feature = "zstd", feature = "lz4"))]
use super::plan::Limits;
use super::scan::{self, Head, Skipped};
use super::segment::Segment;
#[cfg(feature = "zstd")]
use super::zstd;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FrameKind {
    /// A Zstandard frame.
    Zstd,
    /// An LZ4 frame.
    Lz4,
    /// A legacy LZ4 frame.
    Lz4Legacy,
    /// The skippable frame in which this crate promises a seek table.
    Promise,
    /// A skippable frame with a seek table.
    SeekTable,
    /// Any other skippable frame.
    Skippable,
}

/// One frame of a file, as its headers describe it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// Where it starts in the file, in bytes.
    pub offset: u64,
    /// Its size in the file, in bytes.
    pub compressed_bytes: u64,
    /// What it decodes to, in bytes. `None` where its header does not say.
    pub content_bytes: Option<u64>,
    /// What it is.
    pub kind: FrameKind,
    /// How far back a decoder must remember, in bytes. 0 for skippable frames.
    pub window_bytes: u64,
    /// Whether a checksum of the content guards it.
    pub checksum: bool,
}

/// Lists the frames of a zstd or LZ4 file. Reads their headers only, so damage within frames is not seen.
///
/// ```no_run
/// for frame in gannet_stream::frames("backup.tar.zst")? {
///     let frame = frame?;
///     println!("{} {:?} {}", frame.offset, frame.kind, frame.compressed_bytes);
/// }
/// # Ok::<(), gannet_stream::Error>(())
/// ```
///
/// # Errors
/// A file that cannot be opened, or that has no length, such as a pipe.
pub fn frames(path: impl AsRef<Path>) -> Result<Frames, Error> {
    let path = path.as_ref();
    let what = "listing the frames of what is not a regular file";
    check_seekable(path, what)?;
    let input = Arc::new(Input::open(path)?);
    if !input.metadata().is_file() {
        return Err(Error::Unsupported { what }.at(path));
    }
    let bytes = Bytes::file(input.clone(), Arc::new(Meter::new()));
    Ok(Frames { walk: Walk::new(), bytes, input })
}

/// The iterator that [`frames()`] returns. After an error it ends.
pub struct Frames {
    walk: Walk,
    bytes: Bytes<io::Empty>,
    input: Arc<Input>,
}

impl Iterator for Frames {
    type Item = Result<Frame, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.walk.next(&mut self.bytes).map_err(|error| error.at(self.input.path()));
        next.transpose()
    }
}

impl fmt::Debug for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frames").field("path", &self.input.path()).field("offset", &self.walk.at).finish_non_exhaustive()
    }
}

/// Walks the frames of anything that can be read at any offset.
pub(crate) struct Walk {
    at: u64,
    seen: bool,
    ended: bool,
    segment: Segment,
}

impl Walk {
    pub(crate) fn new() -> Self {
        Self::starting_at(0)
    }

    /// Starts at a frame inside of the data.
    pub(crate) fn starting_at(at: u64) -> Self {
        Self { at, seen: at > 0, ended: false, segment: Segment::new() }
    }

    /// The next frame.
    ///
    /// # Errors
    /// Whatever is wrong with headers; a promise that was not kept. After an error the walk has ended.
    pub(crate) fn next<R: io::Read>(&mut self, bytes: &mut Bytes<R>) -> Result<Option<Frame>, Error> {
        if self.ended {
            return Ok(None);
        }
        let frame = self.frame(bytes);
        match &frame {
            Ok(Some(frame)) => {
                self.at += frame.compressed_bytes;
                self.seen = true;
                // A skippable frame has told the segment what it is.
                if matches!(frame.kind, FrameKind::Zstd | FrameKind::Lz4 | FrameKind::Lz4Legacy) {
                    self.segment.frame(frame.compressed_bytes, frame.content_bytes);
                }
            }
            _ => self.ended = true,
        }
        frame
    }

    fn frame<R: io::Read>(&mut self, bytes: &mut Bytes<R>) -> Result<Option<Frame>, Error> {
        let at = self.at;
        let frame = match scan::head(bytes, at, self.seen)? {
            Head::End => {
                self.segment.end(at)?;
                return Ok(None);
            }
            #[cfg(feature = "zstd")]
            Head::Zstd => {
                let (header, found) = zstd::find(bytes, at, Limits::NONE)?;
                let zstd::Found::Piece(_, end) = found else {
                    return Err(Error::Unsupported { what: "a zstd frame as large as memory" });
                };
                Frame {
                    offset: at,
                    compressed_bytes: end - at,
                    content_bytes: header.content_size,
                    kind: FrameKind::Zstd,
                    window_bytes: header.window,
                    checksum: header.checksum,
                }
            }
            #[cfg(feature = "lz4")]
            Head::Lz4 => {
                let (header, _, found) = lz4::find(bytes, at, Limits::NONE)?;
                let lz4::Found::Piece(_, end) = found else {
                    return Err(Error::Unsupported { what: "an LZ4 frame as large as memory" });
                };
                Frame {
                    offset: at,
                    compressed_bytes: end - at,
                    content_bytes: header.content_size,
                    kind: FrameKind::Lz4,
                    window_bytes: lz4::WINDOW,
                    checksum: header.content_checksum,
                }
            }
            #[cfg(feature = "lz4")]
            Head::Legacy => {
                let mut end = at + scan::MAGIC as u64;
                while let Some(len) = lz4::legacy_block(bytes, end)? {
                    end += (scan::MAGIC + len) as u64;
                }
                Frame {
                    offset: at,
                    compressed_bytes: end - at,
                    content_bytes: (end == at + scan::MAGIC as u64).then_some(0),
                    kind: FrameKind::Lz4Legacy,
                    window_bytes: lz4::WINDOW,
                    checksum: false,
                }
            }
            Head::Skippable => {
                let (end, skipped) = scan::skip(bytes, at, &mut self.segment)?;
                let kind = match skipped {
                    Skipped::Promise => FrameKind::Promise,
                    Skipped::Table(_) => FrameKind::SeekTable,
                    Skipped::Other => FrameKind::Skippable,
                };
                Frame { offset: at, compressed_bytes: end - at, content_bytes: Some(0), kind, window_bytes: 0, checksum: false }
            }
        };
        Ok(Some(frame))
    }
}
