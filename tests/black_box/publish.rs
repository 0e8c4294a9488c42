//! `cargo agents plugin publish --dry-run`: what users will get, and the ways to them, each of which is
//! gone as far as that is possible without a network.

use serde_json::Value;
use symposium_testlib::{Run, Sandbox};

use crate::registries::with_cargo;
use crate::{NO_BUILTIN, sandbox, skill};

fn ready() -> Sandbox {
    let sandbox = sandbox();
    sandbox.write("home/.symposium/config.toml", NO_BUILTIN);
    sandbox
}

const MANIFEST: &str = "name = \"widget\"\ncrates = [\"widget>=1\"]\n\
                        [[skills]]\nsource.path = \"skills\"\n\
                        [[skills]]\ncrates = \"gadget\"\nsource = \"crate\"\n\
                        [[hooks]]\nname = \"check\"\nevent = \"PreToolUse\"\nmatcher = \"Bash\"\n\
                        command = { script = \"check.sh\" }\n\
                        [[hooks]]\nname = \"ends\"\nevent = \"Stop\"\ncommand = { script = \"check.sh\" }\n\
                        [[mcp_servers]]\nname = \"docs\"\ntype = \"sse\"\nurl = \"https://example.com/mcp\"\n";

fn plugin(sandbox: &Sandbox, folder: &str) {
    sandbox.write(&format!("{folder}/SYMPOSIUM.toml"), MANIFEST);
    sandbox.write(&format!("{folder}/check.sh"), "exit 0\n");
    sandbox.write(&format!("{folder}/skills/basics/SKILL.md"), skill("basics", "b"));
    sandbox.write(
        &format!("{folder}/skills/more/SKILL.md"),
        "---\nname: more\ndescription: m\ncrates: gadget\n---\n\n!`make all`\n",
    );
    sandbox.write(&format!("{folder}/skills/more/table.md"), "more\n");
}

fn document(sandbox: &Sandbox, path: &str) -> Value {
    let run = sandbox.run_in("", &["plugin", "publish", "--dry-run", path, "--json"]).ok();
    let document = serde_json::from_str(&run.stdout).expect("one document");
    assert_eq!(crate::json_shapes::mistakes("plugin-publish.json", &document), "");
    document
}

fn named<'v>(list: &'v Value, key: &str, name: &str) -> &'v Value {
    let list = list.as_array().expect("a list");
    list.iter().find(|item| item[key] == name).unwrap_or_else(|| panic!("no {name}: {list:?}"))
}

#[test]
fn it_shows_skills_gates_what_could_run_its_size_and_what_each_agent_makes_of_it() {
    let sandbox = ready();
    plugin(&sandbox, "widget");
    let run = sandbox.run_in("", &["plugin", "publish", "--dry-run", "widget"]).ok();
    for part in [
        "widget (plugin): 5 files",
        "for      widget>=1",
        "skill    more: 2 files, 67 bytes, for gadget",
        "skills   the matched crates, for gadget",
        "may run  hook check: ",
        "may run  skill more: runs ",
        "claude      3 skills, hook check, ends (PreToolUse: deny, ask, allow",
        "not hook ends: it does not tell of Stop",
        "$ cargo agents plugin validate . --deny warnings",
    ] {
        assert!(run.stdout.contains(part), "{part}\n{}", run.stdout);
    }
    let document = document(&sandbox, "widget");
    let offer = &document["offers"][0];
    let codex = named(&offer["agents"], "agent", "codex");
    assert!(named(&codex["without_effect"], "what", "server docs")["why"].is_string());
    let answers = named(&codex["answers"], "event", "PreToolUse");
    assert!(answers["honoured"].as_array().expect("a list").contains(&"deny".into()));
    let otherwise = answers["otherwise"].as_array().expect("a list");
    assert!(
        otherwise.iter().any(|text| text.as_str().is_some_and(|text| text.starts_with("ask: ")))
    );
    // Nothing is published by it, so that has to be said.
    let run = sandbox.run_in("", &["plugin", "publish", "widget"]).code(2);
    assert!(run.stderr.contains("--dry-run"), "{}", run.stderr);
}

/// The commands of the way with this in its title.
fn commands(document: &Value, title: &str) -> Vec<String> {
    let ways = document["ways"].as_array().expect("ways");
    let way =
        ways.iter().find(|way| way["title"].as_str().is_some_and(|text| text.contains(title)));
    let commands = way.unwrap_or_else(|| panic!("no {title}: {ways:?}"))["commands"].as_array();
    commands
        .expect("commands")
        .iter()
        .map(|line| line.as_str().expect("a line").to_owned())
        .collect()
}

