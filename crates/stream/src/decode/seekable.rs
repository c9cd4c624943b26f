//! Random access.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::engine::Meter;
use crate::file::check_seekable;
use crate::{Error, Options};

use super::bytes::Bytes;
use super::index::{Index, only_empty_frames};
use super::inline::Inline;
use super::plan::Limits;

/// Reads any part of the content of a zstd or LZ4 file, decoding only the frames that it touches.
///
/// Frames are found by the seek table, or where there is none, or none that is right, by walking over their headers. Frames
/// that do not state their size are then decoded once when the file is opened. The index takes 16 bytes for each frame, and
/// as many again for a table with checksums.
///
/// What is read has passed the checks of its frames, or those of the table if the frames have none and it has, and every frame
/// that is decoded must end where the table has the next. Of a frame that is larger than [`Options::max_frame_bytes`] that is
/// so only when its end is read: what comes before is given out as it is decoded. A table cannot be proved without walking: one that was made to deceive can say wrong things of frames that are not
/// read, and so show right bytes at a wrong position. For files from strangers switch it off: [`Options::use_seek_table`].
///
/// ```no_run
/// use std::io::{Read as _, Seek as _, SeekFrom};
///
/// use gannet_stream::{Options, SeekableReader};
///
/// let mut reader = SeekableReader::open("backup.tar.zst", &Options::new())?;
/// reader.seek(SeekFrom::Start(1_000_000))?;
/// let mut block = [0; 512];
/// reader.read_exact(&mut block)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SeekableReader<R> {
    bytes: Bytes<R>,
    limits: Limits,
    index: Index,
    position: u64,
    decoder: Inline,
    /// The last piece, and where in the content it starts. The decoder stands behind it.
    piece: Vec<u8>,
    piece_at: u64,
}

impl SeekableReader<File> {
    /// Opens a file.
    ///
    /// # Errors
    /// A file that cannot be opened or read, or is not a zstd or LZ4 file.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self, Error> {
        let path = path.as_ref();
        check_seekable(path, "random access to what is not a file")?;
        let file = File::open(path).map_err(|source| Error::Open { path: path.to_path_buf(), source })?;
        Self::new(file, options).map_err(|error| error.at(path))
    }
}

impl<R: Read + Seek> SeekableReader<R> {
    /// Reads from anything that can be read and sought, from its start. Of the options it takes the limits and
    /// [`Options::use_seek_table`].
    ///
    /// # Errors
    /// Data that cannot be read, or is not zstd or LZ4 data.
    pub fn new(reader: R, options: &Options) -> Result<Self, Error> {
        let limits = Limits::of(options);
        let mut bytes = Bytes::seekable(reader, Arc::new(Meter::new()))?;
        let table = if options.ignore_seek_table { None } else { Index::from_table(&mut bytes)? };
        let index = match table {
            Some(index) => index,
            None => Index::from_walk(&mut bytes, limits)?,
        };
        let start = index.frames.first().map_or(0, |frame| frame.0);
        let mut decoder = Inline::starting_at(limits, start);
        decoder.hash(index.has_checksums());
        decoder.restart(limits, start);
        Ok(Self { bytes, limits, index, position: 0, decoder, piece: Vec::new(), piece_at: 0 })
    }

    /// The length of the content, in bytes.
    #[must_use]
    pub fn content_bytes(&self) -> u64 {
        self.index.len
    }

    /// Whether the frames were found by a seek table.
    #[must_use]
    pub fn has_seek_table(&self) -> bool {
        self.index.table.is_some()
    }

    /// Makes the piece that holds the position the current one.
    fn find(&mut self) -> Result<(), Error> {
        match self.decode_to() {
            Err(Error::Corrupt { .. } | Error::Trailing { .. } | Error::Format | Error::Truncated { .. }) if self.index.table.is_some() => {
                // Perhaps the table is wrong and the frames are right.
                self.index = Index::from_walk(&mut self.bytes, self.limits)?;
                self.decoder.hash(self.index.has_checksums());
                self.piece.clear();
                self.piece_at = u64::MAX;
                if self.position >= self.index.len { Ok(()) } else { self.decode_to() }
            }
            other => other,
        }
    }

