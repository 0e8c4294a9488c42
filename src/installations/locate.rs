//! From what a manifest calls a program to its file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{Invocation, Root};
use crate::Symposium;
use crate::files::{contained, is_plain_name};
use crate::plugins::manifest::of_another_system;
use crate::plugins::model::{InstallSource, Installation, Plugin, Runnable};
use crate::process::{find_program, find_sh};

/// The file that `runnable` names, which is there.
pub(super) fn locate(
    sym: &Symposium,
    plugin: &Plugin,
    installation: &Installation,
    root: &Root,
    runnable: &Runnable,
) -> Result<Invocation, String> {
    let (named, is_script) = match runnable {
        Runnable::Shell => {
            let found = find_sh(sym.env.var("PATH").unwrap_or_default());
            let path = found.ok_or("there is no shell `sh` on PATH")?;
            return Ok(Invocation { path, is_script: false, args: Vec::new() });
        }
        Runnable::Executable(named) => (named.as_str(), false),
        Runnable::Script(named) => (named.as_str(), true),
    };
    let kind = if is_script { "script" } else { "executable" };
    let named = expand(installation, named)?;
    let path = match root {
        Root::Bin(bin) if is_plain_name(&named) => bin.join(&named),
        Root::Bin(_) => return Err(format!("`{kind}` must be a program's name, not `{named}`")),
        Root::Tree(tree) => contained(tree, &named).map_err(|escape| escape.to_string())?,
        Root::Plugin => in_plugin(plugin, &named)?,
        Root::Global => global(sym, &named).ok_or_else(|| {
            format!("`{named}` is neither on PATH nor among cargo's installed programs")
        })?,
    };
    let path = with_suffix(path);
    if path.is_file() {
        return Ok(Invocation { path, is_script, args: Vec::new() });
    }
    if path.is_dir() {
        return Err(format!("its {kind} {} is a folder", path.display()));
    }
    Err(format!("its {kind} {} is not there", path.display()))
}

/// Names in downloaded archives often hold version and target, as their URLs do.
fn expand(installation: &Installation, named: &str) -> Result<String, String> {
    match &installation.source {
        Some(InstallSource::Binary { version, .. }) => {
            super::binary::expand(named, version.as_deref())
        }
        _ => Ok(named.to_owned()),
    }
}

/// A path of the manifest: relative to the plugin's folder and inside its source, or absolute.
pub(super) fn in_plugin(plugin: &Plugin, named: &str) -> Result<PathBuf, String> {
    if Path::new(named).is_absolute() {
        return Ok(PathBuf::from(named));
    }
    if let Some(refused) = of_another_system(named) {
        return Err(refused);
    }
    let boundary = plugin.boundary();
    let inside = plugin.dir.strip_prefix(boundary).ok();
    let from_root = inside.and_then(|inside| inside.join(named).to_str().map(str::to_owned));
    match from_root {
        Some(path) => contained(boundary, &path),
        None => contained(&plugin.dir, named),
    }
    .map_err(|escape| escape.to_string())
}

/// Programs that the plugin brings itself and that are not there: whoever finds them missing wants to
/// know when they come.
pub(crate) fn awaited(plugin: &Plugin) -> Vec<PathBuf> {
    let brought = plugin.installations.iter().filter(|known| known.source.is_none());
    let named = brought.filter_map(|known| match known.runnable.as_ref()? {
        Runnable::Executable(named) | Runnable::Script(named) => Some(named.as_str()),
        Runnable::Shell => None,
    });
    named
        .filter_map(|named| in_plugin(plugin, named).ok())
        .map(with_suffix)
        .filter(|path| !path.is_file())
        .collect()
}

/// A program of the user's: on `PATH`, or where cargo puts programs, which not every agent has on
/// its `PATH`.
pub(super) fn global(sym: &Symposium, name: &str) -> Option<PathBuf> {
    if !is_plain_name(name) {
        return None;
    }
    let path = sym.env.var("PATH").unwrap_or_default();
    find_program(name.as_ref(), path, Path::new("/")).or_else(|| {
        let bin = sym.env.cargo_home()?.join("bin");
        Some(with_suffix(bin.join(name))).filter(|path| path.is_file())
    })
}

/// On Windows a program's name needs no extension in a manifest. What is not there keeps its name.
fn with_suffix(path: PathBuf) -> PathBuf {
    if cfg!(windows) && !path.exists() {
        let found = find_program(path.as_os_str(), OsStr::new(""), Path::new("/"));
        return found.unwrap_or(path);
    }
    path
}
