//! From a survey to what `status` tells.

use std::time::SystemTime;

use super::model::{
    AgentStatus, CandidateStatus, HooksStatus, PluginState, PluginStatus, Problem, ServerStatus,
    SkillStatus, State, Status, SuggestionStatus, Trouble, WaitingStatus, WorkspaceStatus,
};
use crate::agents::Agent;
use crate::agents::checkup::{Finding, Topic};
use crate::cli::programs::programs;
use crate::cli::team::{self, TeamStatus};
use crate::config::ConfigState;
use crate::installations::{Acquirer, Network};
use crate::plugins::model::Gate;
use crate::plugins::predicate::{evaluate_all, evaluate_plugin};
use crate::plugins::registry::PluginEntry;
use crate::plugins::source::SourceKind;
use crate::plugins::trust::Trust;
use crate::plugins::trust::part::PartKind;
use crate::plugins::trust::record::{CRATES, Owner};
use crate::report::{Action, Change, Kind, Verdict};
use crate::skills::SkillOrigin;
use crate::skills::crate_source::NotOnDisk;
use crate::sync::facts::candidates::{Suggestion, told_absent};
use crate::sync::facts::{PluginFate, Waiting};
use crate::sync::registration::duplicates::Duplicate;
use crate::sync::snapshot::{Snapshot, Stored};
use crate::sync::survey::{Health, Obstructed, SkillView, Survey, described, described_on_disk};
use crate::sync::{shown_origin, unclear_configuration};
use crate::text::Diagnostic;
use crate::workspace::{UNOBSERVED, UNREAD_WORKSPACE};

/// What the survey says, as a document.
pub(super) fn gather(survey: &Survey<'_>) -> Status {
    let (views, obstructed) = (survey.skills(), survey.obstructed());
    let known = survey.planned.as_ref();
    let candidates = known.map(|planned| planned.facts.candidates.as_slice()).unwrap_or_default();
    let mut warnings: Vec<String> =
        survey.inputs.sym.config_diagnostics.iter().map(ToString::to_string).collect();
    warnings.extend(survey.diagnostics().iter().map(ToString::to_string));
    warnings.extend(waiting_skills(survey));
    let team = survey.inputs.sym.team.iter();
    warnings.extend(team.flat_map(|team| team::problems(team)).map(ToString::to_string));
    // That the workspace can't be read is told where the workspace is.
    let is_told = |found: &&Diagnostic| Some(*found) == survey.inputs.trouble.as_ref();
    let errors = survey.diagnostics().into_iter().filter(|found| found.is_error());
    let errors = errors.filter(|found| !is_told(found)).map(ToString::to_string).collect();
    if !survey.inputs.sym.config_state.is_clear() {
        warnings.push("nothing is synced until the configuration can be read".to_owned());
    }
    Status {
        workspace: workspace(survey),
        team_file: survey.inputs.sym.team.as_deref().and_then(TeamStatus::of),
        workspace_trouble: survey.inputs.trouble.as_ref().map(|found| trouble(found, "mend it")),
        configuration_trouble: configuration(survey),
        agents: survey
            .agents
            .iter()
            .map(|agent| of_agent(survey, *agent, (&views, &obstructed)))
            .collect(),
        by_hand: survey.by_hand(),
        plugins: plugins(survey, &views, &obstructed),
        skills: views.iter().map(of_skill).collect(),
        candidates: candidates
            .iter()
            .map(|candidate| CandidateStatus {
                name: candidate.name.clone(),
                version: candidate.version.to_string(),
                skills: candidate.ships.folders.clone(),
            })
            .collect(),
        suggestions: known
            .map(|planned| suggestions(&planned.facts.suggestions))
            .unwrap_or_default(),
        absent: known.map(|planned| absent(&planned.facts.absent)).unwrap_or_default(),
        unfetched: unfetched(survey),
        next_sync: next_sync(survey),
        warnings,
        errors,
    }
}

