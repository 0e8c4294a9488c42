//! Dependencies that `Cargo.lock` does not have, or not in a version that the manifest admits.

use symposium_testlib::{Sandbox, SparseRegistry};

use crate::registries::{instead_of_crates_io, with_cargo};
use crate::skill;

/// Publishes `gizmo` with a skill that is called after the version.
fn publish(registry: &SparseRegistry, version: &str) {
    let name = format!("v{}", version.replace('.', "-"));
    let (file, text) = (format!("skills/{name}/SKILL.md"), skill(&name, "d"));
    registry.publish("gizmo", version, &[(&file, &text)]);
}

fn depends(sandbox: &Sandbox, requirement: &str) {
    sandbox.write(
        "ws/Cargo.toml",
        format!(
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n[dependencies]\ngizmo = \"{requirement}\"\n"
        ),
    );
    sandbox.write("ws/src/lib.rs", "");
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

#[test]
fn without_a_lock_file_the_newest_that_the_manifest_admits_is_fetched_or_none() {
    let sandbox = with_cargo();
    let registry = instead_of_crates_io(&sandbox);
    for version in ["1.0.0", "1.5.0", "2.0.0", "2.1.0-rc1"] {
        publish(&registry, version);
    }
    for (requirement, expected) in [
        ("=1.0.0", Some("v1-0-0")),
        (">=1, <2", Some("v1-5-0")),
        ("*", Some("v2-0-0")),
        ("3", None),
    ] {
        depends(&sandbox, requirement);
        for folder in ["home/.cargo/registry", "home/.symposium/cache", "ws/.claude"] {
            let _ = std::fs::remove_dir_all(sandbox.dir().join(folder));
        }
        let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
        let expected: Vec<_> = expected.into_iter().collect();
        assert_eq!(installed(&sandbox), expected, "{requirement}: {}", run.stderr);
        if expected.is_empty() {
            assert!(run.stderr.contains("no skills of gizmo ^3"), "{}", run.stderr);
        }
    }
}

#[test]
fn a_lock_file_behind_its_manifest_is_said_and_the_version_that_is_asked_for_is_taken() {
    let sandbox = with_cargo();
    let registry = instead_of_crates_io(&sandbox);
    for version in ["1.2.3", "1.3.0"] {
        publish(&registry, version);
    }
    sandbox.package(&[("gizmo", "1.2.3")]);
    depends(&sandbox, "1.3");
    let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert_eq!(installed(&sandbox), ["v1-3-0"], "{}", run.stderr);
    let said = "Cargo.lock is behind the manifest: it has gizmo 1.2.3, which `^1.3` does not admit";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    let run = sandbox.run(&["crate-info", "gizmo"]).ok();
    assert!(run.stdout.contains("Version: 1.3.0"), "{}", run.stdout);
}

#[test]
fn a_version_that_is_on_disk_keeps_nobody_from_taking_the_newest_that_the_manifest_admits() {
    let sandbox = with_cargo();
    let registry = instead_of_crates_io(&sandbox);
    publish(&registry, "1.0.0");
    depends(&sandbox, "1");
    sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert_eq!(installed(&sandbox), ["v1-0-0"]);
    publish(&registry, "1.1.0");
    publish(&registry, "2.0.0");
    let said = "gizmo: 1.0.0 is taken, the newest on this machine that the manifest admits";
    let run = sandbox.run(&["sync", "--agent", "claude", "--offline"]).ok();
    assert_eq!(installed(&sandbox), ["v1-0-0"], "{}", run.stderr);
    assert!(run.stderr.replace('\n', " ").contains(said), "{}", run.stderr);
    let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert_eq!(installed(&sandbox), ["v1-1-0"], "{}", run.stderr);
    assert!(!run.stderr.contains("is taken"), "{}", run.stderr);
}

/// What is for some versions only stays in force: an agent could take the lock file away.
#[test]
fn without_a_lock_file_a_predicate_is_about_the_newest_version_that_the_manifest_admits() {
    let sandbox = with_cargo();
    let registry = instead_of_crates_io(&sandbox);
    for version in ["1.0.0", "1.5.0", "2.0.0"] {
        publish(&registry, version);
    }
    depends(&sandbox, "1");
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\n[[skills]]\nsource.path = \"new\"\ncrates = [\"gizmo>=1.5\"]\n\
         [[skills]]\nsource.path = \"old\"\ncrates = [\"gizmo<1.5\"]\n\
         [[skills]]\nsource.path = \"other\"\ncrates = [\"gizmo>=2\"]\n",
    );
    for name in ["new", "old", "other"] {
        sandbox.user_plugin(&format!("p/{name}/{name}/SKILL.md"), &skill(name, "d"));
    }
    let sync = |args: &[&str]| {
        let run = sandbox.run(&[&["sync", "--agent", "claude"], args].concat()).ok();
        (installed(&sandbox), run.stderr)
    };
    let (before, told) = sync(&["--offline"]);
    assert!(before.is_empty() && !told.contains("1.5.0"), "{told}");
    assert_eq!(sync(&[]).0, ["new"]);
    // It is on this machine now.
    assert_eq!(sync(&["--offline"]).0, ["new"]);
    let run = sandbox.run(&["why", "p"]).ok();
    assert!(run.stdout.contains("gizmo 1.5.0"), "{}", run.stdout);
    sandbox.package(&[("gizmo", "1.0.0")]);
    assert_eq!(sync(&[]).0, ["old"]);
}

#[test]
fn a_package_that_others_locked_is_no_dependency_on_another_registry() {
    for written in ["registry = \"acme\"", "registry-index = \"INDEX\""] {
        let sandbox = with_cargo();
        let public = instead_of_crates_io(&sandbox);
        publish(&public, "1.0.0");
        let acme = SparseRegistry::start(&sandbox.dir().join("acme"));
        acme.publish("gizmo", "1.0.0", &[("skills/of-acme/SKILL.md", &skill("of-acme", "d"))]);
        let known = sandbox.read("home/.cargo/config.toml");
        let named = format!("{known}[registries.acme]\nindex = \"{}\"\n", acme.index());
        sandbox.write("home/.cargo/config.toml", named);
        // Somebody else of the workspace has the one of crates.io.
        sandbox.package(&[("gizmo", "1.0.0")]);
        let written = written.replace("INDEX", &acme.index());
        sandbox.write(
            "ws/Cargo.toml",
            format!(
                "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n[dependencies]\n\
                 gizmo = {{ version = \"1\", {written} }}\n"
            ),
        );
        sandbox.user_plugin(
            "p/SYMPOSIUM.toml",
            "name = \"p\"\ncrates = [\"gizmo\"]\n[[skills]]\nsource = \"crate\"\n",
        );
        let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
        assert_eq!(installed(&sandbox), ["of-acme"], "{written}: {}", run.stderr);
    }
}
