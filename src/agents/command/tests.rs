use super::*;
#[cfg(unix)]
use crate::process::{self, Child, Status};
use proptest::prelude::*;

fn facts(exe: &str, windows: bool, shell: Shell) -> ProgramFacts {
    ProgramFacts { exe: PathBuf::from(exe), on_minimal_path: false, windows, shell }
}

fn chosen(exe: &str, windows: bool, shell: Shell) -> String {
    let program = choose_program(&facts(exe, windows, shell));
    assert_eq!(program.warning, None, "{exe}");
    program.text
}

#[test]
fn the_command_is_short_where_absence_is_harmless_and_guarded_where_it_is_not() {
    assert_eq!(
        hook_command("claude", Event::PreToolUse, PROGRAM, false),
        "cargo-agents hook claude pre-tool-use"
    );
    assert_eq!(
        hook_command("gemini", Event::SessionStart, PROGRAM, true),
        "command -v cargo-agents >/dev/null 2>&1 || exit 0; \
         cargo-agents hook gemini session-start || exit 0"
    );
    assert_eq!(
        hook_command("gemini", Event::SessionStart, "'/a b/cargo-agents'", true),
        "command -v '/a b/cargo-agents' >/dev/null 2>&1 || exit 0; \
         '/a b/cargo-agents' hook gemini session-start || exit 0"
    );
    assert_eq!(
        powershell_command("copilot", Event::PreToolUse, PROGRAM, true),
        "if (Get-Command cargo-agents -ErrorAction SilentlyContinue) \
         { & cargo-agents hook copilot pre-tool-use }; exit 0"
    );
    assert_eq!(
        powershell_command("copilot", Event::PreToolUse, r"'C:\a b\cargo-agents.exe'", true),
        r"if (Get-Command 'C:\a b\cargo-agents.exe' -ErrorAction SilentlyContinue) { & 'C:\a b\cargo-agents.exe' hook copilot pre-tool-use }; exit 0"
    );
}

#[cfg(unix)]
#[test]
fn the_guarded_command_carries_on_without_the_program_and_runs_it_with() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = dir.path().join("with 'odd' $name");
    std::fs::create_dir(&folder).expect("a folder");
    let exe = folder.join(PROGRAM);
    let program = chosen(exe.to_str().expect("UTF-8"), false, Shell::Posix);
    let command = hook_command("gemini", Event::PreToolUse, &program, true);
    let run = || process::run(&Child::new("sh").args(["-c", &command])).expect("sh");

    let absent = run();
    assert_eq!(absent.status, Status::Exited(0));
    assert!(absent.stdout.is_empty() && absent.stderr.is_empty(), "{absent:?}");

    std::os::unix::fs::symlink("/bin/echo", &exe).expect("a link");
    let present = run();
    assert_eq!(present.status, Status::Exited(0));
    assert_eq!(String::from_utf8_lossy(&present.stdout), "hook gemini pre-tool-use\n");

    std::fs::remove_file(&exe).expect("the link");
    std::fs::write(&exe, "#!/bin/sh\nexit 101\n").expect("a script");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&exe, mode).expect("its mode");
    assert_eq!(run().status, Status::Exited(0), "a crash");
    std::fs::set_permissions(&exe, std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .expect("mode");
    assert_eq!(run().status, Status::Exited(0), "no program");
}

#[test]
fn case_41_a_posix_word_becomes_a_path_and_powershells_word() {
    for (word, path, powershell) in [
        ("cargo-agents", "cargo-agents", "cargo-agents"),
        ("\"C:/With Space/c.exe\"", "C:/With Space/c.exe", "'C:/With Space/c.exe'"),
        (r"'/it'\''s/c'", "/it's/c", "'/it''s/c'"),
        ("C:/Users/x/c.exe", "C:/Users/x/c.exe", "C:/Users/x/c.exe"),
    ] {
        assert_eq!(
            (program_path(word).as_str(), powershell_word(word).as_str()),
            (path, powershell)
        );
    }
}

