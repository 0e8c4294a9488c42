//! The compiled registry: what a source held, so that its manifests are read once.
//!
//! One file a source. A copy of a git repository never changes in place, so its folder's name says
//! all; the files and folders of a path source are looked at, one `stat` each. A source that had
//! problems is read again each time: people should be told of them again.
//!
//! The same file has what each manifest said when it could last be read. While it can't be, that
//! counts: what nobody can read is not gone, and a guard must not go with it.
//!
//! Of thousands of plugins a workspace is concerned by a few. So each is kept with the crates that it
//! concerns, and those of other crates can be passed over unread.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::scan::{Scan, StandaloneSkill, scan};
use crate::config::Dirs;
use crate::files::{Limit, read_bytes};
use crate::plugins::manifest::Strictness;
use crate::plugins::model::{CrateAtom, McpServer, Plugin, SkillSource, Transport};
use crate::plugins::source::{SourceKind, SourceState};
use crate::symposium::VERSION;
use crate::text::Diagnostic;
use crate::workspace::{Fingerprint, Observer, UNOBSERVED};

/// Version of the file's layout. The bytes do not tell what they stand for: whatever changes the types
/// in it, [`Plugin`] and all below, raises this; a test tells.
const LAYOUT: u32 = 5;

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
        let (source, location) = (state.name.clone(), state.location.clone());
        Self { layout: LAYOUT, program: VERSION.to_owned(), source, location }
    }
}

/// What the content is read from, and whether it is all there is.
#[derive(Serialize, Deserialize)]
struct Origin {
    root: PathBuf,
    is_whole: bool,
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
    /// Whether all of the manifest could be read.
    is_good: bool,
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
    let file = file(dirs, state);
    let bytes = read_bytes(&file, Limit::OURS).unwrap_or_default();
    let known = open(&bytes, state);
    known.as_ref().and_then(|known| load(known, state, root, depends)).unwrap_or_else(|| {
        let (scan, fingerprint) = scan_now((&file, known.as_ref()), state, root);
        Content::new(scan, depends, fingerprint)
    })
}

/// The hooks that the source had when its folder could last be read. What else came from it stays
/// where it is by itself.
pub(super) fn last_known(
    dirs: &Dirs,
    state: &SourceState,
    depends: Depends<'_>,
) -> Option<Content> {
    let bytes = read_bytes(&file(dirs, state), Limit::OURS).ok()?;
    let known = open(&bytes, state)?;
    let mut scan = Scan::default();
    let wanted = known.compiled.plugins.iter().filter(|kept| matters(kept.concern, depends));
    for kept in wanted {
        let mut plugin: Plugin = postcard::from_bytes(kept.bytes).ok()?;
        plugin.skills.clear();
        plugin.servers.clear();
        plugin.subcommands.clear();
        if !plugin.hooks.is_empty() {
            scan.plugins.push(plugin);
        }
    }
    // Otherwise the source's own trouble is told.
    if state.notice.is_none() && !scan.plugins.is_empty() {
        let problem = format!("the folder of the plugin source `{}` is gone", state.name);
        scan.diagnostics.push(
            Diagnostic::warning(problem)
                .in_file(&known.origin.root)
                .note("its hooks stay in force until it is there again")
                .note("an empty folder in its place does without them"),
        );
    }
    Some(Content::new(scan, depends, None))
}

type Known<'a> = (&'a Path, Option<&'a Opened<'a>>);

fn scan_now(
    (file, known): Known<'_>,
    state: &SourceState,
    root: &Path,
) -> (Scan, Option<Fingerprint>) {
    let is_fixed = state.kind != SourceKind::Path;
    let observer = Observer::default();
    // What never changes in place need not be looked at again.
    let told = if is_fixed { &UNOBSERVED } else { &observer };
    let mut found = scan(&state.name, root, Strictness::Load, told);
    let (fingerprint, _) = observer.findings();
    keep(known, root, &mut found);
    store(file, state, root, &found, &fingerprint);
    (found, (!is_fixed).then_some(fingerprint))
}

/// Puts what was last read in the place of what can't be read now.
fn keep(known: Option<&Opened<'_>>, root: &Path, found: &mut Scan) {
    let Some(known) = known else { return };
    for kept in &known.compiled.plugins {
        let Ok(inside) = kept.manifest.strip_prefix(&known.origin.root) else { continue };
        let manifest = root.join(inside);
        let is_unread = found.unread.iter().any(|path| manifest.starts_with(path));
        let here = found.plugins.iter().position(|plugin| plugin.manifest == manifest);
        // Of two that are not whole the newer one counts.
        if !is_unread || (!kept.is_good && here.is_some()) {
            continue;
        }
        let Ok(mut plugin) = postcard::from_bytes::<Plugin>(kept.bytes) else { continue };
        // What is left out may be nothing of what was in force.
        let has_all = |new: &Plugin| {
            new.gate == plugin.gate && plugin.hooks.iter().all(|hook| new.hooks.contains(hook))
        };
        if here.is_some_and(|here| has_all(&found.plugins[here])) {
            found.unread.retain(|path| *path != manifest);
            continue;
        }
        // A copy of a repository has another root at each commit.
        plugin.source_root = root.to_path_buf();
        plugin.dir = manifest.parent().unwrap_or(root).to_path_buf();
        plugin.manifest.clone_from(&manifest);
        match here {
            Some(here) => found.plugins[here] = plugin,
            None => found.plugins.push(plugin),
        }
        let problem = format!(
            "not all of this manifest can be read, so what it last said of `{}` stays in force",
            kept.name
        );
        let note = "mend it, or take the plugin's folder away";
        found.diagnostics.push(Diagnostic::error(problem).in_file(&manifest).note(note));
        found.kept.push(manifest);
    }
    found.plugins.sort_by(|one, other| one.manifest.cmp(&other.manifest));
}

