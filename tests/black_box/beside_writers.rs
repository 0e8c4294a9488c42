//! Other programs that open and write the agents' files while ours does.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::registration::{AGENTS, outside, sandbox};

/// How often we come and go. A program that was sent a signal for each file that others opened was
/// ended in two of five rounds.
const ROUNDS: usize = 12;

/// The files of the agents that exist below `home` while we are registered.
fn agents_files(home: &std::path::Path) -> Vec<PathBuf> {
    [
        ".claude/settings.json",
        ".claude.json",
        ".codex/hooks.json",
        ".copilot/hooks/symposium.json",
        ".gemini/settings.json",
        ".agents/plugins/symposium/hooks/hooks.json",
        ".config/opencode/plugins/symposium.js",
        ".kiro/agents/symposium.json",
    ]
    .map(|file| home.join(file))
    .to_vec()
}

#[test]
fn programs_that_open_the_agents_files_never_end_us() {
    let sandbox = sandbox();
    sandbox.write("home/.claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    sandbox.write("home/.gemini/settings.json", "{\"theme\": \"x\"}\n");
    let before = outside(&sandbox);
    let files = agents_files(&sandbox.home());
    let init: Vec<&str> = std::iter::once("init")
        .chain(AGENTS.iter().flat_map(|agent| ["--add-agent", agent]))
        .collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for file in &files {
                    // As an agent does right before it saves.
                    drop(fs::OpenOptions::new().write(true).open(file));
                }
                std::thread::sleep(Duration::from_micros(200));
            }
        });
        let rounds = std::panic::AssertUnwindSafe(|| {
            for _ in 0..ROUNDS {
                sandbox.run(&init).ok();
                for file in
                    files.iter().filter(|file| file.extension().is_some_and(|e| e == "json"))
                {
                    let Ok(text) = fs::read_to_string(file) else { continue };
                    serde_json::from_str::<serde_json::Value>(&text)
                        .unwrap_or_else(|error| panic!("{}: {error}: {text}", file.display()));
                }
                sandbox.run(&["uninstall", "--all-workspaces"]).ok();
                assert_eq!(outside(&sandbox).changes_since(&before), [""; 0]);
            }
        });
        let ended = std::panic::catch_unwind(rounds);
        done.store(true, Ordering::Relaxed);
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

/// As an agent that saves its file in two pieces. `sync` reads the file twice, for the plan and under
/// its lock, and either may come in between.
#[test]
fn a_settings_file_that_is_just_being_written_is_waited_for() {
    let sandbox = sandbox();
    let text = "{\n  \"mcpServers\": {\n    \"theirs\": {\"command\": \"x\"}\n  },\n  \"model\": \"opus\"\n}\n";
    let (half, rest) = text.split_at(text.len() / 2);
    sandbox.write("home/.claude/settings.json", text);
    let file = sandbox.home().join(".claude/settings.json");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let mut theirs = fs::File::create(&file).expect("opens");
                theirs.write_all(half.as_bytes()).expect("writes");
                std::thread::sleep(Duration::from_millis(80));
                theirs.write_all(rest.as_bytes()).expect("writes");
                std::thread::sleep(Duration::from_millis(40));
            }
        });
        let runs = std::panic::AssertUnwindSafe(|| {
            for args in [&["init", "--add-agent", "claude"][..], &["sync"]].repeat(6) {
                let run = sandbox.run(args);
                // A machine that stops us for long enough may make every look come in between.
                let told = run.stderr.contains("it was changed a moment ago");
                assert!(run.code == 0 || told, "{args:?}: {}", run.stderr);
            }
        });
        let ended = std::panic::catch_unwind(runs);
        done.store(true, Ordering::Relaxed);
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    sandbox.run(&["init", "--add-agent", "claude"]).ok();
    let settings: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&file).expect("reads")).expect("is whole");
    assert_eq!(settings["mcpServers"]["theirs"]["command"], "x");
    assert!(settings["hooks"]["PreToolUse"].is_array(), "{settings}");
}
