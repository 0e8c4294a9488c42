//! `status --use`: how often agents read each skill, and what its description costs.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::cli::screen::{Screen, column, count};
use crate::hook::{AgentReads, skill_reads};
use crate::plugins::source::age;
use crate::report::Reporter;
use crate::sync::survey::{SkillView, Survey};
use crate::text::Diagnostic;

/// The widest column of names.
const NAMES: usize = 32;
/// The last second that RFC 3339 can write, since 1970.
const LAST_SECOND: u64 = 253_402_300_799;

/// What `status --use --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Usage {
    /// The workspace's root; left out outside of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathBuf>,
    /// When the first session began of which something is known, in RFC 3339; left out where there was
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The skills that are installed here, those that are read most first.
    pub skills: Vec<SkillUse>,
    /// Agents among those that see the skills of which it is not known that they tell when they read
    /// one.
    pub not_told_by: Vec<String>,
    /// Files that can't be read, so that what they note is not counted.
    pub unreadable: Vec<Unreadable>,
}

/// How one skill is used.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SkillUse {
    /// The name it is installed under.
    pub name: String,
    /// Bytes of its description, which each session of an agent that sees it begins with.
    pub description_bytes: usize,
    /// How often it was read, as far as agents tell.
    pub reads: u64,
    /// When last, in RFC 3339; left out where it never was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_read_at: Option<String>,
    /// By whom, those who read it most first.
    pub by: Vec<ReadBy>,
    /// The agents that see it.
    pub agents: Vec<String>,
    /// For people.
    #[serde(skip)]
    last_at: u64,
}

/// How often an agent read a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ReadBy {
    /// The agent.
    pub agent: String,
    /// How often.
    pub reads: u64,
}

/// A file that can't be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Unreadable {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub problem: String,
}

/// What is known of the workspace's skills.
pub(super) fn gather(survey: &Survey<'_>) -> Usage {
    let Some(root) = survey.inputs.root() else {
        return Usage {
            workspace: None,
            since: None,
            skills: Vec::new(),
            not_told_by: Vec::new(),
            unreadable: Vec::new(),
        };
    };
    let known = skill_reads(&survey.inputs.sym.dirs, root);
    let views = survey.skills();
    let is_there = |folder: &String| root.join(folder).join("SKILL.md").is_file();
    let installed: Vec<_> = views.iter().filter(|view| view.folders.iter().any(is_there)).collect();
    let mut skills: Vec<_> = installed.iter().map(|view| of_skill(view, &known.reads)).collect();
    skills.sort_by(|one, other| {
        let most = (other.reads, other.description_bytes).cmp(&(one.reads, one.description_bytes));
        most.then_with(|| one.name.cmp(&other.name))
    });
    let sees = |agent| installed.iter().any(|view| view.agents.contains(agent));
    let silent = survey.agents.iter().filter(|agent| !agent.identity().tells_skill_reads);
    let unreadable = known.unreadable.into_iter();
    Usage {
        workspace: Some(root.to_path_buf()),
        since: known.since.and_then(rfc3339),
        skills,
        not_told_by: silent.filter(|agent| sees(agent)).map(|agent| agent.name().into()).collect(),
        unreadable: unreadable.map(|(path, problem)| Unreadable { path, problem }).collect(),
    }
}

fn of_skill(view: &SkillView<'_>, reads: &[AgentReads]) -> SkillUse {
    let reads: Vec<_> = reads.iter().filter(|read| read.name == view.name).collect();
    let mut by: Vec<_> =
        reads.iter().map(|read| ReadBy { agent: read.agent.clone(), reads: read.count }).collect();
    by.sort_by(|one, other| other.reads.cmp(&one.reads).then_with(|| one.agent.cmp(&other.agent)));
    let last_at = reads.iter().map(|read| read.last_at).max().unwrap_or(0);
    SkillUse {
        name: view.name.clone(),
        description_bytes: view.skill.description.len(),
        reads: reads.iter().map(|read| read.count).sum(),
        last_read_at: Some(last_at).filter(|at| *at != 0).and_then(rfc3339),
        by,
        agents: view.agents.iter().map(|agent| agent.name().to_owned()).collect(),
        last_at,
    }
}

