//! How plugins' hooks are chosen, started and survived.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::hook_kit::*;

const BLOCK: &str = "on-failure = \"block\"";

/// A hook that fails in each way there is, and a second plugin behind it that adds context.
#[test]
fn decision_7_a_failing_hook_is_logged_and_the_others_are_heard() {
    let failures = [
        ("crash", "", "exit 101", "it ended with exit code 101"),
        #[cfg(unix)]
        ("signal", "", "kill -9 $$", "signal 9 ended it"),
        ("hang", "timeout = 1", "sleep 60", "it took longer than 1s"),
        ("hang-on", "timeout = 1", "trap '' TERM; sleep 60 & sleep 60", "it took longer than 1s"),
        ("syntax", "", "echo on\nif true", "the shell can't read its script: "),
        ("flood", "", "head -c 10000000 /dev/zero | tr '\\0' x", "it wrote more than can be read"),
    ];
    in_parallel(&failures, |(name, keys, script, problem)| {
        for (guards, agents) in [(false, &AGENTS[..]), (true, &AGENTS[..])] {
            let sandbox = lab();
            let keys = format!("{keys}\n{}", if guards { BLOCK } else { "" });
            hook_plugin(&sandbox, "bad", Event::PreToolUse, &keys, script);
            let context = json!({"additionalContext": "heard"});
            let good = says(Event::PreToolUse, context);
            hook_plugin(&sandbox, "good", Event::PreToolUse, "", &good);
            in_parallel(agents, |agent| {
                let start = Instant::now();
                let told = Told::in_ws(&sandbox).session(agent);
                let effect = send(&sandbox, agent, Event::PreToolUse, &told);
                assert!(start.elapsed() < Duration::from_secs(20), "{name} {agent}");
                assert_eq!(effect.refused.is_some(), guards, "{name} {agent}");
                if let Some(reason) = &effect.refused {
                    let who = "hook `bad-hook` of plugin `bad` guards this and failed";
                    assert!(reason.contains(who) && reason.contains(problem), "{reason}");
                }
                if matches!(*agent, "claude" | "codex" | "copilot" | "symposium") {
                    assert_eq!(effect.context.as_deref(), Some("heard"), "{name} {agent}");
                }
            });
            let log = logs(&sandbox);
            assert!(log.contains(&format!("plugin `bad` failed: {problem}")), "{name}: {log}");
        }
    });
}

/// Only the shell itself fails over a script: what a hook says of something else is its denial.
#[test]
fn a_hook_that_speaks_of_a_syntax_error_and_exits_with_2_blocks() {
    let sandbox = lab();
    let script = "cat >/dev/null\necho \"$0: 3: Syntax error: in your file\" >&2\nexit 2\n";
    hook_plugin(&sandbox, "p", Event::PreToolUse, "", script);
    for agent in AGENTS {
        let effect =
            send(&sandbox, agent, Event::PreToolUse, &Told::in_ws(&sandbox).session(agent));
        let reason = effect.refused.unwrap_or_default();
        assert!(reason.contains("Syntax error: in your file"), "{agent}: {reason}");
    }
}

#[test]
fn decision_7_a_program_that_is_not_there_is_a_failure_and_no_block() {
    for (key, program) in [("script", "gone.sh"), ("executable", "gone")] {
        for guards in [false, true] {
            let sandbox = lab();
            let program = sandbox.dir().join(program);
            let command = format!("{{ {key} = {program:?} }}");
            let keys = if guards { BLOCK } else { "" };
            sandbox.user_plugin(
                "p/SYMPOSIUM.toml",
                &format!(
                    "name = \"p\"\ncrates = [\"widget\"]\n[[hooks]]\nname = \"h\"\n\
                     event = \"PreToolUse\"\ncommand = {command}\n{keys}\n"
                ),
            );
            for agent in AGENTS {
                let told = Told::in_ws(&sandbox).session(agent);
                let effect = send(&sandbox, agent, Event::PreToolUse, &told);
                assert_eq!(effect.refused.is_some(), guards, "{agent} {command}: {effect:?}");
            }
            assert!(logs(&sandbox).contains("hook `h` of plugin `p` failed"));
        }
    }
}

#[test]
fn garbage_from_a_hook_says_nothing() {
    for (script, note) in [
        ("echo hello", "its output holds no JSON object"),
        ("echo '[1,2]'", "its output holds no JSON object"),
        ("printf '\\377\\376\\000'", "its output holds no JSON object"),
        ("echo '{\"PreToolUse\": 7}'", "`PreToolUse` in its answer is no object"),
        ("echo '{\"PostToolUse\": {\"decision\": \"deny\"}}'", "it answered another event"),
        ("echo '{\"PreToolUse\": {\"decision\": \"maybe\"}}'", "unknown decision \"maybe\""),
    ] {
        let sandbox = lab();
        hook_plugin(&sandbox, "p", Event::PreToolUse, "", script);
        for agent in AGENTS {
            let told = Told::in_ws(&sandbox).session(agent);
            assert_eq!(send(&sandbox, agent, Event::PreToolUse, &told), Effect::default());
        }
        assert!(logs(&sandbox).contains(note), "{script}: {}", logs(&sandbox));
    }
}

