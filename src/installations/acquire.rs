//! Once per installation and version, by one process at a time.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::job::{Got, Job};
use super::locate::locate;
use super::stamp::{Failure, Stamp, age, definition, key, now};
use super::{
    Acquired, Fetcher, InstallError, Mode, Root, Trouble, binary, cargo, commands, outdated,
    repository,
};
use crate::Symposium;
use crate::files::{Lock, LockError};
use crate::plugins::model::{InstallSource, Installation, Plugin, Runnable};
use crate::symposium::UpdateLevel;

/// How long a failure is taken for what it is.
const FAILURE_HOLDS: Duration = Duration::from_secs(10 * 60);
/// How often somebody looks for a newer version, and how soon again when nobody answered.
const CHECK_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);
const RETRY_INTERVAL: Duration = Duration::from_secs(60 * 60);
/// How long a hook waits for another process.
const HOOK_LOCK_TIMEOUT: Duration = Duration::from_millis(100);

/// Gets installations, and knows which are there.
#[derive(Clone, Copy)]
pub(crate) struct Acquirer<'a> {
    pub(super) sym: &'a Symposium,
    fetcher: &'a dyn Fetcher,
}

impl std::fmt::Debug for Acquirer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Acquirer").finish_non_exhaustive()
    }
}

impl<'a> Acquirer<'a> {
    /// An acquirer for this context that has repositories and archives fetched by `fetcher`.
    pub(crate) fn new(sym: &'a Symposium, fetcher: &'a dyn Fetcher) -> Self {
        Self { sym, fetcher }
    }

    /// What is on disk now of an installation: nothing is started, fetched or written.
    pub(crate) fn probe(&self, plugin: &Plugin, name: &str) -> Option<Acquired> {
        let installation = installation(plugin, name).ok()?;
        let stamp = Stamp::load(&Stamp::path(&self.sym.dirs.binaries(), plugin, name));
        self.known(plugin, installation, &stamp)
    }

    /// The files that record what the `install_commands` of a plugin's installations came to, one for each
    /// that has any. While the commands run, and after they failed, its file says that nothing is there.
    pub(crate) fn records_of_commands(&self, plugin: &Plugin) -> Vec<PathBuf> {
        let made = plugin.installations.iter().filter(|known| !known.install_commands.is_empty());
        let binaries = self.sym.dirs.binaries();
        made.map(|known| Stamp::path(&binaries, plugin, &known.name)).collect()
    }

    /// An installation, got if it is not there: one process at a time, and once per version.
    ///
    /// A failure is not repeated for ten minutes, but by a command that the user gave. A
    /// newer version is looked for by background processes, once a day, and by commands with
    /// `--update`; if it can't be had, what is there stays in use.
    pub(crate) fn acquire(
        &self,
        plugin: &Plugin,
        name: &str,
        mode: Mode,
    ) -> Result<Acquired, InstallError> {
        let installation = installation(plugin, name)?;
        if installation.source.is_none() && installation.install_commands.is_empty() {
            return self
                .assemble(plugin, installation, &Stamp::default())
                .map_err(|problem| InstallError::new(plugin, name, Trouble::Unusable(problem)));
        }
        let path = Stamp::path(&self.sym.dirs.binaries(), plugin, name);
        let stamp = Stamp::load(&path);
        let found = self.known(plugin, installation, &stamp);
        match found {
            Some(found) if !self.refresh_due(installation, &stamp, mode) => return Ok(found),
            _ => {}
        }
        let result = self.locked(plugin, installation, &path, mode);
        match (result, found) {
            (Ok(acquired), _) => Ok(acquired),
            (Err(error), Some(found)) => {
                self.tell(mode, &error);
                Ok(found)
            }
            (Err(error), None) => Err(error),
        }
    }

    fn tell(&self, mode: Mode, error: &InstallError) {
        match mode {
            Mode::Explicit => self.sym.report.warn(format!("{error}\n  what is there is used")),
            _ => tracing::warn!("{error}; what is there is used"),
        }
    }

