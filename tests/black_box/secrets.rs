//! What is secret is shown nowhere, and what may hold secrets is its owner's alone.

use std::path::Path;

use symposium_testlib::{Run, Sandbox};

use crate::hook_kit::logs;
use crate::{NO_BUILTIN, configure, sandbox, skill};

/// Stands in every secret of these tests.
const SECRET: &str = "hunter2";

const URLS: [&str; 7] = [
    "http://me:hunter2@git.example.com/a/b",
    "https://me:hunter2@127.0.0.1:1/a/b",
    "https://hunter2@127.0.0.1:1/a/b?sig=hunter2#hunter2",
    "https://me:x/hunter2@127.0.0.1:1/a/b",
    "https://me:hunter2 hunter2@127.0.0.1:1/a",
    "ftp://me:hunter2@127.0.0.1:1/a",
    "me:hunter2@127.0.0.1:a/b",
];

/// Every kind of URL, with a secret, in everything that has URLs.
fn full_of_secrets() -> Sandbox {
    let sandbox = sandbox();
    let mut config = "[[agent]]\nname = \"claude\"\n[[agent]]\nname = \"codex\"\n".to_owned();
    for (number, url) in URLS.iter().enumerate() {
        config.push_str(&format!("[[plugin-source]]\nname = \"s{number}\"\ngit = \"{url}\"\n"));
        sandbox.user_plugin(
            &format!("bad{number}/SYMPOSIUM.toml"),
            &format!(
                "name = \"bad{number}\"\ncrates = [\"widget\"]\n\
                 [[skills]]\nsource.git = \"{url}\"\n\
                 [[skills]]\nsource.git = \"{url}\"\nsource.rev = \"a..b\"\n\
                 [[installations]]\nname = \"c\"\nsource = \"cargo\"\ncrate = \"c\"\ngit = \"{url}\"\n\
                 [[installations]]\nname = \"g\"\nsource = \"github\"\nurl = \"{url}\"\n\
                 [[installations]]\nname = \"b\"\nsource = \"binary\"\nurl = \"{url}/{{nothing}}\"\nsha256 = \"0\"\n\
                 [[mcp_servers]]\nname = \"s{number}\"\ntype = \"http\"\nurl = \"{url}\"\n"
            ),
        );
    }
    config.push_str("git-typo = \"https://me:hunter2@host/a\"\n");
    sandbox.write("home/.symposium/config.toml", format!("{config}{NO_BUILTIN}"));
    let url = "https://me:hunter2@127.0.0.1:1/x";
    sandbox.user_plugin(
        "good/SYMPOSIUM.toml",
        &format!(
            "name = \"good\"\ncrates = [\"widget\"]\n\
             [[skills]]\nsource.git = \"{url}\"\n\
             [[installations]]\nname = \"get\"\nsource = \"binary\"\nurl = \"{url}?sig=hunter2\"\nsha256 = \"{}\"\nexecutable = \"get\"\n\
             [[installations]]\nname = \"clone\"\nsource = \"github\"\nurl = \"{url}/a\"\nexecutable = \"x\"\n\
             [[installations]]\nname = \"build\"\nsource = \"cargo\"\ncrate = \"build\"\ngit = \"{url}/a\"\n\
             [subcommand.get]\ndescription = \"d\"\ncommand = \"get\"\n\
             [subcommand.clone]\ndescription = \"d\"\ncommand = \"clone\"\n\
             [[mcp_servers]]\nname = \"web\"\ntype = \"http\"\nurl = \"{url}?key=hunter2\"\nheaders = [{{ name = \"Authorization\", value = \"hunter2\" }}]\n\
             [[mcp_servers]]\nname = \"own\"\ncommand = \"own\"\nenv = [{{ name = \"TOKEN\", value = \"hunter2\" }}]\n",
            "0".repeat(64)
        ),
    );
    sandbox.package(&[("widget", "1.0.0")]);
    let lock = sandbox.read("ws/Cargo.lock").replace(
        "[[package]]\nname = \"widget\"\nversion = \"1.0.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n",
        "[[package]]\nname = \"forked\"\nversion = \"1.0.0\"\nsource = \"git+https://me:hunter2@127.0.0.1:1/f?branch=hunter2#0123456\"\n\n\
         [[package]]\nname = \"other\"\nversion = \"1.0.0\"\nsource = \"registry+https://me:hunter2@127.0.0.1:1/index\"\n\n\
         [[package]]\nname = \"widget\"\nversion = \"1.0.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n",
    ).replace("dependencies = [\n", "dependencies = [\n \"forked\",\n \"other\",\n");
    sandbox.write("ws/Cargo.lock", lock);
    let manifest = sandbox.read("ws/Cargo.toml");
    sandbox.write(
        "ws/Cargo.toml",
        format!(
            "{manifest}forked = {{ git = \"https://me:hunter2@127.0.0.1:1/f?branch=hunter2\" }}\nother = \"1\"\n"
        ),
    );
    sandbox
}

