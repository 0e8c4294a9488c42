//! Dependencies that ship skills no source vouches for, and `cargo agents use`.

use crate::skill;
use crate::with_agents;
use symposium_testlib::Sandbox;

const INSTALLED: &str = "ws/.claude/skills/basics/SKILL.md";

/// A workspace whose dependency `widget` ships the skill `basics`.
fn with_candidate() -> Sandbox {
    let sandbox = with_agents(&["claude"]);
    sandbox.registry_crate("widget", "1.2.3", &[("skills/a/SKILL.md", &skill("basics", "b"))]);
    sandbox
}

pub(crate) fn start_session(sandbox: &Sandbox) -> String {
    let event = serde_json::json!({
        "session_id": "s", "transcript_path": "/t", "cwd": sandbox.ws(),
        "hook_event_name": "SessionStart", "source": "startup",
    });
    sandbox.feed(&["hook", "claude", "session-start"], event.to_string().as_bytes()).ok().stdout
}

#[test]
fn nothing_of_a_candidate_is_installed_and_it_is_shown() {
    let sandbox = with_candidate();
    let run = sandbox.run(&["sync", "-v"]).ok();
    assert!(run.stderr.contains("Skipped widget 1.2.3: it ships skills"), "{}", run.stderr);
    assert!(!sandbox.has(INSTALLED));
    let status = sandbox.run(&["status"]).ok().stdout;
    assert!(status.contains("widget 1.2.3  ships 1 skill that no plugin source"), "{status}");
    assert!(status.contains("`cargo agents use widget`"), "{status}");
}

#[test]
fn a_sync_that_can_ask_nobody_says_in_one_line_how_many_there_are_and_how_to_decide() {
    let sandbox = with_candidate();
    let one = "widget ships skills, and you have not decided yet: `cargo agents use widget` takes, \
               `--remove` declines";
    let many = "2 dependencies ship skills and the plugin helper is suggested, and you have not \
                decided yet: `cargo agents status` names them, `cargo agents use NAME` takes one";
    let told = |args: &[&str]| {
        let talk = sandbox.run(args).stderr;
        let talk = talk.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(talk.matches("not decided yet").count() <= 1, "{talk}");
        talk
    };
    for args in [&["sync"][..], &["sync", "--dry-run"], &["init", "--add-agent", "codex"]] {
        let talk = told(args);
        assert!(talk.contains(one), "{args:?}: {talk}");
    }
    sandbox.registry_crate("gadget", "0.4.0", &[("skills/g/SKILL.md", &skill("gears", "g"))]);
    sandbox.package(&[("widget", "1.2.3"), ("gadget", "0.4.0")]);
    sandbox.user_plugin(
        "helper/SYMPOSIUM.toml",
        "name = \"helper\"\ncrates = [\"widget\"]\nactivation = \"suggested\"\n[[skills]]\n\
         source.path = \"skills\"\n",
    );
    let talk = told(&["sync"]);
    assert!(talk.contains(many), "{talk}");
    assert!(!told(&["sync", "-q"]).contains("decided"));
    sandbox.run(&["use", "widget"]).ok();
    sandbox.run(&["use", "gadget", "--remove"]).ok();
    assert!(told(&["sync"]).contains("the plugin helper is suggested"));
    sandbox.run(&["use", "helper", "--remove"]).ok();
    assert!(!told(&["sync"]).contains("decided"));
}

#[test]
fn a_session_hears_of_it_in_one_line_until_there_is_an_answer() {
    let mut sandbox = with_candidate();
    sandbox.set("SYMPOSIUM_NO_BACKGROUND", "1");
    sandbox.run(&["sync"]).ok();
    let answer = start_session(&sandbox);
    assert!(answer.contains("ship agent skills") && answer.contains(": widget. "), "{answer}");
    sandbox.run(&["use", "widget", "--remove"]).ok();
    assert!(!start_session(&sandbox).contains("widget"));
}

