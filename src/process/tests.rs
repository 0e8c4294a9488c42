//! Each hazard of a child as a small `sh` script.

use std::path::Path;
use std::time::{Duration, Instant};

use super::*;

fn sh(script: &str) -> Child {
    Child::new("/bin/sh").args(["-c", script]).limit(Duration::from_secs(20))
}

fn output(child: &Child) -> Output {
    run(child).expect("starts")
}

/// Whether a process is there and is no zombie.
fn alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    // The state follows the name, which stands in parentheses.
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

fn soon(what: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(10) {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

#[test]
fn arguments_input_folder_and_variables_arrive_as_they_are() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let script = "printf '%s|' \"$@\" \"$A\" \"${HOME-none}\"; cat; pwd -P";
    let child = Child::new("sh")
        .args(["-c", script, "sh", "a b", "$(x)", "'\"*"])
        .env("A", "v w")
        .env_remove("HOME")
        .cwd(dir.path())
        .stdin("in\n");
    let here = crate::files::canonicalize(dir.path()).expect("is there");
    let expected = format!("a b|$(x)|'\"*|v w|none|in\n{}\n", here.display());
    let output = output(&child);
    assert_eq!(output.stdout_text(), expected);
    assert!(output.success() && !output.truncated);
}

#[test]
fn a_clear_environment_holds_only_what_was_given() {
    let mut child = Child::new("/usr/bin/env").env("ONLY", "1");
    child.clear_env = true;
    assert_eq!(output(&child).stdout_text(), "ONLY=1\n");
}

#[test]
fn f247_ten_megabytes_both_ways_do_not_deadlock() {
    let input = vec![b'x'; 10 * 1024 * 1024];
    let mut child = sh("tee /dev/stderr").stdin(input.clone());
    child.output_cap = input.len();
    let output = output(&child);
    assert!(output.stdout == input && output.stderr == input);
    assert!(!output.truncated);
}

#[test]
fn f247_a_child_that_ignores_its_input_is_fine() {
    for size in [10, 4096, 4097, 10 * 1024 * 1024] {
        let output = output(&sh("echo done").stdin(vec![b'x'; size]));
        assert_eq!((output.stdout_text().as_str(), output.status), ("done\n", Status::Exited(0)));
    }
    let output = output(&sh("exec 0<&-; sleep 0.1; echo done").stdin(vec![b'x'; 1 << 20]));
    assert_eq!(output.stdout_text(), "done\n");
}

#[test]
fn a_flood_is_cut_at_the_cap_and_read_to_its_end() {
    let mut child = sh("head -c 10000000 /dev/zero; echo end >&2");
    child.output_cap = 1000;
    let output = output(&child);
    assert_eq!((output.stdout.len(), output.truncated), (1000, true));
    assert_eq!(output.stderr_text(), "end\n");
    assert!(output.success());
}

#[test]
fn output_that_is_no_text_is_kept_as_it_is() {
    let output = output(&sh("printf 'a\\377b'"));
    assert_eq!(output.stdout, b"a\xffb");
    assert_eq!(output.stdout_text(), "a\u{fffd}b");
}

#[test]
fn a_hanging_child_and_its_whole_group_end_with_the_limit() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let child = sh("trap '' TERM INT; sleep 100 & echo $! >pid; echo out; wait; sleep 100")
        .cwd(dir.path())
        .limit(Duration::from_millis(300));
    let start = Instant::now();
    let output = output(&child);
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!((output.status, output.stdout_text().as_str()), (Status::TimedOut, "out\n"));
    let pid = std::fs::read_to_string(dir.path().join("pid")).expect("was written");
    assert!(soon(|| !alive(&pid)), "the grandchild lives on");
}

#[test]
fn an_endless_flood_ends_with_the_limit() {
    let mut child = sh("exec yes").limit(Duration::from_millis(200));
    child.output_cap = 10;
    let output = output(&child);
    assert_eq!((output.status, output.stdout.len()), (Status::TimedOut, 10));
}

#[test]
fn a_grandchild_that_keeps_a_pipe_open_does_not_hold_us_and_does_not_outlive_the_child() {
    let start = Instant::now();
    let output = output(&sh("sleep 100 & echo $!"));
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(output.status, Status::Exited(0));
    assert!(soon(|| !alive(&output.stdout_text())), "the grandchild lives on");
}

#[test]
fn what_a_grandchild_writes_at_once_after_the_child_ended_is_heard() {
    let output = output(&sh("(sleep 0.03; echo late) & echo early"));
    assert_eq!(output.stdout_text(), "early\nlate\n");
}

#[test]
fn a_grandchild_without_our_pipes_does_not_outlive_the_child_either() {
    let output = output(&sh("sleep 100 >/dev/null 2>&1 & echo $!"));
    assert!(soon(|| !alive(&output.stdout_text())), "the grandchild lives on");
}

