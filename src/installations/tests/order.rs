//! Once, by one at a time, and not again too soon.

use super::*;

const BUDGET: Mode = Mode::Dispatch { budget: Duration::from_secs(20) };

fn with_commands(commands: &[&str]) -> Installation {
    let install_commands = commands.iter().map(|&command| command.to_owned()).collect();
    Installation { install_commands, ..bare("setup") }
}

fn lines(house: &House, name: &str) -> usize {
    fs::read_to_string(house.path(name)).unwrap_or_default().lines().count()
}

#[test]
fn f165_commands_run_in_order_once_per_installation_and_version() {
    let house = House::new();
    house.newest("1.0.0");
    let mut tool = crate_of("rg", None);
    tool.install_commands = vec![
        "echo one >>$FAKE/done".to_owned(),
        "echo two $(basename \"$PWD\") >>$FAKE/done".to_owned(),
    ];
    let plugin = house.plugin(vec![tool]);
    for mode in [Mode::Explicit, Mode::Detached, BUDGET, Mode::Explicit] {
        house.acquire(&plugin, "rg", mode).expect("is installed");
    }
    let done = fs::read_to_string(house.path("done")).expect("is there");
    assert_eq!(done, "one\ntwo 1.0.0\n");
    house.newest("1.1.0");
    house.age(&plugin, "rg", 25 * HOUR);
    house.acquire(&plugin, "rg", Mode::Detached).expect("is installed");
    let done = fs::read_to_string(house.path("done")).expect("is there");
    assert_eq!(done, "one\ntwo 1.0.0\none\ntwo 1.1.0\n");
}

#[test]
fn f165_other_commands_are_run_and_only_a_success_counts() {
    let house = House::new();
    fs::create_dir_all(house.path("source/plugin")).expect("creates");
    let fails = with_commands(&["echo x >>$FAKE/a", "echo why >&2; exit 3", "echo x >>$FAKE/b"]);
    let plugin = house.plugin(vec![fails]);
    let error = said(house.acquire(&plugin, "setup", Mode::Explicit));
    assert!(error.ends_with("failed (exit code 3)\n  why"), "{error}");
    assert_eq!((lines(&house, "a"), lines(&house, "b")), (1, 0));
    assert_eq!(house.probe(&plugin, "setup"), None);
    let plugin = house.plugin(vec![with_commands(&["pwd >>$FAKE/a"])]);
    house.acquire(&plugin, "setup", Mode::Detached).expect("is another thing to try");
    house.acquire(&plugin, "setup", Mode::Detached).expect("is done");
    assert_eq!(lines(&house, "a"), 2);
}

#[test]
fn f165_what_commands_made_is_made_again_when_it_is_gone_or_the_plugin_is_another() {
    let house = House::new();
    for folder in ["source/plugin", "source/newer"] {
        fs::create_dir_all(house.path(folder)).expect("creates");
        house.write(&format!("{folder}/tool.in"), folder);
    }
    let tool = with_commands(&["cp tool.in tool; echo x >>$FAKE/done"]);
    let mut plugin = house.plugin(vec![script(tool, "tool")]);
    let acquire =
        |plugin: &Plugin| house.acquire(plugin, "setup", Mode::Detached).expect("is made");
    for _ in 0..2 {
        acquire(&plugin);
    }
    assert_eq!(lines(&house, "done"), 1);
    fs::remove_file(house.path("source/plugin/tool")).expect("is there");
    assert_eq!(house.probe(&plugin, "setup"), None);
    for _ in 0..2 {
        acquire(&plugin);
    }
    assert_eq!(lines(&house, "done"), 2);
    // Another state of a repository is another folder.
    plugin.dir = house.path("source/newer");
    let made = acquire(&plugin);
    assert_eq!(fs::read_to_string(path_of(&made)).expect("is there"), "source/newer");
    assert_eq!(lines(&house, "done"), 3);
}

