//! With the real cargo, and a registry on a loopback port in the place of crates.io.

use std::path::PathBuf;

use super::{CRATES_IO, VERSION, at_terminal, installed};
use symposium_testlib::{LocalRegistry, Publication, Sandbox};

/// What follows `[package]` and what the registry puts there.
const MANIFEST: &str = "repository = \"https://git.example/symposium\"\n\n[[bin]]\nname = \
                        \"cargo-agents\"\npath = \"main.rs\"\n";

/// A version of symposium whose program says its version and what it was called with.
fn publish(registry: &mut LocalRegistry, version: &str, yanked: bool, rust: Option<&str>) {
    let main = format!(
        "fn main() {{\n    let args: Vec<_> = std::env::args().skip(1).collect();\n    if args == \
         [\"--version\"] {{ println!(\"cargo-agents {version}\") }} else {{ println!(\"new{{args:?}}\") \
         }}\n}}\n"
    );
    registry.publish(&Publication {
        name: "symposium",
        version,
        yanked,
        rust_version: rust,
        manifest: MANIFEST,
        files: &[("main.rs", main)],
    });
}

/// A sandbox with the real cargo, and a registry in the place of crates.io.
fn with_registry() -> (Sandbox, LocalRegistry) {
    let mut sandbox = installed(CRATES_IO);
    let registry = LocalRegistry::start();
    sandbox.write("home/.cargo/config.toml", registry.instead_of_crates_io());
    let cargo = PathBuf::from(env!("CARGO"));
    sandbox.set("RUSTC", cargo.with_file_name("rustc"));
    sandbox.set("SYMPOSIUM_CARGO", cargo);
    (sandbox, registry)
}

#[test]
fn yanked_versions_and_pre_releases_and_other_compilers_do_not_count() {
    let (sandbox, mut registry) = with_registry();
    publish(&mut registry, VERSION, false, None);
    publish(&mut registry, "90.0.0", true, None);
    let run = sandbox.run(&["self-update"]).ok();
    assert!(run.stderr.contains("is the newest version"), "{}", run.stderr);
    publish(&mut registry, "91.0.0-rc.1", false, None);
    let run = sandbox.run(&["self-update"]).ok();
    assert!(run.stderr.contains("is the newest version"), "{}", run.stderr);
    publish(&mut registry, "60.0.0", false, None);
    publish(&mut registry, "61.0.0", false, Some("1.999"));
    let run = sandbox.run(&["self-update"]).ok();
    assert!(run.stderr.contains("→ 60.0.0"), "{}", run.stderr);
    let version = sandbox.run(&["--version"]).ok();
    assert_eq!(version.stdout, "cargo-agents 60.0.0\n");
    let record = sandbox.read("home/.cargo/.crates2.json");
    assert!(record.contains("symposium 60.0.0 (registry+"), "{record}");
}

#[test]
fn the_new_program_runs_the_command() {
    let (sandbox, mut registry) = with_registry();
    publish(&mut registry, "60.0.0", false, None);
    let (code, screen) = at_terminal(&sandbox, &["agents", "sync", "--dry-run"]);
    assert_eq!(code, 0, "{screen}");
    assert!(screen.ends_with("new[\"agents\", \"sync\", \"--dry-run\"]\n"), "{screen}");
}

#[test]
fn a_version_that_does_not_build_leaves_the_old_one() {
    let (sandbox, mut registry) = with_registry();
    registry.publish(&Publication {
        name: "symposium",
        version: "60.0.0",
        yanked: false,
        rust_version: None,
        manifest: MANIFEST,
        files: &[("main.rs", "fn main() { nonsense }\n".to_owned())],
    });
    let run = sandbox.run(&["self-update"]).code(1);
    assert!(run.stderr.contains("60.0.0 could not be installed"), "{}", run.stderr);
    let version = sandbox.run(&["--version"]).ok();
    assert!(version.stdout.contains(VERSION), "{}", version.stdout);
}

#[test]
fn another_program_of_our_name_in_the_registry_is_left_there() {
    let (sandbox, mut registry) = with_registry();
    registry.publish(&Publication {
        name: "symposium",
        version: "60.0.0",
        yanked: false,
        rust_version: None,
        manifest: "repository = \"https://git.example/another\"\n\n[[bin]]\nname = \
                   \"cargo-agents\"\npath = \"main.rs\"\n",
        files: &[("main.rs", "fn main() {}\n".to_owned())],
    });
    let run = sandbox.run(&["self-update"]).code(1);
    assert!(run.stderr.contains("is another program"), "{}", run.stderr);
    assert!(run.stderr.contains("60.0.0 is from https://git.example/another"), "{}", run.stderr);
    let version = sandbox.run(&["--version"]).ok();
    assert!(version.stdout.contains(VERSION), "{}", version.stdout);
}
