//! Agents' files, what of ours is in them, and what the agents' settings make of it.

use std::path::{Path, PathBuf};

use super::CheckContext;
use super::model::{Finding, Weight};
use crate::agents::Agent;
use crate::agents::places::{FileFormat, HookShape, IN_HOME_FOLDER, ServerPlace};
use crate::config::HookScope;
use crate::documents::read_document;
use crate::report::{Action, Kind};
use crate::sync::placing::targets;
use crate::sync::registration::servers;
use crate::sync::survey::{Health, described};
use crate::text::Diagnostic;

const BY_SYNC: &str = "`cargo agents sync`";

/// Every file of the configured agents that could carry something of ours parses as its agent
/// reads it, whether something of ours is in it or not.
pub(super) fn files(context: &CheckContext<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut seen: Vec<PathBuf> = Vec::new();
    for agent in &context.survey.agents {
        for (path, format) in places(context, *agent) {
            if seen.contains(&path) {
                continue;
            }
            let read = read_document(&path, format);
            seen.push(path);
            if let Err(problem) = read {
                let remedy = "mend the file: Symposium leaves it alone until then";
                findings.push(
                    Finding::of("file-broken", Weight::Error, &problem, remedy).of_agent(*agent),
                );
            }
        }
    }
    findings
}

/// The files that an agent's hooks and servers go to, at either scope, and those of its settings.
fn places(context: &CheckContext<'_>, agent: Agent) -> Vec<(PathBuf, FileFormat)> {
    let mut places = Vec::new();
    for scope in [HookScope::Global, HookScope::Project] {
        let placement = context.survey.setup.placement(agent, scope, "");
        for place in agent.registration().hooks(&placement) {
            if let HookShape::Shared { rules, .. } = place.shape {
                places.push((place.path, FileFormat::Json(rules)));
            }
        }
        places.extend(agent.server_files(&placement));
        let settings = agent.registration().settings(&placement).into_iter();
        places.extend(settings.map(|file| (file.path, file.format)));
    }
    places
}

/// What should be registered is.
pub(super) fn registered(context: &CheckContext<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if context.survey.agents.is_empty() {
        let message = "no agent is configured, so no hooks and no servers are registered";
        let by_hand = !context.survey.by_hand().is_empty();
        let weight = if by_hand { Weight::Note } else { Weight::Warning };
        findings.push(Finding::new("no-agents", weight, message).remedy("`cargo agents init`"));
    }
    for agent in &context.survey.agents {
        if let Some(hooks) = context.survey.hooks_of(*agent) {
            let file = hooks.files.first().cloned();
            findings.extend(of_health(context, *agent, "hooks", &hooks.health, file));
        }
        for server in context.survey.servers_of(*agent) {
            let what = format!("server `{}`", server.name);
            findings.extend(of_health(context, *agent, &what, &server.health, server.file));
        }
    }
    findings
}

fn of_health(
    context: &CheckContext<'_>,
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
        Health::Edited(why) => Finding::new("edited", Weight::Note, format!("{what}: {why}"))
            .remedy("nothing to do, if that is how you want it; else remove it and sync"),
        Health::LeftAlone(why) => {
            let notes = context.survey.registered.diagnostics.iter();
            let note = notes.filter(|known| known.message == *why).find_map(Diagnostic::remedy);
            let remedy = note.unwrap_or_else(|| "remove it to get Symposium's".to_owned());
            Finding::new("left-alone", Weight::Warning, format!("{what}: {why}")).remedy(remedy)
        }
        // The file's own finding says what is wrong with it.
        Health::Broken(_) if file.is_some() => return None,
        Health::Broken(why) => Finding::new("file-broken", Weight::Error, format!("{what}: {why}"))
            .remedy("mend the file"),
        Health::Unsupported(why) => {
            let message = format!("{what}: {why}");
            let remedy = match why.as_str() {
                IN_HOME_FOLDER => "move the workspace to a folder of its own",
                _ => "other agents can use it",
            };
            Finding::new("unsupported", Weight::Note, message).remedy(remedy)
        }
    };
    let finding = finding.of_agent(agent);
    Some(match file {
        Some(file) => finding.at(file),
        None => finding,
    })
}

