//! The files of what is written. Each key and each step has a comment that says what it is for.

use std::fmt::Write as _;

use super::wish::{Kind, Wish};
use crate::cli::author_args::Part;
use crate::cli::plugin::schema::{MANIFEST_COPY, Schema};
use crate::plugins::manifest::FILE_NAME;
use crate::skills::content::{Content, FileContent};
use crate::skills::discover::SKILL_FILE;

const HOOK: &str = include_str!("files/hook.sh");
const SERVER: &str = include_str!("files/server.sh");
const SUBCOMMAND: &str = include_str!("files/subcommand.sh");
const SKILL: &str = include_str!("files/skill.md");

const TESTS: &str = include_str!("files/tests.toml");
const HOOK_CASES: &str = r#"
[[case]]
name = "a force push is denied"
# The tool's input. The tool is `Bash` and the event `PreToolUse` where nothing else is said.
input = { command = "git push --force" }
# Who sends it; "all" is every agent.
agents = ["all"]
# What the hooks decide, and what stands in the reason.
expect = { decision = "deny", reason = "force-with-lease" }

[[case]]
name = "any other push goes on"
input = { command = "git push" }
# `hooks` are those that were asked.
expect = { decision = "none", hooks = ["no-force-push"] }
"#;
const SKILL_CASE: &str = r#"
[[case]]
name = "there is the skill"
# The skills that apply.
expect.skills = ["@NAME@"]
"#;
const SERVER_CASE: &str = r#"
[[case]]
name = "the server has its tool"
# The tools of each server.
expect.tools = { @NAME@ = ["hello"] }
"#;

const HEAD: &str = r#"#:schema ./@SCHEMA@
# What `cargo agents plugin list` calls it.
name = "@NAME@"
# Yours to count; packages that are exported say it.
version = "0.1.0"
# One line that says what it is good for.
description = "What agents should have in workspaces that it applies to"
"#;
const EVERYWHERE: &str = r#"# Where it applies: in every workspace. ["serde", "tokio>=1.40"] would be where one of these is a direct
# dependency.
"#;
const FOR_CRATES: &str = r#"# Where it applies: in workspaces that depend directly on one of these. ["*"] would be every workspace.
"#;
const SKILLS_PART: &str = r#"
# Skills: each folder in `skills/` that has a SKILL.md.
[[skills]]
source.path = "skills"
"#;
const CRATE_SKILLS_PART: &str = r#"
# Skills that the crates above ship themselves, in the version that the workspace uses.
[[skills]]
source = "crate"
"#;
const HOOK_PART: &str = r#"
# A program that is asked before an agent uses a tool.
[[hooks]]
# What reasons and logs call it.
name = "no-force-push"
# Also: PostToolUse, UserPromptSubmit, SessionStart, Stop.
event = "PreToolUse"
# Which tools: a regular expression over the whole name. Without it, all.
matcher = "Bash"
# Run as `sh hooks/no-force-push.sh`. A program of yours is `{ executable = "…" }`, one that cargo installs
# `{ source = "cargo", crate = "…", executable = "…" }`.
command = { script = "hooks/no-force-push.sh" }
# Seconds until it is ended.
timeout = 10
# What a crash or a time-out means: "continue" lets the agent go on, "block" keeps it back.
on-failure = "continue"
"#;
const SERVER_PART: &str = r#"
# An MCP server, which is entered into the agents' own files.
[[mcp_servers]]
# What agents call it.
name = "@NAME@"
# What is run: an installation below, or a program on the user's PATH.
command = "@NAME@-server"

# A program, and how to get it: this one is in the plugin's folder.
[[installations]]
# What `command` refers to.
name = "@NAME@-server"
# Run as `sh servers/@NAME@.sh`.
script = "servers/@NAME@.sh"
"#;
const SUBCOMMAND_PART: &str = r#"
# `cargo agents @NAME@`.
[subcommand.@NAME@]
# One line, which the help shows to people and agents.
description = "Say where @NAME@ is run, and with what"
# What is run; its arguments are those that were typed.
command = { script = "commands/@NAME@.sh" }
# Whose part of the help it stands in: "agents" or "humans".
audience = "agents"
"#;