#[test]
fn f165_what_commands_are_still_making_is_not_there() {
    let house = House::new();
    fs::create_dir_all(house.path("source/plugin")).expect("creates");
    let tool = with_commands(&[
        "printf half >tool; echo x >>$FAKE/begun",
        "while [ ! -f $FAKE/go ]; do sleep 0.02; done; [ ! -f $FAKE/fail ]",
        "printf ' and half' >>tool",
    ]);
    let plugin = house.plugin(vec![script(tool, "tool")]);
    let make = || {
        let before = lines(&house, "begun");
        std::thread::scope(|scope| {
            let work = scope.spawn(|| house.acquire(&plugin, "setup", Mode::Detached));
            while lines(&house, "begun") == before {
                std::thread::sleep(Duration::from_millis(5));
            }
            let found = house.probe(&plugin, "setup");
            house.write("go", "");
            let made = work.join().expect("ends");
            house.remove("go");
            assert_eq!(found, None, "it is half made");
            made
        })
    };
    make().expect("is made");
    fs::remove_file(house.path("source/plugin/tool")).expect("is there");
    house.write("fail", "");
    make().expect_err("fails half-way");
    assert_eq!(house.probe(&plugin, "setup"), None, "it was left half made");
    house.remove("fail");
    house.age(&plugin, "setup", Duration::from_secs(10 * 60));
    let made = make().expect("is made");
    assert_eq!(fs::read_to_string(path_of(&made)).expect("is there"), "half and half");
}

#[test]
fn f166_commands_see_no_variables_of_installations() {
    let house = House::new();
    let mut tool = crate_of("rg", Some("1.0.0"));
    tool.install_commands = vec!["env >$FAKE/env".to_owned()];
    house.acquire(&house.plugin(vec![tool]), "rg", Mode::Explicit).expect("is installed");
    let env = fs::read_to_string(house.path("env")).expect("is there");
    assert!(!env.contains("SYMPOSIUM_") && env.contains("HOME="), "{env}");
}

#[test]
fn a_failure_is_not_repeated_for_ten_minutes_but_by_the_user() {
    let house = House::new();
    house.write("fail", "");
    let plugin = house.plugin(vec![crate_of("rg", Some("1.0.0"))]);
    said(house.acquire(&plugin, "rg", Mode::Detached));
    assert!(!house.calls().is_empty());
    for mode in [Mode::Detached, BUDGET] {
        let error = house.acquire(&plugin, "rg", mode).expect_err("is remembered");
        assert!(matches!(&error.trouble, Trouble::FailedBefore { problem, .. }
            if problem.contains("it does not compile")));
        assert!(house.calls().is_empty());
    }
    said(house.acquire(&plugin, "rg", Mode::Explicit));
    assert!(!house.calls().is_empty());
    house.age(&plugin, "rg", Duration::from_secs(10 * 60));
    house.remove("fail");
    house.acquire(&plugin, "rg", Mode::Detached).expect("is tried again");
    house.calls();
    // Another definition is another thing.
    let house = House::new();
    house.write("fail", "");
    said(house.acquire(&plugin, "rg", Mode::Detached));
    house.remove("fail");
    let other = house.plugin(vec![crate_of("rg", Some("2.0.0"))]);
    house.acquire(&other, "rg", Mode::Detached).expect("is tried");
}

#[test]
fn a_hook_without_a_budget_starts_nothing() {
    let house = House::new();
    let plugin = house.plugin(vec![crate_of("rg", Some("1.0.0")), with_commands(&["exit 1"])]);
    for name in ["rg", "setup"] {
        let mode = Mode::Dispatch { budget: Duration::ZERO };
        let error = house.acquire(&plugin, name, mode).expect_err("is not there");
        assert!(matches!(error.trouble, Trouble::NotReady(_)), "{error}");
    }
    assert!(house.calls().is_empty() && !house.binaries().exists());
}

#[test]
fn a_hook_never_works_beyond_its_budget_and_the_background_may_try_again() {
    let house = House::new();
    house.write("sleep", "100");
    let plugin = house.plugin(vec![crate_of("rg", Some("1.0.0"))]);
    let start = std::time::Instant::now();
    let budget = Duration::from_millis(300);
    said(house.acquire(&plugin, "rg", Mode::Dispatch { budget }));
    assert!(start.elapsed() < Duration::from_secs(5));
    house.remove("sleep");
    let again = house.acquire(&plugin, "rg", BUDGET);
    assert!(matches!(again.expect_err("fails").trouble, Trouble::FailedBefore { .. }));
    house.acquire(&plugin, "rg", Mode::Detached).expect("has the time");
}

