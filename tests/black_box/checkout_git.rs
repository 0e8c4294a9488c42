//! What git knows of a checkout, without git: nothing that its configuration names runs, files that
//! are tracked stay as they are, and nobody else's repository is written to.

use std::path::Path;

use symposium_testlib::{Sandbox, make_pipe};

use crate::hook_kit::{Event, Told, configure, send};

/// A configuration with Gemini and Codex, which read servers from files in the project, and a plugin
/// with a server for workspaces that use `widget`.
fn lab() -> Sandbox {
    let sandbox = crate::sandbox();
    configure(&sandbox, &["gemini", "codex"], "");
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\"]\n\n[[mcp_servers]]\nname = \"gated\"\ncommand = \"g\"\n\
         env = [{ name = \"TOKEN\", value = \"s3cret\" }]\n",
    );
    sandbox.package(&[("widget", "1.2.3")]);
    sandbox
}

const SETTINGS: &str = "ws/.gemini/settings.json";

/// As [`lab`], in a repository that tracks Gemini's settings.
fn tracked() -> Sandbox {
    let sandbox = lab();
    sandbox.write(SETTINGS, "{}\n");
    sandbox.git(&["init", "-q"]);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "x"]);
    sandbox
}

/// Every command that looks at a project's files, the last ones changing some.
const COMMANDS: [&[&str]; 9] = [
    &["status"],
    &["doctor"],
    &["why", "gated"],
    &["sync", "--dry-run"],
    &["sync", "--check"],
    &["sync"],
    &["sync", "--background"],
    &["init", "--add-agent", "gemini"],
    &["use", "widget"],
];

fn copy(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from).into_iter().flatten() {
        let target = to.join(entry.path().strip_prefix(from).expect("is below"));
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(target).expect("creates");
        } else {
            std::fs::copy(entry.path(), target).expect("copies");
        }
    }
}

/// Makes `ws/` a bare repository, too. Git expands its sparse index with the help of a program that
/// its configuration names.
fn lay_trap(sandbox: &Sandbox) {
    for file in ["bait/.gemini/s/f", "bait/.codex/s/f", "bait/t"] {
        sandbox.write(file, file);
    }
    let git = |args: &[&str]| sandbox.git_in("bait", args);
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "x"]);
    git(&["sparse-checkout", "set", "--cone", "--sparse-index", "other"]);
    let program = format!("touch {};false", sandbox.dir().join("ran").display());
    for folder in ["HEAD:.gemini", "HEAD:.codex"] {
        let tree = git(&["rev-parse", folder]);
        let (head, rest) = tree.trim().split_at(2);
        std::fs::remove_file(sandbox.dir().join(format!("bait/.git/objects/{head}/{rest}")))
            .expect("removes");
    }
    for (key, value) in [
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", "/x"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.uploadpack", program.as_str()),
        ("core.worktree", "."),
    ] {
        git(&["config", key, value]);
    }
    let from = sandbox.dir().join("bait/.git");
    copy(&from, &sandbox.ws());
    sandbox.write("ws/refs/x", "");
    for (file, text) in [(SETTINGS, "{}"), ("ws/.codex/config.toml", "# c")] {
        sandbox.write(file, text);
    }
}

#[test]
fn a_bare_repository_in_the_workspace_runs_none_of_its_programs() {
    for in_checkout in [true, false] {
        let sandbox = lab();
        lay_trap(&sandbox);
        if in_checkout {
            sandbox.git_in(".", &["init", "-q"]);
        }
        send(&sandbox, "gemini", Event::SessionStart, &Told::in_ws(&sandbox));
        assert!(!sandbox.has("ran"), "by an event");
        for command in COMMANDS {
            sandbox.run(command);
            assert!(!sandbox.has("ran"), "by {command:?}");
        }
        assert!(sandbox.read(SETTINGS).contains("gated"), "it is no repository of these files");
    }
}

#[test]
fn no_command_and_no_event_runs_git_in_a_checkout() {
    let mut sandbox = tracked();
    sandbox.git(&["config", "core.fsmonitor", "touch ../ran"]);
    sandbox.program("bin/git", "#!/bin/sh\ntouch \"${0%/*}/../ran\"\nexit 1\n");
    sandbox.first_on_path("bin");
    send(&sandbox, "gemini", Event::SessionStart, &Told::in_ws(&sandbox));
    assert!(!sandbox.has("ran"), "by an event");
    for command in COMMANDS {
        sandbox.run(command);
        assert!(!sandbox.has("ran"), "by {command:?}");
    }
    assert_eq!(sandbox.read(SETTINGS), "{}\n");
}