fn keeps_quiet(args: &[&str], run: &Run) {
    for text in [&run.stdout, &run.stderr] {
        if let Some(line) = text.lines().find(|line| line.contains(SECRET)) {
            panic!("{args:?} shows a secret: {line}");
        }
    }
}

#[test]
fn no_command_shows_a_secret_in_any_form() {
    let sandbox = full_of_secrets();
    for args in [
        &["sync", "--dry-run", "-v"][..],
        &["sync", "--check", "--json"],
        &["sync"],
        &["sync", "-v"],
        &["sync", "--json"],
        &["sync", "--offline", "-q"],
        &["status", "-v"],
        &["status", "--json"],
        &["doctor", "-v"],
        &["doctor", "--json"],
        &["plugin", "list", "-v"],
        &["plugin", "list", "--json"],
        &["plugin", "sync"],
        &["plugin", "sync", "s1", "--json"],
        &["why", "forked", "-v"],
        &["why", "other", "--json"],
        &["why", "web"],
        &["why", "good", "-v"],
        &["crate-info", "forked"],
        &["crate-info", "other", "--json"],
        &["get"],
        &["clone"],
        &["use", "forked", "--dry-run"],
        &["plugin", "validate", "https://me:hunter2@host/a"],
        &["https://me:hunter2@host/a"],
        &["--https://me:hunter2@host/a"],
    ] {
        keeps_quiet(args, &sandbox.run(args));
    }
    for plugin in ["good", "bad0", "bad1", "bad2", "bad3", "bad4", "bad5", "bad6"] {
        let folder = format!("../home/.symposium/plugins/{plugin}");
        for args in [
            &["plugin", "show", plugin][..],
            &["plugin", "show", plugin, "--json"],
            &["plugin", "validate", &folder],
            &["plugin", "validate", &folder, "--json"],
        ] {
            keeps_quiet(args, &sandbox.run(args));
        }
    }
    let log = logs(&sandbox);
    assert!(log.contains("127.0.0.1") && !log.contains(SECRET), "{log}");
    assert!(sandbox.read("home/.claude.json").contains("me:hunter2@127.0.0.1:1/x?key=hunter2"));
}

