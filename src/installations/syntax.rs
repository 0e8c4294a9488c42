//! Whether a shell can read a script.

use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use crate::files;
use crate::process::{Child, RunError, Status, run};

/// The shells that read a script without running it when they are asked with `-n`.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"];
/// How long a shell may read. It takes a millisecond, and on a busy machine more than a second now and
/// then: a script that it can't read would count as a denial then.
const LIMIT: Duration = Duration::from_secs(5);

/// What the shell that runs `argv` finds wrong with its script, which is not run. `None` where it finds
/// nothing, or where no shell runs it.
///
/// # Errors
/// The shell can't be started.
pub(crate) fn syntax_error(argv: &[String]) -> Result<Option<String>, RunError> {
    let Some((shell, script)) = shell_of(argv) else { return Ok(None) };
    let child = Child::new(shell).args(["-n"]).args(script).limit(LIMIT);
    let output = run(&child)?;
    let is_refused = matches!(output.status, Status::Exited(code) if code != 0);
    Ok(is_refused.then(|| output.stderr_text().trim().to_owned()))
}

/// The shell and its script: as `sh <script>`, as `…/sh -c <commands>`, or as the script's first line
/// says.
fn shell_of(argv: &[String]) -> Option<(String, Vec<&str>)> {
    let script = match argv {
        [shell, flag, commands]
            if flag == "-c" && Path::new(shell).file_stem().is_some_and(|name| name == "sh") =>
        {
            return Some((shell.clone(), vec![flag, commands]));
        }
        [shell, script, ..] if shell == "sh" => return Some((shell.clone(), vec![script])),
        [script, ..] => script,
        [] => return None,
    };
    let mut start = Vec::new();
    files::open(Path::new(script)).ok()?.take(256).read_to_end(&mut start).ok()?;
    let start = String::from_utf8_lossy(&start);
    let mut words = start.lines().next()?.strip_prefix("#!")?.split_whitespace();
    let name = |program: &str| program.rsplit('/').next().unwrap_or_default().to_owned();
    let program = words.next()?;
    let program = if name(program) == "env" { words.next()? } else { program };
    SHELLS.contains(&&*name(program)).then(|| (program.to_owned(), vec![&**script]))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_by_its_shell_and_never_run() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let ran = dir.path().join("ran");
        let path = dir.path().join("s");
        let script = path.to_string_lossy().into_owned();
        for (first, is_shell) in
            [("#!/bin/sh", true), ("#!/usr/bin/env sh -x", true), ("#!/usr/bin/python3", false)]
        {
            for (rest, is_broken) in [("", false), ("if true", true)] {
                let text = format!("{first}\ntouch {}\n{rest}\n", ran.display());
                std::fs::write(&path, text).expect("writes");
                let read = |argv: &[String]| syntax_error(argv).expect("starts the shell");
                let by_sh = read(&["sh".to_owned(), script.clone()]);
                assert_eq!(by_sh.is_some(), is_broken);
                let alone = read(std::slice::from_ref(&script));
                assert_eq!(alone.is_some(), is_broken && is_shell, "{first} {rest}");
            }
        }
        assert!(!ran.exists());
        assert!(matches!(syntax_error(&["/bin/ls".to_owned()]), Ok(None)));
    }
}
