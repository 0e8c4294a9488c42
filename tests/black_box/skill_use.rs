//! `cargo agents status --use`: how often agents read each skill.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use symposium_testlib::Sandbox;

use crate::hook_kit::{Event, Told, at_tool, millis, send, session};
use crate::{plugin_with_skill, with_agents};

/// A synced workspace with the skills `basics` and `extras`.
fn synced(agents: &[&str]) -> Sandbox {
    let sandbox = with_agents(agents);
    plugin_with_skill(&sandbox, "widget", "widget", "basics");
    sandbox.user_plugin(
        "widget/skills/extras/SKILL.md",
        "---\nname: extras\ndescription: Über alles.\n---\n\nBody.\n",
    );
    sandbox.run(&["sync"]).ok();
    sandbox
}

fn usage(sandbox: &Sandbox) -> Value {
    let run = sandbox.run(&["status", "--use", "--json"]).ok();
    assert_eq!(run.stderr, "");
    serde_json::from_str(&run.stdout).expect("JSON")
}

fn screen(sandbox: &Sandbox) -> String {
    sandbox.run(&["status", "--use"]).ok().stdout
}

/// What is told of the skill `name`.
fn of(usage: &Value, name: &str) -> Value {
    let skills = usage["skills"].as_array().expect("a list");
    skills.iter().find(|skill| skill["name"] == name).expect("the skill").clone()
}

/// A tool was used, in the agent's own words.
fn used(sandbox: &Sandbox, agent: &str, told: &Told, tool: &str, input: &Value) {
    let payload = at_tool(told, (agent, Event::PostToolUse), tool, input);
    let event = Event::PostToolUse.cli_name();
    sandbox.feed(&["hook", agent, event], payload.as_bytes()).ok();
}

fn old_file(sandbox: &Sandbox, id: &str, text: &str) {
    sandbox.write(&format!("home/.symposium/sessions/{id}.json"), text);
}

