//! `cargo agents doctor`.

mod registrations;
mod skipped;
mod sources;

use serde_json::Value;

use crate::with_agents;
use crate::{configure, plugin_with_skill};
use symposium_testlib::Sandbox;

/// The findings of a run, as `code` or `agent:code`, without mere notes.
fn codes(sandbox: &Sandbox, args: &[&str]) -> Vec<String> {
    let findings = findings(sandbox, args);
    let grave = findings.iter().filter(|finding| finding["severity"] != "note");
    let name = |finding: &Value| {
        let code = finding["code"].as_str().expect("a code");
        match finding["agent"].as_str() {
            Some(agent) => format!("{agent}:{code}"),
            None => code.to_owned(),
        }
    };
    // Built in a `target` folder, the program is never where agents look for it; and not every machine
    // has the `npx` that servers are started with.
    let of_this_machine = ["program-not-found", "program-missing"];
    grave.map(name).filter(|code| !of_this_machine.contains(&code.as_str())).collect()
}

fn findings(sandbox: &Sandbox, args: &[&str]) -> Vec<Value> {
    let all: Vec<_> = ["doctor", "--json", "--offline"].iter().chain(args).copied().collect();
    let run = sandbox.run(&all);
    let document: Value = serde_json::from_str(&run.stdout).expect("one document");
    let findings = document["findings"].as_array().expect("a list").clone();
    let grave = findings.iter().any(|finding| finding["severity"] != "note");
    assert_eq!(run.code, i32::from(grave), "{}", run.stdout);
    for finding in &findings {
        assert_ne!(finding["remedy"].as_str().unwrap_or_default(), "", "{finding:#}");
        assert_ne!(finding["message"].as_str().unwrap_or_default(), "", "{finding:#}");
    }
    findings
}

/// As [`with_agents`], synced, with a folder for made-up programs first on `PATH`.
fn synced(agents: &[&str]) -> Sandbox {
    let mut sandbox = with_agents(agents);
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    sandbox.run(&["sync"]).ok();
    std::fs::create_dir_all(sandbox.home().join("bin")).expect("creates a folder");
    sandbox.first_on_path("home/bin");
    sandbox
}

#[test]
fn nothing_wrong_is_exit_code_0_and_the_checks_are_counted() {
    // A copy outside of `target`: only there can everything be right.
    let place = tempfile::tempdir().expect("a folder");
    let binary = place.path().join("cargo-agents");
    std::fs::copy(crate::program(), &binary).expect("copies");
    let sandbox = Sandbox::new(binary);
    configure(&sandbox, &["claude"], "");
    sandbox.package(&[]);
    sandbox.run(&["sync"]).ok();
    let run = sandbox.run(&["doctor", "--offline"]).ok();
    assert!(run.stdout.contains("more checks"), "{}", run.stdout);
    assert_eq!(run.stderr, "");
    let run = sandbox.run(&["doctor", "--offline", "-v"]).ok();
    assert!(run.stdout.contains("ok    agents' files read"), "{}", run.stdout);
}

#[test]
fn missing_registrations_and_skills_are_found_and_fixed() {
    let sandbox = with_agents(&["claude", "copilot"]);
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    let found = codes(&sandbox, &[]);
    assert_eq!(found, ["claude:not-registered", "copilot:not-registered", "not-synced"]);
    assert_eq!(codes(&sandbox, &["--fix"]), [""; 0]);
    assert!(sandbox.has("home/.claude/settings.json"));
    assert!(sandbox.has("ws/.claude/skills/widget-basics/SKILL.md"));
}

