//! The plugin sources in force, and each one's folder on disk.

mod spec;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::builtin;
use crate::Symposium;
use crate::config::{ConfigState, USER_PLUGINS};
use crate::fetch::git::{Checkout, GitError, Outcome, Policy, Repository};
use crate::report::{Action, Change, Event, Kind, Progress};
use crate::symposium::{Pin, UpdateLevel};
use crate::text::{Diagnostic, Subject};
use crate::workspace::Fingerprint;

pub(crate) use spec::{Location, SourceSpec, effective};

/// Name of the source inside the binary.
pub(crate) const BUILTIN: &str = "builtin";
/// Name of its plugin, which no other source's plugin may have.
pub(crate) const BUILTIN_PLUGIN: &str = "cargo-agents";

/// What kind of source it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum SourceKind {
    /// A folder of the user's, looked at each time.
    Path,
    /// A git repository, of which we have a copy.
    Git,
    /// Inside the binary.
    Builtin,
}

/// What is refreshed, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refresh<'a> {
    /// For each git source.
    pub policy: Policy,
    /// The one source that the user named; the others stay as they are.
    pub only: Option<&'a str>,
    /// Whether what the sources hold is remembered for the next time.
    pub remembers: bool,
}

impl<'a> Refresh<'a> {
    /// What is on disk: for hooks.
    pub(crate) fn cached() -> Self {
        Self { policy: Policy::cached(), only: None, remembers: true }
    }

    /// The same, and nothing is written: for who only asks what there is.
    #[must_use]
    pub(crate) fn without_a_trace(self) -> Self {
        Self { remembers: false, ..self }
    }

    /// What the command line says, for a command that only looks.
    pub(crate) fn for_command(sym: &Symposium) -> Self {
        Self { policy: Policy::for_command(&sym.options), only: None, remembers: true }
    }

    /// What the command line says, for one that brings agents up to date.
    pub(crate) fn for_sync(sym: &Symposium) -> Self {
        Self { policy: Policy::for_sync(&sym.options), only: None, remembers: true }
    }

    /// `plugin sync [name]`: a named source is fetched, were it excepted from updates; without a
    /// name each one that is not excepted is asked for news.
    pub(crate) fn for_plugin_sync(sym: &Symposium, only: Option<&'a str>) -> Self {
        let mut policy = Policy::for_command(&sym.options);
        policy.first_fetch = true;
        policy.force = true;
        if policy.level == UpdateLevel::None {
            policy.level = UpdateLevel::Check;
        }
        Self { policy, only, remembers: true }
    }

    /// For one source.
    fn policy_for(&self, spec: &SourceSpec) -> Policy {
        let policy = self.policy;
        match self.only {
            Some(only) if only == spec.name || spec.is_below(only) => {
                Policy { level: UpdateLevel::Fetch, force: true, first_fetch: true, ..policy }
            }
            Some(_) => {
                Policy { level: UpdateLevel::None, force: false, first_fetch: false, ..policy }
            }
            None if !spec.auto_update && policy.level != UpdateLevel::Fetch => {
                Policy { level: UpdateLevel::None, force: false, ..policy }
            }
            None => policy,
        }
    }
}

/// A source as found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceState {
    pub name: String,
    pub kind: SourceKind,
    /// Whether the team's file brought it.
    pub is_teams: bool,
    /// Where it is, for people: a path or a URL, without secrets.
    pub location: String,
    /// The same, whoever is told: what is remembered of the source goes by it.
    pub place: String,
    /// Its folder on disk; `None` when it can't be had.
    pub root: Option<PathBuf>,
    /// The commit of a git source, in hex.
    pub commit: Option<String>,
    /// The branch or tag of a git source.
    pub reference: Option<String>,
    /// When a git source's copy was fetched.
    pub fetched_at: Option<SystemTime>,
    /// The repository of a git source, and the commit that it was taken at.
    pub pin: Option<(Repository, Pin)>,
    /// What was done for a git source.
    pub outcome: Option<Outcome>,
    /// Why it is absent or older than it could be; a line for people.
    pub notice: Option<String>,
    /// Whether a diagnostic says so too.
    pub is_told: bool,
    /// What of the source was looked at, besides the folders that a scan of it finds.
    pub observed: Fingerprint,
}

