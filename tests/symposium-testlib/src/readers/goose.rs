//! Goose's rules, as its sources (`crates/goose/src/hooks/mod.rs` and the extension configuration, in
//! the repository aaif-goose/goose) and its documentation have them, for 1.38 and later.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use super::rules::{Reading, Rule, Shape, entries, text, text_map, texts};
use super::{Effect, Ended, Hook, Loaded, Server, skills};

/// Where the rules about hooks stand.
const HOOKS: &str = "aaif-goose/goose, crates/goose/src/hooks/mod.rs";
/// Where those about extensions do.
const EXTENSIONS: &str = "aaif-goose/goose, the extension configuration that config.yaml holds";

const MANIFEST: Rule =
    Rule { says: "plugin.json is an object with texts: name, version, description", source: HOOKS };
const HOOKS_FILE: Rule = Rule {
    says: "hooks/hooks.json is an object with a map `hooks` of lists of groups",
    source: HOOKS,
};
const EVENT: Rule = Rule { says: "an event is one of those that Goose has", source: HOOKS };
const GROUP: Rule = Rule { says: "a group has a list `hooks` of objects", source: HOOKS };
const MATCHER: Rule =
    Rule { says: "a matcher is a regular expression, or the group is skipped", source: HOOKS };
const COMMAND: Rule = Rule {
    says: "a hook has `type` command, a text `command`, and perhaps `timeout` in whole seconds",
    source: HOOKS,
};
const CONFIG: Rule = Rule { says: "config.yaml is a map in YAML", source: EXTENSIONS };
const EXTENSION: Rule = Rule {
    says: "an extension has `enabled`, a known `type` and `name`, or it is skipped as malformed",
    source: EXTENSIONS,
};
const STDIO: Rule = Rule {
    says: "one that is a program has `cmd` and `args`, and perhaps `envs`, `env_keys`, `timeout`",
    source: EXTENSIONS,
};
const HTTP: Rule = Rule {
    says: "one by HTTP has `uri`, and perhaps `headers`, `timeout`; server-sent events are no type",
    source: EXTENSIONS,
};
const VARIABLES: Rule = Rule {
    says: "variables that change what programs load, as PATH does, are dropped from `envs`",
    source: EXTENSIONS,
};
const MCP: Rule = Rule {
    says: "a plugin's .mcp.json is an object with a map `mcpServers`; each has a command or a url",
    source: "aaif-goose/goose, plugins that bring servers",
};

const EVENTS: [&str; 12] = [
    "PreToolUse",
    "PreToolUseResult",
    "PostToolUse",
    "PostToolUseFailure",
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "BeforeReadFile",
    "AfterFileEdit",
    "BeforeShellExecution",
    "AfterShellExecution",
    "Stop",
];

/// What a hook may take when its file says nothing.
const LIMIT: Duration = Duration::from_secs(30);

/// Where it looks for skills, below the workspace and below the home folder.
const SKILLS: [&str; 3] = [".agents/skills", ".goose/skills", ".claude/skills"];
const USERS_SKILLS: [&str; 4] =
    [".agents/skills", ".config/goose/skills", ".claude/skills", ".config/agents/skills"];

/// Its settings, in a folder that holds the home folder `home`.
pub const GOOSE_CONFIG: &str = if cfg!(windows) {
    "home/AppData/Roaming/Block/goose/config/config.yaml"
} else {
    "home/.config/goose/config.yaml"
};

pub(super) fn load(home: &Path, workspace: &Path) -> Loaded {
    let mut loaded = Loaded::default();
    config(&home.with_file_name(GOOSE_CONFIG), &mut loaded);
    for folder in plugins(home, workspace) {
        plugin(&folder, &mut loaded);
    }
    let folders = SKILLS.map(|folder| workspace.join(folder)).into_iter();
    for folder in folders.chain(USERS_SKILLS.map(|folder| home.join(folder))) {
        skills_below(&folder, &mut loaded);
    }
    loaded
}

