#!/usr/bin/env bash
# Installs the agent programs that the tests drive into `node_modules` beside this script, in the
# versions that `package-lock.json` pins: about 900 MB to fetch, 2.5 GB on disk. Needs node and npm.
# Does nothing when they are there.
set -euo pipefail
cd "$(dirname "$0")"

stamp=node_modules/.installed-lock.json
if ! cmp -s package-lock.json "$stamp"; then
    # Their install scripts fetch and build what the tests don't need.
    npm ci --ignore-scripts --no-audit --no-fund
    cp package-lock.json "$stamp"
fi

# Copilot unpacks itself into its cache when it starts for the first time.
for copilot in node_modules/@github/copilot-*/copilot; do
    if [ -x "$copilot" ] && ! [ -d .cache/copilot ]; then
        HOME="$PWD/.cache" XDG_CACHE_HOME="$PWD/.cache" COPILOT_OFFLINE=true \
            COPILOT_AUTO_UPDATE=false "$copilot" --version </dev/null
    fi
done
