//! What keeps a program from being run, as far as can be seen without starting anything.

use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::acquire::{installation, lock_path};
use super::stamp::{Stamp, definition};
use super::{Acquirer, InstallError, Prepared, Trouble};
use crate::files::{Lock, LockError, open};
use crate::plugins::model::{Installation, Plugin};
use crate::plugins::source::age;
use crate::process::find_program;
use crate::text::Diagnostic;

/// What kind of obstacle it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObstacleKind {
    /// It is not where it should be, or makes no sense.
    Missing,
    /// It is there, and can't be executed or read.
    Unusable,
    /// It was not installed yet.
    NotInstalled,
    /// A process of ours is installing it.
    Installing,
    /// Installing it failed, or was given up.
    Failed,
}

/// What is in the way of a program, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Obstacle {
    pub kind: ObstacleKind,
    /// Such as `its script /p/go.sh is not there`.
    pub message: String,
    pub remedy: String,
}

impl Acquirer<'_> {
    /// What keeps something from being run that was `prepared` with no budget, and which of its
    /// requirements are missing.
    pub(crate) fn obstacles(
        &self,
        plugin: &Plugin,
        prepared: &Result<Prepared, InstallError>,
    ) -> Vec<Obstacle> {
        match prepared {
            Err(error) => vec![self.obstacle(plugin, error, "its program")],
            Ok(prepared) => {
                let missing = prepared.missing.iter();
                let missing = missing.map(|error| self.obstacle(plugin, error, "its requirement"));
                let run = &prepared.invocation;
                let unusable = unusable(run.path.as_os_str(), run.is_script).map(|found| {
                    let is_missing = found.kind == ObstacleKind::Missing;
                    let remedy = if is_missing { self.brings(plugin) } else { found.remedy };
                    Obstacle { remedy, ..found }
                });
                missing.chain(unusable).collect()
            }
        }
    }

    /// As whoever tried to install it is told.
    pub(crate) fn diagnose(&self, plugin: &Plugin, error: &InstallError) -> Diagnostic {
        let told = error.diagnose();
        match self.obstacle(plugin, error, "") {
            Obstacle { kind: ObstacleKind::Missing, remedy, .. } => told.note(remedy),
            _ => told,
        }
    }

    fn obstacle(&self, plugin: &Plugin, error: &InstallError, what: &str) -> Obstacle {
        let named = format!("{what} `{}`", error.name);
        let own_file = self.brings(plugin);
        let (kind, message, remedy) = match (&error.trouble, installation(plugin, &error.name)) {
            (Trouble::Unusable(problem), Ok(known)) => {
                let is_brought = known.source.is_none() && known.install_commands.is_empty();
                let remedy = if is_brought { own_file } else { TRIES_AGAIN.to_owned() };
                (ObstacleKind::Missing, format!("{named}: {problem}"), remedy)
            }
            (_, Ok(known)) => {
                let (kind, problem, remedy) = self.on_its_way(plugin, known);
                (kind, format!("{named} {problem}"), remedy.to_owned())
            }
            (_, Err(unknown)) => (ObstacleKind::Missing, unknown.to_string(), own_file),
        };
        Obstacle { kind, message, remedy }
    }

    /// What brings a file of the plugin's own. What was fetched is nobody's to put there or to correct.
    fn brings(&self, plugin: &Plugin) -> String {
        let manifest = self.sym.report.path(&plugin.manifest);
        let is_fetched = plugin.source_root.starts_with(self.sym.dirs.plugin_sources());
        let fetches = format!("`cargo agents plugin sync {}`", plugin.source);
        match (is_fetched, plugin.manifest.exists()) {
            (true, false) => format!("{fetches} fetches the plugin again"),
            (true, true) => {
                format!("its author can put it into the repository; {fetches} fetches that then")
            }
            (false, true) => format!("put it there, or correct {manifest}"),
            (false, false) => format!("put the plugin back: {manifest} is not there either"),
        }
    }

    /// How it stands with something that we install.
    fn on_its_way(
        &self,
        plugin: &Plugin,
        installation: &Installation,
    ) -> (ObstacleKind, String, &'static str) {
        let lock = lock_path(self.sym, plugin, installation);
        let taken = || Lock::acquire_shared(&lock, Duration::ZERO);
        if lock.exists() && matches!(taken(), Err(LockError::Busy { .. })) {
            let remedy = "wait until it is there: `cargo agents status` tells";
            return (ObstacleKind::Installing, "is being installed right now".to_owned(), remedy);
        }
        let stamp = Stamp::path(&self.sym.dirs.binaries(), plugin, &installation.name);
        let Stamp { failure, began, .. } = Stamp::load(&stamp);
        let ago = |at: u64| age(SystemTime::now(), UNIX_EPOCH + Duration::from_secs(at));
        if let Some(began) = began {
            let problem = format!("was being installed {}, and that was interrupted", ago(began));
            return (ObstacleKind::Failed, problem, "`cargo agents sync` begins anew");
        }
        match failure.filter(|failure| failure.definition == definition(installation)) {
            Some(failure) => {
                let outcome =
                    if failure.out_of_budget { "was given up" } else { "could not be installed" };
                let problem = failure.problem.lines().next().unwrap_or_default();
                let told = format!("{outcome} {}: {problem}", ago(failure.at));
                (ObstacleKind::Failed, told, TRIES_AGAIN)
            }
            None => {
                let remedy = "`cargo agents sync` installs it";
                (ObstacleKind::NotInstalled, "is not installed yet".to_owned(), remedy)
            }
        }
    }
}

const TRIES_AGAIN: &str = "`cargo agents sync` tries again at once, and tells all of it";

/// What keeps the file `program` from being run as it is.
pub(crate) fn unusable(program: &OsStr, is_script: bool) -> Option<Obstacle> {
    let path = Path::new(program);
    let shown = path.display();
    let unusable =
        |message, remedy| Some(Obstacle { kind: ObstacleKind::Unusable, message, remedy });
    if !path.is_file() {
        let message = format!("its program {shown} is not there");
        let remedy = "put it there, or correct the plugin's manifest".to_owned();
        return Some(Obstacle { kind: ObstacleKind::Missing, message, remedy });
    }
    if is_script {
        let error = open(path).err()?;
        return unusable(
            format!("its script {shown} can't be read: {error}"),
            format!("`chmod +r {shown}`"),
        );
    }
    let found = find_program(program, OsStr::new(""), Path::new("/"));
    if found.is_some() {
        return None;
    }
    unusable(format!("its program {shown} is not executable"), format!("`chmod +x {shown}`"))
}
