//! Events keep a workspace's agents up to date.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
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
    let sandbox = lab_for(&[agent]);
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
fn f69_decision_28_the_first_event_installs_skills_and_says_where_they_are() {
    in_parallel(&REAL_AGENTS, |agent| {
        let sandbox = unsynced(agent);
        let told = Told::in_ws(&sandbox);
        let start = send(&sandbox, agent, Event::SessionStart, &told);
        let path = format!("{}/widget-basics/SKILL.md", skill_dir(agent));
        assert!(sandbox.has(&format!("ws/{path}")), "{agent}");
        // Goose can't be told anything.
        if *agent == "goose" {
            assert_eq!(start.context, None, "{agent}");
        } else {
            let text = start.context.expect(agent);
            let line =
                format!("\n- widget-basics: What it is for. ({}/{path})", sandbox.ws().display());
            assert!(text.contains(&line), "{agent}: {text}");
        }
        for event in [Event::UserPromptSubmit, Event::PreToolUse, Event::PostToolUse] {
            assert_eq!(send(&sandbox, agent, event, &told).context, None, "{agent}: said once");
        }
        // In the next session it is there from the start.
        let next = send(&sandbox, agent, Event::SessionStart, &told.session("s2"));
        assert_eq!(next.context, None, "{agent}");
    });
}

#[test]
fn decision_28_what_comes_in_mid_session_is_announced_at_the_next_event_that_can() {
    in_parallel(&REAL_AGENTS, |agent| {
        let sandbox = unsynced(agent);
        sandbox.package(&[]);
        let told = Told::in_ws(&sandbox);
        assert_eq!(send(&sandbox, agent, Event::SessionStart, &told).context, None, "{agent}");
        sandbox.package(&[("widget", "1.2.3")]);
        // The dependency arrives while a tool runs.
        let before = send(&sandbox, agent, Event::PreToolUse, &told);
        assert!(sandbox.has(&format!("ws/{}/widget-basics", skill_dir(agent))), "{agent}");
        let after = send(&sandbox, agent, Event::PostToolUse, &told);
        let (now, later) = (before.context, after.context);
        match *agent {
            "goose" => assert_eq!((now, later), (None, None)),
            "gemini" | "opencode" => {
                assert!(now.is_none() && later.expect(agent).contains("widget-basics"));
            }
            _ => assert!(now.expect(agent).contains("widget-basics") && later.is_none()),
        }
        let prompt = send(&sandbox, agent, Event::UserPromptSubmit, &told);
        assert_eq!(prompt.context, None, "{agent}: said once");
        // And goes again.
        sandbox.package(&[]);
        assert_eq!(send(&sandbox, agent, Event::PostToolUse, &told).context, None, "{agent}");
        assert!(!sandbox.has(&format!("ws/{}/widget-basics", skill_dir(agent))), "{agent}");
    });
}

#[test]
fn decision_28_servers_and_subcommands_that_match_from_now_on_are_one_line() {
    in_parallel(&REAL_AGENTS, |agent| {
        let sandbox = lab_for(&[agent]);
        let more = "\n[[mcp_servers]]\nname = \"docs\"\ncommand = \"serve-docs\"\n\n\
                    [subcommand.inspect]\ndescription = \"Look\"\ncommand = { script = \"w.sh\" }\n";
        for (name, krate) in [("old", "gadget"), ("new", "widget")] {
            let names = more.replace("docs\"\nc", &format!("{name}-docs\"\nc"));
            let names = names.replace("inspect", &format!("{name}-inspect"));
            let manifest = format!("name = \"{name}\"\ncrates = [\"{krate}\"]\n{names}");
            sandbox.user_plugin(&format!("{name}/SYMPOSIUM.toml"), &manifest);
            sandbox.user_plugin(&format!("{name}/w.sh"), "");
        }
        sandbox.package(&[("gadget", "1.0.0")]);
        let told = Told::in_ws(&sandbox);
        // The session before, so that nothing of this is news.
        send(&sandbox, agent, Event::SessionStart, &told.clone().session("s0"));
        let start = send(&sandbox, agent, Event::SessionStart, &told).context;
        assert!(!start.is_some_and(|text| text.contains("docs")), "{agent}");
        sandbox.package(&[("gadget", "1.0.0"), ("widget", "1.2.3")]);
        let line = "New for this workspace's crates: MCP servers, there in the next session: \
                    new-docs; commands, which `cargo agents --help` explains: new-inspect.";
        let said = send(&sandbox, agent, Event::PostToolUse, &told).context;
        let expected = (*agent != "goose").then(|| line.to_owned());
        assert_eq!(said, expected, "{agent}");
        for event in [Event::UserPromptSubmit, Event::PreToolUse, Event::PostToolUse] {
            let again = send(&sandbox, agent, event, &told.clone().id("2")).context;
            assert_eq!(again, None, "{agent}: said once");
        }
    });
}

