//! `SYMPOSIUM.toml`: the file as written becomes a [`Plugin`], or [`Diagnostic`]s.
//!
//! One file a section. All problems are reported, each with its code, file, line and column. When
//! a plugin is loaded, a broken entry costs only itself; nothing that can't be read ever makes a
//! plugin apply more widely than it says.

mod activation;
mod context;
mod gate;
mod hooks;
mod installations;
mod matcher;
mod near_miss;
mod paths;
#[cfg(test)]
pub(crate) mod schema;
mod servers;
mod skills;
mod sources;
mod subcommands;
mod urls;

use std::path::Path;
use std::sync::Arc;

use context::{Context, shown};
use installations::Pool;

use super::diagnostics::codes;
use super::model::{Gate, Plugin};
use crate::plugins::source::{BUILTIN, BUILTIN_PLUGIN};
use crate::text::toml::{self as tables, Diagnostics, Located, Table};
use crate::text::{Diagnostic, Severity, Source, same_crate};

pub(crate) use matcher::{LONGEST_NAME, MatcherError, compile_matcher, is_expression};
pub(crate) use near_miss::near_miss;
pub(crate) use paths::of_another_system;
pub(crate) use servers::{check_header, check_variable};
pub use subcommands::RESERVED as RESERVED_SUBCOMMANDS;
pub(crate) use urls::web_address;

/// The only name of a manifest.
pub(crate) const FILE_NAME: &str = "SYMPOSIUM.toml";

const KEYS: [&str; 15] = [
    "name",
    "version",
    "description",
    "activation",
    "crates",
    "depends-on",
    "predicates",
    "installations",
    "skills",
    "hooks",
    "mcp_servers",
    "subcommand",
    "plugins",
    "predicate",
    "defaults",
];

/// Where a manifest was found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub source: &'a str,
    /// Root folder of the source, absolute.
    pub source_root: &'a Path,
    pub manifest: &'a Path,
}

/// What a manifest is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// To be used: what can be used is, and the rest is warned of.
    Load,
    /// To be checked: everything wrong is an error.
    Validate,
}

/// A manifest as read.
#[derive(Debug, Clone)]
pub(crate) struct Parsed {
    /// The plugin, without the entries that can't be used. `None` when the file is no TOML or has
    /// no usable name.
    pub plugin: Option<Plugin>,
    /// Whether nothing had to be left out.
    pub is_whole: bool,
    /// Whether it is TOML with none of a plugin's keys: a file of that name for something else.
    pub is_foreign: bool,
    /// Everything wrong, in the order of the file. When a plugin was loaded, warnings only.
    pub diagnostics: Vec<Diagnostic>,
}

/// The reader of manifests.
#[derive(Debug)]
pub(crate) struct Manifest;

impl Manifest {
    /// Reads a manifest. Never fails: trouble is in the diagnostics.
    pub(crate) fn parse(source: Arc<Source>, place: &Place<'_>, strictness: Strictness) -> Parsed {
        let diagnostics = Diagnostics::new(source);
        let cx = Context::new(place, strictness, &diagnostics);
        let read = tables::read(&diagnostics, |root| {
            let is_foreign = !KEYS.iter().any(|key| root.has(key));
            let plugin = plugin(&cx, root);
            check_defaults(&cx, root);
            (plugin, is_foreign)
        });
        let parsed = read.is_some();
        let (plugin, is_foreign) = read.unwrap_or_default();
        let is_whole = !diagnostics.had_errors();
        let mut diagnostics = diagnostics.finish();
        for diagnostic in &mut diagnostics {
            // The reader of TOML knows no codes: before a table is there all it reports is syntax.
            let own = if parsed { codes::WRONG_TYPE } else { codes::SYNTAX };
            diagnostic.code.get_or_insert(own);
            if strictness == Strictness::Load && plugin.is_some() {
                diagnostic.severity = Severity::Warning;
            }
        }
        Parsed { plugin, is_whole, is_foreign, diagnostics }
    }
}