/// Skills that no plugin brings, and that wait for the user's word: what has no place among plugins.
fn waiting_skills(survey: &Survey<'_>) -> Vec<String> {
    let waiting = survey.planned.iter().flat_map(|planned| &planned.facts.waiting);
    let of_crates = waiting.filter(|it| it.owner.source == CRATES);
    of_crates.map(|it| format!("skill {} of {}", it.name, it.told())).collect()
}

fn absent(absent: &[NotOnDisk]) -> Vec<String> {
    let told = told_absent(absent).into_iter();
    told.map(|(told, remedy)| format!("{told}; {remedy}")).collect()
}

fn unfetched(survey: &Survey<'_>) -> Vec<String> {
    // Sources that need no configuration may be switched off in one that can't be read.
    if survey.inputs.sym.config_state == ConfigState::Broken {
        return Vec::new();
    }
    let sources = survey.inputs.registry.sources.iter();
    let absent = sources.filter(|it| it.kind == SourceKind::Git && it.root.is_none());
    absent.map(|source| source.name.clone()).collect()
}

fn suggestions(found: &[Suggestion]) -> Vec<SuggestionStatus> {
    found
        .iter()
        .map(|found| SuggestionStatus {
            name: found.name.clone(),
            source: found.source.clone(),
            offers: found.offer(),
        })
        .collect()
}

/// What `cargo agents sync` would do. Hooks in the other scope that no ledger knows it leaves alone:
/// only `doctor --fix` and `init` take them back.
fn next_sync(survey: &Survey<'_>) -> Vec<Change> {
    let mut changes = survey.changes();
    changes.retain(|change| {
        let doubles = survey.duplicates.iter();
        let mut doubles = doubles.filter(|double| change.is_of(double.agent.name())).peekable();
        let hooks = change.kind == Kind::Hooks && change.action == Action::Unregister;
        !hooks || doubles.peek().is_none() || doubles.any(|double| double.recorded)
    });
    changes
}

fn trouble(found: &Diagnostic, remedy: &str) -> Trouble {
    let label = found.label.iter().map(|label| format!(" ({label})"));
    Trouble {
        message: std::iter::once(found.message.clone()).chain(label).collect(),
        location: found.location(),
        remedy: found.remedy().unwrap_or_else(|| remedy.to_owned()),
    }
}

fn configuration(survey: &Survey<'_>) -> Option<Trouble> {
    let sym = &survey.inputs.sym;
    let problem = unclear_configuration(sym)?;
    let mut told = sym.config_diagnostics.iter();
    let error = told.clone().find(|found| found.is_error());
    let worst = error.or_else(|| told.next()).unwrap_or(&problem);
    Some(trouble(worst, "correct or remove the file"))
}

fn workspace(survey: &Survey<'_>) -> Option<WorkspaceStatus> {
    let workspace = &survey.inputs.loaded.as_ref()?.workspace;
    let mut names: Vec<_> = workspace.dependencies.iter().map(|found| &found.name).collect();
    names.dedup();
    let last = last_sync(survey);
    Some(WorkspaceStatus {
        root: workspace.root.clone(),
        members: workspace.members.len(),
        dependencies: names.len(),
        synced_at: last.map(|last| humantime::format_rfc3339_seconds(last.at).to_string()),
        sync_failed: last.is_some_and(|last| last.failed),
    })
}

/// The last sync of a workspace.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastSync {
    pub(super) at: SystemTime,
    /// Whether it could not do all it should.
    pub(super) failed: bool,
}

/// Each sync writes the snapshot.
pub(super) fn last_sync(survey: &Survey<'_>) -> Option<LastSync> {
    let (dirs, root) = (&survey.inputs.sym.dirs, survey.inputs.root()?);
    let at = std::fs::metadata(Snapshot::path(dirs, root)).ok()?.modified().ok()?;
    let header = Stored::of(dirs, root).map(|stored| stored.header);
    let failed = header.as_ref().is_some_and(|header| header.failed);
    (!header.is_some_and(|header| header.unsynced)).then_some(LastSync { at, failed })
}

