//! The context that every command shares.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::team::Team;
use crate::config::{Config, ConfigState, Dirs, Environment, NoHome};
use crate::files::{Limit, read_source};
use crate::report::Reporter;
use crate::text::{Diagnostic, Source};

/// When git plugin sources are refreshed: the values of `--update`, with their help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum UpdateLevel {
    /// Use what is there
    #[default]
    None,
    /// Fetch what has something newer
    Check,
    /// Fetch everything
    Fetch,
}

/// What the command line says for every command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Options {
    /// When git plugin sources are refreshed; `None` when the user did not say.
    pub update: Option<UpdateLevel>,
    pub offline: bool,
    /// Limit for one fetch, whole.
    pub timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { update: None, offline: false, timeout: Duration::from_secs(60) }
    }
}

/// A repository as it is asked for, and the commit that it stands for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Pin {
    /// The URL without secrets.
    pub git: String,
    /// The branch, tag or commit that is asked for, or what follows `/tree/` in the URL; `None`: the
    /// default branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rev: Option<String>,
    /// The folder inside; empty for the root.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subdir: String,
    pub commit: String,
}

/// Configuration, folders, surroundings and the reporter: passed by reference to every command.
#[derive(Debug)]
pub(crate) struct Symposium {
    pub env: Environment,
    pub dirs: Dirs,
    /// The user's, with what was taken of the team's file where a workspace was entered.
    pub config: Config,
    /// What `config.toml` was like; a broken one must not be written.
    pub config_state: ConfigState,
    /// Problems in `config.toml`, not yet told.
    pub config_diagnostics: Vec<Diagnostic>,
    pub report: Arc<Reporter>,
    pub options: Options,
    /// The commits that repositories are taken at, whatever is newest: those of a lock file.
    pub pins: Arc<Vec<Pin>>,
    /// The team's file of the workspace that was entered.
    pub team: Option<Arc<Team>>,
    /// The hash of the team's file that the command line accepts.
    pub accepted_team: Option<String>,
}

impl Symposium {
    /// A context whose own files are all under `dir`: silent, with an otherwise empty environment
    /// whose home is `dir`.
    #[cfg(test)]
    pub(crate) fn from_dir(dir: &Path) -> Self {
        let variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        let env = Environment::with(dir, [(variable, dir.as_os_str())]);
        let dirs = Dirs::under(dir);
        Self::assemble(env, dirs, Arc::new(Reporter::silent()), Options::default())
    }

    /// A context of the given parts; the configuration is read.
    ///
    /// # Errors
    /// [`NoHome`] when there is nowhere to keep our files.
    pub(crate) fn new(
        env: Environment,
        report: Reporter,
        options: Options,
    ) -> Result<Self, NoHome> {
        let dirs = Dirs::resolve(&env)?;
        Ok(Self::assemble(env, dirs, Arc::new(report), options))
    }

    fn assemble(env: Environment, dirs: Dirs, report: Arc<Reporter>, options: Options) -> Self {
        let loaded = Config::load(&dirs);
        Self {
            env,
            dirs,
            config: loaded.config,
            config_state: loaded.state,
            config_diagnostics: loaded.diagnostics,
            report,
            options,
            pins: Arc::default(),
            team: None,
            accepted_team: None,
        }
    }

    /// Takes what is in force of the team's file in the workspace at `root`, in the place of what was
    /// taken before.
    pub(crate) fn enter(&mut self, root: &Path) {
        let team = Team::look(&self.dirs, root, self.accepted_team.as_deref());
        self.config.add_teams(team.in_force.as_ref());
        self.team = Some(Arc::new(team));
    }

    /// Another context for the same folder and workspace, which tells whom it likes.
    ///
    /// # Errors
    /// [`NoHome`] when there is nowhere to keep our files.
    pub(crate) fn telling(&self, report: Reporter, options: Options) -> Result<Self, NoHome> {
        let other = Self::new(self.env.clone(), report, options)?;
        Ok(other.like(self))
    }

    fn like(mut self, other: &Self) -> Self {
        self.accepted_team.clone_from(&other.accepted_team);
        if let Some(team) = &other.team {
            self.enter(team.root());
        }
        self
    }

    /// The same context with the configuration as it is by now: another process may have changed it.
    #[must_use]
    pub(crate) fn reread(&self) -> Self {
        let (env, dirs) = (self.env.clone(), self.dirs.clone());
        let again = Self::assemble(env, dirs, Arc::clone(&self.report), self.options);
        Self { pins: Arc::clone(&self.pins), ..again.like(self) }
    }

    /// `problem` with its place in `config.toml`, which `place` finds; with the file where it does
    /// not.
    #[must_use]
    pub(crate) fn in_configuration(
        &self,
        problem: Diagnostic,
        place: impl FnOnce(&Arc<Source>) -> Option<Range<usize>>,
    ) -> Diagnostic {
        Self::in_settings(problem, self.dirs.config_file(), place)
    }

    /// As [`Symposium::in_configuration`], in the file that has the plugin source `name`: the team's or
    /// the user's own.
    #[must_use]
    pub(crate) fn in_file_of_source(
        &self,
        problem: Diagnostic,
        name: &str,
        place: impl FnOnce(&Arc<Source>) -> Option<Range<usize>>,
    ) -> Diagnostic {
        match self.team.as_ref().filter(|_| self.config.is_teams(name)) {
            Some(team) => Self::in_settings(problem, team.path.clone(), place),
            None => self.in_configuration(problem, place),
        }
    }

    fn in_settings(
        problem: Diagnostic,
        file: PathBuf,
        place: impl FnOnce(&Arc<Source>) -> Option<Range<usize>>,
    ) -> Diagnostic {
        let Ok(source) = read_source(&file, Limit::SETTINGS) else {
            return problem.in_file(file);
        };
        match place(&source) {
            Some(span) => problem.at(&source, span),
            None => problem.in_file(&source.path),
        }
    }

    /// The folder the command works in.
    ///
    /// # Errors
    /// When the current folder was deleted.
    pub(crate) fn cwd(&self) -> anyhow::Result<PathBuf> {
        self.env.cwd().map(Path::to_path_buf).ok_or_else(|| {
            anyhow::anyhow!("the current folder is gone: `cd` somewhere that exists")
        })
    }
}

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Where our package's sources are published; empty while its manifest names no `repository`. By
/// this it is told from other packages of its name.
pub(crate) const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");
