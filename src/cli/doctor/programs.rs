//! Our program as the agents find it, and the agents' programs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use semver::Version;

use super::CheckContext;
use super::model::{Finding, Weight};
use crate::Symposium;
use crate::agents::Agent;
use crate::agents::command::PROGRAM;
use crate::config::HookScope;
use crate::installations::ObstacleKind;
use crate::plugins::trust::Waits;
use crate::plugins::trust::record::CRATES;
use crate::process::{Child, run};
use crate::report::Progress;
use crate::sync::facts::Waiting;
use crate::sync::registration::setup::Setup;
use crate::sync::survey::{Obstructed, Survey};

/// How long an agent's program may take to say its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) struct AgentProgram {
    pub(super) agent: Agent,
    /// Where it is on the user's `PATH`.
    pub(super) path: Option<PathBuf>,
    /// What it says.
    pub(super) version: Option<Version>,
}

/// Tells that agents are asked for their versions, which some take their time for, until the result
/// is dropped; where no program of theirs is here, nothing.
///
/// # Errors
/// When there is no home folder.
pub(super) fn busy(sym: &Symposium) -> anyhow::Result<Option<Progress>> {
    let setup = Setup::new(sym, None, false)?;
    let mut agents = sym.config.agents.iter().filter_map(|name| Agent::from_name(name));
    let any = agents.any(|agent| program_of(&setup, agent).is_some());
    Ok(any.then(|| sym.report.busy("Asking", "the agents for their versions")))
}

fn program_of(setup: &Setup<'_>, agent: Agent) -> Option<PathBuf> {
    agent.identity().programs.iter().find_map(|name| setup.find(name))
}

/// Finds the configured agents' programs and asks them, all at once, for their versions.
pub(super) fn ask(survey: &Survey<'_>) -> Vec<AgentProgram> {
    std::thread::scope(|scope| {
        let asked: Vec<_> = survey
            .agents
            .iter()
            .map(|agent| {
                let path = program_of(&survey.setup, *agent);
                let program = path.clone();
                (*agent, path, scope.spawn(move || program.and_then(version_of)))
            })
            .collect();
        asked
            .into_iter()
            .map(|(agent, path, version)| AgentProgram {
                agent,
                path,
                version: version.join().ok().flatten(),
            })
            .collect()
    })
}

fn version_of(program: PathBuf) -> Option<Version> {
    let child = Child::version(&program).limit(VERSION_TIMEOUT);
    let output = run(&child).ok().filter(crate::process::Output::success)?;
    read_version(&output.stdout_text())
}

/// The first word that is a version: `codex-cli 0.171.0`, `2.1.332 (Claude Code)`, `v1.18.33.`.
fn read_version(text: &str) -> Option<Version> {
    text.split_whitespace().find_map(|word| {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        Version::parse(word.strip_prefix('v').unwrap_or(word)).ok()
    })
}

/// `cargo-agents` is there under the name or path by which agents call it.
pub(super) fn own_program(context: &CheckContext<'_>) -> Vec<Finding> {
    let survey = context.survey;
    let mut findings: Vec<Finding> = Vec::new();
    if survey.agents.is_empty() {
        return findings;
    }
    for note in &survey.notes {
        findings.push(Finding::of("program-not-found", Weight::Warning, note, "put it on PATH"));
    }
    let found = survey.setup.find(PROGRAM);
    let by_name = survey.inputs.sym.config.hook_scope == HookScope::Project;
    let from_desktop = survey.setup.find_from_desktop(PROGRAM).filter(|_| by_name);
    if by_name && found.is_none() {
        let message =
            format!("`{PROGRAM}` is not on your PATH, and a project's hooks call it by name");
        findings.push(
            Finding::new("program-not-found", Weight::Warning, message)
                .remedy("put cargo's `bin` folder on PATH"),
        );
    } else if by_name && from_desktop.is_none() {
        let message = format!(
            "`{PROGRAM}` is not where agents that are started from a desktop look for it, and a \
             project's hooks call it by name"
        );
        let at = found.clone().unwrap_or_default();
        findings.push(
            Finding::new("program-not-found", Weight::Warning, message)
                .at(&at)
                .remedy(format!("`sudo ln -s {} /usr/local/bin/`", at.display())),
        );
    }
    let mut tried = vec![survey.setup.own_program()];
    for program in found.iter().chain(&from_desktop) {
        if !tried.contains(program) {
            findings.extend(is_broken(program));
            tried.push(program.clone());
        }
    }
    let other = found.as_ref().filter(|found| {
        let own = survey.setup.own_program();
        crate::files::canonicalize(found).ok() != crate::files::canonicalize(own).ok()
    });
    if let Some(other) = other {
        let message =
            format!("`{PROGRAM}` on your PATH is another file than the one that runs now");
        findings.push(Finding::new("another-program", Weight::Note, message).at(other).remedy(
            "if it is an old one: install Symposium again in its place, or remove the file",
        ));
    }
    findings
}

