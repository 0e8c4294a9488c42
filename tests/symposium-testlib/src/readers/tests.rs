//! Each rule refuses what breaks it, and what is good is taken.

use serde_json::{Value, json};

use super::*;

/// A home folder and a workspace with these files: `home/…` or `ws/…`.
fn load(reader: Reader, files: &[(&str, String)]) -> Loaded {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for (path, text) in files {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
        std::fs::write(path, text).expect("writes");
    }
    reader.load(&dir.path().join("home"), &dir.path().join("ws"))
}

/// What is refused of one file: places and sources.
fn refused(reader: Reader, path: &str, text: impl ToString) -> Vec<String> {
    let loaded = load(reader, &[(path, text.to_string())]);
    loaded.refused.iter().map(|no| format!("{}: {}", no.place, no.rule.says)).collect()
}

#[track_caller]
fn refuses(reader: Reader, path: &str, text: impl ToString, words: &str) {
    let said = refused(reader, path, text.to_string());
    assert!(said.iter().any(|said| said.contains(words)), "{said:?} of {}", text.to_string());
}

const AGENT: &str = "ws/.kiro/agents/symposium.json";
const HOOKS: &str = "home/.kiro/hooks/a.json";
const MCP: &str = "ws/.kiro/settings/mcp.json";
const GOOSE_HOOKS: &str = "ws/.agents/plugins/a/hooks/hooks.json";

#[test]
fn kiro_s_agents_are_taken_by_the_rules_of_version_2() {
    let good = json!({
        "name": "symposium", "tools": ["*"], "resources": ["skill://.kiro/skills/**/SKILL.md"],
        "hooks": { "preToolUse": [{ "matcher": "*", "command": "x", "timeout_ms": 1500 }] },
    });
    let loaded = load(Reader::Kiro2, &[(AGENT, good.to_string())]);
    assert_eq!(loaded.refused, []);
    let hook = &loaded.hooks[0];
    assert_eq!((hook.event.as_str(), hook.limit.as_millis()), ("PreToolUse", 1500));
    let with = |key: &str, value: Value| {
        let mut agent = good.clone();
        agent[key] = value;
        agent
    };
    let entry = |entry: Value| with("hooks", json!({ "preToolUse": [entry] }));
    for (agent, words) in [
        (json!(["symposium"]), "an object"),
        (with("name", json!("")), "has a name"),
        (with("tool", json!([])), "fields are those"),
        (with("tools", json!("*")), "have their types"),
        (with("includeMcpJson", json!("yes")), "have their types"),
        (with("resources", json!(["a.md"])), "skill://"),
        (with("hooks", json!({ "PreToolUse": [] })), "hooks are for"),
        (with("hooks", json!({ "preToolUse": {} })), "in a list"),
        (entry(json!({ "hooks": [{ "command": "x" }] })), "with a text `command`"),
        (entry(json!({ "command": "x", "matcher": ["a"] })), "`matcher` is text"),
        (entry(json!({ "command": "x", "timeout_ms": "1" })), "whole numbers"),
        (entry(json!({ "command": "x", "timeout": 30 })), "in milliseconds"),
    ] {
        refuses(Reader::Kiro2, AGENT, agent, words);
    }
    refuses(Reader::Kiro2, AGENT, format!("// mine\n{good}"), "without comments");
}

#[test]
fn kiro_s_files_of_hooks_are_taken_whole_or_not_at_all() {
    let good = json!({
        "name": "a", "trigger": "PreToolUse", "timeout": 9,
        "action": { "type": "command", "command": "x" },
    });
    let file = |hooks: Value| json!({ "version": "v1", "hooks": hooks });
    let loaded = load(Reader::Kiro3, &[(HOOKS, file(json!([good])).to_string())]);
    assert_eq!(loaded.refused, []);
    assert_eq!((loaded.hooks.len(), loaded.hooks[0].limit.as_secs()), (1, 9));
    let with = |key: &str, value: Value| {
        let mut hook = good.clone();
        hook[key] = value;
        hook
    };
    for (hook, words, kept) in [
        (with("name", json!("")), "the whole file", 0),
        (with("action", json!({ "type": "command" })), "a command with its text", 0),
        (with("action", json!({ "type": "shell", "command": "x" })), "a command with its text", 0),
        (with("timeout", json!(1.5)), "whole seconds", 0),
        (with("enabled", json!("yes")), "yes or no", 0),
        (with("trigger", json!("AgentSpawn")), "that Kiro has", 1),
        (with("matcher", json!("*")), "a regular expression", 2),
        (with("timeout_ms", json!(1)), "no other fields", 2),
    ] {
        let text = file(json!([good, hook]));
        refuses(Reader::Kiro3, HOOKS, &text, words);
        let loaded = load(Reader::Kiro3, &[(HOOKS, text.to_string())]);
        assert_eq!(loaded.hooks.len(), kept, "{text}");
    }
    refuses(Reader::Kiro3, HOOKS, json!({ "version": 1, "hooks": [] }), "`version` v1");
    refuses(Reader::Kiro3, HOOKS, json!({ "version": "v1", "hooks": {} }), "a list `hooks`");
}

