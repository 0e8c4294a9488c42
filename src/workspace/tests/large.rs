use std::collections::BTreeSet;
use std::fs;

use symposium_testlib::large::large_workspace;

use super::place::Place;
use crate::workspace::DependencyOrigin;

#[test]
fn a_generated_workspace_is_consistent_and_always_the_same() {
    let place = Place::with(&[]);
    large_workspace(&place.root, 40, 1000);
    let loaded = place.load("crates/member-007/src");
    assert!(loaded.diagnostics.is_empty(), "{:?}", place.told(&loaded));
    let workspace = &loaded.workspace;
    assert_eq!((workspace.members.len(), workspace.locked.len()), (40, 1000));
    for found in &workspace.dependencies {
        assert!(!matches!(found.origin, DependencyOrigin::Unresolved(_)), "{found:?}");
        assert!(found.version.is_some(), "{found:?}");
    }
    let has = |name: &str| workspace.dependencies.iter().filter(|d| d.name == name).count();
    assert!(has("serde") == 1 && has("member-000") == 1);
    assert!(workspace.dependencies.len() > 200);
    let names: BTreeSet<_> = workspace.dependencies.iter().map(|d| &d.name).collect();
    assert!(names.len() < workspace.dependencies.len(), "some are there in two versions");

    let again = Place::with(&[]);
    large_workspace(&again.root, 40, 1000);
    for name in ["Cargo.toml", "Cargo.lock", "crates/member-039/Cargo.toml"] {
        let read = |place: &Place| fs::read_to_string(place.path(name)).expect("is there");
        assert_eq!(read(&place), read(&again), "{name}");
    }
}

#[test]
fn every_generated_package_is_needed_by_something() {
    let place = Place::with(&[]);
    large_workspace(&place.root, 31, 401);
    let text = fs::read_to_string(place.path("Cargo.lock")).expect("is there");
    let lock: cargo_lock::Lockfile = text.parse().expect("a lock file");
    assert_eq!(lock.packages.len(), 401);
    let mut reached: BTreeSet<(String, String)> = BTreeSet::new();
    let key = |name: &cargo_lock::Name, version: &semver::Version| {
        (name.to_string(), version.to_string())
    };
    let local = lock.packages.iter().filter(|package| package.source.is_none());
    let mut waiting: Vec<_> = local.map(|package| key(&package.name, &package.version)).collect();
    while let Some(next) = waiting.pop() {
        let package = lock.packages.iter().find(|p| key(&p.name, &p.version) == next);
        let package = package.expect("every reference leads to a package");
        if reached.insert(next) {
            waiting.extend(package.dependencies.iter().map(|d| key(&d.name, &d.version)));
        }
    }
    assert_eq!(reached.len(), 401);
}
