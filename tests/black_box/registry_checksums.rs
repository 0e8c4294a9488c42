//! Which bytes are the dependency: those of the lock file's checksum, from the registry that the
//! workspace's own configuration names.

use symposium_testlib::{Sandbox, SparseRegistry};

use crate::registries::with_cargo;
use crate::{configure, skill};

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// A registry with `gizmo` 1.0.0, whose one skill is called `name`; and the file's checksum.
fn registry_with(sandbox: &Sandbox, name: &str) -> (SparseRegistry, String) {
    let registry = SparseRegistry::start(&sandbox.dir().join(name));
    let text = skill(name, "d");
    let file = format!("skills/{name}/SKILL.md");
    let sum = registry.publish("gizmo", "1.0.0", &[(&file, &text)]);
    (registry, sum)
}

fn instead(registry: &SparseRegistry) -> String {
    format!(
        "[source.crates-io]\nreplace-with = \"other\"\n[source.other]\nregistry = \"{}\"\n",
        registry.index()
    )
}

/// A workspace whose lock file has `gizmo` from `source`, with a checksum; and a plugin that takes
/// its skills.
fn locked(sandbox: &Sandbox, source: &str, sum: &str) {
    sandbox.write(
        "ws/Cargo.toml",
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n[dependencies]\ngizmo = \"1\"\n",
    );
    sandbox.write("ws/src/lib.rs", "");
    sandbox.write(
        "ws/Cargo.lock",
        format!(
            "version = 4\n\n[[package]]\nname = \"gizmo\"\nversion = \"1.0.0\"\nsource = \"{source}\"\n\
             checksum = \"{sum}\"\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n\
             dependencies = [\n \"gizmo\",\n]\n"
        ),
    );
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"gizmo\"]\n[[skills]]\nsource = \"crate\"\n",
    );
}

fn installed(sandbox: &Sandbox) -> Vec<String> {
    let folders = std::fs::read_dir(sandbox.ws().join(".claude/skills")).into_iter().flatten();
    folders
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect()
}

fn downloads(registry: &SparseRegistry) -> usize {
    registry.server.requests().iter().filter(|request| request.contains(".crate")).count()
}

const SYNC: [&str; 3] = ["sync", "--agent", "claude"];

#[test]
fn the_registry_that_the_workspace_has_in_the_place_of_crates_io_is_asked_and_not_the_users() {
    let sandbox = with_cargo();
    let (theirs, sum) = registry_with(&sandbox, "of-the-workspace");
    let (users, _) = registry_with(&sandbox, "of-the-user");
    sandbox.write("home/.cargo/config.toml", instead(&users));
    sandbox.write("ws/.cargo/config.toml", instead(&theirs));
    locked(&sandbox, CRATES_IO, &sum);
    let run = sandbox.run(&SYNC).ok();
    assert_eq!(installed(&sandbox), ["of-the-workspace"], "{}", run.stderr);
    assert_eq!(downloads(&users), 0);
}

#[test]
fn a_wrong_copy_on_disk_never_wins_over_the_right_one() {
    let sandbox = with_cargo();
    let (theirs, sum) = registry_with(&sandbox, "of-the-workspace");
    let (users, _) = registry_with(&sandbox, "of-the-user");
    sandbox.write("home/.cargo/config.toml", instead(&users));
    sandbox.write("ws/Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n");
    sandbox.write("ws/src/lib.rs", "");
    // The user's copy comes onto the disk first.
    sandbox.run(&["crate-info", "gizmo"]).ok();
    assert_eq!(downloads(&users), 1);
    sandbox.write("ws/.cargo/config.toml", instead(&theirs));
    locked(&sandbox, CRATES_IO, &sum);
    let run = sandbox.run(&["sync", "--agent", "claude", "--offline"]).ok();
    assert_eq!(installed(&sandbox), [""; 0]);
    assert!(run.stderr.contains("gizmo 1.0.0"), "{}", run.stderr);
    assert!(run.stderr.contains("has the SHA-256"), "{}", run.stderr);
    let run = sandbox.run(&SYNC).ok();
    assert_eq!(installed(&sandbox), ["of-the-workspace"], "{}", run.stderr);
    // Both are on disk now.
    let run = sandbox.run(&["sync", "--agent", "claude", "--offline"]).ok();
    assert_eq!(installed(&sandbox), ["of-the-workspace"], "{}", run.stderr);
}

