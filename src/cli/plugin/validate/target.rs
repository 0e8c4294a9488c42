//! What a path that is to be validated is.

use std::path::{Path, PathBuf};

use crate::Symposium;
use crate::files::{Limit, has_exactly, read_source};
use crate::plugins::manifest::FILE_NAME;
use crate::plugins::packages::is_package;
use crate::plugins::source::{Location, effective};
use crate::skills::crate_source::package_id;
use crate::skills::discover::SKILL_FILE;
use crate::text::Diagnostic;
use crate::text::toml::{Diagnostics, read};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli::plugin) enum Target {
    /// A plugin, by its manifest, in a source.
    Plugin { manifest: PathBuf, root: PathBuf },
    Skill {
        dir: PathBuf,
        /// Whether it lies in no plugin and in no crate, so that it must say what it is for.
        alone: bool,
    },
    /// A crate that offers skills of its own.
    Crate(PathBuf),
    /// A folder of plugins and skills.
    Source(PathBuf),
}

/// What `path` is: canonical, and there.
pub(in crate::cli::plugin) fn of(sym: &Symposium, path: &Path) -> Result<Target, Diagnostic> {
    if path.is_dir() {
        return Ok(of_dir(sym, path));
    }
    let dir = path.parent().unwrap_or(path);
    match path.file_name().and_then(|name| name.to_str()) {
        Some(SKILL_FILE) => Ok(skill(dir)),
        Some("Cargo.toml") => Ok(Target::Crate(dir.to_path_buf())),
        Some(FILE_NAME) if is_crate_s_own(dir) => Ok(Target::Crate(dir.to_path_buf())),
        Some(name) if name.to_ascii_lowercase().ends_with(".toml") => Ok(plugin(sym, path)),
        // Of a package of another format, or an index of them: what is around it is looked at.
        Some("plugin.json" | "marketplace.json") => {
            let dir = if dir.ends_with(".claude-plugin") { dir.parent() } else { Some(dir) };
            Ok(Target::Source(dir.unwrap_or(path).to_path_buf()))
        }
        _ => Err(Diagnostic::error("this is neither a manifest nor a skill")
            .in_file(path)
            .note(format!("give a `{FILE_NAME}`, a `{SKILL_FILE}`, or a folder"))),
    }
}

fn of_dir(sym: &Symposium, dir: &Path) -> Target {
    let has = |name: &str| has_file(dir, name);
    if is_crate_s_own(dir) || (!has(FILE_NAME) && package_id(dir).is_some()) {
        return Target::Crate(dir.to_path_buf());
    }
    if has(FILE_NAME) {
        return plugin(sym, &dir.join(FILE_NAME));
    }
    if has(SKILL_FILE) {
        return skill(dir);
    }
    Target::Source(dir.to_path_buf())
}

fn has_file(dir: &Path, name: &str) -> bool {
    dir.join(name).is_file() && has_exactly(dir, name)
}

/// A `SYMPOSIUM.toml` beside a `Cargo.toml` that has no `name` says where the crate's own skills
/// are; it is no plugin.
fn is_crate_s_own(dir: &Path) -> bool {
    let Ok(source) = read_source(&dir.join(FILE_NAME), Limit::MANIFEST) else { return false };
    let diagnostics = Diagnostics::new(source);
    has_file(dir, FILE_NAME)
        && package_id(dir).is_some()
        && read(&diagnostics, |root| !root.has("name")).unwrap_or(false)
}

fn plugin(sym: &Symposium, manifest: &Path) -> Target {
    let dir = manifest.parent().unwrap_or(manifest);
    Target::Plugin { manifest: manifest.to_path_buf(), root: source_root(sym, dir) }
}

/// The source that a plugin's folder is part of: a configured one, else the repository it is in,
/// else the folder itself.
fn source_root(sym: &Symposium, dir: &Path) -> PathBuf {
    let configured = effective(sym).into_iter().filter_map(|spec| match spec.location {
        Location::Path(path) => crate::files::canonicalize(path).ok(),
        _ => None,
    });
    let configured = configured.filter(|root| dir.starts_with(root));
    let repository = dir.ancestors().find(|above| above.join(".git").exists());
    configured
        .max_by_key(|root| root.components().count())
        .or_else(|| repository.map(Path::to_path_buf))
        .unwrap_or_else(|| dir.to_path_buf())
}

/// How many folders up a plugin or crate is looked for.
const ABOVE: usize = 8;

fn skill(dir: &Path) -> Target {
    let owns = |above: &Path| {
        has_file(above, FILE_NAME) || package_id(above).is_some() || is_package(above)
    };
    let above = || dir.ancestors().take(ABOVE);
    let owned = above().find(|above| owns(above) || above.join(".git").exists()).is_some_and(owns);
    // `.agents/skills/<name>` and the like hold a workspace's own.
    let skills = dir.parent().filter(|parent| parent.ends_with("skills"));
    let holder = skills.and_then(|skills| skills.parent()?.file_name()?.to_str());
    let in_agents_folder = holder.is_some_and(|name| name.starts_with('.'));
    Target::Skill { dir: dir.to_path_buf(), alone: !owned && !in_agents_folder }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
        std::fs::write(path, text).expect("writes");
    }

    #[test]
    fn f206_files_and_folders_are_told_apart() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let dir = crate::files::canonicalize(dir.path()).expect("exists");
        let sym = Symposium::from_dir(&dir.join("home"));
        put(&dir, "src/p/SYMPOSIUM.toml", "name = \"p\"\n");
        put(&dir, "src/p/skills/a/SKILL.md", "");
        put(&dir, "src/alone/SKILL.md", "");
        put(&dir, "src/old/symposium.toml", "name = \"p\"\n");
        put(&dir, "src/.git/HEAD", "");
        put(&dir, "krate/Cargo.toml", "[package]\nname = \"k\"\nversion = \"1.0.0\"\n");
        put(&dir, "krate/SYMPOSIUM.toml", "[[skills]]\npath = \"s\"\n");
        put(&dir, "krate/s/a/SKILL.md", "");
        put(&dir, "ws/.agents/skills/own/SKILL.md", "");
        put(&dir, "note.txt", "");
        let of = |path: &str| of(&sym, &dir.join(path));
        let manifest = dir.join("src/p/SYMPOSIUM.toml");
        let plugin = Target::Plugin { manifest, root: dir.join("src") };
        assert_eq!(of("src/p"), Ok(plugin.clone()));
        assert_eq!(of("src/p/SYMPOSIUM.toml"), Ok(plugin));
        let skill = |path: &str, alone| Ok(Target::Skill { dir: dir.join(path), alone });
        assert_eq!(of("src/p/skills/a"), skill("src/p/skills/a", false));
        assert_eq!(of("src/alone/SKILL.md"), skill("src/alone", true));
        assert_eq!(of("krate/s/a"), skill("krate/s/a", false));
        assert_eq!(of("ws/.agents/skills/own"), skill("ws/.agents/skills/own", false));
        assert_eq!(of("krate"), Ok(Target::Crate(dir.join("krate"))));
        assert_eq!(of("krate/SYMPOSIUM.toml"), Ok(Target::Crate(dir.join("krate"))));
        assert_eq!(of("src"), Ok(Target::Source(dir.join("src"))));
        assert_eq!(of("src/old"), Ok(Target::Source(dir.join("src/old"))));
        let near = of("src/old/symposium.toml").expect("is checked");
        assert!(matches!(near, Target::Plugin { .. }));
        assert!(of("note.txt").is_err());
    }
}
