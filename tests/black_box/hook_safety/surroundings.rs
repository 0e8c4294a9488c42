//! Folders that are missing or can't be written, and locks that others hold.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use symposium_testlib::Run;

use super::{CARRY_ON, all_carry_on, guarded_lab, is_guarded, said};
use crate::hook_kit::*;

#[test]
fn without_a_home_the_agent_carries_on_and_guards_guard() {
    let mut sandbox = guarded_lab();
    let told = Told::in_ws(&sandbox);
    // A home that can't be, and can't be made.
    sandbox.set("HOME", "/dev/null/home");
    all_carry_on(&sandbox, &told);
    // None at all; our own folders are elsewhere.
    let home = sandbox.home().join(".symposium");
    for agent in AGENTS {
        let mut command = sandbox.command(&["hook", agent, "pre-tool-use"]);
        command.env_remove("HOME").env_remove("CARGO_HOME").env("SYMPOSIUM_HOME", &home);
        let run = Run::of(&mut command, &told.payload(agent, Event::PreToolUse));
        assert!(effect(agent, Event::PreToolUse, &run).refused.is_some(), "{agent}");
    }
}

#[test]
fn where_nothing_can_be_written_guards_guard() {
    let sandbox = guarded_lab();
    // Neither snapshot, session, lock nor log can be made: files stand where the folders should be.
    for folder in ["cache", "sessions", "logs", "ledgers"] {
        sandbox.write(&format!("home/.symposium/{folder}"), "");
    }
    is_guarded(&sandbox);
}

#[test]
fn a_workspace_that_can_only_be_read_is_no_trouble() {
    let sandbox = with_agents(&["claude"]);
    let deny = says(Event::PreToolUse, serde_json::json!({"decision": "deny", "reason": "no"}));
    hook_plugin(&sandbox, "guard", Event::PreToolUse, "", &deny);
    crate::plugin_with_skill(&sandbox, "teacher", "widget", "widget-basics");
    let mode = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("sets");
    };
    let before = sandbox.ws_tree();
    mode(&sandbox.dir(), 0o755);
    mode(&sandbox.ws(), 0o555);
    let told = Told::in_ws(&sandbox);
    // SAFETY: asks for a number.
    let root = unsafe { libc::geteuid() } == 0;
    if root {
        // Permissions mean nothing to root, so the program runs as nobody, in a home of nobody's.
        for entry in walkdir::WalkDir::new(sandbox.home()).into_iter().flatten() {
            std::os::unix::fs::chown(entry.path(), Some(65534), Some(65534)).expect("gives away");
        }
    }
    for event in [Event::SessionStart, Event::PreToolUse, Event::PostToolUse] {
        let mut command = sandbox.command(&["hook", "claude", event.cli_name()]);
        if root {
            command.uid(65534).gid(65534);
        }
        let run = Run::of(&mut command, &told.payload("claude", event));
        let effect = effect("claude", event, &run);
        assert_eq!(effect.refused.is_some(), event == Event::PreToolUse, "{effect:?}");
        assert_eq!(effect.context, None, "a skill that could not be placed is not announced");
    }
    mode(&sandbox.ws(), 0o755);
    assert_eq!(sandbox.ws_tree().changes_since(&before), Vec::<String>::new());
    assert!(
        logs(&sandbox).contains("can't install the skill `widget-basics`"),
        "{}",
        logs(&sandbox)
    );
    // The next session tries again.
    send(&sandbox, "claude", Event::PostToolUse, &told);
    assert!(!sandbox.has("ws/.claude/skills/widget-basics"));
    send(&sandbox, "claude", Event::SessionStart, &told);
    assert!(sandbox.has("ws/.claude/skills/widget-basics/SKILL.md"));
}

#[test]
fn a_deleted_working_folder_is_no_trouble() {
    let sandbox = guarded_lab();
    for (agent, event) in AGENTS.into_iter().flat_map(|a| Event::COMMON.map(|e| (a, e))) {
        let gone = sandbox.dir().join("gone");
        std::fs::create_dir_all(&gone).expect("creates");
        // The payload names a folder that is gone, too; in a workspace the folder above counts.
        let told = Told { cwd: gone.display().to_string(), ..Told::in_ws(&sandbox) };
        let mut command = std::process::Command::new("sh");
        command.arg("-c").arg(format!(
            "cd '{0}' && rmdir '{0}' && exec '{1}' hook {agent} {2}",
            gone.display(),
            sandbox.binary().display(),
            event.cli_name()
        ));
        command.env("HOME", sandbox.home());
        let run = Run::of(&mut command, &told.payload(agent, event));
        assert_eq!(said(&run), CARRY_ON, "{agent}");
    }
    let below = Told {
        cwd: sandbox.ws().join("no/such/folder").display().to_string(),
        ..Told::in_ws(&sandbox)
    };
    for agent in AGENTS {
        assert!(send(&sandbox, agent, Event::PreToolUse, &below).refused.is_some(), "{agent}");
    }
}

#[test]
fn locks_of_other_processes_are_not_waited_for() {
    let sandbox = guarded_lab();
    // All locks there may be: those of the workspace, the session and the ledgers, and those that
    // events share. An event's own is held by whoever answers that very event.
    is_guarded(&sandbox);
    send(&sandbox, "claude", Event::SessionStart, &Told::in_ws(&sandbox));
    for number in 0..32 {
        let path = sandbox.home().join(format!(".symposium/cache/locks/event-{number}"));
        std::fs::File::options().append(true).create(true).open(path).expect("a file");
    }
    let locks: Vec<std::fs::File> =
        std::fs::read_dir(sandbox.home().join(".symposium/cache/locks"))
            .expect("reads")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_none_or(|extension| extension == "lock"))
            .map(|path| std::fs::File::open(path).expect("opens"))
            .inspect(|file| file.lock().expect("locks"))
            .collect();
    assert!(locks.len() > 33);
    let timed = |agent: &str, event: Event| {
        let start = Instant::now();
        let effect = send(&sandbox, agent, event, &Told::in_ws(&sandbox));
        (effect, start.elapsed())
    };
    // Nothing changed: the session's lock at most.
    for agent in AGENTS {
        let (effect, took) = timed(agent, Event::PreToolUse);
        assert!(effect.refused.is_some() && took < Duration::from_millis(1500), "{agent} {took:?}");
    }
    // Something changed, and nobody may write: what applies is found out all the same.
    sandbox.package(&[("widget", "1.2.4")]);
    for agent in AGENTS {
        let (effect, took) = timed(agent, Event::PreToolUse);
        assert!(effect.refused.is_some() && took < Duration::from_millis(1500), "{agent} {took:?}");
    }
    drop(locks);
}
