//! What a manifest, a skill or a crate's metadata says at each of its levels about crates, and which
//! crates it names.

use std::ops::Range;
use std::sync::Arc;

use crate::plugins::model::{CrateAtom, Predicate};
use crate::plugins::predicate::parse_crate_list;
use crate::skills::RawGate;
use crate::text::Source;
use crate::text::toml::{Diagnostics, Located, StringOrTable, Table, read};

/// A crate, and where it is named.
#[derive(Debug, Clone)]
pub(super) struct Named {
    pub name: String,
    pub source: Arc<Source>,
    pub span: Range<usize>,
    /// What of it is to be installed; `None` where it is named for another reason.
    pub installed: Option<Installed>,
}

impl Named {
    pub(super) fn at(name: &str, source: &Arc<Source>, span: Range<usize>) -> Self {
        Self { name: name.to_owned(), source: Arc::clone(source), span, installed: None }
    }
}

/// A crate whose program is to be installed from the registry.
#[derive(Debug, Clone, Default)]
pub(super) struct Installed {
    /// What the installation is called; `None` for one that is written in place.
    pub name: Option<String>,
    pub version: Option<String>,
    /// The programs of it that are to be run, as it and the hooks that refer to it say.
    pub executables: Vec<Located<String>>,
}

/// Conditions that stand together: one of the crates and all of the predicates must hold.
#[derive(Debug, Default)]
pub(super) struct Level {
    pub crates: Vec<Located<CrateAtom>>,
    pub predicates: Vec<Located<Predicate>>,
}

impl Level {
    /// The crates in it.
    pub(super) fn names(&self, source: &Arc<Source>) -> Vec<Named> {
        let mut names = Vec::new();
        for atom in &self.crates {
            let name = atom.value.crate_name();
            names.extend(name.map(|name| Named::at(name, source, atom.span.clone())));
        }
        for predicate in &self.predicates {
            in_predicate(&predicate.value, &mut |name| {
                names.push(Named::at(name, source, predicate.span.clone()));
            });
        }
        names
    }
}

/// What a skill's condition says.
pub(super) fn of_gate(raw: &RawGate) -> Level {
    let mut level = Level::default();
    for list in raw.crates.iter().flatten() {
        let atoms = parse_crate_list(&list.value).atoms.into_iter();
        level.crates.extend(atoms.map(|value| Located { value, span: list.span.clone() }));
    }
    for text in &raw.predicates {
        if let Ok(value) = Predicate::parse(&text.value) {
            level.predicates.push(Located { value, span: text.span.clone() });
        }
    }
    level
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

/// What a manifest says, at all of its levels together.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub levels: Vec<Level>,
    pub names: Vec<Named>,
}

/// Reads a manifest. What is wrong with it is told elsewhere.
pub(super) fn of_manifest(source: &Arc<Source>) -> Said {
    let diagnostics = Diagnostics::new(Arc::clone(source));
    let collected = read(&diagnostics, |root| {
        let mut reader = Reader { source, said: Said::default() };
        reader.level(root);
        for key in ["skills", "plugins", "hooks", "mcp_servers", "installations"] {
            for table in root.tables(key).unwrap_or_default() {
                reader.level(&table);
                if key == "installations" {
                    reader.installation(&table);
                }
            }
        }
        if let Some(section) = root.table("subcommand") {
            for name in section.keys() {
                if let Some(table) = section.table(&name.value) {
                    reader.level(&table);
                }
            }
        }
        reader.hooks_programs(root);
        reader.said
    });
    collected.unwrap_or_default()
}

struct Reader<'a> {
    source: &'a Arc<Source>,
    said: Said,
}

impl Reader<'_> {
    fn name(&mut self, name: &str, span: Range<usize>) {
        self.said.names.push(Named::at(name, self.source, span));
    }

    /// What any table of a manifest may say about crates.
    fn level(&mut self, table: &Table<'_>) {
        let mut level = Level::default();
        for key in ["crates", "depends-on"] {
            for item in table.string_or_strings(key).map(|list| list.value).unwrap_or_default() {
                if let Ok(value) = CrateAtom::parse(&item.value) {
                    level.crates.push(Located { value, span: item.span });
                }
            }
        }
        let predicates = table.string_or_strings("predicates").map(|list| list.value);
        for item in predicates.unwrap_or_default() {
            if let Ok(value) = Predicate::parse(&item.value) {
                level.predicates.push(Located { value, span: item.span });
            }
        }
        self.said.names.extend(level.names(self.source));
        self.said.levels.push(level);
        if table.is_table("source")
            && let Some(source) = table.table("source")
        {
            match source.string_or_table("cargo") {
                Some(StringOrTable::String(atom)) => {
                    if let Ok(CrateAtom::Crate { name, .. }) = CrateAtom::parse(&atom.value) {
                        self.name(&name, atom.span);
                    }
                }
                Some(StringOrTable::Table(target)) => {
                    if let Some(name) = target.string("name") {
                        self.name(&name.value, name.span);
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
            let installed = Installed {
                name: table.string("name").map(|name| name.value),
                version: table.string("version").map(|version| version.value),
                executables: table.string("executable").into_iter().collect(),
            };
            let named = Named::at(&name.value, self.source, name.span);
            self.said.names.push(Named { installed: Some(installed), ..named });
        }
    }

    /// A hook may say what to run of the installation that it names.
    fn hooks_programs(&mut self, root: &Table<'_>) {
        for hook in root.tables("hooks").unwrap_or_default() {
            let Some(executable) = hook.string("executable") else { continue };
            let Some(StringOrTable::String(command)) = hook.string_or_table("command") else {
                continue;
            };
            let installed = self.said.names.iter_mut().filter_map(|named| named.installed.as_mut());
            for one in installed.filter(|one| one.name.as_ref() == Some(&command.value)) {
                one.executables.push(executable.clone());
            }
        }
    }
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
        let names = of_manifest(&source).names;
        let mut found: Vec<&str> = names.iter().map(|named| named.name.as_str()).collect();
        found.sort_unstable();
        assert_eq!(found, ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]);
        for named in &names {
            let written = &source.text[named.span.clone()];
            assert!(written.contains(&named.name), "{named:?}: {written}");
            let installed = ["f", "g", "h"].contains(&named.name.as_str());
            assert_eq!(named.installed.is_some(), installed, "{named:?}");
        }
    }
}
