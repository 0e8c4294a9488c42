//! A guard of files sees each file that a tool's use is about, however an agent's model writes it,
//! and nothing that the model adds beside the agent's own fields hides one.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use symposium_testlib::Sandbox;

use crate::hook_kit::*;

/// A lab whose guard denies `.env` by the documented `file_path` and `file_paths`, and leaves what it
/// was told in `saw`.
fn guarded() -> Sandbox {
    let sandbox = lab();
    let deny = json!({"PreToolUse": {"decision": "deny", "reason": "no secrets"}});
    let script = format!(
        "cat >{saw}\n\
         own=$(sed 's/\"native_tool_name\".*//' {saw})\n\
         one=$(printf %s \"$own\" | sed -n 's/.*\"file_path\":\"\\([^\"]*\\)\".*/\\1/p')\n\
         all=$(printf %s \"$own\" | sed -n 's/.*\"file_paths\":\\[\\([^]]*\\)\\].*/\\1/p')\n\
         case \"\\\"$one\\\",$all\" in\n*'\".env\"'*) echo '{deny}' ;;\nesac\n",
        saw = in_script("saw")
    );
    hook_plugin(&sandbox, "guard", Event::PreToolUse, "matcher = \"Read|Write|Edit\"", &script);
    sandbox
}

/// Each use is one of its own, in a session that no other is in.
fn told(sandbox: &Sandbox) -> Told {
    static USES: AtomicUsize = AtomicUsize::new(0);
    let session = format!("s{}", USES.fetch_add(1, Ordering::Relaxed));
    Told::in_ws(sandbox).session(Box::leak(session.into_boxed_str()))
}

/// Whether the guard refuses the use of the tool.
fn refuses(sandbox: &Sandbox, agent: &str, tool: &str, input: &Value) -> bool {
    is_refused(sandbox, agent, &use_of(&told(sandbox), agent, tool, input))
}

fn is_refused(sandbox: &Sandbox, agent: &str, payload: &str) -> bool {
    let run = sandbox.feed(&["hook", agent, "pre-tool-use"], payload.as_bytes());
    let reason = effect(agent, Event::PreToolUse, &run).refused;
    reason.inspect(|reason| assert!(reason.contains("no secrets"), "{agent}: {reason}")).is_some()
}

/// The input about another file.
fn with_file(input: &Value, file: &str) -> Value {
    serde_json::from_str(&input.to_string().replace(".env", file)).expect("JSON")
}

/// The files that the guard was told of.
fn seen(sandbox: &Sandbox) -> Vec<String> {
    let told: Value = serde_json::from_str(&sandbox.read("saw")).expect("JSON");
    let input = &told["PreToolUse"]["tool_input"];
    let list = input["file_paths"].as_array().cloned();
    let files = list.unwrap_or_else(|| vec![input["file_path"].clone()]);
    assert_eq!(files[0], input["file_path"], "{input}");
    files.iter().map(|file| file.as_str().unwrap_or_default().to_owned()).collect()
}

/// Tools with the input that names `.env` plainly.
fn plain() -> Vec<(&'static str, &'static str, Value)> {
    let patch = "*** Begin Patch\n*** Update File: .env\n@@\n-a\n+b\n*** End Patch";
    vec![
        ("claude", "Read", json!({"file_path": ".env"})),
        ("claude", "Write", json!({"file_path": ".env", "content": "x"})),
        ("claude", "Edit", json!({"file_path": ".env", "old_string": "x", "new_string": "y"})),
        ("codex", "apply_patch", json!({"command": patch})),
        ("copilot", "view", json!({"path": ".env"})),
        ("copilot", "create", json!({"path": ".env", "file_text": "x"})),
        ("copilot", "edit", json!({"path": ".env", "old_str": "x", "new_str": "y"})),
        ("copilot", "str_replace_editor", json!({"command": "view", "path": ".env"})),
        ("copilot", "apply_patch", json!({"input": patch})),
        ("gemini", "read_file", json!({"file_path": ".env"})),
        ("gemini", "read_file", json!({"absolute_path": ".env"})),
        ("gemini", "read_many_files", json!({"include": [".env"]})),
        ("gemini", "read_many_files", json!({"paths": [".env"]})),
        ("gemini", "write_file", json!({"file_path": ".env", "content": "x"})),
        ("gemini", "replace", json!({"file_path": ".env", "old_string": "x", "new_string": "y"})),
        ("goose", "developer__text_editor", json!({"command": "write", "path": ".env"})),
        ("goose", "text_editor", json!({"command": "undo_edit", "path": ".env"})),
        ("goose", "developer__write", json!({"path": ".env", "content": "x"})),
        ("goose", "edit", json!({"path": ".env", "before": "x", "after": "y"})),
        ("kiro", "fs_write", json!({"command": "create", "path": ".env", "file_text": "x"})),
        ("kiro", "fs_read", json!({"path": ".env"})),
        ("kiro", "fs_read", json!({"operations": [{"mode": "Line", "path": ".env"}]})),
        ("kiro", "read", json!({"operations": [{"mode": "Image", "image_paths": [".env"]}]})),
        ("opencode", "read", json!({"filePath": ".env"})),
        ("opencode", "write", json!({"filePath": ".env", "content": "x"})),
        ("opencode", "edit", json!({"filePath": ".env", "oldString": "x", "newString": "y"})),
        ("opencode", "apply_patch", json!({"patchText": patch})),
        ("opencode", "patch", json!({"patchText": patch})),
    ]
}

