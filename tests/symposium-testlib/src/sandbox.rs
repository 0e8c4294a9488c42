//! A temporary home and workspace, and the built program run in them.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::Tree;

/// The variable with the switches for tests.
const SWITCHES: &str = "SYMPOSIUM_TEST_SWITCHES";

/// A folder with `home/` and `ws/` in it. Gone when dropped, unless the test failed: then its path
/// is told and it stays.
#[derive(Debug)]
pub struct Sandbox {
    binary: PathBuf,
    dir: Option<tempfile::TempDir>,
    vars: Vec<(OsString, OsString)>,
}

/// What a run of the program came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Exit code; -1 when a signal ended it.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// How often a start that Wine refuses is repeated.
const STARTS_REPEATED: usize = 3;

/// ERROR_INTERNAL_ERROR: what Wine, on a busy machine, answers now and then to the start of a program that
/// starts a moment later. From what the tests met; no page says it.
const WINE_IS_BUSY: i32 = 1359;

/// Starts a program. A start that Wine refuses for its own sake is repeated, and said.
///
/// # Panics
/// When it can't be started.
fn start(command: &mut Command) -> Child {
    for repeated in 1..=STARTS_REPEATED {
        match command.spawn() {
            Err(error) if cfg!(windows) && error.raw_os_error() == Some(WINE_IS_BUSY) => {
                let program = command.get_program().display();
                let _ =
                    writeln!(std::io::stderr(), "start repeated ({repeated}): {program}: {error}");
                std::thread::sleep(Duration::from_millis(200));
            }
            started => return started.expect("the program starts"),
        }
    }
    command.spawn().expect("the program starts")
}

impl Run {
    /// What a command comes to that is given `stdin` to read.
    ///
    /// # Panics
    /// When it can't be started.
    pub fn of(command: &mut Command, stdin: &[u8]) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = start(piped);
        let mut pipe = child.stdin.take().expect("a pipe");
        let stdin = stdin.to_vec();
        std::thread::spawn(move || {
            // A program that does not read all of it is no reason to fail here.
            let _ = pipe.write_all(&stdin);
        });
        let output = child.wait_with_output().expect("the program ends");
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The run, which must have ended with code 0.
    ///
    /// # Panics
    /// When it did not.
    pub fn ok(self) -> Self {
        self.code(0)
    }

    /// The run, which must have ended with `code`.
    ///
    /// # Panics
    /// When it did not.
    pub fn code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// The JSON lines on standard output.
    ///
    /// # Panics
    /// When a line is no JSON.
    pub fn json_lines(&self) -> Vec<serde_json::Value> {
        self.stdout
            .lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
            })
            .collect()
    }
}

