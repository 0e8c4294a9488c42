//! `config.toml`: read leniently, so that one wrong value costs that value and not the file.

use std::path::{Path, PathBuf};

use super::Dirs;
use super::choices::{Choices, PluginChoices};
use super::earlier::{Earlier, our_name};
use crate::files::{Limit, read_text};
use crate::text::toml::{self as tables, Diagnostics, Table};
use crate::text::{Diagnostic, Source, closest, did_you_mean};

mod hints;
mod log_level;
#[cfg(test)]
pub(crate) mod schema;
mod sources;

pub(crate) use hints::Hints;
pub(crate) use log_level::LogLevel;
pub(super) use sources::read_sources;
pub(crate) use sources::{SourceConfig, SourceGates, SourceLocation};

/// Name of the source that holds the central recommendations.
pub(crate) const RECOMMENDATIONS: &str = "symposium-recommendations";
/// Where the central recommendations live.
pub(crate) const RECOMMENDATIONS_URL: &str = "https://github.com/symposium-dev/recommendations";
/// Name of the source that is the user's own plugins folder.
pub(crate) const USER_PLUGINS: &str = "user-plugins";

/// Where hooks are registered: the values of `hook-scope` and `--hook-scope`, with their help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, clap::ValueEnum)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum HookScope {
    /// In the agents' files in your home folder
    #[default]
    Global,
    /// In the project's files
    Project,
}

impl HookScope {
    /// As it is written.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Project => "project",
        }
    }

    /// The one that is not this.
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Global => Self::Project,
            Self::Project => Self::Global,
        }
    }
}

/// What to do about a newer Symposium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum AutoUpdate {
    /// Install it.
    #[default]
    On,
    Warn,
    Off,
}

/// Whose word lets plugins run programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum TrustPrograms {
    /// The configuration's, which names the sources.
    #[default]
    Source,
    /// The user's on each program: `cargo agents plugin allow`.
    Ask,
}

/// How copied skills are kept out of git.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum SkillIgnore {
    /// A `.gitignore` with `*` inside each skill folder that we create.
    #[default]
    Gitignore,
    /// Not at all: for agents that refuse to read ignored files.
    None,
}

/// `[defaults]`: the sources that need no configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Defaults {
    pub symposium_recommendations: bool,
    /// `plugins/` in the configuration folder.
    pub user_plugins: bool,
    /// The plugin inside the binary.
    pub builtin: bool,
    /// What that plugin tells agents of the workspace's dependencies.
    pub dependencies: bool,
}

impl Default for Defaults {
    fn default() -> Self {
        Self {
            symposium_recommendations: true,
            user_plugins: true,
            builtin: true,
            dependencies: true,
        }
    }
}

/// The user's settings; [`Config::default`] where there is no file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    /// Sync when an agent's event finds something changed.
    pub auto_sync: bool,
    /// Mirror the workspace's own skills.
    pub agents_syncing: bool,
    /// Register our own MCP server with the agents.
    pub register_mcp: bool,
    pub hook_scope: HookScope,
    pub auto_update: AutoUpdate,
    pub skill_ignore: SkillIgnore,
    /// The configured agents' names as written, duplicates dropped; some may be unknown to us.
    pub agents: Vec<String>,
    pub log_level: LogLevel,
    /// The sources that need no configuration.
    pub defaults: Defaults,
    /// Further sources, in the order of the file.
    pub sources: Vec<SourceConfig>,
    /// The user's word on single plugins.
    pub plugins: PluginChoices,
    pub hints: Hints,
    /// `[trust] programs`.
    pub trust_programs: TrustPrograms,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            auto_sync: true,
            agents_syncing: true,
            register_mcp: false,
            hook_scope: HookScope::default(),
            auto_update: AutoUpdate::default(),
            skill_ignore: SkillIgnore::default(),
            agents: Vec::new(),
            log_level: LogLevel::default(),
            defaults: Defaults::default(),
            sources: Vec::new(),
            plugins: PluginChoices::default(),
            hints: Hints::default(),
            trust_programs: TrustPrograms::default(),
        }
    }
}

/// What was found at `config.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfigState {
    /// No file, or an empty one.
    Missing,
    /// Read, perhaps with warnings.
    Read,
    /// Read, but for the list of agents or of plugin sources: which ones are configured is not wholly
    /// known. Nothing that is there for an agent or from a source may go by it.
    Unclear,
    /// It does not parse; defaults serve this run and nobody may write the file.
    Broken,
}

