//! Commits in the place of what moves: a branch, a tag, whatever is newest.

use super::url::Wanted;
use super::{Checkout, Repository};
use crate::symposium::Pin;

impl Repository {
    /// The commit that `checkout`, of this repository, stands for.
    pub(crate) fn pin(&self, checkout: &Checkout) -> Pin {
        Pin {
            git: self.shown(),
            rev: self.rev(),
            subdir: checkout.subdir.clone(),
            commit: checkout.commit.clone(),
        }
    }

    /// The same repository at the commit that `pins` has for it; as it is, where they have none.
    pub(crate) fn pinned(&self, pins: &[Pin]) -> Self {
        let is_tree = matches!(self.wanted(), Wanted::Tree(_));
        let (shown, rev) = (self.shown(), self.rev());
        let is_it = |pin: &&Pin| {
            pin.git == shown && pin.rev == rev && (is_tree || pin.subdir == self.subdir())
        };
        match pins.iter().find(is_it) {
            Some(pin) => self.at(&pin.commit, &pin.subdir),
            None => self.clone(),
        }
    }

    fn rev(&self) -> Option<String> {
        match self.wanted() {
            Wanted::Default => None,
            Wanted::Named(rev) | Wanted::Commit(rev) | Wanted::Tree(rev) => Some(rev.clone()),
        }
    }
}