/// The file is left alone, and `sync`, `status` and `doctor` say so; the two that go into it say `why`.
fn is_left_alone(sandbox: &Sandbox, why: &str, case: &str) {
    for command in ["sync", "status", "doctor"] {
        let run = sandbox.run(&[command]);
        let said = format!("{}{}", run.stdout, run.stderr);
        // As it was before it was broken into lines.
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let wanted = if command == "status" {
            ["git tracks this file, so it is left as it is", "`cargo agents doctor` says"]
        } else {
            [why, ".gemini/settings.json"]
        };
        assert!(wanted.iter().all(|words| said.contains(words)), "{case}: {command}: {said}");
        assert_eq!(sandbox.read(SETTINGS), "{}\n", "{case}: {command}");
    }
}

/// Stands for a path in the sandbox where there is nothing.
const NOWHERE: &str = "nowhere";

#[test]
fn a_tracked_file_is_left_alone_whatever_git_would_say() {
    for (name, value) in [
        ("CASE", "plain"),
        ("GIT_DIR", ".git"),
        ("GIT_DIR", NOWHERE),
        ("GIT_INDEX_FILE", NOWHERE),
        ("GIT_CEILING_DIRECTORIES", "/"),
        ("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1"),
        ("PATH", NOWHERE),
    ] {
        let mut sandbox = tracked();
        if value == NOWHERE {
            sandbox.set(name, sandbox.dir().join(NOWHERE));
        } else {
            sandbox.set(name, value);
        }
        is_left_alone(&sandbox, "git tracks this file", &format!("{name}={value}"));
    }
}

#[test]
fn a_file_is_left_alone_where_it_can_t_be_told_whether_git_tracks_it() {
    type Damage = fn(&Sandbox);
    let damages: [(&str, Damage); 6] = [
        ("damaged index", |sandbox| sandbox.write("ws/.git/index", "x")),
        ("half an index", |sandbox| {
            let index = sandbox.ws().join(".git/index");
            let bytes = std::fs::read(&index).expect("reads");
            std::fs::write(index, &bytes[..bytes.len() / 2]).expect("writes");
        }),
        ("index of the future", |sandbox| {
            sandbox.write("ws/.git/index", b"DIRC\0\0\0\x05\0\0\0\0")
        }),
        ("no index", |sandbox| {
            std::fs::remove_file(sandbox.ws().join(".git/index")).expect("removes")
        }),
        ("index is a pipe", |sandbox| {
            std::fs::remove_file(sandbox.ws().join(".git/index")).expect("removes");
            make_pipe(&sandbox.ws().join(".git/index"));
        }),
        ("no HEAD", |sandbox| {
            std::fs::remove_file(sandbox.ws().join(".git/HEAD")).expect("removes")
        }),
    ];
    for (case, damage) in damages {
        let sandbox = tracked();
        damage(&sandbox);
        is_left_alone(&sandbox, "it can't be told whether git tracks this file", case);
    }
    let sandbox = tracked();
    sandbox.git(&["rm", "-q", "--cached", ".gemini/settings.json"]);
    sandbox.run(&["sync"]).ok();
    assert!(sandbox.read(SETTINGS).contains("gated"), "clearly not tracked");
}

#[test]
fn an_event_leaves_alone_what_is_tracked_though_we_made_it_or_it_is_not_there() {
    let mut sandbox = lab();
    sandbox.set("SYMPOSIUM_NO_BACKGROUND", "1");
    sandbox.git(&["init", "-q"]);
    sandbox.run(&["sync"]).ok();
    sandbox.git(&["add", "-f", ".gemini/settings.json"]);
    let before = sandbox.read(SETTINGS);
    let manifest = sandbox.read("home/.symposium/plugins/p/SYMPOSIUM.toml");
    sandbox.user_plugin("p/SYMPOSIUM.toml", &manifest.replace("s3cret", "n3wer"));
    send(&sandbox, "gemini", Event::SessionStart, &Told::in_ws(&sandbox));
    assert_eq!(sandbox.read(SETTINGS), before, "we made it");
    assert!(sandbox.read("ws/.codex/config.toml").contains("n3wer"), "the other one is ours");

    let mut sandbox = tracked();
    sandbox.set("SYMPOSIUM_NO_BACKGROUND", "1");
    std::fs::remove_file(sandbox.dir().join(SETTINGS)).expect("removes");
    send(&sandbox, "gemini", Event::SessionStart, &Told::in_ws(&sandbox));
    assert!(!sandbox.has(SETTINGS), "it is not there");
    assert!(sandbox.has("ws/.codex/config.toml"));
}

