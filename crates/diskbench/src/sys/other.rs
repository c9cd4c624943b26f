//! Systems without an implementation: everything answers "not available".

use std::fs::File;
use std::io;
use std::path::Path;

use crate::volume::Identity;
use crate::{Access, Method, Residency, Space, SyncPolicy};

fn unsupported<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn methods(_: Access) -> &'static [Method] {
    &[]
}

pub(crate) fn create_unnamed(_: &Path, _: Method) -> io::Result<File> {
    unsupported()
}

pub(crate) fn create_new(_: &Path, _: Method) -> io::Result<File> {
    unsupported()
}

pub(crate) fn open_read(_: &Path, _: Method) -> io::Result<File> {
    unsupported()
}

pub(crate) fn write_at(_: &File, _: &[u8], _: u64, _: Method) -> io::Result<usize> {
    unsupported()
}

pub(crate) fn read_at(_: &File, _: &mut [u8], _: u64, _: Method) -> io::Result<usize> {
    unsupported()
}

pub(crate) fn sync(_: &File, _: SyncPolicy) -> io::Result<SyncPolicy> {
    unsupported()
}

pub(crate) fn start_writeback(_: &File, _: u64, _: u64) {}

pub(crate) fn preallocate(_: &File, _: u64) -> io::Result<()> {
    unsupported()
}

pub(crate) fn drop_pages(_: &File, _: u64) -> io::Result<()> {
    unsupported()
}

pub(crate) fn resident(_: &File, _: u64) -> Residency {
    Residency::Unknown("not available on this operating system".into())
}

pub(crate) fn direct_alignment(_: &File) -> Option<(u32, u32)> {
    None
}

pub(crate) fn try_lock(_: &File) -> io::Result<bool> {
    unsupported()
}

pub(crate) fn open_file_limit() -> Option<u64> {
    None
}

pub(crate) fn user() -> u32 {
    0
}

pub(crate) fn space(_: &Path) -> io::Result<(Space, bool)> {
    unsupported()
}

pub(crate) fn identify(_: &Path) -> io::Result<Identity> {
    unsupported()
}