#[test]
fn yes_installs_in_this_workspace_and_leaves_the_checkout_clean() {
    let sandbox = with_candidate();
    sandbox.git(&["init", "-q"]);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "start"]);
    let run = sandbox.run(&["use", "widget"]).ok();
    assert!(run.stderr.contains("Installed basics"), "{}", run.stderr);
    assert_eq!(sandbox.read(INSTALLED), skill("basics", "b"));
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    let config = sandbox.read("home/.symposium/config.toml");
    let written: toml::Table = config.parse().expect("TOML");
    let here = sandbox.ws().display().to_string();
    assert_eq!(written["plugins"]["workspace"][&here]["use"][0].as_str(), Some("widget"));
    // Another workspace is asked for itself.
    for file in ["Cargo.toml", "Cargo.lock", "src/lib.rs"] {
        sandbox.write(&format!("other/{file}"), sandbox.read(&format!("ws/{file}")));
    }
    sandbox.run_in("other", &["sync"]).ok();
    assert!(!sandbox.has("other/.claude/skills/basics"));
    let status = sandbox.run(&["status"]).ok().stdout;
    assert!(!status.contains("Candidates"), "{status}");
}

#[test]
fn no_takes_the_skills_away_and_is_remembered() {
    let sandbox = with_candidate();
    sandbox.run(&["use", "widget"]).ok();
    let run = sandbox.run(&["use", "widget", "--remove"]).ok();
    assert!(run.stderr.contains("Removed basics"), "{}", run.stderr);
    assert!(!sandbox.has(INSTALLED));
    let config = sandbox.read("home/.symposium/config.toml");
    assert!(config.contains("disable = [\"widget\"]") && !config.contains("use ="), "{config}");
    assert!(!sandbox.run(&["status"]).ok().stdout.contains("Candidates"));
}

#[test]
fn global_holds_everywhere_and_a_workspace_may_differ() {
    let sandbox = with_candidate();
    let config = "# mine\n".to_owned() + &sandbox.read("home/.symposium/config.toml");
    sandbox.write("home/.symposium/config.toml", &config);
    sandbox.run_in("home", &["use", "widget", "--global"]).ok();
    let changed = sandbox.read("home/.symposium/config.toml");
    assert!(
        changed.starts_with("# mine\n") && changed.contains("[plugins]\nuse = [\"widget\"]"),
        "{changed}"
    );
    sandbox.run(&["sync"]).ok();
    assert!(sandbox.has(INSTALLED));
    sandbox.run(&["use", "widget", "--remove"]).ok();
    assert!(!sandbox.has(INSTALLED));
    assert!(sandbox.read("home/.symposium/config.toml").contains("[plugins]\nuse = [\"widget\"]"));
}

#[test]
fn answers_given_at_once_do_not_undo_each_other() {
    let sandbox = with_agents(&["claude"]);
    let mut manifest =
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n[dependencies]\n".to_owned();
    for number in 0..6 {
        manifest.push_str(&format!("c{number} = {{ path = \"../c{number}\" }}\n"));
        sandbox.write(
            &format!("c{number}/Cargo.toml"),
            format!("[package]\nname = \"c{number}\"\nversion = \"0.1.0\"\n"),
        );
        let skill = skill(&format!("s{number}"), "d");
        sandbox.write(&format!("c{number}/skills/s{number}/SKILL.md"), skill);
    }
    sandbox.write("ws/Cargo.toml", manifest);
    let children: Vec<_> = (0..6)
        .map(|number| {
            let mut command = sandbox.command(&["use", &format!("c{number}")]);
            command.stderr(std::process::Stdio::piped()).spawn().expect("starts")
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().expect("ends");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && !said.contains("Removed"), "{said}");
    }
    for number in 0..6 {
        assert!(sandbox.has(&format!("ws/.claude/skills/s{number}/SKILL.md")), "s{number}");
    }
}

