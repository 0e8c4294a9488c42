//! `crate-info NAME --since`: what the changelog says happened since a version.

use std::path::Path;
use std::sync::Arc;

use semver::Version;
use serde::Serialize;

use crate::config::Environment;
use crate::crates::changelog;
use crate::crates::changes::Changes;
use crate::fetch::git::History;
use crate::report::fit;
use crate::text::{Diagnostic, Source, same_crate};
use crate::workspace::{Lock, Workspace};

const LOCK_FILE: &str = "Cargo.lock";
/// Bytes of the answer for one version.
pub(super) const BUDGET: usize = 24 * 1024;

/// The whole answer: more than one where the workspace uses several versions.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct ChangesAnswer {
    /// That the crate is not in the workspace, and what may have been meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
    pub(super) crates: Vec<Changes>,
}

/// After which version.
pub(super) enum Since {
    Version(Version),
    /// The one that the lock file had before.
    Before,
}

impl Since {
    pub(super) fn parse(text: Option<&str>) -> Result<Self, Diagnostic> {
        let Some(text) = text else { return Ok(Self::Before) };
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let whole = if is_number { format!("{text}.0") } else { text.to_owned() };
        changelog::version(&whole).map(Self::Version).ok_or_else(|| {
            Diagnostic::error(format!("`{}` is no version", fit(text, 80)))
                .note("for example `--since 0.6` or `--since 1.2.3`")
        })
    }

    /// The version, and where it is from, for `name` which is at `version` now.
    pub(super) fn resolve(
        &self,
        env: &Environment,
        workspace: Option<&Workspace>,
        name: &str,
        version: &Version,
    ) -> Result<(Version, String), Diagnostic> {
        match self {
            Self::Version(since) => {
                Ok((since.clone(), "the version that was asked for".to_owned()))
            }
            Self::Before => before(env, workspace, name, version).map_err(|why| {
                Diagnostic::error(format!("can't tell which version of `{name}` was here before"))
                    .note(why)
                    .note(format!("name it: `cargo agents crate-info {name} --since 0.6`"))
            }),
        }
    }
}

/// The newest version below `version` in the newest lock file in git that has another one.
fn before(
    env: &Environment,
    workspace: Option<&Workspace>,
    name: &str,
    version: &Version,
) -> Result<(Version, String), String> {
    let workspace = workspace.ok_or("this is no Rust workspace")?;
    let history =
        History::of(&workspace.root, LOCK_FILE, env).map_err(|error| error.to_string())?;
    for text in history {
        let text = text.map_err(|error| error.to_string())?;
        let Some(locked) = versions(text, &workspace.root.join(LOCK_FILE), name) else { continue };
        // A version that is still there is not what it was before.
        if locked.contains(version) {
            continue;
        }
        let older = locked.iter().filter(|found| *found < version).max();
        if let Some(before) = older.or(locked.iter().max()) {
            return Ok((before.clone(), "what Cargo.lock had before, in git".to_owned()));
        }
    }
    Err(format!("no Cargo.lock that git has here had another version than {version}"))
}

fn versions(text: Vec<u8>, path: &Path, name: &str) -> Option<Vec<Version>> {
    let source: Arc<Source> = Source::new(path, String::from_utf8(text).ok()?);
    let lock = Lock::parse(&source, &mut Vec::new()).ok()?;
    let found = lock.packages.iter().filter(|package| same_crate(&package.name, name));
    Some(found.map(|package| package.version.clone()).collect())
}
