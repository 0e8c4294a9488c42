//! Plugin sources in git repositories: real ones, on disk and over HTTP (F22, F23, F120–F123).

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use symposium_testlib::{Manner, Run, Sandbox, Server, Tree};

use crate::{NO_BUILTIN, bare_sandbox, sandbox, skill};

/// A workspace that uses `widget`, and a repository `repos/acme` with a plugin for it whose one
/// skill is `one`.
pub(crate) fn ready() -> Sandbox {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.0.0")]);
    sandbox.write(
        "repos/acme/p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \"skills\"\n",
    );
    sandbox.git_in("repos/acme", &["init", "-q"]);
    publish(&sandbox, "one");
    sandbox
}

/// Replaces the skill of the plugin and commits.
fn publish(sandbox: &Sandbox, name: &str) {
    let skills = sandbox.dir().join("repos/acme/p/skills");
    let _ = std::fs::remove_dir_all(skills);
    sandbox.write(&format!("repos/acme/p/skills/{name}/SKILL.md"), skill(name, "d"));
    // Enough for a transfer to be cut in the middle of.
    let noise: String = (0..20_000_u64)
        .map(|number| format!("{:x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        .collect();
    sandbox.write(&format!("repos/acme/p/skills/{name}/references/noise.md"), noise);
    sandbox.git_in("repos/acme", &["add", "-A"]);
    sandbox.git_in("repos/acme", &["commit", "-qm", name]);
}

pub(crate) fn configure(sandbox: &Sandbox, url: &str, more: &str) {
    let source = format!("[[plugin-source]]\nname = \"acme\"\ngit = \"{url}\"\n{more}\n");
    sandbox.write("home/.symposium/config.toml", format!("{source}{NO_BUILTIN}"));
}

/// The repository over HTTP.
fn served(sandbox: &Sandbox, more: &str) -> Server {
    let server = Server::start(&sandbox.dir().join("repos"), Manner::Git);
    configure(sandbox, &server.url("acme/.git"), more);
    server
}

const SYNC: [&str; 3] = ["sync", "--agent", "claude"];

fn sync(sandbox: &Sandbox, more: &[&str]) -> Run {
    sandbox.run(&[&SYNC[..], more].concat())
}

fn installed(sandbox: &Sandbox) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(sandbox.ws().join(".claude/skills"))
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

fn cache(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".symposium/cache/plugin-sources")
}

/// Makes us forget that the remote was asked a moment ago.
fn let_a_minute_pass(sandbox: &Sandbox) {
    for entry in std::fs::read_dir(cache(sandbox)).expect("reads").flatten() {
        let _ = std::fs::remove_file(entry.path().join("checked.json"));
    }
}

#[test]
fn f120_every_form_of_url_that_git_takes() {
    let sandbox = ready();
    sandbox.git(&["clone", "-q", "--bare", "../repos/acme", "../repos/owner/acme.git"]);
    let server = Server::start(&sandbox.dir().join("repos"), Manner::Git);
    let disk = sandbox.dir().join("repos/acme").display().to_string();
    sandbox.write("home/.gitconfig", format!("[url \"{disk}\"]\ninsteadOf = git@git.test:acme\n"));
    for url in [
        server.url("owner/acme.git"),
        server.url("owner/acme.git/"),
        server.url("acme/.git"),
        disk.clone(),
        format!("file://{disk}"),
        "../../repos/acme".to_owned(),
        "~/../repos/acme".to_owned(),
    ] {
        let _ = std::fs::remove_dir_all(cache(&sandbox));
        let _ = std::fs::remove_dir_all(sandbox.ws().join(".claude"));
        configure(&sandbox, &url, "");
        let run = sync(&sandbox, &[]).ok();
        assert_eq!(installed(&sandbox), ["one"], "{url}\n{}", run.stderr);
        assert!(run.stderr.contains("Fetched acme"), "{url}\n{}", run.stderr);
    }
}

#[test]
fn f120_a_browser_s_url_with_a_branch_that_has_a_slash_and_a_folder() {
    let sandbox = ready();
    sandbox.git_in("repos/acme", &["checkout", "-qb", "release/1.0"]);
    publish(&sandbox, "released");
    sandbox.git_in("repos/acme", &["checkout", "-q", "main"]);
    sandbox.git(&["clone", "-q", "--bare", "../repos/acme", "../repos/owner/acme.git"]);
    let server = Server::start(&sandbox.dir().join("repos"), Manner::Git);
    configure(&sandbox, &server.url("owner/acme.git/tree/release/1.0/p"), "");
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["released"]);
    // The same by keys of their own.
    let keys = "rev = \"release/1.0\"\nsubdir = \"p\"";
    configure(&sandbox, &server.url("owner/acme.git"), keys);
    sandbox.run(&["plugin", "sync"]).ok();
    let list = sandbox.run(&["plugin", "list"]).ok();
    assert!(list.stdout.contains("release/1.0"), "{}", list.stdout);
    let run = sync(&sandbox, &[]).ok();
    assert!(run.stderr.contains("nothing to do"), "{}", run.stderr);
    configure(&sandbox, &server.url("owner/acme.git"), "rev = \"no-such\"");
    let run = sandbox.run(&["plugin", "sync"]).code(1);
    assert!(run.stderr.contains("no branch or tag `no-such`"), "{}", run.stderr);
}

