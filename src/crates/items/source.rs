//! A crate's files, and what its manifest says of them.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use semver::VersionReq;
use toml::{Table, Value};
use walkdir::WalkDir;

use super::head::{self, Head};
use super::split::{Ends, Piece, may_be_open, split};
use crate::files::{Limit, Skimmer, contained, read_text};
use crate::text::same_crate;

/// Files of one crate that are looked through.
const FILES: usize = 30_000;
/// Bytes of them: the largest published crate has 115 MB.
const BYTES: usize = 256 * 1024 * 1024;
/// Folders beside a library that are none of it, where it lies in the crate's own folder.
const OTHERS: [&str; 5] = ["target", "tests", "examples", "benches", "build"];

/// A crate's sources.
pub(super) struct Source {
    /// The name that code knows it by.
    pub name: String,
    package: String,
    /// The file of its root module.
    pub root: PathBuf,
    /// Whether paths of `use` begin at the root module (edition 2015).
    pub is_2015: bool,
    /// The crates that it may name, by their names in code.
    dependencies: BTreeMap<String, Dependency>,
    /// Its files in the order of paths, with their bytes: they are gone through more than once.
    files: OnceCell<Vec<(PathBuf, usize)>>,
}

/// A crate that another one depends on.
pub(super) struct Dependency {
    /// The name in a registry.
    pub package: String,
    pub requirement: Option<VersionReq>,
}

/// Where a part of a file begins and ends, and what ends its pieces.
type Part = (usize, usize, Ends);

/// A file that is read, with what was found of it: a path may lead through it many times.
#[derive(Debug)]
pub(super) struct File {
    pub path: PathBuf,
    pub text: String,
    is_open: OnceCell<bool>,
    is_open_to_others: OnceCell<bool>,
    /// Where its lines end: a list of modules is asked for the line of each.
    line_ends: OnceCell<Vec<usize>>,
    pieces: RefCell<HashMap<Part, Rc<[Piece]>>>,
    heads: RefCell<HashMap<usize, Rc<Head>>>,
}

impl File {
    pub(super) fn new(path: &Path, text: String) -> Rc<Self> {
        let (is_open, is_open_to_others, line_ends, pieces, heads) = Default::default();
        let path = path.to_path_buf();
        Rc::new(Self { path, text, is_open, is_open_to_others, line_ends, pieces, heads })
    }

    /// The number of the line that `at` is in, from 1 on.
    pub(super) fn line_of(&self, at: usize) -> usize {
        let ends = || memchr::memchr_iter(b'\n', self.text.as_bytes()).collect();
        self.line_ends.get_or_init(ends).partition_point(|end| *end < at) + 1
    }

    /// Whether names may come with it that it does not have in it.
    pub(super) fn is_open(&self) -> bool {
        *self.is_open.get_or_init(|| may_be_open(&self.text))
    }

    /// The same, of names that others than its modules find there: most files have only uses of their
    /// own that end with `*`.
    pub(super) fn is_open_to_others(&self) -> bool {
        let brings = || {
            let has = |words: &str| memchr::memmem::find(self.text.as_bytes(), words.as_bytes());
            has("pub use ").or_else(|| has("include!")).is_some() && self.is_open()
        };
        *self.is_open_to_others.get_or_init(brings)
    }

    /// The pieces of a part of it.
    pub(super) fn pieces(&self, range: Range<usize>, ends: Ends) -> Rc<[Piece]> {
        let key = (range.start, range.end, ends);
        let mut known = self.pieces.borrow_mut();
        Rc::clone(known.entry(key).or_insert_with(|| split(&self.text, range, ends).into()))
    }

    /// What an item declares. The braces of `use a::{b}` are a part of it, no body.
    pub(super) fn head(&self, piece: &Piece) -> Rc<Head> {
        let mut known = self.heads.borrow_mut();
        let read = || {
            let head = self.text[piece.head()].trim_end();
            let is_use = piece.body.is_some() && (head.ends_with("::") || head.ends_with(" use"));
            let range = if is_use { piece.range.clone() } else { piece.head() };
            Rc::new(head::read(&self.text[range]))
        };
        Rc::clone(known.entry(piece.range.start).or_insert_with(read))
    }
}

