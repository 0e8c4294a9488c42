//! Whether the registry has the crates that are named, and whether those that are installed are what the
//! plugin takes them for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::known::KnownNames;
use super::levels::{Installed, Named};
use super::programs::{Published, is_pinned, look_into, owner};
use crate::Symposium;
use crate::cli::screen::count;
use crate::plugins::diagnostics::codes;
use crate::report::Event;
use crate::skills::crate_source::fetch::{FetchError, Fetcher, RegistryEntry};
use crate::skills::crate_source::known_names;
use crate::text::{Diagnostic, closest, did_you_mean};
use crate::workspace::{Loaded, Workspace};

/// Crates that are asked about at once.
const AT_ONCE: usize = 4;

/// Asks the registry about each crate once.
pub(super) fn check(sym: &Symposium, names: Vec<Named>) -> Vec<Diagnostic> {
    let own = own_crates(sym, &names);
    let mut by_name: BTreeMap<String, Vec<Named>> = BTreeMap::new();
    for named in names {
        let name = named.name.replace('_', "-");
        // What is to be installed has to be published.
        if named.installed.is_some() || !own.contains(&name) {
            by_name.entry(name).or_default().push(named);
        }
    }
    if by_name.is_empty() {
        return Vec::new();
    }
    if sym.options.offline {
        let line = "crate names: they are not checked offline";
        sym.report.event(&Event::status("Skipped", line));
        return Vec::new();
    }
    let fetcher = Fetcher {
        env: &sym.env,
        dirs: &sym.dirs,
        limit: sym.options.timeout,
        offline: sym.options.offline,
    };
    let _progress = sym.report.busy("Checking", &count(by_name.len(), "crate name"));
    let mut known = KnownNames::load(&sym.dirs);
    let new: Vec<&str> = by_name
        .iter()
        .filter(|(name, _)| known.get(name).is_none())
        .filter_map(|(_, places)| places.first().map(|first| first.name.as_str()))
        .collect();
    let mut problems = Vec::new();
    let mut unasked: Vec<(&Named, String)> = Vec::new();
    for (name, answer) in ask(&fetcher, &new) {
        let Some(places) = by_name.get(&name.replace('_', "-")) else { continue };
        match answer {
            Ok(Some(entry)) => known.add(&name.replace('_', "-"), entry),
            Ok(None) => problems.extend(unknown(sym, places)),
            // The manifest's reader has told.
            Err(Unanswered::BadName) => {}
            Err(Unanswered::Failed(why)) => {
                unasked.extend(places.first().map(|place| (place, why)));
            }
        }
    }
    problems.extend(unchecked(&unasked));
    known.save(&sym.dirs);
    problems.extend(installed(sym, &fetcher, &by_name, &known));
    problems
}

/// The packages of the workspaces that the files lie in: they are there, published or not.
fn own_crates(sym: &Symposium, names: &[Named]) -> BTreeSet<String> {
    let mut roots: Vec<PathBuf> = Vec::new();
    let mut own = BTreeSet::new();
    for dir in names.iter().filter_map(|named| named.source.path.parent()) {
        if roots.iter().any(|root| dir.starts_with(root)) {
            continue;
        }
        let loaded = Workspace::load(dir, &sym.env).ok().flatten();
        let Some(Loaded { workspace, .. }) = loaded else { continue };
        own.extend(workspace.members.iter().map(|member| member.name.replace('_', "-")));
        roots.push(workspace.root);
    }
    own
}

/// Why nothing is known of a crate.
enum Unanswered {
    BadName,
    Failed(String),
}

type Answers<'n> = Vec<(&'n str, Result<Option<RegistryEntry>, Unanswered>)>;

/// Asks about a few crates at once. After a failure no further one is asked about: a registry that does
/// not answer would let people wait for each.
fn ask<'n>(fetcher: &Fetcher<'_>, names: &[&'n str]) -> Answers<'n> {
    let next = AtomicUsize::new(0);
    let has_failed = AtomicBool::new(false);
    let answers = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(names.len()) {
            scope.spawn(|| {
                while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let answer = match has_failed.load(Ordering::Relaxed) {
                        true => Err(Unanswered::Failed("the registry did not answer".to_owned())),
                        false => fetcher.look_up(name).map_err(|error| match error {
                            FetchError::BadName(_) => Unanswered::BadName,
                            error => Unanswered::Failed(error.to_string()),
                        }),
                    };
                    if matches!(answer, Err(Unanswered::Failed(_))) {
                        has_failed.store(true, Ordering::Relaxed);
                    }
                    let mut answers = answers.lock().unwrap_or_else(|lock| lock.into_inner());
                    answers.push((*name, answer));
                }
            });
        }
    });
    let mut answers = answers.into_inner().unwrap_or_else(|lock| lock.into_inner());
    answers.sort_by_key(|(name, _)| *name);
    answers
}

/// One word on all crates that could not be asked about: they are not unknown.
fn unchecked(names: &[(&Named, String)]) -> Option<Diagnostic> {
    let (first, _) = names.first()?;
    let shown: Vec<String> = names.iter().map(|(named, _)| format!("`{}`", named.name)).collect();
    // The one that was asked about says more than those that were not.
    let why = names.iter().map(|(_, why)| why).max_by_key(|why| why.len())?;
    Some(
        Diagnostic::warning(format!("crate names could not be checked: {}", shown.join(", ")))
            .code(codes::UNCHECKED)
            .at(&first.source, first.span.clone())
            .note(why)
            .note("try again when the registry answers; `--no-check-crates` leaves the check out"),
    )
}

