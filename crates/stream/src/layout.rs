//! How chunks make up a file: the promise near the start, the frames, the seek table at the end.

use std::sync::{Arc, Mutex, PoisonError};

use crate::container::promise::{self, Promise};
use crate::container::seek_table;
use crate::error::Error;
use crate::options::Format;

/// The layout of one output; a cheap handle.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    format: Format,
    content_len: Option<u64>,
    /// Compressed and plain size of each frame, by chunk.
    frames: Arc<Mutex<Vec<(u32, u32)>>>,
}

impl Layout {
    /// The layout of a format, with the length of the content where it is known.
    pub(crate) fn new(format: Format, content_len: Option<u64>) -> Self {
        Self { format, content_len, frames: Arc::default() }
    }

    /// Whether an empty source needs a frame that says so.
    pub(crate) fn needs_a_frame(&self) -> bool {
        self.format != Format::Store
    }

    /// What stands before the first frame.
    pub(crate) fn head(&self) -> Option<[u8; promise::LEN]> {
        (self.format == Format::Zstd).then(|| self.promise(false))
    }

    /// What stands after the first frame: an LZ4 file that starts with another magic is not recognised everywhere.
    pub(crate) fn after_first(&self) -> Option<[u8; promise::LEN]> {
        (self.format == Format::Lz4).then(|| self.promise(true))
    }

    fn promise(&self, follows_frame: bool) -> [u8; promise::LEN] {
        Promise { content_len: self.content_len, follows_frame }.to_bytes()
    }

    /// Notes the sizes of a frame. Frames come in any order.
    pub(crate) fn note(&self, index: u64, compressed: usize, plain: usize) {
        if self.format == Format::Store {
            return;
        }
        let index = usize::try_from(index).expect("a table of so many frames fits no memory");
        let mut frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        if frames.len() <= index {
            frames.resize(index + 1, (0, 0));
        }
        let field = |size| u32::try_from(size).expect("chunks are limited to 1 GiB");
        frames[index] = (field(compressed), field(plain));
    }

    /// What stands after the last frame.
    pub(crate) fn tail(&self) -> Result<Vec<u8>, Error> {
        if self.format == Format::Store {
            return Ok(Vec::new());
        }
        let frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        let mut table = seek_table::Writer::default();
        let mut offset = 0;
        let promise = (promise::LEN as u32, 0);
        let place = if self.format == Format::Zstd { 0 } else { 1 };
        let (before, after) = frames.split_at(place.min(frames.len()));
        for &(compressed, plain) in before.iter().chain([&promise]).chain(after) {
            table.push(compressed, plain).map_err(|fault| fault.at(offset, offset))?;
            offset += u64::from(compressed);
        }
        Ok(table.to_bytes())
    }
}
