//! What the hook room calls: a snapshot that holds, made anew where it does not.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};

use super::background::{BUDGET, Background};
use super::registration::opt_out;
use super::request::{Caller, Mode, Request};
use super::run::{look_beyond, sync, sync_unless};
use super::snapshot::{Snapshot, Stored};
use crate::Symposium;
use crate::config::{Dirs, Environment};
use crate::report::Reporter;
use crate::symposium::Options;
use crate::workspace::nearest_manifest;

/// The snapshot of the workspace that `cwd` is in, or of what applies outside of one: the stored one
/// while its inputs are as they were, else as [`for_hook`]. `insist`: a sync that failed is tried again.
pub(crate) fn of_folder(
    env: &Environment,
    dirs: &Dirs,
    cwd: &Path,
    insist: bool,
) -> Option<Stored> {
    if let Some(known) = known(env, dirs, cwd).filter(|known| !(insist && known.header.failed)) {
        return Some(known);
    }
    for_hook(env, dirs, &root_of(env, dirs, cwd), insist)
}

/// The stored snapshot for `cwd`, when it is current; no manifest is read. The manifests that lead to
/// the root are among the snapshot's inputs.
pub(super) fn known(env: &Environment, dirs: &Dirs, cwd: &Path) -> Option<Stored> {
    let Some(nearest) = nearest_manifest(cwd, env)? else {
        return Stored::of(dirs, &Snapshot::outside(dirs)).filter(|stored| stored.holds(env));
    };
    let mut known = nearest.ancestors().filter_map(|root| Stored::of(dirs, root));
    known.find(|stored| stored.is_found_from(&nearest) && stored.holds(env))
}

/// The workspace's snapshot: the stored one while its inputs are as they were, else a new one, after
/// a sync if the user lets events sync. Never fails: trouble is logged, and the old one serves.
pub(crate) fn for_hook(
    env: &Environment,
    dirs: &Dirs,
    root: &Path,
    insist: bool,
) -> Option<Stored> {
    let stored = Stored::of(dirs, root);
    if let Some(current) = stored.as_ref().filter(|stored| stored.holds(env))
        && !(insist && current.header.failed)
    {
        return stored;
    }
    let mut found = new_or_last(env, dirs, (root, insist), stored)?;
    found.is_outdated = !found.holds(env);
    Some(found)
}

/// A new snapshot of the workspace at `root`; where that can't be made in time, the `stored` one.
fn new_or_last(
    env: &Environment,
    dirs: &Dirs,
    (root, insist): (&Path, bool),
    stored: Option<Stored>,
) -> Option<Stored> {
    let background = Background::of(dirs, root);
    if background.goes_on_beside() {
        return stored;
    }
    let work = Work { env: env.clone(), root: root.to_path_buf(), insist, old: stored.clone() };
    let (done, made) = mpsc::channel();
    let thread = std::thread::Builder::new().name("sync".to_owned());
    if let Err(error) = thread.spawn(move || done.send(work.run())) {
        tracing::warn!("no sync before this event: {error}");
        return stored;
    }
    match made.recv_timeout(env.test_switches().patience(BUDGET)) {
        Ok(made) => made.or(stored),
        // It panicked, which is logged.
        Err(RecvTimeoutError::Disconnected) => stored,
        Err(RecvTimeoutError::Timeout) => {
            tracing::warn!("the sync takes too long to wait for, and goes on in the background");
            background.is_slow_from_now();
            let _running = background.start();
            stored
        }
    }
}

/// The sync before an event, on a thread of its own.
struct Work {
    env: Environment,
    root: PathBuf,
    insist: bool,
    old: Option<Stored>,
}

impl Work {
    fn run(self) -> Option<Stored> {
        let options = Options { offline: true, ..Options::default() };
        let sym = Symposium::new(self.env.clone(), Reporter::silent(), options).ok()?;
        sym.report.diagnostics(&sym.config_diagnostics);
        self.env.test_switches().panic_at("sync");
        std::thread::sleep(self.env.test_switches().slow_sync);
        if !sym.config_state.is_clear() {
            // What the user wants is not known until the file is mended.
            return self.old.clone().or_else(|| self.look(&sym));
        }
        if opt_out::is_opted_out(&sym, &self.root) {
            return None;
        }
        if !sym.config.auto_sync || self.root == Snapshot::outside(&sym.dirs) {
            return self.look(&sym);
        }
        let request = self.request(Mode::Apply);
        match sync_unless(&sym, &request, || self.current(&sym.dirs).is_some()) {
            Ok(Some(synced)) => {
                tracing::debug!("synced {} before this event", self.root.display());
                synced.stored
            }
            Ok(None) => self.current(&sym.dirs),
            Err(error) => {
                tracing::warn!("the sync before this event failed: {error:#}");
                self.look(&sym)
            }
        }
    }

    fn request(&self, mode: Mode) -> Request {
        Request { start: self.root.clone(), mode, caller: Caller::Hook, ..Request::default() }
    }

    /// What another process made meanwhile.
    fn current(&self, dirs: &Dirs) -> Option<Stored> {
        let stored = Stored::of(dirs, &self.root)?;
        let again = self.insist && stored.header.failed;
        (!again && stored.holds(&self.env)).then_some(stored)
    }

    /// What applies now, with nothing changed: hooks run were the disk full. In a workspace that
    /// can't be read that is what applied when it could, else what applies around it, else what
    /// applies everywhere.
    fn look(&self, sym: &Symposium) -> Option<Stored> {
        let request = self.request(Mode::Look);
        if self.root != Snapshot::outside(&sym.dirs) {
            match sync(sym, &request) {
                Ok(synced) => return synced.stored,
                Err(error) => tracing::warn!("what applies here can't be found out: {error:#}"),
            }
            if let Some(last) = self.old.clone().or_else(|| self.around(&sym.dirs)) {
                return Some(last);
            }
        }
        let looked = look_beyond(sym, &request);
        looked.inspect_err(|error| tracing::warn!("no plugin's hooks: {error:#}")).ok()?.stored
    }

    /// What applies in the nearest folder above that we have a snapshot of.
    fn around(&self, dirs: &Dirs) -> Option<Stored> {
        let mut above = self.root.ancestors().skip(1);
        let (root, old) = above.find_map(|root| Some((root, Stored::of(dirs, root)?)))?;
        if old.holds(&self.env) {
            return Some(old);
        }
        let (env, root, old) = (self.env.clone(), root.to_path_buf(), Some(old));
        Work { env, root, insist: false, old: old.clone() }.run().or(old)
    }
}

/// The root of the workspace that `cwd` is in, were its manifests broken at the moment: then it is
/// the nearest folder above that we have a snapshot of, else that of the nearest manifest. Outside of
/// one it is [`Snapshot::outside`].
fn root_of(env: &Environment, dirs: &Dirs, cwd: &Path) -> PathBuf {
    let found = crate::workspace::locate(cwd, env).unwrap_or_else(|problem| {
        tracing::warn!("{}", problem.message);
        remembered_root(env, dirs, cwd)
    });
    found.unwrap_or_else(|| Snapshot::outside(dirs))
}

/// The root of the workspace that `cwd` is in, where its manifests can't say.
pub(super) fn remembered_root(env: &Environment, dirs: &Dirs, cwd: &Path) -> Option<PathBuf> {
    let cwd = crate::files::canonicalize(cwd).unwrap_or_else(|_| cwd.to_path_buf());
    let known = |root: &&Path| Snapshot::path(dirs, root).exists();
    let known = cwd.ancestors().find(known).map(Path::to_path_buf);
    known.or_else(|| nearest_manifest(&cwd, env).flatten())
}
