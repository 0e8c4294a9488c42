//! The compiled registry: what a source held, so that its manifests are read once.
//!
//! One file a source. A copy of a git repository never changes in place, so its folder's name says
//! all; the files and folders of a path source are looked at, one `stat` each. What had problems is
//! not remembered: people should be told of them again.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::scan::{Scan, StandaloneSkill, scan};
use crate::config::Dirs;
use crate::plugins::manifest::Strictness;
use crate::plugins::model::{McpServer, Plugin, Transport};
use crate::plugins::source::{SourceKind, SourceState};
use crate::symposium::VERSION;
use crate::workspace::Fingerprint;

/// Whose the file is: what comes after it is read as this program wrote it, the fingerprint's lines
/// and what was found.
#[derive(PartialEq, Serialize, Deserialize)]
struct Head {
    program: String,
    source: String,
    root: PathBuf,
}

impl Head {
    fn of(source: &str, root: &Path) -> Self {
        let (program, source) = (VERSION.to_owned(), source.to_owned());
        Self { program, source, root: root.to_path_buf() }
    }
}

#[derive(Serialize, Deserialize)]
struct Compiled {
    plugins: Vec<Plugin>,
    skills: Vec<StandaloneSkill>,
}

/// What the source at `root` holds: as remembered, where nothing changed since. With what was
/// observed of a path source before it was read.
pub(super) fn scan_cached(
    dirs: &Dirs,
    state: &SourceState,
    root: &Path,
) -> (Scan, Option<Fingerprint>) {
    let fixed = state.kind != SourceKind::Path;
    let file = file(dirs, &state.name, root);
    if let Some((scan, fingerprint)) = load(&file, &state.name, root, fixed) {
        return (scan, fingerprint);
    }
    let start = SystemTime::now();
    let mut found = scan(&state.name, root, Strictness::Load);
    if fixed {
        if found.diagnostics.is_empty() {
            store(&file, &state.name, root, &found, &Fingerprint::default());
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
        store(&file, &state.name, root, &found, &fingerprint);
    }
    (found, Some(fingerprint))
}

fn file(dirs: &Dirs, source: &str, root: &Path) -> PathBuf {
    let mut hasher = Sha256::new();
    hasher.update(source.as_bytes());
    hasher.update([0]);
    hasher.update(root.as_os_str().as_encoded_bytes());
    let hash = hasher.finalize().iter().take(16).fold(String::new(), |mut text, byte| {
        use std::fmt::Write as _;
        let _ = write!(text, "{byte:02x}");
        text
    });
    dirs.cache().join("registry").join(format!("{hash}.bin"))
}

/// What is remembered, as long as it holds; with the fingerprint of a source that is not `fixed`.
fn load(
    file: &Path,
    source: &str,
    root: &Path,
    fixed: bool,
) -> Option<(Scan, Option<Fingerprint>)> {
    let bytes = std::fs::read(file).ok()?;
    let (head, rest) = postcard::take_from_bytes::<Head>(&bytes).ok()?;
    if head != Head::of(source, root) {
        return None;
    }
    let (lines, rest) = postcard::take_from_bytes::<&str>(rest).ok()?;
    if !fixed && !Fingerprint::lines_hold(lines) {
        return None;
    }
    let fingerprint = if fixed { None } else { Some(Fingerprint::from_lines(lines)?) };
    let compiled: Compiled = postcard::from_bytes(rest).ok()?;
    let scan = Scan {
        plugins: compiled.plugins,
        skills: compiled.skills,
        diagnostics: Vec::new(),
        is_partial: false,
        inputs: Vec::new(),
    };
    Some((scan, fingerprint))
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
    let compiled = Compiled { plugins: scan.plugins.clone(), skills: scan.skills.clone() };
    let whole = (Head::of(source, root), fingerprint.to_lines(), compiled);
    let Ok(bytes) = postcard::to_allocvec(&whole) else { return };
    if let Err(error) = crate::files::replace_cache(file, &bytes) {
        tracing::debug!("the compiled registry is not kept: {error}");
    }
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

    fn names(scan: &Scan) -> Vec<&str> {
        scan.plugins.iter().map(|plugin| plugin.name.as_str()).collect()
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
        let (first, _) = scan_cached(&dirs, &state, &root);
        let (again, fingerprint) = scan_cached(&dirs, &state, &root);
        assert!(file(&dirs, "mine", &root).exists(), "it is remembered");
        assert_eq!(first.plugins, again.plugins);
        assert!(fingerprint.expect("a path source").still_holds());
        plugin("b", "y");
        assert_eq!(names(&scan_cached(&dirs, &state, &root).0), ["a", "b"]);
        plugin("a", "z");
        let (changed, _) = scan_cached(&dirs, &state, &root);
        assert_eq!(changed.plugins, scan("mine", &root, Strictness::Load).plugins);
        std::fs::remove_dir_all(root.join("a")).expect("removes");
        assert_eq!(names(&scan_cached(&dirs, &state, &root).0), ["b"]);
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
        scan_cached(&dirs, &state(&root), &root);
        let file = file(&dirs, "mine", &root);
        let bytes = std::fs::read(&file).expect("it is remembered");
        assert!(load(&file, "mine", &root, false).is_some());
        assert!(
            load(&file, "yours", &root, false).is_none()
                && load(&file, "mine", &dirs.cache(), false).is_none()
        );
        for cut in 0..bytes.len() {
            std::fs::write(&file, &bytes[..cut]).expect("writes");
            assert!(load(&file, "mine", &root, false).is_none(), "{cut} of {}", bytes.len());
        }
        // Of another program.
        let at = bytes.windows(VERSION.len()).position(|some| some == VERSION.as_bytes());
        let mut other = bytes;
        other[at.expect("is there")] += 1;
        std::fs::write(&file, &other).expect("writes");
        assert!(load(&file, "mine", &root, false).is_none());
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
            assert!(!scan_cached(&dirs, &state, &root).0.diagnostics.is_empty());
        }
    }
}
