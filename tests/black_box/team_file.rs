//! `symposium.toml`: what a team offers, and that nobody has it before they took it.

#[cfg(unix)]
mod asking;

use serde_json::{Value, json};
use symposium_testlib::{Manner, Sandbox, Server};

use crate::candidates::start_session;
use crate::hook_kit::{Event, Told, says, send};
use crate::{configure, skill, told, with_agents};

const FILE: &str = "ws/symposium.toml";
/// A skill of the dependency `widget`, which no source vouches for.
const BASICS: &str = "ws/.claude/skills/basics/SKILL.md";
/// A skill of a plugin in the workspace's folder `tools`.
const HOUSE: &str = "ws/.claude/skills/house/SKILL.md";

const OFFER: &str =
    "[[plugin-source]]\nname = \"tools\"\npath = \"tools\"\n\n[plugins]\nuse = [\"widget\"]\n";

/// A workspace whose team offers the skills of `widget`, and a plugin with a guard and a skill.
fn with_offer() -> Sandbox {
    let mut sandbox = with_agents(&["claude"]);
    sandbox.set("SYMPOSIUM_NO_BACKGROUND", "1");
    sandbox.registry_crate("widget", "1.2.3", &[("skills/a/SKILL.md", &skill("basics", "b"))]);
    let deny = says(Event::PreToolUse, json!({"decision": "deny", "reason": "no"}));
    sandbox.write(
        "ws/tools/guard/SYMPOSIUM.toml",
        "name = \"guard\"\ncrates = [\"*\"]\n[[skills]]\nsource.path = \"skills\"\n[[hooks]]\n\
         name = \"no\"\nevent = \"PreToolUse\"\ncommand = { script = \"hook.sh\" }\n\
         [[mcp_servers]]\nname = \"served\"\ncommand = \"npx\"\nargs = [\"-y\", \"s\"]\n",
    );
    sandbox.write("ws/tools/guard/hook.sh", deny);
    sandbox.write("ws/tools/guard/skills/house/SKILL.md", skill("house", "h"));
    sandbox.write(FILE, OFFER);
    sandbox
}

/// The hash that accepts the file as it is.
fn hash(sandbox: &Sandbox) -> String {
    team(sandbox)["hash"].as_str().expect("a hash").to_owned()
}

/// What `status --json` says of the file.
fn team(sandbox: &Sandbox) -> Value {
    let status = sandbox.run(&["status", "--json"]).ok().stdout;
    serde_json::from_str::<Value>(&status).expect("JSON")["team_file"].clone()
}

fn accept(sandbox: &Sandbox) -> String {
    told(sandbox, &["sync", "--accept-team-file", &hash(sandbox)])
}

fn refused(sandbox: &Sandbox, id: &'static str) -> Option<String> {
    send(sandbox, "claude", Event::PreToolUse, &Told::in_ws(sandbox).id(id)).refused
}

#[test]
fn no_checkout_event_or_sync_without_a_terminal_puts_the_team_s_file_in_force() {
    let sandbox = with_offer();
    let session = start_session(&sandbox);
    assert!(session.contains("symposium.toml has a team's plugin sources"), "{session}");
    let synced = told(&sandbox, &["sync"]);
    let waits = format!(
        "Waiting symposium.toml offers 1 source, 1 name to use; nothing of it is in force: `cargo \
         agents sync` shows it and asks, `cargo agents sync --accept-team-file {}` accepts",
        hash(&sandbox)
    );
    assert!(synced.contains(&waits), "{synced}");
    for args in [&["sync", "--dry-run"][..], &["init", "--add-agent", "codex"]] {
        assert!(told(&sandbox, args).contains("--accept-team-file"), "{args:?}");
    }
    assert_eq!(refused(&sandbox, "1"), None);
    assert!(!sandbox.has(BASICS) && !sandbox.has(HOUSE));
    assert!(!told(&sandbox, &["plugin", "list"]).contains("guard"));
}