fn of_agent(
    survey: &Survey<'_>,
    agent: Agent,
    (views, obstructed): (&[SkillView<'_>], &[Obstructed<'_>]),
) -> AgentStatus {
    let found = survey.checkup(agent, views, None);
    let mut problems = Vec::new();
    let hooks = survey.hooks_of(agent).map(|hooks| {
        let state = state_of(&hooks.health, "hooks", &mut problems);
        let state = switched_off(state, Topic::Hooks, None, &found);
        let lost = lost_program(survey, agent).filter(|_| state == State::Ok);
        let state = if lost.is_some() { State::CantStart } else { state };
        problems.extend(lost);
        let scope = survey.inputs.sym.config.hook_scope.name().to_owned();
        HooksStatus { scope, files: hooks.files, state }
    });
    let servers = survey.servers_of(agent).into_iter().map(|server| {
        let state = state_of(&server.health, &format!("server `{}`", server.name), &mut problems);
        let state = switched_off(state, Topic::Servers, Some(&server.name), &found);
        let cant_start = obstructed.iter().any(|known| {
            known.kind == Kind::Server && known.name == server.name && known.is_grave()
        });
        let reached = matches!(state, State::Ok | State::Pending);
        let state = if cant_start && reached { State::CantStart } else { state };
        ServerStatus { name: server.name, file: server.file, state }
    });
    let servers = servers.collect();
    let doubles = survey.duplicates.iter().filter(|double| double.agent == agent);
    let lasting = doubles.filter(|double| {
        // A sync takes back what is recorded, unless the file stays as it is.
        let place = double.told.location();
        !double.recorded || place.is_some_and(|place| survey.stays(&place.path))
    });
    problems.extend(lasting.map(|Duplicate { told, .. }| Problem {
        severity: "warning".to_owned(),
        message: told.message.clone(),
        remedy: told.remedy().unwrap_or_else(|| "`cargo agents doctor` tells".to_owned()),
    }));
    problems.extend(found.into_iter().map(|finding| Problem {
        severity: finding.severity.map_or("note", crate::text::Severity::word).to_owned(),
        message: finding.message,
        remedy: finding.remedy,
    }));
    let on_disk = survey.inputs.found_by(agent);
    // What applies to a workspace that can't be read is not known.
    let descriptions = match survey.inputs.trouble {
        Some(_) => described_on_disk(&on_disk),
        None => described(views, agent),
    };
    AgentStatus {
        name: agent.name().to_owned(),
        title: agent.title().to_owned(),
        hooks,
        servers,
        skills: on_disk.len(),
        planned_skills: views.iter().filter(|view| is_planned(view, Some(agent))).count(),
        descriptions,
        description_budget: agent.identity().description_budget,
        problems,
    }
}

/// What is said where `agent` would not find our program.
fn lost_program(survey: &Survey<'_>, agent: Agent) -> Option<Problem> {
    let (_, told) = survey.setup.program(agent, survey.inputs.sym.config.hook_scope);
    told.map(|told| Problem {
        severity: "warning".to_owned(),
        message: told.message,
        remedy: told.notes.join("; "),
    })
}

/// Whether the next sync brings a skill, to `agent` or to anybody, which is not there yet.
fn is_planned(view: &SkillView<'_>, agent: Option<Agent>) -> bool {
    let (sees, finds) = match agent {
        Some(agent) => (view.agents.contains(&agent), view.placed.contains(&agent)),
        None => (!view.agents.is_empty(), !view.placed.is_empty()),
    };
    view.pending.is_some() && sees && !finds
}

