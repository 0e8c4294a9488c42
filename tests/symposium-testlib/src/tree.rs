//! Everything below a folder, to compare before and after.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// Files, links and folders by their path relative to the start, with `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree(pub BTreeMap<String, Node>);

/// One entry of a [`Tree`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A folder.
    Folder,
    /// A symbolic link and where it points.
    Link(String),
    /// A file: its bytes and, on Unix, its permission bits.
    File(Vec<u8>, u32),
}

impl Tree {
    /// Reads everything below `dir`; a missing folder is an empty tree.
    pub fn of(dir: &Path) -> Self {
        let mut nodes = BTreeMap::new();
        read(dir, "", &mut nodes);
        Self(nodes)
    }

    /// The same without what is below (and at) the given paths.
    #[must_use]
    pub fn without(mut self, paths: &[&str]) -> Self {
        self.0.retain(|path, _| {
            !paths.iter().any(|gone| path == gone || path.starts_with(&format!("{gone}/")))
        });
        self
    }

    /// Paths that were added, removed or changed since `before`.
    pub fn changes_since(&self, before: &Self) -> Vec<String> {
        let mut changes = Vec::new();
        for (path, node) in &self.0 {
            match before.0.get(path) {
                None => changes.push(format!("+ {path}")),
                Some(old) if old != node => changes.push(format!("~ {path}")),
                Some(_) => {}
            }
        }
        changes.extend(
            before
                .0
                .keys()
                .filter(|path| !self.0.contains_key(*path))
                .map(|path| format!("- {path}")),
        );
        changes
    }

    /// The paths of all files and links.
    pub fn files(&self) -> Vec<&str> {
        let is_file = |node: &Node| !matches!(node, Node::Folder);
        self.0.iter().filter(|(_, node)| is_file(node)).map(|(path, _)| path.as_str()).collect()
    }
}

/// One path a line.
impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (path, node) in &self.0 {
            match node {
                Node::Folder => {}
                Node::Link(target) => writeln!(f, "{path} -> {target}")?,
                Node::File(..) => writeln!(f, "{path}")?,
            }
        }
        Ok(())
    }
}

fn read(dir: &Path, prefix: &str, nodes: &mut BTreeMap<String, Node>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_symlink() {
            let target = std::fs::read_link(entry.path()).unwrap_or_default();
            nodes.insert(path, Node::Link(target.to_string_lossy().into_owned()));
        } else if kind.is_dir() {
            read(&entry.path(), &path, nodes);
            nodes.insert(path, Node::Folder);
        } else {
            let bytes = std::fs::read(entry.path()).unwrap_or_default();
            nodes.insert(path, Node::File(bytes, mode(&entry.path())));
        }
    }
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).map_or(0, |found| found.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode(_path: &Path) -> u32 {
    0
}
