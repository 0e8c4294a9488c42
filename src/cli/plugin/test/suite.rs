//! The plugin's own tests: `tests/*.toml`, each with cases that say what is fed and what is expected.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use symposium_hook::Event;
use toml::Spanned;

use super::event::Stimulus;
use super::workspace::Wanted;
use crate::agents::symposium::NAME as CANONICAL;
use crate::agents::{self, Agent, Codec};
use crate::files::{Limit, read_source};
use crate::text::{Diagnostic, Source};

/// The folder of the cases, in the plugin's.
const FOLDER: &str = "tests";

/// A file of cases.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(in crate::cli) struct SuiteFile {
    /// The cases, in the order in which they run.
    #[cfg_attr(test, schemars(with = "Vec<CaseSpec>"))]
    case: Vec<Spanned<CaseSpec>>,
}

/// One case: an event or a look at what there is, and what is expected.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::cli) struct CaseSpec {
    /// What is shown to people.
    name: String,
    /// `PreToolUse` (the default), `PostToolUse`, `UserPromptSubmit`, `SessionStart` or `Stop`.
    event: Option<String>,
    /// The tool's canonical name; `Bash` by default.
    tool: Option<String>,
    /// The tool's input, or the prompt.
    #[cfg_attr(test, schemars(with = "Option<serde_json::Value>"))]
    input: Option<toml::Value>,
    /// What the tool answered.
    #[cfg_attr(test, schemars(with = "Option<serde_json::Value>"))]
    response: Option<toml::Value>,
    /// A file with an event as an agent wrote it, in place of all these; relative to this one.
    captured: Option<PathBuf>,
    /// The agents that send it; by default the event is the canonical one. `["all"]` is every agent.
    #[serde(default)]
    agents: Vec<String>,
    /// The workspace that the agent works in: a folder, relative to this file.
    workspace: Option<PathBuf>,
    /// The direct dependencies of a workspace that is made up: `widget`, `widget@1.2.0`. Without both,
    /// one is made up in which the plugin applies.
    crates: Option<Vec<String>>,
    pub(super) expect: Expected,
}

/// What is expected; what is not said may be as it is.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::cli) struct Expected {
    /// What the hooks decide together: `deny`, `ask`, `allow`, or `none`.
    pub(super) decision: Option<DecisionName>,
    /// In the decision's reason.
    pub(super) reason: Option<String>,
    /// In the words for the model.
    pub(super) context: Option<String>,
    /// In the words for the user.
    pub(super) message: Option<String>,
    /// The tool's new input, whole, in the agent's own words.
    #[cfg_attr(test, schemars(with = "Option<serde_json::Value>"))]
    pub(super) input: Option<toml::Value>,
    /// The names of the hooks that are asked, in order.
    pub(super) hooks: Option<Vec<String>>,
    /// The names of the skills that apply, in any order.
    pub(super) skills: Option<Vec<String>>,
    /// By the name of a server that applies: the names of its tools, in any order.
    pub(super) tools: Option<BTreeMap<String, Vec<String>>>,
}

/// A decision, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(in crate::cli) enum DecisionName {
    Deny,
    Ask,
    Allow,
    /// No opinion.
    None,
}

/// A case that can be run.
pub(super) struct Case {
    pub(super) name: String,
    /// Where it stands.
    pub(super) at: Diagnostic,
    /// The event; `None` where the case is about skills and servers alone.
    pub(super) stimulus: Option<Stimulus>,
    pub(super) agents: Vec<&'static dyn Codec>,
    pub(super) workspace: Wanted,
    pub(super) expect: Expected,
}

/// The cases of the plugin in `dir`, file by file.
///
/// # Errors
/// A file that can't be read as cases: with it, nothing of the suite is run.
pub(super) fn read(dir: &Path) -> Result<Vec<Case>, Diagnostic> {
    let Ok(entries) = std::fs::read_dir(dir.join(FOLDER)) else { return Ok(Vec::new()) };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|kind| kind == "toml")).collect();
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let source = read_source(&path, Limit::MANIFEST)
            .map_err(|error| error.diagnose("this suite", &path))?;
        let file: SuiteFile = toml::from_str(&source.text).map_err(|error| {
            let problem = Diagnostic::error(error.message().trim().to_owned());
            match error.span() {
                Some(span) => problem.at(&source, span),
                None => problem.in_file(&path),
            }
        })?;
        for spec in file.case {
            cases.push(case(&source, &path, spec)?);
        }
    }
    Ok(cases)
}

