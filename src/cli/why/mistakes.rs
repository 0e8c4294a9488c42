//! Things that a mistake kept out, and mistakes in the files of those that are there.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Inquiry;
use super::model::Trail;
use crate::files::{Limit, read_source};
use crate::plugins::manifest::FILE_NAME;
use crate::plugins::model::Plugin;
use crate::report::Kind;
use crate::text::toml::{Diagnostics, Table, read};
use crate::text::{Diagnostic, Source};

/// Something that a manifest has written in it, used or not.
struct Written {
    kind: Kind,
    name: String,
    /// What belongs to it, in bytes.
    range: Range<usize>,
}

/// A manifest with a mistake in it.
pub(super) struct Mistaken<'a> {
    manifest: PathBuf,
    /// The plugin's name, as far as it can be read; else that of its folder.
    plugin: String,
    written: Vec<Written>,
    mistakes: Vec<&'a Diagnostic>,
}

/// The manifests of which something was found to be wrong.
pub(super) fn mistaken<'a>(diagnostics: &'a [Diagnostic]) -> Vec<Mistaken<'a>> {
    let mut by_file: BTreeMap<PathBuf, Vec<&'a Diagnostic>> = BTreeMap::new();
    for found in diagnostics {
        if let Some(place) = found.location()
            && place.path.file_name().is_some_and(|name| name == FILE_NAME)
        {
            by_file.entry(place.path).or_default().push(found);
        }
    }
    let files = by_file.into_iter();
    files.map(|(manifest, mistakes)| Mistaken::read(manifest, mistakes)).collect()
}

impl<'a> Mistaken<'a> {
    fn read(manifest: PathBuf, mistakes: Vec<&'a Diagnostic>) -> Self {
        let source = mistakes.iter().find_map(|found| found.source.clone());
        let source = source.or_else(|| read_source(&manifest, Limit::MANIFEST).ok());
        let (name, written) = source.map(|source| written(&source)).unwrap_or_default();
        let folder = || manifest.parent()?.file_name()?.to_str().map(str::to_owned);
        let plugin = name.or_else(folder).unwrap_or_default();
        Self { manifest, plugin, written, mistakes }
    }

    /// The mistakes in what belongs to `written`.
    fn within(&self, written: &Written) -> impl Iterator<Item = &'a Diagnostic> {
        let range = written.range.clone();
        self.mistakes.iter().copied().filter(move |found| {
            found.span.as_ref().is_some_and(|span| range.contains(&span.start))
        })
    }

    /// The mistakes that belong to no part: those of the plugin itself.
    fn of_plugin(&self) -> impl Iterator<Item = &'a Diagnostic> {
        let is_of_part = |found: &&'a Diagnostic| {
            let start = found.span.as_ref().map(|span| span.start);
            start.is_some_and(|at| self.written.iter().any(|part| part.range.contains(&at)))
        };
        self.mistakes.iter().filter(move |found| !is_of_part(found)).copied()
    }
}

/// The plugin's name, and the parts that a manifest has by their names; groups of skills have none.
fn written(source: &Arc<Source>) -> (Option<String>, Vec<Written>) {
    // What is wrong with it is known.
    let unheard = Diagnostics::new(Arc::clone(source));
    read(&unheard, |root| {
        let mut found = Vec::new();
        let mut add = |kind, name: String, table: &Table<'_>| {
            found.push(Written { kind, name, range: table.span.clone() });
        };
        for (key, kind) in [
            ("hooks", Kind::Hooks),
            ("mcp_servers", Kind::Server),
            ("installations", Kind::Program),
            ("skills", Kind::Group),
        ] {
            for table in root.has(key).then(|| root.tables(key)).flatten().unwrap_or_default() {
                let name = if table.has("name") { table.string("name") } else { None };
                add(kind, name.map(|name| name.value).unwrap_or_default(), &table);
            }
        }
        let commands = root.is_table("subcommand").then(|| root.table("subcommand")).flatten();
        if let Some(commands) = commands {
            for key in commands.keys() {
                if let Some(table) =
                    commands.is_table(&key.value).then(|| commands.table(&key.value))
                {
                    table.iter().for_each(|table| add(Kind::Subcommand, key.value.clone(), table));
                }
            }
        }
        extend_to_next(&mut found, &source.text);
        let name = if root.has("name") { root.string("name") } else { None };
        (name.map(|name| name.value), found)
    })
    .unwrap_or_default()
}

