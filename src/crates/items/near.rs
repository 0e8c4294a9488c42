//! Items with near names: misspelt by a letter or two, or made of some of the same words.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::collect::{Among, Module, Wanted, declared, places};
use super::resolve::Resolver;
use super::resolve::search::{all_members, in_module, module};
use super::source::Source;
use super::{Item, MOST, is_type};
use crate::text::closest;

/// Bytes of a crate that are looked through, and of files that are taken apart.
const BYTES: usize = 8 * 1024 * 1024;
const PARSED: usize = 8 * 1024 * 1024;
/// Names that a large crate declares in so many bytes.
const USUAL: usize = 64 * 1024;
/// Names whose items are looked at.
const NAMES: usize = 12;
/// How much of two names has to be the same words, in percent: within one type or module, and else; and
/// what being of the same module is worth.
const KIN: usize = 30;
const FAR: usize = 50;
const SAME_MODULE: usize = 20;

/// The items whose names are nearest to the last of `names`: of the same type, where it has any, else of
/// the same module and of the whole crate.
pub(super) fn items(resolver: &Resolver<'_>, names: &[&str]) -> Vec<Item> {
    let Some((last, parents)) = names.split_last() else { return Vec::new() };
    let of = parents.last().copied().filter(|it| is_type(it));
    let crate_ = Crate::read(resolver.source, of);
    let mut files = Files { crate_: &crate_, resolver, known: HashMap::new(), left: PARSED };
    let mut found = match of {
        Some(of) => members(&mut files, of, last),
        None => beside(resolver, parents, last),
    };
    if of.is_none() || found.is_empty() {
        found.extend(far(&mut files, last));
    }
    found.sort_by_key(|(likeness, item)| (usize::MAX - likeness, item.path.len()));
    found.truncate(2 * MOST);
    for (_, item) in found.iter_mut().filter(|(_, item)| !item.is_reached) {
        resolver.name_for_users(item, &[]);
    }
    found.sort_by_cached_key(|(likeness, item)| {
        let starts_with_it = item.path.rsplit("::").next().is_some_and(|it| it.starts_with(last));
        let depth = item.path.matches("::").count();
        (usize::MAX - likeness, !item.is_reached, !starts_with_it, depth, item.path.clone())
    });
    if found.iter().any(|(_, item)| item.is_reached) {
        found.retain(|(_, item)| item.is_reached);
    }
    let mut known = BTreeSet::new();
    found.retain(|(_, item)| known.insert((item.file.clone(), item.line)));
    found.truncate(MOST);
    found.into_iter().map(|(_, item)| item).collect()
}

/// The members of `of` whose names are like `wanted`.
fn members(files: &mut Files<'_>, of: &str, wanted: &str) -> Vec<(usize, Item)> {
    let mut members = Vec::new();
    for file in &files.crate_.with_parent {
        if let Some(module) = files.module(*file) {
            all_members(&module, of, &mut members);
        }
    }
    members.retain(|item| item.is_public);
    let name = |item: &Item| item.path.rsplit("::").next().unwrap_or_default().to_owned();
    let names: BTreeSet<String> = members.iter().map(name).collect();
    let alike = alike(wanted, names.iter().map(String::as_str), KIN);
    let likeness = |item: &Item| {
        let name = name(item);
        alike.iter().find(|(_, it)| *it == name).map(|(likeness, _)| *likeness)
    };
    members.into_iter().filter_map(|item| Some((likeness(&item)?, item))).collect()
}

/// The items of the module `of` whose names are like `wanted`.
fn beside(resolver: &Resolver<'_>, of: &[&str], wanted: &str) -> Vec<(usize, Item)> {
    let names = resolver.names_in(of);
    let mut found = Vec::new();
    for (likeness, name) in alike(wanted, names.iter().map(String::as_str), KIN) {
        let items = resolver.at(&[of, &[name]].concat()).into_iter();
        found.extend(items.map(|item| (likeness + SAME_MODULE, item)));
    }
    found
}

/// The items of the whole crate whose names are like `wanted`.
fn far(files: &mut Files<'_>, wanted: &str) -> Vec<(usize, Item)> {
    let crate_ = files.crate_;
    let mut found = Vec::new();
    for (likeness, name) in alike(wanted, crate_.names.keys().map(String::as_str), FAR) {
        let (first, others) = &crate_.names[name];
        for file in std::iter::once(first).chain(others) {
            let Some(module) = files.module(*file) else { continue };
            let mut all = Vec::new();
            let wanted = Wanted { name, from: Among::Declaring };
            in_module(files.resolver, &module, wanted, &mut all);
            let public = all.into_iter().filter(|item| item.is_public);
            found.extend(public.map(|item| (likeness, item)));
        }
    }
    found
}

