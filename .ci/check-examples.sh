#!/bin/bash
# Every program of examples/Cargo.toml: its help, its answer to bad arguments, and one small real use of it.
# usage: .ci/check-examples.sh [PROGRAM...]
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"
work=$(mktemp -d "${TMPDIR:-/tmp}/gannet-check.XXXXXX")
trap 'rm -rf "$work"' EXIT
. .ci/programs.sh
tools_needed zstd lz4

# Real input: a part of the compiler.
head -c 20000000 "$(echo "$(rustc --print sysroot)"/lib/librustc_driver-*)" >"$work/input"

# json NAME FILE [EXPRESSION]: one object with the right schema, and EXPRESSION about it (called d) holds
json() {
    python3 - "$@" <<'PY'
import json, sys
name, path = sys.argv[1:3]
with open(path) as file:
    d = json.load(file)
assert d["schema"].split("/")[:2] == ["gannet", name], d["schema"]
for key in ["machine", "settings"]:
    assert isinstance(d[key], dict), key
for expression in sys.argv[3:]:
    assert eval(expression), expression
PY
}

use_bottleneck() {
    mkdir "$work/b"
    program bottleneck --dir "$work/b" --size 30MB --repeats 2 --report "$work/b.html" --json - >"$work/b.json"
    json bottleneck "$work/b.json" 'd["verified"] is True' 'len(d["verdict"]) == len(d["settings"]["threads"])' \
        '{r["operation"] for r in d["runs"]} == {"compress", "decompress"}' 'd["disk"]["write_bytes_per_second"] > 0' \
        'all(v["limiting_stage"] in ["read", "process", "write", "starved"] for v in d["verdict"])'
    grep -q '<svg' "$work/b.html"
    if grep -oE '(src|href)="[^#"][^"]*"' "$work/b.html"; then die "the report needs another file"; fi
    empty "$work/b"
    program bottleneck "$work/input" --codec lz4 --repeats 1 --threads 1 --warm --dir "$work/b" | grep -q process
    program bottleneck "$work/input" --codec store --repeats 1 --dir "$work/b" --json "$work/s.json" >/dev/null
    json bottleneck "$work/s.json" 'd["verified"] is True' 'd["source"]["bytes"] == 20000000'
    empty "$work/b"
}

use_compress() {
    local codec
    for codec in zstd lz4; do
        program compress "$work/input" "$work/c.$codec" --codec $codec --threads 2 --json "$work/c.json" >/dev/null
        json compress "$work/c.json" 'd["files"][0]["input_bytes"] == 20000000' 'd["files"][0]["error"] is None'
        "$codec" -q -d -c "$work/c.$codec" | cmp - "$work/input"
    done
    fails 1 program compress "$work/absent" "$work/c.absent"
    # The status counts where the message finds no place.
    local status=0
    program compress "$work/absent" "$work/c.absent" 2>/dev/full || status=$?
    [ "$status" = 1 ] || die "status $status, not 1, with a full standard error"
    program compress "$work/input" "$work/c.list" >/dev/null
    status=0
    program decompress --list "$work/c.list" >/dev/full 2>/dev/null || status=$?
    [ "$status" = 1 ] || die "status $status, not 1, with a full standard output"
    # One signal ends a run that waits for a pipe that nobody writes to.
    mkfifo "$work/c.fifo"
    "$programs/compress" "$work/c.fifo" "$work/c.never" 2>/dev/null &
    sleep 0.5
    kill -TERM $!
    status=0
    wait $! || status=$?
    [ "$status" = 130 ] || die "status $status, not 130, after a signal"
    [ ! -e "$work/c.never" ] || die "an output of an interrupted run"
}

use_decompress() {
    local codec
    for codec in zstd lz4; do
        program compress "$work/input" "$work/d.$codec" --codec $codec --force >/dev/null
        program decompress "$work/d.$codec" "$work/d.out" --force >/dev/null
        cmp "$work/d.out" "$work/input"
        "$codec" -q -c "$work/input" | program decompress - - 2>/dev/null | cmp - "$work/input"
        program decompress --test - <"$work/d.$codec" | grep -q sound
        program decompress --list "$work/d.$codec" | grep -q .
    done
    head -c 1000000 "$work/d.zstd" >"$work/d.cut"
    fails 1 program decompress "$work/d.cut" "$work/d.none"
    [ ! -e "$work/d.none" ]
}

