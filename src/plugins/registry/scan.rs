//! A source's folder, searched for plugins and standalone skills.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use super::kept::{Kept, Packages};
use crate::fetch::git::led_out;
use crate::files::{Limit, contained};
use crate::plugins::diagnostics::codes;
use crate::plugins::manifest::{FILE_NAME, Manifest, Place, Strictness, near_miss};
use crate::plugins::model::Plugin;
use crate::text::{Diagnostic, Source};
use crate::workspace::{Observer, UNOBSERVED};

/// Folders below the root that are searched.
const DEPTH: usize = 6;
/// No source has as many folders; a home folder taken for one has.
const MOST_FOLDERS: usize = 20_000;
/// Where `symposium.toml` is another file than `SYMPOSIUM.toml`, a manifest that is renamed is gone.
const TELLS_OF_RENAMING: bool = !cfg!(any(windows, target_vendor = "apple"));

const SKILL: &str = "SKILL.md";

/// A skill that no plugin brought: a folder with a `SKILL.md` and no manifest.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct StandaloneSkill {
    pub source: String,
    /// Root folder of the source: no file of the skill may lead out of it.
    pub source_root: PathBuf,
    pub dir: PathBuf,
    /// The skill's folder in the source, with `/`; `.` for the root itself.
    pub path: String,
}

impl StandaloneSkill {
    /// The name of its folder, by which the user speaks of it.
    pub(crate) fn folder_name(&self) -> Option<&str> {
        self.dir.file_name().and_then(|name| name.to_str())
    }
}

/// What a source's folder holds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scan {
    pub plugins: Vec<Plugin>,
    pub skills: Vec<StandaloneSkill>,
    /// What was wrong; none of it stopped the rest.
    pub diagnostics: Vec<Diagnostic>,
    /// Folders and manifests that can't be read, or not whole: what is in them is not known, not
    /// gone.
    pub unread: Vec<PathBuf>,
    /// Manifests in whose place the last good version counts.
    pub kept: Vec<PathBuf>,
    /// The manifests of which `plugins` came, as they were read.
    pub(super) manifests: Vec<ReadManifest>,
}

/// A manifest that holds a plugin.
#[derive(Debug, Clone)]
pub(super) struct ReadManifest {
    pub(super) path: PathBuf,
    pub(super) content: ReadContent,
    /// Whether all of it could be read.
    pub(super) is_whole: bool,
}

/// What a plugin was read from.
#[derive(Debug, Clone)]
pub(super) enum ReadContent {
    /// The text of a `SYMPOSIUM.toml`.
    Ours(String),
    Package(Box<Kept>),
}

impl Scan {
    /// A manifest or folder of which it is not known what it holds: what came from the source can't
    /// be told to be gone.
    pub(super) fn gap(&self) -> Option<&PathBuf> {
        let is_plugin = |path: &PathBuf| self.plugins.iter().any(|known| known.manifest == *path);
        self.kept.first().or_else(|| self.unread.iter().find(|path| !is_plugin(path)))
    }
}

/// Searches `root`, the folder of the source `source`.
///
/// A folder with a manifest is a plugin; one with a `SKILL.md` and no manifest is a standalone
/// skill; neither is searched further. `target`, `node_modules` and folders whose name begins with
/// a dot are left out: what is in them (`.git`, `.agents`) is not offered, it is for those who
/// work on the source. Links are followed inside the root only.
///
/// A manifest that is none (TOML without any of a plugin's keys) is named and hides nothing. Below one
/// that can't be read other plugins are looked for; skills there are taken to be its own.
pub(crate) fn scan(source: &str, root: &Path, strictness: Strictness, observer: &Observer) -> Scan {
    scan_knowing(&|_| false, (source, root), strictness, observer)
}

/// Whether the manifest at a path was a plugin's when it could last be read.
pub(super) type WasPlugin<'a> = &'a dyn Fn(&Path) -> bool;

/// As [`scan`]; a manifest that was a plugin's is one, whatever it says now.
pub(super) fn scan_knowing(
    was_plugin: WasPlugin<'_>,
    (source, root): (&str, &Path),
    strictness: Strictness,
    observer: &Observer,
) -> Scan {
    let mut scanner = Scanner::new(was_plugin, (source, root), strictness, observer);
    scanner.folder(root, 0, Wanted::All);
    // Links come last: what they lead to is known under its own path if it has one.
    let mut next = 0;
    while let Some((link, depth, wanted)) = scanner.links.get(next).cloned() {
        next += 1;
        scanner.link(&link, depth, wanted);
    }
    let mut found = scanner.found;
    found.plugins.sort_by(|one, other| one.manifest.cmp(&other.manifest));
    found.skills.sort_by(|one, other| one.dir.cmp(&other.dir));
    found
}