#[test]
fn f121_a_sync_asks_for_news_once_a_minute_and_those_who_look_never() {
    let sandbox = ready();
    let server = served(&sandbox, "");
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["one"]);
    let before = server.requests();
    assert!(!before.is_empty());
    publish(&sandbox, "two");
    // It answered a moment ago: its word still counts.
    sync(&sandbox, &[]).ok();
    assert_eq!(server.requests(), before);
    assert_eq!(installed(&sandbox), ["one"]);
    let_a_minute_pass(&sandbox);
    for look in [&["plugin", "list"][..], &["plugin", "show", "p"], &["status"], &["why", "p"]] {
        sandbox.run(look).ok();
    }
    sync(&sandbox, &["--update", "none"]).ok();
    assert_eq!(server.requests(), before);
    let run = sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["two"]);
    assert!(run.stderr.contains("Fetched acme"), "{}", run.stderr);
    let after = server.requests().len();
    assert!(after > before.len());
    sync(&sandbox, &[]).ok();
    assert_eq!(server.requests().len(), after);
}

#[test]
fn f121_skills_that_a_plugin_has_in_a_repository_are_as_fresh_as_sources() {
    let sandbox = ready();
    let server = Server::start(&sandbox.dir().join("repos"), Manner::Git);
    sandbox.write("home/.symposium/config.toml", NO_BUILTIN);
    sandbox.user_plugin(
        "q/SYMPOSIUM.toml",
        &format!(
            "name = \"q\"\ncrates = [\"widget\"]\n[[skills]]\nsource.git = \"{}\"\n",
            server.url("acme/.git")
        ),
    );
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["one"]);
    publish(&sandbox, "two");
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["one"]);
    let_a_minute_pass(&sandbox);
    sync(&sandbox, &["--offline"]).ok();
    assert_eq!(installed(&sandbox), ["one"]);
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["two"]);
}

#[test]
fn f121_update_none_never_touches_the_network_not_even_for_a_first_copy() {
    let sandbox = ready();
    let server = served(&sandbox, "");
    let run = sync(&sandbox, &["--update", "none"]).ok();
    assert_eq!(installed(&sandbox), [""; 0]);
    assert!(run.stderr.contains("acme") && run.stderr.contains("not fetched"), "{}", run.stderr);
    assert!(run.stderr.contains("plugin sync acme"), "{}", run.stderr);
    sandbox.run(&["plugin", "list", "--update", "none"]).ok();
    let run = sandbox.run(&["plugin", "sync", "--update", "none"]).code(1);
    assert!(run.stderr.contains("--update none"), "{}", run.stderr);
    assert_eq!(server.requests(), [""; 0]);
}

#[test]
fn f121_update_check_asks_and_fetches_only_what_is_new() {
    let sandbox = ready();
    let server = served(&sandbox, "");
    sync(&sandbox, &[]).ok();
    let first = server.requests().len();
    // However short ago it answered: the user asks.
    sync(&sandbox, &["--update", "check"]).ok();
    let asked = server.requests().len();
    assert!(asked > first);
    assert!(asked - first < first, "the pack was not fetched again: {:?}", server.requests());
    publish(&sandbox, "two");
    sync(&sandbox, &["--update", "check"]).ok();
    assert_eq!(installed(&sandbox), ["two"]);
}

