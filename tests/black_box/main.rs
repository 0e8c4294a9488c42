//! The built program, driven as its users drive it: each test has a temporary home and workspace.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests look at the world by themselves, and say why they skip"
)]
#![cfg_attr(
    not(unix),
    allow(dead_code, unused_imports, reason = "what only Unix runs leaves helpers without a use")
)]

#[cfg(unix)]
mod absent_sources;
mod activation;
#[cfg(all(target_os = "linux", debug_assertions))]
mod antigravity;
mod audit;
#[cfg(target_os = "linux")]
mod background_pile;
mod beside_writers;
#[cfg(unix)]
mod book_hooks;
#[cfg(unix)]
mod book_plugin;
mod book_screens;
mod book_session;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod broken_machine;
mod candidates;
#[cfg(unix)]
mod cases_hooks;
mod cases_settings;
mod cases_skills;
#[cfg(unix)]
mod checkout_git;
#[cfg(unix)]
mod checkout_links;
#[cfg(unix)]
mod ci;
mod completions;
mod configuration;
mod crate_changes;
mod crate_desk;
mod crate_info;
mod crate_items;
mod crate_skills;
mod deep_nesting;
mod delivers;
mod dependency_map;
mod docs;
mod doctor;
mod done_in_part;
mod dormant;
#[cfg(unix)]
mod edits_during_sync;
mod end_of_turn;
#[cfg(target_os = "linux")]
mod endless_files;
mod export;
#[cfg(unix)]
mod fixtures;
mod frontmatter_slips;
mod git_sources;
#[cfg(unix)]
mod growth;
#[cfg(unix)]
mod guard_decoys;
#[cfg(unix)]
mod guards_stay;
mod help;
#[cfg(unix)]
mod hints;
mod hook_answers;
mod hook_handlers;
mod hook_inputs;
mod hook_kit;
mod hook_leftovers;
mod hook_safety;
mod hook_session;
#[cfg(unix)]
mod hook_sync;
#[cfg(unix)]
mod hook_twice;
#[cfg(target_os = "linux")]
mod hostile;
mod init;
#[cfg(unix)]
mod init_terminal;
mod init_trust;
mod installations;
mod json_events;
mod json_shapes;
mod lock;
mod manners;
mod mcp;
mod mcp_everywhere;
mod mcp_server;
mod newer_schema;
#[cfg(windows)]
mod on_windows;
mod opencode_files;
mod own_spellings;
mod packages;
mod plugin_commands;
mod plugin_new;
mod plugin_sources;
#[cfg(unix)]
mod plugin_test;
mod programs_in_the_way;
#[cfg(unix)]
mod publish;
mod readers;
mod real_crates;
mod real_migrations;
mod reasons;
pub mod registration;
mod registries;
mod registry_checksums;
mod schemas;
#[cfg(target_os = "linux")]
mod secret_canaries;
mod secrets;
#[cfg(unix)]
mod self_update;
mod shared_servers;
mod skill_by_products;
mod skill_smuggling;
mod skill_use;
mod status;
mod stress;
#[cfg(unix)]
mod subcommands;
mod sync;
mod talk;
mod team_file;
#[cfg(unix)]
mod terminal;
mod trust;
mod two_members;
mod uninstall;
mod unlocked;
#[cfg(unix)]
mod unreadable_files;
#[cfg(unix)]
mod users_own_folders;
mod validate;
mod why;
mod workspace;
mod workspace_skills;
#[cfg(unix)]
mod worktrees;

use std::path::PathBuf;

use symposium_testlib::Sandbox;

/// The program that the tests drive: the one that `SYMPOSIUM_TEST_BINARY` names, as an absolute path,
/// else the one that cargo built for them.
pub fn program() -> PathBuf {
    let other = std::env::var_os("SYMPOSIUM_TEST_BINARY");
    let program = other.map_or_else(|| env!("CARGO_BIN_EXE_cargo-agents").into(), PathBuf::from);
    // A path of the system that it was built on has no drive on Windows.
    std::path::absolute(&program).unwrap_or(program)
}

/// A sandbox with a configuration that switches the network off.
pub fn sandbox() -> Sandbox {
    Sandbox::new(program())
}

/// As [`sandbox`], without any configuration.
pub fn bare_sandbox() -> Sandbox {
    Sandbox::bare(program())
}

/// All that a command prints, with each run of white space as one space.
pub fn told(sandbox: &Sandbox, args: &[&str]) -> String {
    let run = sandbox.run(args);
    let printed = format!("{} {}", run.stdout, run.stderr);
    printed.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of a `SKILL.md`.
pub fn skill(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n")
}

/// Writes a configuration with these agents, and `more` before them.
pub fn configure(sandbox: &Sandbox, agents: &[&str], more: &str) {
    let agents: String =
        agents.iter().map(|name| format!("[[agent]]\nname = \"{name}\"\n")).collect();
    sandbox.write("home/.symposium/config.toml", format!("{more}\n{agents}\n{NO_BUILTIN}"));
}

/// A sandbox with these agents in its configuration, whose workspace depends on `widget` 1.2.3.
pub fn with_agents(agents: &[&str]) -> Sandbox {
    let sandbox = sandbox();
    configure(&sandbox, agents, "");
    sandbox.package(&[("widget", "1.2.3")]);
    sandbox
}

/// A workspace for two agents that depends on `widget`, which a plugin has a skill for, and on
/// `gadget`.
fn for_two_agents() -> Sandbox {
    let sandbox = with_agents(&["claude", "codex"]);
    sandbox.package(&[("widget", "1.2.3"), ("gadget", "0.1.0")]);
    plugin_with_skill(&sandbox, "widget", "widget", "basics");
    sandbox
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
