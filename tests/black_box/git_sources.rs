//! Plugin sources in git repositories: real ones, on disk and over HTTP (F22, F23, F120–F123).

mod failures;
mod freshness;
mod links;
mod mistakes;
mod recommendations;

use std::path::{Path, PathBuf};

use symposium_testlib::{Manner, Run, Sandbox, Server, Tree};

use crate::{NO_BUILTIN, sandbox, skill};

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
    let disk = sandbox.at("repos/acme");
    sandbox.write("home/.gitconfig", format!("[url \"{disk}\"]\ninsteadOf = git@git.test:acme\n"));
    for (number, url) in [
        server.url("owner/acme.git"),
        server.url("owner/acme.git/"),
        server.url("acme/.git"),
        disk.clone(),
        sandbox.file_url("repos/acme"),
        "../../repos/acme".to_owned(),
        "~/../repos/acme".to_owned(),
    ]
    .into_iter()
    .enumerate()
    {
        let _ = std::fs::rename(cache(&sandbox), sandbox.dir().join(format!("cache-{number}")));
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

fn files(dir: &Path, name: &str) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(dir).into_iter().map(|entry| entry.expect("reads"));
    all.filter(|entry| entry.file_name() == name).map(|entry| entry.into_path()).collect()
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