impl ConfigState {
    /// Whether it is known which agents and sources the user wants. Where it is not, what is there
    /// for or from them must stay.
    pub(crate) fn is_clear(self) -> bool {
        matches!(self, Self::Missing | Self::Read)
    }
}

/// A configuration with what was odd about it.
#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    pub config: Config,
    pub state: ConfigState,
    /// Errors (the file is broken) and warnings (a key or value was left out).
    pub diagnostics: Vec<Diagnostic>,
}

impl Config {
    /// Reads `config.toml` of `dirs`. Never fails: trouble is in the diagnostics.
    pub(crate) fn load(dirs: &Dirs) -> Loaded {
        let mut loaded = Self::read(dirs);
        // Who ever allowed a program, or denied one, wanted to be asked.
        if loaded.state == ConfigState::Broken && dirs.trust().is_dir() {
            loaded.config.trust_programs = TrustPrograms::Ask;
        }
        loaded
    }

    fn read(dirs: &Dirs) -> Loaded {
        let path = dirs.config_file();
        match read_text(&path, Limit::SETTINGS) {
            Ok(text) => Self::parse(&path, &text, dirs.config()),
            Err(error) if error.is_no_file_at(&path) => Loaded {
                config: Self::default(),
                state: ConfigState::Missing,
                diagnostics: Vec::new(),
            },
            Err(error) => Loaded {
                config: Self::default(),
                state: ConfigState::Broken,
                diagnostics: vec![
                    error
                        .diagnose("the configuration", &path)
                        .remark("defaults are used; the file is left alone"),
                ],
            },
        }
    }

    /// Reads `text`; relative source paths start at `base`.
    pub(crate) fn parse(path: &Path, text: &str, base: &Path) -> Loaded {
        let diagnostics = Diagnostics::new(Source::new(path, text));
        let read = tables::read(&diagnostics, |root| read_config(root, base));
        let mut diagnostics = diagnostics.finish();
        let Some((config, is_clear)) = read else {
            for diagnostic in &mut diagnostics {
                diagnostic.add_remark("defaults are used; the file is left alone");
            }
            return Loaded { config: Self::default(), state: ConfigState::Broken, diagnostics };
        };
        for diagnostic in &mut diagnostics {
            diagnostic.severity = crate::text::Severity::Warning;
        }
        let state = match text.trim() {
            "" => ConfigState::Missing,
            _ if is_clear => ConfigState::Read,
            _ => ConfigState::Unclear,
        };
        Loaded { config, state, diagnostics }
    }
}

/// The settings, and whether the lists of agents and of sources were read as a whole.
fn read_config(root: &Table<'_>, base: &Path) -> (Config, bool) {
    let mut earlier = Earlier::default();
    let (agents, is_clear) = match earlier.agents(root) {
        Some(agents) => (agents, true),
        None => read_agents(root),
    };
    let is_on = |key| root.bool(key).is_none_or(|flag| flag.value);
    let mut config = Config {
        auto_sync: is_on("auto-sync"),
        agents_syncing: is_on("agents-syncing"),
        agents,
        ..Config::default()
    };
    let scopes = [("global", HookScope::Global), ("project", HookScope::Project)];
    config.hook_scope = choice(root, "hook-scope", &scopes).unwrap_or_default();
    let updates = [("on", AutoUpdate::On), ("warn", AutoUpdate::Warn), ("off", AutoUpdate::Off)];
    config.auto_update = choice(root, "auto-update", &updates).unwrap_or_default();
    let ignores = [("gitignore", SkillIgnore::Gitignore), ("none", SkillIgnore::None)];
    config.skill_ignore = choice(root, "skill-ignore", &ignores).unwrap_or_default();
    if let Some(logging) = root.table("logging") {
        let levels = [
            ("trace", LogLevel::Trace),
            ("debug", LogLevel::Debug),
            ("info", LogLevel::Info),
            ("warn", LogLevel::Warn),
            ("error", LogLevel::Error),
        ];
        config.log_level = choice(&logging, "level", &levels).unwrap_or_default();
        warn_unread(&logging);
    }
    if let Some(defaults) = root.table("defaults") {
        let flag = |key| defaults.bool(key).is_none_or(|flag| flag.value);
        config.defaults = Defaults {
            symposium_recommendations: flag("symposium-recommendations"),
            user_plugins: flag("user-plugins"),
            builtin: flag("builtin"),
            dependencies: flag("dependencies"),
        };
        warn_unread(&defaults);
    }
    if let Some(mcp) = root.table("mcp") {
        config.register_mcp = mcp.bool("register").is_some_and(|flag| flag.value);
        warn_unread(&mcp);
    }
    config.trust_programs = read_trust(root);
    let has_sources = read_sources(root, base, &mut config.sources);
    if let Some(plugins) = root.table("plugins") {
        config.plugins = read_choices(&plugins);
    }
    earlier.finish(root, &mut config.plugins);
    config.hints = Hints::read(root);
    warn_unread(root);
    (config, is_clear && has_sources)
}

