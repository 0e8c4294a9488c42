# Completion of `cargo agents` and `cargo-agents` for Elvish.
# Load it from rc.elv with: eval (cargo-agents completions elvish | slurp)

use str

var -cargo-agents-before = $false
if (has-key $edit:completion:arg-completer cargo) {
    set -cargo-agents-before = $edit:completion:arg-completer[cargo]
}

fn -cargo-agents-complete {|words|
    var found = $false
    try {
        cargo-agents complete (- (count $words) 1) -- $@words 2>/dev/null | from-lines | each {|line|
            set found = $true
            var parts = [(str:split &max=2 "\t" $line)]
            if (== (count $parts) 2) {
                edit:complex-candidate $parts[0] &display=$parts[0]' ('$parts[1]')'
            } else {
                put $line
            }
        }
    } catch {
        nop
    }
    if (not $found) {
        edit:complete-filename $@words
    }
}

set edit:completion:arg-completer[cargo-agents] = {|@words|
    -cargo-agents-complete $words[1..]
}

set edit:completion:arg-completer[cargo] = {|@words|
    var rest = $words[1..]
    if (and (> (count $rest) 0) (str:has-prefix $rest[0] '+')) {
        set rest = $rest[1..]
    }
    if (and (> (count $rest) 1) (eq $rest[0] agents)) {
        -cargo-agents-complete $rest[1..]
    } elif (not-eq $-cargo-agents-before $false) {
        $-cargo-agents-before $@words
    } else {
        edit:complete-filename $@words
    }
}
