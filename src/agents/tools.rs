//! Tool names and their inputs: between an agent's own words and the canonical ones.
//!
//! The tables are data in each agent's file; here is what reads them. Canonical names are `Bash`,
//! `Read`, `Write`, `Edit`, `Glob`, `Grep`, `WebFetch`, `WebSearch`, `Skill` and
//! `mcp__server__tool`; canonical fields are `command`, `file_path`, `content`, `old_string`,
//! `new_string`, `pattern`, `path`, `glob`, `url`, `query`, `skill`, and `file_paths` beside
//! `file_path` where one use of a tool is about several files. Whatever has no row keeps the agent's
//! own name.
//!
//! A model writes the input, and may add any field to it. So what the agent itself reads decides: a
//! field that merely has the canonical name of one that the agent reads under another is hidden from
//! hooks. It stays in the native input, and is put back into a rewritten one.

use std::collections::HashSet;

use serde_json::{Map, Value};
use symposium_hook::Input;

use super::json::arguments;
use super::wire::Decoded;

/// The canonical field of the file that a tool's use is about.
const FILE: &str = "file_path";
/// The canonical field of all files of a use that is about several. It is ours: no agent has it.
const FILES: &str = "file_paths";

/// One row of an agent's table of tools.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool {
    /// The canonical name.
    pub canonical: &'static str,
    /// The agent's names for it, the present one first. None: what the tool is, its input says.
    pub native: &'static [&'static str],
    /// See [`Self::fields`].
    fields: &'static [(&'static str, &'static str)],
    /// See [`Self::files`].
    files: fn(&Map<String, Value>) -> Vec<String>,
}

impl Tool {
    /// A row whose fields have their canonical names already.
    pub(crate) const fn new(canonical: &'static str, native: &'static [&'static str]) -> Self {
        Self { canonical, native, fields: &[], files: |_| Vec::new() }
    }

    /// With these fields whose names differ: canonical, native. A field of several names has several
    /// rows, the present name first; its canonical name stands among them where the agent reads that
    /// one too.
    #[must_use]
    pub(crate) const fn fields(self, fields: &'static [(&'static str, &'static str)]) -> Self {
        Self { fields, ..self }
    }

    /// With what finds, in the agent's own input, the files that no field of its own names.
    #[must_use]
    pub(crate) const fn files(self, files: fn(&Map<String, Value>) -> Vec<String>) -> Self {
        Self { files, ..self }
    }

    /// Rows in use for this input: of each canonical field the first whose native field is there.
    fn renames(&self, input: &Map<String, Value>) -> Vec<(&'static str, &'static str)> {
        let mut renames: Vec<(&str, &str)> = Vec::new();
        for (canonical, native) in self.fields {
            let taken = renames.iter().any(|(other, _)| other == canonical);
            if input.contains_key(*native) && !taken {
                renames.push((canonical, native));
            }
        }
        renames
    }

    /// All files that the agent reads in this input, each once, as they are written there.
    fn all_files(&self, input: &Map<String, Value>) -> Vec<String> {
        let rows = self.fields.iter().filter(|(canonical, _)| *canonical == FILE);
        let named = rows.filter_map(|(_, native)| input.get(*native)?.as_str().map(str::to_owned));
        let mut seen = HashSet::new();
        let all = named.chain((self.files)(input)).filter(|file| !file.is_empty());
        all.filter(|file| seen.insert(file.clone())).collect()
    }

    /// Whether hooks get to see a field of the input under its own name: not one that has the
    /// canonical name of what the agent reads elsewhere.
    fn shows(&self, key: &str, input: &Map<String, Value>) -> bool {
        let row = self.renames(input).into_iter().find(|(canonical, _)| *canonical == key);
        match row {
            Some((_, native)) => native == key,
            None => key != FILES && (key != FILE || (self.files)(input).is_empty()),
        }
    }

    fn canonical_input(&self, input: &Map<String, Value>) -> Map<String, Value> {
        let renames = self.renames(input);
        let name = |key: &String| match renames.iter().find(|(_, native)| native == key) {
            Some((canonical, _)) => Some((*canonical).to_owned()),
            None => self.shows(key, input).then(|| key.clone()),
        };
        let fields = input.iter().filter_map(|(key, value)| Some((name(key)?, value.clone())));
        let mut canonical: Map<String, Value> = fields.collect();
        let files = self.all_files(input);
        if let Some(first) = files.first() {
            canonical.insert(FILE.to_owned(), first.as_str().into());
        }
        if files.len() > 1 {
            canonical.insert(FILES.to_owned(), files.into());
        }
        canonical
    }

    /// The way that the event's own fields came is gone back; a field that it did not have is named
    /// as the agent names it. What hooks did not see is as it was, and so is what is no field.
    fn native_input(
        &self,
        before: &Map<String, Value>,
        updated: &Map<String, Value>,
    ) -> Map<String, Value> {
        let (renames, shown) = (self.renames(before), self.canonical_input(before));
        let mut native = Map::new();
        // Of two names for one field the one that was added counts, which is the later one.
        for (key, value) in updated {
            let all = if before.contains_key(key) { &[] } else { self.fields };
            let row = renames.iter().chain(all).find(|(canonical, _)| canonical == key);
            let name = row.map_or(key.as_str(), |(_, native)| *native);
            let is_file = key == FILE && shown.contains_key(FILE);
            let value = match before.get(name) {
                Some(same) if is_file && shown.get(FILE) == Some(value) => same,
                None if is_file => continue,
                _ if key == FILES => continue,
                _ => value,
            };
            native.insert(name.to_owned(), value.clone());
        }
        for (key, value) in before {
            let is_read = renames.iter().any(|(_, native)| native == key);
            if !is_read && !self.shows(key, before) {
                native.insert(key.clone(), value.clone());
            }
        }
        native
    }
}

/// The row of a tool by the agent's own name for it, else by the canonical name, which some agents
/// use in one of their formats.
pub(crate) fn find<'a>(table: &'a [Tool], name: &str) -> Option<&'a Tool> {
    let native = table.iter().find(|tool| tool.native.contains(&name));
    native.or_else(|| table.iter().find(|tool| tool.canonical == name))
}

