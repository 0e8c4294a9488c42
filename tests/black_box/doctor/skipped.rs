//! A check that could not be made is `skip` with its reason, and never `ok`.

use serde_json::Value;

use super::*;
use crate::sandbox;

/// The checks that were passed, and those that were skipped with why.
fn checks(sandbox: &Sandbox, folder: &str, args: &[&str]) -> (Vec<String>, Vec<(String, String)>) {
    let all: Vec<_> = ["doctor", "--json"].iter().chain(args).copied().collect();
    let run = sandbox.run_in(folder, &all);
    let document: Value = serde_json::from_str(&run.stdout).expect("one document");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let list = |key: &str| document[key].as_array().expect("a list").clone();
    let skipped = list("not_checked").into_iter();
    (
        list("passed").iter().map(text).collect(),
        skipped.map(|one| (text(&one["check"]), text(&one["reason"]))).collect(),
    )
}

fn reason(skipped: &[(String, String)], check: &str) -> String {
    let found = skipped.iter().find(|(name, _)| name == check);
    found.unwrap_or_else(|| panic!("{check} in {skipped:?}")).1.clone()
}

#[test]
fn outside_of_a_workspace_nothing_is_said_of_one() {
    let sandbox = with_agents(&["claude"]);
    let (passed, skipped) = checks(&sandbox, "home", &["--offline"]);
    for check in [
        "the workspace reads",
        "skills are in place",
        "descriptions fit",
        "programs of plugins may run",
        "programs of plugins are here",
        "sources of crates are here",
    ] {
        assert_eq!(reason(&skipped, check), "this is no Rust workspace");
        assert!(!passed.iter().any(|name| name == check), "{passed:?}");
    }
    let screen = sandbox.run_in("home", &["doctor", "--offline"]).stdout;
    assert!(screen.contains("skip  6 checks: this is no Rust workspace"), "{screen}");
    let screen = sandbox.run_in("home", &["doctor", "--offline", "-v"]).stdout;
    assert!(screen.contains("skip  descriptions fit: this is no Rust workspace"), "{screen}");
    assert!(screen.contains("ok    agents' files read"), "{screen}");
}

#[test]
fn a_source_that_was_not_asked_or_never_fetched_is_no_source_that_is_fine() {
    let sandbox = with_agents(&["claude"]);
    let config = sandbox.read("home/.symposium/config.toml");
    let source = "[[plugin-source]]\nname = \"far\"\ngit = \"https://example.invalid/far\"\n";
    sandbox.write("home/.symposium/config.toml", format!("{config}\n{source}"));
    let (passed, skipped) = checks(&sandbox, "ws", &["--offline"]);
    assert_eq!(reason(&skipped, "plugin sources answer"), "with `--offline` `far` is not asked");
    let unseen = reason(&skipped, "plugins and skills are well made");
    assert_eq!(unseen, "`far` is not on this machine");
    assert!(!passed.iter().any(|name| name.starts_with("plugin")), "{passed:?}");
}

#[test]
fn without_agents_nothing_is_said_of_their_files() {
    let sandbox = sandbox();
    configure(&sandbox, &[], "");
    sandbox.package(&[]);
    let (passed, skipped) = checks(&sandbox, "ws", &["--offline"]);
    for check in ["agents' files read", "agents use what is registered"] {
        assert_eq!(reason(&skipped, check), "no agent is configured");
        assert!(!passed.iter().any(|name| name == check), "{passed:?}");
    }
}

#[cfg(unix)]
#[test]
fn settings_that_are_being_written_are_waited_for() {
    let sandbox = synced(&["gemini"]);
    let file = "home/.gemini/trustedFolders.json";
    let trusted = format!("{{{:?}: \"TRUST_FOLDER\"}}", sandbox.ws());
    for args in [["status"], ["status"]] {
        sandbox.write(file, &trusted[..9]);
        let place = sandbox.dir().join(file);
        let (text, whole) = (trusted.clone(), place.clone());
        let writer = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(150));
            std::fs::write(whole, text).expect("writes");
        });
        let screen = sandbox.run(&args).ok().stdout;
        writer.join().expect("writes");
        assert!(!screen.contains("not trusted"), "{screen}");
    }
}
