//! Which skills an event tells to have been read, and how they are counted.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use symposium_hook::{Input, PostToolUseInput};

use crate::agents::command::OWN_SERVER;
use crate::agents::wire::Decoded;
use crate::files::is_plain_name;

/// The file that reading a skill means reading.
const FILE: &str = "SKILL.md";
/// The tool of our own MCP server that answers with a skill's text.
const OWN_TOOL: &str = "read_skill";
/// The longest name that is noted, in bytes: what a model calls a skill may be anything.
const LONGEST_NAME: usize = 128;
/// Two registrations deliver one use of a tool twice, this far apart at most, in milliseconds.
const SAME_USE: u64 = 2_000;

/// How often a session read a skill.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(super) struct SkillRead {
    /// The name it is installed under.
    pub name: String,
    /// The workspace, where that is not the one in which the session began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<PathBuf>,
    /// How often.
    pub count: u64,
    /// When last, in milliseconds since 1970.
    pub last_at: u64,
    /// The use of the tool that read it last, where the agent names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_use: Option<String>,
}

/// One reading: where, when and with which use of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading<'a> {
    pub root: Option<&'a Path>,
    pub at: u64,
    pub tool_use: Option<&'a str>,
}

/// Counts that the skill `name` was read; once where two registrations tell of it.
pub(super) fn note(reads: &mut Vec<SkillRead>, name: &str, reading: &Reading<'_>) {
    let known =
        reads.iter_mut().find(|read| read.name == name && read.root.as_deref() == reading.root);
    let tool_use = reading.tool_use.map(str::to_owned);
    let Some(known) = known else {
        reads.push(SkillRead {
            name: name.to_owned(),
            root: reading.root.map(Path::to_path_buf),
            count: 1,
            last_at: reading.at,
            last_use: tool_use,
        });
        return;
    };
    let is_same = match &tool_use {
        Some(_) => known.last_use == tool_use,
        None => reading.at.saturating_sub(known.last_at) < SAME_USE,
    };
    if !is_same {
        known.count += 1;
        known.last_at = reading.at;
        known.last_use = tool_use;
    }
}

/// Names of the skills that this use of a tool read, each once: with a tool made for skills, ours
/// included, by reading the file, or in a shell command that names it.
pub(super) fn skills_read(decoded: &Decoded) -> Vec<String> {
    let Input::PostToolUse(input) = &decoded.input else { return Vec::new() };
    if decoded.failed {
        return Vec::new();
    }
    let mut names: Vec<String> = Vec::new();
    for name in named(input) {
        let is_name = name.len() <= LONGEST_NAME && is_plain_name(name);
        if is_name && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn named(input: &PostToolUseInput) -> Vec<&str> {
    let field = |name: &str| input.tool_input.get(name).and_then(Value::as_str);
    match input.tool_name.as_str() {
        "Skill" => field("skill").into_iter().collect(),
        "Read" => {
            let others = input.tool_input.get("file_paths").and_then(Value::as_array);
            let others = others.into_iter().flatten().filter_map(Value::as_str);
            field("file_path").into_iter().chain(others).filter_map(skill_of).collect()
        }
        "Bash" => field("command").map(in_command).unwrap_or_default(),
        tool if is_own_tool(tool) => field("name").into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Whether this is the tool of our own server, whose name some agents write in their own way.
fn is_own_tool(tool: &str) -> bool {
    let server = tool.strip_prefix("mcp__").and_then(|rest| rest.strip_suffix(OWN_TOOL));
    let server = server.and_then(|rest| rest.strip_suffix("__"));
    server.is_some_and(|server| server.replace('_', "-") == OWN_SERVER)
}

/// The skills whose files a shell command names.
fn in_command(command: &str) -> Vec<&str> {
    if !command.contains(FILE) {
        return Vec::new();
    }
    let ends = |c: char| c.is_whitespace() || "'\"`;|&<>(){}=,".contains(c);
    command.split(ends).filter_map(skill_of).collect()
}

/// The skill whose file is at `path`: `…/skills/NAME/SKILL.md`.
fn skill_of(path: &str) -> Option<&str> {
    let mut parts = path.rsplit(['/', '\\']);
    let (file, name, parent) = (parts.next()?, parts.next()?, parts.next()?);
    (file == FILE && parent == "skills").then_some(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agents::wire::Delivery;

    fn used(tool: &str, input: Value) -> Decoded {
        let input = PostToolUseInput {
            tool_name: tool.to_owned(),
            tool_input: input,
            ..PostToolUseInput::default()
        };
        Decoded {
            input: Input::PostToolUse(input),
            tool_use_id: None,
            delivery: Delivery::Single,
            started: None,
            foreign: false,
            failed: false,
        }
    }

    #[test]
    fn a_skill_is_read_with_its_tool_as_a_file_or_in_a_shell_command() {
        let path = "/w/.agents/skills/tokio/SKILL.md";
        for (tool, input, names) in [
            ("Skill", json!({"skill": "tokio"}), &["tokio"][..]),
            ("Read", json!({"file_path": path}), &["tokio"]),
            ("Read", json!({"file_path": "C:\\w\\.agents\\skills\\a\\SKILL.md"}), &["a"]),
            ("Read", json!({"file_paths": [path, "skills/b/SKILL.md"]}), &["tokio", "b"]),
            ("Bash", json!({"command": format!("sed -n '1,9p' '{path}'|head")}), &["tokio"]),
            (
                "Bash",
                json!({"command": format!("cat {path} {path} a/skills/b/SKILL.md")}),
                &["tokio", "b"],
            ),
            ("mcp__cargo-agents__read_skill", json!({"name": "tokio"}), &["tokio"]),
            ("mcp__cargo_agents__read_skill", json!({"name": "tokio"}), &["tokio"]),
            ("mcp__other__read_skill", json!({"name": "tokio"}), &[]),
            ("Read", json!({"file_path": "/w/skills/tokio/guide.md"}), &[]),
            ("Write", json!({"file_path": path}), &[]),
            ("Skill", json!({"skill": "../../etc"}), &[]),
            ("Skill", json!({"skill": "x".repeat(LONGEST_NAME + 1)}), &[]),
            ("Bash", json!({"command": "ls .agents/skills"}), &[]),
        ] {
            assert_eq!(skills_read(&used(tool, input.clone())), names, "{tool} {input}");
        }
        let failed = Decoded { failed: true, ..used("Skill", json!({"skill": "tokio"})) };
        assert!(skills_read(&failed).is_empty());
    }

    #[test]
    fn what_two_registrations_tell_counts_once() {
        let mut reads = Vec::new();
        let mut read = |tool_use, at| {
            note(&mut reads, "s", &Reading { root: None, at, tool_use });
            reads[0].count
        };
        assert_eq!((read(Some("a"), 1), read(Some("a"), 9_000), read(Some("b"), 9_001)), (1, 1, 2));
        assert_eq!((read(None, 20_000), read(None, 20_500), read(None, 30_000)), (3, 3, 4));
        note(&mut reads, "s", &Reading { root: Some(Path::new("/w")), at: 1, tool_use: None });
        assert_eq!(reads.len(), 2, "another workspace's skill of the name");
    }
}
