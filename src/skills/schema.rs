//! What the frontmatter of a `SKILL.md`, and a crate's word on its skills, may hold, as types: their
//! JSON schemas are made of them, and the comments are what editors show. The readers decide.
#![allow(dead_code, reason = "only the types' shapes count")]

use std::collections::BTreeMap;

use schemars::JsonSchema;

/// A skill (agentskills.io), with Symposium's word on when it applies.
#[derive(JsonSchema)]
#[schemars(title = "SKILL.md", rename_all = "kebab-case")]
pub(crate) struct Frontmatter {
    /// The skill's name, which is its folder's too: lower-case letters, digits and single hyphens.
    #[schemars(length(min = 1, max = 64), regex(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$"))]
    name: String,
    /// What it does, and when to use it: agents decide by this alone whether to read the skill.
    #[schemars(length(min = 1, max = 1024))]
    description: String,
    /// The licence, by its name or by a file of the skill.
    license: Option<String>,
    /// What it needs of the agent or of the machine.
    #[schemars(length(max = 500))]
    compatibility: Option<String>,
    /// Whatever else; `crates` and `predicates` may stand here, too.
    metadata: Option<BTreeMap<String, serde_json::Value>>,
    /// Tools that some agents then use without a question.
    allowed_tools: Option<Words>,
    #[schemars(flatten)]
    gate: Gate,
}

/// When it applies.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
struct Gate {
    /// The crates it is for, with commas between or as a list: `serde`, `tokio>=1.40`, `*`.
    crates: Option<Words>,
    /// Another spelling of `crates`.
    depends_on: Option<Words>,
    /// Further conditions, all of which must hold: `env(NAME)`, `path_exists(path)`, `not(…)`.
    predicates: Option<Words>,
}

/// One string, or several.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Words {
    One(String),
    Several(Vec<String>),
}

/// Where a crate's own skills are: in `[package.metadata.symposium]` of its `Cargo.toml`, or in a
/// `SYMPOSIUM.toml` beside it that has no `name`.
#[derive(JsonSchema)]
#[schemars(title = "A crate's skills", deny_unknown_fields)]
pub(crate) struct CrateSkills {
    /// Folders of the crate, or other crates. They replace `skills/`.
    skills: Option<Vec<Entry>>,
    /// Another spelling of `[[skills]]` with `source.cargo`.
    plugins: Option<Vec<Entry>>,
    defaults: Option<Defaults>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Defaults {
    /// Whether `skills/` is looked into: `true` adds it to what is listed, `false` withholds it.
    skills: Option<bool>,
}

/// Skills in one place: one of `path`, `crate` and `source`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Entry {
    /// A folder, relative to the `Cargo.toml`.
    path: Option<String>,
    /// Another crate, whose own skills count: `widget`, `widget>=1`.
    #[schemars(rename = "crate")]
    krate: Option<Named>,
    source: Option<Source>,
    #[schemars(flatten)]
    gate: Gate,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum Source {
    Word(OfCrate),
    Table(Place),
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum OfCrate {
    /// The folder `skills/`.
    Crate,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Place {
    /// A folder, relative to the `Cargo.toml`.
    path: Option<String>,
    /// The same.
    crate_path: Option<String>,
    /// Another crate, whose own skills count.
    cargo: Option<Named>,
}

/// A crate, perhaps with a requirement on its version.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Named {
    Atom(String),
    Table(NamedTable),
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct NamedTable {
    name: String,
    version: Option<String>,
}
