//! What the tests share.

use std::path::PathBuf;

use gannet_stream::{Error, Format, Options, compress_file, decompress, decompress_file};

/// Bytes that compress somewhat: words of a small vocabulary, drawn by a fixed generator.
pub(crate) fn text(len: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let mut bytes = Vec::with_capacity(len + 16);
    while bytes.len() < len {
        let word = random.next() % 500;
        bytes.extend_from_slice(format!("{:x} ", word * word).as_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// Bytes that do not compress.
pub(crate) fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    std::iter::repeat_with(|| random.next() as u8).take(len).collect()
}

/// `SplitMix64`: the same numbers everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// A folder that removes itself.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// The names of what is in it, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// Options for small tests.
pub(crate) fn options(format: Format, chunk: u64) -> Options {
    Options::new().format(format).chunk_bytes(chunk).threads(2).sync(false).overwrite(true)
}

/// The compressed file of some bytes.
pub(crate) fn compressed(bytes: &[u8], options: &Options) -> Vec<u8> {
    let folder = Folder::new();
    let source = folder.file("source", bytes);
    let packed = folder.path("packed");
    compress_file(&source, &packed, options).unwrap();
    std::fs::read(packed).unwrap()
}

/// Decodes bytes through files. The folder must be empty afterwards if that fails.
pub(crate) fn decompressed(bytes: &[u8], options: &Options) -> Result<Vec<u8>, Error> {
    let folder = Folder::new();
    let packed = folder.file("packed", bytes);
    let plain = folder.path("plain");
    match decompress_file(&packed, &plain, options) {
        Ok(report) => {
            let bytes = std::fs::read(plain).unwrap();
            assert_eq!(report.output_bytes, bytes.len() as u64);
            Ok(bytes)
        }
        Err(error) => {
            assert_eq!(folder.names(), ["packed"]);
            Err(error)
        }
    }
}

/// Decodes bytes as a stream.
pub(crate) fn in_memory(bytes: &[u8], options: &Options) -> Result<Vec<u8>, Error> {
    let mut plain = Vec::new();
    decompress(bytes, &mut plain, options)?;
    Ok(plain)
}

/// The error itself, without the file's name.
pub(crate) fn inner(error: Error) -> Error {
    match error {
        Error::Path { source, .. } => *source,
        other => other,
    }
}
