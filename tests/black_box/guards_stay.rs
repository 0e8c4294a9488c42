//! A guard stays in force: whatever it prints around its denial, wherever the agent goes, and while
//! what defines it can't be read.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use symposium_testlib::Sandbox;

use crate::hook_kit::*;

mod broken_workspaces;
mod repeated_keys;

const BLOCK: &str = "on-failure = \"block\"";

/// The agents that say an answer's words by JSON, and how each denies in its own format.
fn native_denials() -> [(&'static str, serde_json::Value); 6] {
    let hook_specific = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "not this",
    }});
    [
        ("claude", hook_specific.clone()),
        ("codex", hook_specific),
        ("gemini", json!({"decision": "deny", "reason": "not this"})),
        ("copilot", json!({"permissionDecision": "deny", "permissionDecisionReason": "not this"})),
        ("goose", json!({"decision": "block", "reason": "not this"})),
        ("opencode", json!({"deny": "not this"})),
    ]
}

/// What a program may print around a denial.
fn around(denial: &serde_json::Value) -> Vec<(&'static str, String)> {
    let pretty = serde_json::to_string_pretty(denial).expect("JSON");
    let allow = denial.to_string().replace("\"deny\"", "\"allow\"");
    let noted = |note: &str| format!("{{\"note\":{note},{}", &denial.to_string()[1..]);
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    vec![
        ("with half an emoji, then an empty object", format!("{}\n{{}}\n", noted("\"\\ud83d\""))),
        ("nested deep, then an empty object", format!("{}\n{{}}\n", noted(&deep))),
        ("deny then an empty object", format!("{denial}\n{{}}\n")),
        ("a line of log in JSON before", format!("{{\"level\":\"info\"}}\n{denial}\n")),
        ("a line of log in JSON behind", format!("{denial}\n{{\"level\":\"info\"}}\n")),
        ("deny, then another answer", format!("{denial}\n{allow}\n")),
        ("in an array", format!("[{denial}]\n")),
        ("twice", format!("{denial}\n{denial}\n")),
        ("behind a byte order mark", format!("\u{feff}{denial}\n")),
        ("followed by null", format!("{denial}\nnull\n")),
        ("over many lines between log", format!("checking {{1}}\n{pretty}\ndone {{\n")),
        ("on one line with log", format!("checking: {denial} (done)\n")),
    ]
}

/// A script that prints `text` and then does `end`.
fn prints(text: &str, end: &str) -> String {
    format!("cat >/dev/null\ncat <<'END'\n{text}END\n{end}\n")
}

#[test]
fn decision_30_a_denial_is_heard_whatever_stands_around_it() {
    let denial = json!({"PreToolUse": {"decision": "deny", "reason": "not this"}});
    in_parallel(&around(&denial), |(name, text)| {
        let sandbox = lab();
        hook_plugin(&sandbox, "p", Event::PreToolUse, "", &prints(text, ""));
        for agent in ["claude", "gemini", "kiro", "symposium"] {
            let told = Told::in_ws(&sandbox).session(agent);
            let effect = send(&sandbox, agent, Event::PreToolUse, &told);
            assert_eq!(effect.refused.as_deref(), Some("not this"), "{name} {agent}");
        }
    });
}

#[test]
fn decision_30_a_denial_in_the_agents_own_format_is_heard_too() {
    in_parallel(&native_denials(), |(agent, denial)| {
        for (name, text) in around(denial) {
            let sandbox = lab();
            let format = format!("format = \"{agent}\"");
            hook_plugin(&sandbox, "p", Event::PreToolUse, &format, &prints(&text, ""));
            let effect = send(&sandbox, agent, Event::PreToolUse, &Told::in_ws(&sandbox));
            let reason = effect.refused.unwrap_or_default();
            assert!(reason.contains("not this"), "{name} {agent}: {reason}");
        }
    });
}

