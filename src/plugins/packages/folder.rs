//! A package's folder as its readers see it: on disk, or as it was when it could last be read.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::files::{Limit, contained, relative_inside};
use crate::workspace::Observer;

/// What readers ask of a folder. Paths are relative to it, and never lead out.
pub(crate) trait Folder {
    /// The text of a file; `None` where there is none.
    ///
    /// # Errors
    /// Why it can't be read, for people.
    fn text(&self, path: &str) -> Result<Option<String>, String>;

    /// What is in a folder, sorted, folders with `/` at their ends; `None` where there is none.
    fn names(&self, path: &str) -> Option<Vec<String>>;

    /// Whether `path` stays inside, links included.
    fn contains(&self, path: &str) -> bool;
}

/// What a folder answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Answers {
    texts: BTreeMap<String, String>,
    names: BTreeMap<String, Vec<String>>,
}

/// A folder on disk.
#[derive(Debug)]
pub(crate) struct OnDisk<'a> {
    dir: &'a Path,
    observer: &'a Observer,
    answers: RefCell<Answers>,
}

impl<'a> OnDisk<'a> {
    pub(crate) fn new(dir: &'a Path, observer: &'a Observer) -> Self {
        Self { dir, observer, answers: RefCell::default() }
    }

    /// Everything that it was asked and could answer.
    pub(crate) fn into_answers(self) -> Answers {
        self.answers.into_inner()
    }
}

impl Folder for OnDisk<'_> {
    fn text(&self, path: &str) -> Result<Option<String>, String> {
        let file = contained(self.dir, path).map_err(|_| LEADS_OUT.to_owned())?;
        match self.observer.text(&file, Limit::MANIFEST) {
            Ok(text) => {
                self.answers.borrow_mut().texts.insert(path.to_owned(), text.clone());
                Ok(Some(text))
            }
            Err(error) if error.is_absent() && !file.is_symlink() => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    fn names(&self, path: &str) -> Option<Vec<String>> {
        let folder = contained(self.dir, path).ok()?;
        if !self.observer.is_dir(&folder) {
            return None;
        }
        let entries = self.observer.entries(&folder).ok()?.flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                Some(if entry.path().is_dir() { format!("{name}/") } else { name })
            })
            .collect();
        names.sort();
        self.answers.borrow_mut().names.insert(path.to_owned(), names.clone());
        Some(names)
    }

    fn contains(&self, path: &str) -> bool {
        contained(self.dir, path).is_ok()
    }
}

/// As it was: links can't be looked at any more, and whoever starts something looks again.
impl Folder for Answers {
    fn text(&self, path: &str) -> Result<Option<String>, String> {
        Ok(self.texts.get(path).cloned())
    }

    fn names(&self, path: &str) -> Option<Vec<String>> {
        self.names.get(path).cloned()
    }

    fn contains(&self, path: &str) -> bool {
        relative_inside(path).is_some()
    }
}

pub(super) const LEADS_OUT: &str = "it leads out of the package";

impl Answers {
    /// The same without the values of servers' variables and headers, which may be secret, and the
    /// names of the servers that had some.
    pub(crate) fn without_secrets(mut self) -> (Self, Vec<String>) {
        let mut withheld = Vec::new();
        for text in self.texts.values_mut().filter(|text| text.contains("mcpServers")) {
            // What is no JSON brings no servers.
            *text = match serde_json::from_str::<Value>(text) {
                Ok(mut value) => {
                    strip(&mut value, &mut withheld);
                    value.to_string()
                }
                Err(_) => String::new(),
            };
        }
        (self, withheld)
    }
}

/// Takes `env` and `headers` out of every server in `value`.
pub(super) fn strip(value: &mut Value, withheld: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (name, inner) in object {
                if let Value::Object(server) = inner
                    && (server.contains_key("command") || server.contains_key("url"))
                {
                    let had = ["env", "headers"].map(|key| server.shift_remove(key).is_some());
                    withheld.extend(had.contains(&true).then(|| name.clone()));
                }
                strip(inner, withheld);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| strip(item, withheld)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_has_no_values_of_variables_and_headers_wherever_servers_stand() {
        let text = r#"{"mcpServers":{"a":{"command":"c","env":{"T":"s3cret"}},
            "b":{"command":"c"},"c":{"url":"https://c","headers":{"H":"s3cret"}}},
            "plugins":[{"mcpServers":{"d":{"command":"c","env":{"T":"s3cret"}}}}]}"#;
        let texts = BTreeMap::from([
            (".mcp.json".to_owned(), text.to_owned()),
            ("broken.json".to_owned(), "{\"mcpServers\": s3cret".to_owned()),
            ("plugin.json".to_owned(), "{ \"name\": \"as it is\" }".to_owned()),
        ]);
        let (kept, withheld) = Answers { texts, names: BTreeMap::new() }.without_secrets();
        assert_eq!(withheld, ["a", "c", "d"]);
        assert!(!format!("{kept:?}").contains("s3cret"), "{kept:?}");
        assert_eq!(kept.text("plugin.json"), Ok(Some("{ \"name\": \"as it is\" }".to_owned())));
    }
}
