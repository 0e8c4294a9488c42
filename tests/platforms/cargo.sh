#!/usr/bin/env bash
# cargo for another system than this Linux machine's.
#
# usage: tests/platforms/cargo.sh TARGET COMMAND ARGUMENT…     (`cargo COMMAND --target TARGET ARGUMENT…`)
#
# The target's standard library comes from rustup. Where rustup is not, or does not have it, a toolchain
# of Debian's is unpacked, not installed, which compiles the library from its source. C, of which a crate
# of ours has some (`ring`), is compiled, and programs are linked, by mingw for Windows and by zig for all
# others (zig.sh).
#
# Exit code 3 means that the tools can't be had here, so that nothing was shown.
#
# Environment: SYMPOSIUM_PLATFORMS_DIR, the folder for all of it (default: /var/tmp/symposium-platforms);
# GLIBC, the oldest one that programs for Linux shall run with.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${SYMPOSIUM_PLATFORMS_DIR:-/var/tmp/symposium-platforms}
target=$1
command=$2
shift 2
variable=${target//-/_}

cannot() {
    echo "$0: can't be had here: $*" >&2
    exit 3
}

# Has zig compile and link for a target, which it knows by another name.
zig() {
    "$here/zig.sh" install || cannot "zig, from PyPI"
    mkdir -p "$dir/compilers" "$dir/no-sdk"
    local compiler=$dir/compilers/$target
    printf '#!/bin/sh\nZIG_TARGET=%s exec "%s" cc "$@"\n' "$1" "$here/zig.sh" >"$compiler.$$"
    chmod +x "$compiler.$$"
    mv "$compiler.$$" "$compiler"
    export "CC_$variable=$compiler" "AR_$variable=ar" "CARGO_TARGET_${variable^^}_LINKER=$compiler"
}

case $target in
    *-windows-gnu)
        compiler=${target%%-*}-w64-mingw32-gcc
        command -v "$compiler" >/dev/null \
            || "$here/packages.sh" "gcc-mingw-w64-${target%%-*}-posix" >&2 \
            || cannot "a cross compiler, as a Debian package"
        export "CC_$variable=$compiler" "CARGO_TARGET_${variable^^}_LINKER=$compiler"
        ;;
    *-apple-darwin)
        zig "${target%%-*}-macos"
        # Asked for by build scripts; zig has its own.
        export SDKROOT=$dir/no-sdk
        ;;
    *-linux-gnu) zig "${target%%-*}-linux-gnu${GLIBC:+.$GLIBC}" ;;
    *-linux-musl)
        zig "${target%%-*}-linux-musl"
        # zig has what a program begins with.
        flags=CARGO_TARGET_${variable^^}_RUSTFLAGS
        export "$flags=${!flags:+${!flags} }-C link-self-contained=no"
        ;;
esac

if [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ] || rustup target add "$target" >&2; then
    exec cargo "$command" --target "$target" "$@"
fi

# Debian's own compiler, with the source of exactly its standard library.
toolchain=$dir/toolchain
if ! [ -x "$toolchain/usr/bin/rustc" ]; then
    packages=(rustc-web cargo-web libstd-rust-web-1.96 libstd-rust-web-dev rust-web-src libllvm22
        libgit2-1.5 libhttp-parser2.9 libmbedcrypto7 libmbedtls14 libmbedx509-1)
    mkdir -p "$dir/debs"
    (cd "$dir/debs" && { apt-get download -q "${packages[@]}" \
        || { apt-get update -q && apt-get download -q "${packages[@]}"; }; }) >&2 \
        || cannot "a standard library for $target, from rustup or to compile, as Debian packages"
    rm -rf "$toolchain.new"
    for package in "$dir"/debs/*.deb; do dpkg -x "$package" "$toolchain.new"; done
    mv "$toolchain.new" "$toolchain"
fi
export LD_LIBRARY_PATH=$toolchain/usr/lib/x86_64-linux-gnu:$toolchain/usr/lib
export RUSTC=$toolchain/usr/bin/rustc RUSTDOC=$toolchain/usr/bin/rustdoc RUSTC_BOOTSTRAP=1
exec "$toolchain/usr/bin/cargo" "$command" --target "$target" \
    -Zbuild-std=std,panic_abort,proc_macro,test "$@"
