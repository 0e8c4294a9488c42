//! The same answers as cargo's, asked of cargo itself.

#![allow(clippy::disallowed_methods, reason = "only these tests run cargo, to compare with it")]
#![allow(clippy::disallowed_macros, reason = "a test that can't run says so")]

use crate::config::Environment;
use crate::report::{Format, Reporter, Verbosity};
use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use symposium_testlib::cargo_metadata;

use super::layout::{Dice, FOLDERS, layout};
use super::place::Place;
use crate::text::same_crate;
use crate::workspace::Workspace;

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// Names and versions that members directly depend on, by cargo's own resolution.
fn direct_dependencies(metadata: &Value) -> BTreeSet<(String, String)> {
    let members: Vec<&str> =
        list(metadata, "workspace_members").iter().filter_map(Value::as_str).collect();
    let packages = list(metadata, "packages");
    let by_id = |id: &str| packages.iter().find(|package| text(package, "id") == id);
    let mut found = BTreeSet::new();
    for node in list(&metadata["resolve"], "nodes") {
        if !members.contains(&text(node, "id")) {
            continue;
        }
        for dependency in list(node, "deps") {
            let package = by_id(text(dependency, "pkg")).expect("every node is a package");
            found.insert((text(package, "name").into(), text(package, "version").into()));
        }
    }
    found
}

/// Names that members declare, by `cargo metadata --no-deps`; a member's own name in its own
/// manifest does not count.
fn declared_names(metadata: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for package in list(metadata, "packages") {
        let own = text(package, "name");
        let declared = list(package, "dependencies").iter().map(|found| text(found, "name"));
        names.extend(declared.filter(|name| *name != own).map(str::to_owned));
    }
    names
}

/// Says why a comparison was not made.
fn skipped(why: &str) {
    let env = Environment::capture();
    Reporter::new(&env, Format::People, Verbosity::Normal).warn(format!("skipped: {why}"));
}

#[test]
fn f51_our_own_dependencies_are_those_that_cargo_resolves() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let declared = match cargo_metadata(root, &["--no-deps"]) {
        Ok(metadata) => metadata,
        Err(problem) => return skipped(&format!("cargo does not run here: {problem}")),
    };
    let elsewhere = Place::with(&[]);
    let loaded = Workspace::load(root, &elsewhere.env()).expect("reads").expect("is there");
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    let ours: BTreeSet<(String, String)> = loaded
        .workspace
        .dependencies
        .iter()
        .map(|found| {
            let version = found.version.as_ref().expect("everything is locked");
            (found.name.clone(), version.to_string())
        })
        .collect();
    let names: BTreeSet<String> = ours.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names, declared_names(&declared));
    let mut theirs: Vec<_> = list(&declared, "packages")
        .iter()
        .map(|package| Path::new(text(package, "manifest_path")).parent().expect("a folder"))
        .collect();
    theirs.sort();
    let members: Vec<_> = loaded.workspace.members.iter().map(|m| m.dir.as_path()).collect();
    assert_eq!(members, theirs);
    // Versions, as far as the packages of this system are downloaded.
    match cargo_metadata(root, &["--locked", "--all-features", "--filter-platform", "host-tuple"]) {
        Ok(metadata) => {
            let theirs = direct_dependencies(&metadata);
            assert!(theirs.len() > 20, "{theirs:?}");
            assert!(theirs.is_subset(&ours), "{:?}", theirs.difference(&ours));
        }
        Err(problem) => skipped(&format!("cargo can't resolve offline: {problem}")),
    }
}

#[test]
fn f51_the_names_of_a_large_workspace_are_those_that_cargo_reads() {
    let place = Place::with(&[]);
    symposium_testlib::large::large_workspace(&place.root, 35, 450);
    let declared = match cargo_metadata(&place.root, &["--no-deps"]) {
        Ok(metadata) => metadata,
        Err(problem) => return skipped(&format!("cargo does not run here: {problem}")),
    };
    let loaded = place.load("");
    let ours = loaded.workspace.dependencies.iter().map(|found| found.name.clone()).collect();
    assert_eq!(declared_names(&declared), ours);
    assert_eq!(list(&declared, "packages").len(), loaded.workspace.members.len());
}

/// Wherever cargo knows the workspace of a folder, we know the same root and the same members.
#[test]
fn f49_for_all_layouts_that_cargo_accepts_root_and_members_are_cargos() {
    if let Err(problem) = cargo_metadata(Path::new(env!("CARGO_MANIFEST_DIR")), &["--no-deps"]) {
        skipped(&format!("cargo does not run here: {problem}"));
        return;
    }
    let mut compared = 0;
    for seed in 1..=40_u64 {
        let mut dice = Dice::of(seed);
        let place = layout(&mut dice);
        for dir in [dice.pick(&FOLDERS), dice.pick(&FOLDERS)] {
            if !place.path(dir).is_dir() {
                continue;
            }
            let Ok(metadata) = cargo_metadata(&place.path(dir), &["--no-deps"]) else { continue };
            compared += 1;
            let loaded = match place.try_load(dir) {
                Ok(loaded) => loaded.expect("cargo found one"),
                Err(problem) => panic!("seed {seed}, `{dir}`: {}", place.tell(&problem)),
            };
            let where_ = || format!("seed {seed}, `{dir}`: {:?}", place.told(&loaded));
            assert_eq!(
                loaded.workspace.root,
                Path::new(text(&metadata, "workspace_root")),
                "{}",
                where_()
            );
            let mut theirs: Vec<String> = list(&metadata, "packages")
                .iter()
                .map(|package| text(package, "name").to_owned())
                .collect();
            theirs.sort();
            let mut ours: Vec<String> =
                loaded.workspace.members.iter().map(|member| member.name.clone()).collect();
            ours.sort();
            assert_eq!(ours, theirs, "{}", where_());
        }
    }
    assert!(compared >= 20, "too few layouts were valid: {compared}");
}

#[test]
fn decision_4_names_compare_with_hyphen_and_underscore_equal() {
    assert!(same_crate("serde_json", "serde-json"));
    assert!(!same_crate("serde_json", "serde.json"));
}
