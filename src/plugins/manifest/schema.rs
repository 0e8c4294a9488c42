//! What a `SYMPOSIUM.toml` may hold, as types: its JSON schema is made of them, and the comments are
//! what editors show. The readers beside this file decide; tests hold the keys here to theirs.
#![allow(dead_code, reason = "only the types' shapes count")]

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use symposium_hook::Event;

use crate::agents::Agent;
use crate::agents::symposium::NAME as CANONICAL;
use crate::plugins::model::Audience;

/// A plugin of Symposium: which crates it is for, and what it brings for them.
#[derive(JsonSchema)]
#[schemars(title = "SYMPOSIUM.toml", deny_unknown_fields)]
pub(crate) struct Manifest {
    /// The plugin's name, usually its crate's: letters, digits, `-`, `_` and `.`.
    #[schemars(length(max = 64), regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"))]
    name: String,
    /// The plugin's own version, such as `1.0.0`.
    version: Option<String>,
    /// What the plugin is, in a sentence.
    description: Option<String>,
    #[schemars(flatten)]
    gate: Gate,
    /// `always` (the default): it applies wherever its conditions hold. `suggested`: the user is asked
    /// first. `off`: it sleeps until `cargo agents use NAME`.
    activation: Option<Activation>,
    /// Groups of skills.
    skills: Option<Vec<SkillGroup>>,
    /// Ways to get programs, by name.
    installations: Option<Vec<Installation>>,
    /// Programs that answer agents' events.
    hooks: Option<Vec<Hook>>,
    /// MCP servers that agents start or connect to.
    mcp_servers: Option<Vec<Server>>,
    /// Commands of `cargo agents`, by name.
    subcommand: Option<BTreeMap<String, Subcommand>>,
    /// Another spelling of `[[skills]]` with `source.cargo`.
    plugins: Option<Vec<NamedCrate>>,
    /// Ignored, and whatever uses it does not hold: no program is run to decide whether a plugin
    /// applies.
    predicate: Option<Vec<BTreeMap<String, serde_json::Value>>>,
    /// Only in a crate's own manifest: whether its folder `skills/` counts beside those listed.
    defaults: Option<Defaults>,
}

/// When this applies. All that is said here and above must hold.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Gate {
    /// The crates it is for, one of which must be a direct dependency: `serde`, `tokio>=1.40`. `*`
    /// stands for every workspace; an empty list never holds.
    crates: Option<Strings>,
    /// Another spelling of `crates`.
    #[schemars(rename = "depends-on")]
    depends_on: Option<Strings>,
    /// Further conditions, all of which must hold: `env(NAME)`, `env(NAME=value)`,
    /// `path_exists(path)`, `depends-on(serde>=1)`, `workspace-member()`, `not(…)`, `any(…)`,
    /// `all(…)`.
    predicates: Option<Strings>,
}

