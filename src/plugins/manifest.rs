//! Manifests.

use std::path::Path;
use std::sync::Arc;

use super::model::{Gate, Plugin};
use crate::text::toml::{self as tables, Sink};
use crate::text::{Diagnostic, Source};

/// Where a manifest stands.
#[derive(Debug, Clone)]
pub struct Place<'a> {
    /// Name of the source.
    pub source: &'a str,
    /// Its root.
    pub source_root: &'a Path,
    /// The manifest.
    pub manifest: &'a Path,
}

/// How strictly it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// For use.
    Load,
    /// For its author.
    Validate,
}

/// What came of reading.
#[derive(Debug)]
pub struct Parsed {
    /// The plugin.
    pub plugin: Option<Plugin>,
    /// What was odd.
    pub diagnostics: Vec<Diagnostic>,
}

/// A manifest.
#[derive(Debug)]
pub struct Manifest;

impl Manifest {
    /// Reads one.
    pub fn parse(source: Arc<Source>, place: &Place<'_>, _: Strictness) -> Parsed {
        let sink = Sink::new(source);
        let name = tables::read(&sink, |root| root.string("name")).flatten();
        let plugin = name.map(|name| Plugin {
            name: name.value,
            source: place.source.to_owned(),
            source_root: place.source_root.to_path_buf(),
            manifest: place.manifest.to_path_buf(),
            dir: place.manifest.parent().unwrap_or(Path::new("")).to_path_buf(),
            gate: Gate::default(),
            installations: Vec::new(),
            skills: Vec::new(),
            hooks: Vec::new(),
            servers: Vec::new(),
            subcommands: Vec::new(),
        });
        Parsed { plugin, diagnostics: sink.finish() }
    }
}

/// A file that was meant to be a manifest.
pub fn near_miss(path: &Path, text: impl FnOnce() -> Option<String>) -> Option<Diagnostic> {
    let toml = path.extension().is_some_and(|extension| extension == "toml");
    (toml && text().is_some_and(|text| text.starts_with("name"))).then(|| {
        Diagnostic::warning("this looks like a plugin, but its name is not `SYMPOSIUM.toml`")
            .in_file(path)
    })
}

/// A manifest's name.
pub const FILE_NAME: &str = "SYMPOSIUM.toml";