fn case(source: &Arc<Source>, path: &Path, spec: Spanned<CaseSpec>) -> Result<Case, Diagnostic> {
    let at = |message: &str| Diagnostic::error(message).at(source, spec.span());
    let place = at("this case");
    let folder = path.parent().unwrap_or(path);
    let CaseSpec { name, expect, .. } = spec.get_ref().clone();
    if expect.is_empty() {
        return Err(at(&format!("the case `{name}` expects nothing"))
            .note("for example `expect.decision = \"deny\"`"));
    }
    let stimulus = stimulus(&at, folder, spec.get_ref())?;
    if stimulus.is_none() && expect.is_about_an_event() {
        return Err(at(&format!("the case `{name}` has no event"))
            .note("for example `event = \"PreToolUse\"` and `input = { command = \"ls\" }`"));
    }
    let spec = spec.get_ref();
    let agents = codecs(&spec.agents).map_err(|problem| {
        problem.notes.iter().fold(at(&problem.message), |all, note| all.note(note.clone()))
    })?;
    if spec.captured.is_some() && (agents.len() != 1 || spec.agents.is_empty()) {
        return Err(at("a captured event is that of one agent: name it in `agents`"));
    }
    let workspace = match (&spec.workspace, &spec.crates) {
        (Some(_), Some(_)) => {
            return Err(at("`workspace` and `crates` say both which workspace it is: choose one"));
        }
        (Some(workspace), None) => Wanted::Folder(folder.join(workspace)),
        (None, Some(crates)) => Wanted::Crates(crates.clone()),
        (None, None) => Wanted::ByGates,
    };
    Ok(Case { name, at: place, stimulus, agents, workspace, expect })
}

fn stimulus(
    at: &dyn Fn(&str) -> Diagnostic,
    folder: &Path,
    spec: &CaseSpec,
) -> Result<Option<Stimulus>, Diagnostic> {
    let says = spec.event.is_some() || spec.tool.is_some() || spec.input.is_some();
    if !says && spec.captured.is_none() {
        return Ok(None);
    }
    let event = match &spec.event {
        Some(name) => event_named(name).map_err(|problem| {
            problem.notes.iter().fold(at(&problem.message), |all, note| all.note(note.clone()))
        })?,
        None => Event::PreToolUse,
    };
    let mut stimulus = Stimulus::harmless(event);
    if let Some(tool) = &spec.tool {
        stimulus.tool.clone_from(tool);
    }
    if let Some(input) = &spec.input {
        stimulus.input = json(input);
    }
    if let Some(response) = &spec.response {
        stimulus.response = json(response);
    }
    if let Some(captured) = &spec.captured {
        let path = folder.join(captured);
        let read = crate::files::read_bytes(&path, Limit::OURS);
        stimulus.captured = Some(read.map_err(|error| error.diagnose("this event", &path))?);
    }
    Ok(Some(stimulus))
}

impl Expected {
    fn is_about_an_event(&self) -> bool {
        self.decision.is_some()
            || self.reason.is_some()
            || self.context.is_some()
            || self.message.is_some()
            || self.input.is_some()
            || self.hooks.is_some()
    }

    fn is_empty(&self) -> bool {
        !self.is_about_an_event() && self.skills.is_none() && self.tools.is_none()
    }
}

/// The event of this name: the manifests' or the command line's.
///
/// # Errors
/// There is none.
pub(super) fn event_named(name: &str) -> Result<Event, Diagnostic> {
    let known =
        Event::ALL.into_iter().find(|event| [event.name(), event.cli_name()].contains(&name));
    known.ok_or_else(|| {
        let names = Event::ALL.map(Event::name);
        let mut problem = Diagnostic::error(format!("there is no event `{name}`"));
        problem.notes.extend(crate::text::did_you_mean(&crate::text::closest(name, names)));
        problem.note(format!("the events are {}", names.join(", ")))
    })
}

/// The agents of these names; none names the canonical event, `all` every agent.
///
/// # Errors
/// A name that is no agent's.
pub(super) fn codecs(names: &[String]) -> Result<Vec<&'static dyn Codec>, Diagnostic> {
    if names.iter().any(|name| name == "all") {
        return Ok(Agent::ALL.map(Agent::codec).to_vec());
    }
    let canonical = [CANONICAL.to_owned()];
    let names = if names.is_empty() { &canonical[..] } else { names };
    let codec = |name: &String| agents::codec(name).ok_or_else(|| Agent::unknown(name));
    names.iter().map(codec).collect()
}

/// A value as JSON has it.
pub(super) fn json(value: &toml::Value) -> serde_json::Value {
    serde_json::to_value(value).unwrap_or_default()
}
