//! Writing in one step, beside others.

use super::*;

#[test]
fn a_second_write_of_the_same_bytes_does_not_happen() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("a/b.txt");
    assert!(write_if_changed(&path, b"x").expect("writes"));
    assert!(!write_if_changed(&path, b"x").expect("reads"));
}

#[test]
fn a_file_that_changed_meanwhile_is_not_replaced() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("f");
    assert!(replace_if_same(&path, None, b"1").expect("creates"));
    assert!(!replace_if_same(&path, None, b"2").expect("looks"));
    assert!(!replace_if_same(&path, Some(b"0"), b"2").expect("looks"));
    assert_eq!(fs::read(&path).expect("reads"), b"1");
    assert!(replace_if_same(&path, Some(b"1"), b"2").expect("replaces"));
    assert_eq!(fs::read(&path).expect("reads"), b"2");
    assert_eq!(fs::read_dir(dir.path()).expect("lists").count(), 1);
}

/// On Windows that is in the way of a plain rename.
#[test]
fn a_file_that_a_program_has_open_is_replaced_and_removed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("f");
    fs::write(&path, "1").expect("writes");
    let reader = fs::File::open(&path).expect("opens");
    write_atomic(&path, b"2").expect("replaces");
    assert!(replace_if_same(&path, Some(b"2"), b"3").expect("replaces"));
    assert_eq!(fs::read(&path).expect("reads"), b"3");
    let second = fs::File::open(&path).expect("opens");
    assert!(remove_if_same(&path, b"3").expect("removes"));
    drop((reader, second));
    assert_eq!(fs::read_dir(dir.path()).expect("lists").count(), 0);
}

#[cfg(any(target_os = "linux", target_vendor = "apple", windows))]
#[test]
fn what_was_written_after_our_last_look_is_put_back() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("f");
    fs::write(&path, "theirs").expect("writes");
    let Ok(Prepared::Beside(temporary)) = prepare(&path, b"ours") else {
        panic!("the folder takes files");
    };
    assert!(!swap(temporary, &path, b"what we read", b"ours").expect("swaps"));
    assert_eq!(fs::read(&path).expect("reads"), b"theirs");
    assert_eq!(fs::read_dir(dir.path()).expect("lists").count(), 1);
}

#[cfg(any(target_os = "linux", target_vendor = "apple", windows))]
#[test]
fn what_a_program_writes_after_the_exchange_is_put_back() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("f");
    fs::write(&path, "before").expect("writes");
    // It opened the file, and writes when ours is in its place.
    let mut theirs = fs::OpenOptions::new().write(true).open(&path).expect("opens");
    let done = std::thread::scope(|scope| {
        let ours = scope.spawn(|| replace_if_same(&path, Some(b"before"), b"ours"));
        while fs::read(&path).expect("reads") != b"ours" && !ours.is_finished() {
            std::thread::yield_now();
        }
        theirs.write_all(b"theirs").expect("writes");
        drop(theirs);
        ours.join().expect("no panic").expect("writes")
    });
    assert!(!done);
    assert_eq!(fs::read(&path).expect("reads"), b"theirs");
    assert_eq!(fs::read_dir(dir.path()).expect("lists").count(), 1);
}

#[cfg(unix)]
#[test]
fn what_a_program_writes_after_a_plain_rename_is_put_back() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("f");
    fs::write(&path, "before").expect("writes");
    let ours = || {
        let Ok(Prepared::Beside(temporary)) = prepare(&path, b"ours") else {
            panic!("the folder takes files");
        };
        rename_over(temporary.into_temp_path(), &path, b"before", b"ours").expect("renames")
    };
    // It opened the file, and writes when ours is in its place.
    let mut theirs = fs::OpenOptions::new().write(true).open(&path).expect("opens");
    let done = std::thread::scope(|scope| {
        let ours = scope.spawn(ours);
        while fs::read(&path).expect("reads") != b"ours" && !ours.is_finished() {
            std::thread::yield_now();
        }
        theirs.write_all(b"theirs").expect("writes");
        drop(theirs);
        ours.join().expect("no panic")
    });
    assert!(!done);
    assert_eq!(fs::read(&path).expect("reads"), b"theirs");
    fs::write(&path, "before").expect("writes");
    assert!(ours());
    assert_eq!(fs::read(&path).expect("reads"), b"ours");
    assert_eq!(fs::read_dir(dir.path()).expect("lists").count(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_somebody_is_about_to_write_is_not_removed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("f");
    // The other one writes within the quiet moment, unless the machine keeps it waiting: then the
    // race was lost in earnest, and is run again.
    let stayed = (0..20).any(|_| {
        fs::write(&path, "before").expect("writes");
        let mut theirs = fs::OpenOptions::new().write(true).open(&path).expect("opens");
        std::thread::scope(|scope| {
            let ours = scope.spawn(|| remove_if_same(&path, b"before"));
            std::thread::sleep(Duration::from_millis(2));
            theirs.write_all(b"theirs").expect("writes");
            drop(theirs);
            !ours.join().expect("no panic").expect("looks")
        })
    });
    assert!(stayed, "it was removed each time");
    assert!(!remove_if_same(&path, b"before").expect("looks"));
    assert_eq!(fs::read(&path).expect("reads"), b"theirs");
    assert!(remove_if_same(&path, b"theirs").expect("removes"));
    assert!(!remove_if_same(&path, b"theirs").expect("looks"), "it is gone");
}

#[test]
fn rewriting_in_place_leaves_nothing_of_a_longer_text() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("f");
    fs::write(&path, "a longer text").expect("writes");
    rewrite(&path, b"short").expect("writes");
    assert_eq!(fs::read(&path).expect("reads"), b"short");
}

#[test]
fn what_a_killed_process_left_is_swept_up() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("f");
    let Ok(Prepared::Beside(held)) = prepare(&path, b"") else {
        panic!("the folder takes files");
    };
    let left = dir.path().join(".symposium-b.tmp");
    fs::write(&left, "").expect("writes");
    let hour = Duration::from_secs(3600);
    sweep_older(dir.path(), hour, hour);
    assert!(left.exists(), "it is young");
    sweep_older(dir.path(), Duration::ZERO, hour);
    assert_eq!(left.exists(), !cfg!(unix), "nobody holds it");
    assert!(held.path().exists(), "in use");
    sweep_older(dir.path(), Duration::ZERO, Duration::ZERO);
    assert!(!left.exists(), "old ones go in any case");
}

#[cfg(unix)]
#[test]
fn a_new_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().expect("a temporary folder");
    write_atomic(&dir.path().join("one"), b"").expect("writes");
    assert_eq!(replace_if_same(&dir.path().join("two"), None, b"").ok(), Some(true));
    for name in ["one", "two"] {
        let mode = fs::metadata(dir.path().join(name)).expect("is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[cfg(unix)]
#[test]
fn mode_and_symbolic_links_survive() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let dir = tempfile::tempdir().expect("a temporary folder");
    let real = dir.path().join("real.txt");
    fs::write(&real, "old").expect("writes");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).expect("sets the mode");
    symlink("real.txt", dir.path().join("hop")).expect("links");
    symlink("hop", dir.path().join("link")).expect("links");
    write_atomic(&dir.path().join("link"), b"new").expect("writes");
    assert!(dir.path().join("link").is_symlink());
    assert_eq!(fs::read(&real).expect("reads"), b"new");
    let mode = fs::metadata(&real).expect("is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
