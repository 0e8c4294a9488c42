//! The compiled registry: what a source held, so that its manifests are read once.
//!
//! One file a source. A copy of a git repository never changes in place, so its folder's name says
//! all; the files and folders of a path source are looked at, one `stat` each. What had problems is
//! not remembered: people should be told of them again.
//!
//! Of thousands of plugins a workspace is concerned by a few. So each is kept with the crates that it
//! concerns, and those of other crates can be passed over unread.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::scan::{Scan, StandaloneSkill, scan};
use crate::config::Dirs;
use crate::files::{Limit, read_bytes};
use crate::plugins::manifest::Strictness;
use crate::plugins::model::{CrateAtom, McpServer, Plugin, SkillSource, Transport};
use crate::plugins::source::{SourceKind, SourceState};
use crate::symposium::VERSION;
use crate::workspace::Fingerprint;

/// Version of the file's layout. The bytes do not tell what they stand for: whatever changes the types
/// in it, [`Plugin`] and all below, raises this.
const LAYOUT: u32 = 2;

/// Whose the file is: what comes after it is read as this program wrote it, the fingerprint's lines
/// and what was found.
#[derive(PartialEq, Serialize, Deserialize)]
struct Head {
    layout: u32,
    program: String,
    source: String,
    root: PathBuf,
}

impl Head {
    fn of(source: &str, root: &Path) -> Self {
        let (program, source) = (VERSION.to_owned(), source.to_owned());
        Self { layout: LAYOUT, program, source, root: root.to_path_buf() }
    }
}

#[derive(Serialize, Deserialize)]
struct Compiled<'a> {
    #[serde(borrow)]
    plugins: Vec<Kept<'a>>,
    skills: Vec<StandaloneSkill>,
}

/// A plugin in the file.
#[derive(Serialize, Deserialize)]
struct Kept<'a> {
    name: &'a str,
    #[serde(borrow)]
    manifest: &'a Path,
    /// See [`concern`].
    #[serde(borrow)]
    concern: Option<&'a str>,
    /// The plugin itself.
    bytes: &'a [u8],
}

/// A plugin of a source.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Found {
    /// One that may matter.
    Plugin(Box<Plugin>),
    /// One that can't.
    PassedOver {
        /// Its name, which no later plugin may have.
        name: String,
        /// Its manifest.
        manifest: PathBuf,
    },
}

/// Which crates are dependencies, if only plugins are wanted that can matter then.
pub(super) type Depends<'a> = Option<&'a dyn Fn(&str) -> bool>;

/// A source's content.
pub(super) struct Content {
    /// Its plugins, by path.
    pub(super) plugins: Vec<Found>,
    /// All else.
    pub(super) rest: Scan,
    /// What was observed of a path source before it was read.
    pub(super) fingerprint: Option<Fingerprint>,
}

impl Content {
    fn new(mut scan: Scan, depends: Depends<'_>, fingerprint: Option<Fingerprint>) -> Self {
        let plugins = std::mem::take(&mut scan.plugins).into_iter().map(|plugin| {
            if matters(concern(&plugin).as_deref(), depends) {
                Found::Plugin(Box::new(plugin))
            } else {
                Found::PassedOver { name: plugin.name, manifest: plugin.manifest }
            }
        });
        Self { plugins: plugins.collect(), rest: scan, fingerprint }
    }
}

/// The crates of which one has to be a dependency for the plugin to matter in a workspace, with a
/// space between them. Nothing where it may matter in any: what it says of itself is told, or its
/// predicates have a say.
fn concern(plugin: &Plugin) -> Option<String> {
    let atoms = plugin.gate.crates.as_ref()?;
    let elsewhere = !plugin.gate.predicates.is_empty() || !plugin.subcommands.is_empty();
    if elsewhere || atoms.contains(&CrateAtom::Any) {
        return None;
    }
    let mut names = plugin.gate.crates_named();
    // To have skills of a crate is a word about that crate, whether the plugin applies or not.
    for group in &plugin.skills {
        names.extend(group.gate.crates_named());
        if let SkillSource::NamedCrate { name, .. } = &group.source {
            names.push(name);
        }
    }
    Some(names.join(" "))
}