    fn decode_to(&mut self) -> Result<(), Error> {
        let end = self.piece_at.saturating_add(self.piece.len() as u64);
        let frame = self.index.frames.partition_point(|frame| frame.1 <= self.position);
        let (offset, content) = self.index.frames[frame.saturating_sub(1)];
        // Going on is right where the decoder is within the frame, or at its start.
        if self.position < end || end < content || self.piece_at == u64::MAX {
            self.decoder.restart(self.limits, offset);
            self.piece.clear();
            self.piece_at = content;
        }
        while self.position >= self.piece_at + self.piece.len() as u64 {
            self.piece_at += self.piece.len() as u64;
            let before = self.piece_at;
            // On an error nothing is current.
            self.piece_at = u64::MAX;
            if !self.decoder.next(&mut self.bytes, &mut self.piece)? {
                return Err(Error::Truncated { offset: self.bytes.end() });
            }
            self.end_frame(before)?;
            if let Some((offset, sum)) = self.decoder.sum() {
                self.index.check(offset, sum)?;
            }
            self.piece_at = before;
            self.agree()?;
        }
        Ok(())
    }

    /// Where the index has the next frame, the one that the piece at `from` belongs to must end, with nothing but its checks.
    fn end_frame(&mut self, from: u64) -> Result<(), Error> {
        let content = from + self.piece.len() as u64;
        let next = self.index.frames.partition_point(|frame| frame.1 <= from);
        let end = self.index.frames.get(next).map_or(self.index.len, |frame| frame.1);
        while content >= end && self.decoder.between().is_none() {
            let mut more = Vec::new();
            if content > end || (self.decoder.next(&mut self.bytes, &mut more)? && !more.is_empty()) {
                let offset = self.index.frames[next.saturating_sub(1)].0;
                return Err(Error::Corrupt { offset, what: "a frame has more content than is stated" });
            }
        }
        Ok(())
    }

    /// Where a frame ended, the index must have one that starts there, or behind frames without content.
    fn agree(&mut self) -> Result<(), Error> {
        let content = self.piece_at + self.piece.len() as u64;
        let (Some(offset), Some(table)) = (self.decoder.between(), self.index.table) else {
            return Ok(());
        };
        let frame = self.index.frames.partition_point(|frame| frame.1 < content);
        let (next, start) = self.index.frames.get(frame).copied().unwrap_or((table, self.index.len));
        if start == content && only_empty_frames(&mut self.bytes, offset, next)? {
            return Ok(());
        }
        self.piece_at = u64::MAX;
        Err(Error::Corrupt { offset, what: "seek table: it does not match the frames" })
    }
}

impl<R: Read + Seek> Read for SeekableReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() || self.position >= self.index.len {
            return Ok(0);
        }
        let inside = self.position.checked_sub(self.piece_at).is_some_and(|skip| skip < self.piece.len() as u64);
        if !inside {
            self.find()?;
            if self.position >= self.index.len {
                return Ok(0);
            }
        }
        let piece = &self.piece[(self.position - self.piece_at) as usize..];
        let count = piece.len().min(into.len());
        into[..count].copy_from_slice(&piece[..count]);
        self.position += count as u64;
        Ok(count)
    }
}

impl<R: Read + Seek> Seek for SeekableReader<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => self.index.len.checked_add_signed(by),
        };
        self.position = position.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "seek before the start"))?;
        Ok(self.position)
    }
}

impl<R> fmt::Debug for SeekableReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frames = self.index.frames.len();
        f.debug_struct("SeekableReader").field("position", &self.position).field("frames", &frames).finish_non_exhaustive()
    }
}

/// Reads one part of the content of a file; less where the content ends before it does.
///
/// # Errors
/// Whatever is wrong with the frames touched; a file that cannot be opened or read, or is not a zstd or LZ4 file.
pub fn read_range(path: impl AsRef<Path>, range: Range<u64>, options: &Options) -> Result<Vec<u8>, Error> {
    let path = path.as_ref();
    let mut reader = SeekableReader::open(path, options)?;
    let end = range.end.min(reader.content_bytes());
    let mut bytes = Vec::new();
    reader.position = range.start;
    while reader.position < end {
        reader.find().map_err(|error| error.at(path))?;
        let end = end.min(reader.content_bytes());
        if reader.position >= end {
            break;
        }
        let from = (reader.position - reader.piece_at) as usize;
        let count = ((end - reader.position) as usize).min(reader.piece.len() - from);
        bytes.extend_from_slice(&reader.piece[from..from + count]);
        reader.position += count as u64;
    }
    Ok(bytes)
}
