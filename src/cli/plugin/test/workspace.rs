//! A workspace made up for a plugin: it depends on the crates that the plugin is for.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use semver::{Version, VersionReq};

use super::subject::{Kind, Subject};
use crate::Symposium;
use crate::plugins::model::{CrateAtom, Gate, Plugin, Predicate, SkillSource};
use crate::skills::discover::discover_at;
use crate::skills::resolve::read_source;
use crate::skills::{RawGate, SkillDocument};
use crate::text::Diagnostic;
use crate::workspace::{UNOBSERVED, Workspace};

/// Its folder in the scratch folder.
pub(super) const FOLDER: &str = "workspace";

/// The workspace that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The one around this folder.
    Folder(PathBuf),
    /// One that depends on these: `widget`, `widget@1.2.0`.
    Crates(Vec<String>),
    /// One in which the plugin applies, as far as that is up to the dependencies.
    ByGates,
}

/// What was made up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Made {
    /// Its direct dependencies: `widget 1.0.0`.
    pub(super) dependencies: Vec<String>,
}

#[derive(Debug)]
struct Dependency {
    version: Version,
    /// The crate's own folder, where it is at hand.
    dir: Option<PathBuf>,
}

/// # Errors
/// It can't be written, or a crate that is wanted makes no sense.
pub(super) fn make(
    sym: &Symposium,
    scratch: &Path,
    subject: &Subject,
    (plugin, wanted): (Option<&Plugin>, &Wanted),
) -> anyhow::Result<Made> {
    let around = Workspace::load(&subject.dir, &sym.env).ok().flatten();
    let members = around.map(|loaded| loaded.workspace.members).unwrap_or_default();
    let mut named: BTreeMap<String, Vec<VersionReq>> = BTreeMap::new();
    match wanted {
        Wanted::Crates(crates) => {
            for text in crates {
                let (name, requirement) = said(text)?;
                named.entry(name).or_default().extend(requirement);
            }
        }
        _ => {
            for gate in plugin.into_iter().flat_map(gates) {
                of_gate(&gate, &mut named);
            }
            for gate in skills_gates(subject, plugin) {
                of_skill(&gate, &mut named);
            }
        }
    }
    let mut dependencies = BTreeMap::new();
    for (name, requirements) in named {
        let member = members.iter().find(|member| member.name == name);
        let is_meant = |version: &Version| requirements.iter().all(|known| known.matches(version));
        let at_hand = member.and_then(|member| Some((member.version.clone()?, &member.dir)));
        // A version that was asked for in so many words is made up where the crate has another.
        let at_hand =
            at_hand.filter(|(version, _)| *wanted == Wanted::ByGates || is_meant(version));
        let dependency = match at_hand {
            Some((version, dir)) => Dependency { version, dir: Some(dir.clone()) },
            None => Dependency { version: fitting(&requirements), dir: None },
        };
        dependencies.insert(name, dependency);
    }
    write(scratch, &dependencies)?;
    let shown = |(name, known): (&String, &Dependency)| format!("{name} {}", known.version);
    Ok(Made { dependencies: dependencies.iter().map(shown).collect() })
}

/// `widget`, or `widget@1.2.0`.
fn said(text: &str) -> Result<(String, Option<VersionReq>), Diagnostic> {
    let (name, version) = match text.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (text, None),
    };
    let wrong = |why: String| {
        Diagnostic::error(format!("`{text}` is no crate of a workspace: {why}"))
            .note("for example `widget` or `widget@1.2.0`")
    };
    crate::text::check_crate_name(name).map_err(wrong)?;
    let exact = |version: &str| {
        let version = Version::parse(version).map_err(|error| wrong(error.to_string()))?;
        VersionReq::parse(&format!("={version}")).map_err(|error| wrong(error.to_string()))
    };
    Ok((name.to_owned(), version.map(exact).transpose()?))
}

fn gates(plugin: &Plugin) -> Vec<Gate> {
    let own = [&plugin.gate].into_iter();
    let skills = plugin.skills.iter().map(|group| &group.gate);
    let hooks = plugin.hooks.iter().map(|hook| &hook.gate);
    let servers = plugin.servers.iter().map(|server| &server.gate);
    let subcommands = plugin.subcommands.iter().map(|subcommand| &subcommand.gate);
    own.chain(skills).chain(hooks).chain(servers).chain(subcommands).cloned().collect()
}

/// The crates that a gate is for.
fn of_gate(gate: &Gate, named: &mut BTreeMap<String, Vec<VersionReq>>) {
    for atom in gate.crates.iter().flatten() {
        of_atom(atom, named);
    }
    for predicate in &gate.predicates {
        of_predicate(predicate, named);
    }
}

fn of_predicate(predicate: &Predicate, named: &mut BTreeMap<String, Vec<VersionReq>>) {
    match predicate {
        Predicate::DependsOn(atom) => of_atom(atom, named),
        Predicate::Any(all) | Predicate::All(all) => {
            all.iter().for_each(|predicate| of_predicate(predicate, named));
        }
        _ => {}
    }
}