#[test]
fn a_denial_that_was_printed_stands_whatever_ends_the_program() {
    let ends = [
        ("exit 1", ""),
        ("exit 127", ""),
        ("kill -9 $$", ""),
        ("kill -SEGV $$", ""),
        ("sleep 60", "timeout = 1"),
        ("(sleep 60) & sleep 60", "timeout = 1"),
        ("head -c 3000000 /dev/zero | tr '\\0' x", ""),
        ("head -c 3000000 /dev/zero >&2; exit 3", ""),
    ];
    let canonical = json!({"PreToolUse": {"decision": "deny", "reason": "not this"}});
    in_parallel(&ends, |(end, keys)| {
        let sandbox = lab();
        let script = prints(&format!("{canonical}\n"), end);
        hook_plugin(&sandbox, "p", Event::PreToolUse, keys, &script);
        in_parallel(&["claude", "codex", "kiro"], |agent| {
            let told = Told::in_ws(&sandbox).session(agent);
            let effect = send(&sandbox, agent, Event::PreToolUse, &told);
            assert_eq!(effect.refused.as_deref(), Some("not this"), "{end} {agent}");
        });
        for (agent, denial) in native_denials() {
            let script = prints(&format!("{denial}\n"), end);
            let keys = format!("{keys}\nformat = \"{agent}\"");
            hook_plugin(&sandbox, "p", Event::PreToolUse, &keys, &script);
            let told = Told::in_ws(&sandbox).session("native").id(agent);
            let effect = send(&sandbox, agent, Event::PreToolUse, &told);
            assert!(effect.refused.is_some_and(|why| why.contains("not this")), "{end} {agent}");
        }
    });
}

#[test]
fn decision_30_what_a_guard_printed_and_nobody_understands_blocks() {
    let odd = [
        "no\n",
        "null\n",
        "{\"level\":\"warn\",\"verdict\":\"deny\"}\n",
        "{\"PreToolUse\": [\"deny\"]}\n",
        "{\"PreToolUse\": {\"decision\": \"refuse\"}}\n",
        "{\"PreToolUse\": {\"decision\": \"deny\", \"reason\": \"cut he\n",
        "{}\n{\"PreToolUse\": {\"decision\": \"deny\", \"reason\": \"cut he\n",
        "{\"PreToolUse\": {\"decision\": \"allow\"}}\n{\"PreToolUse\": {\"decision\": \"de\n",
        "{\"PreToolUse\": {\"decision\": \"allow\"}}\n{\"PreToolUse\": {\"decision\": \"no\"}}\n",
        "{\"PreToolUse\": {\"decison\": \"deny\"}}\n",
        "{\"level\": \"info\"}\n{}\n",
    ];
    in_parallel(&odd, |text| {
        for (keys, agent) in
            [("", "claude"), ("", "kiro"), ("format = \"claude\"", "claude"), ("", "gemini")]
        {
            let sandbox = lab();
            let guard = format!("{BLOCK}\n{keys}");
            hook_plugin(&sandbox, "p", Event::PreToolUse, &guard, &prints(text, ""));
            let told = Told::in_ws(&sandbox);
            let reason = send(&sandbox, agent, Event::PreToolUse, &told).refused;
            assert!(reason.is_some_and(|why| why.contains("plugin `p`")), "{agent} {text}");
        }
    });
    // So it is in each agent's own format, where a word for a decision is none or a key is unknown.
    in_parallel(&native_denials(), |(agent, denial)| {
        let misspelled = denial.to_string().replace("\"deny\"", "\"denied\"");
        let misspelled = misspelled.replace("\"block\"", "\"blocked\"");
        for (number, text) in
            [misspelled, json!({"verdict": "deny"}).to_string()].iter().enumerate()
        {
            if *agent == "opencode" && number == 0 {
                continue; // Its key is the denial: there is no word to misspell.
            }
            let sandbox = lab();
            let guard = format!("{BLOCK}\nformat = \"{agent}\"");
            hook_plugin(
                &sandbox,
                "p",
                Event::PreToolUse,
                &guard,
                &prints(&format!("{text}\n"), ""),
            );
            let reason = send(&sandbox, agent, Event::PreToolUse, &Told::in_ws(&sandbox)).refused;
            assert!(reason.is_some_and(|why| why.contains("plugin `p`")), "{agent} {text}");
        }
    });
    for text in ["{}\n", "{\"continue\": true}\n", "{\"suppressOutput\": true}\n"] {
        let sandbox = lab();
        let guard = format!("{BLOCK}\nformat = \"claude\"");
        hook_plugin(&sandbox, "p", Event::PreToolUse, &guard, &prints(text, ""));
        let effect = send(&sandbox, "claude", Event::PreToolUse, &Told::in_ws(&sandbox));
        assert_eq!(effect.refused, None, "{text}");
    }
    // What says nothing is no opinion, a guard's too; and any text is log where there is an answer.
    for text in ["", "{}\n", "checked\n{\"PreToolUse\": {}}\n"] {
        let sandbox = lab();
        hook_plugin(&sandbox, "p", Event::PreToolUse, BLOCK, &prints(text, ""));
        let effect = send(&sandbox, "claude", Event::PreToolUse, &Told::in_ws(&sandbox));
        assert_eq!(effect, Effect::default(), "{text}");
    }
}

