//! Published workspaces, made small: our answers are those of `cargo metadata`
//! (`tests/fixtures/dependencies/make.py`).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::place::Place;
use crate::workspace::{Dependency, DependencyKind};

/// A dependency as the fixtures write it.
fn line(found: &Dependency) -> String {
    let usage = &found.usage;
    let listed = |names: &BTreeSet<String>| match names.is_empty() {
        true => "-".to_owned(),
        false => names.iter().map(String::as_str).collect::<Vec<_>>().join(","),
    };
    let kinds = usage.kinds.iter().map(|kind| match kind {
        DependencyKind::Normal => "normal".to_owned(),
        DependencyKind::Build => "build".to_owned(),
        DependencyKind::Development => "dev".to_owned(),
    });
    format!(
        "{} {} {} {} {} as {} features {} of {}",
        found.name,
        found.version.as_ref().map_or("-".to_owned(), ToString::to_string),
        listed(&kinds.collect()),
        if usage.optional { "optional" } else { "always" },
        if usage.default_features { "default" } else { "bare" },
        listed(&usage.renames),
        listed(&usage.features),
        listed(&usage.members),
    )
}

#[test]
fn how_dependencies_are_used_is_what_cargo_says_of_published_workspaces() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dependencies");
    let mut count = 0;
    let mut wrong = String::new();
    for entry in fs::read_dir(folder).expect("the fixtures") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("reads").replace("\r\n", "\n");
        let place = Place::with(&[]);
        let mut expected = BTreeSet::new();
        for part in text.split("==== ").skip(1) {
            let (name, content) = part.split_once('\n').expect("a name");
            match name {
                "metadata" => expected.extend(content.lines().map(str::to_owned)),
                name => place.write(name, content),
            }
        }
        let loaded = place.load("");
        let found: BTreeSet<String> = loaded.workspace.dependencies.iter().map(line).collect();
        assert!(expected.len() > 3, "{}", path.display());
        for differing in expected.symmetric_difference(&found) {
            let whose = if found.contains(differing) { "we" } else { "cargo" };
            let _ = writeln!(wrong, "{}: {whose}: {differing}", path.display());
        }
        count += 1;
    }
    assert!(count >= 20, "{count} workspaces");
    assert!(wrong.is_empty(), "{wrong}");
}
