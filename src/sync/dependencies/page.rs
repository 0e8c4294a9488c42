//! The skill that maps the direct dependencies: one page, and how to ask for more.
//!
//! What is written here comes from manifests, the lock file and folders that others made. Only
//! names and versions of the shape that cargo allows get in, so none of it can speak to the model.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use super::{CrateSource, DirectDependency};
use crate::skills::{Skill, SkillOrigin};
use crate::text::is_crate_name;
use crate::workspace::DependencyKind;

/// The skill's name.
pub(crate) const NAME: &str = "rust-dependencies";

/// At most 200 characters: each session of each agent pays for it.
pub(crate) const DESCRIPTION: &str = "The crates this Rust workspace depends on: \
     locked version, features, and where source, README, \
     examples and changelog are. Use before calling, adding or upgrading a crate.";

/// From this length on, in characters, a dependency is only named.
const LONG: usize = 12_000;
/// From this length on it is only counted.
const LONGEST: usize = 16_000;
/// Longest name of a feature.
const FEATURE: usize = 64;

/// What is written of places on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Places {
    Shown,
    /// The page may be committed: it has to be the same for everybody.
    Hidden,
}

/// The page; `None` where the workspace depends on nobody else's code. `skills` are those that
/// apply.
pub(crate) fn write(
    dependencies: &[DirectDependency],
    skills: &[Skill],
    places: Places,
) -> Option<String> {
    dependencies.iter().find(|known| known.member.is_none())?;
    let page = Page {
        places,
        usual: usual_folder(dependencies),
        several: several(dependencies),
        skills: by_crate(skills),
    };
    let mut text = head(&page);
    let mut short: Vec<String> = Vec::new();
    for (title, kinds) in SECTIONS {
        let mut is_begun = false;
        for found in dependencies.iter().filter(|found| first_kind(found) == kinds) {
            let line = page.line(found);
            if text.len() + line.len() > LONG {
                short.push(named(found));
                continue;
            }
            if !is_begun {
                let _ = write!(text, "\n## {title}\n\n");
                is_begun = true;
            }
            text.push_str(&line);
        }
    }
    name_the_rest(&mut text, &short);
    Some(text)
}

const SECTIONS: [(&str, DependencyKind); 3] = [
    ("Dependencies", DependencyKind::Normal),
    ("Of build scripts", DependencyKind::Build),
    ("Of tests, examples and benchmarks", DependencyKind::Development),
];

fn first_kind(found: &DirectDependency) -> DependencyKind {
    found.dependency.usage.kinds.first().copied().unwrap_or(DependencyKind::Normal)
}

fn head(page: &Page<'_>) -> String {
    let mut text = format!(
        "---\nname: {NAME}\ndescription: >-\n  {DESCRIPTION}\n---\n\n\
         # What this workspace depends on\n\n\
         Cargo agents writes this page from `Cargo.toml` and `Cargo.lock`, and anew when they\n\
         change. These versions are what gets compiled, whatever you remember of a crate.\n\n\
         - `cargo agents crate-info NAME`: its source, examples, changelog, features and skills\n\
         - `cargo agents crate-info NAME --since VERSION`: what changed after that version\n\
         - `cargo agents crate-info NAME PATH`: where an item (`Type::method`) is declared\n\n\
         `features` are what this workspace asks for; a line without them has the default ones.\n\
         Other crates can turn on more: `cargo tree -e features -i NAME`.\n"
    );
    match (page.places, &page.usual) {
        (Places::Shown, Some(folder)) => {
            let _ = writeln!(
                text,
                "The source of NAME VERSION is in `{folder}/NAME-VERSION`, unless its line says \
                 otherwise."
            );
        }
        (Places::Hidden, _) => {
            text.push_str("Where the source is on this machine, `crate-info` says.\n");
        }
        (Places::Shown, None) => {}
    }
    text
}

/// What all lines need.
struct Page<'a> {
    places: Places,
    /// The folder that most sources are in.
    usual: Option<&'a str>,
    /// Names that there are several versions of.
    several: BTreeSet<&'a str>,
    /// The skills of a crate that are accepted, by its name and version.
    skills: BTreeMap<(&'a str, String), Vec<&'a str>>,
}

