//! Programs of plugins that can't be run: each screen says which, where, and what to do.

use serde_json::Value;
use symposium_testlib::{Run, Sandbox};

use crate::{configure, skill, with_agents};

/// What each of `status`, `doctor` and `why` says, on one line.
fn screens(sandbox: &Sandbox, name: &str) -> [String; 3] {
    [vec!["status"], vec!["doctor", "--offline"], vec!["why", name]].map(|args| {
        // Wide enough that no path wraps.
        let run = Run::of(sandbox.command(&args).env("COLUMNS", "400"), b"");
        sandbox.redact(&run.stdout.split_whitespace().collect::<Vec<_>>().join(" "))
    })
}

#[track_caller]
fn each_says(sandbox: &Sandbox, name: &str, words: &[&str]) {
    for screen in screens(sandbox, name) {
        for word in words {
            assert!(screen.contains(word), "{word:?} in {screen}");
        }
    }
}

/// A plugin for `widget` with a hook, and `more`.
fn plugin(sandbox: &Sandbox, installation: &str, more: &str) {
    sandbox.user_plugin(
        "w/SYMPOSIUM.toml",
        &format!(
            "name = \"w\"\ncrates = [\"widget\"]\n\n[[installations]]\nname = \"tool\"\n\
             {installation}\n\n{more}"
        ),
    );
}

const HOOK: &str =
    "[[hooks]]\nname = \"guard\"\nevent = \"PreToolUse\"\ncommand = { script = \"go.sh\" }\n";

#[test]
fn a_hook_whose_script_is_missing() {
    let sandbox = with_agents(&["claude"]);
    plugin(&sandbox, "script = \"tool.sh\"", HOOK);
    sandbox.user_plugin("w/tool.sh", "exit 0\n");
    sandbox.run(&["sync"]).code(1);
    let path = "plugins/w/go.sh is not there; put it there, or correct";
    let words = ["hook guard: its program `guard`: its script", "plugins/w/go.sh is not there"];
    each_says(&sandbox, "guard", &words);
    assert!(screens(&sandbox, "guard")[2].contains(path), "{:?}", screens(&sandbox, "guard")[2]);
    sandbox.user_plugin("w/go.sh", "exit 0\n");
    for screen in screens(&sandbox, "guard") {
        assert!(!screen.contains("is not there"), "{screen}");
    }
}

#[test]
fn a_script_of_a_repository_is_fetched_or_its_author_s_to_bring() {
    let sandbox = with_agents(&["claude"]);
    let source =
        format!("[[plugin-source]]\nname = \"far\"\ngit = {:?}\n", sandbox.file_url("repo"));
    configure(&sandbox, &["claude"], &source);
    let manifest = format!("name = \"w\"\ncrates = [\"widget\"]\n\n{HOOK}");
    sandbox.write("repo/w/SYMPOSIUM.toml", manifest);
    for args in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "x"]] {
        sandbox.git_in("repo", args);
    }
    sandbox.run(&["sync"]).code(1);
    let fetches = "`cargo agents plugin sync far` fetches";
    let author = format!("its author can put it into the repository; {fetches} that then");
    each_says(&sandbox, "guard", &[&author]);
    sandbox.write("repo/w/go.sh", "exit 0\n");
    sandbox.git_in("repo", &["add", "."]);
    sandbox.git_in("repo", &["commit", "-q", "-m", "y"]);
    sandbox.run(&["plugin", "sync", "far"]).ok();
    sandbox.run(&["sync"]).ok();
    assert!(!screens(&sandbox, "guard")[1].contains("is not there"));
    // It is away, and so is the copy of it.
    let (repo, away) = (sandbox.path("repo"), sandbox.path("aside"));
    std::fs::rename(&repo, &away).expect("moves");
    std::fs::remove_dir_all(sandbox.path("home/.symposium/cache")).expect("the cache goes");
    each_says(&sandbox, "guard", &[&format!("{fetches} the plugin again")]);
    std::fs::rename(&away, &repo).expect("moves back");
    sandbox.run(&["plugin", "sync", "far"]).ok();
    assert!(!screens(&sandbox, "guard")[1].contains("is not there"));
}

#[test]
fn a_script_of_a_plugin_that_was_moved_away() {
    let sandbox = with_agents(&["claude"]);
    sandbox
        .user_plugin("w/SYMPOSIUM.toml", &format!("name = \"w\"\ncrates = [\"widget\"]\n\n{HOOK}"));
    sandbox.user_plugin("w/go.sh", "exit 0\n");
    sandbox.run(&["sync"]).ok();
    let plugins = sandbox.path("home/.symposium/plugins");
    std::fs::rename(plugins, sandbox.path("aside")).expect("moves");
    let words = "put the plugin back: ~/.symposium/plugins/w/SYMPOSIUM.toml is not there either";
    each_says(&sandbox, "guard", &[words]);
}

