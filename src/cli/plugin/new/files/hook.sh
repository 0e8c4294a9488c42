#!/bin/sh
# The event, as JSON. Its fields are in the book, under "Write a hook".
event=$(cat)
case $event in
# What must not happen; put your own pattern here.
*'push --force"'* | *'push --force '*)
    # The reason, which the agent reads: say what to do instead.
    echo 'use `git push --force-with-lease`, which keeps what others pushed' >&2
    # 2 denies. 0 lets the agent go on, and so does any other code unless `on-failure` says "block".
    exit 2
    ;;
esac