/// The canonical name of the agent's tool, and its input with canonical field names. Unknown tools
/// and unknown fields stay as they are.
pub(crate) fn canonical(table: &[Tool], name: &str, input: &Value) -> (String, Value) {
    let Some(tool) = find(table, name) else { return (name.to_owned(), input.clone()) };
    let input = match input {
        Value::Object(input) => Value::Object(tool.canonical_input(input)),
        other => other.clone(),
    };
    (tool.canonical.to_owned(), input)
}

/// The agent's own input for a canonical one that a hook wants instead: only the names of mapped
/// fields change, everything else stays as the hook says.
pub(crate) fn native(
    table: &[Tool],
    decoded: &Decoded,
    updated: &Map<String, Value>,
) -> Map<String, Value> {
    let row = decoded.tool_names().into_iter().rev().find_map(|name| find(table, name));
    let Some(tool) = row else { return updated.clone() };
    let (_, before) = native_of(decoded);
    match arguments(before) {
        Value::Object(before) => tool.native_input(&before, updated),
        _ => tool.native_input(&Map::new(), updated),
    }
}

/// The files that the patch in `field` adds, changes, deletes or moves to, as it names them.
///
/// This reads whatever any agent's parser takes for such a line, and more: white space around the
/// line and around the name, and letters of either case. What is no white space to Rust but to
/// JavaScript, the byte order mark, counts too. A line of content begins with a sign (`+`, `-`), so
/// it is never taken for one.
pub(crate) fn patched_files(input: &Map<String, Value>, field: &str) -> Vec<String> {
    const HEADS: [&str; 4] =
        ["*** Update File:", "*** Add File:", "*** Delete File:", "*** Move to:"];
    let patch = input.get(field).and_then(Value::as_str).unwrap_or_default();
    let blank = |c: char| c.is_whitespace() || c == '\u{feff}';
    let named = |line: &str| {
        let line = line.trim_matches(blank);
        HEADS.iter().find_map(|head| {
            let begins = line.get(..head.len())?.eq_ignore_ascii_case(head);
            begins.then(|| line[head.len()..].trim_matches(blank).to_owned())
        })
    };
    patch.lines().filter_map(named).collect()
}

/// The texts of a list in `field`.
pub(crate) fn texts(input: &Map<String, Value>, field: &str) -> Vec<String> {
    let list = input.get(field).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

/// What a tool that views and edits files does, which the `command` in its input says, by the
/// canonical name of the tool that does the same; else its own name.
pub(crate) fn editors_tool<'a>(name: &'a str, input: &Value) -> &'a str {
    match input.get("command").and_then(Value::as_str) {
        Some("view") => "Read",
        Some("create" | "write") => "Write",
        Some("str_replace" | "insert" | "undo_edit") => "Edit",
        _ => name,
    }
}