use_scaling() {
    program scaling --size 4MB --threads 1-3 --repeats 2 --json - >"$work/scaling.json"
    json scaling "$work/scaling.json" 'len(d["runs"]) == 12' 'len(d["fits"]) == 2'
    if [ "$(uname)" != Linux ]; then
        fails 1 program scaling -- true
        return
    fi
    program scaling --threads 1 --repeats 3 --json "$work/command.json" --report "$work/command.html" -- sleep 0.05 >"$work/command.txt"
    json scaling "$work/command.json" 'd["settings"]["command"] == ["sleep", "0.05"]' 'len(d["runs"]) == 3' \
        'all(r["seconds"] >= 0.05 for r in d["runs"])' 'len(d["fits"]) == 1'
    grep -q '<svg' "$work/command.html"
    fails 1 program scaling --threads 1 -- false
    fails 1 program scaling --threads 1 -- "$work/absent"
    fails 2 program scaling --threads 1000 -- true
    # Asked to end, it ends the command and what that started.
    local pid status=0
    "$programs/scaling" --threads 1 -- sh -c "echo \$\$ >'$work/child'; sleep 1000; true" 2>"$work/stderr" &
    pid=$!
    until [ -s "$work/child" ]; do sleep 0.1; done
    kill -INT "$pid"
    wait "$pid" || status=$?
    [ "$status" = 130 ] || die "status $status after an interrupt: $(cat "$work/stderr")"
    if pgrep -r R,S,D -g "$(cat "$work/child")"; then die "the command goes on after an interrupt"; fi
}

use_curve() {
    printf '1 49.9\n2 26.6\n3 18.4\n4 14.1\n5 11.5\n' >"$work/curve.txt"
    program curve "$work/curve.txt" --model power --predict 10 --json - >"$work/curve.json"
    json curve "$work/curve.json" 'd["n"] == 5' 'len(d["predictions"]) == 1' 'd["parameters"][1]["estimate"] < 0'
    printf '1,3\n2,5\n3,7\n' | program curve - --model linear --json - >"$work/line.json"
    json curve "$work/line.json" '[p["estimate"] for p in d["parameters"]] == [1.0, 2.0]'
    program curve "$work/curve.txt" --model all >/dev/null
}

use_topology() {
    program topology --json - >"$work/topology.json"
    json topology "$work/topology.json"
    program topology | grep -q .
}

use_qos_effect() {
    program qos_effect --repeats 2 --seconds 0.05 --json - >"$work/qos.json"
    json qos_effect "$work/qos.json" 'len(d["classes"]) == 5' 'all(len(c["seconds"]) == 2 for c in d["classes"])'
}

use_cores() {
    program cores --threads 1,2 --workloads integer --seconds 0.05 --repeats 1 --json - >"$work/cores.json"
    json cores "$work/cores.json"
}

use_core_history() {
    program core_history --quiet --json "$work/history.json" --report "$work/history.html" -- sleep 0.5 >/dev/null
    json core_history "$work/history.json" 'len(d["cpus"]) >= 1'
    grep -q '<svg' "$work/history.html"
}

use_disk_speed() {
    mkdir "$work/disk"
    program disk_speed "$work/disk" --plan 2MB,4MB,8MB --repeats 2 --reserve 0 --json - >"$work/disk.json"
    json disk_speed "$work/disk.json" 'len(d["samples"]) >= 12' 'd["settings"]["access_achieved"]'
    empty "$work/disk"
}

build_programs
[ $# -gt 0 ] || set -- $(program_names)
for name in "$@"; do
    say "-- $name"
    program "$name" --help >"$work/help"
    grep -q 'Usage: ' "$work/help" || die "$name --help shows no usage"
    fails 2 program "$name" --no-such-option
    if [ "$(type -t "use_$name")" = function ]; then
        "use_$name"
    else
        say "   its help and its arguments only"
    fi
done