fn state_of(health: &Health, what: &str, problems: &mut Vec<Problem>) -> State {
    let (state, severity, message, remedy) = match health {
        Health::Fine => return State::Ok,
        // What the next sync does is told there.
        Health::Pending => return State::Pending,
        Health::Edited(why) => {
            let remedy = "nothing to do, if that is how you want it".to_owned();
            (State::LeftAlone, "note", format!("{what}: {why}"), remedy)
        }
        Health::LeftAlone(why) => {
            let remedy = "`cargo agents doctor` says what you can do".to_owned();
            (State::LeftAlone, "warning", format!("{what}: {why}"), remedy)
        }
        Health::Broken(why) => {
            let remedy = "mend the file, then `cargo agents sync`".to_owned();
            (State::Broken, "error", format!("{what}: {why}"), remedy)
        }
        Health::Unsupported(why) => {
            let remedy = "nothing can be done about it here".to_owned();
            (State::Unsupported, "note", format!("{what}: {why}"), remedy)
        }
    };
    problems.push(Problem { severity: severity.to_owned(), message, remedy });
    state
}

fn switched_off(state: State, topic: Topic, server: Option<&str>, found: &[Finding]) -> State {
    let off = found.iter().any(|finding| {
        let of_another = finding.server.is_some() && finding.server.as_deref() != server;
        finding.topic == topic && finding.severity.is_some() && !of_another
    });
    if state == State::Ok && off { State::Off } else { state }
}