fn of_atom(atom: &CrateAtom, named: &mut BTreeMap<String, Vec<VersionReq>>) {
    if let CrateAtom::Crate { name, requirement, .. } = atom {
        named.entry(name.clone()).or_default().extend(requirement.clone());
    }
}

fn of_skill(gate: &RawGate, named: &mut BTreeMap<String, Vec<VersionReq>>) {
    for text in gate.crates.iter().flatten() {
        if let Ok(atom) = CrateAtom::parse(&text.value) {
            of_atom(&atom, named);
        }
    }
}

/// What the skills in the plugin's own folders say themselves.
fn skills_gates(subject: &Subject, plugin: Option<&Plugin>) -> Vec<RawGate> {
    let mut folders: Vec<(PathBuf, PathBuf)> = Vec::new();
    if let Some(plugin) = plugin {
        let depths = plugin.skill_depths();
        for group in &plugin.skills {
            if let SkillSource::Path(path) = &group.source
                && let Ok(start) = plugin.resolve(path)
            {
                let root = plugin.boundary();
                let found = discover_at(depths.clone(), (root, &start), &UNOBSERVED).skills;
                folders.extend(found.into_iter().map(|skill| (root.to_path_buf(), skill.dir)));
            }
        }
    } else if subject.kind == Kind::Skill {
        folders.push((subject.dir.clone(), subject.dir.clone()));
    }
    let read = |(root, dir): &(PathBuf, PathBuf)| {
        let document = read_source(root, dir, &UNOBSERVED).and_then(SkillDocument::parse);
        document.ok().map(|(document, _)| document.gate)
    };
    folders.iter().filter_map(read).collect()
}

/// A version that satisfies as many of `requirements` as one can find: those that they name, and their
/// neighbours.
fn fitting(requirements: &[VersionReq]) -> Version {
    let mut candidates = vec![Version::new(1, 0, 0)];
    for known in requirements.iter().flat_map(|requirement| &requirement.comparators) {
        let (major, minor) = (known.major, known.minor.unwrap_or(0));
        let patch = known.patch.unwrap_or(0);
        let mut named = Version::new(major, minor, patch);
        named.pre = known.pre.clone();
        candidates.push(named);
        candidates.push(Version::new(major, minor, patch + 1));
        candidates.push(Version::new(major, minor + 1, 0));
        candidates.push(Version::new(major + 1, 0, 0));
        candidates.push(Version::new(major, minor, patch.saturating_sub(1)));
        candidates.push(Version::new(major, minor.saturating_sub(1), 0));
        candidates.push(Version::new(major.saturating_sub(1), 0, 0));
    }
    let score = |version: &Version| {
        requirements.iter().filter(|requirement| requirement.matches(version)).count()
    };
    // Of equals the first.
    let best = candidates.into_iter().rev().max_by_key(score);
    best.unwrap_or(Version::new(1, 0, 0))
}

fn write(scratch: &Path, dependencies: &BTreeMap<String, Dependency>) -> anyhow::Result<()> {
    let root = scratch.join(FOLDER);
    let mut manifest =
        "[package]\nname = \"tried-out\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\n"
            .to_owned();
    let mut packages = BTreeMap::new();
    for (name, dependency) in dependencies {
        let dir = match &dependency.dir {
            Some(dir) => dir.clone(),
            None => {
                let dir = scratch.join("crates").join(name);
                put(&dir.join("src/lib.rs"), "")?;
                let version = &dependency.version;
                let text = format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\n");
                put(&dir.join("Cargo.toml"), &text)?;
                dir
            }
        };
        let _ = writeln!(manifest, "{name} = {{ path = {} }}", quoted(&dir.to_string_lossy()));
        packages.insert(name.as_str(), dependency.version.to_string());
    }
    packages.insert("tried-out", "0.0.0".to_owned());
    let mut lock = "version = 4\n".to_owned();
    for (name, version) in &packages {
        let _ = write!(lock, "\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n");
        if *name == "tried-out" && !dependencies.is_empty() {
            let names: Vec<String> =
                dependencies.keys().map(|name| format!(" \"{name}\",\n")).collect();
            let _ = write!(lock, "dependencies = [\n{}]\n", names.concat());
        }
    }
    put(&root.join("Cargo.toml"), &manifest)?;
    put(&root.join("Cargo.lock"), &lock)?;
    put(&root.join("src/lib.rs"), "")
}

/// A text as TOML writes it.
pub(super) fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

fn put(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    Ok(fs::write(path, text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_made_up_that_the_gates_take() {
        for (requirements, wanted) in [
            (&[][..], "1.0.0"),
            (&[">=2.3"], "2.3.0"),
            (&[">=1.0", "<1.2"], "1.0.0"),
            (&[">1.4.2"], "1.4.3"),
            (&["<0.8"], "0.7.0"),
            (&["^0.9.3", ">0.9.3"], "0.9.4"),
            (&["=1.0.0-rc.1"], "1.0.0-rc.1"),
        ] {
            let read = |text: &&str| VersionReq::parse(text).expect("a requirement");
            let requirements: Vec<_> = requirements.iter().map(read).collect();
            assert_eq!(fitting(&requirements).to_string(), wanted, "{requirements:?}");
        }
    }
}
