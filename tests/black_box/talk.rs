//! What people see of text: wrapped for the terminal that shows it, whole where none does, and
//! never able to steer it.

use regex::Regex;

use crate::{configure, for_two_agents, sandbox, skill};
use symposium_testlib::{Run, Sandbox, slashes};

/// Steers a terminal in every way there is, and pretends to be a line of ours.
const NASTY: &str = "a\u{1b}[31mb\u{1b}[8mc\u{1b}]0;t\u{7}d\u{9b}2Je\u{202e}f\u{2066}g\u{7f}h";

/// A workspace whose plugins and skills say what they must not.
fn hostile() -> Sandbox {
    let sandbox = for_two_agents();
    let escaped: String =
        NASTY.chars().map(|letter| format!("\\U{:08X}", u32::from(letter))).collect();
    sandbox.user_plugin(
        "gadget/SYMPOSIUM.toml",
        &format!(
            "name = \"gadget\"\ncrates = [\"gadget\"]\n\"{escaped}\" = 1\n\n\
             [[hooks]]\nname = \"guard\"\nevent = \"PreToolUse\"\ncommand = \"guard\"\n\n\
             [[installations]]\nname = \"guard\"\nscript = \"guard.sh\"\nargs = [\"{escaped}\"]\n\
             install_commands = [\"echo {escaped}\"]\n\n\
             [[mcp_servers]]\nname = \"tools\"\ncommand = \"npx\"\nargs = [\"{escaped}\"]\n\n\
             [subcommand.demo]\ndescription = \"{escaped}\\nerror: no\"\ncommand = \"guard\"\n"
        ),
    );
    sandbox.user_plugin("gadget/guard.sh", "exit 0\n");
    let odd = format!("name = \"{escaped}\"\ncrates = [\"no{escaped}\"]\n");
    sandbox.user_plugin("odd/SYMPOSIUM.toml", &odd);
    sandbox.user_plugin(
        "alone/SKILL.md",
        &format!("---\nname: alone\ndescription: \"{escaped}\"\ncrates: gadget\n---\n"),
    );
    sandbox.registry_crate(
        "gadget",
        "0.1.0",
        &[("skills/a/SKILL.md", &skill("ships", "What \u{202e}it is."))],
    );
    sandbox
}

/// Whether all that is left beside lines, tabs and styles of ours is plain text.
fn is_plain(text: &str) -> bool {
    let ours =
        Regex::new("\u{1b}\\[(?:0|1|2|3|4|22|23|24|39|3[1-6]|9[1-6])?m").expect("an expression");
    let text = ours.replace_all(text, "");
    !text.chars().any(|letter| {
        letter.is_control() && !matches!(letter, '\n' | '\t')
            || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    })
}

#[track_caller]
fn check(run: &Run, args: &[&str]) {
    assert!(is_plain(&run.stdout), "{args:?}: {:?}", run.stdout);
    assert!(is_plain(&run.stderr), "{args:?}: {:?}", run.stderr);
    let forged = [&run.stdout, &run.stderr].iter().any(|text| text.contains("\nerror: no\n"));
    assert!(!forged, "{args:?}: {}{}", run.stdout, run.stderr);
}

#[test]
fn text_from_outside_steers_no_terminal_whoever_prints_it() {
    let mut sandbox = hostile();
    sandbox.set("CARGO_TERM_COLOR", "always");
    let nasty = format!("x{NASTY}\nerror: no");
    for format in [&[][..], &["--json"]] {
        for args in [
            &["sync", "-v", "--dry-run"][..],
            &["sync", "-v"],
            &["status", "-v"],
            &["doctor", "-v", "--offline"],
            &["why", "gadget"],
            &["why", "guard"],
            &["why", "tools"],
            &["why", "demo"],
            &["why", "alone"],
            &["why", "ships"],
            &["plugin", "list"],
            &["plugin", "show", "gadget"],
            &["plugin", "show", "alone"],
            &["plugin", "validate", "--no-check-crates", "../home/.symposium/plugins"],
            &["crate-info", "gadget"],
            &["--help"],
            &["demo"],
            // What is typed comes back in errors.
            &[&nasty],
            &["why", &nasty],
            &["use", &nasty],
            &["plugin", "show", &nasty],
            &["plugin", "sync", &nasty],
            &["plugin", "explain", &nasty],
            &["crate-info", &nasty],
            &["init", "--add-agent", &nasty],
            &["sync", "--agent", &nasty],
            &["sync", &nasty],
            &["sync", "--update", &nasty],
            &["help", "plugin", &nasty],
            &["completions", &nasty],
        ] {
            let args = [args, format].concat();
            check(&sandbox.run(&args), &args);
        }
    }
}