#[test]
fn f121_update_fetch_always_fetches_and_mends_a_damaged_copy() {
    let sandbox = ready();
    let server = served(&sandbox, "");
    sync(&sandbox, &[]).ok();
    let first = server.requests().len();
    let copies: Vec<PathBuf> = files(&cache(&sandbox), "SKILL.md");
    assert_eq!(copies.len(), 1);
    std::fs::write(&copies[0], "damaged").expect("writes");
    sync(&sandbox, &["--update", "fetch"]).ok();
    assert!(server.requests().len() >= 2 * first);
    assert!(sandbox.read("ws/.claude/skills/one/SKILL.md").contains("name: one"));
}

fn files(dir: &Path, name: &str) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(dir).into_iter().map(|entry| entry.expect("reads"));
    all.filter(|entry| entry.file_name() == name).map(|entry| entry.into_path()).collect()
}

#[test]
fn f23_without_auto_update_only_its_name_or_update_fetch_refreshes() {
    let sandbox = ready();
    let server = served(&sandbox, "auto-update = false");
    // What was never there is fetched all the same.
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["one"]);
    let before = server.requests().len();
    publish(&sandbox, "two");
    let_a_minute_pass(&sandbox);
    sync(&sandbox, &[]).ok();
    sync(&sandbox, &["--update", "check"]).ok();
    let run = sandbox.run(&["plugin", "sync"]).ok();
    assert!(run.stderr.contains("auto-update = false"), "{}", run.stderr);
    assert_eq!(server.requests().len(), before);
    sandbox.run(&["plugin", "sync", "acme"]).ok();
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["two"]);
    publish(&sandbox, "three");
    sync(&sandbox, &["--update", "fetch"]).ok();
    assert_eq!(installed(&sandbox), ["three"]);
}

#[test]
fn a_branch_that_was_force_pushed_and_a_default_branch_that_was_renamed() {
    let sandbox = ready();
    let _server = served(&sandbox, "");
    sync(&sandbox, &[]).ok();
    sandbox.git_in("repos/acme", &["commit", "-q", "--amend", "-m", "other"]);
    publish(&sandbox, "two");
    sandbox.git_in("repos/acme", &["reset", "-q", "--soft", "HEAD~1"]);
    sandbox.git_in("repos/acme", &["commit", "-q", "--amend", "-m", "squashed"]);
    sandbox.run(&["plugin", "sync"]).ok();
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["two"]);
    sandbox.git_in("repos/acme", &["branch", "-qm", "main", "trunk"]);
    publish(&sandbox, "three");
    sandbox.run(&["plugin", "sync"]).ok();
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["three"]);
    let list = sandbox.run(&["plugin", "list"]).ok();
    assert!(list.stdout.contains("trunk"), "{}", list.stdout);
}

#[test]
fn f122_a_server_that_stalls_costs_no_more_than_the_limit_and_the_copy_serves() {
    let sandbox = ready();
    let server = served(&sandbox, "");
    sync(&sandbox, &[]).ok();
    server.set(Manner::Stall);
    let_a_minute_pass(&sandbox);
    let start = Instant::now();
    let run = sync(&sandbox, &["--update", "check", "--timeout", "2"]).ok();
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(run.stderr.contains("no answer within 2 s"), "{}", run.stderr);
    assert!(run.stderr.contains("the copy of"), "{}", run.stderr);
    assert_eq!(installed(&sandbox), ["one"]);
    let run = sandbox.run(&["plugin", "sync", "acme", "--timeout", "2"]).code(1);
    assert!(run.stderr.contains("error") && run.stderr.contains("acme"), "{}", run.stderr);
    assert!(start.elapsed() < Duration::from_secs(40), "{:?}", start.elapsed());
}

#[test]
fn a_transfer_that_ends_in_the_middle_leaves_the_copy_whole() {
    let sandbox = ready();
    let server = served(&sandbox, "");
    server.set(Manner::DieInTransfer);
    let run = sync(&sandbox, &[]).ok();
    assert!(run.stderr.contains("acme"), "{}", run.stderr);
    assert_eq!(installed(&sandbox), [""; 0]);
    assert!(files(&cache(&sandbox), "SKILL.md").is_empty());
    server.set(Manner::Git);
    sandbox.run(&["plugin", "sync"]).ok();
    sync(&sandbox, &[]).ok();
    let whole = Tree::of(&sandbox.ws().join(".claude"));
    publish(&sandbox, "two");
    server.set(Manner::DieInTransfer);
    let run = sandbox.run(&["plugin", "sync"]).code(1);
    assert!(run.stderr.contains("acme"), "{}", run.stderr);
    sync(&sandbox, &[]).ok();
    assert_eq!(Tree::of(&sandbox.ws().join(".claude")), whole);
    server.set(Manner::Git);
    sandbox.run(&["plugin", "sync"]).ok();
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["two"]);
}