/// The agents' names, and whether all of them could be read.
fn read_agents(root: &Table<'_>) -> (Vec<String>, bool) {
    let mut agents = Vec::new();
    let entries = root.tables("agent");
    // `agents` is the slip that others' formats suggest.
    let mut is_clear = match &entries {
        Some(entries) => entries.len() == root.count("agent"),
        None => !root.has("agent") && !root.has("agents"),
    };
    for agent in entries.unwrap_or_default() {
        match agent.string("name") {
            Some(name) => {
                let name = our_name(&name.value);
                if !agents.contains(&name) {
                    agents.push(name);
                }
            }
            None => {
                is_clear = false;
                if !agent.has("name") {
                    agent.diagnostics().warning(&agent.span, "this `[[agent]]` has no `name`");
                }
            }
        }
        warn_unread(&agent);
    }
    (agents, is_clear)
}

fn read_choices(table: &Table<'_>) -> PluginChoices {
    let Choices { use_, disable } = Choices::read(table);
    let mut choices = PluginChoices { use_, disable, ..PluginChoices::default() };
    if let Some(workspaces) = table.table("workspace") {
        for root in workspaces.keys() {
            let Some(said) = workspaces.table(&root.value) else { continue };
            choices.workspaces.push((PathBuf::from(root.value), Choices::read(&said)));
            warn_unread(&said);
        }
    }
    warn_unread(table);
    choices
}

/// Who meant to be asked, and mistyped it, is asked.
fn read_trust(root: &Table<'_>) -> TrustPrograms {
    let (table, key, ask) = (root.table("trust"), "programs", TrustPrograms::Ask);
    let is_said = table.as_ref().map_or(root.has("trust"), |trust| trust.has(key));
    let said = table.and_then(|trust| {
        let choices = [("source", TrustPrograms::Source), ("ask", ask)];
        let said = choice_or(&trust, key, &choices, "until then you are asked");
        warn_unread(&trust);
        said
    });
    said.unwrap_or(if is_said { ask } else { TrustPrograms::Source })
}

fn choice<T: Copy>(table: &Table<'_>, key: &str, choices: &[(&str, T)]) -> Option<T> {
    choice_or(table, key, choices, "the default is used")
}

/// `otherwise`: what happens where something else stands there.
fn choice_or<T: Copy>(
    table: &Table<'_>,
    key: &str,
    choices: &[(&str, T)],
    otherwise: &str,
) -> Option<T> {
    let found = table.string(key)?;
    if let Some((_, value)) = choices.iter().find(|(name, _)| *name == found.value) {
        return Some(*value);
    }
    let accepted: Vec<_> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    let mut problem =
        Diagnostic::warning(format!("`{}` can't be \"{}\"", table.path_of(key), found.value))
            .at(&table.diagnostics().source, found.span);
    problem
        .notes
        .extend(did_you_mean(&closest(&found.value, choices.iter().map(|(name, _)| *name))));
    let accepted = format!("accepted: {}; {otherwise}", accepted.join(", "));
    table.diagnostics().push(problem.note(accepted));
    None
}

pub(super) fn warn_unread(table: &Table<'_>) {
    let known = table.asked();
    for key in table.unread() {
        let message = format!("unknown key `{}`: it means nothing here", table.path_of(&key.value));
        let mut problem =
            Diagnostic::warning(message).at(&table.diagnostics().source, key.span.clone());
        problem.label = did_you_mean(&closest(&key.value, known.iter().map(String::as_str)));
        table.diagnostics().push(problem);
    }
}

#[cfg(test)]
mod tests;
