//! Under which terms a skill may be used, as far as it says so.

use std::path::Path;

use crate::files::{Limit, read_text};
use crate::skills::Skill;

/// How files with the terms begin, in lower case.
const FILES: [&str; 5] = ["license", "licence", "copying", "unlicense", "eula"];
/// The manifests of packages that may name a licence.
const PACKAGES: [&str; 2] = ["plugin.json", ".claude-plugin/plugin.json"];

/// The licence of `skill`, whose `SKILL.md` names `own`: by name, else the file that has it.
pub(super) fn of_skill(skill: &Skill, own: Option<String>) -> Option<String> {
    let mut above = skill.dir.ancestors().take_while(|dir| dir.starts_with(&skill.root));
    own.or_else(|| above.find_map(of_folder))
}

fn of_folder(dir: &Path) -> Option<String> {
    of_crate(dir).or_else(|| PACKAGES.iter().find_map(|name| of_package(dir, name))).or_else(|| {
        let entries = std::fs::read_dir(dir).ok()?.flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut found: Vec<String> = names.filter(|name| has_terms(name)).collect();
        found.sort();
        found.into_iter().next().map(|name| format!("see {name}"))
    })
}

fn has_terms(name: &str) -> bool {
    let lower = name.to_lowercase();
    let rest = FILES.iter().find_map(|start| lower.strip_prefix(start));
    rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// What a crate's manifest says; it may inherit that from its workspace's.
fn of_crate(dir: &Path) -> Option<String> {
    let package = manifest(dir)?.remove("package")?;
    if let Some(own) = terms(&package) {
        return Some(own);
    }
    let inherits = ["license", "license-file"].iter().any(|key| package.get(key).is_some());
    let above = dir.ancestors().filter(|_| inherits).filter_map(manifest);
    above.filter_map(|manifest| terms(manifest.get("workspace")?.get("package")?)).next()
}

fn manifest(dir: &Path) -> Option<toml::Table> {
    read_text(&dir.join("Cargo.toml"), Limit::CARGO).ok()?.parse().ok()
}

fn terms(package: &toml::Value) -> Option<String> {
    let text = |key: &str| Some(package.get(key)?.as_str()?.to_owned());
    text("license").or_else(|| Some(format!("see {}", text("license-file")?)))
}

fn of_package(dir: &Path, name: &str) -> Option<String> {
    let text = read_text(&dir.join(name), Limit::MANIFEST).ok()?;
    let package: serde_json::Value = serde_json::from_str(&text).ok()?;
    package["license"].as_str().filter(|name| !name.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skills::SkillOrigin;

    /// The licence of a skill in `a/s`, whose root is the folder of `files` or its `a`.
    fn of(files: &[(&str, &str)], root: &str) -> Option<String> {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("creates");
            std::fs::write(path, text).expect("writes");
        }
        let skill = Skill {
            name: "s".to_owned(),
            description: String::new(),
            dir: dir.path().join("a/s"),
            root: dir.path().join(root),
            origin: SkillOrigin::Workspace { path: String::new() },
            plugin: None,
            same_as: Vec::new(),
            written: None,
        };
        of_skill(&skill, None)
    }

    #[test]
    fn terms_stand_beside_a_skill_or_above_it_and_never_above_what_it_comes_from() {
        let known = |files: &[(&str, &str)]| of(files, "");
        assert_eq!(known(&[("a/s/LICENSE.txt", "")]).as_deref(), Some("see LICENSE.txt"));
        assert_eq!(known(&[("COPYING", "")]).as_deref(), Some("see COPYING"));
        assert_eq!(known(&[("licenses.rs", ""), ("licensed", "")]), None);
        assert_eq!(of(&[("LICENSE", "")], "a"), None);
        let package = ("a/.claude-plugin/plugin.json", "{\"license\": \"MIT\"}");
        assert_eq!(known(&[package]).as_deref(), Some("MIT"));
    }

    #[test]
    fn a_crate_may_inherit_its_licence_or_name_a_file() {
        let inherits = ("a/Cargo.toml", "[package]\nname = \"a\"\nlicense.workspace = true\n");
        let above = ("Cargo.toml", "[workspace.package]\nlicense = \"Apache-2.0\"\n");
        assert_eq!(of(&[inherits, above], "a").as_deref(), Some("Apache-2.0"));
        assert_eq!(of(&[("a/Cargo.toml", "[package]\nname = \"a\"\n"), above], "a"), None);
        let file = ("a/Cargo.toml", "[package]\nlicense-file = \"TERMS\"\n");
        assert_eq!(of(&[file], "a").as_deref(), Some("see TERMS"));
        assert_eq!(of(&[("a/Cargo.toml", "[[[")], "a"), None);
    }
}
