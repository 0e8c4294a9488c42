//! One file of the user's, being edited, whatever its format.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::FileFormat;
use super::edited::{Change, Classify, Created, Edited, Keep};
use super::editor::{self, Editor};
use super::json::Json;
use super::toml::Toml;
use super::yaml::Yaml;
use crate::text::{Diagnostic, Source};

const BOM: char = '\u{feff}';

/// A text being edited: open it, edit, [`Document::finish`], write what that says.
///
/// All paths are keys from the root. Every edit either leaves all that is not ours byte for byte as
/// it was, or is refused with an error that names the place, and nothing is edited at all.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    path: PathBuf,
    format: FileFormat,
    /// The file's text when it was opened.
    original: Option<String>,
    bom: bool,
    /// The text now, without a byte order mark.
    text: String,
    /// What the text says, where no key is there twice: the value is asked for many times, and
    /// parsing takes long.
    parsed: OnceCell<Option<Value>>,
    /// Whether the file was absent or blank.
    fresh: bool,
    /// Whether the file shall go (or be blank again).
    gone: Option<Option<String>>,
    created: Vec<Created>,
}

impl Document {
    /// Takes in `text` (`None` for a file that is not there); `path` is for messages.
    ///
    /// # Errors
    /// When the text is not what the format's rules allow.
    pub(crate) fn open(
        path: &Path,
        text: Option<&str>,
        format: FileFormat,
    ) -> Result<Self, Diagnostic> {
        let original = text.map(str::to_owned);
        let text = text.unwrap_or_default();
        let (bom, text) = match text.strip_prefix(BOM) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if bom && matches!(format, FileFormat::Json(rules) if !rules.bom) {
            return Err(Diagnostic::error("this file starts with a byte order mark")
                .at(&Source::new(path, ""), 0..0)
                .note("its reader does not take one: save it as UTF-8 without; the file was left as it is"));
        }
        let fresh = text.trim().is_empty();
        let text = match format {
            FileFormat::Json(_) if fresh => {
                let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
                format!("{{}}{newline}")
            }
            _ if fresh => String::new(),
            _ => text.to_owned(),
        };
        let (path, parsed) = (path.to_path_buf(), OnceCell::new());
        let (gone, created) = (None, Vec::new());
        let document = Self { path, format, original, bom, text, parsed, fresh, gone, created };
        let value = document.editor().unique_value()?;
        let _ = document.parsed.set(value);
        Ok(document)
    }

