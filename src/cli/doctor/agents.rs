//! Agents' files, what of ours is in them, and what the agents' settings make of it.

use std::path::PathBuf;

use super::Patient;
use super::model::{Finding, Weight};
use crate::agents::Agent;
use crate::agents::places::{FileFormat, HookShape, ServerPlace};
use crate::config::HookScope;
use crate::documents::{Document, read_text};
use crate::plugins::model::{Gate, McpServer, Transport};
use crate::report::{Action, Kind};
use crate::sync::survey::{Health, described};
use crate::text::Diagnostic;

const BY_SYNC: &str = "`cargo agents sync`";

/// Every file of the configured agents that could carry something of ours parses as its agent
/// reads it, whether something of ours is in it or not.
pub(super) fn files(patient: &Patient<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut seen: Vec<PathBuf> = Vec::new();
    for agent in &patient.survey.agents {
        for (path, format) in places(patient, *agent) {
            if seen.contains(&path) {
                continue;
            }
            let problem = match read_text(&path) {
                Ok(Some(text)) => Document::open(&path, Some(&text), format).err(),
                Ok(None) => None,
                Err(problem) => Some(problem),
            };
            seen.push(path);
            if let Some(problem) = problem {
                let remedy = "mend the file: Symposium leaves it alone until then";
                findings.push(
                    Finding::of("file-broken", Weight::Error, &problem, remedy).of_agent(*agent),
                );
            }
        }
    }
    findings
}

/// The files that an agent's hooks and servers go to, at either scope.
fn places(patient: &Patient<'_>, agent: Agent) -> Vec<(PathBuf, FileFormat)> {
    // Any server will do: the question is only which files there are.
    let server = McpServer {
        name: "symposium".to_owned(),
        gate: Gate::default(),
        transport: Transport::Stdio { command: String::new(), args: Vec::new(), env: Vec::new() },
    };
    let mut places = Vec::new();
    for scope in [HookScope::Global, HookScope::Project] {
        let placement = patient.survey.setup.placement(agent, scope, "");
        for place in agent.spec().hooks(&placement) {
            if let HookShape::Shared { rules, .. } = place.shape {
                places.push((place.path, FileFormat::Json(rules)));
            }
        }
        for everywhere in [true, false] {
            let place = agent.spec().server(&server, everywhere, &placement);
            if let ServerPlace::Entry { path, format, .. } = place {
                places.push((path, format));
            }
        }
    }
    places
}

/// What should be registered is.
pub(super) fn registered(patient: &Patient<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if patient.is_blind() {
        return findings;
    }
    if patient.survey.agents.is_empty() {
        let message = "no agent is configured";
        findings.push(
            Finding::new("no-agents", Weight::Warning, message).remedy("`cargo agents init`"),
        );
    }
    for agent in &patient.survey.agents {
        if let Some(hooks) = patient.survey.hooks_of(*agent) {
            let file = hooks.files.first().cloned();
            findings.extend(of_health(patient, *agent, "hooks", &hooks.health, file));
        }
        for server in patient.survey.servers_of(*agent) {
            let what = format!("server `{}`", server.name);
            findings.extend(of_health(patient, *agent, &what, &server.health, server.file));
        }
    }
    findings
}

fn of_health(
    patient: &Patient<'_>,
    agent: Agent,
    what: &str,
    health: &Health,
    file: Option<PathBuf>,
) -> Option<Finding> {
    let finding = match health {
        Health::Fine => return None,
        Health::Pending => {
            let message = format!("{what}: not registered yet, or out of date");
            Finding::new("not-registered", Weight::Warning, message).remedy(BY_SYNC).fixable()
        }
        Health::LeftAlone(why) => {
            let notes = patient.survey.registered.diagnostics.iter();
            let note =
                notes.filter(|known| known.message == *why).find_map(|known| known.notes.first());
            let remedy = note.map_or("remove it to get Symposium's", String::as_str);
            Finding::new("left-alone", Weight::Warning, format!("{what}: {why}")).remedy(remedy)
        }
        // The file's own finding says what is wrong with it.
        Health::Broken(_) if file.is_some() => return None,
        Health::Broken(why) => Finding::new("file-broken", Weight::Error, format!("{what}: {why}"))
            .remedy("mend the file"),
        Health::Unsupported(why) => {
            let message = format!("{what}: {why}");
            Finding::new("unsupported", Weight::Note, message).remedy("other agents can use it")
        }
    };
    let finding = finding.of_agent(agent);
    Some(match file {
        Some(file) => finding.at(file),
        None => finding,
    })
}