/// The folders of the plugins. A project's hides the user's of the same name.
fn plugins(home: &Path, workspace: &Path) -> Vec<PathBuf> {
    let of = |root: &Path| entries(&root.join(".agents/plugins"));
    let projects = of(workspace);
    let hidden =
        |folder: &PathBuf| projects.iter().any(|project| project.file_name() == folder.file_name());
    let users = of(home).into_iter().filter(|folder| !hidden(folder));
    users.chain(projects.iter().cloned()).filter(|folder| folder.is_dir()).collect()
}

fn plugin(folder: &Path, loaded: &mut Loaded) {
    let manifest = folder.join("plugin.json");
    let mut reading = Reading::new(&manifest, &mut loaded.refused);
    if let Some(map) = reading.json(MANIFEST) {
        let others = [("version", Shape::Text), ("description", Shape::Text)];
        let named = reading.needs(&map, "", &[("name", Shape::FilledText)], MANIFEST);
        if !(named & reading.shapes(&map, "", &others, MANIFEST)) {
            return;
        }
    }
    let file = folder.join("hooks/hooks.json");
    let mut reading = Reading::new(&file, &mut loaded.refused);
    if let Some(map) = reading.json(HOOKS_FILE)
        && reading.needs(&map, "", &[("hooks", Shape::Map)], HOOKS_FILE)
    {
        let events = map["hooks"].as_object().into_iter().flatten();
        for (event, groups) in events {
            let known = EVENTS.contains(&event.as_str());
            if reading.hold(known, event, EVENT)
                && reading.hold(groups.is_array(), event, HOOKS_FILE)
            {
                for group in groups.as_array().into_iter().flatten() {
                    loaded.hooks.extend(hooks(group, event, folder, &mut reading));
                }
            }
        }
    }
    servers(&folder.join(".mcp.json"), loaded);
}

fn hooks(group: &Value, event: &str, folder: &Path, reading: &mut Reading<'_>) -> Vec<Hook> {
    let matcher = group.get("matcher");
    let matches = matcher.is_none_or(|matcher| {
        matcher.as_str().is_some_and(|matcher| regex::Regex::new(matcher).is_ok())
    });
    if !reading.hold(matches, &format!("{event}.matcher"), MATCHER) {
        return Vec::new();
    }
    let entries = group.get("hooks").and_then(Value::as_array);
    reading.hold(entries.is_some(), &format!("{event}.hooks"), GROUP);
    let mut found = Vec::new();
    for entry in entries.into_iter().flatten() {
        let map = entry.as_object().cloned().unwrap_or_default();
        let place = format!("{event}.hooks");
        let good = reading.needs(&map, &place, &[("command", Shape::FilledText)], COMMAND)
            & reading.shapes(&map, &place, &[("timeout", Shape::Whole)], COMMAND)
            & reading.hold(text(&map, "type") == "command", &place, COMMAND);
        if good {
            let limit = map.get("timeout").and_then(Value::as_u64).map(Duration::from_secs);
            found.push(Hook {
                event: event.to_owned(),
                command: text(&map, "command").replace("${PLUGIN_ROOT}", &folder.to_string_lossy()),
                limit: limit.unwrap_or(LIMIT),
                plugin: Some(folder.to_path_buf()),
            });
        }
    }
    found
}

/// The servers that a plugin brings.
fn servers(file: &Path, loaded: &mut Loaded) {
    let mut reading = Reading::new(file, &mut loaded.refused);
    let Some(map) = reading.json(MCP) else { return };
    if !reading.needs(&map, "", &[("mcpServers", Shape::Map)], MCP) {
        return;
    }
    for (name, entry) in map["mcpServers"].as_object().into_iter().flatten() {
        let place = format!("mcpServers.{name}");
        let map = entry.as_object().cloned().unwrap_or_default();
        let fields = [
            ("command", Shape::FilledText),
            ("args", Shape::Texts),
            ("env", Shape::TextMap),
            ("type", Shape::Text),
            ("url", Shape::FilledText),
            ("headers", Shape::TextMap),
        ];
        let one = map.contains_key("command") != map.contains_key("url");
        let spoken = !matches!(text(&map, "type").as_str(), "sse");
        if reading.hold(one && spoken, &place, MCP) & reading.shapes(&map, &place, &fields, MCP) {
            loaded.servers.insert(name.clone(), super::kiro::server(&map));
        }
    }
}