#[test]
fn a_field_that_the_model_adds_hides_no_file_from_a_guard() {
    let sandbox = guarded();
    for (agent, tool, input) in plain() {
        let refused = |input: &Value| refuses(&sandbox, agent, tool, input);
        assert!(refused(&input), "{agent} {tool} {input}");
        assert_eq!(seen(&sandbox), [".env"], "{agent} {tool} {input}");
        let harmless = with_file(&input, "ok");
        assert!(!refused(&harmless), "{agent} {tool} {harmless}");
        let decoys =
            [("file_path", json!("ok")), ("file_paths", json!(["ok"])), ("file_path", json!(7))];
        for (name, decoy) in decoys.into_iter().filter(|(name, _)| input.get(name).is_none()) {
            let mut with_decoy = input.clone();
            with_decoy[name] = decoy;
            // Before the agent's own fields and behind them; Copilot's may be JSON in a string.
            let mut before = json!({ name: with_decoy[name] });
            before
                .as_object_mut()
                .expect("an object")
                .extend(input.as_object().cloned().expect("one"));
            let mut shapes = vec![with_decoy, before];
            if agent == "copilot" {
                shapes.push(shapes[0].to_string().into());
            }
            for shape in shapes {
                assert!(refused(&shape), "{agent} {tool} {shape}");
                // Which of two names is the right one depends on Gemini's version: both are told.
                let both = input.get("absolute_path").is_some() && shape["file_path"] == "ok";
                let expected: &[&str] = if both { &["ok", ".env"] } else { &[".env"] };
                assert_eq!(seen(&sandbox), expected, "{agent} {tool} {shape}");
            }
        }
    }
}

#[test]
fn each_of_several_files_in_one_use_is_guarded() {
    let sandbox = guarded();
    let diff =
        "--- a/ok\n+++ b/ok\n@@ -1 +1 @@\n-x\n+y\n--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-x\n+y\n";
    let patch =
        "*** Begin Patch\n*** Update File: ok\n*** Move to: .env\n@@\n-a\n+b\n*** End Patch";
    let line = |path: &str| json!({"mode": "Line", "path": path});
    for (agent, tool, input) in [
        ("kiro", "fs_read", json!({"operations": [line("ok"), line(".env")]})),
        ("kiro", "fs_read", json!({"path": "ok", "operations": [line(".env")]})),
        ("kiro", "read", json!({"operations": [{"mode": "Image", "image_paths": ["ok", ".env"]}]})),
        ("gemini", "read_many_files", json!({"include": ["ok", ".env"]})),
        ("gemini", "read_many_files", json!({"include": ["ok"], "paths": [".env"]})),
        ("gemini", "read_file", json!({"file_path": "ok", "absolute_path": ".env"})),
        ("goose", "text_editor", json!({"command": "str_replace", "path": "ok", "diff": diff})),
        ("codex", "apply_patch", json!({"command": patch})),
        ("copilot", "apply_patch", json!(patch)),
        ("opencode", "apply_patch", json!({"patchText": patch})),
    ] {
        assert!(refuses(&sandbox, agent, tool, &input), "{agent} {tool} {input}");
        assert_eq!(seen(&sandbox), ["ok", ".env"], "{agent} {tool} {input}");
        assert!(!refuses(&sandbox, agent, tool, &with_file(&input, "fine")), "{agent} {tool}");
    }
}

#[test]
fn a_file_is_guarded_in_every_spelling_that_the_agents_parser_takes() {
    let sandbox = guarded();
    let heads = [
        "*** Update File: .env",
        "*** Update File:.env",
        "*** Update File:\t.env",
        "*** Add File:  .env \r",
        " *** Delete File: .env",
        "\t*** Update File: ok\n *** Move to:.env",
        "*** Update File:\u{feff}.env",
    ];
    for head in heads {
        let patch = format!("*** Begin Patch\n{head}\n@@\n-a\n+b\n*** End Patch");
        let heredoc = format!("<<'EOF'\n{patch}\nEOF");
        for text in [patch, heredoc] {
            for (agent, tool, input) in [
                ("codex", "apply_patch", json!({"command": text})),
                ("copilot", "apply_patch", json!(text)),
                ("copilot", "apply_patch", json!(json!({"input": text}).to_string())),
                ("opencode", "apply_patch", json!({"patchText": text})),
            ] {
                assert!(refuses(&sandbox, agent, tool, &input), "{agent} {input}");
            }
        }
    }
    for (agent, tool, input) in [
        ("gemini", "read_file", json!({"file_path": "@.env"})),
        ("gemini", "write_file", json!({"file_path": ".e\0nv"})),
        ("gemini", "replace", json!({"file_path": "@/.env"})),
        // Of a key that is there twice the last one counts, for JavaScript as for us.
        ("copilot", "view", json!(r#"{"path":"ok","path":".env"}"#)),
        ("copilot", "view", json!(r#"{"path":"ok","pat\u0068":".env","file_path":"ok"}"#)),
    ] {
        assert!(refuses(&sandbox, agent, tool, &input), "{agent} {input}");
    }
    let twice = use_of(&told(&sandbox), "opencode", "read", &json!({"filePath": "ok", "x": 1}));
    let twice = twice.replace("\"x\":1", "\"filePath\":\".env\"");
    assert!(is_refused(&sandbox, "opencode", &twice));
}

#[test]
fn what_a_shell_hands_to_codexs_patches_names_its_files_too() {
    let sandbox = guarded();
    let guard = sandbox.read("home/.symposium/plugins/guard/SYMPOSIUM.toml");
    sandbox.user_plugin("guard/SYMPOSIUM.toml", &guard.replace("Read|Write|Edit", "Bash"));
    let command = |file: &str| {
        let patch = format!("*** Begin Patch\n*** Delete File: {file}\n*** End Patch");
        let input = json!({"command": format!("cd src && apply_patch <<'EOF'\n{patch}\nEOF\n")});
        refuses(&sandbox, "codex", "Bash", &input)
    };
    assert!(command(".env") && !command("ok"));
}