fn matters(concern: Option<&str>, depends: Depends<'_>) -> bool {
    match (concern, depends) {
        (Some(names), Some(depends)) => names.split(' ').any(depends),
        _ => true,
    }
}

/// What the source at `root` holds: as remembered, where nothing changed since.
pub(super) fn scan_cached(
    dirs: &Dirs,
    state: &SourceState,
    root: &Path,
    depends: Depends<'_>,
) -> Content {
    let file = file(dirs, &state.name, root);
    let fixed = state.kind != SourceKind::Path;
    load(&file, &state.name, root, (fixed, depends)).unwrap_or_else(|| {
        let (scan, fingerprint) = scan_now(&file, state, root);
        Content::new(scan, depends, fingerprint)
    })
}

fn scan_now(file: &Path, state: &SourceState, root: &Path) -> (Scan, Option<Fingerprint>) {
    let start = SystemTime::now();
    let mut found = scan(&state.name, root, Strictness::Load);
    if state.kind != SourceKind::Path {
        if found.diagnostics.is_empty() {
            store(file, &state.name, root, &found, &Fingerprint::default());
        }
        return (found, None);
    }
    let fingerprint = Fingerprint::of(&found.inputs);
    if fingerprint.is_younger_than(start) {
        // Something may have changed between reading and observing: read again what is observed.
        let again = scan(&state.name, root, Strictness::Load);
        if again.inputs != found.inputs {
            return (again, None);
        }
        found = again;
    }
    if found.diagnostics.is_empty() {
        store(file, &state.name, root, &found, &fingerprint);
    }
    (found, Some(fingerprint))
}

fn file(dirs: &Dirs, source: &str, root: &Path) -> PathBuf {
    let mut hasher = Sha256::new();
    hasher.update(source.as_bytes());
    hasher.update([0]);
    hasher.update(root.as_os_str().as_encoded_bytes());
    let hash = crate::text::hex(&hasher.finalize()[..16]);
    dirs.cache().join("registry").join(format!("{hash}.bin"))
}

/// What is remembered, as long as it holds; with the fingerprint of a source that is not `fixed`.
fn load(
    file: &Path,
    source: &str,
    root: &Path,
    (fixed, depends): (bool, Depends<'_>),
) -> Option<Content> {
    let bytes = read_bytes(file, Limit::OURS).ok()?;
    let (head, rest) = postcard::take_from_bytes::<Head>(&bytes).ok()?;
    if head != Head::of(source, root) {
        return None;
    }
    let (lines, rest) = postcard::take_from_bytes::<&str>(rest).ok()?;
    if !fixed && !Fingerprint::lines_hold(lines) {
        return None;
    }
    let fingerprint = if fixed { None } else { Some(Fingerprint::from_lines(lines)?) };
    let compiled: Compiled<'_> = postcard::from_bytes(rest).ok()?;
    let read = |kept: &Kept<'_>| {
        if matters(kept.concern, depends) {
            return postcard::from_bytes(kept.bytes).ok().map(Found::Plugin);
        }
        let (name, manifest) = (kept.name.to_owned(), kept.manifest.to_owned());
        Some(Found::PassedOver { name, manifest })
    };
    Some(Content {
        plugins: compiled.plugins.iter().map(read).collect::<Option<_>>()?,
        rest: Scan { skills: compiled.skills, ..Scan::default() },
        fingerprint,
    })
}

