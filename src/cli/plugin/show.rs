//! `cargo agents plugin show`: what a plugin offers, when, and everything it could run.

use crate::files::{Limit, read_text};
use crate::report::{ExitCode, fit};
use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::lines::Lines;
use super::offer::{GroupOffer, SkillOffer, running};
use super::redact::redacted;
use super::view::{Standing, View};
use crate::Symposium;
use crate::cli::CommandResult;
use crate::plugins::in_words::needs;
use crate::plugins::model::{Audience, Gate, NotTaken, Plugin};
use crate::plugins::programs::{Program, programs};
use crate::plugins::registry::{PluginEntry, Registry};
use crate::text::{Diagnostic, closest, did_you_mean};

/// Letters of a plugin's description that are shown.
const DESCRIPTION: usize = 400;

/// The whole answer.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct Shown {
    name: String,
    source: String,
    /// `symposium`, `agent-plugins` or `claude`.
    format: &'static str,
    /// As its manifest or package says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// What it is for, in its own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    manifest: PathBuf,
    #[serde(flatten)]
    standing: Standing,
    /// Its condition as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    groups: Vec<GroupOffer>,
    hooks: Vec<Part>,
    servers: Vec<Part>,
    subcommands: Vec<Part>,
    /// Everything it could run.
    may_run: Vec<Program>,
    /// What of a package has no effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    not_taken: Vec<NotTaken>,
    /// Format and version, for people.
    #[serde(skip)]
    kind: Option<String>,
    /// The manifest, without the values of variables and headers.
    text: Option<String>,
}

/// A hook, server or subcommand.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Part {
    name: String,
    /// The event and matcher, the transport, or the description.
    about: String,
    #[serde(flatten)]
    standing: Standing,
}

pub(super) fn run(sym: &Symposium, name: &str) -> CommandResult {
    let view = View::load(sym);
    let entry = match find(&view.registry, name) {
        Ok(entry) => entry,
        Err(problem) => {
            return match standalone(&view, name) {
                Some(skill) => Ok(show_skill(sym, &skill)),
                None => Err(problem.into()),
            };
        }
    };
    let named = view.registry.plugins.iter().filter(|other| is_meant(&other.plugin, name));
    for other in named.filter(|other| other.plugin != entry.plugin) {
        let other = format!("{}/{}", other.plugin.source, other.plugin.name);
        sym.report.warn(format!("there is also `{other}`, which is not in force"));
    }
    let shown = describe(&view, entry);
    sym.report.json(&shown);
    sym.report.result(render(sym, &shown).trim_end());
    let about = |problem: &&Diagnostic| {
        problem.location().is_some_and(|place| place.path == entry.plugin.manifest)
    };
    sym.report.diagnostics(view.registry.diagnostics.iter().filter(about));
    Ok(ExitCode::SUCCESS)
}

/// The plugin that `name`, or `source/name`, stands for: before all the one in force.
///
/// # Errors
/// There is none.
pub(super) fn find<'r>(registry: &'r Registry, name: &str) -> Result<&'r PluginEntry, Diagnostic> {
    let found: Vec<&PluginEntry> =
        registry.plugins.iter().filter(|entry| is_meant(&entry.plugin, name)).collect();
    let in_force = found.iter().find(|entry| entry.shadowed_by.is_none());
    in_force.or(found.first()).copied().ok_or_else(|| unknown(registry, name))
}

/// Whether `name` is the plugin's, or `source/name`.
fn is_meant(plugin: &Plugin, name: &str) -> bool {
    let Some((source, own)) = name.rsplit_once('/') else { return plugin.name == name };
    plugin.source == source && plugin.name == own
}

fn standalone(view: &View<'_>, name: &str) -> Option<SkillOffer> {
    let (source, own) = name.rsplit_once('/').map_or((None, name), |(s, own)| (Some(s), own));
    let of_source = view
        .registry
        .skills
        .iter()
        .filter(|skill| source.is_none_or(|source| source == skill.source));
    let mut offers = of_source.filter_map(|skill| view.alone(skill).ok());
    offers.find(|offer| offer.name == own)
}

fn unknown(registry: &Registry, name: &str) -> Diagnostic {
    let clean = crate::report::fit(name, 80);
    let mut problem = Diagnostic::error(format!("there is no plugin `{clean}`"));
    // A file of that name that can't be used is why there is none.
    let broken = registry.diagnostics.iter().filter(|problem| {
        problem.is_error()
            && problem.location().is_some_and(|place| {
                let dir = place.path.parent().and_then(|dir| dir.file_name());
                dir.is_some_and(|dir| dir.to_string_lossy() == clean)
            })
    });
    problem.notes.extend(broken.map(ToString::to_string));
    let plugins = registry.plugins.iter().map(|entry| entry.plugin.name.as_str());
    let near = closest(name.rsplit('/').next().unwrap_or(name), plugins);
    problem.notes.extend(did_you_mean(&near));
    problem.notes.extend(registry.sources.iter().filter_map(|source| {
        let notice = source.notice.as_ref().filter(|_| source.root.is_none())?;
        Some(format!("the source `{}` could not be searched: {notice}", source.name))
    }));
    problem.note("`cargo agents plugin list` lists them")
}

