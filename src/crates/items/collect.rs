//! The pieces of a module that may have to do with a name, and the items that they are.

use std::cell::OnceCell;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

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
#[derive(Debug)]
pub(super) struct Module {
    /// No other has it.
    pub id: usize,
    pub file: Rc<File>,
    pub range: Range<usize>,
    /// Where the files of its modules are.
    pub folder: PathBuf,
    /// Its path from the root module on.
    pub names: Vec<String>,
    pub context: Context,
    pub parent: Option<Rc<Module>>,
    /// Its entries that may bring any name: most modules on the way to one have only these to offer.
    pub open: OnceCell<Rc<[Entry]>>,
}

impl Module {
    pub(super) fn new(file: Rc<File>, range: Range<usize>, folder: PathBuf) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let (names, context, parent, open) = Default::default();
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { id, file, range, folder, names, context, parent, open }
    }
}

/// What holds for all in a place.
#[derive(Debug, Clone, Default)]
pub(super) struct Context {
    pub cfg: Vec<String>,
    pub within_macros: Vec<String>,
}

/// A piece with what it declares.
#[derive(Debug, Clone)]
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
    pub from: Among,
}

/// Which of the pieces with a name in them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Among {
    All,
    /// And those of which it is not known which names they bring: `use x::*`.
    AllAndOpen,
    /// Those alone that have a word before it which declares it. Many have it as an argument's.
    Declaring,
}

/// What is wanted, with where in a file its name stands: a file has thousands of pieces.
struct Sought<'w> {
    wanted: Wanted<'w>,
    /// In order.
    places: Vec<usize>,
}

impl<'w> Sought<'w> {
    fn new(wanted: Wanted<'w>, file: &File, range: &Range<usize>) -> Self {
        let bytes = &file.text.as_bytes()[range.clone()];
        let counts = |at: &usize| wanted.from != Among::Declaring || is_declared(bytes, *at);
        let places = match wanted.name {
            ANY => Vec::new(),
            name => places(bytes, name).filter(counts).map(|at| range.start + at).collect(),
        };
        Self { wanted, places }
    }

    /// Where in `range` the name stands first.
    fn place_in(&self, range: &Range<usize>) -> Option<usize> {
        let next = self.places.partition_point(|at| *at < range.start);
        self.places.get(next).copied().filter(|at| *at < range.end)
    }

    /// Those of `pieces`, which are in order, that are of interest.
    fn among<'p>(&self, pieces: &'p [Piece]) -> Vec<&'p Piece> {
        let Wanted { name, from } = self.wanted;
        if name == ANY {
            return pieces.iter().collect();
        }
        if from == Among::AllAndOpen {
            let is_it = |piece: &&Piece| piece.is_open || self.place_in(&piece.range).is_some();
            return pieces.iter().filter(is_it).collect();
        }
        // A list of modules has thousands of pieces, and is asked for each of them.
        let at = |place: &usize| pieces.partition_point(|piece| piece.range.end <= *place);
        let mut numbers: Vec<usize> = self.places.iter().map(at).collect();
        numbers.dedup();
        let has_one = |piece: &&Piece| self.place_in(&piece.range).is_some();
        numbers.into_iter().filter_map(|it| pieces.get(it)).filter(has_one).collect()
    }
}

/// Whether it is a word before a name that is declared.
fn is_keyword(word: &[u8]) -> bool {
    matches!(
        word,
        b"fn"
            | b"struct"
            | b"enum"
            | b"union"
            | b"trait"
            | b"type"
            | b"const"
            | b"static"
            | b"mod"
            | b"mut"
            | b"macro"
            | b"macro_rules!"
            | b"crate"
    )
}

/// Whether a word stands before `at` that declares what stands there.
pub(super) fn is_declared(text: &[u8], at: usize) -> bool {
    word_before(&text[..at]).is_some_and(|word| is_keyword(word.as_bytes()))
}

/// The word before the blanks that `text` ends with.
pub(super) fn word_before(text: &[u8]) -> Option<&str> {
    let trimmed = text.trim_ascii_end();
    let trimmed = trimmed.strip_suffix(b"r#").unwrap_or(trimmed).trim_ascii_end();
    let start = trimmed.iter().rposition(|byte| !is_part(*byte));
    std::str::from_utf8(&trimmed[start.map_or(0, |start| start + 1)..]).ok()
}

/// The names that `text` declares.
pub(super) fn declared(text: &[u8]) -> impl Iterator<Item = &str> {
    let words = text.split(|byte| !is_part(*byte)).filter(|word| !word.is_empty());
    let mut is_after_keyword = false;
    let declared = words.filter(move |word| {
        let is_keyword = is_keyword(word);
        std::mem::replace(&mut is_after_keyword, is_keyword) && !is_keyword
    });
    declared.filter_map(|word| std::str::from_utf8(word).ok())
}

/// Whether it is a part of a name, or of the word before a macro's.
fn is_part(byte: u8) -> bool {
    const PARTS: [bool; 256] = {
        let mut parts = [false; 256];
        let mut byte = 0_u8;
        while byte < 128 {
            parts[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'!';
            byte += 1;
        }
        parts
    };
    PARTS[usize::from(byte)]
}

/// Where `name` stands in `text` with nothing of a name around it.
pub(super) fn places<'t>(text: &'t [u8], name: &'t str) -> impl Iterator<Item = usize> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    memchr::memmem::find_iter(text, name.as_bytes()).filter(move |at| {
        !text[..*at].last().is_some_and(is_part) && !text.get(at + name.len()).is_some_and(is_part)
    })
}

