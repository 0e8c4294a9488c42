//! Files read once each, observed before they are read.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use super::Fingerprint;
use super::manifest::Manifest;
use crate::config::Environment;
use crate::files::{self, Limit, ReadError};
use crate::text::{Diagnostic, Source};

/// Reads manifests and the lock file of one workspace.
pub(super) struct Reader {
    manifests: HashMap<PathBuf, Option<Rc<Manifest>>>,
    /// What was looked at; `None` when nobody wants to know.
    fingerprint: Option<Fingerprint>,
    pub diagnostics: Vec<Diagnostic>,
    /// Cargo's own folder, canonical: the search for a root does not leave it.
    pub cargo_home: Option<PathBuf>,
}

impl Reader {
    /// A reader; with `observe`, every path that is asked for is remembered.
    pub(super) fn new(env: &Environment, observe: bool) -> Self {
        Self {
            manifests: HashMap::new(),
            fingerprint: observe.then(Fingerprint::default),
            diagnostics: Vec::new(),
            cargo_home: env.cargo_home().and_then(|home| crate::files::canonicalize(home).ok()),
        }
    }

    /// Notes the state of `path`, before it is looked at.
    pub(super) fn observe(&mut self, path: &Path) {
        if let Some(fingerprint) = &mut self.fingerprint {
            fingerprint.observe(path);
        }
    }

    /// The manifest in `dir`; `None` where there is none.
    pub(super) fn manifest(&mut self, dir: &Path) -> Result<Option<Rc<Manifest>>, Diagnostic> {
        if let Some(known) = self.manifests.get(dir) {
            return Ok(known.clone());
        }
        let path = dir.join("Cargo.toml");
        self.observe(&path);
        let manifest = match files::read_source(&path, Limit::CARGO) {
            Ok(source) => Some(Rc::new(Manifest::parse(&source, &mut self.diagnostics)?)),
            // A link that leads nowhere is no sign that there is no workspace, nor is a folder.
            Err(error) if error.is_absent() && !path.is_symlink() => None,
            Err(error) => return Err(error.diagnose("this file", &path)),
        };
        self.manifests.insert(dir.to_path_buf(), manifest.clone());
        Ok(manifest)
    }

    /// A file's text; `None` where there is no such file.
    pub(super) fn text(
        &mut self,
        path: &Path,
        limit: Limit,
    ) -> Result<Option<Arc<Source>>, Diagnostic> {
        self.observe(path);
        read_text(path, limit)
    }

    /// What was looked at, and what was tolerated, each thing once.
    pub(super) fn finish(self) -> (Fingerprint, Vec<Diagnostic>) {
        let mut diagnostics: Vec<Diagnostic> = Vec::new();
        for diagnostic in self.diagnostics {
            if !diagnostics.contains(&diagnostic) {
                diagnostics.push(diagnostic);
            }
        }
        (self.fingerprint.unwrap_or_default(), diagnostics)
    }
}

/// A file's text; `None` where there is no such file: a folder or a pipe is none.
///
/// # Errors
/// A file that can't be read, is not UTF-8, or is absurdly large.
pub(super) fn read_text(path: &Path, limit: Limit) -> Result<Option<Arc<Source>>, Diagnostic> {
    match files::read_source(path, limit) {
        Ok(source) => Ok(Some(source)),
        Err(ReadError::NotAFile) => Ok(None),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error.diagnose("this file", path)),
    }
}
