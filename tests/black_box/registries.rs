//! Crates from registries: fetched by cargo, with the user's own settings, on explicit commands
//! only (F138, F145, F209).

use symposium_testlib::{Sandbox, SparseRegistry, slashes, vendor};

use crate::{NO_BUILTIN, sandbox, skill};

/// A sandbox in which the real cargo runs. Its rustup, if there is one, is the user's.
pub(crate) fn with_cargo() -> Sandbox {
    let mut sandbox = sandbox();
    sandbox.write("home/.symposium/config.toml", NO_BUILTIN);
    let rustup = std::env::var_os("RUSTUP_HOME").map(std::path::PathBuf::from);
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from);
    if let Some(rustup) = rustup.or_else(|| Some(home?.join(".rustup"))) {
        sandbox.set("RUSTUP_HOME", rustup);
    }
    if let Some(toolchain) = std::env::var_os("RUSTUP_TOOLCHAIN") {
        sandbox.set("RUSTUP_TOOLCHAIN", toolchain);
    }
    sandbox.set("CARGO_NET_RETRY", "0");
    sandbox
}

/// Puts a registry on the loopback in the place of crates.io.
pub(crate) fn instead_of_crates_io(sandbox: &Sandbox) -> SparseRegistry {
    let registry = SparseRegistry::start(&sandbox.dir().join("registry"));
    let config = format!(
        "[source.crates-io]\nreplace-with = \"mirror\"\n[source.mirror]\nregistry = \"{}\"\n",
        registry.index()
    );
    sandbox.write("home/.cargo/config.toml", config);
    registry
}

fn plugin_for(sandbox: &Sandbox, name: &str) {
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        &format!("name = \"p\"\ncrates = [\"{name}\"]\n[[skills]]\nsource = \"crate\"\n"),
    );
}

fn installed(sandbox: &Sandbox) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(sandbox.ws().join(".claude/skills"))
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

