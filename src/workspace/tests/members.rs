use std::fs;

use expect_test::expect;

use super::place::Place;
use crate::workspace::Fingerprint;

const WORKSPACE: &str = "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"2\"\n";

#[test]
fn f48_a_folder_without_a_manifest_is_no_project() {
    let place = Place::with(&[("src/main.rs", "")]);
    assert_eq!(place.locate("src"), Ok(None));
    assert!(place.try_load("src").expect("no error").is_none());
    assert_eq!(place.locate("gone/and/deeper"), Ok(None));
}

#[test]
fn f50_any_folder_or_file_of_the_workspace_leads_to_its_root() {
    let place = Place::with(&[("Cargo.toml", WORKSPACE)]);
    place.package("crates/a", "a", "");
    place.write("docs/deep/page.md", "");
    for start in ["", "docs/deep", "docs/deep/page.md", "crates/a/src", "crates/a/src/gone"] {
        assert_eq!(place.locate(start), Ok(Some(".".into())), "{start}");
    }
    assert_eq!(place.members(&place.load("crates/a/src")), ["a crates/a"]);
}

#[test]
fn f49_a_lone_package_is_its_own_root() {
    let place = Place::with(&[]);
    place.package("one", "one", "[dependencies]\ntwo = { path = \"two\" }");
    place.package("one/two", "two", "");
    assert_eq!(place.members(&place.load("one/src")), ["one one"]);
    assert_eq!(place.locate("one/two"), Ok(Some("one/two".into())));
}

#[test]
fn f49_path_dependencies_inside_the_root_are_members() {
    let place = Place::with(&[]);
    place.package(
        "",
        "root",
        "[workspace]\n[dependencies]\na = { path = \"libs/a\" }\n[dev-dependencies]\nout = { path = \"../out\" }",
    );
    place.package(
        "libs/a",
        "a",
        "[target.'cfg(unix)'.build-dependencies]\nb = { path = \"../b\" }",
    );
    place.package("libs/b", "b", "");
    place.package("libs/c", "c", "");
    place.package("../out", "out", "");
    assert_eq!(place.members(&place.load("libs/b")), ["root .", "a libs/a", "b libs/b"]);
    assert_eq!(place.locate("libs/b/src"), Ok(Some(".".into())));
}

#[test]
fn f49_a_package_outside_says_where_its_workspace_is() {
    let place = Place::with(&[("ws/Cargo.toml", "[workspace]\nmembers = [\"../out\"]\n")]);
    place.package("out", "out", "workspace = \"../ws\"");
    assert_eq!(place.locate("out/src"), Ok(Some("ws".into())));
    let loaded = place.load("out");
    assert_eq!(place.members(&loaded), ["out out"]);
    assert_eq!(place.relative(&loaded.workspace.root), "ws");
}

#[test]
fn f49_excluded_packages_stand_alone() {
    let place = Place::with(&[(
        "Cargo.toml",
        "[workspace]\nmembers = [\"crates/*\", \"tools/kept\"]\nexclude = [\"crates/x\", \"tools\"]\n",
    )]);
    for name in ["crates/a", "crates/x", "tools/kept", "tools/other"] {
        place.package(name, name.rsplit('/').next().expect("a name"), "");
    }
    assert_eq!(place.locate("crates/x"), Ok(Some("crates/x".into())));
    assert_eq!(place.locate("tools/other"), Ok(Some("tools/other".into())));
    assert_eq!(place.locate("tools/kept"), Ok(Some(".".into())));
    assert_eq!(place.members(&place.load("")), ["a crates/a", "kept tools/kept"]);
}

