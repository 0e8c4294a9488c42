//! What the locked version of a crate says of an item: where it is now, what is named alike, and the
//! lines of its changelog.

use super::asked::{Candidate, Trust};
use super::said::{Said, said};
use super::wanted::{Kind, Wanted};
use crate::crates::changelog::Changelog;
use crate::crates::items::{Item, look_up};

/// Mentions in a changelog that are shown.
const SHOWN: usize = 3;
/// Near names that are shown.
const NEAR: usize = 3;

/// What a crate says of an item.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// Whether nothing is declared at the path that was asked for.
    pub is_absent: bool,
    /// Where it is declared, or one of its name that may be it.
    pub declared: Option<Item>,
    pub near: Vec<String>,
    pub said: Vec<Said>,
}

impl Known {
    /// What `candidate` says of what is wanted; `None` where it says nothing that is news.
    pub(super) fn of(wanted: &Wanted, candidate: &Candidate) -> Option<Self> {
        let path = path_in(wanted, candidate);
        let Candidate { name, version, dir, trust } = candidate;
        let mut known = Self::default();
        if wanted.kind == Kind::Missing && *trust != Trust::Used {
            known.look_up(candidate, &path)?;
        }
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        // Where the crate is only used, nothing tells whose member it is.
        let of = if *trust == Trust::Used { path.len() - 1 } else { 0 };
        let changelog = Changelog::read(dir, name);
        let said = changelog.map(|it| said(&it, &path[of..], version, wanted.kind));
        known.said = said.unwrap_or_default();
        let is_shaky = *trust == Trust::Used || wanted.kind != Kind::Missing;
        if is_shaky || known.said.iter().any(|it| it.is_clear) {
            known.said.retain(|it| it.is_clear);
        }
        known.said.truncate(SHOWN);
        let has_news = !known.said.is_empty() || known.declared.is_some() || !known.near.is_empty();
        has_news.then_some(known)
    }

    /// Looks the item up in the crate's sources; `None` where it is there, or where it is none of this
    /// crate's.
    fn look_up(&mut self, candidate: &Candidate, path: &[String]) -> Option<()> {
        let Candidate { name, dir, trust, .. } = candidate;
        let has_type = |of: &[String]| {
            let found = look_up(name, dir, &of.join("::"));
            found.is_some_and(|found| !found.found.is_empty())
        };
        if *trust == Trust::IfItHasTheType && !has_type(&path[..path.len() - 1]) {
            return None;
        }
        let whole = format!("{}::{}", name.replace('-', "_"), path.join("::"));
        let found = look_up(name, dir, &whole)?;
        let (last, parents) = path.split_last()?;
        let is_type = |name: &String| name.starts_with(|it: char| it.is_uppercase());
        // What another type has under the name is no help; what a module has, is.
        let of = parents.last().filter(|parent| is_type(parent));
        let helps = |item: &Item| {
            let mut names = item.path.rsplit("::").map(str::to_owned);
            let (name, parent) = (names.next().unwrap_or_default(), names.next());
            let is_alike = match (of, &parent) {
                (Some(of), Some(parent)) => of == parent,
                (_, parent) => !parent.as_ref().is_some_and(is_type),
            };
            item.is_public && is_type(&name) == is_type(last) && is_alike
        };
        self.is_absent = found.found.is_empty();
        let mut declared = found.found.into_iter().chain(found.elsewhere.into_iter().filter(helps));
        self.declared = declared.next();
        let mut near: Vec<String> =
            found.near.into_iter().filter(|item| helps(item)).map(|item| item.path).collect();
        near.dedup();
        near.truncate(NEAR);
        self.near = near;
        Some(())
    }
}

/// The path inside of the crate.
pub(super) fn path_in(wanted: &Wanted, candidate: &Candidate) -> Vec<String> {
    let is_crate = |first: &String| crate::text::same_crate(first, &candidate.name);
    match wanted.path.split_first() {
        // A crate may have an item of its own name: `getrandom::getrandom`.
        Some((first, rest)) if !rest.is_empty() && is_crate(first) => rest.to_vec(),
        _ => wanted.path.clone(),
    }
}
