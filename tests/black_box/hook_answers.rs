//! What plugins' hooks say, as it reaches each agent.

use std::path::PathBuf;

use serde_json::{Value, json};
use symposium_testlib::Sandbox;

use crate::hook_kit::*;

/// One hook that answers `fields` to `event`.
fn lab_saying(event: Event, fields: Value) -> Sandbox {
    let sandbox = lab();
    hook_plugin(&sandbox, "p", event, "", &says(event, fields));
    sandbox
}

/// A program of the workspace's examples, which a test run of the whole workspace builds.
fn example(name: &str) -> PathBuf {
    let mut path = crate::program();
    path.pop();
    path.push("examples");
    path.push(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if !path.is_file() {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let target = path.ancestors().nth(3).expect("the target folder").to_owned();
        let status = std::process::Command::new(cargo)
            .args(["build", "--offline", "-p", "symposium-hook", "--example", name])
            .args(path.iter().any(|part| part == "release").then_some("--release"))
            .arg("--target-dir")
            .arg(target)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .expect("cargo runs");
        assert!(status.success() && path.is_file(), "{} is built", path.display());
    }
    path
}

#[test]
fn f242_f303_the_books_handler_blocks_in_every_agent_unchanged() {
    let program = example("block_destructive");
    let sandbox = lab();
    sandbox.user_plugin(
        "guard/SYMPOSIUM.toml",
        &format!(
            "name = \"guard\"\ncrates = [\"widget\"]\n\n[[hooks]]\nname = \"guard\"\n\
             event = \"PreToolUse\"\nmatcher = \"Bash\"\ncommand = {{ executable = {:?} }}\n",
            program.display()
        ),
    );
    for agent in AGENTS {
        let told = Told::in_ws(&sandbox);
        let told = told.id("a").command("sudo rm -rf /");
        let denied = send(&sandbox, agent, Event::PreToolUse, &told);
        let reason = denied.refused.expect(agent);
        assert!(
            reason.contains("Destructive rm -rf commands are not allowed"),
            "{agent}: {reason}"
        );
        let harmless = told.id("b").command("cargo test");
        assert_eq!(send(&sandbox, agent, Event::PreToolUse, &harmless), Effect::default());
    }
}

#[test]
fn f248_the_books_example_on_the_command_line() {
    let sandbox = lab_saying(
        Event::PreToolUse,
        json!({"decision": "deny", "reason": "no", "additionalContext": "c"}),
    );
    let event = r#"{"PreToolUse":{"tool_name":"Bash","tool_input":{"command":"cargo test"},"session_id":null,"cwd":null}}"#;
    let run = sandbox.feed(&["agents", "hook", "symposium", "pre-tool-use"], event.as_bytes()).ok();
    let answer: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let expected =
        json!({"PreToolUse": {"decision": "deny", "reason": "no", "additionalContext": "c"}});
    assert_eq!(answer, expected);
}

#[test]
fn f242_a_denial_reaches_every_agent_with_its_reason() {
    let sandbox =
        lab_saying(Event::PreToolUse, json!({"decision": "deny", "reason": "not on Fridays"}));
    in_parallel(&AGENTS, |agent| {
        let effect =
            send(&sandbox, agent, Event::PreToolUse, &Told::in_ws(&sandbox).session(agent));
        assert_eq!(effect.refused.as_deref(), Some("not on Fridays"), "{agent}");
        assert_eq!((effect.input, effect.granted), (None, false), "{agent}");
    });
}

#[test]
fn decision_9_a_question_is_asked_where_the_agent_can_and_else_refused_with_the_wish() {
    let sandbox = lab_saying(Event::PreToolUse, json!({"decision": "ask", "reason": "it pushes"}));
    in_parallel(&AGENTS, |agent| {
        let effect =
            send(&sandbox, agent, Event::PreToolUse, &Told::in_ws(&sandbox).session(agent));
        if matches!(*agent, "claude" | "copilot" | "symposium") {
            assert_eq!(effect.asked.as_deref(), Some("it pushes"), "{agent}");
        } else {
            // Qwen asks on its screen, and refuses without one.
            let reason = if *agent == "qwen" { effect.asked } else { effect.refused };
            let reason = reason.expect(agent);
            assert!(reason.contains("ask the user") && reason.contains("it pushes"), "{reason}");
        }
    });
}

#[test]
fn decision_9_silence_is_never_turned_into_consent() {
    let sandbox = lab_saying(Event::PreToolUse, json!({}));
    in_parallel(&AGENTS, |agent| {
        let effect =
            send(&sandbox, agent, Event::PreToolUse, &Told::in_ws(&sandbox).session(agent));
        assert_eq!(effect, Effect::default(), "{agent}");
    });
    let sandbox = lab_saying(Event::PreToolUse, json!({"decision": "allow"}));
    in_parallel(&AGENTS, |agent| {
        let effect =
            send(&sandbox, agent, Event::PreToolUse, &Told::in_ws(&sandbox).session(agent));
        let grants = matches!(*agent, "claude" | "copilot" | "symposium");
        assert_eq!(effect, Effect { granted: grants, ..Effect::default() }, "{agent}");
    });
}

#[test]
fn f243_a_new_input_reaches_every_agent_that_takes_one() {
    let sandbox = lab_saying(
        Event::PreToolUse,
        json!({"updatedInput": {"command": "cargo nextest run", "description": "d"}}),
    );
    in_parallel(&AGENTS, |agent| {
        let effect =
            send(&sandbox, agent, Event::PreToolUse, &Told::in_ws(&sandbox).session(agent));
        let takes = !matches!(*agent, "qwen" | "kiro" | "goose");
        let input = takes.then(|| json!({"command": "cargo nextest run", "description": "d"}));
        assert_eq!(effect, Effect { input, ..Effect::default() }, "{agent}");
    });
}

#[test]
fn case_56_an_input_that_is_the_same_again_is_no_rewrite_and_grants_nothing() {
    let same = json!({"updatedInput": {"description": "d", "command": "cargo test"}});
    let sandbox = lab_saying(Event::PreToolUse, same);
    in_parallel(&AGENTS, |agent| {
        let told = Told::in_ws(&sandbox).session(agent);
        assert_eq!(send(&sandbox, agent, Event::PreToolUse, &told), Effect::default(), "{agent}");
    });
}

#[test]
fn f244_context_reaches_every_agent_at_every_event_that_delivers_it() {
    for event in [Event::SessionStart, Event::UserPromptSubmit, Event::PostToolUse] {
        let sandbox = lab_saying(event, json!({"additionalContext": "this is 2.x"}));
        in_parallel(&AGENTS, |agent| {
            let effect = send(&sandbox, agent, event, &Told::in_ws(&sandbox).session(agent));
            let context = (*agent != "goose").then(|| "this is 2.x".to_owned());
            assert_eq!(effect, Effect { context, ..Effect::default() }, "{agent}");
        });
    }
}

#[test]
fn context_before_a_tool_goes_with_that_tools_result_where_the_agent_ignores_it_before() {
    let sandbox = lab_saying(Event::PreToolUse, json!({"additionalContext": "this is 2.x"}));
    in_parallel(&AGENTS, |agent| {
        let told = Told::in_ws(&sandbox).session(agent);
        let first = told.clone().id("1").command("cargo build");
        let second = told.clone().id("2").command("cargo test");
        let said = Some("this is 2.x".to_owned());
        let of = |event: Event, told: &Told| send(&sandbox, agent, event, told).context;
        match *agent {
            "goose" => {
                assert_eq!(of(Event::PreToolUse, &first), None);
                assert_eq!(of(Event::PostToolUse, &first), None);
            }
            "gemini" | "qwen" | "opencode" => {
                // Two tools at once: each gets its own, and once.
                assert_eq!(of(Event::PreToolUse, &first), None, "{agent}");
                assert_eq!(of(Event::PreToolUse, &second), None, "{agent}");
                let other = told.clone().id("3").command("ls");
                assert_eq!(of(Event::PostToolUse, &other), None, "{agent}");
                assert_eq!(of(Event::PostToolUse, &second), said, "{agent}");
                assert_eq!(of(Event::PostToolUse, &second), None, "{agent}");
                // A tool that failed has no result: the next prompt takes it along.
                assert_eq!(of(Event::UserPromptSubmit, &told), said, "{agent}");
                assert_eq!(of(Event::PostToolUse, &first), None, "{agent}");
            }
            _ => {
                assert_eq!(of(Event::PreToolUse, &first), said, "{agent}");
                assert_eq!(of(Event::PostToolUse, &first), None, "{agent}");
            }
        }
    });
}

#[test]
fn context_of_a_rewritten_tool_goes_with_the_result_of_what_was_run() {
    let sandbox = lab_saying(
        Event::PreToolUse,
        json!({"additionalContext": "c", "updatedInput": {"command": "ls", "description": "d"}}),
    );
    for agent in ["gemini", "opencode"] {
        let told = Told::in_ws(&sandbox).session(agent);
        assert_eq!(send(&sandbox, agent, Event::PreToolUse, &told).context, None);
        let ran = told.command("ls");
        let effect = send(&sandbox, agent, Event::PostToolUse, &ran);
        assert_eq!(effect.context.as_deref(), Some("c"), "{agent}");
    }
}

#[test]
fn context_of_a_refused_tool_goes_with_the_refusal() {
    let sandbox = lab_saying(
        Event::PreToolUse,
        json!({"decision": "deny", "reason": "no", "additionalContext": "use trash"}),
    );
    in_parallel(&AGENTS, |agent| {
        let told = Told::in_ws(&sandbox).session(agent);
        let effect = send(&sandbox, agent, Event::PreToolUse, &told);
        let reason = effect.refused.expect(agent);
        match *agent {
            "claude" | "codex" | "copilot" | "symposium" => {
                assert_eq!((reason.as_str(), effect.context.as_deref()), ("no", Some("use trash")));
            }
            "kiro" => assert_eq!(reason, "no\n\nuse trash"),
            _ => assert_eq!(reason, "no\nuse trash", "{agent}"),
        }
        assert_eq!(send(&sandbox, agent, Event::PostToolUse, &told).context, None, "{agent}");
    });
}

#[test]
fn without_a_session_context_can_not_wait_and_the_log_says_so() {
    let sandbox = lab_saying(Event::PreToolUse, json!({"additionalContext": "c"}));
    let told = Told { session: None, ..Told::in_ws(&sandbox) };
    assert_eq!(send(&sandbox, "gemini", Event::PreToolUse, &told), Effect::default());
    assert_eq!(send(&sandbox, "gemini", Event::PostToolUse, &told), Effect::default());
    assert!(logs(&sandbox).contains("names no session"), "{}", logs(&sandbox));
}

#[test]
fn a_result_is_hidden_and_a_prompt_kept_back_where_the_agent_can() {
    let deny = json!({"decision": "deny", "reason": "a secret"});
    let sandbox = lab_saying(Event::PostToolUse, deny.clone());
    in_parallel(&AGENTS, |agent| {
        let effect =
            send(&sandbox, agent, Event::PostToolUse, &Told::in_ws(&sandbox).session(agent));
        match *agent {
            "goose" => assert_eq!(effect, Effect::default()),
            // It can't be hidden, but what is wrong with it can be said.
            "kiro" => assert_eq!(effect.context.as_deref(), Some("a secret")),
            _ => assert_eq!(effect.refused.as_deref(), Some("a secret"), "{agent}"),
        }
    });
    let sandbox = lab_saying(Event::UserPromptSubmit, deny);
    in_parallel(&AGENTS, |agent| {
        let effect =
            send(&sandbox, agent, Event::UserPromptSubmit, &Told::in_ws(&sandbox).session(agent));
        match *agent {
            "goose" => assert_eq!(effect, Effect::default()),
            _ => assert!(effect.refused.is_some_and(|r| r.contains("a secret")), "{agent}"),
        }
    });
}

#[test]
fn a_sessions_start_is_never_blocked() {
    for script in [
        "echo no >&2; exit 2".to_owned(),
        says(Event::SessionStart, json!({"decision": "deny", "reason": "no"})),
        "exit 1".to_owned(),
    ] {
        let sandbox = lab();
        hook_plugin(&sandbox, "p", Event::SessionStart, "on-failure = \"block\"", &script);
        in_parallel(&AGENTS, |agent| {
            let told = Told::in_ws(&sandbox).session(agent);
            let effect = send(&sandbox, agent, Event::SessionStart, &told);
            assert_eq!(effect, Effect::default(), "{agent}: {script}");
        });
    }
}

#[test]
fn decision_7_f239_exit_2_blocks_with_standard_error_and_ends_the_round() {
    let sandbox = lab();
    hook_plugin(&sandbox, "a", Event::PreToolUse, "", "cat >/dev/null; echo 'no way' >&2; exit 2");
    let after = format!("echo x >>{}", in_script("trace"));
    hook_plugin(&sandbox, "b", Event::PreToolUse, "", &after);
    in_parallel(&AGENTS, |agent| {
        let effect =
            send(&sandbox, agent, Event::PreToolUse, &Told::in_ws(&sandbox).session(agent));
        assert_eq!(effect.refused.as_deref(), Some("no way"), "{agent}");
    });
    assert!(!sandbox.has("trace"), "no further hook runs");
}

#[test]
fn decision_7_without_a_word_a_block_still_has_a_reason() {
    let sandbox = lab();
    hook_plugin(&sandbox, "a", Event::PreToolUse, "", "exit 2");
    for agent in AGENTS {
        let effect =
            send(&sandbox, agent, Event::PreToolUse, &Told::in_ws(&sandbox).session(agent));
        assert_eq!(effect.refused.as_deref(), Some("blocked by hook `a-hook` of plugin `a`"));
    }
}

#[test]
fn decision_10_two_plugins_that_disagree() {
    let sandbox = lab();
    let say = |fields: Value| says(Event::PreToolUse, fields);
    let allow = json!({"decision": "allow", "reason": "fine", "additionalContext": "one"});
    hook_plugin(&sandbox, "a", Event::PreToolUse, "", &say(allow));
    let deny = json!({"decision": "deny", "reason": "not so", "additionalContext": "two"});
    hook_plugin(&sandbox, "b", Event::PreToolUse, "", &say(deny));
    let also = json!({"decision": "deny", "reason": "nor so", "additionalContext": "three"});
    hook_plugin(&sandbox, "c", Event::PreToolUse, "", &say(also));
    hook_plugin(&sandbox, "d", Event::PreToolUse, "", &say(json!({"decision": "ask"})));
    for agent in AGENTS {
        let effect =
            send(&sandbox, agent, Event::PreToolUse, &Told::in_ws(&sandbox).session(agent));
        let reason = effect.refused.expect(agent);
        assert!(reason.starts_with("not so\nnor so"), "{agent}: {reason}");
        if matches!(agent, "claude" | "codex" | "copilot" | "symposium") {
            assert_eq!(effect.context.as_deref(), Some("one\n\ntwo\n\nthree"), "{agent}");
        }
    }
}

#[test]
fn decision_10_rewrites_chain_and_a_conflict_is_logged() {
    let sandbox = lab();
    // Each puts a word before the command that it reads.
    let rewrite = |word: &str| {
        format!(
            "command=$(sed 's/.*\"command\":\"\\([^\"]*\\)\".*/\\1/')\n\
             printf '{{\"PreToolUse\":{{\"updatedInput\":{{\"command\":\"{word} %s\",\"description\":\"d\"}}}}}}' \
             \"$command\"\n"
        )
    };
    hook_plugin(&sandbox, "a", Event::PreToolUse, "", &rewrite("nice"));
    hook_plugin(&sandbox, "b", Event::PreToolUse, "", &rewrite("time"));
    let seen = sandbox.dir().join("seen");
    let look = format!("cat >>{}", in_script("seen"));
    hook_plugin(&sandbox, "c", Event::PreToolUse, "", &look);
    for agent in AGENTS {
        let effect =
            send(&sandbox, agent, Event::PreToolUse, &Told::in_ws(&sandbox).session(agent));
        let expected = json!({"command": "time nice cargo test", "description": "d"});
        let takes = !matches!(agent, "qwen" | "kiro" | "goose");
        assert_eq!(effect.input, takes.then_some(expected), "{agent}");
        // The guard behind them judges what will be run.
        assert!(sandbox.read("seen").contains("time nice cargo test"), "{agent}");
        std::fs::remove_file(&seen).expect("removes");
    }
    let log = logs(&sandbox);
    let conflict = "hook `b-hook` of plugin `b` rewrites `command`, which hook `a-hook` of plugin \
                    `a` had rewritten";
    assert!(log.contains(conflict), "{log}");
}

#[test]
fn a_rewrite_of_another_field_is_no_conflict_and_loses_nothing() {
    let sandbox = lab();
    let input = json!({"updatedInput": {"command": "ls", "description": "d"}});
    hook_plugin(&sandbox, "a", Event::PreToolUse, "", &says(Event::PreToolUse, input));
    // Gemini lays a new input over the one that is there, so its own handlers give a part only.
    let part = json!({"hookSpecificOutput": {"tool_input": {"description": "e"}}}).to_string();
    let script = format!("cat >/dev/null; echo '{part}'");
    hook_plugin(&sandbox, "b", Event::PreToolUse, "format = \"gemini\"", &script);
    let effect = send(&sandbox, "gemini", Event::PreToolUse, &Told::in_ws(&sandbox));
    assert_eq!(effect.input, Some(json!({"command": "ls", "description": "e"})));
    assert!(!logs(&sandbox).contains("WARN"), "{}", logs(&sandbox));
}

#[test]
fn context_beyond_what_clients_take_is_cut_at_a_line() {
    let line = "y".repeat(99);
    let long = vec![line.as_str(); 300].join("\n");
    let sandbox = lab_saying(Event::UserPromptSubmit, json!({"additionalContext": long}));
    for agent in AGENTS.into_iter().filter(|agent| *agent != "goose") {
        let told = Told::in_ws(&sandbox).session(agent);
        let context = send(&sandbox, agent, Event::UserPromptSubmit, &told).context.expect(agent);
        assert!(context.chars().count() <= 10_000, "{agent}");
        assert!(context.contains("y\n[cut here by Symposium"), "{agent}");
    }
}

#[test]
fn the_log_has_what_a_hook_answers_and_says_and_not_what_the_tool_was_given() {
    let sandbox = lab();
    let deny = says(Event::PreToolUse, json!({"decision": "deny", "reason": "not today"}));
    let script = format!("echo looked-it-up >&2\n{deny}");
    hook_plugin(&sandbox, "p", Event::PreToolUse, "matcher = \"Bash\"", &script);
    let config = sandbox.read("home/.symposium/config.toml");
    let at = |level: &str| format!("{config}\n[logging]\nlevel = \"{level}\"\n");
    let told = Told::in_ws(&sandbox).command("login --token h1dden");
    // What came before the first event is a sync.
    send(&sandbox, "claude", Event::SessionStart, &told);
    let forget = || drop(std::fs::remove_dir_all(sandbox.home().join(".symposium/logs")));
    for (level, decided, asked) in [("info", true, false), ("debug", true, true)] {
        forget();
        sandbox.write("home/.symposium/config.toml", at(level));
        let told = Told::in_ws(&sandbox).command("login --token h1dden").id(level);
        assert!(send(&sandbox, "claude", Event::PreToolUse, &told).refused.is_some());
        let log = logs(&sandbox);
        let decision = "PreToolUse of claude: deny (not today)";
        assert_eq!(log.contains(decision), decided, "{level}: {log}");
        for words in ["hook `p-hook` of plugin `p` answers: deny (not today)", "says: looked-it-up"]
        {
            assert_eq!(log.contains(words), asked, "{level}: {log}");
        }
        assert!(!log.contains("h1dden"), "{level}: {log}");
    }
    // What nobody is asked about leaves no file.
    sandbox.write("home/.symposium/config.toml", at("info"));
    send(&sandbox, "claude", Event::PostToolUse, &told);
    forget();
    send(&sandbox, "claude", Event::PostToolUse, &told.id("again"));
    assert_eq!(logs(&sandbox), "");
}

/// Each library that the program is linked with is opened and relocated at each event: the one for
/// mathematics alone takes a twelfth of the time of a program that does nothing.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn an_event_loads_the_libraries_that_every_rust_program_loads() {
    // Asks the dynamic linker instead of the program.
    let asked = std::process::Command::new(crate::program())
        .env("LD_TRACE_LOADED_OBJECTS", "1")
        .env_remove("LD_PRELOAD")
        .output()
        .expect("the program starts");
    let text = String::from_utf8(asked.stdout).expect("text");
    let names: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"libc.so.6"), "{text}");
    let usual = |name: &&str| {
        ["linux-vdso", "linux-gate", "libc.", "libgcc_s.", "ld-linux"]
            .iter()
            .any(|usual| name.rsplit('/').next().is_some_and(|name| name.starts_with(usual)))
    };
    let others: Vec<&str> = names.into_iter().filter(|name| !usual(name)).collect();
    assert_eq!(others, [] as [&str; 0], "{text}");
}