/// The files, by their path in the folder.
pub(super) fn content(wish: &Wish) -> Content {
    let mut content = Content::default();
    let mut add = |path: &str, text: String, executable: bool| {
        let file = FileContent { executable, ..FileContent::text(text) };
        content.files.insert(path.to_owned(), file);
    };
    let named = |text: &str| text.replace("@NAME@", &wish.name);
    let Kind::Plugin(parts) = &wish.kind else {
        add(SKILL_FILE, skill(wish), false);
        return content;
    };
    // A hook and a subcommand of one name would have one program.
    let scripts = [
        (Part::Hook, "hooks/no-force-push.sh", HOOK),
        (Part::Server, "servers/@NAME@.sh", SERVER),
        (Part::Subcommand, "commands/@NAME@.sh", SUBCOMMAND),
    ];
    for (_, path, text) in scripts.iter().filter(|(part, ..)| parts.contains(part)) {
        add(&named(path), named(text), true);
    }
    if parts.contains(&Part::Skills) {
        add(&format!("skills/{}/{SKILL_FILE}", wish.name), skill(wish), false);
    }
    let applies = if wish.is_everywhere() { EVERYWHERE } else { FOR_CRATES };
    let crates = wish.crates.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>();
    let mut manifest = format!("{}{applies}crates = [{}]\n", named(HEAD), crates.join(", "));
    let texts = [
        (Part::Skills, SKILLS_PART),
        (Part::CrateSkills, CRATE_SKILLS_PART),
        (Part::Hook, HOOK_PART),
        (Part::Server, SERVER_PART),
        (Part::Subcommand, SUBCOMMAND_PART),
    ];
    for (_, text) in texts.iter().filter(|(part, _)| parts.contains(part)) {
        manifest.push_str(&named(text));
    }
    add(FILE_NAME, manifest.replace("@SCHEMA@", MANIFEST_COPY), false);
    add(MANIFEST_COPY, Schema::Manifest.text().to_owned(), false);
    let cases = [(Part::Hook, HOOK_CASES), (Part::Skills, SKILL_CASE), (Part::Server, SERVER_CASE)];
    let cases = cases.iter().filter(|(part, _)| parts.contains(part));
    let cases: String = cases.map(|(_, text)| named(text)).collect();
    if !cases.is_empty() {
        add(&format!("tests/{}.toml", wish.name), format!("{TESTS}{cases}"), false);
    }
    content
}

fn skill(wish: &Wish) -> String {
    let about = wish.about();
    let mut gate = String::new();
    if matches!(wish.kind, Kind::Skill) {
        gate.push_str("metadata:\n  # ");
        gate.push_str(match wish.is_everywhere() {
            true => {
                "Where it applies: in every workspace. `serde` would be where that is a dependency."
            }
            false => "Where it applies: in workspaces that depend directly on one of these.",
        });
        let _ = writeln!(gate, "\n  crates: \"{}\"", wish.crates.join(", "));
    }
    let (description, body) = match about {
        Some(name) => (
            format!("How to use the crate {name}. Use when code uses {name}, or when it is added."),
            format!(
                "- Don't write calls of {name} from memory: `cargo agents crate-info {name}` prints the \
                 folder\n  of the version in use, and `cargo agents crate-info {name} ITEM` an item's \
                 declaration.\n- After a change run `cargo check`, then the tests of the code that uses \
                 it."
            ),
        ),
        None => (
            format!("How we do {0} here. Use when a task is about {0}.", wish.name),
            "- Look at how it was done before: `git log --stat -5`.\n- After a change run the tests of \
             what changed."
                .to_owned(),
        ),
    };
    SKILL
        .replace("@NAME@", &wish.name)
        .replace("@DESCRIPTION@", &description)
        .replace("@GATE@", &gate)
        .replace("@BODY@", &body)
}
