//! What is on this machine: paths, vendored sources, registries, git checkouts.

use super::*;
use crate::workspace::{Member, RegistryRequirement, Usage};

#[test]
fn f138_a_path_wins_over_vendor_over_the_registry() {
    let mut place = Place::new();
    place.source(CRATES_IO, "a", "1.0.0");
    place.depends("a", "1.0.0", crates_io(None));
    assert_eq!(place.found("a"), (How::RegistrySource, "1.0.0".to_owned()));
    place.put("vendor/a/Cargo.toml", manifest("a", "1.0.0"));
    assert_eq!(place.found("a"), (How::Vendor, "1.0.0".to_owned()));
    let local = place.put("local/a/Cargo.toml", manifest("a", "1.0.0"));
    let local = local.parent().expect("has a folder").to_path_buf();
    place.depends("a", "1.0.0", DependencyOrigin::Path(local));
    assert_eq!(place.found("a"), (How::Path, "1.0.0".to_owned()));
}

#[test]
fn f139_exactly_the_version_that_the_workspace_uses() {
    let mut place = Place::new();
    place.source(CRATES_IO, "a", "1.0.0");
    place.source(CRATES_IO, "a", "2.0.0");
    assert_eq!(place.found("a").1, "2.0.0", "not in the lock: the newest");
    place.depends("a", "1.0.0", crates_io(None));
    assert_eq!(place.found("a").1, "1.0.0");
    place.workspace.dependencies.clear();
    place.depends("a", "1.5.0", crates_io(None));
    let missing = place.locate("a").expect_err("1.5.0 is nowhere");
    assert_eq!(missing.to_string(), "the sources of a 1.5.0 are not on this machine");
}

#[test]
fn f144_a_target_outside_of_the_lock_meets_its_requirement() {
    let place = Place::new();
    for at in ["1.0.0", "1.4.0", "2.0.0", "3.0.0-rc.1"] {
        place.source(CRATES_IO, "a", at);
    }
    let newest = |requirement: &str| {
        let requirement = Some(VersionReq::parse(requirement).expect("a requirement"));
        let request = CrateRequest { name: "a".to_owned(), version: None, requirement };
        place.disk().locate(&request).map(|located| located.version.to_string()).ok()
    };
    assert_eq!(newest(">=1.0").as_deref(), Some("2.0.0"));
    assert_eq!(newest("^1").as_deref(), Some("1.4.0"));
    assert_eq!(newest("=3.0.0-rc.1").as_deref(), Some("3.0.0-rc.1"));
    assert_eq!(newest("4"), None);
    assert_eq!(place.found("a").1, "2.0.0");
}

#[test]
fn what_is_not_locked_is_the_newest_that_the_manifest_admits_or_none() {
    let mut place = Place::new();
    for at in ["1.0.0", "1.4.0", "2.0.0", "3.0.0-rc.1"] {
        place.source(CRATES_IO, "a", at);
    }
    for (requirement, expected) in [
        ("=1.0.0", Some("1.0.0")),
        ("1", Some("1.4.0")),
        ("~1.0", Some("1.0.0")),
        (">=1, <2", Some("1.4.0")),
        ("*", Some("2.0.0")),
        ("3.0.0-rc.1", Some("3.0.0-rc.1")),
        ("1.5", None),
    ] {
        place.workspace.dependencies.clear();
        let requirement = VersionReq::parse(requirement).expect("a requirement");
        let asked = RegistryRequirement { requirement: requirement.clone(), index: None };
        let origin = DependencyOrigin::Unresolved(Some(asked));
        let usage = Usage::default();
        let dependency = Dependency { name: "a".to_owned(), version: None, origin, usage };
        place.workspace.dependencies.push(dependency);
        let found = place.locate("a");
        let version = found.as_ref().ok().map(|located| located.version.to_string());
        assert_eq!(version.as_deref(), expected, "{requirement}");
        if let Err(missing) = found {
            assert_eq!(missing.to_string(), "the sources of a ^1.5 are not on this machine");
        }
    }
}

#[test]
fn a_path_dependency_that_is_not_there_is_no_crate_of_that_name() {
    let mut place = Place::new();
    place.source(CRATES_IO, "a", "1.0.0");
    let origin = DependencyOrigin::Unresolved(None);
    let usage = Usage::default();
    let dependency = Dependency { name: "a".to_owned(), version: None, origin, usage };
    place.workspace.dependencies.push(dependency);
    assert!(place.locate("a").is_err());
}