#[test]
fn reads_of_all_sessions_and_agents_are_counted_with_the_last_time_and_the_cost() {
    let sandbox = synced(&["claude", "codex", "gemini", "copilot", "opencode"]);
    let told = Told::in_ws(&sandbox);
    let skill = json!({"skill": "basics"});
    let earliest = millis();
    used(&sandbox, "claude", &told.clone().id("1"), "Skill", &skill);
    used(&sandbox, "claude", &told.clone().id("2"), "Skill", &skill);
    used(&sandbox, "claude", &told.clone().session("s2"), "Skill", &skill);
    let cat = json!({"command": "sed -n 1,200p .agents/skills/basics/SKILL.md"});
    used(&sandbox, "codex", &told.clone().session("s3"), "Bash", &cat);
    used(
        &sandbox,
        "gemini",
        &told.clone().session("s4"),
        "activate_skill",
        &json!({"name": "basics"}),
    );
    used(&sandbox, "copilot", &told.clone().session("s5"), "skill", &skill);
    used(&sandbox, "opencode", &told.clone().session("s6"), "skill", &json!({"name": "basics"}));
    let usage = usage(&sandbox);
    let basics = of(&usage, "basics");
    assert_eq!(basics["reads"], 7, "{usage:#}");
    assert_eq!(
        basics["by"],
        json!([
            {"agent": "claude", "reads": 3}, {"agent": "codex", "reads": 1},
            {"agent": "copilot", "reads": 1}, {"agent": "gemini", "reads": 1},
            {"agent": "opencode", "reads": 1},
        ])
    );
    let last = basics["last_read_at"].as_str().expect("a time");
    let last = humantime::parse_rfc3339(last).expect("RFC 3339");
    let last = last.duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    assert!(last.as_secs() >= earliest / 1_000 && last.as_secs() <= millis() / 1_000);
    assert_eq!(basics["description_bytes"], "What it is for.".len());
    let extras = of(&usage, "extras");
    let never = (&json!(0), &json!([]), None);
    assert_eq!((&extras["reads"], &extras["by"], extras.get("last_read_at")), never);
    assert_eq!(extras["description_bytes"], "Über alles.".len(), "bytes, not letters");
    assert_eq!(usage["not_told_by"], json!([]));
    let screen = screen(&sandbox);
    let told = regex::Regex::new("read 7 times, last [a-z0-9 ]+: claude 3, codex 1,");
    let line = |name: &str| {
        let found = screen.lines().find(|line| line.trim_start().starts_with(name));
        found.unwrap_or_else(|| panic!("{screen}")).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(line("basics").starts_with("basics 15 bytes read"), "{screen}");
    assert!(told.expect("an expression").is_match(&line("basics")), "{screen}");
    assert_eq!(line("extras"), "extras 12 bytes never read");
    assert!(screen.contains("2 skills, 27 bytes of descriptions a session, 12 of skills that"));
}

#[test]
fn of_an_agent_that_does_not_tell_it_is_said_that_it_is_not_known() {
    let sandbox = synced(&["goose"]);
    let shown = screen(&sandbox);
    assert!(shown.contains("not told by goose") && !shown.contains("never read"), "{shown}");
    let sandbox = synced(&["claude", "goose", "kiro"]);
    let shown = screen(&sandbox);
    assert!(shown.contains("never read"), "{shown}");
    assert!(shown.contains("not told by goose, kiro: whether, and how often,"), "{shown}");
    assert_eq!(usage(&sandbox)["not_told_by"], json!(["goose", "kiro"]));
}

#[test]
fn one_use_that_two_registrations_tell_of_counts_once_and_a_failed_one_not_at_all() {
    let sandbox = synced(&["claude", "copilot"]);
    let told = Told::in_ws(&sandbox);
    for _ in 0..2 {
        used(&sandbox, "claude", &told, "Skill", &json!({"skill": "basics"}));
        used(
            &sandbox,
            "copilot",
            &told.clone().session("s2"),
            "skill",
            &json!({"skill": "basics"}),
        );
    }
    let payload = json!({
        "hook_event_name": "PostToolUseFailure", "session_id": "s1", "cwd": told.cwd,
        "transcript_path": "/t", "tool_name": "Skill", "tool_input": {"skill": "basics"},
        "error": "no", "tool_use_id": "other",
    });
    sandbox.feed(&["hook", "claude", "post-tool-use"], payload.to_string().as_bytes()).ok();
    assert_eq!(of(&usage(&sandbox), "basics")["reads"], 2);
}

#[test]
fn a_skill_that_the_user_calls_by_name_is_read_and_no_other_word_is_kept() {
    let sandbox = synced(&["claude"]);
    for (id, prompt) in [("1", "/basics and my secret"), ("2", "/secret-plan"), ("3", "basics")] {
        let told = Told { prompt, ..Told::in_ws(&sandbox).id(id) };
        send(&sandbox, "claude", Event::UserPromptSubmit, &told);
    }
    assert_eq!(of(&usage(&sandbox), "basics")["reads"], 1);
    assert!(!session(&sandbox, "s1").to_string().contains("secret"));
}

#[test]
fn what_is_read_of_another_workspace_does_not_count_here() {
    let sandbox = synced(&["claude"]);
    sandbox.write("other/Cargo.toml", "[package]\nname = \"other\"\nversion = \"1.0.0\"\n");
    sandbox.write("other/src/lib.rs", "");
    let here = Told::in_ws(&sandbox);
    let cwd = sandbox.ws().parent().expect("a folder").join("other").display().to_string();
    let there = Told { cwd, ..here.clone() };
    let skill = json!({"skill": "basics"});
    // The session began here, and goes elsewhere.
    send(&sandbox, "claude", Event::SessionStart, &here);
    used(&sandbox, "claude", &there.id("1"), "Skill", &skill);
    assert_eq!(of(&usage(&sandbox), "basics")["reads"], 0);
    used(&sandbox, "claude", &here.id("2"), "Skill", &skill);
    assert_eq!(of(&usage(&sandbox), "basics")["reads"], 1);
}

#[test]
fn a_session_noted_before_readings_were_counted_counts_once_a_skill() {
    let sandbox = synced(&["claude"]);
    let told = Told::in_ws(&sandbox);
    let old = json!({
        "agent": "claude", "root": sandbox.ws(), "started-at": 1_700_000_000_000_u64,
        "heard-of": 0, "prompts": 1, "activations": ["basics"], "nudges": [], "announced": [],
        "pending": [],
    });
    old_file(&sandbox, "s1", &old.to_string());
    let before = usage(&sandbox);
    assert_eq!(of(&before, "basics")["reads"], 1, "{before:#}");
    assert_eq!(of(&before, "basics")["last_read_at"], "2023-11-14T22:13:20Z");
    assert_eq!(before["since"], "2023-11-14T22:13:20Z");
    used(&sandbox, "claude", &told, "Skill", &json!({"skill": "basics"}));
    assert_eq!(of(&usage(&sandbox), "basics")["reads"], 2);
}

#[test]
fn a_session_s_file_that_cant_be_read_is_told_and_not_taken_for_none() {
    let sandbox = synced(&["claude"]);
    used(&sandbox, "claude", &Told::in_ws(&sandbox), "Skill", &json!({"skill": "basics"}));
    old_file(&sandbox, "broken", "{\"agent\": \"cla");
    let usage = usage(&sandbox);
    assert_eq!(of(&usage, "basics")["reads"], 1);
    let unreadable = usage["unreadable"].as_array().expect("a list");
    assert_eq!(unreadable.len(), 1);
    assert!(unreadable[0]["path"].as_str().is_some_and(|path| path.ends_with("broken.json")));
    let screen = screen(&sandbox).split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "broken.json can't be read, so what it notes is not counted: EOF";
    assert!(screen.contains(told), "{screen}");
}

#[test]
fn what_was_read_is_known_after_the_session_is_forgotten() {
    let sandbox = synced(&["claude"]);
    let told = Told::in_ws(&sandbox);
    used(&sandbox, "claude", &told, "Skill", &json!({"skill": "basics"}));
    let before = usage(&sandbox);
    let path = sandbox.home().join(".symposium/sessions/s1.json");
    let file = std::fs::File::options().write(true).open(&path).expect("opens");
    file.set_modified(SystemTime::now() - Duration::from_secs(15 * 86_400)).expect("sets");
    drop(file);
    send(&sandbox, "claude", Event::SessionStart, &told.session("s2"));
    assert!(!path.exists());
    assert_eq!(usage(&sandbox)["skills"], before["skills"]);
}

#[test]
fn outside_of_a_workspace_and_with_nothing_installed_the_screen_says_so() {
    let sandbox = with_agents(&["claude"]);
    let shown = screen(&sandbox);
    assert!(shown.contains("none are installed: `cargo agents status` shows"), "{shown}");
    let outside = sandbox.run_in("home", &["status", "--use"]).ok().stdout;
    assert!(outside.contains("none: there is no Cargo.toml"), "{outside}");
    sandbox.write("ws/Cargo.toml", "[package\n");
    let broken = screen(&sandbox);
    assert!(broken.contains("it can't be read: "), "{broken}");
}
