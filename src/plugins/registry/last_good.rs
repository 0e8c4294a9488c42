//! What each manifest of a source said when it could last be read, kept until it can be read again.
//!
//! It is kept as text, so another version of this program understands it, and in the configuration's
//! folder rather than the cache, for it can't be had again. Variables and headers of servers may hold
//! secrets and are left out: such a server is known by name, and what is registered of it stays.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml_edit::{DocumentMut, Item, TableLike};

use super::kept::Kept;
use super::scan::{ReadContent, ReadManifest, Scan};
use crate::config::Dirs;
use crate::config::team::accepted_sources;
use crate::files::{Limit, read_bytes, write_if_changed};
use crate::plugins::manifest::{Manifest, Place, Strictness};
use crate::plugins::model::{Plugin, SkillGroup};
use crate::plugins::packages::file_of;
use crate::plugins::source::{SourceState, file_name};
use crate::text::{Diagnostic, Source};

/// The manifests of one source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct LastGood {
    /// The source's name.
    source: String,
    /// The source's folder when it was last read.
    root: PathBuf,
    /// By path below the root.
    manifests: BTreeMap<PathBuf, GoodManifest>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct GoodManifest {
    text: String,
    /// In place of the text, of a package.
    #[serde(skip_serializing_if = "Option::is_none")]
    package: Option<Kept>,
    /// Whether all of it could be read. One that could not counts only until a whole one is known.
    is_whole: bool,
    /// Servers whose variables or headers are not in `text`.
    withheld: Vec<String>,
}

impl LastGood {
    /// The record of a source; an empty one where there is none. Where nobody knows any more where the
    /// source is, any record of its name will do.
    pub(super) fn load(dirs: &Dirs, state: &SourceState) -> Self {
        if !state.is_nowhere() {
            return Self::read(&path(dirs, state));
        }
        let mut all = records(dirs).iter().map(|path| Self::read(path)).collect::<Vec<_>>();
        all.retain(|record| record.source == state.name);
        all.pop().unwrap_or_default()
    }

