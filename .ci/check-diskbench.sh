#!/bin/bash
# What `disk_speed` must find out on disks that are known beforehand, and how it must fail.
# usage: .ci/check-diskbench.sh [PART...]       (default: all)
#   rates    FUSE disks of known speed: bandwidth within 1 %, latency within 0.5 ms of the disk's, and of a plain loop's (root)
#   slc      a FUSE disk whose fast region ends: where, and both rates                     (root)
#   steady   twenty runs on a steady disk: no change is found                              (root)
#   loop     a throttled ext4 loop disk; what reading through the page cache would say     (root)
#   fio      the same figures as fio's, within 2 %                                         (root)
#   labels   files in memory, cached, with holes, of zeros, preallocated: never called disk speed
#   volumes  ext4, xfs, btrfs, overlay, FUSE, memory, by a user without rights; read-only and full (root)
#   faults   errors, a full disk, a hang, a disk that goes away                            (root)
#   stop     interrupted and killed: nothing left; two runs in one folder
#   memory   block by block as fast as fio, in memory
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"
work=$(mktemp -d "${TMPDIR:-/tmp}/gannet-check.XXXXXX")
chmod 755 "$work"
. .ci/programs.sh
. .ci/disks.sh
memory=
mounted=()
tidy() {
    local i
    disks_down
    for ((i = ${#mounted[@]} - 1; i >= 0; i--)); do umount "${mounted[i]}" 2>/dev/null || umount -l "${mounted[i]}" || true; done
    rm -rf "$work" ${memory:+"$memory"}
}
trap tidy EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

as_root() { [ "$(id -u)" = 0 ] || skip "needs root"; }

# known OPTIONS...: a FUSE disk at $work/slow that nothing delays
known() {
    # Requests that come up to 10 ms late still count as back to back: what else the machine does is not the disk's.
    slowfs_up "$work/slow" --null --gap-us 10000 "$@"
    chrt -a -f -p 10 "$slowfs_pid" 2>/dev/null || say "   without real-time priority"
}

# speed ARGUMENTS...: runs disk_speed, with its JSON in $work/run.json
speed() {
    "$programs/disk_speed" "$@" --json "$work/run.json" >"$work/run.txt" </dev/null || { cat "$work/run.txt"; die "failed: disk_speed $*"; }
}

# expect PYTHON: statements about the last run, with `near(a, b, share)`
expect() {
    python3 - "$work/run.json" "$1" <<'PY' || { cat "$work/run.txt"; die "not as it should be: $1"; }
import json, sys
run = json.load(open(sys.argv[1]))
write, read, settings = run["summary"]["write"], run["summary"]["read"], run["settings"]
def near(a, b, share):
    print(f"   {a:.6g}, {b:.6g} within {share:.3g}: {a / b - 1:+.3%}")
    return abs(a / b - 1) <= share
def all_of(*these): assert all(these), these
exec(sys.argv[2])
PY
}

# beside_plain: with blocks of 8 MiB, disk_speed and a plain loop find the same on $work/slow
beside_plain() {
    mv "$work/run.json" "$work/kept.json"
    speed "$work/slow" --plan 2MB,4MB,6MB,8MB,10MB,20MB,40MB,60MB --repeats 3 --reserve 0
    python3 .ci/plain-disk.py "$work/slow" 8388608 2 4 6 8 10 20 40 60 >"$work/plain.json"
    empty "$work/slow"
    expect "
plain = json.load(open('$work/plain.json'))
for name, own in [('write', write), ('read', read)]:
    other = plain[name]
    print(f'   {name}, blocks of 8 MiB: latency {own[\"latency_seconds\"] * 1e3:.2f} ms, a plain loop {other[\"latency\"] * 1e3:.2f} ms')
    all_of(near(own['bandwidth_bytes_per_second'], other['bandwidth'], 0.01), abs(own['latency_seconds'] - other['latency']) <= 0.0005)"
    mv "$work/kept.json" "$work/run.json"
}

part_rates() {
    as_root
    local write read
    for rates in 50:80 100:200 200:400; do
        write=${rates%:*} read=${rates#*:}
        say "-- $write and $read MB/s, 3 ms to flush"
        known --write-bps "${write}M" --read-bps "${read}M" --flush-us 3000
        # Small blocks: FUSE takes about 0.6 ms to hand over a request of 1 MiB, its largest. The disk does not count that; a plain loop sees it too.
        speed "$work/slow" --plan 2MB,4MB,6MB,8MB,10MB,20MB,40MB,60MB --repeats 3 --reserve 0 --block 256KiB
        empty "$work/slow"
        [ "$rates" != 100:200 ] || beside_plain
        slowfs_down
        expect "
all_of(near(write['bandwidth_bytes_per_second'], ${write}e6, 0.01), near(read['bandwidth_bytes_per_second'], ${read}e6, 0.01))
print('   latency', write['latency_seconds'], read['latency_seconds'])
all_of(abs(write['latency_seconds'] - 0.003) <= 0.0005, abs(read['latency_seconds']) <= 0.0005)
all_of(write['changepoint'] is None, read['changepoint'] is None, not write['caveats'], not read['caveats'])"
    done
}

part_slc() {
    as_root
    known --write-bps 200M --read-bps 400M --flush-us 3000 --slc 400M --slow-bps 60M
    speed "$work/slow" --plan 2MB,4MB,6MB,8MB,10MB,20MB,40MB,60MB --repeats 4 --reserve 0
    slowfs_down
    expect "
c = write['changepoint']
print('  ', c)
all_of(abs(c['after_bytes'] - 400e6) <= 60e6, near(c['rate_before'], 200e6, 0.03), near(c['rate_after'], 60e6, 0.03))
all_of(read['changepoint'] is None)"
}

part_steady() {
    as_root
    local i
    known --write-bps 200M --read-bps 400M --flush-us 3000
    for i in {1..20}; do
        speed "$work/slow" --plan 2MB,4MB,6MB,8MB,10MB,20MB --repeats 3 --reserve 0 --seed "$i"
        expect "all_of(write['changepoint'] is None, read['changepoint'] is None)"
    done
    slowfs_down
    say "   no change in 20 runs"
}

part_loop() {
    as_root
    loop_up "$work/loop" 50M 80M
    say "-- direct I/O"
    speed "$work/loop" --plan 50MB,100MB,200MB --repeats 1 --reserve 0 --access direct
    expect "
all_of(settings['access_achieved'] == {'write': 'direct', 'read': 'direct'}, not write['caveats'], not read['caveats'])
all_of(near(write['bandwidth_bytes_per_second'], 50e6, 0.05), near(read['bandwidth_bytes_per_second'], 80e6, 0.05))
all_of('image' in run['volume']['kind'], run['volume']['kind']['image']['direct_io'] is True)"
    say "-- through the page cache, as a naive program reads"
    speed "$work/loop" --plan 50MB,100MB,200MB --repeats 1 --reserve 0 --access cached
    expect "
print('   reading at', read['total_rate'])
all_of(read['total_rate'] > 1e9, read['caveats'] == ['cached'])"
    say "-- through the page cache, with early write-back and eviction"
    speed "$work/loop" --plan 50MB,100MB,200MB --repeats 1 --reserve 0 --access writeback
    expect "
all_of(near(write['bandwidth_bytes_per_second'], 50e6, 0.05), near(read['bandwidth_bytes_per_second'], 80e6, 0.05), not read['caveats'])"
    loop_down
}

# fio_run FOLDER BYTES: a file written, then read; the rates go into fio.write and fio.read. BYTES is a multiple of the block: fio leaves
# out a part of one.
fio_run() {
    local rw
    for rw in write read; do
        sleep 0.5
        fio --name=x --filename="$1/fio" --rw="$rw" --bs=8M --size="$2" --direct=1 --ioengine=psync --thread --fallocate=none --end_fsync=1 \
            --output-format=json 2>/dev/null | jq ".jobs[0].$rw | .io_bytes / .runtime * 1000" >>"$work/fio.$rw"
    done
    rm -f "$1/fio"
}

# own_run FOLDER BYTES: the same by disk_speed, into own.write and own.read
own_run() {
    local rw
    sleep 0.5
    speed "$1" --plan "$2" --repeats 1 --reserve 0 --access direct
    for rw in write read; do jq ".summary.$rw.total_rate" "$work/run.json" >>"$work/own.$rw"; done
}

# against_fio FOLDER: in turns, so that what else the machine does meets both. The file is large, because a throttled disk that has rested
# lets up to 0.1 s of bytes pass freely, and fio may spend up to 17 ms of its window outside of its requests.
against_fio() {
    local turn
    rm -f "$work"/{fio,own}.{write,read}
    for turn in 1 2 3; do
        if [ "$turn" = 2 ]; then own_run "$1" 629145600; fio_run "$1" 629145600; else fio_run "$1" 629145600; own_run "$1" 629145600; fi
    done
    python3 - "$work" <<'PY'
import statistics, sys
bad = False
for direction in ["write", "read"]:
    fio, own = ([float(line) / 1e6 for line in open(f"{sys.argv[1]}/{tool}.{direction}")] for tool in ["fio", "own"])
    ratio = statistics.median(own) / statistics.median(fio)
    spread = lambda rates: f"{statistics.median(rates):.2f} MB/s ({min(rates):.2f} to {max(rates):.2f})"
    print(f"   {direction}: {spread(own)}, fio {spread(fio)}: {ratio - 1:+.2%}")
    bad |= abs(ratio - 1) > 0.02
sys.exit(bad)
PY
}

part_fio() {
    as_root
    tools_needed fio jq
    say "-- FUSE, 100 and 200 MB/s"
    known --write-bps 100M --read-bps 200M --flush-us 3000
    against_fio "$work/slow"
    slowfs_down
    say "-- ext4 on a loop device, 50 and 80 MB/s"
    loop_up "$work/loop" 50M 80M
    against_fio "$work/loop"
    loop_down
}

part_labels() {
    local d=$work/labels
    mkdir "$d"
    head -c 20000000 /dev/zero >"$d/zeros"
    truncate -s 20000000 "$d/holes"
    fallocate -l 20000000 "$d/preallocated" 2>/dev/null || cp "$d/zeros" "$d/preallocated"
    head -c 20000000 /dev/urandom >"$d/data"
    before=$(cd "$d" && sha256sum ./*)
    speed --read "$d"
    [ "$before" = "$(cd "$d" && sha256sum ./*)" ] || die "--read changed its folder"
    expect "
print('   reading files of zeros and holes:', read['caveats'])
all_of('zeros' in read['caveats'], 'sparse' in read['caveats'])
flagged = [s for s in run['samples'] if 'zeros' in s['caveats']]
all_of(len(flagged) == 3, len(run['samples']) == 4)"
    speed "$d" --plan 4MB --repeats 2 --reserve 0 --access cached --sync none
    expect "all_of('not_synced' in write['caveats'], 'cached' in read['caveats'] or 'memory' in read['caveats'])"
    speed "$d" --plan 4MB --repeats 2 --reserve 0 --file preallocated
    expect "all_of(settings['file_mode'] == 'preallocated')"
    [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] || skip "/dev/shm is not in memory here"
    memory=$(mktemp -d /dev/shm/gannet-check.XXXXXX)
    speed "$memory" --plan 4MB --repeats 2 --reserve 0
    empty "$memory"
    expect "
print('   memory:', write['caveats'], read['caveats'], settings['access_achieved'])
all_of(run['volume']['kind'] == 'memory', write['caveats'] == ['memory'], read['caveats'] == ['memory'])"
}

# volume NAME MOUNTPOINT: a run by a user without rights
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
volume() {
    chmod 777 "$2"
    "${nobody[@]}" "$work/disk_speed" "$2" --plan 2MB,8MB --repeats 2 --reserve 0 --block 1MiB --verify --json "$work/out/run.json" >"$work/run.txt" ||
        { cat "$work/run.txt"; die "failed on $1"; }
    [ -z "$(ls -A "$2" | grep -v 'lost+found' || true)" ] || die "left behind on $1: $(ls -A "$2")"
    cp "$work/out/run.json" "$work/run.json"
    expect "print('   $1:', run['volume']['file_system'], run['volume']['kind'], settings['access_achieved'], write['caveats'], read['caveats'], 'unnamed files' if run['unnamed_files'] else 'own folder')"
}

# attach NAME KIND: a new file system in a file, on a loop device without direct I/O
attach() {
    truncate -s 400M "$work/$1.img"
    "mkfs.$2" -q "$work/$1.img" >"$work/mkfs" 2>&1 || { cat "$work/mkfs"; die "mkfs.$2 failed"; }
    mkdir "$work/$1"
    mount -o loop "$work/$1.img" "$work/$1" || die "cannot mount $2"
    mounted+=("$work/$1")
}

part_volumes() {
    as_root
    apt_needs e2fsprogs xfsprogs btrfs-progs mount || skip "file systems cannot be made"
    [ -e /dev/loop-control ] || skip "no loop devices here"
    cp "$programs/disk_speed" "$work/disk_speed"
    mkdir -m 777 "$work/out" "$work/plain"
    volume "the temporary folder" "$work/plain"
    attach ext4 ext4
    volume ext4 "$work/ext4"
    expect "all_of(settings['access_achieved']['write'] == 'direct', read['caveats'] == ['cached_below'])"
    attach xfs xfs
    volume xfs "$work/xfs"
    expect "all_of(settings['access_achieved']['write'] == 'direct')"
    attach btrfs btrfs
    volume btrfs "$work/btrfs"
    expect "all_of(settings['access_achieved']['write'] != 'direct')"
    mkdir "$work/ext4/upper" "$work/ext4/inner" "$work/lower" "$work/overlay"
    mount -t overlay -o "lowerdir=$work/lower,upperdir=$work/ext4/upper,workdir=$work/ext4/inner" overlay "$work/overlay" || die "no overlay"
    mounted+=("$work/overlay")
    volume overlay "$work/overlay"
    expect "all_of('image' in run['volume']['kind'])"
    mkdir "$work/tmpfs"
    mount -t tmpfs -o size=100M tmpfs "$work/tmpfs"
    mounted+=("$work/tmpfs")
    volume tmpfs "$work/tmpfs"
    expect "all_of(write['caveats'] == ['memory'], run['volume']['kind'] == 'memory')"
    slowfs_up "$work/slow" --write-bps 2G --read-bps 2G
    volume FUSE "$work/slow"
    expect "all_of(settings['access_achieved']['write'] == 'direct_unverified')"
    slowfs_down
    say "-- other ways"
    speed "$work/ext4" --plan 4MB --repeats 2 --reserve 0 --sync full --file overwrite --access writeback --verify
    expect "
all_of(settings['sync_requested'] == 'full_fsync', settings['sync'] == 'fsync', settings['file_mode'] == 'overwrite')
all_of(settings['access_achieved'] == {'write': 'write_back', 'read': 'write_back'}, read['caveats'] == ['cached_below'])"
    if [ "$(printf '6.14\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.14 ]; then
        speed "$work/ext4" --plan 4MB --repeats 2 --reserve 0 --access dontcache --verify
        expect "all_of(settings['access_achieved'] == {'write': 'dont_cache', 'read': 'dont_cache'}, read['caveats'] == ['cached_below'])"
    fi
    say "-- refused"
    fails 1 program disk_speed "$work/tmpfs" --plan 2MB --repeats 1 --reserve 0 --access dontcache
    mount -o remount,ro "$work/xfs"
    fails 1 program disk_speed "$work/xfs" --plan 2MB --reserve 0
    head -c 200M /dev/zero >"$work/tmpfs/fill" 2>/dev/null || true
    fails 1 program disk_speed "$work/tmpfs" --plan 2MB --repeats 1 --reserve 0
    fails 1 program disk_speed "$work/ext4" --plan standard --yes
    mkdir -m 755 "$work/others"
    fails 1 "${nobody[@]}" "$work/disk_speed" "$work/others" --plan 2MB --reserve 0
    fails 1 program disk_speed "$work/absent" --plan 2MB
    fails 1 program disk_speed "$work/run.txt" --plan 2MB
    fails 2 program disk_speed "$work/plain" --plan 1GB --repeats 11 --reads never --reserve 0
    fails 2 program disk_speed "$work/plain" --plan 0
    fails 2 program disk_speed "$work/plain" --plan 2MB --block 1000
}

part_faults() {
    as_root
    local d=$work/slow
    broken() { # broken DISK_OPTION VALUE WORD
        slowfs_up "$d" --write-bps 2G --read-bps 2G "$1" "$2"
        fails 1 program disk_speed "$d" --plan 4MB --repeats 4 --reserve 0 --block 1MiB --json -
        grep -q "$3" "$work/stderr" || die "not a word of $3"
        empty "$d"
        slowfs_down
    }
    broken --eio-write-at 6M "write to"
    broken --eio-read-at 6M "read"
    broken --eio-fsync 3 "sync"
    broken --enospc-at 9M "ran full"
    say "-- a write that hangs for 20 s, with a limit of 2 s"
    slowfs_up "$d" --write-bps 2G --read-bps 2G --hang-write-at 9M 20
    local i pid status=0
    rm -f "$work/run.json"
    "$programs/disk_speed" "$d" --plan 4MB --repeats 4 --reserve 0 --block 1MiB --time-limit 2 --json "$work/run.json" >"$work/run.txt" </dev/null &
    pid=$!
    # The result is there in time; the process itself cannot end before the system gives the request back.
    for i in {1..80}; do [ ! -e "$work/run.json" ] || break; sleep 0.1; done
    [ -e "$work/run.json" ] || die "the time limit did not end the run"
    kill -0 "$pid" 2>/dev/null || die "the write did not hang"
    wait "$pid" || status=$?
    [ "$status" = 0 ] || die "status $status after a hang"
    grep "thread" "$work/run.txt"
    expect "all_of(run['ending'] == 'time_limit', run['thread_lingers'] is True, len(run['samples']) == 2)"
    slowfs_down
    say "-- a disk that goes away"
    goes_away() { # goes_away FOLDER WORD COMMAND...: one line with that word when COMMAND takes the disk away under way
        "$programs/disk_speed" "$1" --plan 40MB --repeats 200 --reserve 0 --reads never >"$work/stdout" 2>"$work/stderr" </dev/null &
        pid=$!
        sleep 2
        "${@:3}"
        status=0
        wait $pid || status=$?
        [ "$status" = 1 ] && [ "$(wc -l <"$work/stderr")" = 1 ] || { cat "$work/stderr"; die "status $status for a disk that went away"; }
        grep "$2" "$work/stderr" || { cat "$work/stderr"; die "not a word of $2"; }
        empty "$1"
    }
    slowfs_up "$d" --write-bps 20M
    goes_away "$d" "not connected" slowfs_down
    [ -e /dev/loop-control ] && apt_needs e2fsprogs mount || skip "no loop devices here"
    attach gone ext4
    goes_away "$work/gone" "not on the volume any more" umount --lazy "$work/gone"
    mounted=()
}

part_stop() {
    mkdir "$work/stop"
    python3 - "$programs/disk_speed" "$work/stop" <<'PY'
import os, pty, signal, subprocess, sys, time

program, folder = sys.argv[1:]
def run(*arguments):
    return subprocess.Popen([program, folder, "--plan", "20MB", "--reserve", "0", *arguments], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
for name, after in [("INT", 0.1), ("INT", 0.5), ("TERM", 1.0), ("HUP", 1.5)]:
    process = run("--repeats", "400", "--reads", "never")
    time.sleep(after)
    process.send_signal(getattr(signal, "SIG" + name))
    _, error = process.communicate(timeout=60)
    print(f"   SIG{name} after {after} s: status {process.returncode}: {error.strip()}")
    assert process.returncode == 130 and len(error.splitlines()) == 1, error
    assert not os.listdir(folder), os.listdir(folder)
# More than 10 GB: it asks on a terminal. No, and ^C, end it.
for keys, status, word in [(b"n\n", 1, "nothing was written"), (b"\x03", 130, "interrupted")]:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(program, [program, folder, "--plan", "200MB", "--repeats", "60", "--reads", "never", "--reserve", "0"])
    said = b""
    while b"[y/N]" not in said:
        said += os.read(terminal, 1000)
    os.write(terminal, keys)
    try:
        while more := os.read(terminal, 1000):
            said += more
    except OSError:
        pass  # the terminal ends with its program
    ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    print(f"   asked, {keys}: status {ended}: {said.decode().splitlines()[-1]}")
    assert ended == status and word in said.decode(), said
    assert not os.listdir(folder), os.listdir(folder)
process = run("--repeats", "400", "--reads", "never")
time.sleep(1)
process.kill()
process.communicate()
left = os.listdir(folder)
pair = [run("--repeats", "3", "--verify", "--seed", seed) for seed in "12"]
for process in pair:
    _, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
assert not os.listdir(folder), os.listdir(folder)
print(f"   SIGKILL left {left}; two runs at once in the same folder finished and left nothing")
PY
    [ "$(id -u)" = 0 ] || skip "the part on FUSE needs root"
    slowfs_up "$work/slow" --write-bps 500M
    "$programs/disk_speed" "$work/slow" --plan 20MB --repeats 400 --reserve 0 --reads never >/dev/null 2>&1 </dev/null &
    local pid=$!
    sleep 1
    kill -9 $pid
    wait $pid 2>/dev/null || true
    say "   on FUSE SIGKILL left: $(ls -A "$work/slow")"
    speed "$work/slow" --plan 1MB --repeats 1 --reserve 0
    empty "$work/slow"
    slowfs_down
}

part_memory() {
    tools_needed fio jq
    [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] || skip "/dev/shm is not in memory here"
    memory=${memory:-$(mktemp -d /dev/shm/gannet-check.XXXXXX)}
    local i
    # In turn, so that what else the machine does meets both; the first round is not counted.
    for i in 0 1 2 3 4 5 6 7; do
        fio --name=x --filename="$memory/fio" --rw=write --bs=1M --size=256M --ioengine=psync --thread --end_fsync=1 --fallocate=none \
            --refill_buffers=0 --output-format=json 2>/dev/null | jq '.jobs[0].write | .io_bytes / .runtime * 1000' >>"$work/fio.memory"
        rm -f "$memory/fio"
        speed "$memory" --plan 268435456 --repeats 1 --reserve 0 --block 1MiB --access cached --reads never
        jq '.summary.write.total_rate' "$work/run.json" >>"$work/own.memory"
    done
    python3 - "$work/fio.memory" "$work/own.memory" <<'PY'
import statistics, sys
fio, own = ([float(line) for line in open(name)][1:] for name in sys.argv[1:])
ratio = statistics.median(o / f for o, f in zip(own, fio))
print(f"   in memory, 1 MiB: {statistics.median(own) / 1e6:.0f} MB/s, fio {statistics.median(fio) / 1e6:.0f} MB/s, median ratio {ratio:.3f}")
assert ratio >= 0.95
PY
}

parts=("$@")
[ $# -ge 1 ] || parts=(rates slc steady loop fio labels volumes faults stop memory)
build_programs disk_speed
for part in "${parts[@]}"; do
    [ "$(type -t "part_$part")" = function ] || die "no part $part"
    say "== $part"
    "part_$part"
done
