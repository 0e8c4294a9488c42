//! What of a plugin's programs a package can hold: those that lie in its folder, and those that are on
//! the machine by their names.

use crate::files::{Limit, read_bytes};
use crate::plugins::model::{Installation, Plugin, Runnable};
use crate::skills::content::{Content, FileContent};

/// How a package runs a program.
pub(super) enum Program {
    /// A file of the package, by its path in it.
    Bundled {
        path: String,
        /// Whether `sh` runs it.
        is_script: bool,
    },
    /// One that is found by its name.
    Named(String),
}

/// The program that the installation `name` runs, and copies what of it lies in the plugin's folder.
///
/// # Errors
/// Why a package can't run it, for people.
pub(super) fn of_installation(
    plugin: &Plugin,
    installation: &Installation,
    runnable: Option<&Runnable>,
    content: &mut Content,
) -> Result<Program, String> {
    if installation.source.is_some() || !installation.install_commands.is_empty() {
        return Err(format!("a package can't install `{}`", installation.name));
    }
    if !installation.requirements.is_empty() {
        let all = installation.requirements.join(", ");
        return Err(format!("a package can't install what it requires ({all})"));
    }
    let (path, is_script) = match runnable.or(installation.runnable.as_ref()) {
        Some(Runnable::Script(path)) => (path, true),
        Some(Runnable::Executable(path)) => (path, false),
        Some(Runnable::Shell) => return Err("it is a line for a shell".to_owned()),
        None => return Err("it says nowhere what is run".to_owned()),
    };
    if std::path::Path::new(path).is_absolute() {
        return Err(format!("`{path}` is a file of this machine"));
    }
    let path = bundle(plugin, path, content)?;
    Ok(Program::Bundled { path, is_script })
}

/// Copies a file of the plugin's folder; its path in the package.
///
/// # Errors
/// Why it can't be had, for people.
fn bundle(plugin: &Plugin, path: &str, content: &mut Content) -> Result<String, String> {
    let inside = path.trim_start_matches("./").to_owned();
    if inside.split('/').any(|part| part == "..") {
        return Err(format!("`{path}` lies outside of the plugin's folder"));
    }
    let file = plugin.resolve(path).map_err(|escape| escape.to_string())?;
    let bytes = read_bytes(&file, Limit::OURS).map_err(|error| format!("`{path}`: {error}"))?;
    // Whoever unpacks it may start it.
    content.files.insert(inside.clone(), FileContent { bytes, executable: true });
    Ok(inside)
}
