//! Apple systems: what `statfs` tells.

use super::{Device, VolumeKind};

/// The kind of a volume by its file system's name, what it was mounted from, and whether it is marked local.
pub(crate) fn kind_of(file_system: &str, source: &str, local: bool) -> (VolumeKind, Option<Device>) {
    let device = source.strip_prefix("/dev/").map(|name| Device { name: whole_disk(name).into(), model: None });
    let kind = match file_system {
        "smbfs" | "nfs" | "afpfs" | "webdav" | "ftp" | "cifs" => VolumeKind::Network,
        "tmpfs" | "devfs" => VolumeKind::Memory,
        name if name.contains("fuse") || name == "lifs" => VolumeKind::UserSpace,
        _ if !local => VolumeKind::Network,
        // Disk images and hardware look alike here.
        _ => VolumeKind::Unknown,
    };
    (kind, device)
}

/// "disk3" of "disk3s1s1".
fn whole_disk(name: &str) -> &str {
    let digits = name.strip_prefix("disk").unwrap_or_default();
    match digits.find(|c: char| !c.is_ascii_digit()) {
        Some(end) if end > 0 => &name[..4 + end],
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_name() {
        let device = |name: &str| Some(Device { name: name.into(), model: None });
        assert_eq!(kind_of("apfs", "/dev/disk3s1s1", true), (VolumeKind::Unknown, device("disk3")));
        assert_eq!(kind_of("hfs", "/dev/disk12", true), (VolumeKind::Unknown, device("disk12")));
        assert_eq!(kind_of("smbfs", "//user@server/share", false), (VolumeKind::Network, None));
        assert_eq!(kind_of("macfuse", "name@macfuse0", false).0, VolumeKind::UserSpace);
        assert_eq!(kind_of("tmpfs", "tmpfs", true).0, VolumeKind::Memory);
    }
}
