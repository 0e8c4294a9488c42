//! The user's word on what plugins run: `[trust] programs = "ask"`, `plugin review`, `allow`, `deny`.

use serde_json::json;
use symposium_testlib::Sandbox;

use crate::hook_kit::{Event, Told, hook_plugin, says, send};
use crate::{configure, told, with_agents};

const ASK: &str = "[trust]\nprograms = \"ask\"\n";

/// A workspace with a guard that denies everything, a server, a subcommand and a harmless skill.
fn asked() -> Sandbox {
    let mut sandbox = with_agents(&["claude"]);
    sandbox.set("SYMPOSIUM_NO_BACKGROUND", "1");
    configure(&sandbox, &["claude"], ASK);
    guard(&sandbox, "");
    sandbox
}

fn guard(sandbox: &Sandbox, more: &str) {
    let deny = says(Event::PreToolUse, json!({"decision": "deny", "reason": "no"}));
    hook_plugin(sandbox, "guard", Event::PreToolUse, more, &deny);
}

/// Why the agent may not run a command, as far as hooks say it.
fn refused(sandbox: &Sandbox, id: &'static str) -> Option<String> {
    let told = Told::in_ws(sandbox).id(id);
    send(sandbox, "claude", Event::PreToolUse, &told).refused
}

#[test]
fn a_guard_that_nobody_allowed_is_inert_blocks_nothing_and_every_screen_says_so() {
    let sandbox = asked();
    let synced = told(&sandbox, &["sync"]);
    let waiting = "Waiting guard: hook guard-hook (not allowed yet); `cargo agents plugin review guard` shows it";
    assert!(synced.contains(waiting), "{synced}");
    assert_eq!(refused(&sandbox, "1"), None);
    let status = told(&sandbox, &["status"]);
    let line =
        "! does not run: hook guard-hook (not allowed yet); `cargo agents plugin review guard`";
    assert!(status.contains(line), "{status}");
    let doctor = told(&sandbox, &["doctor"]);
    assert!(
        doctor.contains("plugin guard, hook guard-hook does not run: not allowed yet"),
        "{doctor}"
    );
    let why = told(&sandbox, &["why", "guard-hook"]);
    assert!(why.contains("applies here, and does not run"), "{why}");
    let review = told(&sandbox, &["plugin", "review"]);
    for part in
        ["event: PreToolUse", "runs: sh hook.sh", "hook.sh | cat >/dev/null", "plugin allow guard"]
    {
        assert!(review.contains(part), "{part}: {review}");
    }
}

#[test]
fn what_is_allowed_runs_until_it_changes_and_then_that_alone_is_inert_again() {
    let sandbox = asked();
    hook_plugin(&sandbox, "other", Event::PreToolUse, "", "exit 0\n");
    let allowed = told(&sandbox, &["plugin", "allow", "guard"]);
    assert!(allowed.contains("Allowed guard: hook guard-hook"), "{allowed}");
    assert_eq!(refused(&sandbox, "1").as_deref(), Some("no"));
    sandbox.run(&["plugin", "allow", "other"]).ok();
    // No sync in between: the very next event sees it.
    sandbox.user_plugin("other/hook.sh", "exit 2\n");
    assert_eq!(refused(&sandbox, "2").as_deref(), Some("no"), "the guard is as it was");
    let command = told(&sandbox, &["plugin", "list"]);
    let note = "Note plugin other changed since you allowed it, and what changed does not run";
    assert!(command.contains(note), "{command}");
    let status = told(&sandbox, &["status"]);
    assert!(status.contains("hook other-hook (changed since you allowed it)"), "{status}");
    let review = told(&sandbox, &["plugin", "review"]);
    assert!(review.contains("-exit 0 +exit 2") && !review.contains("guard-hook"), "{review}");
    sandbox.run(&["plugin", "allow", "other"]).ok();
    assert!(!told(&sandbox, &["plugin", "list"]).contains("changed since"));
    assert!(told(&sandbox, &["plugin", "review"]).contains("Nothing waits for your word"));
}

