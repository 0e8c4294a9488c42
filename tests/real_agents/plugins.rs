//! Plugins for the tests: portable hooks that are shell scripts.

use std::fmt::Write as _;

use symposium_testlib::{Sandbox, World};

/// The events, as a manifest names them.
pub const EVENTS: [&str; 4] = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"];

/// A plugin for every workspace, in the user's folder, with a hook for each event and script.
pub fn plugin(sandbox: &Sandbox, name: &str, hooks: &[(&str, &str)]) {
    with_settings(sandbox, name, "", hooks);
}

/// As [`plugin`], with further lines for each hook.
pub fn with_settings(sandbox: &Sandbox, name: &str, settings: &str, hooks: &[(&str, &str)]) {
    let mut manifest = format!("name = \"{name}\"\ncrates = [\"*\"]\n");
    for (number, (event, script)) in hooks.iter().enumerate() {
        let file = format!("hook-{number}.sh");
        let matcher = if event.ends_with("ToolUse") { "matcher = \"Bash\"\n" } else { "" };
        let _ = write!(
            manifest,
            "\n[[hooks]]\nname = \"hook-{number}\"\nevent = \"{event}\"\n{matcher}{settings}\n\
             command = {{ script = \"{file}\" }}\n"
        );
        sandbox.user_plugin(&format!("{name}/{file}"), script);
    }
    sandbox.user_plugin(&format!("{name}/SYMPOSIUM.toml"), &manifest);
}

/// A script that answers with a field of the canonical format.
pub fn answers(event: &str, fields: &serde_json::Value) -> String {
    let answer = serde_json::json!({ event: fields });
    format!("cat >/dev/null\nprintf '%s' '{answer}'\n")
}

/// A workspace that depends on nothing, with our hooks registered and a plugin with these hooks.
pub fn registered(world: &World, hooks: &[(&str, &str)]) {
    world.sandbox.package(&[]);
    plugin(&world.sandbox, "probe", hooks);
    world.init(&[]);
}
