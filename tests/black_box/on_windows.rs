//! What a user on Windows sees.

use std::ffi::OsString;
use std::os::windows::process::CommandExt as _;
use std::process::Command;

use serde_json::{Value, json};
use symposium_testlib::{Run, Sandbox};

use crate::hook_kit::*;
use crate::{plugin_with_skill, skill};

/// A batch file that denies what it is asked about.
const DENY: &str = "@echo {\"PreToolUse\":{\"decision\":\"deny\",\"reason\":\"no\"}}\r\n";
const DENY_BY_SH: &str =
    "#!/bin/sh\necho '{\"PreToolUse\":{\"decision\":\"deny\",\"reason\":\"no\"}}'\n";

/// A plugin whose hook is the program `named`, which lies in the plugin as `file`.
fn guard(sandbox: &Sandbox, named: &str, file: &str, text: &str) {
    let manifest = format!(
        "name = \"p\"\ncrates = [\"widget\"]\n[[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\n\
         command = {{ executable = \"{named}\" }}\n"
    );
    sandbox.user_plugin("p/SYMPOSIUM.toml", &manifest);
    sandbox.user_plugin(&format!("p/{file}"), text);
}

fn is_denied(sandbox: &Sandbox, session: &'static str) -> bool {
    let told = Told::in_ws(sandbox).session(session);
    send(sandbox, "claude", Event::PreToolUse, &told).refused.is_some()
}

#[test]
fn a_path_has_one_kind_of_separator_and_no_prefix_on_every_screen() {
    let sandbox = lab();
    plugin_with_skill(&sandbox, "widget", "widget", "basics");
    guard(&sandbox, "tools/guard", "tools/guard.cmd", DENY);
    sandbox.user_plugin("broken/SYMPOSIUM.toml", "name = ");
    sandbox.write("ws/.claude/skills/own/SKILL.md", skill("own", "Ours."));
    for args in [
        &["init", "--add-agent", "claude", "--add-agent", "gemini"][..],
        &["sync"],
        &["sync", "--dry-run", "-v"],
        &["status", "-v"],
        &["doctor"],
        &["audit", "--deny", "committed-skill"],
        &["plugin", "list"],
        &["plugin", "new", "made", "--crates", "widget", "--dir", "..\\made"],
        &["plugin", "validate", "gone\\folder"],
        &["why", "widget"],
        &["uninstall", "--dry-run"],
    ] {
        let run = sandbox.run(args);
        let text = run.stdout + &run.stderr;
        assert!(!text.trim().is_empty(), "{args:?}");
        for word in text.split_whitespace().filter(|word| !word.contains("://")) {
            let is_mixed = word.contains('\\') && word.contains('/');
            let is_doubled = word.contains(r"\\");
            assert!(!is_mixed && !is_doubled, "{args:?}: {word}\n{text}");
        }
    }
}

#[test]
fn the_home_is_userprofile_and_not_the_one_of_git_bash() {
    let mut sandbox = lab();
    sandbox.set("HOME", sandbox.dir().join("elsewhere"));
    sandbox.run(&["init", "--add-agent", "claude"]).ok();
    assert!(sandbox.has("home/.claude/settings.json") && !sandbox.has("elsewhere"));
}

#[test]
fn the_variable_path_is_read_however_its_name_is_written() {
    let sandbox = lab();
    guard(&sandbox, "guard", "guard", DENY_BY_SH);
    let mut command = sandbox.command(&["hook", "claude", "pre-tool-use"]);
    let path = std::env::var_os("PATH").expect("a PATH");
    command.env_remove("PATH").env("Path", path);
    let payload = Told::in_ws(&sandbox).payload("claude", Event::PreToolUse);
    let effect = effect("claude", Event::PreToolUse, &Run::of(&mut command, &payload));
    assert_eq!(effect.refused.as_deref(), Some("no"), "{}", logs(&sandbox));
}

