//! Events keep a workspace's agents up to date.

mod announcements;
mod missing_programs;

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use symposium_testlib::Sandbox;

use crate::hook_kit::*;
use crate::{plugin_with_skill, skill};

/// A workspace of an agent, never synced, for which a plugin has a skill.
fn unsynced(agent: &str) -> Sandbox {
    let sandbox = with_agents(&[agent]);
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    sandbox
}

fn skill_dir(agent: &str) -> &'static str {
    match agent {
        "claude" => ".claude/skills",
        "kiro" => ".kiro/skills",
        _ => ".agents/skills",
    }
}

#[test]
fn f11_without_auto_sync_nothing_is_placed_and_hooks_follow_all_the_same() {
    let sandbox = unsynced("claude");
    configure(&sandbox, &["claude"], "auto-sync = false\n");
    let deny = says(Event::PreToolUse, json!({"decision": "deny", "reason": "no"}));
    hook_plugin(&sandbox, "guard", Event::PreToolUse, "", &deny);
    let told = Told::in_ws(&sandbox);
    assert_eq!(send(&sandbox, "claude", Event::SessionStart, &told), Effect::default());
    assert!(send(&sandbox, "claude", Event::PreToolUse, &told).refused.is_some());
    sandbox.package(&[]);
    let harmless = told.clone().id("2");
    assert!(send(&sandbox, "claude", Event::PreToolUse, &harmless).refused.is_none());
    sandbox.package(&[("widget", "1.2.3")]);
    assert!(send(&sandbox, "claude", Event::PreToolUse, &told.clone().id("3")).refused.is_some());
    assert!(!sandbox.has("ws/.claude") && !sandbox.has("home/.claude"));
    // What the user syncs by hand is announced as ever.
    sandbox.run(&["sync"]).ok();
    let text = send(&sandbox, "claude", Event::UserPromptSubmit, &told).context.expect("news");
    assert!(text.contains("widget-basics"), "{text}");
}

/// Modification times of everything below the sandbox's folder.
fn times(sandbox: &Sandbox) -> BTreeMap<PathBuf, (i64, i64, u64)> {
    walkdir::WalkDir::new(sandbox.dir())
        .into_iter()
        .map(|entry| entry.expect("reads"))
        .map(|entry| {
            let found = entry.metadata().expect("reads");
            (entry.path().to_path_buf(), (found.mtime(), found.mtime_nsec(), found.ino()))
        })
        .collect()
}

#[test]
fn f70_when_nothing_changed_nothing_is_written() {
    in_parallel(&REAL_AGENTS, |agent| {
        let sandbox = unsynced(agent);
        let told = Told::in_ws(&sandbox);
        let other = Event::PreToolUse;
        hook_plugin(&sandbox, "elsewhere", other, "matcher = \"Nothing\"", "exit 2");
        for event in Event::COMMON {
            send(&sandbox, agent, event, &told);
        }
        let before = times(&sandbox);
        for event in [Event::PreToolUse, Event::PostToolUse] {
            send(&sandbox, agent, event, &told);
        }
        assert_eq!(times(&sandbox), before, "{agent}");
        // A prompt is counted; nothing else is touched.
        send(&sandbox, agent, Event::UserPromptSubmit, &told);
        let after = times(&sandbox);
        let changed: Vec<_> =
            after.iter().filter(|(path, time)| before.get(*path) != Some(time)).collect();
        let sessions = sandbox.home().join(".symposium/sessions");
        let claims = sandbox.home().join(".symposium/cache/locks");
        for (path, _) in changed {
            assert!(path.starts_with(&sessions) || path.starts_with(&claims), "{path:?}");
        }
    });
}

