//! Where Claude Code keeps a project's servers when the project is a linked git worktree: under the
//! main checkout, or under the repository where that is bare (measured with Claude Code 2.1.332).

use serde_json::Value;
use symposium_testlib::Sandbox;

use crate::registration::sandbox;

/// The keys of projects in Claude Code's own file that have servers, below the sandbox, each with
/// the servers' names.
fn projects(sandbox: &Sandbox) -> Vec<(String, Vec<String>)> {
    let file: Value = serde_json::from_str(&sandbox.read("home/.claude.json")).expect("JSON");
    let projects = file["projects"].as_object().cloned().unwrap_or_default();
    let dir = real_dir(sandbox);
    projects
        .iter()
        .filter_map(|(key, project)| {
            let servers = project["mcpServers"].as_object()?;
            let key = key.strip_prefix(&format!("{dir}/")).unwrap_or(key).to_owned();
            Some((key, servers.keys().cloned().collect()))
        })
        .collect()
}

fn real_dir(sandbox: &Sandbox) -> String {
    sandbox.dir().canonicalize().expect("the sandbox").display().to_string()
}

/// A committed workspace on `widget`, Claude configured but nothing registered for the workspace.
fn committed() -> Sandbox {
    let sandbox = sandbox();
    sandbox.run_in("home", &["init", "--add-agent", "claude"]).ok();
    sandbox
}

fn names(found: &[(String, Vec<String>)]) -> Vec<&str> {
    found.iter().map(|(key, _)| key.as_str()).collect()
}

#[test]
fn a_linked_worktree_s_servers_are_keyed_by_the_main_checkout() {
    for worktree in ["linked", "ws/.claude/worktrees/x"] {
        let sandbox = committed();
        let path = sandbox.dir().join(worktree).display().to_string();
        sandbox.git(&["worktree", "add", "-q", &path]);
        sandbox.run_in(worktree, &["sync"]).ok();
        assert_eq!(names(&projects(&sandbox)), ["ws"], "{worktree}");
        let run = sandbox.run_in(worktree, &["doctor"]);
        assert!(!run.stdout.contains("widget-docs"), "{worktree}: {}", run.stdout);
    }
}

#[test]
fn a_worktree_of_a_bare_clone_is_keyed_by_the_repository() {
    let sandbox = committed();
    sandbox.git_in(".", &["clone", "-q", "--bare", "ws", "app.git"]);
    sandbox.git_in("app.git", &["worktree", "add", "-q", "../linked"]);
    sandbox.run_in("linked", &["sync"]).ok();
    assert_eq!(names(&projects(&sandbox)), ["app.git"]);
}

#[test]
fn a_submodule_is_keyed_by_itself() {
    let sandbox = committed();
    sandbox.git_in(".", &["init", "-q", "super"]);
    let file = ["-c", "protocol.file.allow=always"];
    let add = ["submodule", "--quiet", "add", "../ws", "sub"];
    sandbox.git_in("super", &[&file[..], &add[..]].concat());
    sandbox.run_in("super/sub", &["sync"]).ok();
    assert_eq!(names(&projects(&sandbox)), ["super/sub"]);
}

#[test]
fn worktrees_with_different_gates_share_the_union_until_none_wants_a_server() {
    let sandbox = committed();
    sandbox.user_plugin(
        "gadget/SYMPOSIUM.toml",
        "name = \"gadget\"\ncrates = [\"gadget\"]\n\n[[mcp_servers]]\nname = \"gadget-docs\"\n\
         type = \"http\"\nurl = \"https://mcp.example.com/gadget\"\n",
    );
    sandbox.git(&["worktree", "add", "-q", "../linked"]);
    sandbox.run(&["sync"]).ok();
    let of_widget = projects(&sandbox)[0].1.clone();
    assert!(of_widget.contains(&"widget-docs".to_owned()), "{of_widget:?}");
    // The linked one depends on another crate.
    let both = (sandbox.read("ws/Cargo.toml"), sandbox.read("ws/Cargo.lock"));
    sandbox.package(&[("gadget", "1.0.0")]);
    for file in ["Cargo.toml", "Cargo.lock"] {
        sandbox.write(&format!("linked/{file}"), sandbox.read(&format!("ws/{file}")));
    }
    sandbox.write("ws/Cargo.toml", &both.0);
    sandbox.write("ws/Cargo.lock", &both.1);
    sandbox.run_in("linked", &["sync"]).ok();
    sandbox.run(&["sync"]).ok();
    let found = projects(&sandbox);
    assert_eq!(names(&found), ["ws"]);
    for server in ["widget-docs", "gadget-docs"] {
        assert!(found[0].1.contains(&server.to_owned()), "{server}: {found:?}");
    }
    // Where nobody wants it any more it goes; the other's stays.
    sandbox.write("linked/Cargo.toml", &both.0);
    sandbox.write("linked/Cargo.lock", &both.1);
    sandbox.run_in("linked", &["sync"]).ok();
    assert_eq!(projects(&sandbox), [("ws".to_owned(), of_widget)]);
    sandbox.run(&["uninstall", "--all-workspaces"]).ok();
    assert!(!sandbox.has("home/.claude.json") || projects(&sandbox).is_empty());
}
