use super::place::Place;

fn lock(packages: &[(&str, &str, &str, &[&str])]) -> String {
    let mut text = "version = 4\n".to_owned();
    for (name, version, source, dependencies) in packages {
        text.push_str(&format!("\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n"));
        if !source.is_empty() {
            text.push_str(&format!("source = \"{source}\"\n"));
        }
        if *source == CRATES_IO {
            text.push_str(&format!("checksum = \"sum-{name}-{version}\"\n"));
        }
        text.push_str(&format!("dependencies = {dependencies:?}\n"));
    }
    text
}

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

#[test]
fn f51_every_kind_counts_and_what_dependencies_depend_on_does_not() {
    let place = Place::with(&[]);
    place.package(
        "",
        "root",
        r#"
[dependencies]
normal = "1"
maybe = { version = "1", optional = true }
[dev-dependencies]
dev = "1"
[build-dependencies]
build = "1"
[target.'cfg(windows)'.dependencies]
windows = "1"
[target.x86_64-unknown-linux-gnu.dev-dependencies]
linux = "1"
"#,
    );
    let names = ["normal", "maybe", "dev", "build", "windows", "linux"];
    let mut packages: Vec<(&str, &str, &str, &[&str])> = vec![("root", "0.1.0", "", &names)];
    packages.extend(names.map(|name| (name, "1.0.1", CRATES_IO, &["transitive"] as &[&str])));
    packages.push(("transitive", "1.0.0", CRATES_IO, &[]));
    place.write("Cargo.lock", &lock(&packages));
    let loaded = place.load("");
    let found: Vec<_> = loaded.workspace.dependencies.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(found, ["build", "dev", "linux", "maybe", "normal", "windows"]);
    assert_eq!(loaded.workspace.locked.len(), 8);
    assert_eq!(place.dependencies(&loaded)[0], "build 1.0.1 crates.io sum-build-1.0.1");
    assert_eq!(loaded.workspace.lock_file, Some(place.path("Cargo.lock")));
    assert!(loaded.diagnostics.is_empty());
}

#[test]
fn f106_several_versions_count_as_far_as_members_use_them() {
    let place = Place::with(&[("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\n")]);
    place.package("a", "a", "[dependencies]\nrand = \"0.8\"");
    place.package("b", "b", "[dependencies]\nrand07 = { package = \"rand\", version = \"0.7\" }");
    place.write(
        "Cargo.lock",
        &lock(&[
            ("a", "0.1.0", "", &["rand 0.8.5"]),
            ("b", "0.1.0", "", &["rand 0.7.3", "deep"]),
            ("deep", "1.0.0", CRATES_IO, &["rand 0.5.0"]),
            ("rand", "0.5.0", CRATES_IO, &[]),
            ("rand", "0.7.3", CRATES_IO, &[]),
            ("rand", "0.8.5", CRATES_IO, &[]),
        ]),
    );
    assert_eq!(
        place.dependencies(&place.load("a")),
        ["rand 0.7.3 crates.io sum-rand-0.7.3", "rand 0.8.5 crates.io sum-rand-0.8.5"]
    );
}

#[test]
fn f107_decision_4_a_member_that_another_depends_on_counts() {
    let place = Place::with(&[("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\n")]);
    place.package("a", "a", "[dependencies]\nb = { path = \"../b\" }");
    place.package("b", "b", "[dev-dependencies]\nb = { path = \".\" }");
    let loaded = place.load("");
    assert_eq!(place.dependencies(&loaded), ["b 0.1.0 path b"]);
    assert!(loaded.diagnostics.is_empty(), "path dependencies need no lock file");
}

#[test]
fn f108_pre_releases_are_what_the_lock_file_says() {
    let place = Place::with(&[]);
    place.package("", "root", "[dependencies]\nx = \"2.0.0-beta\"");
    place.write(
        "Cargo.lock",
        &lock(&[("root", "0.1.0", "", &["x"]), ("x", "2.0.0-beta.3", CRATES_IO, &[])]),
    );
    assert_eq!(
        place.dependencies(&place.load("")),
        ["x 2.0.0-beta.3 crates.io sum-x-2.0.0-beta.3"]
    );
}

