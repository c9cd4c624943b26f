#!/bin/bash
# What is written in the product: no paths or hosts of the machine it was made on, no promises instead of code, files of
# a readable length, links that lead somewhere, and the two commands a newcomer needs.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"
git rev-parse --git-dir >/dev/null 2>&1 || skip "not a git checkout"
failed=0
# none WHAT GREP-ARGUMENTS...: fails if git grep finds any
none() {
    local what=$1
    shift
    local status=0
    git grep -nI "$@" || status=$?
    case $status in
        0) say "^ $what"; failed=1 ;;
        1) ;;
        *) die "git grep failed: $*" ;;
    esac
}
here=':!.ci/check-text.sh'
places='/work/|/farm/|/root/|/tmp/(gannet|research|bash_jobs)'
hosts='static\.crates|crates\.io/api|deb\.debian|registry\.npmjs|pypi\.org'
none "paths and hosts that are not the product's" -E "$places|$hosts" -- "$here" ':!Cargo.lock'
none "outside .ci nothing may need the folder beside the checkout" -E '\.\./shared' -- ':!.ci'
none "promises instead of code" -E 'todo!\(|unimplemented!\(' -- '*.rs' '*.md'
none "promises instead of code" -wE 'TODO|FIXME|XXX' -- '*.rs' '*.md' '*.toml' "$here"
none "placeholders in a document" -E '^@[A-Z_]+@$' -- '*.md'
none "an ignored test needs a reason" -E '#\[ignore\]' -- '*.rs'
none "a lint is denied on the command line, not in the source" -E '#!\[deny\(warnings' -- '*.rs'

while read -r lines file; do
    [ "$file" = total ] && continue
    [ "$lines" -le 450 ] || { say "$file has $lines lines: more than 450"; failed=1; }
done < <(git ls-files '*.rs' '*.sh' '*.py' | xargs wc -l)

for command in 'cargo run --release --example bottleneck' 'cargo test --workspace'; do
    grep -qxF "$command" README.md || { say "README.md lacks the command: $command"; failed=1; }
done

python3 - <<'PY' || failed=1
"""Relative links of Markdown files must lead to something in the repository."""
import pathlib, re, subprocess, sys

bad = False
files = subprocess.check_output(["git", "ls-files", "*.md"], text=True).split()
for name in files:
    path = pathlib.Path(name)
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            continue
        if path.parts[0] == "crates" and re.fullmatch(r"[\w:]+(\(\)|!)?", target):
            continue  # an item of the crate, whose documentation this is; rustdoc checks it
        file = target.split("#")[0]
        if not (path.parent / file).exists():
            print(f"{name}: no {target}")
            bad = True
sys.exit(bad)
PY
exit $failed