/// A table's own place is its header; what belongs to it reaches to the next one's.
fn extend_to_next(found: &mut [Written], text: &str) {
    found.sort_by_key(|part| part.range.start);
    let starts: Vec<usize> = found.iter().map(|part| part.range.start).collect();
    for part in found.iter_mut() {
        let is_inline = text.as_bytes().get(part.range.start) == Some(&b'{');
        if !is_inline {
            let next = starts.iter().find(|start| **start > part.range.start);
            part.range.end = next.copied().unwrap_or(text.len());
        }
    }
}

impl Inquiry<'_> {
    /// Things of the name that are nowhere but in a file with a mistake; `known` are those that are
    /// told already.
    pub(super) fn of_mistakes(&self, known: &[Trail]) -> Vec<Trail> {
        let mut trails = Vec::new();
        for file in &self.mistaken {
            for part in &file.written {
                let is_meant = !part.name.is_empty() && self.is_meant(&part.name);
                let is_told = known.iter().any(|trail| trail.kind == part.kind);
                let mistakes: Vec<_> = file.within(part).collect();
                if is_meant && !is_told && !mistakes.is_empty() {
                    let verdict = "is left out for a mistake in its manifest";
                    let mut trail = Trail::new(part.kind, &part.name, false, verdict);
                    let path = self.path(&file.manifest);
                    trail.step("plugin", format!("{} ({path})", file.plugin));
                    self.tell(&mut trail, mistakes.into_iter());
                    trails.push(trail);
                }
            }
            let plugins = &self.survey.inputs.registry.plugins;
            let is_there = plugins.iter().any(|entry| entry.plugin.manifest == file.manifest);
            if self.is_meant(&file.plugin) && !is_there {
                let verdict = "is left out for a mistake in its manifest";
                let mut trail = Trail::new(Kind::Plugin, &file.plugin, false, verdict);
                self.tell(&mut trail, file.mistakes.iter().copied());
                trails.push(trail);
            }
        }
        if known.is_empty() && trails.is_empty() {
            trails.extend(self.of_files());
        }
        trails
    }

    /// Files and folders of the name that something was found to be wrong with: a link that leads
    /// nowhere, a manifest under another name.
    fn of_files(&self) -> Option<Trail> {
        let is_named = |path: &Path| {
            let parts = [path.file_stem(), path.file_name(), path.parent()?.file_name()];
            let mut parts = parts.into_iter().flatten().filter_map(|part| part.to_str());
            parts.any(|part| self.is_meant(part)).then_some(())
        };
        let is_about = |found: &&Diagnostic| {
            found.location().is_some_and(|place| is_named(&place.path).is_some())
        };
        let found: Vec<_> = self.survey.diagnostics().into_iter().filter(is_about).collect();
        if found.is_empty() {
            return None;
        }
        let mut trail = Trail::new(Kind::File, &self.name, false, "is left out");
        self.tell(&mut trail, found.into_iter());
        Some(trail)
    }

    /// Adds the mistakes of a plugin's manifest: its own, and those of its part `kind` `name`.
    pub(super) fn mistake_steps(
        &self,
        trail: &mut Trail,
        plugin: &Plugin,
        part: Option<(Kind, &str)>,
    ) {
        let Some(file) = self.mistaken.iter().find(|file| file.manifest == plugin.manifest) else {
            return;
        };
        self.tell(trail, file.of_plugin());
        for written in &file.written {
            let is_this = part.is_none_or(|(kind, name)| {
                written.kind == kind && (written.name == name || kind == Kind::Group)
            });
            if is_this {
                self.tell(trail, file.within(written));
            }
        }
    }

    /// Adds mistakes, with their places and what to do about them.
    pub(super) fn tell<'d>(&self, trail: &mut Trail, found: impl Iterator<Item = &'d Diagnostic>) {
        for mistake in found {
            let mut text = mistake.message.clone();
            let more = mistake.label.iter().chain(&mistake.notes);
            more.for_each(|more| text.push_str(&format!("; {more}")));
            if let Some(place) = mistake.location() {
                let numbers = [place.line, place.column].into_iter().flatten();
                let numbers: String = numbers.map(|number| format!(":{number}")).collect();
                text = format!("{}{numbers}: {text}", self.path(&place.path));
            }
            if let Some(code) = mistake.code {
                text.push_str(&format!(" ({code})"));
            }
            trail.step("mistake", text);
        }
    }
}
