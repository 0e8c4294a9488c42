//! Where a crate says its skills are: `[package.metadata.symposium]` of its `Cargo.toml`, or a
//! `SYMPOSIUM.toml` beside it.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use semver::VersionReq;

use super::document::RawGate;
use crate::files::{Limit, has_exactly};
use crate::plugins::diagnostics::codes;
use crate::plugins::model::CrateAtom;
use crate::text::toml::{Diagnostics, StringOrTable, Table, read};
use crate::text::{Diagnostic, Source, is_crate_name, suggestion};
use crate::workspace::Observer;

#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
#[cfg(test)]
mod tests;

/// Where skills are when a crate says nothing.
pub(crate) const DEFAULT_FOLDER: &str = "skills";

/// What a crate says about its skills.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CrateSkills {
    /// Where to look; empty when the crate wants none looked for.
    pub entries: Vec<CrateEntry>,
    /// The file that says so; `None` when none does.
    pub source: Option<Arc<Source>>,
    /// Problems; a file that has one is not followed.
    pub warnings: Vec<Diagnostic>,
    /// Whether a file that may say something else can't be read.
    pub is_unread: bool,
}

/// One place to look.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CrateEntry {
    pub place: Place,
    pub gate: RawGate,
    /// Where the entry stands, as a byte range.
    pub span: Range<usize>,
}

/// Where an entry points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    Path(String),
    /// Another crate, whose own metadata is followed.
    Crate {
        name: String,
        requirement: Option<VersionReq>,
    },
}

impl CrateSkills {
    fn default_with(warnings: Vec<Diagnostic>, is_unread: bool) -> Self {
        Self { entries: vec![default_entry()], source: None, warnings, is_unread }
    }
}

fn default_entry() -> CrateEntry {
    let place = Place::Path(DEFAULT_FOLDER.to_owned());
    CrateEntry { place, gate: RawGate::default(), span: 0..0 }
}

/// Reads what the crate in `dir` says about its skills.
///
/// Without `[package.metadata.symposium]` in `Cargo.toml`, a `SYMPOSIUM.toml` counts; without
/// either, `skills/` does. What is there but malformed is told, and `skills/` counts.
pub(crate) fn read_crate_skills(dir: &Path, observer: &Observer) -> CrateSkills {
    let mut warnings = Vec::new();
    for (file, keys) in
        [("Cargo.toml", &["package", "metadata", "symposium"][..]), ("SYMPOSIUM.toml", &[])]
    {
        let path = dir.join(file);
        let source = match observer.source(&path, Limit::CARGO) {
            // Where the file system takes it for one, a team's file is none of a crate's.
            Ok(_) if !has_exactly(dir, file) => continue,
            Ok(source) => source,
            Err(error) if error.is_absent() => continue,
            Err(error) => {
                let mut problem = error.diagnose("this file", &path);
                problem.severity = crate::text::Severity::Warning;
                warnings.push(problem.note(format!("`{DEFAULT_FOLDER}/` is looked into instead")));
                return CrateSkills::default_with(warnings, true);
            }
        };
        match parse(&source, keys) {
            Parsed::Absent => {}
            Parsed::Malformed(found) => {
                warnings.extend(found);
                return CrateSkills::default_with(warnings, true);
            }
            Parsed::Entries(entries, found) => {
                warnings.extend(found);
                let source = Some(source);
                return CrateSkills { entries, source, warnings, is_unread: false };
            }
        }
    }
    CrateSkills::default_with(warnings, false)
}

enum Parsed {
    Absent,
    Malformed(Vec<Diagnostic>),
    Entries(Vec<CrateEntry>, Vec<Diagnostic>),
}

fn parse(source: &Arc<Source>, keys: &[&str]) -> Parsed {
    let diagnostics = Diagnostics::new(Arc::clone(source));
    let outcome = read(&diagnostics, |root| {
        let mut tables: Vec<Table<'_>> = Vec::new();
        for key in keys {
            let table = tables.last().unwrap_or(root);
            if !table.has(key) {
                return None;
            }
            // Of a wrong type: told to the diagnostics.
            tables.push(table.table(key)?);
        }
        let table = tables.last().unwrap_or(root);
        let found = entries(table);
        // A `SYMPOSIUM.toml` has the keys of a plugin too.
        if !keys.is_empty() {
            warn_of_unknown_keys(table, &["skills", "plugins", "defaults"]);
            // A wrong type would be told once more.
            if !diagnostics.has_errors() {
                check_nested_keys(table);
            }
        }
        Some(found)
    });
    let failed = diagnostics.has_errors();
    let problems = diagnostics.finish().into_iter().map(|mut problem| {
        if problem.is_error() {
            problem.severity = crate::text::Severity::Warning;
            problem.notes.push(format!("`{DEFAULT_FOLDER}/` is looked into instead"));
        }
        problem
    });
    let problems: Vec<_> = problems.collect();
    match outcome {
        _ if failed => Parsed::Malformed(problems),
        Some(Some(entries)) => Parsed::Entries(entries, problems),
        _ => Parsed::Absent,
    }
}

/// What an entry of `skills` may hold.
const ENTRY_KEYS: [&str; 6] = ["path", "crate", "source", "crates", "depends-on", "predicates"];

/// Tells of unknown keys below the top.
fn check_nested_keys(table: &Table<'_>) {
    if table.is_table("defaults")
        && let Some(defaults) = table.table("defaults")
    {
        warn_of_unknown_keys(&defaults, &["skills"]);
    }
    if table.has("skills") {
        for entry in table.tables("skills").unwrap_or_default() {
            warn_of_unknown_keys(&entry, &ENTRY_KEYS);
        }
    }
}

