//! Tool names and their inputs: between an agent's own words and the canonical ones.
//!
//! The tables are data in each agent's file; here is what reads them. Canonical names are `Bash`,
//! `Read`, `Write`, `Edit`, `Glob`, `Grep`, `WebFetch`, `WebSearch`, `Skill` and
//! `mcp__server__tool`; canonical fields are `command`, `file_path`, `content`, `old_string`,
//! `new_string`, `pattern`, `path`, `glob`, `url`, `query`, `skill`, and `file_paths` beside
//! `file_path` where one use of a tool is about several files. Whatever has no row keeps the agent's
//! own name.

use serde_json::{Map, Value};
use symposium_hook::Input;

use super::payload::parse_json;
use super::wire::Decoded;

/// One row of an agent's table of tools.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// The canonical name.
    pub canonical: &'static str,
    /// The agent's names for it, the present one first. None: what the tool is, its input says.
    pub native: &'static [&'static str],
    /// Fields whose names differ: canonical, native. A field of several names has several rows, the
    /// present name first.
    pub fields: &'static [(&'static str, &'static str)],
}

impl Tool {
    /// A row whose fields have their canonical names already.
    pub const fn same_fields(canonical: &'static str, native: &'static [&'static str]) -> Self {
        Self { canonical, native, fields: &[] }
    }

    /// Rows in use for this input: the native field is there, and no other has its canonical name.
    fn renames(&self, input: &Map<String, Value>) -> Vec<(&'static str, &'static str)> {
        let mut renames: Vec<(&str, &str)> = Vec::new();
        for (canonical, native) in self.fields {
            let taken = input.contains_key(*canonical)
                || renames.iter().any(|(other, _)| other == canonical);
            if input.contains_key(*native) && !taken {
                renames.push((canonical, native));
            }
        }
        renames
    }

    fn canonical_input(&self, input: &Map<String, Value>) -> Map<String, Value> {
        let renames = self.renames(input);
        let rename = |key: &String| {
            let row = renames.iter().find(|(_, native)| native == key);
            row.map_or_else(|| key.clone(), |(canonical, _)| (*canonical).to_owned())
        };
        input.iter().map(|(key, value)| (rename(key), value.clone())).collect()
    }

    /// The way that the event's own fields came is gone back; a field that it did not have is named
    /// as the agent names it.
    fn native_input(
        &self,
        before: &Map<String, Value>,
        updated: &Map<String, Value>,
    ) -> Map<String, Value> {
        let renames = self.renames(before);
        let rename = |key: &String| {
            let all = if before.contains_key(key) { &[] } else { self.fields };
            let row = renames.iter().chain(all).find(|(canonical, _)| canonical == key);
            row.map_or_else(|| key.clone(), |(_, native)| (*native).to_owned())
        };
        // Of two names for one field the one that was added counts, which is the later one.
        updated.iter().map(|(key, value)| (rename(key), value.clone())).collect()
    }
}

/// The row of a tool by the agent's own name for it, else by the canonical name, which some agents
/// use in one of their formats.
pub fn find<'a>(table: &'a [Tool], name: &str) -> Option<&'a Tool> {
    let native = table.iter().find(|tool| tool.native.contains(&name));
    native.or_else(|| table.iter().find(|tool| tool.canonical == name))
}

/// The canonical name of the agent's tool, and its input with canonical field names. Unknown tools
/// and unknown fields stay as they are.
pub fn canonical(table: &[Tool], name: &str, input: &Value) -> (String, Value) {
    let Some(tool) = find(table, name) else { return (name.to_owned(), input.clone()) };
    let input = match input {
        Value::Object(input) => Value::Object(tool.canonical_input(input)),
        other => other.clone(),
    };
    (tool.canonical.to_owned(), input)
}