fn plugin(cx: &Context<'_>, root: &Table<'_>) -> Option<Plugin> {
    cx.unknown_keys(root, &KEYS);
    if !root.has("name") {
        let message = "this plugin has no `name`";
        cx.reject(cx.problem(codes::MISSING_KEY, &(0..0), message).note("`name = \"my-crate\"`"));
    }
    let name = root.string("name");
    let name = name.filter(|name| cx.check_name("plugin", name, true) && is_free(cx, name));
    let gate = plugin_gate(cx, root);
    let mut pool = Pool::read(cx, root);
    let skills = skills::read(cx, root, &gate);
    let mut hooks = hooks::read(cx, root, &mut pool);
    let servers = servers::read(cx, root, &pool);
    let subcommands = subcommands::read(cx, root, &mut pool);
    pool.check_requirements(cx);
    for hook in &mut hooks {
        pool.usable(&mut hook.requirements);
    }
    if let Some(span) = root.key_span("predicate") {
        let message = "custom predicates are ignored";
        let note = "what uses them counts as not holding";
        cx.warn(cx.problem(codes::CUSTOM_PREDICATE, &span, message).note(note));
    }
    let place = cx.place;
    let mut plugin = Plugin {
        name: name?.value,
        version: version(cx, root),
        description: root.string("description").map(|description| description.value),
        package: None,
        source: place.source.to_owned(),
        source_root: place.source_root.to_path_buf(),
        manifest: place.manifest.to_path_buf(),
        dir: place.manifest.parent().unwrap_or(Path::new("")).to_path_buf(),
        gate,
        installations: pool.finish(),
        skills,
        hooks,
        servers,
        subcommands,
    };
    check_target(cx, root, &mut plugin);
    plugin.gate.predicates.extend(activation::read(cx, root, &plugin.name));
    Some(plugin)
}

/// The plugin's own version, as tools that compare versions want it.
fn version(cx: &Context<'_>, root: &Table<'_>) -> Option<String> {
    let Located { value, span } = root.string("version")?;
    let Err(error) = semver::Version::parse(&value) else { return Some(value) };
    let message = format!("`version` is {}, which is no version: {error}", shown(&value));
    cx.reject(cx.problem(codes::BAD_VALUE, &span, message).note("for example `1.0.0`"));
    None
}

/// Whether a plugin of this source may have the name.
fn is_free(cx: &Context<'_>, name: &Located<String>) -> bool {
    if cx.place.source == BUILTIN || !same_crate(&name.value, BUILTIN_PLUGIN) {
        return true;
    }
    let message = format!("`{BUILTIN_PLUGIN}` is the name of the plugin inside the program");
    cx.reject(cx.problem(codes::BAD_NAME, &name.span, message).note("give it another name"));
    false
}

/// The plugin's own gate; one that can't be read never holds.
fn plugin_gate(cx: &Context<'_>, root: &Table<'_>) -> Gate {
    let mark = cx.diagnostics.mark();
    let gate = gate::read(cx, root);
    if !cx.diagnostics.errors_since(mark) {
        return gate;
    }
    if !cx.strict {
        cx.diagnostics.soften_since(mark, "the plugin never applies");
    }
    // A strict reader also reports bad atoms as errors, and goes on with the others.
    if gate.crates.as_ref().is_some_and(|crates| !crates.is_empty()) && cx.strict {
        return gate;
    }
    gate::unread(cx, root, |entry| cx.diagnostics.any_within(mark, entry))
}

/// A plugin says somewhere which crates it is for; a server says so itself or its plugin does.
fn check_target(cx: &Context<'_>, root: &Table<'_>, plugin: &mut Plugin) {
    if !cx.targeted.get() {
        let span = root.key_span("name").unwrap_or(0..0);
        let message = "the plugin says nowhere which crates it is for";
        let note = "it never applies; `crates = [\"*\"]` stands for every workspace";
        cx.reject(cx.problem(codes::NO_TARGET, &span, message).note(note));
        plugin.gate = gate::dormant();
        return;
    }
    if gate::is_given(&plugin.gate) {
        return;
    }
    for (what, span) in cx.ungated.take() {
        if what == servers::WHAT {
            let message = "this server has no `crates`, and neither has the plugin";
            let problem = cx.problem(codes::NO_TARGET, &span, message);
            cx.reject(
                problem.note("it is left out; `crates = [\"*\"]` stands for every workspace"),
            );
        } else {
            let message = format!("this {what} applies to every workspace");
            let note = "neither it nor the plugin has `crates`";
            cx.advise(cx.problem(codes::EVERYWHERE, &span, message).note(note));
        }
    }
    plugin.servers.retain(|server| gate::is_given(&server.gate));
}

/// `[defaults] skills` means something in a crate's own manifest alone, where the skills are read.
fn check_defaults(cx: &Context<'_>, root: &Table<'_>) {
    if let Some(defaults) = root.table("defaults") {
        cx.unknown_keys(&defaults, &["skills"]);
        let _ = defaults.bool("skills");
    }
}

#[cfg(test)]
mod tests;
