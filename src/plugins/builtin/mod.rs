//! The plugin that everybody has: inside the binary, put on disk where skills can be copied from.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::files::{Limit, private_folders, read_optional, without_its_name, write_if_changed};

macro_rules! file {
    ($path:literal) => {
        ($path, include_str!(concat!("files/", $path)))
    };
}

/// The files, by their path in the source.
const FILES: [(&str, &str); 3] = [
    file!("cargo-agents/SYMPOSIUM.toml"),
    file!("cargo-agents/skills/rust-change-checks/SKILL.md"),
    file!("cargo-agents/skills/rust-crate-sources/SKILL.md"),
];

/// The folder of the built-in plugin source below `cache`, written where it is missing, mended
/// where it is damaged. Its name follows its content: another version of ours has another folder.
///
/// # Errors
/// Trouble writing, with the folder in the message.
pub(crate) fn materialise(cache: &Path) -> io::Result<PathBuf> {
    let parent = cache.join("builtin");
    put_into(&parent).map_err(|error| {
        let problem = format!("can't write {}: {}", parent.display(), without_its_name(error));
        io::Error::other(problem)
    })
}

fn put_into(parent: &Path) -> io::Result<PathBuf> {
    let root = parent.join(content_hash());
    if is_whole(&root)? {
        return Ok(root);
    }
    if !root.exists() {
        private_folders(parent)?;
        let scratch = tempfile::Builder::new().prefix(".scratch-").tempdir_in(parent)?;
        let fresh = scratch.path().join("files");
        write_files(&fresh)?;
        if fs::rename(&fresh, &root).is_ok() {
            return Ok(root);
        }
        // Another process was faster.
    }
    remove_foreign(&root)?;
    write_files(&root)?;
    Ok(root)
}

fn content_hash() -> String {
    let mut hash = Sha256::new();
    for (path, text) in FILES {
        hash.update(format!("{path}\0{}\0{text}", text.len()).as_bytes());
    }
    crate::text::hex(&hash.finalize()[..8])
}

fn write_files(root: &Path) -> io::Result<()> {
    for (path, text) in FILES {
        write_if_changed(&root.join(path), text.as_bytes())?;
    }
    Ok(())
}

/// Whether every file is there as it should be, and nothing else is.
fn is_whole(root: &Path) -> io::Result<bool> {
    for (path, text) in FILES {
        let path = root.join(path);
        if path.is_symlink()
            || read_optional(&path, Limit::MANIFEST)?.as_deref() != Some(text.as_bytes())
        {
            return Ok(false);
        }
    }
    Ok(foreign_entries(root)?.is_empty())
}

/// What is in the folder and not ours: it would be copied along with a skill.
fn foreign_entries(root: &Path) -> io::Result<Vec<PathBuf>> {
    let is_ours = |path: &Path, is_dir: bool| {
        FILES.iter().any(|(file, _)| {
            let file = root.join(file);
            if is_dir { file.starts_with(path) } else { file == path }
        })
    };
    let mut found = Vec::new();
    let mut walk = walkdir::WalkDir::new(root).min_depth(1).into_iter();
    while let Some(entry) = walk.next() {
        let entry = entry?;
        let is_dir = entry.file_type().is_dir();
        if entry.file_type().is_symlink() || !is_ours(entry.path(), is_dir) {
            found.push(entry.path().to_path_buf());
            if is_dir {
                walk.skip_current_dir();
            }
        }
    }
    Ok(found)
}

fn remove_foreign(root: &Path) -> io::Result<()> {
    for path in foreign_entries(root)? {
        if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(&path)?;
        } else {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_once_and_mended_when_damaged() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = materialise(dir.path()).expect("writes");
        assert_eq!(materialise(dir.path()).expect("reads"), root);
        let skill = root.join(FILES[1].0);
        fs::write(&skill, "damaged").expect("writes");
        fs::write(skill.with_file_name("stranger.md"), "x").expect("writes");
        fs::create_dir_all(root.join("other/deep")).expect("creates");
        fs::remove_file(root.join(FILES[0].0)).expect("removes");
        assert_eq!(materialise(dir.path()).expect("mends"), root);
        for (path, text) in FILES {
            assert_eq!(fs::read_to_string(root.join(path)).expect("reads"), text);
        }
        assert!(foreign_entries(&root).expect("reads").is_empty());
        let left = fs::read_dir(dir.path().join("builtin")).expect("reads").count();
        assert_eq!(left, 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_place_of_a_file_is_replaced_and_its_target_left_alone() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = materialise(dir.path()).expect("writes");
        let skill = root.join(FILES[1].0);
        let target = dir.path().join("mine");
        fs::write(&target, "mine").expect("writes");
        fs::remove_file(&skill).expect("removes");
        std::os::unix::fs::symlink(&target, &skill).expect("links");
        materialise(dir.path()).expect("mends");
        assert!(!skill.is_symlink());
        assert_eq!(fs::read_to_string(&target).expect("reads"), "mine");
    }

    #[test]
    fn two_at_once_agree() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| materialise(dir.path()).expect("writes"))).collect();
            for thread in threads {
                let root = thread.join().expect("ends");
                assert!(is_whole(&root).expect("reads"));
            }
        });
    }

    #[test]
    fn its_skills_keep_the_rules_of_agentskills_io() {
        for (path, text) in FILES.iter().filter(|(path, _)| path.ends_with("SKILL.md")) {
            let folder = path.rsplit('/').nth(1).expect("a folder");
            let rest = text.strip_prefix("---\n").expect("frontmatter");
            let (front, body) = rest.split_once("\n---\n").expect("an end of the frontmatter");
            let front: serde_yaml::Value = serde_yaml::from_str(front).expect("YAML");
            assert_eq!(front["name"].as_str(), Some(folder));
            let description = front["description"].as_str().expect("a description");
            assert!(description.chars().count() <= 1024, "{path}");
            assert!(description.contains("Use"), "{path}: says when to use it");
            assert!(body.lines().count() < 150, "{path}");
        }
    }
}
