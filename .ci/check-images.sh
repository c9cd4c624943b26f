#!/bin/bash
# `disk_images` on Linux: every kind of disk image is made and timed, and nothing is left of them, whatever happens.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"
[ "$(id -u)" = 0 ] || skip "needs root"
apt_needs e2fsprogs xfsprogs btrfs-progs mount util-linux || skip "file systems cannot be made"
[ -e /dev/loop-control ] || skip "no loop devices here"
work=$(mktemp -d "${TMPDIR:-/tmp}/gannet-check.XXXXXX")
chmod 755 "$work"
images=$work/images
mkdir -m 777 "$images"
tidy() {
    umount --lazy "$images"/*/mount 2>/dev/null || true
    rm -rf "$work"
}
trap tidy EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
. .ci/programs.sh
build_programs disk_images

quick=(--size 400MB --files 2MB,20MB --repeats 2 --wait 1)

# nothing_left [files]: no mount, no loop device and, but for "files", no file
nothing_left() {
    local i
    # The kernel frees a loop device some moments after its mount.
    for i in {1..50}; do losetup -a | grep -q "$work" || break; sleep 0.1; done
    if losetup -a | grep "$work"; then die "a loop device is left"; fi
    if grep "$images" /proc/self/mountinfo; then die "a mount is left"; fi
    [ "${1:-}" = files ] || empty "$images"
}

# stopped SIGNAL AFTER [VARIABLE=VALUE]: a run that gets a signal after so many seconds; its status is in $status
stopped() {
    env ${3:+"$3"} "$programs/disk_images" "$images" "${quick[@]}" >/dev/null 2>"$work/stderr" </dev/null &
    local pid=$!
    sleep "$2"
    kill -s "$1" "$pid" 2>/dev/null || true
    status=0
    wait "$pid" || status=$?
    say "   SIG$1 after $2 s: status $status: $(cat "$work/stderr")"
}

say "-- every kind"
"$programs/disk_images" "$images" "${quick[@]}" --json "$work/run.json" --report "$work/run.html" >"$work/run.txt" ||
    { cat "$work/run.txt"; die "disk_images failed"; }
cat "$work/run.txt"
nothing_left
python3 - "$work/run.json" <<'PY'
import json, sys
images = json.load(open(sys.argv[1]))["images"]
assert len(images) == 6, len(images)
for image in images:
    assert image["write"]["bytes_per_second"] > 0 and image["read"]["bytes_per_second"] > 0, image
    assert image["filled_bytes"] >= image["file_bytes"] == 44_000_000, image
    direct = image["kind"].endswith("-direct")
    assert image["volume"]["kind"]["image"]["direct_io"] is direct, image
    assert ("cached_below" in image["read"]["caveats"]) is not direct, image
PY

say "-- refused"
cp "$programs/disk_images" "$work/disk_images"
fails 1 setpriv --reuid 65534 --regid 65534 --clear-groups "$work/disk_images" "$images" "${quick[@]}"
fails 1 program disk_images "$work/absent"
fails 1 program disk_images "$work/run.txt"
fails 1 program disk_images "$images" "${quick[@]}" --json "$work/absent/run.json"
fails 1 program disk_images "$images" --size 900TB
fails 2 program disk_images "$images" --kinds floppy
fails 2 program disk_images "$images" --size 10MB
nothing_left

say "-- a tool that is killed"
mkdir "$work/bin"
printf '#!/bin/sh\nkill -9 $$\n' >"$work/bin/mkfs.xfs"
chmod +x "$work/bin/mkfs.xfs"
PATH=$work/bin:$PATH fails 1 program disk_images "$images" "${quick[@]}" --kinds ext4,xfs
nothing_left

say "-- interrupted and killed"
for after in 0.4 1.5 3; do
    for signal in INT TERM; do
        stopped "$signal" "$after"
        [ "$status" = 130 ] || die "status $status"
        nothing_left
    done
    stopped KILL "$after"
    nothing_left files
done
say "-- killed where mounts do not end with their process"
stopped KILL 1.2 GANNET_DISK_IMAGES_APART=1
grep -q "$images" /proc/self/mountinfo || die "it was killed before it mounted anything"
# The next run lets go of it and sweeps it.
"$programs/disk_images" "$images" "${quick[@]}" --kinds ext4 >/dev/null
nothing_left