/// Those of `names` that are like `wanted`, with how much they are, the likest first.
fn alike<'n>(
    wanted: &str,
    names: impl Iterator<Item = &'n str> + Clone,
    least: usize,
) -> Vec<(usize, &'n str)> {
    let names = || names.clone().filter(|name| *name != wanted);
    let misspelt = closest(wanted, names());
    let own = words(wanted);
    let mut alike: Vec<(usize, &str)> = names()
        .filter(|name| is_type(name) == is_type(wanted) && !misspelt.contains(name))
        // What has none of the words in it needs not be taken apart.
        .filter(|name| {
            let plain = name.to_lowercase();
            own.iter().any(|word| plain.contains(word))
        })
        .map(|name| (in_common(&own, &words(name)), name))
        .filter(|(likeness, _)| *likeness >= least)
        .collect();
    alike.sort_by_key(|(likeness, name)| {
        (usize::MAX - likeness, !name.starts_with(wanted), name.len(), *name)
    });
    misspelt.into_iter().map(|name| (100, name)).chain(alike).take(NAMES).collect()
}

/// The names that a crate's files declare.
struct Crate {
    files: Vec<PathBuf>,
    /// Each with the files, by number: the first one, and the few others.
    names: HashMap<String, (usize, Vec<usize>)>,
    /// The files that have the name of the wanted item's type in them.
    with_parent: Vec<usize>,
}

impl Crate {
    fn read(source: &Source, parent: Option<&str>) -> Self {
        let (files, with_parent) = Default::default();
        // To grow with each name would take as long as to fill it.
        let mut it = Self { files, names: HashMap::with_capacity(USUAL), with_parent };
        source.each(BYTES, &|_| true, &mut |path, bytes| {
            let number = it.files.len();
            it.files.push(path.to_path_buf());
            if parent.is_some_and(|it| places(bytes, it).next().is_some()) {
                it.with_parent.push(number);
            }
            for name in declared(bytes) {
                match it.names.get_mut(name) {
                    Some((first, others)) if others.last().unwrap_or(first) == &number => {}
                    Some((_, others)) => others.push(number),
                    None => drop(it.names.insert(name.to_owned(), (number, Vec::new()))),
                }
            }
        });
        it
    }
}

/// Files that are taken apart, each once.
struct Files<'a> {
    crate_: &'a Crate,
    resolver: &'a Resolver<'a>,
    known: HashMap<usize, Option<Rc<Module>>>,
    left: usize,
}

impl Files<'_> {
    fn module(&mut self, number: usize) -> Option<Rc<Module>> {
        if let Some(known) = self.known.get(&number) {
            return known.clone();
        }
        let mut read = |path: &Path| {
            let file = Source::read(path)?;
            self.left = self.left.checked_sub(file.text.len())?;
            Some(module(self.resolver, file))
        };
        let found = read(&self.crate_.files[number]);
        self.known.insert(number, found.clone());
        found
    }
}

/// The words of a name: `get_connection`, `ConnectionLike`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut was_small = false;
    for letter in name.chars() {
        match words.last_mut() {
            Some(word) if letter != '_' && !(letter.is_uppercase() && was_small) => {
                word.extend(letter.to_lowercase());
            }
            _ => words.push(letter.to_lowercase().filter(|it| *it != '_').collect()),
        }
        was_small = letter.is_lowercase() || letter.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// How many of the words of the longer name the shorter one has, in percent.
fn in_common(one: &[String], other: &[String]) -> usize {
    let same = one.iter().filter(|word| other.contains(word)).count();
    100 * same / one.len().max(other.len()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart_into_their_words() {
        for (name, expected) in [
            ("get_async_connection", &["get", "async", "connection"][..]),
            ("ConnectionLike", &["connection", "like"]),
            ("HTTPServer2Go", &["httpserver2", "go"]),
            ("_x__y_", &["x", "y"]),
            ("_", &[]),
        ] {
            assert_eq!(words(name), expected, "{name}");
        }
        let common = |one: &str, other: &str| in_common(&words(one), &words(other));
        assert_eq!(common("get_connection", "get_async_connection"), 66);
        assert_eq!(common("Error", "ErrorData"), 50);
        assert_eq!(common("_", "_"), 0);
    }
}
