//! `cargo agents plugin test`: a plugin in force without being installed, for those who write it.
//!
//! A [`subject`] is put into a [`trial`]: a home of its own, and a [`workspace`] that is named or made
//! up. There its [`skills`] are listed, its [`servers`] are started, and its hooks are fed an [`event`]
//! on the very road that an agent's takes, with [`programs`] that were just built. Its own [`suite`] is
//! [`check`]ed. [`show`] is what people see, [`model`] what programs read; [`watch`] does it again.
//! [`eval`] has an agent of the user's work with a skill and without.

mod check;
pub(in crate::cli) mod eval;
mod event;
pub(in crate::cli) mod model;
mod programs;
mod servers;
mod show;
mod skills;
mod stimulus;
mod subject;
pub(in crate::cli) mod suite;
mod trial;
mod watch;
mod workspace;

use std::path::Path;
use std::time::Instant;

use crate::Symposium;
use crate::agents::Codec;
use crate::cli::CommandResult;
use crate::cli::author_args::TestArgs;
use crate::cli::plugin::view::View;
use crate::cli::screen::count;
use crate::plugins::model::Plugin;
use crate::plugins::registry::PluginEntry;
use crate::report::ExitCode;
use crate::text::Diagnostic;
use event::Stimulus;
use model::{GateTested, SubjectTested, Surroundings, Tested};
use subject::Subject;
use suite::Case;
use trial::Trial;
use workspace::Wanted;

pub(super) fn run(sym: &Symposium, args: &TestArgs) -> CommandResult {
    let cwd = sym.cwd()?;
    let path = crate::files::canonicalize(cwd.join(&args.path)).map_err(|error| {
        Diagnostic::error(format!("there is nothing to try out: {error}")).in_file(&args.path)
    })?;
    if args.eval {
        return eval::run(sym, args, &Subject::all(sym, &path)?);
    }
    if !args.watch {
        return once(sym, args, &path);
    }
    let folder = if path.is_dir() { &path } else { path.parent().unwrap_or(&path) };
    watch::again_and_again(folder, || {
        once(sym, args, &path)
            .unwrap_or_else(|error| crate::cli::errors::fail(&sym.report, &error));
    })
}

