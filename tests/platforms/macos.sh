#!/usr/bin/env bash
# Compiles the workspace with all its tests for macOS, on a Debian machine; nothing is linked or run.
#
# usage: tests/platforms/macos.sh [TARGET…]     (default: both)
#
# The toolchain is the one that windows.sh unpacks: Debian's, with the source of the standard library.
# A crate of ours has C in it (`ring`), and `zig cc` compiles that for macOS.
#
# Environment: SYMPOSIUM_WINDOWS_DIR, as for windows.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD/tests/platforms
dir=${SYMPOSIUM_WINDOWS_DIR:-/var/tmp/symposium-windows}
ZIG_VERSION=0.17.1

"$here/windows.sh" toolchain
if ! [ -d "$dir/zig/ziglang-$ZIG_VERSION.dist-info" ]; then
    python3 -m pip install -q --target "$dir/zig" "ziglang==$ZIG_VERSION"
fi
mkdir -p "$dir/no-sdk"

# Clang's words that zig does not know are left out: it takes its target and headers from itself.
cat >"$dir/zig-cc" <<'WRAPPER'
#!/usr/bin/env bash
arguments=()
skip=
for argument in "$@"; do
    if [ -n "$skip" ]; then
        skip=
        continue
    fi
    case $argument in
        --target=* | -mmacosx-version-min=*) ;;
        -arch | -isysroot | -target) skip=1 ;;
        *) arguments+=("$argument") ;;
    esac
done
exec python3 -m ziglang cc -target "$ZIG_TARGET" "${arguments[@]}"
WRAPPER
chmod +x "$dir/zig-cc"

[ $# -gt 0 ] || set -- aarch64-apple-darwin x86_64-apple-darwin
for target in "$@"; do
    printf '%s\n' "$target"
    ZIG_TARGET=${target%%-*}-macos PYTHONPATH=$dir/zig SDKROOT=$dir/no-sdk \
        env "CC_${target//-/_}=$dir/zig-cc" "AR_${target//-/_}=ar" \
        "$here/windows.sh" cargo check --workspace --all-targets --target "$target"
done