#[test]
fn a_daemon_that_left_the_group_lives_and_does_not_hold_us() {
    let start = Instant::now();
    // It keeps our pipes; `$!` is the number it goes on under, since `setsid` only forks when it
    // leads a group.
    let output = output(&sh("setsid sleep 30 & echo $!; sleep 0.2"));
    assert!(start.elapsed() < Duration::from_secs(10));
    let pid = output.stdout_text().trim().to_owned();
    assert!(alive(&pid), "the daemon was ended");
    assert!(output_of_kill(&pid).success());
}

fn output_of_kill(pid: &str) -> Output {
    output(&Child::new("kill").args(["-KILL", pid]))
}

#[test]
fn f240_codes_and_signals_are_told_apart() {
    assert_eq!(output(&sh("exit 7")).status, Status::Exited(7));
    assert_eq!(output(&sh("kill -SEGV $$")).status, Status::Signalled(11));
    let code = |status: Status| status.exit_code();
    assert_eq!(code(Status::Exited(0)), 0);
    assert_eq!(code(Status::Exited(255)), 255);
    for odd in [Status::Exited(256), Status::Exited(-1), Status::Signalled(9), Status::TimedOut] {
        assert_eq!(code(odd), 1, "{odd:?}");
    }
}

fn file(path: &Path, text: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, text).expect("writes");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("sets the mode");
}

#[test]
fn each_reason_not_to_start_has_its_words() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| dir.path().join(name);
    file(&at("plain"), "#!/bin/sh\n", 0o644);
    file(&at("lost"), "#!/nowhere/interpreter\n", 0o755);
    file(&at("text"), "no program\n", 0o755);
    std::fs::create_dir(at("folder")).expect("creates");
    let say = |child: Child| {
        let error = run(&child).expect_err("must not start");
        error.to_string().replace(&*dir.path().to_string_lossy(), "DIR")
    };
    let said = [
        say(Child::new("no-such-program-anywhere")),
        say(Child::new(at("missing"))),
        say(Child::new(at("plain"))),
        say(Child::new(at("lost"))),
        say(Child::new(at("text"))),
        say(Child::new(at("folder"))),
        say(Child::new("sh").cwd(at("gone"))),
        say(Child::new("")),
    ];
    expect_test::expect![[r#"
        `no-such-program-anywhere` is not installed, or not on PATH
        there is no program DIR/missing
        `DIR/plain` is not executable: `chmod +x` it, or name it as a `script`
        can't run `DIR/lost`: the interpreter that it names is not there
        can't run `DIR/text`: it is neither a program for this system nor a script that begins with `#!`
        can't run `DIR/folder`: it is a folder
        can't run `sh` in DIR/gone: there is no such folder
        `` is not installed, or not on PATH
    "#]]
    .assert_eq(&(said.join("\n") + "\n"));
}

#[test]
fn a_relative_program_is_meant_from_the_childs_folder() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    file(&dir.path().join("tool"), "#!/bin/sh\necho here\n", 0o755);
    let output = output(&Child::new("./tool").cwd(dir.path()));
    assert_eq!(output.stdout_text(), "here\n");
}

#[test]
fn the_path_that_a_child_gets_is_the_one_it_is_searched_on() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    file(&dir.path().join("only-there"), "#!/bin/sh\necho found\n", 0o755);
    let child = Child::new("only-there");
    assert!(matches!(run(&child), Err(RunError::NotFound { .. })));
    let output = output(&child.env("PATH", dir.path()));
    assert_eq!(output.stdout_text(), "found\n");
}

#[test]
fn a_program_that_is_still_being_written_is_tried_again() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let tool = dir.path().join("tool");
    std::fs::copy("/bin/true", &tool).expect("copies");
    let open = std::fs::OpenOptions::new().append(true).open(&tool).expect("opens");
    let closer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(30));
        drop(open);
    });
    assert!(output(&Child::new(&tool)).success());
    closer.join().expect("ends");
}

#[test]
fn a_detached_process_has_its_own_session_no_streams_and_no_descriptor_of_ours() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let facts = dir.path().join("facts");
    let script = "{ cut -d' ' -f1,5,6 /proc/$$/stat; pwd; ls -l /proc/$$/fd; } >$0.new; mv $0.new $0; \
                  sleep 100";
    let child =
        Child::new("/bin/sh").args(["-c".into(), script.into(), facts.clone().into_os_string()]);
    let running = spawn_detached(&child).expect("starts");
    assert!(soon(|| facts.exists()));
    assert!(!running.ends_within(Duration::from_millis(50)));
    let text = std::fs::read_to_string(&facts).expect("reads");
    let mut lines = text.lines();
    let numbers: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let [pid, group, session] = numbers[..] else { panic!("{text}") };
    assert_eq!((pid, pid), (group, session));
    assert_eq!(lines.next(), Some("/"));
    for line in lines.filter(|line| line.contains("->")) {
        let (number, target) = line.rsplit_once(" -> ").expect("a link");
        let number = number.rsplit(' ').next().expect("a number");
        let ours = number == "1" && target.contains("facts");
        assert!(ours || target == "/dev/null", "{line}");
    }
    assert!(output_of_kill(pid).success());
    assert!(running.ends_within(Duration::from_secs(10)));
    // Reaped at once, not only with us.
    assert!(soon(|| !Path::new(&format!("/proc/{pid}")).exists()));
}

