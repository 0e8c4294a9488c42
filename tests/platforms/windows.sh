#!/usr/bin/env bash
# Builds the workspace for Windows, and runs its tests there under Wine, on a Debian machine.
#
# usage: tests/platforms/windows.sh check              compiles the program, warnings denied
#        tests/platforms/windows.sh build              builds the program and the test programs
#        tests/platforms/windows.sh test [FILTER…]     builds, and runs the library's tests whose names
#                                                      contain one of the filters (without any: all)
#        tests/platforms/windows.sh black-box [FILTER…]  the same with the black-box tests, which
#                                                      nobody has gone through yet
#        tests/platforms/windows.sh packages           installs Debian's cross compiler and Wine
#        tests/platforms/windows.sh toolchain          unpacks the toolchain
#        tests/platforms/windows.sh cargo ARGUMENT…    runs its cargo, as macos.sh does
#
# What it needs is Debian's: a cross compiler, Wine, and a Rust toolchain with the source of the
# standard library, which is unpacked and not installed. Wine has no git and no sh, so two small
# programs stand in for Git for Windows: they run this machine's (stand_in.c).
#
# Exit code 3 means that the packages can't be had here, so that nothing was shown.
#
# Environment: SYMPOSIUM_WINDOWS_DIR, the folder for all of it (default: /var/tmp/symposium-windows).
set -euo pipefail
cd "$(dirname "$0")/../.."
source=$PWD
here=$source/tests/platforms
what=${1:-test}
[ $# -eq 0 ] || shift

dir=${SYMPOSIUM_WINDOWS_DIR:-/var/tmp/symposium-windows}
target=x86_64-pc-windows-gnu
compiler=x86_64-w64-mingw32-gcc
mkdir -p "$dir"/{debs,toolchain,tmp,programs}

cannot() {
    echo "$0: can't be had here: $*" >&2
    exit 3
}

packages() {
    command -v "$compiler" >/dev/null && [ -x /usr/lib/wine/wine64 ] && return
    apt-get update -q || cannot "Debian's lists of packages"
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
        gcc-mingw-w64-x86-64-posix wine64 || cannot "a cross compiler and Wine, as Debian packages"
}

# Debian's own compiler, with the source of exactly its standard library.
toolchain() {
    [ -x "$dir/toolchain/usr/bin/rustc" ] && return
    local names=(rustc-web cargo-web libstd-rust-web-1.96 libstd-rust-web-dev rust-web-src libllvm22
        libgit2-1.5 libhttp-parser2.9 libmbedcrypto7 libmbedtls14 libmbedx509-1)
    (cd "$dir/debs" && { apt-get download -q "${names[@]}" \
        || { apt-get update -q && apt-get download -q "${names[@]}"; }; }) \
        || cannot "a Rust toolchain with the source of its library, as Debian packages"
    for package in "$dir"/debs/*.deb; do dpkg -x "$package" "$dir/toolchain"; done
}

unpacked_cargo() {
    LD_LIBRARY_PATH=$dir/toolchain/usr/lib/x86_64-linux-gnu:$dir/toolchain/usr/lib \
        RUSTC=$dir/toolchain/usr/bin/rustc RUSTDOC=$dir/toolchain/usr/bin/rustdoc RUSTC_BOOTSTRAP=1 \
        CARGO_TARGET_DIR=$dir/target CARGO_INCREMENTAL=0 \
        CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0 \
        CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=$compiler \
        CC_x86_64_pc_windows_gnu=$compiler AR_x86_64_pc_windows_gnu=x86_64-w64-mingw32-ar \
        "$dir/toolchain/usr/bin/cargo" "$@" --locked -Zbuild-std=std,panic_abort,proc_macro,test
}

# The program must have no warning; tests that only Unix runs leave unused things behind. As a build,
# it leaves what the tests need.
denied() {
    cargo_for_windows build -p symposium -Zwarnings --config 'build.warnings="deny"'
}

cargo_for_windows() { unpacked_cargo "$@" --target "$target"; }

export WINEPREFIX=$dir/wine WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml= WINEARCH=win64
unset DISPLAY
wineserver() { /usr/lib/wine/wineserver "$@"; }
wine() { /usr/lib/wine/wine64 "$@" </dev/null; }

# A path of this machine as Wine names it.
windows_path() { printf 'Z:%s' "${1//\//\\}"; }

# A fresh Windows with what the tests need: names of folders that mean the same on both sides, our
# stand-ins on the PATH, and the one library that Wine 8 lacks.
windows() {
    if ! [ -f "$dir/programs/git.exe" ] || [ "$here/stand_in.c" -nt "$dir/programs/git.exe" ]; then
        "$compiler" -O2 -municode -o "$dir/programs/git.exe" "$here/stand_in.c"
        cp "$dir/programs/git.exe" "$dir/programs/sh.exe"
    fi
    if ! [ -d "$WINEPREFIX" ]; then
        wine wineboot.exe -i
        "$compiler" -O2 -shared -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" \
            "$here/bcryptprimitives.c" -lbcrypt
        local name
        for name in TEMP TMP; do
            wine reg.exe add 'HKCU\Environment' /v "$name" /t REG_SZ \
                /d "$(windows_path "$dir/tmp")" /f
        done
        wine reg.exe add 'HKCU\Environment' /v PATH /t REG_SZ \
            /d "$(windows_path "$dir/programs")" /f
    fi
    # A server that stays makes each start five times as fast; it must hold none of our streams.
    setsid /usr/lib/wine/wineserver -p </dev/null >/dev/null 2>&1 &
}

# The newest program of a test: their names end in a hash.
newest() { find "$dir/target/$target/debug/deps" -name "$1-*.exe" -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2-; }

case $what in
    packages) packages && exit ;;
    check | build | test | black-box) packages ;;
esac
toolchain
case $what in
    toolchain) ;;
    cargo) unpacked_cargo "$@" ;;
    check)
        denied
        ;;
    build | test | black-box)
        denied
        cargo_for_windows test --no-run -p symposium --lib --test black_box
        ;;&
    test | black-box)
        windows
        export CARGO_MANIFEST_DIR=$source SYMPOSIUM_TEST_AGENT=none
        export STAND_IN_DIR=$dir/tmp STAND_IN_PREFIX=$WINEPREFIX
        skipped=()
        while IFS= read -r name; do
            skipped+=(--skip "$name")
        done < <(sed -n 's/^\([a-z0-9_:]\+\).*/\1/p' "$here/windows-skipped.txt")
        program=symposium
        [ "$what" = test ] || program=black_box
        failed=0
        program=$(newest "$program")
        log=$dir/tests.log
        # Their cases are many, and each start of a program takes a tenth of a second in Wine.
        export PROPTEST_CASES=${PROPTEST_CASES:-8}
        if ! wine "$program" --test-threads=3 "${skipped[@]}" "$@" 2>&1 | tee "$log"; then
            # Wine has races of its own: what failed is tried once more, each by itself.
            mapfile -t again < <(sed -n 's/\r//; s/^test \([a-z0-9_:]*\) \.\.\. FAILED$/\1/p' "$log")
            echo "a second try: ${again[*]}"
            [ ${#again[@]} -gt 0 ] && wine "$program" --test-threads=1 --exact "${again[@]}" || failed=1
        fi
        wineserver -k || true
        exit "$failed"
        ;;
    build) ;;
    *)
        echo "usage: $0 check | build | test [FILTER…] | black-box [FILTER…] | packages | toolchain | cargo ARGUMENT…" >&2
        exit 2
        ;;
esac
