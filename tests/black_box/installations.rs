//! Programs of plugins, got by the real cargo, git and HTTP from this machine's loopback, and run.

use std::env::consts::EXE_SUFFIX;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;
use sha2::{Digest as _, Sha256};
use symposium_testlib::{LocalRegistry, Manner, Node, Publication, Sandbox, Server};

use crate::hook_kit::*;

/// A program that denies and says who it is.
fn denier(who: &str) -> String {
    let deny = json!({"PreToolUse": {"decision": "deny", "reason": who}}).to_string();
    format!("fn main() {{ println!(\"{{}}\", r#\"{deny}\"#) }}\n")
}

/// A version of `guarder`, whose programs are `bins`.
fn publish(registry: &mut LocalRegistry, version: &str, bins: &[&str]) {
    let manifest: String =
        bins.iter().map(|bin| format!("[[bin]]\nname = \"{bin}\"\npath = \"main.rs\"\n")).collect();
    registry.publish(&Publication {
        name: "guarder",
        version,
        yanked: false,
        rust_version: None,
        manifest: &manifest,
        files: &[("main.rs", denier(&format!("guarder {version}")))],
    });
}

/// A sandbox with the real cargo, and a registry in the place of crates.io.
fn with_registry() -> (Sandbox, LocalRegistry) {
    let mut sandbox = lab();
    let registry = LocalRegistry::start();
    sandbox.write("home/.cargo/config.toml", registry.instead_of_crates_io());
    let cargo = PathBuf::from(env!("CARGO"));
    // That of the machine that built this is no program here when it was another system's.
    if cfg!(unix) || cargo.extension().is_some() {
        sandbox.set("RUSTC", cargo.with_file_name("rustc"));
        sandbox.set("SYMPOSIUM_CARGO", cargo);
    }
    // What a checkout says of cargo is not for us.
    sandbox.write(
        "ws/.cargo/config.toml",
        "[build]\nrustc = \"no-such-rustc\"\n[net]\noffline = true\n",
    );
    sandbox.write("ws/rust-toolchain.toml", "[toolchain]\nchannel = \"nightly-1999-01-01\"\n");
    (sandbox, registry)
}

/// A plugin with one hook that runs the installation `tool`.
fn plugin(sandbox: &Sandbox, name: &str, installation: &str) {
    sandbox.user_plugin(
        &format!("{name}/SYMPOSIUM.toml"),
        &format!(
            "name = \"{name}\"\ncrates = [\"widget\"]\n\n[[installations]]\nname = \"tool\"\n{installation}\n\n\
             [[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\ncommand = \"tool\"\n"
        ),
    );
}

/// What the hooks refuse a tool with.
fn refused(sandbox: &Sandbox, id: &'static str) -> Option<String> {
    send(sandbox, "claude", Event::PreToolUse, &Told::in_ws(sandbox).id(id)).refused
}

fn binaries(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".symposium/cache/binaries")
}

#[test]
fn f157_f159_versions_of_a_crate_live_side_by_side_and_the_pinned_one_runs() {
    let (sandbox, mut registry) = with_registry();
    publish(&mut registry, "1.0.0", &["guarder"]);
    publish(&mut registry, "2.0.0", &["guarder"]);
    plugin(&sandbox, "a", "source = \"cargo\"\ncrate = \"guarder\"\nversion = \"1.0.0\"");
    plugin(&sandbox, "b", "source = \"cargo\"\ncrate = \"guarder\"");
    let run = sandbox.run(&["sync"]).ok();
    for line in ["Installing guarder 1.0.0 for plugin `a`", "Installing guarder for plugin `b`"] {
        assert!(run.stderr.contains(line), "{}", run.stderr);
    }
    assert_eq!(refused(&sandbox, "1").as_deref(), Some("guarder 1.0.0\nguarder 2.0.0"));
    for version in ["1.0.0", "2.0.0"] {
        let program = format!("guarder/{version}/bin/guarder{EXE_SUFFIX}");
        assert!(binaries(&sandbox).join(program).is_file());
    }
    assert!(!sandbox.has("home/.cargo/bin") && !sandbox.has("ws/target"));
    // The second time there is nothing to do, and nobody is asked.
    let run = sandbox.run(&["sync"]).ok();
    assert!(!run.stderr.contains("Installing"), "{}", run.stderr);

    // A newer one takes the place of the one before, once it works; the pinned one stays.
    registry.publish(&Publication {
        name: "guarder",
        version: "2.9.0",
        yanked: false,
        rust_version: None,
        manifest: "[[bin]]\nname = \"guarder\"\npath = \"main.rs\"\n",
        files: &[("main.rs", "fn main() { nonsense }\n".to_owned())],
    });
    let run = sandbox.run(&["sync", "--update", "fetch"]);
    assert!(run.stderr.contains("what is there is used"), "{}", run.stderr);
    assert_eq!(refused(&sandbox, "2").as_deref(), Some("guarder 1.0.0\nguarder 2.0.0"));
    publish(&mut registry, "3.0.0", &["guarder"]);
    sandbox.run(&["sync", "--update", "fetch"]).ok();
    assert_eq!(refused(&sandbox, "3").as_deref(), Some("guarder 1.0.0\nguarder 3.0.0"));
    let program = format!("guarder/1.0.0/bin/guarder{EXE_SUFFIX}");
    assert!(binaries(&sandbox).join(program).is_file());
    assert!(!binaries(&sandbox).join("guarder/2.0.0").exists());
}