/// Windows has no such names.
#[cfg(unix)]
#[test]
fn a_workspace_s_own_path_steers_no_terminal_either() {
    let sandbox = hostile();
    let place = format!("home/{}\nerror: no\n", NASTY.replace(']', ""));
    sandbox.write(&format!("{place}/src/lib.rs"), "");
    sandbox.write(
        &format!("{place}/Cargo.toml"),
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\ngadget = \"0.1\"\n",
    );
    sandbox.write(&format!("{place}/Cargo.lock"), sandbox.read("ws/Cargo.lock"));
    for args in [
        &["sync", "-v"][..],
        &["status", "-v"],
        &["status", "--json"],
        &["doctor", "--offline"],
        &["why", "gadget"],
        &["plugin", "list"],
        &["uninstall"],
    ] {
        check(&sandbox.run_in(&place, args), args);
    }
    let run = sandbox.run_in(&place, &["use", "gadget"]).code(1);
    check(&run, &["use", "gadget"]);
    assert!(run.stderr.contains("control characters: it can't be remembered"), "{}", run.stderr);
    assert!(run.stderr.contains("--global"), "{}", run.stderr);
}

#[test]
fn a_command_that_nobody_knows_is_all_that_is_told() {
    let sandbox = hostile();
    let run = sandbox.run(&["xyzzy"]).code(1);
    assert!(run.stderr.starts_with("error: there is no command `xyzzy`"), "{}", run.stderr);
    assert_eq!(run.stderr.matches("warning").count(), 0, "{}", run.stderr);
    // What is wrong with the very command comes first.
    sandbox.user_plugin(
        "late/SYMPOSIUM.toml",
        "name = \"late\"\ncrates = \"*\"\n\n[subcommand.xyzzy]\ndescription = \"d\"\n",
    );
    let run = sandbox.run(&["xyzzy"]).code(1);
    assert!(slashes(&run.stderr).contains("late/SYMPOSIUM.toml"), "{}", run.stderr);
}

#[test]
fn what_no_terminal_shows_is_not_wrapped() {
    let mut sandbox = hostile();
    sandbox.set("COLUMNS", "40");
    let run = sandbox.run(&["doctor", "--unknown"]).code(2);
    assert!(run.stderr.lines().any(|line| line.len() > 40), "{}", run.stderr);
    let run = sandbox.run(&["sync", "-v"]);
    assert!(
        run.stderr.lines().any(|line| line.len() > 60 && !line.contains("-->")),
        "{}",
        run.stderr
    );
}

#[cfg(unix)]
mod on_a_terminal {
    use super::*;
    use crate::terminal::Terminal;

    /// Lines of all that was written that are too long and could have been broken.
    fn too_long(raw: &str, width: usize) -> Vec<String> {
        let plain = anstream::adapter::strip_str(raw).to_string();
        let lines = plain.split(['\n', '\r']).map(str::trim_end);
        let long = lines.filter(|line| line.chars().count() > width);
        // A path or an address stays whole, behind a word or alone; so does a place to click on.
        long.filter(|line| !line.contains("-->") && line.split_whitespace().count() > 2)
            .map(str::to_owned)
            .collect()
    }

    fn hold(sandbox: &Sandbox, args: &[&str]) {
        for width in [40, 80] {
            let ended = Terminal::start(&sandbox.command(args), width, 60).end();
            let long = too_long(&ended.raw, width.into());
            assert!(long.is_empty(), "{args:?} at {width}: {long:#?}\n{}", ended.screen);
        }
    }

