//! Where in a crate a name is declared, whatever the path.

use std::rc::Rc;

use super::Resolver;
use crate::crates::items::collect::{
    self, ANY, Among, Entry, Module, Unknowns, Wanted, entries, is_declared, places,
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

/// The items that are called as the last of `names`: those whose path ends with all of them, and the
/// others.
pub(in crate::crates::items) fn everywhere(
    resolver: &Resolver<'_>,
    names: &[&str],
) -> (Vec<Item>, Vec<Item>) {
    let Some((last, parents)) = names.split_last() else { return Default::default() };
    let (mut declaring, mut others): (Vec<Rc<File>>, Vec<_>) = Default::default();
    // A variant or a field has no keyword before it.
    let may = |part: &[u8]| match parents {
        [] => declares(part, last),
        _ => has(part, last),
    };
    resolver.source.each(BYTES, &may, &mut |path, bytes| {
        let is_declared = declares(bytes, last);
        let is_member = || parents.last().is_some_and(|parent| declares(bytes, parent));
        if (is_declared || is_member())
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            let found = if is_declared { &mut declaring } else { &mut others };
            found.push(File::new(path, text.to_owned()));
        }
    });
    let mut left = PARSED;
    let mut all = Vec::new();
    for file in declaring.into_iter().chain(others) {
        let Some(rest) = left.checked_sub(file.text.len()).filter(|_| all.len() < MOST) else {
            break;
        };
        left = rest;
        let wanted = Wanted { name: last, from: Among::All };
        in_module(resolver, &module(resolver, file), wanted, &mut all);
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
    let (range, folder) = (0..file.text.len(), file.path.with_extension(""));
    Rc::new(Module { names, parent: resolver.root(), ..Module::new(file, range, folder) })
}

/// Adds what has the wanted name in `module` and in the modules of the same file.
pub(in crate::crates::items) fn in_module(
    resolver: &Resolver<'_>,
    module: &Rc<Module>,
    wanted: Wanted<'_>,
    found: &mut Vec<Item>,
) {
    let name = wanted.name;
    let all = entries(module, wanted, &mut resolver.unknowns.borrow_mut());
    for entry in all.iter() {
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
                if let Some(inner) = inner(module, entry) {
                    in_module(resolver, &inner, wanted, found);
                }
            }
            _ => {
                let mut unknowns = resolver.unknowns.borrow_mut();
                found.extend(collect::members(module, entry, wanted, &mut unknowns));
            }
        }
    }
}

/// The module that stands in the same file, if `entry` is one.
pub(in crate::crates::items) fn inner(parent: &Rc<Module>, entry: &Entry) -> Option<Rc<Module>> {
    match &entry.head.shape {
        Shape::Mod(name) if entry.piece.body.is_some() && parent.names.len() < DEEPEST => {
            Some(inline(parent, entry, name))
        }
        _ => None,
    }
}

fn inline(parent: &Rc<Module>, entry: &Entry, name: &str) -> Rc<Module> {
    let range = entry.piece.body.clone().unwrap_or_default();
    let names = parent.names.iter().cloned().chain([name.to_owned()]).collect();
    Rc::new(Module {
        names,
        context: entry.context.clone(),
        parent: Some(Rc::clone(parent)),
        ..Module::new(Rc::clone(&parent.file), range, parent.folder.join(name))
    })
}

/// All members of the types and traits called `of` in `module` and in the modules of the same file.
pub(in crate::crates::items) fn all_members(module: &Rc<Module>, of: &str, found: &mut Vec<Item>) {
    let unknowns = &mut Unknowns::default();
    let all = Wanted { name: ANY, from: Among::All };
    for entry in entries(module, Wanted { name: of, from: Among::All }, unknowns).iter() {
        match &entry.head.shape {
            Shape::Impl { of: named, .. } | Shape::Named(_, named) if named == of => {
                found.extend(collect::members(module, entry, all, unknowns));
            }
            _ => {
                if let Some(inner) = inner(module, entry) {
                    all_members(&inner, of, found);
                }
            }
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
    let may = |part: &[u8]| declares(part, name);
    resolver.source.each(BYTES, &may, &mut |path, bytes| {
        if path == home.file.path || !has(bytes, of) || left < bytes.len() {
            return;
        }
        left -= bytes.len();
        if let Ok(text) = std::str::from_utf8(bytes) {
            let file = File::new(path, text.to_owned());
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
    let wanted = Wanted { name, from: Among::All };
    let all = entries(module, wanted, &mut resolver.unknowns.borrow_mut());
    for entry in all.iter() {
        match &entry.head.shape {
            Shape::Impl { of: named, .. } | Shape::Named(_, named) if named == of => {
                let mut unknowns = resolver.unknowns.borrow_mut();
                found.extend(collect::members(module, entry, wanted, &mut unknowns));
            }
            _ => {
                if let Some(inner) = inner(module, entry) {
                    members_in(resolver, &inner, of, name, found);
                }
            }
        }
    }
}

/// The modules that may re-export something called `name`, the shortest paths first.
pub(super) fn re_exports(resolver: &Resolver<'_>, name: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut left = PARSED_FOR_USES;
    let brings = |part: &[u8]| memchr::memmem::find(part, b"pub use ").is_some();
    resolver.source.each(BYTES_FOR_USES, &brings, &mut |path, bytes| {
        let is_open = memchr::memmem::find(bytes, b"*;").is_some();
        if !(is_open || has(bytes, name)) || left < bytes.len() {
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
    let wanted = Wanted { name, from: Among::AllAndOpen };
    let all = entries(module, wanted, &mut Unknowns::default());
    for entry in all.iter() {
        match &entry.head.shape {
            Shape::Use(uses) if entry.head.visibility == Seen::Public => {
                let brings = |it: &Use| it.name.as_deref().is_none_or(|it| it == name);
                if uses.iter().any(brings) {
                    found.push(module.names[1..].to_vec());
                }
            }
            _ => {
                if let Some(inner) = inner(module, entry) {
                    re_exports_in(&inner, name, found);
                }
            }
        }
    }
}

fn has(text: &[u8], name: &str) -> bool {
    places(text, name).next().is_some()
}

/// Whether `name` stands in `text` after a word that declares it.
pub(in crate::crates::items) fn declares(text: &[u8], name: &str) -> bool {
    places(text, name).any(|at| is_declared(text, at))
}
