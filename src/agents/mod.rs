//! The agents: one folder each, with everything about it.
//!
//! An agent is an [`Identity`] (its names and folders), a [`Codec`] (its words for events and
//! answers), a [`Registration`] (where hooks and servers go) and a [`checkup`] (what its own settings
//! make of them). Nothing outside an agent's folder knows how that agent behaves. What the folders
//! share: [`places`] and [`wire`] are what they say to the other rooms, [`command`] is how agents call
//! us, [`tools`] reads their tables of tools, [`payload`] and [`envelope`] read and write JSON,
//! [`example`] makes up events, [`headless`] is
//! how one is asked without a screen.
//!
//! To add one: a folder here, a line in the table below, a page under `md/reference/agents/`, and its
//! payloads under `tests/fixtures/agents/<name>/`.
//!
//! May use: `documents`, `fetch` and the floors below. Used by: `plugins`, `sync`, `hook`, `cli`.

pub(crate) mod antigravity;
pub(crate) mod canonical;
pub(crate) mod checkup;
pub(crate) mod claude;
pub(crate) mod codec;
pub(crate) mod codex;
pub(crate) mod command;
pub(crate) mod copilot;
pub(crate) mod env_references;
pub(crate) mod envelope;
pub(crate) mod example;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
pub(crate) mod gemini;
pub(crate) mod goose;
pub(crate) mod headless;
pub(crate) mod identity;
pub(crate) mod json;
pub(crate) mod kiro;
pub(crate) mod merge;
pub(crate) mod opencode;
pub(crate) mod payload;
pub(crate) mod places;
pub(crate) mod qwen;
pub(crate) mod registration;
pub(crate) mod symposium;
pub(crate) mod tools;
pub(crate) mod wire;

#[cfg(test)]
mod testing;

use std::path::PathBuf;

use checkup::{Context, Finding};
use places::{FileFormat, HookPlace, Placement, ServerPlace, Transport};

use crate::text::{Diagnostic, closest, did_you_mean};

pub(crate) use codec::Codec;
pub(crate) use identity::Identity;
pub(crate) use registration::Registration;

/// Makes [`Agent`] of the table below.
macro_rules! table {
    ($($(#[$doc:meta])* $agent:ident: $module:ident,)*) => {
        /// The agents we know.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) enum Agent {
            $($(#[$doc])* $agent,)*
        }

        impl Agent {
            /// All of them, in the order in which people see them.
            pub(crate) const ALL: [Self; [$(stringify!($agent)),*].len()] = [$(Self::$agent),*];

            /// Its names and folders.
            pub(crate) fn identity(self) -> &'static Identity {
                match self {
                    $(Self::$agent => &$module::IDENTITY,)*
                }
            }

            /// Its words for events and answers.
            pub(crate) fn codec(self) -> &'static dyn Codec {
                match self {
                    $(Self::$agent => &$module::$agent,)*
                }
            }

            /// Where hooks and servers go.
            pub(crate) fn registration(self) -> &'static dyn Registration {
                match self {
                    $(Self::$agent => &$module::$agent,)*
                }
            }

            /// What its own settings make of our registrations: hooks that are switched off, folders
            /// that are not trusted, files that it will not read.
            pub(crate) fn checkup(self, context: &Context<'_>) -> Vec<Finding> {
                match self {
                    $(Self::$agent => $module::checkup::checkup(context),)*
                }
            }

            /// Its emulated client.
            #[cfg(test)]
            fn emulator(self) -> &'static testing::Emulator {
                match self {
                    $(Self::$agent => &$module::emulator::EMULATOR,)*
                }
            }
        }
    };
}

// One line an agent: its name here, which is its type's name there, and its module.
table! {
    /// Claude Code.
    Claude: claude,
    /// Codex CLI.
    Codex: codex,
    /// GitHub Copilot CLI.
    Copilot: copilot,
    /// Gemini CLI.
    Gemini: gemini,
    /// Antigravity CLI.
    Antigravity: antigravity,
    /// Qwen Code.
    Qwen: qwen,
    /// Goose.
    Goose: goose,
    /// Kiro.
    Kiro: kiro,
    /// OpenCode.
    OpenCode: opencode,
}

impl Agent {
    /// The name in configuration and on the command line.
    pub(crate) fn name(self) -> &'static str {
        self.identity().name
    }

    /// The name people know it by.
    pub(crate) fn title(self) -> &'static str {
        self.identity().title
    }

    /// The agent with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }

    /// The error for a name that is no agent's.
    pub(crate) fn unknown(name: &str) -> Diagnostic {
        let mut problem = Diagnostic::error(format!("there is no agent `{name}`"));
        problem.notes.extend(did_you_mean(&Self::near(name)));
        problem.note(format!("the agents are {}", Self::names()))
    }

    /// All names, for people.
    pub(crate) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// Names of the agents that `text` probably means, by their names, titles and programs.
    pub(crate) fn near(text: &str) -> Vec<&'static str> {
        let known = Self::ALL.into_iter().flat_map(|agent| {
            let identity = agent.identity();
            let programs = identity.programs.iter().copied();
            [identity.name, identity.title]
                .into_iter()
                .chain(programs)
                .map(move |word| (word, agent))
        });
        let known: Vec<(&str, Self)> = known.collect();
        let mut near: Vec<&str> = Vec::new();
        for word in closest(text, known.iter().map(|(word, _)| *word)) {
            let meant =
                known.iter().find(|(known, _)| *known == word).map(|(_, agent)| agent.name());
            near.extend(meant.filter(|name| !near.contains(name)));
        }
        near
    }

    /// The placement in each layout that its files can have.
    pub(crate) fn layouts<'a>(self, placement: &Placement<'a>) -> Vec<Placement<'a>> {
        let since = self.identity().new_layout.as_ref().map(|layout| layout.since);
        let versions = std::iter::once(None).chain(since.map(Some));
        versions.map(|version| Placement { version, ..*placement }).collect()
    }

    /// The files that servers go to.
    pub(crate) fn server_files(self, placement: &Placement<'_>) -> Vec<(PathBuf, FileFormat)> {
        let any = Transport::Stdio { command: String::new(), args: Vec::new(), env: Vec::new() };
        let file =
            |everywhere| match self.registration().place_server("any", &any, everywhere, placement)
            {
                ServerPlace::Entry { path, format, merged_with, .. } => {
                    std::iter::once(path).chain(merged_with).map(|path| (path, format)).collect()
                }
                ServerPlace::Unsupported { .. } => Vec::new(),
            };
        [true, false].into_iter().flat_map(file).collect()
    }

    /// All places that some version of it has its hooks in.
    pub(crate) fn all_hook_places(self, placement: &Placement<'_>) -> Vec<HookPlace> {
        let mut places: Vec<HookPlace> = Vec::new();
        for placement in self.layouts(placement) {
            for place in self.registration().hooks(&placement) {
                if !places.iter().any(|known| known.path == place.path) {
                    places.push(place);
                }
            }
        }
        places
    }
}

/// The codec that `hook <name> <event>` speaks: an agent's, or the canonical one for testing.
pub(crate) fn codec(name: &str) -> Option<&'static dyn Codec> {
    if name == symposium::NAME {
        return Some(&symposium::Symposium);
    }
    Agent::from_name(name).map(Agent::codec)
}

#[cfg(test)]
mod tests;
