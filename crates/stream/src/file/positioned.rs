//! Reading and writing at offsets, several threads at once.

use std::fs::File;
use std::io;

/// A file read and written at offsets.
#[derive(Debug)]
pub(crate) struct Positioned {
    file: File,
    /// Where the system has one position per file, it is moved under this lock.
    #[cfg(not(unix))]
    position: std::sync::Mutex<()>,
}

impl Positioned {
    pub(crate) fn new(file: File) -> Self {
        Self {
            file,
            #[cfg(not(unix))]
            position: std::sync::Mutex::new(()),
        }
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, buffer, offset)
    }

    #[cfg(unix)]
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::write_at(&self.file, bytes, offset)
    }

    #[cfg(not(unix))]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        use std::io::{Read, Seek, SeekFrom};
        let _position = self.position.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (&self.file).seek(SeekFrom::Start(offset))?;
        (&self.file).read(buffer)
    }

    #[cfg(not(unix))]
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        use std::io::{Seek, SeekFrom, Write};
        let _position = self.position.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (&self.file).seek(SeekFrom::Start(offset))?;
        (&self.file).write(bytes)
    }

    /// Reads until the buffer is full or the file ends; returns the number of bytes, or the offset of the error.
    pub(crate) fn read_full_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, (u64, io::Error)> {
        let mut done = 0;
        while done < buffer.len() {
            match self.read_at(&mut buffer[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err((offset + done as u64, e)),
            }
        }
        Ok(done)
    }

    /// Writes all bytes, or returns the offset of the error.
    pub(crate) fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<(), (u64, io::Error)> {
        let mut done = 0;
        while done < bytes.len() {
            match self.write_at(&bytes[done..], offset + done as u64) {
                Ok(0) => return Err((offset + done as u64, io::ErrorKind::WriteZero.into())),
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err((offset + done as u64, e)),
            }
        }
        Ok(())
    }
}