#[test]
fn f240_what_is_said_beside_another_exit_code_counts() {
    let sandbox = lab();
    let script =
        format!("{}exit 1\n", says(Event::PreToolUse, json!({"decision": "deny", "reason": "no"})));
    hook_plugin(&sandbox, "p", Event::PreToolUse, "", &script);
    let effect = send(&sandbox, "claude", Event::PreToolUse, &Told::in_ws(&sandbox));
    assert_eq!(effect.refused.as_deref(), Some("no"));
    // A guard that crashes after it gave a hint has not let anything through.
    let sandbox = lab();
    let script =
        format!("{}exit 101\n", says(Event::PreToolUse, json!({"additionalContext": "hint"})));
    hook_plugin(&sandbox, "p", Event::PreToolUse, BLOCK, &script);
    let effect = send(&sandbox, "claude", Event::PreToolUse, &Told::in_ws(&sandbox));
    assert!(effect.refused.is_some() && effect.context.as_deref() == Some("hint"), "{effect:?}");
}

#[test]
fn f247_a_hook_that_does_not_read_ten_megabytes_is_no_trouble() {
    let sandbox = lab();
    let answer = json!({"PreToolUse": {"decision": "deny", "reason": "ok"}});
    let script = format!("head -c 10 >/dev/null\necho '{answer}'\n");
    hook_plugin(&sandbox, "p", Event::PreToolUse, "", &script);
    let huge = "x".repeat(10_000_000);
    for agent in AGENTS {
        let told = Told { command: "PLACE", ..Told::in_ws(&sandbox).session(agent) };
        let payload = String::from_utf8(told.payload(agent, Event::PreToolUse)).expect("UTF-8");
        let payload = payload.replace("PLACE", &huge);
        let run = sandbox.feed(&["hook", agent, "pre-tool-use"], payload.as_bytes());
        assert_eq!(
            effect(agent, Event::PreToolUse, &run).refused.as_deref(),
            Some("ok"),
            "{agent}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_hook_that_forks_and_leaves_is_not_waited_for_and_its_child_does_not_stay() {
    in_parallel(&AGENTS, |agent| {
        let sandbox = lab();
        let pid = sandbox.dir().join("pid");
        let answer = json!({"PreToolUse": {"decision": "deny", "reason": "ok"}});
        let script = format!("sleep 300 &\necho $! >'{}'\necho '{answer}'\n", pid.display());
        hook_plugin(&sandbox, "p", Event::PreToolUse, "", &script);
        let start = Instant::now();
        let effect = send(&sandbox, agent, Event::PreToolUse, &Told::in_ws(&sandbox));
        assert_eq!(effect.refused.as_deref(), Some("ok"), "{agent}");
        assert!(start.elapsed() < Duration::from_secs(20), "{agent}");
        let pid = sandbox.read("pid").trim().to_owned();
        // Where nobody reaps, what was killed stays as a zombie.
        let stat = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // On a busy machine it may take a moment to die.
        while !(stat().is_empty() || stat().contains(") Z ")) {
            assert!(start.elapsed() < Duration::from_secs(60), "{agent}: still there: {}", stat());
            std::thread::sleep(Duration::from_millis(5));
        }
    });
}

#[test]
fn f237_a_native_hook_reads_the_agents_bytes_untouched() {
    let sandbox = lab();
    let seen = sandbox.dir().join("seen");
    let look = format!("cat >{}", in_script("seen"));
    for agent in REAL_AGENTS {
        hook_plugin(
            &sandbox,
            &format!("p-{agent}"),
            Event::PreToolUse,
            &format!("format = \"{agent}\""),
            &look,
        );
    }
    for agent in REAL_AGENTS {
        // Odd spacing, order, numbers, escapes, unknown keys: nothing is written anew.
        let told = Told::in_ws(&sandbox).session(agent);
        let payload = String::from_utf8(told.payload(agent, Event::PreToolUse)).expect("UTF-8");
        let odd = format!(
            "{{ \"zz\" : 1.50e2 ,\"n\":12345678901234567890123, \"u\":\"\\u00e9\\/\"\n,{} \n",
            payload.strip_prefix('{').expect("an object")
        );
        let run = sandbox.feed(&["hook", agent, "pre-tool-use"], odd.as_bytes());
        assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{agent}: {run:?}");
        assert_eq!(sandbox.read("seen"), odd, "{agent}");
        std::fs::remove_file(&seen).expect("removes");
    }
}

#[test]
fn decision_10_unknown_fields_of_a_native_answer_are_carried_through() {
    for agent in ["claude", "gemini"] {
        let sandbox = lab();
        let event = native_event(agent, Event::PreToolUse);
        let answer = json!({
            "later": {"n": 1.5},
            "hookSpecificOutput": {"hookEventName": event, "newer": [1], "additionalContext": "c"},
        });
        let script = format!("cat >/dev/null\necho '{answer}'\n");
        hook_plugin(&sandbox, "p", Event::PreToolUse, &format!("format = \"{agent}\""), &script);
        let payload = Told::in_ws(&sandbox).payload(agent, Event::PreToolUse);
        let run = sandbox.feed(&["hook", agent, "pre-tool-use"], &payload).ok();
        let answer: Value = serde_json::from_str(&run.stdout).expect("JSON");
        assert_eq!(answer["later"], json!({"n": 1.5}), "{agent}");
        assert_eq!(answer["hookSpecificOutput"]["newer"], json!([1]), "{agent}");
    }
}

#[test]
fn f231_the_agents_own_format_comes_before_the_portable_one_and_nobody_elses_is_run() {
    let sandbox = lab();
    let hook = |name: &str, format: &str| {
        format!(
            "[[hooks]]\nname = \"{name}\"\nevent = \"PreToolUse\"\n\
             command = {{ script = \"hook.sh\", args = [\"{name}\"] }}\nformat = \"{format}\"\n\n"
        )
    };
    let trace = sandbox.dir().join("trace");
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        &format!(
            "name = \"p\"\ncrates = [\"widget\"]\n\n{}{}{}{}",
            hook("portable", "symposium"),
            hook("claude-1", "claude"),
            hook("claude-2", "claude"),
            hook("gemini-1", "gemini"),
        ),
    );
    sandbox.user_plugin("p/hook.sh", &tracing());
    for (agent, expected) in [
        ("claude", "claude-1\nclaude-2\n"),
        ("gemini", "gemini-1\n"),
        ("codex", "portable\n"),
        ("kiro", "portable\n"),
        ("symposium", "portable\n"),
    ] {
        send(&sandbox, agent, Event::PreToolUse, &Told::in_ws(&sandbox).session(agent));
        assert_eq!(sandbox.read("trace"), expected, "{agent}");
        std::fs::remove_file(&trace).expect("removes");
    }
}

#[test]
fn f230_f232_f233_matchers_agents_and_the_order_of_hooks() {
    let sandbox = lab();
    let trace = sandbox.dir().join("trace");
    // A source of the user's own comes before `user-plugins`; in a source, plugins by path.
    sandbox.write("extra/z/SYMPOSIUM.toml", plugin_of("z", &[("first", "*", "")]));
    sandbox.write("extra/z/hook.sh", tracing());
    let extra = sandbox.dir().join("extra");
    let source = format!("[[plugin-source]]\nname = \"extra\"\npath = {:?}\n", extra.display());
    configure(&sandbox, &[], &source);
    let hooks = [
        ("canonical", "Bash", ""),
        ("native", "run_shell_command|bash|execute_bash|developer__shell", ""),
        ("anchored", "as", ""),
        ("regex", "(?i)b.*", ""),
        ("invalid", "[", ""),
        ("only-kiro", "", "agent = \"kiro\""),
    ];
    sandbox.user_plugin("a/SYMPOSIUM.toml", &plugin_of("a", &hooks));
    sandbox.user_plugin("a/hook.sh", &tracing());
    sandbox.user_plugin("b/SYMPOSIUM.toml", &plugin_of("b", &[("last", "", "")]));
    sandbox.user_plugin("b/hook.sh", &tracing());
    for agent in AGENTS {
        send(&sandbox, agent, Event::PreToolUse, &Told::in_ws(&sandbox).session(agent));
        let mut expected = vec!["first", "canonical"];
        if !matches!(agent, "claude" | "codex" | "symposium") {
            expected.push("native");
        }
        expected.push("regex");
        if agent == "kiro" {
            expected.push("only-kiro");
        }
        expected.push("last");
        let ran = sandbox.read("trace");
        assert_eq!(ran.lines().collect::<Vec<_>>(), expected, "{agent}");
        std::fs::remove_file(&trace).expect("removes");
    }
    assert!(logs(&sandbox).contains("hook `invalid` of plugin `a` never runs"));
}

fn plugin_of(name: &str, hooks: &[(&str, &str, &str)]) -> String {
    let mut text = format!("name = \"{name}\"\ncrates = [\"widget\"]\n");
    for (name, matcher, more) in hooks {
        text.push_str(&format!(
            "\n[[hooks]]\nname = \"{name}\"\nevent = \"PreToolUse\"\nmatcher = \"{matcher}\"\n\
             command = {{ script = \"hook.sh\", args = [\"{name}\"] }}\n{more}\n"
        ));
    }
    text
}

fn tracing() -> String {
    format!("cat >/dev/null; echo $1 >>{}\n", in_script("trace"))
}

#[test]
fn f250_the_plugins_own_gate_and_the_hooks_must_hold() {
    let sandbox = lab();
    let deny = says(Event::PreToolUse, json!({"decision": "deny", "reason": "no"}));
    for (name, plugin, hook) in [
        ("p", "[\"other\"]", "crates = [\"widget\"]"),
        ("q", "[\"widget\"]", "crates = [\"other\"]"),
        ("r", "[\"widget\"]", "crates = [\"widget<1\"]"),
    ] {
        hook_plugin(&sandbox, name, Event::PreToolUse, hook, &deny);
        let path = format!("home/.symposium/plugins/{name}/SYMPOSIUM.toml");
        let text = sandbox.read(&path).replacen("[\"widget\"]", plugin, 1);
        sandbox.write(&path, text);
    }
    let told = Told::in_ws(&sandbox);
    assert_eq!(send(&sandbox, "claude", Event::PreToolUse, &told), Effect::default());
    sandbox.package(&[("widget", "1.2.3"), ("other", "1.0.0")]);
    let effect = send(&sandbox, "claude", Event::PreToolUse, &told);
    assert!(effect.refused.is_some(), "from the next event on");
}

#[test]
fn copilot_running_claudes_hooks_is_answered_with_nothing() {
    let mut sandbox = lab();
    let deny = says(Event::PreToolUse, json!({"decision": "deny", "reason": "no"}));
    hook_plugin(&sandbox, "p", Event::PreToolUse, "", &deny);
    sandbox.set("COPILOT_CLI", "1");
    let told = Told::in_ws(&sandbox);
    let pascal = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "timestamp": "2026-11-05T10:15:30.000Z",
        "cwd": told.cwd, "tool_name": "bash", "tool_input": {"command": "ls"},
    });
    for payload in [told.payload("copilot", Event::PreToolUse), pascal.to_string().into_bytes()] {
        let run = sandbox.feed(&["hook", "claude", "pre-tool-use"], &payload);
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
    }
    // A Claude that was started from Copilot's shell is Claude.
    let effect = send(&sandbox, "claude", Event::PreToolUse, &told);
    assert!(effect.refused.is_some());
}