impl Sandbox {
    /// A new sandbox for the program at `binary` (`env!("CARGO_BIN_EXE_cargo-agents")`).
    ///
    /// The central recommendations are switched off in its configuration: tests use no network.
    ///
    /// # Panics
    /// When there can be no temporary folder.
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        let sandbox = Self::bare(binary);
        sandbox.config("");
        sandbox
    }

    /// As [`Sandbox::new`], with no configuration at all. Events wait ten times as long as in use:
    /// tests of how long they do switch `patience` to 1.
    ///
    /// # Panics
    /// When there can be no temporary folder.
    pub fn bare(binary: impl Into<PathBuf>) -> Self {
        let dir = tempfile::Builder::new()
            .prefix("symposium-test-")
            .tempdir()
            .expect("a temporary folder");
        let mut sandbox = Self { binary: binary.into(), dir: Some(dir), vars: Vec::new() };
        sandbox.switch("patience", "10");
        for folder in [sandbox.home(), sandbox.ws()] {
            std::fs::create_dir_all(folder).expect("creates a folder");
        }
        sandbox
    }

    /// The program.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// Puts the program where `cargo install` does, and runs that copy from now on.
    ///
    /// # Panics
    /// When it can't be put there.
    pub fn install(&mut self) {
        self.install_in("home/.cargo/bin");
    }

    /// Puts the program into a folder below the sandbox's, and runs that copy from now on.
    ///
    /// # Panics
    /// When it can't be put there.
    pub fn install_in(&mut self, folder: &str) {
        let name = format!("cargo-agents{}", std::env::consts::EXE_SUFFIX);
        let folder = self.dir().join(folder);
        std::fs::create_dir_all(&folder).expect("creates a folder");
        let place = folder.join(name);
        // A copy can't be started while another test's child still has it open for writing.
        if std::fs::hard_link(&self.binary, &place).is_err() {
            std::fs::copy(&self.binary, &place).expect("the program can be copied");
        }
        self.binary = place;
    }

    /// The folder that holds everything.
    ///
    /// # Panics
    /// Never before the sandbox is dropped.
    pub fn dir(&self) -> PathBuf {
        let dir = self.dir.as_ref().expect("held until dropped").path();
        // macOS hands out a link; the program shows the real path.
        dunce::canonicalize(dir).unwrap_or_else(|_| dir.to_path_buf())
    }

    /// The home folder.
    pub fn home(&self) -> PathBuf {
        self.dir().join("home")
    }

    /// The workspace's folder.
    pub fn ws(&self) -> PathBuf {
        self.dir().join("ws")
    }

    /// Adds a variable to every later run.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.vars.push((name.into(), value.into()));
    }

    /// Sets one of the switches for tests that a debug build has (`src/config/test_switches.rs`).
    ///
    /// # Panics
    /// Never: what was set before is text.
    pub fn switch(&mut self, name: &str, value: &str) {
        let is_switches = |(variable, _): &(OsString, OsString)| variable == SWITCHES;
        let before = self.vars.iter().position(is_switches).map(|index| self.vars.remove(index).1);
        let before = before.unwrap_or_default().into_string().expect("text");
        let prefix = format!("{name}=");
        let others = before.split_whitespace().filter(|switch| !switch.starts_with(&prefix));
        let all = others.chain([&*format!("{name}={value}")]).collect::<Vec<_>>().join(" ");
        self.set(SWITCHES, all);
    }

    /// What was switched, as the variable that the program reads.
    pub(crate) fn switches(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        let all = self.vars.iter().filter(|(variable, _)| variable == SWITCHES);
        all.map(|(variable, switches)| (variable, switches))
    }

    /// Writes a file below the sandbox's folder; its text is everything up to the last newline.
    ///
    /// # Panics
    /// When it can't be written.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.dir().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("creates a folder");
        std::fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// Writes a script that can be run, in place of whatever was there.
    ///
    /// # Panics
    /// When it can't be written.
    pub fn program(&self, path: &str, text: &str) {
        self.write(path, text);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(self.dir().join(path), mode).expect("the mode can be set");
        }
    }

    /// Puts a folder below the sandbox's before all others on the `PATH` of every later run.
    ///
    /// # Panics
    /// When its name has a separator in it.
    pub fn first_on_path(&mut self, folder: &str) {
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let folder = self.dir().join(folder);
        let all = std::iter::once(folder).chain(std::env::split_paths(&inherited));
        self.set("PATH", std::env::join_paths(all).expect("no separator in a name"));
    }

    /// A file's text.
    ///
    /// # Panics
    /// When it can't be read.
    pub fn read(&self, path: &str) -> String {
        let path = self.dir().join(path);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Whether there is something at `path`.
    pub fn has(&self, path: &str) -> bool {
        self.dir().join(path).symlink_metadata().is_ok()
    }

    /// Writes `config.toml`: no central recommendations, then `text`, which must not have a
    /// `[defaults]` of its own.
    pub fn config(&self, text: &str) {
        let defaults = "[defaults]\nsymposium-recommendations = false\n";
        self.write("home/.symposium/config.toml", format!("{text}\n{defaults}"));
    }

    /// Makes `ws/` a package that depends on `dependencies` (`name version`), with a lock file that
    /// has them from crates.io.
    pub fn package(&self, dependencies: &[(&str, &str)]) {
        let mut manifest =
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\n"
                .to_owned();
        let mut lock = "version = 4\n".to_owned();
        let mut listed = String::new();
        let mut sorted = dependencies.to_vec();
        sorted.sort_unstable();
        for (name, version) in &sorted {
            manifest.push_str(&format!("{name} = \"{version}\"\n"));
            listed.push_str(&format!(" \"{name}\",\n"));
        }
        let mut packages: Vec<(String, String)> = sorted
            .iter()
            .map(|(name, version)| {
                let text = format!(
                    "\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \
                     \"registry+https://github.com/rust-lang/crates.io-index\"\n"
                );
                ((*name).to_owned(), text)
            })
            .collect();
        let dependencies = if listed.is_empty() {
            String::new()
        } else {
            format!("dependencies = [\n{listed}]\n")
        };
        let own = format!("\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n{dependencies}");
        packages.push(("shop".to_owned(), own));
        packages.sort();
        for (_, text) in packages {
            lock.push_str(&text);
        }
        self.write("ws/Cargo.toml", manifest);
        self.write("ws/Cargo.lock", lock);
        self.write("ws/src/lib.rs", "");
    }

    /// Puts a published crate's files where cargo keeps them: the registry's `src` folder.
    pub fn registry_crate(&self, name: &str, version: &str, files: &[(&str, &str)]) {
        let dir =
            format!("home/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/{name}-{version}");
        if !files.iter().any(|(path, _)| *path == "Cargo.toml") {
            self.write(
                &format!("{dir}/Cargo.toml"),
                format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\n"),
            );
        }
        for (path, text) in files {
            self.write(&format!("{dir}/{path}"), text);
        }
    }

    /// Puts a file into the user's own plugins folder.
    pub fn user_plugin(&self, path: &str, text: &str) {
        self.write(&format!("home/.symposium/plugins/{path}"), text);
    }

    /// A command for the program in `ws/` with a clean environment.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(args);
        self.surround(command)
    }

    /// `sh -c` in the same surroundings, as a client runs a hook.
    pub fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        self.surround(command)
    }

    fn surround(&self, mut command: Command) -> Command {
        command.current_dir(self.ws()).env_clear();
        let home = self.home();
        command.env("HOME", &home).env("USERPROFILE", &home);
        for name in ["PATH", "PATHEXT", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.env("CARGO_HOME", home.join(".cargo"));
        command.env("GIT_CONFIG_GLOBAL", home.join(".gitconfig")).env("GIT_CONFIG_NOSYSTEM", "1");
        command.envs(self.vars.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs the program in `ws/`.
    ///
    /// # Panics
    /// When it can't be started.
    pub fn run(&self, args: &[&str]) -> Run {
        Run::of(&mut self.command(args), b"")
    }

    /// Runs the program in a folder below the sandbox's.
    ///
    /// # Panics
    /// When it can't be started.
    pub fn run_in(&self, folder: &str, args: &[&str]) -> Run {
        let mut command = self.command(args);
        Run::of(command.current_dir(self.dir().join(folder)), b"")
    }

    /// Runs the program in `ws/` with something to read.
    ///
    /// # Panics
    /// When it can't be started.
    pub fn feed(&self, args: &[&str], stdin: &[u8]) -> Run {
        Run::of(&mut self.command(args), stdin)
    }

    /// Runs git in `ws/` and returns its standard output.
    ///
    /// # Panics
    /// When git fails.
    pub fn git(&self, args: &[&str]) -> String {
        self.git_in("ws", args)
    }

    /// Runs git in a folder below the sandbox's and returns its standard output.
    ///
    /// # Panics
    /// When git fails.
    pub fn git_in(&self, folder: &str, args: &[&str]) -> String {
        run_git(&self.dir().join(folder), &self.home(), args, b"")
    }

    /// Everything in the workspace's folder.
    pub fn ws_tree(&self) -> Tree {
        Tree::of(&self.ws())
    }
}

impl Sandbox {
    /// Leaves the folder where it is when the sandbox is dropped, and tells where that is.
    pub(crate) fn keep(&mut self) {
        let Some(dir) = self.dir.as_mut() else { return };
        dir.disable_cleanup(true);
        let path = dir.path().display();
        let _ = writeln!(std::io::stderr(), "the test's folder is kept: {path}");
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.keep();
        }
    }
}

/// Runs git in `folder` with `stdin` to read, without the configuration of this machine, and returns
/// its standard output.
///
/// # Panics
/// When git fails.
pub fn run_git(folder: &Path, home: &Path, args: &[&str], stdin: &[u8]) -> String {
    let mut command = Command::new("git");
    command
        .args(["-c", "user.name=test", "-c", "user.email=test@example.invalid"])
        .args(["-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"])
        .args(args)
        .current_dir(folder)
        .env("HOME", home)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", home.join(".gitconfig"));
    let run = Run::of(&mut command, stdin);
    assert_eq!(run.code, 0, "git {args:?}: {}", run.stderr);
    run.stdout
}
