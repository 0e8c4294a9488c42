//! `cargo agents use`: the user's choice on a dependency's own skills, and on plugins.

use crate::report::ExitCode;
use std::path::Path;
use std::time::Instant;

use super::grammar::UseArgs;
use super::{CommandResult, ask};
use crate::Symposium;
use crate::config::{Choice, ChoiceScope};
use crate::report::Event;
use crate::sync::survey::{Inputs, Survey};
use crate::sync::{Mode, Request, sync};
use crate::text::{Diagnostic, closest, did_you_mean, is_crate_name, same_crate};

pub(super) fn run(sym: &mut Symposium, args: &UseArgs) -> CommandResult {
    let start = Instant::now();
    let cwd = sym.cwd()?;
    let choice = if args.remove { Choice::Disable } else { Choice::Use };
    let scope = if args.global { ChoiceScope::Everywhere } else { ChoiceScope::Workspace };
    let inputs = Inputs::read(sym, &cwd)?;
    let root = match (args.global, inputs.root(), &inputs.trouble) {
        (true, root, _) => root,
        (false, Some(root), _) => Some(root),
        (false, None, Some(problem)) => return Err(problem.clone().into()),
        (false, None, None) => {
            return Err(Diagnostic::error("there is no Rust workspace here to remember it for")
                .note("`--global` remembers it for every workspace")
                .into());
        }
    };
    let notes = check(&inputs.survey()?, &args.name, choice, scope)?;
    let root = root.map(Path::to_path_buf);
    ask::save(sym, &args.name, root.as_deref(), choice, scope)?;
    sym.report.diagnostics(&notes);
    let (verb, place) = (
        if choice == Choice::Use { "Using" } else { "Declining" },
        if scope == ChoiceScope::Workspace { "in this workspace" } else { "in every workspace" },
    );
    sym.report.event(&Event::status(verb, format!("{} {place}", args.name)));
    if let Some(note) = overruled(sym, &args.name, root.as_deref(), choice) {
        sym.report.diagnostic(&note);
    }
    if root.is_none() {
        return Ok(ExitCode::SUCCESS);
    }
    let synced = sync(sym, &Request { start: cwd, ..Request::default() })?;
    super::sync::finish(sym, &synced, Mode::Apply, start);
    Ok(if synced.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What this workspace was told before wins here over what is said of every workspace.
fn overruled(
    sym: &Symposium,
    name: &str,
    root: Option<&Path>,
    given: Choice,
) -> Option<Diagnostic> {
    let (choice, ChoiceScope::Workspace) = sym.config.plugins.choice_for(name, root)? else {
        return None;
    };
    let (known, back) = match choice {
        _ if choice == given => return None,
        Choice::Use => ("yes", " --remove"),
        Choice::Disable => ("no", ""),
    };
    Some(
        Diagnostic::warning(format!(
            "you said {known} to {name} for this workspace: that wins here"
        ))
        .note(format!("`cargo agents use {name}{back}` says otherwise for this workspace")),
    )
}

/// Whether the name means something; what people should know besides.
fn check(
    survey: &Survey<'_>,
    name: &str,
    choice: Choice,
    scope: ChoiceScope,
) -> Result<Vec<Diagnostic>, Diagnostic> {
    let same = |known: &str| same_crate(known, name);
    let registry = &survey.inputs.registry;
    let plugin = registry.plugins.iter().any(|entry| same(&entry.plugin.name));
    let folder =
        |dir: &Path| dir.file_name().is_some_and(|folder| folder.to_str().is_some_and(same));
    let skill = registry.skills.iter().any(|skill| folder(&skill.dir));
    let dependencies = survey.inputs.loaded.iter().flat_map(|found| &found.workspace.dependencies);
    let names: Vec<&str> = dependencies.map(|dependency| dependency.name.as_str()).collect();
    let dependency = names.iter().any(|known| same(known));
    let choices = &survey.inputs.sym.config.plugins;
    let has_choice = choices.choice_for(name, survey.inputs.root()).is_some();
    if !is_crate_name(name) && !plugin && !skill && !has_choice {
        return Err(Diagnostic::error(format!(
            "`{}` can't be a crate's name",
            name.escape_debug()
        )));
    }
    let known = plugin || skill || dependency || has_choice;
    if !known && scope == ChoiceScope::Workspace {
        let mut error =
            Diagnostic::error(format!("{name} is no direct dependency of this workspace"));
        let plugins = registry.plugins.iter().map(|entry| entry.plugin.name.as_str());
        for shipped in survey.inputs.shipped() {
            if shipped.names.iter().any(|known| same(known)) {
                let of = &shipped.crate_name;
                error.notes.push(format!("{name} is a skill of {of}: `cargo agents use {of}`"));
            }
        }
        error.notes.extend(did_you_mean(&closest(name, names.into_iter().chain(plugins))));
        return Err(
            error.note("`--global` says it of a crate that some other workspace depends on")
        );
    }
    let mut notes = Vec::new();
    if !known {
        let message =
            format!("nothing here is called {name}: it is remembered for other workspaces");
        notes.push(Diagnostic::warning(message));
    }
    let facts = survey.planned.as_ref().map(|planned| &planned.facts);
    let candidate =
        facts.is_some_and(|facts| facts.candidates.iter().any(|found| same(&found.name)));
    if choice == Choice::Use && dependency && !candidate && !plugin && !skill && !has_choice {
        let message = match crate::sync::facts::candidates::endorsers(registry, name).next() {
            Some(plugin) => format!("the plugin `{}` already offers its skills", plugin.name),
            None => format!("no skills of {name} were found on this machine"),
        };
        notes.push(Diagnostic::warning(message).note("it is remembered all the same"));
    }
    Ok(notes)
}