/// The agent's own input for a canonical one that a hook wants instead: only the names of mapped
/// fields change, everything else stays as the hook says.
pub fn native(
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

/// Adds the files that the patch in `field` is about. It names them in its text; `file_path` is the
/// first of them, and where there are several, `file_paths` is all of them, so that who guards a file
/// needs to look at one list only.
pub fn add_patched_files(input: &mut Value, field: &str) {
    let Some(fields) = input.as_object_mut() else { return };
    let Some(patch) = fields.get(field).and_then(Value::as_str) else { return };
    let paths: Vec<Value> = patched_files(patch).into_iter().map(Value::from).collect();
    if let Some(first) = paths.first() {
        fields.entry("file_path").or_insert_with(|| first.clone());
    }
    if paths.len() > 1 {
        fields.entry("file_paths").or_insert_with(|| Value::from(paths));
    }
}

/// The way back of [`add_patched_files`]: what is not the agent's own goes.
pub fn remove_patched_files(native: &mut Map<String, Value>, before: &Value) {
    native.retain(|key, _| {
        !matches!(key.as_str(), "file_path" | "file_paths") || before.get(key).is_some()
    });
}

/// The files that a patch adds, changes, deletes or moves to, each once, as the patch names them.
/// These lines count with blanks before them too.
fn patched_files(patch: &str) -> Vec<&str> {
    const HEADS: [&str; 4] =
        ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];
    let named = |line| HEADS.iter().find_map(|head| str::strip_prefix(line, head)).map(str::trim);
    let mut paths = Vec::new();
    for path in patch.lines().filter_map(|line| named(line.trim_start())) {
        if !path.is_empty() && !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// Arguments that came as JSON inside a string, parsed; others as they are.
pub fn arguments(input: &Value) -> Value {
    let inner = input.as_str().and_then(|text| parse_json(text).ok());
    inner.filter(Value::is_object).unwrap_or_else(|| input.clone())
}

/// The name under which the input of a tool that takes plain text stands where an object is wanted.
pub const TEXT: &str = "";

/// A tool's input as an object: its arguments, or its plain text under [`TEXT`].
pub fn as_object(input: &Value) -> Map<String, Value> {
    match arguments(input) {
        Value::Object(input) => input,
        text @ Value::String(_) => Map::from_iter([(TEXT.to_owned(), text)]),
        _ => Map::new(),
    }
}

/// The way back of [`as_object`].
pub fn as_given(input: &Map<String, Value>) -> Value {
    let text = input.get(TEXT).filter(|text| text.is_string() && input.len() == 1);
    text.cloned().unwrap_or_else(|| Value::Object(input.clone()))
}

/// The agent's own name and input of the tool in an event; empty for an event without a tool.
pub fn native_of(decoded: &Decoded) -> (&str, &Value) {
    let (name, canonical, native_name, native_input) = match &decoded.input {
        Input::PreToolUse(input) => {
            (&input.tool_name, &input.tool_input, &input.native_tool_name, &input.native_tool_input)
        }
        Input::PostToolUse(input) => {
            (&input.tool_name, &input.tool_input, &input.native_tool_name, &input.native_tool_input)
        }
        Input::UserPromptSubmit(_) | Input::SessionStart(_) => return ("", &Value::Null),
    };
    (native_name.as_deref().unwrap_or(name), native_input.as_ref().unwrap_or(canonical))
}

/// The canonical name of a server's tool.
pub fn mcp_name(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

/// Server and tool of a name that joins them with a separator which either may hold, too: split
/// after the longest of the servers that we know and that fit.
pub fn split_known<'a>(
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
pub fn split_first<'a>(joined: &'a str, separator: &str) -> Option<(&'a str, &'a str)> {
    joined.split_once(separator).and_then(|(server, tool)| both(server, tool))
}

/// As [`split_first`], at the last separator.
pub fn split_last<'a>(joined: &'a str, separator: &str) -> Option<(&'a str, &'a str)> {
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

    const TABLE: [Tool; 3] = [
        Tool {
            canonical: "Read",
            native: &["view", "open"],
            fields: &[("file_path", "path"), ("file_path", "file"), ("limit", "lines")],
        },
        Tool::same_fields("Bash", &["shell"]),
        Tool { canonical: "Edit", native: &[], fields: &[("old_string", "before")] },
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
        let decoded = Decoded { input, tool_use_id: None, delivery, foreign: false };
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
    fn a_field_with_both_names_is_left_alone() {
        let input = json!({"file_path": "a", "path": "b"});
        let (_, canonical) = canonical(&TABLE, "view", &input);
        assert_eq!(canonical, input);
        assert_eq!(back("view", &input, canonical), input);
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
            name in "view|Edit|shell|todo",
            keys in prop::collection::btree_set(
                "path|file_path|file|lines|limit|before|old_string|odd",
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
