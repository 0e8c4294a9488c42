use std::sync::Arc;

use proptest::prelude::*;

use super::place::Place;
use crate::text::{Diagnostic, Source};
use crate::workspace::lock::{Lock, Raw, read, scan};

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

fn parse(text: &str) -> (Result<Lock, Diagnostic>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let source: Arc<Source> = Source::new("Cargo.lock", text);
    (Lock::parse(&source, &mut diagnostics), diagnostics)
}

fn scan(text: &str) -> Option<Vec<Raw>> {
    scan::packages(text)
}

fn read_toml(text: &str) -> Result<Vec<Raw>, Diagnostic> {
    read(&Source::new("Cargo.lock", text), &mut Vec::new())
}

fn resolved(lock: &Lock, member: &str) -> Vec<String> {
    let found = lock.dependencies_of(member, None);
    found.iter().map(|package| format!("{} {}", package.name, package.version)).collect()
}

#[test]
fn f106_format_1_has_full_references_and_its_checksums_apart() {
    let text = format!(
        r#"[root]
name = "app"
version = "0.1.0"
dependencies = ["libc 0.2.1 ({CRATES_IO})", "far 0.1.0 (git+https://example.com/f?rev=1#12ab)", "near 0.2.0"]

[[package]]
name = "far"
version = "0.1.0"
source = "git+https://example.com/f?rev=1#12ab"

[[package]]
name = "libc"
version = "0.2.1"
source = "{CRATES_IO}"

[[package]]
name = "near"
version = "0.2.0"

[metadata]
"checksum far 0.1.0 (git+https://example.com/f?rev=1#12ab)" = "<none>"
"checksum libc 0.2.1 ({CRATES_IO})" = "abcd"
"#
    );
    let lock = parse(&text).0.expect("reads");
    assert_eq!(resolved(&lock, "app"), ["libc 0.2.1", "far 0.1.0", "near 0.2.0"]);
    let sums: Vec<_> = lock.packages.iter().map(|package| package.checksum.as_deref()).collect();
    assert_eq!(sums, [None, None, Some("abcd"), None]);
}

#[test]
fn f106_formats_2_to_4_have_references_as_short_as_is_clear() {
    for head in ["", "version = 3\n", "version = 4\n"] {
        let text = format!(
            r#"{head}
[[package]]
name = "app"
version = "0.1.0"
dependencies = ["a", "b 2.0.0", "c 1.0.0 (git+https://example.com/c?branch=x)"]
[[package]]
name = "a"
version = "1.0.0"
source = "{CRATES_IO}"
checksum = "aa"
[[package]]
name = "b"
version = "1.0.0"
source = "{CRATES_IO}"
[[package]]
name = "b"
version = "2.0.0"
source = "{CRATES_IO}"
[[package]]
name = "c"
version = "1.0.0"
source = "git+https://example.com/c?branch=x#99"
[[package]]
name = "c"
version = "1.0.0"
source = "{CRATES_IO}"
[[patch.unused]]
name = "d"
version = "1.0.0"
"#
        );
        let (lock, diagnostics) = parse(&text);
        let lock = lock.expect("reads");
        assert_eq!(resolved(&lock, "app"), ["a 1.0.0", "b 2.0.0", "c 1.0.0"]);
        let c = lock.dependencies_of("app", None).pop().expect("the last");
        assert_eq!(c.source.as_deref(), Some("git+https://example.com/c?branch=x#99"));
        assert_eq!(lock.packages.len(), 6);
        assert!(diagnostics.is_empty());
    }
}

#[test]
fn a_newer_format_is_read_with_a_warning() {
    let (lock, diagnostics) =
        parse("version = 9\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n");
    assert_eq!(lock.expect("reads").packages.len(), 1);
    let told = diagnostics[0].to_string();
    assert!(told.starts_with("Cargo.lock:1:11: lock file format 9 is newer"), "{told}");
}

#[test]
fn f48_a_broken_lock_file_is_an_error_with_its_place() {
    let tell = |text: &str| parse(text).0.expect_err("broken").to_string();
    let told = tell("version = 4\n<<<<<<< HEAD\n[[package]]\n=======\n>>>>>>> x\n");
    assert!(told.starts_with("Cargo.lock:2:1: the lock file has merge conflict"), "{told}");
    let told = tell("[[package]]\nname = \"a\"\nversion = \"one\"\n");
    assert!(told.starts_with("Cargo.lock:3:11: `one` is no version"), "{told}");
    let told = tell("[[package]]\nversion = \"1.0.0\"\n");
    assert!(told.starts_with("Cargo.lock:1:1: this package has no `name`"), "{told}");
    let told = tell("package = 1\n");
    assert!(told.starts_with("Cargo.lock:1:11: `package` must be"), "{told}");

    let place = Place::with(&[("Cargo.lock", "[[package]\n")]);
    place.package("", "root", "");
    let told = place.tell(&place.try_load("").expect_err("broken"));
    assert!(told.starts_with("Cargo.lock:1:"), "{told}");
}

