//! Very many, very large and very deep.

use std::path::Path;

use super::drive::Place;
use crate::skill;

#[test]
fn a_hundred_thousand_entries() {
    let place = Place::one_of_many();
    let fill = |folder: &str, count: usize, make: &dyn Fn(&Path)| {
        let folder = place.sandbox.dir().join(folder);
        std::fs::create_dir_all(&folder).expect("creates");
        (0..count).for_each(|number| make(&folder.join(format!("e{number}"))));
    };
    let file = |path: &Path| drop(std::fs::File::create(path).expect("creates"));
    let link = |target: &'static str| {
        move |path: &Path| std::os::unix::fs::symlink(target, path).expect("links")
    };
    fill("ws/.agents/skills/own/references", 70_000, &file);
    fill("ws/.agents/skills", 18_000, &file);
    fill("home/.symposium/plugins/trap/skills/of-trap", 12_000, &file);
    fill("home/.symposium/plugins/trap/skills", 1_000, &link("of-trap"));
    fill("ws/.agents/skills/links", 1_000, &link("../own"));
    fill("ws/.agents/skills/own/assets", 1_000, &link("../references"));
    fill("home/.symposium/plugins", 2_000, &file);
    place.endures(&["10000 files"]);
}

/// A folder in a folder, `levels` deep; longer than a path can be.
fn deep(folder: &Path, levels: usize) {
    const PART: usize = 1000;
    std::fs::create_dir_all(folder).expect("creates");
    let chain = |at: &Path| std::fs::create_dir_all(at.join("d/".repeat(PART))).expect("creates");
    chain(folder);
    for _ in 1..levels / PART {
        // What is there goes to the bottom of a new one, which no path could lead to otherwise.
        let fresh = folder.with_extension("new");
        chain(&fresh);
        let below = fresh.join("d/".repeat(PART));
        std::fs::rename(folder.join("d"), below.join("d")).expect("moves");
        std::fs::rename(fresh.join("d"), folder.join("d")).expect("moves");
        std::fs::remove_dir(&fresh).expect("removes");
    }
}

#[test]
fn trees_that_are_deeper_than_a_path_can_be_long() {
    let place = Place::one_of_many();
    let dir = place.sandbox.dir();
    for folder in [
        "ws/.agents/skills",
        "ws/.agents/skills/own",
        "ws/members",
        "home/.symposium/plugins/trap/skills",
        "home/.symposium/plugins/trap/skills/of-trap",
    ] {
        deep(&dir.join(folder), 3000);
    }
    let manifest =
        place.sandbox.read("ws/Cargo.toml") + "[workspace]\nmembers = [\"members/**\"]\n";
    place.sandbox.write("ws/Cargo.toml", manifest);
    place.endures(&["of-trap"]);
}

#[test]
fn a_lock_file_and_a_skill_of_a_hundred_megabytes() {
    let place = Place::one_of_many();
    let line = "\n[[package]]\nname = \"filler\"\nversion = \"1.0.0\"\n";
    let lock = place.sandbox.read("ws/Cargo.lock") + &line.repeat((100 << 20) / line.len());
    place.sandbox.write("ws/Cargo.lock", lock);
    let text = skill("own", "d") + &"x".repeat(100 << 20);
    place.sandbox.write("ws/.agents/skills/own/SKILL.md", text);
    place.endures(&["Cargo.lock", "larger than 64 MB", "larger than 1 MB"]);
}
