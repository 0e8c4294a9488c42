//! Carrying out a plan. Nothing is decided here.
//!
//! A skill folder is built beside its place under a name of ours and renamed into it, so that an
//! agent never sees half of one; what a kill leaves behind is removed by the next run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::plan::{Plan, Step};
use crate::Symposium;
use crate::report::{Action, Change};
use crate::skills::content::Content;
use crate::sync::bounds::{self, Bounds};
use crate::text::Diagnostic;

/// How the names of folders under construction (and on their way out) start.
pub(crate) const STAGING: &str = ".symposium-";

/// What came of one step.
#[derive(Debug)]
struct Done<'a> {
    step: &'a Step,
    /// What went wrong, if anything.
    result: io::Result<()>,
}

/// Carries out the steps in order; one that fails does not stop the others.
fn apply<'p>(plan: &'p Plan, bounds: Option<&Bounds>) -> Vec<Done<'p>> {
    plan.steps.iter().map(|step| Done { step, result: apply_step(step, bounds) }).collect()
}

/// As [`apply`]. What fails is told, and taken out of `changes`; the others are marked as done. Whether
/// something failed.
pub(crate) fn apply_and_tell(
    sym: &Symposium,
    plan: &Plan,
    bounds: Option<&Bounds>,
    changes: &mut Vec<Change>,
) -> bool {
    let mut failed = false;
    for done in apply(plan, bounds) {
        if let Err(error) = done.result {
            failed = true;
            let (verb, name) = (done.step.action.future().to_lowercase(), &done.step.name);
            sym.report.diagnostic(&Diagnostic::error(format!(
                "can't {verb} the skill `{name}`: {error}"
            )));
            changes.retain(|change| change.name != *name);
        }
    }
    changes.iter_mut().for_each(|change| change.planned = false);
    failed
}

fn apply_step(step: &Step, bounds: Option<&Bounds>) -> io::Result<()> {
    let parent = &step.parent.path;
    let target = parent.join(&step.name);
    // Right before each effect: the folder may have become a link since it was looked at.
    let check = || {
        let checked = bounds::check(bounds, parent);
        checked.map_err(|refused| io::Error::other(refused.to_string()))
    };
    match step.action {
        Action::Install | Action::Update | Action::Restore => {
            replace_folder(parent, &step.name, &target, &step.files, &check)
        }
        Action::Remove => check().and_then(|()| remove_folder(parent, &step.name, &target)),
        _ => Ok(()),
    }
}

fn replace_folder(
    parent: &Path,
    name: &str,
    target: &Path,
    content: &Content,
    check: &dyn Fn() -> io::Result<()>,
) -> io::Result<()> {
    check()?;
    fs::create_dir_all(parent).map_err(|error| named(parent, &error))?;
    let staged = staging(parent, "new", name);
    discard(&staged)?;
    fs::create_dir(&staged).map_err(|error| named(&staged, &error))?;
    let built = check().and_then(|()| write_files(&staged, content)).and_then(|()| {
        check()?;
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
    if built.is_err() && check().is_ok() {
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

#[cfg(all(test, unix))]
mod tests {
    use super::super::plan::Parent;
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_parent_that_became_a_link_after_the_plan_is_not_followed() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = dunce::canonicalize(dir.path()).expect("is there").join("ws");
        let path = root.join(".claude/skills");
        let elsewhere = root.with_file_name("elsewhere");
        fs::create_dir_all(elsewhere.join("skills/s")).expect("creates");
        fs::create_dir_all(&root).expect("creates");
        let bounds = Bounds::of(&root, None);
        let mut content = Content::default();
        content.files.insert("SKILL.md".to_owned(), crate::skills::content::FileContent::text("x"));
        let step = |action| Step {
            action,
            name: "s".to_owned(),
            parent: Parent { path: path.clone(), shown: ".claude".to_owned() },
            files: Arc::new(content.clone()),
            origin: None,
            reason: None,
            silent: false,
        };
        let steps = vec![step(Action::Install), step(Action::Remove)];
        let plan = Plan { steps, ..Plan::default() };
        // The folder was looked at; now it is a link.
        std::os::unix::fs::symlink(&elsewhere, root.join(".claude")).expect("links");
        for done in apply(&plan, bounds.as_ref()) {
            let told = done.result.expect_err("refused").to_string();
            assert!(told.contains("`.claude` is a link to"), "{told}");
        }
        assert!(elsewhere.join("skills/s").is_dir());
        assert_eq!(fs::read_dir(elsewhere.join("skills/s")).expect("lists").count(), 0);
        fs::remove_file(root.join(".claude")).expect("removes");
        assert!(apply(&plan, bounds.as_ref()).iter().all(|done| done.result.is_ok()));
    }
}