#[cfg(unix)]
#[test]
fn a_server_whose_program_is_missing_or_not_executable() {
    let sandbox = with_agents(&["claude"]);
    let server = |command: &str| {
        format!("[[mcp_servers]]\nname = \"docs\"\ncommand = \"{command}\"\nargs = []\nenv = []\n")
    };
    let tool = "script = \"tool.sh\"";
    sandbox.user_plugin("w/tool.sh", "exit 0\n");
    for command in ["./bin/docs", "no-such-program"] {
        plugin(&sandbox, tool, &server(command));
        sandbox.run(&["sync"]).ok();
        let name = command.trim_start_matches("./");
        each_says(&sandbox, "docs", &["server docs: its program", name]);
        let screen = &screens(&sandbox, "docs")[0];
        assert!(screen.contains("servers 1 !"), "{screen}");
    }
    plugin(&sandbox, tool, &server("./bin/docs"));
    sandbox.user_plugin("w/bin/docs", "#!/bin/sh\n");
    each_says(&sandbox, "docs", &["bin/docs is not executable", "`chmod +x"]);
    sandbox.program("home/.symposium/plugins/w/bin/docs", "#!/bin/sh\n");
    sandbox.run(&["sync"]).ok();
    for screen in screens(&sandbox, "docs") {
        assert!(!screen.contains("its program"), "{screen}");
    }
}

#[cfg(unix)]
#[test]
fn a_requirement_that_failed_is_running_or_was_never_tried() {
    let sandbox = with_agents(&["claude"]);
    let hook = format!("{HOOK}requirements = [\"tool\"]\n");
    sandbox.user_plugin("w/go.sh", "exit 0\n");
    plugin(&sandbox, "install_commands = [\"echo no luck >&2; exit 7\"]", &hook);
    each_says(&sandbox, "guard", &["hook guard: its requirement `tool` is not installed yet"]);
    let _ = sandbox.run(&["sync"]);
    let words = ["its requirement `tool` could not be installed", "no luck", "tries again at once"];
    for (screen, words) in screens(&sandbox, "guard").iter().zip([&words[..]; 3]) {
        assert!(screen.contains(words[0]) && screen.contains(words[2]), "{screen}");
    }
    // Another process is at it.
    plugin(&sandbox, "install_commands = [\"echo > started; exec sleep 60\"]", &hook);
    let mut command = sandbox.command(&["sync"]);
    let null = std::process::Stdio::null;
    let mut running = command.stdin(null()).stdout(null()).stderr(null()).spawn().expect("starts");
    let start = std::time::Instant::now();
    let mut found = false;
    while !found && start.elapsed() < std::time::Duration::from_secs(20) {
        std::thread::sleep(std::time::Duration::from_millis(50));
        found = screens(&sandbox, "guard")[0].contains("is being installed right now");
    }
    let seen = screens(&sandbox, "guard");
    running.kill().expect("ends");
    running.wait().expect("ends");
    for screen in seen {
        assert!(screen.contains("its requirement `tool` is being installed right now"), "{screen}");
    }
    each_says(&sandbox, "guard", &["its requirement `tool` was being installed", "interrupted"]);
    for screen in screens(&sandbox, "guard") {
        assert!(screen.contains("`cargo agents sync` begins anew"), "{screen}");
    }
    plugin(&sandbox, "install_commands = [\"true\"]", &hook);
    sandbox.run(&["sync"]).ok();
    for screen in screens(&sandbox, "guard") {
        assert!(!screen.contains("its requirement"), "{screen}");
    }
}

#[test]
fn skills_count_what_is_on_disk_and_what_is_planned_is_called_that() {
    let sandbox = with_agents(&["claude", "codex"]);
    sandbox.user_plugin(
        "w/SYMPOSIUM.toml",
        "name = \"w\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \"skills\"\n",
    );
    sandbox.user_plugin("w/skills/one/SKILL.md", &skill("one", "d"));
    let told = |sandbox: &Sandbox| {
        let document: Value =
            serde_json::from_str(&sandbox.run(&["status", "--json"]).ok().stdout).expect("JSON");
        let of = |part: &Value| (part["skills"].clone(), part["planned_skills"].clone());
        [of(&document["agents"][0]), of(&document["agents"][1]), of(&document["plugins"][0])]
    };
    let pair = |skills: u8, planned: u8| (Value::from(skills), Value::from(planned));
    assert_eq!(told(&sandbox), [pair(0, 1), pair(0, 1), pair(0, 1)]);
    let screen = sandbox.run(&["status"]).ok().stdout;
    assert!(screen.contains("skills 0   1 planned …"), "{screen}");
    assert!(screen.contains("1 skill planned"), "{screen}");
    sandbox.run(&["sync"]).ok();
    assert_eq!(told(&sandbox), [pair(1, 0), pair(1, 0), pair(1, 0)]);
    sandbox.user_plugin("w/skills/two/SKILL.md", &skill("two", "d"));
    std::fs::remove_dir_all(sandbox.ws().join(".agents/skills/one")).expect("removes");
    assert_eq!(told(&sandbox), [pair(1, 1), pair(0, 2), pair(1, 1)]);
    // What is the user's own in that place is none of ours.
    sandbox.run(&["sync"]).ok();
    std::fs::remove_file(sandbox.ws().join(".claude/skills/one/.symposium")).expect("removes");
    let agents = sandbox.run(&["status", "--json"]).ok().stdout;
    let agents: Value = serde_json::from_str(&agents).expect("JSON");
    assert_eq!(agents["agents"][0]["skills"], 1, "{agents:#}");
}