#[test]
fn two_at_once_install_once() {
    let house = House::new();
    house.newest("1.0.0");
    house.write("sleep", "0.3");
    let mut one = crate_of("rg", Some("1.0.0"));
    one.install_commands = vec!["echo x >>$FAKE/done".to_owned()];
    let plugin = house.plugin(vec![one]);
    let found: Vec<_> = std::thread::scope(|scope| {
        let acquire = || house.acquire(&plugin, "rg", Mode::Explicit);
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(acquire)).collect();
        threads.into_iter().map(|thread| thread.join().expect("ends")).collect()
    });
    assert!(found.iter().all(|result| result.is_ok()), "{found:?}");
    assert_eq!((house.calls().len(), lines(&house, "done")), (2, 1));
}

#[test]
fn a_hook_does_not_wait_for_another_process() {
    let house = House::new();
    house.write("sleep", "2");
    let plugin = house.plugin(vec![crate_of("rg", Some("1.0.0"))]);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| house.acquire(&plugin, "rg", Mode::Explicit));
        while !house.path("log").exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        for mode in [BUDGET, Mode::Detached] {
            let start = std::time::Instant::now();
            let error = house.acquire(&plugin, "rg", mode).expect_err("is being installed");
            assert!(error.to_string().contains("another process is installing it"), "{error}");
            assert!(start.elapsed() < Duration::from_millis(800));
        }
        other.join().expect("ends").expect("is installed");
    });
}

#[test]
fn offline_means_no_call_and_what_is_there_is_used() {
    let mut house = House::new();
    house.newest("1.0.0");
    let plugin = house.plugin(vec![crate_of("rg", None), crate_of("fd", None)]);
    house.acquire(&plugin, "rg", Mode::Explicit).expect("is installed");
    house.calls();
    house.sym.options.offline = true;
    house.age(&plugin, "rg", 100 * HOUR);
    house.acquire(&plugin, "rg", Mode::Detached).expect("is there");
    let error = house.acquire(&plugin, "fd", Mode::Explicit).expect_err("is not there");
    assert!(matches!(error.trouble, Trouble::NotReady(_)), "{error}");
    assert!(house.calls().is_empty());
}

#[test]
fn update_on_the_command_line_looks_at_once() {
    let mut house = House::new();
    house.newest("1.0.0");
    let plugin = house.plugin(vec![crate_of("rg", None)]);
    house.acquire(&plugin, "rg", Mode::Explicit).expect("is installed");
    house.newest("1.1.0");
    house.sym.options.update = Some(crate::symposium::UpdateLevel::Check);
    let acquired = house.acquire(&plugin, "rg", Mode::Explicit).expect("is installed");
    assert!(path_of(&acquired).starts_with(house.binaries().join("rg/1.1.0")));
}

#[test]
fn people_see_progress_and_hooks_are_silent() {
    use std::sync::{Arc, Mutex};
    #[derive(Clone, Default)]
    struct Screen(Arc<Mutex<Vec<u8>>>);
    impl std::io::Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("is whole").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for (mode, expected) in
        [(Mode::Explicit, "rg 1.0.0 for plugin `plugin`\n"), (Mode::Detached, ""), (BUDGET, "")]
    {
        let mut house = House::new();
        let screen = Screen::default();
        house.sym.report = std::sync::Arc::new(crate::report::Reporter::on(
            Box::new(std::io::sink()),
            Box::new(screen.clone()),
            crate::report::Format::People,
            crate::report::Verbosity::Normal,
        ));
        let plugin = house.plugin(vec![crate_of("rg", Some("1.0.0"))]);
        house.acquire(&plugin, "rg", mode).expect("is installed");
        let shown = screen.0.lock().expect("is whole").clone();
        let shown = String::from_utf8_lossy(&shown);
        // Before it stands the verb, styled.
        assert!(shown.ends_with(expected) && shown.lines().count() == expected.lines().count());
    }
}
