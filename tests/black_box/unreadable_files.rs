//! A manifest, a skill or a source that can't be read is unknown, and what is unknown stays: whatever
//! its last good version gave goes on, and each command tells why.

use std::sync::atomic::{AtomicUsize, Ordering};

use symposium_testlib::Sandbox;

use crate::hook_kit::*;

const MANIFEST: &str = r#"name = "g"
crates = ["widget"]

[[skills]]
source.path = "skills"

[[mcp_servers]]
name = "gs"
command = "gs-mcp"

[[mcp_servers]]
name = "gsecret"
command = "gs-mcp"
env = { TOKEN = "geheim" }

[[hooks]]
name = "guard"
event = "PreToolUse"
command = { script = "guard.sh" }
on-failure = "block"

[subcommand.gtool]
description = "Says that it runs."
command = { script = "tool.sh" }
"#;

const SKILL: &str = "---\nname: gskill\ndescription: What it is for.\n---\n\n# one\n";

const GUARD: &str = "cat >/dev/null; echo 'not allowed' >&2; exit 2\n";

/// The files of the plugin `g`, which offers one thing of each kind.
fn files(folder: &str) -> Vec<(String, &'static str)> {
    let files = [
        ("SYMPOSIUM.toml", MANIFEST),
        ("guard.sh", GUARD),
        ("tool.sh", "echo it runs\n"),
        ("skills/gskill/SKILL.md", SKILL),
    ];
    files.map(|(path, text)| (format!("{folder}/{path}"), text)).into()
}

/// A path source `src` with the plugin `g`, synced.
fn from_a_folder() -> Sandbox {
    let sandbox = lab();
    let src = sandbox.dir().join("src");
    let source = format!("[[plugin-source]]\nname = \"src\"\npath = {:?}\n", src.display());
    configure(&sandbox, &["claude"], &source);
    for (path, text) in files("src/g") {
        sandbox.write(&path, text);
    }
    sandbox.run(&["sync", "--offline"]).ok();
    all_in_force(&sandbox, "at first");
    sandbox
}

/// As [`from_a_folder`], of a git repository.
fn from_a_repository() -> Sandbox {
    let sandbox = lab();
    let url = sandbox.file_url("repo");
    let source = format!("[[plugin-source]]\nname = \"src\"\ngit = {url:?}\n");
    configure(&sandbox, &["claude"], &source);
    for (path, text) in files("repo/g") {
        sandbox.write(&path, text);
    }
    commit(&sandbox);
    sandbox.run(&["sync"]).ok();
    all_in_force(&sandbox, "at first");
    sandbox
}

fn commit(sandbox: &Sandbox) {
    if !sandbox.has("repo/.git") {
        sandbox.git_in("repo", &["init", "-q"]);
    }
    sandbox.git_in("repo", &["add", "."]);
    sandbox.git_in("repo", &["commit", "-q", "-m", "x"]);
}

/// What the guard says to a tool that Claude is about to use.
fn asked(sandbox: &Sandbox) -> Option<String> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let id = format!("use-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let told = Told { id: id.clone().leak(), command: id.leak(), ..Told::in_ws(sandbox) };
    send(sandbox, "claude", Event::PreToolUse, &told).refused
}

fn installed(sandbox: &Sandbox) -> bool {
    sandbox.has("ws/.claude/skills/gskill/SKILL.md")
}

/// All that the plugin `g` gives, as agents and people find it.
fn all_in_force(sandbox: &Sandbox, when: &str) {
    assert_eq!(asked(sandbox).as_deref(), Some("not allowed"), "{when}: the guard");
    rest_in_force(sandbox, when);
}

/// As [`all_in_force`], but for the guard, whose script may be away.
fn rest_in_force(sandbox: &Sandbox, when: &str) {
    assert!(asked(sandbox).is_some(), "{when}: the guard");
    assert!(installed(sandbox), "{when}: the skill");
    let servers = sandbox.read("home/.claude.json");
    assert!(servers.contains("\"gs\""), "{when}: the server");
    assert!(servers.contains("geheim"), "{when}: the server with a secret");
    let help = sandbox.run(&["help"]).ok();
    assert!(help.stdout.contains("gtool"), "{when}: the subcommand");
}