#[test]
fn a_file_that_does_not_parse_is_told_with_line_and_column_and_left_alone() {
    let sandbox = synced(&["claude", "gemini"]);
    let broken = "{\n  \"hooks\": {},\n}\n";
    sandbox.write("home/.gemini/settings.json", broken);
    let found = findings(&sandbox, &["--fix"]);
    let file = found.iter().find(|finding| finding["code"] == "file-broken").expect("a finding");
    assert_eq!(file["severity"], "error");
    assert_eq!(file["agent"], "gemini");
    assert!(file["location"]["line"].as_u64().is_some_and(|line| line >= 2), "{file:#}");
    assert!(file["location"]["path"].as_str().is_some_and(|path| path.ends_with("settings.json")));
    assert_eq!(sandbox.read("home/.gemini/settings.json"), broken);
}

#[test]
fn what_nobody_needs_any_more_is_found_and_taken_back() {
    let sandbox = synced(&["claude", "gemini"]);
    let config = sandbox.read("home/.symposium/config.toml");
    let config = config.replace("[[agent]]\nname = \"gemini\"\n", "");
    sandbox.write("home/.symposium/config.toml", config);
    // The folder itself stays: without it nobody knows whether its plugins are only away.
    std::fs::remove_dir_all(sandbox.home().join(".symposium/plugins/widget")).expect("removes");
    let found = codes(&sandbox, &[]);
    assert!(found.len() >= 2 && found.iter().all(|code| code == "stale"), "{found:?}");
    assert_eq!(codes(&sandbox, &["--fix"]), [""; 0]);
    assert!(!sandbox.has("ws/.claude/skills/widget-basics"));
    assert!(!sandbox.has("home/.gemini/settings.json"));
}

#[test]
fn what_is_left_of_a_workspace_that_is_gone_is_taken_back_and_nothing_else() {
    let sandbox = with_agents(&["claude", "copilot"]);
    sandbox.user_plugin(
        "w/SYMPOSIUM.toml",
        "name = \"w\"\ncrates = [\"widget\"]\n[[mcp_servers]]\nname = \"tools\"\ncommand = \"npx\"\n\
         args = []\n",
    );
    sandbox.user_plugin(
        "all/SYMPOSIUM.toml",
        "name = \"all\"\ncrates = \"*\"\n[[mcp_servers]]\nname = \"everywhere\"\ncommand = \"npx\"\nargs = []\n",
    );
    let gone = sandbox.dir().join("gone");
    std::fs::create_dir_all(&gone).expect("creates");
    for file in ["Cargo.toml", "Cargo.lock", "src/lib.rs"] {
        sandbox.write(&format!("gone/{file}"), sandbox.read(&format!("ws/{file}")));
    }
    sandbox.run_in("gone", &["sync"]).ok();
    let servers = |sandbox: &Sandbox| -> Value {
        serde_json::from_str(&sandbox.read("home/.claude.json")).expect("parses")
    };
    let key = sandbox.at("gone");
    assert!(servers(&sandbox)["projects"][&key]["mcpServers"]["tools"].is_object());
    std::fs::remove_dir_all(&gone).expect("removes");
    let found = findings_in_home(&sandbox, &[]);
    assert_eq!(found, ["workspace-gone"]);
    let hooks = sandbox.read("home/.claude/settings.json");
    let copilot = sandbox.read("home/.copilot/hooks/symposium.json");
    assert_eq!(findings_in_home(&sandbox, &["--fix"]), [""; 0]);
    let after = servers(&sandbox);
    assert!(after["projects"][&key]["mcpServers"]["tools"].is_null(), "{after:#}");
    assert!(after["mcpServers"]["everywhere"].is_object(), "{after:#}");
    assert_eq!(sandbox.read("home/.claude/settings.json"), hooks);
    assert_eq!(sandbox.read("home/.copilot/hooks/symposium.json"), copilot);
    assert!(!gone.exists());
}

fn findings_in_home(sandbox: &Sandbox, more: &[&str]) -> Vec<String> {
    let all: Vec<_> = ["doctor", "--json", "--offline"].iter().chain(more).copied().collect();
    let run = sandbox.run_in("home", &all);
    let document: Value = serde_json::from_str(&run.stdout).expect("one document");
    let findings = document["findings"].as_array().expect("a list");
    let grave = findings.iter().filter(|finding| finding["severity"] != "note");
    let codes = grave.filter_map(|finding| finding["code"].as_str().map(str::to_owned));
    codes.filter(|code| code != "program-not-found").collect()
}

