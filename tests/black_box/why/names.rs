//! Every name that a person can have read anywhere is answered.

use super::{has, why};
use crate::{plugin_with_skill, skill, with_agents};
use symposium_testlib::Sandbox;

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn an_agent_a_source_a_program_and_a_code() {
    let sandbox = with_agents(&["claude"]);
    plugin_with_skill(&sandbox, "p", "widget", "basics");
    sandbox.user_plugin(
        "w/SYMPOSIUM.toml",
        "name = \"w\"\ncrates = [\"widget\"]\ncolour = 1\n\n[[installations]]\nname = \"tool\"\n\
         script = \"tool.sh\"\n\n[[hooks]]\nname = \"guard\"\nevent = \"PreToolUse\"\n\
         command = \"tool\"\n",
    );
    // The script of a hook is missing.
    sandbox.run(&["sync"]).code(1);
    let agent = why(&sandbox, "claude");
    has(&agent, &["claude", "(agent)", "is", "one", "of", "your", "agents"]);
    has(&agent, &["hooks", "registered", "in"]);
    has(&agent, &["skill", "basics"]);
    has(&why(&sandbox, "kiro"), &["kiro", "(agent)", "is", "not", "one", "of", "your", "agents"]);
    let source = why(&sandbox, "user-plugins");
    has(&source, &["user-plugins", "(source)", "is", "one", "of", "your", "plugin", "sources"]);
    has(&source, &["offers", "2", "plugins,", "2", "of", "them", "active", "here"]);
    has(&source, &["unknown", "key", "`colour`;"]);
    let program = why(&sandbox, "tool");
    has(&program, &["tool", "(program)", "is", "not", "here"]);
    has(&program, &["used", "by", "hook", "guard"]);
    assert!(flat(&program).contains("w/tool.sh is not there; put it there"), "{program}");
    let code = why(&sandbox, "s003");
    has(&code, &["S003", "(diagnostic)", "was", "found", "once", "here"]);
    has(&code, &["means", "a", "key", "is", "not", "known"]);
    assert!(code.contains("w/SYMPOSIUM.toml:3:1"), "{code}");
    has(&why(&sandbox, "S012"), &["S012", "(diagnostic)", "was", "not", "found", "here"]);
}

/// A plugin for `widget` with this in its manifest.
fn with_plugin(text: &str) -> Sandbox {
    let sandbox = with_agents(&["claude"]);
    let manifest = format!("name = \"w\"\ncrates = [\"widget\"]\n{text}");
    sandbox.user_plugin("w/SYMPOSIUM.toml", &manifest);
    sandbox.user_plugin("w/go.sh", "exit 0\n");
    sandbox
}

#[test]
fn what_a_manifests_mistake_kept_out_is_told_with_the_mistake() {
    let installation = "[[installations]]\nname = \"tool\"\nscript = \"go.sh\"\n\n";
    for (name, kind, text, mistake) in [
        (
            "guard",
            "hook",
            "[[hooks]]\nname = \"guard\"\nevent = \"PreToolUs\"\ncommand = \"tool\"\n",
            "unknown event `PreToolUs`",
        ),
        (
            "docs",
            "server",
            "[[mcp_servers]]\nname = \"docs\"\ncommand = 7\n",
            "`mcp_servers[0].command` must be a string",
        ),
        (
            "w-check",
            "subcommand",
            "[subcommand.w-check]\ndescription = \"d\"\ncommand = [\"tool\"]\n",
            "must be a string or a table",
        ),
    ] {
        let fine = "[[hooks]]\nname = \"fine\"\nevent = \"PreToolUse\"\ncommand = \"tool\"\n";
        let sandbox = with_plugin(&format!("{installation}{text}\n{fine}"));
        let told = why(&sandbox, name);
        let verdict = format!("{name} ({kind}) is left out for a mistake in its manifest");
        assert!(flat(&told).contains(&verdict), "{told}");
        has(&told, &["plugin", "w", "(~/.symposium/plugins/w/SYMPOSIUM.toml)"]);
        let told = flat(&told);
        assert!(told.contains(mistake) && told.contains("SYMPOSIUM.toml:"), "{told}");
        // A neighbour has nothing to do with it.
        assert!(!why(&sandbox, "fine").contains("mistake"), "{}", why(&sandbox, "fine"));
        assert!(why(&sandbox, "w").contains("mistake"));
    }
}