#[test]
fn a_target_in_the_lock_is_taken_at_the_locked_version() {
    let mut place = Place::new();
    place.source(CRATES_IO, "a", "1.0.0");
    place.source(CRATES_IO, "a", "2.0.0");
    place.workspace.locked = vec![LockedPackage {
        name: "a".to_owned(),
        version: version("1.0.0"),
        source: Some(INDEX.to_owned()),
        checksum: None,
    }];
    assert_eq!(place.found("a").1, "1.0.0");
}

#[test]
fn names_with_hyphens_and_underscores_are_the_same() {
    let mut place = Place::new();
    place.source(CRATES_IO, "my-crate", "1.0.0");
    assert_eq!(place.locate("my_crate").expect("is there").name, "my-crate");
    place.depends("my-crate", "1.0.0", crates_io(None));
    assert_eq!(place.locate("my_crate").expect("is there").name, "my-crate");
    place.put("vendor/v_x-2.0.0/Cargo.toml", manifest("v_x", "2.0.0"));
    assert_eq!(place.found("v-x"), (How::Vendor, "2.0.0".to_owned()));
}

#[test]
fn a_member_of_the_workspace_is_a_path() {
    let mut place = Place::new();
    let path = place.put("ws/m/Cargo.toml", manifest("m", "0.3.0"));
    let dir = path.parent().expect("has a folder").to_path_buf();
    place.workspace.members =
        vec![Member { name: "m".to_owned(), version: None, dir, names_us: true }];
    assert_eq!(place.found("m"), (How::Path, "0.3.0".to_owned()));
}

#[test]
fn a_vendored_crate_is_known_by_its_manifest() {
    let mut place = Place::new();
    place.put("vendor/a/Cargo.toml", manifest("a", "2.0.0"));
    place.put("vendor/a-1.0.0/Cargo.toml", manifest("a", "1.0.0"));
    place.put("vendor/a-9.0.0/Cargo.toml", manifest("b", "9.0.0"));
    place.depends("a", "1.0.0", crates_io(None));
    assert!(place.locate("a").expect("is there").dir.ends_with("vendor/a-1.0.0"));
    let request = CrateRequest { version: Some(version("9.0.0")), ..CrateRequest::any("a") };
    assert!(place.disk().locate(&request).is_err());
}

#[test]
fn f138_a_downloaded_crate_is_unpacked_once() {
    let mut place = Place::new();
    let checksum = place.cached(CRATES_IO, "a", "1.0.0");
    place.depends("a", "1.0.0", crates_io(Some(checksum.clone())));
    let located = place.locate("a").expect("is there");
    assert_eq!(located.how, How::RegistryCache);
    assert_eq!(located.dir, place.dirs.crates().join(format!("a-1.0.0-{}", &checksum[..32])));
    let before = fs::metadata(located.dir.join("Cargo.toml")).and_then(|meta| meta.modified());
    assert_eq!(place.locate("a").expect("is there"), located);
    let after = fs::metadata(located.dir.join("Cargo.toml")).and_then(|meta| meta.modified());
    assert_eq!(before.expect("a time"), after.expect("a time"));
}

#[test]
fn a_download_with_another_checksum_is_refused_with_the_reason() {
    let mut place = Place::new();
    place.cached(CRATES_IO, "a", "1.0.0");
    place.depends("a", "1.0.0", crates_io(Some("00".repeat(32))));
    let missing = place.locate("a").expect_err("must be refused").to_string();
    assert!(missing.contains("SHA-256"), "{missing}");
    assert!(!place.dirs.crates().exists());
}

#[test]
fn a_stranger_of_the_same_name_in_another_registry_is_not_taken() {
    let mut place = Place::new();
    place.source(CRATES_IO, "a", "1.0.0");
    place.cached(CRATES_IO, "a", "1.0.0");
    let index = Some("sparse+https://crates.example.com/index/".into());
    let bytes = crate_file("a", "1.0.0");
    let origin = DependencyOrigin::Registry { index, checksum: Some(sha256_hex(&bytes)) };
    place.depends("a", "1.0.0", origin);
    place.put(&format!("cargo/registry/cache/{CRATES_IO}/a-1.0.0.crate"), "another crate");
    let missing = place.locate("a").expect_err("another crate");
    assert!(missing.to_string().contains("SHA-256"), "{missing}");
    assert_eq!(missing.needs, Needs::RightFile);
    // Of the same host, and without a file that tells which of its registries it is of.
    place.source("crates.example.com-0123456789abcdef", "a", "1.0.0");
    assert!(place.locate("a").is_err());
    place.cached("crates.example.com-0123456789abcdef", "a", "1.0.0");
    assert!(place.found("a").0 == How::RegistrySource);
}

