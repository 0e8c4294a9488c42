//! Subcommands that plugins vend (F176–F190).

use std::process::Stdio;

use crate::sandbox;
use symposium_testlib::{Sandbox, Terminal};

/// A script that shows its arguments, one a line, in brackets.
const SHOW: &str = "for arg; do echo \"[$arg]\"; done\n";

/// A plugin in the user's folder with the subcommand `demo`, run by `script`.
fn demo(sandbox: &Sandbox, plugin: &str, crates: &str, more: &str, script: &str) {
    sandbox.user_plugin(
        &format!("{plugin}/SYMPOSIUM.toml"),
        &format!(
            "name = \"{plugin}\"\ncrates = [\"{crates}\"]\n\n[[installations]]\nname = \"tool\"\n\
             script = \"tool.sh\"\n{more}\n\n[subcommand.demo]\ndescription = \"Run the demo \
             tool\"\ncommand = \"tool\"\n"
        ),
    );
    sandbox.user_plugin(&format!("{plugin}/tool.sh"), script);
}

fn with_demo(script: &str) -> Sandbox {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.2.3")]);
    demo(&sandbox, "widget-tools", "widget", "", script);
    sandbox
}

#[test]
fn f178_f181_arguments_arrive_as_typed_after_those_of_the_installation() {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.2.3")]);
    demo(&sandbox, "widget-tools", "widget", "args = [\"serve\", \"a b\"]", SHOW);
    let args = ["demo", "x y", "$HOME", "'q\"", "*", "", "--quiet", "-h", "--", "--update=fetch"];
    let run = sandbox.run(&args).ok();
    let all = ["serve", "a b"].iter().chain(&args[1..]);
    let expected: String = all.map(|arg| format!("[{arg}]\n")).collect();
    assert_eq!(run.stdout, expected);
    assert_eq!(run.stderr, "");
}

#[test]
fn f7_global_options_before_the_name_are_ours() {
    let sandbox = with_demo(SHOW);
    let run = sandbox.run(&["--quiet", "--update", "none", "demo", "--quiet"]).ok();
    assert_eq!(run.stdout, "[--quiet]\n");
    let run = sandbox.run(&["--nonsense", "demo"]).code(2);
    assert!(run.stderr.contains("--nonsense"), "{}", run.stderr);
}

#[test]
fn f196_help_is_the_child_s() {
    let sandbox = with_demo(SHOW);
    assert_eq!(sandbox.run(&["demo", "--help"]).ok().stdout, "[--help]\n");
}

#[test]
fn the_snapshot_of_a_sync_and_a_look_at_the_sources_say_the_same() {
    let sandbox = with_demo(SHOW);
    let before = sandbox.run(&["demo", "x"]).ok();
    sandbox.config("[[agent]]\nname = \"claude\"\n");
    sandbox.run(&["sync"]).ok();
    assert_eq!(sandbox.run(&["demo", "x"]).ok(), before);
    // The snapshot holds no longer: another command is there, and the old one is not.
    sandbox.user_plugin(
        "widget-tools/SYMPOSIUM.toml",
        "name = \"widget-tools\"\ncrates = [\"widget\"]\n[subcommand.other]\ndescription = \"O\"\n\
         command = { script = \"tool.sh\" }\n",
    );
    sandbox.run(&["demo"]).code(1);
    assert_eq!(sandbox.run(&["other", "x"]).ok(), before);
    // Nor when the dependency is gone.
    sandbox.run(&["sync"]).ok();
    sandbox.run(&["other", "x"]).ok();
    sandbox.package(&[]);
    sandbox.run(&["other", "x"]).code(1);
}

#[test]
fn f179_both_levels_must_hold() {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.2.3")]);
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\"]\n[subcommand.one]\ndescription = \"1\"\ncrates = \
         \"widget>=1\"\ncommand = { script = \"t.sh\" }\n[subcommand.two]\ndescription = \"2\"\n\
         crates = [\"gadget\"]\ncommand = { script = \"t.sh\" }\n",
    );
    sandbox.user_plugin("p/t.sh", SHOW);
    sandbox.run(&["one"]).ok();
    let run = sandbox.run(&["two"]).code(1);
    assert!(run.stderr.contains("gadget is not a dependency of this workspace"), "{}", run.stderr);
}

