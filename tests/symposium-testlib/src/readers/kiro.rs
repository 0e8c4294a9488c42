//! Kiro's rules. Most of them stand in its documentation; how its loaders take them was probed with
//! `kiro-cli` 2.32.1 (which has both generations) by the authors of agnix, whose crate agnix-core
//! 0.60.3 has a rule for each with its evidence: `KR-…` in the sources below.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use super::rules::{Reading, Refusal, Rule, Shape, entries, json_files, text, text_map, texts};
use super::{Effect, Ended, Hook, Loaded, Server, Skill, skills};

const AGENT_PAGE: &str = "https://kiro.dev/docs/custom-agents/configuration-reference/";

const AGENT: Rule =
    Rule { says: "an agent's file is JSON without comments, an object", source: "KR-AG-016" };
const AGENT_NAME: Rule =
    Rule { says: "an agent has a name that is not empty", source: "KR-AG-008, KR-AG-019" };
const AGENT_FIELD: Rule =
    Rule { says: "an agent's fields are those of the reference", source: AGENT_PAGE };
const AGENT_TYPE: Rule = Rule { says: "an agent's fields have their types", source: "KR-AG-018" };
const RESOURCE: Rule =
    Rule { says: "a resource begins with file:// or skill://", source: "KR-AG-002" };
const TRIGGER: Rule = Rule {
    says: "an agent's hooks are for agentSpawn, userPromptSubmit, preToolUse, postToolUse or stop",
    source: "KR-HK-005",
};
const ENTRY: Rule = Rule {
    says: "an agent's hook is an object in a list, with a text `command`; `matcher` is text, \
           `timeout_ms` and the like whole numbers",
    source: "KR-HK-006",
};
const ENTRY_FIELD: Rule = Rule {
    says: "an agent's hook has no other fields, and its limit is in milliseconds",
    source: "KR-AG-026, KR-AG-027",
};
const HOOKS_FILE: Rule = Rule {
    says: "a file of hooks is JSON with `version` v1 and a list `hooks` of objects",
    source: "https://kiro.dev/docs/hooks/, KR-HK-011, KR-HK-012",
};
const HOOK: Rule = Rule {
    says: "a hook has a name, a trigger and an action, or the whole file is skipped",
    source: "https://kiro.dev/docs/hooks/, KR-HK-012",
};
const HOOK_TRIGGER: Rule = Rule {
    says: "a trigger is one that Kiro has",
    source: "https://kiro.dev/docs/hooks/types/, KR-HK-012",
};
const ACTION: Rule = Rule {
    says: "an action is a command with its text, or an agent with its prompt",
    source: "https://kiro.dev/docs/hooks/actions/, KR-HK-013",
};
const VALUES: Rule = Rule {
    says: "`timeout` is whole seconds, `enabled` yes or no, `description` and `matcher` texts",
    source: "KR-HK-017",
};
const MATCHER: Rule = Rule {
    says: "a matcher is a regular expression, for tools and files only",
    source: "KR-HK-019, KR-HK-020",
};
const HOOK_FIELD: Rule = Rule { says: "a hook has no other fields", source: "KR-HK-022" };
const MCP: Rule = Rule {
    says: "mcp.json is JSON with a map `mcpServers`",
    source: "https://kiro.dev/docs/mcp/configuration/, KR-MCP-001",
};
const SERVER: Rule = Rule {
    says: "a server has a command or a url, and not both",
    source: "KR-MCP-001, KR-MCP-011",
};
const SERVER_TYPE: Rule = Rule {
    says: "a server's fields have their types, or version 2 takes no server of the file",
    source: "KR-MCP-007",
};
const SERVER_FIELD: Rule = Rule { says: "a server has no other fields", source: "KR-MCP-010" };
const COMMAND: Rule = Rule {
    says: "a server's command is a program, its arguments are in `args`",
    source: "KR-MCP-003",
};
const URL: Rule = Rule {
    says: "a url begins with https://, or with http:// for this machine",
    source: "KR-MCP-004, KR-MCP-008",
};

const AGENT_FIELDS: [&str; 16] = [
    "$schema",
    "name",
    "description",
    "prompt",
    "model",
    "tools",
    "allowedTools",
    "toolsSettings",
    "toolAliases",
    "resources",
    "mcpServers",
    "includeMcpJson",
    "useLegacyMcpJson",
    "hooks",
    "keyboardShortcut",
    "welcomeMessage",
];

