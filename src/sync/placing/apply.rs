//! Carrying out a plan. Nothing is decided here.
//!
//! A skill folder is built beside its place under a name of ours and renamed into it, so that an
//! agent never sees half of one. Foreign files in the folder that it replaces are moved into it. What
//! a kill leaves behind is put right by the next run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::marker::{MARKER, STAGING, overlap};
use super::observe::files_by_owner;
use super::plan::{Plan, Step};
use crate::Symposium;
use crate::files::{remove_file, rename};
use crate::report::{Action, Change, Place};
use crate::skills::content::Content;
use crate::sync::bounds::{self, Bounds};
use crate::text::Diagnostic;

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

/// As [`apply`]. What fails is told, and taken out of `changes`, which are those of skills; the others
/// are marked as done. Whether something failed.
pub(crate) fn apply_and_tell(
    sym: &Symposium,
    plan: &Plan,
    bounds: Option<&Bounds>,
    changes: &mut Vec<Change>,
) -> bool {
    // What is wrong with a folder is wrong for each skill in it.
    let mut failures: Vec<(Action, String, Vec<&str>)> = Vec::new();
    for Done { step, result } in apply(plan, bounds) {
        let Err(error) = result else { continue };
        let refused = error.kind() == io::ErrorKind::PermissionDenied;
        let remedy = if refused { "; make the folder writable for you" } else { "" };
        let problem = format!("{error}{remedy}");
        match failures.iter_mut().find(|(action, why, _)| *action == step.action && *why == problem)
        {
            Some((.., names)) => names.push(&step.name),
            None => failures.push((step.action, problem, vec![&step.name])),
        }
        let place = Place::Folder(step.parent.shown.clone());
        let is_meant = |change: &Change| change.action == step.action && change.name == step.name;
        for change in changes.iter_mut().filter(|change| is_meant(change)) {
            change.places.retain(|known| *known != place);
        }
    }
    changes.retain(|change| !change.places.is_empty());
    changes.iter_mut().for_each(|change| change.planned = false);
    for (action, problem, names) in &failures {
        let verb = action.future().to_lowercase();
        let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        let word = if names.len() == 1 { "skill" } else { "skills" };
        let message = format!("can't {verb} the {word} {}: {problem}", names.join(", "));
        sym.report.diagnostic(&Diagnostic::error(message));
    }
    !failures.is_empty()
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
    // What keeps it from being made is the matter of the folder around it.
    fs::create_dir(&staged).map_err(|error| named(parent, &error))?;
    let built = check().and_then(|()| write_files(&staged, content)).and_then(|()| {
        check()?;
        let old = staging(parent, "old", name);
        settle(&old, target)?;
        match rename(target, &old) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(named(target, &error)),
        }
        if let Err(error) = rename(&staged, target) {
            let _ = rename(&old, target);
            return Err(named(target, &error));
        }
        settle(&old, target)
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
    if let Some(leftover) = name.strip_prefix(STAGING) {
        return match leftover.strip_prefix("old-") {
            Some(skill) => settle(target, &parent.join(skill)),
            None => discard(target),
        };
    }
    // Renamed first: whoever looks sees the whole folder or none.
    let old = staging(parent, "old", name);
    settle(&old, target)?;
    match rename(target, &old) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(named(parent, &error));
        }
        Err(error) => return Err(named(target, &error)),
    }
    remove_ours(&old)?;
    if foreign_files(&old)?.is_empty() {
        return discard(&old);
    }
    rename(&old, target).map_err(|error| named(target, &error))
}

/// Moves foreign files of `old`, a folder that `target` replaced, to their places in `target`, and
/// removes the rest. Where a kill left no `target`, an old folder that has any takes its place again.
fn settle(old: &Path, target: &Path) -> io::Result<()> {
    if old.symlink_metadata().is_err() {
        return Ok(());
    }
    let foreign = foreign_files(old)?;
    if !foreign.is_empty() && target.symlink_metadata().is_err() {
        return rename(old, target).map_err(|error| named(target, &error));
    }
    let (ours, _) = if foreign.is_empty() { Default::default() } else { files_by_owner(target)? };
    // What is ours now and was not before was replaced because the user said so.
    for path in foreign.iter().filter(|path| !ours.iter().any(|our| overlap(our, path))) {
        let place = target.join(path);
        if place.symlink_metadata().is_ok() {
            let message = format!("it came back meanwhile; the older one is in {}", old.display());
            return Err(named(&place, &io::Error::other(message)));
        }
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
        }
        rename(&old.join(path), &place).map_err(|error| named(&place, &error))?;
    }
    remove_ours(old)?;
    discard(old)
}

fn foreign_files(dir: &Path) -> io::Result<Vec<String>> {
    Ok(files_by_owner(dir).map_err(|error| named(dir, &error))?.1)
}

