//! The seam between the runner and what it times.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::data::Buffer;
use crate::evict::evict_pages;
use crate::folder::{self, OwnFolder};
use crate::model::{Model, ModelFile};
use crate::plan::Step;
use crate::{Access, Error, Method, Residency, Result, SyncPolicy, sys};

/// Stands for the path of a model disk.
pub(crate) const MODEL: &str = "model disk";

/// Where time comes from.
#[derive(Debug, Clone)]
pub(crate) enum Clock {
    System(Instant),
    Model(Model),
}

impl Clock {
    /// Time since the run began.
    pub(crate) fn now(&self) -> Duration {
        match self {
            Clock::System(begin) => begin.elapsed(),
            Clock::Model(model) => model.now(),
        }
    }

    /// Tells a model disk that nobody waits any more.
    pub(crate) fn give_up(&self) {
        if let Clock::Model(model) = self {
            model.give_up();
        }
    }
}

/// A folder of a volume.
#[derive(Debug)]
pub(crate) enum Disk {
    System(System),
    Model(Model),
}

#[derive(Debug)]
pub(crate) struct System {
    folder: PathBuf,
    place: Place,
    pub(crate) method: Method,
    /// Whether the file system states that it does direct I/O.
    pub(crate) stated: bool,
    /// The number of the device that files of this run are on, if the system tells.
    device: Option<u64>,
}

/// How files of a run exist.
#[derive(Debug)]
enum Place {
    /// Without names.
    Unnamed,
    /// In an own folder, unlinked at once if `unlink`.
    Own { folder: OwnFolder, unlink: bool },
    /// They are the user's, to be read only.
    Existing(Arc<Vec<PathBuf>>),
}

/// An open file.
#[derive(Debug)]
pub(crate) enum Open {
    System { file: File, method: Method },
    Model(ModelFile),
}

impl System {
    /// For writing `files` files into `folder`.
    pub(crate) fn for_writing(folder: &Path, access: Access, files: u64, run: u64) -> Result<Self> {
        folder::sweep(folder);
        let room = sys::open_file_limit().is_none_or(|limit| files + 64 <= limit);
        let unnamed = room && sys::create_unnamed(folder, Method::Buffered).is_ok();
        let place = if unnamed { Place::Unnamed } else { Place::Own { folder: OwnFolder::create(folder, run)?, unlink: room } };
        let mut system = System { folder: folder.into(), place, method: Method::Buffered, stated: false, device: None };
        system.choose_method(access)?;
        Ok(system)
    }

    /// For reading these files.
    pub(crate) fn for_reading(folder: &Path, files: Vec<PathBuf>, access: Access) -> Result<Self> {
        let place = Place::Existing(Arc::new(files));
        let mut system = System { folder: folder.into(), place, method: Method::Buffered, stated: false, device: None };
        system.choose_method(access)?;
        Ok(system)
    }

    /// Takes the best method with which a real transfer works.
    fn choose_method(&mut self, access: Access) -> Result<()> {
        let mut last = None;
        for &method in sys::methods(access) {
            match self.probe(method) {
                Ok((stated, device)) => {
                    (self.method, self.stated, self.device) = (method, stated, device);
                    return Ok(());
                }
                Err(e) if is_refusal(&e) => last = Some(e),
                Err(e) => {
                    return Err(match &self.place {
                        Place::Existing(files) => Error::io("read", &files[0], None, e),
                        Place::Unnamed | Place::Own { .. } => Error::io("try a transfer in", &self.folder, None, e),
                    });
                }
            }
        }
        match last {
            Some(e) => Err(Error::AccessNotAvailable { access, path: self.folder.clone(), reason: e.to_string() }),
            None => Err(not_here(access, &self.folder)),
        }
    }

    /// One transfer by `method`; whether the file system states that it does direct I/O, and the device of the file.
    fn probe(&self, method: Method) -> io::Result<(bool, Option<u64>)> {
        let mut buffer = Buffer::new(crate::plan::SIZE_UNIT as usize);
        let file = match &self.place {
            Place::Unnamed => sys::create_unnamed(&self.folder, method)?,
            Place::Own { folder, .. } => {
                let path = folder.file(u32::MAX);
                let file = sys::create_new(&path, method);
                let _ = std::fs::remove_file(&path);
                file?
            }
            Place::Existing(files) => {
                let file = sys::open_read(&files[0], method)?;
                sys::read_at(&file, buffer.bytes_mut(), 0, method)?;
                // Files that exist may lie on several devices (layers of an overlay).
                return Ok((sys::direct_alignment(&file).is_some(), None));
            }
        };
        sys::write_at(&file, buffer.bytes(), 0, method)?;
        sys::read_at(&file, buffer.bytes_mut(), 0, method)?;
        Ok((sys::direct_alignment(&file).is_some(), device(&file)))
    }
}

/// Errors by which a system says that it does not do this.
fn is_refusal(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported)
}

fn not_here(access: Access, folder: &Path) -> Error {
    if sys::methods(Access::Cached).is_empty() {
        return Error::NotAvailable;
    }
    let reason = "this operating system does not have it".into();
    Error::AccessNotAvailable { access, path: folder.into(), reason }
}

impl Disk {
    pub(crate) fn method(&self) -> Method {
        match self {
            Disk::System(system) => system.method,
            Disk::Model(model) => model.method,
        }
    }

