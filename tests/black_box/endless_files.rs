//! A clone may hold files without end, and pipes that nobody writes to, wherever something is read.

use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use symposium_testlib::Sandbox;

use crate::hook_kit::{Event, Told, in_parallel, with_agents};
use crate::{plugin_with_skill, skill};

/// Whatever is read of a workspace, by some command or event.
const PLACES: [&str; 19] = [
    "Cargo.toml",
    "Cargo.lock",
    "SYMPOSIUM.toml",
    "member/Cargo.toml",
    ".cargo/config.toml",
    ".git",
    ".git/HEAD",
    ".git/commondir",
    ".git/config",
    ".git/info/exclude",
    ".mcp.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/skills/x/.symposium",
    ".claude/skills/x/SKILL.md",
    ".agents/skills/x/SKILL.md",
    ".codex/config.toml",
    ".gemini/settings.json",
    "opencode.json",
];

const AGENTS: [&str; 4] = ["claude", "codex", "gemini", "opencode"];

#[derive(Debug, Clone, Copy)]
enum Shape {
    /// A regular file of length 0, says `stat`, that goes on for ever.
    Endless,
    Pipe,
    /// Hardly anything on the disk or in git.
    Zeros,
}

fn clone_with(place: &str, shape: Shape) -> Sandbox {
    let sandbox = with_agents(&AGENTS);
    plugin_with_skill(&sandbox, "widget", "widget", "widget-basics");
    sandbox.write("ws/.agents/skills/own/SKILL.md", skill("own", "Of the checkout."));
    sandbox.write("ws/.claude/skills/own/.symposium", "");
    if place.starts_with(".git/") {
        sandbox.git(&["init", "-q"]);
    }
    let path = sandbox.ws().join(place);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("creates folders");
    let _ = std::fs::remove_file(&path);
    match shape {
        Shape::Endless => std::os::unix::fs::symlink("/proc/self/pagemap", &path).expect("links"),
        Shape::Pipe => symposium_testlib::make_pipe(&path),
        Shape::Zeros => std::fs::File::create(&path)
            .and_then(|file| file.set_len(300 * 1024 * 1024))
            .expect("grows"),
    }
    sandbox
}

/// Runs the program with a GB of addresses, and half a minute, at most.
fn bounded(sandbox: &Sandbox, args: &str, stdin: &[u8]) -> Output {
    let program = sandbox.binary().display().to_string();
    let script = format!("ulimit -v 1000000; exec timeout -s KILL 30 '{program}' {args}");
    let mut command = sandbox.shell(&script);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("starts");
    let _ = std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), stdin);
    child.wait_with_output().expect("ends")
}

fn holds_for(shape: Shape) {
    in_parallel(&PLACES, |place| {
        let sandbox = clone_with(place, shape);
        for agent in AGENTS {
            let told = Told::in_ws(&sandbox).payload(agent, Event::PreToolUse);
            let start = Instant::now();
            let run = bounded(&sandbox, &format!("hook {agent} pre-tool-use"), &told);
            assert_eq!(run.status.code(), Some(0), "{place} {shape:?} {agent}: {run:?}");
            assert!(start.elapsed() < Duration::from_secs(25), "{place} {shape:?} {agent}");
        }
        for args in ["sync --offline", "status --offline", "doctor --offline", "sync --background"]
        {
            let run = bounded(&sandbox, args, b"");
            // Not ended by the time limit, nor for want of memory.
            assert!(matches!(run.status.code(), Some(0 | 1)), "{place} {shape:?} {args}: {run:?}");
        }
    });
}

#[test]
fn files_without_end_cost_neither_memory_nor_time() {
    holds_for(Shape::Endless);
}

#[test]
fn nobody_waits_for_a_pipe_in_the_place_of_a_file() {
    holds_for(Shape::Pipe);
}

#[test]
fn a_file_of_hundreds_of_megabytes_is_not_read() {
    holds_for(Shape::Zeros);
}

/// Half an event says nothing, and denies nothing.
#[test]
fn an_event_without_end_carries_on() {
    let sandbox = with_agents(&["claude"]);
    let program = sandbox.binary().display();
    let script = format!("head -c 300000000 /dev/zero | '{program}' hook claude pre-tool-use");
    let run = sandbox.shell(&script).output().expect("runs");
    assert_eq!((run.status.code(), run.stdout.len()), (Some(0), 0), "{run:?}");
    assert!(crate::hook_kit::logs(&sandbox).contains("larger than"), "it is told");
}
