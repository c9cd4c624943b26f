//! The bookkeeping between a promise and the seek table that keeps it.

use std::hash::Hasher as _;

use twox_hash::XxHash64;

use crate::Error;
use crate::container::promise::Promise;
use crate::container::seek_table;

/// The frames since the last promise or table, in constant memory.
#[derive(Debug)]
pub(crate) struct Segment {
    frames: u64,
    digest: XxHash64,
    content: u64,
    /// Every frame so far states its content size and fits a table.
    sized: bool,
    last: Option<(u64, Option<u64>)>,
    open: Option<Promise>,
    /// A promised table must be right even where the promised length shows that nothing is missing.
    pub(crate) strict: bool,
}

impl Segment {
    pub(crate) fn new() -> Self {
        Self { frames: 0, digest: XxHash64::with_seed(0), content: 0, sized: true, last: None, open: None, strict: false }
    }

    /// The next frame: bytes in the file and bytes of content, if stated (0 for a skippable frame).
    pub(crate) fn frame(&mut self, compressed: u64, content: Option<u64>) {
        self.frames += 1;
        self.last = Some((compressed, content));
        let fields = content.and_then(|content| Some((u32::try_from(compressed).ok()?, u32::try_from(content).ok()?)));
        let Some((compressed, content)) = fields else {
            self.sized = false;
            return;
        };
        self.digest.write(&compressed.to_le_bytes());
        self.digest.write(&content.to_le_bytes());
        self.content = self.content.saturating_add(u64::from(content));
    }

    /// A promise at `at`, itself a frame of `len` bytes.
    ///
    /// # Errors
    /// An earlier promise that was not kept.
    pub(crate) fn promise(&mut self, promise: Promise, at: u64, len: u64) -> Result<(), Error> {
        self.end(at)?;
        let last = self.last.filter(|_| promise.follows_frame);
        *self = Self { strict: self.strict, ..Self::new() };
        if let Some((compressed, content)) = last {
            self.frame(compressed, content);
        }
        self.frame(len, Some(0));
        self.open = Some(promise);
        Ok(())
    }

    /// A seek table at `at` of so many bytes, whose entries have this digest if they are without checksums.
    ///
    /// # Errors
    /// A promised length, or a promised table without a length, that the frames do not match.
    pub(crate) fn table(&mut self, at: u64, payload: u32, entries: Option<u64>) -> Result<(), Error> {
        if let Some(promise) = self.open {
            let matches = self.sized && entries == Some(self.digest.finish());
            // A table of a wrong size could hide what follows.
            let fits = u64::from(payload) == self.frames * 8 + seek_table::FOOTER as u64;
            let kept = match promise.content_len {
                Some(len) => self.sized && self.content == len && fits && (matches || !self.strict),
                None => matches,
            };
            if !kept {
                return Err(Error::Corrupt { offset: at, what: "the frames are not the promised ones" });
            }
        }
        *self = Self { strict: self.strict, ..Self::new() };
        Ok(())
    }

    /// The data ends at `at`.
    ///
    /// # Errors
    /// A promise that was not kept.
    pub(crate) fn end(&self, at: u64) -> Result<(), Error> {
        match self.open {
            Some(_) => Err(Error::Truncated { offset: at }),
            None => Ok(()),
        }
    }
}