/// A guard for `crates` that denies every tool and notes that it was asked.
fn guard(sandbox: &Sandbox, name: &str, crates: &str) {
    let trace = in_script("trace");
    let script = format!("cat >/dev/null; echo {name} >>{trace}; echo 'no: {name}' >&2; exit 2\n");
    hook_plugin(sandbox, name, Event::PreToolUse, BLOCK, &script);
    let path = format!("home/.symposium/plugins/{name}/SYMPOSIUM.toml");
    let text = sandbox.read(&path).replace("[\"widget\"]", &format!("[\"{crates}\"]"));
    sandbox.write(&path, text);
}

/// What `agent` is told about a tool in a folder of the sandbox.
fn tool_in(sandbox: &Sandbox, agent: &str, session: &'static str, folder: &str) -> Option<String> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let id = format!("use-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let told = Told {
        session: Some(session),
        cwd: sandbox.dir().join(folder).display().to_string(),
        id: id.clone().leak(),
        command: id.leak(),
        ..Told::in_ws(sandbox)
    };
    send(sandbox, agent, Event::PreToolUse, &told).refused
}

/// Folders in which a model may hope that no guard is, made in the workspace and outside of it.
fn hiding_places(sandbox: &Sandbox) -> Vec<String> {
    let manifests: [(&str, &[u8]); 7] = [
        ("empty", b""),
        ("root", b"[workspace]\n"),
        ("broken", b"[[\n"),
        ("missing-member", b"[workspace]\nmembers = [\"nope\"]\n"),
        ("not-text", b"[package]\nname = \"\xff\"\n"),
        ("other", b"[package]\nname = \"o\"\nversion = \"0.1.0\"\n[workspace]\n"),
        ("points", b"[package]\nname = \"o\"\nversion = \"0.1.0\"\nworkspace = \"../gone\"\n"),
    ];
    let mut places = vec!["ws/deep/er".to_owned(), "away".to_owned(), "gone".to_owned()];
    for within in ["ws", "away"] {
        for (name, manifest) in manifests {
            sandbox.write(&format!("{within}/{name}/Cargo.toml"), manifest);
            places.push(format!("{within}/{name}"));
        }
    }
    std::fs::create_dir_all(sandbox.dir().join("ws/deep/er")).expect("creates");
    places
}

#[test]
fn decision_43_a_guard_of_the_sessions_workspace_is_in_force_wherever_the_agent_goes() {
    in_parallel(&REAL_AGENTS, |agent| {
        let sandbox = lab();
        guard(&sandbox, "mine", "widget");
        let start = Told::in_ws(&sandbox).session("began");
        send(&sandbox, agent, Event::SessionStart, &start);
        let places = hiding_places(&sandbox);
        for place in &places {
            let reason = tool_in(&sandbox, agent, "began", place);
            assert_eq!(reason.as_deref(), Some("no: mine"), "{agent} in {place}");
        }
        // Without a session's start the first event counts.
        assert!(tool_in(&sandbox, agent, "first", "ws").is_some());
        assert!(tool_in(&sandbox, agent, "first", "ws/root").is_some(), "{agent}");
        // A session that came back after it was compacted elsewhere still began where it did.
        let cwd = sandbox.dir().join("ws/other").display().to_string();
        send(&sandbox, agent, Event::SessionStart, &Told { cwd, ..start });
        assert!(tool_in(&sandbox, agent, "began", "ws/other").is_some(), "{agent}");
    });
}

#[test]
fn decision_43_a_hook_that_is_in_force_in_both_workspaces_is_asked_once() {
    let sandbox = lab();
    for (name, crates) in [("all", "*"), ("mine", "widget")] {
        guard(&sandbox, name, crates);
        let script = sandbox.read(&format!("home/.symposium/plugins/{name}/hook.sh"));
        let (noting, _) = script.rsplit_once("; echo").expect("it denies");
        sandbox.user_plugin(&format!("{name}/hook.sh"), &format!("{noting}\n"));
    }
    hiding_places(&sandbox);
    for place in ["ws", "ws/other", "away", "ws/broken", "away/missing-member"] {
        assert_eq!(tool_in(&sandbox, "claude", "s", place), None);
        assert_eq!(sandbox.read("trace"), "all\nmine\n", "{place}");
        std::fs::remove_file(sandbox.dir().join("trace")).expect("removes");
    }
}

