//! Kinds of disk images.

/// A kind of disk image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Linux: a file with a file system, on a loop device.
    Loop {
        /// Its file system.
        file_system: FileSystem,
        /// Whether the loop device goes past the page cache of the volume below.
        direct: bool,
    },
    /// macOS: made by `hdiutil`, with APFS.
    Hdiutil {
        /// Its format.
        format: Format,
        /// With AES-256.
        encrypted: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileSystem {
    Ext4,
    Xfs,
    Btrfs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// UDRW: a file of full size.
    ReadWrite,
    /// A file that grows.
    Sparse,
    /// A folder of bands.
    SparseBundle,
}

impl FileSystem {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
        }
    }

    /// Quietly, and without lazy work that would take from the rate later.
    pub(crate) fn mkfs_options(self) -> &'static [&'static str] {
        match self {
            Self::Ext4 => &["-q", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
            Self::Xfs | Self::Btrfs => &["-q"],
        }
    }

    /// The least size of an image with it, in bytes.
    pub(crate) fn least(self) -> u64 {
        match self {
            Self::Ext4 => 32 << 20,
            Self::Xfs => 300 << 20,
            Self::Btrfs => 128 << 20,
        }
    }
}

impl Format {
    /// As `hdiutil create -type` has it, and the ending of its files.
    pub(crate) fn hdiutil(self) -> (&'static str, &'static str) {
        match self {
            Self::ReadWrite => ("UDIF", "dmg"),
            Self::Sparse => ("SPARSE", "sparseimage"),
            Self::SparseBundle => ("SPARSEBUNDLE", "sparsebundle"),
        }
    }
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Loop { file_system: FileSystem::Ext4, direct: false } => "ext4",
            Self::Loop { file_system: FileSystem::Ext4, direct: true } => "ext4-direct",
            Self::Loop { file_system: FileSystem::Xfs, direct: false } => "xfs",
            Self::Loop { file_system: FileSystem::Xfs, direct: true } => "xfs-direct",
            Self::Loop { file_system: FileSystem::Btrfs, direct: false } => "btrfs",
            Self::Loop { file_system: FileSystem::Btrfs, direct: true } => "btrfs-direct",
            Self::Hdiutil { format: Format::ReadWrite, encrypted: false } => "udrw",
            Self::Hdiutil { format: Format::ReadWrite, encrypted: true } => "udrw-encrypted",
            Self::Hdiutil { format: Format::Sparse, encrypted: false } => "sparse-image",
            Self::Hdiutil { format: Format::Sparse, encrypted: true } => "sparse-image-encrypted",
            Self::Hdiutil { format: Format::SparseBundle, encrypted: false } => "sparse-bundle",
            Self::Hdiutil { format: Format::SparseBundle, encrypted: true } => "sparse-bundle-encrypted",
        }
    }

    /// What it is, for the table.
    pub(crate) fn about(self) -> String {
        match self {
            Self::Loop { file_system, direct } => {
                format!("{} on a loop device {} direct I/O below", file_system.name(), if direct { "with" } else { "without" })
            }
            Self::Hdiutil { format, encrypted } => {
                let format = match format {
                    Format::ReadWrite => "read-write image (UDRW)",
                    Format::Sparse => "sparse image",
                    Format::SparseBundle => "sparse bundle",
                };
                format!("{format}, APFS, {}", if encrypted { "AES-256" } else { "not encrypted" })
            }
        }
    }
}

/// The kinds that this system offers.
pub(crate) fn offered() -> Vec<Kind> {
    if cfg!(target_os = "linux") {
        [FileSystem::Ext4, FileSystem::Xfs, FileSystem::Btrfs]
            .into_iter()
            .flat_map(|file_system| [false, true].map(|direct| Kind::Loop { file_system, direct }))
            .collect()
    } else if cfg!(target_os = "macos") {
        [Format::ReadWrite, Format::Sparse, Format::SparseBundle]
            .into_iter()
            .flat_map(|format| [false, true].map(|encrypted| Kind::Hdiutil { format, encrypted }))
            .collect()
    } else {
        Vec::new()
    }
}
