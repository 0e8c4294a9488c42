//! What a team's `symposium.toml` may hold, as types: its JSON schema is made of them, and the comments are
//! what editors show. The reader decides; a test holds the keys here to its own.
#![allow(dead_code, reason = "only the types' shapes count")]

use schemars::JsonSchema;

use crate::config::schema::{Choices, PluginSource};

/// What a team offers its members in one workspace. Nothing of it is in force before the member takes it.
#[derive(JsonSchema)]
#[schemars(title = "symposium.toml", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct TeamFile {
    /// The least version of `cargo-agents` that understands this file, such as `0.3.0`.
    minimum_version: Option<String>,
    /// Sources of plugins. A `path` starts at this file's folder, and stays below it.
    plugin_source: Option<Vec<PluginSource>>,
    /// Another spelling of `[[plugin-source]]`.
    registry: Option<Vec<PluginSource>>,
    /// Crates whose own skills you take or decline, and plugins by name.
    plugins: Option<Choices>,
}

#[test]
fn every_key_of_the_schema_is_read_and_no_other() {
    use std::path::Path;

    let schema = schemars::schema_for!(TeamFile).to_value();
    let keys = |value: &serde_json::Value| -> Vec<String> {
        value["properties"].as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
    };
    let mut texts = Vec::new();
    for key in keys(&schema) {
        texts.push(match &*key {
            "plugin-source" | "registry" => {
                format!("[[{key}]]\nname = \"a\"\npath = \"p\"\n")
            }
            "plugins" => "[plugins]\n".to_owned(),
            _ => format!("{key} = \"1.0.0\"\n"),
        });
    }
    for key in keys(&schema["$defs"]["Choices"]) {
        texts.push(format!("[plugins]\n{key} = [\"a\"]\n"));
    }
    assert_eq!(texts.len(), 6, "{schema:#}");
    let problems = |text: &str| {
        super::ReadFile::parse(Path::new("/ws/symposium.toml"), text, Path::new("/ws")).problems
    };
    for text in &texts {
        assert!(problems(text).is_empty(), "{text}: {:?}", problems(text));
    }
    for text in ["agent = []", "[plugins.workspace]", "[trust]\nprograms = \"source\"", "[hints]"] {
        assert_eq!(problems(text).len(), 1, "{text}");
    }
}