/// The triggers of an agent's hooks, and the events that are ours.
const AGENT_TRIGGERS: [(&str, &str); 5] = [
    ("agentSpawn", "SessionStart"),
    ("userPromptSubmit", "UserPromptSubmit"),
    ("preToolUse", "PreToolUse"),
    ("postToolUse", "PostToolUse"),
    ("stop", "Stop"),
];

/// The triggers of a file of hooks. It has other spellings, which nobody need use.
const TRIGGERS: [&str; 12] = [
    "SessionStart",
    "SessionEnd",
    "Stop",
    "PreToolUse",
    "PostToolUse",
    "PreTaskExec",
    "PostTaskExec",
    "UserPromptSubmit",
    "PostFileCreate",
    "PostFileSave",
    "PostFileDelete",
    "Manual",
];

/// What a hook may take when its file says nothing.
const LIMIT: Duration = Duration::from_secs(30);

/// The name of the agent that the user of version 2 chose.
const CHOSEN: &str = "symposium";

/// What an agent's hooks call the event.
pub(super) fn agent_trigger(event: &str) -> &'static str {
    let found = AGENT_TRIGGERS.into_iter().find(|(_, canonical)| *canonical == event);
    found.map_or("", |(trigger, _)| trigger)
}

/// Up to version 2: the hooks, resources and servers are those of the agent that was chosen. A
/// workspace's agent hides the user's of the same name (the reference's page on where agents are).
pub(super) fn load_agent(home: &Path, workspace: &Path) -> Loaded {
    let mut loaded = Loaded::default();
    let mut chosen = None;
    for root in [home, workspace] {
        for file in json_files(&root.join(".kiro/agents")) {
            let agent = agent(&file, &mut loaded.refused);
            chosen = agent.filter(|agent| text(agent, "name") == CHOSEN).or(chosen);
        }
    }
    let Some(agent) = chosen else { return loaded };
    loaded.hooks = agent_hooks(&agent);
    for resource in texts(agent.get("resources")) {
        let Some(pattern) = resource.strip_prefix("skill://") else { continue };
        let pattern = workspace.join(pattern).to_string_lossy().into_owned();
        for file in glob::glob(&pattern).into_iter().flatten().flatten() {
            let skill = skills::read(&file, &mut loaded.refused);
            loaded.skills.extend(skill);
        }
    }
    if agent.get("includeMcpJson").and_then(Value::as_bool) == Some(true) {
        settings(home, workspace, true, &mut loaded);
    }
    loaded
}

/// From version 3 on: hooks in files of their own, the user's before the workspace's, for any agent.
/// Kiro reports of version 2.14.2 say that both are run.
pub(super) fn load(home: &Path, workspace: &Path) -> Loaded {
    let mut loaded = Loaded::default();
    for root in [home, workspace] {
        for file in json_files(&root.join(".kiro/hooks")) {
            let hooks = hooks_file(&file, &mut loaded.refused);
            loaded.hooks.extend(hooks);
        }
        for folder in entries(&root.join(".kiro/skills")) {
            let file = folder.join("SKILL.md");
            let skill: Option<Skill> =
                file.is_file().then(|| skills::read(&file, &mut loaded.refused)).flatten();
            loaded.skills.extend(skill);
        }
    }
    settings(home, workspace, false, &mut loaded);
    loaded
}

/// The agent, where its file is taken.
fn agent(file: &Path, refused: &mut Vec<Refusal>) -> Option<Map<String, Value>> {
    let mut reading = Reading::new(file, refused);
    let map = reading.json(AGENT)?;
    let fields = [
        ("description", Shape::Text),
        ("prompt", Shape::Text),
        ("model", Shape::Text),
        ("tools", Shape::Texts),
        ("allowedTools", Shape::Texts),
        ("toolsSettings", Shape::Map),
        ("toolAliases", Shape::TextMap),
        ("mcpServers", Shape::Map),
        ("includeMcpJson", Shape::Bool),
        ("hooks", Shape::Map),
    ];
    let mut good = reading.needs(&map, "", &[("name", Shape::FilledText)], AGENT_NAME)
        & reading.shapes(&map, "", &fields, AGENT_TYPE);
    for field in map.keys() {
        reading.hold(AGENT_FIELDS.contains(&field.as_str()), field, AGENT_FIELD);
    }
    for resource in map.get("resources").and_then(Value::as_array).into_iter().flatten() {
        let known = resource.as_str().is_some_and(|resource| {
            resource.starts_with("file://") || resource.starts_with("skill://")
        });
        good &= reading.hold(known, "resources", RESOURCE);
    }
    for (trigger, entries) in map.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        let place = format!("hooks.{trigger}");
        let known = AGENT_TRIGGERS.iter().any(|(name, _)| name == trigger);
        good &=
            reading.hold(known, &place, TRIGGER) & reading.hold(entries.is_array(), &place, ENTRY);
        for entry in entries.as_array().into_iter().flatten() {
            good &= agent_entry(entry, &place, &mut reading);
        }
    }
    good.then_some(map)
}

