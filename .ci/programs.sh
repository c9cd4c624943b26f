# The programs of examples/, for scripts that run them; sourced after lib.sh. Needs $work, a folder for scratch files.

program_names() {
    cargo metadata --no-deps --format-version=1 --locked | python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    for target in package["targets"]:
        if target["kind"] == ["example"]: print(target["name"])'
}

# build_programs [NAME...]: release builds of these, or of all
build_programs() {
    local name which=(--examples)
    if [ $# -gt 0 ]; then
        which=()
        for name in "$@"; do which+=(--example "$name"); done
    fi
    cargo build --release --quiet --locked -p gannet-examples "${which[@]}"
    programs=${CARGO_TARGET_DIR:-$root/target}/release/examples
}

# program NAME ARGUMENTS...
program() { "$programs/$1" "${@:2}"; }

# fails STATUS COMMAND...: ends with that status, one line on standard error and nothing on standard output
fails() {
    local wanted=$1 status=0
    shift
    "$@" >"$work/stdout" 2>"$work/stderr" </dev/null || status=$?
    [ "$status" = "$wanted" ] || { cat "$work/stderr" >&2; die "status $status, not $wanted: $*"; }
    [ "$(wc -l <"$work/stderr")" -eq 1 ] || { cat "$work/stderr" >&2; die "not one line on standard error: $*"; }
    [ ! -s "$work/stdout" ] || die "something on standard output: $*"
    say "   $(cat "$work/stderr")"
}

# empty FOLDER: nothing was left behind
empty() {
    local left
    left=$(ls -A "$1")
    [ -z "$left" ] || die "left behind in $1: $left"
}
