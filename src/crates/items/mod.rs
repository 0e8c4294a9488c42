//! Where a crate declares a name, without building it: `Server`, `Rng::gen_range`, `net::TcpStream`.
//!
//! - [`look_up`]: what a path of a crate leads to, through its modules and re-exports; else the same
//!   name elsewhere in it, or near ones
//!
//! What only the compiler knows is told as unknown: the conditions of `cfg` are named and not decided,
//! and what a macro may make of a name is not guessed. All is bounded: files, bytes, steps.

use std::path::{Path, PathBuf};

use serde::Serialize;

mod collect;
mod head;
mod near;
mod resolve;
mod source;
mod split;
#[cfg(test)]
mod tests;

use resolve::{Resolver, search};
use source::Source;

/// Items of one kind of answer.
const MOST: usize = 10;
/// Names of a path.
const LONGEST: usize = 10;

/// What a path leads to.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LookUp {
    /// Where it is declared.
    pub found: Vec<Item>,
    /// The path leads into these other crates.
    pub foreign: Vec<Foreign>,
    /// Where there is nothing at the path: the same name elsewhere in the crate.
    pub elsewhere: Vec<Item>,
    /// Where there is none of these: items with near names.
    pub near: Vec<Item>,
    /// What may have to do with it and can't be told.
    pub unknown: Vec<Unknown>,
}

/// A declared item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Item {
    /// Where it is declared: `widget::tools::Gear::turn`.
    pub path: String,
    pub kind: Kind,
    pub file: PathBuf,
    pub line: usize,
    /// As it stands, without the body of a function.
    pub declaration: String,
    /// Its doc comment.
    pub doc: String,
    /// The conditions of it and of what it is in; whether they hold is not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cfg: Vec<String>,
    /// What its `deprecated` attribute says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
    /// The macros in whose calls it stands: what they make of it is not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub within_macros: Vec<String>,
    /// Whether it says `pub`, or is a member that needs not.
    pub is_public: bool,
}

/// What is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    Module,
    Struct,
    Enum,
    Union,
    Trait,
    Type,
    Variant,
    Field,
    Function,
    Method,
    Const,
    Static,
    Macro,
    DeriveMacro,
}

impl Kind {
    /// In words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Module => "module",
            Self::Struct => "struct",
            Self::Enum => "enum",
            Self::Union => "union",
            Self::Trait => "trait",
            Self::Type => "type",
            Self::Variant => "variant",
            Self::Field => "field",
            Self::Function => "function",
            Self::Method => "method",
            Self::Const => "constant",
            Self::Static => "static",
            Self::Macro => "macro",
            Self::DeriveMacro => "derive macro",
        }
    }
}

/// A re-export of another crate's item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Foreign {
    /// The crate's name in a registry.
    pub package: String,
    /// The path there, which begins with the crate's own name.
    pub path: String,
    pub file: PathBuf,
    pub line: usize,
    /// Whether all of that crate's names are re-exported, so that it may or may not have it.
    pub is_glob: bool,
}

/// What can't be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Unknown {
    pub file: PathBuf,
    pub line: usize,
    pub why: String,
}

/// What `path` leads to in the crate `name`, whose files are in `dir`. The path may begin with the
/// crate's name, and may be the end of a longer one; `None` where it is no path.
pub(crate) fn look_up(name: &str, dir: &Path, path: &str) -> Option<LookUp> {
    let mut names = names(path)?;
    let source = Source::open(name, dir)?;
    let is_whole = names.len() > 1 && source.is_own_name(&names[0]);
    if is_whole {
        names.remove(0);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let resolver = Resolver::new(&source);
    let mut answer = LookUp::default();
    resolver.resolve(&names, &mut answer);
    if answer.found.is_empty() && answer.foreign.iter().all(|it| it.is_glob) {
        let (matching, others) = search::everywhere(&resolver, &names);
        match is_whole {
            false => (answer.found, answer.elsewhere) = (matching, others),
            true => answer.elsewhere = matching.into_iter().chain(others).collect(),
        }
        if !answer.found.is_empty() {
            answer.elsewhere.clear();
        }
        if answer.found.is_empty() && answer.elsewhere.is_empty() {
            answer.near = near::items(&resolver, &names);
        }
    }
    for items in [&mut answer.found, &mut answer.elsewhere, &mut answer.near] {
        rank(items);
    }
    // Who has the answer needs not know what else may have that name.
    answer.unknown = if answer.found.is_empty() { resolver.unknown() } else { Vec::new() };
    Some(answer)
}

/// The names of a path, without what stands between `<` and `>`.
fn names(path: &str) -> Option<Vec<String>> {
    let mut plain = String::new();
    let mut depth = 0_usize;
    for letter in path.trim().trim_end_matches("()").trim_end_matches('!').chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            letter if depth == 0 => plain.push(letter),
            _ => {}
        }
    }
    let names: Vec<String> = plain
        .split("::")
        .map(|name| name.trim().trim_start_matches("r#").to_owned())
        .filter(|name| !name.is_empty() && name != "crate")
        .collect();
    let is_name = |name: &String| {
        name.len() <= 256
            && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
            && !name.starts_with(|letter: char| letter.is_ascii_digit())
    };
    (!names.is_empty() && names.len() <= LONGEST && names.iter().all(is_name)).then_some(names)
}

/// The likeliest first: public, types, near the top.
fn rank(items: &mut Vec<Item>) {
    items.sort_by_key(|item| {
        let kind = match item.kind {
            Kind::Method | Kind::Field | Kind::Variant => 2,
            Kind::Module => 1,
            _ => 0,
        };
        (!item.is_public, kind, item.path.matches("::").count(), item.path.clone(), item.line)
    });
    items.dedup_by(|later, kept| later.file == kept.file && later.line == kept.line);
    items.truncate(MOST);
}
