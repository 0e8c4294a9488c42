//! Packages in others' formats, found in a source's folder.

use std::path::Path;

use super::kept::{Kept, Packages};
use super::scan::{Claim, ReadContent, ReadManifest, Scanner};
use crate::plugins::git::GitPlace;
use crate::plugins::manifest::Strictness;
use crate::plugins::model::{Gate, NotTaken, Package, PackageFormat, Plugin};
use crate::plugins::packages::{self, Entry, EntryPlace, OnDisk, Place, text_of};
use crate::text::{Diagnostic, Severity};

impl Scanner<'_> {
    /// Looks for packages in `dir`: the folder itself, or those that an index in it names.
    pub(super) fn packages(&mut self, dir: &Path, seen: &Packages) -> Claim {
        let mut claim = Claim::None;
        if seen.has_claudes {
            claim = self.index(dir);
        }
        if claim == Claim::None { self.package(dir, None) } else { claim }
    }

    /// Takes the packages that the index in `dir` names; whether one of them is `dir` itself.
    fn index(&mut self, dir: &Path) -> Claim {
        let folder = OnDisk::new(dir, self.observer);
        let Some(index) = packages::read_index(dir, &folder) else {
            return Claim::None;
        };
        let index = match index {
            Ok(index) => index,
            Err(problem) => {
                let path = packages::index_of(dir);
                self.tell(vec![*problem], false);
                self.found.unread.push(path);
                return Claim::None;
            }
        };
        self.tell(index.diagnostics, false);
        let mut claim = Claim::None;
        for entry in &index.entries {
            match &entry.place {
                EntryPlace::Here => claim = self.package(dir, Some(entry)),
                EntryPlace::Folder(inside) => {
                    if self.package(inside, Some(entry)) == Claim::Plugin {
                        let real = crate::files::canonicalize(inside);
                        self.seen.insert(real.unwrap_or_else(|_| inside.clone()));
                    }
                }
                EntryPlace::Git(place) => {
                    let (url, name) = (&place.url, &entry.name);
                    let why = format!("it is in {url}: `cargo agents use {name}` fetches it");
                    self.named_only(entry, dir, (Some(place.clone()), why));
                }
                EntryPlace::Elsewhere(what) => {
                    let why = format!("it is {what}, which is not fetched");
                    self.named_only(entry, dir, (None, why));
                }
            }
        }
        claim
    }

    /// Tells what is wrong: to who only uses what others wrote as a warning, unless something that was in
    /// force is concerned.
    fn tell(&mut self, mut problems: Vec<Diagnostic>, was_in_force: bool) {
        if self.strictness == Strictness::Load && !was_in_force {
            problems.iter_mut().for_each(|problem| problem.severity = Severity::Warning);
        }
        self.found.diagnostics.extend(problems);
    }

    fn package(&mut self, dir: &Path, entry: Option<&Entry>) -> Claim {
        let place = Place { source: self.source, source_root: self.root, dir, entry };
        let folder = OnDisk::new(dir, self.observer);
        let read = packages::read(&place, &folder);
        let manifests = packages::manifests(dir, entry);
        let known = manifests.iter().find(|path| (self.was_plugin)(path));
        let Some(read) = read else {
            // One that was a package and can't be told for one now is unread, not gone.
            let gone = known.filter(|path| path.symlink_metadata().is_ok());
            let Some(path) = gone else { return Claim::None };
            let problem = Diagnostic::error("this manifest is no package's any more");
            let code = crate::plugins::diagnostics::codes::PACKAGE;
            self.found.diagnostics.push(problem.code(code).in_file(path));
            self.found.unread.push(path.clone());
            return Claim::Plugin;
        };
        self.tell(read.diagnostics, known.is_some());
        let Some(plugin) = read.plugin else {
            self.found.unread.push(known.cloned().unwrap_or(read.manifest));
            return if known.is_some() { Claim::Plugin } else { Claim::Unread };
        };
        let path = plugin.manifest.clone();
        if !read.is_whole {
            self.found.unread.push(path.clone());
        }
        self.found.plugins.push(plugin);
        let dir = dir.strip_prefix(self.root).unwrap_or(dir).to_path_buf();
        let kept = Kept { dir, answers: folder.into_answers(), entry: entry.cloned() };
        let content = ReadContent::Package(Box::new(kept));
        self.found.manifests.push(ReadManifest { path, content, is_whole: read.is_whole });
        Claim::Plugin
    }

    /// A package that an index names, and that is not in the source.
    fn named_only(
        &mut self,
        entry: &Entry,
        dir: &Path,
        (elsewhere, why): (Option<GitPlace>, String),
    ) {
        let everything = NotTaken { what: "all of it".to_owned(), why, is_mistake: false };
        self.found.plugins.push(Plugin {
            name: entry.name.clone(),
            version: text_of(&entry.fields, "version"),
            description: text_of(&entry.fields, "description"),
            package: Some(Package {
                format: PackageFormat::Claude,
                elsewhere,
                not_taken: vec![everything],
            }),
            source: self.source.to_owned(),
            source_root: self.root.to_path_buf(),
            manifest: entry.manifest.clone(),
            dir: dir.to_path_buf(),
            gate: Gate { crates: Some(Vec::new()), predicates: Vec::new() },
            installations: Vec::new(),
            skills: Vec::new(),
            hooks: Vec::new(),
            servers: Vec::new(),
            subcommands: Vec::new(),
        });
    }
}
