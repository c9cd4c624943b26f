# Disks of known speed from the tools beside the checkout; sourced after lib.sh. Needs root and $work.
# What is up is taken down by disks_down.
slowfs_pid=
slowfs_mount=
loop_mount=

# slowfs_up MOUNTPOINT OPTIONS...: a FUSE disk, see slowfs --help
slowfs_up() {
    local source=$shared/tools/slowfs
    [ -d "$source" ] || skip "no slowfs beside the checkout"
    [ -e /dev/fuse ] || skip "no FUSE here"
    apt_needs fuse3 || skip "fuse3 cannot be installed"
    if [ -z "${slowfs:-}" ]; then
        # A copy, because the folder beside the checkout may be read-only; it keeps its times, so that it is built once.
        mkdir -p "$tools/slowfs-source"
        cp -r --preserve=timestamps "$source/." "$tools/slowfs-source/"
        chmod -R u+w "$tools/slowfs-source"
        CARGO_TARGET_DIR=$tools/slowfs-target cargo build --release --quiet --locked --manifest-path "$tools/slowfs-source/Cargo.toml"
        slowfs=$tools/slowfs-target/release/slowfs
    fi
    slowfs_mount=$1
    mkdir -p "$slowfs_mount"
    "$slowfs" "${@:2}" "$slowfs_mount" >"$work/slowfs.log" 2>&1 &
    slowfs_pid=$!
    local i
    for i in {1..200}; do
        if grep -q ready "$work/slowfs.log"; then return; fi
        kill -0 "$slowfs_pid" 2>/dev/null || break
        sleep 0.05
    done
    cat "$work/slowfs.log" >&2
    die "slowfs did not start"
}

slowfs_down() {
    [ -n "$slowfs_pid" ] || return 0
    kill "$slowfs_pid" 2>/dev/null || true
    wait "$slowfs_pid" 2>/dev/null || true
    if mountpoint -q "$slowfs_mount"; then umount -l "$slowfs_mount" || true; fi
    slowfs_pid=
}

# loop_up MOUNTPOINT WRITE_RATE READ_RATE: an ext4 loop disk of 1 GiB, throttled
loop_up() {
    local tool=$shared/tools/known-disk.sh
    [ -e "$tool" ] || skip "no known-disk.sh beside the checkout"
    [ -e /dev/loop-control ] || skip "no loop devices here"
    [ -e "${BLKIO:-/sys/fs/cgroup/blkio}/blkio.throttle.write_bps_device" ] || skip "no throttling of block devices here"
    apt_needs e2fsprogs mount || skip "e2fsprogs and mount cannot be installed"
    mkdir -p "$1"
    loop_mount=$1
    bash "$tool" up "$work/disk.img" "$1" "$2" "$3" 1G || die "no throttled loop disk"
}

loop_down() {
    [ -n "$loop_mount" ] || return 0
    bash "$shared/tools/known-disk.sh" down "$work/disk.img" "$loop_mount" || true
    loop_mount=
}

disks_down() {
    slowfs_down
    loop_down
}