    /// The work, under the lock.
    fn locked(
        &self,
        plugin: &Plugin,
        installation: &Installation,
        path: &Path,
        mode: Mode,
    ) -> Result<Acquired, InstallError> {
        let name = installation.name.as_str();
        let failed = |trouble| InstallError::new(plugin, name, trouble);
        recent_failure(plugin, installation, &Stamp::load(path), mode)?;
        if mode == (Mode::Dispatch { budget: Duration::ZERO }) {
            let problem = "it is got by `cargo agents sync` or in the background".to_owned();
            return Err(failed(Trouble::NotReady(problem)));
        }
        let _lock = self.lock(plugin, installation, mode).map_err(failed)?;
        // Whoever had the lock may have done, or tried, just this.
        let before = Stamp::load(path);
        let refresh = self.refresh_due(installation, &before, mode);
        match self.known(plugin, installation, &before) {
            Some(found) if !refresh => return Ok(found),
            _ => recent_failure(plugin, installation, &before, mode)?,
        }
        let job =
            Job::new(self.sym, self.fetcher, (plugin, installation), mode, (refresh, &before));
        Stamp { began: Some(now()), ..before.clone() }.save(path);
        match self.work(&job, path) {
            Ok(acquired) => Ok(acquired),
            Err(trouble) => {
                remember_failure(Stamp::load(path), installation, &trouble, mode).save(path);
                Err(failed(trouble))
            }
        }
    }

    fn lock(
        &self,
        plugin: &Plugin,
        installation: &Installation,
        mode: Mode,
    ) -> Result<Lock, Trouble> {
        let path = lock_path(self.sym, plugin, installation);
        let patience = match mode {
            Mode::Explicit => Duration::from_secs(30 * 60),
            Mode::Detached => Duration::ZERO,
            Mode::Dispatch { budget } => budget.min(HOOK_LOCK_TIMEOUT),
        };
        let first = if mode == Mode::Explicit { Duration::ZERO } else { patience };
        let lock = match Lock::acquire(&path, first) {
            Err(LockError::Busy { .. }) if mode == Mode::Explicit => {
                let message = format!("for another process that installs `{}`", installation.name);
                self.sym.report.event(&crate::report::Event::status("Waiting", message));
                Lock::acquire(&path, patience)
            }
            other => other,
        };
        lock.map_err(|error| match error {
            LockError::Busy { .. } => {
                Trouble::NotReady("another process is installing it".to_owned())
            }
            LockError::Io { .. } => Trouble::Failed(error.to_string()),
        })
    }

    fn work(&self, job: &Job<'_>, path: &Path) -> Result<Acquired, Trouble> {
        let got = get(job)?;
        let wanted = commands::fingerprint(
            job.plugin,
            job.installation,
            (got.version.as_deref(), got.dir.as_deref()),
        );
        let checked_at = match &got.stale {
            None => now(),
            Some(_) => now().saturating_sub((CHECK_INTERVAL - RETRY_INTERVAL).as_secs()),
        };
        let stamp = Stamp {
            definition: definition(job.installation),
            dir: got.dir.clone(),
            root: Some(got.root.clone()),
            version: got.version.clone(),
            executable: got.executable.clone(),
            checked_at,
            commands: wanted,
            began: None,
            failure: None,
        };
        let assemble = || self.assemble(job.plugin, job.installation, &stamp);
        // What they made may be gone since they were run.
        let are_due = stamp.commands != job.before.commands || assemble().is_err();
        if stamp.commands.is_some() && are_due {
            if (&got.dir, Some(&got.root)) == (&job.before.dir, job.before.root.as_ref()) {
                // What they make there is not whole before they are done, and may never be.
                let before = job.before.clone();
                Stamp { commands: None, began: Some(now()), ..before }.save(path);
            }
            commands::run(job, &got)?;
        }
        let acquired = assemble().map_err(Trouble::Unusable)?;
        stamp.save(path);
        let (name, plugin) = (&job.installation.name, &job.plugin.name);
        let version = stamp.version.as_deref().unwrap_or("of no known version");
        tracing::info!("`{name}` of plugin `{plugin}` is ready: {version}");
        if let Some(problem) = &got.stale {
            tracing::warn!("no newer `{}` could be looked for: {problem}", job.installation.name);
        }
        retire(job, path, stamp.dir.as_deref());
        Ok(acquired)
    }