/// Removes our files from a folder, and folders that are empty then. The marker goes last: without it
/// nothing in the folder is known to be ours.
fn remove_ours(dir: &Path) -> io::Result<()> {
    let (marker, mut ours): (Vec<_>, Vec<_>) =
        files_by_owner(dir)?.0.into_iter().partition(|path| path == MARKER);
    ours.extend(marker);
    for path in &ours {
        let path = dir.join(path);
        remove_file(&path).map_err(|error| named(&path, &error))?;
    }
    for path in &ours {
        // Those that hold foreign files stay.
        let mut folders = Path::new(path).ancestors().skip(1);
        let _ = folders.try_for_each(|folder| match folder.as_os_str().is_empty() {
            true => Ok(()),
            false => fs::remove_dir(dir.join(folder)),
        });
    }
    Ok(())
}

fn staging(parent: &Path, what: &str, name: &str) -> PathBuf {
    parent.join(format!("{STAGING}{what}-{name}"))
}

fn discard(path: &Path) -> io::Result<()> {
    let result = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => remove_file(path),
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

#[cfg(test)]
mod tests {
    use super::super::marker::Marker;
    use super::*;

    /// Writes a skill folder with these files of ours and these foreign ones.
    fn skill(dir: &Path, ours: &[&str], foreign: &[&str]) {
        let files = ours.iter().map(|path| ((*path).to_owned(), String::new())).collect();
        let marker = Marker { files, ..Marker::default() };
        fs::create_dir_all(dir).expect("creates");
        fs::write(dir.join(MARKER), marker.render()).expect("writes");
        for path in ours.iter().chain(foreign) {
            let path = dir.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("creates");
            fs::write(&path, dir.display().to_string()).expect("writes");
        }
    }

    fn files(dir: &Path) -> Vec<String> {
        let Ok((ours, foreign)) = files_by_owner(dir) else { return Vec::new() };
        let mut all: Vec<String> = ours.into_iter().chain(foreign).collect();
        all.sort();
        all
    }

    #[test]
    fn after_a_kill_at_any_step_foreign_files_are_where_they_were() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (target, old) = (dir.path().join("s"), dir.path().join(".symposium-old-s"));
        let foreign = ["scripts/__pycache__/x.pyc", "notes.md"];
        // Between the two renames: the new folder is not there yet.
        skill(&old, &["SKILL.md"], &foreign);
        remove_folder(dir.path(), ".symposium-old-s", &old).expect("settles");
        let all = [".symposium", "SKILL.md", "notes.md", "scripts/__pycache__/x.pyc"];
        assert_eq!(files(&target), all);
        assert!(!old.exists());
        // After both: some are in the new one, some still in the old one.
        fs::rename(&target, &old).expect("renames");
        skill(&target, &["SKILL.md"], &[]);
        fs::rename(old.join("notes.md"), target.join("notes.md")).expect("renames");
        remove_folder(dir.path(), ".symposium-old-s", &old).expect("settles");
        assert_eq!(files(&target), all);
        assert!(!old.exists());
        let written_as = |path: &str| fs::read_to_string(target.join(path)).expect("reads");
        assert!(written_as("notes.md").ends_with("old-s"), "the same file");
        assert!(!written_as("SKILL.md").ends_with("old-s"), "the new one");
        // When all of ours was removed: the rest goes back.
        fs::rename(&target, &old).expect("renames");
        remove_ours(&old).expect("removes");
        assert_eq!(files(&old), ["notes.md", "scripts/__pycache__/x.pyc"]);
        remove_folder(dir.path(), ".symposium-old-s", &old).expect("settles");
        assert_eq!(files(&target), ["notes.md", "scripts/__pycache__/x.pyc"]);
        // One that was made again meanwhile is never overwritten, nor the older one lost.
        skill(&old, &["SKILL.md"], &["notes.md"]);
        let told = remove_folder(dir.path(), ".symposium-old-s", &old).expect_err("told");
        assert!(told.to_string().contains("notes.md"), "{told}");
        assert!(old.join("notes.md").exists() && target.join("notes.md").exists());
    }

    #[test]
    fn of_a_folder_that_goes_only_foreign_files_stay_whatever_its_marker_names() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let target = dir.path().join("s");
        fs::write(dir.path().join("precious"), "").expect("writes");
        skill(&target, &["SKILL.md", "scripts/run"], &["scripts/__pycache__/run.pyc"]);
        let marker = Marker::parse(&fs::read_to_string(target.join(MARKER)).expect("reads"));
        let mut named = marker.files.clone();
        named.insert("../precious".to_owned(), String::new());
        let marker = Marker { files: named, ..marker };
        fs::write(target.join(MARKER), marker.render()).expect("writes");
        remove_folder(dir.path(), "s", &target).expect("removes");
        assert_eq!(files(&target), ["scripts/__pycache__/run.pyc"]);
        assert!(dir.path().join("precious").exists());
        assert!(!dir.path().join(".symposium-old-s").exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_parent_that_became_a_link_after_the_plan_is_not_followed() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = crate::files::canonicalize(dir.path()).expect("is there").join("ws");
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
            parent: super::super::plan::Parent { path: path.clone(), shown: ".claude".to_owned() },
            files: std::sync::Arc::new(content.clone()),
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