#[test]
fn case_45_found_on_a_minimal_path_means_by_name_else_by_path() {
    let mut facts = facts("/home/dev/.cargo/bin/cargo-agents", false, Shell::Posix);
    assert_eq!(choose_program(&facts).text, "/home/dev/.cargo/bin/cargo-agents");
    facts.on_minimal_path = true;
    assert_eq!(choose_program(&facts), Program { text: PROGRAM.to_owned(), warning: None });
}

#[test]
fn case_40_git_bash_gets_forward_slashes() {
    let exe = r"C:\Users\x\.cargo\bin\cargo-agents.exe";
    assert_eq!(chosen(exe, true, Shell::GitBash), "C:/Users/x/.cargo/bin/cargo-agents.exe");
    assert_eq!(chosen(exe, true, Shell::PowerShell), exe);
}

#[test]
fn case_41_a_space_is_quoted() {
    let exe = r"C:\Users\With Space\.cargo\bin\cargo-agents.exe";
    assert_eq!(
        chosen(exe, true, Shell::GitBash),
        "\"C:/Users/With Space/.cargo/bin/cargo-agents.exe\""
    );
    assert_eq!(
        chosen(exe, true, Shell::PowerShell),
        r"'C:\Users\With Space\.cargo\bin\cargo-agents.exe'"
    );
    assert_eq!(
        chosen("/home/with space/bin/cargo-agents", false, Shell::Posix),
        "'/home/with space/bin/cargo-agents'"
    );
}

#[test]
fn case_42_a_backslash_without_a_space_is_not_lost() {
    let exe = r"\\?\C:\tools\cargo-agents.exe";
    assert_eq!(chosen(exe, true, Shell::GitBash), "C:/tools/cargo-agents.exe");
    let share = r"\\?\UNC\server\tools\cargo-agents.exe";
    assert_eq!(chosen(share, true, Shell::GitBash), "//server/tools/cargo-agents.exe");
    assert_eq!(chosen(r"/odd\name/cargo-agents", false, Shell::Posix), r"'/odd\name/cargo-agents'");
}

#[test]
fn case_44_json_takes_the_command_and_gives_it_back() {
    let exe = r#"C:\it's "$HOME"\cargo-agents.exe"#;
    for shell in [Shell::GitBash, Shell::PowerShell] {
        let command = hook_command("claude", Event::PreToolUse, &chosen(exe, true, shell), false);
        let json = serde_json::json!({ "command": command }).to_string();
        let back: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(back["command"], command);
    }
}

#[test]
fn decision_19b_a_build_folder_is_never_registered() {
    for (exe, windows) in [
        ("/src/shop/target/debug/cargo-agents", false),
        ("/src/shop/target/x86_64-unknown-linux-musl/release/cargo-agents", false),
        ("/var/builds/debug/cargo-agents", false),
        ("/src/shop/target/debug/deps/cargo-agents", false),
        (r"C:\src\shop\target\release\cargo-agents.exe", true),
    ] {
        let program = choose_program(&facts(exe, windows, Shell::GitBash));
        assert_eq!(program.text, PROGRAM, "{exe}");
        let warning = program.warning.expect("a warning").to_string();
        assert!(warning.contains("cargo install --path ."), "{warning}");
    }
    // A user who is called `target` has a cargo of their own all the same.
    let exe = "/home/target/.cargo/bin/cargo-agents";
    assert_eq!(chosen(exe, false, Shell::Posix), exe);
}

#[test]
fn a_program_of_another_name_is_never_registered_for_it_could_not_be_told_from_the_users() {
    for (exe, windows) in [("/opt/bin/agents", false), (r"C:\bin\cargo-agents-2.exe", true)] {
        let program = choose_program(&facts(exe, windows, Shell::GitBash));
        assert_eq!(program.text, PROGRAM, "{exe}");
        let warning = program.warning.expect("a warning").to_string();
        assert!(warning.contains("this program has another name"), "{warning}");
    }
}

