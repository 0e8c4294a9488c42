//! The help and the version (F6, F191–F198).

use crate::{bare_sandbox, sandbox};
use symposium_testlib::{Sandbox, Tree};

fn vending(sandbox: &Sandbox) {
    sandbox.user_plugin(
        "widget/SYMPOSIUM.toml",
        "name = \"widget\"\ncrates = [\"widget\"]\n\n[subcommand.analyse-widgets]\ndescription = \
         \"Find widgets that are \\u001B[31mred\\u001B[0m,\\nand say where\"\ncommand = { script = \
         \"t.sh\" }\n\n[subcommand.paint]\ndescription = \"Paint a widget\"\naudience = \
         \"humans\"\ncommand = { script = \"t.sh\" }\n",
    );
    sandbox.user_plugin("widget/t.sh", "echo ran\n");
}

/// The two sections.
fn sections(text: &str) -> (String, String) {
    let (_, rest) = text.split_once("Commands for humans:").expect("a section");
    let (humans, rest) = rest.split_once("Commands for agents:").expect("a section");
    let (agents, _) = rest.split_once("Options:").expect("a section");
    (humans.to_owned(), agents.to_owned())
}

#[test]
fn f191_f194_two_sections_however_it_is_asked_for() {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.2.3")]);
    vending(&sandbox);
    let help = sandbox.run(&["--help"]).ok();
    let (humans, agents) = sections(&help.stdout);
    for name in ["init", "self-update", "sync", "uninstall", "completions", "paint"] {
        assert!(humans.contains(&format!("\n  {name} ")), "{name}: {humans}");
    }
    assert!(agents.contains("\n  analyse-widgets "), "{agents}");
    assert!(agents.contains("Find widgets that are [31mred [0m, and say where"), "{agents}");
    assert_eq!(help.stderr, "");
    for args in [&["-h"][..], &[], &["help"], &["agents"], &["--help", "-q"], &["-q", "--help"]] {
        assert_eq!(sandbox.run(args).ok(), help, "{args:?}");
    }
}

#[test]
fn f193_hook_and_help_are_not_listed() {
    let sandbox = sandbox();
    let help = sandbox.run(&["--help"]).ok().stdout;
    for line in help.lines() {
        let word = line.split_whitespace().next().unwrap_or_default();
        assert!(!["hook", "help", "man", "complete", "run-server"].contains(&word), "{line}");
    }
}

#[test]
fn f197_what_is_listed_is_what_applies_here() {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.2.3")]);
    vending(&sandbox);
    sandbox.user_plugin(
        "all/SYMPOSIUM.toml",
        "name = \"all\"\ncrates = [\"*\"]\n[subcommand.everywhere]\ndescription = \"E\"\ncommand = \
         { script = \"t.sh\" }\n",
    );
    sandbox.user_plugin("all/t.sh", "");
    let lists = |folder: &str| {
        let help = sandbox.run_in(folder, &["--help"]).ok().stdout;
        (help.contains("\n  paint "), help.contains("\n  everywhere "))
    };
    assert_eq!(lists("ws"), (true, true));
    assert_eq!(lists("home"), (false, true));
    sandbox.config("[[agent]]\nname = \"claude\"\n");
    sandbox.run(&["sync"]).ok();
    assert_eq!(lists("ws"), (true, true));
    assert_eq!(lists("ws/src"), (true, true));
    // The snapshot does not hold any more.
    sandbox.package(&[]);
    assert_eq!(lists("ws"), (false, true));
}

#[test]
fn f195_a_command_s_own_page() {
    let sandbox = sandbox();
    let page = sandbox.run(&["sync", "--help"]).ok();
    assert!(page.stdout.contains("Usage: cargo agents sync [OPTIONS]"), "{}", page.stdout);
    for args in
        [&["help", "sync"][..], &["--help", "sync"], &["-q", "sync", "--agent", "x", "--help"]]
    {
        assert_eq!(sandbox.run(args).ok(), page, "{args:?}");
    }
    let missing = sandbox.run(&["completions", "--help"]).ok();
    assert!(missing.stdout.contains("<SHELL>"), "{}", missing.stdout);
    let hook = sandbox.run(&["hook", "--help"]).ok();
    assert!(hook.stdout.contains("Usage: cargo agents hook"), "{}", hook.stdout);
    let run = sandbox.run(&["completions"]).code(2);
    assert!(run.stderr.contains("<SHELL>"), "{}", run.stderr);
}

#[test]
fn help_and_version_write_nothing_and_ask_nobody() {
    let sandbox = bare_sandbox();
    sandbox.package(&[("widget", "1.2.3")]);
    sandbox.write("ws/Cargo.lock", "broken");
    let before = Tree::of(&sandbox.dir());
    for args in
        [&["--help"][..], &[], &["help", "sync"], &["--version"], &["complete", "0", "--", ""]]
    {
        for folder in ["ws", "home"] {
            sandbox.run_in(folder, args).ok();
        }
    }
    assert_eq!(Tree::of(&sandbox.dir()).changes_since(&before), Vec::<String>::new());
}

