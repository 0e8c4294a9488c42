//! What could not be done is not claimed: the summary counts what was done, and the exit code says so.

use crate::{for_two_agents, plugin_with_skill, sandbox, with_agents};
use symposium_testlib::{Run, Sandbox, slashes};

fn last_line(run: &Run) -> &str {
    run.stderr.lines().last().unwrap_or_default()
}

#[track_caller]
fn ends(run: &Run, with: &str) {
    let line = slashes(last_line(run));
    assert!(line.trim_start().starts_with(with), "{line}\n{}", run.stderr);
}

#[test]
fn a_broken_settings_file_is_no_reason_to_start_the_agent() {
    let sandbox = for_two_agents();
    crate::configure(&sandbox, &[], "");
    sandbox.write("home/.claude/settings.json", "{ broken");
    let run = sandbox.run(&["init", "--add-agent", "claude", "--add-agent", "codex"]).code(1);
    ends(
        &run,
        "Finished with errors: ~/.symposium/config.toml updated, 1 skill installed, hooks of codex registered",
    );
    assert!(!run.stderr.contains("Next"), "{}", run.stderr);
    let run = sandbox.run(&["sync"]).code(1);
    ends(&run, "Finished with errors: nothing changed");
}

#[test]
fn a_folder_that_can_not_be_written_counts_for_nothing() {
    let sandbox = for_two_agents();
    plugin_with_skill(&sandbox, "more", "widget", "advanced");
    sandbox.write("ws/.claude/skills", "a file in the way");
    let run = sandbox.run(&["sync"]).code(1);
    ends(&run, "Finished with errors: 2 skills installed, hooks of ");
    assert!(
        run.stderr.contains("Installed advanced                 more (user-plugins) → .agents\n")
    );
}

/// What can't be written is named, and not by the temporary file that should have become it.
#[test]
fn a_cache_that_can_not_be_written_is_named() {
    let sandbox = crate::sandbox();
    sandbox.package(&[]);
    sandbox.write("home/.symposium/config.toml", "[defaults]\nsymposium-recommendations = false\n");
    sandbox.write("home/.symposium/cache", "a file in the way");
    let run = sandbox.run(&["sync", "--agent", "claude"]);
    assert!(run.stderr.contains("`builtin` is left out: can't write"), "{}", run.stderr);
    let stderr = slashes(&run.stderr);
    assert!(stderr.contains(".symposium/cache/builtin"), "{}", run.stderr);
    assert!(!run.stderr.contains("scratch"), "{}", run.stderr);
}

/// Runs the program as somebody who may not write everywhere, as root may.
#[cfg(unix)]
fn as_a_user(sandbox: &Sandbox, args: &[&str]) -> Run {
    use std::os::unix::process::CommandExt as _;
    const NOBODY: u32 = 65_534;
    let mut command = sandbox.command(args);
    if rustix::process::geteuid().is_root() {
        let mut chown = std::process::Command::new("chown");
        let status = chown.args(["-R", &NOBODY.to_string()]).arg(sandbox.dir()).status();
        assert!(status.expect("starts").success());
        command.uid(NOBODY);
    }
    Run::of(&mut command, b"")
}

#[cfg(unix)]
#[test]
fn what_keeps_skills_out_of_a_folder_is_told_once() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = for_two_agents();
    plugin_with_skill(&sandbox, "more", "widget", "advanced");
    std::fs::create_dir_all(sandbox.ws().join(".claude/skills")).expect("creates");
    let mode = |mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(sandbox.ws().join(".claude/skills"), mode).expect("sets it");
    };
    mode(0o500);
    let run = as_a_user(&sandbox, &["sync"]).code(1);
    let told = "can't install the skills `advanced`, `basics`: ";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    assert!(run.stderr.contains("; make the folder writable for you"), "{}", run.stderr);
    assert_eq!(run.stderr.matches("can't install").count(), 1, "{}", run.stderr);
    // What would not work is not called the remedy.
    for args in [&["status"][..], &["doctor", "--offline"], &["sync", "--dry-run"]] {
        let run = as_a_user(&sandbox, args);
        let text = format!("{}{}", run.stdout, run.stderr);
        let told = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("`.claude/skills` can't be written"), "{args:?}: {told}");
        assert!(told.contains("make the folder writable for you"), "{args:?}: {told}");
        assert!(!told.contains("missing or out of date"), "{args:?}: {told}");
    }
    mode(0o700);
    as_a_user(&sandbox, &["sync"]).ok();
    let told = as_a_user(&sandbox, &["doctor", "--offline"]).stdout;
    assert!(!told.contains("can't be written"), "{told}");
}

