//! Our own `config.toml`, which people edit too: their comments, order and unknown keys stay.
//!
//! A file that does not parse is never written.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::document::Document;
use super::edited::{Change, Keep};
use super::file::{Outcome, edit_file};
use super::splice::apply;
use super::toml::{Section, append_section, arrays, inline, remove_section, sections_of};
use super::{FileFormat, compare};
use crate::config::{Choice, Dirs, our_name};
use crate::text::{Diagnostic, same_crate};

/// How long another command of ours may hold the file.
const PATIENCE: Duration = Duration::from_secs(10);
/// The key of the agents' tables.
const AGENT: &str = "agent";
/// The key of the plugin sources' tables.
const SOURCE: &str = "plugin-source";

/// Edits `config.toml`; it is made when it is not there and `edit` sets something.
///
/// # Errors
/// What `edit` refuses; as [`edit_file`]; a file that does not parse.
pub(crate) fn edit(
    dirs: &Dirs,
    edit: &mut dyn FnMut(&mut UserConfig) -> Result<(), Diagnostic>,
) -> Result<Outcome, Diagnostic> {
    let path = dirs.config_file();
    edit_file(&dirs.locks(), &path, PATIENCE, &mut |text| {
        let mut config = UserConfig::open(&path, text)?;
        edit(&mut config)?;
        Ok(config.finish())
    })
}

/// The text of `config.toml`, being edited.
#[derive(Debug, Clone)]
pub(crate) struct UserConfig {
    path: PathBuf,
    document: Document,
}

impl UserConfig {
    /// Takes in the text.
    pub(crate) fn open(path: &Path, text: Option<&str>) -> Result<Self, Diagnostic> {
        let document = Document::open(path, text, FileFormat::Toml).map_err(|error| {
            error.note("Symposium never overwrites a configuration it can't read")
        })?;
        Ok(Self { path: path.to_path_buf(), document })
    }

    /// What is to be done with the file.
    pub(crate) fn finish(self) -> Change {
        self.document.finish().change
    }

    /// The value of a key; dots lead into tables.
    pub(crate) fn get(&self, key: &str) -> Result<Option<Value>, Diagnostic> {
        self.document.get(&parts(key))
    }

    /// Sets a key; dots lead into tables, as in `logging.level`.
    pub(crate) fn set_value(&mut self, key: &str, value: &Value) -> Result<(), Diagnostic> {
        let path = parts(key);
        match path.split_last() {
            Some((key, table)) => self.document.set(table, key, value, &Keep::default()),
            None => Ok(()),
        }
    }

    /// Adds `name` to one of the lists `use` and `disable` and takes it out of the other: those of
    /// `[plugins]`, or of `[plugins.workspace."<root>"]`. Everything else stays.
    pub(crate) fn choose(
        &mut self,
        name: &str,
        root: Option<&str>,
        choice: Choice,
    ) -> Result<(), Diagnostic> {
        let mut table = vec!["plugins".to_owned()];
        table.extend(root.into_iter().flat_map(|root| ["workspace".to_owned(), root.to_owned()]));
        let (into, out_of) = match choice {
            Choice::Use => ("use", "disable"),
            Choice::Disable => ("disable", "use"),
        };
        let same = |known: &str| same_crate(known, name);
        let found = self.list(&table, out_of)?;
        if let Some(list) = found.filter(|list| list.iter().any(|known| same(known))) {
            let rest: Vec<_> = list.into_iter().filter(|known| !same(known)).collect();
            self.set_list(&table, out_of, &rest)?;
        }
        let mut list = self.list(&table, into)?.unwrap_or_default();
        if !list.iter().any(|known| same(known)) {
            list.push(name.to_owned());
            self.set_list(&table, into, &list)?;
        }
        Ok(())
    }

    /// Sets a list of strings; an empty one goes. Items that stay keep their comments.
    fn set_list(
        &mut self,
        table: &[String],
        key: &str,
        values: &[String],
    ) -> Result<(), Diagnostic> {
        if values.is_empty() {
            return self.document.remove(table, key).map(drop);
        }
        let values = Value::Array(values.iter().map(|value| Value::from(value.as_str())).collect());
        self.document.set(table, key, &values, &Keep::default())
    }

