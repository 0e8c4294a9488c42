//! Which files of a plugin's folder a hook, server or subcommand could run, and what is in them.
//!
//! A script can run any other file of its plugin. What belongs to one entry alone is what the entry
//! itself names; what another file names belongs to whoever runs that one; programs and scripts that no
//! entry names belong to all. So a change of one entry's own script concerns that entry alone, and a
//! change of what several may use concerns each of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use walkdir::WalkDir;

use crate::files::{Limit, is_executable, read_bytes};
use crate::plugins::model::Plugin;
use crate::text::sha256_hex;
use crate::workspace::Observer;

/// The most files of a folder that are looked through.
const MOST_FILES: usize = 20_000;
/// Folders in folders that are looked into: the next ones cost more and more, and no plugin has them.
const DEEPEST: usize = 100;
/// The longest text that is kept, so that a change can be shown.
const LONGEST_TEXT: usize = 64 * 1024;
/// In the names of all variables for a package's folder.
const PLUGIN_ROOT: &str = "PLUGIN_ROOT";
/// What is run by its extension, whether or not it may be executed by itself.
const SCRIPTS: [&str; 18] = [
    "awk", "bash", "bat", "cjs", "cmd", "exe", "fish", "js", "lua", "mjs", "pl", "ps1", "py", "rb",
    "sh", "ts", "wasm", "zsh",
];

/// A folder holds more than [`MOST_FILES`], or more than [`DEEPEST`] in each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooMany;

/// What is in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FileText {
    /// Of its bytes, in hex; a file that can't be read has the reason in its place.
    pub sha256: String,
    /// Its text, where it is one and not long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// The files of each of the entries, whose texts are `entries`.
///
/// # Errors
/// There are too many.
pub(super) fn of_entries(
    plugin: &Plugin,
    entries: &[String],
    observer: &Observer,
) -> Result<Vec<BTreeMap<String, FileText>>, TooMany> {
    let folder = list((&plugin.dir, plugin.boundary()), &plugin.manifest, observer)?;
    let mut read: BTreeMap<usize, FileText> = BTreeMap::new();
    let own: Vec<BTreeSet<usize>> = entries.iter().map(|text| folder.named_in(text)).collect();
    let claimed: BTreeSet<usize> = own.iter().flatten().copied().collect();
    let shared: BTreeSet<usize> = (0..folder.files.len())
        .filter(|at| folder.files[*at].runs && !claimed.contains(at))
        .collect();
    let mut of_each = Vec::new();
    for (text, own) in entries.iter().zip(own) {
        let runs_from_folder = !own.is_empty() || text.contains(PLUGIN_ROOT);
        let mut found = own;
        if runs_from_folder {
            found.extend(&shared);
        }
        let mut new: Vec<usize> = found.iter().copied().collect();
        while let Some(at) = new.pop() {
            let file =
                read.entry(at).or_insert_with(|| self::read(&folder.files[at].path, observer));
            let Some(text) = &file.text else { continue };
            let named = folder.named_in(text);
            new.extend(named.iter().filter(|at| !found.contains(at)));
            found.extend(named);
        }
        let files = found.iter().map(|at| (folder.files[*at].name.clone(), read[at].clone()));
        of_each.push(files.collect());
    }
    Ok(of_each)
}

/// The files of a skill's folder that its commands name; `root` is what they must not lead out of.
pub(super) fn of_commands(
    (dir, root): (&Path, &Path),
    commands: &[String],
    observer: &Observer,
) -> Result<BTreeMap<String, FileText>, TooMany> {
    let folder = list((dir, root), &dir.join("SKILL.md"), observer)?;
    let named = folder.named_in(&commands.join("\n")).into_iter();
    let file = |at: usize| (folder.files[at].name.clone(), read(&folder.files[at].path, observer));
    Ok(named.map(file).collect())
}

