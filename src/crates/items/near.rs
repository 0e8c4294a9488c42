//! Items with near names.

use std::collections::BTreeSet;

use super::Item;
use super::resolve::Resolver;
use super::resolve::search::{declared, everywhere};
use crate::text::closest;

/// Bytes of a crate that are looked through.
const BYTES: usize = 8 * 1024 * 1024;

/// The items whose names are nearest to the last of `names`.
pub(super) fn items(resolver: &Resolver<'_>, names: &[&str]) -> Vec<Item> {
    let Some((last, parents)) = names.split_last() else { return Vec::new() };
    let mut known = BTreeSet::new();
    resolver.source.each(BYTES, &mut |_, bytes| {
        known.extend(declared(&bytes).map(str::to_owned));
    });
    let mut found = Vec::new();
    for name in closest(last, known.iter().map(String::as_str)) {
        let (matching, others) = everywhere(resolver, &[parents, &[name]].concat());
        // Those of the same type say more.
        found.extend(if matching.is_empty() { others } else { matching });
    }
    found.retain(|item| item.is_public);
    found
}