fn rfc3339(at: u64) -> Option<String> {
    let is_sane = at / 1_000 <= LAST_SECOND;
    is_sane.then(|| humantime::format_rfc3339_seconds(time(at)).to_string())
}

fn time(at: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(at)
}

/// `usage` as people read it; `trouble` is why the workspace can't be read.
pub(super) fn show(usage: &Usage, report: &Reporter, trouble: Option<&Diagnostic>) -> String {
    let mut screen = Screen::new(report.width());
    screen.heading("Workspace");
    match (&usage.workspace, trouble) {
        (Some(root), _) => screen.line(2, &report.path(root)),
        (None, Some(trouble)) => screen.line(2, &format!("it can't be read: {}", trouble.message)),
        (None, None) => screen.line(2, "none: there is no Cargo.toml in this folder or above it"),
    }
    if usage.workspace.is_some() {
        skills(&mut screen, usage);
    }
    if !usage.not_told_by.is_empty() {
        screen.heading("Not known");
        let agents = usage.not_told_by.join(", ");
        screen.line(2, &format!("not told by {agents}: whether, and how often, a skill is read"));
    }
    if !usage.unreadable.is_empty() {
        screen.heading("Warnings");
        for file in &usage.unreadable {
            let path = report.path(&file.path);
            let line =
                format!("{path} can't be read, so what it notes is not counted: {}", file.problem);
            screen.line(2, &line);
        }
    }
    screen.finish()
}

fn skills(screen: &mut Screen, usage: &Usage) {
    screen.heading("Skills");
    if usage.skills.is_empty() {
        screen.line(2, "none are installed: `cargo agents status` shows what applies");
        return;
    }
    let names = column(usage.skills.iter().map(|skill| skill.name.as_str()), NAMES);
    for skill in &usage.skills {
        let label = format!("{:names$}  {:>5} bytes", skill.name, skill.description_bytes);
        screen.entry(&label, names + 13, &[told(skill, usage)]);
    }
    let sum = |skills: &mut dyn Iterator<Item = &SkillUse>| -> usize {
        skills.map(|skill| skill.description_bytes).sum()
    };
    let all = sum(&mut usage.skills.iter());
    let idle = sum(&mut usage.skills.iter().filter(|skill| skill.reads == 0));
    let skills = count(usage.skills.len(), "skill");
    screen.line(
        2,
        &format!(
            "{skills}, {all} bytes of descriptions a session, {idle} of skills that nobody read"
        ),
    );
    match &usage.since {
        Some(since) => screen.line(2, &format!("noted since {}", since.get(..10).unwrap_or(since))),
        None => screen.line(2, "no session was noted yet"),
    }
}

/// `read 12 times, last 2 hours ago: claude 10, codex 2`.
fn told(skill: &SkillUse, usage: &Usage) -> String {
    if skill.reads > 0 {
        // No-break spaces hold a name and its number together while lines are wrapped.
        let by: Vec<_> =
            skill.by.iter().map(|by| format!("{}\u{a0}{}", by.agent, by.reads)).collect();
        let last = age(SystemTime::now(), time(skill.last_at));
        return format!("read {}, last {last}: {}", count_times(skill.reads), by.join(", "));
    }
    let tells = |agent: &&String| !usage.not_told_by.contains(agent);
    match skill.agents.iter().find(tells) {
        Some(_) => "never read".to_owned(),
        None if skill.agents.is_empty() => "seen by no configured agent".to_owned(),
        None => format!("not told by {}", skill.agents.join(", ")),
    }
}

fn count_times(times: u64) -> String {
    if times == 1 { "once".to_owned() } else { format!("{times} times") }
}