/// Not a test of its own: what the tests below run in a process of their own.
#[test]
fn in_a_process_of_its_own() {
    let env = crate::config::Environment::capture();
    let script = || env.text("TEST_SCRIPT").unwrap_or("exit 9").to_owned();
    let status = match env.text("TEST_ROLE") {
        Some("run") => run(&sh(&script())).map(|output| output.status),
        Some("inherited") => run_inherited(&sh(&script())),
        Some("replace") => exec_replace(&sh(&script())),
        _ => return,
    };
    let code = status.map_or(99, Status::exit_code);
    #[allow(clippy::disallowed_methods, reason = "the test harness has its own idea of a code")]
    std::process::exit(i32::from(code));
}

#[allow(clippy::disallowed_methods, reason = "the child under test is this very program")]
fn role(role: &str, script: &str) -> std::process::Command {
    let mut command = std::process::Command::new(std::env::current_exe().expect("is known"));
    command.args(["--exact", "process::tests::in_a_process_of_its_own", "--nocapture"]);
    command.env("TEST_ROLE", role).env("TEST_SCRIPT", script);
    command
}

#[test]
fn a_subcommand_gets_our_streams_and_gives_us_its_code() {
    let output = role("inherited", "echo out; echo err >&2; exit 41").output().expect("runs");
    assert_eq!(output.status.code(), Some(41));
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("out\n"));
    assert!(String::from_utf8_lossy(&output.stderr).ends_with("err\n"));
    let killed = role("inherited", "kill -KILL $$").output().expect("runs");
    assert_eq!(killed.status.code(), Some(1));
}

#[test]
fn f219_a_program_takes_our_place() {
    let mut running = role("replace", "exit 42").spawn().expect("starts");
    assert_eq!(running.wait().expect("ends").code(), Some(42));
    let output = role("replace", "echo $$").output().expect("runs");
    assert!(output.status.success());
}

fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid.try_into().expect("fits")).expect("not zero");
    rustix::process::kill_process(pid, signal).expect("is there");
}

#[test]
fn a_child_ends_with_us_when_we_are_told_to_end() {
    use std::os::unix::process::ExitStatusExt as _;
    let dir = tempfile::tempdir().expect("a temporary folder");
    let pid = dir.path().join("pid");
    let script = format!("sleep 100 & echo $! >{0}.new; mv {0}.new {0}; wait", pid.display());
    let mut running = role("run", &script).spawn().expect("starts");
    assert!(soon(|| pid.exists()));
    signal(running.id(), rustix::process::Signal::TERM);
    let status = running.wait().expect("ends");
    assert_eq!(status.signal(), Some(15));
    let pid = std::fs::read_to_string(&pid).expect("reads");
    assert!(soon(|| !alive(&pid)), "the grandchild lives on");
}

#[test]
fn ctrl_c_is_the_subcommands_and_we_wait_for_it() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let ready = dir.path().join("ready");
    let script =
        format!("trap 'exit 5' TERM; : >{}; while :; do sleep 0.02; done", ready.display());
    let mut running = role("inherited", &script).spawn().expect("starts");
    assert!(soon(|| ready.exists()));
    // The keyboard would send it to both; the child's own copy is left out to see that we stay.
    signal(running.id(), rustix::process::Signal::INT);
    std::thread::sleep(Duration::from_millis(100));
    assert!(running.try_wait().expect("is ours").is_none(), "we did not wait");
    signal(running.id(), rustix::process::Signal::TERM);
    assert_eq!(running.wait().expect("ends").code(), Some(5));
}

#[test]
fn a_subcommand_that_dies_of_ctrl_c_at_once_does_not_take_us_along() {
    use std::os::unix::process::CommandExt as _;
    for _ in 0..20 {
        // Like the keyboard: the same signal to everybody in the group.
        let output = role("inherited", "kill -INT 0").process_group(0).output().expect("runs");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_program_is_asked_for_its_version_in_its_own_folder() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = crate::files::canonicalize(dir.path()).expect("is there");
    let program = dir.join("stand-in");
    std::fs::write(&program, "#!/bin/sh\npwd -P\n").expect("writes");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).expect("makes it executable");
    let output = run(&Child::version(&program)).expect("runs");
    assert_eq!(output.stdout_text().trim_end(), dir.to_string_lossy());
}
