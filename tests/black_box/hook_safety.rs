//! What must never happen: each of it has been seen in tools of this kind. Whatever is wrong with
//! us, the agent carries on.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use symposium_testlib::{Run, Sandbox};

use crate::hook_kit::*;

const CARRY_ON: (i32, &str, &str) = (0, "", "");

fn said(run: &Run) -> (i32, &str, &str) {
    (run.code, &run.stdout, &run.stderr)
}

/// Every agent at every event carries on.
fn all_carry_on(sandbox: &Sandbox, told: &Told) {
    for agent in AGENTS {
        for event in Event::ALL {
            let payload = told.payload(agent, event);
            let run = sandbox.feed(&["hook", agent, event.cli_name()], &payload);
            assert_eq!(said(&run), CARRY_ON, "{agent} {}", event.name());
        }
    }
}

/// A lab with a plugin that denies every tool: what must not be lost in trouble.
fn guarded_lab() -> Sandbox {
    let sandbox = lab();
    let deny = says(Event::PreToolUse, serde_json::json!({"decision": "deny", "reason": "no"}));
    hook_plugin(&sandbox, "guard", Event::PreToolUse, "", &deny);
    sandbox
}

fn is_guarded(sandbox: &Sandbox) {
    for agent in AGENTS {
        let effect = send(sandbox, agent, Event::PreToolUse, &Told::in_ws(sandbox));
        assert!(effect.refused.is_some_and(|reason| reason.contains("no")), "{agent}");
    }
}

#[test]
fn nothing_to_say_is_nothing_at_all() {
    let sandbox = lab();
    all_carry_on(&sandbox, &Told::in_ws(&sandbox));
    assert_eq!(logs(&sandbox), "", "nothing went wrong, so nothing is logged");
}

#[test]
fn wrong_arguments_never_stop_the_agent() {
    let sandbox = lab();
    let payload = Told::in_ws(&sandbox).payload("claude", Event::PreToolUse);
    let mut all: Vec<Vec<&str>> =
        vec![vec![], vec!["-v"], vec!["no-agent"], vec!["no-agent", "pre-tool-use"]];
    for agent in AGENTS {
        for event in ["", "no-event", "stop", "--version", "PRETOOLUSE", "\u{fffd}"] {
            all.push(vec![agent, event]);
        }
        all.push(vec![agent]);
    }
    for args in all {
        let args: Vec<&str> = std::iter::once("hook").chain(args).collect();
        let run = sandbox.feed(&args, &payload);
        assert_eq!(said(&run), CARRY_ON, "{args:?}");
    }
    // Only so many log files are kept, so here is one of each.
    let sandbox = lab();
    sandbox.feed(&["hook", "no-agent", "pre-tool-use"], &payload);
    sandbox.feed(&["hook", "kiro", "stop"], &payload);
    let log = logs(&sandbox);
    assert!(log.contains("there is no agent `no-agent`"), "{log}");
    assert!(log.contains("there is no event `stop`"), "{log}");
}

#[cfg(unix)]
#[test]
fn arguments_that_are_no_unicode_never_stop_the_agent() {
    use std::os::unix::ffi::OsStrExt as _;
    let sandbox = lab();
    let mut command = sandbox.command(&["hook"]);
    command.arg(std::ffi::OsStr::from_bytes(b"\xff\xfe")).arg("pre-tool-use");
    let output = command.stdin(Stdio::null()).output().expect("runs");
    assert_eq!((output.status.code(), output.stdout, output.stderr), (Some(0), vec![], vec![]));
}

#[test]
fn f223_events_have_our_names_the_manifests_and_the_agents_own() {
    let sandbox = guarded_lab();
    for agent in AGENTS {
        for name in ["pre-tool-use", "PreToolUse", native_event(agent, Event::PreToolUse)] {
            let payload = Told::in_ws(&sandbox).payload(agent, Event::PreToolUse);
            // `cargo agents …` is `cargo-agents agents …`; words behind the event are for later.
            for args in [vec!["hook"], vec!["agents", "hook"]] {
                let args: Vec<&str> = args.into_iter().chain([agent, name, "--new-flag"]).collect();
                let run = sandbox.feed(&args, &payload);
                let effect = effect(agent, Event::PreToolUse, &run);
                assert!(effect.refused.is_some(), "{agent} {name}");
            }
        }
    }
}

#[test]
fn case_49_decision_25_garbage_on_standard_input_never_stops_the_agent() {
    let sandbox = guarded_lab();
    let deep = "[".repeat(200_000);
    let garbage: [&[u8]; 8] = [
        b"",
        b"{",
        b"null",
        br#"{"tool": "Bash"}"#,
        b"\xff\xfe\x00",
        br#"{"hook_event_name": 7, "tool_name": ["x"], "session_id": {}}"#,
        br#"{"PreToolUse": null}"#,
        deep.as_bytes(),
    ];
    in_parallel(&AGENTS, |agent| {
        for event in Event::ALL {
            for bytes in garbage {
                let run = sandbox.feed(&["hook", agent, event.cli_name()], bytes);
                let start = String::from_utf8_lossy(&bytes[..bytes.len().min(20)]).into_owned();
                assert_eq!(said(&run), CARRY_ON, "{agent} {} {start}", event.name());
            }
        }
    });
    let sandbox = lab();
    sandbox.feed(&["hook", "claude", "pre-tool-use"], b"{");
    assert!(logs(&sandbox).contains("claude never sends this for pre-tool-use: not JSON"));
}