    fn read(path: &Path) -> Self {
        let bytes = read_bytes(path, Limit::OURS).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Whether the manifest at `path`, in the source at `root`, could be read before.
    pub(super) fn has(&self, root: &Path, path: &Path) -> bool {
        path.strip_prefix(root).is_ok_and(|inside| self.manifests.contains_key(inside))
    }

    /// Every plugin, where the source's folder was.
    pub(super) fn plugins(&self, source: &str) -> Vec<Plugin> {
        let parse = |(path, good): (&PathBuf, &GoodManifest)| good.plugin(source, &self.root, path);
        self.manifests.iter().filter_map(parse).collect()
    }

    /// The record of the manifest at `path` alone, in the source at `root`.
    pub(super) fn only(mut self, root: &Path, path: &Path) -> Self {
        self.manifests.retain(|inside, _| root.join(inside) == path);
        self
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Puts what manifests of the source at `root` last said in the place of what can't be read.
    pub(super) fn restore(&self, source: &str, root: &Path, found: &mut Scan) {
        for (inside, good) in &self.manifests {
            let manifest = root.join(inside);
            let is_unread = is_unread(found, &manifest);
            let here = found.plugins.iter().position(|plugin| plugin.manifest == manifest);
            // Of two that are not whole the newer one counts.
            if !is_unread || (!good.is_whole && here.is_some()) {
                continue;
            }
            let Some(plugin) = good.plugin(source, root, inside) else { continue };
            match here {
                Some(here) if offers_all(&found.plugins[here], &plugin) => {
                    found.unread.retain(|path| *path != manifest);
                    continue;
                }
                Some(here) => found.plugins[here] = plugin.clone(),
                None => found.plugins.push(plugin.clone()),
            }
            tell(found, &manifest, &plugin.name);
            found.kept.push(manifest);
        }
        found.plugins.sort_by(|one, other| one.manifest.cmp(&other.manifest));
    }

    /// Remembers what was found in the source at `root`. What can't be read stays as it was.
    pub(super) fn update(self, dirs: &Dirs, state: &SourceState, root: &Path, found: &Scan) {
        let (source, root_now) = (state.name.clone(), root.to_path_buf());
        let mut now = Self { source, root: root_now, manifests: BTreeMap::new() };
        for (inside, good) in &self.manifests {
            let manifest = root.join(inside);
            if is_unread(found, &manifest) {
                now.manifests.insert(inside.clone(), good.clone());
            }
        }
        for read in &found.manifests {
            let Ok(inside) = read.path.strip_prefix(root) else { continue };
            // A path that is no Unicode can't be written down.
            if inside.to_str().is_none() {
                continue;
            }
            let before = self.manifests.get(inside);
            if read.is_whole || before.is_none_or(|before| !before.is_whole) {
                now.manifests.extend(GoodManifest::of(read).map(|good| (inside.to_owned(), good)));
            } else if let Some(before) = before {
                now.manifests.insert(inside.to_owned(), before.clone());
            }
        }
        if now == self || (now.manifests.is_empty() && self.manifests.is_empty()) {
            return;
        }
        let kept = serde_json::to_vec(&now).map_err(std::io::Error::other);
        if let Err(error) = kept.and_then(|bytes| write_if_changed(&path(dirs, state), &bytes)) {
            tracing::warn!("the manifests of `{}` are not kept: {error}", state.name);
        }
    }
}

impl GoodManifest {
    /// `None` where the text is not understood by the library that edits it.
    fn of(read: &ReadManifest) -> Option<Self> {
        let is_whole = read.is_whole;
        Some(match &read.content {
            ReadContent::Ours(text) => {
                let (text, withheld) = without_secrets(text)?;
                Self { text, package: None, is_whole, withheld }
            }
            ReadContent::Package(kept) => {
                let (kept, withheld) = Kept::clone(kept).without_secrets();
                Self { text: String::new(), package: Some(kept), is_whole, withheld }
            }
        })
    }

    fn plugin(&self, source: &str, root: &Path, inside: &Path) -> Option<Plugin> {
        let manifest = root.join(inside);
        let mut plugin = match &self.package {
            Some(kept) => kept.plugin(source, root, &manifest)?,
            None => {
                let place = Place { source, source_root: root, manifest: &manifest };
                let text = Source::new(&manifest, self.text.as_str());
                Manifest::parse(text, &place, Strictness::Load).plugin?
            }
        };
        for server in &mut plugin.servers {
            server.is_withheld = self.withheld.contains(&server.name);
        }
        Some(plugin)
    }
}

/// Whether the file of a manifest, or a folder around it, is among what can't be read.
fn is_unread(found: &Scan, manifest: &Path) -> bool {
    let file = file_of(manifest);
    found.unread.iter().any(|path| file.starts_with(path) || manifest == path)
}

fn path(dirs: &Dirs, state: &SourceState) -> PathBuf {
    dirs.last_good().join(format!("{}.json", file_name(state)))
}

fn records(dirs: &Dirs) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dirs.last_good()).into_iter().flatten().flatten();
    let is_record = |path: &PathBuf| path.extension().is_some_and(|found| found == "json");
    entries.map(|entry| entry.path()).filter(is_record).collect()
}

/// Removes the records of all sources but these, and those that a team's file brings to some workspace.
pub(super) fn forget_others(dirs: &Dirs, sources: &[SourceState]) {
    let kept: Vec<PathBuf> = sources.iter().map(|state| path(dirs, state)).collect();
    let elsewhere = accepted_sources(dirs);
    let is_lost = |path: &Path| {
        let name = LastGood::read(path).source;
        elsewhere.contains(&name)
            || sources.iter().any(|state| state.is_nowhere() && state.name == name)
    };
    for path in records(dirs) {
        if !kept.contains(&path)
            && !is_lost(&path)
            && let Err(error) = std::fs::remove_file(&path)
        {
            tracing::warn!("{}: {error}", path.display());
        }
    }
}