#[test]
fn a_hash_on_the_command_line_accepts_that_file_and_no_other() {
    let sandbox = with_offer();
    let (now, other) = (hash(&sandbox), "0".repeat(32));
    for args in
        [&["sync", "--accept-team-file", &other][..], &["init", "--accept-team-file", &other]]
    {
        let run = sandbox.run(args).code(1);
        let told = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("symposium.toml is not what was to be accepted"), "{told}");
        assert!(told.contains(&format!("it is {now}, and not {other}")), "{told}");
    }
    sandbox.run(&["sync", "--accept-team-file", "widget"]).code(2);
    assert!(!sandbox.has(BASICS));
    // To look is not to accept.
    let planned = told(&sandbox, &["sync", "--check", "--accept-team-file", &now]);
    assert!(planned.contains("Install basics"), "{planned}");
    assert_eq!(team(&sandbox)["state"], "waits");
    let synced = accept(&sandbox);
    assert!(synced.contains(&format!("Accepted symposium.toml ({now})")), "{synced}");
    assert!(sandbox.has(BASICS) && sandbox.has(HOUSE), "{synced}");
    assert_eq!(team(&sandbox)["state"], "in-force");
    assert!(!told(&sandbox, &["sync"]).contains("symposium.toml"));
    let back = told(&sandbox, &["sync", "--decline-team-file"]);
    assert!(back.contains("Declined symposium.toml: nothing of it is in force"), "{back}");
    assert!(!sandbox.has(BASICS) && !sandbox.has(HOUSE), "{back}");
    assert!(!told(&sandbox, &["sync"]).contains("symposium.toml"), "a no is remembered");
    let status = told(&sandbox, &["status"]);
    assert!(status.contains("you declined symposium.toml as it is"), "{status}");
}

#[test]
fn init_accepts_it_too() {
    let sandbox = with_offer();
    sandbox.run(&["init", "--accept-team-file", &hash(&sandbox)]).ok();
    assert!(sandbox.has(BASICS) && sandbox.has(HOUSE));
}

#[test]
fn the_next_event_sees_an_answer_and_a_change_and_one_without_either_is_no_sync() {
    let sandbox = with_offer();
    sandbox.run(&["sync"]).ok();
    let snapshot = || {
        let mut files = std::fs::read_dir(sandbox.home().join(".symposium/cache/snapshots"))
            .expect("is there")
            .map(|entry| entry.expect("reads").metadata().expect("reads"));
        files.next().expect("one").modified().expect("a time")
    };
    let hears = |session: &'static str| {
        let told = Told::in_ws(&sandbox).session(session);
        let payload = told.payload("claude", Event::SessionStart);
        let answer = sandbox.feed(&["hook", "claude", "session-start"], &payload).ok().stdout;
        answer.contains("symposium.toml has a team's plugin sources")
    };
    let before = snapshot();
    assert!(hears("1"));
    assert_eq!(snapshot(), before, "nothing changed");
    accept(&sandbox);
    assert!(!hears("2"));
    sandbox.write(FILE, format!("{OFFER}disable = [\"guard\"]\n"));
    assert!(hears("3"), "the file is an input");
    assert!(sandbox.has(HOUSE), "what was accepted stays");
}

#[test]
fn what_a_member_said_wins_over_the_team_entry_by_entry() {
    let sandbox = with_offer();
    configure(&sandbox, &["claude"], "[plugins]\ndisable = [\"widget\"]\n");
    accept(&sandbox);
    assert!(!sandbox.has(BASICS) && sandbox.has(HOUSE));
    // A source of the same name, and a no of the team's.
    sandbox.write(FILE, format!("{OFFER}disable = [\"mine\"]\n"));
    sandbox.write(
        "home/mine/mine/SYMPOSIUM.toml",
        "name = \"mine\"\ncrates = [\"*\"]\n[[skills]]\nsource.path = \"skills\"\n",
    );
    sandbox.write("home/mine/mine/skills/own/SKILL.md", skill("own", "o"));
    let own = "[[plugin-source]]\nname = \"tools\"\npath = \"~/mine\"\n";
    configure(&sandbox, &["claude"], own);
    accept(&sandbox);
    assert!(sandbox.has(BASICS) && !sandbox.has(HOUSE));
    assert!(!sandbox.has("ws/.claude/skills/own/SKILL.md"), "the team declines it");
    sandbox.run(&["use", "mine"]).ok();
    assert!(sandbox.has("ws/.claude/skills/own/SKILL.md"));
}

