//! Tool names and their inputs: between an agent's own words and the canonical ones.
//!
//! The tables are data in each agent's file; here is what reads them. Canonical names are `Bash`,
//! `Read`, `Write`, `Edit`, `Glob`, `Grep`, `WebFetch`, `WebSearch`, `Skill` and
//! `mcp__server__tool`; canonical fields are `command`, `file_path`, `content`, `old_string`,
//! `new_string`, `pattern`, `path`, `glob`, `url`, `query`, `skill`. Whatever has no row keeps the
//! agent's own name.

use serde_json::{Map, Value};
use symposium_hook::Input;

use super::wire::Decoded;

/// One row of an agent's table of tools.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// The canonical name.
    pub canonical: &'static str,
    /// The agent's names for it, the present one first.
    pub native: &'static [&'static str],
    /// Fields whose names differ: canonical, native.
    pub fields: &'static [(&'static str, &'static str)],
}

impl Tool {
    /// A row whose fields have their canonical names already.
    pub const fn same_fields(canonical: &'static str, native: &'static [&'static str]) -> Self {
        Self { canonical, native, fields: &[] }
    }
}

/// The row of the agent's own tool name.
pub fn find<'a>(table: &'a [Tool], native: &str) -> Option<&'a Tool> {
    table.iter().find(|tool| tool.native.contains(&native))
}

/// The canonical name of the agent's tool, and its input with canonical field names. Unknown tools
/// and unknown fields stay as they are.
pub fn canonical(table: &[Tool], name: &str, input: &Value) -> (String, Value) {
    let Some(tool) = find(table, name) else { return (name.to_owned(), input.clone()) };
    let input = match input {
        Value::Object(input) => Value::Object(canonical_fields(tool, input)),
        other => other.clone(),
    };
    (tool.canonical.to_owned(), input)
}

fn canonical_fields(tool: &Tool, input: &Map<String, Value>) -> Map<String, Value> {
    let rename = |key: &String| {
        let row = tool.fields.iter().find(|(_, native)| native == key);
        match row {
            // A field that already bears the canonical name keeps it.
            Some((canonical, _)) if !input.contains_key(*canonical) => (*canonical).to_owned(),
            _ => key.clone(),
        }
    };
    input.iter().map(|(key, value)| (rename(key), value.clone())).collect()
}

/// The agent's own input for a canonical one that a hook wants instead: only the names of mapped
/// fields change, everything else stays as the hook says.
pub fn native(
    table: &[Tool],
    name: &str,
    before: &Value,
    updated: &Map<String, Value>,
) -> Map<String, Value> {
    let Some(tool) = find(table, name) else { return updated.clone() };
    let rename = |key: &String| {
        let row = tool.fields.iter().find(|(canonical, _)| canonical == key);
        match row {
            Some((canonical, native)) if before.get(canonical).is_none() => (*native).to_owned(),
            _ => key.clone(),
        }
    };
    updated.iter().map(|(key, value)| (rename(key), value.clone())).collect()
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

/// Server and tool of a name that joins them with a separator which either may hold, too. A server
/// that we know decides, the longest first; else the first separator with text on both sides does.
pub fn split_joined<'a>(
    joined: &'a str,
    separator: &str,
    known: &[&str],
) -> Option<(&'a str, &'a str)> {
    let by_known = |server: &&str| {
        let tool = joined.strip_prefix(*server)?.strip_prefix(separator)?;
        (!server.is_empty() && !tool.is_empty()).then(|| (&joined[..server.len()], tool))
    };
    let longest = known.iter().filter_map(by_known).max_by_key(|(server, _)| server.len());
    longest.or_else(|| {
        let (server, tool) = joined.split_once(separator)?;
        (!server.is_empty() && !tool.is_empty()).then_some((server, tool))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const TABLE: [Tool; 2] = [
        Tool {
            canonical: "Read",
            native: &["view", "open"],
            fields: &[("file_path", "path"), ("limit", "lines")],
        },
        Tool::same_fields("Bash", &["shell"]),
    ];

    #[test]
    fn mapped_names_change_and_the_rest_stays() {
        let input = json!({"path": "a.rs", "lines": 3, "odd": null});
        let (name, canonical) = canonical(&TABLE, "open", &input);
        assert_eq!(name, "Read");
        assert_eq!(canonical.to_string(), r#"{"file_path":"a.rs","limit":3,"odd":null}"#);
        let updated = json!({"file_path": "b.rs", "odd": 1, "new": 2});
        let updated = updated.as_object().expect("an object");
        assert_eq!(
            Value::Object(native(&TABLE, "open", &input, updated)).to_string(),
            r#"{"path":"b.rs","odd":1,"new":2}"#
        );
    }

    #[test]
    fn a_tool_without_a_row_is_itself() {
        let input = json!({"path": "x"});
        assert_eq!(canonical(&TABLE, "todo", &input), ("todo".to_owned(), input.clone()));
        assert_eq!(canonical(&TABLE, "shell", &json!("ls")).1, json!("ls"));
    }

    #[test]
    fn a_field_with_both_names_is_left_alone() {
        let input = json!({"file_path": "a", "path": "b"});
        let (_, canonical) = canonical(&TABLE, "view", &input);
        assert_eq!(canonical, input);
        let updated = canonical.as_object().expect("an object");
        assert_eq!(Value::Object(native(&TABLE, "view", &input, updated)), input);
    }

    #[test]
    fn joined_names_are_split_by_the_servers_we_know() {
        let known = ["my", "my_db", ""];
        assert_eq!(split_joined("my_db_query", "_", &known), Some(("my_db", "query")));
        assert_eq!(split_joined("my_db_", "_", &known), Some(("my", "db_")));
        assert_eq!(split_joined("other_x_y", "_", &known), Some(("other", "x_y")));
        assert_eq!(split_joined("plain", "_", &known), None);
        assert_eq!(split_joined("_x", "_", &known), None);
        assert_eq!(mcp_name("my_db", "query"), "mcp__my_db__query");
    }

    proptest! {
        #[test]
        fn there_and_back_is_the_same(
            keys in prop::collection::btree_set("path|file_path|lines|limit|odd", 0..5)
        ) {
            let before: Map<String, Value> =
                keys.iter().map(|key| (key.clone(), Value::from(key.as_str()))).collect();
            let before = Value::Object(before);
            let (_, canonical) = canonical(&TABLE, "view", &before);
            let updated = canonical.as_object().expect("an object");
            prop_assert_eq!(Value::Object(native(&TABLE, "view", &before, updated)), before);
        }
    }
}
