#!/bin/bash
# Type-checks, lints and links every library, test, bench and program for Apple silicon (aarch64-apple-darwin), C code
# too, and compiles the assertions about Apple's headers. No Mac is needed: nothing is run.
# usage: .ci/check-apple.sh [PACKAGE...]       (default: the whole workspace)
# GANNET_APPLE_TARGET_DIR chooses the target directory; by default all checkouts share one, for the standard library's sake.
#
# rustup's toolchain has no standard library for the target here, so it is built from Debian's source with Debian's
# compiler; zig brings Apple's headers, a linker and a C compiler.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"
target=aarch64-apple-darwin
packages=(--workspace)
[ $# = 0 ] || { packages=(); for package in "$@"; do packages+=(-p "$package"); done; }

rust=$("$root/.ci/debian-rust.sh" newest rust-web-src rust-web-clippy) || { status=$?; say "$rust"; exit $status; }

python=$tools/python-zig
if ! [ -e "$python/.installed" ]; then
    python3 -m pip --version >/dev/null 2>&1 || apt_needs python3-pip || die "python3's pip is needed"
    (
        flock 9
        [ -e "$python/.installed" ] && exit 0
        rm -rf "$python"
        retry python3 -m pip install -q --root-user-action ignore --no-warn-script-location --target "$python" \
            ziglang==0.17.1 cargo-zigbuild==0.24.1 && : >"$python/.installed"
    ) 9>"$tools/python-zig.lock" || die "cannot install ziglang and cargo-zigbuild"
fi

if [ -e .ci/apple-layout.c ]; then
    say "-- layouts and constants against Apple's headers"
    object=$(mktemp)
    trap 'rm -f "$object"' EXIT
    "$python/ziglang/zig" cc -target aarch64-macos -Wall -Werror -c .ci/apple-layout.c -o "$object"
fi

# Only this script's commands see Debian's Rust.
export PATH=$rust/usr/bin:$python/bin:$PATH LD_LIBRARY_PATH=$rust/usr/lib/x86_64-linux-gnu
export RUSTC=$rust/usr/bin/rustc CARGO=$rust/usr/bin/cargo RUSTC_BOOTSTRAP=1
export CARGO_ZIGBUILD_ZIG_PATH=$python/ziglang/zig
export CARGO_TARGET_DIR=${GANNET_APPLE_TARGET_DIR:-$tools/apple-target}
unset RUSTUP_TOOLCHAIN RUSTFLAGS
# Nothing is run, so nothing needs to be fast.
options=(-Zbuild-std=std,panic_unwind,test --target "$target" "${packages[@]}" --all-targets --all-features --locked
    --config profile.dev.opt-level=0 --config 'profile.dev.package."*".opt-level=0'
    --config profile.dev.debug=false --config 'profile.dev.strip="none"')

say "-- build and link"
cargo-zigbuild build "${options[@]}"
say "-- clippy"
cargo-zigbuild clippy "${options[@]}" -- -D warnings