/// The agent's own name and input of the tool in an event; empty for an event without a tool.
pub(crate) fn native_of(decoded: &Decoded) -> (&str, &Value) {
    let (name, canonical, native_name, native_input) = match &decoded.input {
        Input::PreToolUse(input) => {
            (&input.tool_name, &input.tool_input, &input.native_tool_name, &input.native_tool_input)
        }
        Input::PostToolUse(input) => {
            (&input.tool_name, &input.tool_input, &input.native_tool_name, &input.native_tool_input)
        }
        Input::UserPromptSubmit(_) | Input::SessionStart(_) | Input::Stop(_) => {
            return ("", &Value::Null);
        }
    };
    (native_name.as_deref().unwrap_or(name), native_input.as_ref().unwrap_or(canonical))
}

/// The canonical name of a server's tool.
pub(crate) fn mcp_name(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

/// Server and tool of a name that joins them with a separator which either may hold, too: split
/// after the longest of the servers that we know and that fit.
pub(crate) fn split_known<'a>(
    joined: &'a str,
    separator: &str,
    known: impl IntoIterator<Item = impl AsRef<str>>,
) -> Option<(&'a str, &'a str)> {
    let split = |server: &str| {
        let rest = joined.strip_prefix(server)?;
        both(&joined[..server.len()], rest.strip_prefix(separator)?)
    };
    let fitting = known.into_iter().filter_map(|server| split(server.as_ref()));
    fitting.max_by_key(|(server, _)| server.len())
}

/// As [`split_known`] without knowing any server: a guess, at the first separator.
pub(crate) fn split_first<'a>(joined: &'a str, separator: &str) -> Option<(&'a str, &'a str)> {
    joined.split_once(separator).and_then(|(server, tool)| both(server, tool))
}

/// As [`split_first`], at the last separator.
pub(crate) fn split_last<'a>(joined: &'a str, separator: &str) -> Option<(&'a str, &'a str)> {
    joined.rsplit_once(separator).and_then(|(server, tool)| both(server, tool))
}

