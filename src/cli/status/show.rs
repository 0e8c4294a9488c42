//! `status` as people read it.

use std::path::Path;
use std::time::SystemTime;

use super::gather::LastSync;
use super::model::{AgentStatus, PluginState, PluginStatus, SkillStatus, State, Status, Trouble};
use crate::cli::screen::{Screen, column, count};
use crate::plugins::source::age;
use crate::report::{Change, Verbosity, short_path};

/// How many lines a list has at most, but with `-v`.
const MOST: usize = 12;
/// The widest column of names.
const NAMES: usize = 24;

/// What the screen needs to know besides the status.
pub(super) struct View<'a> {
    pub(super) width: usize,
    pub(super) home: Option<&'a Path>,
    pub(super) verbosity: Verbosity,
    pub(super) synced: Option<LastSync>,
}

impl View<'_> {
    fn most(&self) -> usize {
        if self.verbosity >= Verbosity::Verbose { usize::MAX } else { MOST }
    }
}

pub(super) fn show(status: &Status, view: &View<'_>) -> String {
    let mut screen = Screen::new(view.width);
    workspace(&mut screen, status, view);
    agents(&mut screen, status, view);
    plugins(&mut screen, &status.plugins, view);
    skills(&mut screen, &status.skills, view);
    candidates(&mut screen, status, view);
    next(&mut screen, &status.next_sync, view);
    let warnings = status.warnings.len() - status.errors.len();
    if !status.errors.is_empty() {
        screen.heading("Errors");
        status.errors.iter().for_each(|error| screen.line(2, error));
    }
    if warnings > 0 {
        screen.heading("Warnings");
        if view.verbosity >= Verbosity::Verbose {
            let told = status.warnings.iter().filter(|warning| !status.errors.contains(warning));
            told.for_each(|warning| screen.line(2, warning));
        } else {
            let number = count(warnings, "warning");
            screen.line(2, &format!("{number}: `cargo agents doctor` tells, and says what to do"));
        }
    }
    screen.finish()
}

fn workspace(screen: &mut Screen, status: &Status, view: &View<'_>) {
    screen.heading("Workspace");
    if let Some(trouble) = &status.workspace_trouble {
        troubled(screen, "it can't be read", trouble, view);
        return;
    }
    let Some(workspace) = &status.workspace else {
        screen.line(2, "none: there is no Cargo.toml in this folder or above it");
        return;
    };
    screen.line(2, &short_path(&workspace.root, view.home));
    let dependencies = match workspace.dependencies {
        1 => "1 direct dependency".to_owned(),
        number => format!("{number} direct dependencies"),
    };
    screen.line(2, &format!("{}, {dependencies}", count(workspace.members, "member")));
    let synced = match view.synced {
        Some(LastSync { at, failed }) => {
            let outcome = if failed { " with errors" } else { "" };
            format!("synced {}{outcome}", age(SystemTime::now(), at))
        }
        None if !status.by_hand.is_empty() => "synced by hand".to_owned(),
        None => "never synced".to_owned(),
    };
    let waiting = Change::count(&status.next_sync);
    let next = match waiting {
        _ if status.configuration_trouble.is_some() => {
            "nothing is synced until the configuration can be read".to_owned()
        }
        0 if !status.errors.is_empty() => "a sync can't do more: see the errors".to_owned(),
        0 => "nothing to do".to_owned(),
        number => format!("{} for `cargo agents sync`", count(number, "change")),
    };
    screen.line(2, &format!("{synced}, {next}"));
    if let Some(team) = &status.team_file {
        match (&team.notice, &team.remedy) {
            (Some(notice), Some(remedy)) => screen.line(2, &format!("{notice}; {remedy}")),
            _ => {
                screen.line(2, &format!("symposium.toml is in force: {}", team.in_force.join(", ")))
            }
        }
    }
    status.absent.iter().for_each(|told| screen.line(2, told));
    for source in &status.unfetched {
        screen.line(
            2,
            &format!(
                "the plugin source {source} was not fetched yet, so it is not known what it has; \
                 `cargo agents plugin sync {source}` fetches it"
            ),
        );
    }
}

fn troubled(screen: &mut Screen, what: &str, trouble: &Trouble, view: &View<'_>) {
    screen.line(2, &format!("{what}: {}", trouble.message));
    if let Some(place) = &trouble.location {
        let numbers = [place.line, place.column].into_iter().flatten();
        let numbers: String = numbers.map(|number| format!(":{number}")).collect();
        screen.line(2, &format!("{}{numbers}", short_path(&place.path, view.home)));
    }
    screen.line(2, &format!("remedy: {}", trouble.remedy));
}