/// Its agents start what its files name, whatever another workspace got meanwhile.
#[test]
fn a_newer_version_leaves_the_old_one_to_workspaces_that_name_it() {
    let (sandbox, mut registry) = with_registry();
    publish(&mut registry, "1.0.0", &["guarder"]);
    sandbox.user_plugin(
        "a/SYMPOSIUM.toml",
        "name = \"a\"\ncrates = [\"widget\"]\n\n[[installations]]\nname = \"tool\"\n\
         source = \"cargo\"\ncrate = \"guarder\"\n\n\
         [[mcp_servers]]\nname = \"gs\"\ncommand = \"tool\"\n\n\
         [[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\ncommand = \"tool\"\n",
    );
    sandbox.run(&["init", "--add-agent", "claude"]).ok();
    for (path, node) in sandbox.ws_tree().0 {
        if let Node::File(bytes, _) = node {
            sandbox.write(&format!("ws2/{path}"), bytes);
        }
    }
    sandbox.run_in("ws2", &["sync"]).ok();
    let program = |workspace: &str| {
        let text = sandbox.read("home/.claude.json");
        let settings: serde_json::Value = serde_json::from_str(&text).expect("is JSON");
        let key = sandbox.at(workspace);
        let command = &settings["projects"][&key]["mcpServers"]["gs"]["command"];
        PathBuf::from(command.as_str().unwrap_or_else(|| panic!("{key} in {text}")))
    };
    let starts = |workspace: &str, version: &str| {
        program(workspace).ends_with(format!("guarder/{version}/bin/guarder{EXE_SUFFIX}"))
    };
    assert!(starts("ws2", "1.0.0"));

    publish(&mut registry, "2.0.0", &["guarder"]);
    sandbox.run(&["sync", "--update", "fetch"]).ok();
    assert!(starts("ws", "2.0.0"));
    assert!(starts("ws2", "1.0.0") && program("ws2").is_file());

    sandbox.run_in("ws2", &["sync"]).ok();
    assert!(starts("ws2", "2.0.0") && program("ws2").is_file());
    assert!(!binaries(&sandbox).join("guarder/1.0.0").exists(), "nothing names it any more");
}

