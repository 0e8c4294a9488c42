//! The central recommendations.

use std::path::Path;

use symposium_testlib::{Manner, Sandbox, Server};

use super::{cache, installed, sync};
use crate::{NO_BUILTIN, bare_sandbox, skill};

/// A repository with the recommendations' fixture.
fn recommendations(sandbox: &Sandbox) -> String {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/recommendations");
    for entry in walkdir::WalkDir::new(&fixture).into_iter().map(|entry| entry.expect("reads")) {
        if entry.file_type().is_file() {
            let path = entry.path().strip_prefix(&fixture).expect("is inside").display();
            let bytes = std::fs::read(entry.path()).expect("reads");
            sandbox.write(&format!("repos/recommendations/{path}"), bytes);
        }
    }
    let git = |args: &[&str]| sandbox.git_in("repos/recommendations", args);
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "all"]);
    sandbox.dir().join("repos/recommendations").display().to_string()
}

#[test]
fn f17_the_central_recommendations_need_no_configuration() {
    let mut sandbox = bare_sandbox();
    let url = recommendations(&sandbox);
    sandbox.set("SYMPOSIUM_RECOMMENDATIONS_URL", url);
    sandbox.package(&[
        ("dial9-viewer", "0.5.7"),
        ("error-battery-pack", "0.6.5"),
        ("salsa", "0.22.0"),
        ("sqlx", "0.8.6"),
    ]);
    let pack = skill("library-errors", "d");
    sandbox.registry_crate(
        "error-battery-pack",
        "0.6.5",
        &[("skills/library-errors/SKILL.md", &pack)],
    );
    let trace = skill("dial9-toolkit", "d");
    sandbox.registry_crate(
        "dial9-viewer",
        "0.5.7",
        &[("agent-skills/dial9-toolkit/SKILL.md", &trace)],
    );
    sandbox.write("home/.symposium/config.toml", "[[agent]]\nname = \"claude\"\n");
    // One of its servers is a program that only Unix has.
    let run = sandbox.run(&["sync", "--json"]).code(i32::from(cfg!(windows)));
    let names = installed(&sandbox);
    for name in ["library-errors", "dial9-toolkit", "salsa-queries"] {
        assert!(names.contains(&name.to_owned()), "{names:?}\n{}", run.stdout);
    }
    let events = run.json_lines();
    let server =
        events.iter().find(|event| event["kind"] == "server" && event["action"] == "register");
    let last = events.last().expect("a last one");
    if cfg!(windows) {
        assert!(server.is_none() && !sandbox.has("home/.claude.json"), "{}", run.stdout);
        let why = "`/usr/local/bin/sqlx-tools` is a path of another system";
        assert!(run.stdout.contains(why), "{}", run.stdout);
    } else {
        assert_eq!(server.expect("the server")["name"], "sqlx-tools");
        assert!(sandbox.read("home/.claude.json").contains("/usr/local/bin/sqlx-tools"));
        assert!(last["summary"].as_str().is_some_and(|text| text.contains("1 hook")), "{last}");
    }
    // The one whose manifest has the wrong name is reported.
    let near: Vec<_> = events.iter().filter(|event| event["code"] == "S033").collect();
    assert_eq!(near.len(), 1, "{near:?}");
    assert!(near[0]["location"]["path"].as_str().is_some_and(|path| path.ends_with("rtk.toml")));
    let blocked = sandbox.feed(
        &["hook", "claude", "pre-tool-use"],
        format!(
            "{{\"session_id\":\"s\",\"cwd\":{:?},\"hook_event_name\":\"PreToolUse\",\
             \"tool_name\":\"Bash\",\"tool_input\":{{\"command\":\"cargo clean\"}}}}",
            sandbox.ws()
        )
        .as_bytes(),
    );
    assert!(blocked.ok().stdout.contains("deny"), "the guard of cargo-guard");
}

#[test]
fn f17_the_recommendations_can_be_switched_off() {
    let mut sandbox = bare_sandbox();
    let url = recommendations(&sandbox);
    sandbox.set("SYMPOSIUM_RECOMMENDATIONS_URL", url);
    sandbox.package(&[("salsa", "0.22.0")]);
    sandbox.write("home/.symposium/config.toml", NO_BUILTIN);
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), [""; 0]);
    assert!(!cache(&sandbox).exists());
}

#[test]
fn f31_a_configuration_that_can_not_be_read_may_switch_a_source_off_so_none_is_fetched() {
    let mut sandbox = bare_sandbox();
    let _ = recommendations(&sandbox);
    let server = Server::start(&sandbox.dir().join("repos"), Manner::Git);
    sandbox.set("SYMPOSIUM_RECOMMENDATIONS_URL", server.url("recommendations/.git"));
    sandbox.package(&[("salsa", "0.22.0")]);
    sandbox.write("home/.symposium/config.toml", "[defaults\nsymposium-recommendations = false\n");
    let run = sandbox.run(&["sync", "--agent", "claude"]);
    assert!(run.stderr.contains("config.toml:1:"), "{}", run.stderr);
    assert_eq!(server.requests(), [""; 0]);
    sandbox.run(&["plugin", "sync", "symposium-recommendations"]).ok();
    assert!(!server.requests().is_empty());
}