#[test]
fn help_looks_at_the_copy_of_a_repository_and_writes_nothing_either() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    sandbox.write(
        "tools/p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"*\"]\n[subcommand.from-git]\ndescription = \"G\"\ncommand = { \
         script = \"t.sh\" }\n",
    );
    sandbox.write("tools/p/t.sh", "echo ran\n");
    sandbox.git_in("tools", &["init", "-q"]);
    sandbox.git_in("tools", &["add", "-A"]);
    sandbox.git_in("tools", &["commit", "-qm", "start"]);
    let url = sandbox.dir().join("tools").display().to_string();
    let source = format!("[[plugin-source]]\nname = \"tools\"\ngit = '{url}'\n");
    sandbox.config(&format!("{source}[[agent]]\nname = \"claude\"\n"));
    // Never fetched: help does not fetch it, and the error says so.
    let before = Tree::of(&sandbox.dir());
    assert!(!sandbox.run(&["--help"]).ok().stdout.contains("from-git"));
    assert_eq!(Tree::of(&sandbox.dir()).changes_since(&before), Vec::<String>::new());
    let run = sandbox.run(&["from-git"]).code(1);
    assert!(run.stderr.contains("not looked into: tools"), "{}", run.stderr);
    sandbox.run(&["sync"]).ok();
    std::fs::remove_dir_all(sandbox.home().join(".symposium/cache/snapshots")).expect("removes");
    let before = Tree::of(&sandbox.dir());
    assert!(sandbox.run(&["--help"]).ok().stdout.contains("\n  from-git "));
    assert_eq!(Tree::of(&sandbox.dir()).changes_since(&before), Vec::<String>::new());
    assert_eq!(sandbox.run(&["from-git"]).ok().stdout, "ran\n");
}

#[test]
fn help_works_without_a_home_and_with_a_broken_configuration() {
    let mut sandbox = sandbox();
    sandbox.write("home/.symposium/config.toml", "[[[");
    let broken = sandbox.run(&["--help"]).ok();
    assert_eq!(broken.stderr, "");
    sandbox.set("HOME", "");
    sandbox.set("USERPROFILE", "");
    sandbox.run(&["--help"]).ok();
}

#[test]
fn lines_fit_the_terminal_from_40_to_100_columns() {
    let mut sandbox = sandbox();
    sandbox.package(&[("widget", "1.2.3")]);
    sandbox.user_plugin(
        "long/SYMPOSIUM.toml",
        &format!(
            "name = \"long\"\ncrates = [\"*\"]\n[subcommand.a-rather-long-name-for-a-command]\ndescription = \"{}\"\n\
             command = {{ script = \"t.sh\" }}\n",
            "many words ".repeat(90)
        ),
    );
    for (columns, widest) in [("20", 40), ("40", 40), ("63", 63), ("100", 100), ("300", 100)] {
        sandbox.set("COLUMNS", columns);
        let help = sandbox.run(&["--help"]).ok().stdout;
        assert_eq!(help.matches("many").count(), 90, "{help}");
        let (humans, agents) = sections(&help);
        assert!(humans.contains("\n  sync ") && agents.contains("\n  a-rather-long-name"));
        for line in help.lines() {
            assert!(line.chars().count() <= widest, "{columns}: {line}");
        }
    }
}

#[test]
fn help_as_json_is_json() {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.2.3")]);
    vending(&sandbox);
    let lines = sandbox.run(&["--json", "--help"]).ok().json_lines();
    let commands = lines[0]["commands"].as_array().expect("a list");
    let find = |name: &str| commands.iter().find(|command| command["name"] == name);
    let paint = find("paint").expect("it is listed");
    assert_eq!(paint["audience"], "humans");
    assert_eq!(paint["plugins"][0], "widget");
    assert_eq!(find("analyse-widgets").expect("it is listed")["audience"], "agents");
    let lines = sandbox.run(&["sync", "--help", "--json"]).ok().json_lines();
    assert!(lines[0]["help"].as_str().is_some_and(|text| text.contains("--dry-run")));
    let lines = sandbox.run(&["--json", "--version"]).ok().json_lines();
    assert_eq!(lines[0]["version"], env!("CARGO_PKG_VERSION"));
    let lines = sandbox.run(&["--json", "sync", "--nonsense"]).code(2).json_lines();
    assert!(lines[0]["message"].as_str().is_some_and(|text| text.contains("--nonsense")));
}

#[test]
fn f6_the_version_names_commit_and_date_where_they_are_known() {
    let sandbox = bare_sandbox();
    let version = sandbox.run(&["--version"]).ok().stdout;
    let shape = r"^cargo-agents \d+\.\d+\.\d+\S*( \([0-9a-f]{7,40}( \d{4}-\d\d-\d\d)?\))?\n$";
    let shape = regex::Regex::new(shape).expect("an expression");
    assert!(shape.is_match(&version), "{version}");
    assert!(version.starts_with(&format!("cargo-agents {}", env!("CARGO_PKG_VERSION"))));
    for args in
        [&["-V"][..], &["agents", "--version"], &["-q", "--version"], &["sync", "--version"]]
    {
        assert_eq!(sandbox.run(args).ok().stdout, version, "{args:?}");
    }
}

#[test]
fn usage_errors_follow_the_choice_of_colour() {
    let mut sandbox = sandbox();
    let run = sandbox.run(&["sync", "--nonsense"]).code(2);
    assert!(!run.stderr.contains('\u{1b}'), "{:?}", run.stderr);
    assert_eq!(run.stdout, "");
    sandbox.set("CARGO_TERM_COLOR", "always");
    let run = sandbox.run(&["sync", "--nonsense"]).code(2);
    assert!(run.stderr.contains('\u{1b}'), "{:?}", run.stderr);
    let help = sandbox.run(&["--help"]).ok().stdout;
    assert!(help.contains('\u{1b}'), "{help:?}");
}