fn config(file: &Path, loaded: &mut Loaded) {
    let Ok(text) = std::fs::read_to_string(file) else { return };
    let mut reading = Reading::new(file, &mut loaded.refused);
    let value: Option<Value> = serde_yaml::from_str(text.trim_start_matches('\u{feff}')).ok();
    let good = value.as_ref().is_some_and(|value| value.is_object() || value.is_null());
    if !reading.hold(good, "", CONFIG) {
        return;
    }
    let value = value.unwrap_or_default();
    for (key, entry) in value["extensions"].as_object().into_iter().flatten() {
        let map = entry.as_object().cloned().unwrap_or_default();
        let found = extension(key, &map, &mut reading);
        if let (Some(server), Some(true)) = (found, map.get("enabled").and_then(Value::as_bool)) {
            loaded.servers.insert(text_of(&map, key), server);
        }
    }
}

fn text_of(map: &Map<String, Value>, key: &str) -> String {
    let name = text(map, "name");
    if name.is_empty() { key.to_owned() } else { name }
}

/// The server that an extension is, whether it is switched on or not.
fn extension(key: &str, map: &Map<String, Value>, reading: &mut Reading<'_>) -> Option<Server> {
    let place = format!("extensions.{key}");
    let all = [("enabled", Shape::Bool), ("type", Shape::Text), ("name", Shape::FilledText)];
    let whole = [("timeout", Shape::Whole), ("description", Shape::Text)];
    let good = reading.needs(map, &place, &all, EXTENSION)
        & reading.shapes(map, &place, &whole, EXTENSION);
    match text(map, "type").as_str() {
        "stdio" => {
            let needs = [("cmd", Shape::FilledText), ("args", Shape::Texts)];
            let more = [("envs", Shape::TextMap), ("env_keys", Shape::Texts)];
            let good = good
                & reading.needs(map, &place, &needs, STDIO)
                & reading.shapes(map, &place, &more, STDIO);
            let env = text_map(map.get("envs"));
            let loads = |name: &String| {
                name == "PATH" || name.starts_with("LD_") || name.starts_with("DYLD_")
            };
            reading.hold(!env.keys().any(loads), &format!("{place}.envs"), VARIABLES);
            let command = std::iter::once(text(map, "cmd")).chain(texts(map.get("args"))).collect();
            good.then_some(Server::Program { command, env })
        }
        "streamable_http" => {
            let good = good
                & reading.needs(map, &place, &[("uri", Shape::FilledText)], HTTP)
                & reading.shapes(map, &place, &[("headers", Shape::TextMap)], HTTP);
            let headers = text_map(map.get("headers"));
            good.then(|| Server::Http { url: text(map, "uri"), headers })
        }
        // Its own, and others that are no servers.
        "builtin" | "platform" | "frontend" | "inline_python" => None,
        _ => {
            reading.hold(false, &format!("{place}.type"), HTTP);
            None
        }
    }
}

/// The skills below a folder, however deep; ignore files are nothing to it.
fn skills_below(folder: &Path, loaded: &mut Loaded) {
    for path in entries(folder) {
        if path.is_dir() {
            skills_below(&path, loaded);
        } else if path.file_name().is_some_and(|name| name == "SKILL.md") {
            let skill = skills::read(&path, &mut loaded.refused);
            loaded.skills.extend(skill);
        }
    }
}

/// Before a tool it takes a block, and nothing else: exit code 2 with standard error, or the words at
/// any exit code. Whatever else a hook ends with is its failure, and the tool runs.
pub(super) fn take(event: &str, ended: Ended<'_>) -> Effect {
    if event != "PreToolUse" {
        return Effect::default();
    }
    let said = serde_json::from_str::<Value>(ended.stdout).unwrap_or_default();
    let blocked = match (ended.exit, said["decision"].as_str()) {
        (Some(_), Some("block")) => Some(said["reason"].as_str().unwrap_or_default().to_owned()),
        (Some(2), _) => Some(ended.stderr.to_owned()),
        _ => None,
    };
    Effect { blocked, context: None }
}