#[test]
fn what_could_not_be_saved_is_not_called_remembered() {
    let sandbox = with_agents(&["claude"]);
    sandbox.write("home/.symposium/config.toml", "auto-update = \n");
    let run = sandbox.run(&["use", "widget"]).code(1);
    assert!(!run.stderr.contains("remembered"), "{}", run.stderr);
    assert!(run.stderr.contains("so it is not changed"), "{}", run.stderr);
}

/// A workspace with one hook, whose requirement can't be installed.
fn with_requirement(command: &str) -> Sandbox {
    let sandbox = with_agents(&["claude"]);
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        &format!(
            "name = \"p\"\ncrates = [\"widget\"]\n\n\
             [[installations]]\nname = \"tool\"\ninstall_commands = [\"{command}\"]\n\n\
             [[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\n\
             command = {{ script = \"h.sh\" }}\nrequirements = [\"tool\"]\n"
        ),
    );
    sandbox.user_plugin("p/h.sh", "exit 0\n");
    sandbox
}

#[cfg(unix)]
#[test]
fn a_requirement_that_failed_fails_the_sync_and_its_hook_does_not_count() {
    let sandbox = with_requirement("echo no such luck >&2; exit 7");
    for _ in 0..2 {
        let run = sandbox.run(&["sync"]).code(1);
        assert!(run.stderr.contains("error: can't install `tool` of plugin `p`"), "{}", run.stderr);
        assert!(run.stderr.contains("no such luck"), "{}", run.stderr);
        assert!(!last_line(&run).contains("1 hook"), "{}", run.stderr);
    }
    let sandbox = with_requirement("true");
    let run = sandbox.run(&["sync"]).ok();
    ends(&run, "Finished 1 hook for claude");
}

#[test]
fn what_can_not_be_remembered_is_no_success() {
    let sandbox = with_agents(&["claude"]);
    sandbox.write("home/.symposium/ledgers", "a file in the way");
    let run = sandbox.run(&["sync"]).code(1);
    assert!(run.stderr.contains("can't be taken back"), "{}", run.stderr);
    assert!(run.stderr.contains("Registered claude"), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn nothing_is_called_written_in_a_home_that_takes_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = with_agents(&["claude"]);
    std::fs::create_dir_all(sandbox.home().join(".claude")).expect("creates");
    for folder in [".claude", ".symposium", "."] {
        let mode = std::fs::Permissions::from_mode(0o500);
        std::fs::set_permissions(sandbox.home().join(folder), mode).expect("sets it");
    }
    let run = as_a_user(&sandbox, &["sync"]).code(1);
    assert!(!run.stderr.contains("Registered"), "{}", run.stderr);
    assert!(!run.stderr.contains("can't be taken back"), "{}", run.stderr);
    assert!(!run.stderr.contains("start claude"), "{}", run.stderr);
    for folder in [".", ".symposium", ".claude"] {
        let mode = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(sandbox.home().join(folder), mode).expect("sets it");
    }
}

#[test]
fn files_that_a_team_shares_are_named_to_be_committed() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    sandbox.git(&["init", "-q"]);
    let run = sandbox
        .run(&["init", "--add-agent", "claude", "--add-agent", "codex", "--hook-scope", "project"])
        .ok();
    let files = "ws/.claude/settings.json and ";
    let stderr = slashes(&run.stderr);
    assert!(stderr.contains(files), "{stderr}");
    assert!(stderr.contains("commit "), "{stderr}");
    assert!(stderr.contains("ws/.codex/hooks.json: your team shares them"), "{stderr}");
    let run = sandbox.run(&["sync"]).ok();
    assert!(!run.stderr.contains("commit "), "{}", run.stderr);
    // Of what is for this user alone, nothing is committed.
    let run = sandbox.run(&["init", "--hook-scope", "global"]).ok();
    assert!(!run.stderr.contains("commit "), "{}", run.stderr);
}
