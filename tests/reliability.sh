#!/usr/bin/env bash
# Breaks the machine in every way that `tests/black_box/broken_machine/` knows, at every call and for ten
# minutes, and writes what was found into md/design/reliability.md. It takes about half an hour.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

page=md/design/reliability.md
figures=$(mktemp)
trap 'rm -f "$figures" "$page.new"' EXIT
SYMPOSIUM_RELIABILITY_FIGURES=$figures \
    cargo test --locked --test black_box -- broken_machine --test-threads 1
[ -s "$figures" ] || { echo "no figures were written" >&2; exit 1; }
awk -v figures="$figures" '
    /^<!-- figures -->$/ {
        print
        print "| what breaks | rounds | found |"
        print "|---|---|---|"
        while ((getline line < figures) > 0) print line
        skips = 1
    }
    /^<!-- end -->$/ { skips = 0 }
    !skips
' "$page" > "$page.new"
mv "$page.new" "$page"
