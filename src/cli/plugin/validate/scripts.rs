//! Programs and scripts that lie in a plugin's folder, and servers' programs: whether they are there and
//! can be started.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use super::found::Found;
use crate::Symposium;
use crate::files::{self, Limit, is_executable};
use crate::installations::syntax_error;
use crate::plugins::diagnostics::codes;
use crate::plugins::model::{Hook, Installation, Plugin, Runnable, Transport};
use crate::process::find_program;
use crate::skills::scan::scan_invisible;
use crate::text::{Diagnostic, Source};

/// What a plugin runs and does not install.
pub(super) fn check(sym: &Symposium, plugin: &Plugin, manifest: &Arc<Source>, found: &mut Found) {
    let path_var = sym.env.var("PATH").unwrap_or_default();
    let of_hook = |hook: &Hook| {
        let installation = plugin.installations.iter().find(|known| known.name == hook.command)?;
        Some((installation, hook.runnable.clone()?))
    };
    let own =
        plugin.installations.iter().filter_map(|known| Some((known, known.runnable.clone()?)));
    for (installation, runnable) in own.chain(plugin.hooks.iter().filter_map(of_hook)) {
        // What is installed is not here yet.
        if installation.source.is_none() && installation.install_commands.is_empty() {
            file(plugin, (manifest, path_var), &runnable, found);
        }
    }
    for server in &plugin.servers {
        let Transport::Stdio { command, .. } = &server.transport else { continue };
        let is_installed = |known: &Installation| known.name == *command;
        if plugin.installations.iter().any(is_installed) {
            continue;
        }
        if command.contains(['/', '\\']) {
            file(plugin, (manifest, path_var), &Runnable::Executable(command.clone()), found);
        } else if find_program(OsStr::new(command), path_var, &plugin.dir).is_none() {
            let message = format!("nothing provides the server's program `{command}`");
            found.push(
                Diagnostic::warning(message)
                    .code(codes::NO_PROVIDER)
                    .at(manifest, place_of(manifest, command))
                    .note(
                        "it is no installation of this manifest, and not on your PATH: declare one in \
                         `[[installations]]` and name it here",
                    ),
            );
        }
    }
}

/// Where the manifest has this string.
fn place_of(manifest: &Source, text: &str) -> std::ops::Range<usize> {
    let quoted = [format!("\"{text}\""), format!("'{text}'")];
    let mut places = quoted.iter().filter_map(|text| Some((manifest.text.find(text)?, text)));
    places.next().map_or(0..0, |(start, text)| start..start + text.len())
}

fn file(
    plugin: &Plugin,
    (manifest, path_var): (&Arc<Source>, &OsStr),
    runnable: &Runnable,
    found: &mut Found,
) {
    let (Runnable::Executable(path) | Runnable::Script(path)) = runnable else { return };
    if Path::new(path).is_absolute() {
        return;
    }
    let file = plugin.dir.join(path);
    if !file.is_file() {
        return found.push(
            Diagnostic::error(format!("there is no file `{path}`"))
                .code(codes::FILE_MISSING)
                .at(manifest, place_of(manifest, path))
                .note("the path is relative to the plugin's folder"),
        );
    }
    let is_script = matches!(runnable, Runnable::Script(_));
    found.diagnostics.extend(flaws(&file, is_script));
    found.diagnostics.extend(unreadable(&file, runnable, path_var));
}

