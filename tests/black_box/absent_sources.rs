//! Dependencies whose sources are not on this machine yet.

use std::fs;

use symposium_testlib::Sandbox;

use crate::hook_kit::{Event, Told, send};
use crate::{skill, with_agents};

const PLUGIN: &str = "name = \"w\"\ncrates = [\"widget\"]\n[[skills]]\nsource = \"crate\"\n";
const SOURCES: &str = "home/.cargo/registry/src";

/// What `cargo fetch` leaves of `widget`, with a skill.
fn fetched(sandbox: &Sandbox) {
    sandbox.registry_crate(
        "widget",
        "1.2.3",
        &[("skills/basics/SKILL.md", &skill("basics", "b")), (".cargo-ok", "{\"v\":1}")],
    );
}

fn event(sandbox: &Sandbox, id: &'static str) {
    send(sandbox, "claude", Event::PostToolUse, &Told::in_ws(sandbox).id(id));
}

const PLACED: &str = "ws/.claude/skills/basics/SKILL.md";

#[test]
fn the_event_after_the_sources_came_picks_the_skills_up_though_the_lock_file_is_the_same() {
    // Nothing of cargo's, the registry's folder, and that of the crate half unpacked.
    for before in ["home/.cargo", SOURCES, "another crate", "half"] {
        let sandbox = with_agents(&["claude"]);
        sandbox.user_plugin("w/SYMPOSIUM.toml", PLUGIN);
        match before {
            "another crate" => sandbox.registry_crate("gadget", "0.1.0", &[]),
            "half" => {
                fetched(&sandbox);
                let dir = format!("{SOURCES}/index.crates.io-1949cf8c6b5b557f/widget-1.2.3");
                fs::remove_file(sandbox.dir().join(&dir).join(".cargo-ok")).expect("removes");
                fs::remove_file(sandbox.dir().join(&dir).join("Cargo.toml")).expect("removes");
            }
            folder => fs::create_dir_all(sandbox.dir().join(folder)).expect("creates"),
        }
        event(&sandbox, "add");
        assert!(!sandbox.has(PLACED), "{before}");
        fetched(&sandbox);
        event(&sandbox, "check");
        assert!(sandbox.has(PLACED), "{before}");
    }
}

#[test]
fn a_candidate_is_found_when_its_sources_come_and_vendored_ones_count() {
    let sandbox = with_agents(&["claude"]);
    event(&sandbox, "add");
    let candidates = |sandbox: &Sandbox| {
        let snapshots = sandbox.home().join(".symposium/cache/snapshots");
        let files = fs::read_dir(snapshots).expect("snapshots");
        let mut texts = files.map(|file| fs::read(file.expect("a file").path()).expect("reads"));
        texts.any(|text| String::from_utf8_lossy(&text).contains("\"candidates\":[\"widget\"]"))
    };
    assert!(!candidates(&sandbox));
    fetched(&sandbox);
    event(&sandbox, "check");
    assert!(candidates(&sandbox));

    let sandbox = with_agents(&["claude"]);
    sandbox.user_plugin("w/SYMPOSIUM.toml", PLUGIN);
    sandbox.write(
        "ws/.cargo/config.toml",
        "[source.crates-io]\nreplace-with = \"here\"\n[source.here]\ndirectory = \"vendor\"\n",
    );
    sandbox.write("ws/vendor/widget/skills/basics/SKILL.md", skill("basics", "b"));
    event(&sandbox, "half");
    assert!(!sandbox.has(PLACED));
    let manifest = "[package]\nname = \"widget\"\nversion = \"1.2.3\"\n";
    sandbox.write("ws/vendor/widget/Cargo.toml", manifest);
    sandbox.write("ws/vendor/widget/.cargo-checksum.json", "{\"files\":{}}");
    event(&sandbox, "whole");
    assert!(sandbox.has(PLACED));
}

#[test]
fn each_screen_tells_of_them_with_what_brings_them() {
    let sandbox = with_agents(&["claude"]);
    sandbox.package(&[("widget", "1.2.3"), ("gadget", "0.1.0")]);
    let told = "gadget 0.1.0, widget 1.2.3";
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for args in [&["sync"][..], &["status"], &["doctor", "--offline"]] {
        let run = sandbox.run(args);
        let text = flat(&format!("{}{}", run.stdout, run.stderr));
        assert!(text.contains("sources of 2 dependencies are not on this machine yet"), "{text}");
        assert!(text.contains(told) && text.contains("`cargo fetch` brings them"), "{text}");
    }
    fetched(&sandbox);
    sandbox.registry_crate("gadget", "0.1.0", &[]);
    for args in [&["sync"][..], &["status"], &["doctor", "--offline"]] {
        let run = sandbox.run(args);
        assert!(!format!("{}{}", run.stdout, run.stderr).contains("not on this machine"));
    }
}
