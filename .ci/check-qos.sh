#!/bin/bash
# gannet-qos and its programs on this machine (Linux). The machine should be otherwise quiet.
# usage: .ci/check-qos.sh [PART...]       (default: all)
#   guards    every guard undone, or refused beforehand: by root, by nobody, by nobody with RLIMIT_NICE, and by the root of
#             a user namespace; read-back against chrt, ionice and taskset; topology against lscpu and nproc      (root)
#   shares    the shares of a contended CPU, waiting with and without contention, a sampled thread
#   code      the loops of the probes are in the machine code
#   probes    their time is proportional to their number
#   programs  core_history on a pinned spinner, verdicts, a user without rights, bad input, interruption         (root)
#   cost      a guard takes 10 µs at most (one with a restriction to CPUs is only shown), a meter that only counts 5 µs
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"
[ "$(uname)" = Linux ] || skip "these checks are for Linux"
work=$(mktemp -d "${TMPDIR:-/tmp}/gannet-check.XXXXXX")
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
. .ci/programs.sh

as_root() {
    [ "$(id -u)" = 0 ] || skip "needs root"
    apt_needs util-linux util-linux-extra jq || die "chrt, ionice, taskset, setpriv, unshare and jq are needed"
}
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all)

# test_binary: builds the tests in $work/it
test_binary() {
    local built
    [ ! -e "$work/it" ] || return 0
    built=$(cargo test --locked --release --quiet -p gannet-qos --test it --no-run --message-format=json |
        python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["reason"] == "compiler-artifact" and message["target"]["name"] == "it": print(message["executable"])')
    cp "$built" "$work/it"
}

# measured TEST: one that measures, alone
measured() { "$work/it" --ignored --nocapture --test-threads 1 "$1"; }

part_guards() {
    as_root
    test_binary
    (
        cd "$work"
        tests=(linux_restore linux_child linux_tools)
        say "-- root"; ./it --include-ignored "${tests[@]}"
        say "-- nobody"; "${nobody[@]}" ./it --include-ignored "${tests[@]}"
        say "-- nobody with RLIMIT_NICE"
        if prlimit --nice=40:40 true 2>/dev/null; then
            prlimit --nice=40:40 "${nobody[@]}" ./it --include-ignored "${tests[@]}"
        else
            say "   this root may not raise limits"
        fi
        say "-- root of a user namespace"
        if unshare --user --map-root-user true; then
            unshare --user --map-root-user ./it --include-ignored "${tests[@]}"
        else
            say "   no user namespaces here"
        fi
    )
    say "-- lscpu and nproc"
    build_programs topology
    program topology --json "$work/topology.json" >/dev/null
    of() { jq -r "$1" "$work/topology.json"; }
    same() { [ "$2" = "$3" ] || die "$1: topology says $2, the other tool $3"; say "   $1: $2"; }
    local online
    online=$(lscpu -p=CPU,CORE,SOCKET | grep -v '^#')
    same "CPUs to use" "$(of .topology.usable.cpus)" "$(nproc)"
    same "CPUs online" "$(of .topology.logical_cpus)" "$(wc -l <<<"$online")"
    same "numbers" "$(of '[.topology.online / "," | .[] / "-" | map(tonumber) | range(.[0]; .[-1] + 1)] | join(" ")')" \
        "$(cut -d, -f1 <<<"$online" | xargs)"
    same "cores" "$(of .topology.physical_cores)" "$(cut -d, -f2,3 <<<"$online" | sort -u | wc -l)"
    same "packages" "$(of '.topology.packages // 1')" "$(cut -d, -f3 <<<"$online" | sort -u | wc -l)"
    local name field
    for name in L1d:l1d L1i:l1i L2:l2 L3:l3; do
        field=$(of ".topology.levels[0].${name#*:}_bytes // empty")
        same "${name%:*}" "$field" "$(lscpu -B -C=NAME,ONE-SIZE | awk -v name="${name%:*}" '$1 == name { print $2 }')"
    done
    [ "$(nproc)" = 1 ] || same "with taskset" "$(taskset -c 0 "$programs/topology" --json - | jq -r '.topology.usable | "\(.cpus) \(.limit)"')" "1 affinity"
}

part_shares() {
    test_binary
    measured linux_effects
    measured linux_sampler
}

part_code() {
    tools_needed objdump
    test_binary
    local patterns=() pattern text
    body() { objdump -d --no-show-raw-insn "$work/it" | awk -v name="$1" '/^[0-9a-f]+ </ { on = index($0, name) } on'; }
    case $(uname -m) in
        x86_64) patterns=(probe_integer:imul probe_floating_point:mulsd probe_simd:mulps 'probe_memory:mov.*,4\)') ;;
        aarch64) patterns=(probe_integer:madd\|mul probe_floating_point:fmul probe_simd:fmul.*4s probe_memory:ldr) ;;
    esac
    for pattern in "${patterns[@]}"; do
        text=$(body "${pattern%%:*}")
        grep -Eq "[[:space:]](${pattern#*:})" <<<"$text" || die "${pattern%%:*} has no ${pattern#*:}"
        # A loop: a jump back into the same function.
        grep -Eq "[[:space:]](j[a-z]+|b\.[a-z]+|cbn?z|tbn?z)[[:space:]].*${pattern%%:*}" <<<"$text" || die "${pattern%%:*} has no loop"
        say "   ${pattern%%:*}: ${pattern#*:} in a loop"
    done
}

