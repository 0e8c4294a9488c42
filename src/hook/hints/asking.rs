//! The file of the workspace that asks for an item: which crates it names, and which names it takes
//! from each.

use std::collections::BTreeSet;

/// Crates that one file may name; those named first count.
const MOST: usize = 24;

/// What a file names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Asking {
    /// What its paths begin with, in their order, each once.
    roots: Vec<String>,
    /// What its imports begin with, with the whole import.
    imports: Vec<(String, String)>,
    /// The modules and types that it declares.
    own: BTreeSet<String>,
}

impl Asking {
    pub(super) fn read(text: &str) -> Self {
        let mut found = Self::default();
        for line in text.lines() {
            found.own.extend(declared(line).map(str::to_owned));
        }
        for (at, _) in text.match_indices("::") {
            found.add_root(last_name(&text[..at]));
        }
        for (at, _) in text.match_indices("use ") {
            let starts_word = !text[..at].chars().next_back().is_some_and(is_part);
            let import = text[at + 4..].split(';').next().unwrap_or_default().trim_start();
            let import = import.trim_start_matches("::");
            let root: String = import.chars().take_while(|letter| is_part(*letter)).collect();
            if starts_word && !root.is_empty() && import.len() < 4_000 {
                found.add_root(Some(&root));
                found.imports.push((root, import.to_owned()));
            }
        }
        found
    }

    /// What a file passes on: its public imports alone.
    pub(super) fn of_exports(text: &str) -> Self {
        let exports = text.lines().map(str::trim_start).filter(|line| line.starts_with("pub use "));
        let exports: Vec<String> = exports.map(|line| format!("{line};")).collect();
        Self::read(&exports.join("\n"))
    }

    fn add_root(&mut self, name: Option<&str>) {
        let Some(name) = name else { return };
        if self.roots.len() < MOST && !self.roots.iter().any(|known| known == name) {
            self.roots.push(name.to_owned());
        }
    }

    /// Whether the file itself declares a type or a module of this name.
    pub(super) fn declares(&self, name: &str) -> bool {
        self.own.contains(name)
    }

    /// What its paths begin with, but for its own modules.
    pub(super) fn roots(&self) -> impl Iterator<Item = &str> {
        self.roots.iter().map(String::as_str).filter(|name| !self.declares(name))
    }

    /// What the import of `name` begins with.
    pub(super) fn import_of(&self, name: &str) -> Option<&str> {
        let has = |import: &str| import.split(|it: char| !is_part(it)).any(|word| word == name);
        let found = self.imports.iter().find(|(_, import)| has(import));
        found.map(|(root, _)| root.as_str()).filter(|root| !self.declares(root))
    }
}

/// The name before `::`, where a path begins with it.
fn last_name(before: &str) -> Option<&str> {
    let start = before.trim_end_matches(is_part).len();
    let name = &before[start..];
    let is_first = !before[..start].ends_with("::");
    (is_first && name.starts_with(|it: char| it.is_ascii_lowercase())).then_some(name)
}

/// The type or module that a line declares.
fn declared(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
    let keyword = words.next()?;
    if !["struct", "enum", "union", "trait", "type", "mod"].contains(&keyword) {
        return None;
    }
    let name = words.next()?;
    let end = name.find(|it: char| !is_part(it)).unwrap_or(name.len());
    Some(&name[..end]).filter(|name| !name.is_empty())
}

fn is_part(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_crates_by_its_imports_and_its_paths() {
        let text = "use widget::{Part, kit::Tool as T};\nmod store;\npub(crate) struct Db;\n\
                    fn main() { store::open(); gadget::run(); crate::hook(); Vec::new(); a::b::c(); }\n";
        let found = Asking::read(text);
        let roots: Vec<_> = found.roots().collect();
        assert_eq!(roots, ["widget", "kit", "gadget", "crate", "a"]);
        assert_eq!(found.import_of("Tool"), Some("widget"));
        assert_eq!(found.import_of("Other"), None);
        assert!(found.declares("Db") && found.declares("store"));
    }
}
