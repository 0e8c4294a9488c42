//! A fingerprint that holds means that reading again would give the same.

use std::fs;

use super::layout::{Dice, FOLDERS, layout, package};
use super::place::Place;
use crate::workspace::Workspace;

/// Changes something that may matter, or may not.
fn mutate(place: &Place, dice: &mut Dice) {
    let dir = dice.pick(&FOLDERS);
    let manifest = format!("{}/Cargo.toml", if dir.is_empty() { "." } else { dir });
    match dice.below(10) {
        0..=2 => package(place, dice, dir),
        3 => drop(fs::remove_file(place.path(&manifest))),
        4 if !dir.is_empty() => drop(fs::remove_dir_all(place.path(dir))),
        5 => fs::create_dir_all(place.path(&format!("crates/new{}", dice.below(3))))
            .expect("creates"),
        6 => {
            let version = dice.below(3);
            let text = format!(
                "version = 4\n\n[[package]]\nname = \"p-a\"\nversion = \"0.1.{version}\"\n"
            );
            place.write("Cargo.lock", &text);
        }
        7 => drop(fs::remove_file(place.path("Cargo.lock"))),
        8 => place
            .write("../.cargo/config.toml", dice.pick(&["", "[patch.x]\na = { path = \"a\" }\n"])),
        _ => place.write(&format!("{}/src/new.rs", if dir.is_empty() { "." } else { dir }), ""),
    }
}

#[test]
fn f70_for_all_changes_a_fingerprint_that_holds_means_the_same_workspace() {
    let (mut held, mut changed) = (0, 0);
    // On Windows the file system takes many times as long.
    let (seeds, enough) = if cfg!(windows) { (10, 30) } else { (60, 200) };
    for seed in 1..=seeds {
        let mut dice = Dice::of(seed);
        let place = layout(&mut dice);
        for step in 0..30 {
            let start = place.path(dice.pick(&FOLDERS));
            let before = Workspace::load(&start, &place.env()).ok().flatten();
            mutate(&place, &mut dice);
            let Some(before) = before else { continue };
            if !before.fingerprint.holds() {
                changed += 1;
                continue;
            }
            held += 1;
            let now = match Workspace::load(&before.workspace.root, &place.env()) {
                Ok(now) => now.expect("it was there"),
                Err(problem) => panic!("seed {seed}, step {step}: {problem}"),
            };
            assert_eq!(now.workspace, before.workspace, "seed {seed}, step {step}");
            assert_eq!(now.diagnostics, before.diagnostics, "seed {seed}, step {step}");
        }
    }
    assert!(held > enough && changed > enough, "{held} held, {changed} changed");
}
