//! Completion in shells, and manual pages.

#[cfg(unix)]
use std::process::Command;

use crate::sandbox;
use symposium_testlib::Sandbox;

fn offered(sandbox: &Sandbox, words: &[&str]) -> Vec<String> {
    let index = (words.len() - 1).to_string();
    let run = sandbox.run(&[&["complete", &index, "--"], words].concat()).ok();
    assert_eq!(run.stderr, "");
    let value = |line: &str| line.split('\t').next().unwrap_or_default().to_owned();
    run.stdout.lines().map(value).collect()
}

/// A workspace with the plugin `widget`, which brings the command `paint`.
fn with_widget(sandbox: &Sandbox) {
    sandbox.package(&[("widget", "1.2.3")]);
    sandbox.user_plugin(
        "widget/SYMPOSIUM.toml",
        "name = \"widget\"\ncrates = [\"widget\"]\n[subcommand.paint]\ndescription = \"Paint a \
         widget\"\ncommand = { script = \"t.sh\" }\n",
    );
}

#[test]
fn vended_commands_and_names_of_the_workspace_are_offered() {
    let sandbox = sandbox();
    with_widget(&sandbox);
    assert_eq!(offered(&sandbox, &["pai"]), ["paint"]);
    let run = sandbox.run(&["complete", "0", "--", "pai"]).ok();
    assert_eq!(run.stdout, "paint\tPaint a widget\n");
    // What stands after it is not ours.
    assert_eq!(offered(&sandbox, &["paint", "--up"]), Vec::<String>::new());
    assert_eq!(offered(&sandbox, &["sync", "--up"]), ["--update"]);
    for words in
        [&["why", "wid"][..], &["use", "wid"], &["crate-info", "wid"], &["plugin", "show", "wid"]]
    {
        assert_eq!(offered(&sandbox, words), ["widget"], "{words:?}");
    }
    assert_eq!(offered(&sandbox, &["why", "pai"]), ["paint"]);
    assert_eq!(offered(&sandbox, &["help", "pai"]), ["paint"]);
    assert_eq!(offered(&sandbox, &["plugin", "sync", "user-p"]), ["user-plugins"]);
}

#[test]
fn a_shell_never_gets_an_error() {
    let sandbox = sandbox();
    for args in [
        &["complete"][..],
        &["complete", "x", "--", ""],
        &["complete", "99999999999999999999", "--"],
        &["complete", "5", "--"],
        &["complete", "0", "nonsense"],
    ] {
        let run = sandbox.run(args).ok();
        assert_eq!(run.stderr, "", "{args:?}");
    }
}

#[test]
fn each_shell_has_a_script() {
    let sandbox = sandbox();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = sandbox.run(&["completions", shell]).ok().stdout;
        assert!(script.contains("cargo-agents complete "), "{shell}: {script}");
        assert!(script.contains("agents"), "{shell}");
        let json = sandbox.run(&["--json", "completions", shell]).ok().json_lines();
        assert_eq!(json[0]["script"].as_str().map(str::trim_end), Some(script.trim_end()));
    }
    let run = sandbox.run(&["completions", "tcsh"]).code(2);
    assert!(run.stderr.contains("bash"), "{}", run.stderr);
}

