//! What an error is about: the item that the code asks for, as far as rustc names it.

use std::path::PathBuf;

use semver::Version;

use super::block::{Block, Line, Marked, Part};

/// What is wrong with the item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing of that name is in the module, or the type has no such method, field or variant.
    Missing,
    /// It takes other arguments, or other parameters.
    Arguments,
    /// It asks for something that a type does not have.
    Bound,
    Private,
    Deprecated,
}

/// An item that an error is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub code: Option<String>,
    pub kind: Kind,
    /// Its path as it was asked for; it need not begin with its crate.
    pub path: Vec<String>,
    /// What the path begins with.
    pub root: Root,
    /// The crate whose file the error shows.
    pub shown: Option<Shown>,
    /// Other crates that the error names on the way to the item.
    pub named: Vec<String>,
    /// The file of the workspace that asks for it.
    pub file: Option<String>,
    /// Whether what the item takes is what is at stake, and not what one's own type is.
    pub asks_for_signature: bool,
}

/// What a path begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Root {
    /// A crate, or nothing that concerns us.
    Crate,
    /// A type whose name is unambiguous.
    Type,
    /// A method, or a field, of a type without a name of its own or of the standard library.
    Member,
}

/// A place in a crate's sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    pub name: String,
    pub version: Version,
    /// The file, in the crate's folder.
    pub file: PathBuf,
    pub line: usize,
}

/// What the error is about. Nothing where it is about what the file itself brings along.
pub(super) fn wanted(block: &Block<'_>) -> Vec<Wanted> {
    let Some(main) = block.main() else { return Vec::new() };
    let found = match block.code {
        Some("E0432") => imports(block),
        Some(
            "E0425" | "E0433" | "E0412" | "E0405" | "E0422" | "E0423" | "E0531" | "E0532" | "E0573"
            | "E0574" | "E0576",
        ) => missing_name(block, main).into_iter().collect(),
        Some("E0599") => member(block, main).into_iter().collect(),
        Some("E0609" | "E0560" | "E0559" | "E0026") => field(block).into_iter().collect(),
        Some("E0407" | "E0437" | "E0438") => foreign_member(block).into_iter().collect(),
        Some("E0061" | "E0107") => arguments(block).into_iter().collect(),
        Some("E0277") => bound(block).into_iter().collect(),
        Some("E0603" | "E0616" | "E0624") => private(block, main).into_iter().collect(),
        Some(_) => Vec::new(),
        None => deprecated(block).into_iter().collect(),
    };
    let file = main.file.filter(|file| registry_crate(file).is_none()).map(str::to_owned);
    let fill = |wanted: Wanted| Wanted {
        code: block.code.map(str::to_owned),
        file: file.clone(),
        ..wanted
    };
    found.into_iter().filter(|it| it.path.last().is_some_and(|it| is_name(it))).map(fill).collect()
}

impl Wanted {
    fn new(kind: Kind, path: Vec<String>, root: Root) -> Self {
        let (code, shown, file, named) = (None, None, None, Vec::new());
        Self { code, kind, path, root, shown, named, file, asks_for_signature: false }
    }
}

/// ``unresolved imports `a::b`, `c::d` ``
fn imports(block: &Block<'_>) -> Vec<Wanted> {
    let paths = ticked(block.message).map(path_of);
    paths.map(|path| Wanted::new(Kind::Missing, path, Root::Crate)).collect()
}

/// ``cannot find function `f` in module `a::b` ``, ``could not find `B` in `a` ``
fn missing_name(block: &Block<'_>, main: &Part<'_>) -> Option<Wanted> {
    let mut names = ticked(block.message);
    let (name, container) = (names.next()?, names.next()?);
    let written = main.marked().into_iter().filter(|it| it.is_primary).map(|it| it.path());
    let written = written.filter(|path| path.len() > 1 && path.last().is_some_and(|it| it == name));
    let mut told = path_of(container);
    told.push(name.to_owned());
    let path = written.max_by_key(Vec::len).unwrap_or(told);
    Some(Wanted::new(Kind::Missing, path, Root::Crate))
}

