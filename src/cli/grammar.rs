//! The shape of the command line.

mod plugin;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use symposium_hook::Event;

use self::plugin::PluginArgs;
use super::audit_args::AuditArgs;
use super::forges::ReportFormat;
use super::self_update::SelfUpdateArgs;
use super::team::TeamArgs;
use crate::agents::Agent;
use crate::config::HookScope;
use crate::plugins::model::Audience;
use crate::symposium::UpdateLevel;

pub(super) use self::plugin::{AddArgs, PackageFormat, PluginCommand, ValidateArgs};

/// Teach your AI coding agents the crates of your Rust workspace.
#[derive(Debug, Parser)]
#[command(
    name = "cargo agents",
    bin_name = "cargo agents",
    version,
    max_term_width = 100,
    styles = STYLES,
    disable_help_subcommand = true
)]
pub(super) struct Cli {
    #[command(flatten, next_help_heading = GLOBAL)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The heading over [`Global`] on a command's own page.
const GLOBAL: &str = "Options of every command";

/// Help that ends with the agents' names.
fn agents_help(what: &str) -> String {
    format!("{what}: {}", Agent::names())
}

/// Cargo's palette.
const STYLES: clap::builder::Styles = clap::builder::Styles::styled()
    .header(anstyle::AnsiColor::Green.on_default().bold())
    .usage(anstyle::AnsiColor::Green.on_default().bold())
    .literal(anstyle::AnsiColor::Cyan.on_default().bold())
    .placeholder(anstyle::AnsiColor::Cyan.on_default());

/// What every command takes, before or after its name.
#[derive(Debug, Args)]
pub(super) struct Global {
    /// When git plugin sources are refreshed (`sync`: what has something newer, once a minute)
    #[arg(long, global = true, value_name = "LEVEL")]
    pub update: Option<UpdateLevel>,
    /// Never touch the network
    #[arg(long, global = true)]
    pub offline: bool,
    /// Limit for one fetch, in seconds
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 60,
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
    /// Say nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say why each thing was taken or not
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Print JSON on standard output instead of text
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Choose your agents, and register Symposium with them
    Init(InitArgs),
    /// Give the agents what the workspace's dependencies offer
    Sync(SyncArgs),
    /// Show what is registered where, what applies, and what a sync would change
    Status(StatusArgs),
    /// Follow one skill, plugin, hook, server, subcommand or crate through every decision
    Why(WhyArgs),
    /// Look for what keeps agents from using what applies, and say what to do
    Doctor(DoctorArgs),
    /// Write down exactly what the workspace's agents get, for others to get the same
    Lock,
    /// Look through all that a checkout brings to agents, for a team's CI; changes nothing
    Audit(AuditArgs),
    /// Take or decline the skills that a dependency ships
    Use(UseArgs),
    /// Take back everything that was registered and installed
    Uninstall(UninstallArgs),
    /// Look at plugins and where they come from
    Plugin(PluginArgs),
    /// Look at a crate: sources, features, skills, items, what changed
    CrateInfo(CrateInfoArgs),
    /// Serve the workspace's dependencies and their skills to an agent, over MCP
    Mcp,
    /// Update Symposium itself to the newest version
    SelfUpdate(SelfUpdateArgs),
    /// Print a script that completes commands in your shell
    Completions(CompletionsArgs),
    /// Write manual pages into a folder
    #[command(hide = true)]
    Man(ManArgs),
    /// Start a plugin's MCP server (agents call this)
    #[command(hide = true)]
    RunServer(RunServerArgs),
    /// Answer an agent's event (agents call this)
    #[command(hide = true)]
    Hook(HookArgs),
    /// Show what there is, or more about a command
    #[command(hide = true)]
    Help(HelpArgs),
    /// What plugins vend.
    #[command(external_subcommand)]
    External(Vec<OsString>),
}

impl Command {
    /// Whether it is asked for JSON by an option of its own.
    pub(super) fn wants_json(&self) -> bool {
        let format = match self {
            Self::Plugin(PluginArgs { command: PluginCommand::Validate(args) }) => args.format,
            Self::Audit(args) => args.format,
            _ => None,
        };
        format == Some(ReportFormat::Json)
    }

    /// Whether it leaves nothing in the user's home, no log either.
    pub(super) fn leaves_no_trace(&self) -> bool {
        matches!(
            self,
            Self::Audit(_) | Self::Plugin(PluginArgs { command: PluginCommand::Test(_) })
        )
    }