#[test]
fn two_at_once_fetch_once_and_both_have_it() {
    let sandbox = ready();
    let server = served(&sandbox, "");
    let start = |_| {
        let mut command = sandbox.command(&["plugin", "sync", "acme"]);
        command.stdin(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
        command.spawn().expect("starts")
    };
    let children: Vec<_> = (0..4).map(start).collect();
    for child in children {
        let output = child.wait_with_output().expect("ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    sync(&sandbox, &["--update", "none"]).ok();
    assert_eq!(installed(&sandbox), ["one"]);
    assert_eq!(files(&cache(&sandbox), "SKILL.md").len(), 1);
    let packs = server.requests().iter().filter(|request| request.starts_with("POST")).count();
    assert!(packs <= 8, "{:?}", server.requests());
}

#[test]
fn f122_offline_the_copy_serves_and_one_line_says_so() {
    let sandbox = ready();
    let server = served(&sandbox, "");
    sync(&sandbox, &[]).ok();
    let before = server.requests().len();
    let run = sync(&sandbox, &["--offline"]).ok();
    let lines: Vec<_> = run.stderr.lines().filter(|line| line.contains("offline")).collect();
    assert_eq!(lines.len(), 1, "{}", run.stderr);
    assert!(lines[0].contains("Skipped acme"), "{}", run.stderr);
    assert!(lines[0].contains("using the copy of"), "{}", run.stderr);
    assert_eq!(installed(&sandbox), ["one"]);
    let run = sandbox.run(&["plugin", "sync", "--offline"]).code(1);
    assert!(run.stderr.contains("offline"), "{}", run.stderr);
    assert_eq!(server.requests().len(), before);
}

#[test]
fn f122_a_first_run_without_a_network_says_so_and_goes_on() {
    let sandbox = ready();
    let server = served(&sandbox, "");
    server.set(Manner::Refuse);
    sandbox.user_plugin("near/SKILL.md", "---\nname: near\ndescription: d\ncrates: widget\n---\n");
    for more in [&["--offline"][..], &[]] {
        let run = sync(&sandbox, more).ok();
        assert!(run.stderr.contains("acme"), "{}", run.stderr);
        assert_eq!(installed(&sandbox), ["near"], "{}", run.stderr);
    }
    // The failure is remembered for a while: the next run does not try again.
    let tried = server.requests().len();
    sync(&sandbox, &[]).ok();
    assert_eq!(server.requests().len(), tried);
    server.set(Manner::Git);
    sandbox.run(&["plugin", "sync"]).ok();
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), ["near", "one"]);
}

#[test]
fn a_password_in_a_url_is_shown_nowhere() {
    let sandbox = ready();
    let server = Server::start(&sandbox.dir().join("repos"), Manner::Git);
    let url = server.url("none/.git").replace("http://", "http://me:s3cret@");
    configure(&sandbox, &url, "");
    for args in [&SYNC[..], &["plugin", "sync"], &["plugin", "list"], &["plugin", "list", "--json"]]
    {
        let run = sandbox.run(args);
        let all = format!("{}{}", run.stdout, run.stderr);
        assert!(!all.contains("s3cret"), "{args:?}: {all}");
        assert!(all.contains("acme"), "{args:?}: {all}");
    }
    let everything = Tree::of(&sandbox.home().join(".symposium"));
    for (path, node) in everything.without(&["config.toml"]).0 {
        if let symposium_testlib::Node::File(bytes, _) = node {
            assert!(!String::from_utf8_lossy(&bytes).contains("s3cret"), "{path}");
        }
    }
}

/// A repository with the recommendations' fixture.
fn recommendations(sandbox: &Sandbox) -> String {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/recommendations");
    for entry in walkdir::WalkDir::new(&fixture).into_iter().map(|entry| entry.expect("reads")) {
        if entry.file_type().is_file() {
            let path = entry.path().strip_prefix(&fixture).expect("is inside").display();
            let bytes = std::fs::read(entry.path()).expect("reads");
            sandbox.write(&format!("repos/recommendations/{path}"), bytes);
        }
    }
    let git = |args: &[&str]| sandbox.git_in("repos/recommendations", args);
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "all"]);
    sandbox.dir().join("repos/recommendations").display().to_string()
}