fn file(dirs: &Dirs, state: &SourceState) -> PathBuf {
    let hash = Sha256::digest(format!("{}\0{}", state.name, state.location).as_bytes());
    let hash = crate::text::hex(&hash[..16]);
    dirs.cache().join("registry").join(format!("{hash}.bin"))
}

/// The file, as far as it is always read.
struct Opened<'a> {
    fingerprint: &'a [u8],
    origin: Origin,
    compiled: Compiled<'a>,
}

fn open<'a>(bytes: &'a [u8], state: &SourceState) -> Option<Opened<'a>> {
    let (head, rest) = postcard::take_from_bytes::<Head>(bytes).ok()?;
    if head != Head::of(state) {
        return None;
    }
    let (fingerprint, rest) = postcard::take_from_bytes::<&[u8]>(rest).ok()?;
    let (origin, compiled) = postcard::from_bytes(rest).ok()?;
    Some(Opened { fingerprint, origin, compiled })
}

/// What is remembered, as long as it holds; with the fingerprint of a source that may change.
fn load(
    known: &Opened<'_>,
    state: &SourceState,
    root: &Path,
    depends: Depends<'_>,
) -> Option<Content> {
    let fixed = state.kind != SourceKind::Path;
    let is_whole = known.origin.is_whole && known.origin.root == root;
    if !is_whole || !(fixed || Fingerprint::is_current(known.fingerprint)) {
        return None;
    }
    let fingerprint = if fixed { None } else { Some(Fingerprint::from_bytes(known.fingerprint)?) };
    let read = |kept: &Kept<'_>| {
        if matters(kept.concern, depends) {
            return postcard::from_bytes(kept.bytes).ok().map(Found::Plugin);
        }
        let (name, manifest) = (kept.name.to_owned(), kept.manifest.to_owned());
        Some(Found::PassedOver { name, manifest })
    };
    Some(Content {
        plugins: known.compiled.plugins.iter().map(read).collect::<Option<_>>()?,
        rest: Scan { skills: known.compiled.skills.clone(), ..Scan::default() },
        fingerprint,
    })
}

/// Best effort: without the file, the manifests are read again.
fn store(file: &Path, state: &SourceState, root: &Path, scan: &Scan, fingerprint: &Fingerprint) {
    let Some(bytes) = packed(state, root, scan, fingerprint) else { return };
    if let Err(error) = crate::files::replace_cache(file, &bytes) {
        tracing::debug!("the compiled registry is not kept: {error}");
    }
}

/// Values of servers' variables and headers may be secret and are in nobody's cache.
fn has_secrets(server: &McpServer) -> bool {
    match &server.transport {
        Transport::Stdio { env, .. } => !env.is_empty(),
        Transport::Http { headers, .. } | Transport::Sse { headers, .. } => !headers.is_empty(),
    }
}

/// A plugin without what may be secret.
fn without_secrets(plugin: &Plugin) -> Cow<'_, Plugin> {
    if !plugin.servers.iter().any(has_secrets) {
        return Cow::Borrowed(plugin);
    }
    let mut plugin = plugin.clone();
    plugin.servers.retain(|server| !has_secrets(server));
    Cow::Owned(plugin)
}

/// `None` where a path is no Unicode.
fn packed(
    state: &SourceState,
    root: &Path,
    scan: &Scan,
    fingerprint: &Fingerprint,
) -> Option<Vec<u8>> {
    let mut is_whole = scan.diagnostics.is_empty();
    let mut parts = Vec::new();
    for plugin in &scan.plugins {
        let plugin = without_secrets(plugin);
        is_whole &= matches!(plugin, Cow::Borrowed(_));
        parts.push((concern(&plugin), postcard::to_allocvec(&*plugin).ok()?));
    }
    let plugins = scan.plugins.iter().zip(&parts).map(|(plugin, (concern, bytes))| Kept {
        name: &plugin.name,
        manifest: &plugin.manifest,
        concern: concern.as_deref(),
        is_good: !scan.unread.contains(&plugin.manifest) || scan.kept.contains(&plugin.manifest),
        bytes,
    });
    let compiled = Compiled { plugins: plugins.collect(), skills: scan.skills.clone() };
    let origin = Origin { root: root.to_path_buf(), is_whole };
    postcard::to_allocvec(&(Head::of(state), fingerprint.to_bytes(), origin, compiled)).ok()
}

#[cfg(test)]
mod tests;
