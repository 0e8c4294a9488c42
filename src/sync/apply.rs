//! Carrying out a plan. Nothing is decided here.
//!
//! A skill folder is built beside its place under a name of ours and renamed into it, so that an
//! agent never sees half of one; what a kill leaves behind is removed by the next run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::content::Content;
use super::plan::{Plan, Step};
use crate::report::Action;

/// How the names of folders under construction (and on their way out) start.
pub const STAGING: &str = ".symposium-";

/// What came of one step.
#[derive(Debug)]
pub struct Done<'a> {
    /// The step.
    pub step: &'a Step,
    /// What went wrong, if anything.
    pub result: io::Result<()>,
}

/// Carries out the steps in order; one that fails does not stop the others.
pub fn apply(plan: &Plan) -> Vec<Done<'_>> {
    plan.steps.iter().map(|step| Done { step, result: apply_step(step) }).collect()
}

fn apply_step(step: &Step) -> io::Result<()> {
    let target = step.parent.path.join(&step.name);
    match step.action {
        Action::Install | Action::Update | Action::Restore => {
            replace_folder(&step.parent.path, &step.name, &target, &step.files)
        }
        Action::Remove => remove_folder(&step.parent.path, &step.name, &target),
        _ => Ok(()),
    }
}

fn replace_folder(parent: &Path, name: &str, target: &Path, content: &Content) -> io::Result<()> {
    fs::create_dir_all(parent).map_err(|error| named(parent, &error))?;
    let staged = staging(parent, "new", name);
    discard(&staged)?;
    fs::create_dir(&staged).map_err(|error| named(&staged, &error))?;
    let built = write_files(&staged, content).and_then(|()| {
        let old = staging(parent, "old", name);
        discard(&old)?;
        match fs::rename(target, &old) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(named(target, &error)),
        }
        if let Err(error) = fs::rename(&staged, target) {
            let _ = fs::rename(&old, target);
            return Err(named(target, &error));
        }
        discard(&old)
    });
    if built.is_err() {
        let _ = discard(&staged);
    }
    built
}

/// Writes the files; the one that keeps git away comes first, so that no `git status` in between
/// sees the others.
fn write_files(dir: &Path, content: &Content) -> io::Result<()> {
    let (first, rest): (Vec<_>, Vec<_>) =
        content.files.iter().partition(|(path, _)| *path == ".gitignore");
    for (path, file) in first.into_iter().chain(rest) {
        let path = dir.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| named(parent, &error))?;
        }
        fs::write(&path, &file.bytes).map_err(|error| named(&path, &error))?;
        if file.executable {
            make_executable(&path).map_err(|error| named(&path, &error))?;
        }
    }
    Ok(())
}

fn remove_folder(parent: &Path, name: &str, target: &Path) -> io::Result<()> {
    if name.starts_with(STAGING) {
        return discard(target);
    }
    // Renamed first: whoever looks sees the whole folder or none.
    let old = staging(parent, "old", name);
    discard(&old)?;
    match fs::rename(target, &old) {
        Ok(()) => discard(&old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(named(target, &error)),
    }
}

fn staging(parent: &Path, what: &str, name: &str) -> PathBuf {
    parent.join(format!("{STAGING}{what}-{name}"))
}

fn discard(path: &Path) -> io::Result<()> {
    let result = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    };
    match result {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(named(path, &error)),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn make_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(path)?.permissions().mode();
    fs::set_permissions(path, fs::Permissions::from_mode(mode | 0o111))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> io::Result<()> {
    Ok(())
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
