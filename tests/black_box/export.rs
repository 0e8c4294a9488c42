//! `plugin export`: a plugin as a package of another format.

use serde_json::{Value, json};
use symposium_testlib::{Sandbox, slashes};

use crate::{sandbox, skill};

/// A plugin with something of everything.
fn with_plugin() -> Sandbox {
    let sandbox = sandbox();
    let manifest = r#"
name = "my_helper"
version = "1.4.0-beta.1"
description = "Helps with widgets"
crates = ["widget>=1", "gadget"]
predicates = ["not(env(CI))"]
activation = "suggested"

[[skills]]
source.path = "skills"

[[skills]]
source = "crate"

[[installations]]
name = "tool"
source = "cargo"
crate = "tool"
executable = "tool"

[[installations]]
name = "docs-tool"
script = "bin/docs.sh"

[[hooks]]
name = "native"
event = "PreToolUse"
matcher = "Bash"
format = "claude"
command = { script = "bin/native.sh", args = ["a b"] }
timeout = 7

[[hooks]]
name = "portable"
event = "Stop"
command = { script = "bin/portable.sh" }

[[mcp_servers]]
name = "docs"
command = "docs-tool"
args = ["--all"]
env = [{ name = "MODE", value = "quiet" }]

[[mcp_servers]]
name = "far"
type = "http"
url = "https://example.com/mcp"
headers = [{ name = "Authorization", value = "Bearer ${TOKEN}" }]

[[mcp_servers]]
name = "installed"
command = "tool"

[[mcp_servers]]
name = "npx"
command = "npx"
args = ["docs"]

[subcommand.helper]
description = "d"
command = { script = "bin/portable.sh" }
"#;
    sandbox.user_plugin("h/SYMPOSIUM.toml", manifest);
    for script in ["native", "portable", "docs"] {
        sandbox.user_plugin(&format!("h/bin/{script}.sh"), "exit 0\n");
    }
    let hooked = "---\nname: basics\ndescription: b\nhooks:\n  PreToolUse: []\n---\n\nText.\n";
    sandbox.user_plugin("h/skills/basics/SKILL.md", hooked);
    sandbox.user_plugin("h/skills/basics/more.md", "more\n");
    let gated = "---\nname: gated\ndescription: g\ncrates: widget>=2\n---\n";
    sandbox.user_plugin("h/skills/gated/SKILL.md", gated);
    sandbox
}

/// The files of the package, and what was said.
fn exported(sandbox: &Sandbox, format: &str, dir: &str) -> (Vec<String>, String) {
    let run = sandbox.run(&["plugin", "export", "my_helper", "--format", format, dir]).ok();
    let root = sandbox.ws().join(dir);
    let mut files: Vec<String> = walkdir::WalkDir::new(&root)
        .into_iter()
        .map(|entry| entry.expect("reads"))
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| entry.path().strip_prefix(&root).expect("inside").to_owned())
        .map(|path| slashes(&path.to_string_lossy()))
        .collect();
    files.sort();
    (files, run.stderr)
}

fn document(sandbox: &Sandbox, path: &str) -> Value {
    serde_json::from_str(&sandbox.read(&format!("ws/{path}"))).expect("JSON")
}

