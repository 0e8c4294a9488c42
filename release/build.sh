#!/usr/bin/env bash
# Makes the archives of a release from a clean checkout, with a checksum for each.
#
# usage: release/build.sh TARGET…         builds for these, and puts what came of it into dist/
#        release/build.sh all             for everything that can be linked on this Linux machine
#        release/build.sh names TARGET…   says what the archives are called, and their one folder
#
# On Linux tests/platforms/cargo.sh finds what each target takes: programs for Linux are linked by zig, so
# that they run on old systems too, and those for Windows by mingw. Elsewhere the system's own linker does
# it: programs for macOS are linked on a Mac alone, for its frameworks are nowhere else.
#
# An archive holds the program, completion scripts, manual pages, licences, README and changelog. The
# names are those that `cargo binstall` looks for (`[package.metadata.binstall]` in Cargo.toml).
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
build=$root/target/archives
ON_LINUX=(x86_64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-gnu
    aarch64-unknown-linux-musl x86_64-pc-windows-gnu)
# The oldest glibc that Rust supports, so that programs run on old systems.
GLIBC=2.17

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)

folder_of() { printf 'symposium-%s-%s' "$version" "$1"; }
archive_of() {
    case $1 in
        *windows*) printf '%s.zip' "$(folder_of "$1")" ;;
        *) printf '%s.tgz' "$(folder_of "$1")" ;;
    esac
}

host=$(rustc -vV | sed -n 's/^host: //p')

# Builds the program for a target and says where it is.
built() {
    local target=$1 extension= cargo=(cargo build --target "$1")
    case $target in *windows*) extension=.exe ;; esac
    case $host in *linux*) cargo=("$root/tests/platforms/cargo.sh" "$target" build) ;; esac
    GLIBC=$GLIBC "${cargo[@]}" --release --locked --bin cargo-agents --target-dir "$build" >&2
    printf '%s/%s/release/cargo-agents%s' "$build" "$target" "$extension"
}

# Completions and manual pages are the same for all: this machine's program writes them.
pages() {
    [ -d "$build/pages/man" ] && return
    local program shell file
    program=$(built "$host")
    mkdir -p "$build/pages/completions"
    for shell in bash=cargo-agents.bash elvish=cargo-agents.elv fish=cargo-agents.fish \
        powershell=_cargo-agents.ps1 zsh=_cargo-agents; do
        file=${shell#*=}
        "$program" completions "${shell%%=*}" >"$build/pages/completions/$file"
    done
    "$program" man "$build/pages/man"
}

checksum() { if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi; }

archive() {
    local target=$1 program folder
    program=$(built "$target")
    folder=$build/$(folder_of "$target")
    rm -rf "$folder"
    mkdir -p "$folder"
    cp "$program" README.md CHANGELOG.md LICENSE LICENSE-APACHE LICENSE-MIT "$folder/"
    cp -R "$build/pages/completions" "$build/pages/man" "$folder/"
    # The commit's time for all files, so that the same sources make the same archive.
    local time
    time=$(git show -s --format=%ct HEAD)
    "$(command -v python3 || command -v python)" "$root/release/pack.py" "$folder" \
        "$root/dist/$(archive_of "$target")" "$time"
    (cd "$root/dist" && checksum "$(archive_of "$target")" >"$(archive_of "$target").sha256")
    printf 'dist/%s\n' "$(archive_of "$target")"
}

what=${1:-}
case $what in
    names)
        shift
        for target in "$@"; do
            printf '%s %s %s\n' "$target" "$(archive_of "$target")" "$(folder_of "$target")"
        done
        exit
        ;;
    all) set -- "${ON_LINUX[@]}" ;;
    '' | -*)
        echo "usage: $0 TARGET… | all | names TARGET…" >&2
        exit 2
        ;;
esac
mkdir -p "$root/dist" "$build"
rm -rf "$build/pages"
pages
for target in "$@"; do archive "$target"; done
