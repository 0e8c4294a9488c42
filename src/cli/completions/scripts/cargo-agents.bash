# Completion of `cargo agents` and `cargo-agents` for bash 3.2 and later.
# Load it with: source <(cargo-agents completions bash)

# Offers what can stand at the cursor, where the words from $1 on are ours.
_cargo_agents_from() {
    local first=$1 index word glue= prefix= value line
    local -a words
    words=()
    # Bash takes `--update=check` for three words.
    for ((index = first; index <= COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        if [[ $word == "=" && ${#words[@]} -gt 0 ]]; then
            words[${#words[@]} - 1]+="="
            glue=yes
        elif [[ -n $glue ]]; then
            words[${#words[@]} - 1]+=$word
            glue=
        else
            words+=("$word")
        fi
    done
    word=${words[${#words[@]} - 1]}
    if [[ $word == *=* && $COMP_WORDBREAKS == *=* ]]; then
        prefix=${word%"${word##*=}"}
    fi
    COMPREPLY=()
    while IFS= read -r line; do
        value=${line%%$'\t'*}
        [[ $value == "$word"* ]] && COMPREPLY+=("${value#"$prefix"}")
    done < <(cargo-agents complete "$((${#words[@]} - 1))" -- "${words[@]}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]]; then
        compopt -o nospace 2>/dev/null
    fi
}

_cargo_agents() {
    _cargo_agents_from 1
}

# `cargo agents …` is ours; everything else of cargo's stays with whoever completed it before.
_cargo_agents_in_cargo() {
    local at=1
    [[ ${COMP_WORDS[1]} == +* ]] && at=2
    if [[ ${COMP_WORDS[at]} == agents && $COMP_CWORD -gt $at ]]; then
        _cargo_agents_from "$((at + 1))"
    elif [[ -n $_cargo_agents_before ]]; then
        "$_cargo_agents_before" "$@"
    fi
}

_cargo_agents_setup() {
    local before
    complete -o default -F _cargo_agents cargo-agents
    if ! complete -p cargo >/dev/null 2>&1; then
        # bash-completion loads cargo's own completion when it is first needed.
        { declare -F _comp_load && _comp_load cargo; } >/dev/null 2>&1 ||
            { declare -F _completion_loader && _completion_loader cargo; } >/dev/null 2>&1
    fi
    before=$(complete -p cargo 2>/dev/null)
    if [[ $before == *" -F "* ]]; then
        before=${before#*" -F "}
        before=${before%% *}
        [[ $before != _cargo_agents_in_cargo ]] && _cargo_agents_before=$before
    fi
    complete -o default -F _cargo_agents_in_cargo cargo
}
_cargo_agents_setup
unset -f _cargo_agents_setup
