#compdef cargo-agents
# Completion of `cargo agents` and `cargo-agents` for zsh.
# Put it into a folder of $fpath as `_cargo-agents`, or load it, after `compinit`, with:
#   source <(cargo-agents completions zsh)
# Zsh's own completion of cargo calls the function for `cargo agents`.

_cargo-agents() {
    local line value
    local -a found folders
    for line in "${(@f)$(cargo-agents complete $((CURRENT - 2)) -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -n $line ]] || continue
        value=${line%%$'\t'*}
        if [[ $value == */ ]]; then
            folders+=("$value")
        elif [[ $line == *$'\t'* ]]; then
            found+=("${value//:/\\:}:${line#*$'\t'}")
        else
            found+=("${value//:/\\:}")
        fi
    done
    if (( ${#found} + ${#folders} == 0 )); then
        _files
        return
    fi
    (( ${#folders} )) && compadd -S '' -- "${folders[@]}"
    (( ${#found} )) && _describe -t commands 'cargo agents' found
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _cargo-agents "$@"
else
    compdef _cargo-agents cargo-agents
fi