#[test]
fn a_guard_whose_script_is_taken_away_still_blocks_as_one_that_fails() {
    let sandbox = asked();
    guard(&sandbox, "on-failure = \"block\"");
    sandbox.run(&["plugin", "allow", "guard"]).ok();
    std::fs::remove_file(sandbox.home().join(".symposium/plugins/guard/hook.sh")).expect("removes");
    for id in ["1", "2"] {
        let reason = refused(&sandbox, id).expect("a guard that fails blocks");
        assert!(reason.contains("guards this and failed"), "{reason}");
    }
}

#[test]
fn an_event_runs_no_changed_script_even_where_nothing_is_synced_by_events() {
    let sandbox = asked();
    configure(&sandbox, &["claude"], &format!("auto-sync = false\n{ASK}"));
    sandbox.run(&["plugin", "allow", "guard"]).ok();
    assert_eq!(refused(&sandbox, "1").as_deref(), Some("no"));
    sandbox.user_plugin("guard/hook.sh", "echo ran >> $HOME/ran\nexit 2\n");
    assert_eq!(refused(&sandbox, "2"), None);
    assert!(!sandbox.has("home/ran"));
}

#[test]
fn a_workspace_that_breaks_lets_no_changed_script_run() {
    let sandbox = asked();
    sandbox.run(&["plugin", "allow", "guard"]).ok();
    assert_eq!(refused(&sandbox, "1").as_deref(), Some("no"));
    let manifest = sandbox.read("ws/Cargo.toml");
    sandbox.write("ws/Cargo.toml", format!("{manifest}\n[[broken\n"));
    assert_eq!(refused(&sandbox, "2").as_deref(), Some("no"), "the last snapshot serves");
    sandbox.user_plugin("guard/hook.sh", "echo ran >> $HOME/ran\nexit 2\n");
    assert_eq!(refused(&sandbox, "3"), None);
    assert!(!sandbox.has("home/ran"));
}

#[test]
fn a_denied_plugin_runs_nothing_though_nobody_is_asked_and_its_skills_stay() {
    let sandbox = with_agents(&["claude"]);
    guard(&sandbox, "[[skills]]\nsource.path = \"skills\"\n");
    sandbox.user_plugin("guard/skills/help/SKILL.md", &crate::skill("help", "How to"));
    sandbox.run(&["sync"]).ok();
    assert_eq!(refused(&sandbox, "1").as_deref(), Some("no"));
    let denied = told(&sandbox, &["plugin", "deny", "guard"]);
    assert!(denied.contains("Denied guard: nothing of it runs"), "{denied}");
    assert_eq!(refused(&sandbox, "2"), None);
    assert!(sandbox.has("ws/.claude/skills/help/SKILL.md"));
    let status = told(&sandbox, &["status"]);
    assert!(
        status.contains("denied: hook guard-hook; `cargo agents plugin allow guard`"),
        "{status}"
    );
    assert!(!told(&sandbox, &["sync"]).contains("Waiting"));
    sandbox.run(&["plugin", "allow", "guard"]).ok();
    assert_eq!(refused(&sandbox, "3").as_deref(), Some("no"));
}

#[test]
fn subcommands_wait_and_one_that_changed_is_refused_at_the_call() {
    let sandbox = asked();
    let tool = "[[installations]]\nname = \"tool\"\nscript = \"tool.sh\"\ninstall_commands = [\"touch \
                $HOME/installed\"]\n[subcommand.demo]\ndescription = \"d\"\ncommand = \"tool\"\n";
    sandbox.user_plugin(
        "tools/SYMPOSIUM.toml",
        &format!("name = \"tools\"\ncrates = [\"*\"]\n{tool}"),
    );
    sandbox.user_plugin("tools/tool.sh", "echo demo\n");
    for step in [&["demo"][..], &["sync"], &["demo"]] {
        let answer = told(&sandbox, step);
        assert!(step == ["sync"] || answer.contains("it waits until you allow it"), "{answer}");
    }
    assert!(!sandbox.has("home/installed"), "nothing is installed for what waits");
    sandbox.run(&["plugin", "allow", "tools"]).ok();
    assert_eq!(sandbox.run(&["demo"]).ok().stdout, "demo\n");
    assert!(sandbox.has("home/installed"));
    sandbox.user_plugin("tools/tool.sh", "echo other\n");
    let answer = told(&sandbox, &["demo"]);
    assert!(
        answer.contains("changed since you allowed it") && !answer.contains("other"),
        "{answer}"
    );
}