#[test]
fn f182_f183_streams_and_exit_codes_are_the_child_s_own() {
    let sandbox = with_demo("cat\necho to-stderr >&2\nexit 42\n");
    let run = sandbox.feed(&["demo"], b"from stdin\n").code(42);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("from stdin\n", "to-stderr\n"));
    for code in [1, 2, 101, 255] {
        let sandbox = with_demo(&format!("exit {code}\n"));
        sandbox.run(&["demo"]).code(code);
    }
}

#[test]
fn f183_a_signal_is_a_plain_failure() {
    let sandbox = with_demo("kill -9 $$\n");
    let run = sandbox.run(&["demo"]).code(1);
    assert!(run.stderr.contains("ended by signal 9"), "{}", run.stderr);
}

#[test]
fn f182_a_terminal_stays_a_terminal() {
    let script = "for fd in 0 1 2; do [ -t $fd ] && echo \"$fd is a terminal\"; done\n\
                  printf 'name? '; read name; echo \"hello $name\"; stty size\n";
    let mut sandbox = with_demo(script);
    sandbox.set("CI", "1");
    let mut terminal = Terminal::start(sandbox.command(&["demo"]), 77);
    terminal.wait_for("name? ");
    terminal.press("Ada\n");
    let (code, screen) = terminal.finish();
    assert_eq!(code, 0, "{screen}");
    for line in ["0 is a terminal", "1 is a terminal", "2 is a terminal", "hello Ada", "40 77"] {
        assert!(screen.contains(line), "{screen}");
    }
}

#[test]
fn ctrl_c_is_the_child_s_to_answer() {
    let script = "trap 'echo caught; exit 7' INT\necho ready\nwhile :; do sleep 0.05; done\n";
    let mut sandbox = with_demo(script);
    sandbox.set("CI", "1");
    let mut terminal = Terminal::start(sandbox.command(&["demo"]), 80);
    terminal.wait_for("ready");
    terminal.press("\u{3}");
    let (code, screen) = terminal.finish();
    assert_eq!(code, 7, "{screen}");
    assert!(screen.contains("caught"), "{screen}");
}

#[test]
fn f180_a_contested_name_is_an_error_that_lists_every_plugin_and_source() {
    let sandbox = with_demo(SHOW);
    demo(&sandbox, "other-tools", "widget", "", SHOW);
    let run = sandbox.run(&["demo"]).code(1);
    assert_eq!(run.stdout, "");
    for part in ["`widget-tools`", "`other-tools`", "source `user-plugins`", "disable"] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    sandbox.config("[plugins]\ndisable = [\"other-tools\"]\n");
    sandbox.run(&["demo"]).ok();
    // One that does not apply here contests nothing.
    sandbox.config("");
    demo(&sandbox, "other-tools", "gadget", "", SHOW);
    sandbox.run(&["demo"]).ok();
}

#[test]
fn f184_f171_requirements_and_variables_are_as_for_hooks() {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.2.3")]);
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\"]\n\n[[installations]]\nname = \"helper\"\nexecutable \
         = \"bin/helper\"\n\n[[installations]]\nname = \"tool\"\nscript = \"tool.sh\"\n\
         requirements = [\"helper\", \"gone\"]\n\n[[installations]]\nname = \"gone\"\nexecutable = \
         \"bin/gone\"\n\n[subcommand.demo]\ndescription = \"D\"\ncommand = \"tool\"\n",
    );
    sandbox.user_plugin(
        "p/tool.sh",
        "helper\necho \"$SYMPOSIUM_helper\"\necho \"$SYMPOSIUM_WORKSPACE\"\npwd\n",
    );
    let helper = "home/.symposium/plugins/p/bin/helper";
    sandbox.program(helper, "#!/bin/sh\necho helped\n");
    let helper = sandbox.dir().join(helper);
    let check = |sandbox: &Sandbox| {
        let run = sandbox.run_in("ws/src", &["demo"]).ok();
        let (ws, src) = (sandbox.ws(), sandbox.ws().join("src"));
        let expected =
            format!("helped\n{}\n{}\n{}\n", helper.display(), ws.display(), src.display());
        assert_eq!(run.stdout, expected);
        // It may well work without.
        assert!(run.stderr.contains("`gone`"), "{}", run.stderr);
    };
    check(&sandbox);
    sandbox.config("[[agent]]\nname = \"claude\"\n");
    sandbox.run(&["sync"]).ok();
    check(&sandbox);
}