#[cfg(unix)]
mod modes {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).expect("is there").permissions().mode() & 0o777
    }

    /// Runs `args` in a shell that takes no right away from new files.
    fn without_umask(sandbox: &Sandbox, args: &str) {
        let script = format!("umask 000; exec '{}' {args}", sandbox.binary().display());
        let output = sandbox.shell(&script).output().expect("runs");
        assert!(output.status.success(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
    }

    #[test]
    fn new_files_that_may_hold_secrets_are_their_owners_alone() {
        let mut sandbox = crate::bare_sandbox();
        sandbox.set("SYMPOSIUM_HOOK_TRACE", sandbox.home().join("trace"));
        sandbox.package(&[("widget", "1.0.0")]);
        let agents = "--add-agent claude --add-agent codex --add-agent copilot --add-agent gemini";
        without_umask(&sandbox, &format!("--offline init {agents}"));
        assert_eq!(mode(&sandbox.home().join(".symposium")), 0o700);
        // From here on nothing may reach for the network.
        let config = sandbox.read("home/.symposium/config.toml");
        assert!(!config.contains("[defaults]"), "{config}");
        sandbox.write("home/.symposium/config.toml", config + "\n" + NO_BUILTIN);
        sandbox.user_plugin(
            "p/SYMPOSIUM.toml",
            "name = \"p\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \"skills\"\n\
             [[mcp_servers]]\nname = \"own\"\ncommand = \"own\"\nenv = [{ name = \"TOKEN\", value = \"s\" }]\n",
        );
        sandbox.user_plugin("p/skills/one/SKILL.md", &skill("one", "d"));
        sandbox.write(
            "event",
            format!(r#"{{"session_id":"s","cwd":{:?},"prompt":"x"}}"#, sandbox.ws()),
        );
        without_umask(&sandbox, "--offline sync");
        without_umask(&sandbox, "hook claude session-start < ../event");
        without_umask(&sandbox, "hook claude user-prompt-submit < ../event");
        without_umask(&sandbox, "hook no-agent session-start < ../event");
        assert!(sandbox.has("home/.claude.json") && sandbox.has("home/trace"));
        assert!(sandbox.has("home/.symposium/sessions/s.json") && !logs(&sandbox).is_empty());
        let mut seen = 0;
        for folder in [sandbox.home(), sandbox.ws()] {
            for entry in walkdir::WalkDir::new(folder) {
                let entry = entry.expect("reads");
                let path = entry.path();
                let is_ours = !["skills", "plugins", "src", ".cargo", "builtin"]
                    .iter()
                    .any(|folder| path.iter().any(|part| part == *folder));
                let is_tests = path.starts_with(sandbox.ws())
                    && path.extension().is_some_and(|end| end == "lock" || end == "toml");
                if entry.file_type().is_file() && is_ours && !is_tests {
                    seen += 1;
                    assert_eq!(mode(path), 0o600, "{}", path.display());
                }
            }
        }
        assert!(seen > 8, "{seen}");
    }

    /// Whether the test is root's, who alone can give files away. Says so where it is not.
    fn is_root() -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = std::fs::metadata(dir.path()).expect("is there").uid() == 0;
        if !root {
            eprintln!("skipped: only root can give a file to another user");
        }
        root
    }

    #[test]
    fn a_file_keeps_its_owner_or_is_left_alone() {
        use std::os::unix::fs::{MetadataExt as _, chown};
        use std::os::unix::process::CommandExt as _;
        const NOBODY: u32 = 65_534;
        if !is_root() {
            return;
        }
        let mut sandbox = sandbox();
        sandbox.install();
        configure(&sandbox, &["claude"], "");
        sandbox.package(&[("widget", "1.0.0")]);
        sandbox.write("home/.claude/settings.json", "{}\n");
        let settings = sandbox.home().join(".claude/settings.json");
        let owner = || {
            let found = std::fs::metadata(&settings).expect("is there");
            (found.uid(), found.gid(), found.mode() & 0o777)
        };
        for entry in walkdir::WalkDir::new(sandbox.dir()) {
            chown(entry.expect("reads").path(), Some(NOBODY), Some(NOBODY)).expect("gives it away");
        }
        let set = |owner, mode| {
            std::fs::write(&settings, "{}\n").expect("writes");
            chown(&settings, Some(owner), Some(owner)).expect("gives it away");
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&settings, mode).expect("sets the mode");
        };
        let sync = |user| {
            let mut command = sandbox.command(&["--offline", "sync"]);
            let output = command.uid(user).gid(user).output().expect("runs");
            String::from_utf8_lossy(&output.stderr).into_owned()
        };
        // Root for the user: the file stays the user's.
        set(NOBODY, 0o640);
        sync(0);
        assert_eq!(owner(), (NOBODY, NOBODY, 0o640));
        assert_ne!(std::fs::read(&settings).expect("reads"), b"{}\n");
        // The user may not write it.
        set(0, 0o644);
        let told = sync(NOBODY);
        assert!(told.contains("it belongs to another user or group"), "{told}");
        assert_eq!(owner(), (0, 0, 0o644));
        assert_eq!(std::fs::read(&settings).expect("reads"), b"{}\n");
        // The user may: it is written in its place.
        set(0, 0o666);
        let told = sync(NOBODY);
        assert_eq!(owner(), (0, 0, 0o666), "{told}");
        assert_ne!(std::fs::read(&settings).expect("reads"), b"{}\n", "{told}");
    }

    #[test]
    fn a_limit_of_files_sizes_never_ends_an_event() {
        let sandbox = sandbox();
        sandbox.package(&[("widget", "1.0.0")]);
        sandbox.write(
            "event",
            format!(r#"{{"session_id":"s","cwd":{:?},"prompt":"x"}}"#, sandbox.ws()),
        );
        for call in ["claude session-start", "claude user-prompt-submit", "no-agent stop"] {
            let script = format!(
                "ulimit -f 0; exec '{}' hook {call} < ../event",
                sandbox.binary().display()
            );
            let output = sandbox.shell(&script).output().expect("runs");
            assert_eq!(output.status.code(), Some(0), "{call}: {:?}", output.status);
        }
    }
}

#[test]
fn letters_that_hide_or_turn_text_never_reach_the_log() {
    let sandbox = sandbox();
    let odd = "a\u{202e}\u{2066}\u{200b}\u{feff}\u{e0041}\u{9b}\u{7f}\nERROR forged";
    sandbox.feed(&["hook", odd, "pre-tool-use"], b"{}");
    let log = logs(&sandbox);
    assert!(log.contains("there is no agent `a"), "{log}");
    assert_eq!(log.lines().count(), 1, "{log}");
    let hidden = |letter: char| {
        letter != '\n' && letter.is_control()
            || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    assert!(!log.contains(hidden), "{log:?}");
}