/// Ways in which a manifest can't be read.
fn broken_manifests() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("half a table", format!("{MANIFEST}\n[[hooks\n").into_bytes()),
        ("a conflict", format!("<<<<<<< ours\n{MANIFEST}").into_bytes()),
        ("empty", Vec::new()),
        ("not UTF-8", [MANIFEST.as_bytes(), b"# \xff\n"].concat()),
        ("a wrong name", MANIFEST.replace("name = \"g\"", "name = 3").into_bytes()),
        ("a server", MANIFEST.replace("command = \"gs-mcp\"", "command = 3").into_bytes()),
        ("a guard", MANIFEST.replace("\"block\"", "\"blok\"").into_bytes()),
        ("a subcommand", MANIFEST.replace("description =", "descriptio =").into_bytes()),
        ("skills", MANIFEST.replace("source.path =", "source.pth =").into_bytes()),
    ]
}

#[test]
fn decision_29_what_a_manifest_last_said_stays_in_force_whole_while_it_cannot_be_read() {
    in_parallel(&broken_manifests(), |(name, text)| {
        let sandbox = from_a_folder();
        sandbox.write("src/g/SYMPOSIUM.toml", text);
        all_in_force(&sandbox, &format!("{name}: at an event"));
        for command in [&["sync", "--offline"][..], &["sync"]] {
            let run = sandbox.run(command).code(1);
            assert!(run.stderr.contains("g/SYMPOSIUM.toml"), "{name}: {}", run.stderr);
            assert!(run.stderr.contains("stays in force"), "{name}: {}", run.stderr);
            all_in_force(&sandbox, &format!("{name}: after a sync"));
        }
        let run = sandbox.run(&["gtool"]).ok();
        assert_eq!(run.stdout, "it runs\n", "{name}");
        for command in [&["status"][..], &["doctor"], &["plugin", "list"]] {
            let run = sandbox.run(command);
            let told = format!("{}{}", run.stdout, run.stderr);
            assert!(told.contains("g/SYMPOSIUM.toml"), "{name} {command:?}: {told}");
        }
        // Mended, it is heard at the next event.
        sandbox.write("src/g/SYMPOSIUM.toml", MANIFEST.replace("guard.sh", "new.sh"));
        sandbox.write("src/g/new.sh", "cat >/dev/null; echo mended >&2; exit 2\n");
        assert_eq!(asked(&sandbox).as_deref(), Some("mended"), "{name}");
    });
}

/// An event and a command show a folder below the home folder in two ways.
#[test]
fn what_a_manifest_in_the_user_s_own_folder_last_said_is_known_to_events_too() {
    let sandbox = with_agents(&["claude"]);
    hook_plugin(&sandbox, "own", Event::PreToolUse, "", "echo 'not allowed' >&2; exit 2\n");
    sandbox.run(&["sync"]).ok();
    sandbox.user_plugin("own/SYMPOSIUM.toml", "[[hooks\n");
    assert_eq!(asked(&sandbox).as_deref(), Some("not allowed"));
}

#[test]
fn what_is_wrong_with_a_manifest_is_told_once_with_its_line() {
    let sandbox = from_a_folder();
    sandbox.write("src/g/SYMPOSIUM.toml", format!("{MANIFEST}\n[[hooks\n"));
    let line = MANIFEST.lines().count() + 2;
    let run = sandbox.run(&["sync", "--offline"]).code(1);
    assert_eq!(run.stderr.matches("error[").count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains(&format!("SYMPOSIUM.toml:{line}:")), "{}", run.stderr);
}

#[test]
fn the_last_good_version_outlives_the_cache_and_keeps_no_secret() {
    let sandbox = from_a_folder();
    sandbox.write("src/g/SYMPOSIUM.toml", "[[hooks\n");
    std::fs::remove_dir_all(sandbox.dir().join("home/.symposium/cache")).expect("removes");
    all_in_force(&sandbox, "at an event without a cache");
    sandbox.run(&["sync", "--offline"]).code(1);
    all_in_force(&sandbox, "after a sync without a cache");
    let kept =
        std::fs::read_dir(sandbox.dir().join("home/.symposium/last-good")).expect("is there");
    let kept: Vec<_> = kept.map(|entry| entry.expect("reads").path()).collect();
    let text = std::fs::read_to_string(&kept[0]).expect("reads");
    assert!(text.contains("gsecret") && !text.contains("geheim"), "{text}");
}

#[test]
fn a_source_that_is_away_keeps_its_servers_and_subcommands() {
    let sandbox = from_a_folder();
    let (src, away) = (sandbox.dir().join("src"), sandbox.dir().join("aside"));
    std::fs::rename(&src, &away).expect("moves");
    for _ in 0..2 {
        rest_in_force(&sandbox, "away, at an event");
        sandbox.run(&["sync", "--offline"]);
        rest_in_force(&sandbox, "away, after a sync");
    }
    std::fs::rename(&away, &src).expect("moves");
    all_in_force(&sandbox, "back");
    assert_eq!(sandbox.run(&["gtool"]).ok().stdout, "it runs\n");
}

