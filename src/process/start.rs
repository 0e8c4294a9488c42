//! From a [`Child`] to a command that can be started, and from the system's refusals to words.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use super::find::{find_program, is_bare_name};
use super::{Child, RunError};
use crate::config::Environment;

/// A command for `child` without streams, its program found.
#[allow(clippy::disallowed_methods, reason = "this is the room that starts programs")]
pub(super) fn command(child: &Child) -> Result<Command, RunError> {
    let program = resolve(child)?;
    #[cfg(windows)]
    let mut command = super::script::command(&program, &path_of(child).unwrap_or_default())?;
    #[cfg(not(windows))]
    let mut command = Command::new(program);
    command.args(&child.args);
    #[cfg(windows)]
    if !child.raw.is_empty() {
        use std::os::windows::process::CommandExt as _;
        command.raw_arg(&child.raw);
    }
    if let Some(cwd) = &child.cwd {
        command.current_dir(cwd);
    }
    if child.clear_env {
        command.env_clear();
    }
    for (name, value) in &child.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Ok(command)
}

/// The program's path. A name is looked up on the `PATH` that the child will have.
fn resolve(child: &Child) -> Result<PathBuf, RunError> {
    let shown = child.program.to_string_lossy().into_owned();
    if is_bare_name(&child.program) {
        let path = path_of(child).unwrap_or_default();
        let found = find_program(&child.program, &path, Path::new("/"));
        #[cfg(windows)]
        let found = found.or_else(|| super::find::sh_of_git(&child.program, &path));
        return found.ok_or(RunError::NotFound { program: shown });
    }
    let program = PathBuf::from(&child.program);
    let program = match &child.cwd {
        // Whether a relative program is meant from the parent's folder or the child's differs
        // between systems; here it is the child's.
        Some(cwd) if program.is_relative() => cwd.join(program),
        _ => program,
    };
    // `tools/check` may be `tools/check.cmd` there.
    if cfg!(windows) && !program.exists() {
        let found = find_program(program.as_os_str(), OsStr::new(""), Path::new("/"));
        return Ok(found.unwrap_or(program));
    }
    Ok(program)
}

fn path_of(child: &Child) -> Option<OsString> {
    let is_path = |name: &OsStr| {
        if cfg!(windows) { name.eq_ignore_ascii_case("PATH") } else { name == "PATH" }
    };
    let last = child.env.iter().rev().find(|(name, _)| is_path(name));
    match last {
        Some((_, value)) => value.clone(),
        None if child.clear_env => None,
        None => Environment::capture().var("PATH").map(OsStr::to_owned),
    }
}

/// Runs `start`, again for an eighth of a second while [`is_busy`].
pub(super) fn retry_busy<T>(mut start: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut pause = Duration::from_millis(1);
    loop {
        match start() {
            Err(error) if is_busy(&error) && pause < Duration::from_millis(100) => {
                sleep(pause);
                pause *= 2;
            }
            other => return other,
        }
    }
}

/// Whether the program is there and may start in a moment. On Unix its file is still open for writing:
/// another thread's fork may hold the descriptor that wrote it. On Windows who wrote it, or looks it
/// through for viruses, shares it with nobody; and Wine starts nothing now and then on a busy machine,
/// which it calls an internal error (as our tests met it).
fn is_busy(error: &io::Error) -> bool {
    const ERROR_SHARING_VIOLATION: i32 = 32;
    const ERROR_INTERNAL_ERROR: i32 = 1359;
    let codes = [ERROR_SHARING_VIOLATION, ERROR_INTERNAL_ERROR];
    error.kind() == io::ErrorKind::ExecutableFileBusy
        || cfg!(windows) && error.raw_os_error().is_some_and(|code| codes.contains(&code))
}

/// What the system's refusal to start `child` means.
pub(super) fn refusal(child: &Child, program: &OsStr, source: io::Error) -> RunError {
    let shown = child.program.to_string_lossy().into_owned();
    let path = Path::new(program);
    // Asked only now: nearly always it is there.
    if let Some(cwd) = child.cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
        return RunError::NoFolder { program: shown, folder: cwd.clone() };
    }
    match source.kind() {
        io::ErrorKind::NotFound if path.exists() => RunError::Io {
            program: shown,
            source: io::Error::new(source.kind(), "the interpreter that it names is not there"),
        },
        io::ErrorKind::NotFound => RunError::NotFound { program: shown },
        io::ErrorKind::PermissionDenied if path.is_dir() => {
            RunError::Io { program: shown, source: io::Error::new(source.kind(), "it is a folder") }
        }
        io::ErrorKind::PermissionDenied if path.exists() => {
            RunError::NotExecutable { program: shown }
        }
        _ if is_format_error(&source) => RunError::Io {
            program: shown,
            source: io::Error::new(
                source.kind(),
                "it is neither a program for this system nor a script that begins with `#!`",
            ),
        },
        _ => RunError::Io { program: shown, source },
    }
}

#[cfg(unix)]
fn is_format_error(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENOEXEC)
}

#[cfg(not(unix))]
fn is_format_error(error: &io::Error) -> bool {
    // ERROR_BAD_EXE_FORMAT
    error.raw_os_error() == Some(193)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often a program is started that says `error` before start `ready`, and what came of it.
    fn starts(ready: usize, error: impl Fn() -> io::Error) -> (usize, io::Result<()>) {
        let mut count = 0;
        let result = retry_busy(|| {
            count += 1;
            if count < ready { Err(error()) } else { Ok(()) }
        });
        (count, result)
    }

    fn busy() -> io::Error {
        io::ErrorKind::ExecutableFileBusy.into()
    }

    #[test]
    fn a_program_that_is_busy_is_started_again_for_a_moment() {
        assert!(matches!(starts(1, busy), (1, Ok(()))));
        assert!(matches!(starts(4, busy), (4, Ok(()))));
        let (count, result) = starts(usize::MAX, busy);
        assert_eq!(result.expect_err("it stays busy").kind(), io::ErrorKind::ExecutableFileBusy);
        assert_eq!(count, 8);
        let (count, _) = starts(2, || io::ErrorKind::NotFound.into());
        assert_eq!(count, 1);
    }

    #[cfg(windows)]
    #[test]
    fn a_program_that_somebody_writes_is_busy() {
        use std::os::windows::fs::OpenOptionsExt as _;
        let dir = tempfile::tempdir().expect("a temporary folder");
        let program = dir.path().join("program.exe");
        std::fs::copy(std::env::current_exe().expect("is known"), &program).expect("copies");
        let mut list = Command::new(&program);
        list.args(["--list", "--exact", "none"]).stdout(std::process::Stdio::null());
        let writer = std::fs::OpenOptions::new().write(true).share_mode(0).open(&program);
        let writer = writer.expect("opens");
        assert!(is_busy(&list.spawn().expect_err("nobody may read it")));
        drop(writer);
        let mut running = retry_busy(|| list.spawn()).expect("starts");
        assert!(running.wait().expect("ends").success());
    }
}
