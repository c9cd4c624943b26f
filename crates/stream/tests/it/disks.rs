//! Verdicts on a disk of known speed. `.ci/check-stream.sh` makes such disks and runs these tests on them.

use chacha20poly1305::aead::AeadInPlace;
use chacha20poly1305::{ChaCha20Poly1305, Key, KeyInit, Nonce};
use gannet_stream::{BoxError, Chunk, Codec, LimitingStage, Options, transform_file};

use crate::support::{Folder, noise};

/// Encrypts.
struct Seal(Key);

impl Codec for Seal {
    type Context = ChaCha20Poly1305;

    fn context(&self) -> Result<Self::Context, BoxError> {
        Ok(ChaCha20Poly1305::new(&self.0))
    }

    fn code(&self, cipher: &mut Self::Context, chunk: Chunk<'_>, out: &mut Vec<u8>) -> Result<(), BoxError> {
        let mut nonce = Nonce::default();
        nonce[..8].copy_from_slice(&chunk.index.to_le_bytes());
        out.extend_from_slice(chunk.bytes);
        cipher.encrypt_in_place(&nonce, b"", out).map_err(|_| "chunk too large")?;
        Ok(())
    }
}

/// `GANNET_SLOW_DISK` is a folder on the disk, `GANNET_SLOW_STAGE` says what is slow there: `read` or `write`. The other file is
/// elsewhere: a disk that serves one request after the other makes quick writes wait for slow reads, and then both are busy.
#[test]
#[ignore = "needs a disk of known speed"]
fn an_encrypting_codec_is_limited_by_the_disk() {
    let folder = std::path::PathBuf::from(std::env::var_os("GANNET_SLOW_DISK").expect("GANNET_SLOW_DISK"));
    let slow = std::env::var("GANNET_SLOW_STAGE").expect("GANNET_SLOW_STAGE");
    let elsewhere = Folder::new();
    let (src, dst) = match &slow[..] {
        "read" => (folder.join("plain"), elsewhere.path("sealed")),
        _ => (elsewhere.path("plain"), folder.join("sealed")),
    };
    std::fs::write(&src, noise(40_000_000, 1)).unwrap();
    let options = Options::new().threads(2).chunk_bytes(1 << 20);
    let report = transform_file(&src, &dst, Seal(Key::from([7; 32])), &options).unwrap();
    std::fs::remove_file(&src).unwrap();
    std::fs::remove_file(&dst).unwrap();
    let verdict = report.limiting_stage();
    println!("limited by {}: {verdict}", verdict.stage);
    assert_eq!(verdict.stage, if slow == "read" { LimitingStage::Read } else { LimitingStage::Write });
}
