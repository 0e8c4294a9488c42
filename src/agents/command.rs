//! The command line that agents call us by, and ([`recognise`]) how it is told from others when it is
//! time to repair or remove it.

mod recognise;
mod shared_server;

use std::path::PathBuf;

use symposium_hook::Event;

use super::places::Placement;
use crate::text::Diagnostic;

pub(crate) use recognise::is_ours;
pub(crate) use shared_server::{
    OWN_SERVER, argv, is_own_server, is_shared_server, own_server, shared_server, started_server,
};

/// Our program's name, as a shell finds it on `PATH`.
pub(crate) const PROGRAM: &str = "cargo-agents";

/// The end of the guard's first half: from here on the program is known to be there.
const POSIX_GUARD: &str = " >/dev/null 2>&1 || exit 0; ";

/// The guard's other half: what did not start, or crashed, says "carry on" too.
const POSIX_NET: &str = " || exit 0";

/// The end of the PowerShell guard's condition.
const POWERSHELL_GUARD: &str = " -ErrorAction SilentlyContinue) { ";

/// The PowerShell guard's other half; `||` is unknown to the PowerShell that Windows brings.
const POWERSHELL_NET: &str = "; exit 0";

/// A shell that runs a hook's command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shell {
    /// `sh`, `bash` and their like on Unix.
    Posix,
    /// The `bash` of Git for Windows: it takes a backslash for an escape. What is written for it
    /// also works in `cmd`, unless the path holds `$`, a backtick or an exclamation mark.
    GitBash,
    /// PowerShell, both the one of Windows and the newer one.
    #[allow(clippy::enum_variant_names, reason = "its name")]
    PowerShell,
}

/// What decides how our program is called.
#[derive(Debug, Clone)]
pub(crate) struct ProgramFacts {
    /// The running program's file.
    pub exe: PathBuf,
    /// Whether a login-less `sh -c` with the agent's likely `PATH` finds [`PROGRAM`].
    pub on_minimal_path: bool,
    /// Whether this is Windows.
    pub windows: bool,
    /// The shell that the agent runs hooks in.
    pub shell: Shell,
}

/// How our program is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    /// One word of the shell's language: the bare name, or a path quoted for that shell.
    pub text: String,
    /// What people should know about it.
    pub warning: Option<Diagnostic>,
}

/// How an agent should call us: by name where the name is found, else by path. A build folder's
/// path never enters a user's file: it is gone with the next `cargo clean`. Neither does one that
/// ends in another name than [`PROGRAM`].
pub(crate) fn choose_program(facts: &ProgramFacts) -> Program {
    let bare = |warning| Program { text: PROGRAM.to_owned(), warning };
    if facts.on_minimal_path {
        return bare(None);
    }
    let Some(path) = facts.exe.to_str().map(|path| plain_path(path, facts.windows)) else {
        return bare(Some(not_on_path("its own path is not Unicode and can't be registered")));
    };
    if in_build_folder(&path, facts.windows) {
        return bare(Some(not_on_path("it runs from a build folder")));
    }
    if !is_our_path(&path) {
        // What is written under another name could not be told from the user's own.
        return bare(Some(not_on_path("this program has another name")));
    }
    Program { text: quote(&path, facts.windows, facts.shell), warning: None }
}

fn not_on_path(why: &str) -> Diagnostic {
    Diagnostic::warning(format!("`{PROGRAM}` is not on the PATH that agents see, and {why}"))
        .note("hooks do nothing until it is found by name")
        .note("install it with `cargo install --path .`, and have cargo's `bin` folder on PATH")
}

/// The path without Windows's verbatim prefix, which shells do not take.
fn plain_path(path: &str, windows: bool) -> String {
    match path.strip_prefix(r"\\?\") {
        Some(rest) if windows => match rest.strip_prefix(r"UNC\") {
            Some(share) => format!(r"\\{share}"),
            None => rest.to_owned(),
        },
        _ => path.to_owned(),
    }
}

