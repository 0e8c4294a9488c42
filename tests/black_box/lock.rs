//! `symposium.lock`: `lock`, `sync --locked`, `plugin update`.

use symposium_testlib::Sandbox;

use crate::{configure, skill, told, with_agents};

const INSTALLED: &str = "ws/.claude/skills/basics/SKILL.md";

/// A workspace whose one source is a git repository with a plugin that has a skill and a hook.
pub(crate) fn with_repository() -> Sandbox {
    let mut sandbox = with_agents(&["claude"]);
    sandbox.set("SYMPOSIUM_NO_BACKGROUND", "1");
    let url = sandbox.at("repo");
    let source = format!("[[plugin-source]]\nname = \"team\"\ngit = \"{url}\"\n");
    configure(&sandbox, &["claude"], &source);
    publish(&sandbox, "first", "exit 0\n");
    sandbox
}

pub(crate) fn publish(sandbox: &Sandbox, text: &str, script: &str) {
    sandbox.write(
        "repo/p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \"skills\"\n[[hooks]]\n\
         name = \"guard\"\nevent = \"PreToolUse\"\ncommand = { script = \"guard.sh\" }\n",
    );
    sandbox.write("repo/p/guard.sh", script);
    sandbox.write("repo/p/skills/basics/SKILL.md", skill("basics", text));
    if !sandbox.has("repo/.git") {
        sandbox.git_in("repo", &["init", "--quiet", "--initial-branch=main"]);
    }
    sandbox.git_in("repo", &["add", "--all"]);
    let who = ["-c", "user.name=T", "-c", "user.email=t@example.com"];
    sandbox.git_in("repo", &[&who[..], &["commit", "--quiet", "-m", "x"]].concat());
}

#[test]
fn a_locked_sync_takes_exactly_what_was_locked_on_another_machine_too() {
    let sandbox = with_repository();
    let locked = told(&sandbox, &["lock"]);
    assert!(locked.contains("1 skill and 1 program, 1 repository"), "{locked}");
    let lock = sandbox.read("ws/symposium.lock");
    assert!(!lock.contains(&sandbox.home().display().to_string()), "{lock}");
    assert!(told(&sandbox, &["lock"]).contains("nothing to do"));
    publish(&sandbox, "second", "exit 1\n");
    // As on a machine that has never seen the repository.
    std::fs::remove_dir_all(sandbox.home().join(".symposium/cache")).expect("removes");
    sandbox.run(&["sync", "--locked"]).ok();
    assert!(sandbox.read(INSTALLED).contains("first"));
    sandbox.run(&["sync", "--locked", "--check"]).ok();
    assert_eq!(sandbox.read("ws/symposium.lock"), lock);
    sandbox.run(&["sync", "--update", "fetch"]).ok();
    assert!(sandbox.read(INSTALLED).contains("second"), "only `--locked` holds to the file");
}

#[test]
fn whatever_differs_from_the_lock_file_fails_by_name_and_changes_nothing() {
    let sandbox = with_repository();
    let answer = sandbox.run(&["sync", "--locked"]).code(1);
    assert!(answer.stderr.contains("this workspace has no symposium.lock"), "{}", answer.stderr);
    sandbox.run(&["lock"]).ok();
    let lock = sandbox.read("ws/symposium.lock");
    let digest = lock.lines().rev().find(|line| line.starts_with("sha256")).expect("a hash");
    sandbox.write("ws/symposium.lock", lock.replace(digest, "sha256 = \"0\""));
    let answer = told(&sandbox, &["sync", "--locked"]);
    assert!(
        answer.contains("hook guard of plugin p (team) is not what symposium.lock has"),
        "{answer}"
    );
    assert!(!sandbox.has(INSTALLED), "nothing is placed");
    sandbox.write("ws/symposium.lock", &lock);
    sandbox.registry_crate("widget", "1.2.3", &[("skills/own/SKILL.md", &skill("own", "o"))]);
    sandbox.run(&["use", "widget"]).ok();
    let answer = told(&sandbox, &["sync", "--locked", "--check"]);
    assert!(
        answer.contains("skill own of widget 1.2.3 skills/own is not in symposium.lock"),
        "{answer}"
    );
    sandbox.write("ws/symposium.lock", "<<<<<<< HEAD\n");
    let answer = sandbox.run(&["sync", "--locked"]).code(1);
    assert!(answer.stderr.contains("symposium.lock:1:9"), "{}", answer.stderr);
    assert!(answer.stderr.contains("`cargo agents lock` writes it anew"), "{}", answer.stderr);
}

#[test]
fn an_update_shows_the_difference_before_it_takes_what_is_newer() {
    for has_lock in [true, false] {
        let sandbox = with_repository();
        sandbox.run(&["sync"]).ok();
        if has_lock {
            sandbox.run(&["lock"]).ok();
        }
        assert!(told(&sandbox, &["plugin", "update"]).contains("nothing is newer"));
        publish(&sandbox, "second", "exit 1\n");
        let shown = told(&sandbox, &["plugin", "update", "--dry-run"]);
        for part in [
            "skill basics of team",
            "-description: first +description: second",
            "hook guard of plugin p (team): changed",
            "-exit 0 +exit 1",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(sandbox.read(INSTALLED).contains("first"), "nothing was taken");
        sandbox.run(&["sync", "--update", "none"]).ok();
        assert!(sandbox.read(INSTALLED).contains("first"), "nothing was taken");
        let answer = sandbox.run(&["plugin", "update", "nobodys"]).code(1);
        assert!(answer.stderr.contains("no plugin source `nobodys`"), "{}", answer.stderr);
        let taken = told(&sandbox, &["plugin", "update", "team"]);
        assert!(taken.contains("+description: second"), "{taken}");
        assert!(sandbox.read(INSTALLED).contains("second"));
        assert_eq!(sandbox.has("ws/symposium.lock"), has_lock);
        if has_lock {
            sandbox.run(&["sync", "--locked", "--check"]).ok();
        }
    }
}

#[test]
fn the_users_own_plugins_and_the_programs_own_are_in_no_lock_file() {
    let sandbox = with_repository();
    sandbox.user_plugin(
        "mine/SYMPOSIUM.toml",
        "name = \"mine\"\ncrates = [\"*\"]\n[[skills]]\nsource.path = \"skills\"\n",
    );
    sandbox.user_plugin("mine/skills/mine/SKILL.md", &skill("mine", "m"));
    sandbox.write("ws/.agents/skills/ours/SKILL.md", skill("ours", "o"));
    sandbox.run(&["lock"]).ok();
    let lock = sandbox.read("ws/symposium.lock");
    assert!(
        lock.contains("\"basics\"") && !lock.contains("mine") && !lock.contains("ours"),
        "{lock}"
    );
}

/// A checkout may bring the link.
#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_the_lock_file_is_not_followed_out_of_the_workspace() {
    let sandbox = with_repository();
    for outside in ["made-by-us", "the-users"] {
        let lock = sandbox.ws().join("symposium.lock");
        let _ = std::fs::remove_file(&lock);
        std::os::unix::fs::symlink(sandbox.dir().join(outside), &lock).expect("links");
        if outside == "the-users" {
            sandbox.write(outside, "version = 1\n");
        }
        let answer = sandbox.run(&["lock"]).code(1);
        assert!(answer.stderr.contains("`symposium.lock` leads out of"), "{}", answer.stderr);
        assert!(answer.stderr.contains("put a file there, or nothing"), "{}", answer.stderr);
    }
    assert!(!sandbox.has("made-by-us"));
    assert_eq!(sandbox.read("the-users"), "version = 1\n");
}
