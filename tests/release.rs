//! What a release promises: one version, archives under the names that installers look for, and a
//! hook crate whose interface changes only on purpose.
#![allow(clippy::disallowed_methods, reason = "it reads our own files")]

use std::path::Path;
#[cfg(unix)]
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn manifest() -> toml::Table {
    let text = std::fs::read_to_string(root().join("Cargo.toml")).expect("reads");
    text.parse().expect("it is TOML")
}

#[test]
fn both_packages_have_one_version_and_one_needs_the_other_in_it() {
    let manifest = manifest();
    let version = &manifest["workspace"]["package"]["version"];
    assert_eq!(&manifest["dependencies"]["symposium-hook"]["version"], version);
    let text = std::fs::read_to_string(root().join("symposium-hook/Cargo.toml")).expect("reads");
    let hook: toml::Table = text.parse().expect("it is TOML");
    for package in [&manifest["package"], &hook["package"]] {
        let inherited = package["version"].get("workspace").and_then(toml::Value::as_bool);
        assert_eq!(inherited, Some(true), "{package}");
    }
    let changes = std::fs::read_to_string(root().join("CHANGELOG.md")).expect("reads");
    assert!(changes.contains("## Unreleased") || changes.contains(&format!("## {version}")));
}

#[cfg(unix)]
#[test]
fn archives_are_called_what_cargo_binstall_looks_for() {
    let manifest = manifest();
    let said = &manifest["package"]["metadata"]["binstall"];
    let version = manifest["workspace"]["package"]["version"].as_str().expect("a text");
    let targets = ["aarch64-apple-darwin", "x86_64-unknown-linux-musl", "x86_64-pc-windows-msvc"];
    let script = root().join("release/build.sh");
    let output = Command::new("bash").arg(script).arg("names").args(targets).output();
    let output = output.expect("bash starts");
    let names = String::from_utf8(output.stdout).expect("text");
    assert_eq!(names.lines().count(), targets.len(), "{names}");
    for (line, target) in names.lines().zip(targets) {
        let own = said["overrides"].get(target).and_then(|own| own.get("pkg-fmt"));
        let kind = own.unwrap_or(&said["pkg-fmt"]).as_str().expect("a text");
        let filled = |template: &toml::Value| {
            let values = [
                ("{ name }", "symposium"),
                ("{ version }", version),
                ("{ target }", target),
                ("{ archive-suffix }", &format!(".{kind}")),
                ("{ bin }", "cargo-agents"),
                ("{ binary-ext }", ""),
            ];
            let template = template.as_str().expect("a text").to_owned();
            values.iter().fold(template, |text, (name, value)| text.replace(name, value))
        };
        let (url, program) = (filled(&said["pkg-url"]), filled(&said["bin-dir"]));
        let archive = url.rsplit('/').next().expect("a last part");
        let folder = program.strip_suffix("/cargo-agents").expect("the program");
        assert_eq!(line, format!("{target} {archive} {folder}"));
    }
}

/// What users of the hook crate can name, as rustfmt lays it out. Whoever changes it on purpose writes
/// it anew with `UPDATE_EXPECT=1`, and says in CHANGELOG.md which version that asks for.
#[test]
fn the_hook_crate_s_interface_is_what_it_was() {
    const ATTRIBUTES: &str = r"(?:#\[(?:derive|non_exhaustive)[^\n]*\n)*";
    let parts = [
        format!(r"{ATTRIBUTES}^pub (?:enum|struct|trait) .*?^\}}"),
        r"^ *pub use [^;]*;".to_owned(),
        r"^ *pub (?:const |async |unsafe )*(?:fn|const|static|type|mod) [^;{]*".to_owned(),
        r"^impl[^{]*".to_owned(),
    ];
    let public = regex::Regex::new(&format!("(?ms){}", parts.join("|"))).expect("an expression");
    let tests = regex::Regex::new(r"(?ms)^#\[cfg\(test\)\].*").expect("an expression");
    let left_out = regex::Regex::new(r"(?m)^ *(?://|#!?\[(?:serde|must_use|allow)).*\n|^\n")
        .expect("an expression");
    let mut names: Vec<_> = std::fs::read_dir(root().join("symposium-hook/src"))
        .expect("reads")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    names.sort();
    let mut interface = String::new();
    for path in names {
        let text = std::fs::read_to_string(&path).expect("reads").replace("\r\n", "\n");
        let text = tests.replace(&text, "");
        let text = left_out.replace_all(&text, "");
        for found in public.find_iter(&text) {
            interface.push_str(found.as_str().trim_end());
            interface.push('\n');
        }
    }
    assert!(interface.lines().count() > 100, "{interface}");
    expect_test::expect_file!["snapshots/symposium_hook_api.txt"].assert_eq(&interface);
}