impl SourceState {
    /// Whether the configuration does not say where it is.
    pub(crate) fn is_nowhere(&self) -> bool {
        self.location.is_empty()
    }

    /// What people should hear of it: that it was fetched, or what is missing.
    pub(crate) fn event(&self) -> Option<Event> {
        let (action, origin, reason) = match (&self.notice, self.outcome) {
            // One thing is told once.
            (Some(_), _) if self.is_told => return None,
            (Some(notice), _) => (Action::Skip, None, Some(notice.clone())),
            (None, Some(Outcome::Fetched)) => {
                let commit = self.commit.as_deref().unwrap_or_default();
                let commit = commit.get(..10).unwrap_or(commit);
                let reference = self.reference.as_deref().unwrap_or_default();
                (Action::Fetch, Some(format!("{reference} {commit}")), None)
            }
            _ => return None,
        };
        let change = Change::new(action, Kind::Source, self.name.as_str());
        Some(Event::Change(Change { origin, reason, ..change }))
    }
}

/// Finds the source's folder, and fetches what `refresh` says. Trouble is in the diagnostics: it
/// never stops the others.
pub(crate) fn open(
    sym: &Symposium,
    spec: &SourceSpec,
    refresh: &Refresh<'_>,
) -> (SourceState, Vec<Diagnostic>) {
    let mut state = SourceState {
        name: spec.name.clone(),
        kind: spec.kind(),
        is_teams: sym.config.is_teams(&spec.name),
        location: String::new(),
        place: String::new(),
        root: None,
        commit: None,
        reference: None,
        fetched_at: None,
        pin: None,
        outcome: None,
        notice: None,
        is_told: false,
        observed: Fingerprint::default(),
    };
    let diagnostic = match &spec.location {
        Location::Path(path) => open_path(sym, spec, path, &mut state),
        Location::Git(repository) => open_git(sym, spec, repository, refresh, &mut state),
        Location::Unusable(_, problem) => {
            state.notice = Some(problem.message.clone());
            Some(unusable(sym, spec, problem))
        }
        Location::Builtin => open_builtin(sym, &mut state),
    };
    state.is_told = diagnostic.is_some();
    state.place = match &spec.location {
        Location::Path(path) => path.to_string_lossy().into_owned(),
        _ => state.location.clone(),
    };
    (state, diagnostic.into_iter().collect())
}

/// What is told of a source that can't be used.
pub(crate) fn unusable(sym: &Symposium, spec: &SourceSpec, problem: &Diagnostic) -> Diagnostic {
    let message = format!("the plugin source `{}` is left out: {}", spec.name, problem.message);
    in_configuration(sym, spec, Diagnostic { message, ..problem.clone() })
        .note("mend it, or take the source out: what came from it stays until then")
}

/// The problem at the source's place in the configuration, if it stands there.
pub(super) fn in_configuration(
    sym: &Symposium,
    spec: &SourceSpec,
    problem: Diagnostic,
) -> Diagnostic {
    if !sym.config.sources.iter().any(|source| source.name == spec.name) {
        return problem;
    }
    let key = match problem.subject.as_deref() {
        Some(Subject::Key(key)) => key,
        _ => "",
    };
    let place = |file: &_| crate::config::place_of_source(file, &spec.name, key);
    sym.in_file_of_source(problem, &spec.name, place)
}

fn open_path(
    sym: &Symposium,
    spec: &SourceSpec,
    path: &Path,
    state: &mut SourceState,
) -> Option<Diagnostic> {
    state.location = sym.report.path(path);
    // Where it is missing, its appearance is a change too. A folder is observed as it is searched.
    if !path.is_dir() {
        state.observed.observe(path);
    }
    let what = match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            state.root = Some(path.to_path_buf());
            return None;
        }
        Ok(_) => "is not a folder".to_owned(),
        // The user's own folder need not be there.
        Err(_) if state.name == USER_PLUGINS && !path.is_symlink() => return None,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "does not exist".to_owned(),
        Err(error) => format!("can't be read: {error}"),
    };
    state.notice = Some(format!("{} {what}", state.location));
    let problem = Diagnostic::warning(format!(
        "the plugin source `{}` is left out: {} {what}",
        state.name, state.location
    ));
    Some(in_configuration(sym, spec, problem).note(
        "what came from it stays until it is there again: create the folder, correct `path`, or \
               take the source out",
    ))
}

