#!/bin/bash
# What `stream` must do on disks that are full, broken, slow or of several kinds, and when it is killed.
# usage: .ci/check-stream.sh [PART...]     (default: all)
#   faults  full and failing FUSE disks: an error, nothing left                          (root)
#   killed  kill -9 on ext4, xfs, btrfs and memory: the output is absent or complete, and nothing else is left (root)
#   seal    a user's codec on slow FUSE disks is limited by them                         (root)
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"
work=$(mktemp -d "${TMPDIR:-/tmp}/gannet-check.XXXXXX")
. .ci/programs.sh
. .ci/disks.sh
[ "$(id -u)" = 0 ] || skip "needs root"

mounted=()
tidy() {
    local folder
    disks_down
    for folder in "${mounted[@]}"; do umount -l "$folder" 2>/dev/null || true; done
    rm -rf "$work"
}
trap tidy EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# no_output COMMAND...: fails with one line and leaves nothing on the disk but the source
no_output() {
    fails 1 "$@"
    rm -f "$work/disk/source"
    empty "$work/disk"
}

part_faults() {
    local at data=$work/data
    head -c 3000000 "$(echo "$(rustc --print sysroot)"/lib/librustc_driver-*)" >"$data"
    program compress "$data" "$data.zst" --chunk 64KiB >/dev/null
    local size
    size=$(stat -c %s "$data.zst")
    # Full at the first bytes, at the last ones and between.
    for at in 0 1 27 28 29 100 65536 $((size / 2)) $((size - 1)); do
        slowfs_up "$work/disk" --write-bps 2G --read-bps 2G --enospc-at "$at"
        no_output program compress "$data" "$work/disk/out" --chunk 64KiB
        slowfs_down
    done
    for at in 0 1 1000000 2999999; do
        slowfs_up "$work/disk" --write-bps 2G --read-bps 2G --enospc-at "$at"
        no_output program decompress "$data.zst" "$work/disk/out"
        slowfs_down
    done
    for at in 1 $((size / 2)); do
        slowfs_up "$work/disk" --write-bps 2G --read-bps 2G --eio-write-at "$at"
        no_output program compress "$data" "$work/disk/out" --chunk 64KiB
        slowfs_down
    done
    slowfs_up "$work/disk" --write-bps 2G --read-bps 2G --eio-fsync 1
    no_output program compress "$data" "$work/disk/out" --chunk 64KiB
    slowfs_down
    for at in 1 1500000; do
        slowfs_up "$work/disk" --write-bps 2G --read-bps 2G --eio-read-at "$at"
        cp "$data" "$work/disk/source"
        no_output program compress "$work/disk/source" "$work/disk/out" --chunk 64KiB
        slowfs_down
    done
    # Writes and reads that are short each time change nothing.
    slowfs_up "$work/disk" --write-bps 2G --read-bps 2G --short-write 1000
    program compress "$data" "$work/disk/out" --chunk 64KiB >/dev/null
    cmp "$work/disk/out" "$data.zst"
    slowfs_down
}

# killed FOLDER KIND: kills runs to a new name there
killed() {
    python3 - "$programs/compress" "$work/data" "$1" "$2" <<'PY'
import os, random, subprocess, sys, time

program, data, folder, kind = sys.argv[1:]
target = os.path.join(folder, "out.zst")
random.seed(1)
complete = None
start = time.monotonic()
subprocess.run([program, data, target], check=True, stdout=subprocess.DEVNULL)
whole = time.monotonic() - start
with open(target, "rb") as file:
    complete = file.read()
os.remove(target)
seen = {"absent": 0, "complete": 0}
for _ in range(100):
    process = subprocess.Popen([program, data, target], stdout=subprocess.DEVNULL)
    time.sleep(random.uniform(0, 1.1 * whole))
    process.kill()
    process.wait()
    names = os.listdir(folder)
    if "out.zst" in names:
        with open(target, "rb") as file:
            assert file.read() == complete
        os.remove(target)
        names.remove("out.zst")
        seen["complete"] += 1
    else:
        seen["absent"] += 1
    assert names in ([], ["lost+found"]), names
print(f"   {kind}: {seen}")
PY
}

part_killed() {
    local kind
    head -c 60000000 "$(echo "$(rustc --print sysroot)"/lib/librustc_driver-*)" >"$work/data"
    [ -e /dev/loop-control ] || skip "no loop devices here"
    apt_needs e2fsprogs xfsprogs btrfs-progs mount || skip "the file systems' tools cannot be installed"
    for kind in ext4 xfs btrfs tmpfs; do
        mkdir "$work/$kind"
        if [ $kind = tmpfs ]; then
            mount -t tmpfs tmpfs "$work/$kind"
        else
            truncate -s 1G "$work/$kind.img"
            "mkfs.$kind" -q "$work/$kind.img"
            mount -o loop "$work/$kind.img" "$work/$kind"
        fi
        mounted+=("$work/$kind")
        killed "$work/$kind" $kind
    done
}

part_seal() {
    local stage
    for stage in read write; do
        if [ $stage = read ]; then slowfs_up "$work/slow" --read-bps 30M --write-bps 2G; else slowfs_up "$work/slow" --write-bps 30M --read-bps 2G; fi
        GANNET_SLOW_DISK=$work/slow GANNET_SLOW_STAGE=$stage cargo test --quiet --locked -p gannet-stream --test it -- \
            --ignored --exact disks::an_encrypting_codec_is_limited_by_the_disk --nocapture | grep limited
        slowfs_down
    done
}

build_programs compress decompress
[ $# -gt 0 ] || set -- faults killed seal
for part in "$@"; do
    say "== $part"
    "part_$part"
done
