#!/bin/bash
# gannet-qos on this machine (Linux): every guard undone for root and for nobody, read-back against other tools, the shares
# of a contended CPU, proportional probes whose loops are in the machine code, and core_history on a pinned spinner.
# The machine should be otherwise quiet. usage: .ci/check-qos.sh
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"
[ "$(uname)" = Linux ] || skip "these checks are for Linux"
[ "$(id -u)" = 0 ] || skip "needs root, to be root and nobody"
apt_needs util-linux util-linux-extra procps jq binutils || die "chrt, ionice, taskset, setpriv, jq and objdump are needed"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"

say "-- build"
test=$(cargo test --locked --release -p gannet-qos --test it --no-run --message-format=json |
    jq -r 'select(.reason == "compiler-artifact" and .target.name == "it") | .executable')
cp "$test" "$folder/it"
cargo build --locked --release -p gannet-examples --example core_history --example qos_effect --example topology --example cores
target=$(cargo metadata --locked --no-deps --format-version 1 | jq -r .target_directory)
programs=$target/release/examples

say "-- guards as root, then as nobody"
"$folder/it" linux_restore linux_child
(cd "$folder" && setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all ./it linux_restore linux_child)

say "-- chrt, ionice and taskset"
"$folder/it" --ignored linux_tools
(cd "$folder" && setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all ./it --ignored linux_tools)

say "-- lscpu and nproc"
"$programs/topology" --json - >"$folder/topology.json"
[ "$(jq '.topology.usable.cpus' "$folder/topology.json")" = "$(nproc)" ] || die "nproc says $(nproc)"
online=$(lscpu -p=CPU,CORE,SOCKET | grep -v '^#')
[ "$(jq '.topology.logical_cpus' "$folder/topology.json")" = "$(wc -l <<<"$online")" ] || die "lscpu counts other CPUs"
[ "$(jq '.topology.physical_cores' "$folder/topology.json")" = "$(cut -d, -f2,3 <<<"$online" | sort -u | wc -l)" ] ||
    die "lscpu counts other cores"
[ "$(taskset -c 0 "$programs/topology" --json - | jq -r '.topology.usable | "\(.cpus) \(.limit)"')" = "1 affinity" ] ||
    [ "$(nproc)" = 1 ] || die "one CPU by taskset is not seen"

say "-- shares of a contended CPU"
"$folder/it" --ignored --nocapture linux_effects

say "-- a sampled thread"
"$folder/it" --ignored --nocapture linux_sampler

say "-- loops in the machine code"
body() { objdump -d --no-show-raw-insn "$folder/it" | awk -v name="$1" '/^[0-9a-f]+ </ { on = index($0, name) } on'; }
case $(uname -m) in
    x86_64) patterns=(probe_integer:imul probe_floating_point:mulsd probe_simd:mulps probe_memory:mov) ;;
    aarch64) patterns=(probe_integer:madd\|mul probe_floating_point:fmul probe_simd:fmul.*4s probe_memory:ldr) ;;
    *) patterns=() ;;
esac
for pattern in "${patterns[@]}"; do
    text=$(body "${pattern%%:*}")
    grep -Eq "[[:space:]](${pattern#*:})" <<<"$text" || die "${pattern%%:*} has no ${pattern#*:}"
    # A loop: a jump back into the same function.
    grep -Eq "[[:space:]](j[a-z]+|b\.[a-z]+|cbn?z|tbn?z)[[:space:]].*${pattern%%:*}" <<<"$text" || die "${pattern%%:*} has no loop"
    say "${pattern%%:*}: ${pattern#*:} in a loop"
done

say "-- time proportional to loops"
"$folder/it" --ignored --nocapture probes

say "-- core_history: a spinner on one CPU"
if [ "$(nproc)" -ge 2 ]; then
    taskset -c 1 timeout 4 bash -c 'while :; do :; done' &
    sleep 0.5
    "$programs/core_history" --quiet --duration 2s --json "$folder/history.json" >/dev/null
    wait || true
    jq -r '.cpus[] | "CPU \(.cpu): mean \(.mean_busy)"' "$folder/history.json"
    jq -e '(.cpus[] | select(.cpu == 1) | .mean_busy) >= 0.95' "$folder/history.json" >/dev/null || die "CPU 1 was busy"
    jq -e '(.cpus[] | select(.cpu == 0) | .mean_busy) <= 0.25' "$folder/history.json" >/dev/null || die "CPU 0 was idle"
fi

say "-- qos_effect: no class is called honoured on cores of one kind"
"$programs/qos_effect" --repeats 2 --seconds 0.05 --json "$folder/effect.json"
if [ "$(jq '.topology.levels | length' "$folder/topology.json")" = 1 ]; then
    jq -e 'all(.classes[].verdict; . == "no-distinction")' "$folder/effect.json" >/dev/null || die "a wrong verdict"
fi
