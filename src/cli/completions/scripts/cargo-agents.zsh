#compdef cargo-agents
# Completion of `cargo agents` and `cargo-agents` for zsh.
# Put it into a folder of $fpath as `_cargo-agents`, or load it, after `compinit`, with:
#   source <(cargo-agents completions zsh)
# The completion of cargo that comes with Rust calls the function for `cargo agents`.

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

# Where nobody completes cargo: `cargo agents …` all the same, and files for the rest.
_cargo-agents-in-cargo() {
    local at=2
    [[ ${words[2]} == +* ]] && at=3
    if [[ ${words[at]} == agents ]] && (( CURRENT > at )); then
        words=("${(@)words[at,-1]}")
        (( CURRENT -= at - 1 ))
        _cargo-agents
    else
        _default
    fi
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _cargo-agents "$@"
else
    compdef _cargo-agents cargo-agents
    (( $+_comps[cargo] )) || compdef _cargo-agents-in-cargo cargo
fi
