use std::fs::{self, File, FileTimes};
use std::thread::sleep;

use super::*;

/// Longer than a tick: what was written before is old afterwards.
fn age() {
    sleep(Duration::from_nanos(TICK_NS.unsigned_abs()) + Duration::from_millis(5));
}

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

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
        fs::write(path, text).expect("writes");
    }

    fn print(&self, names: &[&str]) -> Fingerprint {
        Fingerprint::of(names.iter().map(|name| self.path(name)))
    }
}

fn set_mtime(path: &Path, time: SystemTime) {
    let file = File::options().write(true).open(path).expect("opens");
    file.set_times(FileTimes::new().set_modified(time)).expect("sets the time");
}

#[test]
fn f70_unchanged_holds_and_costs_no_reading_once_old() {
    let place = Place::new();
    place.write("lock", "one");
    age();
    let print = place.print(&["lock", "missing", "."]);
    assert!(print.holds());
    assert!(!print.inputs.values().any(FileState::is_racy));
}

/// What a sync was made from was often written right before it, by cargo or an editor.
#[cfg(unix)]
#[test]
fn f70_what_was_new_when_it_was_observed_costs_no_reading_once_old() {
    let place = Place::new();
    place.write("lock", "one");
    place.write("crates/a/Cargo.toml", "");
    let print = place.print(&["lock", "crates"]);
    assert_eq!(print.inputs.values().filter(|state| state.is_racy()).count(), 2);
    print.wait_until_old();
    let settled = print.settled();
    assert!(!settled.inputs.values().any(FileState::is_racy));
    assert!(settled.holds());
}

/// Settling must not make the state of today out of that of the observation.
#[test]
fn what_changed_before_it_was_old_does_not_settle() {
    let place = Place::new();
    place.write("lock", "one");
    place.write("crates/a/Cargo.toml", "");
    for change in ["lock", "crates/b/Cargo.toml"] {
        let print = place.print(&["lock", "crates"]);
        place.write(change, "two");
        age();
        assert!(!print.settled().holds(), "{change}");
    }
}

#[cfg(unix)]
#[test]
fn a_rewrite_of_the_same_length_with_its_mtime_set_back_is_seen() {
    let place = Place::new();
    place.write("lock", "one");
    age();
    let print = place.print(&["lock"]);
    let before = fs::metadata(place.path("lock")).expect("is there").modified().expect("has one");
    place.write("lock", "two");
    set_mtime(&place.path("lock"), before);
    assert!(!print.holds());
}

#[test]
fn an_edit_within_the_same_tick_is_seen() {
    for _ in 0..500 {
        let place = Place::new();
        place.write("lock", "one");
        let print = place.print(&["lock"]);
        place.write("lock", "two");
        assert!(!print.holds());
    }
}

#[test]
fn an_entry_added_within_the_same_tick_is_seen() {
    for _ in 0..200 {
        let place = Place::new();
        place.write("crates/a/Cargo.toml", "");
        let print = place.print(&["crates"]);
        place.write("crates/b/Cargo.toml", "");
        assert!(!print.holds());
    }
}

#[test]
fn whole_seconds_count_as_racy_for_longer() {
    let now = 1_000 * SECOND_NS + 700_000_000;
    let stat = |stamp| Stat { length: 0, mtime: stamp, ctime: stamp, inode: 0, device: 0 };
    assert!(stat(1_000 * SECOND_NS).is_racy(now));
    assert!(stat(999 * SECOND_NS).is_racy(now));
    assert!(stat(now + SECOND_NS).is_racy(now), "the future is racy");
    assert!(stat(now).is_racy(now));
    if cfg!(unix) {
        assert!(!stat(998 * SECOND_NS).is_racy(now));
        assert!(!stat(1_000 * SECOND_NS + 1).is_racy(now));
    }
}

#[test]
fn replaced_deleted_created_and_retyped_are_seen() {
    let place = Place::new();
    place.write("file", "one");
    place.write("other", "one");
    age();
    let print = place.print(&["file"]);
    fs::rename(place.path("other"), place.path("file")).expect("renames");
    assert!(!print.holds() || cfg!(not(unix)), "another file of the same content");
    let print = place.print(&["file", "missing"]);
    place.write("missing", "");
    assert!(!print.holds());
    let print = place.print(&["file"]);
    fs::remove_file(place.path("file")).expect("removes");
    assert!(!print.holds());
    let print = place.print(&["file"]);
    fs::create_dir(place.path("file")).expect("creates");
    assert!(!print.holds());
}

#[test]
fn f70_a_new_member_that_a_glob_matches_is_seen_and_our_own_files_are_not() {
    let place = Place::new();
    place.write("crates/a/Cargo.toml", "");
    age();
    let print = place.print(&["crates", "crates/a/Cargo.toml"]);
    place.write("crates/a/.agents/skills/x/SKILL.md", "");
    assert!(print.holds());
    place.write("crates/.tmp", "");
    fs::remove_file(place.path("crates/.tmp")).expect("removes");
    assert!(print.holds(), "the times differ, the entries don't");
    place.write("crates/b/Cargo.toml", "");
    assert!(!print.holds());
}

#[test]
fn an_entry_that_becomes_a_folder_is_seen() {
    let place = Place::new();
    place.write("crates/a", "");
    age();
    let print = place.print(&["crates"]);
    fs::remove_file(place.path("crates/a")).expect("removes");
    fs::create_dir(place.path("crates/a")).expect("creates");
    assert!(!print.holds());
}

