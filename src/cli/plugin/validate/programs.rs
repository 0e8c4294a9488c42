//! What a crate that is installed for its programs really is: which programs it has, and where it says it
//! is developed.

use std::path::Path;

use semver::{Version, VersionReq};

use super::levels::Installed;
use crate::files::{Limit, read_source};
use crate::skills::crate_source::fetch::{FetchError, FetchRequest, Fetcher};
use crate::text::toml::{Diagnostics, StringOrTable, Table, read};

/// A crate as published.
#[derive(Debug, Default)]
pub(super) struct Published {
    pub version: String,
    pub programs: Vec<String>,
    pub repository: Option<String>,
}

/// Whether the manifest names one version of it and no other.
pub(super) fn is_pinned(installed: &Installed) -> bool {
    exact(installed).is_some()
}

fn exact(installed: &Installed) -> Option<Version> {
    let text = installed.version.as_deref()?.trim();
    Version::parse(text.strip_prefix('=').unwrap_or(text).trim()).ok()
}

/// Has cargo fetch the crate, and looks into it. Nothing is built.
pub(super) fn look_into(
    fetcher: &Fetcher<'_>,
    name: &str,
    installed: &Installed,
) -> Result<Published, FetchError> {
    let version = exact(installed);
    let requirement = installed.version.as_deref().and_then(|text| VersionReq::parse(text).ok());
    let located = fetcher.fetch(&FetchRequest {
        name,
        version: version.as_ref(),
        requirement: requirement.as_ref().filter(|_| version.is_none()),
        ..FetchRequest::default()
    })?;
    let published = of_manifest(&located.dir).unwrap_or_default();
    Ok(Published { version: located.version.to_string(), ..published })
}

/// What the manifest in `dir`, and the files that cargo takes for programs without being told, say.
fn of_manifest(dir: &Path) -> Option<Published> {
    let source = read_source(&dir.join("Cargo.toml"), Limit::CARGO).ok()?;
    let diagnostics = Diagnostics::new(source);
    let mut published = read(&diagnostics, |root| {
        let package = root.table("package")?;
        let name = package.string("name")?.value;
        let mut programs: Vec<String> = Vec::new();
        if root.has("bin") {
            let tables = root.tables("bin").unwrap_or_default();
            programs.extend(tables.iter().filter_map(|bin| Some(bin.string("name")?.value)));
        }
        if !package.has("autobins") || package.bool("autobins").is_none_or(|flag| flag.value) {
            programs.extend(found(dir, &name));
        }
        Some(Published { version: String::new(), programs, repository: repository(&package) })
    })??;
    published.programs.sort();
    published.programs.dedup();
    Some(published)
}

fn repository(package: &Table<'_>) -> Option<String> {
    if !package.has("repository") {
        return None;
    }
    match package.string_or_table("repository")? {
        StringOrTable::String(text) => Some(text.value),
        StringOrTable::Table(_) => None,
    }
}

/// Programs that cargo finds by their files.
fn found(dir: &Path, name: &str) -> Vec<String> {
    let mut programs = Vec::new();
    if dir.join("src/main.rs").is_file() {
        programs.push(name.to_owned());
    }
    for entry in std::fs::read_dir(dir.join("src/bin")).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_file = path.extension().is_some_and(|kind| kind == "rs");
        if is_file || path.join("main.rs").is_file() {
            programs.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    programs
}

/// Who a repository's address says it belongs to: the host and the first part of the path.
pub(super) fn owner(repository: &str) -> Option<String> {
    let url = url::Url::parse(repository).ok()?;
    let first = url.path_segments()?.find(|part| !part.is_empty())?;
    Some(format!("{}/{}", url.host_str()?, first).to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_those_that_cargo_would_build() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let put = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
            std::fs::write(path, text).expect("writes");
        };
        put("src/main.rs", "");
        put("src/bin/one.rs", "");
        put("src/bin/two/main.rs", "");
        put("src/bin/two/help.rs", "");
        let head = "[package]\nname = \"tool\"\nrepository = \"https://example.com/a/tool\"\n";
        put("Cargo.toml", head);
        let published = of_manifest(dir.path()).expect("is read");
        assert_eq!(published.programs, ["one", "tool", "two"]);
        assert_eq!(published.repository.as_deref(), Some("https://example.com/a/tool"));
        put(
            "Cargo.toml",
            &format!("{head}autobins = false\n[[bin]]\nname = \"x\"\npath = \"x.rs\"\n"),
        );
        assert_eq!(of_manifest(dir.path()).expect("is read").programs, ["x"]);
    }

    #[test]
    fn an_owner_is_a_host_and_the_first_part_of_the_path() {
        let of = |text| owner(text).unwrap_or_default();
        assert_eq!(of("https://github.com/Acme/tool.git"), "github.com/acme");
        assert_eq!(of("https://git.example.com/acme/x/y"), "git.example.com/acme");
        assert_eq!(owner("not a url"), None);
    }
}
