//! Files read once each, observed before they are read.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use super::Fingerprint;
use super::manifest::Manifest;
use crate::config::Environment;
use crate::text::{Diagnostic, Source};

/// No manifest or lock file that people work with comes near this; what does is not read.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Reads manifests and the lock file of one workspace.
pub(super) struct Reader {
    manifests: HashMap<PathBuf, Option<Rc<Manifest>>>,
    /// What was looked at; `None` when nobody wants to know.
    fingerprint: Option<Fingerprint>,
    /// What was tolerated.
    pub diagnostics: Vec<Diagnostic>,
    /// Cargo's own folder, canonical: the search for a root does not leave it.
    pub cargo_home: Option<PathBuf>,
}

impl Reader {
    /// A reader; with `observe`, every path that is asked for is remembered.
    pub fn new(env: &Environment, observe: bool) -> Self {
        Self {
            manifests: HashMap::new(),
            fingerprint: observe.then(Fingerprint::default),
            diagnostics: Vec::new(),
            cargo_home: env.cargo_home().and_then(|home| dunce::canonicalize(home).ok()),
        }
    }

    /// Notes the state of `path`, before it is looked at.
    pub fn observe(&mut self, path: &Path) {
        if let Some(fingerprint) = &mut self.fingerprint {
            fingerprint.observe(path);
        }
    }

    /// The manifest in `dir`; `None` where there is none.
    ///
    /// # Errors
    /// A manifest that is broken or can't be read.
    pub fn manifest(&mut self, dir: &Path) -> Result<Option<Rc<Manifest>>, Diagnostic> {
        if let Some(known) = self.manifests.get(dir) {
            return Ok(known.clone());
        }
        let manifest = match self.text(&dir.join("Cargo.toml"))? {
            Some(source) => Some(Rc::new(Manifest::parse(&source, &mut self.diagnostics)?)),
            None => None,
        };
        self.manifests.insert(dir.to_path_buf(), manifest.clone());
        Ok(manifest)
    }

    /// A file's text; `None` where there is no such file.
    ///
    /// # Errors
    /// A file that can't be read, is not UTF-8, or is absurdly large.
    pub fn text(&mut self, path: &Path) -> Result<Option<Arc<Source>>, Diagnostic> {
        self.observe(path);
        read_text(path)
    }

    /// What was looked at, and what was tolerated, each thing once.
    pub fn finish(self) -> (Fingerprint, Vec<Diagnostic>) {
        let mut diagnostics: Vec<Diagnostic> = Vec::new();
        for diagnostic in self.diagnostics {
            if !diagnostics.contains(&diagnostic) {
                diagnostics.push(diagnostic);
            }
        }
        (self.fingerprint.unwrap_or_default(), diagnostics)
    }
}

/// A file's text; `None` where there is no such file.
///
/// # Errors
/// A file that can't be read, is not UTF-8, or is absurdly large.
pub(super) fn read_text(path: &Path) -> Result<Option<Arc<Source>>, Diagnostic> {
    let unreadable = |error: &io::Error| {
        Diagnostic::error(format!("can't read this file: {error}"))
            .in_file(path)
            .note("make it readable for you, or remove it")
    };
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(unreadable(&error)),
    };
    // A pipe or device would keep us waiting.
    if !metadata.is_file() {
        return Ok(None);
    }
    if metadata.len() > MAX_BYTES {
        return Err(Diagnostic::error(format!("this file has {} bytes", metadata.len()))
            .in_file(path)
            .remark(format!("nothing beyond {} MB is read", MAX_BYTES / 1024 / 1024)));
    }
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(unreadable(&error)),
    };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(Source::new(path, text))),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let valid = String::from_utf8_lossy(error.as_bytes().get(..at).unwrap_or_default());
            let source = Source::new(path, valid);
            let end = source.text.len();
            Err(Diagnostic::error("this file is not UTF-8")
                .at(&source, end..end)
                .note("save it as UTF-8"))
        }
    }
}

/// Whether an error means that there is nothing at that path.
pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
