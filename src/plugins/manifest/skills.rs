//! `[[skills]]`, and `[[plugins]]`, the later spelling for a named crate's skills.

use semver::VersionReq;

use super::context::{Context, shown};
use super::sources::check_crate;
use super::{gate, paths, urls};
use crate::plugins::diagnostics::codes;
use crate::plugins::git::{GitPlace, Part};
use crate::plugins::model::{CrateAtom, Gate, SkillGroup, SkillSource};
use crate::text::toml::{Located, StringOrTable, Table};

pub(super) const KEYS: [&str; 4] = ["source", "crates", "depends-on", "predicates"];

/// The keys under `source` of a skill group.
pub(super) const SOURCE_KEYS: [&str; 6] = ["path", "git", "cargo", "crate_path", "rev", "subdir"];
/// Those of which there is exactly one.
const PLACES: [&str; 4] = ["path", "git", "cargo", "crate_path"];
/// Those that only go with `git`.
const OF_GIT: [&str; 2] = ["rev", "subdir"];

/// Reads both kinds of groups, in file order.
pub(super) fn read(cx: &Context<'_>, root: &Table<'_>, plugin: &Gate) -> Vec<SkillGroup> {
    let mut groups = Vec::new();
    for table in root.tables("skills").unwrap_or_default() {
        groups.extend(cx.entry("skill group", || group(cx, &table, plugin)));
    }
    for table in root.tables("plugins").unwrap_or_default() {
        groups.extend(cx.entry("entry", || named_crate(cx, &table)));
    }
    groups.sort_by_key(|group| group.span.start);
    groups
}

fn group(cx: &Context<'_>, table: &Table<'_>, plugin: &Gate) -> Option<SkillGroup> {
    cx.unknown_keys(table, &KEYS);
    let gate = gate::read(cx, table);
    cx.missing(table, "skill group", "source");
    let source = match table.string_or_table("source")? {
        StringOrTable::String(word) => from_word(cx, &word)?,
        StringOrTable::Table(source) => from_table(cx, &source)?,
    };
    let named = |gate: &Gate| !gate.crates_named().is_empty();
    if matches!(source, SkillSource::Crate { .. }) && !named(&gate) && !named(plugin) {
        let span = table.key_span("source").unwrap_or_else(|| table.span.clone());
        let message = "no crate is named whose sources could be looked into";
        let note = "name one in `crates` of this group or of the plugin; `*` names none";
        cx.reject(cx.problem(codes::ONLY_WILDCARDS, &span, message).note(note));
    }
    Some(SkillGroup { gate, source, span: table.span.clone() })
}

fn from_word(cx: &Context<'_>, word: &Located<String>) -> Option<SkillSource> {
    if word.value == "crate" {
        return Some(SkillSource::Crate { tried_first: None });
    }
    let text = shown(&word.value);
    let key = if word.value.contains("://") { "git" } else { "path" };
    let message = format!("unknown skill source `{text}`");
    let note = format!("write `source.{key} = \"{text}\"` or `source = \"crate\"`");
    cx.reject(cx.problem(codes::SKILL_SOURCE, &word.span, message).note(note));
    None
}

fn from_table(cx: &Context<'_>, source: &Table<'_>) -> Option<SkillSource> {
    cx.unknown_keys(source, &SOURCE_KEYS);
    let present: Vec<_> = PLACES.into_iter().filter(|key| source.has(key)).collect();
    let [key] = present.as_slice() else {
        let message = if present.is_empty() {
            "this skill group has no source".to_owned()
        } else {
            format!("this skill group has more than one source: {}", present.join(", "))
        };
        let note = "exactly one of source.path, source.git, source.cargo, source = \"crate\", \
                    source.crate_path";
        cx.reject(cx.problem(codes::SKILL_SOURCE, &source.span, message).note(note));
        return None;
    };
    if *key != "git" {
        for name in OF_GIT {
            let Some(span) = source.key_span(name) else { continue };
            let message = format!("`source.{name}` goes with `source.git` only");
            cx.reject(cx.problem(codes::SKILL_SOURCE, &span, message));
        }
    }
    if *key == "cargo" {
        return from_cargo(cx, source);
    }
    let text = source.string(key)?;
    match *key {
        "path" => paths::check_in_source(cx, &text).then(|| SkillSource::Path(text.value)),
        "git" => from_git(cx, source, text),
        _ => {
            let inside = text.value == "." || paths::check_in_tree(cx, &text, "the crate");
            inside.then_some(SkillSource::Crate { tried_first: Some(text.value) })
        }
    }
}