#[test]
fn a_hook_is_a_program_a_batch_file_or_a_script_that_names_its_interpreter() {
    for (named, file, text) in [
        ("guard", "guard.cmd", DENY),
        ("tools/guard.cmd", "tools/guard.cmd", DENY),
        ("guard", "guard.BAT", DENY),
        ("guard", "guard", DENY_BY_SH),
    ] {
        let sandbox = lab();
        guard(&sandbox, named, file, text);
        assert!(is_denied(&sandbox, "s"), "{named}, {file}: {}", logs(&sandbox));
    }
    let sandbox = lab();
    guard(&sandbox, "guard", "unused", "");
    let program = sandbox.home().join(".symposium/plugins/p/guard.exe");
    std::fs::copy(sandbox.binary(), program).expect("copies");
    assert!(!is_denied(&sandbox, "s"));
    assert!(logs(&sandbox).contains("its output holds no JSON object"), "{}", logs(&sandbox));
}

#[test]
fn a_hook_knows_who_calls_and_where_it_is() {
    let sandbox = lab();
    let text =
        "@echo %SYMPOSIUM_AGENT% %SYMPOSIUM_EVENT% %SYMPOSIUM_WORKSPACE%>%USERPROFILE%\\seen\r\n";
    guard(&sandbox, "guard", "guard.cmd", text);
    is_denied(&sandbox, "s");
    let expected = format!("claude PreToolUse {}", sandbox.ws().display());
    assert_eq!(sandbox.read("home/seen").trim_end(), expected);
}

#[test]
fn a_hook_may_be_a_script_of_powershell() {
    let sandbox = lab();
    let text = "Write-Output '{\"PreToolUse\":{\"decision\":\"deny\",\"reason\":\"no\"}}'\r\n";
    guard(&sandbox, "guard.ps1", "guard.ps1", text);
    assert!(is_denied(&sandbox, "s"), "{}", logs(&sandbox));
}

#[test]
fn without_a_shell_for_its_script_the_message_says_what_to_do() {
    let by_executable = lab();
    guard(&by_executable, "guard", "guard", DENY_BY_SH);
    let by_script = lab();
    hook_plugin(&by_script, "p", Event::PreToolUse, "", DENY_BY_SH);
    for mut sandbox in [by_executable, by_script] {
        sandbox.set("PATH", sandbox.dir().join("nothing"));
        assert!(!is_denied(&sandbox, "s"));
        let log = logs(&sandbox);
        assert!(log.contains("install Git for Windows, or let the plugin name a"), "{log}");
    }
}

/// The command that `init` registered for an agent's use of a tool, from a folder with a space.
fn registered(agent: &str, settings: &str, event: &str) -> (Sandbox, String) {
    let mut sandbox = lab();
    sandbox.install_in("home/my tools");
    guard(&sandbox, "guard", "guard.cmd", DENY);
    sandbox.run(&["init", "--add-agent", agent]).ok();
    let settings: Value =
        serde_json::from_str(&sandbox.read(&format!("home/{settings}"))).expect("JSON");
    let command = settings["hooks"][event][0]["hooks"][0]["command"].as_str().expect("a command");
    let command = command.to_owned();
    (sandbox, command)
}

/// What a shell that is called with this line makes of the command's event.
fn started_by(sandbox: &Sandbox, agent: &str, shell: &str, line: impl Into<OsString>) -> Effect {
    let ours = sandbox.command(&[]);
    let mut command = Command::new(shell);
    command.raw_arg(line.into()).current_dir(sandbox.ws()).env_clear();
    command.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let payload = Told::in_ws(sandbox).payload(agent, Event::PreToolUse);
    effect(agent, Event::PreToolUse, &Run::of(&mut command, &payload))
}

/// As Node and Python have `cmd` run a command.
#[test]
fn the_registered_command_works_from_cmd() {
    for (agent, settings) in [("claude", ".claude/settings.json"), ("codex", ".codex/hooks.json")] {
        let (sandbox, command) = registered(agent, settings, "PreToolUse");
        assert!(command.contains("my tools"), "{command}");
        let effect = started_by(&sandbox, agent, "cmd.exe", format!("/d /s /c \"{command}\""));
        assert_eq!(effect.refused.as_deref(), Some("no"), "{command}");
    }
}

#[test]
fn the_registered_command_works_from_git_bash() {
    let (sandbox, command) = registered("claude", ".claude/settings.json", "PreToolUse");
    let payload = Told::in_ws(&sandbox).payload("claude", Event::PreToolUse);
    let run = Run::of(&mut sandbox.shell(&command), &payload);
    let refused = effect("claude", Event::PreToolUse, &run).refused;
    assert_eq!(refused.as_deref(), Some("no"), "{command}");
}

