use super::*;
use crate::documents::{Entry, Ledger, Record};

#[test]
fn f157_f159_a_pinned_version_is_used_and_another_stays_beside_it() {
    let house = House::new();
    house.newest("15.0.0");
    let old = house.plugin(vec![crate_of("rg", Some("13.0.0"))]);
    let acquired = house.acquire(&old, "rg", Mode::Explicit).expect("is installed");
    let root = house.binaries().join("rg/13.0.0");
    assert_eq!(path_of(&acquired), root.join("bin/rg"));
    assert_eq!(acquired.dir.as_deref(), Some(root.as_path()));
    assert_eq!(acquired.path_dir, Some(root.join("bin")));
    let args = "--root ROOT --version 13.0.0 rg";
    assert_eq!(
        house.calls(),
        [
            format!("binstall --no-confirm --disable-strategies compile --no-symlinks {args}"),
            format!("install --locked {args}"),
        ]
    );

    let mut new = house.plugin(vec![crate_of("rg", Some("=14.1.0"))]);
    new.name = "other".to_owned();
    house.acquire(&new, "rg", Mode::Explicit).expect("is installed");
    for version in ["13.0.0", "14.1.0"] {
        let program = house.binaries().join("rg").join(version).join("bin/rg");
        let text = fs::read_to_string(program).expect("is there");
        assert!(text.contains(version));
    }
    let probed = house.probe(&old, "rg").expect("is there");
    assert_eq!(path_of(&probed), root.join("bin/rg"));
}

#[test]
fn f158_what_binstall_brings_is_not_built() {
    let house = House::new();
    house.write("binstall", "");
    let plugin = house.plugin(vec![crate_of("rg", Some("1.2.3"))]);
    house.acquire(&plugin, "rg", Mode::Explicit).expect("is installed");
    let calls = house.calls();
    assert!(matches!(calls.as_slice(), [one] if one.starts_with("binstall")), "{calls:?}");
}

#[test]
fn what_is_there_costs_no_call_and_no_write() {
    let house = House::new();
    house.newest("1.0.0");
    let plugin = house.plugin(vec![crate_of("rg", None)]);
    assert_eq!(house.probe(&plugin, "rg"), None);
    assert!(house.calls().is_empty() && !house.binaries().exists());
    let acquired = house.acquire(&plugin, "rg", Mode::Explicit).expect("is installed");
    house.calls();
    let stamp = Stamp::path(&house.binaries(), &plugin, "rg");
    let written = fs::metadata(&stamp).and_then(|data| data.modified()).expect("is there");
    for mode in [Mode::Explicit, Mode::Detached, Mode::Dispatch { budget: Duration::ZERO }] {
        assert_eq!(house.acquire(&plugin, "rg", mode).as_ref(), Ok(&acquired));
    }
    assert_eq!(house.probe(&plugin, "rg"), Some(acquired));
    assert!(house.calls().is_empty());
    assert_eq!(fs::metadata(&stamp).and_then(|data| data.modified()).expect("is there"), written);
}

#[test]
fn f170_the_background_looks_daily_and_the_old_goes_after_the_new_works() {
    let house = House::new();
    house.newest("1.0.0");
    let plugin = house.plugin(vec![crate_of("rg", None)]);
    house.acquire(&plugin, "rg", Mode::Detached).expect("is installed");
    house.newest("1.1.0");
    house.calls();
    house.age(&plugin, "rg", 23 * HOUR);
    house.acquire(&plugin, "rg", Mode::Detached).expect("is there");
    assert!(house.calls().is_empty());

    house.age(&plugin, "rg", 2 * HOUR);
    house.write("fail", "");
    let kept = house.acquire(&plugin, "rg", Mode::Detached).expect("the old one is kept");
    assert!(path_of(&kept).starts_with(house.binaries().join("rg/1.0.0")));
    assert!(path_of(&kept).is_file());

    house.remove("fail");
    house.age(&plugin, "rg", HOUR);
    let new = house.acquire(&plugin, "rg", Mode::Detached).expect("is installed");
    assert!(path_of(&new).starts_with(house.binaries().join("rg/1.1.0")));
    sweep_outdated(&house.sym);
    assert!(!house.binaries().join("rg/1.0.0").exists());
}