    /// What `stamp` says is there, if it is, and if it is what the manifest asks for.
    fn known(
        &self,
        plugin: &Plugin,
        installation: &Installation,
        stamp: &Stamp,
    ) -> Option<Acquired> {
        let recorded = installation.source.is_some() || !installation.install_commands.is_empty();
        if recorded && stamp.definition != definition(installation) {
            return None;
        }
        let on = (stamp.version.as_deref(), stamp.dir.as_deref());
        let commands = commands::fingerprint(plugin, installation, on);
        if commands != stamp.commands {
            return None;
        }
        self.assemble(plugin, installation, stamp).ok()
    }

    /// From what is recorded to what can be used; everything named is looked for on disk.
    fn assemble(
        &self,
        plugin: &Plugin,
        installation: &Installation,
        stamp: &Stamp,
    ) -> Result<Acquired, String> {
        let root = match &installation.source {
            None => Root::Plugin,
            Some(_) => stamp.root.clone().ok_or("it is not there")?,
        };
        if let Some(dir) = &stamp.dir
            && !dir.is_dir()
        {
            return Err(format!("its folder {} is gone", dir.display()));
        }
        let inferred = stamp.executable.clone().map(Runnable::Executable);
        let mut acquired = Acquired { root, dir: stamp.dir.clone(), program: None, path_dir: None };
        if let Root::Bin(bin) = &acquired.root {
            acquired.path_dir = Some(bin.clone());
        }
        match installation.runnable.as_ref().or(inferred.as_ref()) {
            None => Ok(acquired),
            Some(runnable) => {
                let args = installation.args.clone().unwrap_or_default();
                self.with_runnable(plugin, installation, acquired, runnable, args)
            }
        }
    }

    /// An installation with what of it is run.
    pub(super) fn with_runnable(
        &self,
        plugin: &Plugin,
        installation: &Installation,
        mut acquired: Acquired,
        runnable: &Runnable,
        args: Vec<String>,
    ) -> Result<Acquired, String> {
        let mut program = locate(self.sym, plugin, installation, &acquired.root, runnable)?;
        program.args = args;
        if *runnable == Runnable::Shell {
            // The system's own: it is not put before what the user has on `PATH`.
            acquired.root = Root::Global;
        }
        if !matches!(acquired.root, Root::Bin(_) | Root::Global) {
            acquired.path_dir = program.path.parent().map(Path::to_path_buf);
        }
        acquired.program = Some(program);
        Ok(acquired)
    }

    /// Whether it is time to look for something newer.
    fn refresh_due(&self, installation: &Installation, stamp: &Stamp, mode: Mode) -> bool {
        let floats = match &installation.source {
            Some(InstallSource::Cargo { krate, version, git, global }) => {
                cargo::floats(cargo::Source {
                    krate,
                    version: version.as_deref(),
                    git: git.as_ref(),
                    global: *global,
                })
            }
            Some(InstallSource::Git { .. }) => true,
            Some(InstallSource::Binary { .. }) | None => false,
        };
        let asked = match mode {
            Mode::Detached => age(stamp.checked_at) >= CHECK_INTERVAL,
            Mode::Explicit => {
                matches!(self.sym.options.update, Some(UpdateLevel::Check | UpdateLevel::Fetch))
            }
            Mode::Dispatch { .. } => false,
        };
        floats && asked && !self.sym.options.offline
    }
}

/// The lock that is held while an installation is got. What plugins share is got by one at a time, too.
pub(super) fn lock_path(sym: &Symposium, plugin: &Plugin, installation: &Installation) -> PathBuf {
    let slot = match &installation.source {
        Some(InstallSource::Cargo { krate, .. }) => key(&["cargo", krate]),
        Some(InstallSource::Binary { url, .. }) => key(&["binary", url.expose()]),
        Some(InstallSource::Git { .. }) | None => {
            key(&[&plugin.source, &plugin.name, &installation.name])
        }
    };
    sym.dirs.locks().join(format!("install-{}.lock", &slot[..16]))
}

