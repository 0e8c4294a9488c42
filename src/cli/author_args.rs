//! What `plugin new` and `plugin test` take on the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::agents::Agent;

fn agent_help() -> String {
    format!("Be this agent, or `all` of them (repeatable): {}", Agent::names())
}

#[derive(Debug, Args)]
pub(super) struct NewArgs {
    /// What it is called; with --crate, by default after the crate
    pub name: Option<String>,
    /// A skill by itself, without a plugin
    #[arg(long, conflicts_with = "of_crate")]
    pub skill: bool,
    /// A skill that the crate you are in ships
    #[arg(long = "crate", conflicts_with_all = ["crates", "dir"])]
    pub of_crate: bool,
    /// What the plugin brings (repeatable)
    #[arg(long, value_enum, value_name = "PART", value_delimiter = ',',
          conflicts_with_all = ["skill", "of_crate"])]
    pub with: Vec<Part>,
    /// What it is for: serde,tokio>=1.40; by default the crate you are in, else every workspace
    #[arg(long, value_name = "CRATES", value_delimiter = ',')]
    pub crates: Vec<String>,
    /// The folder to make; by default one of its name, here
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
}

/// What a new plugin brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(super) enum Part {
    /// A folder of skills (the default)
    Skills,
    /// The skills that its crates ship themselves
    CrateSkills,
    /// A hook
    Hook,
    /// An MCP server
    Server,
    /// A subcommand of `cargo agents`
    Subcommand,
}

#[derive(Debug, Args)]
pub(super) struct TestArgs {
    /// A plugin, a skill, a crate with skills, or a folder of these
    #[arg(default_value = ".", value_hint = clap::ValueHint::AnyPath)]
    pub path: PathBuf,
    /// Feed it only this event: PreToolUse, post-tool-use
    #[arg(long)]
    pub event: Option<String>,
    /// The tool that the event is about, by its common name
    #[arg(long)]
    pub tool: Option<String>,
    /// The tool's input as JSON, the shell's command, or the prompt
    #[arg(long, value_name = "JSON|TEXT")]
    pub input: Option<String>,
    /// A file with an event as an agent sent it, in place of the tool and its input
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath,
          conflicts_with_all = ["tool", "input"])]
    pub captured: Option<PathBuf>,
    #[arg(long, value_name = "NAME",
          help = agent_help())]
    pub agent: Vec<String>,
    /// The workspace to be in; by default one is made up that the plugin is for
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub workspace: Option<PathBuf>,
    /// Do it again whenever a file changes
    #[arg(long)]
    pub watch: bool,
    /// Have an agent of yours do the tasks in `evals/evals.json`, with the skill and without
    #[arg(long, conflicts_with_all = ["event", "tool", "input", "captured", "workspace", "watch"])]
    pub eval: bool,
    /// How long the agent may take for a task, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 900, requires = "eval",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub eval_limit: u64,
    /// Further arguments for the agent's program: its model, what it is allowed
    #[arg(last = true, value_name = "ARGS", requires = "eval")]
    pub agent_args: Vec<OsString>,
}
