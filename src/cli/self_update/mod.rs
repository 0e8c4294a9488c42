//! `cargo agents self-update`, and the look for a newer Symposium before other commands.
//!
//! - [`run`]: the command
//! - [`before`]: at a terminal, once a day, what `auto-update` says
//! - [`check_in_background`]: only a look, for what tells the user later
//!
//! Cargo finds out and installs, because it knows the user's mirrors and credentials. Only a
//! program that cargo installed from a registry is replaced, and only with a package whose
//! `repository` is ours: the name alone may be another program's.

mod cargo;

use crate::report::ExitCode;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use clap::Args;
use semver::Version;

use self::cargo::{Cargo, Published};
use super::CommandResult;
use crate::Symposium;
use crate::config::update_check::{self, Place};
use crate::config::{AutoUpdate, own_program};
use crate::fetch::git::Repository;
use crate::files::{Lock, LockError};
use crate::installations::{Installed, Otherwise, recorded};
use crate::process::{Child, Status, exec_replace};
use crate::report::{Event, Verbosity};
use crate::symposium::{REPOSITORY, VERSION};
use crate::text::Diagnostic;

/// Set for the program that took our place after an update: it looks for no other.
const UPDATED_FROM: &str = "SYMPOSIUM_UPDATED_FROM";
/// How long a command waits for the registry before it goes on.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a background process does.
const BACKGROUND_TIMEOUT: Duration = Duration::from_secs(60);
/// How long `self-update` waits for another update.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30 * 60);

#[derive(Debug, Args)]
pub(super) struct SelfUpdateArgs {
    /// Only look, with exit code 1 when there is a newer version
    #[arg(long)]
    pub check: bool,
}

pub(super) fn run(sym: &Symposium, args: &SelfUpdateArgs) -> CommandResult {
    let start = Instant::now();
    if sym.options.offline {
        return Err(Diagnostic::error("can't look for a newer version without the network").into());
    }
    let program = match Program::of(sym)? {
        Ok(program) => program,
        Err(otherwise) => return Err(can_not(&otherwise).into()),
    };
    let _lock = program.lock(sym)?;
    let newest = program.newest(sym, sym.options.timeout).map_err(Refused::into_error)?;
    let now = program.current();
    if newest <= now {
        sym.report.finished(start, up_to_date(&now, &newest), 0, false);
        return Ok(ExitCode::SUCCESS);
    }
    if args.check {
        let summary = format!("symposium {newest} is available (this is {now})");
        sym.report.finished(start, summary, 0, false);
        return Ok(ExitCode::FAILURE);
    }
    update(sym, &program, &newest).map_err(|refusal| match refusal {
        Refusal::Interrupted => Diagnostic::error("the update was interrupted; nothing changed"),
        Refusal::Failed(problem) => {
            Diagnostic::error(format!("symposium {newest} could not be installed"))
                .note(problem)
                .note(format!("symposium {now} is still there"))
        }
    })?;
    let summary = format!("updated symposium {now} → {newest}");
    sym.report.finished(start, summary, 1, false);
    Ok(ExitCode::SUCCESS)
}

fn up_to_date(current: &Version, newest: &Version) -> String {
    if current == newest {
        format!("symposium {current} is the newest version")
    } else {
        format!("symposium {current} is newer than the newest published one, {newest}")
    }
}

fn can_not(otherwise: &Otherwise) -> Diagnostic {
    let problem = Diagnostic::error("only what cargo installed from a registry can update itself");
    let remedies = otherwise.remedies.iter().cloned();
    std::iter::once(otherwise.how.clone()).chain(remedies).fold(problem, Diagnostic::note)
}

/// Why no newest version is known.
#[derive(Debug)]
enum Refused {
    /// There was no answer.
    Unanswered(String),
    /// The package of our name is another program's, or may be.
    Stranger { version: Version, repository: Option<String>, ours: String },
}

impl Refused {
    fn into_error(self) -> Diagnostic {
        match self {
            Self::Unanswered(problem) => {
                Diagnostic::error("can't find out which version is the newest").note(problem)
            }
            Self::Stranger { version, ours, .. } if ours.is_empty() => {
                Diagnostic::error("can't tell whose package `symposium` in the registry is")
                    .note("this program was built from a package that names no `repository`")
                    .note(format!("the newest, {version}, is not installed in its place"))
            }
            Self::Stranger { version, repository, ours } => {
                let theirs = repository.map_or_else(
                    || format!("{version} names no repository"),
                    |url| format!("{version} is from {url}"),
                );
                Diagnostic::error("the package `symposium` in the registry is another program")
                    .note(theirs)
                    .note(format!("this program is from {ours}; it stays as it is"))
            }
        }
    }
}

