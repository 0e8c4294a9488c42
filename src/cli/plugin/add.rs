//! `cargo agents plugin add`: one more source, after a look at what is in it and what could run.

use std::path::{Path, PathBuf};
use std::time::Instant;

use dialoguer::Confirm;
use serde::Serialize;

use super::lines::Lines;
use super::offer::{SkillOffer, running};
use super::view::{Standing, View};
use crate::Symposium;
use crate::cli::CommandResult;
use crate::cli::grammar::AddArgs;
use crate::cli::screen::count;
use crate::cli::terminal::{INTERRUPTED, RawKeys, is_ctrl_c};
use crate::cli::theme::Plain;
use crate::config::{ConfigState, SourceConfig, SourceGates, SourceLocation};
use crate::documents::user_config::{self, NewSource};
use crate::fetch::git::Repository;
use crate::plugins::model::{CrateAtom, NotTaken, Plugin};
use crate::plugins::programs::{Program, programs};
use crate::plugins::registry::Registry;
use crate::plugins::source::{Refresh, SourceState};
use crate::report::{Event, ExitCode, fit, safe};
use crate::sync::survey::Inputs;
use crate::sync::{Mode, Request, sync};
use crate::text::Diagnostic;

/// The whole answer.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct Added {
    name: String,
    location: String,
    plugins: Vec<FoundPlugin>,
    /// Skills outside of plugins.
    skills: Vec<SkillOffer>,
    /// Whether it is in the configuration now.
    added: bool,
}

/// A plugin of the source.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FoundPlugin {
    name: String,
    /// `symposium`, `agent-plugins` or `claude`.
    format: &'static str,
    /// As its package says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(flatten)]
    standing: Standing,
    skills: Vec<String>,
    /// Everything it could run.
    may_run: Vec<Program>,
    /// What of a package has no effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    not_taken: Vec<NotTaken>,
    #[serde(skip)]
    kind: Option<String>,
}

pub(super) fn run(sym: &Symposium, args: &AddArgs) -> CommandResult {
    let start = Instant::now();
    if sym.config_state == ConfigState::Broken {
        return Err(Diagnostic::error("the configuration can't be read, so it is not changed")
            .in_file(sym.dirs.config_file())
            .note("mend it, and say it again")
            .into());
    }
    let place = Place::of(&sym.cwd()?, &args.place)?;
    let crates = crates(&args.crates)?;
    let name = name(sym, args, &place)?;
    let mut trial = sym.reread();
    trial.config.sources.push(SourceConfig {
        name: name.clone(),
        location: place.location.clone(),
        auto_update: true,
        gates: SourceGates { all: crates.clone(), named: Vec::new() },
        is_teams: false,
    });
    let mut added = look(&trial, &name)?;
    sym.report.result(&render(sym, &added));
    let answer = if args.yes { Answer::Yes } else { ask(sym, &name)? };
    if answer != Answer::Yes {
        sym.report.json(&added);
        sym.report.event(&Event::status("Cancelled", "nothing was added"));
        let interrupted = answer == Answer::Interrupted;
        return Ok(if interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS });
    }
    let (key, text) = (place.key, place.text.as_str());
    let source = NewSource { name: &name, place: (key, text), crates: crates.as_deref() };
    user_config::edit(&sym.dirs, &mut |config| config.add_source(&source))?;
    added.added = true;
    sym.report.json(&added);
    sym.report.event(&Event::status("Added", format!("{name} ({})", added.location)));
    bring_in(&sym.reread(), start)
}

