//! What `--json` prints is what the schemas in the book say, and nothing but JSON.

use std::path::Path;

use boon::{Compiler, Schemas};
use serde_json::{Value, json};

use crate::{NO_BUILTIN, plugin_with_skill, sandbox};
use symposium_testlib::{Run, Sandbox};

/// What is wrong with `value` by the schema file `name`; empty when nothing is.
pub(crate) fn mistakes(name: &str, value: &Value) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("md/reference/schemas").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut schema: Value = serde_json::from_str(&text).expect("a schema is JSON");
    close(&mut schema);
    let mut schemas = Schemas::new();
    let mut compiler = Compiler::new();
    compiler.add_resource(name, schema).expect("a schema");
    let index = compiler.compile(name, &mut schemas).unwrap_or_else(|error| panic!("{error:#}"));
    schemas.validate(value, index).err().map(|error| format!("{error:#}")).unwrap_or_default()
}

/// Readers take keys that they do not know; the tests do not: a key that no schema names is one that
/// nobody wrote down.
fn close(schema: &mut Value) {
    let mut parts = Vec::new();
    composed(schema, &mut parts);
    let defs = schema["$defs"].as_object().cloned().unwrap_or_default();
    close_all(schema);
    // What is a part of a larger object is closed there.
    for name in parts.iter().filter_map(|reference| reference.strip_prefix("#/$defs/")) {
        if let Some(open) = defs.get(name) {
            schema["$defs"][name] = open.clone();
        }
    }
}

/// References that stand beside properties.
fn composed(schema: &Value, parts: &mut Vec<String>) {
    match schema {
        Value::Object(object) => {
            if let (Some(Value::String(part)), true) =
                (object.get("$ref"), object.contains_key("properties"))
            {
                parts.push(part.clone());
            }
            object.values().for_each(|value| composed(value, parts));
        }
        Value::Array(items) => items.iter().for_each(|item| composed(item, parts)),
        _ => {}
    }
}

fn close_all(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.values_mut().for_each(close_all);
            if object.get("type").and_then(Value::as_str) == Some("object") {
                object.insert("unevaluatedProperties".to_owned(), false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close_all),
        _ => {}
    }
}

/// The one document on standard output.
pub(crate) fn document(run: &Run, schema: &str) -> Value {
    let mut lines = run.json_lines();
    assert_eq!(lines.len(), 1, "{}", run.stdout);
    let document = lines.remove(0);
    assert_eq!(mistakes(schema, &document), "", "{document:#}");
    document
}

/// A workspace with a bit of everything in it.
fn lively() -> Sandbox {
    let sandbox = sandbox();
    sandbox.write(
        "home/.symposium/config.toml",
        format!(
            "colour = \"blue\"\n[[agent]]\nname = \"claude\"\n[[agent]]\nname = \"codex\"\n\
             [[agent]]\nname = \"kiro\"\n{NO_BUILTIN}"
        ),
    );
    sandbox.package(&[("widget", "1.2.3"), ("gadget", "0.1.0"), ("memchr", "2.7.4")]);
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    plugin_with_skill(&sandbox, "bevy", "bevy", "bevy-ecs");
    sandbox.user_plugin(
        "gadget/SYMPOSIUM.toml",
        "name = \"gadget\"\ncrates = [\"gadget\"]\n\n[[hooks]]\nname = \"guard\"\n\
         event = \"PreToolUse\"\ncommand = \"guard\"\n\n[[installations]]\nname = \"guard\"\n\
         script = \"guard.sh\"\ninstall_commands = [\"true\"]\n\n[[mcp_servers]]\nname = \"tools\"\n\
         command = \"npx\"\nargs = [\"tools\"]\n\n[[mcp_servers]]\nname = \"far\"\ntype = \"sse\"\n\
         url = \"https://example.com/sse\"\n",
    );
    sandbox.user_plugin("gadget/guard.sh", "exit 0\n");
    sandbox.registry_crate(
        "memchr",
        "2.7.4",
        &[("skills/search/SKILL.md", &crate::skill("search", "Searches."))],
    );
    sandbox.write("ws/.agents/skills/team-rules/SKILL.md", crate::skill("team-rules", "Ours."));
    sandbox
}

#[test]
fn status_is_one_document_before_and_after_a_sync_and_outside_of_a_workspace() {
    let sandbox = lively();
    let before = document(&sandbox.run(&["status", "--json"]).ok(), "status.json");
    assert!(before["next_sync"].as_array().is_some_and(|changes| changes.len() > 3), "{before:#}");
    sandbox.run(&["sync"]).ok();
    let after = document(&sandbox.run(&["status", "--json"]).ok(), "status.json");
    assert_eq!(after["next_sync"], json!([]), "{after:#}");
    assert_eq!(after["agents"].as_array().map(Vec::len), Some(3));
    document(&sandbox.run_in("home", &["status", "--json"]).ok(), "status.json");
}

#[test]
fn the_use_of_skills_is_one_document_before_and_after_a_sync_and_outside_of_a_workspace() {
    let sandbox = lively();
    let of = |folder: &str| {
        let run = sandbox.run_in(folder, &["status", "--use", "--json"]).ok();
        document(&run, "status-use.json")
    };
    // What the user put there is there before a sync.
    assert_eq!(of("ws")["skills"].as_array().map(Vec::len), Some(1));
    sandbox.run(&["sync"]).ok();
    let after = of("ws");
    assert!(after["skills"].as_array().is_some_and(|skills| skills.len() > 1), "{after:#}");
    let nothing = json!({"skills": [], "not_told_by": [], "unreadable": []});
    assert_eq!(of("home"), nothing);
}