#[test]
fn linked_worktrees_and_submodules_have_their_own_index_and_exclude_file() {
    let sandbox = tracked();
    sandbox.git(&["worktree", "add", "-q", "../linked"]);
    sandbox.git_in(".", &["init", "-q", "super"]);
    let file = ["-c", "protocol.file.allow=always"];
    let add = ["submodule", "--quiet", "add", "../ws", "sub"];
    sandbox.git_in("super", &[&file[..], &add[..]].concat());
    for (folder, git) in [("linked", "ws/.git"), ("super/sub", "super/.git/modules/sub")] {
        let settings = format!("{folder}/.gemini/settings.json");
        let exclude = format!("{git}/info/exclude");
        let before = sandbox.read(&exclude);
        let run = sandbox.run_in(folder, &["sync"]).ok();
        assert!(run.stderr.contains("git tracks this file"), "{folder}: {}", run.stderr);
        assert_eq!(sandbox.read(&settings), "{}\n", "{folder}");
        assert_eq!(sandbox.git_in(folder, &["status", "--porcelain"]), "", "{folder}");
        assert_eq!(sandbox.read(&exclude), format!("{before}/.codex/config.toml\n"), "{folder}");
        sandbox.git_in(folder, &["rm", "-q", "--cached", ".gemini/settings.json"]);
        sandbox.run_in(folder, &["sync"]).ok();
        assert!(sandbox.read(&settings).contains("gated"), "{folder}");
        let leave = ["init", "--remove-agent", "gemini", "--remove-agent", "codex"];
        sandbox.run_in(folder, &leave).ok();
        configure(&sandbox, &["gemini", "codex"], "");
        assert_eq!(sandbox.read(&exclude), before, "{folder}");
    }
}

#[test]
fn a_git_file_that_leads_to_somebody_else_s_repository_gets_nothing_written_there() {
    for target in ["../other/.git", "../other/.git/worktrees/two"] {
        let sandbox = lab();
        sandbox.write("other/f", "");
        sandbox.git_in("other", &["init", "-q"]);
        sandbox.git_in("other", &["add", "-A"]);
        sandbox.git_in("other", &["commit", "-qm", "x"]);
        sandbox.git_in("other", &["worktree", "add", "-q", "../two"]);
        sandbox.write("ws/.git", format!("gitdir: {target}\n"));
        sandbox.write(SETTINGS, "{}\n");
        let other = || symposium_testlib::Tree::of(&sandbox.dir().join("other"));
        let before = other();
        send(&sandbox, "gemini", Event::SessionStart, &Told::in_ws(&sandbox));
        is_left_alone(&sandbox, "that does not name this folder as its own", target);
        assert!(!sandbox.has("ws/.codex/config.toml"), "{target}");
        assert_eq!(other(), before, "{target}");
        // Said to be shared, the files are written; nothing is written there for that, either.
        sandbox.run(&["init", "--hook-scope", "project"]).ok();
        assert!(sandbox.read(SETTINGS).contains("gated"), "{target}");
        assert_eq!(other(), before, "{target}");
    }
}

#[test]
fn pipes_in_the_place_of_git_s_files_keep_nobody_waiting() {
    for file in [".git", ".git/commondir", ".git/config", ".git/index"] {
        let sandbox = if file == ".git" { lab() } else { tracked() };
        let path = sandbox.ws().join(file);
        let _ = std::fs::remove_file(&path);
        make_pipe(&path);
        let start = std::time::Instant::now();
        send(&sandbox, "gemini", Event::SessionStart, &Told::in_ws(&sandbox));
        sandbox.run(&["sync"]);
        assert!(start.elapsed() < std::time::Duration::from_secs(20), "{file}");
    }
}