#[test]
fn case_13_older_spellings_are_ours() {
    for call in [
        "cargo-agents hook claude pre-tool-use",
        "  cargo-agents  hook claude\tpre-tool-use ",
        "cargo-agents.exe hook claude pre-tool-use",
        "cargo agents hook claude pre-tool-use",
        "/home/dev/.cargo/bin/cargo-agents hook claude pre-tool-use",
        "'/home/with space/bin/cargo-agents' hook claude pre-tool-use",
        "\"/home/with space/bin/cargo-agents\" hook claude pre-tool-use",
        r"C:\Users\x\.cargo\bin\cargo-agents.exe hook claude pre-tool-use",
        r#""C:\Users\With Space\cargo-agents.exe" hook claude pre-tool-use"#,
        "\"C:/Users/With Space/cargo-agents.exe\" hook claude pre-tool-use",
        r"& 'C:\it''s\cargo-agents.exe' hook claude pre-tool-use",
        "command -v cargo-agents >/dev/null 2>&1 || exit 0; cargo-agents hook claude pre-tool-use",
        "command -v cargo-agents >/dev/null 2>&1 || exit 0; cargo-agents hook claude pre-tool-use \
         || exit 0",
        "if (Get-Command cargo-agents -ErrorAction SilentlyContinue) \
         { cargo-agents hook claude pre-tool-use }",
    ] {
        assert_eq!(is_ours(call, "claude"), Some(Event::PreToolUse), "{call}");
        assert_eq!(is_ours(call, "codex"), None, "{call}");
    }
}

#[test]
fn case_h20_every_spelling_that_runs_us_is_ours() {
    let programs = [
        "cargo-agents",
        "\"cargo-agents\"",
        "~/.cargo/bin/cargo-agents",
        "$HOME/.cargo/bin/cargo-agents",
        "\"$HOME/.cargo/bin/cargo-agents\"",
        "\"$HOME\"/.cargo/bin/cargo-agents",
        "${HOME}/.cargo/bin/cargo-agents",
        "${CARGO_HOME}/bin/cargo-agents",
        "\"${CARGO_HOME:-$HOME/.cargo}/bin/cargo-agents\"",
        r"%USERPROFILE%\.cargo\bin\cargo-agents.exe",
        r#"& "$env:USERPROFILE\.cargo\bin\cargo-agents.exe""#,
        "/home/with\\ space/cargo-agents",
        "exec cargo-agents",
        "cargo agents",
        "~/.cargo/bin/cargo agents",
        "cargo +nightly -q agents",
        "cargo-agents agents",
        "cargo-agents -q",
        "cargo-agents --timeout 5 --offline",
    ];
    let events = ["pre-tool-use", "PreToolUse", "pre_tool_use", "preToolUse", "pretooluse"];
    let endings = [
        "",
        " -q",
        " || true",
        " || exit 0",
        " ||:",
        "; exit 0",
        ";",
        " 2>/dev/null",
        " 2> /dev/null || true",
        " >/dev/null 2>&1",
        " &>/dev/null",
        " </dev/null 2>>\"$HOME/a log\"",
    ];
    for program in programs {
        for event in events {
            for ending in endings {
                let call = format!("{program} hook claude {event}{ending}");
                assert_eq!(is_ours(&call, "claude"), Some(Event::PreToolUse), "{call}");
                assert_eq!(is_ours(&call, "codex"), None, "{call}");
            }
        }
    }
    let guarded = "command -v ~/.cargo/bin/cargo-agents >/dev/null 2>&1 || exit 0; \
                   ~/.cargo/bin/cargo-agents hook gemini BeforeTool || exit 0";
    assert_eq!(is_ours(guarded, "gemini"), Some(Event::PreToolUse), "the agent's own name for it");
}

