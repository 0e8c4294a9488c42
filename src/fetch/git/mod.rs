//! Git repositories, fetched through the `git` program into folders that never change.
//!
//! - [`Repository`]: a URL (browsers' `/tree/…` forms too), a ref, a folder: checked, not touched
//! - [`Repository::checkout`]: the files on disk, fetched when the [`Policy`] says so
//! - `pin`: the commit that a repository stood for at some time, in the place of what is newest
//! - [`History`]: what a file of somebody's checkout was like before
//! - [`GitError`]: why the newest could not be had, and what git said
//!
//! `git` is run as a program for what it knows of credentials, proxies and mirrors. It only
//! transports: files are taken out of its object store by us, so no filter, hook, attribute or
//! submodule of the repository has a say.
//!
//! On disk, below the cache folder that the caller names, each repository, ref and folder has an
//! entry of its own:
//!
//! ```text
//! <readable>-<8 hex>/
//!   current.json   which tree is current: replaced in one step, only when there is a new one
//!   checked.json   when the remote was last asked, and what it said
//!   trees/<commit> the files of a commit: complete before they appear, never changed after
//!   lock
//! ```
//!
//! A reader that has read `current.json` keeps its tree: the one before the current is kept.
//!
//! May use: `process`, `files`, `config`, `text`.

mod ask;
mod cache;
mod checkout;
mod client;
mod commit;
mod error;
mod export;
mod history;
mod output;
mod pin;
mod url;
mod words;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub(crate) use checkout::{Checkout, Outcome, Policy};
pub(crate) use error::GitError;
pub(crate) use export::{Limits, led_out};
pub(crate) use history::History;
pub(crate) use url::Repository;
