#!/bin/bash
# Every fuzz target of fuzz/ for some seconds, from an empty corpus or the one there is. A finding fails; its input stays in fuzz/artifacts.
# usage: .ci/check-fuzz.sh [SECONDS [TARGET...]]     (default: 60, all)
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root/fuzz"
seconds=${1:-60}
shift || true
command -v rustup >/dev/null && rustup run nightly rustc --version >/dev/null 2>&1 || skip "no nightly toolchain here"
PATH=$tools/cargo-fuzz/bin:$PATH
command -v cargo-fuzz >/dev/null || retry cargo install --quiet --locked --root "$tools/cargo-fuzz" cargo-fuzz || skip "cargo-fuzz cannot be installed"
[ $# -gt 0 ] || set -- decode seek_table round_trip
for target in "$@"; do
    say "== $target, $seconds s"
    log=${TMPDIR:-/tmp}/gannet-fuzz-$target.log
    status=0
    cargo +nightly fuzz run "$target" -- -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1024 -print_final_stats=1 >"$log" 2>&1 || status=$?
    grep -E '^(stat::number_of_executed_units|SUMMARY|thread|Done)' "$log" || true
    [ "$status" = 0 ] || die "$target: see $log"
    rm -f "$log"
done