#[test]
fn a_source_that_vouches_leaves_nothing_to_ask() {
    let sandbox = with_candidate();
    sandbox.user_plugin(
        "w/SYMPOSIUM.toml",
        "name = \"w\"\ncrates = [\"widget>=9\"]\n[[skills]]\nsource = \"crate\"\n",
    );
    // It delivers nothing here, so it says nothing of the crate.
    assert!(sandbox.run(&["status"]).ok().stdout.contains("Candidates"));
    sandbox.user_plugin(
        "w/SYMPOSIUM.toml",
        "name = \"w\"\ncrates = \"*\"\n[[plugins]]\nsource.cargo = \"widget\"\n",
    );
    assert!(!sandbox.run(&["status"]).ok().stdout.contains("Candidates"));
    sandbox.run(&["sync"]).ok();
    assert!(sandbox.has(INSTALLED));
    // The user's word on the crate comes before the source's.
    sandbox.run(&["use", "widget", "--remove"]).ok();
    assert!(!sandbox.has(INSTALLED));
}

#[test]
fn only_skills_come_from_a_candidate() {
    let sandbox = with_agents(&["claude"]);
    let manifest = "[package]\nname = \"widget\"\nversion = \"1.2.3\"\n\n\
                    [[package.metadata.symposium.skills]]\npath = \"docs\"\n\n\
                    [[package.metadata.symposium.hooks]]\nname = \"evil\"\nevent = \"PreToolUse\"\n\
                    command = \"evil\"\n";
    let hooks = "---\nname: basics\ndescription: b\nhooks:\n  PreToolUse: []\n---\n";
    sandbox.registry_crate(
        "widget",
        "1.2.3",
        &[
            ("Cargo.toml", manifest),
            ("docs/a/SKILL.md", hooks),
            ("docs/a/.claude-plugin/plugin.json", "{}"),
            ("SYMPOSIUM.toml", "name = \"widget\"\n[[hooks]]\nname = \"evil\"\nevent = \"PreToolUse\"\ncommand = \"evil\"\n"),
        ],
    );
    sandbox.run(&["use", "widget"]).ok();
    let text = sandbox.read(INSTALLED);
    assert!(!text.contains("hooks"), "{text}");
    assert!(!sandbox.has("ws/.claude/skills/basics/.claude-plugin"));
    let status = sandbox.run(&["status", "--json"]).ok();
    assert!(!status.stdout.contains("evil"), "{}", status.stdout);
}

#[test]
fn a_name_that_means_nothing_here_is_refused_with_a_guess() {
    let sandbox = with_candidate();
    let run = sandbox.run(&["use", "widgte"]).code(1);
    assert!(
        run.stderr.contains("no direct dependency") && run.stderr.contains("`widget`?"),
        "{}",
        run.stderr
    );
    let run = sandbox.run(&["use", "../widget", "--global"]).code(1);
    assert!(run.stderr.contains("can't be a crate's name"), "{}", run.stderr);
    let run = sandbox.run_in("home", &["use", "widget"]).code(1);
    assert!(run.stderr.contains("--global"), "{}", run.stderr);
    assert!(!sandbox.read("home/.symposium/config.toml").contains("[plugins"));
    sandbox.write("home/.symposium/config.toml", "[[agent\n");
    let run = sandbox.run(&["use", "widget"]).code(1);
    assert!(run.stderr.contains("not changed"), "{}", run.stderr);
    assert_eq!(sandbox.read("home/.symposium/config.toml"), "[[agent\n");
}

#[cfg(unix)]
mod asking {
    use symposium_testlib::Terminal;

    use super::*;

    /// Runs `args` on a terminal, and types `answer` to the question. What was shown.
    fn answering(sandbox: &Sandbox, args: &[&str], answer: &str) -> String {
        let mut terminal = Terminal::start(sandbox.command(args), 100);
        terminal.wait_for("every workspace");
        terminal.press(answer);
        terminal.finish().1
    }

    /// Runs `args` on a terminal where nothing should be asked. What was shown.
    fn unasked(sandbox: &Sandbox, args: &[&str]) -> String {
        Terminal::start(sandbox.command(args), 100).finish().1
    }