fn unknown(sym: &Symposium, places: &[Named]) -> Vec<Diagnostic> {
    let known = sym.env.cargo_home().map_or_else(Vec::new, |home| known_names(&home));
    let tell = |place: &Named| {
        let near = closest(&place.name, known.iter().map(String::as_str));
        let mut problem = Diagnostic::error(format!("the registry has no crate `{}`", place.name))
            .code(codes::UNKNOWN_CRATE)
            .at(&place.source, place.span.clone());
        problem.label = did_you_mean(&near);
        problem
    };
    places.iter().map(tell).collect()
}

/// What is wrong with the crates that are installed for their programs.
fn installed(
    sym: &Symposium,
    fetcher: &Fetcher<'_>,
    by_name: &BTreeMap<String, Vec<Named>>,
    known: &KnownNames,
) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (name, places) in by_name.iter().filter(|(name, _)| known.get(name).is_some()) {
        for place in places {
            let Some(wanted) = &place.installed else { continue };
            match look_into(fetcher, &place.name, wanted) {
                Ok(published) => {
                    tell_installed(sym, name, &published);
                    problems.extend(wrong_program(place, wanted, &published));
                    if !is_pinned(wanted) {
                        let owners = owners_beside(place, fetcher, by_name, known);
                        problems.extend(foreign(place, &published, &owners));
                    }
                }
                Err(error) => {
                    let entry = known.get(name);
                    let repository = entry.as_ref().and_then(|entry| entry.repository.clone());
                    let version = entry.and_then(|entry| entry.version);
                    let version = version.map(|version| version.to_string()).unwrap_or_default();
                    tell_installed(
                        sym,
                        name,
                        &Published { version, repository, ..Published::default() },
                    );
                    let message = format!("the programs of `{}` could not be checked", place.name);
                    let problem = Diagnostic::warning(message).code(codes::UNCHECKED);
                    problems.push(
                        problem.at(&place.source, place.span.clone()).note(error.to_string()),
                    );
                }
            }
        }
    }
    problems
}

/// A crate's name says nothing about whose it is: what is installed is shown.
fn tell_installed(sym: &Symposium, name: &str, published: &Published) {
    let Published { version, repository, .. } = published;
    let from = match repository {
        Some(repository) => format!("from {repository}"),
        None => "which names no repository".to_owned(),
    };
    sym.report.event(&Event::status("Installs", format!("{name} {version} {from}")));
}

fn wrong_program(place: &Named, wanted: &Installed, published: &Published) -> Vec<Diagnostic> {
    let Published { version, programs, .. } = published;
    let what = format!("`{}` {version}", place.name);
    let list = match programs.as_slice() {
        [] => "it has none: it is a library".to_owned(),
        programs => format!("its programs: {}", programs.join(", ")),
    };
    let problem = |span: &std::ops::Range<usize>, message: String| {
        let problem = Diagnostic::error(message).code(codes::NO_PROGRAM);
        problem.at(&place.source, span.clone()).note(list.clone())
    };
    if wanted.executables.is_empty() {
        return match programs.as_slice() {
            [_] => Vec::new(),
            [] => vec![problem(&place.span, format!("{what} has no program"))],
            _ => vec![
                problem(&place.span, format!("{what} has several programs"))
                    .note("name one as `executable`"),
            ],
        };
    }
    let lacking = wanted.executables.iter().filter(|named| !programs.contains(&named.value));
    lacking
        .map(|named| problem(&named.span, format!("{what} has no program `{}`", named.value)))
        .collect()
}

/// Who owns the crates that the same file is about.
fn owners_beside(
    place: &Named,
    fetcher: &Fetcher<'_>,
    by_name: &BTreeMap<String, Vec<Named>>,
    known: &KnownNames,
) -> Vec<String> {
    let is_beside =
        |other: &Named| other.installed.is_none() && other.source.path == place.source.path;
    let beside = by_name.iter().filter(|(_, places)| places.iter().any(is_beside));
    let mut owners: Vec<String> = beside
        .filter_map(|(name, _)| {
            let repository = known
                .get(name)?
                .repository
                .or_else(|| look_into(fetcher, name, &Installed::default()).ok()?.repository);
            owner(&repository?)
        })
        .collect();
    owners.sort();
    owners.dedup();
    owners
}

/// A program of other people than those whose crates the plugin is about.
fn foreign(place: &Named, published: &Published, owners: &[String]) -> Option<Diagnostic> {
    let of = published.repository.as_deref().and_then(owner);
    if owners.is_empty() || of.as_ref().is_some_and(|of| owners.contains(of)) {
        return None;
    }
    let message = match (&published.repository, &of) {
        (Some(repository), Some(of)) => {
            format!("`{}` is of somebody else: {of} ({repository})", place.name)
        }
        _ => format!("`{}` names no repository: nobody can tell whose it is", place.name),
    };
    Some(
        Diagnostic::warning(message)
            .code(codes::FOREIGN_CRATE)
            .at(&place.source, place.span.clone())
            .note(format!("the crates that the plugin is for: {}", owners.join(", ")))
            .note("where that is meant, pin `version` to one that you looked at: `\"1.2.3\"`"),
    )
}
