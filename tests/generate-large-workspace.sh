#!/bin/sh
# Writes a workspace with many members and many locked packages, for measuring.
# usage: tests/generate-large-workspace.sh DIR [MEMBERS] [PACKAGES]   (default: 40 and 1000)
set -eu

if [ $# -lt 1 ] || [ $# -gt 3 ]; then
    echo "usage: $0 DIR [MEMBERS] [PACKAGES]" >&2
    exit 2
fi
exec cargo run --quiet --manifest-path "$(dirname "$0")/../Cargo.toml" \
    -p symposium-testlib --example large_workspace -- "$@"
