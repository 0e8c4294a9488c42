//! Many at once, beside other writers, and killed at any moment.

use std::hash::{BuildHasher as _, RandomState};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use symposium_testlib::readers::GOOSE_CONFIG;
use symposium_testlib::{Node, Sandbox};

use crate::configure;
use crate::registration::{outside, sandbox};

/// `count` workspaces like the sandbox's own, each a checkout of its own: `w0`, `w1`, …
fn workspaces(sandbox: &Sandbox, count: usize) -> Vec<String> {
    (0..count)
        .map(|index| {
            let name = format!("w{index}");
            for file in ["Cargo.toml", "Cargo.lock", "src/lib.rs"] {
                sandbox.write(&format!("{name}/{file}"), sandbox.read(&format!("ws/{file}")));
            }
            sandbox.write(&format!("{name}/.git/HEAD"), "ref: refs/heads/main\n");
            name
        })
        .collect()
}

/// A program such as an agent that keeps a counter in a file of its own, on top of what it has just
/// read, whole or not at all. It complains about what does not parse.
fn keep_counting(path: &std::path::Path, done: &AtomicBool, written: &AtomicU64) {
    let temporary = path.with_extension("theirs");
    while !done.load(Ordering::Relaxed) {
        let text = std::fs::read_to_string(path).expect("always there");
        let mut value: Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let next = written.load(Ordering::Relaxed) + 1;
        value["count"] = json!(next);
        std::fs::write(&temporary, format!("{value:#}\n")).expect("writes");
        std::fs::rename(&temporary, path).expect("renames");
        written.store(next, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn case_20_twenty_syncs_beside_a_writer_lose_nothing() {
    let sandbox = sandbox();
    let names = workspaces(&sandbox, 20);
    let live = sandbox.home().join(".claude.json");
    let settings = sandbox.home().join(".claude/settings.json");
    sandbox.write("home/.claude.json", "{\"count\":0,\"mine\":[1,2,3]}");
    sandbox.write("home/.claude/settings.json", "{\"count\":0,\"model\":\"opus\"}");
    let config = format!("[[agent]]\nname = \"claude\"\n{}", crate::NO_BUILTIN);
    sandbox.write("home/.symposium/config.toml", config);
    let done = AtomicBool::new(false);
    let counts = [AtomicU64::new(0), AtomicU64::new(0)];
    std::thread::scope(|scope| {
        let writers = [(&live, &counts[0]), (&settings, &counts[1])]
            .map(|(path, count)| scope.spawn(|| keep_counting(path, &done, count)));
        let runs: Vec<_> = names
            .iter()
            .map(|name| {
                let sandbox = &sandbox;
                scope.spawn(move || {
                    let run = sandbox.run_in(name, &["sync"]);
                    // A file that never holds still may be given up; it must be said.
                    let given_up = ["keeps changing", "try again when the other command is done"];
                    let said = given_up.iter().any(|words| run.stderr.contains(words));
                    assert!(run.code == 0 || said, "{}", run.stderr);
                })
            })
            .collect();
        let runs: Vec<_> = runs.into_iter().map(|run| run.join()).collect();
        done.store(true, Ordering::Relaxed);
        for run in runs {
            run.expect("no panic");
        }
        for writer in writers {
            writer.join().expect("it always parsed");
        }
    });
    // What the others' stale copies dropped of ours, the next round puts back.
    for name in &names {
        sandbox.run_in(name, &["sync"]).ok();
    }
    let file: Value = serde_json::from_str(&sandbox.read("home/.claude.json")).expect("parses");
    assert_eq!(file["mine"], json!([1, 2, 3]));
    assert_eq!(file["count"], json!(counts[0].load(Ordering::Relaxed)), "their last number");
    assert_eq!(file["mcpServers"]["anywhere"]["command"], "anywhere-mcp");
    for name in &names {
        let key = sandbox.at(name);
        assert_eq!(file["projects"][&key]["mcpServers"]["widget-docs"]["command"], "npx", "{name}");
    }
    let file: Value =
        serde_json::from_str(&sandbox.read("home/.claude/settings.json")).expect("parses");
    assert_eq!(file["count"], json!(counts[1].load(Ordering::Relaxed)));
    let groups = file["hooks"]["PreToolUse"].as_array().expect("groups");
    assert_eq!(groups.len(), 1, "{groups:?}");
    // All of it can be taken back.
    sandbox.run(&["uninstall", "--all-workspaces"]).ok();
    let file: Value = serde_json::from_str(&sandbox.read("home/.claude.json")).expect("parses");
    let left: Vec<_> = file.as_object().expect("an object").keys().collect();
    assert_eq!(left, ["count", "mine"]);
    let file: Value =
        serde_json::from_str(&sandbox.read("home/.claude/settings.json")).expect("parses");
    let left: Vec<_> = file.as_object().expect("an object").keys().collect();
    assert_eq!(left, ["count", "model"]);
}

#[test]
fn case_20_inits_at_once_register_each_hook_once() {
    let sandbox = sandbox();
    let names = workspaces(&sandbox, 10);
    let before = outside(&sandbox);
    let agents = ["claude", "codex", "gemini", "goose", "copilot"];
    let args: Vec<&str> = std::iter::once("init")
        .chain(agents.iter().flat_map(|name| ["--add-agent", name]))
        .collect();
    std::thread::scope(|scope| {
        for name in &names {
            let (sandbox, args) = (&sandbox, &args);
            scope.spawn(move || sandbox.run_in(name, args).ok());
        }
    });
    for (path, agent, times) in [
        ("home/.claude/settings.json", "claude", 1),
        ("home/.codex/hooks.json", "codex", 1),
        ("home/.gemini/settings.json", "gemini", 1),
        ("home/.agents/plugins/symposium/hooks/hooks.json", "goose", 1),
        ("home/.copilot/hooks/symposium.json", "copilot", 2),
    ] {
        let text = sandbox.read(path);
        let found = text.matches(&format!("hook {agent} session-start")).count();
        assert_eq!(found, times, "{text}");
    }
    sandbox.run(&["uninstall", "--all-workspaces"]).ok();
    assert_eq!(outside(&sandbox).changes_since(&before), [""; 0]);
}

#[test]
fn inits_at_once_lose_no_agent() {
    for _ in 0..3 {
        let sandbox = sandbox();
        sandbox.write("home/.symposium/config.toml", crate::NO_BUILTIN);
        let agents = symposium_testlib::AGENTS;
        let names = workspaces(&sandbox, agents.len());
        std::thread::scope(|scope| {
            for (agent, name) in agents.iter().zip(&names) {
                let sandbox = &sandbox;
                scope.spawn(move || sandbox.run_in(name, &["init", "--add-agent", agent]).ok());
            }
        });
        let config = sandbox.read("home/.symposium/config.toml");
        for agent in agents {
            assert_eq!(config.matches(&format!("name = \"{agent}\"")).count(), 1, "{config}");
        }
        for path in [
            ".claude/settings.json",
            ".codex/hooks.json",
            ".gemini/settings.json",
            ".agents/plugins/symposium/hooks/hooks.json",
            ".copilot/hooks/symposium.json",
            ".config/opencode/plugins/symposium.js",
            ".kiro/agents/symposium.json",
        ] {
            assert!(sandbox.read(&format!("home/{path}")).contains("cargo-agents"), "{path}");
        }
        // As many go as came.
        std::thread::scope(|scope| {
            for (agent, name) in agents.iter().zip(&names) {
                let sandbox = &sandbox;
                scope.spawn(move || sandbox.run_in(name, &["init", "--remove-agent", agent]).ok());
            }
        });
        let config = sandbox.read("home/.symposium/config.toml");
        assert!(!config.contains("[[agent]]"), "{config}");
        assert!(!sandbox.has("home/.copilot/hooks/symposium.json"));
    }
}

/// Leaving while others sync: whoever is last, the next who leaves takes back all that is there.
#[test]
fn case_87_leaving_beside_a_sync_leaves_nothing_that_nobody_knows() {
    let sandbox = sandbox();
    let names = workspaces(&sandbox, 1);
    sandbox.write("home/.claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    sandbox.write(GOOSE_CONFIG, "GOOSE_MODEL: x\n");
    crate::plugin_with_skill(&sandbox, "skilled", "widget", "widget-basics");
    let before = outside(&sandbox);
    configure(&sandbox, &crate::registration::AGENTS, "");
    let start = Instant::now();
    sandbox.run(&["sync"]).ok();
    let whole = start.elapsed();
    for round in 0..15 {
        // In the same workspace, in another one, in both.
        let folders: &[&str] = match round % 3 {
            0 => &["ws"],
            1 => &[&names[0]],
            _ => &["ws", &names[0]],
        };
        std::thread::scope(|scope| {
            let sandbox = &sandbox;
            for folder in folders {
                scope.spawn(move || {
                    std::thread::sleep(delay(whole));
                    sandbox.run_in(folder, &["sync"]).ok();
                });
            }
            std::thread::sleep(delay(whole));
            sandbox.run(&["uninstall"]).ok();
        });
        sandbox.run(&["uninstall", "--all-workspaces"]).ok();
        assert_eq!(outside(&sandbox).changes_since(&before), [""; 0], "round {round}");
        let ledgers = symposium_testlib::Tree::of(&sandbox.home().join(".symposium/ledgers"));
        assert_eq!(ledgers.files(), [""; 0], "round {round}");
        sandbox.run(&["sync"]).ok();
    }
}

/// The bytes of files by their paths.
type Files = std::collections::BTreeMap<String, Vec<u8>>;

fn files(sandbox: &Sandbox) -> Files {
    let nodes = outside(sandbox).0.into_iter();
    nodes
        .filter_map(|(path, node)| match node {
            Node::File(bytes, _) => Some((path, bytes)),
            _ => None,
        })
        .collect()
}

/// A delay up to `longest`, another one in every round and run.
fn delay(longest: Duration) -> Duration {
    let seed = RandomState::new().hash_one(0);
    let part = f64::from(u32::try_from(seed >> 40).unwrap_or_default()) / f64::from(1 << 24);
    longest.mul_f64(part)
}

#[cfg(unix)]
#[test]
fn two_hundred_kills_leave_whole_files_and_nothing_behind() {
    let sandbox = sandbox();
    sandbox.write("home/.claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    sandbox.write("home/.claude.json", "{\"numStartups\":7}");
    sandbox.write("home/.codex/config.toml", "model = \"x\"\n");
    sandbox.write(GOOSE_CONFIG, "extensions:\n  developer: {}\n");
    let before = outside(&sandbox);
    let agents = ["claude", "codex", "gemini", "goose", "kiro", "opencode"];
    let config = |agents: &[&str]| configure(&sandbox, agents, "");
    // Every state that there is, and how long it takes to get from one to the other.
    let mut texts = vec![files(&sandbox)];
    config(&agents);
    let start = Instant::now();
    sandbox.run(&["sync"]).ok();
    let whole = start.elapsed();
    texts.push(files(&sandbox));
    let manifest = sandbox.read("home/.symposium/plugins/widget/SYMPOSIUM.toml");
    let newer = manifest.replace("widget-mcp", "newer-mcp");
    sandbox.user_plugin("widget/SYMPOSIUM.toml", &newer);
    sandbox.run(&["sync"]).ok();
    texts.push(files(&sandbox));

    let mut killed = 0;
    let mut rounds = 0;
    let mut found_old_and_new = [0, 0];
    let mut longest = whole;
    // Those that came too late hit nobody and do not count.
    while killed < 200 {
        rounds += 1;
        assert!(rounds < 2_000, "only {killed} were killed on the way");
        match rounds % 4 {
            0 => config(&[]),
            1 => config(&agents),
            2 => sandbox.user_plugin("widget/SYMPOSIUM.toml", &manifest),
            _ => sandbox.user_plugin("widget/SYMPOSIUM.toml", &newer),
        }
        let before_round = files(&sandbox);
        let mut child = sandbox
            .command(&["sync"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        std::thread::sleep(delay(longest));
        let alive = child.try_wait().expect("asks").is_none();
        killed += u32::from(alive);
        // Moments that are mostly before the end, however busy the machine is.
        longest = longest.mul_f64(if alive { 1.1 } else { 0.7 }).min(whole);
        child.kill().expect("kills");
        child.wait().expect("ends");
        if alive {
            check_ours(&sandbox, &texts);
            let began = before_round != files(&sandbox);
            found_old_and_new[usize::from(began)] += 1;
        }
    }
    // Some died before their first file, some between files.
    assert!(found_old_and_new.iter().all(|count| *count > 10), "{found_old_and_new:?}");

    // The next run is clean, and says the same as one that was never disturbed.
    config(&agents);
    sandbox.user_plugin("widget/SYMPOSIUM.toml", &newer);
    let run = sandbox.run(&["sync"]).ok();
    assert!(!run.stderr.contains("warning: our hooks"), "{}", run.stderr);
    assert!(!run.stderr.contains("by you"), "{}", run.stderr);
    let now = files(&sandbox);
    // Git's file has the same lines, in the order in which they came.
    for (path, bytes) in texts[2].iter().filter(|(path, _)| !path.ends_with("exclude")) {
        let found = now.get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert_eq!(found.as_deref(), std::str::from_utf8(bytes).ok(), "{path}");
    }
    // Temporary files of the dead count as such two seconds after their last change, a time that
    // can't be set back.
    std::thread::sleep(Duration::from_millis(2_100));
    sandbox.run(&["uninstall"]).ok();
    assert_eq!(outside(&sandbox).changes_since(&before), [""; 0]);
}

/// Every file holds what it held in one of the states; the user's are all there.
fn check_ours(sandbox: &Sandbox, texts: &[Files]) {
    let now = files(sandbox);
    for path in texts[0].keys() {
        assert!(now.contains_key(path), "{path} is gone");
    }
    for (path, bytes) in now {
        let name = path.rsplit('/').next().unwrap_or_default();
        if name.starts_with(".symposium-") {
            continue;
        }
        if name == "exclude" {
            // Lines of git's file come and go one by one.
            let lines = |bytes: &[u8]| {
                String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect::<Vec<_>>()
            };
            let known: Vec<String> = texts
                .iter()
                .filter_map(|files| files.get(&path))
                .flat_map(|it| lines(it))
                .collect();
            let unknown: Vec<String> =
                lines(&bytes).into_iter().filter(|line| !known.contains(line)).collect();
            assert_eq!(unknown, [""; 0], "{path}");
            continue;
        }
        let known = texts.iter().any(|files| files.get(&path) == Some(&bytes));
        let text = String::from_utf8_lossy(&bytes);
        assert!(known, "{path} is neither old nor new:\n{text}");
    }
}