#[cfg(unix)]
#[test]
fn a_link_pointed_elsewhere_is_seen() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    place.write("one/file", "same");
    place.write("two/file", "same");
    symlink("one", place.path("link")).expect("links");
    age();
    let print = place.print(&["link/file"]);
    assert!(print.holds());
    fs::remove_file(place.path("link")).expect("removes");
    symlink("two", place.path("link")).expect("links");
    assert!(!print.holds());
}

#[cfg(unix)]
#[test]
fn pipes_do_not_make_us_wait() {
    let place = Place::new();
    symposium_testlib::make_pipe(&place.path("pipe"));
    let print = place.print(&["pipe"]);
    assert!(print.holds());
}

#[test]
fn observations_that_differ_never_hold_together() {
    let place = Place::new();
    place.write("a", "one");
    place.write("b", "one");
    age();
    let mut print = place.print(&["a"]);
    print.merge(place.print(&["a", "b"]));
    assert!(print.holds());
    assert_eq!(print.paths().count(), 2);
    place.write("a", "other");
    let newer = place.print(&["a"]);
    assert!(newer.holds());
    print.merge(newer);
    assert!(!print.holds());
}

#[test]
fn the_first_observation_counts() {
    let place = Place::new();
    place.write("a", "one");
    let mut print = place.print(&["a"]);
    place.write("a", "two!");
    print.observe(&place.path("a"));
    assert!(!print.holds());
}

/// A small generator, so that a failure can be repeated from its seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// What a reader of the inputs would find: the contents of files, the entries of folders.
fn facts(place: &Place) -> Vec<String> {
    let show = |path: &Path| match fs::metadata(path) {
        Err(_) => "missing".to_owned(),
        Ok(data) if data.is_dir() => {
            let mut names: Vec<_> = fs::read_dir(path)
                .expect("lists")
                .map(|entry| entry.expect("an entry"))
                .map(|entry| {
                    let kind = fs::metadata(entry.path()).map(|data| data.is_dir());
                    format!("{:?}:{:?}", entry.file_name(), kind.ok())
                })
                .collect();
            names.sort();
            names.join(",")
        }
        Ok(_) => fs::read_to_string(path).expect("reads"),
    };
    INPUTS.iter().map(|name| show(&place.path(name))).collect()
}

const INPUTS: [&str; 5] = ["Cargo.toml", "Cargo.lock", "crates", "crates/a/Cargo.toml", "link"];

/// Changes something, or only seems to.
fn mutate(place: &Place, dice: &mut Dice) {
    let names = ["Cargo.toml", "Cargo.lock", "crates/a/Cargo.toml", "crates/b/Cargo.toml", "spare"];
    let name = names[usize::try_from(dice.below(5)).expect("small")];
    let path = place.path(name);
    let text = format!("{:02}", dice.below(3));
    match dice.below(9) {
        0 | 1 => place.write(name, &text),
        2 => {
            let before = fs::metadata(&path).and_then(|data| data.modified());
            place.write(name, &text);
            if let Ok(before) = before {
                set_mtime(&path, before);
            }
        }
        3 => {
            place.write("new", &text);
            let _ = fs::create_dir_all(path.parent().expect("a parent"));
            fs::rename(place.path("new"), &path).expect("renames");
        }
        4 => drop(fs::remove_file(&path)),
        5 => drop(fs::remove_dir_all(place.path("crates/b"))),
        6 => place.write("crates/a/.agents/x", &text),
        7 => {
            place.write("crates/.swap", &text);
            fs::remove_file(place.path("crates/.swap")).expect("removes");
        }
        _ => relink(place, name),
    }
}

#[cfg(unix)]
fn relink(place: &Place, name: &str) {
    let _ = fs::remove_file(place.path("link"));
    std::os::unix::fs::symlink(name, place.path("link")).expect("links");
}

#[cfg(not(unix))]
fn relink(place: &Place, name: &str) {
    place.write("link", name);
}

/// Thousands of changes, at full speed and so mostly within one tick: whenever what a reader would
/// find differs, the fingerprint must not hold; and what nobody touched must hold.
#[test]
fn for_all_changes_a_fingerprint_that_holds_tells_the_truth() {
    let mut held = 0;
    // On Windows the file system takes many times as long.
    let (seeds, enough) = if cfg!(windows) { (4, 160) } else { (20, 1000) };
    for seed in 1..=seeds {
        let place = Place::new();
        let mut dice = Dice(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed));
        for name in ["Cargo.toml", "crates/a/Cargo.toml"] {
            place.write(name, "00");
        }
        let mut print = place.print(&INPUTS);
        let mut known = facts(&place);
        for step in 0..250 {
            if dice.below(40) == 0 {
                age();
                print = print.settled();
            }
            assert!(print.holds(), "seed {seed}, step {step}: nobody touched anything");
            mutate(&place, &mut dice);
            let now = facts(&place);
            for print in [print.clone(), print.settled()] {
                if print.holds() {
                    held += 1;
                    assert_eq!(known, now, "seed {seed}, step {step}");
                }
            }
            print = place.print(&INPUTS);
            known = now;
        }
    }
    assert!(held > enough, "changes that are none must not make it stale: {held}");
}