#[test]
fn f49_a_package_that_the_workspace_does_not_list_is_taken_alone_with_a_warning() {
    let place = Place::with(&[("Cargo.toml", WORKSPACE)]);
    place.package("crates/a", "a", "");
    place.package("extra", "extra", "");
    let loaded = place.load("extra/src");
    assert_eq!(place.members(&loaded), ["extra extra"]);
    expect![[r#"
        extra/Cargo.toml: this package is not a member of the workspace around it; it was taken by itself; the workspace is Cargo.toml; add it to `workspace.members` or `workspace.exclude` there"#]]
    .assert_eq(&place.told(&loaded).join("\n"));
    // Listing it must be noticed.
    place.write("Cargo.toml", "[workspace]\nmembers = [\"crates/*\", \"extra\"]\n");
    assert!(!loaded.fingerprint.holds());
}

#[test]
fn f49_nested_workspaces_belong_to_themselves() {
    let place = Place::with(&[("Cargo.toml", WORKSPACE)]);
    place.package("crates/a", "a", "");
    place.package("crates/own", "own", "[workspace]");
    let loaded = place.load("");
    assert_eq!(place.members(&loaded), ["a crates/a"]);
    assert!(place.told(&loaded)[0].contains("belongs to another workspace"));
    assert_eq!(place.locate("crates/own/src"), Ok(Some("crates/own".into())));
}

#[test]
fn f49_what_cargo_unpacks_or_downloads_is_in_no_workspace() {
    let place = Place::with(&[("Cargo.toml", "[workspace]\nmembers = []\n")]);
    place.package("target/package/a-0.1.0", "a", "");
    let own = "target/package/a-0.1.0";
    assert_eq!(place.locate(own), Ok(Some(own.into())));
    assert!(place.load(own).diagnostics.is_empty());
    place.package("cargo/registry/src/b-1.0.0", "b", "");
    let home = place.path("cargo");
    let env = crate::config::Environment::with(&place.root, [("CARGO_HOME", home.as_os_str())]);
    let start = place.path("cargo/registry/src/b-1.0.0");
    let loaded =
        crate::workspace::Workspace::load(&start, &env).expect("reads").expect("a package");
    assert_eq!(loaded.workspace.root, start);
    assert!(loaded.diagnostics.is_empty(), "{:?}", place.told(&loaded));
}

#[cfg(unix)]
#[test]
fn f50_links_to_folders_are_resolved() {
    let place = Place::with(&[("real/Cargo.toml", WORKSPACE)]);
    place.package("real/crates/a", "a", "");
    std::os::unix::fs::symlink("real/crates", place.path("short")).expect("links");
    assert_eq!(place.locate("short/a/src"), Ok(Some("real".into())));
}

#[test]
fn f49_a_linked_git_worktree_is_an_ordinary_folder() {
    let place = Place::with(&[("main/Cargo.toml", WORKSPACE), ("tree/Cargo.toml", WORKSPACE)]);
    place.write("tree/.git", "gitdir: ../main/.git/worktrees/tree\n");
    place.package("tree/crates/a", "a", "");
    assert_eq!(place.locate("tree/crates/a"), Ok(Some("tree".into())));
}

#[test]
fn versions_are_inherited_from_the_workspace() {
    let place = Place::with(&[(
        "Cargo.toml",
        "[workspace]\nmembers = [\"a\", \"b\"]\n[workspace.package]\nversion = \"2.3.4\"\n",
    )]);
    place.write("a/Cargo.toml", "[package]\nname = \"a\"\nversion.workspace = true\n");
    place.write("b/Cargo.toml", "\u{feff}[package]\r\nname = \"b\"\r\n");
    let loaded = place.load("b");
    let versions: Vec<_> = loaded.workspace.members.iter().map(|m| m.version.clone()).collect();
    assert_eq!(versions, [Some(semver::Version::new(2, 3, 4)), None]);
}

#[test]
fn f48_broken_manifests_are_told_with_their_place() {
    let tell = |text: &str| {
        let place = Place::with(&[("Cargo.toml", text)]);
        place.tell(&place.try_load("").expect_err("broken"))
    };
    let told = [
        tell("[package]\nname = \"a\"\nversion = = 1\n"),
        tell("\u{feff}[package]\r\nname = 7\r\n"),
        tell("[package]\nversion = \"1.0.0\"\n"),
        tell("[package]\nname = \"a\"\nversion = \"1\"\n"),
        tell("[workspace]\nmembers = \"crates/*\"\n"),
        tell("[workspace]\nmembers = [\n  \"a***\",\n]\n"),
        tell("[package]\nname = \"a\"\n[dependencies]\nserde = 1\n"),
        tell("[profile.release]\nlto = true\n"),
        tell("[package]\nname = \"a\"\nworkspace = \"nowhere\"\n"),
        tell("[workspace]\nmembers = [\n  \"here\", \"gone\"]\n"),
    ];
    expect![[r#"
        Cargo.toml:3:11: extra `=`, expected nothing; cargo can't read it either: mend the manifest
        Cargo.toml:2:8: `package.name` must be a string, found an integer; cargo can't read it either: mend the manifest
        Cargo.toml:1:1: `package.name` is missing; cargo can't read it either: mend the manifest
        Cargo.toml:3:11: `package.version` is no version: unexpected end of input while parsing major version number; cargo can't read it either: mend the manifest
        Cargo.toml:2:11: `workspace.members` must be an array of strings, found a string; cargo can't read it either: mend the manifest
        Cargo.toml:3:3: `a***` is no pattern: wildcards are either regular `*` or recursive `**`; `*` stands for any name, `**` alone for any folders
        Cargo.toml:4:9: `dependencies.serde` must be a string or a table, found an integer; cargo can't read it either: mend the manifest
        Cargo.toml:1:1: there is neither `[package]` nor `[workspace]` here; cargo can't read it either: mend the manifest
        Cargo.toml:3:13: `package.workspace` points to a folder without Cargo.toml (nowhere); give the folder of the workspace's root, or remove the key
        Cargo.toml:3:3: the workspace's member `here` has no Cargo.toml (here/Cargo.toml is missing); create it, or take it out of `workspace.members`"#]].assert_eq(&told.join("\n"));
}

#[test]
fn f48_a_broken_member_is_named() {
    let place = Place::with(&[("Cargo.toml", WORKSPACE)]);
    place.package("crates/a", "a", "");
    place.write("crates/b/Cargo.toml", "[package]\nname = \"b\n");
    let told = place.tell(&place.try_load("crates/a").expect_err("broken"));
    assert!(told.starts_with("crates/b/Cargo.toml:2:"), "{told}");
    fs::write(place.path("crates/b/Cargo.toml"), b"[package]\nname = \"b\xff\"\n").expect("writes");
    let told = place.tell(&place.try_load("").expect_err("broken"));
    assert!(told.starts_with("crates/b/Cargo.toml:2:10: this file is not UTF-8"), "{told}");
}

#[test]
fn what_can_be_lived_with_is_a_warning() {
    let place = Place::with(&[("Cargo.toml", "[workspace]\nmembers = [\"crates/*\", \"x/?\"]\n")]);
    place.package("crates/a", "a", "[dependencies]\nodd = \"one\"\ninner.workspace = true\n");
    fs::create_dir(place.path("crates/empty")).expect("creates");
    let loaded = place.load("");
    assert_eq!(place.members(&loaded), ["a crates/a"]);
    expect![[r#"
        Cargo.toml:2:24: no folder matches `x/?`; make such a folder, or remove the pattern
        crates/empty/Cargo.toml: a folder that `workspace.members` matches has no Cargo.toml; cargo stops at this: remove the folder, or add it to `workspace.exclude`
        crates/a/Cargo.toml:6:7: `one` is no version requirement: unexpected character 'o' while parsing major version number; every version was accepted
        crates/a/Cargo.toml:7:1: `inner` is not in the workspace's `[workspace.dependencies]`; add it there, or declare its version here
        Cargo.lock: there is no Cargo.lock, so the newest versions count that the manifests admit; run `cargo generate-lockfile`"#]].assert_eq(&place.told(&loaded).join("\n"));
    assert!(loaded.diagnostics.iter().all(|problem| !problem.is_error()));
}

#[test]
fn f70_every_path_that_was_asked_for_is_an_input() {
    let place = Place::with(&[("Cargo.toml", WORKSPACE)]);
    place.package("crates/a", "a", "");
    fs::create_dir(place.path("crates/empty")).expect("creates");
    let loaded = place.load("crates/a/src");
    let inside: Vec<_> = loaded
        .workspace
        .inputs
        .iter()
        .filter(|path| path.starts_with(&place.root))
        .map(|path| place.relative(path))
        .collect();
    expect![[r#"
        .cargo/config
        .cargo/config.toml
        Cargo.lock
        Cargo.toml
        crates
        crates/Cargo.toml
        crates/a/Cargo.toml
        crates/empty
        crates/empty/Cargo.toml"#]]
    .assert_eq(&inside.join("\n"));
    assert!(loaded.workspace.inputs.is_sorted());
    assert_eq!(loaded.workspace.inputs, place.load("").workspace.inputs);
    assert!(loaded.fingerprint.holds());
    assert!(Fingerprint::of(&loaded.workspace.inputs).holds());
}

#[test]
fn f70_whatever_changes_the_workspace_changes_its_fingerprint() {
    let changes: [(&str, &str); 6] = [
        ("crates/b/Cargo.toml", "[package]\nname = \"b\"\n"),
        ("crates/empty/Cargo.toml", "[package]\nname = \"e\"\n"),
        ("crates/a/Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.2.0\"\n"),
        ("Cargo.lock", "version = 4\n"),
        ("Cargo.toml", "[workspace]\nmembers = []\n"),
        (".cargo/config.toml", "[patch.crates-io]\nx = { path = \"x\" }\n"),
    ];
    for (name, text) in changes {
        let place = Place::with(&[("Cargo.toml", WORKSPACE)]);
        place.package("crates/a", "a", "");
        fs::create_dir(place.path("crates/empty")).expect("creates");
        let loaded = place.load("");
        assert!(loaded.fingerprint.holds());
        place.write(name, text);
        assert!(!loaded.fingerprint.holds(), "{name}");
    }
}

#[test]
fn f70_a_workspace_that_appears_around_a_package_is_noticed() {
    let place = Place::with(&[]);
    place.package("a", "a", "");
    let loaded = place.load("a");
    place.write("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n");
    assert!(!loaded.fingerprint.holds());
    assert_eq!(place.locate("a"), Ok(Some(".".into())));
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_file_does_not_make_us_wait() {
    let place = Place::with(&[("inner/x", "")]);
    for name in ["inner/Cargo.toml", "Cargo.lock"] {
        symposium_testlib::make_pipe(&place.path(name));
    }
    assert!(place.locate("inner").expect_err("no manifest").message.contains("is not a file"));
    place.package("", "root", "");
    assert_eq!(place.load("").workspace.lock_file, None);
}

#[cfg(unix)]
#[test]
fn a_member_behind_a_link_is_watched_through_it() {
    let place = Place::with(&[("Cargo.toml", "[workspace]\nmembers = [\"link\"]\n")]);
    place.package("../one", "one", "");
    place.package("../two", "two", "");
    let link = place.path("link");
    std::os::unix::fs::symlink("../one", &link).expect("links");
    let loaded = place.load("");
    assert_eq!(place.members(&loaded), ["one link"]);
    fs::remove_file(&link).expect("removes");
    std::os::unix::fs::symlink("../two", &link).expect("links");
    assert!(!loaded.fingerprint.holds());
    assert_eq!(place.members(&place.load("")), ["two link"]);
}

#[test]
fn what_is_broken_outside_is_told_once() {
    let place = Place::with(&[("Cargo.toml", WORKSPACE), ("../out/Cargo.toml", "[package\n")]);
    for name in ["a", "b"] {
        place.package(
            &format!("crates/{name}"),
            name,
            "[dependencies]\nout = { path = \"../../../out\" }",
        );
    }
    let told = place.told(&place.load(""));
    let broken = told.iter().filter(|line| line.contains("out/Cargo.toml:1:"));
    assert_eq!(broken.count(), 1, "{told:?}");
}

#[test]
fn a_file_that_members_names_is_passed_over() {
    let place = Place::with(&[]);
    place.write("Cargo.toml", "[workspace]\nmembers = [\"a\", \"README.md\", \"c*\"]\n");
    place.write("README.md", "# Shop\n");
    place.write("changes", "");
    place.package("a", "a", "");
    let loaded = place.load("");
    assert!(loaded.diagnostics.iter().all(|problem| !problem.is_error()));
    assert_eq!(loaded.workspace.members.len(), 1);
}
