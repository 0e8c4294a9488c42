//! Plugins for the tests: portable hooks that are shell scripts.

use std::fmt::Write as _;

use symposium_testlib::mcp::{self, HttpMcp};
use symposium_testlib::{Sandbox, World};

use crate::{servers, skills};

/// The events, as a manifest names them.
pub(crate) const EVENTS: [&str; 4] =
    ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"];

/// A plugin for every workspace, in the user's folder, with a hook for each event and script.
pub(crate) fn plugin(sandbox: &Sandbox, name: &str, hooks: &[(&str, &str)]) {
    with_settings(sandbox, name, "", hooks);
}

/// As [`plugin`], with further lines for each hook.
pub(crate) fn with_settings(sandbox: &Sandbox, name: &str, settings: &str, hooks: &[(&str, &str)]) {
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
pub(crate) fn answers(event: &str, fields: &serde_json::Value) -> String {
    let answer = serde_json::json!({ event: fields });
    format!("cat >/dev/null\nprintf '%s' '{answer}'\n")
}

/// A workspace that depends on nothing, with our hooks registered and a plugin with these hooks.
pub(crate) fn registered(world: &World, hooks: &[(&str, &str)]) {
    world.sandbox.package(&[]);
    plugin(&world.sandbox, "probe", hooks);
    world.init(&[]);
}

/// Something of everything: a workspace that depends on a crate with a skill, the user's plugins
/// with two servers for it and a hook for each event.
#[derive(Debug)]
pub(crate) struct Everything {
    /// The server by HTTP.
    pub http: HttpMcp,
}

impl Everything {
    /// Puts it into the world. Our program is not told of it yet.
    pub(crate) fn new(world: &World) -> Self {
        let sandbox = &world.sandbox;
        skills::crate_with_skill(sandbox);
        let http = HttpMcp::start(servers::HTTP);
        let (command, args) = mcp::stdio(servers::PROGRAM, &sandbox.dir().join("asked"));
        let manifest = servers::manifest(&command, &args, &http.url());
        sandbox.user_plugin("s/SYMPOSIUM.toml", &manifest);
        let scripts = EVENTS.map(|event| {
            answers(event, &serde_json::json!({ "additionalContext": context_of(event) }))
        });
        let hooks: Vec<(&str, &str)> =
            EVENTS.into_iter().zip(scripts.iter().map(String::as_str)).collect();
        plugin(sandbox, "probe", &hooks);
        sandbox.package(&[("widget", "1.0.0")]);
        Self { http }
    }

    /// What the model sees of it, and of us.
    pub(crate) fn marks() -> Vec<String> {
        let mut marks = EVENTS.map(context_of).to_vec();
        marks.extend([skills::CRATES_SKILL, servers::PROGRAM, servers::HTTP].map(str::to_owned));
        marks
    }
}

/// The words that a hook says.
pub(crate) fn context_of(event: &str) -> String {
    format!("CONTEXT-OF-{}", event.to_uppercase())
}
