//! A workspace whose sync takes too long costs one wait, and one process that ends by itself.

use std::time::{Duration, Instant};

use symposium_testlib::Sandbox;

use crate::hook_kit::{Event, Told, send, with_agents};

/// A workspace whose sync would take a minute, before an event and in the background.
fn slow(life: &str) -> Sandbox {
    let mut sandbox = with_agents(&["claude"]);
    sandbox.switch("slow-sync", "60000");
    sandbox.switch("slow-background", "60000");
    sandbox.switch("background-life", life);
    sandbox.switch("patience", "1");
    sandbox
}

/// The background processes of the sandbox.
fn running(sandbox: &Sandbox) -> usize {
    let home = format!("HOME={}\0", sandbox.home().display());
    let processes = std::fs::read_dir("/proc").expect("lists").flatten();
    let is_one = |process: &std::fs::DirEntry| {
        let read = |name: &str| std::fs::read(process.path().join(name)).unwrap_or_default();
        let of_home = String::from_utf8_lossy(&read("environ")).contains(&home);
        of_home && String::from_utf8_lossy(&read("cmdline")).contains("--background")
    };
    processes.filter(is_one).count()
}

fn becomes(sandbox: &Sandbox, count: usize) {
    let start = Instant::now();
    while running(sandbox) != count {
        assert!(start.elapsed() < Duration::from_secs(20), "{} are running", running(sandbox));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn an_event_waits_once_for_a_slow_workspace_which_has_one_process_in_the_background() {
    let sandbox = slow("30000");
    let event = |id: &'static str| {
        let start = Instant::now();
        send(&sandbox, "claude", Event::PreToolUse, &Told::in_ws(&sandbox).id(id));
        start.elapsed()
    };
    assert!(event("1") >= Duration::from_secs(2), "it waits");
    becomes(&sandbox, 1);
    for id in ["2", "3", "4", "5"] {
        let took = event(id);
        assert!(took < Duration::from_millis(1900), "it waited again: {took:?}");
    }
    send(&sandbox, "claude", Event::SessionStart, &Told::in_ws(&sandbox).session("new"));
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(running(&sandbox), 1);
}

#[test]
fn the_process_in_the_background_ends_by_itself_and_is_not_started_again_at_once() {
    let sandbox = slow("1000");
    send(&sandbox, "claude", Event::PreToolUse, &Told::in_ws(&sandbox).id("1"));
    becomes(&sandbox, 0);
    send(&sandbox, "claude", Event::PreToolUse, &Told::in_ws(&sandbox).id("2"));
    assert_eq!(running(&sandbox), 0);
}