/// What the manifest at `path` alone says.
pub(super) fn scan_one((source, root): (&str, &Path), path: &Path) -> Scan {
    let mut scanner = Scanner::new(&|_| true, (source, root), Strictness::Load, &UNOBSERVED);
    scanner.plugin(path);
    scanner.found
}

pub(super) struct Scanner<'a> {
    pub(super) source: &'a str,
    pub(super) root: &'a Path,
    real_root: PathBuf,
    pub(super) strictness: Strictness,
    pub(super) observer: &'a Observer,
    pub(super) was_plugin: WasPlugin<'a>,
    pub(super) found: Scan,
    /// Folders that were visited, links resolved.
    pub(super) seen: HashSet<PathBuf>,
    links: Vec<(PathBuf, usize, Wanted)>,
    is_full: bool,
}

/// What a folder is searched for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Wanted {
    All,
    /// Skills belong to a plugin above whose manifest can't be read.
    Plugins,
}

/// Whose a folder with a manifest is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Claim {
    /// A plugin's.
    Plugin,
    /// Perhaps a plugin's, of which nothing is known.
    Unread,
    /// Nobody's: the manifest is a file for something else.
    None,
}

/// What one folder holds.
#[derive(Default)]
struct Listing {
    has_manifest: bool,
    has_skill: bool,
    /// What may make it a package of another format, or an index of them.
    packages: Packages,
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    links: Vec<PathBuf>,
}

impl<'a> Scanner<'a> {
    fn new(
        was_plugin: WasPlugin<'a>,
        (source, root): (&'a str, &'a Path),
        strictness: Strictness,
        observer: &'a Observer,
    ) -> Self {
        Self {
            source,
            root,
            was_plugin,
            real_root: crate::files::canonicalize(root).unwrap_or_else(|_| root.to_path_buf()),
            strictness,
            observer,
            found: Scan::default(),
            seen: HashSet::new(),
            links: Vec::new(),
            is_full: false,
        }
    }

    fn folder(&mut self, dir: &Path, depth: usize, mut wanted: Wanted) {
        let real = crate::files::canonicalize(dir).unwrap_or_else(|_| dir.to_path_buf());
        if self.is_full || !self.seen.insert(real) {
            return;
        }
        if self.seen.len() > MOST_FOLDERS {
            return self.end_search();
        }
        let listing = match list(dir, self.observer) {
            Ok(listing) => listing,
            Err(error) => {
                self.found.unread.push(dir.to_path_buf());
                let problem = Diagnostic::warning(format!("this folder can't be read: {error}"))
                    .note("what came from it stays until it can; check its owner and mode");
                self.found.diagnostics.push(problem.in_file(dir));
                return;
            }
        };
        if listing.has_manifest {
            match self.plugin(&dir.join(FILE_NAME)) {
                Claim::Plugin => {
                    if TELLS_OF_RENAMING {
                        // What else is in the folder is not searched, and the manifest tells for
                        // itself.
                        self.observer.forget(dir);
                    }
                    return;
                }
                Claim::Unread => wanted = Wanted::Plugins,
                Claim::None => {}
            }
        }
        if listing.packages.are_possible() {
            match self.packages(dir, &listing.packages) {
                Claim::Plugin => return,
                Claim::Unread => wanted = Wanted::Plugins,
                Claim::None => {}
            }
        }
        let near_misses = listing
            .files
            .iter()
            .filter_map(|file| near_miss(file, || read_text(file, self.observer).ok()));
        self.found.diagnostics.extend(near_misses);
        if listing.has_skill {
            if wanted == Wanted::All {
                self.skill(dir);
            }
            return;
        }
        if depth < DEPTH {
            self.links.extend(listing.links.into_iter().map(|link| (link, depth + 1, wanted)));
            for folder in listing.folders {
                self.folder(&folder, depth + 1, wanted);
            }
        }
    }

    fn end_search(&mut self) {
        self.is_full = true;
        self.found.diagnostics.push(
            Diagnostic::warning(format!(
                "the plugin source `{}` has more than {MOST_FOLDERS} folders; the rest is \
                 left out",
                self.source
            ))
            .in_file(self.root)
            .note("point `path` at the folder that holds the plugins"),
        );
    }

