//! What is asked of a child process and what comes of it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::Environment;

/// The shortest and the longest pause between two looks at the child.
pub(super) const PAUSE: (Duration, Duration) =
    (Duration::from_micros(50), Duration::from_millis(10));

/// How much of what a program said is told, in bytes: no message of a compiler is longer.
const SAID: usize = 64 * 1024;

/// A program to run: arguments as they are (never a shell string), in its own process group.
#[derive(Debug, Clone)]
pub(crate) struct Child {
    /// The program: a path, or a name looked up on `PATH`.
    pub program: OsString,
    pub args: Vec<OsString>,
    /// What follows the arguments as it stands, quotes too: a line for `cmd`.
    #[cfg(windows)]
    pub raw: String,
    /// Its working folder; `None`: ours.
    pub cwd: Option<PathBuf>,
    /// Whether it starts from an empty environment instead of ours.
    pub clear_env: bool,
    /// Variables set (or, with `None`, removed) on top.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// What it reads; empty: nothing.
    pub stdin: Vec<u8>,
    /// How long it and its whole group may take.
    pub limit: Duration,
    /// What becomes of the processes that it leaves behind.
    pub leftovers: Leftovers,
    /// How much of each output stream is kept, in bytes; the rest is read and dropped.
    pub output_cap: usize,
}

impl Child {
    /// A child with our environment and folder, no input, 30 seconds and 1 MB of output.
    pub(crate) fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            #[cfg(windows)]
            raw: String::new(),
            cwd: None,
            clear_env: false,
            env: Vec::new(),
            stdin: Vec::new(),
            limit: Duration::from_secs(30),
            leftovers: Leftovers::EndGroup,
            output_cap: 1024 * 1024,
        }
    }

    /// Gives it exactly the variables of `env`, and its folder.
    #[must_use]
    pub(crate) fn in_environment(mut self, env: &Environment) -> Self {
        self.clear_env = true;
        self.env =
            env.vars().map(|(name, value)| (name.to_owned(), Some(value.to_owned()))).collect();
        self.cwd = env.cwd().map(Path::to_path_buf);
        self
    }

    #[must_use]
    pub(crate) fn args<T: Into<OsString>>(mut self, args: impl IntoIterator<Item = T>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Gives `cmd` a line to run. It has its own rules for quotes: `/S` has it take off the two around the
    /// line, and it leaves those inside alone.
    #[cfg(windows)]
    #[must_use]
    pub(crate) fn command_line(mut self, line: &str) -> Self {
        self.raw = format!("/S /C \"{line}\"");
        self
    }

    /// A program asked for its version, in its own folder: a version manager's stand-in for it reads
    /// the files of the folder that it is run in, and a checkout's are anybody's.
    pub(crate) fn version(program: &Path) -> Self {
        let child = Self::new(program).args(["--version"]);
        match program.parent() {
            Some(folder) if folder.is_absolute() => child.cwd(folder),
            _ => child,
        }
    }

    #[must_use]
    pub(crate) fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    #[must_use]
    pub(crate) fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), Some(value.into())));
        self
    }

    #[must_use]
    pub(crate) fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.env.push((name.into(), None));
        self
    }

    /// Sets what it reads.
    #[must_use]
    pub(crate) fn stdin(mut self, stdin: impl Into<Vec<u8>>) -> Self {
        self.stdin = stdin.into();
        self
    }

    /// Sets what becomes of the processes that it leaves behind.
    #[must_use]
    pub(crate) fn leftovers(mut self, leftovers: Leftovers) -> Self {
        self.leftovers = leftovers;
        self
    }

    /// Sets how long it may take.
    #[must_use]
    pub(crate) fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }
}

/// What becomes of the processes that a child leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leftovers {
    /// Those in its process group end.
    EndGroup,
    /// All end, also those that left the group, where the system can tell which they are (Linux).
    EndAll,
    /// They go on, unless its time was up.
    Keep,
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal; only Unix has them.
    #[cfg_attr(not(unix), expect(dead_code, reason = "matched everywhere, made on Unix alone"))]
    Signalled(i32),
    /// By us, because its time was up; the whole group is gone.
    TimedOut,
}

/// What came of a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Output {
    pub status: Status,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Whether output beyond the cap was dropped.
    pub truncated: bool,
}

impl Output {
    /// Whether it ended by itself with code 0.
    pub(crate) fn success(&self) -> bool {
        self.status == Status::Exited(0)
    }

    pub(crate) fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub(crate) fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// What a program that failed said, for people: its standard error, or its standard output where
    /// that is blank. Whole, but for a flood: of that the end.
    pub(crate) fn said(&self) -> String {
        let is_blank = self.stderr.iter().all(u8::is_ascii_whitespace);
        let text = if is_blank { self.stdout_text() } else { self.stderr_text() };
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let is_filled = |line: &&str| !line.is_empty();
        let first = lines.iter().position(&is_filled).unwrap_or(lines.len());
        let end = lines.iter().rposition(is_filled).map_or(first, |last| last + 1);
        let mut left = SAID;
        let kept = lines[first..end].iter().rev().take_while(|line| {
            left = left.saturating_sub(line.len() + 1);
            left > 0
        });
        let start = end - kept.count();
        match start - first {
            0 => lines[start..end].join("\n"),
            cut => {
                format!("({cut} lines before these are left out)\n{}", lines[start..end].join("\n"))
            }
        }
    }
}

impl Status {
    /// The exit code for a command that stands for this child: the child's own where it has one
    /// that fits, and 1 for one that was ended from outside.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Exited(code) => u8::try_from(code).unwrap_or(1),
            Self::Signalled(_) | Self::TimedOut => 1,
        }
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit code {code}"),
            Self::Signalled(signal) => write!(f, "killed by signal {signal}"),
            Self::TimedOut => f.write_str("its time was up"),
        }
    }
}

/// The program could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error("{}", not_found(program))]
    NotFound { program: String },
    /// The file may not be executed.
    #[error("`{program}` is not executable: `chmod +x` it, or name it as a `script`")]
    NotExecutable { program: String },
    /// The folder it should run in is gone.
    #[error("can't run `{program}` in {}: there is no such folder", folder.display())]
    NoFolder { program: String, folder: PathBuf },
    /// The system would not start it.
    #[error("can't run `{program}`: {source}")]
    Io { program: String, source: std::io::Error },
}

/// What can be done where there is no `sh`.
#[cfg(windows)]
pub(super) const NO_SH: &str = "install Git for Windows, or let the plugin name a `.exe`, `.cmd` or \
                                `.ps1`";

fn not_found(program: &str) -> String {
    if program.contains(std::path::is_separator) {
        return format!("there is no program {program}");
    }
    let message = format!("`{program}` is not installed, or not on PATH");
    #[cfg(windows)]
    if program == "sh" {
        return format!("{message}; {NO_SH}");
    }
    message
}

/// What was captured of an output.
#[derive(Default)]
pub(super) struct Captured {
    pub(super) bytes: Vec<u8>,
    pub(super) truncated: bool,
}

impl Captured {
    /// Adds what came, up to `cap` bytes in all.
    pub(super) fn add(&mut self, bytes: &[u8], cap: usize) {
        let room = cap.saturating_sub(self.bytes.len()).min(bytes.len());
        self.bytes.extend_from_slice(bytes.get(..room).unwrap_or_default());
        self.truncated |= room < bytes.len();
    }
}