// `echo` is a program there.
#[cfg(unix)]
#[test]
fn a_server_is_registered_once_it_is_allowed_and_each_start_asks_again() {
    let sandbox = asked();
    let server = |command: &str| {
        format!(
            "name = \"docs\"\ncrates = [\"*\"]\n[[mcp_servers]]\nname = \"docs\"\ncommand = \
             \"{command}\"\nargs = [\"served\"]\nenv = {{ TOKEN = \"t-1\" }}\n"
        )
    };
    sandbox.user_plugin("docs/SYMPOSIUM.toml", &server("echo"));
    let settings = || sandbox.has("home/.claude.json").then(|| sandbox.read("home/.claude.json"));
    sandbox.run(&["sync"]).ok();
    assert!(!settings().unwrap_or_default().contains("docs"));
    sandbox.run(&["plugin", "allow", "docs"]).ok();
    let registered = settings().expect("registered");
    assert!(registered.contains("run-server docs") && !registered.contains("t-1"), "{registered}");
    assert_eq!(sandbox.run(&["run-server", "docs"]).ok().stdout, "served\n");
    sandbox.user_plugin("docs/SYMPOSIUM.toml", &server("printf"));
    let answer = sandbox.run(&["run-server", "docs"]).code(1);
    assert!(answer.stderr.contains("changed since you allowed it"), "{}", answer.stderr);
    sandbox.run(&["sync"]).ok();
    assert!(!settings().unwrap_or_default().contains("run-server docs"));
}

#[test]
fn a_skill_with_commands_waits_whoever_ships_it() {
    let sandbox = asked();
    let skill =
        |name: &str, command: &str| format!("---\nname: {name}\ndescription: d\n---\n{command}\n");
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"*\"]\n[[skills]]\nsource.path = \"skills\"\n",
    );
    sandbox.user_plugin("p/skills/runs/SKILL.md", &skill("runs", "!`date`"));
    sandbox.user_plugin("p/skills/plain/SKILL.md", &skill("plain", "text"));
    sandbox.registry_crate(
        "widget",
        "1.2.3",
        &[("skills/own/SKILL.md", &skill("own", "!`uname`"))],
    );
    sandbox.run(&["use", "widget"]).ok();
    let has = |name: &str| sandbox.has(&format!("ws/.claude/skills/{name}/SKILL.md"));
    assert!(has("plain") && !has("runs") && !has("own"));
    let review = told(&sandbox, &["plugin", "review"]);
    assert!(
        review.contains("widget (a dependency) skill own: not allowed yet runs !`uname`"),
        "{review}"
    );
    sandbox.run(&["plugin", "allow", "p"]).ok();
    assert!(has("runs") && !has("own"));
    sandbox.run(&["plugin", "allow", "widget"]).ok();
    assert!(has("own"));
    let long = format!("!`echo {}`", "x".repeat(200));
    sandbox.user_plugin("p/skills/runs/SKILL.md", &skill("runs", &long));
    sandbox.run(&["plugin", "allow", "p"]).ok();
    sandbox.user_plugin("p/skills/runs/SKILL.md", &skill("runs", &long.replace("xx`", "xy`")));
    sandbox.run(&["sync"]).ok();
    assert!(!has("runs"), "a change behind what is shown of a command is a change");
}

#[test]
fn who_mistypes_that_they_want_to_be_asked_is_asked() {
    let sandbox = asked();
    for (wrong, complaint) in
        [("[trust]\nprograms = \"aks\"\n", "until then you are asked"), ("trust = 1\n", "`trust`")]
    {
        configure(&sandbox, &["claude"], wrong);
        let synced = told(&sandbox, &["sync"]);
        assert!(synced.contains(complaint) && synced.contains("Waiting guard"), "{synced}");
    }
}

#[test]
fn a_review_can_t_steer_the_terminal_and_names_what_is_not_there() {
    let sandbox = asked();
    sandbox.user_plugin("guard/hook.sh", "echo \u{1b}[2J\u{202e}evil\n");
    let review = sandbox.run(&["plugin", "review", "guard"]).ok().stdout;
    assert!(!review.contains(['\u{1b}', '\u{202e}']), "{review:?}");
    let answer = sandbox.run(&["plugin", "allow", "gaurd"]).code(1);
    assert!(answer.stderr.contains("did you mean `guard`?"), "{}", answer.stderr);
}