#[test]
fn decision_43_a_session_keeps_what_it_began_with_and_takes_nothing_else_along() {
    let sandbox = lab();
    guard(&sandbox, "mine", "widget");
    let other = "[package]\nname = \"o\"\nversion = \"0.1.0\"\n";
    sandbox.write("other/Cargo.toml", other);
    sandbox.write("other/src/lib.rs", "");
    std::fs::create_dir_all(sandbox.dir().join("away")).expect("creates");
    for (session, began) in [("o", "other"), ("a", "away")] {
        let pass = |place: &str| tool_in(&sandbox, "claude", session, place).is_none();
        assert!(pass(began), "{began}");
        assert!(!pass("ws"), "the folder's guards are in force too");
        assert!(pass(began) && pass("other") && pass("away"), "{began}");
    }
    let told = session(&sandbox, "a");
    assert!(told["root"].is_null(), "{told}");
}

#[test]
fn decision_43_a_guard_for_every_workspace_is_in_force_where_no_manifest_can_be_read() {
    in_parallel(&["claude", "kiro", "symposium"], |agent| {
        let sandbox = lab();
        guard(&sandbox, "all", "*");
        guard(&sandbox, "mine", "widget");
        // Each a session of its own, and nothing was ever read there.
        for place in hiding_places(&sandbox) {
            let session: &'static str = place.replace('/', "-").leak();
            let reason = tool_in(&sandbox, agent, session, &place);
            assert_eq!(reason.as_deref(), Some("no: all"), "{agent} in {place}");
        }
    });
}

#[test]
fn outside_of_a_workspace_nothing_is_said_and_nobody_is_kept() {
    let sandbox = lab();
    hook_plugin(&sandbox, "p", Event::SessionStart, "", "exit 1");
    std::fs::create_dir_all(sandbox.dir().join("away")).expect("creates");
    for agent in REAL_AGENTS {
        let cwd = sandbox.dir().join("away").display().to_string();
        let told = Told { cwd, ..Told::in_ws(&sandbox).session(agent) };
        for event in Event::COMMON {
            assert_eq!(send(&sandbox, agent, event, &told), Effect::default(), "{agent}");
        }
    }
}

/// A path source `src` with the plugin `g`, whose guard denies what is named FORBIDDEN, synced.
fn lab_with_source() -> Sandbox {
    let sandbox = lab();
    let src = sandbox.dir().join("src");
    let source = format!("[[plugin-source]]\nname = \"src\"\npath = {:?}\n", src.display());
    configure(&sandbox, &["claude"], &source);
    sandbox.write("src/g/SYMPOSIUM.toml", MANIFEST);
    sandbox.write("src/g/h.sh", "cat >/dev/null; echo 'not allowed' >&2; exit 2\n");
    sandbox.write("src/g/skills/s/SKILL.md", crate::skill("s", "What it is for."));
    sandbox.run(&["sync", "--offline"]).ok();
    assert_eq!(asked(&sandbox).as_deref(), Some("not allowed"));
    sandbox
}

const MANIFEST: &str = "name = \"g\"\ncrates = [\"widget\"]\n\n[[hooks]]\nname = \"h\"\n\
    event = \"PreToolUse\"\ncommand = { script = \"h.sh\" }\non-failure = \"block\"\n\n\
    [[skills]]\nsource.path = \"skills\"\n";

fn asked(sandbox: &Sandbox) -> Option<String> {
    tool_in(sandbox, "claude", "s", "ws")
}