#[test]
fn a_predicate_that_can_not_be_read_is_told_of_all_that_it_keeps_out() {
    let sandbox = with_agents(&["claude"]);
    plugin_with_skill(&sandbox, "w", "widget>>2", "basics");
    for name in ["w", "basics"] {
        let told = why(&sandbox, name);
        assert!(told.contains("mistake") && told.contains("`widget>>2`"), "{told}");
        assert!(told.contains("SYMPOSIUM.toml:2:"), "{told}");
    }
    let screen = flat(&sandbox.run(&["status"]).ok().stdout);
    assert!(screen.contains("w inactive `widget>>2` is not understood"), "{screen}");
    // Of a group of skills, of a skill itself, and of a plugin that can't be read at all.
    let sandbox = with_plugin("[[skills]]\ncrates = [\"widget>>3\"]\nsource.path = \"skills\"\n");
    sandbox.user_plugin("w/skills/basics/SKILL.md", &skill("basics", "d"));
    let told = why(&sandbox, "basics");
    assert!(told.contains("`widget>>3`"), "{told}");
    let sandbox = with_plugin("[[skills]]\nsource.path = \"skills\"\n");
    sandbox.user_plugin(
        "w/skills/basics/SKILL.md",
        "---\nname: basics\ndescription: d\ncrates: widget>>4\n---\n",
    );
    let told = why(&sandbox, "basics");
    assert!(told.contains("`widget>>4`"), "{told}");
    sandbox.user_plugin("broken/SYMPOSIUM.toml", "name = \"broken\"\ncrates = [\n");
    let told = why(&sandbox, "broken");
    has(&told, &["broken", "(plugin)", "is", "left", "out", "for", "a", "mistake"]);
}

#[test]
fn a_gate_of_a_wrong_type_is_a_mistake_that_use_does_not_wake() {
    for gate in [
        "crates = 1",
        "crates = [1]",
        "crates = {}",
        "depends-on = {}",
        "depends-on = false",
        "predicates = 3",
        "predicates = [3]",
        "predicates = {}",
        "crates = [\"widget\", 1]",
    ] {
        let sandbox = with_agents(&["claude"]);
        let manifest = format!("name = \"w\"\n{gate}\n[[skills]]\nsource.path = \"skills\"\n");
        sandbox.user_plugin("w/SYMPOSIUM.toml", &manifest);
        sandbox.user_plugin("w/skills/basics/SKILL.md", &skill("basics", "d"));
        for args in [vec!["status"], vec!["plugin", "list"], vec!["why", "w"]] {
            let screen = flat(&sandbox.run(&args).stdout);
            assert!(screen.contains(&format!("`{gate}` is not understood")), "{args:?} {screen}");
            assert!(!screen.contains("no crate") && !screen.contains("none"), "{args:?} {screen}");
        }
        let doctor = flat(&sandbox.run(&["doctor", "--offline"]).stdout);
        for screen in [doctor, flat(&why(&sandbox, "w"))] {
            assert!(screen.contains("SYMPOSIUM.toml:2:"), "{gate}: {screen}");
        }
        sandbox.run(&["use", "w"]);
        sandbox.run(&["sync"]);
        assert!(!sandbox.has("ws/.claude/skills/basics"), "{gate}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_of_a_git_source_that_was_left_out_is_told() {
    let sandbox = with_agents(&["claude"]);
    sandbox.write("elsewhere/SKILL.md", skill("secret", "d"));
    sandbox.write("repo/w/SYMPOSIUM.toml", "name = \"far\"\ncrates = [\"widget\"]\n");
    std::os::unix::fs::symlink("../elsewhere", sandbox.dir().join("repo/outward")).expect("links");
    std::os::unix::fs::symlink("nowhere", sandbox.dir().join("repo/broken")).expect("links");
    for args in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "start"]] {
        sandbox.git_in("repo", args);
    }
    let config = sandbox.read("home/.symposium/config.toml");
    let url = sandbox.file_url("repo");
    let source = format!("[[plugin-source]]\nname = \"far\"\ngit = \"{url}\"\n");
    sandbox.write("home/.symposium/config.toml", format!("{config}\n{source}"));
    sandbox.run(&["sync"]).ok();
    for (name, leads) in [("outward", "leads out of the repository"), ("broken", "leads nowhere")] {
        let told = why(&sandbox, name);
        assert!(told.contains("(file) is left out"), "{told}");
        assert!(told.contains(leads), "{told}");
    }
    let doctor = sandbox.run(&["doctor", "--offline", "-v"]).stdout;
    assert!(doctor.contains("outward") && doctor.contains("broken"), "{doctor}");
}

#[test]
fn a_lock_file_that_is_behind_the_manifest_is_no_lock_file_without_the_crate() {
    let sandbox = with_agents(&["claude"]);
    let manifest = sandbox.read("ws/Cargo.toml");
    sandbox.write("ws/Cargo.toml", manifest.replace("\"1.2.3\"", "\"2\""));
    let told = why(&sandbox, "widget");
    let words = ["Cargo.lock", "is", "behind", "the", "manifest,", "it", "has", "widget", "1.2.3,"];
    has(&told, &words);
    assert!(!told.contains("not in Cargo.lock"), "{told}");
    sandbox.write("ws/Cargo.toml", format!("{manifest}gadget = \"1\"\n"));
    has(&why(&sandbox, "gadget"), &["it", "is", "not", "in", "Cargo.lock;", "`cargo", "check`"]);
}
