//! The crates that manifests and skills name, and whether the registry has them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::Symposium;
use crate::cli::screen::count;
use crate::plugins::diagnostics::codes;
use crate::plugins::model::{CrateAtom, Predicate};
use crate::plugins::predicate::parse_crate_list;
use crate::report::Event;
use crate::skills::RawGate;
use crate::skills::crate_source::fetch::{FetchError, Fetcher, RegistryEntry};
use crate::skills::crate_source::known_names;
use crate::text::{Diagnostic, Source};
use crate::text::{
    closest, did_you_mean,
    toml::{Diagnostics, Located, StringOrTable, Table, read},
};

/// A crate, and where it is named.
#[derive(Debug, Clone)]
pub(super) struct Named {
    name: String,
    source: Arc<Source>,
    span: Range<usize>,
    /// Whether its programs are to be installed.
    is_installed: bool,
}

impl Named {
    pub(super) fn at(name: &str, source: &Arc<Source>, span: Range<usize>) -> Self {
        Self { name: name.to_owned(), source: Arc::clone(source), span, is_installed: false }
    }
}

/// The crates in a skill's condition.
pub(super) fn of_gate(raw: &RawGate, source: &Arc<Source>) -> Vec<Named> {
    let mut names = Vec::new();
    let mut add = |name: &str, place: &Located<String>| {
        names.push(Named::at(name, source, place.span.clone()));
    };
    for list in raw.crates.iter().flatten() {
        for atom in parse_crate_list(&list.value).atoms {
            atom.crate_name().into_iter().for_each(|name| add(name, list));
        }
    }
    for text in &raw.predicates {
        if let Ok(predicate) = Predicate::parse(&text.value) {
            in_predicate(&predicate, &mut |name| add(name, text));
        }
    }
    names
}

/// The crates in a predicate, also those that must be absent: a misspelt one always is.
fn in_predicate(predicate: &Predicate, add: &mut dyn FnMut(&str)) {
    match predicate {
        Predicate::DependsOn(atom) => atom.crate_name().into_iter().for_each(add),
        Predicate::Not(inner) => in_predicate(inner, add),
        Predicate::Any(list) | Predicate::All(list) => {
            list.iter().for_each(|item| in_predicate(item, add));
        }
        Predicate::Env { .. }
        | Predicate::PathExists(_)
        | Predicate::WorkspaceMember
        | Predicate::Waits { .. }
        | Predicate::AskedFor
        | Predicate::Unsupported(_) => {}
    }
}

/// The crates in a manifest, at every level. What is wrong with the manifest is told elsewhere.
pub(super) fn of_manifest(source: &Arc<Source>) -> Vec<Named> {
    let diagnostics = Diagnostics::new(Arc::clone(source));
    let collected = read(&diagnostics, |root| {
        let mut names = Collector { source, names: Vec::new() };
        names.level(root);
        for key in ["skills", "plugins", "hooks", "mcp_servers", "installations"] {
            for table in root.tables(key).unwrap_or_default() {
                names.level(&table);
                if key == "installations" {
                    names.installation(&table);
                }
            }
        }
        if let Some(section) = root.table("subcommand") {
            for name in section.keys() {
                if let Some(table) = section.table(&name.value) {
                    names.level(&table);
                }
            }
        }
        names.names
    });
    collected.unwrap_or_default()
}

struct Collector<'a> {
    source: &'a Arc<Source>,
    names: Vec<Named>,
}

impl Collector<'_> {
    fn add(&mut self, name: &str, span: Range<usize>) {
        self.names.push(Named::at(name, self.source, span));
    }

    /// What any table of a manifest may say about crates.
    fn level(&mut self, table: &Table<'_>) {
        for key in ["crates", "depends-on"] {
            for item in table.string_or_strings(key).map(|list| list.value).unwrap_or_default() {
                if let Ok(CrateAtom::Crate { name, .. }) = CrateAtom::parse(&item.value) {
                    self.add(&name, item.span);
                }
            }
        }
        let predicates = table.string_or_strings("predicates").map(|list| list.value);
        for item in predicates.unwrap_or_default() {
            if let Ok(predicate) = Predicate::parse(&item.value) {
                in_predicate(&predicate, &mut |name| self.add(name, item.span.clone()));
            }
        }
        if table.is_table("source")
            && let Some(source) = table.table("source")
        {
            match source.string_or_table("cargo") {
                Some(StringOrTable::String(atom)) => {
                    if let Ok(CrateAtom::Crate { name, .. }) = CrateAtom::parse(&atom.value) {
                        self.add(&name, atom.span);
                    }
                }
                Some(StringOrTable::Table(target)) => {
                    if let Some(name) = target.string("name") {
                        self.add(&name.value, name.span);
                    }
                }
                None => {}
            }
        }
        if table.is_table("command")
            && let Some(command) = table.table("command")
        {
            self.installation(&command);
        }
        for requirement in table.strings_or_tables("requirements").unwrap_or_default() {
            if let StringOrTable::Table(requirement) = requirement {
                self.installation(&requirement);
            }
        }
    }

    /// A crate whose programs are installed from the registry.
    fn installation(&mut self, table: &Table<'_>) {
        let is_cargo = table.string("source").is_some_and(|source| source.value == "cargo");
        if is_cargo
            && !table.has("git")
            && let Some(name) = table.string("crate")
        {
            self.add(&name.value, name.span);
            if let Some(last) = self.names.last_mut() {
                last.is_installed = true;
            }
        }
    }
}

