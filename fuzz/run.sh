#!/usr/bin/env bash
# Builds the fuzzers and runs each of them, or those named, for so many seconds, the seeds first. Prints a
# table of what was done; ends with 1 and names the input where something did not hold.
#
#   fuzz/run.sh SECONDS [TARGET…]
#   fuzz/run.sh table             the table of the last run of each target; FUZZ_PAGE=1 writes it into
#                                 md/design/fuzzing.md
#
# FUZZ_JOBS=2 runs two at a time; FUZZ_PROFILE=dev builds without optimisation, for short runs; FUZZ_SEED=1
# makes one run like the next. Needs a C++ compiler, and nothing of a nightly toolchain; where `cargo fuzz` is
# installed it knows these targets too: `cargo fuzz run -s none TARGET`.
set -euo pipefail
cd "$(dirname "$0")/.."

# Longer inputs take longer and hardly find more.
LONGEST=8192
# What cargo-fuzz sets, without a sanitizer: there is hardly any `unsafe` here.
COUNT="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-simplifycfg-branch-fold-threshold=0"
triple=$(rustc -vV | sed -n 's/^host: //p')
profile=${FUZZ_PROFILE:-release}
programs=fuzz/target/$triple/${profile/dev/debug}

table() {
    echo "| target | seconds | executions | a second | edges | features | inputs kept | result |"
    echo "|---|---|---|---|---|---|---|---|"
    local target
    for target in "$@"; do cat "fuzz/rows/$target"; done
}

build() {
    RUSTFLAGS="$COUNT -Cdebug-assertions --cfg fuzzing" cargo build --manifest-path fuzz/Cargo.toml \
        --target-dir fuzz/target --profile "$profile" --locked --target "$triple" "$@"
}

# The corpus of a target: what earlier runs found here, and the seeds; and the words of the seeds, which a
# fuzzer would hardly guess.
prepare() {
    local target=$1 seeds file corpus=fuzz/corpus/$1
    mkdir -p "$corpus" "fuzz/artifacts/$target" fuzz/rows
    # The patterns are to be expanded.
    # shellcheck disable=SC2046
    seeds=$(ls $(sed -n "s/^$target  *//p" fuzz/seeds.txt))
    for file in $seeds; do
        local name
        name=seed-$(basename "$file")
        case "$file" in
            # Inside of the compression is what a fuzzer can change.
            *.tar.gz) head -c $((LONGEST * 8)) < <(gzip -dc "$file" 2>/dev/null) >"$corpus/$name.tar" ;;
        esac
        if [ "$(wc -c <"$file")" -le $LONGEST ]; then cp "$file" "$corpus/$name"; fi
    done
    # shellcheck disable=SC2086
    { grep -aohE '[A-Za-z_$][A-Za-z0-9_.-]{2,40}' $seeds || true; } | sort -u \
        | sed -n '1,1500s/.*/"&"/p' >"fuzz/corpus/$target.dict"
}

# Runs one target and writes its row of the table.
run() {
    local target=$1 seconds=$2 log=fuzz/artifacts/$1/log code=0 began=$SECONDS
    "$programs/$target" "fuzz/corpus/$target" -max_total_time="$seconds" -max_len=$LONGEST \
        -dict="fuzz/corpus/$target.dict" -artifact_prefix="fuzz/artifacts/$target/" -timeout=60 \
        -rss_limit_mb=2048 -print_final_stats=1 ${FUZZ_SEED:+-seed="$FUZZ_SEED"} >"$log" 2>&1 || code=$?
    local last executions a_second result=clean
    last=$(grep -aE '^#[0-9]+.* cov: ' "$log" | tail -n 1) || true
    field() { sed -nE "s/.* $1: ([0-9]+).*/\1/p" <<<"$last"; }
    executions=$(sed -nE 's/^stat::number_of_executed_units: *//p' "$log")
    a_second=$(sed -nE 's/^stat::average_exec_per_sec: *//p' "$log")
    if [ "$code" != 0 ]; then
        result=failed
        echo "$target does not hold of $(sed -nE 's/.*Test unit written to //p' "$log" | tail -n 1)" >&2
        grep -aE -m 3 -A 6 "panicked at|ERROR: " "$log" >&2 || tail -n 20 "$log" >&2
    fi
    echo "| $target | $((SECONDS - began)) | $executions | $a_second | $(field cov) | $(field ft) |" \
        "$(field corp) | $result |" >"fuzz/rows/$target"
    cat "fuzz/rows/$target" >&2
    return "$code"
}

all=$(sed -nE 's/^([a-z_]+) .*/\1/p' fuzz/seeds.txt)
if [ "${1:-}" = table ]; then
    # shellcheck disable=SC2086
    figures=$(table $all)
    if [ -z "${FUZZ_PAGE:-}" ]; then
        echo "$figures"
        exit
    fi
    page=md/design/fuzzing.md
    awk -v figures="$figures" '
        /^<!-- figures -->$/ { print; print figures; skips = 1 }
        /^<!-- end -->$/ { skips = 0 }
        !skips
    ' "$page" >"$page.new"
    mv "$page.new" "$page"
    exit
fi
seconds=${1:?how many seconds for each target}
shift
targets=${*:-$all}
# Files of archives: many, small, and of no use afterwards.
if [ -w /dev/shm ]; then export TMPDIR=/dev/shm; fi
if [ $# = 0 ]; then build; else build $(printf -- '--bin %s ' "$@"); fi
failed=0
# `wait -n` fails, too, when the last job ended just before it: a target's row says how that one ended.
for target in $targets; do
    while [ "$(jobs -rp | wc -l)" -ge "${FUZZ_JOBS:-1}" ]; do wait -n || true; done
    prepare "$target"
    rm -f "fuzz/rows/$target"
    run "$target" "$seconds" &
done
wait
# shellcheck disable=SC2086
table $targets
for target in $targets; do
    case $(<"fuzz/rows/$target") in
        *" clean |") ;;
        *) failed=1 ;;
    esac
done
exit $failed
