//! `cargo agents plugin list`: the sources, and what is in them.

use crate::report::ExitCode;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use super::lines::Lines;
use super::offer::{GroupOffer, SkillOffer};
use super::view::{Standing, View};
use crate::Symposium;
use crate::cli::CommandResult;
use crate::cli::screen::count;
use crate::plugins::model::NotTaken;
use crate::plugins::registry::{Briefly, PluginEntry};
use crate::plugins::source::{SourceKind, SourceState, age};

/// The whole answer.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct Listing {
    /// The workspace's root; none outside of one.
    workspace: Option<PathBuf>,
    sources: Vec<SourceRow>,
    plugins: Vec<PluginRow>,
    skills: Vec<SkillRow>,
    /// What is wrong with sources and manifests, one line each.
    problems: Vec<String>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SourceRow {
    name: String,
    kind: SourceKind,
    location: String,
    /// Whether the team's file has it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    of_team: bool,
    /// Its folder on this machine.
    root: Option<PathBuf>,
    commit: Option<String>,
    reference: Option<String>,
    /// Seconds since 1970.
    fetched_at: Option<u64>,
    /// Why it is absent or old.
    notice: Option<String>,
    #[serde(skip)]
    age: Option<String>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PluginRow {
    name: String,
    source: String,
    /// `symposium`, `agent-plugins` or `claude`.
    format: &'static str,
    /// As its package says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    manifest: PathBuf,
    #[serde(flatten)]
    standing: Standing,
    /// Skills that are known without fetching anything.
    skills: Vec<String>,
    hooks: Vec<String>,
    servers: Vec<String>,
    subcommands: Vec<String>,
    /// What of a package has no effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    not_taken: Vec<NotTaken>,
    #[serde(skip)]
    kind: Option<String>,
    #[serde(skip)]
    offers: String,
    #[serde(skip)]
    label: &'static str,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SkillRow {
    source: String,
    #[serde(flatten)]
    offer: SkillOffer,
}

pub(super) fn run(sym: &Symposium) -> CommandResult {
    let view = View::load(sym);
    let registry = &view.registry;
    let mut briefly = Briefly::new(&sym.report, registry);
    briefly.tell(&registry.diagnostics);
    briefly.finish();
    let mut problems: Vec<String> = registry.diagnostics.iter().map(ToString::to_string).collect();
    let plugins = registry.plugins.iter().map(|entry| plugin_row(&view, entry, &mut problems));
    let plugins = plugins.collect();
    let skills = skills(&view, &mut problems);
    problems
        .iter()
        .skip(registry.diagnostics.len())
        .for_each(|problem| sym.report.warn(problem.as_str()));
    let listing = Listing {
        workspace: view.facts().root.map(Path::to_path_buf),
        sources: registry.sources.iter().map(source_row).collect(),
        plugins,
        skills,
        problems,
    };
    sym.report.json(&listing);
    sym.report.result(&render(sym, &listing));
    Ok(ExitCode::SUCCESS)
}

fn source_row(state: &SourceState) -> SourceRow {
    let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).ok().map(|age| age.as_secs());
    SourceRow {
        name: state.name.clone(),
        kind: state.kind,
        location: state.location.clone(),
        of_team: state.is_teams,
        root: state.root.clone(),
        commit: state.commit.clone(),
        reference: state.reference.clone(),
        fetched_at: state.fetched_at.and_then(seconds),
        notice: state.notice.clone(),
        age: state.fetched_at.map(|then| age(SystemTime::now(), then)),
    }
}

