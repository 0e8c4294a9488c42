//! Rules, what breaks them, and the shapes that values must have.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// A rule of a client's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// The rule.
    pub says: &'static str,
    /// Where it stands.
    pub source: &'static str,
}

/// Something that a client does not take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The file.
    pub path: PathBuf,
    /// Where in the file: keys with dots between.
    pub place: String,
    /// The rule that it breaks.
    pub rule: Rule,
}

/// The shape of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Text.
    Text,
    /// Text that is not empty.
    FilledText,
    /// A list of texts.
    Texts,
    /// A map of texts.
    TextMap,
    /// Yes or no.
    Bool,
    /// A number of 0, 1, 2, …
    Whole,
    /// A map.
    Map,
}

impl Shape {
    pub(super) fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::FilledText => value.as_str().is_some_and(|text| !text.trim().is_empty()),
            Self::Texts => {
                value.as_array().is_some_and(|values| values.iter().all(Value::is_string))
            }
            Self::TextMap => {
                value.as_object().is_some_and(|map| map.values().all(Value::is_string))
            }
            Self::Bool => value.is_boolean(),
            Self::Whole => value.is_u64(),
            Self::Map => value.is_object(),
        }
    }
}

/// A file that is read, and what is wrong with it.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    path: &'a Path,
    refused: &'a mut Vec<Refusal>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(path: &'a Path, refused: &'a mut Vec<Refusal>) -> Self {
        Self { path, refused }
    }

    /// Notes a refusal where `holds` is false; returns it.
    pub(super) fn hold(&mut self, holds: bool, place: &str, rule: Rule) -> bool {
        if !holds {
            let place = place.to_owned();
            self.refused.push(Refusal { path: self.path.to_path_buf(), place, rule });
        }
        holds
    }

    /// Whether each field that is there has its shape.
    pub(super) fn shapes(
        &mut self,
        map: &Map<String, Value>,
        place: &str,
        fields: &[(&str, Shape)],
        rule: Rule,
    ) -> bool {
        let mut good = true;
        for (name, shape) in fields {
            let fits = map.get(*name).is_none_or(|value| shape.fits(value));
            good &= self.hold(fits, &format!("{place}.{name}"), rule);
        }
        good
    }

    /// Whether each of these is there, in its shape.
    pub(super) fn needs(
        &mut self,
        map: &Map<String, Value>,
        place: &str,
        fields: &[(&str, Shape)],
        rule: Rule,
    ) -> bool {
        let mut good = self.shapes(map, place, fields, rule);
        for (name, _) in fields {
            good &= self.hold(map.contains_key(*name), &format!("{place}.{name}"), rule);
        }
        good
    }

    /// The file as a JSON object; nothing where there is no file, or none that can be read.
    pub(super) fn json(&mut self, rule: Rule) -> Option<Map<String, Value>> {
        let text = std::fs::read_to_string(self.path).ok()?;
        let value = serde_json::from_str(text.trim_start_matches('\u{feff}'));
        let map = value.ok().and_then(|value: Value| value.as_object().cloned());
        self.hold(map.is_some(), "", rule);
        map
    }
}

/// A text field.
pub(super) fn text(map: &Map<String, Value>, name: &str) -> String {
    map.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A list of texts.
pub(super) fn texts(value: Option<&Value>) -> Vec<String> {
    let values = value.and_then(Value::as_array).into_iter().flatten();
    values.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A map of texts.
pub(super) fn text_map(value: Option<&Value>) -> BTreeMap<String, String> {
    let map = value.and_then(Value::as_object).into_iter().flatten();
    map.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}

/// The files of a folder, or its folders, in the order of their names.
pub(super) fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The files of a folder that end in `.json`.
pub(super) fn json_files(folder: &Path) -> Vec<PathBuf> {
    let is_json = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
    entries(folder).into_iter().filter(|path| path.is_file() && is_json(path)).collect()
}