fn agent_entry(entry: &Value, place: &str, reading: &mut Reading<'_>) -> bool {
    let map = entry.as_object().cloned().unwrap_or_default();
    let fields = [
        ("matcher", Shape::Text),
        ("timeout_ms", Shape::Whole),
        ("max_output_size", Shape::Whole),
        ("cache_ttl_seconds", Shape::Whole),
        ("description", Shape::Text),
        ("command", Shape::FilledText),
    ];
    for field in map.keys() {
        let known = fields.iter().any(|(name, _)| name == field);
        reading.hold(known, &format!("{place}.{field}"), ENTRY_FIELD);
    }
    reading.needs(&map, place, &[("command", Shape::FilledText)], ENTRY)
        & reading.shapes(&map, place, &fields, ENTRY)
}

/// The hooks of an agent that was taken.
fn agent_hooks(agent: &Map<String, Value>) -> Vec<Hook> {
    let lists = agent.get("hooks").and_then(Value::as_object).into_iter().flatten();
    let entries = lists.flat_map(|(trigger, entries)| {
        entries.as_array().into_iter().flatten().map(move |entry| (trigger, entry))
    });
    let hook = |(trigger, entry): (&String, &Value)| {
        let event = AGENT_TRIGGERS.into_iter().find(|(name, _)| name == trigger)?.1;
        let limit = entry.get("timeout_ms").and_then(Value::as_u64).map(Duration::from_millis);
        let command = entry.get("command").and_then(Value::as_str)?.to_owned();
        Some(Hook { event: event.to_owned(), command, limit: limit.unwrap_or(LIMIT), plugin: None })
    };
    entries.filter_map(hook).collect()
}

/// The hooks of a file; none of one that has anything wrong.
fn hooks_file(file: &Path, refused: &mut Vec<Refusal>) -> Vec<Hook> {
    let mut reading = Reading::new(file, refused);
    let Some(map) = reading.json(HOOKS_FILE) else { return Vec::new() };
    let entries = map.get("hooks").and_then(Value::as_array);
    let good = reading.hold(text(&map, "version") == "v1", "version", HOOKS_FILE)
        & reading.hold(entries.is_some(), "hooks", HOOKS_FILE);
    let mut found = Vec::new();
    let mut whole = good;
    for entry in entries.into_iter().flatten() {
        let map = entry.as_object().cloned().unwrap_or_default();
        whole &= hook_entry(&map, &mut reading);
        let trigger = text(&map, "trigger");
        // An unknown trigger costs only its own hook.
        let known = reading.hold(TRIGGERS.contains(&trigger.as_str()), "trigger", HOOK_TRIGGER);
        let action = map.get("action").and_then(Value::as_object).cloned().unwrap_or_default();
        let on = map.get("enabled").and_then(Value::as_bool) != Some(false);
        if known && on && text(&action, "type") == "command" {
            let limit = map.get("timeout").and_then(Value::as_u64).map(Duration::from_secs);
            let (command, limit) = (text(&action, "command"), limit.unwrap_or(LIMIT));
            found.push(Hook { event: trigger, command, limit, plugin: None });
        }
    }
    if whole { found } else { Vec::new() }
}