#[test]
fn a_repository_that_is_away_with_its_copy_keeps_all_it_gave() {
    for gone in ["home/.symposium/cache/plugin-sources", "home/.symposium/cache"] {
        let sandbox = from_a_repository();
        let (repo, away) = (sandbox.dir().join("repo"), sandbox.dir().join("aside"));
        std::fs::rename(&repo, &away).expect("moves");
        std::fs::remove_dir_all(sandbox.dir().join(gone)).expect("removes");
        for command in [&["sync"][..], &["sync", "--offline"], &["plugin", "sync"]] {
            sandbox.run(command);
            rest_in_force(&sandbox, &format!("{gone} {command:?}"));
        }
        std::fs::rename(&away, &repo).expect("moves");
        sandbox.run(&["plugin", "sync"]).ok();
        let run = sandbox.run(&["sync"]).ok();
        assert!(!run.stderr.contains("Updated"), "{}", run.stderr);
        all_in_force(&sandbox, "back");
    }
}

#[test]
fn a_manifest_without_a_plugin_is_named_and_hides_nothing() {
    for text in ["[package]\nname = \"not-a-plugin\"\n", "# nothing yet\n"] {
        let sandbox = from_a_folder();
        sandbox.write("src/h/SYMPOSIUM.toml", "name = \"h\"\ncrates = [\"widget\"]\n");
        sandbox.write("src/SYMPOSIUM.toml", text);
        let run = sandbox.run(&["sync", "--offline"]).ok();
        assert!(run.stderr.contains("src/SYMPOSIUM.toml"), "{}", run.stderr);
        assert!(run.stderr.contains("is no plugin"), "{}", run.stderr);
        all_in_force(&sandbox, "below it");
        let list = sandbox.run(&["plugin", "list"]).ok();
        assert!(list.stdout.contains(" h "), "{}", list.stdout);
    }
}

#[test]
fn a_manifest_that_was_never_good_hides_no_plugin_below_it() {
    for text in ["[[hooks\n", "name = 3\n", "<<<<<<< ours\n"] {
        let sandbox = from_a_folder();
        sandbox.write("src/SYMPOSIUM.toml", text);
        let run = sandbox.run(&["sync", "--offline"]);
        assert!(run.stderr.contains("src/SYMPOSIUM.toml"), "{}", run.stderr);
        all_in_force(&sandbox, text);
    }
}

const UPDATED: &str = "---\nname: gskill\ndescription: Something else.\n---\n\n# two\n";

/// Ways in which a skill can't be read.
fn broken_skills() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("broken frontmatter", b"---\nname: [\n---\n".to_vec()),
        ("no frontmatter", b"# one\n".to_vec()),
        ("a conflict", format!("<<<<<<< ours\n{SKILL}").into_bytes()),
        ("empty", Vec::new()),
        ("half saved", b"---\nname: gskill\ndescr".to_vec()),
        ("not UTF-8", [SKILL.as_bytes(), b"\xff\n"].concat()),
        ("a gate", SKILL.replace("---\n\n", "crates: widget >\n---\n\n").into_bytes()),
    ]
}

/// The skill's text in the workspace, as far as it was written by its author.
fn copy(sandbox: &Sandbox) -> String {
    sandbox.read("ws/.claude/skills/gskill/SKILL.md")
}

#[test]
fn decision_29_the_copy_of_a_skill_that_cannot_be_read_stays_until_it_can_be_again() {
    in_parallel(&broken_skills(), |(name, text)| {
        let sandbox = from_a_folder();
        let path = "src/g/skills/gskill/SKILL.md";
        sandbox.write(path, text);
        all_in_force(&sandbox, &format!("{name}: at an event"));
        let run = sandbox.run(&["sync", "--offline"]).code(1);
        assert!(run.stderr.contains(path) && run.stderr.contains("stays"), "{name}: {run:?}");
        all_in_force(&sandbox, &format!("{name}: after a sync"));
        assert!(copy(&sandbox).contains("# one"), "{name}");
        for command in [&["status"][..], &["doctor"], &["plugin", "list"]] {
            let run = sandbox.run(command);
            let told = format!("{}{}", run.stdout, run.stderr);
            assert!(told.contains("gskill/SKILL.md"), "{name} {command:?}: {told}");
        }
        sandbox.write(path, UPDATED);
        assert!(asked(&sandbox).is_some());
        assert!(copy(&sandbox).contains("# two"), "{name}: mended");
        // What is clearly gone goes.
        std::fs::remove_dir_all(sandbox.dir().join("src/g/skills/gskill")).expect("removes");
        assert!(asked(&sandbox).is_some());
        assert!(!installed(&sandbox), "{name}: removed");
    });
}