/// What an agent would start must start.
fn is_broken(program: &Path) -> Option<Finding> {
    let child = Child::version(program).limit(VERSION_TIMEOUT);
    let why = match run(&child) {
        Ok(output) if output.success() => return None,
        Ok(output) => {
            let text = output.stderr_text();
            let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            if line.is_empty() { "it fails".to_owned() } else { line.trim().to_owned() }
        }
        Err(error) => error.to_string(),
    };
    let message = format!("`{PROGRAM}` as agents find it does not run: {why}");
    Some(
        Finding::new("program-broken", Weight::Warning, message)
            .at(program)
            .remedy("install Symposium again in its place, or remove the file"),
    )
}

/// The agents' programs are here, in versions that were looked at.
pub(super) fn versions(context: &CheckContext<'_>) -> Vec<Finding> {
    context.versions.iter().filter_map(of_version).collect()
}

fn of_version(program: &AgentProgram) -> Option<Finding> {
    let (agent, title) = (program.agent, program.agent.title());
    let name = agent.identity().programs.first().copied().unwrap_or_default();
    let Some(path) = &program.path else {
        let message = format!("{title} is configured, but `{name}` is not on your PATH");
        let remedy = format!(
            "nothing to do where you use it in an editor; else install it, or `cargo agents init \
             --remove-agent {}`",
            agent.name()
        );
        return Some(
            Finding::new("agent-not-found", Weight::Note, message).of_agent(agent).remedy(remedy),
        );
    };
    let verified = Version::parse(agent.identity().verified_version?).ok()?;
    let Some(version) = &program.version else {
        let message = format!("`{name} --version` does not say which version it is");
        let finding = Finding::new("agent-version-unknown", Weight::Note, message).of_agent(agent);
        return Some(finding.at(path).remedy(format!("Symposium was tried with {verified}")));
    };
    if (version.major, version.minor) == (verified.major, verified.minor) {
        return None;
    }
    let (older, remedy) = if *version < verified {
        ("older", format!("update {title}, if something does not work as described"))
    } else {
        ("newer", "`cargo agents self-update`, if something does not work as described".to_owned())
    };
    let message =
        format!("{title} {version} is {older} than {verified}, with which Symposium was tried");
    Some(
        Finding::new("agent-version", Weight::Note, message)
            .of_agent(agent)
            .at(path)
            .remedy(remedy),
    )
}

/// What applies and may run by the user's word. What was denied is as the user wants it.
pub(super) fn waiting(context: &CheckContext<'_>) -> Vec<Finding> {
    let waiting = context.survey.planned.iter().flat_map(|planned| &planned.facts.waiting);
    let of = |found: &Waiting| {
        let Waiting { owner, kind, name, why } = found;
        let whose = if owner.source == CRATES { "crate" } else { "plugin" };
        let message = format!("{whose} {}, {kind} {name} does not run: {why}", owner.name);
        let remedy = format!("`cargo agents plugin review {}` shows it", owner.name);
        Finding::new("not-allowed", Weight::Warning, message).remedy(remedy)
    };
    waiting.filter(|found| found.why != Waits::Denied).map(of).collect()
}

/// What applies can be run: scripts, servers' programs, installations and requirements.
pub(super) fn of_plugins(context: &CheckContext<'_>) -> Vec<Finding> {
    let of = |found: &Obstructed<'_>| {
        let (code, weight) = match found.obstacle.kind {
            ObstacleKind::Missing => ("program-missing", Weight::Warning),
            ObstacleKind::Unusable => ("program-not-executable", Weight::Warning),
            ObstacleKind::Failed => ("install-failed", Weight::Warning),
            ObstacleKind::NotInstalled => ("not-installed", Weight::Warning),
            ObstacleKind::Installing => ("installing", Weight::Note),
        };
        let message = format!("plugin {}, {}", found.plugin.name, found.told());
        let finding = Finding::new(code, weight, message)
            .at(&found.plugin.manifest)
            .remedy(&found.obstacle.remedy);
        if found.obstacle.kind == ObstacleKind::NotInstalled { finding.fixable() } else { finding }
    };
    context.survey.obstructed().iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_programs_say_them() {
        for (text, version) in [
            ("codex-cli 0.171.0\n", "0.171.0"),
            ("2.1.332 (Claude Code)", "2.1.332"),
            ("GitHub Copilot CLI 1.0.102.\nRun /update", "1.0.102"),
            ("v1.18.33", "1.18.33"),
        ] {
            assert_eq!(read_version(text).map(|found| found.to_string()).as_deref(), Some(version));
        }
        assert_eq!(read_version("no idea 3"), None);
    }

    #[test]
    fn another_minor_version_is_worth_knowing_and_no_fault() {
        let of = |version: &str| {
            of_version(&AgentProgram {
                agent: Agent::Codex,
                path: Some("/bin/codex".into()),
                version: Version::parse(version).ok(),
            })
        };
        assert!(of("0.171.9").is_none());
        for (version, word) in [("0.172.0", "newer"), ("0.99.0", "older")] {
            let finding = of(version).expect("a finding");
            assert!(finding.message.contains(word), "{}", finding.message);
            assert_eq!(finding.severity, Weight::Note);
        }
    }
}