/// Tries everything at `path` out, once.
fn once(sym: &Symposium, args: &TestArgs, path: &Path) -> CommandResult {
    let start = Instant::now();
    let subjects = Subject::all(sym, path)?;
    let mut tested = Tested { subjects: Vec::new(), failed: 0 };
    for subject in &subjects {
        let one = try_out(sym, args, subject)?;
        tested.failed += one.failures();
        let is_one_agent = args.agent.len() == 1 && args.agent[0] != "all";
        sym.report.result(&show::subject(sym, &one, is_one_agent));
        tested.subjects.push(one);
    }
    sym.report.json(&tested);
    sym.report.finished(start, summary(&tested), 0, false);
    Ok(if tested.failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn summary(tested: &Tested) -> String {
    let cases: usize = tested.subjects.iter().map(|one| one.cases.len()).sum();
    let mut words = Vec::new();
    if cases > 0 {
        words.push(count(cases, "case"));
    }
    words.push(match tested.failed {
        0 => "all is well".to_owned(),
        failed => format!("{failed} failed"),
    });
    words.join(", ")
}

/// Tries one plugin, crate or skill out.
fn try_out(sym: &Symposium, args: &TestArgs, subject: &Subject) -> anyhow::Result<SubjectTested> {
    let wanted = match &args.workspace {
        Some(folder) => Wanted::Folder(sym.cwd()?.join(folder)),
        None => Wanted::ByGates,
    };
    let trial = Trial::new(sym, subject, &wanted)?;
    let said = stimulus::said(&sym.cwd()?, args)?;
    let is_said = said.is_some();
    let mut tested = look(&trial, subject, (said, &suite::codecs(&args.agent)?));
    if !is_said {
        let mut trials = vec![(wanted, trial)];
        for case in suite::read(&subject.dir)? {
            tested.cases.push(run_case(sym, subject, &mut trials, &case)?);
        }
    }
    Ok(tested)
}

/// Feeds it the event that was `said`, and does nothing else; without one, an event for each hook, and
/// looks at everything.
fn look(
    trial: &Trial,
    subject: &Subject,
    (said, agents): (Option<Stimulus>, &[&'static dyn Codec]),
) -> SubjectTested {
    let view = View::load(&trial.sym);
    let plugin = trial.plugin_in(&view.registry);
    let mut tested = SubjectTested {
        name: name(subject, plugin),
        path: subject.dir.clone(),
        workspace: surroundings(trial),
        gates: gates(&view, plugin),
        skills: Vec::new(),
        servers: Vec::new(),
        events: Vec::new(),
        cases: Vec::new(),
        problems: view.registry.diagnostics.iter().map(in_words).collect(),
    };
    let is_all = said.is_none();
    let stimuli = match said {
        Some(stimulus) => vec![stimulus],
        None => plugin.map(stimulus::of_hooks).unwrap_or_default(),
    };
    for stimulus in &stimuli {
        tested.events.push(event::feed(trial, &view, plugin, (stimulus, agents)));
    }
    if is_all {
        let (skills, missing) = skills::list(&view, subject, plugin);
        tested.skills = skills;
        tested.problems.extend(missing);
        if let Some(plugin) = plugin {
            tested.servers = servers::try_all(trial, &view, (subject, plugin));
        }
    }
    tested
}

/// What is wrong with the manifest: where, and what to do.
fn in_words(problem: &Diagnostic) -> String {
    let notes = problem.notes.iter().map(String::as_str);
    let problem = problem.to_string();
    std::iter::once(problem.as_str()).chain(notes).collect::<Vec<_>>().join("; ")
}

/// Runs a case in its workspace; those that share one share the trial.
fn run_case(
    sym: &Symposium,
    subject: &Subject,
    trials: &mut Vec<(Wanted, Trial)>,
    case: &Case,
) -> anyhow::Result<model::CaseRun> {
    let index = match trials.iter().position(|(wanted, _)| *wanted == case.workspace) {
        Some(index) => index,
        None => {
            trials.push((case.workspace.clone(), Trial::new(sym, subject, &case.workspace)?));
            trials.len() - 1
        }
    };
    let (_, trial) = &trials[index];
    let view = View::load(&trial.sym);
    let plugin = trial.plugin_in(&view.registry);
    Ok(check::run(trial, &view, (subject, plugin), case))
}

fn name(subject: &Subject, plugin: Option<&Plugin>) -> String {
    let folder = || subject.dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    plugin.map_or_else(folder, |plugin| plugin.name.clone())
}

fn surroundings(trial: &Trial) -> Surroundings {
    let made_up = trial.made.as_ref().map(|made| made.dependencies.clone());
    let root = made_up.is_none().then(|| trial.root.clone());
    Surroundings { root, made_up }
}

/// Whether the plugin and its parts apply, and why.
fn gates(view: &View<'_>, plugin: Option<&Plugin>) -> Vec<GateTested> {
    let Some(plugin) = plugin else { return Vec::new() };
    let is_it = |entry: &&PluginEntry| entry.plugin.manifest == plugin.manifest;
    let Some(entry) = view.registry.plugins.iter().find(is_it) else { return Vec::new() };
    let whole =
        GateTested { kind: "plugin", name: plugin.name.clone(), standing: view.plugin(entry) };
    let groups = view.groups(plugin).into_iter().map(|group| GateTested {
        kind: "skills",
        name: group.from,
        standing: group.standing,
    });
    let hooks = plugin.hooks.iter().map(|hook| ("hook", &hook.name, &hook.gate));
    let servers = plugin.servers.iter().map(|server| ("server", &server.name, &server.gate));
    let commands = plugin.subcommands.iter();
    let commands = commands.map(|command| ("subcommand", &command.name, &command.gate));
    let parts = hooks.chain(servers).chain(commands).map(|(kind, name, gate)| GateTested {
        kind,
        name: name.clone(),
        standing: view.standing(&[&plugin.gate, gate]),
    });
    std::iter::once(whole).chain(groups).chain(parts).collect()
}

impl SubjectTested {
    /// How much of it does not work, or is not as its suite expects.
    fn failures(&self) -> usize {
        let agents = self.events.iter().flat_map(|event| &event.agents);
        let mut hooks: Vec<&str> = agents
            .flat_map(|told| &told.hooks)
            .filter(|hook| hook.problem.is_some())
            .map(|hook| hook.name.as_str())
            .collect();
        hooks.sort_unstable();
        hooks.dedup();
        let servers = self.servers.iter().filter(|server| server.problem.is_some()).count();
        let cases = self.cases.iter().filter(|case| !case.failures.is_empty()).count();
        hooks.len() + servers + cases + self.problems.len()
    }
}
