//! What can't be read or reached: sources, the configuration, the workspace.

use serde_json::Value;
use symposium_testlib::Sandbox;

use super::{codes, finding, findings, synced};

#[test]
fn a_source_that_is_missing_or_does_not_answer_is_found() {
    let sandbox = synced(&["claude"]);
    let config = sandbox.read("home/.symposium/config.toml");
    let more = "[[plugin-source]]\nname = \"here\"\npath = \"nowhere\"\n\
                [[plugin-source]]\nname = \"there\"\ngit = \"./no-repository\"\n";
    sandbox.write("home/.symposium/config.toml", format!("{config}\n{more}"));
    assert_eq!(codes(&sandbox, &[]), ["source-missing"]);
    let run = sandbox.run(&["doctor", "--json"]).code(1);
    assert!(run.stdout.contains("\"source-unreachable\""), "{}", run.stdout);
    assert!(run.stdout.contains("cargo agents plugin sync there"), "{}", run.stdout);
}

#[test]
fn a_git_source_that_answers_is_asked_and_not_fetched() {
    let sandbox = synced(&["claude"]);
    sandbox.write("repo/w/SYMPOSIUM.toml", "name = \"w\"\ncrates = [\"widget\"]\n");
    sandbox.git_in("repo", &["init", "-q"]);
    sandbox.git_in("repo", &["add", "-A"]);
    sandbox.git_in("repo", &["commit", "-qm", "one"]);
    let config = sandbox.read("home/.symposium/config.toml");
    let url = sandbox.at("repo");
    let more = format!("[[plugin-source]]\nname = \"team\"\ngit = \"{url}\"\n");
    sandbox.write("home/.symposium/config.toml", format!("{config}\n{more}"));
    let run = sandbox.run(&["doctor", "--json"]).code(1);
    assert!(run.stdout.contains("source-not-fetched"), "{}", run.stdout);
    sandbox.run(&["sync"]).ok();
    let run = sandbox.run(&["doctor", "--json"]);
    assert!(!run.stdout.contains("source-"), "{}", run.stdout);
    sandbox.write("repo/w/SYMPOSIUM.toml", "name = \"w2\"\ncrates = [\"widget\"]\n");
    sandbox.git_in("repo", &["commit", "-qam", "two"]);
    sandbox.run(&["doctor", "--json"]);
    let status = sandbox.run(&["status"]).ok();
    assert!(!status.stdout.contains("w2"), "the doctor fetched: {}", status.stdout);
}

#[test]
fn a_broken_configuration_is_the_finding_and_nothing_is_fixed() {
    let sandbox = synced(&["claude"]);
    let settings = sandbox.read("home/.claude/settings.json");
    sandbox.write("home/.symposium/config.toml", "[[agent\n");
    let found = findings(&sandbox, &["--fix"]);
    let config: Vec<_> = found.iter().filter(|finding| finding["severity"] == "error").collect();
    assert_eq!(config.len(), 1, "{found:#?}");
    assert_eq!(config[0]["code"], "configuration");
    assert_eq!(sandbox.read("home/.claude/settings.json"), settings);
}

#[test]
fn a_workspace_that_can_not_be_read_is_a_finding() {
    let sandbox = synced(&["claude"]);
    sandbox.write("ws/Cargo.toml", "[package\n");
    let found = codes(&sandbox, &[]);
    assert_eq!(found, ["workspace"]);
}

#[test]
fn checks_that_can_not_be_made_do_not_count_as_passed() {
    let sandbox = synced(&["claude"]);
    let checked = |sandbox: &Sandbox| -> Value {
        let run = sandbox.run(&["doctor", "--json", "--offline"]).code(1);
        serde_json::from_str(&run.stdout).expect("one document")
    };
    sandbox.write("ws/Cargo.toml", "[package\n");
    let document = checked(&sandbox);
    let reason = |document: &Value, check: &str| {
        let skipped = document["not_checked"].as_array().expect("a list");
        skipped.iter().find(|one| one["check"] == check).map(|one| one["reason"].clone())
    };
    let (skills, hooks) = ("skills are in place", "hooks and servers are registered");
    assert_eq!(reason(&document, skills), Some("the workspace can't be read".into()));
    assert_eq!(reason(&document, hooks), None);
    sandbox.write("home/.symposium/config.toml", "[[agent\n");
    let document = checked(&sandbox);
    assert_eq!(reason(&document, hooks), Some("the configuration can't be read".into()));
    assert_eq!(document["passed"], serde_json::json!([]));
    let run = sandbox.run(&["doctor", "--offline"]).code(1);
    assert!(run.stdout.contains("checks: the configuration can't be read"), "{}", run.stdout);
    assert!(!run.stdout.contains("ok "), "{}", run.stdout);
    let status = sandbox.run(&["status"]).ok();
    assert!(status.stdout.contains("the configuration can't be read"), "{}", status.stdout);
    assert!(status.stdout.contains("config.toml:1"), "{}", status.stdout);
    assert!(!status.stdout.contains("none are configured"), "{}", status.stdout);
    assert!(!status.stdout.contains("nothing to do"), "{}", status.stdout);
}

#[test]
fn what_takes_its_time_is_told_meanwhile() {
    let sandbox = synced(&["claude"]);
    let config = sandbox.read("home/.symposium/config.toml");
    let more = "[[plugin-source]]\nname = \"there\"\ngit = \"./no-repository\"\n";
    sandbox.write("home/.symposium/config.toml", format!("{config}\n{more}"));
    let run = sandbox.run(&["doctor"]).code(1);
    assert!(run.stderr.contains("Asking the source there"), "{}", run.stderr);
}

#[test]
fn what_came_of_a_mistake_is_no_remedy() {
    let sandbox = synced(&["claude"]);
    sandbox.user_plugin(
        "w/SYMPOSIUM.toml",
        "name = \"w\"\ncrates = [\"widget\"]\n[[installations]]\nname = \"s\"\nscript = \"s.sh\"\n\
         [[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\nmatcher = \"Edit|(\"\ncommand = \"s\"\n",
    );
    let found = findings(&sandbox, &[]);
    let content: Vec<_> = found.iter().filter(|finding| finding["code"] == "content").collect();
    let hook = content.iter().find(|finding| {
        finding["message"].as_str().is_some_and(|text| text.contains("the hook never runs"))
    });
    let hook = hook.unwrap_or_else(|| panic!("{found:#?}"));
    assert!(hook["remedy"].as_str().is_some_and(|text| text.contains("correct it")), "{hook:#}");
    sandbox.write("home/.symposium/config.toml", "[[agent\n");
    let found = findings(&sandbox, &[]);
    let remedy = finding(&found, "configuration")["remedy"].clone();
    assert!(!remedy.as_str().unwrap_or_default().contains("defaults are used"), "{remedy}");
}
