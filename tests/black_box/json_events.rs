//! With `--json`, each line of the commands that do something is an event as the book's schema has
//! it, and nothing else is printed; so are failures. Paths are whole: programs do not know `~`.

use serde_json::Value;

use crate::json_shapes::mistakes;
use crate::{for_two_agents, git_sources, skill};
use symposium_testlib::{Run, Sandbox};

/// The events on standard output, each looked at.
#[track_caller]
fn events(run: &Run) -> Vec<Value> {
    assert_eq!(run.stderr, "", "{}", run.stdout);
    let lines = run.json_lines();
    for line in &lines {
        assert_eq!(mistakes("event.json", line), "", "{line:#}");
        assert_eq!(short_path(line), None, "{line:#}");
    }
    lines
}

/// A text that has a path from the home folder.
fn short_path(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => text.contains("~/").then_some(text),
        Value::Array(items) => items.iter().find_map(short_path),
        Value::Object(object) => object.values().find_map(short_path),
        _ => None,
    }
}

/// The kinds of the events, and that the last one says how it ended.
#[track_caller]
fn kinds(run: &Run) -> Vec<String> {
    let events = events(run);
    events.iter().filter_map(|event| event["event"].as_str().map(str::to_owned)).collect()
}

/// One error and nothing else.
#[track_caller]
fn failure(run: &Run) -> Value {
    let events = events(run);
    let last = events.last().cloned().unwrap_or_default();
    assert_eq!(
        (last["event"].as_str(), last["severity"].as_str()),
        (Some("diagnostic"), Some("error"))
    );
    last
}

fn ready() -> Sandbox {
    let sandbox = for_two_agents();
    let text = skill("ships", "b");
    sandbox.registry_crate("gadget", "0.1.0", &[("skills/a/SKILL.md", &text)]);
    sandbox
}

#[test]
fn each_line_of_use_is_an_event() {
    let sandbox = ready();
    let run = sandbox.run(&["use", "gadget", "--json"]).ok();
    let told = kinds(&run);
    for kind in ["status", "workspace", "change", "finished"] {
        assert!(told.iter().any(|known| known == kind), "{kind} in {told:?}");
    }
    kinds(&sandbox.run(&["use", "gadget", "--remove", "--json"]).ok());
    // The workspace's word wins: a warning.
    let told = kinds(&sandbox.run(&["use", "gadget", "--global", "--json"]).ok());
    assert!(told.iter().any(|kind| kind == "diagnostic"), "{told:?}");
    failure(&sandbox.run(&["use", "gadgte", "--json"]).code(1));
    failure(&sandbox.run_in("home", &["use", "gadget", "--json"]).code(1));
}

#[test]
fn each_line_of_init_is_an_event() {
    let sandbox = ready();
    let run =
        sandbox.run(&["init", "--add-agent", "kiro", "--hook-scope", "global", "--json"]).ok();
    let changes: Vec<Value> =
        events(&run).into_iter().filter(|event| event["event"] == "change").collect();
    let file = changes.iter().find(|change| change["kind"] == "file").expect("the configuration");
    let path = sandbox.path("home/.symposium/config.toml");
    assert_eq!(file["name"], path.display().to_string());
    assert!(changes.iter().any(|change| change["kind"] == "hooks"), "{changes:#?}");
    kinds(&sandbox.run_in("home", &["init", "--remove-agent", "kiro", "--json"]).ok());
    failure(&sandbox.run(&["init", "--add-agent", "nobody", "--json"]).code(1));
    failure(&sandbox.run(&["init", "--json"]).code(1));
    sandbox.write("home/.symposium/config.toml", "agent = [\n");
    failure(&sandbox.run(&["init", "--add-agent", "kiro", "--json"]).code(1));
}

#[test]
fn each_line_of_uninstall_is_an_event() {
    let sandbox = ready();
    sandbox.run(&["init", "--add-agent", "gemini", "--hook-scope", "global"]).ok();
    for args in [&["uninstall", "--dry-run", "--json"][..], &["uninstall", "--json"]] {
        let run = sandbox.run(args).ok();
        let told = kinds(&run);
        assert!(told.iter().filter(|kind| *kind == "change").count() > 2, "{told:?}");
        assert_eq!(told.last().map(String::as_str), Some("finished"));
    }
    assert_eq!(kinds(&sandbox.run(&["uninstall", "--json"]).ok()), ["finished"]);
}

#[test]
fn each_line_of_plugin_sync_is_an_event() {
    let sandbox = git_sources::ready();
    assert_eq!(kinds(&sandbox.run(&["plugin", "sync", "--json"]).ok()), ["status"]);
    git_sources::configure(&sandbox, &sandbox.file_url("repos/acme"), "");
    let fetched = events(&sandbox.run(&["plugin", "sync", "--json"]).ok());
    assert!(fetched.iter().any(|event| event["action"] == "fetch"), "{fetched:#?}");
    kinds(&sandbox.run(&["plugin", "sync", "acme", "--json"]).ok());
    failure(&sandbox.run(&["plugin", "sync", "acem", "--json"]).code(1));
    std::fs::remove_dir_all(sandbox.dir().join("repos/acme")).expect("removes");
    failure(&sandbox.run(&["plugin", "sync", "--json"]).code(1));
}