/// Hooks in one scope only, servers in one file only, each skill once.
pub(super) fn twice(context: &CheckContext<'_>) -> Vec<Finding> {
    let survey = context.survey;
    let mut findings = Vec::new();
    for agent in &survey.agents {
        let swept = survey.changes().into_iter().any(|change| {
            change.kind == Kind::Hooks
                && change.action == Action::Unregister
                && change.is_of(agent.name())
        });
        if swept {
            let also = if agent.identity().runs_both_scopes {
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
        // Those that `--fix` does not take back: git tracks the file, or we never write it.
        let stays = |told: &Diagnostic| {
            !swept || told.location().is_some_and(|place| survey.stays(&place.path))
        };
        for double in survey.duplicates.iter().filter(|double| double.agent == *agent) {
            if stays(&double.told) || double.in_settings {
                let remedy = "take them out of the file";
                findings.push(
                    Finding::of("registered-twice", Weight::Warning, &double.told, remedy)
                        .of_agent(*agent),
                );
            }
        }
        findings.extend(servers_twice(context, *agent));
        findings.extend(skills_twice(context, *agent));
    }
    findings
}

/// Where agents share folders, one of them may see a skill in two.
fn skills_twice(context: &CheckContext<'_>, agent: Agent) -> Option<Finding> {
    let known = context.survey.planned.as_ref()?;
    let any = known.chosen.wanted.skills.iter().any(|skill| skill.parents.len() > 1);
    (any && known.chosen.twice.contains(&agent)).then(|| {
        let message = "it reads several of the folders that your agents need, and sees each skill \
                       in each of them";
        let mut remedy = "nothing to do: the copies are the same".to_owned();
        let without = |other: &Agent| {
            let name = other.name();
            format!("without {name} (`cargo agents init --remove-agent {name}`)")
        };
        let others: Vec<_> =
            one_too_many(&context.survey.agents, agent).iter().map(without).collect();
        if !others.is_empty() {
            remedy = format!("{remedy}; there is one folder {}", others.join(" or "));
        }
        Finding::new("skills-twice", Weight::Note, message).of_agent(agent).remedy(remedy)
    })
}

/// The agents without each of which one folder would do for the others, `agent` among them.
fn one_too_many(agents: &[Agent], agent: Agent) -> Vec<Agent> {
    let is_one = |left_out: &Agent| {
        let rest = agents.iter().filter(|other| *other != left_out);
        let reads: Vec<_> = rest.map(|other| (*other, other.identity().skill_dirs)).collect();
        targets::choose(&reads).dirs.len() == 1
    };
    agents.iter().copied().filter(|other| *other != agent && is_one(other)).collect()
}

/// A server of the same name in another file or table of the agent's: one of them hides the other.
fn servers_twice(context: &CheckContext<'_>, agent: Agent) -> Vec<Finding> {
    let mut findings = Vec::new();
    let survey = context.survey;
    let sym = &survey.inputs.sym;
    let own = servers::own(&survey.setup, agent);
    let own = sym.config.register_mcp.then_some((&own, true, HookScope::Global));
    let planned = survey.planned.iter().flat_map(|planned| &planned.facts.servers);
    let planned =
        planned.map(|(_, server, everywhere)| (*server, *everywhere, sym.config.hook_scope));
    for (server, everywhere, scope) in own.into_iter().chain(planned) {
        let place = |scope: HookScope, everywhere: bool| {
            let placement = survey.setup.placement(agent, scope, "");
            match agent.registration().place_server(
                &server.name,
                &server.transport,
                everywhere,
                &placement,
            ) {
                ServerPlace::Entry { path, format, table, .. } => Some((path, format, table)),
                ServerPlace::Unsupported { .. } => None,
            }
        };
        let mut seen = Vec::new();
        seen.extend(place(scope, everywhere));
        // What a sync takes back is another finding.
        let goes = survey.registered.changes.iter().any(|change| {
            change.kind == Kind::Server
                && change.action == Action::Unregister
                && change.name == server.name
                && change.is_of(agent.name())
        });
        if seen.is_empty() || goes {
            continue;
        }
        for scope in [HookScope::Global, HookScope::Project] {
            for everywhere in [true, false] {
                let Some((path, format, table)) = place(scope, everywhere) else { continue };
                if seen.iter().any(|(known, _, keys)| (known, keys) == (&path, &table)) {
                    continue;
                }
                let has = has_server(&path, format, &table, &server.name);
                seen.push((path.clone(), format, table));
                if has {
                    let name = &server.name;
                    let message =
                        format!("there is another server `{name}`, and one hides the other");
                    findings.push(
                        Finding::new("server-twice", Weight::Warning, message)
                            .of_agent(agent)
                            .at(path)
                            .remedy("remove the one that you do not want"),
                    );
                }
            }
        }
    }
    findings
}

fn has_server(path: &Path, format: FileFormat, table: &[String], name: &str) -> bool {
    let Ok(Some(document)) = read_document(path, format) else { return false };
    let keys: Vec<String> = table.iter().cloned().chain([name.to_owned()]).collect();
    matches!(document.get(&keys), Ok(Some(_)))
}

/// Hooks that are switched off, folders that are not trusted, files that an agent will not read.
pub(super) fn switches(context: &CheckContext<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for agent in &context.survey.agents {
        let version = context.versions.iter().find(|known| known.agent == *agent);
        let version = version.and_then(|known| known.version.as_ref());
        for found in context.survey.checkup(*agent, context.skills, version) {
            // The check for duplicates tells the same.
            if found.code == "registered-twice" && !twice(context).is_empty() {
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
pub(super) fn budget(context: &CheckContext<'_>) -> Vec<Finding> {
    let agents = context.survey.agents.iter();
    agents
        .filter_map(|agent| {
            let most = agent.identity().description_budget?;
            let used = described(context.skills, *agent);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_one_too_many_where_one_folder_does_without_it() {
        use Agent::{Claude, Codex, Copilot, Kiro};
        let agents = [Claude, Codex, Copilot];
        assert_eq!(one_too_many(&agents, Copilot), [Claude, Codex]);
        assert_eq!(one_too_many(&[Claude, Codex, Copilot, Kiro], Copilot), []);
    }
}
