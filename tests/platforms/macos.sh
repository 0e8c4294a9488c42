#!/usr/bin/env bash
# Compiles the workspace with all its tests for macOS, on a Debian machine; nothing is linked or run.
#
# usage: tests/platforms/macos.sh [TARGET…]     (default: both)
#
# The toolchain is the one that windows.sh unpacks: Debian's, with the source of the standard library.
# A crate of ours has C in it (`ring`), and zig.sh compiles that for macOS.
#
# Exit code 3 means that the tools can't be had here, so that nothing was shown.
#
# Environment: SYMPOSIUM_WINDOWS_DIR, as for windows.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD/tests/platforms
dir=${SYMPOSIUM_WINDOWS_DIR:-/var/tmp/symposium-windows}

"$here/windows.sh" toolchain
"$here/zig.sh" install
mkdir -p "$dir/no-sdk"
printf '#!/bin/sh\nexec "%s" cc "$@"\n' "$here/zig.sh" >"$dir/zig-cc"
chmod +x "$dir/zig-cc"

[ $# -gt 0 ] || set -- aarch64-apple-darwin x86_64-apple-darwin
for target in "$@"; do
    printf '%s\n' "$target"
    env ZIG_TARGET="${target%%-*}-macos" SDKROOT="$dir/no-sdk" \
        "CC_${target//-/_}=$dir/zig-cc" "AR_${target//-/_}=ar" \
        "$here/windows.sh" cargo check --workspace --all-targets --target "$target"
done
