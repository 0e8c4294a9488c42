//! Programs that cargo would install, where their crate is in the workspace around the plugin: what was
//! built there is run in their place. Nothing is installed.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::subject::Subject;
use crate::Symposium;
use crate::plugins::model::{InstallSource, Installation, Plugin, Runnable};
use crate::sync::snapshot::{Snapshot, SnapshotHook, Stored};
use crate::workspace::Workspace;

const NOT_INSTALLED: &str = "its program is not on disk, and nothing is installed for a test";

/// Lets the hooks of the snapshot run what was built.
///
/// # Errors
/// The snapshot can't be written.
pub(super) fn put_in(
    sym: &Symposium,
    (plugin, subject): (&Plugin, &Subject),
    stored: &Stored,
) -> anyhow::Result<()> {
    let around = Around::of(sym, subject);
    let changed = stored.with_hooks(|hook| replace(hook, plugin, &around))?;
    Ok(changed.save(&Snapshot::path(&sym.dirs, &stored.header.root))?)
}

fn replace(snapshot: &mut SnapshotHook, plugin: &Plugin, around: &Around) {
    let run = &mut snapshot.run;
    let declared = plugin.hooks.iter().find(|hook| hook.name == snapshot.name);
    let installation = plugin.installations.iter().find(|known| known.name == run.installation);
    let (Some(hook), Some(installation)) = (declared, installation) else { return };
    if run.argv.is_some() || !run.fetchable {
        return;
    }
    // There is nobody who would fetch it.
    run.fetchable = false;
    match around.program(installation, hook.runnable.as_ref()) {
        Some(Ok(program)) => {
            let args = hook.args.iter().chain(&installation.args).next().cloned();
            let program = program.to_string_lossy().into_owned();
            run.argv = Some(std::iter::once(program).chain(args.unwrap_or_default()).collect());
        }
        Some(Err(why)) => run.problem = Some(why),
        None => run.problem = Some(NOT_INSTALLED.to_owned()),
    }
}

/// The workspace that the plugin's folder is in, if it is in one.
pub(super) struct Around {
    members: Vec<String>,
    target: PathBuf,
}

impl Around {
    pub(super) fn of(sym: &Symposium, subject: &Subject) -> Self {
        let loaded = Workspace::load(&subject.dir, &sym.env).ok().flatten();
        let workspace = loaded.map(|loaded| loaded.workspace).unwrap_or_default();
        let target = sym.env.var("CARGO_TARGET_DIR").map_or(Path::new("target"), Path::new);
        let target = workspace.root.join(target);
        Self { members: workspace.members.into_iter().map(|member| member.name).collect(), target }
    }

    /// The program of an installation by cargo whose crate is a member, or why there is none; `None` for
    /// any other installation.
    pub(super) fn program(
        &self,
        installation: &Installation,
        runnable: Option<&Runnable>,
    ) -> Option<Result<PathBuf, String>> {
        let Some(InstallSource::Cargo { krate, git: None, .. }) = &installation.source else {
            return None;
        };
        if !self.members.contains(krate) {
            return None;
        }
        let Some(Runnable::Executable(name)) = runnable.or(installation.runnable.as_ref()) else {
            return Some(Err(format!("it does not say which `executable` of `{krate}` it runs")));
        };
        let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        let built = ["debug", "release"].map(|profile| self.target.join(profile).join(&file));
        let built = built.into_iter().filter_map(|path| Some((modified(&path)?, path)));
        Some(built.max().map(|(_, path)| path).ok_or_else(|| {
            format!("`{krate}` is not built yet: `cargo build -p {krate}` builds it for the test")
        }))
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok().filter(Metadata::is_file)?.modified().ok()
}
