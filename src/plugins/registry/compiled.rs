//! The compiled registry: what a source held, so that its manifests are read once.
//!
//! One file a source. A copy of a git repository never changes in place, so its folder's name says
//! all; the files and folders of a path source are looked at, one `stat` each. A source that had
//! problems is not kept but read again each time: people should be told of them again. What its
//! manifests said before is then [`LastGood`]'s to tell.
//!
//! Of thousands of plugins a workspace is concerned by a few. So each is kept with the crates that it
//! concerns, and those of other crates can be passed over unread.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use symposium_hook::Event;

use super::last_good::LastGood;
use super::scan::{Scan, StandaloneSkill, scan, scan_knowing};
use crate::config::Dirs;
use crate::files::{Limit, read_bytes};
use crate::plugins::manifest::Strictness;
use crate::plugins::model::{CrateAtom, McpServer, Plugin, SkillSource, Transport};
use crate::plugins::source::{SourceKind, SourceState, file_name};
use crate::symposium::VERSION;
use crate::text::Diagnostic;
use crate::workspace::{Fingerprint, Observer, UNOBSERVED};

/// Version of the file's layout. The bytes do not tell what they stand for: whatever changes the types
/// in it, [`Plugin`] and all below, raises this; a test tells.
const LAYOUT: u32 = 11;

/// Whose the file is: what comes after it is read as this program wrote it, the fingerprint and
/// what was found.
#[derive(PartialEq, Serialize, Deserialize)]
struct Head {
    layout: u32,
    program: String,
    source: String,
    location: String,
}

impl Head {
    fn of(state: &SourceState) -> Self {
        let (source, location) = (state.name.clone(), state.place.clone());
        Self { layout: LAYOUT, program: VERSION.to_owned(), source, location }
    }
}

#[derive(Serialize, Deserialize)]
struct Compiled<'a> {
    root: PathBuf,
    #[serde(borrow)]
    plugins: Vec<StoredPlugin<'a>>,
    skills: Vec<StandaloneSkill>,
}

/// A plugin in the file.
#[derive(Serialize, Deserialize)]
struct StoredPlugin<'a> {
    name: &'a str,
    #[serde(borrow)]
    manifest: &'a Path,
    /// See [`concern`].
    #[serde(borrow)]
    concern: Option<&'a str>,
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
        manifest: PathBuf,
    },
}

/// Which crates are dependencies, if only plugins are wanted that can matter then.
pub(super) type Depends<'a> = Option<&'a dyn Fn(&str) -> bool>;

/// A source's content.
pub(super) struct Content {
    pub(super) plugins: Vec<Found>,
    /// All else.
    pub(super) rest: Scan,
    /// See [`Scan::gap`].
    pub(super) gap: Option<PathBuf>,
    /// What was observed of a path source before it was read.
    pub(super) fingerprint: Option<Fingerprint>,
}

impl Content {
    fn new(mut scan: Scan, depends: Depends<'_>, fingerprint: Option<Fingerprint>) -> Self {
        let gap = scan.gap().cloned();
        let plugins = std::mem::take(&mut scan.plugins).into_iter().map(|plugin| {
            if matters(concern(&plugin).as_deref(), depends) {
                Found::Plugin(Box::new(plugin))
            } else {
                Found::PassedOver { name: plugin.name, manifest: plugin.manifest }
            }
        });
        Self { plugins: plugins.collect(), rest: scan, gap, fingerprint }
    }
}

