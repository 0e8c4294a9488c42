//! Checkouts as git itself makes them.

use symposium_testlib::run_git;

use super::*;

struct World(tempfile::TempDir);

impl World {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self, relative: &str) -> PathBuf {
        crate::files::canonicalize(self.0.path()).expect("is there").join(relative)
    }

    fn write(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().expect("has a parent")).expect("creates");
        fs::write(path, text).expect("writes");
    }

    fn git(&self, folder: &str, args: &[&str]) {
        self.git_reading(folder, args, "");
    }

    fn git_reading(&self, folder: &str, args: &[&str], stdin: &str) {
        fs::create_dir_all(self.path(folder)).expect("creates");
        let settings =
            ["-c", "protocol.file.allow=always", "-c", "splitIndex.maxPercentChange=100"];
        let args = [settings.as_slice(), args].concat();
        run_git(&self.path(folder), self.0.path(), &args, stdin.as_bytes());
    }

    /// A repository in `main` that tracks two files, and has a third that it does not.
    fn repository(args: &[&str]) -> Self {
        let world = Self::new();
        world.git("main", &[&["init", "-q"], args].concat());
        for file in ["main/.gemini/settings.json", "main/a/b.json", "main/c.json"] {
            world.write(file, "{}");
        }
        world.git("main", &["add", ".gemini", "a"]);
        world.git("main", &["commit", "-qm", "x"]);
        world
    }

    fn tracking(&self, relative: &str) -> Tracking {
        tracking(&self.path(relative), Limit::INDEX)
    }

    fn is_tracked(&self, relative: &str) -> bool {
        match self.tracking(relative) {
            Tracking::Tracked { .. } => true,
            Tracking::Untracked => false,
            Tracking::Unclear(unclear) => panic!("{relative}: {}", unclear.why),
        }
    }

    fn is_unclear(&self, relative: &str) -> bool {
        matches!(self.tracking(relative), Tracking::Unclear(_))
    }

    /// All is as it was made by [`World::repository`].
    fn check(&self) {
        for (file, tracked) in [
            (".gemini/settings.json", true),
            (".gemini/settings.jso", false),
            (".gemini/settings.json5", false),
            ("a/b.json", true),
            ("b.json", false),
            ("c.json", false),
            ("new/folder/c.json", false),
            // Something that git tracks is in the way of this one.
            ("a/b.json/c", true),
        ] {
            assert_eq!(self.is_tracked(&format!("main/{file}")), tracked, "{file}");
        }
    }
}

#[test]
fn each_form_of_the_index_is_read() {
    World::repository(&[]).check();
    World::repository(&["--object-format=sha256"]).check();
    for version in ["2", "3", "4"] {
        let world = World::repository(&[]);
        world.git("main", &["update-index", "--index-version", version]);
        world.check();
        // This needs a flag more, so version 2 becomes 3.
        world.git("main", &["update-index", "--skip-worktree", "a/b.json"]);
        world.check();
        world.git("main", &["add", "--intent-to-add", "c.json"]);
        assert!(world.is_tracked("main/c.json"));
        let long = format!("{}d", "long/".repeat(700));
        let list = format!("100644 {}\t{long}\n", "1".repeat(40));
        world.git_reading("main", &["update-index", "--index-info"], &list);
        assert!(world.is_tracked(&format!("main/{long}")), "version {version}");
        assert!(!world.is_tracked(&format!("main/{long}e")), "version {version}");
    }
}

#[test]
fn a_file_is_as_staged_until_it_is_written_again() {
    for form in [&[][..], &["--object-format=sha256"]] {
        for version in ["2", "4"] {
            let world = World::repository(form);
            world.git("main", &["update-index", "--index-version", version]);
            let as_staged = |file| world.tracking(file) == (Tracking::Tracked { as_staged: true });
            assert!(as_staged("main/a/b.json"), "version {version}");
            assert!(!as_staged("main/a/b.json/c"), "version {version}");
            world.write("main/a/b.json", "[]");
            assert!(!as_staged("main/a/b.json"), "version {version}");
            world.git("main", &["add", "a"]);
            assert!(as_staged("main/a/b.json"), "version {version}");
        }
    }
}

#[test]
fn a_split_index_is_read_with_its_other_half() {
    let world = World::repository(&[]);
    world.git("main", &["update-index", "--split-index"]);
    world.check();
    world.write("main/.gemini/settings.json", "{\"changed\": 1}");
    world.git("main", &["add", ".gemini"]);
    world.write("main/d.json", "{}");
    world.git("main", &["add", "d.json"]);
    assert!(world.is_tracked("main/d.json"));
    world.check();
    for entry in fs::read_dir(world.path("main/.git")).expect("lists").flatten() {
        if entry.file_name().to_string_lossy().starts_with("sharedindex") {
            fs::remove_file(entry.path()).expect("removes");
        }
    }
    assert!(world.is_tracked("main/d.json"));
    assert!(world.is_unclear("main/.gemini/settings.json") && world.is_unclear("main/c.json"));
}

