//! What a hook leaves behind: nothing on Linux, unless its manifest says `detach = true`.
#![cfg(target_os = "linux")]

use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use symposium_testlib::Sandbox;

use crate::hook_kit::*;

/// Seconds that nobody else sleeps for: the name of a test's processes.
fn token(number: usize) -> String {
    format!("77.{}{number:02}", std::process::id())
}

/// The processes whose command line ends with `token`.
fn running(token: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let ids = names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    ids.filter(|id| {
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        line.strip_suffix(b"\0").is_some_and(|line| line.ends_with(format!("\0{token}").as_bytes()))
    })
    .collect()
}

/// The processes of that token, once there are so many: who was started may not be there yet.
fn come_to_run(token: &str, count: usize) -> Vec<String> {
    let end = Instant::now() + Duration::from_secs(10);
    while running(token).len() < count && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(10));
    }
    running(token)
}

/// Ways to leave a process behind.
fn ways(token: &str) -> [String; 6] {
    [
        format!("( setsid sh -c 'sleep {token}' & )"),
        format!("setsid -f sleep {token}"),
        format!("nohup sleep {token} &"),
        format!("setsid sh -c '( sleep {token} & ) & ( setsid sleep {token} & )' &"),
        format!("( env -i PATH=\"$PATH\" setsid sleep {token} >/dev/null 2>&1 </dev/null & )"),
        format!("setsid sh -c 'trap \"\" TERM HUP INT; sleep {token}; sleep {token}' &"),
    ]
}

fn hook(sandbox: &Sandbox, keys: &str, script: &str) {
    hook_plugin(sandbox, "p", Event::PreToolUse, keys, &format!("cat >/dev/null\n{script}\n"));
}

#[test]
fn nothing_that_a_hook_started_survives_it_however_it_ends() {
    let ends = [("sleep 77", "timeout = 1"), ("sleep 0.2", ""), ("sleep 0.2; exit 3", "")];
    let cases: Vec<usize> = (0..ends.len() * 6).collect();
    in_parallel(&cases, |number| {
        let token = token(*number);
        let (end, keys) = ends[number / 6];
        let way = &ways(&token)[number % 6];
        let sandbox = lab();
        hook(&sandbox, keys, &format!("{way}\n{end}"));
        send(&sandbox, "claude", Event::PreToolUse, &Told::in_ws(&sandbox));
        assert_eq!(running(&token), [""; 0], "{way}; {end}");
    });
}

#[test]
fn an_agent_that_ends_us_leaves_nothing_of_a_hook_behind() {
    let token = token(50);
    let sandbox = lab();
    hook(&sandbox, "", &format!("setsid -f sleep {token}\nsleep {token}"));
    let told = Told::in_ws(&sandbox).payload("claude", Event::PreToolUse);
    let mut command = sandbox.command(&["hook", "claude", "pre-tool-use"]);
    command.current_dir(sandbox.ws()).stdin(Stdio::piped());
    let mut started = command.spawn().expect("it starts");
    started.stdin.take().expect("a pipe").write_all(&told).expect("it reads");
    assert_eq!(come_to_run(&token, 2).len(), 2);
    let id = rustix::process::Pid::from_child(&started);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("it runs");
    started.wait().expect("it ends");
    assert_eq!(running(&token), [""; 0]);
}

#[test]
fn a_hook_that_says_detach_may_leave_a_process_behind_but_not_beyond_its_limit() {
    let token = token(60);
    let sandbox = lab();
    let quiet = "</dev/null >/dev/null 2>&1";
    hook(
        &sandbox,
        "detach = true",
        &format!("sleep {token} {quiet} &\nsetsid -f sleep {token} {quiet}"),
    );
    send(&sandbox, "claude", Event::PreToolUse, &Told::in_ws(&sandbox));
    let left = come_to_run(&token, 2);
    assert_eq!(left.len(), 2);
    for id in left {
        let id = rustix::process::Pid::from_raw(id.parse().expect("a number")).expect("a process");
        rustix::process::kill_process(id, rustix::process::Signal::KILL).expect("it runs");
    }
    let token = format!("{token}1");
    hook(&sandbox, "detach = true\ntimeout = 1", &format!("sleep {token} &\nsleep 77"));
    send(&sandbox, "claude", Event::PreToolUse, &Told::in_ws(&sandbox).id("second"));
    assert_eq!(running(&token), [""; 0]);
}
