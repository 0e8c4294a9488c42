#!/usr/bin/env bash
# A C compiler and a linker for other systems: `zig cc`, from PyPI's package `ziglang`.
#
# usage: tests/platforms/zig.sh install            puts zig into the folder of the toolchains
#        tests/platforms/zig.sh cc ARGUMENT…       runs it for $ZIG_TARGET, as cargo and `cc` would clang
#
# Exit code 3 means that it can't be had here.
#
# Environment: SYMPOSIUM_PLATFORMS_DIR, as for cargo.sh.
set -euo pipefail
VERSION=0.17.1
dir=${SYMPOSIUM_PLATFORMS_DIR:-/var/tmp/symposium-platforms}/zig

case ${1:-} in
    install)
        [ -d "$dir/ziglang-$VERSION.dist-info" ] \
            || python3 -m pip install -q --root-user-action=ignore --target "$dir" "ziglang==$VERSION" \
            || exit 3
        ;;
    cc)
        shift
        arguments=()
        skip=
        # What zig does not know is left out: it takes its target and headers from itself, brings what
        # a program begins with, and has the unwinder under another name.
        for argument in "$@"; do
            if [ -n "$skip" ]; then
                skip=
                continue
            fi
            case $argument in
                --target=* | -mmacosx-version-min=* | -Wl,--no-undefined-version) ;;
                -arch | -isysroot | -target) skip=1 ;;
                -lgcc_s | -lgcc_eh) arguments+=(-lunwind) ;;
                -lgcc) ;;
                *) arguments+=("$argument") ;;
            esac
        done
        exec "$dir/ziglang/zig" cc -target "$ZIG_TARGET" "${arguments[@]}"
        ;;
    *)
        echo "usage: $0 install | cc ARGUMENT…" >&2
        exit 2
        ;;
esac
