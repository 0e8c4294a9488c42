//! Claude Code's packages: `.claude-plugin/plugin.json`, `skills/`, `hooks/hooks.json`, `.mcp.json`.
//!
//! The format is that of code.claude.com/docs/en/plugins-reference. What is in a package for Claude
//! Code alone (commands, subagents, output styles, language servers) is noted and left.

use serde_json::{Map, Value};

use super::draft::{Draft, Refused, listed, normal, object, strings, text_of, unusable_name};
use super::folder::{Folder, LEADS_OUT};
use super::marketplace::Entry;
use super::{Place, ReadPackage, claude_hooks, servers};
use crate::plugins::model::PackageFormat;

/// The file that makes a folder one.
pub(super) const MANIFEST: &str = ".claude-plugin/plugin.json";
const HOOKS: &str = "hooks/hooks.json";
const SERVERS: &str = ".mcp.json";

/// What only Claude Code has: its key in the manifest, where it is by default, what one is called.
const ALONE: [(&str, &str, &str); 9] = [
    ("commands", "commands", "command"),
    ("agents", "agents", "subagent"),
    ("outputStyles", "output-styles", "output style"),
    ("themes", "themes", "theme"),
    ("workflows", "workflows", "workflow"),
    ("monitors", "monitors/monitors.json", "file of monitors"),
    ("lspServers", ".lsp.json", "file of language servers"),
    ("settings", "settings.json", "file of settings"),
    ("bin", "bin", "executable"),
];

/// Reads the package: by its manifest, or the entry of an index that stands for it.
pub(super) fn read(place: &Place<'_>, folder: &dyn Folder, text: &str) -> ReadPackage {
    let mut draft = Draft::new(place, folder, (PackageFormat::Claude, MANIFEST));
    let is_whole_entry = place.entry.is_some_and(|entry| entry.is_whole);
    let read = if is_whole_entry { Ok(Map::new()) } else { object(text) };
    let entry = place.entry;
    let read = read.and_then(|manifest| {
        let said = entry.map(|entry| entry.name.as_str());
        match said.or_else(|| manifest.get("name").and_then(Value::as_str)) {
            None => Err(Refused::new("it has no `name`, or one that is no string")),
            Some(name) => match unusable_name(name) {
                Some(wrong) => Err(Refused::at_key(text, "name", wrong)),
                None => Ok((name.to_owned(), manifest)),
            },
        }
    });
    let (name, manifest) = match read {
        Ok(read) => read,
        Err(refused) => return draft.refuse(text, refused),
    };
    let said = |key: &str| text_of(&manifest, key).or_else(|| text_of(&entry?.fields, key));
    (draft.version, draft.description) = (said("version"), said("description"));
    draft.extensions(&manifest);
    skills(&mut draft, &manifest);
    components(&mut draft, &manifest);
    if let Some(entry) = entry {
        of_entry(&mut draft, entry);
    }
    draft.finish(name)
}

/// Adds what Claude Code would find in a package whose skills and servers are known already.
pub(super) fn extras(draft: &mut Draft<'_>) {
    let manifest = match draft.json(MANIFEST) {
        Some(Value::Object(manifest)) => manifest,
        _ => Map::new(),
    };
    hooks(draft, &manifest);
    alone(draft, &manifest, true);
}

/// What the entry of an index adds to its package.
fn of_entry(draft: &mut Draft<'_>, entry: &Entry) {
    for path in listed_paths(draft, &entry.fields, "skills") {
        draft.skill_folder(&path);
    }
    for (key, file) in [("hooks", HOOKS), ("mcpServers", SERVERS)] {
        if let Some(value) = entry.fields.get(key) {
            declared(draft, (key, value), &format!("{key} of the index"), &[file]);
        }
    }
    alone(draft, &entry.fields, false);
}

fn skills(draft: &mut Draft<'_>, manifest: &Map<String, Value>) {
    let listed = listed_paths(draft, manifest, "skills");
    let entry_lists = draft.place.entry.is_some_and(|entry| entry.fields.contains_key("skills"));
    // Several entries of an index that share one folder each name their own of its skills.
    if draft.folder.names("skills").is_some() && !entry_lists {
        draft.skill_folder("skills");
    } else if listed.is_empty() && !entry_lists && has_own_skill(draft.folder) {
        draft.skill_folder(".");
    }
    for path in listed {
        draft.skill_folder(&path);
    }
}

/// Whether the package is one skill.
fn has_own_skill(folder: &dyn Folder) -> bool {
    folder.names(".").is_some_and(|names| names.iter().any(|name| name == "SKILL.md"))
}

