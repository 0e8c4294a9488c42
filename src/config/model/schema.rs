//! What `config.toml` may hold, as types: its JSON schema is made of them, and the comments are what
//! editors show. The reader decides; tests hold the keys here to its own.
#![allow(dead_code, reason = "only the types' shapes count")]

use std::collections::BTreeMap;

use schemars::JsonSchema;

use super::{AutoUpdate, HookScope, LogLevel, SkillIgnore, TrustPrograms};

/// Symposium's settings, for all workspaces. Everything in it is optional.
#[derive(JsonSchema)]
#[schemars(title = "config.toml", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Settings {
    /// Whether an agent's event syncs when it finds that dependencies changed; `true` without it.
    auto_sync: Option<bool>,
    /// Whether the workspace's own skills are copied to agents that do not read `.agents/skills`; `true`
    /// without it.
    agents_syncing: Option<bool>,
    /// Where hooks are registered: `global` (the default), in the agents' files in your home folder,
    /// or `project`.
    hook_scope: Option<HookScope>,
    /// What to do about a newer Symposium: `on` (the default), `warn` or `off`.
    auto_update: Option<AutoUpdate>,
    /// How copied skills are kept out of git: `gitignore` (the default), a file inside each, or `none`.
    skill_ignore: Option<SkillIgnore>,
    /// The agents you use.
    agent: Option<Vec<AgentName>>,
    logging: Option<Logging>,
    /// The sources that need no configuration; all of them are on without it.
    defaults: Option<DefaultSources>,
    mcp: Option<Mcp>,
    hints: Option<HintSettings>,
    trust: Option<TrustSettings>,
    /// Further sources of plugins.
    plugin_source: Option<Vec<PluginSource>>,
    /// Another spelling of `[[plugin-source]]`.
    registry: Option<Vec<PluginSource>>,
    plugins: Option<Plugins>,
    /// Of an earlier program: counts as `use` of `[plugins]`.
    r#use: Option<Vec<serde_json::Value>>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct AgentName {
    /// Its name, such as `claude` or `codex`; `cargo agents init` asks for it.
    name: String,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Logging {
    /// Least severity that is logged; `info` without it.
    level: Option<LogLevel>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
struct DefaultSources {
    /// The central recommendations.
    symposium_recommendations: Option<bool>,
    /// `plugins/` beside this file.
    user_plugins: Option<bool>,
    /// The plugin inside the program.
    builtin: Option<bool>,
    /// Whether agents are told of the workspace's dependencies.
    dependencies: Option<bool>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Mcp {
    /// Whether our own MCP server is registered with your agents, for every workspace; `false`
    /// without it.
    register: Option<bool>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct HintSettings {
    /// Whether a build that fails is answered with what the locked versions say; `true` without it.
    errors: Option<bool>,
    /// The most letters that one such answer adds.
    #[schemars(range(max = 1500))]
    budget: Option<u32>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct TrustSettings {
    /// Whose word lets plugins run programs: `source` (the default), yours on their source, or `ask`,
    /// yours on each program, by `cargo agents plugin allow`.
    programs: Option<TrustPrograms>,
}

/// A source of plugins: `git` or `path`.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct PluginSource {
    /// The name it is shown under.
    name: String,
    /// A git repository, by any URL that git takes.
    git: Option<String>,
    /// With `git`: a branch, a tag or a commit, of which 7 digits are enough.
    rev: Option<String>,
    /// With `git`: a folder of the repository.
    subdir: Option<String>,
    /// A folder: absolute, from this file's folder, or `~/…`.
    path: Option<String>,
    /// Whether `sync` fetches what is newer; `true` without it.
    auto_update: Option<bool>,
    #[schemars(flatten)]
    gates: Crates,
    /// The same for single plugins and skills, by name.
    plugins: Option<BTreeMap<String, Crates>>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
struct Crates {
    /// What plugins and skills are for that do not say it themselves: `serde`, `tokio>=1.40`, `*`.
    crates: Option<Names>,
    /// Another spelling of `crates`.
    depends_on: Option<Names>,
}

/// One string, or several.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Names {
    One(String),
    Several(Vec<String>),
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Plugins {
    #[schemars(flatten)]
    everywhere: Choices,
    /// The same for single workspaces, by their root folders; they come first.
    workspace: Option<BTreeMap<String, Choices>>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Choices {
    /// Crates whose own skills you want though no source vouches for them, and plugins that wait.
    r#use: Option<Names>,
    /// Plugins and crates that you do not want.
    disable: Option<Names>,
}

/// The keys of the type, and of the tables in it, as paths such as `mcp.register`.
fn paths() -> Vec<String> {
    fn below(
        root: &serde_json::Value,
        schema: &serde_json::Value,
        path: &str,
        out: &mut Vec<String>,
    ) {
        if let Some(reference) = schema["$ref"].as_str() {
            let target = root.pointer(reference.trim_start_matches('#')).expect("is there");
            return below(root, target, path, out);
        }
        for inner in schema["anyOf"].as_array().into_iter().flatten() {
            below(root, inner, path, out);
        }
        for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}{key}");
            out.push(path.clone());
            below(root, inner, &format!("{path}."), out);
        }
    }
    let schema = schemars::schema_for!(Settings).to_value();
    let mut paths = Vec::new();
    below(&schema, &schema, "", &mut paths);
    paths
}

#[test]
fn the_keys_of_the_schema_are_those_that_the_reader_asks_for() {
    use crate::text::Source;
    use crate::text::toml::{Diagnostics, read};
    let ask = |text: &str, ask: &dyn Fn(&crate::text::toml::Table<'_>)| {
        let diagnostics = Diagnostics::new(Source::new("config.toml", text));
        let asked = read(&diagnostics, |root| {
            ask(root);
            root.asked()
        });
        asked.expect("is TOML")
    };
    let keys_below = |prefix: &str| {
        let inside = paths().into_iter().filter_map(|path| {
            path.strip_prefix(prefix).filter(|rest| !rest.contains('.')).map(str::to_owned)
        });
        inside.collect::<std::collections::BTreeSet<String>>()
    };
    let base = std::path::Path::new("/base");
    // What an earlier program wrote is asked for where it is.
    let mut root = ask("use = [\"x\"]\n", &|root| drop(super::read_config(root, base)));
    // The slip that is told of, and is no key.
    root.retain(|key| key != "agents");
    assert_eq!(root.into_iter().collect::<std::collections::BTreeSet<_>>(), keys_below(""));
    let plugins = ask("", &|table| drop(super::read_choices(table)));
    assert_eq!(
        plugins.into_iter().collect::<std::collections::BTreeSet<_>>(),
        keys_below("plugins.")
    );
    // A key of an inner table that nobody asks for would be told as unknown.
    for path in paths().iter().filter(|path| path.contains('.')) {
        let (table, key) = path.split_once('.').expect("has a dot");
        let text = match table {
            "plugin-source" | "registry" | "agent" => format!("[[{table}]]\n{key} = 1\n"),
            _ => format!("[{table}]\n{key} = 1\n"),
        };
        let loaded = super::Config::parse(std::path::Path::new("config.toml"), &text, base);
        let unknown = loaded.diagnostics.iter().any(|problem| problem.message.contains("unknown"));
        assert!(!unknown, "{path}: {:?}", loaded.diagnostics);
    }
}