#[test]
fn why_is_one_document_also_when_nothing_is_known() {
    let sandbox = lively();
    for name in ["widget", "widget-basics", "guard", "tools", "bevy-ecs", "memchr", "claude"] {
        let why = document(&sandbox.run(&["--json", "why", name]).ok(), "why.json");
        assert!(why["accounts"].as_array().is_some_and(|list| !list.is_empty()), "{why:#}");
    }
    let run = sandbox.run(&["why", "nothing", "--json"]).code(1);
    assert_eq!(document(&run, "why.json"), json!({ "name": "nothing", "accounts": [] }));
    assert!(run.stderr.contains("nothing is known by the name"), "{}", run.stderr);
}

#[test]
fn doctor_is_one_document_and_says_nothing_twice() {
    let sandbox = lively();
    let run = sandbox.run(&["doctor", "--json", "--offline"]).code(1);
    let doctor = document(&run, "doctor.json");
    assert!(doctor["findings"].to_string().contains("unknown key `colour`"), "{doctor:#}");
    assert!(!run.stderr.contains("colour"), "{}", run.stderr);
    let run = sandbox.run(&["doctor", "--json", "--offline", "--fix"]);
    let fixed = document(&run, "doctor.json");
    assert!(!fixed["fixed"].as_array().expect("a list").is_empty(), "{fixed:#}");
}

#[test]
fn what_looks_at_plugins_and_crates_is_one_document_each() {
    let sandbox = lively();
    sandbox
        .user_plugin("alone/SKILL.md", "---\nname: alone\ndescription: D.\ncrates: widget\n---\n");
    let list = document(&sandbox.run(&["plugin", "list", "--json"]).ok(), "plugin-list.json");
    assert_eq!(list["plugins"].as_array().map(Vec::len), Some(3), "{list:#}");
    assert_eq!(list["skills"].as_array().map(Vec::len), Some(1), "{list:#}");
    document(&sandbox.run_in("home", &["plugin", "list", "--json"]).ok(), "plugin-list.json");
    for name in ["widget", "bevy", "gadget"] {
        let run = sandbox.run(&["plugin", "show", name, "--json"]).ok();
        let shown = document(&run, "plugin-show.json");
        assert_eq!(shown["name"], name);
    }
    let run = sandbox.run(&["plugin", "show", "alone", "--json"]).ok();
    assert_eq!(document(&run, "plugin-show-skill.json")["name"], "alone");
    let run = sandbox.run(&["plugin", "review", "widget", "--json"]).ok();
    assert_eq!(document(&run, "plugin-review.json")["plugins"][0]["name"], "widget");
    let run = sandbox.run(&["plugin", "explain", "S033", "--json"]).ok();
    assert_eq!(document(&run, "plugin-explain.json")["code"], "S033");
    let run = sandbox.run(&["crate-info", "memchr", "--json"]).ok();
    let info = document(&run, "crate-info.json");
    assert_eq!(info["crates"][0]["version"], "2.7.4", "{info:#}");
    let withheld = json!([{ "name": "search", "because": "undecided" }]);
    assert_eq!(info["crates"][0]["withheld"], withheld, "{info:#}");
    sandbox.run(&["use", "memchr"]).ok();
    let info = document(&sandbox.run(&["crate-info", "memchr", "--json"]).ok(), "crate-info.json");
    assert_eq!(info["crates"][0]["skills"][0]["name"], "search", "{info:#}");
}

#[test]
fn help_version_and_completions_are_one_document_each() {
    let sandbox = lively();
    let help = document(&sandbox.run(&["--help", "--json"]).ok(), "help.json");
    assert!(help["commands"].as_array().is_some_and(|list| list.len() > 5), "{help:#}");
    document(&sandbox.run(&["sync", "--help", "--json"]).ok(), "help-page.json");
    document(&sandbox.run(&["--version", "--json"]).ok(), "version.json");
    document(&sandbox.run(&["completions", "zsh", "--json"]).ok(), "completions.json");
}

#[test]
fn each_line_of_sync_is_an_event() {
    let sandbox = lively();
    let run = sandbox.run(&["sync", "--json", "-v"]).ok();
    let lines = run.json_lines();
    for line in &lines {
        assert_eq!(mistakes("event.json", line), "", "{line:#}");
    }
    let kinds: Vec<_> = lines.iter().filter_map(|line| line["event"].as_str()).collect();
    for kind in ["workspace", "change", "explain", "diagnostic", "finished"] {
        assert!(kinds.contains(&kind), "{kind} in {kinds:?}");
    }
}

#[test]
fn a_document_of_another_shape_is_told_from_one_of_ours() {
    assert_ne!(mistakes("why.json", &json!({ "name": "x" })), "");
    assert_ne!(mistakes("why.json", &json!({ "name": "x", "accounts": [], "more": 1 })), "");
    assert_ne!(mistakes("why.json", &json!({ "name": 3, "accounts": [] })), "");
    assert_ne!(mistakes("event.json", &json!({ "event": "unheard-of" })), "");
    assert_ne!(mistakes("status.json", &json!([])), "");
}