#[test]
fn each_line_of_plugin_validate_is_an_event() {
    let sandbox = ready();
    let validate =
        |folder: &str| sandbox.run(&["plugin", "validate", "--no-check-crates", "--json", folder]);
    let told = kinds(&validate("../home/.symposium/plugins/widget").ok());
    assert!(!told.is_empty());
    sandbox.user_plugin("bad/SYMPOSIUM.toml", "name = \"bad\"\ncrates = 3\nodd = 1\n");
    let run = validate("../home/.symposium/plugins/bad").code(1);
    let found = events(&run);
    let coded = found.iter().filter(|event| event["code"].is_string());
    assert!(coded.clone().all(|event| event["location"]["line"].is_u64()), "{found:#?}");
    assert!(coded.count() > 0, "{found:#?}");
    failure(&validate("nowhere").code(1));
}

#[test]
fn each_line_of_man_is_an_event() {
    let sandbox = ready();
    let told = kinds(&sandbox.run(&["man", "pages", "--json"]).ok());
    assert!(!told.is_empty());
    assert!(sandbox.has("ws/pages/cargo-agents.1"));
    sandbox.write("ws/file", "");
    failure(&sandbox.run(&["man", "file", "--json"]).code(1));
}

#[cfg(unix)]
#[test]
fn each_line_of_self_update_is_an_event() {
    use crate::self_update::{CRATES_IO, fake_cargo, info, info_99, install_99, installed};

    let sandbox = installed(CRATES_IO);
    fake_cargo(&sandbox, &info_99(), "exit 101");
    kinds(&sandbox.run(&["self-update", "--check", "--json"]).code(1));
    failure(&sandbox.run(&["self-update", "--json"]).code(1));
    fake_cargo(&sandbox, &info(env!("CARGO_PKG_VERSION")), "exit 101");
    let told = kinds(&sandbox.run(&["self-update", "--json"]).ok());
    assert_eq!(told.last().map(String::as_str), Some("finished"), "{told:?}");
    fake_cargo(&sandbox, &info_99(), &install_99(&sandbox));
    let told = kinds(&sandbox.run(&["self-update", "--json"]).ok());
    assert_eq!(told.last().map(String::as_str), Some("finished"), "{told:?}");
    failure(&installed("git+https://x.example/y").run(&["self-update", "--json"]));
}

#[test]
fn each_failure_is_an_event() {
    let sandbox = ready();
    for (args, code) in [
        (&["xyzzy"][..], 1),
        (&["sync", "--xyzzy"], 2),
        (&["sync", "--agent", "nobody"], 1),
        (&["plugin"], 2),
        (&["plugin", "show", "xyzzy"], 1),
        (&["plugin", "explain", "S999"], 1),
        (&["help", "plugin", "xyzzy"], 2),
        (&["completions", "tcsh"], 2),
    ] {
        let run = sandbox.run(&[&["--json"], args].concat()).code(code);
        let lines = run.json_lines();
        // What answers with a document has nothing to print then: its words are for people.
        match lines.last() {
            Some(_) => drop(failure(&run)),
            None => assert!(run.stderr.starts_with("error: "), "{args:?}: {}", run.stderr),
        }
    }
    failure(&sandbox.run_in("home", &["sync", "--json"]).code(1));
    sandbox.write("ws/Cargo.toml", "[package\n");
    failure(&sandbox.run(&["sync", "--json"]).code(1));
    sandbox.write("home/.symposium/config.toml", "agent = [\n");
    let run = sandbox.run(&["sync", "--json"]).code(1);
    assert!(!events(&run).is_empty());
}

#[test]
fn documents_have_whole_paths_too() {
    let sandbox = ready();
    sandbox.user_plugin(
        "tools/SYMPOSIUM.toml",
        "name = \"tools\"\ncrates = \"*\"\n[[mcp_servers]]\nname = \"tools\"\ncommand = \"npx\"\n",
    );
    for _ in 0..2 {
        for args in [
            &["status"][..],
            &["doctor", "--offline"],
            &["why", "widget"],
            &["why", "basics"],
            &["why", "tools"],
            &["why", "gadget"],
            &["plugin", "list"],
            &["plugin", "show", "widget"],
            &["crate-info", "gadget"],
        ] {
            let run = sandbox.run(&[args, &["--json"]].concat());
            for line in run.json_lines() {
                assert_eq!(short_path(&line), None, "{args:?}: {line:#}");
            }
        }
        sandbox.run(&["sync"]).ok();
    }
    let list = sandbox.run(&["plugin", "list", "--json"]).ok().json_lines().remove(0);
    let plugins = sandbox.path("home/.symposium/plugins").display().to_string();
    let places = list["sources"].as_array().expect("a list");
    assert!(places.iter().any(|source| source["location"] == plugins), "{list:#}");
}