#[test]
fn kiro_s_version_2_takes_no_server_of_a_file_that_has_a_bad_one() {
    let agent = (AGENT, json!({ "name": "symposium", "includeMcpJson": true }).to_string());
    let servers = |bad: Value| json!({ "mcpServers": { "good": { "command": "x" }, "bad": bad } });
    for (bad, words) in [
        (json!({}), "a command or a url"),
        (json!({ "command": "x", "url": "https://a" }), "and not both"),
        (json!({ "type": "local", "command": ["x"] }), "have their types"),
        (json!({ "command": "x", "env": { "A": 1 } }), "have their types"),
        (json!({ "command": "npx x" }), "arguments are in"),
        (json!({ "url": "http://example.com" }), "http:// for this machine"),
        (json!({ "url": "ftp://example.com" }), "begins with https"),
    ] {
        let file = servers(bad).to_string();
        let files = [agent.clone(), (MCP, file.clone())];
        let (second, third) = (load(Reader::Kiro2, &files), load(Reader::Kiro3, &files));
        for loaded in [&second, &third] {
            assert!(loaded.refused.iter().any(|no| no.rule.says.contains(words)), "{file}");
        }
        assert!(second.servers.is_empty() && third.servers.len() == 1, "{file}");
    }
    refuses(Reader::Kiro3, MCP, servers(json!({ "command": "x", "cmd": "y" })), "no other fields");
    refuses(Reader::Kiro3, MCP, json!({ "servers": {} }), "a map `mcpServers`");
}

#[test]
fn goose_skips_what_its_parsers_do_not_take() {
    let file = |event: &str, group: Value| json!({ "hooks": { event: [group] } });
    let hook = json!({ "type": "command", "command": "${PLUGIN_ROOT}/x" });
    let good = file("PreToolUse", json!({ "hooks": [hook] }));
    let loaded = load(Reader::Goose, &[(GOOSE_HOOKS, good.to_string())]);
    assert_eq!(loaded.refused, []);
    assert!(loaded.hooks[0].command.ends_with("/plugins/a/x"), "{:?}", loaded.hooks);
    assert_eq!(loaded.hooks[0].limit.as_secs(), 30);
    for (event, group, words) in [
        ("preToolUse", json!({ "hooks": [hook] }), "an event is one"),
        ("PreToolUse", json!({ "matcher": "*", "hooks": [hook] }), "a regular expression"),
        ("PreToolUse", json!({ "command": "x" }), "a list `hooks`"),
        ("PreToolUse", json!({ "hooks": [{ "command": "x" }] }), "`type` command"),
        ("PreToolUse", json!({ "hooks": [{ "type": "command" }] }), "a text `command`"),
    ] {
        let text = file(event, group);
        refuses(Reader::Goose, GOOSE_HOOKS, &text, words);
        assert_eq!(load(Reader::Goose, &[(GOOSE_HOOKS, text.to_string())]).hooks, []);
    }
    refuses(Reader::Goose, "ws/.agents/plugins/a/plugin.json", json!({}), "plugin.json");
    let servers = json!({ "mcpServers": { "a": { "type": "sse", "url": "https://a" } } });
    refuses(Reader::Goose, "ws/.agents/plugins/a/.mcp.json", servers, "`mcpServers`");
}

