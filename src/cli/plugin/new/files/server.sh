#!/bin/sh
# An MCP server: a JSON message a line on standard input, an answer a line on standard output.
while IFS= read -r message; do
    # The request's number stands in its answer. A notification has none, and gets no answer.
    id=$(printf '%s\n' "$message" | sed -nE 's/.*"id" *: *("[^"]*"|[0-9]+).*/\1/p')
    [ -n "$id" ] || continue
    case $message in
    *'"method":"initialize"'* | *'"method": "initialize"'*)
        result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"@NAME@","version":"0.1.0"}}'
        ;;
    # What there is to call. The model chooses by the descriptions.
    *'"tools/list"'*)
        result='{"tools":[{"name":"hello","description":"Answer with a greeting","inputSchema":{"type":"object"}}]}'
        ;;
    # What a call answers.
    *'"tools/call"'*)
        result='{"content":[{"type":"text","text":"Hello from @NAME@"}]}'
        ;;
    *)
        printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id"
        continue
        ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