#[test]
fn decision_28_a_session_whose_start_nobody_told_us_of_hears_of_what_came_since() {
    let sandbox = unsynced("claude");
    let told = Told::in_ws(&sandbox);
    let first = send(&sandbox, "claude", Event::UserPromptSubmit, &told);
    assert!(first.context.expect("news").contains("widget-basics"));
    // What a sync of the user's own brings counts as well.
    let other = told.session("s2");
    assert_eq!(send(&sandbox, "claude", Event::UserPromptSubmit, &other).context, None);
    sandbox.user_plugin("widget/skills/more/SKILL.md", &skill("more", "More."));
    sandbox.run(&["sync"]).ok();
    let text = send(&sandbox, "claude", Event::PostToolUse, &other).context.expect("news");
    assert!(text.contains("- more: More.") && !text.contains("widget-basics"), "{text}");
}

#[test]
fn decision_28_only_what_the_agent_reads_and_only_so_much() {
    let sandbox = unsynced("kiro");
    let told = Told::in_ws(&sandbox);
    // Only Kiro is configured, and Claude reads other folders.
    assert_eq!(send(&sandbox, "claude", Event::SessionStart, &told).context, None);
    let sandbox = unsynced("claude");
    for number in 0..40 {
        let name = format!("skill-{number:02}");
        let description = "word ".repeat(100);
        sandbox.user_plugin(
            &format!("widget/skills/{name}/SKILL.md"),
            &skill(&name, description.trim()),
        );
    }
    let text = send(&sandbox, "claude", Event::SessionStart, &told.clone().session("s3")).context;
    let text = text.expect("news");
    assert!(text.chars().count() <= 2_000, "{}", text.chars().count());
    let told_of = text.matches("SKILL.md)").count();
    let more = format!("\nand {} more: `cargo agents status`", 41 - told_of);
    assert!(told_of > 2 && text.ends_with(&more), "{text}");
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
        for event in Event::ALL {
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
    let mut sandbox = lab_for(&["claude"]);
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
    sandbox.write("bin/git", format!("#!/bin/sh\nsleep {delay}\nPATH='{path}'\nexec git \"$@\"\n"));
    let git = sandbox.dir().join("bin/git");
    std::fs::set_permissions(git, std::fs::Permissions::from_mode(0o755)).expect("sets");
    sandbox.set("PATH", format!("{}:{path}", sandbox.dir().join("bin").display()));
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

/// A plugin whose hook is run by `tool`, which `commands` make of `tool.in`.
fn with_missing_tool(sandbox: &Sandbox, commands: &str, keys: &str) {
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        &format!(
            "name = \"p\"\ncrates = [\"widget\"]\n\n[[installations]]\nname = \"tool\"\n\
             install_commands = [\"{commands}cp tool.in tool; echo x >>count\"]\nscript = \"tool\"\n\n\
             [[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\ncommand = \"tool\"\n{keys}\n"
        ),
    );
    let deny = says(Event::PreToolUse, json!({"decision": "deny", "reason": "by the tool"}));
    sandbox.user_plugin("p/tool.in", &deny);
}

#[test]
fn a_program_that_is_there_in_a_moment_serves_the_event_that_missed_it() {
    in_parallel(&AGENTS, |agent| {
        let sandbox = lab();
        with_missing_tool(&sandbox, "", "");
        let told = Told::in_ws(&sandbox);
        let effect = send(&sandbox, agent, Event::PreToolUse, &told);
        let refused = effect.refused.as_deref();
        assert_eq!(refused, Some("by the tool"), "{agent}: {effect:?}\n{}", logs(&sandbox));
        assert_eq!(effect.context, None, "{agent}: there is nothing to wait for");
        // A file that somebody removed is made again.
        std::fs::remove_file(sandbox.home().join(".symposium/plugins/p/tool")).expect("removes");
        let again = send(&sandbox, agent, Event::PreToolUse, &told.id("2").session("s2"));
        let refused = again.refused.as_deref();
        assert_eq!(refused, Some("by the tool"), "{agent}: {again:?}\n{}", logs(&sandbox));
        assert_eq!(sandbox.read("home/.symposium/plugins/p/count"), "x\nx\n", "{agent}");
    });
}

#[test]
fn a_requirement_that_is_missing_is_got_too_and_the_hook_runs_all_the_same() {
    let mut sandbox = lab();
    sandbox.switch("patience", "1");
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\"]\n\n[[installations]]\nname = \"rtk\"\n\
         install_commands = [\"while [ ! -f go ]; do sleep 0.05; done; cp rtk.in rtk\"]\n\
         script = \"rtk\"\n\n[[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\n\
         command = { script = \"hook.sh\" }\nrequirements = [\"rtk\"]\n",
    );
    sandbox.user_plugin("p/rtk.in", "echo from rtk");
    let script = "cat >/dev/null\nsaid=$([ -z \"$SYMPOSIUM_rtk\" ] || sh \"$SYMPOSIUM_rtk\")\n\
                  echo '{\"PreToolUse\":{\"decision\":\"deny\",\"reason\":\"'\"it ran $said\"'\"}}'\n";
    sandbox.user_plugin("p/hook.sh", script);
    let told = Told::in_ws(&sandbox);
    let first = send(&sandbox, "claude", Event::PreToolUse, &told);
    assert_eq!(first.refused.as_deref(), Some("it ran "));
    let line = "`rtk` of plugin `p` is being installed";
    assert!(first.context.as_deref().is_some_and(|text| text.starts_with(line)), "{first:?}");
    sandbox.user_plugin("p/go", "");
    let last = (0..200).find_map(|number| {
        std::thread::sleep(Duration::from_millis(50));
        let id: &'static str = Box::leak(format!("n{number}").into_boxed_str());
        let effect = send(&sandbox, "claude", Event::PreToolUse, &told.clone().id(id));
        effect.refused.filter(|reason| reason == "it ran from rtk")
    });
    assert!(last.is_some(), "{}", logs(&sandbox));
}

