#!/usr/bin/env bash
# Compiles the workspace with all its tests for macOS, warnings denied, on a Linux machine; nothing is
# linked or run.
#
# usage: tests/platforms/macos.sh [TARGET…]     (default: both)
#
# Exit code 3 means that the tools can't be had here, so that nothing was shown (cargo.sh).
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=${SYMPOSIUM_PLATFORMS_DIR:-/var/tmp/symposium-platforms}

[ $# -gt 0 ] || set -- aarch64-apple-darwin x86_64-apple-darwin
for target in "$@"; do
    printf '%s\n' "$target"
    variable=${target//-/_}
    env "CARGO_TARGET_${variable^^}_RUSTFLAGS=-D warnings" CARGO_INCREMENTAL=0 \
        CARGO_TARGET_DIR="$dir/target" \
        tests/platforms/cargo.sh "$target" check --workspace --all-targets --locked
done