    /// Whether with `--json` it prints one document instead of lines.
    pub(super) fn answers_with_a_document(&self) -> bool {
        match self {
            Self::CrateInfo(_)
            | Self::Status(_)
            | Self::Why(_)
            | Self::Doctor(_)
            | Self::Audit(_)
            | Self::Completions(_) => true,
            Self::Plugin(args) => args.command.answers_with_a_document(),
            _ => false,
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct CrateInfoArgs {
    /// The crate
    pub name: String,
    /// Where it declares this: Server, Rng::gen_range
    #[arg(value_name = "PATH", conflicts_with = "since")]
    pub path: Option<String>,
    /// Its version: an exact one (1.0.3) or a requirement (^1.0)
    #[arg(long, value_name = "REQ")]
    pub version: Option<String>,
    /// What changed after this version; without one, after the version that Cargo.lock had in git
    #[arg(long, value_name = "VERSION", num_args = 0..=1)]
    pub since: Option<Option<String>>,
}

/// Whom the help lists one of our own commands for.
pub(super) fn audience(command: &str) -> Audience {
    if matches!(command, "crate-info" | "mcp") { Audience::Agents } else { Audience::Humans }
}

fn hook_help() -> String {
    let events = Event::ALL.map(Event::cli_name).join(", ");
    format!("{}; and its event: {events}", agents_help("The agent"))
}

/// Arguments of `hook`, which reads them by itself.
#[derive(Debug, Args)]
pub(super) struct HookArgs {
    #[arg(help = hook_help(), value_names = ["AGENT", "EVENT"], num_args = 0.., trailing_var_arg = true,
          allow_hyphen_values = true)]
    pub words: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(super) struct RunServerArgs {
    /// The server's name
    #[arg(value_name = "NAME", allow_hyphen_values = true)]
    pub name: String,
}

#[derive(Debug, Args)]
pub(super) struct HelpArgs {
    /// The command
    #[arg(value_name = "COMMAND")]
    pub words: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(super) struct WhyArgs {
    /// A skill, plugin, hook, server, subcommand or crate, or what you think is one
    pub name: String,
}

#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// Show instead how often agents read each skill, and what its description costs
    #[arg(long = "use")]
    pub usage: bool,
}

#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// Mend what can be mended without asking, then look again
    #[arg(long)]
    pub fix: bool,
}

#[derive(Debug, Args)]
pub(super) struct UseArgs {
    /// A dependency that ships skills (or a plugin)
    pub name: String,
    /// In every workspace, not only in this one
    #[arg(long)]
    pub global: bool,
    /// Do not want it: its skills go, and you are not asked again
    #[arg(long)]
    pub remove: bool,
}

#[derive(Debug, Args)]
pub(super) struct InitArgs {
    #[arg(long, value_name = "NAME",
          help = agents_help("Add this agent, and ask no questions (repeatable)"))]
    pub add_agent: Vec<String>,
    /// Remove this agent, and ask no questions (repeatable)
    #[arg(long, value_name = "NAME")]
    pub remove_agent: Vec<String>,
    /// Where hooks are registered, and ask no questions
    #[arg(long, value_name = "SCOPE")]
    pub hook_scope: Option<HookScope>,
    /// Let Codex run our hooks without asking you first
    #[arg(long)]
    pub trust_codex_hooks: bool,
    /// Also register our own MCP server with the agents, for every workspace
    #[arg(long)]
    pub mcp: bool,
    /// Do not register it, and take it back where it is
    #[arg(long, conflicts_with = "mcp")]
    pub no_mcp: bool,
    #[command(flatten)]
    pub team: TeamArgs,
}

impl InitArgs {
    /// Whether nothing is said, so that questions are asked.
    pub(super) fn is_empty(&self) -> bool {
        self.add_agent.is_empty()
            && self.remove_agent.is_empty()
            && self.hook_scope.is_none()
            && !self.trust_codex_hooks
            && !self.mcp
            && !self.no_mcp
            && self.team.is_empty()
    }
}

#[derive(Debug, Args)]
pub(super) struct UninstallArgs {
    /// Also in every other workspace where something was installed
    #[arg(long)]
    pub all_workspaces: bool,
    /// Show what would go, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub(super) struct SyncArgs {
    #[arg(long, value_name = "NAME",
          help = agents_help("Place skills for this agent, not for the configured ones (repeatable)"))]
    pub agent: Vec<String>,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// As --dry-run, with exit code 1 when something would change
    #[arg(long)]
    pub check: bool,
    /// Take exactly what symposium.lock has, or fail and say what differs
    #[arg(long)]
    pub locked: bool,
    /// Replace and remove skills that were edited in place
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub team: TeamArgs,
    /// Silently, with the network: what a session's start leaves to run by itself
    #[arg(long, hide = true)]
    pub background: bool,
}

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// The folder; it is made if it is not there
    #[arg(value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    pub folder: PathBuf,
}

/// The shells that we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Shell {
    /// GNU Bash, 3.2 and later
    Bash,
    /// Elvish
    Elvish,
    /// fish
    Fish,
    /// PowerShell
    #[value(alias = "pwsh")]
    Powershell,
    /// Z shell
    Zsh,
}
