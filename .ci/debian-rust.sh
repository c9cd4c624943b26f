#!/bin/bash
# Unpacks Debian's Rust of one version into a folder of its own and prints the folder: nothing is installed, and the
# toolchain that the machine uses stays the one it uses. Use it with
#   PATH=FOLDER/usr/bin:$PATH LD_LIBRARY_PATH=FOLDER/usr/lib/x86_64-linux-gnu
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ $# -ge 1 ] || die "usage: debian-rust.sh VERSION|newest [PACKAGE...]   (rustc, cargo and std are always there)"
wanted=$1
shift

command -v apt-get >/dev/null && command -v dpkg >/dev/null || skip "Debian's Rust $wanted comes with apt, which is not here"
[ "$(dpkg --print-architecture)" = amd64 ] || skip "only tried on amd64"
mkdir -p "$tools"
exec 9>"$tools/debian-rust.lock"
flock 9

version() { # the Debian version of rustc-web that is wanted, empty if there is none
    apt-cache madison rustc-web 2>/dev/null | awk -F'[ |]+' -v w="$wanted." '
        w == "newest." || index($3, w) == 1 { print $3; exit }'
}
full=$(version)
if [ -z "$full" ]; then
    apt_update
    full=$(version)
fi
[ -n "$full" ] || skip "apt offers no rustc-web $wanted"

folder=$tools/rust-$full
mkdir -p "$folder"
minor=$(cut -d. -f1,2 <<<"$full")
missing=()
for package in rustc-web cargo-web libstd-rust-web-dev "libstd-rust-web-$minor" "$@"; do
    [ -e "$folder/.unpacked/$package" ] || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    apt_update
    with_version=("${missing[@]/%/=$full}")
    # What these need and the machine does not have.
    mapfile -t needed < <(apt-get -s --no-install-recommends install "${with_version[@]}" |
        awk '/^Inst/ && $2 !~ /rust|cargo/ { print $2 }')
    debs=$(mktemp -d "$tools/debs.XXXXXX")
    trap 'rm -rf "$debs"' EXIT
    (cd "$debs" && retry apt-get download "${with_version[@]}" "${needed[@]}" >download.log 2>&1) ||
        { cat "$debs/download.log" >&2; die "cannot download ${with_version[*]}"; }
    for deb in "$debs"/*.deb; do dpkg -x "$deb" "$folder"; done
    # One folder of libraries, as on a system where /lib is /usr/lib.
    if [ -d "$folder/lib" ]; then cp -r "$folder/lib/." "$folder/usr/lib/" && rm -r "$folder/lib"; fi
    mkdir -p "$folder/.unpacked"
    for package in "${missing[@]}"; do : >"$folder/.unpacked/$package"; done
fi
say "$folder"
