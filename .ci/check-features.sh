#!/bin/bash
# Each library alone, so that nothing leans on features another member turns on: tests and clippy with the default
# features, none, each by itself, and all.
# usage: .ci/check-features.sh [PACKAGE...]
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"

python3 .ci/features.py | while IFS=$'\t' read -r package features; do
    [ $# = 0 ] || [[ " $* " == *" $package "* ]] || continue
    say "-- $package: ${features:-no features}"
    options=(--quiet --locked -p "$package" --no-default-features --features "$features")
    cargo clippy "${options[@]}" --all-targets -- -D warnings </dev/null
    cargo test "${options[@]}" </dev/null
done
