//! Our own hook entries, however they are spelled: a sync makes them one, an uninstall takes them.

use serde_json::{Value, json};
use symposium_testlib::Sandbox;

use crate::{NO_BUILTIN, sandbox};

const SETTINGS: &str = "home/.claude/settings.json";

/// Command lines that run us for `event`, which has these names.
fn spellings(names: [&str; 4]) -> Vec<String> {
    let programs = [
        "\"cargo-agents\"",
        "~/.cargo/bin/cargo-agents",
        "$HOME/.cargo/bin/cargo-agents",
        "\"${HOME}/.cargo/bin/cargo-agents\"",
        "${CARGO_HOME}/bin/cargo-agents",
        "\"${CARGO_HOME:-$HOME/.cargo}/bin/cargo-agents\"",
        "/opt/bin/cargo-agents",
        "cargo agents",
        "cargo -q agents",
        "cargo-agents agents",
        "cargo-agents -q",
    ];
    let endings = ["", " || true", "; exit 0", " 2>/dev/null", " >/dev/null 2>&1 || exit 0"];
    let mut all = Vec::new();
    for (number, program) in programs.iter().enumerate() {
        let (name, ending) = (names[number % names.len()], endings[number % endings.len()]);
        all.push(format!("{program} hook claude {name}{ending}"));
    }
    all.extend(names.map(|name| format!("cargo-agents hook claude {name}")));
    all.extend(endings.map(|ending| format!("cargo-agents hook claude {}{ending}", names[0])));
    all
}

fn pre_tool_use() -> Vec<String> {
    spellings(["pre-tool-use", "PreToolUse", "pre_tool_use", "preToolUse"])
}

/// Commands of the user's that only look like ours.
const THEIRS: [&str; 4] = [
    "~/bin/cargo-agents-notes.sh",
    "cargo-agents hook claude pre-tool-use | tee log",
    "echo cargo-agents hook claude pre-tool-use",
    "cargo-agents hook codex pre-tool-use",
];

/// Claude's settings with a hook for each of these commands.
fn write_settings<'c>(sandbox: &Sandbox, commands: impl Iterator<Item = &'c str>) {
    let groups: Vec<Value> = commands
        .map(|command| json!({"matcher": "*", "hooks": [{"type": "command", "command": command}]}))
        .collect();
    sandbox.write(SETTINGS, format!("{:#}\n", json!({"hooks": {"PreToolUse": groups}})));
}

/// The commands of Claude's hooks before a tool is used.
fn commands(sandbox: &Sandbox) -> Vec<String> {
    let settings: Value = serde_json::from_str(&sandbox.read(SETTINGS)).expect("JSON");
    let groups = settings["hooks"]["PreToolUse"].as_array().cloned().unwrap_or_default();
    let handlers = groups.iter().flat_map(|group| group["hooks"].as_array().cloned());
    handlers.flatten().map(|it| it["command"].as_str().expect("text").to_owned()).collect()
}

fn ready() -> Sandbox {
    let sandbox = sandbox();
    sandbox.write(
        "home/.symposium/config.toml",
        format!("[[agent]]\nname = \"claude\"\n{NO_BUILTIN}"),
    );
    sandbox.package(&[]);
    sandbox
}

fn assert_one_is_left(sandbox: &Sandbox, what: &str) {
    let (theirs, ours): (Vec<String>, Vec<String>) =
        commands(sandbox).into_iter().partition(|command| THEIRS.contains(&command.as_str()));
    assert_eq!(theirs, THEIRS, "{what}");
    assert_eq!(ours.len(), 1, "{what}: {ours:?}");
    let own = ours[0].ends_with("hook claude pre-tool-use") && !ours[0].contains(['$', '~']);
    assert!(own, "{what}: {ours:?}");
}

#[test]
fn a_sync_makes_one_of_all_spellings_of_our_hook_and_leaves_the_users_own() {
    let sandbox = ready();
    let all = pre_tool_use();
    write_settings(&sandbox, all.iter().map(String::as_str).chain(THEIRS));
    let doctor = sandbox.run(&["doctor"]);
    assert!(doctor.stdout.contains("out of date"), "{}", doctor.stdout);
    sandbox.run(&["sync"]).ok();
    assert_one_is_left(&sandbox, "all at once");
    let doctor = sandbox.run(&["doctor"]);
    assert!(!doctor.stdout.contains("out of date"), "{}", doctor.stdout);
    let before = sandbox.read(SETTINGS);
    sandbox.run(&["sync"]).ok();
    assert_eq!(sandbox.read(SETTINGS), before);
}

#[test]
fn each_spelling_of_our_hook_alone_becomes_the_one_that_we_write() {
    let sandbox = ready();
    for spelling in pre_tool_use() {
        write_settings(&sandbox, std::iter::once(spelling.as_str()).chain(THEIRS));
        sandbox.run(&["sync"]).ok();
        assert_one_is_left(&sandbox, &spelling);
    }
}

#[test]
fn uninstall_takes_our_hook_in_every_spelling_and_leaves_the_users_own() {
    let sandbox = ready();
    let all = pre_tool_use();
    write_settings(&sandbox, all.iter().map(String::as_str).chain(THEIRS));
    sandbox.run(&["uninstall"]).ok();
    assert_eq!(commands(&sandbox), THEIRS);
}

#[test]
fn of_own_entries_that_the_user_changed_alike_one_stays() {
    for in_one_group in [false, true] {
        let sandbox = ready();
        sandbox.run(&["init", "--add-agent", "claude"]).ok();
        let mut settings: Value = serde_json::from_str(&sandbox.read(SETTINGS)).expect("is JSON");
        let groups = settings["hooks"]["PreToolUse"].as_array_mut().expect("an array");
        groups[0]["hooks"][0]["timeout"] = json!(7);
        let changed = groups[0].clone();
        let theirs = json!({"type": "command", "command": THEIRS[0]});
        if in_one_group {
            let again = groups[0]["hooks"][0].clone();
            groups[0]["hooks"].as_array_mut().expect("an array").extend([theirs, again]);
        } else {
            groups.extend([json!({"hooks": [theirs]}), changed.clone(), changed]);
        }
        sandbox.write(SETTINGS, settings.to_string());
        sandbox.run(&["sync"]).ok();
        let settings = sandbox.read(SETTINGS);
        assert_eq!(settings.matches("\"timeout\":7").count(), 1, "{settings}");
        let ours = commands(&sandbox).into_iter().filter(|command| command != THEIRS[0]);
        assert_eq!(ours.count(), 1, "{settings}");
        assert!(commands(&sandbox).contains(&THEIRS[0].to_owned()), "{settings}");
        sandbox.run(&["sync"]).ok();
        assert_eq!(sandbox.read(SETTINGS), settings);
    }
}

#[test]
fn arguments_apart_from_the_program_are_a_spelling_too() {
    let sandbox = ready();
    let args = |command: &str, args: Value| json!({"hooks": [{"type": "command", "command": command, "args": args}]});
    let groups = [
        args("cargo-agents", json!(["hook", "claude", "PreToolUse"])),
        args("cargo-agents-notes.sh", json!(["hook", "claude", "PreToolUse"])),
    ];
    sandbox.write(SETTINGS, json!({"hooks": {"PreToolUse": groups}}).to_string());
    sandbox.run(&["sync"]).ok();
    let found = commands(&sandbox);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.contains(&"cargo-agents-notes.sh".to_owned()), "{found:?}");
}
