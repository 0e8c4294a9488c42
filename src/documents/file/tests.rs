use super::*;
use std::time::SystemTime;

const PATIENCE: Duration = Duration::from_secs(5);

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a temporary folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn locks(&self) -> PathBuf {
        self.path("cache/locks")
    }

    fn edit(&self, path: &Path, text: &str) -> Result<Outcome, Diagnostic> {
        edit_file(&self.locks(), path, PATIENCE, &mut |_| Ok(Change::Write(text.to_owned())))
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("has a parent")).expect("creates");
    fs::write(path, text).expect("writes");
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("reads")
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("sets the mode");
}

#[cfg(unix)]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    tempfile::tempfile().and_then(|file| file.metadata()).expect("is there").uid() == 0
}

#[test]
fn case_21_nothing_to_change_means_nothing_is_written() {
    let place = Place::new();
    let path = place.path("f");
    write(&path, "same");
    let old = SystemTime::now() - Duration::from_secs(1000);
    let file = fs::File::options().write(true).open(&path).expect("opens");
    file.set_modified(old).expect("sets the time");
    drop(file);
    let before = fs::metadata(&path).expect("is there");
    assert_eq!(place.edit(&path, "same"), Ok(Outcome::Unchanged));
    let kept = edit_file(&place.locks(), &path, PATIENCE, &mut |_| Ok(Change::Keep));
    assert_eq!(kept, Ok(Outcome::Unchanged));
    let after = fs::metadata(&path).expect("is there");
    assert_eq!(before.modified().ok(), after.modified().ok());
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        assert_eq!(before.ino(), after.ino());
    }
}

#[test]
fn a_file_is_created_with_its_folders_and_all_of_it_goes_again() {
    let place = Place::new();
    let path = place.path("a/b/f");
    let folders = vec![place.path("a"), place.path("a/b")];
    assert_eq!(place.edit(&path, "x"), Ok(Outcome::Created { folders: folders.clone() }));
    assert_eq!(place.edit(&path, "y"), Ok(Outcome::Written));
    let gone = edit_file(&place.locks(), &path, PATIENCE, &mut |text| {
        assert_eq!(text, Some("y"));
        Ok(Change::Delete)
    });
    assert_eq!(gone, Ok(Outcome::Removed));
    write(&place.path("a/mine"), "");
    assert_eq!(remove_empty_folders(&folders), [place.path("a/b")]);
    assert!(place.path("a/mine").exists());
}

#[test]
fn nothing_lies_beside_the_users_file() {
    let place = Place::new();
    let path = place.path("home/f");
    write(&path, "1");
    place.edit(&path, "2").expect("edits");
    let names: Vec<_> = fs::read_dir(place.path("home")).expect("lists").flatten().collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[cfg(unix)]
#[test]
fn case_16_case_18_links_and_modes_survive() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let place = Place::new();
    let real = place.path("dotfiles/settings.json");
    write(&real, "old");
    set_mode(&real, 0o600);
    fs::create_dir(place.path("middle")).expect("creates");
    fs::create_dir(place.path("home")).expect("creates");
    symlink("../dotfiles/settings.json", place.path("middle/hop")).expect("links");
    symlink("../middle/hop", place.path("home/settings.json")).expect("links");
    // Only the last folder is written to.
    set_mode(&place.path("middle"), 0o555);
    set_mode(&place.path("home"), 0o555);
    let outcome = place.edit(&place.path("home/settings.json"), "new");
    set_mode(&place.path("middle"), 0o755);
    set_mode(&place.path("home"), 0o755);
    assert_eq!(outcome, Ok(Outcome::Written));
    assert!(place.path("home/settings.json").is_symlink());
    assert!(place.path("middle/hop").is_symlink());
    assert_eq!(read(&real), "new");
    assert_eq!(fs::metadata(&real).expect("is there").permissions().mode() & 0o777, 0o600);
}

#[cfg(unix)]
#[test]
fn case_16_a_link_to_nothing_gets_its_target_and_two_paths_share_a_lock() {
    let place = Place::new();
    fs::create_dir(place.path("dotfiles")).expect("creates");
    std::os::unix::fs::symlink("dotfiles/f", place.path("link")).expect("links");
    let created = place.edit(&place.path("link"), "x");
    assert_eq!(created, Ok(Outcome::Created { folders: Vec::new() }));
    assert_eq!(read(&place.path("dotfiles/f")), "x");
    place.edit(&place.path("dotfiles/f"), "y").expect("edits");
    assert_eq!(fs::read_dir(place.locks()).expect("lists").count(), 1);
    let gone =
        edit_file(&place.locks(), &place.path("link"), PATIENCE, &mut |_| Ok(Change::Delete));
    assert_eq!(gone, Ok(Outcome::Removed));
    assert!(place.path("link").is_symlink());
}

#[cfg(unix)]
#[test]
fn a_writable_file_in_a_read_only_folder_is_rewritten_and_a_read_only_file_refused() {
    if is_root() {
        // Root may write everywhere; the modes mean nothing.
        return;
    }
    let place = Place::new();
    let path = place.path("home/f");
    write(&path, "a longer text");
    set_mode(&place.path("home"), 0o555);
    let outcome = place.edit(&path, "short");
    set_mode(&place.path("home"), 0o755);
    assert_eq!(outcome, Ok(Outcome::Written));
    assert_eq!(read(&path), "short");
    set_mode(&path, 0o444);
    let refusal = place.edit(&path, "x").expect_err("refused").to_string();
    assert!(refusal.contains("can't write"), "{refusal}");
    assert_eq!(read(&path), "short");
}