// Another system's shell writes paths in its own way.
#[cfg(unix)]
#[test]
fn f171_to_f175_a_hook_knows_who_calls_and_where_its_tools_are() {
    let sandbox = lab();
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\"]\n\n[[installations]]\nname = \"my-tool\"\n\
         executable = \"tools/my tool\"\n\n[[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\n\
         command = { script = \"bin/hook.sh\", args = [\"one two\", \"$X\"] }\n\
         requirements = [\"my-tool\"]\n",
    );
    let seen = sandbox.dir().join("seen");
    sandbox.user_plugin(
        "p/bin/hook.sh",
        &format!(
            "cat >/dev/null\nexec >'{}'\necho \"$SYMPOSIUM_AGENT $SYMPOSIUM_EVENT\"\n\
             echo \"$SYMPOSIUM_WORKSPACE\"\npwd\necho \"$SYMPOSIUM_my_tool\"\n\
             echo \"$SYMPOSIUM_h\"\necho \"$PATH\"\nprintf '%s|' \"$@\"\necho\necho \"$KEPT\"\n",
            seen.display()
        ),
    );
    sandbox.user_plugin("p/tools/my tool", "#!/bin/sh\n");
    sandbox.write("ws/src/deep/x.rs", "");
    let mut sandbox = sandbox;
    sandbox.set("KEPT", "kept");
    let path = std::env::var("PATH").expect("a PATH");
    for agent in AGENTS {
        let cwd = sandbox.ws().join("src/deep").display().to_string();
        let told = Told { cwd, ..Told::in_ws(&sandbox).session(agent) };
        send(&sandbox, agent, Event::PreToolUse, &told);
        let plugins = sandbox.home().join(".symposium/plugins/p");
        let expected = format!(
            "{agent} PreToolUse\n{ws}\n{ws}/src/deep\n{p}/tools/my tool\n{p}/bin/hook.sh\n\
             {p}/bin:{p}/tools:{path}\none two|$X|\nkept\n",
            ws = sandbox.ws().display(),
            p = plugins.display(),
        );
        assert_eq!(sandbox.read("seen"), expected, "{agent}");
        std::fs::remove_file(&seen).expect("removes");
    }
}
