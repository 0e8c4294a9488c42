//! `cargo agents self-update`, and the look for a newer Symposium before other commands.
//!
//! - [`run`]: the command
//! - [`before`]: at a terminal, once a day, what `auto-update` says
//! - [`check_in_background`]: only a look, for the agents' session starts to tell of
//!
//! Cargo finds out and installs, because it knows the user's mirrors and credentials. Only a
//! program that cargo installed from a registry is replaced.

mod cargo;
mod installed;

use crate::report::ExitCode;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use clap::Args;
use semver::Version;

use self::cargo::{Cargo, Newest};
use self::installed::{Installed, Otherwise};
use super::CommandResult;
use crate::Symposium;
use crate::config::{AutoUpdate, own_program, update_check};
use crate::files::{Lock, LockError};
use crate::process::{Child, Status, exec_replace};
use crate::report::{Event, Verbosity};
use crate::symposium::VERSION;
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
    let program = Program::of(sym)?;
    let _lock = program.lock(sym)?;
    let newest = program.newest(sym, sym.options.timeout).map_err(|problem| {
        Diagnostic::error("can't find out which version is the newest").note(problem)
    })?;
    let now = program.current();
    if newest.version <= now {
        sym.report.finished(start, up_to_date(&now, &newest.version), 0, false);
        return Ok(ExitCode::SUCCESS);
    }
    if args.check {
        let summary = format!("symposium {} is available (this is {now})", newest.version);
        sym.report.finished(start, summary, 0, false);
        return Ok(ExitCode::FAILURE);
    }
    let index = match &program.installed {
        Installed::FromRegistry { index, .. } => index.as_deref(),
        Installed::Otherwise(otherwise) => return Err(can_not(&newest.version, otherwise).into()),
    };
    update(sym, &program, &newest, index).map_err(|refusal| match refusal {
        Refusal::Interrupted => Diagnostic::error("the update was interrupted; nothing changed"),
        Refusal::Failed(problem) => {
            Diagnostic::error(format!("symposium {} could not be installed", newest.version))
                .note(problem)
                .note(format!("symposium {now} is still there"))
        }
    })?;
    let summary = format!("updated symposium {now} → {}", newest.version);
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

fn can_not(newest: &Version, otherwise: &Otherwise) -> Diagnostic {
    let message = format!("symposium {newest} is available, but this one can't update itself");
    let problem = Diagnostic::error(message).note(otherwise.how.clone());
    otherwise.remedies.iter().fold(problem, |problem, remedy| problem.note(remedy.clone()))
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
    let (program, newest, _lock) = check_for_newer(sym, LOOKUP_TIMEOUT)?;
    let current = program.current();
    if newest.version <= current {
        return None;
    }
    let available = Diagnostic::warning(format!(
        "symposium {} is available (this is {current})",
        newest.version
    ));
    match (&program.installed, sym.config.auto_update) {
        (Installed::FromRegistry { index, .. }, AutoUpdate::On) => {
            let index = index.as_deref();
            replace_and_run(sym, &program, &newest, index, args)
        }
        (Installed::FromRegistry { .. }, _) => {
            sym.report.diagnostic(&available.note("`cargo agents self-update` installs it"));
            None
        }
        (Installed::Otherwise(otherwise), _) => {
            let told = otherwise.remedies.iter().cloned();
            let told = std::iter::once(otherwise.how.clone()).chain(told);
            sym.report.diagnostic(&told.fold(available, Diagnostic::note));
            None
        }
    }
}

/// A look without anything after it, for the next session's start to tell of.
pub(super) fn check_in_background(sym: &Symposium) {
    if sym.config.auto_update != AutoUpdate::Off && !sym.options.offline {
        drop(check_for_newer(sym, BACKGROUND_TIMEOUT));
    }
}

