# Completion of `cargo agents` and `cargo-agents` for fish.
# Load it with: cargo-agents completions fish | source

# Whether the command line is `cargo agents …`.
function __cargo_agents_is_meant
    set -l words (commandline -opc)
    test (count $words) -ge 2; or return 1
    test "$words[2]" = agents; and return 0
    string match -q -- '+*' $words[2]; and test (count $words) -ge 3; and test "$words[3]" = agents
end

# What can stand at the cursor; without an answer, files are offered.
function __cargo_agents_complete
    set -l words (commandline -opc)
    set -e words[1]
    if test (count $words) -ge 1; and string match -q -- '+*' $words[1]
        set -e words[1]
    end
    if test (count $words) -ge 1; and test "$words[1]" = agents
        set -e words[1]
    end
    set -l current (commandline -ct)
    set -l found (cargo-agents complete (count $words) -- $words "$current" 2>/dev/null)
    if test (count $found) -eq 0
        __fish_complete_path "$current"
    else
        printf '%s\n' $found
    end
end

complete -c cargo-agents -f -a '(__cargo_agents_complete)'
complete -c cargo -n __cargo_agents_is_meant -f -a '(__cargo_agents_complete)'