#[test]
fn f109_compound_requirements_choose_among_versions() {
    let place = Place::with(&[]);
    place.package("", "root", "[dependencies]\nx = \">=1, <2\"");
    // The lock file does not know the member yet.
    place.write(
        "Cargo.lock",
        &lock(&[
            ("x", "0.9.0", CRATES_IO, &[]),
            ("x", "1.9.0", CRATES_IO, &[]),
            ("x", "2.0.0", CRATES_IO, &[]),
        ]),
    );
    assert_eq!(place.dependencies(&place.load("")), ["x 1.9.0 crates.io sum-x-1.9.0"]);
    place.package("", "root", "[dependencies]\nx = \"7\"");
    assert_eq!(place.dependencies(&place.load("")), ["x - unresolved"], "none satisfies");
}

#[test]
fn f110_the_real_name_counts_also_when_inherited() {
    let place = Place::with(&[(
        "Cargo.toml",
        r#"[workspace]
members = ["deep/a"]
[workspace.dependencies]
json = { package = "serde_json", version = "1" }
near = { package = "real-near", path = "libs/near" }
"#,
    )]);
    place.package(
        "deep/a",
        "a",
        "[dependencies]\njson = { workspace = true, optional = true }\nnear.workspace = true",
    );
    place.package("libs/near", "real-near", "");
    place.write(
        "Cargo.lock",
        &lock(&[
            ("a", "0.1.0", "", &["real-near", "serde_json"]),
            ("real-near", "0.1.0", "", &[]),
            ("serde_json", "1.0.9", CRATES_IO, &[]),
        ]),
    );
    let loaded = place.load("deep/a");
    assert_eq!(
        place.dependencies(&loaded),
        ["real-near 0.1.0 path libs/near", "serde_json 1.0.9 crates.io sum-serde_json-1.0.9"]
    );
    assert_eq!(place.members(&loaded), ["a deep/a", "real-near libs/near"]);
}

#[test]
fn f51_registries_and_git_tell_where_they_are() {
    let place = Place::with(&[]);
    place.package(
        "",
        "root",
        r#"[dependencies]
sparse = "1"
own = { version = "1", registry = "corp" }
old-own = { version = "1", registry = "old" }
forked = { git = "https://example.com/forked", branch = "a/b" }
"#,
    );
    place.write(
        "Cargo.lock",
        &lock(&[
            ("root", "0.1.0", "", &["forked", "own", "old-own", "sparse"]),
            ("forked", "0.3.0", "git+https://example.com/forked?branch=a%2Fb#0123abc", &[]),
            ("old-own", "1.0.0", "registry+ssh://git@example.com/index", &[]),
            ("own", "1.0.0", "sparse+https://crates.example.com/index/", &[]),
            ("sparse", "1.0.0", "sparse+https://index.crates.io/", &[]),
        ]),
    );
    assert_eq!(
        place.dependencies(&place.load("")),
        [
            "forked 0.3.0 git https://example.com/forked 0123abc",
            "old-own 1.0.0 registry+ssh://git@example.com/index -",
            "own 1.0.0 sparse+https://crates.example.com/index/ -",
            "sparse 1.0.0 crates.io -",
        ]
    );
}

#[test]
fn f51_one_name_from_two_sources_is_told_apart_by_the_declaration() {
    let place = Place::with(&[]);
    place.package(
        "",
        "root",
        "[dependencies]\nx = \"1\"\ny = { package = \"x\", git = \"https://example.com/x\" }",
    );
    place.write(
        "Cargo.lock",
        &lock(&[
            ("root", "0.1.0", "", &["x 1.0.0", "x 1.2.0"]),
            ("x", "1.0.0", CRATES_IO, &[]),
            ("x", "1.2.0", "git+https://example.com/x#abc", &[]),
        ]),
    );
    assert_eq!(
        place.dependencies(&place.load("")),
        ["x 1.0.0 crates.io sum-x-1.0.0", "x 1.2.0 git https://example.com/x abc"]
    );
}