/// ``no method named `f` found for struct `T` in the current scope``
fn member(block: &Block<'_>, main: &Part<'_>) -> Option<Wanted> {
    let message = block.message;
    let is_refusal = message.starts_with("no ") || message.starts_with("the ");
    // It is there, and rustc says which trait to import.
    let remarks = block.parts.iter().flat_map(|part| &part.remarks);
    let mut texts = remarks.copied().chain(block.parts.iter().map(|part| part.heading));
    if !is_refusal || texts.any(|it| it.contains("can only be used if the trait is in scope")) {
        return None;
    }
    let mut names = ticked(message);
    let (name, of) = (names.next()?, names.next()?);
    let makers = makers(block, main);
    let is_own = main.lines.iter().any(is_label_of_own);
    if is_own && makers.is_empty() {
        return None;
    }
    let has_name = !message.contains(" for type parameter ") && !is_own;
    let mut wanted = of_type(name, of, has_name);
    let method = message.contains("method");
    if wanted.root == Root::Member && !method && !is_own {
        return None;
    }
    wanted.named.extend(makers);
    Some(wanted)
}

/// Whether the label says that the type is declared right there, in the workspace.
fn is_label_of_own(line: &Line<'_>) -> bool {
    !line.is_code
        && line.text.contains(" not found for this ")
        && !line.text.contains(" not found for this type parameter")
}

/// The crates whose macros made the type: they name its methods.
fn makers(block: &Block<'_>, main: &Part<'_>) -> Vec<String> {
    let labels = main.marked().into_iter().filter(|it| it.label.contains(" not found for this "));
    let mut found: Vec<_> = labels.filter_map(|it| crate_of(&it.path())).collect();
    let remarks = block.parts.iter().flat_map(|part| &part.remarks);
    let macros = remarks.filter(|it| it.contains("originates in ")).flat_map(|it| ticked(it));
    found.extend(macros.filter_map(|it| crate_of(&path_of(it))));
    found
}

/// ``no field `f` on type `T` ``, ``struct `T` has no field named `f` ``
fn field(block: &Block<'_>) -> Option<Wanted> {
    let mut names = ticked(block.message);
    let (one, other) = (names.next()?, names.next()?);
    let (name, of) = if block.message.starts_with("no ") { (one, other) } else { (other, one) };
    Some(of_type(name, of, true)).filter(|it| it.root != Root::Member)
}

/// ``method `f` is not a member of trait `T` ``
fn foreign_member(block: &Block<'_>) -> Option<Wanted> {
    let mut names = ticked(block.message);
    let (name, of) = (names.next()?, names.next()?);
    Some(of_type(name, of, true))
}

/// ``this function takes 1 argument but 2 arguments were supplied``: the note below shows it.
fn arguments(block: &Block<'_>) -> Option<Wanted> {
    let notes = block.parts.iter().skip(1);
    let mut notes = notes.filter(|it| it.heading.starts_with("note: ") && it.is_declaration());
    let (shown, name) = notes.find_map(|note| Some((note.shown()?, note.primary()?)))?;
    let path = vec![shown.name.replace('-', "_"), name];
    let shown = Some(shown);
    let wanted = Wanted::new(Kind::Arguments, path, Root::Crate);
    Some(Wanted { shown, asks_for_signature: true, ..wanted })
}

/// ``the trait bound `T: a::B` is not satisfied``: the note names the function that asks for it.
fn bound(block: &Block<'_>) -> Option<Wanted> {
    let mut notes = block.parts.iter().skip(1);
    let required = notes.find_map(|note| {
        let of = note.heading.strip_prefix("note: required by a bound in ")?;
        Some((path_of(ticked(of).next()?), note.shown()?))
    });
    let (path, shown) = required?;
    // What a type of one's own lacks is not what became of the item.
    let of = ticked(block.message).next().unwrap_or_default().trim_start_matches(['&', '(']);
    let is_std = ["std::", "core::", "alloc::"].iter().any(|it| of.starts_with(it));
    let is_primitive = of.starts_with(|it: char| it.is_lowercase()) && !of.contains("::");
    let wanted = Wanted::new(Kind::Bound, path, Root::Type);
    Some(Wanted { shown: Some(shown), asks_for_signature: is_std || is_primitive, ..wanted })
}

/// ``struct `T` is private``, ``field `f` of struct `T` is private``
fn private(block: &Block<'_>, main: &Part<'_>) -> Option<Wanted> {
    let mut names = ticked(block.message);
    let name = names.next()?;
    let shown = block.parts.iter().skip(1).find_map(Part::shown);
    if let Some(of) = names.next() {
        let wanted = Wanted { kind: Kind::Private, ..of_type(name, of, true) };
        return Some(Wanted { shown, ..wanted }).filter(|it| it.root != Root::Member);
    }
    let written = main.marked().into_iter().filter(|it| it.is_primary).map(|it| it.path());
    let written =
        written.filter(|path| path.last().is_some_and(|it| it == name)).max_by_key(Vec::len);
    let path = written.unwrap_or_else(|| vec![name.to_owned()]);
    let root = if path.len() > 1 { Root::Crate } else { Root::Member };
    Some(Wanted { shown, ..Wanted::new(Kind::Private, path, root) })
        .filter(|it| it.root != Root::Member || it.shown.is_some())
}