    fn plugin(&mut self, path: &Path) -> Claim {
        self.observer.observe(path);
        let was_plugin = (self.was_plugin)(path);
        let text = match self.leads_out(path) {
            Some(problem) => Err(Box::new(problem)),
            None => read_text(path, self.observer),
        };
        let text = match text {
            Ok(text) => text,
            Err(problem) => {
                self.found.unread.push(path.to_path_buf());
                self.found.diagnostics.push(*problem);
                return if was_plugin { Claim::Plugin } else { Claim::Unread };
            }
        };
        let place = Place { source: self.source, source_root: self.root, manifest: path };
        let source = Source::new(path, text.as_str());
        let parsed = Manifest::parse(source, &place, self.strictness);
        if parsed.is_foreign && !was_plugin && self.strictness == Strictness::Load {
            self.found.diagnostics.push(no_plugin(path));
            return Claim::None;
        }
        let is_whole = parsed.is_whole;
        if !is_whole {
            self.found.unread.push(path.to_path_buf());
        }
        self.found.diagnostics.extend(parsed.diagnostics);
        let Some(plugin) = parsed.plugin else {
            return if was_plugin { Claim::Plugin } else { Claim::Unread };
        };
        self.found.plugins.push(plugin);
        let content = ReadContent::Ours(text);
        self.found.manifests.push(ReadManifest { path: path.to_path_buf(), content, is_whole });
        Claim::Plugin
    }

    fn skill(&mut self, dir: &Path) {
        let path = dir.join(SKILL);
        self.observer.observe(&path);
        let problem = self.leads_out(&path);
        if let Some(problem) = problem {
            return self.found.diagnostics.push(problem);
        }
        self.found.skills.push(StandaloneSkill {
            source: self.source.to_owned(),
            source_root: self.root.to_path_buf(),
            dir: dir.to_path_buf(),
            path: self.relative(dir).unwrap_or_else(|| ".".to_owned()),
        });
    }

    fn link(&mut self, link: &Path, depth: usize, wanted: Wanted) {
        match crate::files::canonicalize(link) {
            Ok(real) if !real.is_dir() => {}
            Ok(real) if real.starts_with(&self.real_root) => {
                let is_left_out = real.strip_prefix(&self.real_root).is_ok_and(|inside| {
                    inside.iter().any(|part| is_skipped(&part.to_string_lossy()))
                });
                if !is_left_out {
                    self.folder(link, depth, wanted);
                }
            }
            Ok(real) => self.found.diagnostics.push(
                Diagnostic::warning(format!(
                    "this link leads out of the plugin source `{}` and is not followed",
                    self.source
                ))
                .in_file(link)
                .note(format!("a `[[plugin-source]]` with `path = {real:?}` takes it in")),
            ),
            Err(_) => self.found.diagnostics.push(
                Diagnostic::warning(match led_out(link) {
                    true => "this link leads out of the repository that it comes from",
                    false => "this link leads nowhere",
                })
                .in_file(link)
                .remark("it is left out")
                .note("put the file or folder itself there"),
            ),
        }
    }

    fn leads_out(&self, path: &Path) -> Option<Diagnostic> {
        let inside = self.relative(path).is_none_or(|inside| contained(self.root, &inside).is_ok());
        (!inside).then(|| {
            Diagnostic::error(format!(
                "this link leads out of the plugin source `{}` and is not followed",
                self.source
            ))
            .in_file(path)
            .note("put the file itself there")
        })
    }

    /// The path in the source, with `/`; `None` for the root.
    fn relative(&self, path: &Path) -> Option<String> {
        let inside = path.strip_prefix(self.root).ok()?;
        let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
        (!parts.is_empty()).then(|| parts.join("/"))
    }
}

fn is_skipped(name: &str) -> bool {
    name.starts_with('.') || name == "target" || name == "node_modules"
}

/// Names are compared here, not by the file system: some take `symposium.toml` for the manifest.
fn list(dir: &Path, observer: &Observer) -> io::Result<Listing> {
    let mut listing = Listing::default();
    for entry in observer.entries(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let kind = entry.file_type()?;
        let is_file = || kind.is_file() || (kind.is_symlink() && entry.path().is_file());
        if name == FILE_NAME {
            // Were it something else, it is not gone.
            listing.has_manifest = true;
        } else if name == SKILL && is_file() {
            listing.has_skill = true;
        } else if listing.packages.take(&name) || is_skipped(&name) {
            continue;
        } else if kind.is_dir() {
            listing.folders.push(entry.path());
        } else if kind.is_symlink() {
            listing.links.push(entry.path());
        } else if kind.is_file() {
            listing.files.push(entry.path());
        }
    }
    listing.files.sort();
    listing.folders.sort();
    listing.links.sort();
    Ok(listing)
}

fn no_plugin(path: &Path) -> Diagnostic {
    Diagnostic::warning(format!("this `{FILE_NAME}` is no plugin: it has none of a plugin's keys"))
        .code(codes::NEAR_MISS)
        .in_file(path)
        .remark("the folders below it are searched all the same")
        .note("a plugin begins with `name = \"…\"`; rename the file if it is for something else")
}

fn read_text(path: &Path, observer: &Observer) -> Result<String, Box<Diagnostic>> {
    observer
        .text(path, Limit::MANIFEST)
        .map_err(|error| Box::new(error.diagnose("this manifest", path).code(codes::SYNTAX)))
}