#[test]
fn goose_takes_extensions_that_have_all_they_need() {
    let entry = |text: &str| format!("extensions:\n  a: {text}\n");
    let good = "{ enabled: true, type: stdio, name: a, cmd: x, args: [y], envs: { B: c } }";
    let loaded = load(Reader::Goose, &[(GOOSE_CONFIG, entry(good))]);
    assert_eq!(loaded.refused, []);
    let env = BTreeMap::from([("B".to_owned(), "c".to_owned())]);
    let command = vec!["x".to_owned(), "y".to_owned()];
    assert_eq!(loaded.servers["a"], Server::Program { command, env });
    for (text, words) in [
        (good.replace("enabled: true, ", ""), "has `enabled`"),
        (good.replace("name: a, ", ""), "`name`"),
        (good.replace(", args: [y]", ""), "has `cmd` and `args`"),
        (good.replace("stdio", "sse"), "no type"),
        (good.replace("{ B: c }", "{ B: 1 }"), "`envs`"),
        ("{ enabled: true, type: streamable_http, name: a, url: u }".to_owned(), "has `uri`"),
        ("{ provider: mcp, config: {} }".to_owned(), "has `enabled`"),
    ] {
        refuses(Reader::Goose, GOOSE_CONFIG, entry(&text), words);
        assert!(load(Reader::Goose, &[(GOOSE_CONFIG, entry(&text))]).servers.is_empty(), "{text}");
    }
    refuses(Reader::Goose, GOOSE_CONFIG, entry(&good.replace("B: c", "PATH: /x")), "are dropped");
    refuses(Reader::Goose, GOOSE_CONFIG, "a: [", "a map in YAML");
    let off = entry(&good.replace("true", "false"));
    assert!(load(Reader::Goose, &[(GOOSE_CONFIG, off)]).servers.is_empty());
}

#[test]
fn a_project_s_goose_plugin_and_kiro_agent_hide_the_user_s_and_files_of_hooks_do_not() {
    let hooks = |command: &str| {
        let hook = json!({ "type": "command", "command": command });
        json!({ "hooks": { "Stop": [{ "hooks": [hook] }] } }).to_string()
    };
    let path = ".agents/plugins/a/hooks/hooks.json";
    let both = [(format!("home/{path}"), hooks("h")), (format!("ws/{path}"), hooks("w"))];
    let both: Vec<(&str, String)> =
        both.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
    let commands =
        |loaded: &Loaded| loaded.hooks.iter().map(|hook| hook.command.clone()).collect::<Vec<_>>();
    assert_eq!(commands(&load(Reader::Goose, &both)), ["w"]);
    let agent = |command: &str| {
        json!({ "name": "symposium", "hooks": { "stop": [{ "command": command }] } }).to_string()
    };
    let both = [("home/.kiro/agents/a.json", agent("h")), ("ws/.kiro/agents/a.json", agent("w"))];
    assert_eq!(commands(&load(Reader::Kiro2, &both)), ["w"]);
    let file = |command: &str| {
        let action = json!({ "type": "command", "command": command });
        json!({ "version": "v1", "hooks": [{ "name": "a", "trigger": "Stop", "action": action }] })
            .to_string()
    };
    let both = [("home/.kiro/hooks/a.json", file("h")), ("ws/.kiro/hooks/a.json", file("w"))];
    assert_eq!(commands(&load(Reader::Kiro3, &both)), ["h", "w"]);
}

#[test]
fn skills_keep_to_the_specification() {
    for (name, text, words) in [
        ("a", "no frontmatter", "begins with a block"),
        ("a", "---\nname: b\ndescription: d\n---\n", "the folder's name"),
        ("A", "---\nname: A\ndescription: d\n---\n", "lower-case"),
        ("a", "---\nname: a\n---\n", "`description` has"),
    ] {
        refuses(Reader::Goose, &format!("ws/.agents/skills/deep/{name}/SKILL.md"), text, words);
        refuses(Reader::Kiro3, &format!("ws/.kiro/skills/{name}/SKILL.md"), text, words);
    }
    let good = "---\nname: a-1\ndescription: d\ncrates: x\n---\n".to_owned();
    let loaded = load(Reader::Kiro3, &[("ws/.kiro/skills/a-1/SKILL.md", good)]);
    assert_eq!((loaded.skills_named("a-1").len(), loaded.refused.len()), (1, 0));
}
