# Completion of `cargo agents` and `cargo-agents` for PowerShell.
# Load it from $PROFILE with: cargo-agents completions powershell | Out-String | Invoke-Expression

$cargoAgentsCompleter = {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements |
        Where-Object { $_.Extent.StartOffset -lt $cursorPosition } |
        ForEach-Object { $_.Extent.Text })
    $skip = 1
    if ([System.IO.Path]::GetFileNameWithoutExtension($words[0]) -eq 'cargo') {
        if ($words.Count -gt $skip -and $words[$skip].StartsWith('+')) { $skip++ }
        if ($words.Count -le $skip -or $words[$skip] -ne 'agents') { return }
        $skip++
        if ($words.Count -eq $skip -and $wordToComplete -ne '') { return }
    }
    $rest = @($words | Select-Object -Skip $skip)
    # An empty word at the cursor is no element of the command.
    if ($wordToComplete -eq '') { $rest += '""' }
    $index = $rest.Count - 1
    $quoted = @($rest | ForEach-Object { if ($_ -eq '""' -and $PSVersionTable.PSVersion -ge [version]'7.3') { '' } else { $_ } })
    cargo-agents complete $index -- $quoted 2>$null | ForEach-Object {
        $value, $help = $_ -split "`t", 2
        if (-not $help) { $help = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $help)
    }
}
Register-ArgumentCompleter -Native -CommandName 'cargo-agents', 'cargo' -ScriptBlock $cargoAgentsCompleter
