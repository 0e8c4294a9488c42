//! Which workspace, and what it depends on (F48–F51, F106–F110).

use crate::{NO_BUILTIN, sandbox, skill};
use symposium_testlib::{Sandbox, slashes};

/// One skill for each crate, named after it.
fn with_probes(crates: &[&str]) -> Sandbox {
    let sandbox = sandbox();
    sandbox.write("home/.symposium/config.toml", NO_BUILTIN);
    for (number, atom) in crates.iter().enumerate() {
        let name = format!("probe-{number}");
        sandbox.user_plugin(
            &format!("{name}/SYMPOSIUM.toml"),
            &format!("name = \"{name}\"\ncrates = [\"{atom}\"]\n[[skills]]\nsource.path = \"s\"\n"),
        );
        sandbox.user_plugin(&format!("{name}/s/{name}/SKILL.md"), &skill(&name, atom));
    }
    sandbox
}

/// Which probes matched, run in a folder of the sandbox, and in which folder they were installed.
fn matched(sandbox: &Sandbox, folder: &str, root: &str) -> Vec<usize> {
    sandbox.run_in(folder, &["sync", "--agent", "claude"]).ok();
    let mut numbers: Vec<usize> =
        std::fs::read_dir(sandbox.dir().join(root).join(".claude/skills"))
            .into_iter()
            .flatten()
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
            .map(|name| name.trim_start_matches("probe-").parse().expect("a number"))
            .collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn f51_dependencies_of_every_kind_and_of_every_member_count_and_transitive_ones_do_not() {
    let sandbox = with_probes(&[
        "normal",
        "dev-only",
        "build-only",
        "windows-only",
        "optional-one",
        "inherited",
        "real-name",
        "renamed",
        "transitive",
        "member-b",
    ]);
    sandbox.write(
        "ws/Cargo.toml",
        "[workspace]\nmembers = [\"crates/*\"]\nexclude = [\"crates/out\"]\n[workspace.dependencies]\ninherited = \"1\"\n",
    );
    sandbox.write(
        "ws/crates/a/Cargo.toml",
        "[package]\nname = \"member-a\"\nversion = \"0.1.0\"\n[dependencies]\nnormal = \"1\"\noptional-one = { version = \"1\", optional = true }\ninherited.workspace = true\nrenamed = { package = \"real-name\", version = \"1\" }\nmember-b = { path = \"../b\" }\n[dev-dependencies]\ndev-only = \"1\"\n[build-dependencies]\nbuild-only = \"1\"\n[target.'cfg(windows)'.dependencies]\nwindows-only = \"1\"\n",
    );
    sandbox
        .write("ws/crates/b/Cargo.toml", "[package]\nname = \"member-b\"\nversion = \"0.1.0\"\n");
    sandbox.write(
        "ws/crates/out/Cargo.toml",
        "[package]\nname = \"out\"\nversion = \"0.1.0\"\n[dependencies]\ntransitive = \"1\"\n",
    );
    sandbox.write("ws/Cargo.lock", "version = 4\n\n[[package]]\nname = \"transitive\"\nversion = \"1.0.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n");
    assert_eq!(matched(&sandbox, "ws/crates/a", "ws"), [0, 1, 2, 3, 4, 5, 6, 9]);
}

#[test]
fn f106_any_of_several_versions_may_satisfy() {
    let sandbox = with_probes(&["widget<1", "widget>=2", "widget>=1, <2"]);
    sandbox.write("ws/Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\n");
    for (name, version) in [("a", "0.9"), ("b", "2")] {
        sandbox.write(
            &format!("ws/{name}/Cargo.toml"),
            format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\n[dependencies]\nwidget = \"{version}\"\n"),
        );
    }
    let registry = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";
    sandbox.write(
        "ws/Cargo.lock",
        format!("version = 3\n\n[[package]]\nname = \"a\"\nversion = \"0.1.0\"\ndependencies = [\"widget 0.9.4\"]\n\n[[package]]\nname = \"b\"\nversion = \"0.1.0\"\ndependencies = [\"widget 2.1.0\"]\n\n[[package]]\nname = \"widget\"\nversion = \"0.9.4\"\n{registry}\n\n[[package]]\nname = \"widget\"\nversion = \"2.1.0\"\n{registry}\n"),
    );
    assert_eq!(matched(&sandbox, "ws", "ws"), [0, 1]);
}

