//! Scripts on Windows, which starts programs and batch files only.

use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::Command;

use super::RunError;
use super::find::find_sh;
use super::model::NO_SH;
use crate::files::open;

/// A command for the file at `program`: a program or a batch file as it is, `.ps1` by PowerShell, and a
/// file that begins with `#!` by the `sh` of Git for Windows, which knows what that line means.
///
/// # Errors
/// [`RunError::Io`] when the file is such a script and there is no `sh`.
#[allow(clippy::disallowed_methods, reason = "this is the room that starts programs")]
pub(super) fn command(program: &Path, path_var: &OsStr) -> Result<Command, RunError> {
    let extension = program.extension().map(|name| name.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("exe" | "com" | "bat" | "cmd") => Ok(Command::new(program)),
        Some("ps1") => {
            let mut command = Command::new("powershell.exe");
            command.args(["-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File"]);
            command.arg(program);
            Ok(command)
        }
        _ if names_its_interpreter(program) => {
            let sh = find_sh(path_var).ok_or_else(|| RunError::Io {
                program: program.display().to_string(),
                source: io::Error::new(
                    io::ErrorKind::NotFound,
                    format!(
                        "it is a script that begins with `#!`, and no `sh` is on PATH; {NO_SH}"
                    ),
                ),
            })?;
            let mut command = Command::new(sh);
            command.args(["-c", r#"exec "$0" "$@""#]);
            command.arg(program.to_string_lossy().replace('\\', "/"));
            Ok(command)
        }
        _ => Ok(Command::new(program)),
    }
}

fn names_its_interpreter(program: &Path) -> bool {
    let mut start = [0; 2];
    open(program).is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && start == *b"#!"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_script_has_its_interpreter() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (git, bin) = (dir.path().join("Git/cmd"), dir.path().join("Git/bin"));
        for folder in [&git, &bin] {
            std::fs::create_dir_all(folder).expect("creates");
        }
        for program in [git.join("git.exe"), bin.join("sh.exe")] {
            std::fs::write(program, "").expect("writes");
        }
        let script = dir.path().join("check");
        std::fs::write(&script, "#!/usr/bin/env bash\n").expect("writes");
        let of = |program: &Path, path: &Path| {
            let command = command(program, path.as_os_str())?;
            Ok::<_, RunError>(Path::new(command.get_program()).to_owned())
        };
        assert_eq!(of(&script, &git).expect("is found"), bin.join("sh.exe"));
        assert_eq!(of(&script, &bin).expect("is found"), bin.join("sh.exe"));
        let refused = of(&script, dir.path()).expect_err("there is no sh").to_string();
        assert!(refused.contains("Git for Windows"), "{refused}");
        let batch = dir.path().join("check.CMD");
        assert_eq!(of(&batch, dir.path()).expect("is one"), batch);
        let power = of(&dir.path().join("check.ps1"), dir.path()).expect("is one");
        assert_eq!(power, Path::new("powershell.exe"));
    }

    #[test]
    fn cmd_gets_the_quotes_of_a_line_as_they_are() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let line = r#"mkdir "a b" && echo "x y" >"a b\said.txt""#;
        let child = crate::process::Child::new("cmd").command_line(line).cwd(dir.path());
        let ran = crate::process::run(&child).expect("starts");
        assert!(ran.success(), "{ran:?}");
        let said = std::fs::read_to_string(dir.path().join("a b/said.txt")).expect("is there");
        assert_eq!(said.trim(), "\"x y\"");
    }
}
