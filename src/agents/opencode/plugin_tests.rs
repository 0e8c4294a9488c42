//! The plugin itself, run by `node` with a host that behaves as OpenCode and a stand-in for our
//! program. Without `node` these tests say so and pass.
#![cfg(unix)]
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "runs the plugin")]

use crate::config::Environment;
use crate::process::{self, Child};
use crate::report::{Format, Reporter, Verbosity};
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use super::*;
use crate::agents::testing::{env, fixture, fixture_folder, outcomes, snapshot};

const HOST: &str = include_str!("plugin_host.mjs");

/// A folder with the plugin, the host and a program that writes down what it is asked and answers
/// with the file `answer-<event>`, which is a shell script.
struct Lab {
    dir: tempfile::TempDir,
    /// The folder's real path, as node sees it.
    path: String,
}

impl Lab {
    fn new() -> Option<Self> {
        if which::which("node").is_err() {
            let env = Environment::capture();
            Reporter::new(&env, Format::People, Verbosity::Normal)
                .warn("ignored: there is no `node` to run the plugin");
            return None;
        }
        let dir = tempfile::tempdir().expect("a folder");
        let real = crate::files::canonicalize(dir.path()).expect("it is there");
        let lab = Self { dir, path: real.display().to_string() };
        lab.write("host.mjs", HOST);
        let program = lab.write(
            "it's the program",
            "#!/bin/sh\n\
             [ \"$1 $2\" = 'hook opencode' ] || exit 1\n\
             here=$(dirname \"$0\")\n\
             cat >>\"$here/asked\"\n\
             echo >>\"$here/asked\"\n\
             [ ! -f \"$here/answer-$3\" ] || . \"$here/answer-$3\"\n",
        );
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("mode");
        let quoted =
            shlex::try_quote(program.to_str().expect("UTF-8")).expect("no NUL").into_owned();
        lab.write("plugin.mjs", &plugin(&quoted).replace("LIMIT_MS = 30_000", "LIMIT_MS = 1_500"));
        Some(lab)
    }

    fn write(&self, name: &str, text: &str) -> std::path::PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path
    }

    /// The program prints this for the event.
    fn answers(&self, event: Event, stdout: &str) {
        let quoted = shlex::try_quote(stdout).expect("no NUL");
        self.does(event, &format!("printf %s {quoted}"));
    }

    /// The program does this for the event.
    fn does(&self, event: Event, script: &str) {
        self.write(&format!("answer-{}", event.cli_name()), script);
    }

    /// Runs the host's `scenario`, and gives back what it saw.
    fn run(&self, scenario: &str) -> String {
        let child = Child::new("node")
            .args([self.dir.path().join("host.mjs")])
            .args([scenario])
            .args([fixture_folder("opencode").join("host")])
            .cwd(self.dir.path())
            .limit(Duration::from_secs(120));
        let output = process::run(&child).expect("node runs");
        let stderr = output.stderr_text();
        assert!(output.success() && stderr.is_empty(), "{stderr}");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        text.replace(&self.path, "/home/dev/shop")
    }

    /// What the program was asked, one line a call.
    fn asked(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.dir.path().join("asked")).unwrap_or_default();
        let text = text.replace(&self.path, "/home/dev/shop");
        text.lines().map(str::to_owned).collect()
    }
}

#[test]
fn the_plugin_asks_what_decode_understands() {
    let Some(lab) = Lab::new() else { return };
    lab.run("turn");
    let mut seen = Vec::new();
    for line in lab.asked() {
        let payload: Value = serde_json::from_str(&line).expect("JSON");
        let event = payload["hook_event_name"].as_str().and_then(Event::from_cli_name);
        let event = event.expect("an event");
        let decoded = OpenCode.decode(event, line.as_bytes(), &env(&[])).expect("decodes");
        assert_eq!(decoded.input.cwd(), Some("/home/dev/shop"));
        let captured = fixture("opencode", event.cli_name());
        let captured: Value = serde_json::from_slice(&captured).expect("JSON");
        assert_eq!(payload, captured);
        seen.push(event);
    }
    use Event::{PostToolUse, PreToolUse, SessionStart, UserPromptSubmit};
    assert_eq!(seen, [SessionStart, UserPromptSubmit, PreToolUse, PostToolUse]);
}

#[test]
fn the_plugin_does_what_encode_says() {
    let mut text = String::new();
    for event in Event::COMMON {
        for (capability, outcome) in outcomes() {
            let Some(lab) = Lab::new() else { return };
            lab.answers(event, &OpenCode.encode(event, &outcome).stdout);
            text.push_str(&format!("{} {capability}\n{}", event.name(), lab.run("turn")));
        }
    }
    snapshot("opencode", "plugin.txt", &text);
}

