//! One image: made, mounted, unmounted, removed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use diskbench::{Volume, VolumeKind};
use support::cli::Failure;
use support::workdir::WorkDir;

use crate::command::run;
use crate::kind::Kind;

/// Of encrypted images; they hold nothing but test data, for some seconds.
const PASSPHRASE: &str = "gannet";

/// A disk image. Dropping it unmounts and removes it.
#[derive(Debug)]
pub(crate) struct Image {
    kind: Kind,
    file: PathBuf,
    mount_point: PathBuf,
    mounted: bool,
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
        let mount_point = folder.file("mount");
        fs::create_dir_all(&mount_point)?;
        let ending = match kind {
            Kind::Loop { .. } => "img",
            Kind::Hdiutil { format, .. } => format.hdiutil().1,
        };
        let image = Self { kind, file: folder.file(&format!("{}.{ending}", kind.name())), mount_point, mounted: false };
        match kind {
            Kind::Loop { file_system, .. } => {
                let size = size.max(file_system.least());
                File::create_new(&image.file)?.set_len(size)?;
                run(&format!("mkfs.{}", file_system.name()), &["-q".as_ref(), image.file.as_os_str()], None)?;
            }
            Kind::Hdiutil { format, encrypted } => {
                let size = format!("{}k", size.div_ceil(1024));
                let mut arguments = vec!["create", "-size", &size, "-type", format.hdiutil().0, "-fs", "APFS", "-volname", "gannet"];
                if encrypted {
                    arguments.extend(["-encryption", "AES-256", "-stdinpass"]);
                }
                let path = image.file.to_string_lossy().into_owned();
                arguments.push(&path);
                run("hdiutil", &arguments, encrypted.then_some(PASSPHRASE))?;
            }
        }
        Ok(image)
    }

    /// Mounts it and gives the folder.
    pub(crate) fn mount(&mut self) -> Result<&Path, Failure> {
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
                let mut arguments = vec!["attach".as_ref(), "-nobrowse".as_ref(), "-mountpoint".as_ref(), mount_point];
                if encrypted {
                    arguments.push("-stdinpass".as_ref());
                }
                arguments.push(file);
                run("hdiutil", &arguments, encrypted.then_some(PASSPHRASE))?;
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
        let mount_point = self.mount_point.as_os_str();
        match self.kind {
            Kind::Loop { .. } => run("umount", &[mount_point], None)?,
            Kind::Hdiutil { .. } => run("hdiutil", &["detach".as_ref(), mount_point], None)?,
        };
        self.mounted = false;
        Ok(())
    }

    /// Bytes that the image takes on the volume below.
    pub(crate) fn allocated(&self) -> Result<u64, Failure> {
        allocated(&self.file).map_err(|e| Failure::run(format!("{}: {e}", self.file.display())))
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        if self.mounted && self.unmount().is_err() {
            // Something holds it: let it go when that ends.
            let mount_point = self.mount_point.as_os_str();
            let _ = match self.kind {
                Kind::Loop { .. } => run("umount", &["--lazy".as_ref(), mount_point], None),
                Kind::Hdiutil { .. } => run("hdiutil", &["detach".as_ref(), "-force".as_ref(), mount_point], None),
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