#[test]
fn a_registry_of_the_same_host_is_told_apart_by_the_checksum() {
    let mut place = Place::new();
    let (one, other) = ("git.example.com-0123456789abcdef", "git.example.com-fedcba9876543210");
    place.source(one, "a", "1.0.0");
    place.put(&format!("cargo/registry/cache/{one}/a-1.0.0.crate"), "another crate");
    place.source(other, "a", "1.0.0");
    let checksum = place.cached(other, "a", "1.0.0");
    let origin = |checksum| DependencyOrigin::Registry {
        index: Some("sparse+https://git.example.com/acme/index/".into()),
        checksum,
    };
    place.depends("a", "1.0.0", origin(Some(checksum)));
    let located = place.locate("a").expect("is there");
    assert!(located.dir.to_string_lossy().contains(other), "{located:?}");
    place.workspace.dependencies.clear();
    place.depends("a", "1.0.0", origin(None));
    let missing = place.locate("a").expect_err("either could be it").to_string();
    assert!(missing.contains("several registries of git.example.com"), "{missing}");
}

#[test]
fn a_file_that_was_found_right_is_read_again_once_it_changed() {
    let mut place = Place::new();
    place.source(CRATES_IO, "a", "1.0.0");
    let checksum = place.cached(CRATES_IO, "a", "1.0.0");
    place.depends("a", "1.0.0", crates_io(Some(checksum)));
    for _ in 0..2 {
        assert_eq!(place.found("a").0, How::RegistrySource);
    }
    place.put(&format!("cargo/registry/cache/{CRATES_IO}/a-1.0.0.crate"), "another crate");
    assert!(place.locate("a").is_err());
}

#[test]
fn a_vendored_crate_of_another_file_than_the_lock_file_means_is_refused() {
    let mut place = Place::new();
    place.put("vendor/a/Cargo.toml", manifest("a", "1.0.0"));
    let sums = format!("{{\"package\":\"{}\"}}", "11".repeat(32));
    place.put("vendor/a/.cargo-checksum.json", sums);
    place.depends("a", "1.0.0", crates_io(Some("22".repeat(32))));
    let missing = place.locate("a").expect_err("another crate");
    assert!(missing.to_string().contains("has the SHA-256 1111"), "{missing}");
    assert_eq!(missing.needs, Needs::RightFile);
    place.workspace.dependencies.clear();
    place.depends("a", "1.0.0", crates_io(Some("11".repeat(32))));
    assert_eq!(place.found("a").0, How::Vendor);
}

#[test]
fn a_mirror_of_the_same_content_is_taken() {
    let mut place = Place::new();
    place.source(CRATES_IO, "other", "1.0.0");
    place.source("mirror.example.com-0123456789abcdef", "a", "1.0.0");
    let checksum = place.cached("mirror.example.com-0123456789abcdef", "a", "1.0.0");
    place.depends("a", "1.0.0", crates_io(Some(checksum)));
    assert_eq!(place.found("a").0, How::RegistrySource);
}

#[test]
fn where_all_is_mirrored_the_mirror_counts_as_crates_io() {
    let place = Place::new();
    place.source("mirror.example.com-0123456789abcdef", "a", "1.0.0");
    assert_eq!(place.found("a").0, How::RegistrySource);
}

#[test]
fn sources_that_cargo_did_not_finish_come_from_the_download() {
    let mut place = Place::new();
    let dir = place.source(CRATES_IO, "a", "1.0.0");
    fs::remove_file(dir.join(".cargo-ok")).expect("removes");
    let checksum = place.cached(CRATES_IO, "a", "1.0.0");
    place.depends("a", "1.0.0", crates_io(Some(checksum)));
    assert_eq!(place.found("a").0, How::RegistryCache);
}

#[test]
fn a_git_dependency_is_found_in_cargos_checkout() {
    let mut place = Place::new();
    let checkout = "cargo/git/checkouts/mono-0123456789abcdef/abc1234";
    place.put(&format!("{checkout}/.cargo-ok"), "");
    place.put(&format!("{checkout}/Cargo.toml"), "[workspace]\n");
    place.put(
        &format!("{checkout}/crates/a/Cargo.toml"),
        "[package]\nname = \"a\"\nversion.workspace = true\n",
    );
    let origin = DependencyOrigin::Git {
        url: "https://github.com/o/Mono.git".into(),
        commit: "abc1234def".to_owned(),
    };
    place.depends("a", "1.0.0", origin);
    let located = place.locate("a").expect("is there");
    assert_eq!(located.how, How::Git);
    assert!(located.dir.ends_with("abc1234/crates/a"));
    place.workspace.dependencies.clear();
    let source = "git+https://github.com/o/mono?branch=x#abc1234def".to_owned();
    place.workspace.locked = vec![LockedPackage {
        name: "a".to_owned(),
        version: version("1.0.0"),
        source: Some(source),
        checksum: None,
    }];
    assert_eq!(place.found("a").0, How::Git);
}
