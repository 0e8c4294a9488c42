//! What Goose and Kiro make of the files that they read, and of the answers of hooks.
//!
//! Neither can be run here: Goose's program is in no package registry, Kiro's needs a login. So their
//! rules are put down here, each with its source, and [`Reader::load`] applies them to a home folder
//! and a workspace as the client would at its start: what it takes comes out as hooks, servers and
//! skills, what it does not take as a [`Refusal`] with the rule. A test asks for what was taken, so a
//! file that nobody reads is as wrong as one that is refused.

mod goose;
mod kiro;
mod rules;
mod skills;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Sandbox;
use crate::clients::{self, Finished};
use crate::simulated::{HookAgent, HookStep, SimulatedTurn};

pub use goose::GOOSE_CONFIG;
pub use rules::{Refusal, Rule};

/// A client that is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// Goose.
    Goose,
    /// Kiro up to version 2, whose user chose our agent.
    Kiro2,
    /// Kiro from version 3 on.
    Kiro3,
}

/// What a client has when it starts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Loaded {
    /// The hooks, in the order in which they run.
    pub hooks: Vec<Hook>,
    /// The servers that are switched on.
    pub servers: BTreeMap<String, Server>,
    /// The skills; one that is found twice is there twice.
    pub skills: Vec<Skill>,
    /// What it does not take.
    pub refused: Vec<Refusal>,
}

/// A hook that runs a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// The event, by its canonical name where it is one of ours.
    pub event: String,
    /// The command, for `sh -c`.
    pub command: String,
    /// When the client gives up on it.
    pub limit: Duration,
    /// The folder of the plugin that brings it, where the client tells.
    pub plugin: Option<PathBuf>,
}

/// A server that the client would start or ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Server {
    /// A program.
    Program {
        /// The program and its arguments.
        command: Vec<String>,
        /// Its variables, besides those that it inherits.
        env: BTreeMap<String, String>,
    },
    /// One by HTTP.
    Http {
        /// Where.
        url: String,
        /// What is sent along.
        headers: BTreeMap<String, String>,
    },
}

/// A skill that the client offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its folder.
    pub folder: PathBuf,
}

/// How a hook's command ended.
#[derive(Debug, Clone, Copy)]
pub struct Ended<'a> {
    /// The exit code; nothing where it was ended at its limit or by a signal.
    pub exit: Option<i32>,
    /// Standard output.
    pub stdout: &'a str,
    /// Standard error.
    pub stderr: &'a str,
}

/// What the client does then.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effect {
    /// The tool is not run or the prompt not sent; the reason.
    pub blocked: Option<String>,
    /// What the model reads besides.
    pub context: Option<String>,
}

impl Reader {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Goose, Self::Kiro2, Self::Kiro3];

    /// Symposium's name for the agent.
    pub fn agent(self) -> &'static str {
        self.speaks().name()
    }

    /// What `kiro-cli --version` says.
    pub fn kiro_version(self) -> Option<&'static str> {
        match self {
            Self::Goose => None,
            Self::Kiro2 => Some("kiro-cli 2.32.1"),
            Self::Kiro3 => Some("kiro-cli 3.0.0"),
        }
    }

    fn speaks(self) -> HookAgent {
        match self {
            Self::Goose => HookAgent::Goose,
            Self::Kiro2 | Self::Kiro3 => HookAgent::Kiro,
        }
    }

    /// What the client has when it is started in `workspace` by the user of `home`.
    pub fn load(self, home: &Path, workspace: &Path) -> Loaded {
        match self {
            Self::Goose => goose::load(home, workspace),
            Self::Kiro2 => kiro::load_agent(home, workspace),
            Self::Kiro3 => kiro::load(home, workspace),
        }
    }

    /// What the client does when a hook for the event (its canonical name) ended so.
    pub fn take(self, event: &str, ended: Ended<'_>) -> Effect {
        match self {
            Self::Goose => goose::take(event, ended),
            Self::Kiro2 => kiro::take(ended, event == "PreToolUse"),
            Self::Kiro3 => kiro::take(ended, matches!(event, "PreToolUse" | "UserPromptSubmit")),
        }
    }

    /// Runs the hooks for `step` as the client does, one after the other: what each does.
    ///
    /// # Panics
    /// When `sh` can't be started.
    pub fn fire(
        self,
        sandbox: &Sandbox,
        loaded: &Loaded,
        session: &str,
        step: &HookStep,
    ) -> Vec<Effect> {
        let (event, cwd) = (step.canonical(), sandbox.ws());
        let turn = SimulatedTurn { session, prompt: "Please do as you think best.", cwd: &cwd };
        let mut payload = self.speaks().payload(step, turn);
        if self == Self::Kiro2 {
            payload["hook_event_name"] = kiro::agent_trigger(event).into();
        }
        let hooks = loaded.hooks.iter().filter(|hook| hook.event == event);
        hooks.map(|hook| self.take(event, ended(&run(sandbox, hook, &payload)))).collect()
    }
}

fn run(sandbox: &Sandbox, hook: &Hook, payload: &serde_json::Value) -> Finished {
    let mut shell = sandbox.shell(&hook.command);
    // Goose alone has plugins.
    shell.envs(hook.plugin.as_ref().map(|folder| ("PLUGIN_ROOT", folder)));
    clients::finish_with(&mut shell, payload.to_string().as_bytes(), hook.limit, &sandbox.dir())
}

fn ended(finished: &Finished) -> Ended<'_> {
    Ended { exit: finished.code, stdout: &finished.stdout, stderr: &finished.stderr }
}

impl Loaded {
    /// The skills with this name.
    pub fn skills_named(&self, name: &str) -> Vec<&Skill> {
        self.skills.iter().filter(|skill| skill.name == name).collect()
    }
}