#[test]
fn decision_4_hyphen_and_underscore_are_equal() {
    let sandbox = with_probes(&["my-widget", "my_widget"]);
    sandbox.package(&[("my-widget", "1.0.0")]);
    assert_eq!(matched(&sandbox, "ws", "ws"), [0, 1]);
}

#[test]
fn f95_to_f97_operators_with_and_without_blanks() {
    let sandbox = with_probes(&[
        "widget = 1.2",
        "widget==1.2.3",
        "widget == 1.2.4",
        "widget ~1.2",
        "widget^1",
        "widget > 1.2.3",
        "widget >= 1.2.3",
        "widget <= 1.2",
    ]);
    sandbox.package(&[("widget", "1.2.3")]);
    assert_eq!(matched(&sandbox, "ws", "ws"), [0, 1, 3, 4, 6, 7]);
}

#[test]
fn an_excluded_package_is_a_workspace_of_its_own() {
    let sandbox = with_probes(&["widget"]);
    sandbox.write("ws/Cargo.toml", "[workspace]\nmembers = []\nexclude = [\"own\"]\n");
    sandbox.write(
        "ws/own/Cargo.toml",
        "[package]\nname = \"own\"\nversion = \"0.1.0\"\n[dependencies]\nwidget = \"1\"\n",
    );
    assert_eq!(matched(&sandbox, "ws/own", "ws/own"), [0]);
    assert!(!sandbox.has("ws/.claude"));
}

#[test]
fn package_workspace_leads_to_a_root_elsewhere() {
    let sandbox = with_probes(&["widget"]);
    sandbox.write("ws/Cargo.toml", "[workspace]\nmembers = [\"../side\"]\n");
    sandbox.write("side/Cargo.toml", "[package]\nname = \"side\"\nversion = \"0.1.0\"\nworkspace = \"../ws\"\n[dependencies]\nwidget = \"1\"\n");
    assert_eq!(matched(&sandbox, "side", "ws"), [0]);
}

#[test]
fn a_linked_git_worktree_is_a_workspace_like_any_other() {
    let sandbox = with_probes(&["widget"]);
    sandbox.package(&[("widget", "1.0.0")]);
    sandbox.git(&["init", "-q"]);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "start"]);
    sandbox.git(&["worktree", "add", "-q", "../linked"]);
    assert_eq!(matched(&sandbox, "linked/src", "linked"), [0]);
    assert_eq!(sandbox.git_in("linked", &["status", "--porcelain"]), "");
}

#[test]
fn f48_a_broken_manifest_names_file_line_and_column() {
    let sandbox = with_probes(&[]);
    sandbox.write("ws/Cargo.toml", "[package]\nname = \"x\"\nversion = = 1\n");
    let run = sandbox.run(&["sync", "--agent", "claude"]).code(1);
    assert!(run.stderr.contains("Cargo.toml:3:11"), "{}", run.stderr);
}

#[test]
fn a_broken_member_is_named() {
    let sandbox = with_probes(&[]);
    sandbox.write("ws/Cargo.toml", "[workspace]\nmembers = [\"a\"]\n");
    sandbox.write("ws/a/Cargo.toml", "[package\n");
    let run = sandbox.run(&["sync", "--agent", "claude"]).code(1);
    assert!(slashes(&run.stderr).contains("a/Cargo.toml:1:"), "{}", run.stderr);
}