/// What `auto-update` says, before a command that the user gave at a terminal; `args` are the
/// process's own. An exit code when the command shall not run any more: the new program ran it, or
/// the user stopped the update.
///
/// Nothing here fails, and the registry gets five seconds.
pub(super) fn before(sym: &Symposium, args: &[OsString]) -> Option<ExitCode> {
    let wanted = sym.config.auto_update != AutoUpdate::Off
        && sym.report.is_interactive()
        && sym.report.verbosity() != Verbosity::Quiet
        && !sym.options.offline
        && !sym.env.has(UPDATED_FROM);
    if !wanted {
        return None;
    }
    let (path, now) = (sym.dirs.state_file(), SystemTime::now());
    let tell = || update_check::told(&path, now, Place::Terminal);
    // What a process in the background found is looked at again, once.
    if !update_check::is_due(&path, now) {
        update_check::untold(&path, now, &own_version(), Place::Terminal)?;
        tell().ok()?;
    }
    let (program, newest, _lock) = look(sym, LOOKUP_TIMEOUT)?;
    let current = program.current();
    if newest <= current {
        return None;
    }
    tell().ok()?;
    if sym.config.auto_update == AutoUpdate::On {
        return replace_and_run(sym, &program, &newest, args);
    }
    let available =
        Diagnostic::warning(format!("symposium {newest} is available (this is {current})"));
    sym.report.diagnostic(&available.note("`cargo agents self-update` installs it"));
    None
}

/// A look without anything after it, for what tells the user later.
pub(super) fn check_in_background(sym: &Symposium) {
    if sym.config.auto_update != AutoUpdate::Off
        && !sym.options.offline
        && update_check::is_due(&sym.dirs.state_file(), SystemTime::now())
    {
        drop(look(sym, BACKGROUND_TIMEOUT));
    }
}

/// Asks for the newest version under the lock, if there can be one. What came of it is remembered.
fn look(sym: &Symposium, limit: Duration) -> Option<(Program, Version, Lock)> {
    let program = Program::of(sym).ok()?.ok()?;
    let lock = Lock::acquire(&Program::lock_file(sym), Duration::ZERO).ok()?;
    // Where nothing can be remembered, every command would have to look.
    update_check::failed(&sym.dirs.state_file(), SystemTime::now()).ok()?;
    match program.newest(sym, limit) {
        Ok(newest) => Some((program, newest, lock)),
        Err(problem) => {
            tracing::info!("no newer version is known: {problem:?}");
            None
        }
    }
}

/// Installs the new version and lets it run the command.
fn replace_and_run(
    sym: &Symposium,
    program: &Program,
    newest: &Version,
    args: &[OsString],
) -> Option<ExitCode> {
    match update(sym, program, newest) {
        Ok(()) => {}
        Err(Refusal::Interrupted) => {
            let problem = Diagnostic::error("the update was interrupted, and the command not run")
                .note("give it again: the next update is tried tomorrow")
                .note("`auto-update = \"warn\"` in the configuration only tells");
            sym.report.diagnostic(&problem);
            return Some(ExitCode::FAILURE);
        }
        Err(Refusal::Failed(problem)) => {
            let warning = Diagnostic::warning(format!("symposium {newest} could not be installed"))
                .note(problem)
                .note("it is tried again tomorrow, and now by `cargo agents self-update`");
            sym.report.diagnostic(&warning);
            return None;
        }
    }
    let child = Child::new(&program.exe)
        .args(args.iter().skip(1).cloned())
        .in_environment(&sym.env)
        .env(UPDATED_FROM, VERSION);
    match exec_replace(&child) {
        Ok(status) => Some(ExitCode::from(status.exit_code())),
        Err(error) => {
            sym.report.warn(format!("the new version can't be run: {error}"));
            None
        }
    }
}

/// Why there is no new version.
#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    /// The user stopped it.
    Interrupted,
    /// For people.
    Failed(String),
}

/// Lets cargo install `newest` in our place. Cargo does so in one step: whatever goes wrong, the
/// old program is still there.
fn update(sym: &Symposium, program: &Program, newest: &Version) -> Result<(), Refusal> {
    sym.report
        .event(&Event::status("Updating", format!("symposium {} → {newest}", program.current())));
    let aside = Aside::of(&program.exe);
    let result = program.install(sym, newest);
    aside.restore_if_missing();
    result
}

/// The program that we are, installed from a registry.
struct Program {
    /// The file, as it was when we were started.
    exe: PathBuf,
    /// The registry's index; `None` for crates.io.
    index: Option<String>,
}

