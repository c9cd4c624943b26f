#!/bin/bash
# What `bottleneck` must find out on disks, cores and files that are known beforehand.
# usage: .ci/check-bottleneck.sh PART...
#   ram     real data in memory and, with a warm cache, on the disk: processing limits
#   busy    a busy second core: starved at two threads
#   slow    FUSE disks of known speed: writing limits, reading limits            (root)
#   loop    the same on a throttled ext4 loop disk, and processing for zstd 19   (root)
#   errors  bad input and full disks: one line, the right status, nothing left   (root)
#   stop    interrupted, terminated or killed: nothing left
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"
[ $# -ge 1 ] || die "which part? ram busy slow loop errors stop"
work=$(mktemp -d "${TMPDIR:-/tmp}/gannet-check.XXXXXX")
chmod 755 "$work"
. .ci/programs.sh
. .ci/disks.sh

memory=
spinner=
tidy() {
    [ -z "$spinner" ] || kill "$spinner" 2>/dev/null || true
    disks_down
    rm -rf "$work" ${memory:+"$memory"}
}
trap tidy EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# in_memory: a scratch folder in memory, in $memory
in_memory() {
    [ -n "$memory" ] && return
    [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] || skip "/dev/shm is not in memory here"
    [ "$(df --output=avail -B1M /dev/shm | tail -n 1)" -gt 1000 ] || skip "/dev/shm has less than 1 GB"
    memory=$(mktemp -d /dev/shm/gannet-check.XXXXXX)
}

# real FILE BYTES: real data, shared objects of the compiler
real() {
    cat "$(rustc --print sysroot)"/lib/*.so "$(rustc --print sysroot)"/bin/cargo 2>/dev/null | head -c "$2" >"$1" || true
    [ "$(stat -c %s "$1")" = "$2" ] || die "the toolchain is too small for $2 bytes of data"
}

# verdict THREADS=STAGE[,...] ARGUMENTS...: the stages that limit, from a run on the first two CPUs
verdict() {
    local wanted=$1
    shift
    taskset -c 0,1 "$programs/bottleneck" "$@" --json "$work/run.json" >"$work/run.txt" || { cat "$work/run.txt"; die "failed: $*"; }
    python3 - "$wanted" "$work/run.json" <<'PY' || { cat "$work/run.txt"; die "not what limits: bottleneck $*"; }
import json, sys
found = json.load(open(sys.argv[2]))
assert found["verified"] is True
stages = {str(v["threads"]): v for v in found["verdict"]}
for wanted in sys.argv[1].split(","):
    threads, stage = wanted.split("=")
    v = stages[threads]
    print(f'   {threads} threads: {v["limiting_stage"]}: {v["evidence"]}')
    assert v["limiting_stage"] == stage, f"{stage} was wanted"
PY
}

two_cpus() { taskset -c 0,1 true 2>/dev/null && [ "$(taskset -c 0,1 nproc)" = 2 ] || skip "two CPUs are needed"; }
as_root() { [ "$(id -u)" = 0 ] || skip "needs root"; }

part_ram() {
    in_memory
    two_cpus
    real "$memory/data" 134217728
    say "-- in memory, zstd 3"
    mkdir "$memory/out"
    verdict 1=process,2=process "$memory/data" --dir "$memory/out" --threads 1,2 --level 3
    empty "$memory/out"
    say "-- on the disk with --warm, zstd 3"
    cp "$memory/data" "$work/data"
    mkdir "$work/out"
    verdict 1=process,2=process "$work/data" --dir "$work/out" --threads 1,2 --level 3 --warm
    empty "$work/out"
}

part_busy() {
    in_memory
    two_cpus
    real "$memory/data" 134217728
    mkdir "$memory/out"
    taskset -c 1 bash -c 'while :; do :; done' >/dev/null 2>&1 &
    spinner=$!
    verdict 2=starved "$memory/data" --dir "$memory/out" --threads 2 --level 3
    kill "$spinner"
    spinner=
}

part_slow() {
    as_root
    two_cpus
    slowfs_up "$work/slow" --write-bps 30M --read-bps 2G
    say "-- writes at 30 MB/s, LZ4"
    verdict 2=write --dir "$work/slow" --size 60MB --codec lz4 --threads 2 --repeats 1
    empty "$work/slow"
    slowfs_down
    slowfs_up "$work/slow" --read-bps 30M --write-bps 2G
    say "-- reads at 30 MB/s, LZ4"
    verdict 2=read --dir "$work/slow" --size 60MB --codec lz4 --threads 2 --repeats 1
    empty "$work/slow"
}

part_loop() {
    as_root
    two_cpus
    local folder
    loop_up "$work/loop" 30M 1G
    folder=$work/loop/here
    mkdir "$folder"
    say "-- ext4, writes at 30 MB/s, LZ4"
    verdict 2=write --dir "$folder" --size 100MB --codec lz4 --threads 2 --repeats 1
    say "-- ext4, writes at 30 MB/s, zstd 19"
    verdict 2=process --dir "$folder" --size 30MB --codec zstd --level 19 --threads 2 --repeats 1
    empty "$folder"
    loop_down
    loop_up "$work/loop" 1G 30M
    mkdir "$folder"
    say "-- ext4, reads at 30 MB/s, LZ4"
    verdict 2=read --dir "$folder" --size 100MB --codec lz4 --threads 2 --repeats 1
    say "-- ext4, reads at 30 MB/s, zstd 19"
    verdict 2=process --dir "$folder" --size 30MB --codec zstd --level 19 --threads 2 --repeats 1
    empty "$folder"
}

quietly() { "$@" >/dev/null; }

part_errors() {
    local d=$work/d
    mkdir "$d"
    : >"$work/nothing"
    head -c 3000000 "$programs/bottleneck" >"$work/data"
    fails 1 program bottleneck "$work/nothing" --dir "$d"
    fails 1 program bottleneck "$work/absent" --dir "$d"
    fails 1 program bottleneck "$work" --dir "$d"
    fails 1 program bottleneck "$work/data" --dir "$work/absent"
    fails 1 program bottleneck "$work/data" --dir "$work/data"
    fails 1 quietly program bottleneck "$work/data" --dir "$d" --threads 1 --repeats 1 --json "$work/absent/x.json"
    fails 2 program bottleneck "$work/data" --dir "$d" --threads 0
    fails 2 program bottleneck "$work/data" --dir "$d" --threads two
    fails 2 program bottleneck "$work/data" --dir "$d" --codec gzip
    fails 2 program bottleneck "$work/data" --dir "$d" --level 99
    fails 2 program bottleneck "$work/data" --dir "$d" --repeats 0
    fails 2 program bottleneck "$work/data" --dir "$d" --chunk 0
    fails 2 program bottleneck "$work/data" --dir "$d" --confidence 1
    fails 2 program bottleneck --size 0 --dir "$d"
    empty "$d"
    as_root
    # An unprivileged user: a file not to be read, a folder not to be written.
    cp "$programs/bottleneck" "$work/bottleneck"
    chmod 600 "$work/data"
    chmod 777 "$d"
    local nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups "$work/bottleneck")
    fails 1 "${nobody[@]}" "$work/data" --dir "$d"
    chmod 644 "$work/data"
    mkdir -m 755 "$work/others"
    fails 1 "${nobody[@]}" "$work/data" --dir "$work/others"
    empty "$d"
    empty "$work/others"
    # Disks that are full although they said that there was room: while data is made, while it is timed, in a run.
    local at
    head -c 30000000 "$(echo "$(rustc --print sysroot)"/lib/librustc_driver-*)" >"$work/big"
    for at in 5M 40M 100M; do
        slowfs_up "$work/full" --write-bps 2G --read-bps 2G --enospc-at $at
        fails 1 quietly program bottleneck --dir "$work/full" --size 60MB --threads 2 --repeats 9
        empty "$work/full"
        slowfs_down
    done
    slowfs_up "$work/full" --write-bps 2G --read-bps 2G --enospc-at 12M
    fails 1 quietly program bottleneck "$work/big" --dir "$work/full" --threads 2 --repeats 9
    empty "$work/full"
    slowfs_down
}

part_stop() {
    mkdir "$work/d"
    python3 - "$programs/bottleneck" "$work/d" <<'PY'
import os, signal, subprocess, sys, time

program, folder = sys.argv[1:]
def run(*arguments):
    return subprocess.Popen([program, "--dir", folder, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
def names():
    return [os.path.join(d, f) for d, _, files in os.walk(folder) for f in files]

# From the first moments, while data is made, to the runs: this takes some 10 s when it is left alone.
for name, after in [("INT", 0.0), ("INT", 0.2), ("INT", 1.0), ("TERM", 2.0), ("INT", 3.0), ("HUP", 4.0), ("INT", 5.0)]:
    process = run("--size", "256MB", "--repeats", "9")
    while not names():
        time.sleep(0.001)
        assert process.poll() is None, process.communicate()
    time.sleep(after)
    process.send_signal(getattr(signal, "SIG" + name))
    sent = time.monotonic()
    _, error = process.communicate(timeout=60)
    print(f"   SIG{name} after {after} s: status {process.returncode}, {time.monotonic() - sent:.2f} s later: {error.strip()}")
    assert process.returncode == 130 and len(error.splitlines()) == 1, error
    assert not os.listdir(folder), os.listdir(folder)

# Killed: what it leaves is taken away by the next run.
process = run("--size", "256MB", "--repeats", "9")
while not names():
    time.sleep(0.001)
time.sleep(3)
process.kill()
process.communicate()
left = os.listdir(folder)
process = run("--size", "1MB", "--repeats", "1", "--threads", "1")
_, error = process.communicate(timeout=60)
assert process.returncode == 0, error
assert not os.listdir(folder), os.listdir(folder)
print(f"   SIGKILL left {left}; the next run took it away")
PY
}

build_programs bottleneck
for part in "$@"; do
    [ "$(type -t "part_$part")" = function ] || die "no part $part"
    "part_$part"
done