/// One string, or several.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Strings {
    One(String),
    Several(Vec<String>),
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum Activation {
    Always,
    Suggested,
    Off,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Defaults {
    skills: Option<bool>,
}

/// Skills from one place.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct SkillGroup {
    #[schemars(flatten)]
    gate: Gate,
    /// Where they are: exactly one of `source = "crate"` and the keys of `source`.
    source: SkillSource,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum SkillSource {
    Word(OfCrates),
    Table(SkillPlace),
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum OfCrates {
    /// The matched crates' own skills.
    Crate,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct SkillPlace {
    /// A folder, relative to the plugin's.
    path: Option<String>,
    /// A git repository, by an `https` or `ssh` URL.
    git: Option<String>,
    /// With `git`: a branch, tag or commit.
    rev: Option<String>,
    /// With `git`: a folder of the repository.
    subdir: Option<String>,
    /// A named crate's own skills, whether it is a dependency or not: `widget`, `widget>=1`.
    cargo: Option<CrateName>,
    /// As `source = "crate"`, with this folder of the crate tried first.
    crate_path: Option<String>,
}

/// A crate, perhaps with a requirement on its version.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum CrateName {
    Atom(String),
    Table(CrateTable),
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct CrateTable {
    name: String,
    /// A requirement such as `1.2` or `>=1, <3`.
    version: Option<String>,
}

/// A named crate's own skills.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct NamedCrate {
    #[schemars(flatten)]
    gate: Gate,
    source: CrateSource,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct CrateSource {
    cargo: CrateName,
}

/// A way to get a program, under a name that `command` and `requirements` refer to.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Installation {
    #[schemars(length(max = 64), regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"))]
    name: String,
    #[schemars(flatten)]
    inline: Inline,
}

/// A way to get a program.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Inline {
    /// Where it comes from; without it, something on disk.
    source: Option<InstallSource>,
    /// Of `cargo`: the crate whose programs are installed.
    #[schemars(rename = "crate")]
    krate: Option<String>,
    /// Of `cargo`: an exact version or a requirement, the latest without it. Of `binary`: what
    /// `{version}` in `url` stands for.
    version: Option<String>,
    /// Of `cargo`: a repository instead of the registry.
    git: Option<String>,
    /// Of `cargo`: into the user's own cargo folder, not into Symposium's cache.
    global: Option<bool>,
    /// Of `github`: a repository, by any URL that git takes. Of `binary`: an archive or an
    /// executable, by `https`; may hold `{target}`, `{version}`, `{arch}` and `{os}`.
    url: Option<String>,
    /// Of `binary`: the SHA-256 of what `url` serves; one, or a table by target.
    sha256: Option<Checksum>,
    /// Shell commands that finish the installation, run once for each version.
    install_commands: Option<Vec<String>>,
    /// What else must be there, by name or written in place.
    requirements: Option<Vec<Command>>,
    #[schemars(flatten)]
    runs: Runs,
}

/// What of it is run: `executable` or `script`, not both.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Runs {
    /// The program to run.
    executable: Option<String>,
    /// The script to run, as `sh <path>`.
    script: Option<String>,
    /// Arguments; they stand here or where it is used, not in both places.
    args: Option<Vec<String>>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum InstallSource {
    /// A crate's program.
    Cargo,
    /// A file of a git repository.
    Github,
    /// A download with a checksum.
    Binary,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum Checksum {
    One(String),
    ByTarget(BTreeMap<String, String>),
}

/// An installation's name, or an installation written in place.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Command {
    Name(String),
    Inline(Box<Inline>),
}

/// A program that answers an event of agents.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Hook {
    #[schemars(length(max = 100))]
    name: String,
    /// When it is asked.
    #[schemars(schema_with = "events")]
    event: String,
    /// Which tools it is asked about: a regular expression over the whole name, such as `Bash` or
    /// `Edit|Write`; `*` or nothing is every tool.
    matcher: Option<String>,
    command: Command,
    #[schemars(flatten)]
    runs: Runs,
    /// What else must be there, by name or written in place.
    requirements: Option<Vec<Command>>,
    /// Only for this agent.
    #[schemars(default, schema_with = "agents")]
    agent: Option<String>,
    /// `symposium` (the default), or the agent whose own format the program speaks.
    #[schemars(default, schema_with = "agents")]
    format: Option<String>,
    /// Seconds that it may take; 30 without it.
    #[schemars(range(min = 1, max = 600))]
    timeout: Option<u32>,
    /// What a crash, a time-out or an answer that is not understood means: `continue` (the default),
    /// or `block`.
    #[schemars(rename = "on-failure")]
    on_failure: Option<Failure>,
    /// Whether processes that it leaves behind go on.
    detach: Option<bool>,
    #[schemars(flatten)]
    gate: Gate,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum Failure {
    Continue,
    Block,
}

fn events(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": Event::ALL.map(Event::name) })
}

fn agents(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<&str> = Agent::ALL.map(Agent::name).into_iter().chain([CANONICAL]).collect();
    json_schema!({ "type": "string", "enum": names })
}

/// An MCP server: a program (`command`), or an address (`type` and `url`).
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Server {
    /// Its name in the agents' files: letters, digits, `-` and `_`.
    #[schemars(length(max = 64), regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9_-]*$"))]
    name: String,
    /// `stdio` (the default), `http` or `sse`.
    r#type: Option<ServerType>,
    /// The program, or the name of an installation.
    command: Option<String>,
    args: Option<Vec<String>>,
    /// Variables that the program gets; a value may refer to the user's, as `${NAME}`.
    env: Option<Pairs>,
    /// The address of a server that is not a program.
    url: Option<String>,
    /// Headers of its requests; a value may refer to the user's variables, as `${NAME}`.
    headers: Option<Pairs>,
    #[schemars(flatten)]
    gate: Gate,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum ServerType {
    Stdio,
    Http,
    Sse,
}

/// A table of strings, or an array of `{ name, value }`.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Pairs {
    Table(BTreeMap<String, String>),
    Array(Vec<Pair>),
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Pair {
    name: String,
    value: String,
}

/// A command of `cargo agents`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Subcommand {
    /// One line for the help.
    #[schemars(length(max = 1024))]
    description: String,
    /// Whom the help lists it for: `agents` (the default) or `humans`.
    audience: Option<Audience>,
    command: Command,
    #[schemars(flatten)]
    gate: Gate,
}

/// The keys that a type takes.
fn keys<T: JsonSchema>() -> Vec<String> {
    let schema = schemars::schema_for!(T).to_value();
    let properties = schema["properties"].as_object().expect("an object with known keys");
    let mut keys: Vec<String> = properties.keys().cloned().collect();
    keys.sort();
    keys
}

#[test]
fn the_keys_of_the_schema_are_those_that_the_readers_take() {
    use super::{KEYS, gate, hooks, servers, skills, sources, subcommands};
    let sorted = |known: &[&str]| {
        let mut known: Vec<String> = known.iter().map(|&key| key.to_owned()).collect();
        known.sort();
        known.dedup();
        known
    };
    assert_eq!(keys::<Manifest>(), sorted(&KEYS));
    assert_eq!(keys::<Gate>(), sorted(&gate::KEYS));
    assert_eq!(keys::<SkillGroup>(), sorted(&skills::KEYS));
    assert_eq!(keys::<NamedCrate>(), sorted(&skills::KEYS));
    assert_eq!(keys::<SkillPlace>(), sorted(&skills::SOURCE_KEYS));
    assert_eq!(keys::<Hook>(), sorted(&hooks::KEYS));
    assert_eq!(keys::<Subcommand>(), sorted(&subcommands::KEYS));
    let of_sources = sources::SOURCES.iter().flat_map(|(_, keys)| *keys).copied();
    let installation: Vec<&str> = sources::COMMON.into_iter().chain(of_sources).collect();
    assert_eq!(keys::<Installation>(), sorted(&installation));
    let server = [&servers::COMMON[..], &servers::STDIO, &servers::REMOTE].concat();
    assert_eq!(keys::<Server>(), sorted(&server));
}