/// Asks for the newest version if it is time to, under the lock. What came of it is remembered.
fn check_for_newer(sym: &Symposium, limit: Duration) -> Option<(Program, Newest, Lock)> {
    let path = sym.dirs.state_file();
    if !update_check::is_due(&path, SystemTime::now()) {
        return None;
    }
    let program = Program::of(sym).ok()?;
    // Who works on Symposium knows.
    if matches!(&program.installed, Installed::Otherwise(otherwise) if otherwise.is_checkout) {
        return None;
    }
    let lock = Lock::acquire(&Program::lock_file(sym), Duration::ZERO).ok()?;
    // Another process may have looked just now. And where nothing can be remembered, every command
    // would have to look.
    if !update_check::is_due(&path, SystemTime::now())
        || update_check::failed(&path, SystemTime::now()).is_err()
    {
        return None;
    }
    match program.newest(sym, limit) {
        Ok(newest) => Some((program, newest, lock)),
        Err(problem) => {
            tracing::info!("no look for a newer version: {problem}");
            None
        }
    }
}

/// Installs the new version and lets it run the command.
fn replace_and_run(
    sym: &Symposium,
    program: &Program,
    newest: &Newest,
    index: Option<&str>,
    args: &[OsString],
) -> Option<ExitCode> {
    match update(sym, program, newest, index) {
        Ok(()) => {}
        Err(Refusal::Interrupted) => {
            let problem = Diagnostic::error("the update was interrupted, and the command not run")
                .note("give it again: the next update is tried tomorrow")
                .note("`auto-update = \"warn\"` in the configuration only tells");
            sym.report.diagnostic(&problem);
            return Some(ExitCode::FAILURE);
        }
        Err(Refusal::Failed(problem)) => {
            let version = &newest.version;
            let warning =
                Diagnostic::warning(format!("symposium {version} could not be installed"))
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
fn update(
    sym: &Symposium,
    program: &Program,
    newest: &Newest,
    index: Option<&str>,
) -> Result<(), Refusal> {
    sym.report.event(&Event::status(
        "Updating",
        format!("symposium {} → {}", program.current(), newest.version),
    ));
    let aside = Aside::of(&program.exe);
    let result = program.install(sym, newest, index);
    aside.restore_if_missing();
    result
}

/// The program that we are, and how it got where it is.
struct Program {
    /// The file, as it was when we were started.
    exe: PathBuf,
    installed: Installed,
}

impl Program {
    fn of(sym: &Symposium) -> anyhow::Result<Self> {
        let exe = own_program()
            .map_err(|error| anyhow::anyhow!("can't find out which program this is: {error}"))?;
        let exe = dunce::canonicalize(&exe).unwrap_or(exe);
        let installed = Installed::of(&exe, &sym.env);
        Ok(Self { exe, installed })
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
        let own = own_version();
        match &self.installed {
            Installed::FromRegistry { .. } => {
                installed::recorded(&self.exe).map_or(own.clone(), |recorded| recorded.max(own))
            }
            Installed::Otherwise(_) => own,
        }
    }

    /// The newest version, and remembers that (or that not) the registry answered.
    fn newest(&self, sym: &Symposium, limit: Duration) -> Result<Newest, String> {
        let index = match &self.installed {
            Installed::FromRegistry { index, .. } => index.as_deref(),
            Installed::Otherwise(_) => None,
        };
        let path = sym.dirs.state_file();
        let answer = Cargo::new(sym, limit).and_then(|cargo| cargo.newest(index));
        let remembered = match &answer {
            Ok(newest) => update_check::answered(&path, SystemTime::now(), &newest.version),
            Err(_) => update_check::failed(&path, SystemTime::now()),
        };
        if let Err(error) = remembered {
            tracing::debug!("the look is not remembered: {error}");
        }
        answer
    }

    fn install(
        &self,
        sym: &Symposium,
        newest: &Newest,
        index: Option<&str>,
    ) -> Result<(), Refusal> {
        let cargo = Cargo::new(sym, LOCK_TIMEOUT).map_err(Refusal::Failed)?;
        match cargo.install(newest, index).map_err(Refusal::Failed)? {
            Status::Exited(0) => {}
            // What a shell says of a program that Ctrl-C ended, and what cargo may say itself.
            Status::Signalled(2) | Status::Exited(130) => return Err(Refusal::Interrupted),
            status => return Err(Refusal::Failed(format!("cargo ended with {status}"))),
        }
        match cargo.version_of(&self.exe) {
            Some(version) if version == newest.version => Ok(()),
            found => Err(Refusal::Failed(format!(
                "cargo is content, but {} is {}",
                self.exe.display(),
                found
                    .map_or("not a working Symposium".to_owned(), |found| format!("still {found}"))
            ))),
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
