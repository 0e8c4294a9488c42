//! Many requests at once, calls that take long, and every way in which a session ends.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use symposium_testlib::Sandbox;

use super::kit::{Client, Server};
use super::workspace;

/// Requests of one moment.
const MANY: u64 = 1_000;
/// How long the server may take to go, on a machine that does other things, too.
const PATIENCE: Duration = Duration::from_secs(10);

/// A request for each of these, one after the other.
fn request(id: u64) -> Value {
    let call = |tool: &str, arguments: Value| json!({"name": tool, "arguments": arguments});
    let (method, params) = match id % 6 {
        0 => ("ping", json!({})),
        1 => ("tools/list", json!({})),
        2 => ("tools/call", call("crate_info", json!({"name": "widget"}))),
        3 => ("tools/call", call("dependencies", json!({}))),
        4 => ("tools/call", call("no_such_tool", json!({}))),
        _ => ("no/such", json!({})),
    };
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn requests() -> String {
    (0..MANY).map(|id| format!("{}\n", request(id))).collect()
}

fn each_is_answered(client: &mut Client) {
    let answered: BTreeSet<u64> = (0..MANY)
        .map(|_| {
            let answer = client.hear();
            let id = answer["id"].as_u64().unwrap_or_else(|| panic!("no id: {answer}"));
            assert_eq!(answer["error"].is_object(), id % 6 == 5, "{answer}");
            assert_eq!(answer["result"]["isError"] == true, id % 6 == 4, "{answer}");
            id
        })
        .collect();
    assert_eq!(answered, (0..MANY).collect());
}

#[test]
fn a_thousand_requests_at_once_are_each_answered_in_little_memory() {
    let sandbox = workspace();
    let mut client = Client::open(&sandbox);
    let mut stdin = client.take_stdin();
    let writer = std::thread::spawn(move || {
        stdin.write_all(requests().as_bytes()).expect("the server reads");
        stdin
    });
    each_is_answered(&mut client);
    drop(writer.join().expect("all is written"));
    #[cfg(target_os = "linux")]
    {
        let id = client.child.0.id();
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak: u64 = peak.and_then(|it| it.split_whitespace().next()?.parse().ok()).unwrap_or(0);
        assert!((1..64 * 1024).contains(&peak), "{peak} kB");
    }
    ends(&mut client.go_away());
}

#[test]
fn a_client_that_reads_nothing_before_it_has_written_all_gets_every_answer() {
    let sandbox = workspace();
    let mut client = Client::open(&sandbox);
    client.say(requests().trim_end());
    each_is_answered(&mut client);
    assert_eq!(client.close(), Some(0));
    // One that was only looked at.
    assert_eq!(Client::start(&sandbox).close(), Some(0));
}

/// A workspace whose crates cargo fetches for ever, with a server that has it do so for `calls`
/// calls.
#[cfg(unix)]
fn fetching(calls: u64) -> (Sandbox, Client) {
    let mut sandbox = workspace();
    let script = "#!/bin/sh\nsleep 300 &\necho $$ $! >> \"$HOME/started\"\nwait\n";
    sandbox.program("bin/cargo", script);
    sandbox.first_on_path("bin");
    let mut client = Client::start_with(&sandbox, &["mcp", "--timeout", "120"]);
    client.initialize();
    for id in 0..calls {
        let params = json!({"name": "crate_info", "arguments": {"name": format!("far-{id}")}});
        let call = json!({"jsonrpc": "2.0", "id": format!("far-{id}"), "method": "tools/call",
            "params": params});
        client.say(&call.to_string());
    }
    let wanted = usize::try_from(calls).expect("few");
    comes(|| sandbox.has("home/started") && started(&sandbox).len() >= 2 * wanted);
    (sandbox, client)
}

/// The processes that were started for it.
#[cfg(unix)]
fn started(sandbox: &Sandbox) -> Vec<i32> {
    let ids = sandbox.read("home/started");
    ids.split_whitespace().map(|id| id.parse().expect("a number")).collect()
}

#[cfg(unix)]
fn is_running(id: i32) -> bool {
    let id = rustix::process::Pid::from_raw(id).expect("an id");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.as_raw_nonzero()));
    // What nobody waited for yet has ended all the same.
    let is_dead = stat.is_ok_and(|stat| stat.contains(") Z "));
    rustix::process::test_kill_process(id).is_ok() && !is_dead
}

#[cfg(unix)]
fn nothing_is_left(sandbox: &Sandbox) {
    comes(|| started(sandbox).into_iter().all(|id| !is_running(id)));
}

fn comes(mut is_there: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_there() {
        assert!(start.elapsed() < PATIENCE, "it never comes");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn ends(server: &mut Server) -> std::process::ExitStatus {
    let mut status = None;
    comes(|| {
        status = server.0.try_wait().expect("it is our child");
        status.is_some()
    });
    status.expect("it ended")
}

#[cfg(unix)]
#[test]
fn a_client_that_goes_away_in_the_middle_leaves_nothing_behind() {
    let (sandbox, client) = fetching(2);
    ends(&mut client.go_away());
    nothing_is_left(&sandbox);
    // What it was in the middle of is in nobody's way.
    let mut client = Client::open(&sandbox);
    assert!(!client.call("crate_info", &json!({"name": "widget"})).1);
}

#[cfg(unix)]
#[test]
fn a_closed_input_ends_it_though_a_call_still_runs() {
    let (sandbox, mut client) = fetching(1);
    drop(client.take_stdin());
    assert_eq!(ends(&mut client.child).code(), Some(0));
    nothing_is_left(&sandbox);
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_at_once_with_what_it_started() {
    let (sandbox, mut client) = fetching(2);
    let id = i32::try_from(client.child.0.id()).expect("an id");
    let id = rustix::process::Pid::from_raw(id).expect("an id");
    rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("it is ours");
    let status = ends(&mut client.child);
    assert_eq!(status.code(), None, "{status}");
    nothing_is_left(&sandbox);
}

#[cfg(unix)]
#[test]
fn a_kill_in_the_middle_is_in_nobody_s_way() {
    let (sandbox, mut client) = fetching(1);
    client.child.0.kill().expect("it is ours");
    ends(&mut client.child);
    for id in started(&sandbox) {
        let id = rustix::process::Pid::from_raw(id).expect("an id");
        let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
    }
    let mut client = Client::open(&sandbox);
    assert!(!client.call("crate_info", &json!({"name": "widget"})).1);
    assert_eq!(client.close(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_cancelled_call_ends_with_what_it_started_and_makes_room_for_others() {
    let calls = 4;
    let (sandbox, mut client) = fetching(calls);
    for id in 0..calls {
        let params = json!({"requestId": format!("far-{id}"), "reason": "no longer wanted"});
        let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": params});
        client.say(&cancelled.to_string());
    }
    nothing_is_left(&sandbox);
    // Nobody waits for the answer of a cancelled call, so the next line is the next call's.
    let (text, is_error) = client.call("crate_info", &json!({"name": "widget"}));
    assert!(text.contains("Version: 1.2.3") && !is_error, "{text}");
}
