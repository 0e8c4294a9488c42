//! Claude Code's marketplaces: `.claude-plugin/marketplace.json`, an index of packages.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::draft::{normal, object, unusable_name};
use super::folder::strip;
use crate::files::contained;
use crate::plugins::diagnostics::codes;
use crate::plugins::git::GitPlace;
use crate::text::{Diagnostic, Source};

/// The file that makes a folder one, below the folder.
pub(super) const PLACE: &str = ".claude-plugin/marketplace.json";
/// Its name.
const FILE: &str = "marketplace.json";

/// The index of a folder.
pub(crate) fn path(dir: &Path) -> PathBuf {
    dir.join(".claude-plugin").join(FILE)
}

/// The file of a manifest: that of an entry is the index.
pub(crate) fn file_of(manifest: &Path) -> PathBuf {
    let name = manifest.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match name.split_once('#') {
        Some((FILE, _)) => manifest.with_file_name(FILE),
        _ => manifest.to_path_buf(),
    }
}

/// A package as an index tells of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub name: String,
    #[serde(skip)]
    pub place: EntryPlace,
    /// What it says in the words of a manifest.
    pub fields: Map<String, Value>,
    /// Whether it stands for the manifest (`"strict": false`).
    pub is_whole: bool,
    /// The index, and which of its entries: where a manifest would be.
    #[serde(skip)]
    pub manifest: PathBuf,
}

impl Entry {
    /// Takes out the values of servers' variables and headers, and adds the servers' names.
    pub(crate) fn take_secrets(&mut self, withheld: &mut Vec<String>) {
        self.fields.values_mut().for_each(|value| strip(value, withheld));
    }
}

/// Where a package of an index is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum EntryPlace {
    /// Where the index is.
    #[default]
    Here,
    /// A folder below that, absolute.
    Folder(PathBuf),
    /// Another repository.
    Git(GitPlace),
    /// Somewhere that is not looked into, for people: `the npm package x`.
    Elsewhere(String),
}

/// An index as read.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub entries: Vec<Entry>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the text of the index in `dir`.
///
/// # Errors
/// It is no index.
pub(crate) fn read(dir: &Path, text: &str) -> Result<Index, Diagnostic> {
    let path = path(dir);
    let mut index = Index::default();
    let source = Source::new(&path, text);
    let text = source.text.as_str();
    let problem = |key: &str, message: String| {
        let at = text.find(&format!("\"{key}\"")).unwrap_or(0);
        let span = at..(at + key.len() + 2).min(text.len());
        Diagnostic::error(message).code(codes::PACKAGE).at(&source, span)
    };
    let object =
        object(text).map_err(|refused| refused.diagnose(&source, "this index is left out"))?;
    let Some(Value::Array(plugins)) = object.get("plugins") else {
        return Err(problem("plugins", "this index of packages has no list `plugins`".to_owned()));
    };
    let below = object.get("metadata").and_then(|data| data.get("pluginRoot"));
    let below = below.and_then(Value::as_str).unwrap_or_default();
    for plugin in plugins {
        match entry((dir, &path), below, plugin) {
            Ok(entry) if index.entries.iter().any(|known| known.name == entry.name) => {
                let message = format!("the index has `{}` twice; the first one counts", entry.name);
                index.diagnostics.push(problem(&entry.name, message));
            }
            Ok(entry) => index.entries.push(entry),
            Err(why) => {
                let name = plugin.get("name").and_then(Value::as_str).unwrap_or("plugins");
                let message = format!("an entry of this index is left out: {why}");
                index.diagnostics.push(problem(name, message));
            }
        }
    }
    Ok(index)
}

fn entry((dir, path): (&Path, &Path), below: &str, plugin: &Value) -> Result<Entry, String> {
    let fields = plugin.as_object().ok_or("it is no object")?;
    let name = fields.get("name").and_then(Value::as_str).ok_or("it has no `name`")?;
    if let Some(wrong) = unusable_name(name) {
        return Err(wrong);
    }
    let place = match fields.get("source") {
        Some(Value::String(source)) => folder(dir, below, source)?,
        Some(Value::Object(source)) => elsewhere(source)?,
        _ => return Err(format!("`{name}` has no `source`")),
    };
    let mut fields = fields.clone();
    fields.shift_remove("source");
    Ok(Entry {
        name: name.to_owned(),
        place,
        is_whole: fields.get("strict") == Some(&Value::Bool(false)),
        fields,
        manifest: path.with_file_name(format!("{FILE}#{name}")),
    })
}

/// A folder beside the index.
fn folder(dir: &Path, below: &str, source: &str) -> Result<EntryPlace, String> {
    let leads_out = || format!("`{}` leads out", crate::report::fit(source, 80));
    let path = if source.starts_with("./") || below.is_empty() {
        source.to_owned()
    } else {
        format!("{below}/{source}")
    };
    let path = normal(&path).ok_or_else(leads_out)?;
    let inside = contained(dir, &path).map_err(|_| leads_out())?;
    if path == "." {
        return Ok(EntryPlace::Here);
    }
    if !inside.is_dir() {
        return Err(format!("there is no folder `{path}`"));
    }
    Ok(EntryPlace::Folder(inside))
}

fn elsewhere(source: &Map<String, Value>) -> Result<EntryPlace, String> {
    let text = |key: &str| source.get(key).and_then(Value::as_str).map(str::to_owned);
    let needs = |key: &str| text(key).ok_or_else(|| format!("its `source` has no `{key}`"));
    let kind = needs("source")?;
    let url = match kind.as_str() {
        "github" => format!("https://github.com/{}", needs("repo")?),
        "url" | "git" | "git-subdir" => needs("url")?,
        other => {
            let package = text("package").unwrap_or_default();
            let told = format!("{} {package}", crate::report::fit(other, 40));
            return Ok(EntryPlace::Elsewhere(told.trim().to_owned()));
        }
    };
    let rev = text("sha").or_else(|| text("ref"));
    let place = GitPlace { url: url.into(), rev, subdir: text("path") };
    place.repository().map_err(|(_, problem)| problem.message)?;
    Ok(EntryPlace::Git(place))
}
