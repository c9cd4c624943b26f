//! Recorded machines: lines of mountinfo as real systems have them, and the entries of `/sys` that matter.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;

const MOUNTS: &str = r"22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw,errors=remount-ro
25 24 0:23 / /dev/shm rw,nosuid,nodev shared:4 - tmpfs tmpfs rw,size=24684092k
31 27 7:3 / /mnt/image\040one rw,relatime - ext4 /dev/loop3 rw
32 27 0:40 /home /home rw,relatime shared:30 - btrfs /dev/mapper/luks-1 rw,space_cache=v2,subvolid=257,subvol=/home
33 27 0:41 / /mnt/server rw,relatime - nfs4 server:/export rw,vers=4.2
34 27 0:42 / /mnt/ssh rw,nosuid,nodev,relatime - fuse.sshfs me@host: rw,user_id=0
35 27 0:43 / /mnt/slow rw,nosuid,nodev,relatime - fuse slowfs rw,user_id=0,group_id=0,allow_other
36 27 0:44 / /mnt/merged rw,relatime - overlay overlay rw,lowerdir=/a:/b,upperdir=/home/upper,workdir=/home/work
37 27 254:0 / /mnt/vm rw,relatime - xfs /dev/vda1 rw
38 27 252:1 / /mnt/compressed rw - ext4 /dev/zram0 rw
39 27 8:1 / /mnt/qemu rw - ext4 /dev/sda1 rw
40 27 8:1 / /mnt/over rw - ext4 /dev/sda1 rw
41 27 0:50 / /mnt/over rw - tmpfs tmpfs rw
42 27 8:17 / /mnt/usb rw - fuseblk /dev/sdb1 rw
not a line of mountinfo
";

/// A root with `/proc/self/mountinfo` and devices: a folder below `/sys/devices`, files in it, and its link by number.
fn machine() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let at = |path: &str| root.path().join(path);
    fs::create_dir_all(at("proc/self")).unwrap();
    fs::write(at("proc/self/mountinfo"), MOUNTS).unwrap();
    for folder in ["sys/dev/block", "sys/class/block"] {
        fs::create_dir_all(at(folder)).unwrap();
    }
    let device = |folder: &str, number: &str, files: &[(&str, &str)]| {
        let path = at("sys/devices").join(folder);
        fs::create_dir_all(&path).unwrap();
        for (name, text) in files {
            let file = path.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        std::os::unix::fs::symlink(&path, at("sys/dev/block").join(number)).unwrap();
        let name = path.file_name().unwrap();
        std::os::unix::fs::symlink(&path, at("sys/class/block").join(name)).unwrap();
    };
    device("pci0/nvme/nvme0/nvme0n1", "259:0", &[("device/model", "Samsung SSD 990 PRO 2TB                 \n")]);
    device("pci0/nvme/nvme0/nvme0n1/nvme0n1p2", "259:2", &[("partition", "2\n")]);
    device("virtual/block/loop3", "7:3", &[("loop/backing_file", "/data/disk image.img\n"), ("loop/dio", "1\n")]);
    device("virtual/block/dm-0", "253:0", &[("dm/name", "luks-1\n")]);
    std::os::unix::fs::symlink(at("sys/devices/virtual/block/dm-0"), at("sys/class/block/luks-1")).unwrap();
    device("pci0/virtio1/block/vda", "254:16", &[("size", "1\n")]);
    device("pci0/virtio1/block/vda/vda1", "254:0", &[("partition", "1\n")]);
    device("virtual/block/zram0", "252:1", &[("size", "1\n")]);
    device("pci0/ata1/block/sda", "8:0", &[("device/model", "QEMU HARDDISK\n")]);
    device("pci0/ata1/block/sda/sda1", "8:1", &[("partition", "1\n")]);
    device("pci0/usb1/block/sdb", "8:16", &[("device/model", "Extreme SSD\n")]);
    device("pci0/usb1/block/sdb/sdb1", "8:17", &[("partition", "1\n")]);
    root
}

fn of(path: &str) -> Identity {
    identify(machine().path(), Path::new(path)).unwrap()
}

fn device(name: &str, model: Option<&str>) -> Option<Device> {
    Some(Device { name: name.into(), model: model.map(str::to_owned) })
}

#[test]
fn disks_are_told_from_what_looks_like_them() {
    let root = of("/usr/lib");
    assert_eq!((root.kind, root.device), (VolumeKind::Disk, device("nvme0n1", Some("Samsung SSD 990 PRO 2TB"))));
    assert_eq!((root.file_system.as_str(), root.source.as_str()), ("ext4", "/dev/nvme0n1p2"));
    let image = of("/mnt/image one/folder");
    let file = Some(PathBuf::from("/data/disk image.img"));
    assert_eq!(image.kind, VolumeKind::Image { file, direct_io: Some(true) });
    assert_eq!(image.mount_point, Path::new("/mnt/image one"));
    assert_eq!((of("/mnt/vm").kind, of("/mnt/vm").device), (VolumeKind::VirtualDisk, device("vda", None)));
    assert_eq!(of("/mnt/qemu").kind, VolumeKind::VirtualDisk);
    assert_eq!(of("/mnt/compressed").kind, VolumeKind::Memory);
    assert_eq!(of("/dev/shm/x").kind, VolumeKind::Memory);
    assert_eq!((of("/mnt/usb").kind, of("/mnt/usb").device), (VolumeKind::Disk, device("sdb", Some("Extreme SSD"))));
}

#[test]
fn volumes_without_a_number_of_a_device_are_followed() {
    let home = of("/home/user");
    assert_eq!((home.kind, home.device), (VolumeKind::Mapped, device("dm-0", None)));
    assert_eq!(of("/mnt/merged").kind, VolumeKind::Mapped);
    assert_eq!(of("/mnt/server/a").kind, VolumeKind::Network);
    assert_eq!(of("/mnt/ssh").kind, VolumeKind::Network);
    assert_eq!(of("/mnt/slow").kind, VolumeKind::UserSpace);
}

#[test]
fn the_last_mount_hides_the_others() {
    assert_eq!(of("/mnt/over/x").kind, VolumeKind::Memory);
    // A name that only begins like a mount point is not on it.
    assert_eq!(of("/mnt/server2").source, "/dev/nvme0n1p2");
}

#[test]
fn escapes_and_odd_lines() {
    assert_eq!(unescape(br"/a\040b\011c\134d"), Path::new("/a b\tc\\d"));
    assert_eq!(unescape(br"/a\04"), Path::new(r"/a\04"));
    assert_eq!(unescape(br"/a\999"), Path::new(r"/a\999"));
    assert_eq!(parse_mounts(b"").len(), 0);
    assert_eq!(parse_mounts(b"1 2 3:4 / /x - \n1 2 3:4 / /x rw - ext4 /dev/x rw\n").len(), 1);
    // A loop of overlays ends.
    let text = b"1 0 0:1 / / rw - overlay overlay rw,upperdir=/up\n";
    let mounts = parse_mounts(text);
    assert_eq!(kind_of(Path::new("/absent"), &mounts, &mounts[0], 0).0, VolumeKind::Unknown);
}

#[test]
fn a_path_that_is_not_text_is_found() {
    let mounts = parse_mounts(b"1 0 0:1 / / rw - ext4 /dev/x rw\n2 1 0:2 / /caf\xe9 rw - tmpfs tmpfs rw\n");
    let path = PathBuf::from(os_string(b"/caf\xe9/x".to_vec()));
    assert_eq!(mount_of(&mounts, &path).unwrap().file_system, "tmpfs");
}