#[test]
fn f51_patches_by_path_and_git_are_what_the_lock_file_says() {
    let place = Place::with(&[]);
    place.package(
        "",
        "root",
        r#"[dependencies]
patched = "1"
forked = "1"
configured = "1"
renamed = "1"
[patch.crates-io]
patched = { path = "../patched" }
forked = { git = "https://example.com/f" }
other-key = { package = "renamed", path = "vendored/renamed" }
"#,
    );
    place.write("../.cargo/config.toml", "[patch.crates-io]\nconfigured = { path = \"c\" }\n");
    place.write(
        "Cargo.lock",
        &lock(&[
            ("configured", "1.0.0", "", &[]),
            ("forked", "1.1.0", "git+https://example.com/f#abc", &[]),
            ("patched", "1.2.0", "", &[]),
            ("renamed", "1.3.0", "", &[]),
            ("root", "0.1.0", "", &["configured", "forked", "patched", "renamed"]),
        ]),
    );
    let up = |name: &str| place.root.with_file_name(name).display().to_string();
    assert_eq!(
        place.dependencies(&place.load("")),
        [
            format!("configured 1.0.0 path {}", up("c")),
            "forked 1.1.0 git https://example.com/f abc".to_owned(),
            format!("patched 1.2.0 path {}", up("patched")),
            "renamed 1.3.0 path vendored/renamed".to_owned(),
        ]
    );
}

#[test]
fn f51_path_dependencies_have_the_version_of_their_manifest() {
    let place = Place::with(&[]);
    place.package(
        "app",
        "app",
        "[dependencies]\nlib = { path = \"../ws/lib\" }\ngone = { path = \"../gone\" }\nbad = { path = \"../bad\" }",
    );
    place.write(
        "ws/Cargo.toml",
        "[workspace]\nmembers = [\"lib\"]\n[workspace.package]\nversion = \"3.1.0\"\n",
    );
    place.write("ws/lib/Cargo.toml", "[package]\nname = \"lib\"\nversion.workspace = true\n");
    place.write("bad/Cargo.toml", "[package\n");
    place.write(
        "app/Cargo.lock",
        &lock(&[
            ("app", "0.1.0", "", &["bad", "gone", "lib"]),
            ("gone", "0.4.0", "", &[]),
            ("lib", "3.0.0", "", &[]),
        ]),
    );
    let loaded = place.load("app");
    assert_eq!(
        place.dependencies(&loaded),
        ["bad - unresolved", "gone 0.4.0 unresolved", "lib 3.1.0 path ws/lib"]
    );
    let told = place.told(&loaded).join("\n");
    assert!(told.contains("app/Cargo.toml:7:1: the path dependency `gone` is not there"), "{told}");
    assert!(told.contains("bad/Cargo.toml:1:"), "{told}");
    // Each manifest that was asked for is watched.
    place.package("gone", "gone", "");
    assert!(!loaded.fingerprint.holds());
}

#[test]
fn f51_without_a_lock_file_names_are_known_and_versions_are_not() {
    let place = Place::with(&[]);
    place.package("", "root", "[dependencies]\nserde = \"1\"");
    let loaded = place.load("");
    assert_eq!(place.dependencies(&loaded), ["serde - unresolved"]);
    assert_eq!(
        place.told(&loaded),
        [
            "Cargo.lock: there is no Cargo.lock, so the newest versions count that the manifests admit; run `cargo generate-lockfile`"
        ]
    );
    assert!(loaded.workspace.inputs.contains(&place.path("Cargo.lock")));
    assert_eq!(loaded.workspace.lock_file, None);
    assert!(!place.path("Cargo.lock").exists(), "reading makes no lock file");
}

#[test]
fn a_lock_file_that_is_behind_its_manifest_is_said_and_not_taken() {
    let place = Place::with(&[]);
    place.package("", "root", "[dependencies]\nx = \"1.3\"");
    let locked = [("root", "0.1.0", "", &["x"][..]), ("x", "1.2.3", CRATES_IO, &[])];
    place.write("Cargo.lock", &lock(&locked));
    let loaded = place.load("");
    assert_eq!(place.dependencies(&loaded), ["x - unresolved"]);
    assert_eq!(
        place.told(&loaded),
        [
            "Cargo.lock: Cargo.lock is behind the manifest: it has x 1.2.3, which `^1.3` does not admit; run `cargo check`, which updates it"
        ]
    );
}

