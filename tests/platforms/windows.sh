#!/usr/bin/env bash
# Builds the workspace for Windows, warnings denied, and runs its tests there under Wine, on a Debian
# machine.
#
# usage: tests/platforms/windows.sh check                compiles all of it
#        tests/platforms/windows.sh build                builds the program and the test programs
#        tests/platforms/windows.sh test [FILTER…]       builds, and runs the library's tests whose names
#                                                        contain one of the filters (without any: all)
#        tests/platforms/windows.sh black-box [MODULE…]  builds, and runs these modules of the black-box
#                                                        tests, one after another (without any: all)
#        tests/platforms/windows.sh brief                builds, and runs what windows-brief.txt says
#        tests/platforms/windows.sh all                  builds, and runs all tests
#        tests/platforms/windows.sh run PROGRAM ARGUMENT…  runs a program in the same surroundings
#
# Wine has no git, no sh and no cargo, so small programs stand in for them: they run this machine's
# (stand_in.c). Tests that do not pass here for a reason that lies in Wine are in windows-skipped.txt.
#
# Exit code 3 means that the tools can't be had here, so that nothing was shown (cargo.sh).
#
# Environment: SYMPOSIUM_PLATFORMS_DIR, as for cargo.sh; SYMPOSIUM_WINDOWS_THREADS, how many tests run at
# once (default: 3); SYMPOSIUM_WINDOWS_LIMIT, seconds for one module (default: 600).
set -euo pipefail
cd "$(dirname "$0")/../.."
source=$PWD
here=$source/tests/platforms
what=${1:-all}
[ $# -eq 0 ] || shift

dir=${SYMPOSIUM_PLATFORMS_DIR:-/var/tmp/symposium-platforms}
threads=${SYMPOSIUM_WINDOWS_THREADS:-3}
limit=${SYMPOSIUM_WINDOWS_LIMIT:-600}
target=x86_64-pc-windows-gnu
built=$dir/target/$target/debug
mkdir -p "$dir"/{tmp,programs,logs}

cargo_for_windows() {
    CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUSTFLAGS="-D warnings" CARGO_TARGET_DIR=$dir/target \
        CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0 \
        "$here/cargo.sh" "$target" "$@" --locked
}

build() {
    cargo_for_windows test --no-run --workspace --all-targets
    # Which a test runs.
    cargo_for_windows build -p symposium-hook --example block_destructive
}

export WINEPREFIX=$dir/wine WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml= WINEARCH=win64
unset DISPLAY
wineserver() { /usr/lib/wine/wineserver "$@"; }
# All that wine starts is gone when the time is over.
wine() { timeout -k 5 "${seconds:-600}" /usr/lib/wine/wine64 "$@" </dev/null; }

# A path of this machine as Wine names it.
windows_path() { printf 'Z:%s' "${1//\//\\}"; }

# A fresh Windows with what the tests need: names of folders that mean the same on both sides, our
# stand-ins on the PATH, and the one library that Wine 8 lacks.
windows() {
    local compiler=x86_64-w64-mingw32-gcc name
    [ -x /usr/lib/wine/wine64 ] || "$here/packages.sh" wine64 \
        || { echo "$0: can't be had here: Wine" >&2; exit 3; }
    for name in git sh cargo; do
        if ! [ "$dir/programs/$name.exe" -nt "$here/stand_in.c" ]; then
            "$compiler" -O2 -municode -o "$dir/programs/$name.exe" "$here/stand_in.c"
        fi
    done
    # git leaves files that are read-only, which Windows removes and Wine does not.
    cat >"$dir/programs/git.sh" <<'EOF'
git "$@"
code=$?
for path in . "$@"; do
    case $path in
        .) ;;
        */*) path=/${path#*/} ;;
        *) continue ;;
    esac
    find "$path" -maxdepth 6 -type d -name objects -exec chmod -R u+w {} + 2>/dev/null
done
exit $code
EOF
    # What cargo builds is for Windows, and it names files as Windows does.
    cat >"$dir/programs/cargo.sh" <<EOF
