//! `cargo agents plugin schema`: what editors need to complete the files that people write.

use clap::ValueEnum;

use crate::Symposium;
use crate::cli::CommandResult;
use crate::report::ExitCode;

/// The files that have a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Schema {
    /// A plugin's SYMPOSIUM.toml
    Manifest,
    /// The SYMPOSIUM.toml beside a crate's Cargo.toml, and `[package.metadata.symposium]` in it
    CrateSkills,
    /// ~/.symposium/config.toml
    Config,
    /// A team's symposium.toml
    TeamFile,
    /// The frontmatter of a SKILL.md
    Skill,
    /// What a hook reads from standard input
    HookInput,
    /// What a hook writes to standard output
    HookOutput,
}

/// What a copy of the manifest's schema is called beside a manifest, which refers to it by this name: there
/// is no address yet that it could name for everybody.
pub(in crate::cli) const MANIFEST_COPY: &str = "SYMPOSIUM.schema.json";

macro_rules! embedded {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/md/reference/schemas/", $name, ".json"))
    };
}

impl Schema {
    /// The schema, as JSON.
    pub(in crate::cli) fn text(self) -> &'static str {
        match self {
            Self::Manifest => embedded!("manifest"),
            Self::CrateSkills => embedded!("crate-skills"),
            Self::Config => embedded!("config"),
            Self::TeamFile => embedded!("team-file"),
            Self::Skill => embedded!("skill"),
            Self::HookInput => embedded!("hook-input"),
            Self::HookOutput => embedded!("hook-output"),
        }
    }
}

pub(super) fn run(sym: &Symposium, schema: Schema) -> CommandResult {
    sym.report.result(schema.text().trim_end());
    sym.report.json(&serde_json::from_str::<serde_json::Value>(schema.text())?);
    Ok(ExitCode::SUCCESS)
}