#[test]
fn case_22_without_a_place_for_locks_we_go_on() {
    let place = Place::new();
    write(&place.path("blocked"), "a file where the folder should be");
    let path = place.path("f");
    let outcome = edit_file(&place.path("blocked/locks"), &path, PATIENCE, &mut |_| {
        Ok(Change::Write("x".to_owned()))
    });
    assert_eq!(outcome, Ok(Outcome::Created { folders: Vec::new() }));
}

#[test]
fn what_is_no_sound_file_is_refused() {
    let place = Place::new();
    fs::create_dir(place.path("folder")).expect("creates");
    fs::write(place.path("latin"), b"a\nb\xe4").expect("writes");
    let big = fs::File::create(place.path("big")).expect("creates");
    big.set_len(10 * 1024 * 1024 + 1).expect("grows");
    for (name, words) in
        [("folder", "not a file"), ("latin:2:2", "not UTF-8"), ("big", "larger than 10 MB")]
    {
        let file = name.split(':').next().unwrap_or_default();
        let refusal = place.edit(&place.path(file), "x").expect_err("refused").to_string();
        assert!(refusal.contains(words) && refusal.contains(name), "{refusal}");
    }
    assert_eq!(fs::read(place.path("latin")).expect("reads"), b"a\nb\xe4");
}

#[test]
fn a_refusal_leaves_the_file_and_makes_no_folder() {
    let place = Place::new();
    let path = place.path("a/f");
    let refuse = &mut |_: Option<&str>| Err(Diagnostic::error("no"));
    assert!(edit_file(&place.locks(), &path, PATIENCE, refuse).is_err());
    assert!(!place.path("a").exists());
}

#[test]
fn case_20_a_half_written_file_is_read_again_until_it_is_whole() {
    let place = Place::new();
    let path = place.path("f");
    write(&path, "half");
    let mut seen = Vec::new();
    let outcome = edit_file(&place.locks(), &path, PATIENCE, &mut |text| {
        seen.push(text.unwrap_or_default().to_owned());
        match seen.len() {
            1 => Err(Diagnostic::error("does not parse")),
            // Emptied, to be written anew.
            2 => {
                write(&path, "");
                Err(Diagnostic::error("does not parse"))
            }
            3 => {
                write(&path, "whole");
                Ok(Change::Write("lost".to_owned()))
            }
            _ => Ok(Change::Write("edited".to_owned())),
        }
    });
    assert_eq!(outcome, Ok(Outcome::Written));
    assert_eq!(seen, ["half", "half", "", "whole"]);
}

#[test]
fn a_file_that_stays_broken_is_given_up_with_the_message() {
    let place = Place::new();
    let path = place.path("f");
    write(&path, "broken");
    let mut looks = 0;
    let outcome = edit_file(&place.locks(), &path, PATIENCE, &mut |_| {
        looks += 1;
        Err(Diagnostic::error("does not parse"))
    });
    let refusal = outcome.expect_err("refused").to_string();
    assert!(refusal.starts_with("does not parse; it was changed a moment ago"), "{refusal}");
    assert!(looks > 2);
}

#[test]
fn case_20_what_another_program_wrote_meanwhile_is_the_base_of_a_new_edit() {
    let place = Place::new();
    let path = place.path("f");
    write(&path, "1");
    let mut rounds = 0;
    let outcome = edit_file(&place.locks(), &path, PATIENCE, &mut |text| {
        rounds += 1;
        let text = text.unwrap_or_default().to_owned();
        if rounds <= 2 {
            write(&path, &format!("{text}+theirs"));
        }
        Ok(Change::Write(format!("{text}+ours")))
    });
    assert_eq!(outcome, Ok(Outcome::Written));
    assert_eq!(read(&path), "1+theirs+theirs+ours");
}

#[test]
fn a_file_that_never_holds_still_is_given_up_on() {
    let place = Place::new();
    let path = place.path("f");
    write(&path, "0");
    let mut rounds = 0;
    let outcome = edit_file(&place.locks(), &path, PATIENCE, &mut |_| {
        rounds += 1;
        write(&path, &rounds.to_string());
        Ok(Change::Write("ours".to_owned()))
    });
    let refusal = outcome.expect_err("given up").to_string();
    assert!(refusal.contains("keeps changing"), "{refusal}");
    assert_eq!(read(&path), rounds.to_string());
}

#[test]
fn a_held_lock_is_waited_for_no_longer_than_said() {
    let place = Place::new();
    let path = place.path("f");
    let lock = place.locks().join(lock_name(&path));
    let _held = Lock::acquire(&lock, Duration::ZERO).expect("free");
    let started = std::time::Instant::now();
    let patience = Duration::from_millis(30);
    let outcome = edit_file(&place.locks(), &path, patience, &mut |_| Ok(Change::Keep));
    assert!(outcome.expect_err("busy").to_string().contains("another process"));
    assert!(started.elapsed() < Duration::from_secs(3));
}