#[test]
fn a_crate_with_another_checksum_than_the_lock_file_has_is_refused_by_name() {
    let sandbox = with_cargo();
    let (users, _) = registry_with(&sandbox, "of-the-user");
    sandbox.write("home/.cargo/config.toml", instead(&users));
    locked(&sandbox, CRATES_IO, &"ab".repeat(32));
    for options in [&["--agent", "claude"][..], &["--agent", "claude", "--offline"]] {
        let run = sandbox.run(&[&["sync"], options].concat()).ok();
        assert_eq!(installed(&sandbox), [""; 0]);
        assert!(run.stderr.contains("gizmo 1.0.0"), "{}", run.stderr);
        assert!(run.stderr.contains("Cargo.lock has abab"), "{}", run.stderr);
        assert!(
            run.stderr.contains("the sources of those that apply can't be had"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_wrong_file_is_not_said_to_come_with_cargo_fetch() {
    let sandbox = with_cargo();
    let (users, sum) = registry_with(&sandbox, "of-the-user");
    sandbox.write("home/.cargo/config.toml", instead(&users));
    locked(&sandbox, CRATES_IO, &sum);
    configure(&sandbox, &["claude"], "");
    sandbox.run(&["sync"]).ok();
    // Somebody changed what cargo had downloaded.
    let registry = |folder: &str| sandbox.path(&format!("home/.cargo/registry/{folder}"));
    let cache = std::fs::read_dir(registry("cache")).expect("a folder").next();
    let file = cache.expect("a registry").expect("an entry").path().join("gizmo-1.0.0.crate");
    std::fs::write(&file, "another file").expect("writes");
    let plugin = sandbox.read("home/.symposium/plugins/p/SYMPOSIUM.toml");
    // Of a crate that no plugin speaks for it is told elsewhere.
    for plugin in [plugin.as_str(), "name = \"p\"\ncrates = [\"other\"]\n"] {
        sandbox.write("home/.symposium/plugins/p/SYMPOSIUM.toml", plugin);
        for args in [&["sync", "--offline"][..], &["doctor", "--offline"], &["audit", "--offline"]]
        {
            let run = sandbox.run(args);
            let screen = format!("{}{}", run.stdout, run.stderr);
            let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(screen.contains("don't build with it: remove it"), "{screen}");
            assert!(!screen.contains("`cargo fetch` brings"), "{screen}");
            assert!(!screen.contains("`cargo fetch` puts"), "{screen}");
        }
    }
    let status = sandbox.run(&["status"]).ok().stdout;
    assert!(status.contains("what cargo unpacked of it"), "{status}");
    // As it says.
    sandbox.write("home/.symposium/plugins/p/SYMPOSIUM.toml", plugin);
    std::fs::remove_file(file).expect("removes");
    std::fs::remove_dir_all(registry("src")).expect("removes");
    sandbox.run(&["sync"]).ok();
    assert_eq!(installed(&sandbox), ["of-the-user"]);
    assert_eq!(sandbox.run(&["doctor", "--offline"]).stdout.matches("SHA-256").count(), 0);
}

#[test]
fn of_two_registries_of_one_host_the_one_that_the_lock_file_names_is_taken() {
    let sandbox = with_cargo();
    let (one, sum) = registry_with(&sandbox, "of-one");
    let (other, _) = registry_with(&sandbox, "of-the-other");
    sandbox.write("home/.cargo/config.toml", instead(&other));
    sandbox.write("ws/Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n");
    sandbox.write("ws/src/lib.rs", "");
    sandbox.run(&["crate-info", "gizmo"]).ok();
    locked(&sandbox, &one.index(), &sum);
    let run = sandbox.run(&SYNC).ok();
    assert_eq!(installed(&sandbox), ["of-one"], "{}", run.stderr);
}

#[test]
fn a_folder_that_the_workspace_has_in_the_place_of_crates_io_is_not_passed_by() {
    let sandbox = with_cargo();
    let (users, sum) = registry_with(&sandbox, "of-the-user");
    sandbox.write("home/.cargo/config.toml", instead(&users));
    sandbox
        .write("ws/vendor/other/Cargo.toml", "[package]\nname = \"other\"\nversion = \"1.0.0\"\n");
    sandbox.write(
        "ws/.cargo/config.toml",
        "[source.crates-io]\nreplace-with = \"vendored\"\n[source.vendored]\ndirectory = \"vendor\"\n",
    );
    locked(&sandbox, CRATES_IO, &sum);
    let run = sandbox.run(&SYNC).ok();
    assert_eq!(installed(&sandbox), [""; 0]);
    assert!(run.stderr.contains("the workspace takes crates from"), "{}", run.stderr);
    assert_eq!(downloads(&users), 0);
}