#[test]
fn f186_f187_outside_a_workspace_only_what_is_for_all() {
    let sandbox = with_demo(SHOW);
    let run = sandbox.run_in("home", &["demo"]).code(1);
    assert!(run.stderr.contains("widget is needed"), "{}", run.stderr);
    assert!(run.stderr.contains("plugin `widget-tools`"), "{}", run.stderr);
    demo(&sandbox, "for-all", "*", "", SHOW);
    assert_eq!(sandbox.run_in("home", &["demo", "x"]).ok().stdout, "[x]\n");
}

#[test]
fn f8_f185_an_unknown_name_gets_a_suggestion_and_a_pointer() {
    let sandbox = with_demo(SHOW);
    let run = sandbox.run(&["dmeo"]).code(1);
    assert!(run.stderr.contains("there is no command `dmeo`"), "{}", run.stderr);
    assert!(run.stderr.contains("did you mean `demo`?"), "{}", run.stderr);
    assert!(run.stderr.contains("cargo agents --help"), "{}", run.stderr);
    let run = sandbox.run(&["--json", "snyc"]).code(1);
    let error = run.json_lines().pop().expect("a line");
    assert_eq!((error["event"].as_str(), run.stderr.as_str()), (Some("diagnostic"), ""));
    assert!(error["notes"][0].as_str().is_some_and(|note| note.contains("`sync`")), "{error}");
}

#[test]
fn a_broken_workspace_is_told_when_a_name_is_not_known() {
    let sandbox = with_demo(SHOW);
    sandbox.write("ws/Cargo.toml", "[package\n");
    let run = sandbox.run(&["demo"]).code(1);
    assert!(run.stderr.contains("Cargo.toml:1"), "{}", run.stderr);
}

#[test]
fn decision_29_a_configuration_that_cant_be_read_takes_no_subcommand_away() {
    let sandbox = with_demo(SHOW);
    let manifest = sandbox.read("home/.symposium/plugins/widget-tools/SYMPOSIUM.toml");
    let configured = manifest.replace("demo]", "team-demo]").replace("widget-tools", "team");
    sandbox.write("home/.symposium/team/t/SYMPOSIUM.toml", configured);
    sandbox.write("home/.symposium/team/t/tool.sh", SHOW);
    let config = sandbox.read("home/.symposium/config.toml");
    let source = "[[plugin-source]]\nname = \"team\"\npath = \"team\"\n";
    sandbox.write("home/.symposium/config.toml", format!("{config}\n{source}"));
    sandbox.run(&["sync"]).ok();
    for broken in [format!("{config}\n{source}[["), format!("plugin-source = 1\n{config}")] {
        sandbox.write("home/.symposium/config.toml", broken);
        let run = sandbox.run(&["team-demo", "a b"]).ok();
        assert_eq!(run.stdout, "[a b]\n");
        assert!(run.stderr.contains("config.toml"), "{}", run.stderr);
        let run = sandbox.run(&["xyzzy"]).code(1);
        assert!(run.stderr.contains("can't be read, and may name a plugin that has it: mend"));
        assert!(!run.stderr.contains("not fetched"), "{}", run.stderr);
    }
    // Nor does it where no sync has remembered anything.
    std::fs::remove_dir_all(sandbox.path("home/.symposium/cache")).expect("the cache goes");
    let run = sandbox.run(&["team-demo"]).code(1);
    assert!(run.stderr.contains("the configuration can't be read"), "{}", run.stderr);
    assert!(!run.stderr.contains("not fetched"), "{}", run.stderr);
}