#[test]
fn a_huge_event_is_read_and_answered() {
    let sandbox = guarded_lab();
    let told = Told { command: "PLACE", ..Told::in_ws(&sandbox) };
    let huge = "x".repeat(10_000_000);
    for agent in AGENTS {
        let payload = String::from_utf8(told.payload(agent, Event::PreToolUse)).expect("UTF-8");
        let run = sandbox
            .feed(&["hook", agent, "pre-tool-use"], payload.replace("PLACE", &huge).as_bytes());
        assert!(effect(agent, Event::PreToolUse, &run).refused.is_some(), "{agent}");
    }
    for agent in AGENTS {
        let run = sandbox.feed(&["hook", agent, "pre-tool-use"], huge.as_bytes());
        assert_eq!(said(&run), CARRY_ON, "{agent}: garbage of that size");
    }
}

#[test]
fn an_agent_that_closes_its_end_is_no_trouble() {
    let sandbox = guarded_lab();
    for agent in AGENTS {
        let mut child = sandbox
            .command(&["hook", agent, "pre-tool-use"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        drop(child.stdout.take());
        drop(child.stderr.take());
        let payload = Told::in_ws(&sandbox).payload(agent, Event::PreToolUse);
        child.stdin.take().expect("a pipe").write_all(&payload).expect("is read");
        let denied = if matches!(agent, "goose" | "kiro") { 2 } else { 0 };
        assert_eq!(child.wait().expect("ends").code(), Some(denied), "{agent}");
    }
}

#[cfg(unix)]
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
        let run = fed(&mut command, &told.payload(agent, Event::PreToolUse));
        assert!(effect(agent, Event::PreToolUse, &run).refused.is_some(), "{agent}");
    }
}

