//! Where in a crate a name is declared, whatever the path.

use std::rc::Rc;

use super::Resolver;
use crate::crates::items::collect::{
    self, ANY, Context, Entry, Module, Unknowns, Wanted, entries, places,
};
use crate::crates::items::head::{Seen, Shape, Use};
use crate::crates::items::source::File;
use crate::crates::items::{Item, Kind};

/// Bytes of a crate that are looked through for a name.
const BYTES: usize = 160 * 1024 * 1024;
/// Bytes of files with the name in them that are taken apart.
const PARSED: usize = 16 * 1024 * 1024;
/// Bytes of a crate that are looked through for re-exports, and of files that are taken apart.
const BYTES_FOR_USES: usize = 8 * 1024 * 1024;
const PARSED_FOR_USES: usize = 2 * 1024 * 1024;
/// Modules that may re-export something.
const MOST_PLACES: usize = 12;
/// Modules in modules.
const DEEPEST: usize = 64;
/// Items that are kept on the way.
const MOST: usize = 200;
/// Words before a name that is declared.
const KEYWORDS: [&str; 13] = [
    "fn",
    "struct",
    "enum",
    "union",
    "trait",
    "type",
    "const",
    "static",
    "mod",
    "mut",
    "macro",
    "macro_rules!",
    "crate",
];

/// The items that are called as the last of `names`: those whose path ends with all of them, and the
/// others.
pub(in crate::crates::items) fn everywhere(
    resolver: &Resolver<'_>,
    names: &[&str],
) -> (Vec<Item>, Vec<Item>) {
    let Some((last, parents)) = names.split_last() else { return Default::default() };
    let mut files: Vec<(bool, Rc<File>)> = Vec::new();
    resolver.source.each(BYTES, &mut |path, bytes| {
        let is_declared = declares(&bytes, last);
        // A variant or a field has no keyword before it.
        let is_member = || {
            let parent = parents.last()?;
            let has = |name: &str| places(&bytes, name).next().is_some();
            (has(last) && declares(&bytes, parent)).then_some(())
        };
        if (is_declared || is_member().is_some())
            && let Ok(text) = String::from_utf8(bytes)
        {
            files.push((!is_declared, File::new(path, text)));
        }
    });
    files.sort_by_key(|(is_doubtful, _)| *is_doubtful);
    let mut left = PARSED;
    let mut all = Vec::new();
    for (_, file) in files {
        let Some(rest) = left.checked_sub(file.text.len()).filter(|_| all.len() < MOST) else {
            break;
        };
        left = rest;
        in_module(resolver, &module(resolver, file), last, &mut all);
    }
    let ending = format!("::{}", names.join("::"));
    all.into_iter().partition(|item| item.path.ends_with(&ending))
}

/// The module of a file. Where it can't be told its path is what the file's says.
pub(in crate::crates::items) fn module(resolver: &Resolver<'_>, file: Rc<File>) -> Rc<Module> {
    if let Some(known) = resolver.module_of(&file.path) {
        return known;
    }
    let source = resolver.source;
    let relative = file.path.strip_prefix(source.folder()).unwrap_or(&file.path);
    let relative = relative.with_extension("");
    let mut names = vec![source.name.clone()];
    names.extend(relative.iter().map(|name| name.to_string_lossy().into_owned()));
    names.pop_if(|last| *last == "mod");
    Rc::new(Module {
        range: 0..file.text.len(),
        folder: file.path.with_extension(""),
        names,
        context: Context::default(),
        parent: resolver.root(),
        file,
    })
}

/// Adds what is called `name` in `module` and in the modules of the same file.
pub(in crate::crates::items) fn in_module(
    resolver: &Resolver<'_>,
    module: &Rc<Module>,
    name: &str,
    found: &mut Vec<Item>,
) {
    let wanted = Wanted { name, globs: false };
    let all = entries(module, wanted, &mut resolver.unknowns.borrow_mut());
    for entry in &all {
        match &entry.head.shape {
            Shape::Named(kind, named) if named == name => {
                let mut item = collect::item(module, entry, *kind, &[name]);
                if *kind == Kind::Macro {
                    item.is_public |= entry.head.is_exported;
                }
                found.push(item);
            }
            Shape::Mod(named) => {
                if named == name {
                    found.push(collect::item(module, entry, Kind::Module, &[name]));
                }
                if entry.piece.body.is_some() && module.names.len() < DEEPEST {
                    let inner = inline(module, entry, named);
                    in_module(resolver, &inner, name, found);
                }
            }
            _ => {
                let mut unknowns = resolver.unknowns.borrow_mut();
                found.extend(collect::members(module, entry, name, &mut unknowns));
            }
        }
    }
}

fn inline(parent: &Rc<Module>, entry: &Entry, name: &str) -> Rc<Module> {
    let mut inner = Module::clone(parent);
    inner.range = entry.piece.body.clone().unwrap_or_default();
    inner.folder.push(name);
    inner.names.push(name.to_owned());
    inner.context = entry.context.clone();
    inner.parent = Some(Rc::clone(parent));
    Rc::new(inner)
}

/// All members of the types and traits called `of` in `module` and in the modules of the same file.
pub(in crate::crates::items) fn all_members(module: &Rc<Module>, of: &str, found: &mut Vec<Item>) {
    let unknowns = &mut Unknowns::default();
    for entry in &entries(module, Wanted { name: of, globs: false }, unknowns) {
        match &entry.head.shape {
            Shape::Impl { of: named, .. } | Shape::Named(_, named) if named == of => {
                found.extend(collect::members(module, entry, ANY, unknowns));
            }
            Shape::Mod(named) if entry.piece.body.is_some() && module.names.len() < DEEPEST => {
                all_members(&inline(module, entry, named), of, found);
            }
            _ => {}
        }
    }
}