/// Other workspaces' files name it until a sync there.
#[test]
fn an_old_version_stays_while_a_snapshot_or_a_registered_entry_names_it() {
    let house = House::new();
    let dirs = &house.sym.dirs;
    house.newest("1.0.0");
    let plugin = house.plugin(vec![crate_of("rg", None)]);
    house.acquire(&plugin, "rg", Mode::Detached).expect("is installed");
    let old = house.binaries().join("rg/1.0.0");
    let names_it = serde_json::json!({ "command": old.join("bin/rg") }).to_string();
    fs::create_dir_all(dirs.snapshots()).expect("creates");
    let snapshot = dirs.snapshots().join("0.jsonl");
    fs::write(&snapshot, &names_it).expect("writes");
    let settings = house.path("settings.json");
    fs::write(&settings, &names_it).expect("writes");
    let (mut ledger, _) = Ledger::workspace(dirs, &house.path("work"));
    let (table, key) = (vec!["servers".to_owned()], "s".to_owned());
    let entry = Entry::Member { table, key, keys: Vec::new(), hash: String::new() };
    ledger.record(Record { agent: "claude".to_owned(), path: settings.clone(), entry });
    ledger.save(dirs, Duration::from_secs(1)).expect("saves");

    house.newest("1.1.0");
    house.age(&plugin, "rg", 25 * HOUR);
    house.acquire(&plugin, "rg", Mode::Detached).expect("is installed");
    let is_kept = || {
        sweep_outdated(&house.sym);
        old.join("bin/rg").is_file()
    };
    assert!(is_kept(), "a snapshot names it");
    fs::remove_file(&snapshot).expect("removes");
    assert!(is_kept(), "an entry names it");
    fs::remove_file(&settings).expect("removes");
    fs::create_dir(&settings).expect("creates");
    assert!(is_kept(), "what can't be read may name it");
    fs::remove_dir(&settings).expect("removes");
    let found = FoundPrograms::keep(&house.sym);
    assert!(is_kept(), "a sync may have found it");
    drop(found);
    assert!(!is_kept(), "nothing names it");
    assert!(house.binaries().join("rg/1.1.0/bin/rg").is_file());
    assert!(!house.binaries().join(".outdated.json").exists());
}

#[test]
fn f159_a_version_that_another_plugin_uses_stays() {
    let house = House::new();
    house.newest("1.0.0");
    let floating = house.plugin(vec![crate_of("rg", None)]);
    let mut pinned = house.plugin(vec![crate_of("rg", Some("1.0.0"))]);
    pinned.name = "pinned".to_owned();
    house.acquire(&floating, "rg", Mode::Detached).expect("is installed");
    house.calls();
    house.acquire(&pinned, "rg", Mode::Detached).expect("is there");
    assert!(house.calls().is_empty(), "it was there already");
    house.newest("2.0.0");
    house.age(&floating, "rg", 25 * HOUR);
    house.acquire(&floating, "rg", Mode::Detached).expect("is installed");
    assert!(house.probe(&pinned, "rg").is_some());
}

#[test]
fn f170_a_registry_that_does_not_answer_is_asked_again_in_an_hour() {
    let house = House::new();
    house.newest("1.0.0");
    let plugin = house.plugin(vec![crate_of("rg", None)]);
    house.acquire(&plugin, "rg", Mode::Detached).expect("is installed");
    house.remove("info");
    house.age(&plugin, "rg", 25 * HOUR);
    house.calls();
    house.acquire(&plugin, "rg", Mode::Detached).expect("the old one is kept");
    assert_eq!(house.calls(), ["info --color never rg"]);
    house.acquire(&plugin, "rg", Mode::Detached).expect("the old one is kept");
    assert!(house.calls().is_empty());
    house.age(&plugin, "rg", HOUR);
    house.acquire(&plugin, "rg", Mode::Detached).expect("the old one is kept");
    assert_eq!(house.calls().len(), 1);
}

#[test]
fn f157_a_requirement_takes_the_newest_that_matches() {
    let house = House::new();
    house.newest("1.4.0");
    let plugin = house.plugin(vec![crate_of("rg", Some("1.2"))]);
    house.acquire(&plugin, "rg", Mode::Explicit).expect("is installed");
    assert_eq!(house.calls()[0], "info --color never rg@1");
    assert!(house.binaries().join("rg/1.4.0/bin/rg").is_file());
    // A range that the newest does not match: cargo finds out, by installing.
    let plugin = house.plugin(vec![crate_of("fd", Some(">=0.1, <0.3"))]);
    house.acquire(&plugin, "fd", Mode::Explicit).expect("is installed");
    let calls = house.calls();
    assert_eq!(calls[0], "info --color never fd");
    assert_eq!(calls[2], "install --locked --root ROOT --version >=0.1, <0.3 fd");
}