#[test]
fn f158_case_89_a_crate_that_is_another_tool_is_named_and_the_hook_does_nothing() {
    let (sandbox, mut registry) = with_registry();
    publish(&mut registry, "0.1.0", &["typekit"]);
    plugin(&sandbox, "p", "source = \"cargo\"\ncrate = \"guarder\"\nexecutable = \"guarder\"");
    let run = sandbox.run(&["sync"]);
    for words in [
        "the crate `guarder` installs no program `guarder`, but `typekit`",
        "say where it is with `git`",
    ] {
        assert!(run.stderr.contains(words), "{words}: {}", run.stderr);
    }
    assert_eq!(refused(&sandbox, "1"), None);
    assert!(logs(&sandbox).contains("hook `h` of plugin `p` failed"), "{}", logs(&sandbox));
    let left: Vec<_> = std::fs::read_dir(binaries(&sandbox).join("guarder"))
        .expect("is there")
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn f160_f161_from_a_repository_and_into_the_users_own_programs() {
    let (sandbox, mut registry) = with_registry();
    publish(&mut registry, "1.0.0", &["guarder"]);
    sandbox.write(
        "repo/Cargo.toml",
        "[package]\nname = \"fromgit\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    sandbox.write(
        "repo/Cargo.lock",
        "version = 4\n\n[[package]]\nname = \"fromgit\"\nversion = \"0.1.0\"\n",
    );
    sandbox.write("repo/src/main.rs", denier("from git"));
    sandbox.git_in("repo", &["init", "-q"]);
    sandbox.git_in("repo", &["add", "-A"]);
    sandbox.git_in("repo", &["commit", "-qm", "start"]);
    let server = Server::start(&sandbox.dir().join("repo"), Manner::Git);
    let git = format!(
        "source = \"cargo\"\ncrate = \"fromgit\"\ngit = \"{}\"\nexecutable = \"fromgit\"",
        server.url(".git")
    );
    plugin(&sandbox, "a", &git);
    plugin(
        &sandbox,
        "b",
        "source = \"cargo\"\ncrate = \"guarder\"\nexecutable = \"guarder\"\nglobal = true",
    );
    sandbox.run(&["sync"]).ok();
    assert_eq!(refused(&sandbox, "1").as_deref(), Some("from git\nguarder 1.0.0"));
    let is_there = |name: &str| sandbox.has(&format!("home/.cargo/bin/{name}{EXE_SUFFIX}"));
    assert!(is_there("guarder") && !is_there("fromgit"));
}

#[test]
fn f162_a_folder_of_a_repository_and_a_server_that_does_not_answer() {
    let sandbox = lab();
    let deny = says(Event::PreToolUse, json!({"decision": "deny", "reason": "from a folder"}));
    sandbox.write("repo/o/r/hooks/guard.sh", deny);
    sandbox.git_in("repo/o/r", &["init", "-q", "-b", "main"]);
    sandbox.git_in("repo/o/r", &["add", "-A"]);
    sandbox.git_in("repo/o/r", &["commit", "-qm", "start"]);
    std::fs::rename(sandbox.dir().join("repo/o/r/.git"), sandbox.dir().join("repo/o/r.git"))
        .expect("moves");
    let server = Server::start(&sandbox.dir().join("repo"), Manner::Git);
    let url = server.url("o/r.git/tree/main/hooks");
    plugin(&sandbox, "p", &format!("source = \"github\"\nurl = \"{url}\"\nscript = \"guard.sh\""));
    // Nobody answers: the agent has its answer all the same, and is told once: that it is being
    // installed, or that git gave up, whichever comes first.
    server.set(Manner::Stall);
    let start = Instant::now();
    let told = Told::in_ws(&sandbox);
    let effect = send(&sandbox, "claude", Event::PreToolUse, &told);
    let context = effect.context.unwrap_or_default();
    assert!(context.contains("`tool` of plugin `p`"), "{context}");
    // Windows starts programs more slowly.
    let limit = Duration::from_secs(if cfg!(windows) { 20 } else { 12 });
    assert!(start.elapsed() < limit, "{:?}", start.elapsed());
    server.set(Manner::Git);
    let run = sandbox.run(&["sync"]);
    assert!(run.stderr.contains("Fetching") && !run.stderr.contains("warning"), "{}", run.stderr);
    let found = (0..100).find_map(|number| {
        std::thread::sleep(Duration::from_millis(100));
        refused(&sandbox, Box::leak(format!("n{number}").into_boxed_str()))
    });
    assert_eq!(found.as_deref(), Some("from a folder"), "{}", logs(&sandbox));
}

#[test]
fn decision_11_a_file_by_url_is_checked_and_run() {
    let sandbox = lab();
    let deny = says(Event::PreToolUse, json!({"decision": "deny", "reason": "downloaded"}));
    let program = format!("#!/bin/sh\n{deny}");
    let sum: String =
        Sha256::digest(program.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    sandbox.write("files/tool-1.2", &program);
    let server = Server::start(&sandbox.dir().join("files"), Manner::Files);
    let source = |sum: &str| {
        let url = server.url("tool-{version}");
        format!(
            "source = \"binary\"\nurl = \"{url}\"\nversion = \"1.2\"\nsha256 = \"{sum}\"\nexecutable = \"tool\""
        )
    };
    plugin(&sandbox, "p", &source(&"0".repeat(64)));
    let run = sandbox.run(&["sync"]);
    assert!(run.stderr.contains("is another one: its SHA-256 is"), "{}", run.stderr);
    assert_eq!(refused(&sandbox, "1"), None);
    plugin(&sandbox, "p", &source(&sum));
    let run = sandbox.run(&["sync"]).ok();
    assert!(run.stderr.contains("Downloading"), "{}", run.stderr);
    assert_eq!(refused(&sandbox, "2").as_deref(), Some("downloaded"));
}

#[test]
fn what_failed_is_not_tried_again_by_events_for_ten_minutes_but_by_the_user() {
    let sandbox = lab();
    plugin(
        &sandbox,
        "p",
        "install_commands = [\"echo x >>tries; [ -f works ]\"]\nscript = \"tool.sh\"",
    );
    let deny = says(Event::PreToolUse, json!({"decision": "deny", "reason": "at last"}));
    sandbox.user_plugin("p/tool.sh", &deny);
    let tries = || {
        let path = sandbox.home().join(".symposium/plugins/p/tries");
        std::fs::read_to_string(path).unwrap_or_default().lines().count()
    };
    for session in ["s1", "s2", "s3"] {
        let told = Told::in_ws(&sandbox).session(session);
        let start = Instant::now();
        let effect = send(&sandbox, "claude", Event::PreToolUse, &told);
        assert_eq!(effect.refused, None, "{session}");
        // Nobody waits for a process that has ended.
        assert!(start.elapsed() < Duration::from_secs(4), "{session}: {:?}", start.elapsed());
    }
    assert_eq!(tries(), 1, "{}", logs(&sandbox));
    let run = sandbox.run(&["sync"]);
    assert!(run.stderr.contains("can't install `tool` of plugin `p`"), "{}", run.stderr);
    assert_eq!(tries(), 2);
    sandbox.user_plugin("p/works", "");
    sandbox.run(&["sync"]).ok();
    assert_eq!((tries(), refused(&sandbox, "9").as_deref()), (3, Some("at last")));
}