/// The installation of that name.
pub(super) fn installation<'p>(
    plugin: &'p Plugin,
    name: &str,
) -> Result<&'p Installation, InstallError> {
    plugin
        .installations
        .iter()
        .find(|installation| installation.name == name)
        .ok_or_else(|| InstallError::new(plugin, name, Trouble::Unknown))
}

fn get(job: &Job<'_>) -> Result<Got, Trouble> {
    match &job.installation.source {
        None => {
            Ok(Got { root: Root::Plugin, dir: None, version: None, executable: None, stale: None })
        }
        Some(InstallSource::Cargo { krate, version, git, global }) => {
            let (version, git) = (version.as_deref(), git.as_ref());
            cargo::get(job, cargo::Source { krate, version, git, global: *global })
        }
        Some(InstallSource::Git { url }) => repository::get(job, url),
        Some(InstallSource::Binary { url, version, sha256 }) => {
            binary::get(job, url, version.as_deref(), sha256)
        }
    }
}

/// What this installation used before may go, now that the new one works, unless another installation
/// uses it. What is not ours is not touched.
fn retire(job: &Job<'_>, path: &Path, new: Option<&Path>) {
    let binaries = job.binaries();
    let old = job.before.dir.as_deref().filter(|old| Some(*old) != new);
    if let Some(old) = old.filter(|old| outdated::is_ours(&binaries, old))
        && !Stamp::used_elsewhere(&binaries, path, old)
    {
        outdated::add(job.sym, old);
    }
}

fn recent_failure(
    plugin: &Plugin,
    installation: &Installation,
    stamp: &Stamp,
    mode: Mode,
) -> Result<(), InstallError> {
    let Some(failure) = &stamp.failure else { return Ok(()) };
    let counts = match mode {
        Mode::Explicit => false,
        Mode::Detached => !failure.out_of_budget,
        Mode::Dispatch { .. } => true,
    };
    let ago = age(failure.at);
    if !counts || ago >= FAILURE_HOLDS || failure.definition != definition(installation) {
        return Ok(());
    }
    let (minutes_ago, problem) = (ago.as_secs() / 60, failure.problem.clone());
    let trouble = Trouble::FailedBefore { minutes_ago, problem };
    Err(InstallError::new(plugin, &installation.name, trouble))
}

fn remember_failure(
    before: Stamp,
    installation: &Installation,
    trouble: &Trouble,
    mode: Mode,
) -> Stamp {
    let mut stamp = Stamp { began: None, ..before };
    let hook = matches!(mode, Mode::Dispatch { .. });
    let (problem, out_of_budget) = match trouble {
        Trouble::Unusable(problem) | Trouble::Failed(problem) => (problem, false),
        Trouble::OutOfTime(problem) => (problem, hook),
        // Nothing was tried.
        Trouble::Unknown | Trouble::NotReady(_) | Trouble::FailedBefore { .. } => return stamp,
    };
    stamp.failure = Some(Failure {
        definition: definition(installation),
        at: now(),
        problem: problem.clone(),
        out_of_budget,
    });
    stamp
}

/// What a hook or a subcommand needs beside its command, prerequisites first: each requirement's
/// own requirements, the requirement, and at last those of the command. One level, none twice.
pub(super) fn expanded<'p>(
    plugin: &'p Plugin,
    command: &'p str,
    requirements: &'p [String],
) -> Vec<&'p str> {
    let of = |name: &str| {
        installation(plugin, name).map_or(&[][..], |found| found.requirements.as_slice())
    };
    let mut names: Vec<&str> = Vec::new();
    let mut add = |name: &'p str| {
        if name != command && !names.contains(&name) {
            names.push(name);
        }
    };
    for requirement in requirements {
        of(requirement).iter().for_each(|name| add(name));
        add(requirement);
    }
    of(command).iter().for_each(|name| add(name));
    names
}