/// Keys without a meaning are told: a misspelt `skills` would offer what was meant to be withheld.
fn warn_of_unknown_keys(table: &Table<'_>, known: &[&str]) {
    for key in table.keys().into_iter().filter(|key| !known.contains(&key.value.as_str())) {
        let message = format!("unknown key `{}`", table.path_of(&key.value));
        let source = &table.diagnostics().source;
        let problem = Diagnostic::warning(message).code(codes::UNKNOWN_KEY).at(source, key.span);
        table.diagnostics().push(match suggestion(&key.value, known) {
            Some(meant) => problem.label(format!("did you mean `{meant}`?")),
            None => problem.note(format!("known keys: {}", known.join(", "))),
        });
    }
}

/// Entries that are listed replace the default, unless `[defaults] skills = true` asks for both.
fn entries(table: &Table<'_>) -> Vec<CrateEntry> {
    let default = table
        .has("defaults")
        .then(|| table.table("defaults").and_then(|defaults| defaults.bool("skills")))
        .flatten()
        .map(|flag| flag.value);
    let listed = table.has("skills") || table.has("plugins");
    let mut found = Vec::new();
    if default == Some(true) || (default.is_none() && !listed) {
        found.push(default_entry());
    }
    if table.has("skills") {
        found.extend(table.tables("skills").unwrap_or_default().iter().filter_map(skill_entry));
    }
    // `[[plugins]]` of another kind than a crate's are no skills.
    if table.has("plugins") {
        for plugin in table.tables("plugins").unwrap_or_default() {
            let Some(source) = plugin.table("source") else { continue };
            if source.has("cargo") {
                found.extend(crate_place(&source, "cargo").map(|place| entry(&plugin, place)));
            }
        }
    }
    found
}

fn entry(table: &Table<'_>, place: Place) -> CrateEntry {
    let crates = ["crates", "depends-on"].into_iter().filter(|key| table.has(key));
    let mut lists: Vec<_> = crates.filter_map(|key| table.string_or_strings(key)).collect();
    if lists.len() > 1 {
        table
            .diagnostics()
            .error(&table.span, "`crates` and `depends-on` are two names of one key");
    }
    let predicates =
        if table.has("predicates") { table.string_or_strings("predicates") } else { None };
    let gate = RawGate {
        crates: lists.pop().map(|list| list.value),
        predicates: predicates.map(|list| list.value).unwrap_or_default(),
    };
    CrateEntry { place, gate, span: table.span.clone() }
}

/// One `[[skills]]`: `path`, `source.path`, `source = "crate"`, `source.crate_path`, or `crate`.
fn skill_entry(table: &Table<'_>) -> Option<CrateEntry> {
    let mut places = Vec::new();
    if table.has("path") {
        places.push(path_place(table, "path"));
    }
    if table.has("crate") {
        places.push(crate_place(table, "crate"));
    }
    if table.has("source") {
        places.push(match table.string_or_table("source")? {
            StringOrTable::String(text) if text.value == "crate" => {
                Some(Place::Path(DEFAULT_FOLDER.to_owned()))
            }
            StringOrTable::String(text) => {
                table.diagnostics().error(&text.span, format!("unknown source `{}`", text.value));
                None
            }
            StringOrTable::Table(source) => source_place(&source)?,
        });
    }
    if places.len() != 1 {
        let message = "an entry of `skills` needs exactly one of `path` and `crate`";
        table.diagnostics().error(&table.span, message);
        return None;
    }
    Some(entry(table, places.pop()??))
}

/// The place in `source = { … }`; the outer `None` is a source that no crate may point to.
fn source_place(source: &Table<'_>) -> Option<Option<Place>> {
    for key in ["path", "crate_path"] {
        if source.has(key) {
            return Some(path_place(source, key));
        }
    }
    if source.has("cargo") {
        return Some(crate_place(source, "cargo"));
    }
    let message = "a crate's skills come from the crate itself or from another crate";
    source.diagnostics().warning(&source.span, message);
    None
}

fn path_place(table: &Table<'_>, key: &str) -> Option<Place> {
    table.string(key).map(|path| Place::Path(path.value))
}

/// `"name"`, `"name>=1"` or `{ name, version }`.
fn crate_place(table: &Table<'_>, key: &str) -> Option<Place> {
    let (name, version) = match table.string_or_table(key)? {
        StringOrTable::String(text) => {
            if let Ok(CrateAtom::Crate { name, requirement, .. }) = CrateAtom::parse(&text.value) {
                return Some(Place::Crate { name, requirement });
            }
            (text, None)
        }
        StringOrTable::Table(target) => {
            let Some(name) = target.string("name") else {
                target
                    .diagnostics()
                    .error(&target.span, format!("`{}` has no `name`", target.path()));
                return None;
            };
            let version =
                if target.has("version") { Some(target.string("version")?) } else { None };
            (name, version)
        }
    };
    if !is_crate_name(&name.value) {
        let message = format!("`{}` can't be a crate's name", name.value.escape_debug());
        table.diagnostics().error(&name.span, message);
        return None;
    }
    let requirement = match version {
        None => None,
        Some(version) => match VersionReq::parse(&version.value) {
            Ok(requirement) => Some(requirement),
            Err(error) => {
                let message = format!("`{}` is no version requirement: {error}", version.value);
                table.diagnostics().error(&version.span, message);
                return None;
            }
        },
    };
    Some(Place::Crate { name: name.value, requirement })
}