/// Asks the registry about each crate once.
pub(super) fn check(sym: &Symposium, names: Vec<Named>) -> Vec<Diagnostic> {
    let mut by_name: BTreeMap<String, Vec<Named>> = BTreeMap::new();
    for named in names {
        by_name.entry(named.name.replace('_', "-")).or_default().push(named);
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
    let mut problems = Vec::new();
    let mut known: Option<Vec<String>> = None;
    for places in by_name.values() {
        let Some(first) = places.first() else { continue };
        match fetcher.look_up(&first.name) {
            Ok(Some(entry)) => tell_installed(sym, places, &entry),
            Ok(None) => {
                let home = sym.env.cargo_home();
                let known =
                    known.get_or_insert_with(|| home.map_or_else(Vec::new, |h| known_names(&h)));
                let near = closest(&first.name, known.iter().map(String::as_str));
                problems.extend(places.iter().map(|place| unknown(place, &near)));
            }
            // The manifest's reader has told.
            Err(FetchError::BadName(_)) => {}
            Err(error) => {
                problems.push(
                    Diagnostic::warning("crate names could not be checked")
                        .note(error.to_string())
                        .note("`--no-check-crates` leaves the check out"),
                );
                break;
            }
        }
    }
    problems
}

/// A crate's name says nothing about whose it is: what is installed is shown.
fn tell_installed(sym: &Symposium, places: &[Named], entry: &RegistryEntry) {
    if places.iter().any(|place| place.is_installed) {
        let version = entry.version.as_ref().map(|version| format!(" {version}"));
        let from = entry.repository.as_ref().map(|repository| format!(" from {repository}"));
        let line =
            format!("{}{}{}", entry.name, version.unwrap_or_default(), from.unwrap_or_default());
        sym.report.event(&Event::status("Installs", line));
    }
}

fn unknown(place: &Named, near: &[&str]) -> Diagnostic {
    let mut problem = Diagnostic::error(format!("the registry has no crate `{}`", place.name))
        .code(codes::UNKNOWN_CRATE)
        .at(&place.source, place.span.clone());
    problem.label = did_you_mean(near);
    problem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f207_crates_are_found_at_every_level_with_their_place() {
        let text = "name = \"p\"\ncrates = [\"a>=1\", \"*\"]\npredicates = [\"not(depends-on(b))\"]\n\
                    [[skills]]\ndepends-on = \"c\"\nsource = \"crate\"\n\
                    [[plugins]]\nsource.cargo = { name = \"d\", version = \"1\" }\n\
                    [[plugins]]\nsource.cargo = \"e>=1\"\n\
                    [[installations]]\nname = \"t\"\nsource = \"cargo\"\ncrate = \"f\"\n\
                    [[installations]]\nname = \"g\"\nsource = \"cargo\"\ncrate = \"own\"\n\
                    git = \"https://example.com/g\"\n\
                    [[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\n\
                    command = { source = \"cargo\", crate = \"g\" }\n\
                    requirements = [\"t\", { source = \"cargo\", crate = \"h\" }]\n\
                    [[mcp_servers]]\nname = \"m\"\ncrates = \"i\"\ncommand = \"t\"\n\
                    [subcommand.s]\ndescription = \"d\"\ncommand = \"t\"\n\
                    predicates = [\"any(depends-on(j), env(X))\"]\n";
        let source = Source::new("SYMPOSIUM.toml", text);
        let names = of_manifest(&source);
        let mut found: Vec<&str> = names.iter().map(|named| named.name.as_str()).collect();
        found.sort_unstable();
        assert_eq!(found, ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]);
        for named in &names {
            let written = &source.text[named.span.clone()];
            assert!(written.contains(&named.name), "{named:?}: {written}");
            let installed = ["f", "g", "h"].contains(&named.name.as_str());
            assert_eq!(named.is_installed, installed, "{named:?}");
        }
    }
}
