//! Programs from `tests/agents/node_modules`, and those on `PATH`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Program;

/// The one command that installs the clients.
pub const INSTALL: &str = "tests/agents/install.sh";

/// The system and processor, as packages of programs are named: `linux-x64`.
pub(super) fn platform() -> String {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{system}-{processor}")
}

/// The program `file` of `package`, where it is installed.
pub(super) fn installed(agents: &Path, package: &str, file: &str) -> Result<Program, String> {
    let dir = agents.join("node_modules").join(package);
    let path = dir.join(file);
    let manifest = std::fs::read(dir.join("package.json")).ok();
    let manifest = manifest.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    match manifest {
        Some(manifest) if path.is_file() => {
            let version = manifest.get("version").and_then(Value::as_str).unwrap_or_default();
            // `0.171.0-linux-x64`
            let version = version.split('-').next().unwrap_or_default().to_owned();
            Ok(Program { path, version })
        }
        _ => Err(INSTALL.to_owned()),
    }
}

/// As [`installed`], a program that node runs.
pub(super) fn for_node(agents: &Path, package: &str, file: &str) -> Result<Program, String> {
    let program = installed(agents, package, file)?;
    on_path("node").map(|_| program).ok_or_else(|| "node on PATH".to_owned())
}

/// The command that has node run such a program.
pub(super) fn by_node(program: &Program) -> Command {
    let node = on_path("node").expect("it was there when the program was looked for");
    let mut command = Command::new(node);
    command.arg(&program.path);
    command
}

/// What a program on `PATH` says its version is; empty where it says nothing of the kind.
pub(super) fn version_of(program: &Path) -> String {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    let said = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let is_version = |word: &&str| word.contains('.') && word.starts_with(|c: char| c.is_numeric());
    said.unwrap_or_default().split_whitespace().find(is_version).unwrap_or_default().to_owned()
}

/// Where a program is on the test's own `PATH`.
pub(super) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&path).map(|folder| folder.join(&name)).find(|path| path.is_file())
}
