//! A git repository that a plugin's manifest names.

use crate::fetch::git::Repository;
use crate::text::{Diagnostic, SecretUrl};

/// `source.git` of a group of skills, with `source.rev` and `source.subdir`.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct GitPlace {
    /// The URL, with GitHub's and GitLab's `/tree/<ref>/<path>` forms.
    pub url: SecretUrl,
    /// A branch, tag or commit, when given as a key of its own.
    pub rev: Option<String>,
    /// A folder of the repository, when given as a key of its own.
    pub subdir: Option<String>,
}

/// The part of a [`GitPlace`] that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// `source.git`.
    Url,
    /// `source.rev`.
    Rev,
    /// `source.subdir`.
    Subdir,
}

impl GitPlace {
    /// The repository: what a check of the manifest and the fetch both go by.
    ///
    /// # Errors
    /// Which part can't be used and why. A place on this machine is refused too: a manifest is
    /// written by somebody else, who must not choose what of this machine is read.
    pub(crate) fn repository(&self) -> Result<Repository, (Part, Box<Diagnostic>)> {
        let url = self.url.expose();
        let alone = Repository::parse(url, None, None).map_err(|problem| (Part::Url, problem))?;
        if alone.is_local() {
            let problem = Diagnostic::error(format!(
                "a plugin can't name a repository on this machine: `{}`",
                self.url.to_string().escape_debug()
            ));
            let note = "a folder beside the manifest is `source.path`; a repository of yours can \
                        be a `[[plugin-source]]` of your configuration";
            return Err((Part::Url, Box::new(problem.note(note))));
        }
        let rev = self.rev.as_deref();
        Repository::parse(url, rev, None).map_err(|problem| (Part::Rev, problem))?;
        let whole = Repository::parse(url, rev, self.subdir.as_deref());
        whole.map_err(|problem| (Part::Subdir, problem))
    }
}