#[test]
fn decision_18_files_that_gemini_will_not_read_are_found_with_the_remedy() {
    let sandbox = synced(&["gemini"]);
    sandbox.write(
        "home/.gemini/trustedFolders.json",
        format!("{{{:?}: \"TRUST_FOLDER\"}}", sandbox.ws()),
    );
    assert_eq!(codes(&sandbox, &[]), [""; 0]);
    sandbox.user_plugin("widget/skills/widget-basics/more.md", "more\n");
    sandbox.run(&["sync"]).ok();
    assert_eq!(codes(&sandbox, &[]), ["gemini:skill-files-hidden"]);
    sandbox.write("ws/.geminiignore", "!.agents/skills/**\n");
    assert_eq!(codes(&sandbox, &[]), [""; 0]);
}

#[cfg(unix)]
#[test]
fn agents_versions_are_compared_with_those_that_were_tried() {
    let sandbox = synced(&["claude", "codex"]);
    for (name, says) in [("claude", "2.1.999 (Claude Code)"), ("codex", "codex-cli 0.999.0")] {
        sandbox.program(&format!("home/bin/{name}"), &format!("#!/bin/sh\necho '{says}'\n"));
    }
    let found = findings(&sandbox, &[]);
    let versions: Vec<_> =
        found.iter().filter(|finding| finding["code"] == "agent-version").collect();
    assert_eq!(versions.len(), 1, "{found:#?}");
    assert_eq!(
        (&versions[0]["agent"], &versions[0]["severity"]),
        (&"codex".into(), &"note".into())
    );
    assert!(!found.iter().any(|finding| finding["code"] == "agent-not-found"), "{found:#?}");
    let run = sandbox.run(&["doctor", "--offline"]);
    assert!(run.stderr.contains("Asking the agents for their versions"), "{}", run.stderr);
}

/// The one finding with this code.
fn finding(found: &[Value], code: &str) -> Value {
    let named: Vec<_> = found.iter().filter(|finding| finding["code"] == code).collect();
    assert_eq!(named.len(), 1, "{code} in {found:#?}");
    named[0].clone()
}

#[test]
fn an_agent_that_sees_each_skill_twice_is_worth_a_note() {
    let sandbox = synced(&["claude", "codex", "opencode"]);
    let note = finding(&findings(&sandbox, &[]), "skills-twice");
    assert_eq!((&note["agent"], &note["severity"]), (&"opencode".into(), &"note".into()));
    let sandbox = synced(&["claude", "codex"]);
    let found = findings(&sandbox, &[]);
    assert!(!found.iter().any(|finding| finding["code"] == "skills-twice"), "{found:#?}");
}

#[test]
fn a_copy_that_is_missing_is_found_beside_one_that_was_edited() {
    let sandbox = synced(&["claude", "codex"]);
    sandbox.write("ws/.agents/skills/widget-basics/SKILL.md", "mine\n");
    std::fs::remove_dir_all(sandbox.ws().join(".claude/skills/widget-basics")).expect("removes");
    let found = findings(&sandbox, &[]);
    assert_eq!(finding(&found, "not-synced")["fixable"], true);
    finding(&found, "skill-left-alone");
    let status = sandbox.run(&["status"]).ok();
    assert!(status.stdout.contains("(next sync)"), "{}", status.stdout);
    assert!(status.stdout.contains("! edited by you"), "{}", status.stdout);
    let found = findings(&sandbox, &["--fix"]);
    assert!(!found.iter().any(|finding| finding["code"] == "not-synced"), "{found:#?}");
    assert!(sandbox.has("ws/.claude/skills/widget-basics/SKILL.md"));
    assert_eq!(sandbox.read("ws/.agents/skills/widget-basics/SKILL.md"), "mine\n");
}

