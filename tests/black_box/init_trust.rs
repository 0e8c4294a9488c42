//! Trust in our Codex hooks: given when the user says so, kept in step, taken back.

use symposium_testlib::{Run, Sandbox, Tree};

use crate::sandbox;

const CONFIG: &str = "home/.codex/config.toml";
const HOOKS: &str = "home/.codex/hooks.json";
/// A user's hook and the trust in it.
const THEIRS: &str =
    r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"mine","timeout":5}]}]}}"#;

fn says(run: &Run, text: &str) {
    assert!(run.stderr.contains(text), "no `{text}` in:\n{}", run.stderr);
}

/// The keys of trusted hooks after the file's name.
fn trusted(sandbox: &Sandbox) -> Vec<String> {
    let config: toml::Table = sandbox.read(CONFIG).parse().expect("TOML");
    let state = config["hooks"]["state"].as_table().expect("a table");
    let keys = state.iter().filter(|(_, entry)| {
        entry["trusted_hash"].as_str().is_some_and(|hash| hash.starts_with("sha256:"))
    });
    let file = format!("{}:", sandbox.path(HOOKS).display());
    keys.filter_map(|(key, _)| key.strip_prefix(&file).map(str::to_owned)).collect()
}

/// A user's `config.toml` with trust in a hook of the user's.
fn users_config(sandbox: &Sandbox, key: &str) -> String {
    let hook = format!("{}:{key}", sandbox.path(HOOKS).display());
    format!("model = \"o\" # mine\n\n[hooks.state.{hook:?}]\ntrusted_hash = \"sha256:00\"\n")
}

#[test]
fn without_the_flag_nothing_is_trusted_and_the_user_is_told_where() {
    let sandbox = sandbox();
    let run = sandbox.run(&["init", "--add-agent", "codex"]).ok();
    says(&run, "Codex runs a hook only after you trust it");
    says(&run, "trust Symposium's hooks in /hooks");
    assert!(!sandbox.has(CONFIG));
}

#[test]
fn case_62_trust_is_written_for_our_own_entries_at_their_places() {
    let sandbox = sandbox();
    sandbox.write(HOOKS, THEIRS);
    let config = users_config(&sandbox, "pre_tool_use:0:0");
    sandbox.write(CONFIG, &config);
    let before = Tree::of(&sandbox.home()).without(&[".symposium"]);
    let run = sandbox.run(&["init", "--add-agent", "codex", "--trust-codex-hooks"]).ok();
    says(&run, "Registered codex    ~/.codex/config.toml (4 hooks trusted)");
    assert!(!run.stderr.contains("/hooks\n"), "{}", run.stderr);
    assert!(sandbox.read(CONFIG).starts_with(&config), "{}", sandbox.read(CONFIG));
    assert_eq!(
        trusted(&sandbox),
        [
            "post_tool_use:0:0",
            "pre_tool_use:0:0",
            "pre_tool_use:1:0",
            "session_start:0:0",
            "user_prompt_submit:0:0"
        ]
    );
    sandbox.run(&["init", "--remove-agent", "codex"]).ok();
    let after = Tree::of(&sandbox.home()).without(&[".symposium"]);
    assert_eq!(after.changes_since(&before), [""; 0]);
}

#[test]
fn trust_follows_our_hooks_to_another_place() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    sandbox.write(HOOKS, THEIRS);
    sandbox.run(&["init", "--add-agent", "codex", "--trust-codex-hooks"]).ok();
    assert!(trusted(&sandbox).contains(&"pre_tool_use:1:0".to_owned()));
    // The user's own hook goes, and ours moves up.
    let theirs = r#"{"hooks":[{"type":"command","command":"mine","timeout":5}]}"#;
    let text = sandbox.read(HOOKS).replace(&format!("{theirs},"), "").replace(theirs, "");
    assert!(!text.contains("mine"), "{text}");
    sandbox.write(HOOKS, text);
    let run = sandbox.run(&["sync"]).ok();
    says(&run, "~/.codex/config.toml (1 hook trusted)");
    let keys = trusted(&sandbox);
    assert!(keys.contains(&"pre_tool_use:0:0".to_owned()), "{keys:?}");
    assert!(!keys.contains(&"pre_tool_use:1:0".to_owned()), "{keys:?}");
    let run = sandbox.run(&["sync"]).ok();
    says(&run, "nothing to do");
}