#[test]
fn case_89_a_crate_of_that_name_which_is_another_tool_is_named() {
    let house = House::new();
    house.newest("0.1.0");
    house.write("programs", "typekit helper");
    let plugin = house.plugin(vec![executable(crate_of("rtk", None), "rtk")]);
    let error = said(house.acquire(&plugin, "rtk", Mode::Explicit));
    expect_test::expect![[r#"
        installation `rtk` of plugin `plugin` can't be used: the crate `rtk` installs no program `rtk`, but `helper`, `typekit`
          the registry's `rtk` is “searches files” (https://r.test)
          if another tool of that name is meant, say where it is with `git`"#]]
    .assert_eq(&error);
    let left: Vec<_> = fs::read_dir(house.binaries().join("rtk")).expect("is there").collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_build_that_fails_is_told_with_all_that_cargo_says() {
    let house = House::new();
    house.newest("0.1.0");
    house.write("fail", "");
    let plugin = house.plugin(vec![crate_of("rg", Some("0.1.0"))]);
    expect_test::expect![[r#"
        can't install `rg` of plugin `plugin`: `cargo install rg` failed (exit code 101)
             Compiling rg
          error: it does not compile
          the registry's `rg` is “searches files” (https://r.test)
          if another tool of that name is meant, say where it is with `git`"#]]
    .assert_eq(&said(house.acquire(&plugin, "rg", Mode::Explicit)));
}

#[test]
fn f157_the_only_program_is_inferred_and_of_several_one_must_be_named() {
    let house = House::new();
    house.newest("1.0.0");
    house.write("programs", "only");
    let plugin = house.plugin(vec![crate_of("one", None)]);
    let acquired = house.acquire(&plugin, "one", Mode::Explicit).expect("is installed");
    assert_eq!(path_of(&acquired), house.binaries().join("one/1.0.0/bin/only"));
    house.write("programs", "a b");
    let plugin = house.plugin(vec![crate_of("two", None)]);
    let acquired = house.acquire(&plugin, "two", Mode::Explicit).expect("is installed");
    assert_eq!((&acquired.program, acquired.path_dir.is_some()), (&None, true));
    let error = hooks::prepared(&house, &plugin, &hooks::hook("two")).expect_err("is not clear");
    assert!(error.to_string().ends_with("`executable` is one of `a`, `b`"), "{error}");
    let mut hook = hooks::hook("two");
    hook.runnable = Some(Runnable::Executable("b".to_owned()));
    let prepared = hooks::prepared(&house, &plugin, &hook).expect("is clear");
    assert_eq!(prepared.invocation.path, house.binaries().join("two/1.0.0/bin/b"));
}

#[test]
fn f160_a_repository_is_built_and_needs_an_executable() {
    let house = House::new();
    house.write("newest", "0.1.0");
    house.write("commit", "aaa");
    let source = InstallSource::Cargo {
        krate: "tool".to_owned(),
        version: None,
        git: Some("https://example.com/tool".into()),
        global: false,
    };
    let tool = Installation { source: Some(source), ..bare("tool") };
    let plugin = house.plugin(vec![tool.clone()]);
    assert!(said(house.acquire(&plugin, "tool", Mode::Explicit)).contains("needs an `executable`"));
    let mut tool = executable(tool, "tool");
    tool.install_commands = vec!["echo x >>$FAKE/commands".to_owned()];
    let plugin = house.plugin(vec![tool]);
    let acquired = house.acquire(&plugin, "tool", Mode::Explicit).expect("is built");
    let expected = "install --locked --root ROOT --git https://example.com/tool tool";
    assert_eq!(house.calls(), [expected]);
    assert!(path_of(&acquired).is_file());
    // The same commit again is no news; another one is, and its commands are run.
    let runs = || fs::read_to_string(house.path("commands")).expect("is there").lines().count();
    house.age(&plugin, "tool", 25 * HOUR);
    house.acquire(&plugin, "tool", Mode::Detached).expect("is there");
    assert_eq!((house.calls().len(), runs()), (1, 1));
    house.write("commit", "bbb");
    house.age(&plugin, "tool", 25 * HOUR);
    house.acquire(&plugin, "tool", Mode::Detached).expect("is built");
    assert_eq!((house.calls().len(), runs()), (1, 2));
}

#[test]
fn f161_a_global_program_is_looked_for_first_and_belongs_to_the_user() {
    let house = House::new();
    house.newest("1.0.0");
    let source = InstallSource::Cargo {
        krate: "ripgrep".to_owned(),
        version: None,
        git: None,
        global: true,
    };
    let rg = executable(Installation { source: Some(source), ..bare("rg") }, "rg");
    house.write("programs", "rg");
    let plugin = house.plugin(vec![rg]);
    assert_eq!(house.probe(&plugin, "rg"), None);
    let acquired = house.acquire(&plugin, "rg", Mode::Explicit).expect("is installed");
    assert_eq!(
        house.calls(),
        ["binstall --no-confirm --disable-strategies compile ripgrep", "install --locked ripgrep"]
    );
    assert_eq!(path_of(&acquired), house.path("home/.cargo/bin/rg"));
    assert_eq!((&acquired.dir, &acquired.path_dir), (&None, &None));

    // On PATH: found there, and never installed.
    let house = House::new();
    program(&house.path("bin/rg"), "#!/bin/sh\n");
    for mode in [Mode::Explicit, Mode::Detached, Mode::Detached] {
        let acquired = house.acquire(&plugin, "rg", mode).expect("is there");
        assert_eq!(path_of(&acquired), house.path("bin/rg"));
        house.age(&plugin, "rg", 100 * HOUR);
    }
    assert!(house.calls().is_empty());
}

#[test]
fn names_from_outside_lead_nowhere() {
    let house = House::new();
    for (krate, program) in [
        ("../x", "x"),
        ("", "x"),
        ("a b", "x"),
        ("--git", "x"),
        ("ok", "../../x"),
        ("ok", "/bin/sh"),
    ] {
        let mut installation = executable(crate_of(krate, Some("1.0.0")), program);
        installation.name = "x".to_owned();
        let plugin = house.plugin(vec![installation]);
        // `--git` is made of letters and hyphens, as some crate's name might be.
        if krate != "--git" {
            let error = said(house.acquire(&plugin, "x", Mode::Explicit));
            assert!(error.contains("is no crate's name") || error.contains("must be a program's"));
            assert!(house.calls().is_empty(), "{krate} {program}");
        }
    }
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next() {
    let house = House::new();
    let left = house.binaries().join("rg/.new-abc/bin");
    fs::create_dir_all(&left).expect("creates");
    let broken = house.binaries().join("rg/1.0.0/bin");
    fs::create_dir_all(&broken).expect("creates");
    let plugin = house.plugin(vec![crate_of("rg", Some("1.0.0"))]);
    let acquired = house.acquire(&plugin, "rg", Mode::Explicit).expect("is installed");
    assert!(path_of(&acquired).is_file() && !left.exists());
    let names: Vec<_> = fs::read_dir(house.binaries().join("rg"))
        .expect("is there")
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(names, ["1.0.0"]);
    // A program that somebody removed is put back.
    fs::remove_file(path_of(&acquired)).expect("is there");
    assert_eq!(house.probe(&plugin, "rg"), None);
    house.acquire(&plugin, "rg", Mode::Explicit).expect("is installed again");
    assert!(path_of(&acquired).is_file());
}

#[test]
fn the_cargo_that_the_user_names_is_the_one() {
    let mut house = House::new();
    let other = house.path("other-cargo");
    fs::rename(house.path("bin/cargo"), &other).expect("moves");
    let plugin = house.plugin(vec![crate_of("rg", Some("1.0.0"))]);
    let error = said(house.acquire(&plugin, "rg", Mode::Explicit));
    assert!(error.contains("`cargo` is not installed, or not on PATH"), "{error}");
    let vars: Vec<(String, String)> = house
        .sym
        .env
        .vars()
        .map(|(name, value)| {
            (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())
        })
        .chain([("SYMPOSIUM_CARGO".to_owned(), other.to_string_lossy().into_owned())])
        .collect();
    house.sym.env = Environment::with(house.path("work"), vars);
    house.acquire(&plugin, "rg", Mode::Explicit).expect("is installed");
}
