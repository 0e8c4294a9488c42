//! Where a crate declares a name, without building it: `Server`, `Rng::gen_range`, `net::TcpStream`.
//!
//! - [`look_up`]: what a path of a crate leads to, through its modules and re-exports; else the same
//!   name elsewhere in it, or near ones
//!
//! What only the compiler knows is told as unknown: the conditions of `cfg` are named and not decided,
//! and what a macro may make of a name is not guessed. All is bounded: files, bytes, steps.

use std::path::{Path, PathBuf};

use semver::VersionReq;
use serde::Serialize;

mod collect;
mod deref;
mod head;
mod near;
mod resolve;
mod source;
mod split;
#[cfg(test)]
mod tests;

pub(crate) use deref::Deref;
use resolve::{Resolver, search};
use source::Source;

use crate::files::{Limit, contained, read_text};

/// Items of one kind of answer.
const MOST: usize = 10;
/// Names of a path.
const LONGEST: usize = 10;
/// Lines that a function's declaration may have.
const SIGNATURE: usize = 60;

/// What a path leads to.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LookUp {
    /// Where it is declared.
    pub found: Vec<Item>,
    /// Where the type itself has no such member: what it stands for. What is found is a member of that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derefs: Vec<Deref>,
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
    /// How users of the crate reach it, where such a path is found, else where it is declared:
    /// `widget::Gear::turn`.
    pub path: String,
    /// Whether it is such a path.
    #[serde(skip)]
    pub is_reached: bool,
    /// Whether a type, a trait or an `impl` has it, and not a module.
    #[serde(skip)]
    pub is_member: bool,
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
    /// The versions of it that the crate's manifest admits.
    #[serde(skip)]
    pub requirement: Option<VersionReq>,
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
    /// Whether a word such as `fn` stands before the name: then it is what was asked for, most likely.
    #[serde(skip)]
    pub is_declared: bool,
}

/// What `path` leads to in the crate `name`, whose files are in `dir`. The path may begin with the
/// crate's name, and may be the end of a longer one; `None` where it is no path.
pub(crate) fn look_up(name: &str, dir: &Path, path: &str) -> Option<LookUp> {
    let (source, names, is_whole) = opened(name, dir, path)?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let resolver = Resolver::new(&source);
    let mut answer = LookUp::default();
    resolver.resolve(&names, &mut answer);
    if answer.found.is_empty() && answer.foreign.iter().all(|it| it.is_glob) {
        look_elsewhere(&resolver, &names, is_whole, &mut answer);
    }
    for items in [&mut answer.found, &mut answer.elsewhere] {
        rank(items);
        items.iter_mut().for_each(|item| resolver.name_for_users(item, &names));
    }
    // Who has the answer needs not know what else may have that name.
    answer.unknown = if answer.found.is_empty() { resolver.unknown() } else { Vec::new() };
    Some(answer)
}

/// Looks for what is not at the path itself.
fn look_elsewhere(resolver: &Resolver<'_>, names: &[&str], is_whole: bool, answer: &mut LookUp) {
    let (matching, others) = search::everywhere(resolver, names);
    answer.found = exported_macros(resolver, names, &matching);
    if !answer.found.is_empty() {
        return;
    }
    match is_whole {
        false => (answer.found, answer.elsewhere) = (matching, others),
        true => answer.elsewhere = matching.into_iter().chain(others).collect(),
    }
    if answer.found.is_empty()
        && let [.., of, name] = names
        && is_type(of)
        && !is_type(name)
    {
        answer.derefs = deref::targets(resolver, of);
        let targets = answer.derefs.iter().filter_map(|it| it.name());
        let ends: Vec<String> = targets.map(|of| format!("::{of}::{name}")).collect();
        let is_of_target = |item: &Item| ends.iter().any(|end| item.path.ends_with(end));
        answer.found = answer.elsewhere.iter().filter(|it| is_of_target(it)).cloned().collect();
    }
    if !answer.found.is_empty() {
        answer.elsewhere.clear();
    }
    let is_helped = answer.elsewhere.iter().any(|item| may_be(item, names))
        || resolver.unknowns.borrow().0.iter().any(|unknown| unknown.is_declared);
    if answer.found.is_empty() && !is_helped {
        answer.near = near::items(resolver, names);
    }
}

/// Those of `items` that are the macro which `names` is of the root module: wherever such a one is
/// declared, it is exported from there.
fn exported_macros(resolver: &Resolver<'_>, names: &[&str], items: &[Item]) -> Vec<Item> {
    let [name] = names else { return Vec::new() };
    let macros = items.iter().filter(|item| item.kind == Kind::Macro && item.is_public);
    let path = format!("{}::{name}", resolver.source.name);
    macros.map(|item| Item { path: path.clone(), ..item.clone() }).collect()
}

/// What else is called as the last name of `path` in the crate, and what has a near name, whatever is at
/// the path itself.
pub(crate) fn look_around(name: &str, dir: &Path, path: &str) -> Option<LookUp> {
    let (source, names, _) = opened(name, dir, path)?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let resolver = Resolver::new(&source);
    let (matching, others) = search::everywhere(&resolver, &names);
    let mut elsewhere: Vec<Item> = matching.into_iter().chain(others).collect();
    rank(&mut elsewhere);
    elsewhere.iter_mut().for_each(|item| resolver.name_for_users(item, &names));
    Some(LookUp { near: near::items(&resolver, &names), elsewhere, ..LookUp::default() })
}

/// Whether `item` may be what somebody meant who asked for `names`. What another type has under the name
/// is not; what another module has may be.
pub(crate) fn may_be(item: &Item, names: &[&str]) -> bool {
    let Some((last, parents)) = names.split_last() else { return false };
    let mut own = item.path.rsplit("::");
    let (name, parent) = (own.next().unwrap_or_default(), own.next().unwrap_or_default());
    let is_alike = match parents.last().filter(|it| is_type(it)) {
        Some(of) => *of == parent,
        None => !item.is_member,
    };
    item.is_public && is_type(name) == is_type(last) && is_alike
}

/// Whether a name is spelt as those of types and variants are.
fn is_type(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_uppercase())
}

/// The declaration of `name`, without its body, that `line` of a crate's file is a part of: its own line,
/// and its words in one line. `None` where it is not for the crate's users.
pub(crate) fn signature(
    dir: &Path,
    file: &Path,
    line: usize,
    name: &str,
) -> Option<(usize, String)> {
    let text = read_text(&contained(dir, file.to_str()?).ok()?, Limit::CARGO).ok()?;
    let above = text.split_inclusive('\n').take(line).collect::<Vec<_>>();
    let number = above.iter().rposition(|line| search::declares(line.as_bytes(), name))?;
    if above.len() - number > SIGNATURE {
        return None;
    }
    let start = above[..number].iter().map(|line| line.len()).sum();
    let piece = split::split(&text, start..text.len(), split::Ends::Items).into_iter().next()?;
    let words: Vec<&str> = text[piece.head()].split_whitespace().collect();
    let own = words.join(" ").replace("( ", "(").replace(", )", ")");
    (!own.starts_with("pub(")).then(|| (number + 1, own.trim_end_matches(';').to_owned()))
}

/// The crate's sources, and the names of `path` in it: whether it begins with the crate's own.
fn opened(name: &str, dir: &Path, path: &str) -> Option<(Source, Vec<String>, bool)> {
    let mut names = names(path)?;
    let source = Source::open(name, dir)?;
    let is_whole = names.len() > 1 && source.is_own_name(&names[0]);
    if is_whole {
        names.remove(0);
    }
    Some((source, names, is_whole))
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