#[test]
fn what_was_not_given_is_not_taken() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    sandbox.run(&["init", "--add-agent", "codex"]).ok();
    sandbox.run(&["sync"]).ok();
    sandbox.run(&["init", "--add-agent", "claude"]).ok();
    assert!(!sandbox.has(CONFIG));
}

#[test]
fn trust_that_the_user_took_back_stays_away() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    sandbox.write(CONFIG, "model = \"o\"\n");
    sandbox.run(&["init", "--add-agent", "codex", "--trust-codex-hooks"]).ok();
    sandbox.write(CONFIG, "model = \"o\"\n");
    sandbox.run(&["sync"]).ok();
    sandbox.run(&["sync"]).ok();
    assert_eq!(sandbox.read(CONFIG), "model = \"o\"\n");
    sandbox.run(&["init", "--trust-codex-hooks"]).ok();
    assert_eq!(trusted(&sandbox).len(), 4);
}

#[test]
fn trust_of_others_in_our_place_is_left_alone_and_told() {
    let sandbox = sandbox();
    let config = users_config(&sandbox, "pre_tool_use:0:0");
    sandbox.write(CONFIG, &config);
    let run = sandbox.run(&["init", "--add-agent", "codex", "--trust-codex-hooks"]).ok();
    says(&run, "knows another hook in the place of ours");
    assert!(sandbox.read(CONFIG).starts_with(&config));
    assert_eq!(trusted(&sandbox).len(), 4, "one is the user's");
    sandbox.run(&["uninstall"]).ok();
    assert_eq!(sandbox.read(CONFIG), config);
}

#[test]
fn a_hook_that_the_user_switched_off_stays_off() {
    let sandbox = sandbox();
    sandbox.package(&[]);
    sandbox.run(&["init", "--add-agent", "codex", "--trust-codex-hooks"]).ok();
    let off = sandbox.read(CONFIG).replacen("trusted_hash", "enabled = false\ntrusted_hash", 1);
    sandbox.write(CONFIG, &off);
    sandbox.run(&["sync"]).ok();
    assert_eq!(sandbox.read(CONFIG), off);
    sandbox.run(&["uninstall"]).ok();
    assert!(!sandbox.has("home/.codex"));
}

#[test]
fn a_broken_codex_configuration_costs_the_trust_only() {
    let sandbox = sandbox();
    sandbox.write(CONFIG, "model = \n");
    let run = sandbox.run(&["init", "--add-agent", "codex", "--trust-codex-hooks"]).code(1);
    says(&run, "config.toml:1");
    says(&run, "Registered codex    ~/.codex/hooks.json");
    assert_eq!(sandbox.read(CONFIG), "model = \n");
}

#[test]
fn codex_home_and_the_project_s_scope_have_their_own_places() {
    let mut sandbox = sandbox();
    sandbox.package(&[]);
    sandbox.set("CODEX_HOME", sandbox.dir().join("codex"));
    std::fs::create_dir(sandbox.dir().join("codex")).expect("creates");
    let tree = || Tree::of(&sandbox.dir()).without(&["home/.symposium"]);
    let before = tree();
    let add = ["init", "--add-agent", "codex", "--trust-codex-hooks"];
    sandbox.run(&add).ok();
    let trusted = |file: &str| {
        let config: toml::Table = sandbox.read("codex/config.toml").parse().expect("TOML");
        let state = config["hooks"]["state"].as_table().expect("a table");
        let file = sandbox.path(file).display().to_string();
        state.keys().filter(|key| key.starts_with(&file)).count()
    };
    assert_eq!(trusted("codex/hooks.json"), 4);
    // Trust in hooks of the project, a turn's end among them, stands in the user's file all the same.
    sandbox.run(&["init", "--hook-scope", "project", "--trust-codex-hooks"]).ok();
    assert_eq!(trusted("ws/.codex/hooks.json"), 5);
    let config = sandbox.read("codex/config.toml");
    assert_eq!(config.matches("trusted_hash").count(), 5, "{config}");
    sandbox.run(&["uninstall"]).ok();
    assert_eq!(tree().changes_since(&before), [""; 0]);
}

#[test]
fn the_flag_without_codex_is_told() {
    let sandbox = sandbox();
    let run = sandbox.run(&["init", "--add-agent", "claude", "--trust-codex-hooks"]).ok();
    says(&run, "codex is not among your agents");
}