fn open_builtin(sym: &Symposium, state: &mut SourceState) -> Option<Diagnostic> {
    "inside cargo-agents".clone_into(&mut state.location);
    match builtin::materialise(sym.dirs.cache()) {
        Ok(root) => {
            state.root = Some(root);
            None
        }
        Err(error) => {
            state.notice = Some(error.to_string());
            Some(
                Diagnostic::warning(format!("the plugin source `{BUILTIN}` is left out: {error}"))
                    .note("`builtin = false` under `[defaults]` does without it"),
            )
        }
    }
}

fn open_git(
    sym: &Symposium,
    spec: &SourceSpec,
    repository: &Repository,
    refresh: &Refresh<'_>,
    state: &mut SourceState,
) -> Option<Diagnostic> {
    let cache = spec.copies(sym);
    let (asked, repository) = (repository, &repository.pinned(&sym.pins));
    state.location = repository.shown();
    state.observed = Fingerprint::of([repository.stamp(&cache)]);
    let mut policy = refresh.policy_for(spec);
    // A configuration that can't be read may well say that nobody is to be asked.
    if sym.config_state == ConfigState::Broken && refresh.only.is_none() {
        policy = Policy { level: UpdateLevel::None, force: false, first_fetch: false, ..policy };
    }
    let progress = std::cell::Cell::new(Progress::default());
    let tell = || progress.set(sym.report.busy("Fetching", &spec.name));
    let found = repository.checkout_telling(&cache, &policy, &sym.env, &tell);
    drop(progress);
    if let Ok(checkout) = &found
        && checkout.outcome != Outcome::Cached
    {
        state.observed = repository.observed(&cache, checkout);
    }
    let (problem, age) = match found {
        Ok(checkout) => {
            let age = age(SystemTime::now(), checkout.fetched_at);
            let problem = checkout.stale.clone();
            state.pin = Some((asked.clone(), asked.pin(&checkout)));
            take(state, checkout);
            (problem?, Some(age))
        }
        Err(error) => (error, None),
    };
    let instead = match &age {
        Some(age) => format!("using the copy of {age}"),
        None => "not fetched yet".to_owned(),
    };
    state.notice = Some(match &problem {
        GitError::NotFetched => {
            format!("not fetched yet; `cargo agents plugin sync {}` fetches it", spec.name)
        }
        problem => format!("{problem}, {instead}"),
    });
    if problem.is_passing() {
        return None;
    }
    let used = match age {
        Some(age) => format!("the copy of {age} is used"),
        None => "there is no copy of it".to_owned(),
    };
    let mut told = Diagnostic::warning(format!("can't read the plugin source `{}`", spec.name))
        .note(told(repository, &problem))
        .note(format!("{used}; `cargo agents plugin sync {}` tries again", spec.name));
    told.subject = problem.key().map(|key| Box::new(Subject::Key(key)));
    Some(in_configuration(sym, spec, told))
}

/// Git's own words, with the URL before them where they do not name it.
fn told(repository: &Repository, problem: &GitError) -> String {
    let (shown, whole) = (repository.shown(), problem.whole());
    if problem.to_string().contains(&shown) { whole } else { format!("{shown}: {whole}") }
}

fn take(state: &mut SourceState, checkout: Checkout) {
    state.root = Some(checkout.dir);
    state.commit = Some(checkout.commit);
    state.reference = Some(checkout.reference);
    state.fetched_at = Some(checkout.fetched_at);
    state.outcome = Some(checkout.outcome);
}

/// The name, without extension, of our files about a source.
pub(super) fn file_name(state: &SourceState) -> String {
    let hash = Sha256::digest(format!("{}\0{}", state.name, state.place).as_bytes());
    crate::text::hex(&hash[..16])
}

/// `2 days ago`, in the largest unit that fits.
pub(crate) fn age(now: SystemTime, then: SystemTime) -> String {
    let seconds = now.duration_since(then).unwrap_or(Duration::ZERO).as_secs();
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
    for (length, unit) in units {
        let count = seconds / length;
        if count > 0 {
            let plural = if count == 1 { "" } else { "s" };
            return format!("{count} {unit}{plural} ago");
        }
    }
    "just now".to_owned()
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