export PATH="$(rustc --print sysroot)/bin:\$PATH" CARGO_BUILD_TARGET=$target
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=$compiler
said=\$(mktemp -d)
cargo "\$@" >"\$said/out" 2>"\$said/err"
code=\$?
perl -pe 's,(?<![\w:])($dir/tmp/),Z:\$1,g' "\$said/out"
perl -pe 's,(?<![\w:])($dir/tmp/[^\s)\`"]*),"Z:" . \$1 =~ tr|/|\\\\|r,ge' "\$said/err" >&2
rm -r "\$said"
exit \$code
EOF
    if ! [ -f "$WINEPREFIX/ready" ]; then
        wine wineboot.exe -i
        "$compiler" -O2 -shared -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" \
            "$here/bcryptprimitives.c" -lbcrypt
        for name in TEMP TMP; do
            wine reg.exe add 'HKCU\Environment' /v "$name" /t REG_SZ \
                /d "$(windows_path "$dir/tmp")" /f
        done
        wine reg.exe add 'HKCU\Environment' /v PATH /t REG_SZ \
            /d "$(windows_path "$dir/programs")" /f
        touch "$WINEPREFIX/ready"
    fi
    export CARGO_MANIFEST_DIR=$source SYMPOSIUM_TEST_AGENT=none
    export STAND_IN_DIR=$dir/tmp STAND_IN_PREFIX=$WINEPREFIX
    # Their cases are many, and each start of a program takes a tenth of a second in Wine.
    export PROPTEST_CASES=${PROPTEST_CASES:-8}
    trap 'wineserver -k || true' EXIT
    serve
}

# A server that stays makes each start five times as fast; it must hold none of our streams.
serve() { setsid /usr/lib/wine/wineserver -p </dev/null >/dev/null 2>&1 & }

# The newest program of a test: their names end in a hash.
newest() { find "$built/deps" -name "$1-*.exe" -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2-; }

failures() { sed -n 's/\r$//; /^failures:$/,$ s/^    \([a-z0-9_:]*\)$/\1/p' "$1" | sort -u; }
passed() { sed -n 's/^test result: .* \([0-9]*\) passed.*/\1/p' "$1"; }
skipped() { sed -n 's/^\([a-z0-9_:]\+\).*/\1/p' "$here/windows-skipped.txt"; }

# Runs tests of a program, and says in one line what came of them; fails when one of them does.
tests() {
    local name=$1 program=$2 log=$dir/logs/$1.log start=$SECONDS code=0 good
    shift 2
    seconds=$limit wine "$program" --test-threads="$threads" "$@" >"$log" 2>&1 || code=$?
    good=$(passed "$log")
    if [ -z "$good" ]; then
        # Whatever goes on there must not go on beside the next ones.
        wineserver -k || true
        serve
        good=$(grep -c '^test .* \.\.\. ok' "$log") || true
    fi
    printf '%-24s %4s of %4s %5s s%s\n' "$name" "$good" \
        "$(sed -n '/^running /{s/^running \([0-9]*\) .*/\1/p;q}' "$log")" $((SECONDS - start)) \
        "$([ "$code" = 0 ] || echo "  FAILED ($code): $log")"
    failures "$log" | sed 's/^/    /'
    sed -n 's/^start repeated/    &/p' "$log"
    return "$code"
}

library() {
    local left_out=()
    mapfile -t left_out < <(skipped | sed 's/^/--skip\n/')
    tests library "$(newest symposium)" "${left_out[@]}" "$@"
}

modules() {
    local program module listed names code=0
    program=$(newest black_box)
    listed=$(wine "$program" --list | sed -n 's/\r$//; s/: test$//p' | grep -vxFf <(skipped))
    [ $# -gt 0 ] || set -- $(sed 's/::.*//' <<<"$listed" | sort -u)
    for module in "$@"; do
        mapfile -t names < <(grep "^$module::" <<<"$listed")
        if [ ${#names[@]} -eq 0 ]; then
            # Without a name, the program would run all that it has.
            printf '%-24s has no test that runs here\n' "$module"
            code=1
            continue
        fi
        tests "$module" "$program" --exact "${names[@]}" || code=1
    done
    return "$code"
}

# The modules of the black-box tests in windows-brief.txt, and the library's tests that it leaves out.
brief_modules() { sed -n 's/^\([a-z0-9_]\+\).*/\1/p' "$here/windows-brief.txt"; }
brief_left_out() { sed -n 's/^-\([a-z0-9_:]\+\).*/--skip\n\1/p' "$here/windows-brief.txt"; }

failed=0
case $what in
    check) cargo_for_windows check --workspace --all-targets ;;
    build) build ;;
    test) build && windows && library "$@" ;;
    black-box) build && windows && modules "$@" ;;
    brief)
        build
        windows
        library $(brief_left_out) || failed=1
        modules $(brief_modules) || failed=1
        exit "$failed"
        ;;
    all)
        build
        windows
        library || failed=1
        modules || failed=1
        exit "$failed"
        ;;
    run) windows && wine "$@" ;;
    *)
        echo "usage: $0 check | build | test [FILTER…] | black-box [MODULE…] | brief | all | run PROGRAM ARGUMENT…" >&2
        exit 2
        ;;
esac