/// A file, wherever it is.
pub(super) fn read(path: impl AsRef<Path>, observer: &Observer) -> FileText {
    let path = path.as_ref();
    observer.observe(path);
    let bytes = match read_bytes(path, Limit::COPY) {
        Ok(bytes) => bytes,
        Err(problem) => return FileText { sha256: problem.to_string(), text: None },
    };
    let sha256 = sha256_hex(&bytes);
    let text = String::from_utf8(bytes).ok().filter(|text| text.len() <= LONGEST_TEXT);
    FileText { sha256, text }
}

/// Whether the file at `path` still has that SHA-256, or is gone.
pub(crate) fn is_as_allowed(path: &Path, expected: &str) -> bool {
    match read_bytes(path, Limit::COPY) {
        Ok(bytes) => sha256_hex(&bytes) == expected,
        Err(problem) => problem.is_absent(),
    }
}

struct Folder {
    files: Vec<Listed>,
}

struct Listed {
    /// Below the plugin's folder, with `/`.
    name: String,
    path: PathBuf,
    /// Whether it is a program or a script of this plugin, by its mode or its extension.
    runs: bool,
    /// Whether it is another plugin's, in this one's folder: it counts where its whole path is named.
    is_others: bool,
}

impl Folder {
    /// The files that `text` names, by path or by name.
    fn named_in(&self, text: &str) -> BTreeSet<usize> {
        let is_named = |file: &Listed| {
            let short = file.name.rsplit('/').next().filter(|_| !file.is_others);
            let name = short.unwrap_or(&file.name);
            text.match_indices(name).any(|(at, found)| {
                let is_part =
                    |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
                !text[..at].ends_with(is_part) && !text[at + found.len()..].starts_with(is_part)
            })
        };
        (0..self.files.len()).filter(|at| is_named(&self.files[*at])).collect()
    }
}

/// The files of the folder `dir` but `manifest`. What a link leads to is told by the link's name.
fn list(
    (dir, boundary): (&Path, &Path),
    manifest: &Path,
    observer: &Observer,
) -> Result<Folder, TooMany> {
    let boundary = crate::files::canonicalize(boundary).unwrap_or_default();
    let mut files = Vec::new();
    let mut seen = 0;
    let walk = WalkDir::new(dir).min_depth(1).sort_by_file_name().into_iter();
    let walk = walk.filter_entry(|entry| !entry.path().ends_with(".git"));
    let mut others: Vec<PathBuf> = Vec::new();
    observer.observe(dir);
    for entry in walk.flatten() {
        seen += 1;
        if seen > MOST_FILES || entry.depth() > DEEPEST {
            return Err(TooMany);
        }
        let path = entry.path();
        if entry.file_type().is_dir() {
            observer.observe(path);
            if is_plugin(path) {
                others.push(path.to_path_buf());
            }
            continue;
        }
        if path == manifest || !leads_to_file(path, &boundary) {
            continue;
        }
        let below = path.strip_prefix(dir).unwrap_or(path);
        let name = below.to_string_lossy().replace('\\', "/");
        let is_others = others.iter().any(|other| path.starts_with(other));
        let runs = !is_others && runs(path);
        files.push(Listed { name, path: path.to_path_buf(), runs, is_others });
    }
    Ok(Folder { files })
}

/// Whether a folder is a plugin's.
fn is_plugin(dir: &Path) -> bool {
    let manifests = ["SYMPOSIUM.toml", "plugin.json", ".claude-plugin/plugin.json"];
    manifests.iter().any(|name| dir.join(name).exists())
}

/// Whether there is a file that may be the plugin's: one that a link leads to is, inside the boundary.
fn leads_to_file(path: &Path, boundary: &Path) -> bool {
    let real = crate::files::canonicalize(path);
    real.is_ok_and(|real| real.starts_with(boundary) && real.is_file())
}

fn runs(path: &Path) -> bool {
    // Where no mode says it, a program is told by its extension.
    is_script(path) || (cfg!(unix) && is_executable(path))
}

/// Whether a file of this name is run by its extension.
pub(crate) fn is_script(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|known| SCRIPTS.contains(&known.to_lowercase().as_str()))
}