#[test]
fn a_servers_tool_is_told_apart_and_its_result_is_a_list() {
    let Some(lab) = Lab::new() else { return };
    lab.answers(Event::PreToolUse, r#"{"context":"early"}"#);
    lab.answers(Event::PostToolUse, r#"{"context":"late"}"#);
    let shown = lab.run("server");
    assert_eq!(
        shown,
        "content: [{\"type\":\"text\",\"text\":\"pong\"},{\"type\":\"text\",\
         \"text\":\"<hook_context>\\nearly\\n\\nlate\\n</hook_context>\"}]\n"
    );
    let asked: Value = serde_json::from_str(&lab.asked()[0]).expect("JSON");
    assert_eq!(asked["mcp"], json!({ "server": "my.db", "tool": "run" }));
    let asked: Value = serde_json::from_str(&lab.asked()[1]).expect("JSON");
    assert_eq!(asked["tool_response"], json!([{ "type": "text", "text": "pong" }]));
    lab.answers(Event::PostToolUse, r#"{"replace":"hidden"}"#);
    lab.answers(Event::PreToolUse, "");
    assert_eq!(lab.run("server"), "content: [{\"type\":\"text\",\"text\":\"hidden\"}]\n");
}

#[test]
fn decision_2_whatever_goes_wrong_the_turn_goes_on() {
    let Some(lab) = Lab::new() else { return };
    let untouched = lab.run("turn");
    let failures = [
        "exit 1",
        "exit 2",
        "kill -9 $$",
        "printf '{\"deny\":\"no\"'",
        "printf '{\"deny\":\"no\"}'; exit 3",
        "printf '[\"deny\"]'",
        "printf 'null'",
        "printf '{\"deny\":7,\"args\":[1],\"context\":{},\"replace\":null}'",
        "head -c 3000000 /dev/zero | tr '\\0' x",
        "echo noise >&2",
    ];
    for failure in failures {
        for event in Event::COMMON {
            lab.does(event, failure);
        }
        assert_eq!(lab.run("turn"), untouched, "{failure}");
    }
    std::fs::remove_file(lab.dir.path().join("it's the program")).expect("it is there");
    assert_eq!(lab.run("turn"), untouched);
}

#[test]
fn decision_2_a_program_that_hangs_or_leaves_others_behind_is_not_waited_for() {
    let Some(lab) = Lab::new() else { return };
    let untouched = lab.run("turn");
    lab.does(Event::PreToolUse, "exec sleep 60");
    assert_eq!(lab.run("turn"), untouched);
    // The answer counts, though what was left behind keeps the pipe open.
    lab.does(Event::PreToolUse, "sleep 20 & printf '{\"deny\":\"no\"}'");
    let start = std::time::Instant::now();
    assert!(lab.run("turn").contains("tool.execute.before threw: no"));
    assert!(start.elapsed() < std::time::Duration::from_secs(15));
}

#[test]
fn at_both_scopes_each_event_is_asked_once() {
    let Some(lab) = Lab::new() else { return };
    lab.run("twice");
    assert_eq!(lab.asked().len(), Event::COMMON.len());
}

#[test]
fn a_session_starts_once_and_sub_agents_have_no_user() {
    let Some(lab) = Lab::new() else { return };
    lab.answers(Event::SessionStart, r#"{"context":"start"}"#);
    let shown = lab.run("sessions");
    let events: Vec<String> = lab
        .asked()
        .iter()
        .map(|line| {
            let payload: Value = serde_json::from_str(line).expect("JSON");
            format!("{} {}", payload["hook_event_name"], payload["session_id"]).replace('"', "")
        })
        .collect();
    assert_eq!(
        events,
        [
            "session-start one",
            "user-prompt-submit one",
            "user-prompt-submit one",
            "session-start two",
            "user-prompt-submit two",
        ]
    );
    assert_eq!(shown.matches("start").count(), 2, "{shown}");
}

#[test]
fn a_blocked_first_prompt_does_not_lose_the_sessions_context() {
    let Some(lab) = Lab::new() else { return };
    lab.answers(Event::SessionStart, r#"{"context":"start"}"#);
    lab.does(
        Event::UserPromptSubmit,
        "[ -f \"$here/once\" ] || { : >\"$here/once\"; printf '{\"replace\":\"blocked\"}'; }",
    );
    assert_eq!(
        lab.run("blocked"),
        "parts: [{\"type\":\"text\",\"text\":\"blocked\"}]\n\
         parts: [{\"type\":\"text\",\"text\":\"hi\\n\\n<hook_context>\\nstart\\n</hook_context>\"}]\n"
    );
}

#[test]
fn a_prompt_without_text_still_gets_context() {
    let Some(lab) = Lab::new() else { return };
    lab.answers(Event::UserPromptSubmit, r#"{"context":"c"}"#);
    assert_eq!(
        lab.run("picture"),
        "file\ntext prt_ ses msg \"<hook_context>\\nc\\n</hook_context>\"\n"
    );
}