#[test]
fn cargo_is_never_run() {
    let mut sandbox = with_probes(&["widget"]);
    sandbox.package(&[("widget", "1.0.0")]);
    sandbox.write("ws/rust-toolchain.toml", "[toolchain]\nchannel = \"1.0.0-nowhere\"\n");
    sandbox.write("ws/.cargo/config.toml", "[build]\nrustc-wrapper = \"no-such-wrapper\"\n");
    sandbox.program("bin/cargo", "#!/bin/sh\ntouch \"$0.was-run\"\nexit 1\n");
    sandbox.program("bin/rustc", "#!/bin/sh\ntouch \"$0.was-run\"\nexit 1\n");
    sandbox.first_on_path("bin");
    assert_eq!(matched(&sandbox, "ws", "ws"), [0]);
    assert!(!sandbox.has("bin/cargo.was-run") && !sandbox.has("bin/rustc.was-run"));
}

#[test]
fn a_workspace_of_forty_members_and_a_thousand_packages_is_quick_to_read() {
    let sandbox = with_probes(&[]);
    symposium_testlib::large::large_workspace(&sandbox.ws(), 40, 1000);
    let run = sandbox.run(&["sync", "--agent", "claude", "-v"]).ok();
    assert!(run.stderr.contains("40 members"), "{}", run.stderr);
}

#[test]
fn our_own_repository_is_read() {
    let sandbox = with_probes(&["clap", "toml_edit", "proptest", "rand"]);
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in [
        "Cargo.toml",
        "Cargo.lock",
        "symposium-hook/Cargo.toml",
        "tests/symposium-testlib/Cargo.toml",
    ] {
        let text = std::fs::read_to_string(root.join(file)).expect("reads");
        sandbox.write(&format!("ws/{file}"), text);
    }
    assert_eq!(matched(&sandbox, "ws", "ws"), [0, 1, 2]);
}

#[test]
fn a_member_outside_of_the_root_s_folder_hears_that_agents_in_it_do_not_see_the_skills() {
    let sandbox = with_probes(&["widget"]);
    let config = format!("[[agent]]\nname = \"claude\"\n{NO_BUILTIN}");
    sandbox.write("home/.symposium/config.toml", config);
    sandbox.write("root/Cargo.toml", "[workspace]\nmembers = [\"../near\"]\n");
    let widget = "[dependencies]\nwidget = { path = \"../widget\" }\n";
    sandbox.write(
        "near/Cargo.toml",
        format!(
            "[package]\nname = \"near\"\nversion = \"0.1.0\"\nworkspace = \"../root\"\n{widget}"
        ),
    );
    sandbox.write("near/src/lib.rs", "");
    let manifest = "[package]\nname = \"widget\"\nversion = \"0.1.0\"\n[workspace]\n";
    sandbox.write("widget/Cargo.toml", manifest);
    sandbox.write("widget/src/lib.rs", "");
    let said = "in `near` does not see what is installed here, for it lies outside";
    for folder in ["near", "root"] {
        let run = sandbox.run_in(folder, &["sync"]).ok();
        assert!(run.stderr.contains(said), "{}", run.stderr);
        assert!(run.stderr.contains("start the agent in "), "{}", run.stderr);
        assert!(sandbox.has("root/.claude/skills/probe-0/SKILL.md"));
        let doctor = sandbox.run_in(folder, &["doctor"]).stdout;
        let flat = doctor.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(said), "{doctor}");
    }
    // Members below the root see them.
    std::fs::rename(sandbox.dir().join("near"), sandbox.dir().join("root/near")).expect("moves");
    sandbox.write("root/Cargo.toml", "[workspace]\nmembers = [\"near\"]\n");
    let text = sandbox.read("root/near/Cargo.toml").replace("../root", "..");
    sandbox.write("root/near/Cargo.toml", text.replace("../widget", "../../widget"));
    let run = sandbox.run_in("root", &["sync"]).ok();
    assert!(!run.stderr.contains("does not see"), "{}", run.stderr);
}