/// Hooks in one scope only, servers in one file only.
pub(super) fn twice(patient: &Patient<'_>) -> Vec<Finding> {
    let survey = patient.survey;
    let mut findings = Vec::new();
    for agent in &survey.agents {
        let other = survey.changes().into_iter().any(|change| {
            change.kind == Kind::Hooks
                && change.action == Action::Unregister
                && change.places == [agent.name()]
        });
        if other {
            let also = if agent.spec().runs_both_scopes() {
                "and would run twice"
            } else {
                "where they are not configured to be"
            };
            let message = format!("hooks are registered in the other scope, too, {also}");
            findings.push(
                Finding::new("registered-twice", Weight::Warning, message)
                    .of_agent(*agent)
                    .remedy("`cargo agents doctor --fix`")
                    .fixable(),
            );
        }
        findings.extend(servers_twice(patient, *agent));
    }
    findings
}

/// A server of the same name in the agent's other file: one of them hides the other.
fn servers_twice(patient: &Patient<'_>, agent: Agent) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Some(known) = &patient.survey.known else { return findings };
    let scope = patient.survey.ground.sym.config.hook_scope;
    let placement = patient.survey.setup.placement(agent, scope, "");
    for (_, server, everywhere) in &known.facts.servers {
        let ServerPlace::Entry { path, format, mut table, .. } =
            agent.spec().server(server, !everywhere, &placement)
        else {
            continue;
        };
        table.push(server.name.clone());
        let Ok(Some(text)) = read_text(&path) else { continue };
        let Ok(document) = Document::open(&path, Some(&text), format) else { continue };
        if let Ok(Some(_)) = document.get(&table) {
            let message =
                format!("there is another server `{}`, and one hides the other", server.name);
            findings.push(
                Finding::new("server-twice", Weight::Warning, message)
                    .of_agent(agent)
                    .at(path)
                    .remedy("remove the one that you do not want"),
            );
        }
    }
    findings
}

/// Hooks that are switched off, folders that are not trusted, files that an agent will not read.
pub(super) fn switches(patient: &Patient<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for agent in &patient.survey.agents {
        let version = patient.versions.iter().find(|known| known.agent == *agent);
        let version = version.and_then(|known| known.version.as_ref());
        for found in patient.survey.checkup(*agent, patient.skills, version) {
            // The check for duplicates tells the same.
            if found.code == "registered-twice" && !twice(patient).is_empty() {
                continue;
            }
            let weight = found.severity.map_or(Weight::Note, Weight::from);
            let mut finding = Finding::new(found.code, weight, found.message)
                .of_agent(*agent)
                .remedy(found.remedy);
            if let Some(file) = found.file {
                finding = finding.at(file);
            }
            findings.push(finding);
        }
    }
    findings
}

/// The list of skills' descriptions is not cut.
pub(super) fn budget(patient: &Patient<'_>) -> Vec<Finding> {
    let agents = patient.survey.agents.iter();
    agents
        .filter_map(|agent| {
            let most = agent.spec().description_budget()?;
            let used = described(patient.skills, *agent);
            let message = format!(
                "skills' names and descriptions take {used} characters, and about {most} are shown \
                 to the model"
            );
            (used > most).then(|| {
                Finding::new("descriptions-too-long", Weight::Warning, message)
                    .of_agent(*agent)
                    .remedy("leave plugins or crates out: `cargo agents use NAME --remove`")
            })
        })
        .collect()
}

/// Whether a diagnostic tells what [`budget`] tells.
pub(super) fn is_about_budget(diagnostic: &Diagnostic) -> bool {
    diagnostic.message.starts_with("the skills' descriptions take")
}