#[test]
fn a_skill_that_was_never_good_fails_nothing() {
    let sandbox = from_a_folder();
    sandbox.write("src/g/skills/other/SKILL.md", "# one\n");
    let run = sandbox.run(&["sync", "--offline"]).ok();
    assert!(run.stderr.contains("other/SKILL.md"), "{}", run.stderr);
    all_in_force(&sandbox, "beside it");
}

#[test]
fn a_plugin_whose_folder_of_skills_is_missing_keeps_all_it_gave() {
    let sandbox = from_a_folder();
    let (skills, away) = (sandbox.dir().join("src/g/skills"), sandbox.dir().join("aside"));
    std::fs::rename(&skills, &away).expect("moves");
    all_in_force(&sandbox, "away, at an event");
    let run = sandbox.run(&["sync", "--offline"]).code(1);
    assert!(run.stderr.contains("g/SYMPOSIUM.toml"), "{}", run.stderr);
    assert!(run.stderr.contains("g/skills"), "{}", run.stderr);
    all_in_force(&sandbox, "away, after a sync");
    // A folder without skills says clearly that there are none.
    std::fs::create_dir(&skills).expect("creates");
    sandbox.run(&["sync", "--offline"]).ok();
    assert!(!installed(&sandbox));
    std::fs::remove_dir(&skills).expect("removes");
    std::fs::rename(&away, &skills).expect("moves");
    all_in_force(&sandbox, "back");
}

#[test]
fn skills_behind_a_link_that_leads_nowhere_for_a_moment_stay() {
    for (link, real) in [
        ("src/g/skills", "src/shared"),
        ("src/g/skills/gskill", "src/shared"),
        ("src/g/skills/group", "src/shared"),
        ("src/g/skills/gskill/SKILL.md", "src/shared.md"),
    ] {
        let sandbox = from_a_folder();
        let (link_at, real_at) = (sandbox.dir().join(link), sandbox.dir().join(real));
        if link.ends_with("group") {
            std::fs::rename(sandbox.dir().join("src/g/skills"), &real_at).expect("moves");
            std::fs::create_dir(sandbox.dir().join("src/g/skills")).expect("creates");
        } else {
            std::fs::rename(&link_at, &real_at).expect("moves");
        }
        std::os::unix::fs::symlink(&real_at, &link_at).expect("links");
        sandbox.run(&["sync", "--offline"]).ok();
        all_in_force(&sandbox, link);
        std::fs::rename(&real_at, sandbox.dir().join("aside")).expect("moves");
        all_in_force(&sandbox, &format!("{link}: away, at an event"));
        let run = sandbox.run(&["sync", "--offline"]).code(1);
        let named = run.stderr.contains(link.trim_start_matches("src/"));
        assert!(named && run.stderr.contains("stays"), "{link}: {run:?}");
        all_in_force(&sandbox, &format!("{link}: away, after a sync"));
        std::fs::rename(sandbox.dir().join("aside"), &real_at).expect("moves");
        sandbox.run(&["sync", "--offline"]).ok();
        // Without the link it is clear that there is nothing.
        std::fs::remove_file(&link_at).expect("removes");
        std::fs::create_dir_all(sandbox.dir().join("src/g/skills")).expect("creates");
        sandbox.run(&["sync", "--offline"]).ok();
        assert!(!installed(&sandbox), "{link}");
    }
}

#[test]
fn only_the_copy_of_the_very_skill_that_cannot_be_read_stays() {
    let sandbox = from_a_folder();
    // Neither is called like its folder.
    for name in ["one", "two"] {
        let text = crate::skill(&format!("named-{name}"), "What it is for.");
        sandbox.write(&format!("src/g/skills/folder-{name}/SKILL.md"), text);
    }
    sandbox.run(&["sync", "--offline"]).ok();
    let has = |name: &str| sandbox.has(&format!("ws/.claude/skills/{name}/SKILL.md"));
    assert!(has("named-one") && has("named-two"));
    sandbox.write("src/g/skills/folder-one/SKILL.md", "---\nname: [\n---\n");
    std::fs::remove_dir_all(sandbox.dir().join("src/g/skills/folder-two")).expect("removes");
    std::fs::remove_dir_all(sandbox.dir().join("src/g/skills/gskill")).expect("removes");
    let run = sandbox.run(&["sync", "--offline"]).code(1);
    assert!(has("named-one"), "{}", run.stderr);
    assert!(!has("named-two") && !has("gskill"), "{}", run.stderr);
}

