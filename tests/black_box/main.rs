//! The built program, driven as its users drive it: each test has a temporary home and workspace.
#![allow(clippy::disallowed_methods, reason = "tests look at the world by themselves")]

#[cfg(unix)]
mod cases_hooks;
mod cases_skills;
mod configuration;
mod crate_skills;
#[cfg(unix)]
mod hook_answers;
#[cfg(unix)]
mod hook_handlers;
mod hook_kit;
mod hook_safety;
#[cfg(unix)]
mod hook_session;
#[cfg(unix)]
mod hook_sync;
mod manners;
mod plugin_sources;
mod real_crates;
mod sync;
mod workspace;
mod workspace_skills;

use symposium_testlib::Sandbox;

/// A sandbox with a configuration that switches the network off.
pub fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_cargo-agents"))
}

/// As [`sandbox`], without any configuration.
pub fn bare_sandbox() -> Sandbox {
    Sandbox::bare(env!("CARGO_BIN_EXE_cargo-agents"))
}

/// The text of a `SKILL.md`.
pub fn skill(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n")
}

/// A plugin in the user's folder that offers one skill to workspaces that use `crate_name`.
pub fn plugin_with_skill(sandbox: &Sandbox, plugin: &str, crate_name: &str, skill_name: &str) {
    sandbox.user_plugin(
        &format!("{plugin}/SYMPOSIUM.toml"),
        &format!(
            "name = \"{plugin}\"\ncrates = [\"{crate_name}\"]\n\n[[skills]]\nsource.path = \"skills\"\n"
        ),
    );
    sandbox.user_plugin(
        &format!("{plugin}/skills/{skill_name}/SKILL.md"),
        &skill(skill_name, "What it is for."),
    );
}

/// The configuration's switch for the plugin inside the program.
pub const NO_BUILTIN: &str = "[defaults]\nsymposium-recommendations = false\nbuiltin = false\n";