#[test]
fn a_folder_that_a_sparse_index_stands_for_is_unclear() {
    let world = World::repository(&[]);
    world.git("main", &["sparse-checkout", "set", "--cone", "--sparse-index", "a"]);
    assert!(world.is_unclear("main/.gemini/settings.json"));
    assert!(world.is_tracked("main/a/b.json"));
    assert!(!world.is_tracked("main/.gemini2/settings.json"));
    assert!(!world.is_tracked("main/c.json"));
}

#[test]
fn an_index_that_is_not_whole_never_means_untracked() {
    for args in [&[][..], &["--object-format=sha256"]] {
        let world = World::repository(args);
        let index = world.path("main/.git/index");
        let whole = fs::read(&index).expect("reads");
        for length in 0..whole.len() {
            fs::write(&index, &whole[..length]).expect("writes");
            let tracking = world.tracking("main/a/b.json");
            assert_ne!(tracking, Tracking::Untracked, "{length} of {} bytes", whole.len());
        }
        // The number of entries, version, signature, extensions.
        for (place, byte) in [(11, 1), (11, 3), (7, 1), (7, 5), (0, b'd'), (8, 255)] {
            let mut damaged = whole.clone();
            damaged[place] = byte;
            fs::write(&index, damaged).expect("writes");
            assert!(world.is_unclear("main/c.json"), "{byte} at {place}");
        }
        fs::write(&index, &whole).expect("writes");
        fs::remove_file(&index).expect("removes");
        assert!(world.is_unclear("main/c.json"), "there are commits");
        fs::create_dir(&index).expect("creates");
        assert!(world.is_unclear("main/c.json"));
        world.check_exclude("main", "main/.git");
    }
}

#[test]
fn nothing_is_tracked_where_nothing_was_ever_added() {
    let world = World::new();
    world.write("none/c.json", "");
    assert!(!world.is_tracked("none/c.json"));
    world.git("main", &["init", "-q"]);
    assert!(!world.is_tracked("main/c.json"));
    // A bare repository in the way is no checkout, and an empty `.git` neither.
    world.git("main/bare", &["init", "-q", "--bare"]);
    fs::create_dir_all(world.path("main/bare/.git")).expect("creates");
    world.write("main/bare/c.json", "");
    world.git("main", &["add", "bare/c.json"]);
    assert!(world.is_tracked("main/bare/c.json"));
    assert!(!world.is_tracked("main/bare/config"));
    // Nor does one that is new hide what the one around it has.
    world.write("main/bare/.git/HEAD", "ref: refs/heads/main\n");
    assert!(world.is_tracked("main/bare/c.json"));
    assert!(!world.is_tracked("main/bare/config"));
}

impl World {
    fn check_exclude(&self, checkout: &str, git: &str) {
        let found = find(&self.path(checkout).join("src")).expect("a checkout");
        assert_eq!(found.top, self.path(checkout));
        assert_eq!(found.exclude(), Ok(self.path(git).join("info/exclude")));
    }

    fn is_foreign(&self, checkout: &str) -> bool {
        let found = find(&self.path(checkout)).expect("a checkout");
        assert_eq!(found.top, self.path(checkout));
        assert!(self.is_unclear(&format!("{checkout}/c.json")));
        found.exclude().is_err()
    }
}

#[test]
fn linked_checkouts_and_submodules_are_followed() {
    let world = World::repository(&[]);
    world.git("main", &["worktree", "add", "-q", "../two"]);
    world.check_exclude("main", "main/.git");
    world.check_exclude("two", "main/.git");
    assert!(world.is_tracked("two/a/b.json") && !world.is_tracked("two/c.json"));
    world.git("two", &["rm", "-q", "--cached", "a/b.json"]);
    assert!(world.is_tracked("main/a/b.json") && !world.is_tracked("two/a/b.json"));

    world.git("super", &["init", "-q"]);
    world.git("super", &["submodule", "--quiet", "add", "../main", "sub/one"]);
    world.git("super", &["commit", "-qm", "x"]);
    for _ in 0..2 {
        world.check_exclude("super/sub/one", "super/.git/modules/sub/one");
        assert!(world.is_tracked("super/sub/one/a/b.json"));
        assert!(!world.is_tracked("super/sub/one/c.json"));
        // `core.worktree` moves to a file of its own.
        world.git("super/sub/one", &["config", "extensions.worktreeConfig", "true"]);
        world.git("super/sub/one", &["sparse-checkout", "set", "a"]);
    }
    world.git("super", &["worktree", "add", "-q", "../linked"]);
    world.git("linked", &["submodule", "--quiet", "update", "--init"]);
    world.check_exclude("linked/sub/one", "super/.git/worktrees/linked/modules/sub/one");
    // Not there yet: all below it is the submodule's.
    world.git("linked", &["submodule", "--quiet", "deinit", "--all"]);
    assert!(world.is_tracked("linked/sub/one/c.json"));

    world.git(".", &["clone", "-q", "--bare", "main", "bare"]);
    world.git("bare", &["worktree", "add", "-q", "../three"]);
    world.check_exclude("three", "bare");
    // Moved by hand, it is not named any more until it is repaired.
    fs::rename(world.path("three"), world.path("four")).expect("renames");
    assert!(world.is_foreign("four"));
    world.git("four", &["worktree", "repair"]);
    world.check_exclude("four", "bare");
    // A repository elsewhere says by its configuration whose it is.
    world.git(".", &["init", "-q", "--separate-git-dir=apart", "five"]);
    assert!(world.is_foreign("five"));
    let five = world.path("five").display().to_string().replace('\\', "/");
    world.git("five", &["config", "core.worktree", &five]);
    world.check_exclude("five", "apart");
}