fn hook_entry(map: &Map<String, Value>, reading: &mut Reading<'_>) -> bool {
    let needs =
        [("name", Shape::FilledText), ("trigger", Shape::FilledText), ("action", Shape::Map)];
    let fields = [
        ("description", Shape::Text),
        ("matcher", Shape::Text),
        ("timeout", Shape::Whole),
        ("enabled", Shape::Bool),
    ];
    let name = text(map, "name");
    for field in map.keys() {
        let mut known = needs.iter().chain(&fields).map(|(name, _)| *name);
        reading.hold(known.any(|known| known == field), &format!("{name}.{field}"), HOOK_FIELD);
    }
    if let Some(matcher) = map.get("matcher").and_then(Value::as_str) {
        let trigger = text(map, "trigger");
        let matched = trigger.ends_with("ToolUse") || trigger.starts_with("PostFile");
        let good = matched && regex::Regex::new(matcher).is_ok();
        reading.hold(good, &format!("{name}.matcher"), MATCHER);
    }
    let action = map.get("action").and_then(Value::as_object).cloned().unwrap_or_default();
    let field = match text(&action, "type").as_str() {
        "command" => "command",
        "agent" => "prompt",
        _ => "type that is known",
    };
    reading.needs(map, &name, &needs, HOOK)
        & reading.shapes(map, &name, &fields, VALUES)
        & reading.needs(&action, &name, &[(field, Shape::FilledText)], ACTION)
}

/// The servers of the user's and of the workspace's settings; the workspace's count.
fn settings(home: &Path, workspace: &Path, strict: bool, loaded: &mut Loaded) {
    for root in [home, workspace] {
        let file: PathBuf = root.join(".kiro/settings/mcp.json");
        let mut reading = Reading::new(&file, &mut loaded.refused);
        let Some(map) = reading.json(MCP) else { continue };
        if !reading.needs(&map, "", &[("mcpServers", Shape::Map)], MCP) {
            continue;
        }
        let mut found = Vec::new();
        let mut whole = true;
        for (name, entry) in map["mcpServers"].as_object().into_iter().flatten() {
            let entry = entry.as_object().cloned().unwrap_or_default();
            let good = server_entry(&entry, &format!("mcpServers.{name}"), &mut reading);
            whole &= good;
            let off = entry.get("disabled").and_then(Value::as_bool) == Some(true);
            if good && !off {
                found.push((name.clone(), server(&entry)));
            }
        }
        // Version 2 takes all of a file or nothing.
        if whole || !strict {
            loaded.servers.extend(found);
        }
    }
}

fn server_entry(map: &Map<String, Value>, place: &str, reading: &mut Reading<'_>) -> bool {
    let fields = [
        ("command", Shape::FilledText),
        ("args", Shape::Texts),
        ("env", Shape::TextMap),
        ("cwd", Shape::Text),
        ("url", Shape::FilledText),
        ("headers", Shape::TextMap),
        ("type", Shape::Text),
        ("timeout", Shape::Whole),
        ("disabled", Shape::Bool),
        ("disabledTools", Shape::Texts),
        ("autoApprove", Shape::Texts),
        ("waitForReady", Shape::Bool),
        ("oauth", Shape::Map),
        ("oauthScopes", Shape::Texts),
    ];
    for field in map.keys() {
        let known = fields.iter().any(|(name, _)| name == field);
        reading.hold(known, &format!("{place}.{field}"), SERVER_FIELD);
    }
    let one = map.contains_key("command") != map.contains_key("url");
    let command = text(map, "command");
    let split = command.contains(' ') && !command.contains('/');
    let url = text(map, "url");
    let local = ["localhost", "127.0.0.1", "[::1]"]
        .iter()
        .any(|host| url.starts_with(&format!("http://{host}")));
    let reached = url.is_empty() || url.starts_with("https://") || local;
    reading.shapes(map, place, &fields, SERVER_TYPE)
        & reading.hold(one, place, SERVER)
        & reading.hold(!split, place, COMMAND)
        & reading.hold(reached, place, URL)
}

/// An entry of `mcpServers`, which was found good.
pub(super) fn server(map: &Map<String, Value>) -> Server {
    let url = text(map, "url");
    if url.is_empty() {
        let command = std::iter::once(text(map, "command")).chain(texts(map.get("args")));
        return Server::Program { command: command.collect(), env: text_map(map.get("env")) };
    }
    Server::Http { url, headers: text_map(map.get("headers")) }
}

/// Exit code 0 gives standard output to the model, 2 blocks where that can be, with standard error
/// for the model; whatever else is a warning for the user (documentation, hooks and the 2.x
/// reference).
pub(super) fn take(ended: Ended<'_>, can_block: bool) -> Effect {
    match ended.exit {
        Some(0) if !ended.stdout.is_empty() => {
            Effect { blocked: None, context: Some(ended.stdout.to_owned()) }
        }
        Some(2) if can_block => Effect { blocked: Some(ended.stderr.to_owned()), context: None },
        _ => Effect::default(),
    }
}