#[test]
fn the_registered_command_works_from_powershell() {
    let (sandbox, command) = registered("gemini", ".gemini/settings.json", "BeforeTool");
    let line = format!("-NoProfile -Command \"{}\"", command.replace('"', "\\\""));
    let effect = started_by(&sandbox, "gemini", "powershell.exe", line);
    assert_eq!(effect.refused.as_deref(), Some("no"), "{command}");
}

#[test]
fn a_skill_s_file_may_lie_deeper_than_260_characters() {
    let sandbox = lab();
    crate::configure(&sandbox, &["claude"], "");
    plugin_with_skill(&sandbox, "widget", "widget", "basics");
    let deep = format!("references/{}/note.md", ["x".repeat(50).as_str(); 5].join("/"));
    sandbox.user_plugin(&format!("widget/skills/basics/{deep}"), "A note.\n");
    sandbox.run(&["sync"]).ok();
    assert_eq!(sandbox.read(&format!("ws/.claude/skills/basics/{deep}")), "A note.\n");
    let status = sandbox.run(&["sync", "--check"]);
    assert_eq!(status.code, 0, "{status:?}");
    std::fs::remove_dir_all(sandbox.home().join(".symposium/plugins/widget")).expect("removes");
    sandbox.run(&["sync"]).ok();
    assert!(!sandbox.has("ws/.claude/skills/basics"));
}

#[test]
fn a_folder_is_the_same_however_its_letters_are_written() {
    let sandbox = lab();
    guard(&sandbox, "guard", "guard.cmd", DENY);
    let cwd = sandbox.ws().display().to_string().to_uppercase();
    let told = Told { cwd, ..Told::in_ws(&sandbox) };
    let effect = send(&sandbox, "claude", Event::PreToolUse, &told);
    assert_eq!(effect.refused.as_deref(), Some("no"));
    crate::configure(&sandbox, &["claude"], "");
    plugin_with_skill(&sandbox, "widget", "widget", "basics");
    let mut command = sandbox.command(&["sync"]);
    command.current_dir(told.cwd);
    Run::of(&mut command, b"").ok();
    let again = sandbox.run(&["sync", "--check"]);
    assert_eq!(again.code, 0, "{again:?}");
}

/// `aux` and `nul` are devices in every folder.
#[test]
fn a_skill_with_a_device_s_name_gets_another_folder() {
    let sandbox = lab();
    crate::configure(&sandbox, &["claude"], "");
    plugin_with_skill(&sandbox, "widget", "widget", "lists");
    let folder = sandbox.home().join(".symposium/plugins/widget/skills/lists");
    std::fs::write(folder.join("SKILL.md"), skill("aux", "What it is for.")).expect("writes");
    sandbox.run(&["sync"]);
    assert!(sandbox.has("ws/.claude/skills/aux-skill/SKILL.md"), "{:?}", sandbox.ws_tree());
}

/// As git's `core.autocrlf` leaves them.
#[test]
fn files_with_the_line_ends_of_windows_are_read_as_any_others() {
    let sandbox = lab();
    let crlf = |text: &str| text.replace('\n', "\r\n");
    crate::configure(&sandbox, &["claude"], "");
    plugin_with_skill(&sandbox, "widget", "widget", "basics");
    guard(&sandbox, "guard", "guard.cmd", DENY);
    for path in [
        "home/.symposium/config.toml",
        "home/.symposium/plugins/widget/SYMPOSIUM.toml",
        "home/.symposium/plugins/widget/skills/basics/SKILL.md",
        "home/.symposium/plugins/p/SYMPOSIUM.toml",
        "ws/Cargo.toml",
        "ws/Cargo.lock",
    ] {
        sandbox.write(path, crlf(&sandbox.read(path)));
    }
    let run = sandbox.run(&["sync"]).ok();
    assert!(!run.stderr.contains("-->"), "{}", run.stderr);
    assert!(sandbox.has("ws/.claude/skills/basics/SKILL.md"));
    let status: Value = sandbox.run(&["status", "--json"]).json_lines().remove(0);
    assert!(status.to_string().contains("basics"), "{status}");
    assert!(is_denied(&sandbox, "s"), "{}", logs(&sandbox));
    assert_eq!(json!(sandbox.run(&["sync", "--check"]).code), json!(0));
}