proptest! {
    /// Whatever graph a lock file holds, in whichever format, it is read as `cargo-lock` reads it.
    #[test]
    fn for_all_lock_files_the_reading_is_that_of_the_crate_cargo_lock(
        versions in prop::collection::vec((0_u8..6, 0_u64..3, any::<bool>()), 1..12),
        edges in prop::collection::vec((0_usize..12, 0_usize..12), 0..30),
        format in 1_u32..5,
    ) {
        let mut packages: Vec<cargo_lock::Package> = Vec::new();
        for (name, major, git) in versions {
            let source = if git { "git+https://example.com/g#12ab" } else { CRATES_IO };
            let known = packages.iter().any(|p| p.name.as_str() == format!("p{name}") && p.version.major == major);
            if !known {
                packages.push(locked(&format!("p{name}"), major, Some(source)));
            }
        }
        packages.push(locked("app", 0, None));
        for (from, to) in edges {
            let (from, to) = (from % packages.len(), to % packages.len());
            let to = cargo_lock::Dependency::from(&packages[to]);
            if !packages[from].dependencies.contains(&to) {
                packages[from].dependencies.push(to);
            }
        }
        packages.sort();
        let file = cargo_lock::Lockfile {
            version: cargo_lock::ResolveVersion::try_from(format).expect("known"),
            packages,
            root: None,
            metadata: cargo_lock::Metadata::default(),
            patch: cargo_lock::Patch::default(),
        };
        let text = file.to_string();
        let lock = parse(&text).0.expect("reads");
        let show = |name: &str, version: &dyn std::fmt::Display| format!("{name} {version}");
        let mut theirs: Vec<_> = file.packages.iter().map(|p| show(p.name.as_str(), &p.version)).collect();
        theirs.sort();
        let mut ours: Vec<_> = lock.packages.iter().map(|p| show(&p.name, &p.version)).collect();
        ours.sort();
        prop_assert_eq!(ours, theirs, "{}", text);
        let app = file.packages.iter().find(|p| p.name.as_str() == "app").expect("is there");
        let mut theirs: Vec<_> = app.dependencies.iter().map(|d| show(d.name.as_str(), &d.version)).collect();
        theirs.sort();
        let mut ours = resolved(&lock, "app");
        ours.sort();
        prop_assert_eq!(ours, theirs, "{}", text);
        for package in &file.packages {
            let sum = package.checksum.as_ref().map(ToString::to_string);
            let same = lock.named(package.name.as_str()).into_iter().find(|p| p.version == package.version);
            prop_assert_eq!(same.and_then(|p| p.checksum.clone()), sum, "{}", text);
        }
    }

    #[test]
    fn for_all_texts_reading_a_lock_file_does_not_panic(text in "\\PC*|(\\[\\[package\\]\\]\n|name = \"a\"\n|version = [0-9\"]*\n|dependencies = \\[\"[a ().0-9]*\"\\]\n){0,8}") {
        let _ = parse(&text);
    }
}

fn locked(name: &str, major: u64, source: Option<&str>) -> cargo_lock::Package {
    let checksum = source
        .filter(|source| *source == CRATES_IO)
        .map(|_| format!("{major:064x}").parse::<cargo_lock::Checksum>().expect("a checksum"));
    cargo_lock::Package {
        name: name.parse().expect("a name"),
        version: semver::Version::new(major, 1, 0),
        source: source.map(|source| source.parse().expect("a source")),
        checksum,
        dependencies: Vec::new(),
        replace: None,
    }
}

/// Lines of lock files, as cargo writes them and as it does not.
const LINES: [&str; 26] = [
    "# This file is automatically @generated by Cargo.",
    "#\u{1}",
    "version = 3",
    "version = 4",
    "version = +4",
    "version = 04",
    "",
    "[[package]]",
    "[[package]] # more",
    "[[patch.unused]]",
    "[metadata]",
    "name = \"a\"",
    "name = \"b\"",
    "name = \"b\\u0061\"",
    "version = \"1.0.0\"",
    "version = \"2.0.0\"",
    "version = \"1\"",
    "source = \"registry+https://github.com/rust-lang/crates.io-index\"",
    "checksum = \"ab\"",
    "dependencies = [\n \"a\",\n]",
    "dependencies = [\n \"b 2.0.0\",\n \"a\",\n]",
    "dependencies = [\n \"a\"\n]",
    "dependencies = [\n \"a\", # why\n]",
    "dependencies = []",
    "source = 1",
    "other = \"x\"",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// What the reading by lines accepts, the TOML reader reads too, and the same.
    #[test]
    fn for_all_texts_reading_by_lines_is_reading_toml(
        head in prop::collection::vec(0_usize..7, 0..3),
        packages in prop::collection::vec((11_usize..14, 14_usize..17, prop::collection::vec(17_usize..26, 0..3)), 0..4),
        stray in prop::option::weighted(0.3, (0_usize..26, 0_usize..20)),
        ending in prop::sample::select(vec!["\n", "\r\n", "\n\n"]),
    ) {
        let mut lines: Vec<&str> = head.into_iter().map(|at| LINES[at]).collect();
        for (name, version, more) in packages {
            lines.extend(["[[package]]", LINES[name], LINES[version]]);
            lines.extend(more.into_iter().map(|at| LINES[at]));
        }
        if let Some((line, at)) = stray {
            let at = at.min(lines.len());
            lines.insert(at, LINES[line]);
        }
        let text = lines.join(ending);
        if let Some(fast) = scan(&text) {
            prop_assert_eq!(read_toml(&text).map_err(|problem| problem.to_string()), Ok(fast), "{}", text);
        }
    }
}

#[test]
fn what_cargo_writes_is_read_by_lines() {
    let place = Place::with(&[]);
    symposium_testlib::large::large_workspace(&place.root, 31, 401);
    let large = std::fs::read_to_string(place.path("Cargo.lock")).expect("is there");
    let ours = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.lock"));
    for text in [large, ours.expect("is there")] {
        assert_eq!(scan(&text), Some(read_toml(&text).expect("reads")));
        assert_eq!(scan(&text.replace('\n', "\r\n")), scan(&text));
        let noted = text.replace("\nversion = \"", "\n# by hand\nversion = \"") + "# the end\n";
        assert_eq!(scan(&noted), scan(&text));
        assert_eq!(read_toml(&noted), read_toml(&text));
    }
}