    fn editor(&self) -> Box<dyn Editor + '_> {
        let (path, text) = (self.path.as_path(), self.text.clone());
        match self.format {
            FileFormat::Json(rules) => Box::new(Json { path, text, rules }),
            FileFormat::Toml => Box::new(Toml { path, text }),
            FileFormat::Yaml => Box::new(Yaml { path, text }),
        }
    }

    /// Takes over what `edit` makes of the text and says that it created.
    fn edit<T>(
        &mut self,
        edit: impl FnOnce(&mut dyn Editor) -> Result<(T, Vec<Created>), Diagnostic>,
    ) -> Result<T, Diagnostic> {
        let mut editor = self.editor();
        let (outcome, created) = edit(&mut *editor)?;
        let text = editor.into_text();
        self.replace(text, created);
        Ok(outcome)
    }

    /// The text as it is now.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The value at `path`; `None` when there is none. TOML's dates come as strings.
    pub(crate) fn get(&self, path: &[String]) -> Result<Option<Value>, Diagnostic> {
        match self.known(path) {
            Some(known) => Ok(known.cloned()),
            None => self.editor().get(path),
        }
    }

    /// What is known to be at `path`; `None` where that needs a closer look.
    fn known(&self, path: &[String]) -> Option<Option<&Value>> {
        let parsed = self.parsed.get_or_init(|| self.editor().unique_value().ok()?);
        let mut value = parsed.as_ref()?;
        for key in path {
            let Value::Object(object) = value else { return None };
            let Some(next) = object.get(key) else { return Some(None) };
            value = next;
        }
        Some(Some(value))
    }

    /// Makes `key` of the table at `table` say `value`: appended last when it is new, brought up to
    /// date where it stands when it is there.
    ///
    /// # Errors
    /// When something on the way is of another type, a key is there twice, or the layout can't be
    /// edited without harm.
    pub(crate) fn set(
        &mut self,
        table: &[String],
        key: &str,
        value: &Value,
        keep: &Keep<'_>,
    ) -> Result<(), Diagnostic> {
        self.edit(|editor| Ok(((), editor::set(editor, table, key, value, keep)?)))
    }

    /// Takes `key` out of the table at `table`. Says whether it was there.
    pub(crate) fn remove(&mut self, table: &[String], key: &str) -> Result<bool, Diagnostic> {
        self.edit(|editor| Ok((editor::remove(editor, table, key)?, Vec::new())))
    }

    /// Makes the array of hooks at `array` hold `entry` once and no older form of it (JSON only).
    ///
    /// `entry` is a matcher group with one handler in `hooks`, or a handler itself. When it is there
    /// already, nothing changes. An older form is mended where it stands, since some agents tell
    /// hooks apart by position; more of them go; a handler of ours in a group of the user's with
    /// another matcher goes, and `entry` comes last.
    pub(crate) fn ensure_in_array(
        &mut self,
        array: &[String],
        entry: &Value,
        classify: Classify<'_>,
    ) -> Result<(), Diagnostic> {
        self.edit(|editor| Ok(((), editor.ensure_in_array(array, entry, classify)?)))
    }

    /// Takes all that is ours out of the array of hooks at `array` (JSON only). Groups of the user's
    /// keep their other handlers. Says whether there was something.
    pub(crate) fn remove_from_array(
        &mut self,
        array: &[String],
        classify: Classify<'_>,
    ) -> Result<bool, Diagnostic> {
        self.edit(|editor| Ok((editor.remove_from_array(array, classify)?, Vec::new())))
    }

    /// Undoes what earlier edits created and what is empty again. Gives back what is still in use.
    pub(crate) fn prune(&mut self, created: &[Created]) -> Result<Vec<Created>, Diagnostic> {
        let mut order = created.to_vec();
        // Deepest first; of one container, its filling before its making.
        order.sort_by_key(|created| {
            let made = matches!(created, Created::Container { was: None, .. });
            (std::cmp::Reverse(created.depth()), made)
        });
        order.dedup();
        let mut remaining = Vec::new();
        for created in order {
            if !self.prune_one(&created)? {
                remaining.push(created);
            }
        }
        Ok(remaining)
    }

    fn prune_one(&mut self, created: &Created) -> Result<bool, Diagnostic> {
        match created {
            Created::Container { path, .. }
                if self.known(path).flatten().is_some_and(holds_something) =>
            {
                Ok(false)
            }
            Created::Container { path, was } => {
                self.edit(|editor| Ok((editor::prune(editor, path, was.as_deref())?, Vec::new())))
            }
            Created::File { was } => {
                let bare = self.editor().is_bare()?;
                if bare {
                    self.gone = Some(was.clone());
                }
                Ok(bare)
            }
        }
    }

    /// Takes over a text that was edited elsewhere in this room.
    pub(super) fn replace_text(&mut self, text: String) -> Result<(), Diagnostic> {
        self.replace(text, Vec::new());
        self.editor().value().map(|_| ())
    }

    fn replace(&mut self, text: String, created: Vec<Created>) {
        if text == self.text {
            return;
        }
        self.text = text;
        self.parsed = OnceCell::new();
        self.gone = None;
        if self.fresh && self.created.is_empty() {
            self.created.push(Created::File { was: self.original.clone() });
        }
        for one in created {
            if !self.created.contains(&one) {
                self.created.push(one);
            }
        }
    }

    /// What is to be done with the file, and remembered.
    pub(crate) fn finish(self) -> Edited {
        let change = match self.gone {
            Some(None) if self.original.is_some() => Change::Delete,
            Some(None) => Change::Keep,
            Some(Some(was)) if self.original.as_deref() == Some(was.as_str()) => Change::Keep,
            Some(Some(was)) => Change::Write(was),
            None if self.fresh && self.created.is_empty() => Change::Keep,
            None => {
                let mark = if self.bom { BOM.to_string() } else { String::new() };
                let text = mark + &self.text;
                if self.original.as_deref() == Some(text.as_str()) {
                    Change::Keep
                } else {
                    Change::Write(text)
                }
            }
        };
        Edited { change, created: self.created }
    }
}

fn holds_something(value: &Value) -> bool {
    match value {
        Value::Object(object) => !object.is_empty(),
        Value::Array(array) => !array.is_empty(),
        // To YAML, a key with nothing behind it is an empty mapping.
        Value::Null => false,
        _ => true,
    }
}