fn plugin_row(view: &View<'_>, entry: &PluginEntry, problems: &mut Vec<String>) -> PluginRow {
    let plugin = &entry.plugin;
    let standing = view.plugin(entry);
    let groups = view.groups(plugin);
    for group in &groups {
        let skills = group.skills.iter().flat_map(|skill| &skill.unread);
        problems.extend(group.unread.iter().chain(skills).cloned());
    }
    let names = |all: &mut dyn Iterator<Item = &String>| all.cloned().collect::<Vec<_>>();
    let hooks = names(&mut plugin.hooks.iter().map(|hook| &hook.name));
    let servers = names(&mut plugin.servers.iter().map(|server| &server.name));
    let subcommands = names(&mut plugin.subcommands.iter().map(|subcommand| &subcommand.name));
    let mut parts = group_parts(&groups);
    for (one, names) in [("hook", &hooks), ("server", &servers), ("subcommand", &subcommands)] {
        if !names.is_empty() {
            parts.push(count(names.len(), one));
        }
    }
    PluginRow {
        name: plugin.name.clone(),
        source: plugin.source.clone(),
        format: plugin.format(),
        version: plugin.version.clone(),
        kind: plugin.kind(),
        not_taken: plugin.not_taken().to_vec(),
        manifest: plugin.manifest.clone(),
        skills: groups
            .iter()
            .flat_map(|group| group.skills.iter().map(|skill| skill.name.clone()))
            .collect(),
        hooks,
        servers,
        subcommands,
        offers: if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") },
        label: standing.label(),
        standing,
    }
}

/// The skills that are known, and where others come from.
fn group_parts(groups: &[GroupOffer]) -> Vec<String> {
    let known: usize = groups.iter().map(|group| group.skills.len()).sum();
    let mut parts = Vec::new();
    if known > 0 {
        parts.push(count(known, "skill"));
    }
    let mut from: Vec<String> = groups
        .iter()
        .filter(|group| group.skills.is_empty())
        .map(|group| format!("skills of {}", group.from))
        .collect();
    from.dedup();
    parts.extend(from);
    parts
}

/// Skills that lie in a source by themselves.
fn skills(view: &View<'_>, problems: &mut Vec<String>) -> Vec<SkillRow> {
    let mut rows = Vec::new();
    for skill in &view.registry.skills {
        let mut offer = match view.alone(skill) {
            Ok(offer) => offer,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        problems.append(&mut offer.unread);
        if let Some(reason) = view.disabled_by(&offer.name) {
            let reason = reason.to_owned();
            offer.standing = Standing { state: crate::report::Verdict::Disabled, reason };
        }
        rows.push(SkillRow { source: skill.source.clone(), offer });
    }
    rows
}

fn render(sym: &Symposium, listing: &Listing) -> String {
    let mut out = Lines::new(sym);
    section(&mut out, "Sources", &listing.sources, |source| {
        let mut state = match source.kind {
            SourceKind::Path => "folder".to_owned(),
            SourceKind::Builtin => "built in".to_owned(),
            SourceKind::Git => "git".to_owned(),
        };
        if let Some(age) = &source.age {
            let _ = write!(state, ", fetched {age}");
        }
        if source.of_team {
            state.push_str(", from the team's symposium.toml");
        }
        let commit = source.commit.as_deref().unwrap_or_default();
        let at = format!(
            "{} {}",
            source.reference.as_deref().unwrap_or_default(),
            commit.get(..10).unwrap_or(commit)
        );
        let notice = source.notice.clone().unwrap_or_default();
        (source.name.clone(), state, vec![source.location.clone(), at.trim().to_owned(), notice])
    });
    section(&mut out, "Plugins", &listing.plugins, |plugin| {
        let mut lines = vec![plugin.standing.reason.clone(), plugin.offers.clone()];
        if sym.report.explains() {
            let not_taken = plugin.not_taken.iter();
            lines.extend(not_taken.map(|it| format!("not taken: {}: {}", it.what, it.why)));
        }
        let kind = plugin.kind.as_ref().map(|kind| format!(", {kind}")).unwrap_or_default();
        (plugin.name.clone(), format!("{}, {}{kind}", plugin.label, plugin.source), lines)
    });
    section(&mut out, "Skills", &listing.skills, |row| {
        let label = format!("{}, {}", row.offer.standing.label(), row.source);
        let reason = row.offer.standing.reason.clone();
        (row.offer.name.clone(), label, vec![reason, row.offer.description.clone()])
    });
    out.finish()
}

/// A heading and its entries; nothing without entries.
fn section<T>(
    out: &mut Lines,
    heading: &str,
    rows: &[T],
    describe: impl Fn(&T) -> (String, String, Vec<String>),
) {
    if rows.is_empty() {
        return;
    }
    out.add(0, heading);
    for row in rows {
        let (name, label, lines) = describe(row);
        out.add(2, &format!("{name:<24} {label}"));
        for line in lines.iter().filter(|line| !line.is_empty()) {
            out.add(6, line);
        }
    }
}
