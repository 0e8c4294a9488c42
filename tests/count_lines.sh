#!/bin/sh
# Lines of src/ without tests, in two ways:
#
# - without files of tests, told by their names (tests.rs, *_tests.rs, testing.rs, goldens.rs,
#   properties.rs, tests/): test modules within other files count. This is the number that plans
#   speak of; it comes closest (55,749) to the 55,800 that the code was once said to have.
# - and without `#[cfg(test)] mod … { … }` at the end of other files as well (50,882 then).
#
# usage: tests/count_lines.sh [<folder of the repository>]
set -eu
cd "${1:-$(dirname "$0")/..}"
files=$(find src -name '*.rs' ! -path '*/tests/*' ! -name '*tests.rs' ! -name testing.rs \
    ! -name goldens.rs ! -name properties.rs | sort)
# shellcheck disable=SC2086 # no file of ours has a blank in its name
cat $files | awk 'END { print NR, "lines without files of tests" }'
# shellcheck disable=SC2086
awk 'FNR == 1 { inside = 0 }
    /^#\[cfg\(test\)\]$/ { held = 1; next }
    held && /^mod .* \{$/ { inside = 1 }
    { if (held && !inside) count += 1; held = 0 }
    !inside { count += 1 }
    inside && /^\}$/ { inside = 0 }
    END { print count, "lines without modules of tests either" }' $files