/// A workspace that depends on `acme-secret` of the private registry `acme`.
fn private(sandbox: &Sandbox) -> SparseRegistry {
    let registry = SparseRegistry::start(&sandbox.dir().join("registry"));
    let secret = skill("secret-ways", "s");
    let sum = registry.publish("acme-secret", "1.0.0", &[("skills/secret-ways/SKILL.md", &secret)]);
    let index = registry.index();
    sandbox.write("home/.cargo/config.toml", format!("[registries.acme]\nindex = \"{index}\"\n"));
    sandbox.write(
        "ws/Cargo.toml",
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n[dependencies]\nacme-secret = { version = \"1\", registry = \"acme\" }\n",
    );
    sandbox.write("ws/src/lib.rs", "");
    sandbox.write(
        "ws/Cargo.lock",
        format!(
            "version = 4\n\n[[package]]\nname = \"acme-secret\"\nversion = \"1.0.0\"\nsource = \"{index}\"\nchecksum = \"{sum}\"\n\n\
             [[package]]\nname = \"shop\"\nversion = \"0.1.0\"\ndependencies = [\n \"acme-secret\",\n]\n"
        ),
    );
    plugin_for(sandbox, "acme-secret");
    registry
}

#[test]
fn f138_a_crate_of_a_private_registry_is_fetched_by_sync_and_not_offline() {
    let sandbox = with_cargo();
    let registry = private(&sandbox);
    let lock = sandbox.read("ws/Cargo.lock");
    let run = sandbox.run(&["sync", "--agent", "claude", "--offline"]).ok();
    assert_eq!(installed(&sandbox), [""; 0]);
    assert!(run.stderr.contains("acme-secret 1.0.0"), "{}", run.stderr);
    assert_eq!(registry.server.requests(), [""; 0]);
    let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert_eq!(installed(&sandbox), ["secret-ways"], "{}", run.stderr);
    assert!(run.stderr.contains("Fetching acme-secret 1.0.0"), "{}", run.stderr);
    assert!(!registry.server.requests().is_empty());
    // From now on it is on disk.
    let before = registry.server.requests().len();
    let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert!(run.stderr.contains("nothing to do"), "{}", run.stderr);
    assert_eq!(registry.server.requests().len(), before);
    assert_eq!(sandbox.read("ws/Cargo.lock"), lock);
    let info = sandbox.run(&["crate-info", "acme-secret"]).ok();
    assert!(info.stdout.contains("- secret-ways: s"), "{}", info.stdout);
    assert!(info.stdout.contains("registry sparse+http://127.0.0.1"), "{}", info.stdout);
}

#[test]
fn f138_a_folder_that_stands_in_for_crates_io() {
    let sandbox = with_cargo();
    let folder = sandbox.dir().join("mirror");
    let text = skill("mirrored", "m");
    vendor(&folder, "widget", "1.0.0", &[("skills/mirrored/SKILL.md", &text)]);
    let config = format!(
        "[source.crates-io]\nreplace-with = \"here\"\n[source.here]\ndirectory = {:?}\n",
        folder.display().to_string()
    );
    sandbox.write("home/.cargo/config.toml", config);
    sandbox.package(&[("widget", "1.0.0")]);
    plugin_for(&sandbox, "widget");
    let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert_eq!(installed(&sandbox), ["mirrored"], "{}", run.stderr);
}

#[test]
fn the_workspace_s_own_configuration_and_toolchain_are_not_in_effect_for_a_fetch() {
    let sandbox = with_cargo();
    let registry = instead_of_crates_io(&sandbox);
    let text = skill("sound", "s");
    registry.publish("widget", "1.0.0", &[("skills/sound/SKILL.md", &text)]);
    sandbox.package(&[("widget", "1.0.0")]);
    plugin_for(&sandbox, "widget");
    let touched = sandbox.dir().join("touched");
    let evil = format!("#!/bin/sh\ntouch {}\nexit 1\n", touched.display());
    sandbox.program("ws/evil.sh", &evil);
    sandbox.write(
        "ws/.cargo/config.toml",
        "[build]\nrustc = \"./evil.sh\"\nrustc-wrapper = \"./evil.sh\"\n",
    );
    sandbox.write("ws/rust-toolchain.toml", "[toolchain]\nchannel = \"nightly-1999-01-01\"\n");
    let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert_eq!(installed(&sandbox), ["sound"], "{}", run.stderr);
    let run = sandbox.run(&["crate-info", "widget", "--version", "1"]).ok();
    assert!(run.stdout.contains("Version: 1.0.0"), "{}", run.stdout);
    assert!(!touched.exists());
}

#[test]
fn f144_f145_redirects_and_named_crates_are_fetched_at_a_version_that_meets_the_requirement() {
    let sandbox = with_cargo();
    let registry = instead_of_crates_io(&sandbox);
    let toml = "[package]\nname = \"widget\"\nversion = \"1.0.0\"\nedition = \"2021\"\n\
                [[package.metadata.symposium.skills]]\ncrate = { name = \"widget-guide\", version = \"<2\" }\n";
    registry.publish("widget", "1.0.0", &[("Cargo.toml", toml)]);
    for version in ["1.0.0", "1.5.0", "2.0.0"] {
        let name = format!("v{}", version.replace('.', "-"));
        let text = skill(&name, "g");
        registry.publish("widget-guide", version, &[(&format!("skills/{name}/SKILL.md"), &text)]);
        registry.publish(
            "named",
            version,
            &[(&format!("skills/n{name}/SKILL.md"), &skill(&format!("n{name}"), "n"))],
        );
    }
    sandbox.package(&[("widget", "1.0.0")]);
    plugin_for(&sandbox, "widget");
    sandbox.user_plugin(
        "q/SYMPOSIUM.toml",
        "name = \"q\"\n[[plugins]]\ndepends-on = \"widget\"\nsource.cargo = { name = \"named\", version = \"=1.0.0\" }\n",
    );
    let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert_eq!(installed(&sandbox), ["nv1-0-0", "v1-5-0"], "{}", run.stderr);
}

#[test]
fn a_group_of_skills_may_name_a_crate_and_its_versions_in_one_string() {
    for section in ["[[skills]]", "[[plugins]]"] {
        let sandbox = with_cargo();
        let registry = instead_of_crates_io(&sandbox);
        for version in ["1.0.0", "1.5.0", "2.0.0"] {
            let name = format!("v{}", version.replace('.', "-"));
            let text = skill(&name, "g");
            registry.publish("guide", version, &[(&format!("skills/{name}/SKILL.md"), &text)]);
        }
        sandbox.package(&[]);
        sandbox.user_plugin(
            "q/SYMPOSIUM.toml",
            &format!(
                "name = \"q\"\ncrates = [\"*\"]\n{section}\nsource.cargo = \"guide>=1.2, <2\"\n"
            ),
        );
        let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
        assert_eq!(installed(&sandbox), ["v1-5-0"], "{section}: {}", run.stderr);
    }
}

/// The `.crate` files that were asked for.
fn downloads(registry: &SparseRegistry) -> Vec<String> {
    let mut all: Vec<_> = registry
        .server
        .requests()
        .iter()
        .filter_map(|request| Some(request.split("/crates/").nth(1)?.split(' ').next()?.to_owned()))
        .collect();
    all.sort();
    all.dedup();
    all
}

fn tree_of_three(registry: &SparseRegistry) -> String {
    let text = skill("sound", "s");
    for name in ["leaf", "twig"] {
        registry.publish(name, "1.0.0", &[]);
    }
    let others = ["leaf", "twig"];
    registry.publish_needing("widget", "1.0.0", &others, &[("skills/sound/SKILL.md", &text)])
}

#[test]
fn f138_of_a_mirrored_crate_only_the_crate_itself_is_downloaded() {
    let sandbox = with_cargo();
    let registry = instead_of_crates_io(&sandbox);
    let sum = tree_of_three(&registry);
    plugin_for(&sandbox, "widget");
    // With no lock file cargo chooses the version; with one, it is the file's.
    sandbox.package(&[("widget", "1.0.0")]);
    let lock = sandbox.read("ws/Cargo.lock");
    sandbox.run(&["crate-info", "widget", "--version", "^1"]).ok();
    assert_eq!(downloads(&registry), ["widget-1.0.0.crate"]);
    std::fs::remove_dir_all(sandbox.home().join(".cargo/registry")).expect("removes");
    let _ = std::fs::remove_dir_all(sandbox.home().join(".symposium/cache"));
    let exact = "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
    assert!(lock.contains(exact), "{lock}");
    let lock = lock.replace(exact, &format!("{exact}checksum = \"{sum}\"\n"));
    sandbox.write("ws/Cargo.lock", &lock);
    let before = registry.server.requests().len();
    let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert_eq!(installed(&sandbox), ["sound"], "{}", run.stderr);
    assert_eq!(downloads(&registry), ["widget-1.0.0.crate"]);
    // Nothing has to be chosen, so nothing is asked about the rest of the tree.
    let asked = registry.server.requests().split_off(before);
    assert!(!asked.iter().any(|request| request.contains("leaf")), "{asked:?}");
}

#[test]
fn f138_a_registry_that_stands_in_under_another_table_s_name_is_asked() {
    let sandbox = with_cargo();
    let registry = instead_of_crates_io(&sandbox);
    tree_of_three(&registry);
    let config = format!(
        "[source.crates-io]\nreplace-with = \"hop\"\n[source.hop]\nregistry = \"sparse+http://127.0.0.1:1/\"\n\
         replace-with = \"our-mirror\"\n[registries.our-mirror]\nindex = \"{}\"\n",
        registry.index()
    );
    sandbox.write("home/.cargo/config.toml", config);
    sandbox.package(&[]);
    let run = sandbox.run(&["crate-info", "widget"]).ok();
    assert!(run.stdout.contains("- sound: not accepted"), "{}", run.stdout);
    assert_eq!(downloads(&registry), ["widget-1.0.0.crate"]);
}

/// Puts the checksum of the workspace's one package of a registry into its lock file.
fn lock_to(sandbox: &Sandbox, sum: &str) {
    let lock = sandbox.read("ws/Cargo.lock");
    let exact = "registry+https://github.com/rust-lang/crates.io-index\"\n";
    sandbox.write("ws/Cargo.lock", lock.replace(exact, &format!("{exact}checksum = \"{sum}\"\n")));
}

#[test]
fn f139_a_version_that_was_yanked_since_is_fetched_all_the_same() {
    let sandbox = with_cargo();
    let registry = instead_of_crates_io(&sandbox);
    let text = skill("old-ways", "o");
    let files = [("skills/old-ways/SKILL.md", &*text)];
    let sum = registry.publish_yanked("widget", "1.0.0", &files);
    registry.publish("widget", "1.1.0", &[]);
    sandbox.package(&[("widget", "1.0.0")]);
    plugin_for(&sandbox, "widget");
    lock_to(&sandbox, &sum);
    let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert_eq!(installed(&sandbox), ["old-ways"], "{}", run.stderr);
}

#[test]
fn f138_a_folder_of_crate_files_stands_in_for_crates_io() {
    let sandbox = with_cargo();
    let registry = SparseRegistry::start(&sandbox.dir().join("registry"));
    let sum = tree_of_three(&registry);
    // Cargo's local registries: the files side by side, and an index.
    let from = sandbox.dir().join("registry");
    for name in ["leaf", "twig", "widget"] {
        let file = format!("{name}-1.0.0.crate");
        let bytes = std::fs::read(from.join("crates").join(&file)).expect("reads");
        sandbox.write(&format!("local/{file}"), bytes);
        let index = format!("{}/{}/{name}", &name[..2], &name[2..4]);
        let bytes = std::fs::read(from.join("index").join(&index)).expect("reads");
        sandbox.write(&format!("local/index/{index}"), bytes);
    }
    let config = format!(
        "[source.crates-io]\nreplace-with = \"here\"\n[source.here]\nlocal-registry = {:?}\n",
        sandbox.dir().join("local").display().to_string()
    );
    sandbox.write("home/.cargo/config.toml", config);
    sandbox.package(&[("widget", "1.0.0")]);
    plugin_for(&sandbox, "widget");
    lock_to(&sandbox, &sum);
    let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert_eq!(installed(&sandbox), ["sound"], "{}", run.stderr);
    let unpacked = sandbox.home().join(".cargo/registry/src");
    assert!(!unpacked.exists(), "only the one crate was unpacked, by us");
}

#[test]
fn f138_without_cargo_the_remedy_is_cargo() {
    let mut sandbox = with_cargo();
    sandbox.package(&[("widget", "1.0.0")]);
    plugin_for(&sandbox, "widget");
    let run = sandbox.run(&["sync", "--agent", "claude", "--offline"]).ok();
    assert!(run.stderr.contains("`cargo fetch` puts"), "{}", run.stderr);
    sandbox.set("SYMPOSIUM_CARGO", "no-such-cargo");
    let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
    assert!(run.stderr.contains("`SYMPOSIUM_CARGO`"), "{}", run.stderr);
    assert!(!run.stderr.contains("`cargo fetch`"), "{}", run.stderr);
    let run = sandbox.run(&["crate-info", "widget"]).code(1);
    assert!(run.stderr.contains("`SYMPOSIUM_CARGO`"), "{}", run.stderr);
}

#[test]
fn f145_a_crate_that_only_its_skills_are_taken_from_has_another_remedy() {
    let sandbox = with_cargo();
    sandbox.package(&[]);
    sandbox.user_plugin(
        "q/SYMPOSIUM.toml",
        "name = \"q\"\ncrates = [\"*\"]\n[[plugins]]\nsource.cargo = \"named\"\n",
    );
    let run = sandbox.run(&["sync", "--agent", "claude", "--offline"]).ok();
    assert!(run.stderr.contains("no skills of named"), "{}", run.stderr);
    assert!(run.stderr.contains("without `--offline`"), "{}", run.stderr);
    assert!(!run.stderr.contains("cargo fetch"), "{}", run.stderr);
}

#[test]
fn what_cargo_says_is_told_whole_and_names_nothing_of_ours() {
    let sandbox = with_cargo();
    let registry = instead_of_crates_io(&sandbox);
    registry.publish("named", "1.0.0", &[]);
    sandbox.package(&[]);
    sandbox.user_plugin(
        "q/SYMPOSIUM.toml",
        "name = \"q\"\ncrates = [\"*\"]\n\
         [[plugins]]\nsource.cargo = { name = \"named\", version = \"9\" }\n",
    );
    let run = sandbox.run(&["sync", "--agent", "claude"]).ok();
    for words in ["requirement `named = \"^9\"`", "which didn't match: 1.0.0", "location searched"]
    {
        assert!(run.stderr.contains(words), "no {words} in {}", run.stderr);
    }
    for ours in ["symposium-fetch", "cache/fetch"] {
        assert!(!slashes(&run.stderr).contains(ours), "{ours} in {}", run.stderr);
    }
}

fn named_crates(sandbox: &Sandbox) {
    sandbox.user_plugin(
        "p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\", \"serde_jsn>=1\"]\n[[skills]]\nsource.path = \"s\"\n",
    );
    sandbox.user_plugin(
        "p/s/basics/SKILL.md",
        "---\nname: basics\ndescription: d\ncrates: no-such-crate\n---\n",
    );
    sandbox.package(&[]);
}

const VALIDATE: [&str; 3] = ["plugin", "validate", "../home/.symposium/plugins"];

#[test]
fn f207_f209_crates_that_the_registry_does_not_have_are_errors_with_a_suggestion() {
    let sandbox = with_cargo();
    let registry = instead_of_crates_io(&sandbox);
    registry.publish("widget", "1.0.0", &[]);
    registry.publish("serde_json", "1.0.0", &[]);
    named_crates(&sandbox);
    // Cargo has met it before.
    sandbox.run(&["crate-info", "serde_json"]).ok();
    let run = sandbox.run(&VALIDATE).code(1);
    assert!(
        run.stderr.contains("error[S038]: the registry has no crate `serde_jsn`"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("did you mean `serde_json`?"), "{}", run.stderr);
    assert!(run.stderr.contains("SYMPOSIUM.toml:2:21"), "{}", run.stderr);
    assert!(run.stderr.contains("no crate `no-such-crate`"), "{}", run.stderr);
    assert!(run.stderr.contains("1 plugin, 1 skill: 2 errors"), "{}", run.stderr);
    let before = registry.server.requests().len();
    sandbox.run(&[&VALIDATE[..], &["--no-check-crates"]].concat()).ok();
    let run = sandbox.run(&[&VALIDATE[..], &["--offline"]].concat()).ok();
    assert!(run.stderr.contains("not checked offline"), "{}", run.stderr);
    assert_eq!(registry.server.requests().len(), before);
}

#[test]
fn f209_a_registry_that_can_not_be_reached_is_one_warning() {
    let sandbox = with_cargo();
    let registry = instead_of_crates_io(&sandbox);
    named_crates(&sandbox);
    registry.server.set(symposium_testlib::Manner::Refuse);
    let run = sandbox.run(&VALIDATE).ok();
    assert_eq!(run.stderr.matches("could not be checked").count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains("1 plugin, 1 skill: 1 warning"), "{}", run.stderr);
    // Cargo's own word for "stay off the network" is not taken for "there is no such crate".
    let mut sandbox = sandbox;
    sandbox.set("CARGO_NET_OFFLINE", "true");
    let run = sandbox.run(&VALIDATE).ok();
    assert!(run.stderr.contains("could not be checked"), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn case_89_validate_shows_whose_crate_would_be_installed() {
    let mut sandbox = with_cargo();
    let script = "#!/bin/sh\necho 'rtk #types'\necho 'Types'\necho 'version: 0.1.0'\n\
                  echo 'repository: https://example.com/type-kit'\n";
    sandbox.program("cargo.sh", script);
    sandbox.set("SYMPOSIUM_CARGO", sandbox.dir().join("cargo.sh"));
    sandbox.user_plugin(
        "rtk/SYMPOSIUM.toml",
        "name = \"rtk\"\ncrates = [\"*\"]\n[[installations]]\nname = \"rtk\"\nsource = \"cargo\"\ncrate = \"rtk\"\nexecutable = \"rtk\"\n[[hooks]]\nname = \"h\"\nevent = \"PreToolUse\"\ncommand = \"rtk\"\n",
    );
    sandbox.package(&[]);
    let run = sandbox.run(&VALIDATE).ok();
    let line = "Installs rtk 0.1.0 from https://example.com/type-kit";
    assert!(run.stderr.contains(line), "{}", run.stderr);
}