impl Source {
    pub(super) fn open(package: &str, dir: &Path) -> Option<Self> {
        let manifest = read_text(&dir.join("Cargo.toml"), Limit::CARGO).ok();
        let manifest = manifest.and_then(|text| text.parse::<Table>().ok()).unwrap_or_default();
        let of_lib = |key: &str| manifest.get("lib").and_then(|lib| lib.get(key)?.as_str());
        let named = of_lib("path").and_then(|path| contained(dir, path).ok());
        let usual = ["lib.rs", "main.rs"].map(|file| dir.join("src").join(file));
        let root = named.into_iter().chain(usual).find(|path| path.is_file())?;
        let edition = manifest.get("package").and_then(|package| package.get("edition"));
        Some(Self {
            name: of_lib("name").unwrap_or(package).replace('-', "_"),
            package: package.to_owned(),
            root,
            is_2015: matches!(edition.and_then(Value::as_str), None | Some("2015")),
            dependencies: dependencies(&manifest),
            files: OnceCell::new(),
        })
    }

    pub(super) fn is_own_name(&self, name: &str) -> bool {
        name == self.name || same_crate(name, &self.package)
    }

    /// The other crate that code calls `name`, with the versions of it that are admitted.
    pub(super) fn package_of(&self, name: &str) -> Option<(&str, Option<&VersionReq>)> {
        match name {
            "std" | "core" | "alloc" | "proc_macro" => Some(("std", None)),
            name => {
                let Dependency { package, requirement } = self.dependencies.get(name)?;
                Some((package, requirement.as_ref()))
            }
        }
    }

    pub(super) fn read(path: &Path) -> Option<Rc<File>> {
        let text = read_text(path, Limit::CARGO).ok()?;
        Some(File::new(path, text))
    }

    /// The folder that the library's modules are in.
    pub(super) fn folder(&self) -> &Path {
        self.root.parent().unwrap_or(&self.root)
    }

    /// Gives the bytes of each file of which `may` takes any part to `look`, in the order of paths.
    /// `false` where there are more than are looked through.
    pub(super) fn each(
        &self,
        most: usize,
        may: &dyn Fn(&[u8]) -> bool,
        look: &mut dyn FnMut(&Path, &[u8]),
    ) -> bool {
        let mut left = most.min(BYTES);
        let mut skimmer = Skimmer::default();
        for (number, (path, length)) in self.files().iter().enumerate() {
            let Some(rest) = left.checked_sub(*length).filter(|_| number < FILES) else {
                return false;
            };
            left = rest;
            if let Ok(Some(bytes)) = skimmer.read(path, Limit::CARGO, may) {
                look(path, bytes);
            }
        }
        true
    }

    fn files(&self) -> &[(PathBuf, usize)] {
        let folder = self.folder();
        let is_its = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let is_other = path.parent() == Some(folder) && OTHERS.contains(&&*name);
            path == folder || !(name.starts_with('.') || is_other)
        };
        let is_rust = |path: &Path| path.extension().is_some_and(|ending| ending == "rs");
        let list = || {
            let walk = WalkDir::new(folder).max_depth(24).sort_by_file_name();
            let entries = walk.into_iter().filter_entry(|entry| is_its(entry.path()));
            let files = entries
                .filter_map(Result::ok)
                .filter(|entry| entry.file_type().is_file() && is_rust(entry.path()));
            let with_length = files.map(|entry| {
                let length = entry.metadata().map_or(0, |found| found.len());
                (entry.into_path(), usize::try_from(length).unwrap_or(usize::MAX))
            });
            with_length.take(FILES + 1).collect()
        };
        self.files.get_or_init(list)
    }
}

fn dependencies(manifest: &Table) -> BTreeMap<String, Dependency> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let targets = targets.into_iter().flatten().filter_map(|(_, target)| target.as_table());
    let mut found = BTreeMap::new();
    for table in std::iter::once(manifest).chain(targets) {
        let own = table.get("dependencies").and_then(Value::as_table);
        for (key, value) in own.into_iter().flatten() {
            let package = value.get("package").and_then(Value::as_str).unwrap_or(key);
            let version = value.as_str().or_else(|| value.get("version")?.as_str());
            let requirement = version.and_then(|it| it.parse().ok());
            let package = package.to_owned();
            found.insert(key.replace('-', "_"), Dependency { package, requirement });
        }
    }
    found
}