part_probes() {
    test_binary
    measured probes
}

# holds FILE EXPRESSION: jq says so
holds() { jq -e "$2" "$1" >/dev/null || { jq -c 'del(.machine)' "$1" | cut -c1-2000; die "does not hold: $2"; }; }

part_programs() {
    as_root
    build_programs core_history qos_effect cores topology
    local last=$(($(nproc) - 1)) name pid status

    if [ "$last" -ge 1 ]; then
        say "-- a spinner on CPU $last"
        # That the other is idle shows only on a machine that is otherwise idle.
        local quiet=
        for _ in {1..40}; do
            taskset -c "$last" "$programs/core_history" --quiet --duration 0.5s --json "$work/history.json" >/dev/null
            if jq -e '(.cpus[] | select(.cpu == 0) | .mean_busy) <= 0.15' "$work/history.json" >/dev/null; then quiet=1; break; fi
        done
        [ -n "$quiet" ] || die "other work keeps CPU 0 busy"
        taskset -c "$last" timeout 4 bash -c 'while :; do :; done' &
        sleep 0.5
        taskset -c 0 "$programs/core_history" --quiet --duration 2s --json "$work/history.json" >/dev/null
        wait || true
        jq -r '.cpus[] | "   CPU \(.cpu): mean \(.mean_busy)"' "$work/history.json"
        holds "$work/history.json" "(.cpus[] | select(.cpu == $last) | .mean_busy) >= 0.95"
        holds "$work/history.json" '(.cpus[] | select(.cpu == 0) | .mean_busy) <= 0.25'
        holds "$work/history.json" '.ending == "duration" and .resolution_text != null'
    fi

    say "-- no class is called honoured on cores of one kind"
    program qos_effect --repeats 2 --seconds 0.05 --json "$work/effect.json" >/dev/null
    if [ "$(jq '.machine.topology.levels | length' "$work/effect.json")" = 1 ]; then
        holds "$work/effect.json" 'all(.classes[].verdict; . == "no-distinction")'
    fi

    say "-- a user without rights"
    mkdir "$work/programs" "$work/out"
    for name in core_history qos_effect cores topology; do cp "$programs/$name" "$work/programs"; done
    chown 65534 "$work/out"
    as_nobody() { name=$1; shift; (cd "$work/out" && "${nobody[@]}" "../programs/$name" "$@" --json "$name.json" >/dev/null); }
    as_nobody topology
    as_nobody qos_effect --repeats 1 --seconds 0.01
    holds "$work/out/qos_effect.json" '[.classes[].effective.linux.policy] == ["batch", "batch", "other", "other", "other"]'
    as_nobody qos_effect --repeats 1 --seconds 0.01 --one-way
    holds "$work/out/qos_effect.json" '.settings.profile == "one-way" and .classes[0].effective.linux.policy == "idle"'
    holds "$work/out/qos_effect.json" '.classes[1].effective.linux.nice == 5'
    as_nobody cores --threads 1,2 --workloads memory --repeats 2 --seconds 0.01 --classes background,default
    holds "$work/out/cores.json" '(.series | length) == 2 and .series[0].line.loops_per_second > 0'
    as_nobody core_history --duration 0.3s
    (cd "$work/out" && "${nobody[@]}" ../programs/core_history --json c.json -- sleep 0.3 >/dev/null)
    holds "$work/out/c.json" '.exit_code == 0 and .migrations != null and .ending == "command"'

    say "-- bad input"
    fails 1 program core_history -- no-such-program
    fails 2 program core_history --interval 0
    fails 2 program core_history --interval 2m
    fails 2 program core_history --interval 1ms
    fails 2 program core_history --interval 20ms --duration 86400s
    fails 2 program core_history --json - -- true
    fails 1 program core_history --duration 9s --svg "$work/no/a.svg"
    fails 1 program core_history --duration 9s --report "$work"
    fails 2 program qos_effect --loops 0
    fails 2 program qos_effect --loops 5 --seconds 1
    fails 2 program qos_effect --classes best
    fails 2 program qos_effect --workload disk
    fails 2 program qos_effect --against 1025
    fails 1 program qos_effect --seconds 9 --json "$work/no/a.json"
    fails 2 program cores --threads 0
    fails 2 program cores --threads 1025
    fails 2 program cores --confidence 1
    fails 1 program cores --seconds 9 --report "$work/no/a.html"
    fails 1 program topology --json "$work"
    # Not so many threads are allowed: those that have started go home.
    (ulimit -u 100 && fails 1 timeout 60 "${nobody[@]}" "$work/programs/cores" --threads 1000 --loops 1000 --repeats 1 --workloads integer)
    status=0
    program topology --json - >/dev/full 2>"$work/stderr" || status=$?
    [ "$status" = 1 ] && grep -q 'standard output' "$work/stderr" || die "status $status with a full standard output"
    program cores --loops 1000 --repeats 1 --workloads integer | head -n 0
    status=0
    program core_history --json "$work/c.json" -- sh -c 'exit 7' >/dev/null 2>"$work/stderr" || status=$?
    [ "$status" = 1 ] && grep -q 'exit status: 7' "$work/stderr" || die "status $status for a command that fails"
    holds "$work/c.json" '.exit_code == 7'

    say "-- interruption"
    # COMMAND MOST: the command is watched, interrupted, and gone within MOST seconds
    interrupted() {
        local before=$SECONDS signal=$1 most=$2
        shift 2
        rm -f "$work/c.json" "$work/child"
        "$programs/core_history" --interval 60s --json "$work/c.json" -- "$@" >/dev/null 2>"$work/stderr" </dev/null &
        pid=$!
        until [ -s "$work/child" ]; do sleep 0.05; done
        kill -s "$signal" "$pid"
        status=0
        wait "$pid" || status=$?
        say "   SIG$signal: status $status, $(cat "$work/stderr")"
        [ "$status" = 130 ] || die "status $status"
        kill -0 "$(cat "$work/child")" 2>/dev/null && die "the command is still there"
        [ $((SECONDS - before)) -le "$most" ] || die "took $((SECONDS - before)) s"
        holds "$work/c.json" '.ending == "interrupted"'
    }
    interrupted INT 3 bash -c "echo \$\$ >$work/child; exec sleep 100"
    interrupted TERM 3 bash -c "trap 'echo tidy >$work/tidied; exit' TERM; echo \$\$ >$work/child; while :; do sleep 0.1; done"
    [ -s "$work/tidied" ] || die "the command could not tidy up"
    interrupted INT 4 bash -c "trap '' INT TERM; echo \$\$ >$work/child; while :; do sleep 0.1; done"
    holds "$work/c.json" '.exit_code == null and .exit_text == null'
    "$programs/core_history" --duration 60s --json "$work/c.json" >/dev/null &
    pid=$!
    sleep 0.5
    kill -s INT "$pid"
    wait "$pid" || die "without a command an interruption is the usual end"
    holds "$work/c.json" '.ending == "interrupted" and (.times_seconds | length) >= 3'

    say "-- a terminal"
    tools_needed script
    script -qec "stty rows 10 cols 40; '$programs/core_history' --interval 20ms --duration 1s >'$work/table'; stty -a" "$work/typescript" >/dev/null
    python3 - "$work/typescript" <<'PY'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
assert re.search("[▁-█]|CPU 0", text), "nothing was drawn"
for line in re.split(r"\r?\n", text):
    shown = re.sub(r"\x1b\[[0-9?]*[A-Za-z]", "", line)
    if shown.startswith("CPU"): assert len(shown) < 40, shown
assert "\x1b[?25l" not in text or text.rfind("\x1b[?25h") > text.rfind("\x1b[?25l"), "the cursor is hidden"
assert " echo " in text and " icanon" in text, "the terminal was left in another mode"
PY
}

