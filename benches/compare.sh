#!/bin/bash
# Compression and decompression against other tools, in pairs: theirs, ours, theirs, ours. The ratio of each pair is taken
# on its own, so that what disturbs the machine for a while disturbs both.
set -euo pipefail
export LC_ALL=C

usage() {
    cat <<'U'
usage: compare.sh FOLDER TEXT BINARY PACKED [PAIRS]

FOLDER   a RAM-backed folder with room for 2 GB; what is made there is removed
TEXT, BINARY, PACKED   files that compress well, somewhat and not at all
PAIRS    pairs of runs for each line (default 7)

Needs the programs built (cargo build --release --examples) and zstd, pzstd and lz4; uses zeekstd (cargo install
zeekstd_cli --locked) where it is there. PROGRAMS says where compress and decompress are (default
target/release/examples), LINES a pattern of the lines to run (default all), THREADS how many threads (default 2).
U
}

[ $# -ge 4 ] || { usage >&2; exit 2; }
folder=$1 text=$2 binary=$3 packed=$4 pairs=${5:-7}
programs=${PROGRAMS:-target/release/examples} lines=${LINES:-.} threads=${THREADS:-2}
compress=$programs/compress decompress=$programs/decompress
work=$(mktemp -d -p "$folder" compare.XXXXXX)
trap 'rm -rf "$work"' EXIT
cp "$text" "$work/text"
cp "$binary" "$work/binary"
cp "$packed" "$work/packed"

# Memory that the machine behind a virtual one has not given yet, or took back, is slow once: touch more than a run needs.
warm() {
    head -c 1500000000 /dev/zero >"$work/warm"
    rm "$work/warm"
}

seconds() { # seconds COMMAND...: wall time, with the output of an earlier run removed before
    rm -f "$work/out"
    local start end
    start=$EPOCHREALTIME
    "$@" >/dev/null 2>&1 </dev/null
    end=$EPOCHREALTIME
    echo $((${end/./} - ${start/./}))
}

pair() { # pair NAME OURS THEIRS: both are functions that write $work/out
    [[ $1 =~ $lines ]] || return 0
    local i theirs ours rows=""
    rm -f "$work/out"
    warm
    "$3" >/dev/null 2>&1 || { echo "$1: their tool failed" >&2; return 0; }
    rm -f "$work/out"
    for ((i = 0; i < pairs; i++)); do
        theirs=$(seconds "$3")
        ours=$(seconds "$2")
        rows+="$theirs $ours"$'\n'
    done
    printf '%s' "$rows" | awk -v name="$1" '
        function sort(a, n,  i, j, v) {
            for (i = 2; i <= n; i++) {
                v = a[i]
                for (j = i - 1; j > 0 && a[j] > v; j--) a[j + 1] = a[j]
                a[j + 1] = v
            }
        }
        function median(a, n) { sort(a, n); return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2 } # sorts a
        { t[NR] = $1 / 1e6; o[NR] = $2 / 1e6; r[NR] = $1 / $2 }
        END {
            n = NR; ratio = median(r, n)
            printf "| %s | %.3f | %.3f | %.2f | %.2f to %.2f |\n", name, median(t, n), median(o, n), ratio, r[1], r[n]
        }'
}

echo "| line | theirs, s | ours, s | ratio | range |"
echo "|---|---|---|---|---|"

for file in text binary; do
    in=$work/$file
    for level in 1 3 9; do
        ours() { "$compress" --threads "$threads" --level $level "$in" "$work/out"; }
        theirs() { zstd -q -f -T"$threads" -$level "$in" -o "$work/out"; }
        pair "compress $file, zstd -T$threads -$level" ours theirs
        if [ $level != 9 ]; then
            theirs() { pzstd -q -f -p "$threads" -$level "$in" -o "$work/out"; }
            pair "compress $file, pzstd -p$threads -$level" ours theirs
        fi
        if [ $level = 3 ] && command -v zeekstd >/dev/null; then
            theirs() { zeekstd compress -q -f -l $level "$in" -o "$work/out"; }
            pair "compress $file, zeekstd -l $level" ours theirs
        fi
    done
    ours() { "$compress" --threads "$threads" --codec lz4 "$in" "$work/out"; }
    theirs() { lz4 -q -f -1 "$in" "$work/out"; }
    pair "compress $file, lz4 -1" ours theirs

    size() { stat -c %s "$1"; }
    ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4f", a / b }'; }
    for level in 1 9 3; do
        "$compress" --threads "$threads" --level $level --force "$in" "$work/ours.zst" >/dev/null
        zstd -q -f -T"$threads" -$level "$in" -o "$work/theirs.zst"
        echo "size of $file, zstd $level, ours / zstd -T$threads: $(ratio "$(size "$work/ours.zst")" "$(size "$work/theirs.zst")")" >&2
    done
    "$compress" --threads "$threads" --force --codec lz4 "$in" "$work/ours.lz4" >/dev/null
    pzstd -q -f -p "$threads" -3 "$in" -o "$work/pzstd.zst"
    lz4 -q -f -1 "$in" "$work/theirs.lz4"
    echo "size of $file, lz4, ours / lz4 -1: $(ratio "$(size "$work/ours.lz4")" "$(size "$work/theirs.lz4")")" >&2
    ours() { "$decompress" --threads "$threads" "$work/ours.zst" "$work/out"; }
    theirs() { zstd -q -f -d "$work/theirs.zst" -o "$work/out"; }
    pair "decompress $file, zstd -d" ours theirs
    theirs() { pzstd -q -f -d -p "$threads" "$work/pzstd.zst" -o "$work/out"; }
    pair "decompress $file, pzstd -d -p$threads" ours theirs
    if command -v zeekstd >/dev/null; then
        zeekstd compress -q -f -l 3 "$in" -o "$work/zeek.zst"
        theirs() { zeekstd decompress -q -f "$work/zeek.zst" -o "$work/out"; }
        pair "decompress $file, zeekstd" ours theirs
    fi
    ours() { "$decompress" --threads "$threads" "$work/ours.lz4" "$work/out"; }
    theirs() { lz4 -q -f -d "$work/theirs.lz4" "$work/out"; }
    pair "decompress $file, lz4 -d" ours theirs

    ours() { "$compress" --threads "$threads" --level $level "$in" "$work/out"; }
    theirs() { "$compress" --threads 1 --level $level "$in" "$work/out"; }
    for level in 1 3; do
        pair "compress $file, zstd $level, ours with 1 thread" ours theirs
    done
done

in=$work/packed
ours() { "$compress" --threads "$threads" "$in" "$work/out"; }
theirs() { cp "$in" "$work/out"; }
pair "compress incompressible, cp" ours theirs
"$compress" --force "$in" "$work/ours.zst" >/dev/null
ours() { "$decompress" --threads "$threads" "$work/ours.zst" "$work/out"; }
pair "decompress incompressible, cp" ours theirs