    /// A list of strings; a string alone counts as a list of one.
    fn list(&self, table: &[String], key: &str) -> Result<Option<Vec<String>>, Diagnostic> {
        let path: Vec<String> = table.iter().cloned().chain([key.to_owned()]).collect();
        let wrong = || {
            Diagnostic::error(format!("`{}` must be a list of names", path.join(".")))
                .in_file(&self.path)
        };
        match self.document.get(&path)? {
            None => Ok(None),
            Some(Value::String(one)) => Ok(Some(vec![one])),
            Some(Value::Array(items)) => {
                let names = items.iter().map(|item| item.as_str().map(str::to_owned));
                names.collect::<Option<Vec<_>>>().map(Some).ok_or_else(wrong)
            }
            Some(_) => Err(wrong()),
        }
    }

    /// Adds a `[[plugin-source]]` below those that are there; everything else stays.
    pub(crate) fn add_source(&mut self, source: &NewSource<'_>) -> Result<(), Diagnostic> {
        let key = [SOURCE.to_owned()];
        let sources = |document: &Document| match document.get(&key)? {
            None => Ok(Vec::new()),
            Some(Value::Array(sources)) => Ok(sources),
            Some(_) => Err(Diagnostic::error(format!("`{SOURCE}` must be an array of tables"))
                .in_file(&self.path)
                .note(format!("write each source as `[[{SOURCE}]]`"))),
        };
        let mut expected = sources(&self.document)?;
        expected.push(source.value());
        let before = self.without(SOURCE)?;
        let text = with_source(self.document.text(), source);
        self.document.replace_text(text)?;
        if sources(&self.document)? == expected && self.without(SOURCE)? == before {
            Ok(())
        } else {
            Err(compare::refused(&self.path))
        }
    }

    /// Makes the `[[agent]]` tables name exactly `wanted`: those of others go, missing ones are
    /// added in the given order, and those that stay keep their place and their further keys.
    pub(crate) fn set_agents(&mut self, wanted: &[String]) -> Result<(), Diagnostic> {
        let names = self.agents()?;
        let before = self.without(AGENT)?;
        let mut text = self.document.text().to_owned();
        if matches!(self.document.get(&[AGENT.to_owned()])?, Some(Value::Object(_))) {
            if names.iter().flatten().eq(wanted) {
                return Ok(());
            }
            text = as_array(&text);
        }
        for index in (0..names.len()).rev() {
            // A table without a name is not ours to judge.
            if names[index].as_ref().is_some_and(|name| !wanted.contains(name)) {
                text = without_agent(&text, index);
            }
        }
        let mut added: Vec<&String> = Vec::new();
        for name in wanted {
            if !names.iter().flatten().any(|known| known == name) && !added.contains(&name) {
                text = with_agent(&text, name);
                added.push(name);
            }
        }
        self.document.replace_text(text)?;
        let mut expected: Vec<String> =
            names.into_iter().flatten().filter(|name| wanted.contains(name)).collect();
        expected.extend(added.into_iter().cloned());
        let found: Vec<String> = self.agents()?.into_iter().flatten().collect();
        if found == expected && self.without(AGENT)? == before {
            Ok(())
        } else {
            Err(compare::refused(&self.path))
        }
    }

    /// The agents' names.
    pub(crate) fn agent_names(&self) -> Result<Vec<String>, Diagnostic> {
        Ok(self.agents()?.into_iter().flatten().collect())
    }

    /// The agents' names; `None` for a table without one.
    fn agents(&self) -> Result<Vec<Option<String>>, Diagnostic> {
        match self.document.get(&[AGENT.to_owned()])? {
            None => Ok(Vec::new()),
            Some(Value::Array(tables)) if tables.iter().all(Value::is_object) => Ok(tables
                .iter()
                .map(|table| table.get("name").and_then(Value::as_str).map(our_name))
                .collect()),
            // As an earlier program wrote it.
            Some(Value::Object(table)) if table.get("name").is_some_and(Value::is_string) => {
                Ok(vec![table.get("name").and_then(Value::as_str).map(our_name)])
            }
            Some(_) => Err(Diagnostic::error("`agent` must be an array of tables, `[[agent]]`")
                .in_file(&self.path)
                .note("write each agent as `[[agent]]` with `name = \"…\"` below it")),
        }
    }