/// Best effort: without the file, the manifests are read again. Values of servers' variables and
/// headers may be secret and are in nobody's cache.
fn store(file: &Path, source: &str, root: &Path, scan: &Scan, fingerprint: &Fingerprint) {
    let has_secrets = |server: &McpServer| match &server.transport {
        Transport::Stdio { env, .. } => !env.is_empty(),
        Transport::Http { headers, .. } | Transport::Sse { headers, .. } => !headers.is_empty(),
    };
    if scan.plugins.iter().flat_map(|plugin| &plugin.servers).any(has_secrets) {
        return;
    }
    let Some(bytes) = packed(source, root, scan, fingerprint) else { return };
    if let Err(error) = crate::files::replace_cache(file, &bytes) {
        tracing::debug!("the compiled registry is not kept: {error}");
    }
}

/// `None` where a path is no Unicode.
fn packed(source: &str, root: &Path, scan: &Scan, fingerprint: &Fingerprint) -> Option<Vec<u8>> {
    let pack = |plugin: &Plugin| Some((concern(plugin), postcard::to_allocvec(plugin).ok()?));
    let parts: Vec<_> = scan.plugins.iter().map(pack).collect::<Option<_>>()?;
    let plugins = scan.plugins.iter().zip(&parts).map(|(plugin, (concern, bytes))| Kept {
        name: &plugin.name,
        manifest: &plugin.manifest,
        concern: concern.as_deref(),
        bytes,
    });
    let plugins = plugins.collect();
    let compiled = Compiled { plugins, skills: scan.skills.clone() };
    postcard::to_allocvec(&(Head::of(source, root), fingerprint.to_lines(), compiled)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(root: &Path) -> SourceState {
        SourceState {
            name: "mine".to_owned(),
            kind: SourceKind::Path,
            location: root.display().to_string(),
            root: Some(root.to_path_buf()),
            commit: None,
            reference: None,
            fetched_at: None,
            outcome: None,
            notice: None,
            is_told: false,
            inputs: Vec::new(),
        }
    }

    fn plugins(content: &Content) -> Vec<&Plugin> {
        let whole = content.plugins.iter().filter_map(|found| match found {
            Found::Plugin(plugin) => Some(&**plugin),
            Found::PassedOver { .. } => None,
        });
        whole.collect()
    }

    fn names(content: &Content) -> Vec<&str> {
        plugins(content).into_iter().map(|plugin| plugin.name.as_str()).collect()
    }

    #[test]
    fn what_was_remembered_is_what_is_there_after_every_change() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let dirs = Dirs::under(&dir.path().join("home"));
        let root = dir.path().join("source");
        let plugin = |name: &str, crates: &str| {
            let folder = root.join(name);
            std::fs::create_dir_all(&folder).expect("creates");
            let text = format!("name = \"{name}\"\ncrates = [\"{crates}\"]\n");
            std::fs::write(folder.join("SYMPOSIUM.toml"), text).expect("writes");
        };
        let pause = || std::thread::sleep(std::time::Duration::from_millis(30));
        plugin("a", "x>=1.2, <2");
        pause();
        let state = state(&root);
        let first = scan_cached(&dirs, &state, &root, None);
        let again = scan_cached(&dirs, &state, &root, None);
        assert!(file(&dirs, "mine", &root).exists(), "it is remembered");
        assert_eq!(first.plugins, again.plugins);
        assert!(again.fingerprint.as_ref().expect("a path source").still_holds());
        plugin("b", "y");
        assert_eq!(names(&scan_cached(&dirs, &state, &root, None)), ["a", "b"]);
        plugin("a", "z");
        let changed = scan_cached(&dirs, &state, &root, None);
        let fresh = scan("mine", &root, Strictness::Load).plugins;
        assert_eq!(plugins(&changed), fresh.iter().collect::<Vec<_>>());
        std::fs::remove_dir_all(root.join("a")).expect("removes");
        assert_eq!(names(&scan_cached(&dirs, &state, &root, None)), ["b"]);
    }

    #[test]
    fn only_plugins_that_cannot_matter_are_passed_over() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let dirs = Dirs::under(&dir.path().join("home"));
        let root = dir.path().join("source");
        let of_a_crate = "[[skills]]\nsource = \"crate\"\n";
        let subcommand = "[subcommand.s]\ndescription = \"d\"\ncommand = { script = \"s.sh\" }\n";
        for (name, text) in [
            ("any", "crates = [\"*\"]\n".to_owned()),
            ("gated", "crates = [\"other\"]\npredicates = [\"env(A)\"]\n".to_owned()),
            ("group", format!("crates = [\"other\"]\n{of_a_crate}crates = [\"ser-de\"]\n")),
            ("here", "crates = [\"other\", \"ser_de>=9\"]\n".to_owned()),
            ("nowhere", "crates = []\n".to_owned()),
            ("telling", format!("crates = [\"other\"]\n{subcommand}")),
            ("there", format!("crates = [\"other\", \"more>=1\"]\n{of_a_crate}")),
        ] {
            std::fs::create_dir_all(root.join(name)).expect("creates");
            let text = format!("name = \"{name}\"\n{text}");
            std::fs::write(root.join(name).join("SYMPOSIUM.toml"), text).expect("writes");
        }
        std::thread::sleep(std::time::Duration::from_millis(30));
        let depends = |name: &str| crate::workspace::same_crate(name, "ser-de");
        let state = state(&root);
        let fresh = scan_cached(&dirs, &state, &root, Some(&depends));
        let kept = scan_cached(&dirs, &state, &root, Some(&depends));
        assert_eq!(fresh.plugins, kept.plugins);
        let diagnostics = &fresh.rest.diagnostics;
        assert!(diagnostics.is_empty() && file(&dirs, "mine", &root).exists(), "{diagnostics:?}");
        assert_eq!(names(&kept), ["any", "gated", "group", "here", "telling"]);
        assert_eq!(scan_cached(&dirs, &state, &root, None).plugins.len(), 7);
        assert_eq!(names(&scan_cached(&dirs, &state, &root, None)).len(), 7);
    }

    #[test]
    fn what_is_not_ours_to_understand_counts_as_absent() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let dirs = Dirs::under(&dir.path().join("home"));
        let root = dir.path().join("source");
        std::fs::create_dir_all(root.join("a")).expect("creates");
        let text =
            "name = \"a\"\ncrates = [\"x>=1\"]\npredicates = [\"any(env(A=b), not(env(C)))\"]\n";
        std::fs::write(root.join("a/SYMPOSIUM.toml"), text).expect("writes");
        std::thread::sleep(std::time::Duration::from_millis(30));
        scan_cached(&dirs, &state(&root), &root, None);
        let file = file(&dirs, "mine", &root);
        let bytes = std::fs::read(&file).expect("it is remembered");
        assert!(load(&file, "mine", &root, (false, None)).is_some());
        assert!(
            load(&file, "yours", &root, (false, None)).is_none()
                && load(&file, "mine", dirs.cache(), (false, None)).is_none()
        );
        for cut in 0..bytes.len() {
            std::fs::write(&file, &bytes[..cut]).expect("writes");
            assert!(
                load(&file, "mine", &root, (false, None)).is_none(),
                "{cut} of {}",
                bytes.len()
            );
        }
        // Of another layout, or another program.
        let program = bytes.windows(VERSION.len()).position(|some| some == VERSION.as_bytes());
        for at in [0, program.expect("is there")] {
            let mut other = bytes.clone();
            other[at] += 1;
            std::fs::write(&file, &other).expect("writes");
            assert!(load(&file, "mine", &root, (false, None)).is_none());
        }
    }

    #[test]
    fn what_had_problems_is_told_again() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let dirs = Dirs::under(&dir.path().join("home"));
        let root = dir.path().join("source");
        std::fs::create_dir_all(root.join("a")).expect("creates");
        std::fs::write(root.join("a/SYMPOSIUM.toml"), "name = [").expect("writes");
        std::thread::sleep(std::time::Duration::from_millis(30));
        let state = state(&root);
        for _ in 0..2 {
            assert!(!scan_cached(&dirs, &state, &root, None).rest.diagnostics.is_empty());
        }
    }
}