fn fed(command: &mut std::process::Command, stdin: &[u8]) -> Run {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("starts");
    // A program that does not read is no reason to fail.
    let _ = child.stdin.take().expect("a pipe").write_all(stdin);
    let output = child.wait_with_output().expect("ends");
    Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[cfg(unix)]
#[test]
fn where_nothing_can_be_written_guards_guard() {
    let sandbox = guarded_lab();
    // Neither snapshot, session, lock nor log can be made: files stand where the folders should be.
    for folder in ["cache", "sessions", "logs", "ledgers"] {
        sandbox.write(&format!("home/.symposium/{folder}"), "");
    }
    is_guarded(&sandbox);
}

#[cfg(unix)]
#[test]
fn a_workspace_that_can_only_be_read_is_no_trouble() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    let sandbox = lab_for(&["claude"]);
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
        let run = fed(&mut command, &told.payload("claude", event));
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

#[cfg(unix)]
#[test]
fn a_deleted_working_folder_is_no_trouble() {
    let sandbox = guarded_lab();
    for (agent, event) in AGENTS.into_iter().flat_map(|a| Event::ALL.map(|e| (a, e))) {
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
        let run = fed(&mut command, &told.payload(agent, event));
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

#[cfg(debug_assertions)]
#[test]
fn a_panic_is_logged_and_the_agent_carries_on() {
    // At once, in the sync before the event, and when all plugins have had their say.
    for place in ["start", "sync", "end"] {
        let mut sandbox = guarded_lab();
        sandbox.switch("panic", place);
        all_carry_on(&sandbox, &Told::in_ws(&sandbox));
        assert!(logs(&sandbox).contains("a panic was asked for"), "{place}");
    }
}

#[test]
fn a_broken_configuration_is_no_trouble_and_removes_nothing() {
    let sandbox = lab_for(&["claude"]);
    let deny = says(Event::PreToolUse, serde_json::json!({"decision": "deny", "reason": "no"}));
    hook_plugin(&sandbox, "guard", Event::PreToolUse, "", &deny);
    crate::plugin_with_skill(&sandbox, "teacher", "widget", "widget-basics");
    sandbox.run(&["sync"]).ok();
    let before = sandbox.ws_tree();
    assert!(sandbox.has("ws/.claude/skills/widget-basics"));
    let settings = sandbox.read("home/.claude/settings.json");
    sandbox.write("home/.symposium/config.toml", "[[agent]\nname = ");
    is_guarded(&sandbox);
    send(&sandbox, "claude", Event::SessionStart, &Told::in_ws(&sandbox));
    assert_eq!(sandbox.ws_tree().changes_since(&before), Vec::<String>::new());
    assert_eq!(sandbox.read("home/.claude/settings.json"), settings);
    // Not even a command of the user's takes back what is there for agents it can't read of.
    assert!(sandbox.run(&["sync"]).code(1).stderr.contains("nothing is changed"));
    assert_eq!(sandbox.ws_tree().changes_since(&before), Vec::<String>::new());
}

#[test]
fn a_broken_plugin_does_not_disarm_another() {
    let sandbox = guarded_lab();
    sandbox.user_plugin("aaa/SYMPOSIUM.toml", "name = \"aaa\"\ncrates = [\n");
    sandbox.user_plugin(
        "bbb/SYMPOSIUM.toml",
        "name = \"bbb\"\ncrates = [\"widget\"]\n[[hooks]]\nname = \"x\"\nevent = \"PreToolUse\"\n\
         command = \"nowhere\"\n",
    );
    is_guarded(&sandbox);
    assert!(logs(&sandbox).contains("aaa/SYMPOSIUM.toml"), "{}", logs(&sandbox));
}

#[test]
fn agents_files_that_can_not_be_read_do_not_disarm_a_guard() {
    let agents: Vec<&str> = AGENTS.into_iter().filter(|name| *name != "symposium").collect();
    let sandbox = lab_for(&agents);
    let deny = says(Event::PreToolUse, serde_json::json!({"decision": "deny", "reason": "no"}));
    hook_plugin(&sandbox, "guard", Event::PreToolUse, "", &deny);
    let files = [
        ".claude/settings.json",
        ".codex/hooks.json",
        ".gemini/settings.json",
        ".copilot/hooks/symposium.json",
        ".kiro/agents/symposium.json",
    ];
    for file in files {
        sandbox.write(&format!("home/{file}"), "{ broken");
    }
    is_guarded(&sandbox);
    for file in files {
        assert_eq!(sandbox.read(&format!("home/{file}")), "{ broken", "{file}");
    }
}

#[test]
fn a_manifest_that_breaks_in_mid_session_does_not_disarm_a_guard() {
    let sandbox = guarded_lab();
    is_guarded(&sandbox);
    let manifest = sandbox.read("ws/Cargo.toml");
    sandbox.write("ws/Cargo.toml", "[package\nname");
    is_guarded(&sandbox);
    sandbox.write("ws/Cargo.toml", manifest.replace("\nwidget", "\nwidget ="));
    is_guarded(&sandbox);
}

#[test]
fn f75_a_missing_lock_file_is_no_trouble_and_is_not_made() {
    let sandbox = guarded_lab();
    std::fs::remove_file(sandbox.ws().join("Cargo.lock")).expect("removes");
    is_guarded(&sandbox);
    assert!(!sandbox.has("ws/Cargo.lock"));
}

#[test]
fn where_there_is_no_workspace_nothing_is_said_or_written_there() {
    let sandbox = guarded_lab();
    let elsewhere = sandbox.dir().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("creates");
    let before = symposium_testlib::Tree::of(&sandbox.dir());
    let told = Told { cwd: elsewhere.display().to_string(), ..Told::in_ws(&sandbox) };
    all_carry_on(&sandbox, &told);
    let after = symposium_testlib::Tree::of(&sandbox.dir());
    // What we remember of the session, and that no plugin's hook is for every workspace.
    let ours = ["+ home/.symposium/cache", "+ home/.symposium/logs", "+ home/.symposium/sessions"];
    let mut changes = after.changes_since(&before);
    changes.retain(|change| !ours.iter().any(|ours| change.starts_with(ours)));
    assert_eq!(changes, Vec::<String>::new());
}

#[cfg(unix)]
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

#[cfg(unix)]
#[test]
fn neither_cargo_nor_rustc_nor_rustup_is_run_whatever_happens() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut sandbox = guarded_lab();
    configure(&sandbox, &["claude", "codex", "kiro"], "");
    crate::plugin_with_skill(&sandbox, "teacher", "widget", "widget-basics");
    sandbox.write("ws/rust-toolchain.toml", "[toolchain]\nchannel = \"nightly-1999-01-01\"\n");
    sandbox.write("ws/.cargo/config.toml", "[build]\nrustc = \"./evil\"\n");
    let trace = sandbox.dir().join("trace");
    for name in ["cargo", "rustc", "rustup", "rustdoc", "git", "claude", "codex", "kiro-cli"] {
        let path = format!("bin/{name}");
        sandbox.write(&path, format!("#!/bin/sh\necho {name} \"$@\" >>'{}'\n", trace.display()));
        let path = sandbox.dir().join(path);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("sets");
    }
    sandbox.write("ws/evil", format!("#!/bin/sh\necho evil >>'{}'\n", trace.display()));
    let path = std::env::var("PATH").expect("a PATH");
    sandbox.set("PATH", format!("{}:{path}", sandbox.dir().join("bin").display()));
    is_guarded(&sandbox);
    for agent in AGENTS {
        for event in Event::ALL {
            send(&sandbox, agent, event, &Told::in_ws(&sandbox).session("s2"));
        }
        sandbox.package(&[("widget", "1.2.3"), ("gadget", "1.0.0")]);
        send(&sandbox, agent, Event::PostToolUse, &Told::in_ws(&sandbox));
        std::fs::remove_file(sandbox.ws().join("Cargo.lock")).expect("removes");
    }
    assert!(!sandbox.has("trace"), "{}", sandbox.read("trace"));
}
