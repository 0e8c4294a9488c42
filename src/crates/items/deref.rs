//! Types that stand for others: what `Deref` says of them.

use std::path::PathBuf;
use std::rc::Rc;

use serde::Serialize;

use super::Item;
use super::collect::{self, Among, Module, Unknowns, Wanted, entries, places};
use super::head::Shape;
use super::resolve::{Resolver, search};
use super::source::File;

/// Targets of one type: one for each condition.
const MOST: usize = 4;
/// Bytes of a crate that are looked through, and of files that are taken apart.
const BYTES: usize = 160 * 1024 * 1024;
const PARSED: usize = 4 * 1024 * 1024;

const TARGET: Wanted<'_> = Wanted { name: "Target", from: Among::Declaring };

/// A type that has another one's methods.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Deref {
    pub of: String,
    /// The other type, as it is written.
    pub to: String,
    pub file: PathBuf,
    pub line: usize,
}

/// What the crate's types called `of` stand for.
pub(super) fn targets(resolver: &Resolver<'_>, of: &str) -> Vec<Deref> {
    let mut found = Vec::new();
    let mut left = PARSED;
    let has = |bytes: &[u8], name: &str| places(bytes, name).next().is_some();
    resolver.source.each(BYTES, &|part| has(part, "Deref"), &mut |path, bytes| {
        if !has(bytes, of) || left < bytes.len() {
            return;
        }
        left -= bytes.len();
        if let Ok(text) = std::str::from_utf8(bytes) {
            let file = File::new(path, text.to_owned());
            in_module(&search::module(resolver, file), of, &mut found);
        }
    });
    found.truncate(MOST);
    found
}

fn in_module(module: &Rc<Module>, of: &str, found: &mut Vec<Deref>) {
    let unknowns = &mut Unknowns::default();
    for entry in entries(module, Wanted { name: of, from: Among::All }, unknowns).iter() {
        match &entry.head.shape {
            Shape::Impl { of: named, of_trait } if named == of => {
                if of_trait.as_deref() == Some("Deref") {
                    let types = collect::members(module, entry, TARGET, unknowns);
                    found.extend(types.into_iter().filter_map(|it| target(of, it)));
                }
            }
            _ => {
                if let Some(inner) = search::inner(module, entry) {
                    in_module(&inner, of, found);
                }
            }
        }
    }
}

/// `type Target = Inner;`
fn target(of: &str, item: Item) -> Option<Deref> {
    let Item { declaration, file, line, .. } = item;
    let (_, to) = declaration.split_once('=')?;
    let to = to.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(Deref { of: of.to_owned(), to, file, line })
}

impl Deref {
    /// The name of the other type, without its module and what it is made of.
    pub(super) fn name(&self) -> Option<&str> {
        let path = self.to.split('<').next()?.trim();
        let name = path.rsplit("::").next()?.trim();
        let is_name = !name.is_empty() && name.chars().all(|it| it.is_alphanumeric() || it == '_');
        is_name.then_some(name)
    }
}
