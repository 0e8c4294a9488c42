//! The pieces of a module that may have to do with a name, and the items that they are.

use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;

use super::head::{self, Head, Seen, Shape};
use super::source::File;
use super::split::{Ends, Piece};
use super::{Item, Kind, Unknown};

/// Macros in macros.
const DEEPEST: usize = 8;
/// Bytes of a declaration that are kept, of a value, and of a doc comment.
const DECLARATION: usize = 2_000;
const VALUE: usize = 300;
const DOC: usize = 8_000;
/// Things that can't be told which are told of.
const MOST_UNKNOWN: usize = 5;

/// A module: a file, or a part of one.
#[derive(Debug, Clone)]
pub(super) struct Module {
    pub file: Rc<File>,
    pub range: Range<usize>,
    /// Where the files of its modules are.
    pub folder: PathBuf,
    /// Its path from the root module on.
    pub names: Vec<String>,
    pub context: Context,
    pub parent: Option<Rc<Module>>,
}

/// What holds for all in a place.
#[derive(Debug, Clone, Default)]
pub(super) struct Context {
    pub cfg: Vec<String>,
    pub within_macros: Vec<String>,
}

/// A piece with what it declares.
pub(super) struct Entry {
    pub piece: Piece,
    pub head: Rc<Head>,
    pub context: Context,
}

impl Context {
    /// That of what is inside of something with `cfg`.
    fn with(&self, cfg: &[String]) -> Self {
        let mut inner = self.clone();
        inner.cfg.extend(cfg.iter().filter(|it| !self.cfg.contains(it)).cloned());
        inner
    }
}

/// The name of all that has one.
pub(super) const ANY: &str = "";

/// Which pieces are of interest.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'w> {
    /// Those with this name in them, or [`ANY`].
    pub name: &'w str,
    /// Also those of which it is not known which names they bring: `use x::*`.
    pub globs: bool,
}

impl Wanted<'_> {
    fn is_in(self, text: &str, piece: &Piece) -> bool {
        self.globs && piece.is_open
            || self.name == ANY
            || has_name(&text[piece.range.clone()], self.name)
    }
}

/// Whether `name` stands in `text` with nothing of a name around it.
pub(super) fn has_name(text: &str, name: &str) -> bool {
    places(text.as_bytes(), name).next().is_some()
}

/// Where `name` stands in `text` with nothing of a name around it.
pub(super) fn places<'t>(text: &'t [u8], name: &'t str) -> impl Iterator<Item = usize> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    memchr::memmem::find_iter(text, name.as_bytes()).filter(move |at| {
        !text[..*at].last().is_some_and(is_part) && !text.get(at + name.len()).is_some_and(is_part)
    })
}

/// The entries of `module` that are of interest, also those in calls of macros.
pub(super) fn entries(module: &Module, wanted: Wanted<'_>, unknown: &mut Unknowns) -> Vec<Entry> {
    let mut found = Vec::new();
    let place = Place { file: &module.file, range: module.range.clone(), ends: Ends::Items };
    gather(&place, wanted, &module.context, unknown, &mut found);
    found
}

struct Place<'f> {
    file: &'f File,
    range: Range<usize>,
    ends: Ends,
}

fn gather(
    place: &Place<'_>,
    wanted: Wanted<'_>,
    context: &Context,
    unknown: &mut Unknowns,
    found: &mut Vec<Entry>,
) {
    let text = &place.file.text;
    for piece in place.file.pieces(place.range.clone(), place.ends).iter() {
        if !wanted.is_in(text, piece) {
            continue;
        }
        let head = place.file.head(piece);
        let is_in_macro = !context.within_macros.is_empty();
        let name = match &head.shape {
            Shape::Call(name) => Some(name.as_str()),
            // `if #[cfg(unix)] { … }`
            Shape::Unknown if is_in_macro => Some(""),
            _ => None,
        };
        let body = piece.body.clone();
        match (name, body, &head.shape) {
            (Some(name), Some(range), _) if context.within_macros.len() < DEEPEST => {
                let mut inner = context.with(&head.cfg);
                if !name.is_empty() {
                    inner.within_macros.push(name.to_owned());
                }
                let inside = Place { range, ends: Ends::Items, file: place.file };
                gather(&inside, wanted, &inner, unknown, found);
            }
            (Some(_), ..) | (None, _, Shape::Unknown) => {
                if wanted.name != ANY && has_name(&text[piece.range.clone()], wanted.name) {
                    let name = name.filter(|name| !name.is_empty());
                    let outer = context.within_macros.last().map(String::as_str);
                    unknown.add(place.file, piece, name.or(outer), wanted.name);
                }
            }
            (None, Some(range), Shape::Extern) => {
                let inside = Place { range, ends: Ends::Items, file: place.file };
                gather(&inside, wanted, &context.with(&head.cfg), unknown, found);
            }
            _ => {
                let context = context.with(&head.cfg);
                found.push(Entry { piece: piece.clone(), head, context });
            }
        }
    }
}