#[cfg(unix)]
#[test]
fn the_program_is_looked_for_and_run_as_agents_would() {
    let sandbox = synced(&["copilot"]);
    let config = sandbox.read("home/.symposium/config.toml");
    sandbox.write("home/.symposium/config.toml", format!("hook-scope = \"project\"\n{config}"));
    let program = "home/bin/cargo-agents";
    std::fs::copy(crate::program(), sandbox.dir().join(program)).expect("copies");
    let missing = finding(&findings(&sandbox, &[]), "program-not-found");
    assert!(missing["message"].as_str().is_some_and(|text| text.contains("from a desktop")));
    let absent = sandbox.dir().join("no-interpreter");
    sandbox.program(program, &format!("#!{}\n", absent.display()));
    let broken = finding(&findings(&sandbox, &[]), "program-broken");
    assert_eq!(broken["severity"], "warning");
    sandbox.program(program, "#!/bin/sh\necho no luck >&2\nexit 3\n");
    let broken = finding(&findings(&sandbox, &[]), "program-broken");
    assert!(broken["message"].as_str().is_some_and(|text| text.contains("no luck")), "{broken:#}");
}

#[test]
fn files_that_agents_only_read_must_parse_too() {
    let sandbox = synced(&["claude", "gemini", "copilot"]);
    for file in [
        "ws/.claude/settings.local.json",
        "home/.gemini/trustedFolders.json",
        "home/.copilot/config.json",
    ] {
        sandbox.write(file, "{\n  \"a\": \n");
    }
    let found = codes(&sandbox, &[]);
    for agent in ["claude", "gemini", "copilot"] {
        assert!(found.contains(&format!("{agent}:file-broken")), "{found:?}");
    }
}

#[test]
fn a_damaged_ledger_of_the_home_folder_is_told() {
    let sandbox = synced(&["claude"]);
    sandbox.write("home/.symposium/ledgers/home.json", "{");
    let ledger = finding(&findings(&sandbox, &[]), "ledger");
    assert!(ledger["location"]["path"].as_str().is_some_and(|path| path.ends_with("home.json")));
    assert!(ledger["message"].as_str().is_some_and(|text| text.contains("counts as the user's")));
    assert_eq!(ledger["remedy"], "`cargo agents sync`");
}

#[cfg(unix)]
#[test]
fn what_could_not_be_mended_is_not_offered_again() {
    let sandbox = with_agents(&["copilot"]);
    // A link that leads nowhere: nothing can be made there, not even by root.
    let nowhere = sandbox.dir().join("none/at/all");
    std::os::unix::fs::symlink(nowhere, sandbox.home().join(".copilot")).expect("links");
    assert_eq!(codes(&sandbox, &[]), ["copilot:not-registered"]);
    let run = sandbox.run(&["doctor", "--fix", "--offline"]).code(1);
    assert!(run.stdout.contains("`--fix` could not mend it"), "{}", run.stdout);
    assert!(!run.stdout.contains("--fix` mends"), "{}", run.stdout);
    assert!(!run.stdout.contains("remedy: `cargo agents sync`"), "{}", run.stdout);
}

#[test]
fn a_disabled_name_that_nobody_has_is_told() {
    let sandbox = with_agents(&["claude"]);
    plugin_with_skill(&sandbox, "tools", "widget", "basics");
    let more = "[plugins]\ndisable = [\"tolos\", \"xyzzy\", \"tools\", \"widget\"]\n";
    configure(&sandbox, &["claude"], more);
    let said = sandbox.run(&["doctor"]).stdout;
    for (name, told) in [("tolos", true), ("xyzzy", true), ("tools", false), ("widget", false)] {
        assert_eq!(said.contains(&format!("`disable` names `{name}`")), told, "{said}");
    }
    assert!(said.contains("did you mean `tools`?"), "{said}");
}