#[test]
fn events_at_the_same_time_sync_once_and_are_all_answered() {
    let mut sandbox = unsynced("claude");
    configure(&sandbox, &["claude"], "[logging]\nlevel = \"debug\"\n");
    let deny = says(Event::PreToolUse, json!({"decision": "deny", "reason": "no"}));
    hook_plugin(&sandbox, "guard", Event::PreToolUse, "", &deny);
    sandbox.switch("slow-sync", "100");
    let ids = ["1", "2", "3", "4", "5", "6"];
    in_parallel(&ids, |id| {
        let told = Told::in_ws(&sandbox).session(id).id(id);
        assert!(send(&sandbox, "claude", Event::PreToolUse, &told).refused.is_some(), "{id}");
    });
    let log = logs(&sandbox);
    assert_eq!(
        log.matches("before this event").count(),
        1 + log.matches("failed").count(),
        "{log}"
    );
    assert!(sandbox.has("ws/.claude/skills/widget-basics/SKILL.md"));
}

#[cfg(debug_assertions)]
#[test]
fn a_sync_that_takes_too_long_goes_on_in_the_background() {
    let mut sandbox = unsynced("claude");
    sandbox.switch("slow-sync", "60000");
    sandbox.switch("patience", "1");
    let start = Instant::now();
    let told = Told::in_ws(&sandbox);
    assert_eq!(send(&sandbox, "claude", Event::SessionStart, &told), Effect::default());
    assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());
    assert!(logs(&sandbox).contains("the sync takes too long to wait for"));
    appears(&sandbox, "ws/.claude/skills/widget-basics/SKILL.md");
}

/// A sandbox with a git source that has a plugin, and a `git` on `PATH` that takes its time.
fn with_git_source(delay: &str) -> Sandbox {
    let mut sandbox = with_agents(&["claude"]);
    sandbox.write(
        "repo/far/SYMPOSIUM.toml",
        "name = \"far\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \"skills\"\n",
    );
    sandbox.write("repo/far/skills/far-away/SKILL.md", skill("far-away", "From afar."));
    sandbox.git_in("repo", &["init", "-q"]);
    sandbox.git_in("repo", &["add", "-A"]);
    sandbox.git_in("repo", &["commit", "-qm", "start"]);
    let repo = sandbox.dir().join("repo");
    let source = format!("[[plugin-source]]\nname = \"far\"\ngit = {:?}\n", repo.display());
    configure(&sandbox, &["claude"], &source);
    let path = std::env::var("PATH").expect("a PATH");
    let script = format!("#!/bin/sh\nsleep {delay}\nPATH='{path}'\nexec git \"$@\"\n");
    sandbox.program("bin/git", &script);
    sandbox.first_on_path("bin");
    sandbox
}

#[test]
fn a_sessions_start_refreshes_in_a_process_that_nobody_waits_for_and_that_survives() {
    let sandbox = with_git_source("0.5");
    let told = Told::in_ws(&sandbox);
    let start = Instant::now();
    let mut command = sandbox.command(&["hook", "claude", "session-start"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().expect("starts");
    let group = child.id().cast_signed();
    std::io::Write::write_all(
        &mut child.stdin.take().expect("a pipe"),
        &told.payload("claude", Event::SessionStart),
    )
    .expect("is read");
    // Were a pipe held open, this would wait for git.
    let output = child.wait_with_output().expect("ends");
    let took = start.elapsed();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    assert!(!sandbox.has("ws/.claude/skills/far-away"), "it took {took:?}");
    // The agent ends our process group.
    // SAFETY: sends a signal to a group that this test made.
    unsafe { libc::kill(-group, libc::SIGKILL) };
    appears(&sandbox, "ws/.claude/skills/far-away/SKILL.md");
    // What it brought is announced.
    let snapshots = sandbox.home().join(".symposium/cache/snapshots");
    let text = || send(&sandbox, "claude", Event::UserPromptSubmit, &told).context;
    let news = (0..100).find_map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        snapshots.is_dir().then(text).flatten()
    });
    assert!(news.expect("news").contains("- far-away: From afar."));
}