#[test]
fn a_repository_that_does_not_name_the_folder_is_somebody_else_s() {
    let world = World::repository(&[]);
    world.git("main", &["worktree", "add", "-q", "../two"]);
    world.git("main", &["submodule", "--quiet", "add", "../main", "sub"]);
    for (number, text) in [
        "gitdir: ../main/.git\n",
        "gitdir: ../main/.git/worktrees/two\n",
        "gitdir: ../main/.git/modules/sub\n",
        "gitdir: nowhere\n",
        "../main/.git\n",
        "",
    ]
    .into_iter()
    .enumerate()
    {
        let place = format!("foreign{number}");
        world.write(&format!("{place}/.git"), text);
        assert!(world.is_foreign(&place), "{text}");
    }
    // A folder that lies about what it is.
    let theirs = world.path("main/.git").display().to_string();
    for (place, file, text) in [
        ("common", "commondir", &theirs),
        ("worktree", "config", &format!("[core]\n\tworktree = {theirs}/..\n")),
        ("sub", "config.worktree", &"[core] worktree=\"../../main\"".to_owned()),
    ] {
        world.git(place, &["init", "-q"]);
        world.check_exclude(place, &format!("{place}/.git"));
        world.write(&format!("{place}/.git/{file}"), text);
        assert!(world.is_foreign(place), "{place}");
    }
    // A whole layout for linked checkouts, whose shared part is the other's.
    let made = "lies/git/worktrees/x";
    world.write(&format!("{made}/HEAD"), "ref: refs/heads/main\n");
    world.write(&format!("{made}/commondir"), &theirs);
    world.write(&format!("{made}/gitdir"), &world.path("lies/.git").display().to_string());
    world.write("lies/.git", "gitdir: git/worktrees/x\n");
    assert!(world.is_foreign("lies"));
}

#[cfg(unix)]
#[test]
fn links_and_pipes_in_the_place_of_git_s_files_are_not_followed_nor_waited_for() {
    use std::os::unix::fs::symlink;
    use symposium_testlib::make_pipe;
    let world = World::repository(&[]);
    world.write("link/c.json", "");
    symlink(world.path("main/.git"), world.path("link/.git")).expect("links");
    assert!(world.is_foreign("link"));
    world.write("main/pipe/c.json", "");
    make_pipe(&world.path("main/pipe/.git"));
    assert!(!world.is_tracked("main/pipe/c.json"), "git goes on above it, too");
    for file in ["commondir", "config", "config.worktree", "index"] {
        world.git(file, &["init", "-q"]);
        let _ = fs::remove_file(world.path(file).join(".git").join(file));
        make_pipe(&world.path(file).join(".git").join(file));
        assert!(world.is_unclear(&format!("{file}/c.json")), "{file}");
    }
    // The exclude file, or its folder, in another place.
    world.write("bashrc", "mine");
    let exclude = world.path("main/.git/info/exclude");
    fs::remove_file(&exclude).expect("removes");
    symlink(world.path("bashrc"), &exclude).expect("links");
    assert!(find(&world.path("main")).expect("a checkout").exclude().is_err());
    fs::remove_dir_all(world.path("main/.git/info")).expect("removes");
    world.check_exclude("main", "main/.git");
    symlink(world.path("main/a"), world.path("main/.git/info")).expect("links");
    assert!(find(&world.path("main")).expect("a checkout").exclude().is_err());
}

#[cfg(unix)]
#[test]
fn a_file_behind_a_link_is_as_tracked_as_what_it_leads_to() {
    use std::os::unix::fs::symlink;
    let world = World::repository(&[]);
    symlink("a/b.json", world.path("main/link.json")).expect("links");
    symlink("a", world.path("main/folder")).expect("links");
    symlink("c.json", world.path("main/fine.json")).expect("links");
    assert!(world.is_tracked("main/link.json") && world.is_tracked("main/folder/b.json"));
    assert!(!world.is_tracked("main/fine.json") && !world.is_tracked("main/folder/c.json"));
    world.git("main", &["add", "folder", "fine.json"]);
    assert!(world.is_tracked("main/fine.json") && world.is_tracked("main/folder/c.json"));
}
