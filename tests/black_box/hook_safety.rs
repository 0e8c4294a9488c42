//! What must never happen: each of it has been seen in tools of this kind. Whatever is wrong with
//! us, the agent carries on.

mod input;
#[cfg(unix)]
mod surroundings;

use symposium_testlib::{Run, Sandbox, slashes};

use crate::hook_kit::*;

const CARRY_ON: (i32, &str, &str) = (0, "", "");

fn said(run: &Run) -> (i32, &str, &str) {
    (run.code, &run.stdout, &run.stderr)
}

/// Every agent at every event carries on.
fn all_carry_on(sandbox: &Sandbox, told: &Told) {
    for agent in AGENTS {
        for event in Event::COMMON {
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
    let sandbox = with_agents(&["claude"]);
    let deny = says(Event::PreToolUse, serde_json::json!({"decision": "deny", "reason": "no"}));
    hook_plugin(&sandbox, "guard", Event::PreToolUse, "", &deny);
    crate::plugin_with_skill(&sandbox, "teacher", "widget", "widget-basics");
    sandbox.run(&["sync"]).ok();
    let before = sandbox.ws_tree();
    assert!(sandbox.has("ws/.claude/skills/widget-basics"));
    let settings = sandbox.read("home/.claude/settings.json");
    let nothing_changes = || {
        is_guarded(&sandbox);
        send(&sandbox, "claude", Event::SessionStart, &Told::in_ws(&sandbox));
        assert_eq!(sandbox.ws_tree().changes_since(&before), Vec::<String>::new());
        assert_eq!(sandbox.read("home/.claude/settings.json"), settings);
        // Not even a command of the user's takes back what is there for agents it can't read of.
        let run = sandbox.run(&["sync"]).code(1);
        assert!(run.stderr.contains("nothing is changed"), "{}", run.stderr);
        assert_eq!(sandbox.ws_tree().changes_since(&before), Vec::<String>::new());
        run.stderr
    };
    sandbox.write("home/.symposium/config.toml", "[[agent]\nname = ");
    nothing_changes();
    // Where a disk is not mounted: neither the file nor the folder may be taken for none.
    #[cfg(unix)]
    for path in ["home/.symposium/config.toml", "home/dotfiles"] {
        let (link, away) = (sandbox.dir().join(path), sandbox.dir().join("away/config.toml"));
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(away, &link).expect("links");
        let config = sandbox.dir().join("home/.symposium/config.toml");
        if path == "home/dotfiles" {
            std::fs::remove_file(&config).expect("removes");
            std::os::unix::fs::symlink(link.join("config.toml"), &config).expect("links");
        }
        assert!(nothing_changes().contains("leads nowhere"));
    }
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
    let logs = slashes(&logs(&sandbox));
    assert!(logs.contains("aaa/SYMPOSIUM.toml"), "{logs}");
}

#[test]
fn agents_files_that_can_not_be_read_do_not_disarm_a_guard() {
    let agents: Vec<&str> = AGENTS.into_iter().filter(|name| *name != "symposium").collect();
    let sandbox = with_agents(&agents);
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

#[cfg(unix)]
#[test]
fn neither_cargo_nor_rustc_nor_rustup_is_run_whatever_happens() {
    let mut sandbox = guarded_lab();
    configure(&sandbox, &["claude", "codex", "kiro"], "");
    crate::plugin_with_skill(&sandbox, "teacher", "widget", "widget-basics");
    sandbox.write("ws/rust-toolchain.toml", "[toolchain]\nchannel = \"nightly-1999-01-01\"\n");
    sandbox.write("ws/.cargo/config.toml", "[build]\nrustc = \"./evil\"\n");
    let trace = sandbox.dir().join("trace");
    for name in ["cargo", "rustc", "rustup", "rustdoc", "git", "claude", "codex", "kiro-cli"] {
        let script = format!("#!/bin/sh\necho {name} \"$@\" >>'{}'\n", trace.display());
        sandbox.program(&format!("bin/{name}"), &script);
    }
    sandbox.write("ws/evil", format!("#!/bin/sh\necho evil >>'{}'\n", trace.display()));
    sandbox.first_on_path("bin");
    is_guarded(&sandbox);
    for agent in AGENTS {
        for event in Event::COMMON {
            send(&sandbox, agent, event, &Told::in_ws(&sandbox).session("s2"));
        }
        sandbox.package(&[("widget", "1.2.3"), ("gadget", "1.0.0")]);
        send(&sandbox, agent, Event::PostToolUse, &Told::in_ws(&sandbox));
        std::fs::remove_file(sandbox.ws().join("Cargo.lock")).expect("removes");
    }
    assert!(!sandbox.has("trace"), "{}", sandbox.read("trace"));
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
    // What we remember of the session and of the plugins' manifests, and that no plugin's hook is for
    // every workspace.
    let ours = ["cache", "last-good", "logs", "sessions"];
    let ours = ours.map(|folder| format!("+ home/.symposium/{folder}"));
    let mut changes = after.changes_since(&before);
    changes.retain(|change| !ours.iter().any(|ours| change.starts_with(ours.as_str())));
    assert_eq!(changes, Vec::<String>::new());
}
