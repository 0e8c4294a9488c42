//! `plugin test --eval`: an agent of the user's does the tasks of a skill's `evals/evals.json`, with the
//! skill and without it, and both results are shown side by side.
//!
//! [`file`](mod@file) reads the tasks, [`attempt`] has one done, [`show`] is what people see.

mod attempt;
mod file;
mod show;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::subject::{Kind, Subject};
use super::trial::Trial;
use crate::Symposium;
use crate::agents::headless::Tokens;
use crate::agents::{Agent, Identity};
use crate::cli::CommandResult;
use crate::cli::author_args::TestArgs;
use crate::cli::plugin::view::View;
use crate::cli::screen::count;
use crate::process::find_program;
use crate::report::{Event, ExitCode};
use crate::text::Diagnostic;
use attempt::Attempter;

/// What `--json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct Evaluated {
    pub agent: &'static str,
    pub skills: Vec<SkillEvaluated>,
}

/// A skill, and the tasks that it ships.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct SkillEvaluated {
    pub name: String,
    pub path: PathBuf,
    pub tasks: Vec<TaskDone>,
}

/// A task, done twice.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct TaskDone {
    pub id: String,
    pub prompt: String,
    /// What its author expects, for who compares.
    pub expected: Vec<String>,
    pub with: Attempt,
    pub without: Attempt,
}

/// One of both times.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct Attempt {
    /// What the agent said at the end.
    pub text: String,
    pub seconds: f64,
    /// Left out where the agent does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// The files that it made, changed or removed, with `+`, `~` or `-` before them.
    pub files: Vec<String>,
    /// Why nothing came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

pub(super) fn run(sym: &Symposium, args: &TestArgs, subjects: &[Subject]) -> CommandResult {
    let start = Instant::now();
    let (agent, program) = agent(sym, args)?;
    let limit = Duration::from_secs(args.eval_limit);
    let attempter = Attempter { sym, agent, program, more: &args.agent_args, limit };
    sym.report.event(&Event::status(
        "Note",
        format!("{} works on your account, twice a task", agent.title()),
    ));
    let mut evaluated = Evaluated { agent: agent.name(), skills: Vec::new() };
    for subject in subjects {
        for skill in skills(sym, subject)? {
            let Some(tasks) = file::read(&skill.dir)? else { continue };
            let mut done = SkillEvaluated {
                name: skill.name.clone(),
                path: skill.dir.clone(),
                tasks: Vec::new(),
            };
            for task in tasks {
                let what = format!("{} {}", skill.name, task.id);
                let _busy =
                    sym.report.busy("Running", &format!("{what}, with the skill and without"));
                let with = attempter.attempt(&skill, &task, true)?;
                let without = attempter.attempt(&skill, &task, false)?;
                done.tasks.push(TaskDone {
                    id: task.id,
                    prompt: task.prompt,
                    expected: task.expected,
                    with,
                    without,
                });
            }
            sym.report.result(&show::skill(sym, &done));
            evaluated.skills.push(done);
        }
    }
    let tasks: Vec<&TaskDone> = evaluated.skills.iter().flat_map(|skill| &skill.tasks).collect();
    if tasks.is_empty() {
        return Err(Diagnostic::error("no skill here has an `evals/evals.json` with tasks")
            .note("its format is that of agentskills.io: `{ \"evals\": [{ \"id\": 1, \"prompt\": \"…\" }] }`")
            .into());
    }
    let failed =
        tasks.iter().filter(|task| task.with.problem.is_some() || task.without.problem.is_some());
    let failed = failed.count();
    let summary = format!("{} by {}", count(tasks.len(), "task"), agent.name());
    let summary = if failed > 0 { format!("{summary}, {failed} failed") } else { summary };
    sym.report.json(&evaluated);
    sym.report.finished(start, summary, 0, false);
    Ok(if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The agent that is named, else the first configured one that can be asked without a screen.
fn agent(sym: &Symposium, args: &TestArgs) -> Result<(Agent, PathBuf), Diagnostic> {
    let named = match args.agent.as_slice() {
        [] => None,
        [name] => Some(Agent::from_name(name).ok_or_else(|| Agent::unknown(name))?),
        _ => return Err(Diagnostic::error("tasks are given to one agent: name it once")),
    };
    let configured = sym.config.agents.iter().filter_map(|name| Agent::from_name(name));
    let candidates: Vec<Agent> = match named {
        Some(agent) => vec![agent],
        None => configured.chain(Agent::ALL).collect(),
    };
    let path = sym.env.var("PATH").unwrap_or_default();
    let here = sym.env.cwd().map(PathBuf::from).unwrap_or_default();
    let found = |identity: &Identity| {
        let mut programs = identity.programs.iter();
        programs.find_map(|program| find_program(OsStr::new(program), path, &here))
    };
    for agent in &candidates {
        if agent.identity().headless.is_some()
            && let Some(program) = found(agent.identity())
        {
            return Ok((*agent, program));
        }
    }
    Err(match named {
        Some(agent) if agent.identity().headless.is_none() => {
            let title = agent.title();
            Diagnostic::error(format!("how {title} is asked without a screen is not known"))
                .note("name another with `--agent`")
        }
        Some(agent) => {
            let program = agent.identity().programs.first().copied().unwrap_or_default();
            Diagnostic::error(format!("`{program}` is not on your PATH"))
        }
        None => Diagnostic::error("no agent is on your PATH that can be asked without a screen")
            .note("name one with `--agent`"),
    })
}

/// A skill that could have tasks.
pub(super) struct EvaluatedSkill {
    name: String,
    dir: PathBuf,
    root: PathBuf,
}

/// The skills in the subject's own folders.
fn skills(sym: &Symposium, subject: &Subject) -> anyhow::Result<Vec<EvaluatedSkill>> {
    let trial = Trial::new(sym, subject, &super::workspace::Wanted::ByGates)?;
    let view = View::load(&trial.sym);
    let offers = match trial.plugin_in(&view.registry) {
        Some(plugin) => view.groups(plugin).into_iter().flat_map(|group| group.skills).collect(),
        None if subject.kind == Kind::Skill => {
            let skill = view.skill(&subject.source, &subject.dir);
            vec![skill.map_err(|problem| Diagnostic::error(problem).in_file(&subject.dir))?]
        }
        None => Vec::new(),
    };
    let skill = |offer: crate::cli::plugin::offer::SkillOffer| {
        let dir = offer.path.parent()?.to_path_buf();
        // A skill that was fetched is somebody else's.
        let inside = dir.starts_with(&subject.source).then(|| subject.source.clone());
        Some(EvaluatedSkill { name: offer.name, root: inside?, dir })
    };
    Ok(offers.into_iter().filter_map(skill).collect())
}