/// What keeps a file that is there from being started everywhere.
fn flaws(file: &Path, by_sh: bool) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let error = |code, message: &str| Diagnostic::error(message).code(code).in_file(file);
    if !by_sh && !is_executable(file) {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        problems.push(error(codes::NOT_EXECUTABLE, "this file is not executable").note(format!(
            "`git update-index --chmod=+x {name}` and `chmod +x {name}`, or name it as a `script`, \
             which `sh` reads"
        )));
    }
    let mut start = [0; 4];
    let read = files::open(file).ok().and_then(|mut open| open.read(&mut start).ok());
    let Some(length) = read else { return problems };
    let start = &start[..length];
    if is_binary(start) {
        if by_sh {
            let problem =
                error(codes::NO_SHEBANG, "this is a program, and `script` is read by `sh`");
            problems.push(problem.note("name it as `executable`"));
        }
        return problems;
    }
    let Ok(source) = files::read_source(file, Limit::MANIFEST) else { return problems };
    let first = source.text.lines().next().unwrap_or_default();
    if !by_sh && !first.starts_with("#!") {
        let problem = Diagnostic::error("this script does not say what reads it");
        problems.push(problem.code(codes::NO_SHEBANG).at(&source, 0..first.len()).note(
            "begin it with a line such as `#!/bin/sh`, or name it as a `script`, which `sh` reads",
        ));
    }
    problems.extend(scan_invisible(&source.text).iter().map(|finding| finding.diagnostic(&source)));
    if let Some(at) = source.text.find("\r\n") {
        let line = source.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let problem =
            Diagnostic::error("a line ends with a carriage return, which shells take for text");
        problems.push(problem.code(codes::CRLF).at(&source, line..at).note(
            "save it with LF line ends; `*.sh text eol=lf` in `.gitattributes` keeps git from \
             changing them",
        ));
    }
    problems
}

/// ELF, Mach-O (either byte order, or several in one file) and Windows' programs.
fn is_binary(start: &[u8]) -> bool {
    const MAGIC: [&[u8]; 7] = [
        b"\x7fELF",
        b"\xfe\xed\xfa\xce",
        b"\xfe\xed\xfa\xcf",
        b"\xce\xfa\xed\xfe",
        b"\xcf\xfa\xed\xfe",
        b"\xca\xfe\xba\xbe",
        b"MZ",
    ];
    MAGIC.iter().any(|magic| start.starts_with(magic))
}

/// What the script's shell finds. A shell that is none of the user's is not started: whoever wrote the
/// folder may have put it there.
fn unreadable(file: &Path, runnable: &Runnable, path_var: &OsStr) -> Option<Diagnostic> {
    let path = file.to_string_lossy().into_owned();
    let argv = match runnable {
        Runnable::Script(_) => vec!["sh".to_owned(), path],
        Runnable::Executable(_) | Runnable::Shell => vec![path],
    };
    let unasked = |why: String| {
        Diagnostic::warning("this script was not looked through for syntax errors").note(why)
    };
    let problem = match strange_shell(file, runnable, path_var) {
        Some(shell) => unasked(format!("its `{shell}` is in no folder of your PATH")),
        None => match syntax_error(&argv) {
            Ok(error) => Diagnostic::error("the shell can't read this script").note(error?),
            Err(error) => unasked(error.to_string()),
        },
    };
    Some(problem.code(codes::SCRIPT_SYNTAX).in_file(file))
}

/// The shell in the first line of an executable script, where it is none of the system's and in no
/// folder of `PATH`.
fn strange_shell(file: &Path, runnable: &Runnable, path_var: &OsStr) -> Option<String> {
    if matches!(runnable, Runnable::Script(_)) {
        return None;
    }
    let source = files::read_source(file, Limit::MANIFEST).ok()?;
    let mut words = source.text.lines().next()?.strip_prefix("#!")?.split_whitespace();
    let first = words.next()?;
    let shell = if first.ends_with("/env") { words.next()? } else { first };
    let folder = Path::new(shell).parent()?;
    // A bare name is looked for on `PATH`.
    let is_bare = folder == Path::new("");
    let system = ["/bin", "/usr/bin"].map(Path::new);
    let mut known = std::env::split_paths(path_var).filter(|entry| entry.is_absolute());
    let is_known = is_bare || system.contains(&folder) || known.any(|entry| entry == folder);
    (shell.ends_with("sh") && !is_known).then(|| shell.to_owned())
}