/// The names of which one has to be a dependency's, or asked for by the user, for the plugin to matter
/// in a workspace, with a space between them. Nothing where it may matter in any: what it says of
/// itself is told, or its predicates have a say.
fn concern(plugin: &Plugin) -> Option<String> {
    let atoms = plugin.gate.crates.as_ref()?;
    // The end of a turn is asked about in every workspace, or in none.
    let ends = plugin.hooks.iter().any(|hook| hook.event == Event::Stop);
    let elsewhere = ends || !plugin.gate.predicates.is_empty() || !plugin.subcommands.is_empty();
    if elsewhere || atoms.contains(&CrateAtom::Any) {
        return None;
    }
    let mut names = plugin.gate.crates_named();
    // One that is for no crate can be asked for by its name.
    names.extend(plugin.gate.is_dormant().then_some(&*plugin.name));
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

/// What the source at `root` holds: as remembered, where nothing changed since. What is found anew is
/// remembered only where the caller says so.
pub(super) fn scan_cached(
    (dirs, remembers): (&Dirs, bool),
    state: &SourceState,
    root: &Path,
    depends: Depends<'_>,
) -> Content {
    let file = file(dirs, state);
    let bytes = read_bytes(&file, Limit::OURS).unwrap_or_default();
    load(&bytes, state, root, depends).unwrap_or_else(|| {
        let (scan, fingerprint) = scan_now((dirs, remembers), state, root);
        if remembers {
            store(&file, state, root, &scan, &fingerprint);
        }
        let is_fixed = state.kind != SourceKind::Path;
        Content::new(scan, depends, (!is_fixed).then_some(fingerprint))
    })
}

/// What the source offered when its folder could last be read.
pub(super) fn last_known(dirs: &Dirs, state: &SourceState, depends: Depends<'_>) -> Content {
    let last_good = LastGood::load(dirs, state);
    let mut scan = Scan { plugins: last_good.plugins(&state.name), ..Scan::default() };
    // Otherwise the source's own trouble is told.
    if state.notice.is_none() && !scan.plugins.is_empty() {
        let problem = format!("the folder of the plugin source `{}` is gone", state.name);
        scan.diagnostics.push(
            Diagnostic::warning(problem)
                .in_file(last_good.root())
                .note("what came from it stays in force until it is there again")
                .note("an empty folder in its place does without it"),
        );
    }
    Content::new(scan, depends, None)
}

fn scan_now(
    (dirs, remembers): (&Dirs, bool),
    state: &SourceState,
    root: &Path,
) -> (Scan, Fingerprint) {
    let observer = Observer::default();
    // What never changes in place need not be looked at again.
    let told = if state.kind == SourceKind::Path { &observer } else { &UNOBSERVED };
    // What is inside the program is always whole.
    if state.kind == SourceKind::Builtin {
        return (scan(&state.name, root, Strictness::Load, told), Fingerprint::default());
    }
    let last_good = LastGood::load(dirs, state);
    let was_plugin = |path: &Path| last_good.has(root, path);
    let mut found = scan_knowing(&was_plugin, (&state.name, root), Strictness::Load, told);
    last_good.restore(&state.name, root, &mut found);
    if remembers {
        last_good.update(dirs, state, root, &found);
    }
    (found, observer.findings().0)
}

fn file(dirs: &Dirs, state: &SourceState) -> PathBuf {
    dirs.cache().join("registry").join(format!("{}.bin", file_name(state)))
}

/// What is remembered in `bytes`, as long as it holds; with the fingerprint of a source that may
/// change.
fn load(bytes: &[u8], state: &SourceState, root: &Path, depends: Depends<'_>) -> Option<Content> {
    let (head, rest) = postcard::take_from_bytes::<Head>(bytes).ok()?;
    if head != Head::of(state) {
        return None;
    }
    let (kept, rest) = postcard::take_from_bytes::<&[u8]>(rest).ok()?;
    let compiled: Compiled<'_> = postcard::from_bytes(rest).ok()?;
    let is_fixed = state.kind != SourceKind::Path;
    if compiled.root != root || !(is_fixed || Fingerprint::is_current(kept)) {
        return None;
    }
    let fingerprint = if is_fixed { None } else { Some(Fingerprint::from_bytes(kept)?) };
    let read = |stored: &StoredPlugin<'_>| {
        if matters(stored.concern, depends) {
            return postcard::from_bytes(stored.bytes).ok().map(Found::Plugin);
        }
        let (name, manifest) = (stored.name.to_owned(), stored.manifest.to_owned());
        Some(Found::PassedOver { name, manifest })
    };
    Some(Content {
        plugins: compiled.plugins.iter().map(read).collect::<Option<_>>()?,
        rest: Scan { skills: compiled.skills, ..Scan::default() },
        gap: None,
        fingerprint,
    })
}

/// Best effort: without the file, the manifests are read again.
fn store(file: &Path, state: &SourceState, root: &Path, scan: &Scan, fingerprint: &Fingerprint) {
    // What had problems is told again; and values of servers' variables and headers, which may be
    // secret, are in nobody's cache.
    let has_secrets = scan.plugins.iter().flat_map(|plugin| &plugin.servers).any(has_secrets);
    if has_secrets || !scan.diagnostics.is_empty() {
        return;
    }
    let Some(bytes) = packed(state, root, scan, fingerprint) else { return };
    if let Err(error) = crate::files::replace_cache(file, &bytes) {
        tracing::debug!("the compiled registry is not kept: {error}");
    }
}

fn has_secrets(server: &McpServer) -> bool {
    match &server.transport {
        Transport::Stdio { env, .. } => !env.is_empty(),
        Transport::Http { headers, .. } | Transport::Sse { headers, .. } => !headers.is_empty(),
    }
}

/// `None` where a path is no Unicode.
fn packed(
    state: &SourceState,
    root: &Path,
    scan: &Scan,
    fingerprint: &Fingerprint,
) -> Option<Vec<u8>> {
    let parts = scan.plugins.iter().map(|plugin| {
        let bytes = postcard::to_allocvec(plugin).ok()?;
        Some((plugin, concern(plugin), bytes))
    });
    let parts = parts.collect::<Option<Vec<_>>>()?;
    let plugins = parts.iter().map(|(plugin, concern, bytes)| StoredPlugin {
        name: &plugin.name,
        manifest: &plugin.manifest,
        concern: concern.as_deref(),
        bytes,
    });
    let (root, skills) = (root.to_path_buf(), scan.skills.clone());
    let compiled = Compiled { root, plugins: plugins.collect(), skills };
    postcard::to_allocvec(&(Head::of(state), fingerprint.to_bytes(), compiled)).ok()
}

#[cfg(test)]
mod tests;