fn plugins(
    survey: &Survey<'_>,
    views: &[SkillView<'_>],
    obstructed: &[Obstructed<'_>],
) -> Vec<PluginStatus> {
    let Some(known) = &survey.planned else {
        let entries = survey.inputs.registry.plugins.iter();
        return entries.map(|entry| outside_of_a_workspace(survey, entry)).collect();
    };
    let fetcher = Network::new(&survey.inputs.sym);
    let acquirer = Acquirer::new(&survey.inputs.sym, &fetcher);
    let fates = known.facts.plugins.iter();
    let waiting = known.facts.waiting.as_slice();
    let status = |fate: &PluginFate<'_>| {
        let of_team = survey.inputs.team_of(fate.plugin).is_some();
        of_plugin(fate, (views, obstructed), waiting, (&acquirer, of_team))
    };
    fates.map(status).collect()
}

/// A plugin where there is no workspace, or none that can be read.
fn outside_of_a_workspace(survey: &Survey<'_>, entry: &PluginEntry) -> PluginStatus {
    let (sym, plugin) = (&survey.inputs.sym, &entry.plugin);
    let facts = survey.inputs.outside();
    let own = evaluate_plugin(plugin, &facts);
    let (state, reason) =
        match (&entry.shadowed_by, sym.config.plugins.disabled_by(&plugin.name, None)) {
            (Some(shadow), _) => (PluginState::Shadowed, shadow.to_string()),
            (None, Some(reason)) => (PluginState::Off, reason.to_owned()),
            (None, None) if own.holds => (PluginState::Active, own.reason),
            (None, None) if survey.inputs.trouble.is_some() => {
                (PluginState::Inactive, UNREAD_WORKSPACE.to_owned())
            }
            (None, None) => (PluginState::Inactive, own.reason),
        };
    let trust = Trust::of(sym, &UNOBSERVED);
    let mut waiting = Vec::new();
    let mut holds = |gate: &Gate, kind: PartKind, name: &str| {
        if state != PluginState::Active || !evaluate_all(&[&plugin.gate, gate], &facts).holds {
            return false;
        }
        let why = trust.waits(plugin, kind, name);
        waiting.extend(why.map(|why| WaitingStatus::new(kind, name, why)));
        why.is_none()
    };
    let hooks = plugin.hooks.iter().filter(|it| holds(&it.gate, PartKind::Hook, &it.name));
    let hooks = hooks.map(|hook| hook.name.clone()).collect();
    let servers = plugin.servers.iter().filter(|it| holds(&it.gate, PartKind::Server, &it.name));
    let servers = servers.map(|server| server.name.clone()).collect();
    let subcommands = plugin.subcommands.iter();
    let subcommands = subcommands.filter(|it| holds(&it.gate, PartKind::Subcommand, &it.name));
    let subcommands = subcommands.map(|found| found.name.clone()).collect();
    PluginStatus {
        name: entry.plugin.name.clone(),
        source: entry.plugin.source.clone(),
        of_team: survey.inputs.team_of(&entry.plugin).is_some(),
        format: entry.plugin.format(),
        version: entry.plugin.version.clone(),
        kind: entry.plugin.kind(),
        manifest: entry.plugin.manifest.clone(),
        state,
        reason,
        skills: 0,
        planned_skills: 0,
        hooks,
        servers,
        subcommands,
        waiting,
        may_run: Vec::new(),
        problems: Vec::new(),
    }
}

fn of_plugin(
    fate: &PluginFate<'_>,
    (views, obstructed): (&[SkillView<'_>], &[Obstructed<'_>]),
    waiting: &[Waiting],
    (acquirer, of_team): (&Acquirer<'_>, bool),
) -> PluginStatus {
    let plugin = fate.plugin;
    let owner = Owner::of(plugin);
    let waiting = waiting.iter().filter(|it| it.owner == owner);
    let held = |kind: Kind| {
        let parts = fate.parts.iter().filter(move |part| part.is_in_force() && part.kind == kind);
        parts.map(|part| part.index)
    };
    let hooks = held(Kind::Hooks).filter_map(|index| plugin.hooks.get(index));
    let servers = held(Kind::Server).filter_map(|index| plugin.servers.get(index));
    let subcommands = held(Kind::Subcommand).filter_map(|index| plugin.subcommands.get(index));
    let brought = |view: &&SkillView<'_>| view.skill.plugin.as_deref() == Some(&plugin.name);
    let active = fate.verdict == Verdict::Matched;
    let skills = || views.iter().filter(brought).filter(|_| active);
    let problems = obstructed.iter().filter(|found| found.plugin.manifest == plugin.manifest);
    PluginStatus {
        name: plugin.name.clone(),
        source: plugin.source.clone(),
        of_team,
        format: plugin.format(),
        version: plugin.version.clone(),
        kind: plugin.kind(),
        manifest: plugin.manifest.clone(),
        state: match fate.verdict {
            Verdict::Matched => PluginState::Active,
            Verdict::Shadowed => PluginState::Shadowed,
            Verdict::Disabled => PluginState::Off,
            Verdict::Skipped | Verdict::Unavailable => PluginState::Inactive,
        },
        reason: fate.reason.clone(),
        skills: skills().filter(|view| !view.placed.is_empty()).count(),
        planned_skills: skills().filter(|view| is_planned(view, None)).count(),
        hooks: hooks.map(|hook| hook.name.clone()).collect(),
        servers: servers.map(|server| server.name.clone()).collect(),
        subcommands: subcommands.map(|subcommand| subcommand.name.clone()).collect(),
        waiting: waiting.map(WaitingStatus::of).collect(),
        may_run: programs(fate, acquirer),
        problems: problems.map(problem_of).collect(),
    }
}

fn problem_of(found: &Obstructed<'_>) -> Problem {
    Problem {
        severity: if found.is_grave() { "warning" } else { "note" }.to_owned(),
        message: found.told(),
        remedy: found.obstacle.remedy.clone(),
    }
}

fn of_skill(view: &SkillView<'_>) -> SkillStatus {
    let (kind, version) = match &view.skill.origin {
        SkillOrigin::Crate { version, .. } => ("crate", Some(version.to_string())),
        SkillOrigin::Git { commit, .. } => ("git", Some(commit.clone())),
        SkillOrigin::Source { .. } => ("source", None),
        SkillOrigin::Workspace { .. } => ("workspace", None),
    };
    let state = match (view.pending, &view.left_alone) {
        (Some(_), _) => State::Pending,
        (None, Some(_)) => State::LeftAlone,
        (None, None) => State::Ok,
    };
    SkillStatus {
        name: view.name.clone(),
        origin_kind: kind.to_owned(),
        origin: shown_origin(view.skill),
        version,
        plugin: view.skill.plugin.clone(),
        folders: view.folders.clone(),
        agents: view.agents.iter().map(|agent| agent.name().to_owned()).collect(),
        state,
        reason: view.left_alone.clone(),
    }
}