fn agents(screen: &mut Screen, status: &Status, view: &View<'_>) {
    screen.heading("Agents");
    if let Some(trouble) = &status.configuration_trouble {
        troubled(screen, "not known, for the configuration can't be read", trouble, view);
    } else if status.agents.is_empty() {
        screen.line(2, "none are configured: `cargo agents init`");
    }
    let width = column(status.agents.iter().map(|agent| agent.name.as_str()), NAMES);
    for agent in &status.agents {
        screen.entry(&agent.name, width, &agent_lines(agent, view));
    }
    for placed in &status.by_hand {
        screen.line(2, &format!("{}: {}", placed.told(), placed.remedy()));
    }
}

fn mark(state: State) -> &'static str {
    match state {
        State::Ok => "✓",
        State::Pending => "…",
        State::Unsupported => "–",
        _ => "!",
    }
}

fn agent_lines(agent: &AgentStatus, view: &View<'_>) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(hooks) = &agent.hooks {
        // Parts must not be torn: no-break spaces hold them together while lines are wrapped.
        parts.push(format!("hooks\u{a0}{}\u{a0}{}", hooks.scope, mark(hooks.state)));
    }
    if !agent.servers.is_empty() {
        let states = agent.servers.iter().map(|server| server.state);
        let worst = states.max_by_key(|state| match state {
            State::Ok => 0,
            State::Unsupported => 1,
            State::Pending => 2,
            State::LeftAlone | State::Broken | State::Off | State::CantStart => 3,
        });
        let number = agent.servers.len();
        parts.push(format!("servers\u{a0}{number}\u{a0}{}", mark(worst.unwrap_or(State::Ok))));
    }
    parts.push(format!("skills\u{a0}{}", agent.skills));
    if agent.planned_skills > 0 {
        parts.push(format!("{}\u{a0}planned\u{a0}…", agent.planned_skills));
    }
    let any = agent.skills + agent.planned_skills > 0;
    if let Some(budget) = agent.description_budget.filter(|_| any) {
        let mark = if agent.descriptions > budget { "!" } else { "✓" };
        let (used, most) = (kilo(agent.descriptions), kilo(budget));
        parts.push(format!("descriptions\u{a0}{used}\u{a0}of\u{a0}{most}\u{a0}kB\u{a0}{mark}"));
    }
    let mut lines = vec![parts.join("   ")];
    let verbose = view.verbosity >= Verbosity::Verbose;
    for problem in &agent.problems {
        match problem.severity.as_str() {
            "note" if !verbose => {}
            "note" => lines.push(format!("– {}: {}", problem.message, problem.remedy)),
            _ => lines.push(format!("! {}: {}", problem.message, problem.remedy)),
        }
    }
    if verbose {
        let files = agent.hooks.iter().flat_map(|hooks| &hooks.files);
        lines.extend(files.map(|file| format!("hooks in {}", short_path(file, view.home))));
        for server in &agent.servers {
            let place = server.file.as_deref().map(|file| short_path(file, view.home));
            let place = place.unwrap_or_else(|| "no file".to_owned());
            lines.push(format!("server {} {} in {place}", server.name, mark(server.state)));
        }
    }
    lines
}

/// `6.1` of 6,100.
fn kilo(characters: usize) -> String {
    format!("{}.{}", characters / 1000, characters % 1000 / 100)
}