    const DOWN: &str = "\u{1b}[B";
    const QUESTION: &str = "Use the skills of widget 1.2.3";

    #[test]
    fn an_interactive_sync_asks_once_and_yes_installs() {
        let sandbox = with_candidate();
        // The answer that is proposed is the last.
        let shown = answering(&sandbox, &["sync"], &format!("{DOWN}\r"));
        assert!(shown.contains(QUESTION), "{shown}");
        assert!(sandbox.has(INSTALLED), "{shown}");
        let again = unasked(&sandbox, &["sync"]);
        assert!(!again.contains(QUESTION), "{again}");
    }

    #[test]
    fn not_now_is_proposed_and_decides_nothing_and_a_no_is_remembered() {
        let sandbox = with_candidate();
        let config = sandbox.read("home/.symposium/config.toml");
        for (way_out, ends, says) in
            [("\r", 0, "Later"), ("\u{1b}", 0, "Later"), ("\u{3}", 130, "Cancelled")]
        {
            let mut terminal = Terminal::start(sandbox.command(&["sync"]), 100);
            terminal.wait_for("not now");
            terminal.press(way_out);
            let (code, shown) = terminal.finish();
            assert_eq!(code, ends, "{shown}");
            assert!(shown.contains(says), "{shown}");
            assert!(shown.rfind("\u{1b}[?25h") > shown.rfind("\u{1b}[?25l"), "{shown:?}");
            assert_eq!(sandbox.read("home/.symposium/config.toml"), config);
        }
        // Up from what is proposed.
        answering(&sandbox, &["sync"], "\u{1b}[A\r");
        assert!(!sandbox.has(INSTALLED));
        let config = sandbox.read("home/.symposium/config.toml");
        assert!(config.contains("disable = [\"widget\"]"), "{config}");
        let again = unasked(&sandbox, &["sync"]);
        assert!(!again.contains(QUESTION), "{again}");
    }

    #[test]
    fn the_question_is_preceded_by_the_skills_names_and_where_they_lie() {
        let sandbox = with_candidate();
        let shown = answering(&sandbox, &["sync"], "\r");
        let (before, _) = shown.split_once(QUESTION).expect("it is asked");
        assert!(before.contains("basics (~/.cargo/registry/src/"), "{before}");
        assert!(before.contains("/widget-1.2.3/skills/a)"), "{before}");
    }

    /// `kiro-cli` is run for its version before anything is asked, and the second question is
    /// another one than the first.
    #[test]
    fn ctrl_c_works_at_every_question_after_a_child_too() {
        let mut sandbox = with_agents(&["kiro"]);
        sandbox.program("bin/kiro-cli", "#!/bin/sh\necho kiro-cli 1.0.0\n");
        sandbox.first_on_path("bin");
        sandbox.package(&[("widget", "1.2.3"), ("gadget", "1.0.0")]);
        for (name, version) in [("widget", "1.2.3"), ("gadget", "1.0.0")] {
            sandbox.registry_crate(name, version, &[("skills/a/SKILL.md", &skill("basics", "b"))]);
        }
        for (keys, question) in [("\u{3}", "of gadget"), ("\r\u{3}", "of widget")] {
            let mut terminal = Terminal::start(sandbox.command(&["sync"]), 100);
            terminal.wait_for("not now");
            terminal.press(keys);
            let (code, shown) = terminal.finish();
            assert_eq!(code, 130, "{shown}");
            assert!(shown.contains(question) && shown.contains("Cancelled"), "{shown}");
            assert!(shown.rfind("\u{1b}[?25h") > shown.rfind("\u{1b}[?25l"), "{shown:?}");
        }
    }

    #[test]
    fn a_dry_run_asks_nothing() {
        let sandbox = with_candidate();
        let shown = unasked(&sandbox, &["sync", "--dry-run"]);
        assert!(!shown.contains(QUESTION), "{shown}");
    }
}