/// The members called `name` of the type or trait `of`, which `home` declares.
pub(super) fn members(
    resolver: &Resolver<'_>,
    home: &Rc<Module>,
    of: &str,
    name: &str,
) -> Vec<Item> {
    let mut found = Vec::new();
    members_in(resolver, home, of, name, &mut found);
    if !found.is_empty() {
        return found;
    }
    let mut left = PARSED;
    resolver.source.each(BYTES, &mut |path, bytes| {
        let has = |name: &str| places(&bytes, name).next().is_some();
        if path == home.file.path || !has(of) || !declares(&bytes, name) || left < bytes.len() {
            return;
        }
        left -= bytes.len();
        if let Ok(text) = String::from_utf8(bytes) {
            let file = File::new(path, text);
            members_in(resolver, &module(resolver, file), of, name, &mut found);
        }
    });
    found
}

fn members_in(
    resolver: &Resolver<'_>,
    module: &Rc<Module>,
    of: &str,
    name: &str,
    found: &mut Vec<Item>,
) {
    let wanted = Wanted { name, globs: false };
    let all = entries(module, wanted, &mut resolver.unknowns.borrow_mut());
    for entry in &all {
        match &entry.head.shape {
            Shape::Impl { of: named, .. } | Shape::Named(_, named) if named == of => {
                let mut unknowns = resolver.unknowns.borrow_mut();
                found.extend(collect::members(module, entry, name, &mut unknowns));
            }
            Shape::Mod(named) if entry.piece.body.is_some() && module.names.len() < DEEPEST => {
                members_in(resolver, &inline(module, entry, named), of, name, found);
            }
            _ => {}
        }
    }
}

/// The modules that may re-export something called `name`, the shortest paths first.
pub(super) fn re_exports(resolver: &Resolver<'_>, name: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut left = PARSED_FOR_USES;
    resolver.source.each(BYTES_FOR_USES, &mut |path, bytes| {
        let has = |text: &[u8]| memchr::memmem::find(&bytes, text).is_some();
        let may = has(b"pub use ") && (has(b"*;") || places(&bytes, name).next().is_some());
        if !may || left < bytes.len() {
            return;
        }
        left -= bytes.len();
        if let Some(module) = resolver.module_of(path) {
            re_exports_in(&module, name, &mut found);
        }
    });
    found.sort_by_key(|names: &Vec<String>| (names.len(), names.clone()));
    found.dedup();
    found.truncate(MOST_PLACES);
    found
}

fn re_exports_in(module: &Rc<Module>, name: &str, found: &mut Vec<Vec<String>>) {
    let all = entries(module, Wanted { name, globs: true }, &mut Unknowns::default());
    for entry in &all {
        match &entry.head.shape {
            Shape::Use(uses) if entry.head.visibility == Seen::Public => {
                let brings = |it: &Use| it.name.as_deref().is_none_or(|it| it == name);
                if uses.iter().any(brings) {
                    found.push(module.names[1..].to_vec());
                }
            }
            Shape::Mod(named) if entry.piece.body.is_some() && module.names.len() < DEEPEST => {
                re_exports_in(&inline(module, entry, named), name, found);
            }
            _ => {}
        }
    }
}

/// The macros that are exported from the root module, wherever they are.
pub(super) fn exported_macros(resolver: &Resolver<'_>, name: &str) -> Vec<Item> {
    let mut found = Vec::new();
    resolver.source.each(BYTES, &mut |path, bytes| {
        let is_it = |at: usize| word_before(&bytes[..at]) == Some("macro_rules!");
        if places(&bytes, name).any(is_it)
            && let Ok(text) = String::from_utf8(bytes)
        {
            let file = File::new(path, text);
            in_module(resolver, &module(resolver, file), name, &mut found);
        }
    });
    found.retain(|item| item.kind == Kind::Macro && item.is_public);
    for item in &mut found {
        item.path = format!("{}::{name}", resolver.source.name);
    }
    found
}

/// Whether `name` stands in `text` after a word that declares it.
pub(in crate::crates::items) fn declares(text: &[u8], name: &str) -> bool {
    places(text, name).any(|at| word_before(&text[..at]).is_some_and(|it| KEYWORDS.contains(&it)))
}

/// The word before the blanks that `text` ends with.
fn word_before(text: &[u8]) -> Option<&str> {
    let trimmed = text.trim_ascii_end();
    let trimmed = trimmed.strip_suffix(b"r#").unwrap_or(trimmed).trim_ascii_end();
    let start =
        trimmed.iter().rposition(|byte| !byte.is_ascii_alphanumeric() && !b"_!".contains(byte));
    std::str::from_utf8(&trimmed[start.map_or(0, |start| start + 1)..]).ok()
}

/// The names that `text` declares.
pub(in crate::crates::items) fn declared(text: &[u8]) -> impl Iterator<Item = &str> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_!".contains(byte);
    let words = text.split(move |byte| !is_part(byte)).filter(|word| !word.is_empty());
    let words = words.map(|word| std::str::from_utf8(word).unwrap_or_default());
    let mut before = "";
    words.filter(move |word| {
        let is_declared = KEYWORDS.contains(&std::mem::replace(&mut before, word));
        is_declared && !KEYWORDS.contains(word)
    })
}