fn plugins(screen: &mut Screen, plugins: &[PluginStatus], view: &View<'_>) {
    if plugins.is_empty() {
        return;
    }
    screen.heading("Plugins");
    let names = column(plugins.iter().map(|plugin| plugin.name.as_str()), NAMES);
    let (active, rest): (Vec<_>, Vec<_>) =
        plugins.iter().partition(|plugin| plugin.state == PluginState::Active);
    for plugin in active.iter().take(view.most()) {
        let label = label(plugin, names);
        let mut lines = vec![plugin.reason.clone()];
        lines.extend(plugin.of_team.then(|| "from the team's symposium.toml".to_owned()));
        lines.extend(offers(plugin));
        lines.extend(waiting(plugin));
        for program in &plugin.may_run {
            let missing = program.missing();
            let commands = match program.install_commands.len() {
                0 => String::new(),
                number => format!(", installed with {}", count(number, "shell command")),
            };
            let line = format!("may run {}{missing}{commands}", program.what);
            // Several installations may be one script, called with other arguments.
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let problems = plugin.problems.iter();
        lines.extend(problems.map(|found| format!("! {}: {}", found.message, found.remedy)));
        screen.entry(&label, names + 10, &lines);
    }
    for plugin in rest.iter().take(view.most().saturating_sub(active.len())) {
        let label = label(plugin, names);
        let reason = match plugin.state {
            // Several sources may have one of the name.
            PluginState::Shadowed => {
                format!("the one of source `{}`: {}", plugin.source, plugin.reason)
            }
            _ => plugin.reason.clone(),
        };
        screen.entry(&label, names + 10, &[reason]);
    }
    more(screen, plugins.len(), view);
}

fn label(plugin: &PluginStatus, names: usize) -> String {
    let kind = plugin.kind.as_ref().map(|kind| format!("  {kind}")).unwrap_or_default();
    format!("{:names$}  {}{kind}", plugin.name, plugin.state.label())
}

/// `! hook guard waits (not allowed yet): …`, and what was denied.
fn waiting(plugin: &PluginStatus) -> Vec<String> {
    let listed = |denied: bool| {
        let parts = plugin.waiting.iter().filter(|part| part.denied == denied);
        let told = parts.map(|part| match denied {
            true => format!("{} {}", part.kind, part.name),
            false => format!("{} {} ({})", part.kind, part.name, part.reason),
        });
        told.collect::<Vec<_>>().join(", ")
    };
    let mut lines = Vec::new();
    let name = &plugin.name;
    if let waits = listed(false)
        && !waits.is_empty()
    {
        lines.push(format!("! does not run: {waits}; `cargo agents plugin review {name}`"));
    }
    if let denied = listed(true)
        && !denied.is_empty()
    {
        lines.push(format!("denied: {denied}; `cargo agents plugin allow {name}` takes it back"));
    }
    lines
}

/// `2 skills, server sqlx-tools, hooks a and b`.
fn offers(plugin: &PluginStatus) -> Option<String> {
    let mut parts = Vec::new();
    if plugin.skills > 0 {
        parts.push(count(plugin.skills, "skill"));
    }
    if plugin.planned_skills > 0 {
        parts.push(format!("{} planned", count(plugin.planned_skills, "skill")));
    }
    for (names, one) in
        [(&plugin.hooks, "hook"), (&plugin.servers, "server"), (&plugin.subcommands, "subcommand")]
    {
        if !names.is_empty() {
            let plural = if names.len() == 1 { "" } else { "s" };
            parts.push(format!("{one}{plural} {}", names.join(" ")));
        }
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn skills(screen: &mut Screen, skills: &[SkillStatus], view: &View<'_>) {
    if skills.is_empty() {
        return;
    }
    screen.heading("Skills");
    let width = column(skills.iter().map(|skill| skill.name.as_str()), NAMES + 8);
    for skill in skills.iter().take(view.most()) {
        let seen = match skill.agents.as_slice() {
            [] => "no configured agent".to_owned(),
            agents => agents.join(" "),
        };
        let when = if skill.state == State::Pending { " (next sync)" } else { "" };
        let mut lines = vec![format!("{} → {seen}{when}", skill.origin)];
        lines.extend(skill.reason.iter().map(|reason| format!("! {reason}")));
        if view.verbosity >= Verbosity::Verbose {
            lines.extend(skill.folders.iter().map(|folder| format!("in {folder}")));
        }
        screen.entry(&skill.name, width, &lines);
    }
    more(screen, skills.len(), view);
}

fn more(screen: &mut Screen, all: usize, view: &View<'_>) {
    let left = all.saturating_sub(view.most());
    if left > 0 {
        screen.line(2, &format!("and {left} more: `cargo agents status -v`"));
    }
}

fn candidates(screen: &mut Screen, status: &Status, view: &View<'_>) {
    let crates = status.candidates.iter().map(|candidate| {
        let skills = match candidate.skills.len() {
            0 => "skills of another crate".to_owned(),
            number => count(number, "skill"),
        };
        let label = format!("{} {}", candidate.name, candidate.version);
        (label, &candidate.name, format!("ships {skills} that no plugin source vouches for"))
    });
    let plugins = status.suggestions.iter().map(|found| {
        let offers = format!("a plugin that {} suggests: {}", found.source, found.offers);
        (found.name.clone(), &found.name, offers)
    });
    let all: Vec<_> = crates.chain(plugins).collect();
    if all.is_empty() {
        return;
    }
    screen.heading("Candidates");
    let width = column(all.iter().map(|(label, ..)| label.as_str()), NAMES);
    for (label, name, what) in all.iter().take(view.most()) {
        let remedy = format!("`cargo agents use {name}` to take, `--remove` to decline");
        screen.entry(label, width, &[what.clone(), remedy]);
    }
    more(screen, all.len(), view);
}

fn next(screen: &mut Screen, changes: &[Change], view: &View<'_>) {
    if changes.is_empty() {
        return;
    }
    screen.heading("Next sync");
    let width = column(changes.iter().map(|change| change.action.future()), NAMES);
    for change in changes.iter().take(view.most()) {
        let mut text = change.name.clone();
        if let Some(origin) = &change.origin {
            text.push_str(&format!("  {origin}"));
        }
        if !change.places.is_empty() {
            text.push_str(&format!(" → {}", change.shown_places()));
        }
        if let Some(reason) = &change.reason {
            text.push_str(&format!(": {reason}"));
        }
        screen.entry(change.action.future(), width, &[text]);
    }
    more(screen, changes.len(), view);
}