/// The members of `entry` with this name, or [`ANY`]: of an `impl` or a trait, an enum, a struct.
pub(super) fn members(
    module: &Module,
    entry: &Entry,
    name: &str,
    unknown: &mut Unknowns,
) -> Vec<Item> {
    let Some(range) = entry.piece.body.clone() else { return Vec::new() };
    let (part, parent, is_shown) = match &entry.head.shape {
        Shape::Impl { of, of_trait } => (None, of, *of_trait),
        Shape::Named(Kind::Trait, parent) => (None, parent, true),
        Shape::Named(Kind::Enum, parent) => (Some(Kind::Variant), parent, true),
        Shape::Named(Kind::Struct | Kind::Union, parent) => (Some(Kind::Field), parent, false),
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    let file = &*module.file;
    match part {
        None => {
            let place = Place { file, range, ends: Ends::Items };
            let wanted = Wanted { name, globs: false };
            gather(&place, wanted, &entry.context, unknown, &mut found);
        }
        Some(kind) => {
            for piece in file.pieces(range, Ends::Commas).iter() {
                let own = &file.text[piece.range.clone()];
                if name == ANY || has_name(own, name) {
                    let (piece, head) = (piece.clone(), Rc::new(head::read_part(own, kind)));
                    found.push(Entry { context: entry.context.with(&head.cfg), piece, head });
                }
            }
        }
    }
    let mut items = Vec::new();
    for mut member in found {
        let Shape::Named(kind, named) = &member.head.shape else { continue };
        let kind = if *kind == Kind::Function { Kind::Method } else { *kind };
        if name == ANY || named == name {
            let names = [parent.clone(), named.clone()];
            if is_shown {
                Rc::make_mut(&mut member.head).visibility = Seen::Public;
            }
            items.push(item(module, &member, kind, &names.each_ref().map(String::as_str)));
        }
    }
    items
}

/// The item that `entry` declares as `names` in `module`.
pub(super) fn item(module: &Module, entry: &Entry, kind: Kind, names: &[&str]) -> Item {
    let Entry { piece, head, context } = entry;
    let text = &module.file.text;
    let start = (piece.range.start + head.start).min(piece.range.end);
    let (end, most) = match kind {
        Kind::Struct | Kind::Enum | Kind::Union | Kind::Variant | Kind::Field | Kind::Type => {
            (piece.range.end, DECLARATION)
        }
        Kind::Const | Kind::Static => (piece.range.end, VALUE),
        _ => (piece.head().end, DECLARATION),
    };
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let indent = start - line_start;
    let own = text.get(start..end).unwrap_or_default().trim().trim_end_matches([',', ';']);
    let lines = own.lines().enumerate().map(|(number, line)| {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        if number == 0 { line } else { &line[blanks.min(indent)..] }
    });
    let module_names = module.names.iter().map(String::as_str);
    Item {
        path: module_names.chain(names.iter().copied()).collect::<Vec<_>>().join("::"),
        is_reached: false,
        kind,
        file: module.file.path.clone(),
        line: line_of(text, start),
        declaration: cut(lines.collect::<Vec<_>>().join("\n"), most),
        doc: cut(head.doc.trim_end().to_owned(), DOC),
        cfg: context.cfg.clone(),
        deprecated: head.deprecated.clone(),
        within_macros: context.within_macros.clone(),
        is_public: head.visibility == Seen::Public,
    }
}

pub(super) fn line_of(text: &str, at: usize) -> usize {
    memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count() + 1
}

fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push('…');
    }
    text
}

/// What was met and can't be told.
#[derive(Default)]
pub(super) struct Unknowns(pub Vec<Unknown>);

impl Unknowns {
    fn add(&mut self, file: &File, piece: &Piece, of_macro: Option<&str>, name: &str) {
        let text = &file.text;
        let start = piece.range.start + text[piece.range.clone()].find(name).unwrap_or_default();
        let why = match of_macro {
            Some(of_macro) => {
                format!(
                    "the macro `{of_macro}!` is called with `{name}`; what it makes of it is unknown"
                )
            }
            None => format!("`{name}` stands in what could not be parsed"),
        };
        let one = Unknown { file: file.path.clone(), line: line_of(text, start), why };
        if self.0.len() < MOST_UNKNOWN && !self.0.contains(&one) {
            self.0.push(one);
        }
    }
}
