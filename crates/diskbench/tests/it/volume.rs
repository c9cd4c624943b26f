use gannet_diskbench::{Error, Volume};

#[test]
fn the_volume_of_a_folder_is_told() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let volume = Volume::of(folder.path()).unwrap();
    assert!(volume.path.starts_with(&volume.mount_point));
    assert!(!volume.file_system.is_empty());
    assert!(!volume.read_only);
    assert!(volume.space.available > 0 && volume.space.available <= volume.space.total);
    assert!(matches!(Volume::of(folder.path().join("absent")), Err(Error::Io { .. })));
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_no_disk() {
    let volume = Volume::of("/dev/shm").unwrap();
    assert_eq!(volume.kind, gannet_diskbench::VolumeKind::Memory);
    assert_eq!(volume.device, None);
}