    #[test]
    fn every_line_of_every_command_is_within_the_terminal() {
        let sandbox = hostile();
        // So that nothing is asked.
        sandbox.run(&["use", "gadget"]);
        for args in [
            &["init", "--add-agent", "kiro", "--hook-scope", "project"][..],
            &["sync", "-v"],
            &["use", "widget"],
            &["use", "xyzzy"],
            &["use", "xyzzy", "--global"],
            &["status", "-v"],
            &["doctor", "-v", "--offline"],
            &["why", "gadget"],
            &["why", "xyzzy"],
            &["plugin", "list"],
            &["plugin", "explain", "S012"],
            &["plugin", "sync"],
            &["plugin", "validate", "--no-check-crates", "../home/.symposium/plugins"],
            &["xyzzy"],
            &["sync", "--xyzzy"],
            &["help", "plugin", "xyzzy"],
            &["--help"],
            &["sync", "--help"],
            &["uninstall"],
        ] {
            hold(&sandbox, args);
        }
    }

    #[test]
    fn a_place_in_a_file_stays_whole() {
        let sandbox = hostile();
        let ended = Terminal::start(&sandbox.command(&["sync", "--dry-run"]), 40, 60).end();
        let plain = anstream::adapter::strip_str(&ended.raw).to_string();
        let place = sandbox.home().join(".symposium/plugins/odd/SYMPOSIUM.toml");
        assert!(plain.contains(&format!("--> {}:1:", place.display())), "{plain}");
    }

    #[test]
    fn the_question_about_a_candidate_is_drawn_once_and_goes_with_ctrl_c() {
        let sandbox = sandbox();
        configure(&sandbox, &["claude"], "");
        sandbox.package(&[("widget-with-a-rather-long-name", "1.2.3")]);
        let text = skill("basics", "b");
        let files: &[(&str, &str)] = &[("skills/a/SKILL.md", &text)];
        sandbox.registry_crate("widget-with-a-rather-long-name", "1.2.3", files);
        let start = || {
            let mut terminal = Terminal::start(&sandbox.command(&["sync"]), 40, 40);
            terminal.wait_for("yes, in every workspace");
            terminal.wait_for("> not now");
            terminal
        };
        let mut terminal = start();
        terminal.press("\u{3}");
        let ended = terminal.end();
        assert_eq!(ended.code, 130, "{}", ended.screen);
        assert!(ended.is_restored);
        assert!(!ended.screen.contains("Use the skills"), "{}", ended.screen);
        assert!(!ended.screen.contains("yes, in"), "{}", ended.screen);
        assert!(ended.screen.contains("Cancelled"), "{}", ended.screen);

        let mut terminal = start();
        // Up: the question is drawn again, in its place.
        terminal.press("\u{1b}[A");
        terminal.wait_for("> no, and don't ask again");
        assert_eq!(terminal.screen().matches("Use the skills").count(), 1, "{}", terminal.screen());
        terminal.press("\u{1b}[B");
        terminal.answer("> not now", "\r");
        let ended = terminal.end();
        assert_eq!(ended.screen.matches("Use the skills").count(), 1, "{}", ended.screen);
        assert!(!ended.screen.contains("yes, in"), "{}", ended.screen);
    }

    #[test]
    fn an_agent_that_hangs_when_asked_for_its_version_is_waited_for_in_the_open() {
        let mut sandbox = sandbox();
        configure(&sandbox, &["kiro"], "");
        sandbox.package(&[]);
        crate::init_terminal::program(&sandbox, "kiro-cli", "exec sleep 600");
        sandbox.set("PATH", format!("{}:/usr/bin:/bin", sandbox.dir().join("bin").display()));
        let start = std::time::Instant::now();
        let mut terminal = Terminal::start(&sandbox.command(&["status"]), 80, 40);
        terminal.wait_for("Asking Kiro for its version");
        let ended = terminal.end();
        assert_eq!(ended.code, 0, "{}", ended.screen);
        assert!(!ended.screen.contains("Asking"), "{}", ended.screen);
        assert!(start.elapsed() < std::time::Duration::from_secs(30));
    }
}