fn both<'a>(server: &'a str, tool: &'a str) -> Option<(&'a str, &'a str)> {
    (!server.is_empty() && !tool.is_empty()).then_some((server, tool))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::wire::Delivery;
    use proptest::prelude::*;
    use serde_json::json;
    use symposium_hook::PreToolUseInput;

    const TABLE: [Tool; 4] = [
        Tool::new("Read", &["view", "open"]).fields(&[
            ("file_path", "path"),
            ("file_path", "file"),
            ("limit", "lines"),
        ]),
        Tool::new("Bash", &["shell"]),
        Tool::new("Edit", &[]).fields(&[("old_string", "before")]),
        Tool::new("Read", &["many"]).files(|input| texts(input, "list")),
    ];

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().cloned().expect("an object")
    }

    /// The agent's input for `updated`, after the tool was used with `before`.
    fn back(name: &str, before: &Value, updated: Value) -> Value {
        let (tool_name, tool_input) = canonical(&TABLE, name, &arguments(before));
        let input = Input::PreToolUse(PreToolUseInput {
            tool_name,
            tool_input,
            native_tool_name: Some(name.to_owned()),
            native_tool_input: Some(before.clone()),
            ..PreToolUseInput::default()
        });
        let delivery = Delivery::Single;
        let decoded = Decoded {
            input,
            tool_use_id: None,
            delivery,
            started: None,
            foreign: false,
            failed: false,
        };
        Value::Object(native(&TABLE, &decoded, &map(updated)))
    }

    #[test]
    fn mapped_names_change_and_the_rest_stays() {
        let text = r#"{"path":"a.rs","lines":3,"odd":null,"n":12345678901234567890123}"#;
        let input: Value = serde_json::from_str(text).expect("JSON");
        let (name, canonical) = canonical(&TABLE, "open", &input);
        assert_eq!(name, "Read");
        let renamed = text.replace("path", "file_path").replace("lines", "limit");
        assert_eq!(canonical.to_string(), renamed);
        assert_eq!(
            back("open", &input, json!({"file_path": "b.rs", "odd": 1, "new": 2})).to_string(),
            r#"{"path":"b.rs","odd":1,"new":2}"#
        );
    }

    #[test]
    fn the_way_back_is_the_way_there_and_else_the_agents_present_name() {
        let updated = || json!({"file_path": "b"});
        assert_eq!(back("view", &json!({"path": "a"}), updated()), json!({"path": "b"}));
        assert_eq!(back("view", &json!({"file": "a"}), updated()), json!({"file": "b"}));
        assert_eq!(back("view", &json!({"limit": 3}), updated()), json!({"path": "b"}));
        let text = json!(r#"{"file":"a"}"#);
        assert_eq!(back("view", &text, updated()), json!({"file": "b"}));
    }

    #[test]
    fn of_two_names_for_one_field_the_added_one_counts() {
        let before = json!({"path": "a"});
        let added = json!({"file_path": "a", "path": "b"});
        assert_eq!(back("view", &before, added), json!({"path": "b"}));
        let added = json!({"path": "a", "file_path": "b"});
        assert_eq!(back("view", &before, added), json!({"path": "b"}));
    }

    #[test]
    fn a_tool_without_a_row_is_itself() {
        let input = json!({"path": "x"});
        assert_eq!(canonical(&TABLE, "todo", &input), ("todo".to_owned(), input.clone()));
        assert_eq!(canonical(&TABLE, "shell", &json!("ls")).1, json!("ls"));
        assert_eq!(back("todo", &input, json!({"file_path": "y"})), json!({"file_path": "y"}));
    }

    #[test]
    fn a_canonical_name_is_a_name_too() {
        let input = json!({"before": "x"});
        let found = canonical(&TABLE, "Edit", &input);
        assert_eq!(found, ("Edit".to_owned(), json!({"old_string": "x"})));
        assert_eq!(back("Edit", &input, json!({"old_string": "y"})), json!({"before": "y"}));
    }

    #[test]
    fn a_field_that_only_has_the_canonical_name_of_another_is_hidden_and_stays() {
        for (name, input, shown) in [
            ("view", json!({"file_path": "a", "path": "b"}), json!({"file_path": "b"})),
            ("view", json!({"path": "b", "file_path": "a"}), json!({"file_path": "b"})),
            ("view", json!({"path": "b", "file_paths": ["a"]}), json!({"file_path": "b"})),
            (
                "view",
                json!({"path": "b", "file": "c"}),
                json!({"file_path": "b", "file": "c", "file_paths": ["b", "c"]}),
            ),
            ("view", json!({"path": 1, "file": "c"}), json!({"file_path": "c", "file": "c"})),
            ("Edit", json!({"before": "x", "old_string": "y"}), json!({"old_string": "x"})),
            (
                "many",
                json!({"file_path": "a", "list": ["b"]}),
                json!({"file_path": "b", "list": ["b"]}),
            ),
            ("many", json!({"file_path": "a", "list": []}), json!({"file_path": "a", "list": []})),
        ] {
            let (_, canonical) = canonical(&TABLE, name, &input);
            assert_eq!(canonical, shown, "{input}");
            assert_eq!(back(name, &input, canonical), input);
        }
        let input = json!({"file_path": "a", "path": "b"});
        let rewritten = json!({"file_path": "a", "path": "c"});
        assert_eq!(back("view", &input, json!({"file_path": "c"})), rewritten);
    }

    #[test]
    fn the_files_of_a_patch_are_read_as_the_most_lenient_parser_does() {
        for line in [
            "*** Update File: .env",
            "*** Update File:.env",
            "*** Update File:\t.env \r",
            " \t*** Add File:  .env",
            "*** Delete File:\u{feff}.env",
            "\u{feff}*** move to: .env",
        ] {
            let patch = format!("*** Begin Patch\n{line}\n+*** Add File: no\n-*** Add File: no");
            let input = map(json!({"text": patch}));
            assert_eq!(patched_files(&input, "text"), [".env"], "{line:?}");
        }
        assert!(patched_files(&map(json!({"text": ["*** Add File: a"]})), "text").is_empty());
    }

    #[test]
    fn joined_names_are_split_by_the_servers_we_know() {
        let known = ["my", "my_db", ""];
        assert_eq!(split_known("my_db_query", "_", known), Some(("my_db", "query")));
        assert_eq!(split_known("my_db_", "_", known), Some(("my", "db_")));
        assert_eq!(split_known("other_x_y", "_", known), None);
        assert_eq!(split_first("other_x_y", "_"), Some(("other", "x_y")));
        assert_eq!(split_last("other_x_y", "_"), Some(("other_x", "y")));
        for none in ["plain", "_x", ""] {
            assert_eq!((split_first(none, "_"), split_last(none, "_")), (None, None));
        }
        assert_eq!(mcp_name("my_db", "query"), "mcp__my_db__query");
    }

    proptest! {
        #[test]
        fn there_and_back_is_the_same(
            name in "view|Edit|shell|many|todo",
            keys in prop::collection::btree_set(
                "path|file_path|file_paths|file|lines|limit|before|old_string|list|odd",
                0..6,
            ),
        ) {
            let before: Map<String, Value> =
                keys.iter().map(|key| (key.clone(), Value::from(key.as_str()))).collect();
            let before = Value::Object(before);
            let (_, canonical) = canonical(&TABLE, &name, &before);
            prop_assert_eq!(back(&name, &before, canonical), before);
        }
    }
}