/// ``use of deprecated method `a::B::<T>::f`: use `g` instead``
fn deprecated(block: &Block<'_>) -> Option<Wanted> {
    let path = path_of(ticked(block.message).next()?);
    (path.len() > 1).then(|| Wanted::new(Kind::Deprecated, path, Root::Crate))
}

/// The member `name` of the type that rustc calls `of`.
fn of_type(name: &str, of: &str, has_name: bool) -> Wanted {
    let mut path = path_of(of);
    let is_std = matches!(path.first().map(String::as_str), Some("std" | "core" | "alloc"));
    let root = match path.as_slice() {
        [] => Root::Member,
        _ if is_std || !has_name => Root::Member,
        [_] => Root::Type,
        _ => Root::Crate,
    };
    if root == Root::Member {
        path.clear();
    }
    path.push(name.to_owned());
    // What a generic type holds may be what is asked.
    let named = of.split(|letter: char| !is_part(letter) && letter != ':');
    let named = named.filter_map(|it| crate_of(&path_of(it))).filter(|it| it != "std");
    Wanted { named: named.collect(), ..Wanted::new(Kind::Missing, path, root) }
}

impl Marked<'_> {
    /// The path that is marked, with what of it stands before.
    fn path(&self) -> Vec<String> {
        let before = &self.line[..self.from];
        let start = before.trim_end_matches(|letter| is_part(letter) || letter == ':').len();
        path_of(&self.line[start..self.to])
    }
}

impl Part<'_> {
    fn shown(&self) -> Option<Shown> {
        let file = self.file?;
        let (name, version, file) = registry_crate(file)?;
        Some(Shown { name, version, file, line: self.line })
    }

    fn is_declaration(&self) -> bool {
        self.heading.contains(" defined here")
    }

    /// The name that is marked.
    fn primary(&self) -> Option<String> {
        let first = self.marked().into_iter().find(|it| it.is_primary)?;
        Some(first.line[first.from..first.to].to_owned()).filter(|it| is_name(it))
    }
}

/// The crate of a path that begins with one, perhaps.
fn crate_of(path: &[String]) -> Option<String> {
    path.first().filter(|_| path.len() > 1).cloned()
}

/// The names of a path without what generics and references add.
fn path_of(text: &str) -> Vec<String> {
    let mut rest = text.trim();
    loop {
        let marks = ["&", "*const ", "*mut ", "mut ", "dyn ", "impl "];
        let inner = marks.iter().find_map(|mark| rest.strip_prefix(mark));
        let lifetime = || Some(rest.strip_prefix('\'')?.split_once(' ')?.1);
        match inner.or_else(lifetime) {
            Some(inner) => rest = inner,
            None => break,
        }
    }
    let mut path = Vec::new();
    let mut depth = 0_usize;
    let mut name = String::new();
    for letter in rest.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            letter if is_part(letter) => name.push(letter),
            ':' if name.is_empty() => {}
            ':' => path.push(std::mem::take(&mut name)),
            // `a::B as C`, `Trait + Send`, a closure, a tuple.
            _ => break,
        }
    }
    path.extend(Some(name).filter(|name| !name.is_empty()));
    path
}

fn is_part(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn is_name(text: &str) -> bool {
    text.len() <= 100
        && text.chars().all(is_part)
        && !text.starts_with(|it: char| it.is_ascii_digit())
}

/// What stands between backticks.
fn ticked(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The crate, with its version, that a file in cargo's folder of sources belongs to, and the file in it.
fn registry_crate(file: &str) -> Option<(String, Version, PathBuf)> {
    let file = file.replace('\\', "/");
    let (_, inside) = file.split_once("/registry/src/")?;
    let (folder, file) = inside.split_once('/')?.1.split_once('/')?;
    let split = |(at, _)| {
        let version = Version::parse(folder.get(at + 1..)?).ok()?;
        Some((folder[..at].to_owned(), version, PathBuf::from(file)))
    };
    folder.match_indices('-').find_map(split)
}

#[cfg(test)]
#[path = "wanted_tests.rs"]
mod tests;