fn from_git(cx: &Context<'_>, source: &Table<'_>, url: Located<String>) -> Option<SkillSource> {
    let (rev, subdir) = (source.string("rev"), source.string("subdir"));
    let [at_url, at_rev, at_subdir] =
        [Some(&url), rev.as_ref(), subdir.as_ref()].map(|text| text.map(|text| text.span.clone()));
    let value = |text: Option<Located<String>>| text.map(|text| text.value);
    let place = GitPlace { url: url.value.into(), rev: value(rev), subdir: value(subdir) };
    let Err((part, problem)) = place.repository() else { return Some(SkillSource::Git(place)) };
    let span = match part {
        Part::Url => at_url,
        Part::Rev => at_rev,
        Part::Subdir => at_subdir,
    };
    let span = span.unwrap_or_else(|| source.span.clone());
    cx.reject(urls::git_problem(cx, &span, *problem));
    None
}

fn named_crate(cx: &Context<'_>, table: &Table<'_>) -> Option<SkillGroup> {
    cx.unknown_keys(table, &KEYS);
    let gate = gate::read(cx, table);
    cx.missing(table, "entry", "source");
    let source = table.table("source")?;
    cx.unknown_keys(&source, &["cargo"]);
    cx.missing(&source, "source", "cargo");
    let source = from_cargo(cx, &source)?;
    Some(SkillGroup { gate, source, span: table.span.clone() })
}

/// The crate in `source.cargo`: `"name"`, `"name>=1"` or `{ name, version }`.
fn from_cargo(cx: &Context<'_>, source: &Table<'_>) -> Option<SkillSource> {
    let krate = match source.string_or_table("cargo")? {
        StringOrTable::String(atom) => return from_atom(cx, &atom),
        StringOrTable::Table(krate) => krate,
    };
    cx.unknown_keys(&krate, &["name", "version"]);
    let name = cx.required(&krate, "crate", "name");
    let version = krate.string("version").map(|version| requirement(cx, &version));
    let (name, requirement) = (name?, version.flatten());
    check_crate(cx, &name).then_some(SkillSource::NamedCrate { name: name.value, requirement })
}

fn from_atom(cx: &Context<'_>, atom: &Located<String>) -> Option<SkillSource> {
    let (span, wrong) = match CrateAtom::parse(&atom.value) {
        Ok(CrateAtom::Crate { name, requirement, .. }) => {
            return Some(SkillSource::NamedCrate { name, requirement });
        }
        Ok(CrateAtom::Any) => (atom.span.clone(), "every crate is none to take from".to_owned()),
        Err(error) => (gate::inner_span(cx, atom, &error), error.message),
    };
    let message = format!("`{}` names no crate", shown(&atom.value));
    let problem = cx.problem(codes::BAD_PACKAGE, &span, message).label(wrong);
    cx.reject(problem.note("for example `widget`, `widget>=1`"));
    None
}

fn requirement(cx: &Context<'_>, version: &Located<String>) -> Option<VersionReq> {
    let read = VersionReq::parse(version.value.trim());
    if read.is_err() {
        let message = format!("`{}` is no version requirement", shown(&version.value));
        cx.reject(cx.problem(codes::BAD_PACKAGE, &version.span, message));
    }
    read.ok()
}
