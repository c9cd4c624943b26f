//! One image: made, mounted, unmounted, removed.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use diskbench::{Volume, VolumeKind};
use support::cli::Failure;
use support::workdir::{self, WorkDir};

use crate::command::run;
use crate::hdiutil::{self, PASSPHRASE};
use crate::kind::Kind;

/// The name of this program's working folders, and of the place of mounts within.
pub(crate) const PROGRAM: &str = "disk_images";
const MOUNT: &str = "mount";
/// Something that looks at a new volume (an indexer, for example) keeps it busy for moments: unmounting is tried so often, a second apart.
const ATTEMPTS: u32 = 6;
const PAUSE: Duration = Duration::from_secs(1);

/// A disk image. Dropping it unmounts and removes it.
#[derive(Debug)]
pub(crate) struct Image {
    kind: Kind,
    file: PathBuf,
    mount_point: PathBuf,
    mounted: bool,
    /// The disk as which `hdiutil` attached it.
    device: Option<String>,
}

/// Says early what would fail late.
pub(crate) fn check_rights(kinds: &[Kind]) -> Result<(), Failure> {
    if kinds.iter().any(|kind| matches!(kind, Kind::Loop { .. })) {
        if run("id", &["-u"], None)?.trim() != "0" {
            return Err(Failure::run("disk images are mounted through loop devices, which needs root: run it with sudo"));
        }
        if !Path::new("/dev/loop-control").exists() {
            return Err(Failure::run("there are no loop devices here (/dev/loop-control is absent: modprobe loop)"));
        }
    }
    Ok(())
}

impl Image {
    /// Makes an image of `size` bytes, not mounted yet.
    pub(crate) fn make(kind: Kind, size: u64, folder: &WorkDir) -> Result<Self, Failure> {
        let ending = match kind {
            Kind::Loop { .. } => "img",
            Kind::Hdiutil { format, .. } => format.hdiutil().1,
        };
        let image = Self {
            kind,
            file: folder.file(&format!("{}.{ending}", kind.name())),
            mount_point: folder.file(MOUNT),
            mounted: false,
            device: None,
        };
        match kind {
            Kind::Loop { file_system, .. } => {
                let size = size.max(file_system.least());
                File::create_new(&image.file)?.set_len(size)?;
                let options = file_system.mkfs_options().iter().map(OsStr::new);
                run(&format!("mkfs.{}", file_system.name()), &options.chain([image.file.as_os_str()]).collect::<Vec<_>>(), None)?;
            }
            Kind::Hdiutil { format, encrypted } => {
                run("hdiutil", &hdiutil::create(image.file.as_os_str(), size, format, encrypted), encrypted.then_some(PASSPHRASE))?;
            }
        }
        Ok(image)
    }

    /// Mounts it and gives the folder.
    pub(crate) fn mount(&mut self) -> Result<&Path, Failure> {
        fs::create_dir_all(&self.mount_point)?;
        let (file, mount_point) = (self.file.as_os_str(), self.mount_point.as_os_str());
        match self.kind {
            Kind::Loop { file_system, direct } => {
                // The loop device goes with its mount.
                run("mount", &["-t".as_ref(), file_system.name().as_ref(), "-o".as_ref(), "loop".as_ref(), file, mount_point], None)?;
                self.mounted = true;
                if direct {
                    let device = Volume::of(&self.mount_point)?.source;
                    run("losetup", &["--direct-io=on", &device], None)?;
                }
                match Volume::of(&self.mount_point)?.kind {
                    VolumeKind::Image { direct_io, .. } if direct_io == Some(direct) => {}
                    other => return Err(Failure::run(format!("{}: the loop device is not as asked: {other}", self.kind.name()))),
                }
            }
            Kind::Hdiutil { encrypted, .. } => {
                let said = run("hdiutil", &hdiutil::attach(file, mount_point, encrypted), encrypted.then_some(PASSPHRASE))?;
                self.device = hdiutil::whole_disk(&said).map(str::to_owned);
                self.mounted = true;
            }
        }
        Ok(&self.mount_point)
    }

    /// Unmounts it.
    pub(crate) fn unmount(&mut self) -> Result<(), Failure> {
        if !self.mounted {
            return Ok(());
        }
        let mut attempt = 1;
        while let Err(e) = self.release(&[]) {
            if attempt == ATTEMPTS {
                return Err(e);
            }
            attempt += 1;
            sleep(PAUSE);
        }
        self.mounted = false;
        Ok(())
    }

    fn release(&self, options: &[&str]) -> Result<String, Failure> {
        let mount_point = self.mount_point.as_os_str();
        let options = options.iter().map(OsStr::new);
        match self.kind {
            Kind::Loop { .. } => run("umount", &options.chain([mount_point]).collect::<Vec<_>>(), None),
            Kind::Hdiutil { .. } => {
                let target = self.device.as_deref().map_or(mount_point, OsStr::new);
                run("hdiutil", &["detach".as_ref()].into_iter().chain(options).chain([target]).collect::<Vec<_>>(), None)
            }
        }
    }

    /// Bytes that the image takes on the volume below.
    pub(crate) fn allocated(&self) -> Result<u64, Failure> {
        allocated(&self.file).map_err(|e| Failure::run(format!("{}: {e}", self.file.display())))
    }
}

/// Lets go of what killed runs left mounted in `folder`, so that their files can be swept. Where mounts end with their process there is none.
pub(crate) fn release_left(folder: &Path) {
    for dead in workdir::left(PROGRAM, folder) {
        let mount_point = dead.path.join(MOUNT);
        if is_mount_point(&mount_point) {
            let _ = if cfg!(target_os = "macos") {
                run("hdiutil", &["detach".as_ref(), "-force".as_ref(), mount_point.as_os_str()], None)
            } else {
                run("umount", &["--lazy".as_ref(), mount_point.as_os_str()], None)
            };
        }
    }
}

#[cfg(unix)]
fn is_mount_point(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Path| path.symlink_metadata().ok().filter(fs::Metadata::is_dir).map(|facts| facts.dev());
    device(path).is_some_and(|inner| path.parent().and_then(device).is_some_and(|outer| inner != outer))
}

#[cfg(not(unix))]
fn is_mount_point(_: &Path) -> bool {
    false
}

impl Drop for Image {
    fn drop(&mut self) {
        // A tool that was killed may have mounted it all the same.
        self.mounted |= is_mount_point(&self.mount_point);
        if self.unmount().is_err() {
            // Something holds it: let it go when that ends.
            let _ = match self.kind {
                Kind::Loop { .. } => self.release(&["--lazy"]),
                Kind::Hdiutil { .. } => self.release(&["-force"]),
            };
        }
        let _ = if self.file.is_dir() { fs::remove_dir_all(&self.file) } else { fs::remove_file(&self.file) };
    }
}

/// Of a file, or of all in a folder (a bundle).
fn allocated(path: &Path) -> std::io::Result<u64> {
    let facts = path.symlink_metadata()?;
    if !facts.is_dir() {
        return Ok(blocks(&facts));
    }
    fs::read_dir(path)?.map(|entry| allocated(&entry?.path())).sum()
}

#[cfg(unix)]
fn blocks(facts: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(facts) * 512
}

#[cfg(not(unix))]
fn blocks(facts: &fs::Metadata) -> u64 {
    facts.len()
}