impl Program {
    /// The program, or how else it got where it is.
    fn of(sym: &Symposium) -> anyhow::Result<Result<Self, Otherwise>> {
        let exe = own_program()
            .map_err(|error| anyhow::anyhow!("can't find out which program this is: {error}"))?;
        let exe = crate::files::canonicalize(&exe).unwrap_or(exe);
        Ok(match Installed::of(&exe, &sym.env) {
            Installed::FromRegistry { index } => Ok(Self { exe, index }),
            Installed::Otherwise(otherwise) => Err(otherwise),
        })
    }

    fn lock_file(sym: &Symposium) -> PathBuf {
        sym.dirs.locks().join("self-update.lock")
    }

    /// Waits for another process that updates.
    fn lock(&self, sym: &Symposium) -> Result<Option<Lock>, LockError> {
        let path = Self::lock_file(sym);
        let lock = match Lock::acquire(&path, Duration::ZERO) {
            Err(LockError::Busy { .. }) => {
                sym.report.event(&Event::status("Waiting", "for another update"));
                Lock::acquire(&path, LOCK_TIMEOUT)
            }
            other => other,
        };
        match lock {
            Ok(lock) => Ok(Some(lock)),
            // Cargo has locks of its own.
            Err(LockError::Io { .. }) => Ok(None),
            Err(busy) => Err(busy),
        }
    }

    /// The version that is in our place now: another process may have replaced us since.
    fn current(&self) -> Version {
        recorded(&self.exe).map_or_else(own_version, |recorded| recorded.max(own_version()))
    }

    /// The newest version of our package, and remembers what the registry answered.
    fn newest(&self, sym: &Symposium, limit: Duration) -> Result<Version, Refused> {
        let path = sym.dirs.state_file();
        let now = SystemTime::now();
        let answer = Cargo::new(sym, limit).and_then(|cargo| cargo.newest(self.index.as_deref()));
        let result = answer.map_err(Refused::Unanswered).and_then(|newest| ours(sym, newest));
        let remembered = match &result {
            Ok(newest) => update_check::answered(&path, now, Some(newest)),
            Err(Refused::Stranger { .. }) => update_check::answered(&path, now, None),
            Err(Refused::Unanswered(_)) => update_check::failed(&path, now),
        };
        if let Err(error) = remembered {
            tracing::debug!("the look is not remembered: {error}");
        }
        result
    }

    fn install(&self, sym: &Symposium, newest: &Version) -> Result<(), Refusal> {
        let cargo = Cargo::new(sym, LOCK_TIMEOUT).map_err(Refusal::Failed)?;
        match cargo.install(newest, self.index.as_deref()).map_err(Refusal::Failed)? {
            Status::Exited(0) => {}
            // What a shell says of a program that Ctrl-C ended, and what cargo may say itself.
            Status::Signalled(2) | Status::Exited(130) => return Err(Refusal::Interrupted),
            status => return Err(Refusal::Failed(format!("cargo ended with {status}"))),
        }
        match cargo.version_of(&self.exe) {
            Some(version) if version == *newest => Ok(()),
            found => Err(Refusal::Failed(format!(
                "cargo is content, but {} is {}",
                self.exe.display(),
                found
                    .map_or("not a working Symposium".to_owned(), |found| format!("still {found}"))
            ))),
        }
    }
}

/// The version of a package that is ours: its `repository` is.
fn ours(sym: &Symposium, newest: Published) -> Result<Version, Refused> {
    let ours = sym.env.test_switches().repository.unwrap_or_else(|| REPOSITORY.to_owned());
    let identity =
        |url: &str| Repository::parse(url, None, None).map(|it| it.identity().to_owned());
    let theirs = newest.repository.as_deref().unwrap_or_default();
    match (identity(theirs), identity(&ours)) {
        (Ok(theirs), Ok(ours)) if theirs == ours => Ok(newest.version),
        _ => {
            let Published { version, repository } = newest;
            Err(Refused::Stranger { version, repository, ours })
        }
    }
}

fn own_version() -> Version {
    Version::parse(VERSION).expect("cargo gives packages a version that parses")
}

/// Windows does not let a running program be replaced, but renamed. There it makes room, and comes
/// back when the update fails.
struct Aside {
    /// The program's place, and where it is meanwhile.
    moved: Option<(PathBuf, PathBuf)>,
}

impl Aside {
    fn of(exe: &Path) -> Self {
        let aside = exe.with_extension("old.exe");
        let moved = cfg!(windows) && {
            let _ = std::fs::remove_file(&aside);
            std::fs::rename(exe, &aside).is_ok()
        };
        Self { moved: moved.then(|| (exe.to_path_buf(), aside)) }
    }

    /// Puts the old program back where there is no new one; else it goes with the next update, for
    /// it is running.
    fn restore_if_missing(self) {
        if let Some((exe, aside)) = self.moved
            && !exe.exists()
        {
            let _ = std::fs::rename(&aside, &exe);
        }
    }
}