#[test]
fn a_package_of_agent_plugins_has_what_the_format_can_say_and_the_rest_is_told() {
    let sandbox = with_plugin();
    let (files, said) = exported(&sandbox, "agent-plugins", "out");
    let wanted = [
        "bin/docs.sh",
        "mcp.json",
        "plugin.json",
        "skills/basics/SKILL.md",
        "skills/basics/more.md",
        "skills/gated/SKILL.md",
    ];
    assert_eq!(files, wanted, "{said}");
    assert_eq!(
        document(&sandbox, "out/plugin.json"),
        json!({
            "$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json",
            "name": "my-helper",
            "version": "1.4.0-beta.1",
            "description": "Helps with widgets",
            "extensions": { "dev.symposium": {
                "crates": ["widget>=1", "gadget"], "predicates": ["not(env(CI))"],
            }},
        })
    );
    assert_eq!(
        document(&sandbox, "out/mcp.json"),
        json!({
            "$schema": "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json",
            "mcpServers": {
                "docs": {
                    "type": "stdio",
                    "command": "sh",
                    "args": ["${PLUGIN_ROOT}/bin/docs.sh", "--all"],
                    "env": { "MODE": "quiet" },
                },
                "npx": { "type": "stdio", "command": "npx", "args": ["docs"], "env": {} },
            },
        })
    );
    let delivered = sandbox.read("ws/out/skills/basics/SKILL.md");
    assert!(!delivered.contains("hooks:") && delivered.contains("Text."), "{delivered}");
    for told in [
        "the package is called `my-helper`",
        "`activation`",
        "the skills of the matched crates",
        "the condition of the skill `gated`",
        "the hook `native`: Agent Plugins has no hooks",
        "the hook `portable`: Agent Plugins has no hooks",
        "the server `installed`: a package can't install `tool`",
        "the server `far`: a header takes a variable's value",
        "the subcommand `helper`",
        "hooks",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
}

#[test]
fn a_package_for_claude_code_has_the_hooks_in_its_own_format_too() {
    let sandbox = with_plugin();
    sandbox.write("ws/empty/.keep", "");
    std::fs::remove_file(sandbox.ws().join("empty/.keep")).expect("removes");
    let (files, said) = exported(&sandbox, "claude", "empty");
    assert!(files.contains(&".claude-plugin/plugin.json".to_owned()), "{files:?}");
    assert!(files.contains(&"bin/native.sh".to_owned()), "{files:?}");
    assert!(!files.contains(&"bin/portable.sh".to_owned()), "{files:?}");
    assert_eq!(
        document(&sandbox, "empty/hooks/hooks.json"),
        json!({ "hooks": { "PreToolUse": [{
            "matcher": "Bash",
            "hooks": [{
                "type": "command",
                "command": "sh \"${CLAUDE_PLUGIN_ROOT}/bin/native.sh\" 'a b'",
                "timeout": 7,
            }],
        }]}})
    );
    let servers = document(&sandbox, "empty/.mcp.json");
    assert_eq!(servers["mcpServers"]["far"]["type"], "http");
    assert_eq!(
        servers["mcpServers"]["docs"]["args"],
        json!(["${CLAUDE_PLUGIN_ROOT}/bin/docs.sh", "--all"])
    );
    assert!(said.contains("the hook `portable`: it speaks the format `symposium`"), "{said}");
}

/// What is written is taken whole where such packages are read.
#[test]
fn a_package_that_was_written_is_read_again_without_a_word() {
    for (format, servers, hooks) in
        [("agent-plugins", &["docs", "npx"][..], 0), ("claude", &["docs", "far", "npx"], 1)]
    {
        let sandbox = with_plugin();
        exported(&sandbox, format, "../packages/out");
        std::fs::remove_dir_all(sandbox.home().join(".symposium/plugins")).expect("removes");
        let place = sandbox.at("packages");
        let config = format!("[[plugin-source]]\nname = \"p\"\npath = \"{place}\"\n");
        sandbox.write("home/.symposium/config.toml", &config);
        let run = sandbox.run(&["plugin", "validate", "--no-check-crates", &place]).ok();
        assert!(!run.stderr.contains("warning"), "{format}: {}", run.stderr);
        let run = sandbox.run(&["plugin", "show", "my-helper", "--json"]).ok();
        let shown: Value = run.json_lines().pop().expect("a result");
        let names = |key: &str| -> Vec<String> {
            let all = shown[key].as_array().into_iter().flatten();
            all.filter_map(|one| one["name"].as_str().map(str::to_owned)).collect()
        };
        assert_eq!(shown["format"], format, "{shown}");
        assert_eq!(shown["version"], "1.4.0-beta.1", "{shown}");
        assert_eq!(shown["description"], "Helps with widgets", "{shown}");
        assert_eq!(names("servers"), servers, "{shown}");
        assert_eq!(names("hooks").len(), hooks, "{shown}");
        // Claude Code puts the scripts of `bin/` on its `PATH`, too.
        let left = shown["not_taken"].as_array().into_iter().flatten();
        let left: Vec<&str> = left.filter_map(|one| one["what"].as_str()).collect();
        let executables = ["2 executables: docs.sh, native.sh"];
        assert_eq!(left, if hooks == 0 { &[][..] } else { &executables }, "{shown}");
        assert!(shown.to_string().contains("widget>=1"), "{shown}");
    }
}

#[test]
fn a_manifest_s_version_and_description_are_shown_and_a_wrong_version_costs_only_itself() {
    let sandbox = with_plugin();
    let shown = sandbox.run(&["plugin", "show", "my_helper"]).ok().stdout;
    assert!(
        shown.contains("  version    1.4.0-beta.1\n  for        Helps with widgets\n"),
        "{shown}"
    );
    let listed = sandbox.run(&["plugin", "list"]).ok().stdout;
    assert!(listed.contains("user-plugins, 1.4.0-beta.1"), "{listed}");
    let text = sandbox.read("home/.symposium/plugins/h/SYMPOSIUM.toml");
    sandbox.user_plugin("h/SYMPOSIUM.toml", &text.replace("1.4.0-beta.1", "1.4"));
    let run = sandbox.run(&["plugin", "show", "my_helper"]).ok();
    assert!(!run.stdout.contains("  version   ") && run.stdout.contains("Helps"), "{}", run.stdout);
    assert!(run.stderr.contains("`version` is 1.4, which is no version"), "{}", run.stderr);
    let checked = sandbox.run(&["plugin", "validate", "../home/.symposium/plugins/h"]).code(1);
    assert!(checked.stderr.contains("SYMPOSIUM.toml:3:11"), "{}", checked.stderr);
}

#[test]
fn nothing_is_overwritten_and_nothing_half_written_is_left() {
    let sandbox = with_plugin();
    sandbox.write("ws/full/mine.txt", "mine");
    sandbox.write("ws/file", "mine");
    let args = |name: &'static str, dir: &'static str| {
        ["plugin", "export", name, "--format", "claude", dir]
    };
    for (dir, why) in [("full", "is not empty"), ("file", "is no folder")] {
        let run = sandbox.run(&args("my_helper", dir)).code(1);
        assert!(
            run.stderr.contains(why) && run.stderr.contains("nothing was written"),
            "{}",
            run.stderr
        );
    }
    assert_eq!(sandbox.read("ws/full/mine.txt"), "mine");
    let run = sandbox.run(&args("my_helpr", "new")).code(1);
    assert!(run.stderr.contains("did you mean") && !sandbox.has("ws/new"), "{}", run.stderr);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = sandbox.ws().join("closed");
        std::fs::create_dir(&folder).expect("creates");
        let set = |mode| {
            std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).expect("sets");
        };
        set(0o555);
        // Who is root may write everywhere.
        let may_write = std::fs::write(folder.join("probe"), "").is_ok();
        let run = sandbox.run(&args("my_helper", "closed/package"));
        set(0o755);
        let left: Vec<_> = std::fs::read_dir(&folder).expect("reads").collect();
        assert_eq!(left.len(), if may_write { 2 } else { 0 }, "{}", run.stderr);
        assert!(may_write || run.stderr.contains("can't write"), "{}", run.stderr);
    }
}

#[test]
fn a_package_needs_nothing_of_the_plugin_to_hold_here() {
    let sandbox = sandbox();
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"nowhere\"]\n[[skills]]\nsource.path = \"s\"\n",
    );
    sandbox.user_plugin("p/s/a/SKILL.md", &skill("a", "d"));
    sandbox.run(&["plugin", "export", "user-plugins/p", "--format", "agent-plugins", "o"]).ok();
    assert_eq!(sandbox.read("ws/o/skills/a/SKILL.md"), skill("a", "d"));
}
