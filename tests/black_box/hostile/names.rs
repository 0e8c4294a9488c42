//! Names of files, things and arguments that steer a terminal, hide, run, lead out or never end.

use std::ffi::OsString;

use symposium_testlib::hostile::NAMES;

use super::drive::{Place, os};
use crate::skill;

/// Each of [`NAMES`], one that is no UTF-8, and one that is as long as a file's name can be.
fn file_names() -> Vec<OsString> {
    let mut all: Vec<OsString> = NAMES.iter().map(|name| name.replace('/', "").into()).collect();
    all.push(os(b"not-\xff\xfe-utf-8"));
    all.push("x".repeat(255).into());
    all
}

#[test]
fn names_of_files_and_folders_wherever_they_are() {
    let place = Place::new();
    let sandbox = &place.sandbox;
    let widget = ".cargo/registry/src/index.crates.io-1949cf8c6b5b557f/widget-1.2.3";
    let text = skill("well-named", "d");
    let manifest = "name = \"p\"\ncrates = [\"widget\"]\n";
    let lay = |folder: &str, name: &OsString, below: &str, text: &str| {
        let dir = sandbox.dir().join(folder).join(name);
        std::fs::create_dir_all(&dir).expect("creates");
        std::fs::write(dir.join(below), text).expect("writes");
    };
    for name in &file_names() {
        lay("ws/.agents/skills", name, "SKILL.md", &text);
        lay("ws/.claude/skills", name, "SKILL.md", &text);
        lay("ws/members", name, "Cargo.toml", "[package]\nname = \"m\"\nversion = \"1.0.0\"\n");
        lay("home/.symposium/plugins", name, "SYMPOSIUM.toml", manifest);
        lay("home/.symposium/plugins/trap/skills", name, "SKILL.md", &text);
        lay(&format!("home/{widget}/skills"), name, "SKILL.md", &text);
        let beside = sandbox.home().join(".symposium/plugins/trap/skills/of-trap").join(name);
        std::fs::write(beside, "x").expect("writes");
    }
    let manifest = sandbox.read("ws/Cargo.toml") + "[workspace]\nmembers = [\"members/*\"]\n";
    sandbox.write("ws/Cargo.toml", manifest);
    place.endures(&["well-named"]);
}

#[test]
fn names_in_texts_and_on_the_command_line() {
    let mut place = Place::new();
    let long = "n".repeat(10_000);
    let mut all: Vec<&str> = NAMES.to_vec();
    all.extend([&*long, "../../outside", "/etc/passwd", "", " ", "a/b", "a\\b", "~", "."]);
    for (number, name) in all.iter().enumerate() {
        let quoted = serde_json::Value::from(*name).to_string();
        let toml = toml::Value::String((*name).to_owned()).to_string();
        let sandbox = &place.sandbox;
        let text =
            format!("---\nname: {quoted}\ndescription: {quoted}\ncrates: {quoted}\n---\n# x\n");
        sandbox.write(&format!("ws/.agents/skills/t{number}/SKILL.md"), &text);
        sandbox.user_plugin(&format!("trap/skills/t{number}/SKILL.md"), &text);
        sandbox.user_plugin(
            &format!("t{number}/SYMPOSIUM.toml"),
            &format!(
                "name = {toml}\ndescription = {toml}\ncrates = [\"*\", {toml}]\n\
                 predicates = [{toml}]\n[[skills]]\nsource.path = {toml}\n\
                 [[skills]]\nsource.git = {toml}\n[[skills]]\nsource.cargo = {toml}\n\
                 [[hooks]]\nname = {toml}\nevent = \"PreToolUse\"\nmatcher = {toml}\ncommand = {toml}\n\
                 [[hooks]]\nname = \"s\"\nevent = \"PreToolUse\"\ncommand = {{ script = {toml} }}\n\
                 [[mcp_servers]]\nname = {toml}\ncommand = \"true\"\nargs = [{toml}]\n\
                 env = [{{ name = {toml}, value = {toml} }}]\n\
                 [subcommand.{toml}]\ndescription = {toml}\ncommand = \"true\"\n"
            ),
        );
        for line in [
            &["why"][..],
            &["use"],
            &["crate-info"],
            &["crate-info", "widget"],
            &["plugin", "show"],
            &["plugin", "validate", "--no-check-crates"],
            &["plugin", "add", "--offline"],
            &["plugin", "sync", "--offline"],
            &["plugin", "allow"],
            &["plugin", "explain"],
            &["run-server"],
            &["hook"],
            &["hook", "claude"],
            &["sync", "--agent"],
            &[],
        ] {
            place.also(&[line, &[*name]].concat());
        }
    }
    let odd = os(b"not-\xff\xfe-utf-8");
    for line in [&["why"][..], &["crate-info"], &["plugin", "show"], &["plugin", "validate"], &[]] {
        let mut line: Vec<OsString> = line.iter().map(Into::into).collect();
        line.push(odd.clone());
        place.also(&line);
    }
    place.endures(&["leads out", "SKILL.md:2"]);
}
