//! The help and the version (F6, F191–F198).

use crate::{bare_sandbox, sandbox};
use symposium_testlib::{AGENTS, Sandbox, Tree};

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

/// Also where nothing was synced, so that the sources are looked through.
#[test]
fn help_that_looks_through_the_sources_writes_nothing() {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.2.3")]);
    vending(&sandbox);
    let before = Tree::of(&sandbox.dir());
    for args in [&["--help"][..], &["help"], &["help", "paint"], &["help", "nonsense"]] {
        let run = sandbox.run(args);
        assert!(run.stdout.contains("paint") || args.contains(&"nonsense"), "{args:?}: {run:?}");
    }
    assert_eq!(Tree::of(&sandbox.dir()).changes_since(&before), [""; 0]);
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
    let url = sandbox.at("tools");
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

/// All pages of our own commands, hidden ones too.
const PAGES: [&[&str]; 20] = [
    &["init"],
    &["sync"],
    &["status"],
    &["why"],
    &["doctor"],
    &["use"],
    &["uninstall"],
    &["plugin"],
    &["plugin", "list"],
    &["plugin", "show"],
    &["plugin", "sync"],
    &["plugin", "validate"],
    &["plugin", "explain"],
    &["crate-info"],
    &["self-update"],
    &["completions"],
    &["man"],
    &["run-server"],
    &["hook"],
    &["help"],
];

#[test]
fn a_command_s_own_options_stand_before_those_of_every_command() {
    let sandbox = sandbox();
    for path in PAGES.iter().filter(|path| **path != ["help"]) {
        for flag in ["--help", "-h"] {
            let page = sandbox.run(&[path, &[flag][..]].concat()).ok().stdout;
            let (own, every) = page.split_once("Options of every command:").expect("a heading");
            assert!(every.contains("--quiet") && every.contains("--json"), "{page}");
            for option in ["--quiet", "--json", "--verbose", "--offline", "--timeout"] {
                assert!(!own.contains(option), "{page}");
            }
            assert!(own.contains("--help") && !every.contains("--help"), "{page}");
        }
    }
    let page = sandbox.run(&["sync", "--help"]).ok().stdout;
    let (own, _) = page.split_once("Options of every command:").expect("a heading");
    for option in ["--agent", "--dry-run", "--check", "--force"] {
        assert!(own.contains(option), "{page}");
    }
}

/// The text without its line breaks.
fn flowing(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_agents_names_are_in_the_help_and_in_the_error_for_a_wrong_one() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    let agents = AGENTS.join(", ");
    for (command, times) in [("init", 1), ("sync", 1), ("hook", 1)] {
        for flag in ["--help", "-h"] {
            let page = flowing(&sandbox.run(&[command, flag]).ok().stdout);
            assert_eq!(page.matches(&agents).count(), times, "{page}");
        }
    }
    for args in [["sync", "--agent"], ["init", "--add-agent"], ["init", "--remove-agent"]] {
        for (wrong, meant) in [
            ("cluade", "claude"),
            ("Codex", "codex"),
            ("claude-code", "claude"),
            ("open-code", "opencode"),
            ("gemini-cli", "gemini"),
        ] {
            let run = sandbox.run(&[&args[..], &[wrong]].concat()).code(1);
            assert!(run.stderr.contains(&format!("there is no agent `{wrong}`")), "{}", run.stderr);
            assert!(run.stderr.contains(&format!("did you mean `{meant}`")), "{}", run.stderr);
            assert!(flowing(&run.stderr).contains(&agents), "{}", run.stderr);
        }
        let run = sandbox.run(&[&args[..], &["xyzzy"]].concat()).code(1);
        assert!(!run.stderr.contains("did you mean"), "{}", run.stderr);
    }
    sandbox.config("[[agent]]\nname = \"cluade\"\n");
    for command in ["sync", "doctor"] {
        let run = sandbox.run(&[command]);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains("did you mean `claude`?"), "{said}");
    }
}

#[test]
fn a_misspelt_configuration_key_or_value_gets_a_suggestion() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    for (text, meant) in [
        ("auto-snyc = true\n", "auto-sync"),
        ("auto_sync = true\n", "auto-sync"),
        ("hook-scope = \"proyect\"\n", "project"),
        ("agents = []\n", "agent"),
        ("[[plugin-sources]]\nname = \"x\"\n", "plugin-source"),
        ("[[plugin-source]]\nname = \"x\"\npaht = \"y\"\n", "path"),
        ("[plugins]\ndisabled = []\n", "disable"),
        ("[plugins.workspace.\"/x\"]\nuses = []\n", "use"),
        ("[logging]\nlevle = \"info\"\n", "level"),
    ] {
        sandbox.config(text);
        let run = sandbox.run(&["sync", "--agent", "claude", "--dry-run"]);
        assert!(run.stderr.contains(&format!("did you mean `{meant}`?")), "{text}: {}", run.stderr);
    }
}

#[test]
fn help_with_a_plugin_s_command_tells_of_it_and_runs_nothing() {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.2.3")]);
    vending(&sandbox);
    // What the sources last said is remembered by whoever looks through them.
    sandbox.run(&["help", "paint"]).ok();
    let before = Tree::of(&sandbox.dir());
    for args in [&["help", "paint"][..], &["help", "paint", "--", "x"], &["help", "-q", "paint"]] {
        let run = sandbox.run(args).ok();
        assert!(run.stdout.starts_with("Paint a widget\n"), "{}", run.stdout);
        for part in ["cargo agents paint", "plugin `widget`", "cargo agents plugin show widget"] {
            assert!(flowing(&run.stdout).contains(part), "{}", run.stdout);
        }
        assert!(!run.stdout.contains("ran"), "{}", run.stdout);
    }
    let page = &sandbox.run(&["help", "analyse-widgets", "--json"]).ok().json_lines()[0]["help"];
    assert!(page.as_str().is_some_and(|page| page.starts_with("Find widgets")), "{page}");
    let wrong = sandbox.run(&["help", "piant"]).code(1);
    assert!(wrong.stderr.contains("did you mean `paint`?"), "{}", wrong.stderr);
    assert_eq!(Tree::of(&sandbox.dir()).changes_since(&before), Vec::<String>::new());
    // Its own help is asked for by running it.
    assert_eq!(sandbox.run(&["paint", "--help"]).ok().stdout, "ran\n");
}

#[cfg(unix)]
#[test]
fn a_misspelt_event_gets_a_suggestion_where_a_person_asks() {
    let sandbox = sandbox();
    let ask =
        |args: &[&str]| symposium_testlib::Terminal::start(sandbox.command(args), 80).finish();
    for (args, meant) in [
        (["hook", "claude", "pre-tool-us"], "pre-tool-use"),
        (["hook", "claude", "SesionStart"], "session-start"),
        (["hook", "cluade", "pre-tool-use"], "claude"),
    ] {
        let (code, screen) = ask(&args);
        assert_eq!(code, 0, "{screen}");
        assert!(screen.contains(&format!("did you mean `{meant}`?")), "{screen}");
        assert!(screen.contains("user-prompt-submit"), "{screen}");
    }
}