#[test]
fn f17_the_central_recommendations_need_no_configuration() {
    let mut sandbox = bare_sandbox();
    let url = recommendations(&sandbox);
    sandbox.set("SYMPOSIUM_RECOMMENDATIONS_URL", url);
    sandbox.package(&[
        ("dial9-viewer", "0.5.7"),
        ("error-battery-pack", "0.6.5"),
        ("salsa", "0.22.0"),
        ("sqlx", "0.8.6"),
    ]);
    let pack = skill("library-errors", "d");
    sandbox.registry_crate(
        "error-battery-pack",
        "0.6.5",
        &[("skills/library-errors/SKILL.md", &pack)],
    );
    let trace = skill("dial9-toolkit", "d");
    sandbox.registry_crate(
        "dial9-viewer",
        "0.5.7",
        &[("agent-skills/dial9-toolkit/SKILL.md", &trace)],
    );
    sandbox.write("home/.symposium/config.toml", "[[agent]]\nname = \"claude\"\n");
    let run = sandbox.run(&["sync", "--json"]).ok();
    let names = installed(&sandbox);
    for name in ["library-errors", "dial9-toolkit", "salsa-queries"] {
        assert!(names.contains(&name.to_owned()), "{names:?}\n{}", run.stdout);
    }
    let events = run.json_lines();
    let server =
        events.iter().find(|event| event["kind"] == "server" && event["action"] == "register");
    assert_eq!(server.expect("the server")["name"], "sqlx-tools");
    assert!(sandbox.read("home/.claude.json").contains("/usr/local/bin/sqlx-tools"));
    let last = events.last().expect("a last one");
    assert!(last["summary"].as_str().is_some_and(|text| text.contains("1 hook")), "{last}");
    // The one whose manifest has the wrong name is reported.
    let near: Vec<_> = events.iter().filter(|event| event["code"] == "S033").collect();
    assert_eq!(near.len(), 1, "{near:?}");
    assert!(near[0]["location"]["path"].as_str().is_some_and(|path| path.ends_with("rtk.toml")));
    let blocked = sandbox.feed(
        &["hook", "claude", "pre-tool-use"],
        format!(
            "{{\"session_id\":\"s\",\"cwd\":{:?},\"hook_event_name\":\"PreToolUse\",\
             \"tool_name\":\"Bash\",\"tool_input\":{{\"command\":\"cargo clean\"}}}}",
            sandbox.ws()
        )
        .as_bytes(),
    );
    assert!(blocked.ok().stdout.contains("deny"), "the guard of cargo-guard");
}

#[test]
fn f17_the_recommendations_can_be_switched_off() {
    let mut sandbox = bare_sandbox();
    let url = recommendations(&sandbox);
    sandbox.set("SYMPOSIUM_RECOMMENDATIONS_URL", url);
    sandbox.package(&[("salsa", "0.22.0")]);
    sandbox.write("home/.symposium/config.toml", NO_BUILTIN);
    sync(&sandbox, &[]).ok();
    assert_eq!(installed(&sandbox), [""; 0]);
    assert!(!cache(&sandbox).exists());
}

#[test]
fn f31_a_configuration_that_can_not_be_read_may_switch_a_source_off_so_none_is_fetched() {
    let mut sandbox = bare_sandbox();
    let _ = recommendations(&sandbox);
    let server = Server::start(&sandbox.dir().join("repos"), Manner::Git);
    sandbox.set("SYMPOSIUM_RECOMMENDATIONS_URL", server.url("recommendations/.git"));
    sandbox.package(&[("salsa", "0.22.0")]);
    sandbox.write("home/.symposium/config.toml", "[defaults\nsymposium-recommendations = false\n");
    let run = sandbox.run(&["sync", "--agent", "claude"]);
    assert!(run.stderr.contains("config.toml:1:"), "{}", run.stderr);
    assert_eq!(server.requests(), [""; 0]);
    sandbox.run(&["plugin", "sync", "symposium-recommendations"]).ok();
    assert!(!server.requests().is_empty());
}
