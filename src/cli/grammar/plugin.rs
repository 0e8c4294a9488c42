//! The commands below `plugin`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::author_args::{NewArgs, TestArgs};
use crate::cli::forges::ReportFormat;
use crate::cli::plugin::schema::Schema;

#[derive(Debug, Args)]
pub(in crate::cli) struct PluginArgs {
    #[command(subcommand)]
    pub command: PluginCommand,
}

/// The commands below `plugin`.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum PluginCommand {
    /// List the sources, and the plugins and skills in them
    List,
    /// Write a plugin or a skill to start from
    New(NewArgs),
    /// Show what a plugin offers, when, and everything it could run
    Show {
        /// Its name, or `source/name`
        name: String,
    },
    /// Add a source: a folder, a git repository or a marketplace, after a look at what is in it
    Add(AddArgs),
    /// Fetch git sources
    Sync {
        /// Only this source, were it excepted from updates
        name: Option<String>,
    },
    /// Take what is newer in git, after a look at what differs
    Update {
        /// Only this source
        name: Option<String>,
        /// Show what differs, and take nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Check manifests, skills, crates, plugins' folders or whole sources
    Validate(ValidateArgs),
    /// Try a plugin or a skill out without installing it: hooks, servers, its own tests
    Test(TestArgs),
    /// Write a plugin as a package that other programs install
    Export {
        /// Its name, or `source/name`
        name: String,
        /// The package's format
        #[arg(long, value_enum)]
        format: PackageFormat,
        /// The folder for it, which is not there yet or empty
        dir: PathBuf,
    },
    /// Show what users of a plugin, a source or a crate will get, and how it gets to them
    Publish {
        /// The file or folder
        #[arg(default_value = ".")]
        path: PathBuf,
        /// Needed: cargo and git publish, and this command only looks
        #[arg(long, required = true)]
        dry_run: bool,
    },
    /// Print the JSON schema of a file that people write, for editors
    Schema {
        /// The file
        #[arg(value_enum, value_name = "FILE")]
        of: Schema,
    },
    /// Show what waits for your word to run, and what changed since you gave it
    Review {
        /// All that this plugin could run: its name, or `source/name`
        name: Option<String>,
    },
    /// Let a plugin run what it could run as it is now
    Allow {
        /// Its name, or `source/name`
        name: String,
    },
    /// Let a plugin run nothing
    Deny {
        /// Its name, or `source/name`
        name: String,
    },
    /// Explain a code such as S012
    Explain {
        /// The code
        code: String,
    },
}

impl PluginCommand {
    /// Whether with `--json` it prints one document instead of lines.
    pub(super) fn answers_with_a_document(&self) -> bool {
        !matches!(
            self,
            Self::New(_)
                | Self::Sync { .. }
                | Self::Update { .. }
                | Self::Validate(_)
                | Self::Export { .. }
                | Self::Allow { .. }
                | Self::Deny { .. }
        )
    }

    /// Whether it shows or takes the user's word on what may run.
    pub(in crate::cli) fn is_about_trust(&self) -> bool {
        matches!(self, Self::Review { .. } | Self::Allow { .. } | Self::Deny { .. })
    }
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ValidateArgs {
    /// The files or folders
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// Don't ask the registry whether the crates exist
    #[arg(long)]
    pub no_check_crates: bool,
    /// How problems are told
    #[arg(long, value_enum, conflicts_with = "json")]
    pub format: Option<ReportFormat>,
    /// Fail for these, too
    #[arg(long, value_enum)]
    pub deny: Vec<Denied>,
}

/// What can be denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Denied {
    /// All warnings
    Warnings,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct AddArgs {
    /// The folder, or the repository's URL
    #[arg(value_name = "URL-OR-PATH")]
    pub place: String,
    /// What it is for, where its plugins do not say it: serde,tokio>=1.40
    #[arg(long, value_name = "CRATES", value_delimiter = ',')]
    pub crates: Vec<String>,
    /// What it is called; by default as its folder or repository
    #[arg(long)]
    pub name: Option<String>,
    /// Don't ask
    #[arg(long, short)]
    pub yes: bool,
}

/// The formats of packages that we write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum PackageFormat {
    /// Agent Plugins 1.0
    AgentPlugins,
    /// A plugin of Claude Code
    Claude,
}
