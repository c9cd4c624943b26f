#!/bin/bash
# Our files with the standard tools and their files with ours.
# usage: .ci/check-formats.sh [PART...]     (default: all)
#   ours     zstd, pzstd, lz4, bsdtar, file, zeekstd and python's zstandard read what we write
#   theirs   we read what zstd, pzstd, zeekstd and lz4 write, with many options each, and a stream of 5 GiB of zeros
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"
work=$(mktemp -d "${TMPDIR:-/tmp}/gannet-formats.XXXXXX")
. .ci/programs.sh
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

tools_needed zstd lz4 cmp python3
command -v pzstd >/dev/null || skip "pzstd is not here"

# The locked versions of two peers, kept between runs.
zeekstd=$tools/zeekstd/bin/zeekstd
[ -x "$zeekstd" ] || retry cargo install --quiet --locked --root "$tools/zeekstd" --version 0.4.5 zeekstd_cli || skip "zeekstd cannot be installed"
[ -d "$tools/python-zstandard" ] || retry python3 -m pip install --quiet --target "$tools/python-zstandard" zstandard==0.25.0 || skip "python's zstandard cannot be installed"
build_programs compress decompress

# Text, then binary, then what does not compress; and the small cases.
library=$(echo "$(rustc --print sysroot)"/lib/librustc_driver-*)
{ cat "$root"/crates/*/src/*.rs; tail -c 9000000 "$library"; head -c 3000000 /dev/urandom; } >"$work/plain"
: >"$work/empty"
printf x >"$work/one"

# same FILE COMMAND...: the command writes the file's bytes to standard output
same() {
    local file=$1
    shift
    "$@" | cmp - "$file" || die "not the same: $*"
    checks=$((checks + 1))
}
checks=0

part_ours() {
    local name options ranges
    for name in plain empty one; do
        for options in "--level 1" "--level 3" "--level -5" "--level 12 --chunk 300KiB" "--chunk 64KiB"; do
            # shellcheck disable=SC2086 # several words
            program compress "$work/$name" "$work/$name.zst" --force $options >/dev/null
            same "$work/$name" zstd -q -d -c "$work/$name.zst"
            zstd -q -t "$work/$name.zst"
            same "$work/$name" pzstd -q -d -c "$work/$name.zst"
            same "$work/$name" program decompress "$work/$name.zst" -
            same "$work/$name" "$zeekstd" decompress -q -c "$work/$name.zst"
        done
        for options in "" "--chunk 64KiB" "--chunk 9MiB"; do
            # shellcheck disable=SC2086
            program compress "$work/$name" "$work/$name.lz4" --codec lz4 --force $options >/dev/null
            same "$work/$name" lz4 -q -d -c "$work/$name.lz4"
            lz4 -q -t "$work/$name.lz4"
            same "$work/$name" program decompress "$work/$name.lz4" -
        done
        # A pipe has no known length.
        program compress - - <"$work/$name" >"$work/pipe.zst" 2>/dev/null
        same "$work/$name" zstd -q -d -c "$work/pipe.zst"
    done
    program compress "$work/plain" "$work/plain.zst" --force --chunk 100000B >/dev/null
    program compress "$work/plain" "$work/plain.lz4" --force --chunk 100000B --codec lz4 >/dev/null
    if command -v file >/dev/null; then
        file "$work/plain.zst" | grep -q Zstandard || die "file does not know the zstd file"
        file "$work/plain.lz4" | grep -q "LZ4 compressed" || die "file does not know the LZ4 file"
    fi
    ranges=$(python3 - "$work/plain" <<'PY'
import os, random, sys
size = os.path.getsize(sys.argv[1])
random.seed(3)
for _ in range(20):
    a = random.randrange(size)
    print(f"{a}..{min(size, a + random.randrange(1, 400000))}")
PY
    )
    local range from to
    for range in $ranges; do
        from=${range%..*} to=${range#*..}
        tail -c +$((from + 1)) "$work/plain" | head -c $((to - from)) >"$work/range" || true
        same "$work/range" program decompress "$work/plain.zst" --range "$range"
        same "$work/range" program decompress "$work/plain.lz4" --range "$range"
        same "$work/range" "$zeekstd" decompress -q -c --from "$from" --to "$to" "$work/plain.zst"
    done
    # The table itself, read by the format's description, and every frame by itself with python's zstandard.
    PYTHONPATH=$tools/python-zstandard python3 - "$work/plain.zst" "$work/plain" <<'PY'
import struct, sys, zstandard
packed, plain = (open(name, "rb").read() for name in sys.argv[1:])
frames, descriptor, magic = struct.unpack("<IBI", packed[-9:])
assert magic == 0x8F92EAB1 and descriptor == 0
table = len(packed) - 9 - 8 * frames
assert struct.unpack("<II", packed[table - 8:table]) == (0x184D2A5E, 8 * frames + 9)
at = done = 0
for entry in range(frames):
    compressed, content = struct.unpack_from("<II", packed, table + 8 * entry)
    if content:
        frame = packed[at:at + compressed]
        assert zstandard.frame_content_size(frame) == content
        assert zstandard.ZstdDecompressor().decompress(frame) == plain[done:done + content]
    at += compressed
    done += content
assert at == table - 8 and done == len(plain)
with zstandard.ZstdDecompressor().stream_reader(open(sys.argv[1], "rb"), read_across_frames=True) as reader:
    assert reader.read(len(plain) + 1) == plain
PY
    checks=$((checks + 2))
    if command -v bsdtar >/dev/null; then
        tar -cf "$work/tar" -C "$work" plain one
        for options in zstd lz4; do
            program compress "$work/tar" "$work/tar.packed" --force --codec "$options" >/dev/null
            same "$work/plain" bsdtar -xOf "$work/tar.packed" plain
        done
    fi
}

# reads NAME FILE...: our program decodes the files, as files, from a pipe, and checks them
reads() {
    local name=$1 file
    shift
    for file in "$@"; do
        same "$work/$name" program decompress "$file" -
        same "$work/$name" program decompress - - <"$file"
        program decompress --test "$file" >/dev/null
        program decompress --list "$file" >/dev/null
        rm -f "$work/decoded"
        program decompress "$file" "$work/decoded" >/dev/null
        cmp "$work/decoded" "$work/$name"
    done
}

part_theirs() {
    local name options packed=$work/packed
    for name in plain empty one; do
        for options in "-1" "-3" "-19" "--fast=5" "-T2" "-3 --long=27" "--no-check" "--no-content-size" "-B65536 -T2" "--rsyncable -T2"; do
            # shellcheck disable=SC2086
            zstd -q -f $options "$work/$name" -o "$packed"
            reads $name "$packed"
            # shellcheck disable=SC2086
            zstd -q -c $options <"$work/$name" >"$packed"
            reads $name "$packed"
        done
        for options in "-p1" "-p2 -1" "-p2 -5"; do
            # shellcheck disable=SC2086
            pzstd -q -f $options "$work/$name" -o "$packed"
            reads $name "$packed"
        done
        for options in "-1" "-9" "-B4" "-B5" "-B6" "-B7" "-BD" "-B4 -BD" "-BX" "--content-size" "--no-frame-crc" "--no-frame-crc -BX -BD"; do
            # shellcheck disable=SC2086
            lz4 -q -f $options "$work/$name" "$packed"
            reads $name "$packed"
        done
        # Of nothing, lz4 -l writes a bare magic.
        lz4 -q -f -l "$work/$name" "$packed"
        reads $name "$packed"
    done
    head -c 300000 "$work/plain" >"$work/start"
    for options in "-l 1" "-l 3 --frame-size 256K" "-l 5 --frame-size 100K --frame-size-policy compressed" "--no-checksum"; do
        # shellcheck disable=SC2086
        "$zeekstd" compress -q -f $options "$work/plain" -o "$packed"
        reads plain "$packed"
        same "$work/start" program decompress "$packed" --range ..300000
    done
    # Concatenations, of seekable files and of all kinds.
    cat "$work/plain" "$work/plain" "$work/one" "$work/plain" >"$work/four"
    program compress "$work/plain" "$work/a.zst" --force >/dev/null
    zstd -q -f -c "$work/one" >"$work/b.zst"
    lz4 -q -f -c "$work/plain" >"$work/c.lz4"
    cat "$work/a.zst" "$work/a.zst" "$work/b.zst" "$work/c.lz4" >"$packed"
    reads four "$packed"
    # 5 GiB of zeros, through pipes only.
    head -c 5368709120 /dev/zero | zstd -q -c >"$packed"
    [ "$(program decompress "$packed" - | tr -d '\0' | wc -c)" = 0 ] || die "not only zeros"
    [ "$(program decompress "$packed" - | wc -c)" = 5368709120 ] || die "not 5 GiB"
    head -c 5368709120 /dev/zero | lz4 -q -c >"$packed"
    [ "$(program decompress "$packed" - | wc -c)" = 5368709120 ] || die "not 5 GiB"
    head -c 5368709120 /dev/zero | lz4 -q -l -c >"$packed"
    [ "$(program decompress "$packed" - | wc -c)" = 5368709120 ] || die "not 5 GiB"
    checks=$((checks + 4))
    # Refused, with a reason, and nothing left.
    zstd -q -f --train "$root"/crates/*/src/*.rs -o "$work/dictionary" 2>/dev/null || die "no dictionary"
    mkdir "$work/refused"
    zstd -q -f -D "$work/dictionary" "$work/plain" -o "$work/dict.zst"
    fails 1 program decompress "$work/dict.zst" "$work/refused/out"
    zstd -q -f --ultra --long=30 -1 "$work/four" -o "$work/long.zst"
    head -c 400000000 /dev/zero | zstd -q --ultra --long=30 -1 -c >"$work/long.zst"
    fails 1 program decompress "$work/long.zst" "$work/refused/out"
    program decompress --max-window 1GiB "$work/long.zst" - | wc -c | grep -q 400000000 || die "a large window is not read"
    empty "$work/refused"
}

[ $# -gt 0 ] || set -- ours theirs
for part in "$@"; do
    say "== $part"
    "part_$part"
done
say "$checks comparisons"
