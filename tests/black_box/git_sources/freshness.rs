//! When a repository is asked for news, and when it is not.

use std::path::PathBuf;

use symposium_testlib::{Manner, Server};

use super::{cache, files, installed, let_a_minute_pass, publish, ready, served, sync};
use crate::NO_BUILTIN;

#[test]
fn f121_a_sync_asks_for_news_once_a_minute_and_those_who_look_never() {
    let sandbox = ready();
    let server = served(&sandbox, "");
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["one"]);
    let before = server.requests();
    assert!(!before.is_empty());
    publish(&sandbox, "two");
    // It answered a moment ago: its word still counts.
    sync(&sandbox, &[]).ok();
    assert_eq!(server.requests(), before);
    assert_eq!(installed(&sandbox), ["one"]);
    let_a_minute_pass(&sandbox);
    for look in [&["plugin", "list"][..], &["plugin", "show", "p"], &["status"], &["why", "p"]] {
        sandbox.run(look).ok();
    }
    sync(&sandbox, &["--update", "none"]).ok();
    assert_eq!(server.requests(), before);
    let run = sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["two"]);
    assert!(run.stderr.contains("Fetched acme"), "{}", run.stderr);
    let after = server.requests().len();
    assert!(after > before.len());
    sync(&sandbox, &[]).ok();
    assert_eq!(server.requests().len(), after);
}

#[test]
fn f121_skills_that_a_plugin_has_in_a_repository_are_as_fresh_as_sources() {
    let sandbox = ready();
    let server = Server::start(&sandbox.dir().join("repos"), Manner::Git);
    sandbox.write("home/.symposium/config.toml", NO_BUILTIN);
    sandbox.user_plugin(
        "q/SYMPOSIUM.toml",
        &format!(
            "name = \"q\"\ncrates = [\"widget\"]\n[[skills]]\nsource.git = \"{}\"\n",
            server.url("acme/.git")
        ),
    );
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["one"]);
    publish(&sandbox, "two");
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["one"]);
    let_a_minute_pass(&sandbox);
    sync(&sandbox, &["--offline"]).ok();
    assert_eq!(installed(&sandbox), ["one"]);
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["two"]);
    publish(&sandbox, "three");
    let run = sandbox.run(&["plugin", "sync"]).ok();
    assert!(run.stderr.contains("Fetched http://127.0.0.1"), "{}", run.stderr);
    sync(&sandbox, &["--offline"]).ok();
    assert_eq!(installed(&sandbox), ["three"]);
    let run = sandbox.run(&["plugin", "sync", "user-plugins"]).ok();
    assert!(run.stderr.contains("Unchanged http://127.0.0.1"), "{}", run.stderr);
    server.set(Manner::Refuse);
    let run = sandbox.run(&["plugin", "sync"]).code(1);
    assert!(run.stderr.contains("can't fetch `http://127.0.0.1"), "{}", run.stderr);
}

#[test]
fn f121_update_none_never_touches_the_network_not_even_for_a_first_copy() {
    let sandbox = ready();
    let server = served(&sandbox, "");
    let run = sync(&sandbox, &["--update", "none"]).ok();
    assert_eq!(installed(&sandbox), [""; 0]);
    assert!(run.stderr.contains("acme") && run.stderr.contains("not fetched"), "{}", run.stderr);
    assert!(run.stderr.contains("plugin sync acme"), "{}", run.stderr);
    sandbox.run(&["plugin", "list", "--update", "none"]).ok();
    let run = sandbox.run(&["plugin", "sync", "--update", "none"]).code(1);
    assert!(run.stderr.contains("--update none"), "{}", run.stderr);
    assert_eq!(server.requests(), [""; 0]);
}

#[test]
fn f121_update_check_asks_and_fetches_only_what_is_new() {
    let sandbox = ready();
    let server = served(&sandbox, "");
    sync(&sandbox, &[]).ok();
    let first = server.requests().len();
    // However short ago it answered: the user asks.
    sync(&sandbox, &["--update", "check"]).ok();
    let asked = server.requests().len();
    assert!(asked > first);
    assert!(asked - first < first, "the pack was not fetched again: {:?}", server.requests());
    publish(&sandbox, "two");
    sync(&sandbox, &["--update", "check"]).ok();
    assert_eq!(installed(&sandbox), ["two"]);
}

#[test]
fn f121_update_fetch_always_fetches_and_mends_a_damaged_copy() {
    let sandbox = ready();
    let server = served(&sandbox, "");
    sync(&sandbox, &[]).ok();
    let first = server.requests().len();
    let copies: Vec<PathBuf> = files(&cache(&sandbox), "SKILL.md");
    assert_eq!(copies.len(), 1);
    std::fs::write(&copies[0], "damaged").expect("writes");
    sync(&sandbox, &["--update", "fetch"]).ok();
    assert!(server.requests().len() >= 2 * first);
    assert!(sandbox.read("ws/.claude/skills/one/SKILL.md").contains("name: one"));
}

#[test]
fn f23_without_auto_update_only_its_name_or_update_fetch_refreshes() {
    let sandbox = ready();
    let server = served(&sandbox, "auto-update = false");
    // What was never there is fetched all the same.
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["one"]);
    let before = server.requests().len();
    publish(&sandbox, "two");
    let_a_minute_pass(&sandbox);
    sync(&sandbox, &[]).ok();
    sync(&sandbox, &["--update", "check"]).ok();
    let run = sandbox.run(&["plugin", "sync"]).ok();
    assert!(run.stderr.contains("auto-update = false"), "{}", run.stderr);
    assert_eq!(server.requests().len(), before);
    sandbox.run(&["plugin", "sync", "acme"]).ok();
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["two"]);
    publish(&sandbox, "three");
    sync(&sandbox, &["--update", "fetch"]).ok();
    assert_eq!(installed(&sandbox), ["three"]);
}

#[test]
fn a_source_that_stays_as_it_is_does_not_move_with_another_of_the_same_repository() {
    let sandbox = ready();
    let server = Server::start(&sandbox.dir().join("repos"), Manner::Git);
    let url = server.url("acme/.git");
    let config = format!(
        "[[plugin-source]]\nname = \"still\"\ngit = \"{url}\"\nauto-update = false\n\
         [[plugin-source]]\nname = \"moving\"\ngit = \"{url}\"\n{NO_BUILTIN}"
    );
    sandbox.write("home/.symposium/config.toml", config);
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["one"]);
    publish(&sandbox, "two");
    sandbox.run(&["plugin", "sync"]).ok();
    let list = sandbox.run(&["plugin", "list", "--json"]).ok().json_lines();
    let commit = |name: &str| {
        let sources = list[0]["sources"].as_array().expect("sources");
        let source = sources.iter().find(|source| source["name"] == name).expect("it is listed");
        source["commit"].as_str().expect("a commit").to_owned()
    };
    assert_ne!(commit("still"), commit("moving"));
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["one"], "the first source has the first word");
    sandbox.run(&["plugin", "sync", "still"]).ok();
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["two"]);
}

#[test]
fn a_shortened_commit_that_is_not_there_is_said_to_be_one() {
    let sandbox = ready();
    let server = served(&sandbox, "rev = \"25b5f22a\"\n");
    let run = sync(&sandbox, &[]).ok();
    assert!(run.stderr.contains("no branch or tag `25b5f22a`"), "{}", run.stderr);
    assert!(run.stderr.contains("no single commit that begins so"), "{}", run.stderr);
    drop(server);
}
