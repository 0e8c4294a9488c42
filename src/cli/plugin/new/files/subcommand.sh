#!/bin/sh
# The root of the workspace that we are called in; not set outside of one.
echo "workspace: ${SYMPOSIUM_WORKSPACE:-none}"
# Arguments come as they were typed.
for argument in "$@"; do
    echo "argument: $argument"
done
# The exit code is the command's.
exit 0