/// The entries of `module` that are of interest, also those in calls of macros.
pub(super) fn entries(module: &Module, wanted: Wanted<'_>, unknown: &mut Unknowns) -> Rc<[Entry]> {
    let sought = Sought::new(wanted, &module.file, &module.range);
    // Most modules on the way have nothing to do with a name, and need not be taken apart for that.
    match wanted.name != ANY && sought.places.is_empty() {
        true if wanted.from == Among::AllAndOpen => open_entries(module, Audience::Others),
        true => Rc::from([]),
        false => gathered(module, &sought, unknown),
    }
}

/// Who is to find the names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    /// The module itself, to which also its private uses bring names.
    Itself,
    Others,
}

/// The entries of `module` that may bring any name, whatever names they have in them.
pub(super) fn open_entries(module: &Module, audience: Audience) -> Rc<[Entry]> {
    let is_open = match audience {
        Audience::Itself => module.file.is_open(),
        Audience::Others => module.file.is_open_to_others(),
    };
    if !is_open {
        return Rc::from([]);
    }
    let sought =
        Sought { wanted: Wanted { name: "*", from: Among::AllAndOpen }, places: Vec::new() };
    let gathered = || gathered(module, &sought, &mut Unknowns::default());
    Rc::clone(module.open.get_or_init(gathered))
}

fn gathered(module: &Module, sought: &Sought<'_>, unknown: &mut Unknowns) -> Rc<[Entry]> {
    let mut found = Vec::new();
    let place = Place { file: &module.file, range: module.range.clone() };
    gather(&place, sought, &module.context, unknown, &mut found);
    found.into()
}

struct Place<'f> {
    file: &'f File,
    range: Range<usize>,
}

fn gather(
    place: &Place<'_>,
    sought: &Sought<'_>,
    context: &Context,
    unknown: &mut Unknowns,
    found: &mut Vec<Entry>,
) {
    for piece in sought.among(&place.file.pieces(place.range.clone(), Ends::Items)) {
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
                let inside = Place { range, file: place.file };
                gather(&inside, sought, &inner, unknown, found);
            }
            (Some(_), ..) | (None, _, Shape::Unknown) => {
                if let Some(at) = sought.place_in(&piece.range) {
                    let name = name.filter(|name| !name.is_empty());
                    let outer = context.within_macros.last().map(String::as_str);
                    unknown.add(place.file, at, name.or(outer), sought.wanted.name);
                }
            }
            (None, Some(range), Shape::Extern) => {
                let inside = Place { range, file: place.file };
                gather(&inside, sought, &context.with(&head.cfg), unknown, found);
            }
            _ => {
                let context = context.with(&head.cfg);
                found.push(Entry { piece: piece.clone(), head, context });
            }
        }
    }
}

/// The members of `entry` with the wanted name: of an `impl` or a trait, an enum, a struct.
pub(super) fn members(
    module: &Module,
    entry: &Entry,
    Wanted { name, from }: Wanted<'_>,
    unknown: &mut Unknowns,
) -> Vec<Item> {
    let Some(range) = entry.piece.body.clone() else { return Vec::new() };
    let (part, parent, is_shown) = match &entry.head.shape {
        Shape::Impl { of, of_trait } => (None, of, of_trait.is_some()),
        Shape::Named(Kind::Trait, parent) => (None, parent, true),
        Shape::Named(Kind::Enum, parent) => (Some(Kind::Variant), parent, true),
        Shape::Named(Kind::Struct | Kind::Union, parent) => (Some(Kind::Field), parent, false),
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    let file = &*module.file;
    let sought = Sought::new(Wanted { name, from }, file, &range);
    match part {
        None => gather(&Place { file, range }, &sought, &entry.context, unknown, &mut found),
        Some(kind) => {
            for piece in sought.among(&file.pieces(range, Ends::Commas)) {
                let own = &file.text[piece.range.clone()];
                let (piece, head) = (piece.clone(), Rc::new(head::read_part(own, kind)));
                found.push(Entry { context: entry.context.with(&head.cfg), piece, head });
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
        is_member: names.len() > 1,
        kind,
        file: module.file.path.clone(),
        line: module.file.line_of(start),
        declaration: cut(lines.collect::<Vec<_>>().join("\n"), most),
        doc: cut(head.doc.trim_end().to_owned(), DOC),
        cfg: context.cfg.clone(),
        deprecated: head.deprecated.clone(),
        within_macros: context.within_macros.clone(),
        is_public: head.visibility == Seen::Public,
    }
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
    /// Adds `name`, which stands there.
    fn add(&mut self, file: &File, at: usize, of_macro: Option<&str>, name: &str) {
        let why = match of_macro {
            Some(of_macro) => {
                format!(
                    "the macro `{of_macro}!` is called with `{name}`; what it makes of it is unknown"
                )
            }
            None => format!("`{name}` stands in what could not be parsed"),
        };
        let is_declared = is_declared(file.text.as_bytes(), at);
        let one = Unknown { file: file.path.clone(), line: file.line_of(at), why, is_declared };
        if self.0.len() < MOST_UNKNOWN && !self.0.contains(&one) {
            self.0.push(one);
        }
    }
}
