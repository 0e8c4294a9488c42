//! What the locked version of a crate says of an item: where it is now, what is named alike, and the
//! lines of its changelog.

use super::asked::{Candidate, Trust};
use super::said::{Said, said};
use super::wanted::{Kind, Wanted};
use crate::crates::changelog::Changelog;
use crate::crates::items::{Item, LookUp, look_around, look_up, may_be, signature};

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
    /// What it takes now, with the line of it.
    pub signature: Option<(usize, String)>,
    pub said: Vec<Said>,
}

impl Known {
    /// What `candidate` says of what is wanted; `None` where it says nothing that is news.
    pub(super) fn of(wanted: &Wanted, candidate: &Candidate) -> Option<Self> {
        let path = path_in(wanted, candidate);
        let Candidate { name, version, dir, trust } = candidate;
        let mut known = Self::default();
        match (wanted.kind, &wanted.shown) {
            (Kind::Missing, _) if *trust != Trust::Used => known.look_up(candidate, &path)?,
            (Kind::Private, Some(_)) => known.look_around(candidate, &path),
            (_, Some(shown)) if wanted.asks_for_signature => {
                let name = path.last().map_or("", String::as_str);
                known.signature = signature(dir, &shown.file, shown.line, name);
            }
            _ => {}
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
        let is_found = known.declared.is_some() || known.signature.is_some();
        let has_news = is_found || !known.said.is_empty() || !known.near.is_empty();
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
        self.is_absent = found.found.is_empty();
        self.take(found, path);
        Some(())
    }

    /// Looks for what users of the crate may take in place of what is private.
    fn look_around(&mut self, candidate: &Candidate, path: &[String]) {
        let Candidate { name, dir, .. } = candidate;
        let around = look_around(name, dir, &path.join("::"));
        if let Some(LookUp { mut elsewhere, near, .. }) = around {
            elsewhere.retain(|item| item.is_reached);
            self.take(LookUp { elsewhere, near, ..LookUp::default() }, path);
        }
    }

    /// Takes what helps of what was found.
    fn take(&mut self, found: LookUp, path: &[String]) {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let helps = |item: &Item| may_be(item, &path);
        let mut declared = found.found.into_iter().chain(found.elsewhere.into_iter().filter(helps));
        self.declared = declared.next();
        let near = found.near.into_iter().filter(|item| self.declared.is_none() && helps(item));
        self.near = near.map(|item| item.path).collect();
        self.near.dedup();
        self.near.truncate(NEAR);
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