#[test]
fn while_the_configuration_cant_be_read_a_subcommand_runs_as_it_was_allowed() {
    let sandbox = with_demo(SHOW);
    for file in ["SYMPOSIUM.toml", "tool.sh"] {
        let text = sandbox.read(&format!("home/.symposium/plugins/widget-tools/{file}"));
        sandbox.write(&format!("home/.symposium/team/tools/{file}"), text);
    }
    let source = "[[plugin-source]]\nname = \"team\"\npath = \"team\"\n";
    sandbox.config(&format!("{source}[trust]\nprograms = \"ask\"\n"));
    sandbox.run(&["plugin", "allow", "widget-tools"]).ok();
    sandbox.run(&["sync"]).ok();
    sandbox.write("home/.symposium/config.toml", "[defaults\n");
    assert_eq!(sandbox.run(&["demo", "a"]).ok().stdout, "[a]\n");
    sandbox.write("home/.symposium/team/tools/tool.sh", "echo something else\n");
    let run = sandbox.run(&["demo", "a"]).code(1);
    assert!(run.stderr.contains("does not run"), "{}", run.stderr);
}

#[test]
fn f188_an_installation_s_error_is_told_as_it_is() {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.2.3")]);
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\"]\n[subcommand.demo]\ndescription = \"D\"\ncommand = { \
         script = \"gone.sh\" }\n",
    );
    let run = sandbox.run(&["demo"]).code(1);
    assert!(run.stderr.contains("`demo` of plugin `p`"), "{}", run.stderr);
    assert!(run.stderr.contains("gone.sh"), "{}", run.stderr);
}

#[test]
fn f178_what_is_missing_is_installed_with_progress_when_it_is_called() {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.2.3")]);
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\"]\n[[installations]]\nname = \"tool\"\n\
         install_commands = [\"echo made >> made.txt\"]\nscript = \"tool.sh\"\n\
         [subcommand.demo]\ndescription = \"D\"\ncommand = \"tool\"\n",
    );
    sandbox.user_plugin("p/tool.sh", SHOW);
    sandbox.config("[[agent]]\nname = \"claude\"\n");
    sandbox.run(&["sync"]).ok();
    sandbox.run(&["demo", "1"]).ok();
    let run = sandbox.run(&["demo", "2"]).ok();
    assert_eq!(run.stdout, "[2]\n");
    let made = std::process::Command::new("find")
        .arg(sandbox.dir())
        .args(["-name", "made.txt", "-exec", "cat", "{}", ";"])
        .output()
        .expect("find runs");
    assert_eq!(String::from_utf8_lossy(&made.stdout), "made\n");
}

#[test]
fn a_subcommand_writes_nothing_into_the_workspace() {
    let sandbox = with_demo(SHOW);
    sandbox.config("[[agent]]\nname = \"claude\"\n");
    let before = sandbox.ws_tree();
    sandbox.run(&["demo"]).ok();
    assert!(sandbox.ws_tree().changes_since(&before).is_empty());
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let sandbox = sandbox();
    let mut command = sandbox.command(&["--help"]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    // Closed before the first byte.
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_stream_that_was_closed_is_not_the_next_file() {
    let look =
        "seen=$(readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2)\necho \"$seen\" > \"$1\"\n";
    let sandbox = with_demo(look);
    let seen = sandbox.dir().join("seen");
    let ours = sandbox.command(&["demo", seen.to_str().expect("is UTF-8")]);
    let mut closed = std::process::Command::new("sh");
    closed.args(["-c", "exec \"$@\" <&- >&- 2>&-", "sh"]).arg(ours.get_program());
    closed.args(ours.get_args()).current_dir(sandbox.ws()).env_clear();
    closed.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert!(closed.status().expect("sh runs").success());
    let seen = std::fs::read_to_string(seen).expect("the demo ran");
    assert_eq!(seen, "/dev/null\n".repeat(3));
}

#[test]
fn hook_behind_global_options_is_hook_all_the_same() {
    let sandbox = sandbox();
    let run = sandbox.feed(&["-q", "hook", "claude", "nonsense"], b"{}").ok();
    assert_eq!(run.stdout, "");
    sandbox.feed(&["--json", "hook"], b"").ok();
}

#[test]
fn decision_20_the_book_names_every_reserved_name() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/md/authors/subcommands.md");
    let page = std::fs::read_to_string(page).expect("reads");
    for name in symposium::RESERVED_SUBCOMMANDS {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn a_reader_that_has_read_enough_is_no_trouble() {
    let sandbox = with_demo("while :; do echo line; done");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "\"$0\" demo | head -n 1"]).arg(crate::program());
    let piped = sandbox.command(&["demo"]);
    shell.env_clear().envs(piped.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.current_dir(sandbox.ws()).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "line\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
