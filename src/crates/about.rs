//! What a crate ships beside its code, and which of its features are on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use toml::{Table, Value};

use super::quote::one_line;
use crate::files::{Limit, read_text};
use crate::workspace::Usage;

/// Files of a folder that are looked at.
const MOST: usize = 1_000;
/// Letters of what a crate says in one line.
const LINE: usize = 200;

/// What a crate ships.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct About {
    pub features: Features,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub readme: Option<PathBuf>,
    /// The folder, and how many there are in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub examples: Option<Examples>,
    /// Where the documentation of this version is on the web.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub docs: Option<String>,
}

/// A crate's examples.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Examples {
    pub folder: PathBuf,
    pub count: usize,
}

/// A crate's features.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Features {
    /// Those that the workspace's manifests ask for, with what they imply. Other crates may ask for
    /// more.
    pub enabled: Vec<String>,
    /// The others.
    pub available: Vec<String>,
}

impl About {
    /// What the crate in `dir` ships, and what of it is asked for in `uses`.
    pub(crate) fn read(dir: &Path, uses: &[&Usage]) -> Self {
        let manifest = read_text(&dir.join("Cargo.toml"), Limit::CARGO).ok();
        let manifest = manifest.and_then(|text| text.parse::<Table>().ok()).unwrap_or_default();
        let package = manifest.get("package");
        let of_package = |key: &str| package.and_then(|package| package.get(key));
        Self {
            features: Features::of(&manifest, uses),
            readme: readme(dir, of_package("readme").and_then(Value::as_str)),
            examples: examples(&dir.join("examples")),
            docs: of_package("documentation")
                .and_then(Value::as_str)
                .filter(|url| url.starts_with("https://"))
                .map(|url| one_line(url, LINE)),
        }
    }
}

fn is_plain_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file())
}

fn readme(dir: &Path, named: Option<&str>) -> Option<PathBuf> {
    let named = named.and_then(|name| crate::files::contained(dir, name).ok());
    let usual = ["README.md", "README.txt", "README", "Readme.md", "readme.md"];
    let usual = usual.iter().map(|name| dir.join(name));
    named.into_iter().chain(usual).find(|path| is_plain_file(path))
}

fn examples(folder: &Path) -> Option<Examples> {
    if folder.is_symlink() {
        return None;
    }
    let entries = fs::read_dir(folder).ok()?.take(MOST).filter_map(Result::ok);
    let is_one = |path: &Path| {
        path.extension().is_some_and(|ending| ending == "rs") && is_plain_file(path)
            || is_plain_file(&path.join("main.rs"))
            || is_plain_file(&path.join("Cargo.toml"))
    };
    let count = entries.filter(|entry| is_one(&entry.path())).count();
    (count > 0).then(|| Examples { folder: folder.to_path_buf(), count })
}

impl Features {
    fn of(manifest: &Table, uses: &[&Usage]) -> Self {
        let known = known(manifest);
        let mut wanted: Vec<&str> =
            uses.iter().flat_map(|it| &it.features).map(String::as_str).collect();
        if uses.iter().any(|it| it.default_features) {
            wanted.push("default");
        }
        let mut enabled = BTreeSet::new();
        while let Some(next) = wanted.pop() {
            if let Some((name, implied)) = known.get_key_value(next)
                && enabled.insert(name.clone())
            {
                wanted.extend(implied.iter().map(String::as_str));
            }
        }
        let available =
            known.into_keys().filter(|name| !enabled.contains(name)).collect::<Vec<_>>();
        Self { enabled: enabled.into_iter().collect(), available }
    }
}

/// A crate's features with those that each implies. An optional dependency that no feature names
/// with `dep:` is one too.
fn known(manifest: &Table) -> BTreeMap<String, Vec<String>> {
    let mut known = BTreeMap::new();
    let mut hidden = BTreeSet::new();
    let features = manifest.get("features").and_then(Value::as_table);
    for (name, value) in features.into_iter().flatten().filter(|(name, _)| is_feature(name)) {
        let implied = value.as_array().into_iter().flatten().filter_map(Value::as_str);
        let implied: Vec<String> = implied.map(str::to_owned).collect();
        hidden.extend(implied.iter().filter_map(|it| it.strip_prefix("dep:")).map(str::to_owned));
        known.insert(name.clone(), implied);
    }
    let targets = manifest.get("target").and_then(Value::as_table);
    let targets = targets.into_iter().flatten().filter_map(|(_, target)| target.as_table());
    for table in std::iter::once(manifest).chain(targets) {
        let tables = ["dependencies", "build-dependencies"].map(|key| table.get(key));
        let tables = tables.into_iter().flatten().filter_map(Value::as_table);
        for (name, value) in tables.flatten().filter(|(name, _)| is_feature(name)) {
            let is_optional = value.get("optional").and_then(Value::as_bool) == Some(true);
            if is_optional && !hidden.contains(name) {
                known.entry(name.clone()).or_insert_with(Vec::new);
            }
        }
    }
    known
}

/// Whether cargo takes it for a feature's name.
fn is_feature(name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || "_-+.".contains(letter);
    !name.is_empty() && name.len() <= 64 && name.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[package]\nname = \"widget\"\nreadme = \"docs/READ.md\"\n\
        documentation = \"https://example.com/widget\"\n\
        [features]\ndefault = [\"std\"]\nstd = []\nfast = [\"std\", \"dep:simd\", \"other?/std\"]\nfull = [\"fast\"]\n\
        [dependencies]\nsimd = { version = \"1\", optional = true }\nserde = { version = \"1\", optional = true }\nlog = \"1\"\n";

    fn usage(features: &[&str], default_features: bool) -> Usage {
        let features = features.iter().map(|name| (*name).to_owned()).collect();
        Usage { features, default_features, ..Usage::default() }
    }

    #[test]
    fn features_come_with_what_they_imply() {
        let manifest: Table = MANIFEST.parse().expect("is TOML");
        let of = |uses: &[&Usage]| Features::of(&manifest, uses);
        assert_eq!(of(&[&usage(&[], true)]).enabled, ["default", "std"]);
        let both = of(&[&usage(&["full"], false), &usage(&["serde", "gone"], false)]);
        assert_eq!(both.enabled, ["fast", "full", "serde", "std"]);
        assert_eq!(both.available, ["default"]);
        assert_eq!(of(&[]).available, ["default", "fast", "full", "serde", "std"]);
    }

    #[test]
    fn what_is_not_there_is_not_named() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::write(dir.path().join("Cargo.toml"), MANIFEST).expect("writes");
        let about = About::read(dir.path(), &[]);
        assert_eq!((about.readme, about.examples), (None, None));
        assert_eq!(about.docs.as_deref(), Some("https://example.com/widget"));
        fs::create_dir_all(dir.path().join("examples/large")).expect("creates");
        for file in
            ["README.md", "examples/small.rs", "examples/large/main.rs", "examples/data.txt"]
        {
            fs::write(dir.path().join(file), "").expect("writes");
        }
        let about = About::read(dir.path(), &[]);
        assert_eq!(about.readme, Some(dir.path().join("README.md")));
        let examples = Examples { folder: dir.path().join("examples"), count: 2 };
        assert_eq!(about.examples, Some(examples));
    }
}