#[test]
fn decision_29_a_guard_whose_manifest_cannot_be_read_goes_on_by_its_last_good_one() {
    let hookless = MANIFEST.replace("PreToolUse", "PreTool");
    let odd_gate = MANIFEST.replace("[\"widget\"]", "[\"widget >\"]");
    let conflict = format!("{MANIFEST}<<<<<<< ours\n");
    let broken: [(&str, &[u8]); 8] = [
        ("half a table", b"[[hooks\n"),
        ("a conflict", conflict.as_bytes()),
        ("empty", b""),
        ("not UTF-8", b"name = \"g\xff\"\n"),
        ("a wrong type", b"name = 3\n"),
        ("no name", b"crates = [\"*\"]\n"),
        ("a hook that can't be read", hookless.as_bytes()),
        ("a gate that can't be read", odd_gate.as_bytes()),
    ];
    in_parallel(&broken, |(name, text)| {
        let sandbox = lab_with_source();
        sandbox.write("src/g/SYMPOSIUM.toml", text);
        assert_eq!(asked(&sandbox).as_deref(), Some("not allowed"), "{name}: an event");
        let run = sandbox.run(&["sync", "--offline"]);
        assert_eq!(run.code, 1, "{name}: {run:?}");
        assert!(run.stderr.contains("SYMPOSIUM.toml"), "{name}: {}", run.stderr);
        assert!(run.stderr.contains("stays in force"), "{name}: {}", run.stderr);
        assert_eq!(asked(&sandbox).as_deref(), Some("not allowed"), "{name}: after a sync");
        assert!(sandbox.has("ws/.claude/skills/s/SKILL.md"), "{name}: its skill stays");
        // Mended, it is heard at the next event.
        sandbox.write("src/g/SYMPOSIUM.toml", MANIFEST.replace("h.sh", "new.sh"));
        sandbox.write("src/g/new.sh", "cat >/dev/null; echo mended >&2; exit 2\n");
        assert_eq!(asked(&sandbox).as_deref(), Some("mended"), "{name}");
    });
}

#[test]
fn a_guard_whose_source_is_away_blocks_and_says_what_is_gone() {
    let sandbox = lab_with_source();
    let (src, away) = (sandbox.dir().join("src"), sandbox.dir().join("aside"));
    std::fs::rename(&src, &away).expect("moves");
    for _ in 0..2 {
        let reason = asked(&sandbox).expect("it blocks");
        assert!(reason.contains("plugin `g`") && reason.contains("h.sh"), "{reason}");
        sandbox.run(&["sync", "--offline"]);
        assert!(sandbox.has("ws/.claude/skills/s/SKILL.md"), "its skill stays");
    }
    std::fs::write(&src, "a file").expect("writes");
    assert!(asked(&sandbox).is_some(), "something else in its place");
    std::fs::remove_file(&src).expect("removes");
    std::fs::rename(&away, &src).expect("moves");
    assert_eq!(asked(&sandbox).as_deref(), Some("not allowed"), "back");
    std::fs::remove_file(src.join("g/h.sh")).expect("removes");
    assert!(asked(&sandbox).is_some_and(|reason| reason.contains("h.sh")), "its program");
}

#[test]
fn a_guard_whose_manifest_became_something_else_stays() {
    for shape in ["folder", "dangling link"] {
        let sandbox = lab_with_source();
        let manifest = sandbox.dir().join("src/g/SYMPOSIUM.toml");
        std::fs::remove_file(&manifest).expect("removes");
        match shape {
            "folder" => std::fs::create_dir(&manifest).expect("creates"),
            _ => std::os::unix::fs::symlink("gone", &manifest).expect("links"),
        }
        assert_eq!(asked(&sandbox).as_deref(), Some("not allowed"), "{shape}");
    }
}

/// What a user does.
type Change<'a> = &'a dyn Fn(&Sandbox);

#[test]
fn a_clear_removal_takes_a_guard_away() {
    let config = "home/.symposium/config.toml";
    let without: [(&str, Change<'_>); 4] = [
        ("the hook is out of the manifest", &|sandbox| {
            let text =
                "name = \"g\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \"skills\"\n";
            sandbox.write("src/g/SYMPOSIUM.toml", text);
        }),
        ("the plugin's folder is removed", &|sandbox| {
            std::fs::remove_dir_all(sandbox.dir().join("src/g")).expect("removes");
        }),
        ("the source is out of the configuration", &|sandbox| {
            configure(sandbox, &["claude"], "");
        }),
        ("the plugin is switched off", &|sandbox| {
            let text = sandbox.read(config);
            sandbox.write(config, format!("{text}\n[plugins]\ndisable = [\"g\"]\n"));
        }),
    ];
    for (name, remove) in without {
        let sandbox = lab_with_source();
        remove(&sandbox);
        assert_eq!(asked(&sandbox), None, "{name}");
    }
}