#[test]
fn programs_in_the_checkout_wait_for_the_member_s_word_whatever_the_configuration_says() {
    let sandbox = with_offer();
    let synced = accept(&sandbox);
    assert!(synced.contains("Waiting guard: hook no (not allowed yet)"), "{synced}");
    assert_eq!(refused(&sandbox, "1"), None);
    sandbox.run(&["plugin", "allow", "guard"]).ok();
    assert_eq!(refused(&sandbox, "2").as_deref(), Some("no"));
    // Another branch, and an agent's next event.
    sandbox.write("ws/tools/guard/hook.sh", "echo ran >> $HOME/ran\n");
    assert_eq!(refused(&sandbox, "3"), None);
    assert!(!sandbox.has("home/ran"));
    assert!(told(&sandbox, &["plugin", "list"]).contains("guard changed since you allowed it"));
}

#[test]
fn what_a_team_offers_is_for_its_workspace_alone() {
    let sandbox = with_offer();
    accept(&sandbox);
    sandbox.run(&["plugin", "allow", "guard"]).ok();
    let servers = |sandbox: &Sandbox| -> Value {
        serde_json::from_str(&sandbox.read("home/.claude.json")).expect("JSON")
    };
    let key = sandbox.at("ws");
    assert!(servers(&sandbox)["projects"][&key]["mcpServers"]["served"].is_object());
    assert!(servers(&sandbox)["mcpServers"]["served"].is_null());
    for file in ["Cargo.toml", "Cargo.lock", "src/lib.rs"] {
        sandbox.write(&format!("other/{file}"), sandbox.read(&format!("ws/{file}")));
    }
    let kept = || {
        std::fs::read_dir(sandbox.home().join(".symposium/last-good")).expect("is there").count()
    };
    let before = kept();
    sandbox.run_in("other", &["sync"]).ok();
    assert_eq!(kept(), before, "what is known of the other workspace's source is kept");
    assert!(!sandbox.has("other/.claude/skills"));
    let listed = sandbox.run_in("other", &["plugin", "list"]).ok().stdout;
    assert!(!listed.contains("guard"), "{listed}");
}

#[test]
fn a_file_that_can_t_be_read_names_the_place_and_keeps_what_was_accepted() {
    let sandbox = with_offer();
    accept(&sandbox);
    for (text, place, problem) in [
        (format!("{OFFER}us = [\"x\"]\n"), "symposium.toml:7:1", "unknown key `plugins.us`"),
        (OFFER.replace("[\"widget\"]", "3"), "symposium.toml:6:7", "must be"),
        ("[plugins\n".to_owned(), "symposium.toml:1:9", "error"),
        (
            OFFER.replace("\"tools\"\n\n", "\"../tools\"\n\n"),
            "symposium.toml:3:8",
            "outside of the workspace",
        ),
        (
            format!("{OFFER}[trust]\nprograms = \"source\"\n"),
            "symposium.toml:7:2",
            "unknown key `trust`",
        ),
    ] {
        sandbox.write(FILE, text);
        let run = sandbox.run(&["sync"]).code(1);
        let synced = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            place,
            problem,
            "until it is corrected, nothing of this file counts",
            "symposium.toml can't be read; what you accepted stays in force",
        ] {
            assert!(synced.contains(part), "{part}: {synced}");
        }
        assert!(sandbox.has(BASICS) && sandbox.has(HOUSE), "{synced}");
        let doctor = told(&sandbox, &["doctor"]);
        assert!(doctor.contains(problem), "{doctor}");
        start_session(&sandbox);
        let hash = hash(&sandbox);
        let run = sandbox.run(&["sync", "--accept-team-file", &hash]).code(1);
        assert!(run.stderr.contains("can't be read, so it was not accepted"), "{}", run.stderr);
    }
    std::fs::remove_file(sandbox.dir().join(FILE)).expect("removes");
    let synced = told(&sandbox, &["sync"]);
    assert!(
        synced.contains("symposium.toml is gone; what you accepted stays in force"),
        "{synced}"
    );
    assert!(sandbox.has(BASICS) && sandbox.has(HOUSE));
    sandbox.run(&["sync", "--decline-team-file"]).ok();
    assert!(!sandbox.has(BASICS) && !sandbox.has(HOUSE));
}

