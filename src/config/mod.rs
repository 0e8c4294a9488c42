//! What the user set, and where our own files are.
//!
//! - [`Environment`]: the process's variables and folder, read once
//! - [`Dirs`]: configuration, cache, logs
//! - [`Config`]: `config.toml`, read leniently
//! - [`state`]: `state.toml`, what we remember about ourselves
//! - [`team`]: `symposium.toml`, what a team offers, and what its member said of it
//!
//! Reading only: `config.toml` is changed through `documents`, which keeps its comments.
//!
//! May use: `text`, `files`. Used by: every room above.

mod choices;
mod dirs;
mod earlier;
mod environment;
mod model;
mod places;
mod process;
pub(crate) mod state;
pub(crate) mod team;
mod test_switches;
pub(crate) mod update_check;

pub(crate) use choices::{Choice, ChoiceScope, PluginChoices};
pub(crate) use dirs::{Dirs, NoHome};
pub(crate) use earlier::our_name;
pub use environment::Environment;
#[cfg(test)]
pub(crate) use model::schema;
pub(crate) use model::{
    AutoUpdate, Config, ConfigState, HookScope, LogLevel, RECOMMENDATIONS, RECOMMENDATIONS_URL,
    SkillIgnore, SourceConfig, SourceGates, SourceLocation, TrustPrograms, USER_PLUGINS,
};
pub(crate) use places::{place_of_agent, place_of_source};
pub(crate) use process::{is_cargo_build, now_in_ms, own_program, since_1970};
