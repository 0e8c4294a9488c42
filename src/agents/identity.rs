//! What is fixed about an agent: names, folders, limits, fields and tools.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use symposium_hook::Event;

use super::headless::Headless;
use super::payload::Fields;
use super::tools::Tool;
use crate::config::Environment;

/// The facts of an agent that need no code.
#[derive(Debug)]
pub(crate) struct Identity {
    /// The name in configuration and on the command line.
    pub name: &'static str,
    /// The name people know it by.
    pub title: &'static str,
    /// Programs whose presence on `PATH` shows that it is installed.
    pub programs: &'static [&'static str],
    /// The folder in the home folder whose presence shows that it was used, relative to home.
    pub home_folder: &'static str,
    /// Folders in a project that it reads skills from, relative to the project's root, in the order
    /// of our preference.
    pub skill_dirs: &'static [&'static str],
    /// Folders of the user's own that it reads skills from in every project.
    pub users_skills: &'static [UsersFolder],
    /// Files and folders that it reads or runs by itself wherever in a project it meets them, so that
    /// no skill may bring them.
    pub own_names: &'static [&'static str],
    /// Whether its events tell when it reads a skill: with a tool made for that, or with one that reads
    /// files. `false` where it is not known.
    pub tells_skill_reads: bool,
    /// What stands before a skill's name where the user calls it in a prompt, as far as the prompt's
    /// event tells.
    pub skill_call: Option<char>,
    /// How many characters of skill descriptions the agent shows to the model before it begins to
    /// cut them; `None` where no limit is known.
    pub description_budget: Option<usize>,
    /// How many characters of one skill's description the model is shown; `None` where no limit is
    /// known.
    pub longest_description: Option<usize>,
    /// The version of its program with which what is stated of it was verified; `None` where it could
    /// only be read about.
    pub verified_version: Option<&'static str>,
    /// The change of its files' layout, where there was one.
    pub new_layout: Option<NewLayout>,
    /// Whether it is to call us by path even where the bare name is found.
    pub wants_path: bool,
    /// Whether our hook runs twice when it is registered in both scopes.
    pub runs_both_scopes: bool,
    /// The events that our hooks are registered for.
    pub events: &'static [Event],
    /// The event that comes in place of the one after a tool where the tool failed; we take it for that
    /// one.
    pub failure_event: Option<&'static str>,
    /// Whether it tells of the end of a turn, too. Hooks for that are registered where a plugin wants
    /// them.
    pub has_stop: bool,
    /// How long the agent lets our hook run, in seconds, as registered.
    pub hook_timeout: u64,
    /// How it is asked without a screen; `None` where that is not known.
    pub headless: Option<Headless>,
    /// The names of its payloads' fields.
    pub fields: Fields,
    /// How a server's `env` and `headers` refer to variables; `None` where no form is known.
    pub env_reference: Option<EnvReference>,
    /// The variable in which hooks find the folder that the agent was started in.
    pub project_variable: Option<&'static str>,
    /// Keys of the JSON object that is an answer of its hooks; none where answers are plain text.
    pub answer_keys: &'static [&'static str],
    /// Its tools whose names or fields are not the canonical ones.
    pub tools: &'static [Tool],
}

/// A folder of the user's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UsersFolder {
    /// The variable by which the user moves `base`.
    pub variable: Option<&'static str>,
    /// Relative to the home folder.
    pub base: &'static str,
    /// The folder, relative to `base`.
    pub below: &'static str,
}

impl UsersFolder {
    /// One in the home folder that no variable moves.
    pub(crate) const fn in_home(below: &'static str) -> Self {
        Self { variable: None, base: "", below }
    }

    /// One in a folder that a variable moves.
    pub(crate) const fn moved_by(
        variable: &'static str,
        base: &'static str,
        below: &'static str,
    ) -> Self {
        Self { variable: Some(variable), base, below }
    }

    /// Where it is, by the variable that is named where one says so; in the home folder it counts as
    /// the user's as well, for in another terminal the variable may not be set.
    pub(crate) fn places(
        &self,
        home: &Path,
        env: &Environment,
    ) -> Vec<(PathBuf, Option<&'static str>)> {
        let mut places = vec![(home.join(self.base).join(self.below), None)];
        if let Some(variable) = self.variable
            && let Some(base) = env.var(variable)
        {
            let base = env.cwd().map_or_else(|| PathBuf::from(base), |cwd| cwd.join(base));
            places.push((base.join(self.below), Some(variable)));
        }
        places
    }
}

/// How an agent writes a reference to a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EnvReference {
    /// What stands before the name.
    pub before: &'static str,
    /// What stands behind it.
    pub after: &'static str,
    /// Whether a default may stand behind the name (`:-default`).
    pub has_default: bool,
}

impl EnvReference {
    /// `${NAME}`.
    pub(crate) const BRACES: Self = Self { before: "${", after: "}", has_default: false };
    /// `${NAME}` and `${NAME:-default}`.
    pub(crate) const WITH_DEFAULT: Self = Self { has_default: true, ..Self::BRACES };
}

/// From a version on, an agent reads other files.
#[derive(Debug)]
pub(crate) struct NewLayout {
    /// The program that is asked for its version.
    pub program: &'static str,
    /// The first version with the new layout.
    pub since: &'static semver::Version,
}

impl Identity {
    /// The keys of Claude Code's answers, which other agents took over.
    pub(crate) const CLAUDES_ANSWER: &[&str] = &[
        "continue",
        "suppressOutput",
        "stopReason",
        "systemMessage",
        "decision",
        "reason",
        "hookSpecificOutput",
    ];

    /// An identity of which nothing but the names is known.
    pub(crate) const fn new(name: &'static str, title: &'static str) -> Self {
        Self {
            name,
            title,
            programs: &[],
            home_folder: "",
            skill_dirs: &[],
            users_skills: &[],
            own_names: &[],
            tells_skill_reads: false,
            skill_call: None,
            description_budget: None,
            longest_description: None,
            verified_version: None,
            new_layout: None,
            wants_path: false,
            runs_both_scopes: true,
            events: &Event::COMMON,
            failure_event: None,
            has_stop: false,
            hook_timeout: 60,
            headless: None,
            fields: Fields::COMMON,
            env_reference: None,
            project_variable: None,
            answer_keys: &[],
            tools: &[],
        }
    }

    /// Whether this is an answer of its hooks, or says nothing.
    pub(crate) fn is_answer(&self, object: &Map<String, Value>) -> bool {
        let keys = self.answer_keys;
        object.is_empty() || keys.is_empty() || keys.iter().any(|key| object.contains_key(*key))
    }

    /// Whether a decision stands in this answer that no agent knows.
    pub(crate) fn has_unknown_decision(&self, object: &Map<String, Value>) -> bool {
        const KNOWN: [&str; 9] =
            ["allow", "approve", "auto_approve", "ask", "force_ask", "defer", "block", "deny", ""];
        let inner = object.get("hookSpecificOutput").and_then(Value::as_object);
        let decisions = [Some(object), inner].into_iter().flatten().flat_map(|object| {
            ["decision", "permissionDecision"].into_iter().filter_map(|key| object.get(key))
        });
        let is_known = |word: &Value| {
            word.is_null() || word.as_str().is_some_and(|word| KNOWN.contains(&word))
        };
        !self.answer_keys.is_empty() && !decisions.into_iter().all(is_known)
    }
}