#[test]
fn a_program_that_takes_longer_is_waited_for_once_a_session_and_the_agent_is_told_once() {
    in_parallel(&[false, true], |&guards| {
        let mut sandbox = lab();
        sandbox.switch("patience", "1");
        let block = if guards { "on-failure = \"block\"" } else { "" };
        with_missing_tool(&sandbox, "while [ ! -f go ]; do sleep 0.05; done; ", block);
        let told = Told::in_ws(&sandbox);
        let timed = |agent: &str, event: Event, told: &Told| {
            let start = Instant::now();
            (send(&sandbox, agent, event, told), start.elapsed())
        };
        let (first, took) = timed("claude", Event::PreToolUse, &told);
        assert!((4..10).contains(&took.as_secs()), "{took:?}");
        let line = "`tool` of plugin `p` is being installed";
        assert!(first.context.as_deref().is_some_and(|text| text.starts_with(line)), "{first:?}");
        assert_eq!(first.refused.is_some(), guards);
        let (second, took) = timed("claude", Event::PreToolUse, &told.clone().id("2"));
        assert!(took < Duration::from_secs(4), "waited for once: {took:?}");
        assert_eq!((second.context, second.refused.is_some()), (None, guards), "told once");
        // Gemini hears of it with the tool's result. The other process is at it, so there is nothing
        // to wait for.
        let gemini = told.clone().session("g");
        assert_eq!(timed("gemini", Event::PreToolUse, &gemini).0.context, None);
        let after = send(&sandbox, "gemini", Event::PostToolUse, &gemini).context;
        assert!(after.is_some_and(|text| text.contains(line)));
        sandbox.user_plugin("p/go", "");
        let reason = (0..200).find_map(|number| {
            std::thread::sleep(Duration::from_millis(50));
            let id: &'static str = Box::leak(format!("n{number}").into_boxed_str());
            let effect = send(&sandbox, "claude", Event::PreToolUse, &told.clone().id(id));
            effect.refused.filter(|reason| reason == "by the tool")
        });
        assert!(reason.is_some(), "{}", logs(&sandbox));
        assert_eq!(sandbox.read("home/.symposium/plugins/p/count"), "x\n", "once");
    });
}

#[test]
fn an_event_without_a_session_has_a_missing_program_got_and_does_not_wait() {
    let sandbox = lab();
    with_missing_tool(&sandbox, "sleep 1; ", "");
    let told = Told { session: None, ..Told::in_ws(&sandbox) };
    let start = Instant::now();
    assert_eq!(send(&sandbox, "symposium", Event::PreToolUse, &told), Effect::default());
    assert!(start.elapsed() < Duration::from_secs(4));
    let denied = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        send(&sandbox, "symposium", Event::PreToolUse, &told).refused.is_some()
    });
    assert!(denied, "{}", logs(&sandbox));
}

#[test]
fn servers_that_are_known_give_their_tools_their_names() {
    let sandbox = lab_for(&["copilot", "opencode", "claude"]);
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
