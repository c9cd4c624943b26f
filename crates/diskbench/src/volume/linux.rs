//! Linux: `/proc/self/mountinfo` (proc(5)) and the block devices in `/sys`, below any root.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::{fs, str};

use super::{Device, Identity, VolumeKind};

/// One line of mountinfo.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mount {
    /// `major:minor`.
    pub(crate) device: String,
    pub(crate) mount_point: PathBuf,
    pub(crate) file_system: String,
    pub(crate) source: PathBuf,
    pub(crate) super_options: Vec<PathBuf>,
}

/// What and where the volume of `path` is, with `/proc` and `/sys` below `root`.
pub(crate) fn identify(root: &Path, path: &Path) -> io::Result<Identity> {
    let mounts = parse_mounts(&fs::read(root.join("proc/self/mountinfo"))?);
    let mount =
        mount_of(&mounts, path).ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no line of /proc/self/mountinfo holds the path"))?;
    let (kind, device) = kind_of(root, &mounts, mount, 0);
    Ok(Identity {
        mount_point: mount.mount_point.clone(),
        file_system: mount.file_system.clone(),
        source: mount.source.to_string_lossy().into_owned(),
        kind,
        device,
    })
}

fn kind_of(root: &Path, mounts: &[Mount], mount: &Mount, depth: u32) -> (VolumeKind, Option<Device>) {
    let source = mount.source.to_string_lossy();
    match mount.file_system.as_str() {
        "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs" => return (VolumeKind::Memory, None),
        "nfs" | "nfs4" | "cifs" | "smb3" | "smbfs" | "9p" | "afs" | "ceph" | "virtiofs" | "glusterfs" | "lustre" | "fuse.sshfs"
        | "fuse.rclone" | "fuse.s3fs" => return (VolumeKind::Network, None),
        "overlay" if depth < 8 => return below_overlay(root, mounts, mount, depth),
        "fuseblk" => {}
        name if name == "fuse" || name.starts_with("fuse.") => return (VolumeKind::UserSpace, None),
        _ => {}
    }
    let by_number = root.join("sys/dev/block").join(&mount.device);
    if by_number.exists() {
        return block_device(root, &by_number);
    }
    // Btrfs and others have numbers of their own: go by the name.
    match source.strip_prefix("/dev/") {
        Some(name) => {
            let name = name.rsplit('/').next().unwrap_or(name);
            let by_name = root.join("sys/class/block").join(name);
            if by_name.exists() { block_device(root, &by_name) } else { (VolumeKind::Unknown, None) }
        }
        None => (VolumeKind::Unknown, None),
    }
}

fn below_overlay(root: &Path, mounts: &[Mount], mount: &Mount, depth: u32) -> (VolumeKind, Option<Device>) {
    let upper = mount.super_options.iter().find_map(|option| {
        let text = option.as_os_str().to_str()?;
        text.strip_prefix("upperdir=").map(PathBuf::from)
    });
    match upper.as_deref().and_then(|upper| mount_of(mounts, upper)) {
        Some(below) if below != mount => kind_of(root, mounts, below, depth + 1),
        _ => (VolumeKind::Unknown, None),
    }
}

/// `link` is the device's entry in `/sys/dev/block` or `/sys/class/block`.
fn block_device(root: &Path, link: &Path) -> (VolumeKind, Option<Device>) {
    let Ok(mut folder) = link.canonicalize() else { return (VolumeKind::Unknown, None) };
    if folder.join("partition").exists() {
        folder.pop();
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let device = Device { model: model(&folder), name: name.clone() };
    let kind = if folder.join("loop").is_dir() {
        VolumeKind::Image {
            file: read_path(&folder.join("loop/backing_file")),
            direct_io: read_text(&folder.join("loop/dio")).map(|dio| dio == "1"),
        }
    } else if folder.join("dm").is_dir() || folder.join("md").is_dir() {
        VolumeKind::Mapped
    } else if name.starts_with("zram") || name.starts_with("ram") || name.starts_with("pmem") {
        VolumeKind::Memory
    } else if name.starts_with("nbd") || name.starts_with("rbd") || name.starts_with("drbd") {
        VolumeKind::Network
    } else if is_virtual(root, &folder, device.model.as_deref()) {
        VolumeKind::VirtualDisk
    } else {
        VolumeKind::Disk
    };
    (kind, Some(device))
}

/// A disk of a hypervisor, by its bus or by its model.
fn is_virtual(root: &Path, folder: &Path, model: Option<&str>) -> bool {
    let on_bus = folder.strip_prefix(root.canonicalize().unwrap_or_else(|_| root.into())).unwrap_or(folder).components().any(|part| {
        let part = part.as_os_str().to_string_lossy();
        part.starts_with("virtio") || part.starts_with("vbd-") || part.starts_with("vmbus")
    });
    const MODELS: [&str; 8] = ["QEMU", "VBOX", "VMware", "Virtual", "Amazon Elastic Block Store", "Amazon EC2", "PersistentDisk", "Msft"];
    on_bus || model.is_some_and(|model| MODELS.iter().any(|name| model.contains(name)))
}

fn model(folder: &Path) -> Option<String> {
    read_text(&folder.join("device/model")).or_else(|| read_text(&folder.join("device/name")))
}

fn read_text(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn read_path(path: &Path) -> Option<PathBuf> {
    let text = fs::read(path).ok()?;
    let text = text.strip_suffix(b"\n").unwrap_or(&text);
    Some(PathBuf::from(os_string(text.to_vec())))
}

/// The mount that holds `path`: the longest mount point before it; of equals the last, which hides the others.
pub(crate) fn mount_of<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    mounts.iter().filter(|mount| path.starts_with(&mount.mount_point)).max_by_key(|mount| mount.mount_point.components().count())
}

/// Reads mountinfo; lines that are not understood are left out.
pub(crate) fn parse_mounts(text: &[u8]) -> Vec<Mount> {
    text.split(|b| *b == b'\n').filter_map(parse_mount).collect()
}

fn parse_mount(line: &[u8]) -> Option<Mount> {
    let fields: Vec<&[u8]> = line.split(|b| *b == b' ').filter(|f| !f.is_empty()).collect();
    let dash = fields.iter().position(|f| *f == b"-")?;
    if dash < 6 {
        return None;
    }
    let text = |at: usize| str::from_utf8(fields.get(at)?).ok().map(str::to_owned);
    let options = fields.get(dash + 3).copied().unwrap_or_default();
    Some(Mount {
        device: text(2)?,
        mount_point: unescape(fields[4]),
        file_system: text(dash + 1)?,
        source: unescape(fields.get(dash + 2)?),
        super_options: options.split(|b| *b == b',').map(unescape).collect(),
    })
}

/// Octal escapes stand for space, tab, newline and backslash.
fn unescape(field: &[u8]) -> PathBuf {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let code = after.get(..3).filter(|_| byte == b'\\');
        match code.and_then(|code| u8::from_str_radix(str::from_utf8(code).ok()?, 8).ok()) {
            Some(byte) => {
                out.push(byte);
                rest = &after[3..];
            }
            None => out.push(byte),
        }
    }
    PathBuf::from(os_string(out))
}

#[cfg(unix)]
fn os_string(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

#[cfg(not(unix))]
fn os_string(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

#[cfg(all(test, unix))]
#[path = "linux_tests.rs"]
mod tests;