#[test]
fn f51_an_edited_manifest_runs_ahead_of_its_lock_file() {
    let place = Place::with(&[]);
    place.package("", "root", "version2 = 1\n[dependencies]\nx = \"2\"\nnew = \"1\"\ny = \"1\"");
    place.write(
        "Cargo.lock",
        &lock(&[
            ("root", "0.0.9", "", &["x 1.0.0", "y"]),
            ("x", "1.0.0", CRATES_IO, &[]),
            ("y", "1.5.0", CRATES_IO, &["x 2.0.0"]),
            ("x", "2.0.0", CRATES_IO, &[]),
        ]),
    );
    let loaded = place.load("");
    assert_eq!(
        place.dependencies(&loaded),
        ["new - unresolved", "x 2.0.0 crates.io sum-x-2.0.0", "y 1.5.0 crates.io sum-y-1.5.0"]
    );
    assert_eq!(
        place.told(&loaded),
        [
            "Cargo.lock: Cargo.lock does not have new: its version is unknown; run `cargo check`, which completes it"
        ]
    );
}

#[test]
fn a_package_in_the_configuration_s_paths_stands_in_for_the_dependency_of_its_name() {
    let place = Place::with(&[]);
    let named = "direct = \"1\"\ndeep = \"1\"\nother = \"1\"\nhere = { path = \"../here\" }\n";
    place.package("", "root", &format!("[dependencies]\n{named}"));
    place.package("../here", "here", "");
    place.package("../far/here", "here", "");
    place.write(".cargo/config.toml", "paths = [\"../near\", \"../far\"]\n");
    place.package("../near", "direct", "");
    place.package("../far/crates/deep", "deep", "");
    place.package("../far/.hidden", "other", "");
    place.package("../far/target/package", "other", "");
    let locked = ["direct", "deep", "other"].map(|name| (name, "1.0.0", CRATES_IO, &[][..]));
    let root = ("root", "0.1.0", "", &["direct", "deep", "other"][..]);
    place.write("Cargo.lock", &lock(&[locked[0], locked[1], locked[2], root]));
    let up = |names: &[&str]| {
        let path = names.iter().fold(place.root.with_file_name(""), |path, name| path.join(name));
        path.display().to_string()
    };
    // As cargo does: the folder's own version, whatever the lock file has.
    assert_eq!(
        place.dependencies(&place.load("")),
        [
            format!("deep 0.1.0 path {}", up(&["far", "crates", "deep"])),
            format!("direct 0.1.0 path {}", up(&["near"])),
            format!("here 0.1.0 path {}", up(&["far", "here"])),
            "other 1.0.0 crates.io sum-other-1.0.0".to_owned(),
        ]
    );
    // Another package appears below: the workspace is read again.
    let before = place.load("");
    place.package("../far/new/one", "other", "");
    assert!(!before.fingerprint.holds());
}

#[test]
fn replaced_packages_come_from_where_the_manifest_says() {
    let place = Place::with(&[]);
    place.package(
        "",
        "root",
        r#"[dependencies]
here = "1"
there = "1"
stays = "1"
[replace]
"here:1.0.0" = { path = "../here" }
"https://github.com/rust-lang/crates.io-index#there@1.0.0" = { git = "https://example.com/t" }
"stays:0.9.0" = { path = "../stays" }
"#,
    );
    place.package("../here", "here", "");
    let names = ["here", "there", "stays"];
    place.write(
        "Cargo.lock",
        &lock(&[
            ("here", "1.0.0", "", &[]),
            ("here", "1.0.0", CRATES_IO, &[]),
            ("there", "1.0.0", "git+https://example.com/t#abc", &[]),
            ("there", "1.0.0", CRATES_IO, &[]),
            ("stays", "1.0.0", CRATES_IO, &[]),
            ("root", "0.1.0", "", &names),
        ]),
    );
    assert_eq!(
        place.dependencies(&place.load("")),
        [
            format!("here 1.0.0 path {}", place.root.with_file_name("here").display()),
            "stays 1.0.0 crates.io sum-stays-1.0.0".to_owned(),
            "there 1.0.0 git https://example.com/t abc".to_owned(),
        ]
    );
}