/// Whether a program of the system's is there.
#[cfg(unix)]
fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// Runs a script that loads the completion and prints what is offered.
#[cfg(unix)]
fn in_shell(sandbox: &Sandbox, shell: &[&str], script: &str) -> String {
    let bin = sandbox.binary().parent().expect("a folder").display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
    let output = Command::new(shell[0])
        .args(&shell[1..])
        .arg(script)
        .current_dir(sandbox.ws())
        .env("HOME", sandbox.home())
        .env("PATH", path)
        .output()
        .expect("the shell runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert_eq!(stderr, "");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[cfg(unix)]
#[test]
fn bash_completes_both_spellings_and_leaves_the_rest_of_cargo_alone() {
    if !is_there("bash") {
        return;
    }
    let sandbox = sandbox();
    let script = r#"
        _cargo_of_before() { COMPREPLY=(before); }
        complete -F _cargo_of_before cargo
        source <(cargo-agents completions bash)
        source <(cargo-agents completions bash)
        try() {
            COMP_WORDS=("$@")
            COMP_CWORD=$(($# - 1))
            COMPREPLY=()
            local command; command=$(complete -p "$1")
            command=${command#*-F }; command=${command%% *}
            "$command" "$1"
            printf '%s\n' "$*: ${COMPREPLY[*]}"
        }
        try cargo-agents self
        try cargo agents self
        try cargo +nightly agents self
        try cargo agents sync --dry
        try cargo agents --update = ch
        try cargo agents --update ""
        try cargo bui
        try cargo agents
        mkdir -p "folder with space"
        try cargo agents man fol
    "#;
    let text = in_shell(&sandbox, &["bash", "--norc", "-c"], script);
    let expected = "cargo-agents self: self-update\n\
                    cargo agents self: self-update\n\
                    cargo +nightly agents self: self-update\n\
                    cargo agents sync --dry: --dry-run\n\
                    cargo agents --update = ch: check\n\
                    cargo agents --update : none check fetch\n\
                    cargo bui: before\n\
                    cargo agents: before\n\
                    cargo agents man fol: folder with space/\n";
    assert_eq!(text, expected);
}

#[cfg(unix)]
#[test]
fn fish_completes_both_spellings_and_offers_files_where_there_is_nothing_else() {
    if !is_there("fish") {
        return;
    }
    let sandbox = sandbox();
    sandbox.package(&[]);
    let script = r#"
        cargo-agents completions fish | source
        for line in "cargo-agents self" "cargo agents self" "cargo +nightly agents self" \
            "cargo agents sync --dry" "cargo agents sync --agent clau" "cargo agents unknown Cargo.l"
            echo "$line: "(complete -C "$line" | string replace -r '\t.*' '')
        end
    "#;
    let text = in_shell(&sandbox, &["fish", "--no-config", "-c"], script);
    let expected = "cargo-agents self: self-update\n\
                    cargo agents self: self-update\n\
                    cargo +nightly agents self: self-update\n\
                    cargo agents sync --dry: --dry-run\n\
                    cargo agents sync --agent clau: claude\n\
                    cargo agents unknown Cargo.l: Cargo.lock\n";
    assert_eq!(text, expected);
}

/// Shells whose completion only an open terminal shows: what each line becomes with the Tab key.
#[cfg(unix)]
#[test]
fn zsh_and_elvish_complete_at_a_terminal() {
    use crate::terminal::Terminal;

    let lines = [
        ("cargo-agents self", "cargo-agents self-update"),
        ("cargo agents sync --dry", "cargo agents sync --dry-run"),
        ("cargo agents sync --agent clau", "cargo agents sync --agent claude"),
        ("cargo agents why wid", "cargo agents why widget"),
        ("cargo agents pai", "cargo agents paint"),
        ("cargo +nightly agents plugin sync user-p", "plugin sync user-plugins"),
    ];
    let zsh = "autoload -U compinit; compinit -u -D\nsource <(cargo-agents completions zsh)\nPS1='shop> '\n";
    let elvish =
        "eval (cargo-agents completions elvish | slurp)\nset edit:prompt = { put 'shop> ' }\n";
    for (shell, file, text) in
        [(&["zsh", "-i"][..], "home/.zshrc", zsh), (&["elvish", "-rc"], "home/rc.elv", elvish)]
    {
        if !is_there(shell[0]) {
            eprintln!("{} is not here, so its completion is not tried", shell[0]);
            continue;
        }
        let mut sandbox = sandbox();
        with_widget(&sandbox);
        sandbox.write(file, text);
        let bin = sandbox.binary().parent().expect("a folder").to_path_buf();
        sandbox.set("PATH", format!("{}:/usr/bin:/bin", bin.display()));
        let template = sandbox.command(&[]);
        let mut command = Command::new(shell[0]);
        command.args(&shell[1..]).current_dir(sandbox.ws());
        if shell[0] == "elvish" {
            command.arg(sandbox.dir().join(file));
        }
        command.envs(template.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut terminal = Terminal::start(&command, 100, 40);
        for (typed, completed) in lines {
            terminal.wait_for("shop>");
            terminal.press(typed);
            terminal.wait_for(typed);
            terminal.press("\t");
            terminal.wait_for(completed);
            // Ctrl-U: the line is empty again.
            terminal.press("\u{15}");
        }
        terminal.press("\u{15}exit\r");
        terminal.end();
    }
}

#[cfg(unix)]
#[test]
fn the_scripts_parse_where_their_shells_are() {
    let sandbox = sandbox();
    for (shell, check) in [
        ("bash", &["bash", "-n"][..]),
        ("zsh", &["zsh", "-n"]),
        ("fish", &["fish", "--no-execute"]),
    ] {
        if !is_there(check[0]) {
            continue;
        }
        let script = sandbox.run(&["completions", shell]).ok().stdout;
        sandbox.write("script", script);
        let file = sandbox.dir().join("script").display().to_string();
        let output = Command::new(check[0]).args(&check[1..]).arg(&file).output().expect("runs");
        assert!(output.status.success(), "{shell}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let sandbox = sandbox();
    let folder = sandbox.dir().join("man").display().to_string();
    sandbox.run(&["man", &folder]).ok();
    let page = sandbox.read("man/cargo-agents.1");
    assert!(page.contains(".TH cargo-agents 1"), "{page}");
    for command in ["sync", "init", "self-update"] {
        let page = sandbox.read(&format!("man/cargo-agents-{command}.1")).replace("\\-", "-");
        assert!(page.contains("SYNOPSIS"), "{page}");
        assert!(page.contains(&format!("cargo agents {command}")), "{page}");
    }
    assert!(!sandbox.has("man/cargo-agents-hook.1"));
}