/// Runs a line of a way in a folder of the sandbox; our own name stands for the build that is tested.
fn step(sandbox: &Sandbox, folder: &str, line: &str) {
    let binary = sandbox.binary().display().to_string();
    let line = line.replace("cargo agents", &format!("'{binary}' agents"));
    let mut command = sandbox.shell(&line);
    command.current_dir(sandbox.dir().join(folder));
    for name in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{name}_NAME"), "A")
            .env(format!("GIT_{name}_EMAIL"), "a@example.com");
    }
    Run::of(&mut command, b"").ok();
}

#[cfg(unix)]
#[test]
fn the_way_of_a_repository_of_one_s_own_leads_to_users() {
    let mut sandbox = with_cargo();
    sandbox.set("CARGO_NET_OFFLINE", "true");
    plugin(&sandbox, "mine/widget");
    sandbox.git_in("", &["init", "-q", "--bare", "-b", "main", "forge.git"]);
    sandbox.git_in("mine", &["init", "-q", "-b", "main"]);
    let url = sandbox.file_url("forge.git");
    sandbox.git_in("mine", &["remote", "add", "origin", &url]);
    sandbox.git_in("mine", &["config", "push.autoSetupRemote", "true"]);
    let document = document(&sandbox, "mine");
    let lines = commands(&document, "repository of your own");
    assert_eq!(lines.len(), 4, "{lines:?}");
    // The skill that runs a command is a warning, and the registry is not there to be asked.
    for line in lines {
        step(&sandbox, "mine", &line.replace("--deny warnings", "--no-check-crates"));
    }
    let run = sandbox.run(&["plugin", "add", &url, "--yes"]).ok();
    assert!(run.stderr.contains("Added forge"), "{}", run.stderr);
    let shown = sandbox.run(&["plugin", "show", "widget"]).ok();
    assert!(shown.stdout.contains("widget (forge)"), "{}", shown.stdout);
}

#[cfg(unix)]
#[test]
fn the_way_of_the_central_repository_leads_to_users() {
    let mut sandbox = with_cargo();
    sandbox.set("CARGO_NET_OFFLINE", "true");
    sandbox.git_in("", &["init", "-q", "--bare", "-b", "main", "central.git"]);
    let url = sandbox.file_url("central.git");
    plugin(&sandbox, "widget");
    let document = document(&sandbox, "widget");
    let lines = commands(&document, "central repository");
    let central = lines[0].split(' ').nth(2).expect("a URL").to_owned();
    for line in &lines {
        let line = line.replace(&central, &url);
        step(&sandbox, "widget", &line.replace("--deny warnings", "--no-check-crates"));
    }
    sandbox.git_in("recommendations", &["push", "-q", "origin", "HEAD:main"]);
    sandbox.run(&["plugin", "add", &url, "--yes"]).ok();
    let shown = sandbox.run(&["plugin", "show", "widget"]).ok();
    assert!(shown.stdout.contains("widget (central)"), "{}", shown.stdout);
}

#[cfg(unix)]
#[test]
fn the_way_of_a_crate_is_gone_up_to_the_registry() {
    let sandbox = with_cargo();
    sandbox.write(
        "k/Cargo.toml",
        "[package]\nname = \"widget-kit\"\nversion = \"1.0.0\"\nedition = \"2021\"\nlicense = \"MIT\"\n\
         description = \"d\"\n[workspace]\n",
    );
    sandbox.write("k/src/lib.rs", "");
    sandbox.write("k/skills/basics/SKILL.md", skill("basics", "b"));
    let document = document(&sandbox, "k");
    assert_eq!(document["offers"][0]["kind"], "crate");
    assert_eq!(document["offers"][0]["skills"][0]["name"], "basics");
    let lines = commands(&document, "With the crate");
    assert_eq!(lines.last().map(String::as_str), Some("cargo publish"));
    for line in &lines[..lines.len() - 1] {
        // Publishing asks the registry even for a trial; packaging and building what is packed does not.
        let line = line.replace("cargo publish --dry-run", "cargo package --offline --allow-dirty");
        let line = line.replace("cargo package --list", "cargo package --list --allow-dirty");
        step(&sandbox, "k", &line.replace("--deny warnings", "--deny warnings --no-check-crates"));
    }
    let crates = sandbox.dir().join("k/target/package/widget-kit-1.0.0.crate");
    assert!(crates.is_file());
}
