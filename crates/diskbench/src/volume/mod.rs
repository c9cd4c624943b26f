//! Which volume a path is on.

#[cfg_attr(not(target_vendor = "apple"), allow(dead_code, reason = "parsing is tested everywhere"))]
pub(crate) mod apple;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "parsing is tested everywhere"))]
pub(crate) mod linux;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::{Error, Result, sys};

/// The volume that a path is on.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Volume {
    /// The path, without links.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::ser::path"))]
    pub path: PathBuf,
    /// Where the volume is mounted.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::ser::path"))]
    pub mount_point: PathBuf,
    /// The file system: "ext4", "apfs", …
    pub file_system: String,
    /// What is mounted: "/dev/nvme0n1p2", a network path, …
    pub source: String,
    /// What it is stored on.
    pub kind: VolumeKind,
    /// The disk below, if the system tells.
    pub device: Option<Device>,
    /// Room on it.
    pub space: Space,
    /// Whether it is mounted read-only.
    pub read_only: bool,
}

/// What a volume is stored on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum VolumeKind {
    /// A disk that the system sees as hardware.
    Disk,
    /// A disk of a virtual machine: the host may cache below it.
    VirtualDisk,
    /// A file, through a loop device or as a disk image.
    Image {
        /// The file, if the system tells.
        #[cfg_attr(feature = "serde", serde(serialize_with = "crate::ser::path_option"))]
        file: Option<PathBuf>,
        /// Whether its data skips the page cache of the volume below, if the system tells.
        direct_io: Option<bool>,
    },
    /// Several devices, or a mapped one: RAID, LVM, encryption.
    Mapped,
    /// Another machine.
    Network,
    /// A program of this machine (FUSE).
    UserSpace,
    /// Memory.
    Memory,
    /// A [`ModelDisk`](crate::ModelDisk).
    Model,
    /// The system does not tell.
    Unknown,
}

impl fmt::Display for VolumeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            VolumeKind::Disk => "disk",
            VolumeKind::VirtualDisk => "disk of a virtual machine",
            VolumeKind::Image { direct_io: Some(true), .. } => "disk image with direct I/O",
            VolumeKind::Image { direct_io: Some(false), .. } => "disk image without direct I/O",
            VolumeKind::Image { .. } => "disk image",
            VolumeKind::Mapped => "mapped device",
            VolumeKind::Network => "network",
            VolumeKind::UserSpace => "file system in user space",
            VolumeKind::Memory => "memory",
            VolumeKind::Model => "model disk",
            VolumeKind::Unknown => "unknown",
        })
    }
}

/// The disk below a volume.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Device {
    /// Its name: "nvme0n1", "disk3", …
    pub name: String,
    /// Its model, if the system tells.
    pub model: Option<String>,
}

/// Room on a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Space {
    /// Bytes that this user may still use.
    pub available: u64,
    /// Bytes of the volume.
    pub total: u64,
}

/// What a platform finds out about a mount.
#[derive(Debug, PartialEq)]
pub(crate) struct Identity {
    pub(crate) mount_point: PathBuf,
    pub(crate) file_system: String,
    pub(crate) source: String,
    pub(crate) kind: VolumeKind,
    pub(crate) device: Option<Device>,
}

impl Volume {
    /// Looks at the volume that `path`, a file or a folder, is on.
    ///
    /// # Errors
    /// [`Error::Io`] if the path does not exist or the system does not tell.
    pub fn of(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::Unsupported => Error::NotAvailable,
            _ => Error::io("look at the volume of", path, None, source),
        };
        let real = path.canonicalize().map_err(failed)?;
        let (space, read_only) = sys::space(&real).map_err(failed)?;
        let Identity { mount_point, file_system, source, kind, device } = sys::identify(&real).map_err(failed)?;
        Ok(Volume { path: real, mount_point, file_system, source, kind, device, space, read_only })
    }
}
