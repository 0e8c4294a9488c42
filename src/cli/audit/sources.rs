//! Where plugins and skills come from: what holds each source, and what differs from the lock file.

use std::ops::Range;
use std::sync::Arc;

use super::model::{Findings, Hold, SourceRow};
use crate::Symposium;
use crate::cli::audit_args::rules;
use crate::config::place_of_source;
use crate::files::{Limit, read_source};
use crate::plugins::source::{SourceKind, SourceState};
use crate::symposium::Pin;
use crate::sync::Whole;
use crate::sync::lockfile::{Difference, How, LockFile, NAME};
use crate::text::{Diagnostic, Source};

/// What `plugin update` and `lock` do about it.
const MOVES: &str = "`cargo agents plugin update --dry-run` shows what differs, `cargo agents lock` takes \
                     what there is now";

/// The workspace's lock file, and its text.
pub(super) struct Locked {
    pub lock: LockFile,
    pub source: Arc<Source>,
}

impl Locked {
    /// The workspace's, where it has one that can be read.
    pub(super) fn of(whole: &Whole<'_>, found: &mut Findings) -> Option<Self> {
        let root = &whole.loaded.workspace.root;
        match LockFile::load(root) {
            Ok(Some(lock)) => {
                let source = read_source(&LockFile::path(root), Limit::SETTINGS).ok()?;
                Some(Self { lock, source })
            }
            Ok(None) => None,
            Err(problem) => {
                found.add(rules::MISTAKE, problem);
                None
            }
        }
    }

    /// Where the file has `text`.
    fn place(&self, text: &str) -> Range<usize> {
        self.source.text.find(text).map_or(0..0, |at| at..at + text.len())
    }
}

/// All sources, and the repositories that plugins take skills from.
pub(super) fn look(
    sym: &Symposium,
    whole: &Whole<'_>,
    locked: Option<&Locked>,
    found: &mut Findings,
) -> Vec<SourceRow> {
    let mut rows = Vec::new();
    for source in &whole.registry.sources {
        let pin = source.pin.as_ref().map(|(_, pin)| pin);
        let hold = match (source.kind, pin) {
            (_, Some(pin)) => {
                let place = |problem| in_configuration(sym, source, problem);
                held(&format!("the source {}", source.name), pin, locked, place, found)
            }
            (SourceKind::Path, None) if source.root.is_some() => Hold::Folder,
            // The user's own folder need not be there.
            _ if source.notice.is_none() => continue,
            _ => Hold::Unknown,
        };
        if hold == Hold::Unknown && !source.is_told {
            unknown(sym, source, found);
        }
        rows.push(SourceRow {
            name: source.name.clone(),
            kind: source.kind,
            location: source.location.clone(),
            rev: pin.and_then(|pin| pin.rev.clone()),
            commit: source.commit.clone(),
            hold,
        });
    }
    for (_, pin) in &whole.facts.pins {
        let hold = held(&format!("the repository {}", pin.git), pin, locked, |it| it, found);
        rows.push(SourceRow {
            name: pin.git.clone(),
            kind: SourceKind::Git,
            location: pin.git.clone(),
            rev: pin.rev.clone(),
            commit: Some(pin.commit.clone()),
            hold,
        });
    }
    rows
}

/// What holds a repository to its commit.
fn held(
    name: &str,
    pin: &Pin,
    locked: Option<&Locked>,
    place: impl FnOnce(Diagnostic) -> Diagnostic,
    found: &mut Findings,
) -> Hold {
    let entry = locked.and_then(|locked| Some((locked, locked.lock.locked(pin)?)));
    if let Some((locked, entry)) = entry {
        if entry.commit == pin.commit {
            return Hold::Locked;
        }
        let what = format!(
            "{name} is at {} here, and {NAME} has {}",
            short(&pin.commit),
            short(&entry.commit)
        );
        let place = locked.place(&entry.commit);
        found.add(
            rules::MOVED_SOURCE,
            Diagnostic::warning(what).at(&locked.source, place).note(MOVES),
        );
        return Hold::Moved;
    }
    if pin.rev.is_some() {
        if locked.is_some() {
            let problem = Diagnostic::warning(format!("{name} is not in {NAME}")).note(MOVES);
            found.add(rules::NOT_LOCKED, place(problem));
        }
        return Hold::Rev;
    }
    let what = format!("{name} follows whatever {} has", pin.git);
    let remedy = match locked {
        Some(_) => {
            format!("`cargo agents lock` takes it into {NAME}; `rev` in its entry holds it, too")
        }
        None => format!("`cargo agents lock` writes {NAME}; `rev` in its entry holds it, too"),
    };
    found.add(rules::UNPINNED_SOURCE, place(Diagnostic::warning(what).note(remedy)));
    Hold::Unpinned
}

/// A source of which nothing is known, and of which no problem tells.
fn unknown(sym: &Symposium, source: &SourceState, found: &mut Findings) {
    let why = source.notice.as_deref().unwrap_or("it is not here");
    let what = format!("could not look at the source {}: {why}", source.name);
    let remedy = match sym.options.offline {
        true => "without `--offline` it is fetched".to_owned(),
        false => format!("`cargo agents plugin sync {}` tries again", source.name),
    };
    let problem = Diagnostic::warning(what).remark("nothing is known of what it brings");
    found.add(rules::COULD_NOT_LOOK, in_configuration(sym, source, problem.note(remedy)));
}

/// The problem at the source's entry, where it has one.
fn in_configuration(sym: &Symposium, source: &SourceState, problem: Diagnostic) -> Diagnostic {
    if !sym.config.sources.iter().any(|known| known.name == source.name) {
        return problem;
    }
    let place = |file: &Arc<Source>| place_of_source(file, &source.name, "");
    sym.in_file_of_source(problem, &source.name, place)
}

/// What is new, gone or other than in the lock file, besides repositories that moved. `is_whole`:
/// whether everything could be looked at; else what is missing may be there.
pub(super) fn differences(
    whole: &Whole<'_>,
    locked: &Locked,
    is_whole: bool,
    found: &mut Findings,
) {
    for difference in locked.lock.differences(&whole.inventory.lock) {
        let Difference { what, how, locked: hash } = &difference;
        // What there is of repositories was told with their sources.
        let is_told = what.starts_with("repository ") && *how != How::Gone;
        if is_told || (*how == How::Gone && !is_whole) {
            continue;
        }
        let problem = difference.diagnostic();
        let place = hash.as_deref().map_or(0..0, |hash| locked.place(hash));
        found.warn(rules::NOT_LOCKED, problem.at(&locked.source, place).note(MOVES));
    }
}

fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}
