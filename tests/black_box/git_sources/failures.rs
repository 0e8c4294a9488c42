//! A server that stalls, dies in mid-transfer or refuses, and no network at all.

use std::time::{Duration, Instant};

use symposium_testlib::{Manner, Tree};

use super::{cache, files, installed, let_a_minute_pass, publish, ready, served, sync};

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

/// What stands before and after the line that names the cause is often what helps.
#[cfg(unix)]
#[test]
fn what_git_says_is_told_whole_and_names_no_folder_of_ours() {
    let mut sandbox = ready();
    sandbox.program(
        "ssh",
        "#!/bin/sh\nprintf 'Your account ends on Friday.\\n\\nacme: key 7 was revoked.\\n' >&2\n\
         echo \"see $(pwd)/notes\" >&2\nexit 255\n",
    );
    sandbox.set("GIT_SSH_COMMAND", sandbox.dir().join("ssh"));
    super::configure(&sandbox, "git@git.acme.example:tools/agents.git", "");
    let run = sync(&sandbox, &[]).ok();
    for words in [
        "git@git.acme.example:tools/agents.git: see notes; git says:",
        "Your account ends on Friday.",
        "acme: key 7 was revoked.",
        "and the repository exists.",
    ] {
        assert!(run.stderr.contains(words), "no {words} in {}", run.stderr);
    }
    let ours = cache(&sandbox).display().to_string();
    assert!(!run.stderr.contains(&ours), "{}", run.stderr);
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
