#!/bin/bash
# The four libraries compile with the oldest Rust that Cargo.toml promises, in every combination of features.
# The toolchain is rustup's, where it is installed, or else Debian's, unpacked into a folder of its own.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"
minimum=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
[ -n "$minimum" ] || die "Cargo.toml has no rust-version"

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}/msrv
check() {
    python3 .ci/features.py | while IFS=$'\t' read -r package features; do
        say "-- $package: ${features:-no features}"
        "$@" check --quiet --locked --lib -p "$package" --no-default-features --features "$features" </dev/null
    done
}

if rustup run "$minimum" rustc --version 2>/dev/null | grep -F "rustc $minimum."; then
    check rustup run "$minimum" cargo
    exit
fi

rust=$("$root/.ci/debian-rust.sh" "$minimum") || { status=$?; say "$rust"; exit $status; }
export PATH=$rust/usr/bin:$PATH LD_LIBRARY_PATH=$rust/usr/lib/x86_64-linux-gnu
export RUSTC=$rust/usr/bin/rustc CARGO=$rust/usr/bin/cargo
unset RUSTUP_TOOLCHAIN
"$RUSTC" --version | grep -F "rustc $minimum." || die "not Rust $minimum: $("$RUSTC" --version)"
check "$CARGO"