#[test]
fn case_10_what_the_user_wrote_is_not_ours() {
    for call in [
        "",
        "hook claude pre-tool-use",
        "~/src/cargo-agents-demo/my.sh",
        "node /Users/me/cargo-agents-notes/hook.js",
        "echo cargo-agents hook claude pre-tool-use >> log",
        "echo cargo-agents hook claude pre-tool-use",
        "cargo-agents hook claude pre-tool-use && rm x",
        "cargo-agents hook claude pre-tool-use || rm x",
        "cargo-agents hook claude pre-tool-use || true; rm x",
        "cargo-agents hook claude pre-tool-use | tee log",
        "cargo-agents hook claude pre-tool-use & rm x",
        "cargo-agents hook claude pre-tool-use > $(rm x) y",
        "(cargo-agents hook claude pre-tool-use)",
        "~/cargo-agents-notes.sh hook claude pre-tool-use",
        "cargo-agents-notes.sh",
        "'$HOME/cargo-agents' hook claude pre-tool-use",
        "\"~/cargo-agents\" hook claude pre-tool-use",
        "$HOMEcargo-agents hook claude pre-tool-use",
        "$(rm x)/cargo-agents hook claude pre-tool-use",
        "${A:-`rm x`}/cargo-agents hook claude pre-tool-use",
        "cargo-agents hook claude pre-tool-use; rm x",
        "command -v cargo-agents >/dev/null 2>&1 || exit 0; cargo-agents hook claude pre-tool-use \
         || exit 1",
        "cargo-agents hook claude pre-tool-use # mine",
        "cargo-agents hook claude pre-tool-use\nrm x",
        "rm x\ncargo-agents hook claude pre-tool-use",
        "cargo-agents-x hook claude pre-tool-use",
        "my-cargo-agents hook claude pre-tool-use",
        "bin/cargo-agents hook claude pre-tool-use",
        "/opt/x;/bin/cargo-agents hook claude pre-tool-use",
        "\"/opt/$(rm x)/cargo-agents\" hook claude pre-tool-use",
        "DEBUG=1 cargo-agents hook claude pre-tool-use",
        "timeout 5 cargo-agents hook claude pre-tool-use",
        "cargo-agents hook claude later",
        "cargo-agents hook claude pre-tool-use extra",
        "cargo-agents sync",
        "cargo run agents hook claude pre-tool-use",
        "command -v cargo-agents >/dev/null 2>&1 || exit 0; rm x",
        "command -v other >/dev/null 2>&1 || exit 0; cargo-agents hook claude pre-tool-use",
        "'/a'\"'\"'b/cargo-agents hook claude pre-tool-use",
    ] {
        assert_eq!(is_ours(call, "claude"), None, "{call}");
    }
}

proptest! {
    #[test]
    fn whatever_we_write_we_recognise(
        folder in "[ -~é日]{0,20}",
        windows: bool,
        guarded: bool,
        event in prop::sample::select(Event::COMMON.to_vec()),
    ) {
        let (exe, shells) = if windows {
            (format!(r"C:\{folder}\cargo-agents.exe"), vec![Shell::GitBash, Shell::PowerShell])
        } else {
            (format!("/{folder}/cargo-agents"), vec![Shell::Posix])
        };
        for shell in shells {
            let program = choose_program(&facts(&exe, windows, shell)).text;
            let command = match shell {
                Shell::PowerShell => powershell_command("gemini", event, &program, guarded),
                _ => hook_command("gemini", event, &program, guarded),
            };
            prop_assert_eq!(is_ours(&command, "gemini"), Some(event), "{}", command);
            prop_assert_eq!(is_ours(&format!("{command} x"), "gemini"), None);
        }
    }

    #[test]
    fn a_posix_shell_reads_the_path_back(folder in "[ -~é日]{0,20}") {
        let exe = format!("/{folder}/cargo-agents");
        let program = choose_program(&facts(&exe, false, Shell::Posix)).text;
        if program != PROGRAM {
            prop_assert_eq!(shlex::split(&program), Some(vec![exe]));
        }
    }

    #[test]
    fn no_command_whatever_panics(command in ".{0,60}") {
        prop_assert_eq!(is_ours(&command, "claude"), None);
    }
}