fn describe(view: &View<'_>, entry: &PluginEntry) -> Shown {
    let plugin = &entry.plugin;
    let groups = view.groups(plugin);
    let part = |name: &String, about: String, gate: &Gate| Part {
        name: name.clone(),
        about,
        standing: view.standing(&[&plugin.gate, gate]),
    };
    let hooks = plugin.hooks.iter().map(|hook| {
        let mut about = hook.event.name().to_owned();
        if let Some(matcher) = &hook.matcher {
            let _ = write!(about, " of {matcher}");
        }
        if let Some(agent) = &hook.agent {
            let _ = write!(about, ", {agent} only");
        }
        part(&hook.name, about, &hook.gate)
    });
    let servers = plugin.servers.iter().map(|server| {
        use crate::plugins::model::Transport;
        let about = match &server.transport {
            Transport::Stdio { .. } => "a program",
            Transport::Http { .. } => "http",
            Transport::Sse { .. } => "sse",
        };
        part(&server.name, about.to_owned(), &server.gate)
    });
    let subcommands = plugin.subcommands.iter().map(|subcommand| {
        let whom = match subcommand.audience {
            Audience::Humans => "for people",
            Audience::Agents => "for agents",
        };
        part(&subcommand.name, format!("{whom}: {}", subcommand.description), &subcommand.gate)
    });
    // A package's texts may hold secrets in more places than can be hidden.
    let is_ours = plugin.package.is_none();
    let text = read_text(&plugin.manifest, Limit::MANIFEST).ok().filter(|_| is_ours);
    Shown {
        name: plugin.name.clone(),
        source: plugin.source.clone(),
        format: plugin.format(),
        version: plugin.version.clone(),
        description: plugin.description.clone(),
        kind: plugin.kind(),
        not_taken: plugin.not_taken().to_vec(),
        manifest: plugin.manifest.clone(),
        standing: view.plugin(entry),
        condition: needs(&[&plugin.gate]),
        hooks: hooks.collect(),
        servers: servers.collect(),
        subcommands: subcommands.collect(),
        may_run: programs(plugin, running(&groups)),
        groups,
        text: text.and_then(|text| redacted(&text)),
    }
}

fn render(sym: &Symposium, shown: &Shown) -> String {
    let mut lines = Lines::new(sym);
    let mut line = |indent: usize, text: &str| lines.add(indent, text);
    line(0, &format!("{} ({})", shown.name, shown.source));
    if let Some(kind) = &shown.kind {
        let key = if shown.format == "symposium" { "version" } else { "format" };
        line(2, &format!("{key:<10} {kind}"));
    }
    if let Some(description) = &shown.description {
        line(2, &format!("for        {}", fit(description, DESCRIPTION)));
    }
    line(2, &format!("manifest   {}", sym.report.path(&shown.manifest)));
    if let Some(condition) = &shown.condition {
        line(2, &format!("needs      {condition}"));
    }
    line(2, &format!("here       {}: {}", shown.standing.label(), shown.standing.reason));
    shown.groups.iter().for_each(|group| group_lines(sym, group, &mut line));
    let parts =
        [("Hooks", &shown.hooks), ("Servers", &shown.servers), ("Subcommands", &shown.subcommands)];
    for (heading, parts) in parts.into_iter().filter(|(_, parts)| !parts.is_empty()) {
        line(0, heading);
        for part in parts {
            line(2, &format!("{:<24} {}", part.name, part.about));
            if !part.standing.is_active() {
                line(6, &format!("{}: {}", part.standing.label(), part.standing.reason));
            }
        }
    }
    line(0, "May run");
    if shown.may_run.is_empty() {
        line(2, "nothing");
    }
    let mut out = lines.finish();
    out.push('\n');
    for program in &shown.may_run {
        // As it is written: this is what people must see before they trust it.
        let _ = writeln!(out, "  {} {}: {}", program.kind, program.name, clean(&program.runs));
    }
    if !shown.not_taken.is_empty() {
        out.push_str("Not taken\n");
    }
    for NotTaken { what, why, .. } in &shown.not_taken {
        let _ = writeln!(out, "  {}: {}", clean(what), clean(why));
    }
    if let Some(text) = &shown.text {
        let _ = writeln!(out, "Manifest");
        for line in text.lines() {
            let _ = writeln!(out, "  {}", clean(line));
        }
    }
    out
}

fn group_lines(sym: &Symposium, group: &GroupOffer, line: &mut impl FnMut(usize, &str)) {
    line(0, &format!("Skills of {}", group.from));
    if !group.standing.is_active() {
        line(2, &format!("{}: {}", group.standing.label(), group.standing.reason));
    }
    for skill in &group.skills {
        skill_lines(sym, skill, line);
    }
    if group.skills.is_empty() && group.missing.is_empty() && group.standing.is_active() {
        line(2, "none");
    }
    for missing in &group.missing {
        line(2, missing);
    }
}

fn skill_lines(sym: &Symposium, skill: &SkillOffer, line: &mut impl FnMut(usize, &str)) {
    line(2, &format!("{}: {}", skill.name, skill.description));
    line(6, &sym.report.path(&skill.path));
    if !skill.standing.is_active() {
        line(6, &format!("{}: {}", skill.standing.label(), skill.standing.reason));
    }
}

/// A skill that lies in a source by itself.
fn show_skill(sym: &Symposium, skill: &SkillOffer) -> ExitCode {
    sym.report.json(skill);
    let mut lines = Lines::new(sym);
    let mut line = |indent: usize, text: &str| lines.add(indent, text);
    line(0, "A skill by itself");
    skill_lines(sym, skill, &mut line);
    if skill.standing.is_active() {
        line(6, &format!("{}: {}", skill.standing.label(), skill.standing.reason));
    }
    line(0, "May run");
    if skill.runs.is_empty() {
        line(2, "nothing");
    }
    for runs in &skill.runs {
        line(2, runs);
    }
    sym.report.result(&lines.finish());
    ExitCode::SUCCESS
}

/// One line that can't steer the terminal; tabs stay.
fn clean(text: &str) -> String {
    text.split('\t').map(crate::report::safe).collect::<Vec<_>>().join("\t")
}