part_cost() {
    local target
    cargo bench --locked --quiet -p gannet-benches --bench qos -- 'qos/(guard|meter)' --warm-up-time 0.5 --measurement-time 1.5 >/dev/null 2>&1 ||
        die "the bench failed"
    target=$(cargo metadata --locked --no-deps --format-version 1 | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
    python3 - "$target/criterion" <<'PY'
import glob, json, os, sys
wrong = []
for path in sorted(glob.glob(sys.argv[1] + "/qos_*/*/new/estimates.json")):
    group, name = path.split(os.sep)[-4:-2]
    with open(path) as file: time = json.load(file)["median"]["point_estimate"] / 1000
    # A restriction to CPUs adds two calls of the kernel.
    most = {"qos_guard": None if "one CPU" in name else 10, "qos_meter": 5}.get(group)
    print(f"   {group[4:]}: {name}: {time:.2f} µs" + (f", {most} at most" if most else ""))
    if most and time > most: wrong.append(name)
sys.exit(f"too slow: {', '.join(wrong)}" if wrong else 0)
PY
}

parts=("$@")
[ $# -ge 1 ] || parts=(guards shares code probes programs cost)
for part in "${parts[@]}"; do
    [ "$(type -t "part_$part")" = function ] || die "no part $part"
    say "== $part"
    "part_$part"
done