/// The text without servers' variables and headers, and the names of the servers that had some.
fn without_secrets(text: &str) -> Option<(String, Vec<String>)> {
    if !text.contains("mcp_servers") {
        return Some((text.to_owned(), Vec::new()));
    }
    let mut document = text.parse::<DocumentMut>().ok()?;
    let mut withheld = Vec::new();
    let mut strip = |server: &mut dyn TableLike| {
        let secrets = ["env", "headers"].map(|key| server.remove(key).is_some());
        let name = server.get("name").and_then(Item::as_str);
        withheld.extend(name.filter(|_| secrets.contains(&true)).map(str::to_owned));
    };
    match document.get_mut("mcp_servers") {
        Some(Item::ArrayOfTables(servers)) => servers.iter_mut().for_each(|table| strip(table)),
        Some(Item::Value(toml_edit::Value::Array(servers))) => {
            servers.iter_mut().filter_map(|item| item.as_inline_table_mut()).for_each(|t| strip(t));
        }
        _ => {}
    }
    Some((document.to_string(), withheld))
}

/// Whether `new` has everything that `old` offered, so that what is left out of `new` is nothing that
/// was in force.
fn offers_all(new: &Plugin, old: &Plugin) -> bool {
    let has_group = |old: &SkillGroup| {
        let is_same = |new: &SkillGroup| (&new.gate, &new.source) == (&old.gate, &old.source);
        new.skills.iter().any(is_same)
    };
    let has_server = |name: &str| new.servers.iter().any(|server| server.name == name);
    let old_servers = old.servers.iter();
    new.gate == old.gate
        && old.hooks.iter().all(|hook| new.hooks.contains(hook))
        && old.skills.iter().all(has_group)
        && old.subcommands.iter().all(|command| new.subcommands.contains(command))
        && old_servers.clone().all(|server| {
            new.servers.contains(server) || (server.is_withheld && has_server(&server.name))
        })
}

/// Says, with what is wrong with the manifest, that it goes on by what it last said.
fn tell(found: &mut Scan, manifest: &Path, name: &str) {
    let stays = format!("what it last said of `{name}` stays in force");
    let remedy = "mend it, or take the plugin's folder away";
    let is_error = |problem: &&mut Diagnostic| {
        let place = problem.location();
        problem.is_error() && place.is_some_and(|place| place.path == manifest)
    };
    match found.diagnostics.iter_mut().find(is_error) {
        Some(problem) => *problem = problem.clone().remark(stays).note(remedy),
        None => {
            let problem = format!("not all of this manifest can be read, so {stays}");
            found.diagnostics.push(Diagnostic::error(problem).in_file(manifest).note(remedy));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_kept_without_what_may_be_secret_however_they_are_written() {
        let text = "[[mcp_servers]] # ours\nname = \"a\"\ncommand = \"c\"\nenv = { T = \"x\" }\n\
                    [[mcp_servers]]\nname = \"b\"\ncommand = \"c\"\n\
                    [[mcp_servers]]\nname = \"c\"\nurl = \"https://c\"\n[mcp_servers.headers]\nH = \"x\"\n";
        let (kept, withheld) = without_secrets(text).expect("is TOML");
        assert_eq!(withheld, ["a", "c"]);
        assert!(!kept.contains('x') && kept.contains("# ours"), "{kept}");
        let (kept, withheld) = without_secrets(
            "mcp_servers = [{ name = \"a\", env = [{ name = \"T\", value = \"x\" }] }]\n",
        )
        .expect("is TOML");
        assert_eq!(withheld, ["a"]);
        assert!(!kept.contains('x'), "{kept}");
        let plain = "name = \"p\"\r\n# as it is\r\n";
        assert_eq!(without_secrets(plain), Some((plain.to_owned(), Vec::new())));
    }
}
