//! What a checkout makes us spend grows with what it holds, not with its square.
//!
//! Compared is the CPU time of one run with four times as much: four times is linear, sixteen is
//! not. Where the machine is busy a run costs more than it should, so the cheapest of three counts.

use std::fmt::Write as _;
use std::process::Command;

use symposium_testlib::Sandbox;

/// Between linear (4) and quadratic (16).
const MOST: f64 = 9.0;

/// The CPU seconds of `cargo-agents ARGS` in the workspace, in the program alone.
fn seconds(sandbox: &Sandbox, args: &[&str]) -> f64 {
    let out = Command::new("bash")
        .args(["-c", "TIMEFORMAT='%U %S'; time \"$0\" \"$@\" >/dev/null 2>&1 </dev/null"])
        .arg(env!("CARGO_BIN_EXE_cargo-agents"))
        .args(args)
        .current_dir(sandbox.dir().join("ws"))
        .env_clear()
        .env("HOME", sandbox.home())
        .env("PATH", "/usr/bin:/bin")
        .output()
        .expect("bash runs");
    let text = String::from_utf8(out.stderr).expect("text");
    text.split_whitespace().map(|word| word.parse::<f64>().expect("a number")).sum()
}

/// What `args` cost in what `make` makes of `few` things, and of four times as many.
fn grows_linearly(few: usize, args: &[&str], make: impl Fn(&Sandbox, usize)) {
    let cost = |count: usize| {
        let runs = (0..3).map(|_| {
            let sandbox = crate::sandbox();
            sandbox.write(
                "home/.symposium/config.toml",
                format!("{}[[agent]]\nname = \"claude\"\n", crate::NO_BUILTIN),
            );
            make(&sandbox, count);
            seconds(&sandbox, args)
        });
        runs.fold(f64::MAX, f64::min)
    };
    let (one, four) = (cost(few), cost(4 * few));
    assert!(four / one < MOST, "{args:?}: {one} s for {few}, {four} s for four times as many");
}

fn own_skills(sandbox: &Sandbox, count: usize) {
    sandbox.package(&[]);
    for number in 0..count {
        let text = format!("---\nname: skill-{number}\ndescription: about {number}\n---\ntext\n");
        sandbox.write(&format!("ws/.agents/skills/skill-{number}/SKILL.md"), text);
    }
}

fn dependencies(sandbox: &Sandbox, count: usize) {
    let names: Vec<String> = (0..count).map(|number| format!("dep-{number}")).collect();
    let list: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1.0.0")).collect();
    sandbox.package(&list);
}

/// A file of the user's with many servers, to which ours is added.
fn servers(sandbox: &Sandbox, count: usize) {
    sandbox.package(&[("widget", "1.2.3")]);
    let plugin =
        "name = \"p\"\ncrates = [\"widget\"]\n[[mcp_servers]]\nname = \"gated\"\ncommand = \"g\"\n";
    sandbox.user_plugin("p/SYMPOSIUM.toml", plugin);
    let mut text = "{\"mcpServers\": {".to_owned();
    for number in 0..count {
        let comma = if number == 0 { "" } else { "," };
        let _ = write!(text, "{comma}\n  \"s{number}\": {{\"command\": \"x\"}}");
    }
    sandbox.write("home/.claude.json", text + "\n}}\n");
}

#[test]
fn a_sync_of_many_skills_grows_with_their_number() {
    grows_linearly(300, &["sync", "--offline"], own_skills);
}

#[test]
fn a_sync_of_many_dependencies_grows_with_their_number() {
    grows_linearly(1500, &["sync", "--offline"], dependencies);
}

#[test]
fn a_sync_beside_many_servers_grows_with_their_number() {
    grows_linearly(10_000, &["sync", "--offline"], servers);
}