/// Whether cargo built the file where it lies: below a folder `target`, or in a profile's folder.
fn in_build_folder(path: &str, windows: bool) -> bool {
    let separator = |c| c == '/' || (windows && c == '\\');
    let folders: Vec<&str> = path.split(separator).filter(|part| !part.is_empty()).collect();
    let [folders @ .., _file] = folders.as_slice() else { return false };
    if let [.., ".cargo", "bin"] = folders {
        return false;
    }
    folders.contains(&"target") || matches!(folders, [.., "debug" | "release" | "deps"])
}

/// The path as one word of the shell.
fn quote(path: &str, windows: bool, shell: Shell) -> String {
    match shell {
        Shell::PowerShell if path.chars().all(|c| is_plain(c) || c == '\\') => path.to_owned(),
        Shell::PowerShell => format!("'{}'", path.replace('\'', "''")),
        Shell::Posix | Shell::GitBash => {
            let path = if windows { path.replace('\\', "/") } else { path.to_owned() };
            if path.chars().all(is_plain) {
                path
            } else if windows && !path.contains(['"', '$', '`', '!', '\\']) {
                format!("\"{path}\"")
            } else {
                format!("'{}'", path.replace('\'', r"'\''"))
            }
        }
    }
}

/// A character that no shell gives a meaning to inside an absolute path.
fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | ':')
}

/// The command that an agent runs at an event, for POSIX shells: `cargo-agents hook claude
/// pre-tool-use`. `program` is a word as [`choose_program`] makes it.
///
/// A guarded one ends with exit code 0 whatever happens to the program: it is gone, does not start,
/// or crashes. It is for agents that take such a failure for a block, and whose blocks we write to
/// standard output.
pub(crate) fn hook_command(agent: &str, event: Event, program: &str, guarded: bool) -> String {
    let call = format!("{program} hook {agent} {}", event.cli_name());
    if guarded { format!("command -v {program}{POSIX_GUARD}{call}{POSIX_NET}") } else { call }
}

/// As an unguarded [`hook_command`]; in a file that a team shares, nothing happens where our program is
/// missing, and else its exit code is the command's. Windows has shells that can't look for it.
pub(crate) fn plain_command(agent: &str, event: Event, placement: &Placement<'_>) -> String {
    let looks = !placement.is_global() && !placement.windows;
    if looks {
        looking_command(agent, event, placement.program)
    } else {
        hook_command(agent, event, placement.program, false)
    }
}

/// As an unguarded [`hook_command`], but nothing happens where our program is missing.
pub(crate) fn looking_command(agent: &str, event: Event, program: &str) -> String {
    let call = hook_command(agent, event, program, false);
    format!("command -v {program}{POSIX_GUARD}{call}")
}

/// As [`hook_command`], for PowerShell.
pub(crate) fn powershell_command(
    agent: &str,
    event: Event,
    program: &str,
    guarded: bool,
) -> String {
    // A quoted word is a string there; `&` calls it.
    let call = format!("& {program} hook {agent} {}", event.cli_name());
    if guarded {
        format!("if (Get-Command {program}{POWERSHELL_GUARD}{call} }}{POWERSHELL_NET}")
    } else {
        call
    }
}

/// The path of the program that a POSIX shell's word names.
pub(crate) fn program_path(word: &str) -> String {
    match shlex::split(word).as_deref() {
        Some([path]) => path.clone(),
        _ => word.to_owned(),
    }
}

/// A POSIX shell's word as PowerShell's.
pub(crate) fn powershell_word(word: &str) -> String {
    quote(&program_path(word), true, Shell::PowerShell)
}

/// Whether it is an absolute path to a file with our name.
fn is_our_path(path: &str) -> bool {
    let mut start = path.chars();
    let absolute = match (start.next(), start.next(), start.next()) {
        (Some('/'), ..) | (Some('\\'), Some('\\'), _) => true,
        (Some(drive), Some(':'), Some('/' | '\\')) => drive.is_ascii_alphabetic(),
        _ => false,
    };
    let file = path.rsplit(['/', '\\']).next().unwrap_or_default();
    absolute && matches!(file, "cargo-agents" | "cargo-agents.exe")
}

#[cfg(test)]
mod tests;