#[test]
fn what_a_source_last_said_is_forgotten_when_it_is_out_of_the_configuration() {
    let sandbox = from_a_folder();
    let records = || {
        let found = std::fs::read_dir(sandbox.home().join(".symposium/last-good"));
        found.into_iter().flatten().count()
    };
    assert_eq!(records(), 1);
    let config = sandbox.read("home/.symposium/config.toml");
    sandbox.write("home/.symposium/config.toml", format!("{config}\nbroken ="));
    sandbox.run(&["sync", "--offline"]).code(1);
    assert_eq!(records(), 1, "a configuration that can't be read takes nothing away");
    configure(&sandbox, &["claude"], "");
    sandbox.run(&["sync", "--offline"]).ok();
    assert_eq!(records(), 0);
}

#[test]
fn skills_of_dependencies_and_of_the_workspace_stay_while_they_cannot_be_read() {
    let sandbox = crate::with_agents(&["claude"]);
    let manifest = "[package]\nname = \"gizmo\"\nversion = \"0.3.1\"\n";
    sandbox.write("gizmo/Cargo.toml", manifest);
    sandbox.write("gizmo/skills/gizmo-basics/SKILL.md", crate::skill("gizmo-basics", "Basics."));
    sandbox.write("ws/.agents/skills/own/SKILL.md", crate::skill("own", "Mine."));
    let package = sandbox.read("ws/Cargo.toml");
    sandbox.write("ws/Cargo.toml", format!("{package}gizmo = {{ path = \"../gizmo\" }}\n"));
    sandbox.run(&["use", "gizmo"]).ok();
    sandbox.run(&["sync", "--offline"]).ok();
    let is_there = |name: &str| sandbox.has(&format!("ws/.claude/skills/{name}/SKILL.md"));
    assert!(is_there("gizmo-basics") && is_there("own"));
    sandbox.write("gizmo/skills/gizmo-basics/SKILL.md", "---\nname: [\n---\n");
    sandbox.write("ws/.agents/skills/own/SKILL.md", "");
    let run = sandbox.run(&["sync", "--offline"]).code(1);
    assert!(is_there("gizmo-basics") && is_there("own"), "{}", run.stderr);
    // A version that was never good is nobody's mistake here, and takes nothing away either.
    sandbox.write("ws/.agents/skills/own/SKILL.md", crate::skill("own", "Mine."));
    sandbox.write("gizmo/Cargo.toml", manifest.replace("0.3.1", "0.3.2"));
    let run = sandbox.run(&["sync", "--offline"]).ok();
    assert!(is_there("gizmo-basics"), "{}", run.stderr);
    assert!(run.stderr.contains("another version stays"), "{}", run.stderr);
}

#[test]
fn a_crate_whose_word_about_its_skills_cannot_be_read_keeps_what_it_gave() {
    let sandbox = crate::with_agents(&["claude"]);
    sandbox.write("gizmo/Cargo.toml", "[package]\nname = \"gizmo\"\nversion = \"0.3.1\"\n");
    sandbox.write("gizmo/SYMPOSIUM.toml", "[[skills]]\npath = \"docs\"\n");
    sandbox.write("gizmo/docs/gizmo-basics/SKILL.md", crate::skill("gizmo-basics", "Basics."));
    let package = sandbox.read("ws/Cargo.toml");
    sandbox.write("ws/Cargo.toml", format!("{package}gizmo = {{ path = \"../gizmo\" }}\n"));
    sandbox.run(&["use", "gizmo"]).ok();
    sandbox.run(&["sync", "--offline"]).ok();
    let copy = "ws/.claude/skills/gizmo-basics/SKILL.md";
    assert!(sandbox.has(copy));
    sandbox.write("gizmo/SYMPOSIUM.toml", "[[skills]\n");
    let run = sandbox.run(&["sync", "--offline"]).code(1);
    assert!(sandbox.has(copy), "{}", run.stderr);
    assert!(run.stderr.contains("gizmo/SYMPOSIUM.toml"), "{}", run.stderr);
}
