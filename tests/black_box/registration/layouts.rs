//! Agents whose files differ between versions, and files that are ours alone.

use super::sandbox;

#[cfg(unix)]
fn kiro_cli(sandbox: &symposium_testlib::Sandbox, version: &str) {
    sandbox.program("bin/kiro-cli", &format!("#!/bin/sh\necho \"kiro-cli {version}\"\n"));
}

#[cfg(unix)]
fn with_kiro() -> symposium_testlib::Sandbox {
    let mut sandbox = sandbox();
    sandbox.first_on_path("bin");
    sandbox
}

#[cfg(unix)]
#[test]
fn case_65_kiro_s_version_decides_and_the_other_layout_goes() {
    let sandbox = with_kiro();
    kiro_cli(&sandbox, "2.4.1");
    sandbox.run(&["init", "--add-agent", "kiro"]).ok();
    assert!(sandbox.has("home/.kiro/agents/symposium.json"));
    assert!(!sandbox.has("home/.kiro/hooks"));
    kiro_cli(&sandbox, "3.0.2");
    sandbox.run(&["sync"]).ok();
    assert!(sandbox.has("home/.kiro/hooks/symposium.json"));
    assert!(!sandbox.has("home/.kiro/agents"), "the older layout and its folder are gone");
    kiro_cli(&sandbox, "2.4.1");
    sandbox.run(&["sync"]).ok();
    assert!(sandbox.has("home/.kiro/agents/symposium.json"));
    assert!(!sandbox.has("home/.kiro/hooks"));
    sandbox.run(&["uninstall"]).ok();
    assert!(!sandbox.has("home/.kiro"));
}

#[cfg(unix)]
#[test]
fn case_65_a_hook_keeps_the_layout_that_is_registered() {
    let sandbox = with_kiro();
    kiro_cli(&sandbox, "3.0.2");
    sandbox.run(&["init", "--add-agent", "kiro"]).ok();
    let file = sandbox.read("home/.kiro/hooks/symposium.json");
    // A changed dependency makes the next event sync; nobody is asked for a version then.
    sandbox.package(&[("widget", "1.2.3"), ("gadget", "2.0.0")]);
    let event = format!(
        r#"{{"hook_event_name":"preToolUse","cwd":{:?},"tool_name":"fs_read","tool_input":{{}}}}"#,
        sandbox.ws()
    );
    sandbox.feed(&["hook", "kiro", "pre-tool-use"], event.as_bytes()).ok();
    assert_eq!(sandbox.read("home/.kiro/hooks/symposium.json"), file);
    assert!(!sandbox.has("home/.kiro/agents"));
}

#[test]
fn case_23_a_file_of_ours_that_the_user_changed_is_kept_and_named() {
    for (agent, file, from, to) in [
        ("copilot", "home/.copilot/hooks/symposium.json", "30", "45"),
        ("kiro", "home/.kiro/agents/symposium.json", "\"*\"\n  ]", "\"fs_read\"\n  ]"),
        ("goose", "home/.agents/plugins/symposium/hooks/hooks.json", "30", "45"),
        ("opencode", "home/.config/opencode/plugins/symposium.js", "\n", "\n// mine\n"),
    ] {
        let sandbox = sandbox();
        sandbox.run(&["init", "--add-agent", agent]).ok();
        let ours = sandbox.read(file);
        let changed = ours.replacen(from, to, 1);
        assert_ne!(ours, changed, "{agent}");
        sandbox.write(file, &changed);
        let run = sandbox.run(&["sync"]).ok();
        assert!(run.stderr.contains("left as it is"), "{agent}: {}", run.stderr);
        let run = sandbox.run(&["init", "--remove-agent", agent]).ok();
        assert!(run.stderr.contains("left as it is"), "{agent}: {}", run.stderr);
        sandbox.run(&["sync"]).ok();
        assert_eq!(sandbox.read(file), changed, "{agent}: still there, and still the user's");
    }
}

#[test]
fn a_lost_ledger_does_not_make_our_files_foreign() {
    for agent in super::AGENTS {
        let sandbox = sandbox();
        let before = super::outside(&sandbox);
        sandbox.run(&["init", "--add-agent", agent]).ok();
        std::fs::remove_dir_all(sandbox.home().join(".symposium/ledgers")).expect("is there");
        sandbox.run(&["init", "--remove-agent", agent]).ok();
        // What is empty now was not known to be ours; hooks are all gone.
        let after = super::outside(&sandbox);
        let command = format!("hook {agent} ");
        for (path, node) in &after.0 {
            if let symposium_testlib::Node::File(bytes, _) = node
                && before.0.get(path) != Some(node)
            {
                let text = String::from_utf8_lossy(bytes);
                assert!(!text.contains(&command), "{agent}: {path}: {text}");
                assert!(!path.ends_with("symposium.js"), "{agent}: {path}");
            }
        }
    }
}

#[test]
fn a_file_of_that_name_which_is_not_ours_is_never_touched() {
    let sandbox = sandbox();
    let theirs = "{\"version\":1,\"hooks\":{\"preToolUse\":[]}}\n";
    sandbox.write("home/.copilot/hooks/symposium.json", theirs);
    let run = sandbox.run(&["init", "--add-agent", "claude"]).ok();
    assert!(!run.stderr.contains("symposium.json"), "not our business: {}", run.stderr);
    let run = sandbox.run(&["init", "--add-agent", "copilot"]).ok();
    assert!(run.stderr.contains("not as Symposium wrote it"), "{}", run.stderr);
    sandbox.run(&["uninstall"]).ok();
    assert_eq!(sandbox.read("home/.copilot/hooks/symposium.json"), theirs);
}