#[cfg(unix)]
#[test]
fn no_link_leads_out_of_the_workspace() {
    use std::os::unix::fs::symlink;

    let sandbox = with_offer();
    accept(&sandbox);
    std::fs::rename(sandbox.ws().join("tools"), sandbox.dir().join("elsewhere")).expect("moves");
    symlink(sandbox.dir().join("elsewhere"), sandbox.ws().join("tools")).expect("links");
    let synced = told(&sandbox, &["sync"]);
    assert!(
        synced.contains("the plugin source `tools` is left out: `tools` leads out of"),
        "{synced}"
    );
    sandbox.write("home/secret", "token = s3cret\n");
    std::fs::remove_file(sandbox.dir().join(FILE)).expect("removes");
    symlink(sandbox.home().join("secret"), sandbox.dir().join(FILE)).expect("links");
    let synced = told(&sandbox, &["sync"]);
    assert!(synced.contains("a link is not followed") && !synced.contains("s3cret"), "{synced}");
}

#[test]
fn a_program_that_is_too_old_is_told_both_versions_and_stops_nobody_s_agent() {
    let sandbox = with_offer();
    sandbox.write(FILE, format!("minimum-version = \"99.1.0\"\nof-the-future = 1\n{OFFER}"));
    let told = |args: &[&str], code: i32| {
        let run = sandbox.run(args).code(code);
        run.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let own = env!("CARGO_PKG_VERSION");
    let versions = format!("symposium.toml needs cargo-agents 99.1.0 or newer, and this is {own}");
    for part in [&*versions, "~/../ws/symposium.toml", "`cargo agents self-update`"] {
        let synced = told(&["sync"], 0);
        assert!(synced.contains(part.trim_start_matches("~/../ws/")), "{part}: {synced}");
        assert!(!synced.contains("of-the-future"), "{synced}");
    }
    let refused = told(&["sync", "--accept-team-file", &hash(&sandbox)], 1);
    assert!(refused.contains(&versions) && refused.contains("nothing was accepted"), "{refused}");
    start_session(&sandbox);
    assert_eq!(self::refused(&sandbox, "1"), None);
    let doctor = crate::told(&sandbox, &["doctor"]);
    assert!(doctor.contains(&versions), "{doctor}");
}

#[test]
fn every_screen_names_what_comes_from_the_team_s_file() {
    let sandbox = with_offer();
    accept(&sandbox);
    let status = told(&sandbox, &["status"]);
    assert!(
        status.contains("symposium.toml is in force: source tools the folder tools, use widget"),
        "{status}"
    );
    assert!(status.contains("from the team's symposium.toml"), "{status}");
    let list = told(&sandbox, &["plugin", "list"]);
    assert!(list.contains("tools folder, from the team's symposium.toml"), "{list}");
    let why = told(&sandbox, &["why", "guard"]);
    // A long path goes on in the next line.
    let file = why.replace(' ', "").contains("symposium.toml");
    assert!(why.contains("offered by your team, in") && file, "{why}");
    let why = told(&sandbox, &["why", "widget"]);
    assert!(why.contains("team said yes, in symposium.toml"), "{why}");
    let json = sandbox.run(&["plugin", "list", "--json"]).ok().stdout;
    let listing: Value = serde_json::from_str(&json).expect("JSON");
    let sources = listing["sources"].as_array().expect("sources");
    let of_team: Vec<_> =
        sources.iter().filter(|it| it["of_team"] == true).map(|it| &it["name"]).collect();
    assert_eq!(of_team, ["tools"]);
    sandbox.write(FILE, format!("{OFFER}disable = [\"guard\"]\n"));
    accept(&sandbox);
    let why = told(&sandbox, &["why", "guard"]);
    assert!(why.contains("`disable` in the team's symposium.toml names it"), "{why}");
}

#[test]
fn the_team_s_file_is_no_slip_of_a_manifest_s_name_where_a_source_is_a_workspace() {
    let sandbox = with_offer();
    sandbox.write(FILE, OFFER.replace("path = \"tools\"", "path = \".\""));
    let synced = accept(&sandbox);
    assert!(sandbox.has(HOUSE) && !synced.contains("is not read as a plugin"), "{synced}");
    sandbox.write("ws/tools/other/symposium.toml", "name = \"x\"\ncrates = [\"*\"]\n");
    assert!(told(&sandbox, &["sync"]).contains("`symposium.toml` is not read as a plugin"));
}

#[test]
fn a_git_source_of_the_team_is_fetched_locked_and_asked_about_like_one_s_own() {
    let sandbox = with_offer();
    let server = Server::start(&sandbox.dir().join("repos"), Manner::Git);
    let publish = |text: &str| {
        let repo = "repos/team.git";
        sandbox.write(
            &format!("{repo}/p/SYMPOSIUM.toml"),
            "name = \"p\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \"skills\"\n[[hooks]]\n\
             name = \"h\"\nevent = \"PreToolUse\"\ncommand = { script = \"h.sh\" }\n",
        );
        sandbox.write(&format!("{repo}/p/h.sh"), "exit 0\n");
        sandbox.write(&format!("{repo}/p/skills/remote/SKILL.md"), skill("remote", text));
        if !sandbox.has(&format!("{repo}/.git")) {
            sandbox.git_in(repo, &["init", "--quiet", "--initial-branch=main"]);
        }
        sandbox.git_in(repo, &["add", "--all"]);
        let who = ["-c", "user.name=T", "-c", "user.email=t@example.com"];
        sandbox.git_in(repo, &[&who[..], &["commit", "--quiet", "-m", "x"]].concat());
    };
    publish("first");
    let url = server.url("team.git/.git");
    sandbox.write(FILE, format!("[[plugin-source]]\nname = \"team\"\ngit = \"{url}\"\n"));
    let synced = accept(&sandbox);
    let remote = "ws/.claude/skills/remote/SKILL.md";
    assert!(sandbox.read(remote).contains("first"), "{synced}");
    assert!(!synced.contains("not allowed yet"), "{synced}");
    sandbox.run(&["lock"]).ok();
    assert!(sandbox.read("ws/symposium.lock").contains(&url));
    publish("second");
    sandbox.run(&["sync", "--locked"]).ok();
    assert!(sandbox.read(remote).contains("first"));
    configure(&sandbox, &["claude"], "[trust]\nprograms = \"ask\"\n");
    let synced = told(&sandbox, &["sync"]);
    assert!(synced.contains("Waiting p: hook h (not allowed yet)"), "{synced}");
    // A repository on the member's own machine is none of the team's business.
    for (url, why) in [
        ("/srv/git/team", "the team's file can't name a repository on this machine"),
        ("file:///srv/git/team", "the team's file can't name a repository on this machine"),
        ("../team", "the git URL `../team` is a relative path"),
    ] {
        sandbox.write(FILE, format!("[[plugin-source]]\nname = \"team\"\ngit = \"{url}\"\n"));
        let synced = accept(&sandbox);
        assert!(synced.contains(why) && synced.contains("symposium.toml:3:7"), "{url}: {synced}");
        assert!(sandbox.has(remote), "what came from it stays");
    }
}
