# Shared by the scripts of this folder; sourced with bash.
# Exit status of every script: 0 passed, 77 skipped (the last line says why), anything else failed.
export LC_ALL=C
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# What the scripts download and unpack; kept between runs.
tools=${GANNET_CI_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/gannet-ci}
# Disks of known speed and data for the checks that need them; beside the checkout, never in it.
shared=${GANNET_CI_SHARED:-$root/../shared}

# A checkout of another user's is still the one to check.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0=$root

say() { printf '%s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }
skip() { printf 'skipped: %s\n' "$*"; exit 77; }

# retry COMMAND...: up to four times, with growing pauses (networks and package mirrors fail now and then)
retry() {
    local pause
    for pause in 2 5 15 0; do
        "$@" && return 0
        [ "$pause" = 0 ] || { say "again in $pause s: $*" >&2; sleep "$pause"; }
    done
    return 1
}

# apt_needs PACKAGE...: installs those that are missing; says no without Debian's apt or without root
apt_needs() {
    local package missing=()
    for package in "$@"; do
        [ "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null)" = "install ok installed" ] || missing+=("$package")
    done
    [ ${#missing[@]} = 0 ] && return 0
    command -v apt-get >/dev/null || { say "no apt-get to install ${missing[*]}" >&2; return 1; }
    [ "$(id -u)" = 0 ] || { say "not root, so cannot install ${missing[*]}" >&2; return 1; }
    apt_update
    DEBIAN_FRONTEND=noninteractive retry apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "${missing[@]}" >/dev/null
}

# tools_needed PROGRAM...: on Debian a package of the same name is installed for what is missing
tools_needed() {
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null || apt_needs "$tool" || skip "$tool is not here"
    done
}

# apt_update: once a run. A third party's broken list does not matter; a missing package says so itself.
apt_update() {
    [ -z "${GANNET_CI_APT_UPDATED:-}" ] || return 0
    if [ "$(id -u)" = 0 ]; then retry apt-get update -qq >/dev/null 2>&1 || true; fi
    export GANNET_CI_APT_UPDATED=1
}