#[test]
fn decision_31_a_plugin_that_does_not_deliver_a_crate_s_skills_hides_no_candidate() {
    for (gates, is_candidate) in [
        ("crates = [\"viewer\"]\n[[skills]]\nsource.cargo = \"widget\"\n", true),
        ("crates = [\"viewer\", \"widget>=2\"]\n[[skills]]\nsource = \"crate\"\n", true),
        ("crates = [\"*\"]\n[[skills]]\nsource = \"crate\"\ncrates = [\"widget>=2\"]\n", true),
        ("crates = [\"widget\"]\n[[skills]]\nsource = \"crate\"\n", false),
    ] {
        let sandbox = with_candidate();
        sandbox.user_plugin("p/SYMPOSIUM.toml", &format!("name = \"p\"\n{gates}"));
        sandbox.run(&["sync"]).ok();
        let status = sandbox.run(&["status"]).ok().stdout;
        assert_eq!(status.contains("widget 1.2.3  ships 1 skill"), is_candidate, "{gates}{status}");
        assert_eq!(sandbox.has(INSTALLED), !is_candidate, "{gates}");
    }
}

#[test]
fn decision_32_use_wakes_a_plugin_that_names_no_crate_here_or_everywhere() {
    for (key, scope) in
        [("crates", None), ("crates", Some("--global")), ("depends-on", Some("--global"))]
    {
        let sandbox = with_agents(&["claude"]);
        let manifest =
            format!("name = \"sleeper\"\n{key} = []\n[[skills]]\nsource.path = \"skills\"\n");
        sandbox.user_plugin("sleeper/SYMPOSIUM.toml", &manifest);
        sandbox.user_plugin("sleeper/skills/basics/SKILL.md", &skill("basics", "b"));
        sandbox.run(&["sync"]).ok();
        assert!(!sandbox.has(INSTALLED));
        for screen in [["status"].as_slice(), &["plugin", "list"]] {
            let told = sandbox.run(screen).ok().stdout;
            let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(told.contains("`cargo agents use sleeper` takes it"), "{told}");
        }
        let args: Vec<&str> = ["use", "sleeper"].into_iter().chain(scope).collect();
        sandbox.run(&args).ok();
        assert!(sandbox.has(INSTALLED), "{key} {scope:?}");
        for screen in [["status"].as_slice(), &["plugin", "list"]] {
            let told = sandbox.run(screen).ok().stdout;
            let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(told.contains("`use` in the configuration asks for it"), "{told}");
        }
        sandbox.run(&["use", "sleeper", "--remove"]).ok();
        assert!(!sandbox.has(INSTALLED), "{key} {scope:?}");
    }
}

#[test]
fn the_same_skill_of_two_dependencies_is_installed_once_and_names_both() {
    let sandbox = with_candidate();
    sandbox.package(&[("widget", "1.2.3"), ("gadget", "0.4.0")]);
    let text = skill("basics", "b");
    let files = [("skills/a/SKILL.md", text.as_str())];
    sandbox.registry_crate("gadget", "0.4.0", &files);
    sandbox.run(&["use", "widget"]).ok();
    let run = sandbox.run(&["use", "gadget"]).ok();
    assert!(run.stderr.contains("1 skill"), "{}", run.stderr);
    assert!(sandbox.has(INSTALLED));
    let status = sandbox.run(&["status"]).ok().stdout;
    assert!(status.contains("gadget 0.4.0 and widget 1.2.3"), "{status}");
    // One byte makes two of them.
    sandbox.registry_crate("gadget", "0.4.0", &[("skills/a/more.md", "x")]);
    sandbox.package(&[("widget", "1.2.3"), ("gadget", "0.4.0"), ("other", "1.0.0")]);
    sandbox.run(&["sync"]).ok();
    assert!(!sandbox.has(INSTALLED));
    assert!(sandbox.has("ws/.claude/skills/basics-gadget-0-4-0/more.md"));
}