impl Page<'_> {
    fn line(&self, found: &DirectDependency) -> String {
        let (name, usage) = (&found.dependency.name, &found.dependency.usage);
        let mut line = format!("- `{name}` {}", shown_version(found));
        let renames = usage.renames.iter().filter(|rename| is_crate_name(rename));
        let renames: Vec<_> = renames.map(|it| format!("`{}`", it.replace('-', "_"))).collect();
        if !renames.is_empty() {
            let _ = write!(line, ", in code {}", renames.join(" and "));
        }
        if usage.optional {
            line.push_str(", optional");
        }
        let mut parts = Vec::new();
        let mut features: Vec<&str> =
            usage.features.iter().map(String::as_str).filter(|name| is_feature(name)).collect();
        if usage.default_features && !features.is_empty() && !features.contains(&"default") {
            features.insert(0, "default");
        }
        match (features.as_slice(), usage.default_features) {
            ([], true) => {}
            ([], false) => parts.push("features: none".to_owned()),
            (features, _) => parts.push(format!("features: {}", features.join(", "))),
        }
        parts.extend(self.place(found));
        if self.places == Places::Shown
            && let Some(skills) = self.skills.get(&(name.as_str(), shown_version(found)))
        {
            parts.push(format!("skills: {}", skills.join(", ")));
        }
        if self.several.contains(name.as_str()) {
            let members: Vec<_> = usage.members.iter().filter(|name| is_crate_name(name)).collect();
            let members: Vec<_> = members.into_iter().map(|name| format!("`{name}`")).collect();
            parts.push(format!("used by {}", members.join(", ")));
        }
        for part in parts {
            let _ = write!(line, "; {part}");
        }
        line.push('\n');
        line
    }

    /// Where it is, and what is there to read.
    fn place(&self, found: &DirectDependency) -> Option<String> {
        if let Some(folder) = &found.member {
            let folder = Some(folder).filter(|folder| is_plain(folder));
            return Some(match folder {
                Some(folder) => format!("a member of this workspace, in `{folder}`"),
                None => "a member of this workspace".to_owned(),
            });
        }
        if self.places == Places::Hidden || found.dependency.version.is_none() {
            return None;
        }
        let Some(source) = &found.source else {
            return Some("source not on this machine yet".to_owned());
        };
        let mut parts = contents(source);
        let usual = self.usual.map(|folder| Path::new(folder).join(folder_of(found)));
        if usual.as_deref() != Some(&source.dir) {
            let shown = source.dir.to_str().filter(|path| is_plain(path));
            parts.extend(shown.map(|path| format!("in `{path}`")));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// The files that are worth reading first.
fn contents(source: &CrateSource) -> Vec<String> {
    let files = [&source.readme, &source.changelog].into_iter().flatten();
    let mut contents: Vec<String> = files.filter(|name| is_plain(name)).cloned().collect();
    contents.extend(source.has_examples.then(|| "examples/".to_owned()));
    contents
}

/// Dependencies that there is no room for, by their names.
fn name_the_rest(text: &mut String, short: &[String]) {
    if short.is_empty() {
        return;
    }
    text.push_str("\n## And\n\n");
    for (index, name) in short.iter().enumerate() {
        if text.len() + name.len() > LONGEST {
            let _ = write!(text, ", and {} more, which `Cargo.lock` has", short.len() - index);
            break;
        }
        text.push_str(if index > 0 { ", " } else { "" });
        text.push_str(name);
    }
    text.push('\n');
}

fn named(found: &DirectDependency) -> String {
    format!("`{}` {}", found.dependency.name, shown_version(found))
}

fn shown_version(found: &DirectDependency) -> String {
    let version = found.dependency.version.as_ref();
    version.map_or_else(|| "(version unknown: not in Cargo.lock)".to_owned(), ToString::to_string)
}

/// The folder that cargo unpacks the crate into.
fn folder_of(found: &DirectDependency) -> String {
    let version = found.dependency.version.as_ref().map(ToString::to_string);
    format!("{}-{}", found.dependency.name, version.unwrap_or_default())
}

/// The folder in which most sources are, each as `NAME-VERSION`.
fn usual_folder(dependencies: &[DirectDependency]) -> Option<&str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for found in dependencies {
        let Some(source) = &found.source else { continue };
        if let Some(name) = source.dir.file_name()
            && *name == *folder_of(found)
            && let Some(parent) = source.dir.parent().and_then(Path::to_str)
        {
            *counts.entry(parent).or_default() += 1;
        }
    }
    let usual = counts.into_iter().max_by_key(|(_, count)| *count);
    usual.map(|(folder, _)| folder).filter(|folder| is_plain(folder))
}

fn several(dependencies: &[DirectDependency]) -> BTreeSet<&str> {
    let names: Vec<&str> = dependencies.iter().map(|found| &*found.dependency.name).collect();
    let twice = names.iter().zip(names.iter().skip(1)).filter(|(one, other)| one == other);
    twice.map(|(name, _)| *name).collect()
}

fn by_crate(skills: &[Skill]) -> BTreeMap<(&str, String), Vec<&str>> {
    let mut found: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for skill in skills {
        if let SkillOrigin::Crate { name, version, .. } = &skill.origin {
            found.entry((name.as_str(), version.to_string())).or_default().push(&skill.name);
        }
    }
    found
}

fn is_feature(name: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+.?/:".contains(&byte);
    name.len() <= FEATURE && !name.is_empty() && name.bytes().all(is_usual)
}

/// Whether a path can stand in the page without being mistaken for anything else, or hiding something.
fn is_plain(path: &str) -> bool {
    let is_usual = |letter: char| {
        letter.is_alphanumeric() || letter == ' ' || "/\\._-+@:~()[]{}#,='!$%&".contains(letter)
    };
    !path.is_empty() && path.chars().all(is_usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_costs_each_session_at_most_200_characters() {
        assert!(DESCRIPTION.chars().count() <= 200, "{}", DESCRIPTION.chars().count());
    }

    #[test]
    fn a_path_that_could_pass_for_something_else_is_not_plain() {
        assert!(is_plain("/home/jürgen/my crates/a-1.0.0+b") && is_plain("C:\\crates\\a-1.0.0"));
        for path in ["", "a`b", "a\nb", "a\u{202e}b", "a\u{200b}b", "<b>"] {
            assert!(!is_plain(path), "{path:?}");
        }
    }
}