#[test]
fn where_nothing_could_be_refreshed_no_process_is_started() {
    let sandbox = unsynced("claude");
    send(&sandbox, "claude", Event::SessionStart, &Told::in_ws(&sandbox));
    // Each command but `hook` leaves its version there; it takes one some hundredths of a second.
    std::thread::sleep(Duration::from_millis(700));
    assert!(!sandbox.has("home/.symposium/state.toml"));
}

/// What has to be read to be known is kept with a hash, and each event reads it: the snapshot of a sync
/// that comes right after a change must be that of one that comes later.
#[test]
fn f70_after_a_sync_events_read_nothing_of_what_was_written_right_before_it() {
    let sandbox = unsynced("claude");
    sandbox.run(&["sync"]).ok();
    let snapshot = || {
        let folder = sandbox.home().join(".symposium/cache/snapshots");
        let mut files = std::fs::read_dir(folder).expect("snapshots").flatten();
        std::fs::read(files.next().expect("a snapshot").path()).expect("reads")
    };
    let lock = sandbox.read("ws/Cargo.lock");
    for number in 0..5 {
        sandbox.write("ws/Cargo.lock", format!("{lock}\n# {number}\n"));
        sandbox.run(&["sync"]).ok();
        let soon = snapshot();
        // Longer than times need to tell a change.
        std::thread::sleep(Duration::from_millis(50));
        sandbox.run(&["sync"]).ok();
        assert!(soon == snapshot(), "change {number}");
    }
}

#[test]
fn servers_that_are_known_give_their_tools_their_names() {
    let sandbox = with_agents(&["copilot", "opencode", "claude"]);
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\"]\n\n[[mcp_servers]]\nname = \"my-docs\"\n\
         command = \"serve-docs\"\n\n[[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\n\
         matcher = \"mcp__my-docs__look-.*\"\ncommand = { script = \"hook.sh\" }\n",
    );
    let deny = says(Event::PreToolUse, json!({"decision": "deny", "reason": "no"}));
    sandbox.user_plugin("p/hook.sh", &deny);
    for (agent, name) in [
        ("copilot", "my-docs-look-up"),
        ("opencode", "my-docs_look-up"),
        ("claude", "mcp__my-docs__look-up"),
    ] {
        let payload = Told::in_ws(&sandbox).payload(agent, Event::PreToolUse);
        let payload = String::from_utf8(payload).expect("UTF-8");
        let payload = payload.replace(&format!("\"{}\"", native_bash(agent)), &format!("{name:?}"));
        let run = sandbox.feed(&["hook", agent, "pre-tool-use"], payload.as_bytes());
        assert!(effect(agent, Event::PreToolUse, &run).refused.is_some(), "{agent}");
    }
}

#[test]
fn the_trace_has_a_line_for_each_event() {
    let mut sandbox = lab();
    sandbox.set("SYMPOSIUM_HOOK_TRACE", sandbox.dir().join("trace.jsonl"));
    let script = says(Event::PreToolUse, json!({"decision": "deny", "reason": "no"}));
    hook_plugin(&sandbox, "p", Event::PreToolUse, "", &script);
    let told = Told::in_ws(&sandbox);
    send(&sandbox, "kiro", Event::PreToolUse, &told);
    sandbox.feed(&["hook", "claude", "session-start"], b"\xffgarbage");
    let text = sandbox.read("trace.jsonl");
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 2);
    let mut first = lines[0].clone();
    assert!(first["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0));
    first.as_object_mut().expect("an object").remove("seconds");
    let input = told.payload("kiro", Event::PreToolUse);
    let input: Value = serde_json::from_slice(&input).expect("JSON");
    let expected = json!({
        "agent": "kiro", "event": "pre-tool-use", "input": input,
        "stdout": "", "stderr": "no", "exit": 2,
    });
    assert_eq!(first, expected);
    assert_eq!((&lines[1]["input"], &lines[1]["exit"]), (&json!("\u{fffd}garbage"), &json!(0)));
}