/// Syncs the workspace that we are in, if any.
fn bring_in(sym: &Symposium, start: Instant) -> CommandResult {
    let cwd = sym.cwd()?;
    if Inputs::read(sym, &cwd)?.root().is_none() {
        return Ok(ExitCode::SUCCESS);
    }
    let synced = sync(sym, &Request { start: cwd, ..Request::default() })?;
    crate::cli::sync::finish(sym, &synced, Mode::Apply, start);
    Ok(if synced.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Where a source is, as it is written into the configuration.
struct Place {
    key: &'static str,
    text: String,
    location: SourceLocation,
}

impl Place {
    fn of(cwd: &Path, given: &str) -> Result<Self, Diagnostic> {
        let path = cwd.join(given);
        // An index stands for what it is the index of.
        let folder = match path.file_name().and_then(|name| name.to_str()) {
            Some("marketplace.json") if path.is_file() => path.ancestors().nth(2),
            _ => Some(path.as_path()),
        };
        if let Some(folder) = folder.filter(|folder| folder.is_dir()) {
            let folder: PathBuf = crate::files::canonicalize(folder)
                .map_err(|error| Diagnostic::error(error.to_string()).in_file(folder))?;
            let text = folder.to_str().ok_or_else(|| {
                Diagnostic::error("the folder's path is no Unicode, so it can't be written down")
                    .in_file(&folder)
            })?;
            let text = text.to_owned();
            return Ok(Self { key: "path", text, location: SourceLocation::Path(folder) });
        }
        let mut problem = match Repository::parse(given, None, None) {
            Ok(_) => {
                let location = SourceLocation::Git { url: given.into(), rev: None, subdir: None };
                return Ok(Self { key: "git", text: given.to_owned(), location });
            }
            Err(problem) => *problem,
        };
        let parts: Vec<&str> = given.split('/').collect();
        let is_name = |part: &&str| !part.is_empty() && !part.starts_with('.');
        if let [owner, repository] = parts[..]
            && [owner, repository].iter().all(is_name)
        {
            let note = format!("a repository at GitHub is `https://github.com/{}`", safe(given));
            problem = problem.note(note);
        }
        Err(problem.note("give a folder that is there, or a repository's URL"))
    }
}

/// What `--crates` says; `None` where it says nothing.
///
/// # Errors
/// Something in it is no crate predicate.
pub(super) fn crates(given: &[String]) -> Result<Option<Vec<String>>, Diagnostic> {
    for text in given {
        if let Err(error) = CrateAtom::parse(text) {
            let message = format!("`{}` is no crate predicate", safe(text));
            return Err(Diagnostic::error(message)
                .note(error.message)
                .note("for example `--crates 'serde,tokio>=1.40'`"));
        }
    }
    Ok((!given.is_empty()).then(|| given.to_vec()))
}

/// The name that is asked for, or one of the place's. It must be free, and so must be the place.
fn name(sym: &Symposium, args: &AddArgs, place: &Place) -> Result<String, Diagnostic> {
    if let Some(known) = sym.config.sources.iter().find(|known| known.location == place.location) {
        return Err(Diagnostic::error(format!("the source `{}` is this one already", known.name))
            .note("`cargo agents plugin list` shows what is in it"));
    }
    let name = match &args.name {
        Some(name) => name.clone(),
        None => {
            // What follows may be a token, and names are shown.
            let path = place.text.split(['?', '#']).next().unwrap_or_default();
            let end = path.trim_end_matches(['/', '\\']).rsplit(['/', '\\', ':']).next();
            let end = end.unwrap_or_default().trim_end_matches(".git");
            let kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            end.chars().map(|c| if kept(c) { c } else { '-' }).collect()
        }
    };
    let taken = crate::plugins::source::effective(sym).iter().any(|spec| spec.name == name);
    if name.trim().is_empty() || name.contains(char::is_control) || taken {
        let why = if taken { "is taken" } else { "can't be a source's name" };
        return Err(Diagnostic::error(format!("`{}` {why}", safe(&name)))
            .note("`--name NAME` gives it another one"));
    }
    Ok(name)
}

/// What is in the source, which is fetched for it and not in the configuration yet.
fn look(trial: &Symposium, name: &str) -> anyhow::Result<Added> {
    let registry = Registry::load(trial, &Refresh::for_plugin_sync(trial, Some(name)));
    let found = registry.sources.iter().position(|state| state.name == name);
    let state: SourceState = match found.and_then(|index| registry.sources.get(index)) {
        Some(state) => state.clone(),
        None => return Err(anyhow::anyhow!("the source `{name}` was not looked at")),
    };
    let Some(root) = &state.root else {
        let why = state.notice.clone().unwrap_or_default();
        return Err(Diagnostic::error(format!("nothing can be added: {why}")).into());
    };
    let about = |problem: &&Diagnostic| {
        problem.location().is_some_and(|place| place.path.starts_with(root))
    };
    trial.report.diagnostics(registry.diagnostics.iter().filter(about));
    let view = View::of(trial, registry);
    let of_source = view.registry.plugins.iter().filter(|entry| entry.plugin.source == name);
    let plugins = of_source.map(|entry| found_plugin(&view, &entry.plugin, view.plugin(entry)));
    let plugins: Vec<FoundPlugin> = plugins.collect();
    let skills = view.registry.skills.iter().filter(|skill| skill.source == name);
    let skills: Vec<SkillOffer> = skills.filter_map(|skill| view.alone(skill).ok()).collect();
    if plugins.is_empty() && skills.is_empty() {
        return Err(Diagnostic::error(format!(
            "there is no plugin and no skill in {}",
            state.location
        ))
        .note("a plugin is a folder with a `SYMPOSIUM.toml`, an Agent Plugin or a Claude package")
        .into());
    }
    let (name, location) = (state.name, state.location);
    Ok(Added { name, location, plugins, skills, added: false })
}

fn found_plugin(view: &View<'_>, plugin: &Plugin, standing: Standing) -> FoundPlugin {
    let groups = view.groups(plugin);
    let skills = groups.iter().flat_map(|group| &group.skills);
    FoundPlugin {
        name: plugin.name.clone(),
        format: plugin.format(),
        version: plugin.version.clone(),
        standing,
        skills: skills.map(|skill| skill.name.clone()).collect(),
        may_run: programs(plugin, running(&groups)),
        not_taken: plugin.not_taken().to_vec(),
        kind: plugin.kind(),
    }
}

fn render(sym: &Symposium, found: &Added) -> String {
    let mut lines = Lines::new(sym);
    lines.add(0, &format!("{} ({})", found.name, found.location));
    for plugin in &found.plugins {
        let kind = plugin.kind.as_ref().map(|kind| format!(", {kind}")).unwrap_or_default();
        lines.add(2, &format!("{:<24} {}{kind}", plugin.name, plugin.standing.label()));
        lines.add(6, &plugin.standing.reason);
        if !plugin.skills.is_empty() {
            let names = plugin.skills.join(", ");
            lines.add(6, &format!("{}: {names}", count(plugin.skills.len(), "skill")));
        }
        for program in &plugin.may_run {
            // Whole, as it is written: this is what people must see before they say yes.
            lines.add(6, &format!("may run {} {}: {}", program.kind, program.name, program.runs));
        }
        for NotTaken { what, why, .. } in &plugin.not_taken {
            lines.add(6, &format!("not taken: {what}: {why}"));
        }
    }
    for skill in &found.skills {
        lines.add(2, &format!("{:<24} {}, a skill by itself", skill.name, skill.standing.label()));
        lines.add(6, &skill.standing.reason);
        for runs in &skill.runs {
            lines.add(6, &format!("may run {runs}"));
        }
    }
    lines.finish()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    /// With Ctrl-C.
    Interrupted,
}

/// Asks.
///
/// # Errors
/// Nobody is there to ask.
fn ask(sym: &Symposium, name: &str) -> anyhow::Result<Answer> {
    if !sym.report.is_interactive() {
        return Err(Diagnostic::error("nothing was added: there is nobody to say yes to it")
            .note("look at what could run above; `--yes` adds it without a question")
            .into());
    }
    let theme = Plain::new(&sym.report);
    let question = format!("Add {} to your plugin sources?", fit(name, 60));
    let _raw_keys = RawKeys::new();
    let answer = Confirm::with_theme(&theme).with_prompt(&question).default(false).interact_opt();
    match answer {
        // The cursor waits behind the question.
        Err(error) if is_ctrl_c(&error, theme.height(&question) - 1) => Ok(Answer::Interrupted),
        answer => Ok(if answer? == Some(true) { Answer::Yes } else { Answer::No }),
    }
}
