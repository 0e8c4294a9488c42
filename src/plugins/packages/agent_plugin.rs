//! Agent Plugins 1.0.0: a root `plugin.json`, `skills/` and `mcp.json`.
//!
//! The rules are those of the specification (github.com/agentplugins/agent-plugins-spec). What it
//! makes fatal refuses the package; everything else costs only itself, and is noted.

use serde_json::{Map, Value};

use super::draft::{Draft, NAME_LENGTH, Refused, object, text_of, unusable_name};
use super::folder::Folder;
use super::{Place, ReadPackage, claude_package, servers};
use crate::plugins::model::PackageFormat;

/// The file that makes a folder one.
pub(super) const MANIFEST: &str = "plugin.json";
/// The schema of a manifest, which says the version.
const SCHEMA: &str = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";
/// The schema of the servers.
const SERVERS_SCHEMA: &str = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json";
/// What every version's schema begins with: others' files are called `plugin.json`, too.
const SCHEMAS: &str = "https://agent-plugins.org/schemas/";
/// Where the servers are.
const SERVERS: &str = "mcp.json";

const STRINGS: [&str; 5] = ["version", "description", "homepage", "repository", "license"];

/// Whether the text of a `plugin.json` says that it is one of these, in whatever version.
pub(super) fn is_meant(text: &str) -> bool {
    // A text that is no JSON may be one that its author is at work on.
    let schema = match super::draft::parse(text) {
        Ok(value) => value.get("$schema").and_then(Value::as_str).map(str::to_owned),
        Err(_) => text.contains(SCHEMAS).then(|| SCHEMAS.to_owned()),
    };
    schema.is_some_and(|schema| schema.starts_with(SCHEMAS))
}

/// Reads the package, whose manifest has this text.
pub(super) fn read(place: &Place<'_>, folder: &dyn Folder, text: &str) -> ReadPackage {
    let mut draft = Draft::new(place, folder, (PackageFormat::AgentPlugins, MANIFEST));
    let read = object(text).and_then(|manifest| {
        check(&manifest, text)?;
        Ok(manifest)
    });
    let manifest = match read {
        Ok(manifest) => manifest,
        Err(refused) => return draft.refuse(text, refused),
    };
    let name = manifest.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    draft.version = text_of(&manifest, "version");
    draft.description = text_of(&manifest, "description");
    for key in manifest.keys().filter(|key| !is_known(key)) {
        let why = "the manifest has no such field; a client's own belong under `extensions`";
        draft.mistake(format!("`{key}` in `{MANIFEST}`"), why);
    }
    match manifest.get("extensions") {
        None | Some(Value::Object(_)) => draft.extensions(&manifest),
        Some(_) => draft.mistake(format!("`extensions` in `{MANIFEST}`"), "it is no object"),
    }
    match kind(folder, "skills") {
        Kind::Folder => draft.skill_folder("skills"),
        Kind::Absent => {}
        Kind::Other => draft.mistake("`skills`", "it is no folder inside the package"),
    }
    read_servers(&mut draft);
    // What Claude Code has beyond this format stands beside it in packages that are made for both.
    if folder.names(".claude-plugin").is_some() {
        claude_package::extras(&mut draft);
    }
    draft.finish(name)
}

enum Kind {
    Folder,
    Absent,
    Other,
}

fn kind(folder: &dyn Folder, name: &str) -> Kind {
    if folder.names(name).is_some() {
        return Kind::Folder;
    }
    let entries = folder.names(".").unwrap_or_default();
    let is_there = entries.iter().any(|entry| entry.trim_end_matches('/') == name);
    if is_there { Kind::Other } else { Kind::Absent }
}

fn is_known(key: &str) -> bool {
    STRINGS.contains(&key) || ["$schema", "name", "author", "keywords", "extensions"].contains(&key)
}

/// Checks what the specification makes fatal.
fn check(manifest: &Map<String, Value>, text: &str) -> Result<(), Refused> {
    let refuse = |key: &str, message: String| Err(Refused::at_key(text, key, message));
    match manifest.get("$schema").and_then(Value::as_str) {
        Some(SCHEMA) => {}
        found => {
            let found = found.unwrap_or_default();
            let message = format!("its `$schema` is `{found}`, and only `{SCHEMA}` is understood");
            return refuse("$schema", message);
        }
    }
    match manifest.get("name").and_then(Value::as_str) {
        None => return Err(Refused::new("it has no `name`, or one that is no string")),
        Some(name) => {
            if let Some(wrong) = wrong_name(name).or_else(|| unusable_name(name)) {
                return refuse("name", wrong);
            }
        }
    }
    for key in STRINGS {
        if manifest.get(key).is_some_and(|value| !value.is_string()) {
            return refuse(key, format!("`{key}` is no string"));
        }
    }
    let is_strings =
        |value: &Value| value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
    if manifest.get("keywords").is_some_and(|value| !is_strings(value)) {
        return refuse("keywords", "`keywords` is no list of strings".to_owned());
    }
    let is_author = |author: &Value| {
        let Some(author) = author.as_object() else { return false };
        author.iter().all(|(key, value)| {
            ["name", "email", "url"].contains(&key.as_str()) && value.is_string()
        })
    };
    if manifest.get("author").is_some_and(|author| !is_author(author)) {
        let message = "`author` is no object of the strings `name`, `email` and `url`";
        return refuse("author", message.to_owned());
    }
    let is_object =
        |all: &Value| all.as_object().is_none_or(|all| all.values().all(Value::is_object));
    if manifest.get("extensions").is_some_and(|all| !is_object(all)) {
        return refuse("extensions", "a member of `extensions` is no object".to_owned());
    }
    Ok(())
}

/// What is wrong with a name by the specification.
fn wrong_name(name: &str) -> Option<String> {
    let is_alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_good = (1..=NAME_LENGTH).contains(&name.len())
        && name.chars().all(|c| is_alphanumeric(c) || matches!(c, '-' | '.'))
        && name.starts_with(is_alphanumeric)
        && name.ends_with(is_alphanumeric)
        && !name.contains("--")
        && !name.contains("..");
    (!is_good).then(|| {
        let shown = crate::report::fit(name, 80);
        format!(
            "its name `{shown}` breaks the rules: 1 to {NAME_LENGTH} of a-z, 0-9, `-` and `.`, a \
             letter or digit first and last, and never `--` or `..`"
        )
    })
}

fn read_servers(draft: &mut Draft<'_>) {
    let Some(value) = draft.json(SERVERS) else { return };
    let file = format!("`{SERVERS}`");
    let Value::Object(object) = value else {
        return draft.mistake(file, "it is no JSON object");
    };
    if object.get("$schema").and_then(Value::as_str) != Some(SERVERS_SCHEMA) {
        return draft.mistake(file, format!("its `$schema` is not `{SERVERS_SCHEMA}`"));
    }
    if let Some(key) = object.keys().find(|key| !["$schema", "mcpServers"].contains(&&***key)) {
        return draft.mistake(file, format!("it has the field `{key}`, which there is not"));
    }
    let Some(Value::Object(all)) = object.get("mcpServers") else {
        return draft.mistake(file, "it has no object `mcpServers`");
    };
    for (name, value) in all {
        match servers::portable(name, value, draft.folder) {
            Ok(server) => draft.server(server),
            Err(why) => draft.mistake(servers::shown(name), why),
        }
    }
}