    /// Whether direct I/O is stated by the file system, not only accepted.
    pub(crate) fn direct_is_stated(&self) -> bool {
        match self {
            Disk::System(system) => system.method == Method::Direct && system.stated,
            Disk::Model(model) => model.method == Method::Direct,
        }
    }

    /// The path to name in an error about a file.
    pub(crate) fn path_of(&self, step: &Step) -> PathBuf {
        match self {
            Disk::System(system) => match &system.place {
                Place::Existing(files) => files[step.file as usize].clone(),
                Place::Unnamed | Place::Own { .. } => system.folder.clone(),
            },
            Disk::Model(_) => PathBuf::from(MODEL),
        }
    }

    /// Bytes that the user may use.
    pub(crate) fn available(&self) -> Result<u64> {
        match self {
            Disk::System(system) => sys::space(&system.folder)
                .map(|(space, _)| space.available)
                .map_err(|e| Error::io("look at the room in", &system.folder, None, e)),
            Disk::Model(model) => Ok(model.available()),
        }
    }

    /// Whether files never have names.
    pub(crate) fn is_unnamed(&self) -> bool {
        match self {
            Disk::System(system) => matches!(system.place, Place::Unnamed),
            Disk::Model(_) => true,
        }
    }

    /// Whether written files stay open to be read.
    pub(crate) fn keeps_open(&self) -> bool {
        match self {
            Disk::System(system) => !matches!(system.place, Place::Own { unlink: false, .. }),
            Disk::Model(_) => true,
        }
    }

    /// `None` if it would be on another volume than the run began on.
    pub(crate) fn create(&self, step: &Step) -> io::Result<Option<Open>> {
        match self {
            Disk::System(system) => {
                let method = system.method;
                let file = match &system.place {
                    Place::Unnamed => sys::create_unnamed(&system.folder, method)?,
                    Place::Own { folder, unlink } => {
                        let path = folder.file(step.file);
                        let file = sys::create_new(&path, method)?;
                        if *unlink {
                            // Where that fails the folder's removal takes care of it.
                            let _ = std::fs::remove_file(&path);
                        }
                        file
                    }
                    Place::Existing(_) => return Err(io::ErrorKind::PermissionDenied.into()),
                };
                let stays = system.device.is_none() || system.device == device(&file);
                Ok(stays.then_some(Open::System { file, method }))
            }
            Disk::Model(model) => Ok(Some(Open::Model(model.create()))),
        }
    }

    pub(crate) fn open(&self, step: &Step) -> io::Result<Open> {
        match self {
            Disk::System(system) => {
                let path = match &system.place {
                    Place::Existing(files) => files[step.file as usize].clone(),
                    Place::Own { folder, .. } => folder.file(step.file),
                    Place::Unnamed => return Err(io::ErrorKind::NotFound.into()),
                };
                let file = sys::open_read(&path, system.method)?;
                Ok(Open::System { file, method: system.method })
            }
            Disk::Model(_) => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Takes the name away from a file that has one.
    pub(crate) fn remove(&self, step: &Step) {
        if let Disk::System(System { place: Place::Own { folder, unlink: false }, .. }) = self {
            let _ = std::fs::remove_file(folder.file(step.file));
        }
    }
}

impl Open {
    /// One request; may be short. Starts write-back where the method asks for it.
    pub(crate) fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize> {
        match self {
            Open::System { file, method } => {
                let n = sys::write_at(file, data, offset, *method)?;
                if *method == Method::WriteBack {
                    sys::start_writeback(file, offset, n as u64);
                }
                Ok(n)
            }
            Open::Model(file) => file.write_at(data, offset),
        }
    }

    /// One request; may be short; 0 at the end.
    pub(crate) fn read_at(&self, data: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Open::System { file, method } => sys::read_at(file, data, offset, *method),
            Open::Model(file) => file.read_at(data, offset),
        }
    }

    pub(crate) fn sync(&self, policy: SyncPolicy) -> io::Result<SyncPolicy> {
        match self {
            Open::System { file, .. } => sys::sync(file, policy),
            Open::Model(file) => file.sync(policy),
        }
    }

    pub(crate) fn preallocate(&self, len: u64) -> io::Result<()> {
        match self {
            Open::System { file, .. } => sys::preallocate(file, len),
            Open::Model(_) => Ok(()),
        }
    }

    pub(crate) fn resident(&self, len: u64) -> Residency {
        match self {
            Open::System { file, .. } => sys::resident(file, len),
            Open::Model(file) => file.resident(),
        }
    }

    pub(crate) fn evict(&self, len: u64) -> Residency {
        match self {
            Open::System { file, .. } => evict_pages(file, len).after,
            Open::Model(file) => file.evict(),
        }
    }

    /// Bytes that the file takes on the disk, if the system tells.
    pub(crate) fn allocated(&self) -> Option<u64> {
        match self {
            Open::System { file, .. } => file.metadata().ok().and_then(|facts| blocks(&facts)),
            Open::Model(_) => None,
        }
    }
}

#[cfg(unix)]
fn device(file: &File) -> Option<u64> {
    file.metadata().ok().map(|facts| std::os::unix::fs::MetadataExt::dev(&facts))
}

#[cfg(not(unix))]
fn device(_: &File) -> Option<u64> {
    None
}

#[cfg(unix)]
fn blocks(facts: &std::fs::Metadata) -> Option<u64> {
    Some(std::os::unix::fs::MetadataExt::blocks(facts) * 512)
}

#[cfg(not(unix))]
fn blocks(_: &std::fs::Metadata) -> Option<u64> {
    None
}