    fn without(&self, key: &str) -> Result<Value, Diagnostic> {
        let whole = self.document.get(&[])?.unwrap_or(Value::Null);
        Ok(compare::without_key(&whole, &[], key))
    }
}

/// A plugin source to be added.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewSource<'a> {
    pub name: &'a str,
    /// `git` or `path`, and what it says.
    pub place: (&'static str, &'a str),
    pub crates: Option<&'a [String]>,
}

impl NewSource<'_> {
    /// Its keys, in the order in which they are written.
    fn keys(&self) -> Vec<(&'static str, Value)> {
        let (key, place) = self.place;
        let crates = self.crates.map(|crates| ("crates", Value::from(crates.to_vec())));
        [("name", self.name.into()), (key, place.into())].into_iter().chain(crates).collect()
    }

    fn value(&self) -> Value {
        self.keys().into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

fn parts(key: &str) -> Vec<String> {
    key.split('.').map(str::to_owned).collect()
}

/// The sections of the table at `index`: its header's and those below it.
fn agent_sections(all: &[Section], index: usize) -> Vec<Section> {
    let mut count = 0;
    let mut found = Vec::new();
    for section in all.iter().filter(|section| section.path.first().is_some_and(|key| key == AGENT))
    {
        if section.array && section.path.len() == 1 {
            count += 1;
        }
        if count == index + 1 {
            found.push(section.clone());
        }
    }
    found
}

/// The table `[agent]` as the first of ours: its header is all that changes.
fn as_array(text: &str) -> String {
    let is_header = |line: &&str| line.trim_start().starts_with("[agent]");
    match text.lines().find(is_header) {
        Some(line) => text.replacen(line, &line.replacen("[agent]", "[[agent]]", 1), 1),
        None => text.to_owned(),
    }
}

fn without_agent(text: &str, index: usize) -> String {
    let all = sections_of(text);
    let own = agent_sections(&all, index);
    if own.is_empty() {
        return match inline_tables(&all, AGENT) {
            Some((range, items)) => apply(text, vec![arrays::remove(text, &range, &items, index)]),
            None => text.to_owned(),
        };
    }
    let splices = own.iter().map(|section| remove_section(text, section)).collect();
    apply(text, splices)
}

fn with_agent(text: &str, name: &str) -> String {
    let all = sections_of(text);
    let name = inline(&Value::from(name));
    if let Some((range, items)) = inline_tables(&all, AGENT) {
        let table = format!("{{ name = {name} }}");
        return apply(text, arrays::append(text, &range, &items, &table));
    }
    let lines = [format!("[[{AGENT}]]"), format!("name = {name}")];
    apply(text, vec![append_section(text, &all, &[AGENT.to_owned()], &lines)])
}

fn with_source(text: &str, source: &NewSource<'_>) -> String {
    let all = sections_of(text);
    let keys = source.keys().into_iter();
    let lines = keys.map(|(key, value)| format!("{key} = {}", inline(&value)));
    let lines: Vec<String> = lines.collect();
    if let Some((range, items)) = inline_tables(&all, SOURCE) {
        let table = format!("{{ {} }}", lines.join(", "));
        return apply(text, arrays::append(text, &range, &items, &table));
    }
    let lines: Vec<String> = std::iter::once(format!("[[{SOURCE}]]")).chain(lines).collect();
    apply(text, vec![append_section(text, &all, &[SOURCE.to_owned()], &lines)])
}

/// `agent = [{ name = "…" }]`.
fn inline_tables(all: &[Section], key: &str) -> Option<(Range<usize>, Vec<super::toml::Item>)> {
    let root = all.first()?;
    let found = root.assignments.iter().find(|found| found.keys == [key])?;
    Some((found.value.clone(), found.items.clone()?))
}

#[cfg(test)]
mod tests;
