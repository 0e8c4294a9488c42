#!/usr/bin/env bash
# Installs Debian's packages of these names.
#
# usage: tests/platforms/packages.sh NAME…
set -euo pipefail
root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }
root apt-get update -q
root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"