/// The folders that a key names, in their normal form; those that lead out or are not there are noted.
fn listed_paths(draft: &mut Draft<'_>, fields: &Map<String, Value>, key: &str) -> Vec<String> {
    let Some(value) = fields.get(key) else { return Vec::new() };
    let Some(paths) = strings(value) else {
        draft.mistake(format!("`{key}`"), "it is neither a path nor a list of paths");
        return Vec::new();
    };
    let mut found = Vec::new();
    for path in paths {
        let shown = crate::report::fit(&path, 80);
        match normal(&path).filter(|_| draft.folder.contains(&path)) {
            None => draft.mistake(format!("`{shown}` in `{key}`"), LEADS_OUT),
            Some(inside) if draft.folder.names(&inside).is_none() => {
                draft.mistake(format!("`{shown}` in `{key}`"), "there is no such folder");
            }
            Some(inside) => found.push(inside),
        }
    }
    found
}

fn components(draft: &mut Draft<'_>, manifest: &Map<String, Value>) {
    hooks(draft, manifest);
    if let Some(value) = draft.json(SERVERS) {
        read_servers(draft, SERVERS, &value);
    }
    if let Some(value) = manifest.get("mcpServers") {
        declared(draft, ("mcpServers", value), MANIFEST, &[SERVERS]);
    }
    alone(draft, manifest, true);
}

fn hooks(draft: &mut Draft<'_>, manifest: &Map<String, Value>) {
    if let Some(value) = draft.json(HOOKS) {
        claude_hooks::read(draft, HOOKS, &value);
    }
    if let Some(value) = manifest.get("hooks") {
        declared(draft, ("hooks", value), MANIFEST, &[HOOKS]);
    }
}

/// Hooks or servers that stand in a manifest, or in files that it names; `known` were read already.
fn declared(draft: &mut Draft<'_>, (key, value): (&str, &Value), file: &str, known: &[&str]) {
    let items = match value {
        Value::Array(items) => items.iter().collect(),
        one => vec![one],
    };
    for item in items {
        match item {
            Value::Object(_) if key == "hooks" => claude_hooks::read(draft, file, item),
            Value::Object(_) => read_servers(draft, file, item),
            Value::String(path) => named_file(draft, (key, path), known),
            _ => draft.mistake(format!("`{key}`"), "it is neither a path nor an object"),
        }
    }
}

fn named_file(draft: &mut Draft<'_>, (key, path): (&str, &str), known: &[&str]) {
    let shown = format!("`{}` in `{key}`", crate::report::fit(path, 80));
    let inside = normal(path).filter(|_| draft.folder.contains(path));
    match inside {
        _ if path.contains("://") => draft.leave(shown, "it is not in the package"),
        None => draft.mistake(shown, LEADS_OUT),
        Some(inside) if known.contains(&inside.as_str()) => {}
        Some(inside) if [".mcpb", ".dxt"].iter().any(|end| inside.ends_with(end)) => {
            draft.leave(shown, "Symposium does not unpack bundles");
        }
        Some(inside) => match draft.json(&inside) {
            Some(value) if key == "hooks" => claude_hooks::read(draft, &inside, &value),
            Some(value) => read_servers(draft, &inside, &value),
            None if matches!(draft.folder.text(&inside), Ok(None)) => {
                draft.mistake(shown, "there is no such file");
            }
            None => {}
        },
    }
}

/// Adds the servers in `value`: an object of them, or one that holds it under `mcpServers`.
fn read_servers(draft: &mut Draft<'_>, file: &str, value: &Value) {
    let Value::Object(all) = value.get("mcpServers").unwrap_or(value) else {
        return draft.mistake(format!("`{file}`"), "it has no object of servers");
    };
    for (name, value) in all {
        match servers::claudes(name, value) {
            Ok(server) => draft.server(server),
            Err((why, true)) => draft.mistake(servers::shown(name), why),
            Err((why, false)) => draft.leave(servers::shown(name), why),
        }
    }
}

/// Notes what only Claude Code has.
fn alone(draft: &mut Draft<'_>, fields: &Map<String, Value>, looks: bool) {
    for (key, place, one) in ALONE {
        let mut names = if looks { names_at(draft.folder, place) } else { Vec::new() };
        match fields.get(key) {
            None | Some(Value::Null) => {}
            Some(value) => match strings(value) {
                Some(paths) => names.extend(
                    paths.into_iter().filter(|path| normal(path).is_none_or(|path| path != place)),
                ),
                None => names.push(key.to_owned()),
            },
        }
        if !names.is_empty() {
            draft.leave(listed(&names, one), "only Claude Code has this");
        }
    }
    for key in ["userConfig", "channels", "dependencies", "experimental"] {
        if fields.contains_key(key) {
            draft.leave(format!("`{key}`"), "only Claude Code has this");
        }
    }
}

/// What is at a place of the package: a file, or what a folder holds, without the ends of names.
fn names_at(folder: &dyn Folder, place: &str) -> Vec<String> {
    let (parent, name) = place.rsplit_once('/').unwrap_or((".", place));
    if let Some(inside) = folder.names(place) {
        let visible = inside.iter().filter(|name| !name.starts_with('.'));
        let short = visible.map(|name| name.trim_end_matches('/').trim_end_matches(".md"));
        return short.map(str::to_owned).collect();
    }
    let there = folder.names(parent).is_some_and(|names| names.iter().any(|known| known == name));
    there.then(|| place.to_owned()).into_iter().collect()
}
