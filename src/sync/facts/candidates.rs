//! Dependencies that ship skills of their own, though no plugin source vouches for them, and plugins
//! that their sources merely suggest.
//!
//! Nothing of a candidate is installed until the user says so: `cargo agents use`.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use semver::Version;

use crate::config::{Choice, PluginChoices};
use crate::files::{Limit, read_source};
use crate::plugins::model::{Activation, Gate, Plugin, SkillSource};
use crate::plugins::predicate::{Facts as GateFacts, evaluate_all};
use crate::plugins::registry::Registry;
use crate::report::{Event, Kind, Verdict};
use crate::skills::crate_source::awaited::locate;
use crate::skills::crate_source::{CrateRequest, CrateSources, Located, NotOnDisk};
use crate::skills::discover::discover;
use crate::skills::document::SkillDocument;
use crate::skills::metadata::{DEFAULT_FOLDER, Place, read_crate_skills};
use crate::skills::{Skill, SkillOrigin};
use crate::text::{is_crate_name, same_crate, spelling};
use crate::workspace::{Observer, UNOBSERVED, Workspace};

/// Dependencies that are named as absent.
const NAMED: usize = 5;
/// What brings the sources of dependencies.
const BRINGS_SOURCES: &str = "`cargo fetch` brings them, and the next event or sync looks";

/// A direct dependency that ships skills, about which neither a source nor the user said anything.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    pub name: String,
    pub version: Version,
    /// Its own folder.
    pub dir: PathBuf,
    pub ships: Ships,
}

/// What a crate brings of skills.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Ships {
    /// The folders of its own, below the crate's, with `/`.
    pub folders: Vec<String>,
    /// Other crates whose skills it points to.
    pub crates: Vec<String>,
}

impl Candidate {
    /// Why nothing of it is installed.
    pub(crate) fn event(&self) -> Event {
        let reason = format!(
            "it ships skills, but no plugin source vouches for them: `cargo agents use {}`",
            self.name
        );
        let name = format!("{} {}", self.name, self.version);
        Event::explain(Kind::Crate, name, Verdict::Skipped, reason)
    }

    /// Whether `skill` is one of its own.
    pub(crate) fn brought(&self, skill: &Skill) -> bool {
        matches!(&skill.origin, SkillOrigin::Crate { name, .. } if same_crate(name, &self.name))
    }

    /// The names of its own skills, and the folder of each.
    pub(crate) fn skills(&self) -> impl Iterator<Item = (String, PathBuf)> {
        self.ships.folders.iter().map(|folder| {
            let name = skill_name(&self.dir, folder);
            let by_folder = || folder.rsplit('/').next().unwrap_or(folder).to_owned();
            (name.unwrap_or_else(by_folder), self.dir.join(folder))
        })
    }

    /// `2 skills`, for people.
    pub(crate) fn offer(&self) -> String {
        match self.ships.folders.len() {
            0 => "skills of another crate".to_owned(),
            1 => "1 skill".to_owned(),
            count => format!("{count} skills"),
        }
    }
}

/// A plugin that its source suggests and whose gate holds here, about which the user said nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Suggestion {
    pub name: String,
    pub source: String,
    /// Whether it brings skills.
    pub skills: bool,
    /// Its hooks, with the event of each.
    pub hooks: Vec<String>,
    pub servers: Vec<String>,
    pub subcommands: Vec<String>,
}

impl Suggestion {
    pub(crate) fn of(plugin: &Plugin, facts: &GateFacts<'_>) -> Option<Self> {
        let is_suggested = plugin.gate.waits() == Some(Activation::Suggested);
        if !is_suggested || !evaluate_all(&[&plugin.gate.woken()], facts).holds {
            return None;
        }
        let hooks =
            plugin.hooks.iter().map(|hook| format!("{} ({})", hook.name, hook.event.name()));
        Some(Self {
            name: plugin.name.clone(),
            source: plugin.source.clone(),
            skills: !plugin.skills.is_empty(),
            hooks: hooks.collect(),
            servers: plugin.servers.iter().map(|server| server.name.clone()).collect(),
            subcommands: plugin.subcommands.iter().map(|found| found.name.clone()).collect(),
        })
    }

    /// `skills, 1 hook, 2 servers`, for people.
    pub(crate) fn offer(&self) -> String {
        let mut parts = Vec::from_iter(self.skills.then(|| "skills".to_owned()));
        for (one, names) in
            [("hook", &self.hooks), ("server", &self.servers), ("subcommand", &self.subcommands)]
        {
            match names.len() {
                0 => {}
                1 => parts.push(format!("1 {one}")),
                count => parts.push(format!("{count} {one}s")),
            }
        }
        if parts.is_empty() { "nothing yet".to_owned() } else { parts.join(", ") }
    }
}

/// The candidates of a workspace, sorted: `delivered` are the crates whose skills plugins deliver here
/// already. A plugin that would deliver them elsewhere says nothing of them here. And the dependencies of which none is known, since their
/// sources are not on this machine.
pub(crate) fn find(
    workspace: &Workspace,
    delivered: &BTreeSet<String>,
    choices: &PluginChoices,
    (on_disk, observer): (&dyn CrateSources, &Observer),
) -> (Vec<Candidate>, Vec<NotOnDisk>) {
    let silent = workspace.members.iter().filter(|member| !member.names_us);
    let silent: HashSet<_> = silent.map(|member| member.dir.as_path()).collect();
    let (mut found, mut absent) = (Vec::new(), Vec::new());
    for dependency in &workspace.dependencies {
        let name = &dependency.name;
        let choice = choices.choice_for(name, Some(&workspace.root)).map(|(choice, _)| choice);
        if choice == Some(Choice::Disable) || !is_crate_name(name) {
            continue;
        }
        let is_settled = choice.is_some() || delivered.contains(&*spelling(name));
        let (name, version) = (name.clone(), dependency.version.clone());
        let request = CrateRequest { name, version, requirement: None };
        let located = match locate(on_disk, &request, observer) {
            Ok(_) if is_settled => continue,
            Ok(located) => located,
            Err(missing) => {
                absent.push(missing);
                continue;
            }
        };
        let says = || !silent.contains(located.dir.as_path()) && mentions(&located, observer);
        if let Some(ships) = shipped(&located, observer, says) {
            let Located { name, version, dir, .. } = located;
            found.push(Candidate { name, version, dir, ships });
        }
    }
    found.sort();
    found.dedup();
    absent.dedup();
    (found, absent)
}

/// What there is to say of dependencies whose sources are not on this machine, and what to do: those
/// that are merely not there yet in one line, those that can't be used with why.
pub(crate) fn told_absent(absent: &[NotOnDisk]) -> Vec<(String, &'static str)> {
    let (refused, awaited): (Vec<_>, Vec<_>) =
        absent.iter().partition(|crate_| crate_.reason.is_some());
    let named = |crate_: &NotOnDisk| match &crate_.version {
        Some(version) => format!("{} {version}", crate_.name),
        None => crate_.name.clone(),
    };
    let names: Vec<String> = awaited.iter().take(NAMED).map(|crate_| named(crate_)).collect();
    let more = awaited.len().saturating_sub(NAMED);
    let of_refused =
        |crate_: &&NotOnDisk| (crate_.to_string(), crate_.needs.remedy().unwrap_or(BRINGS_SOURCES));
    let mut told: Vec<_> = refused.iter().map(of_refused).collect();
    let mut await_them = |what| told.push((what, BRINGS_SOURCES));
    match names.as_slice() {
        [] => {}
        [name] => await_them(format!(
            "the sources of {name} are not on this machine yet, so it is not known whether it ships \
             skills"
        )),
        names => {
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            await_them(format!(
                "the sources of {} dependencies are not on this machine yet, so it is not known \
                 whether they ship skills: {}{more}",
                awaited.len(),
                names.join(", ")
            ));
        }
    }
    told
}

/// The plugins, of sources in force, that take the crate's own skills: whether their gates hold here
/// or not, the source has said its word about the crate.
pub(crate) fn endorsers<'r>(
    registry: &'r Registry,
    name: &str,
) -> impl Iterator<Item = &'r Plugin> {
    registry.active().filter(move |plugin| takes_crate(plugin, name))
}

/// Whether a plugin takes the own skills of the crate `name`, where its gates hold.
pub(crate) fn takes_crate(plugin: &Plugin, name: &str) -> bool {
    endorsed(plugin).any(|named| same_crate(named, name))
}

/// The crates whose own skills a plugin takes.
fn endorsed(plugin: &Plugin) -> impl Iterator<Item = &str> {
    plugin.skills.iter().flat_map(|group| match &group.source {
        SkillSource::Crate { .. } => {
            [&plugin.gate, &group.gate].into_iter().flat_map(Gate::crates_named).collect()
        }
        SkillSource::NamedCrate { name, .. } => vec![name.as_str()],
        SkillSource::Path(_) | SkillSource::Git(_) => Vec::new(),
    })
}

/// The folders of a crate's own skills; `None` when it ships none. Gates of single skills are not
/// asked: the question is whether it may bring any.
pub(crate) fn ships(located: &Located) -> Option<Vec<String>> {
    shipped(located, &UNOBSERVED, || mentions(located, &UNOBSERVED)).map(|ships| ships.folders)
}

/// The name that the skill in a crate's folder gives itself.
pub(crate) fn skill_name(crate_dir: &Path, folder: &str) -> Option<String> {
    let source = read_source(&crate_dir.join(folder).join("SKILL.md"), Limit::MANIFEST).ok()?;
    Some(SkillDocument::parse(source).ok()?.0.name.value)
}

/// As [`ships`], where it may be known that the manifest says nothing of them.
fn shipped(located: &Located, observer: &Observer, says: impl FnOnce() -> bool) -> Option<Ships> {
    let has = |name: &str, fits| observer.has(&located.dir, name, fits);
    if !has(DEFAULT_FOLDER, Path::is_dir) && !has("SYMPOSIUM.toml", Path::is_file) && !says() {
        return None;
    }
    let Ships { mut folders, mut crates } = Ships::default();
    for entry in read_crate_skills(&located.dir, observer).entries {
        match entry.place {
            Place::Path(path) => {
                if let Ok(start) = crate::files::contained(&located.dir, &path) {
                    let found = discover(&located.dir, &start, observer).skills;
                    folders.extend(found.into_iter().map(|skill| skill.path));
                }
            }
            Place::Crate { name, .. } => crates.push(name),
        }
    }
    folders.sort();
    folders.dedup();
    (!crates.is_empty() || !folders.is_empty()).then_some(Ships { folders, crates })
}

/// Whether reading the manifest is worth while: it names us.
fn mentions(located: &Located, observer: &Observer) -> bool {
    let path = located.dir.join("Cargo.toml");
    observer.text(&path, Limit::MANIFEST).is_ok_and(|text| text.contains("symposium"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::skills::crate_source::How;

    fn crate_with(files: &[(&str, &str)]) -> (tempfile::TempDir, Located) {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap_or(Path::new(""))).expect("creates");
            fs::write(path, text).expect("writes");
        }
        let located = Located {
            name: "widget".to_owned(),
            version: Version::new(1, 0, 0),
            dir: dir.path().to_path_buf(),
            how: How::Path,
        };
        (dir, located)
    }

    const SKILL: &str = "---\nname: a\ndescription: d\n---\n";
    const MANIFEST: &str = "[package]\nname = \"widget\"\n";

    fn shipped(files: &[(&str, &str)]) -> Option<Vec<String>> {
        let (_dir, located) = crate_with(files);
        ships(&located)
    }

    #[test]
    fn a_folder_or_the_metadata_makes_a_crate_ship_skills() {
        let manifest = ("Cargo.toml", MANIFEST);
        assert_eq!(shipped(&[manifest]), None);
        assert_eq!(
            shipped(&[manifest, ("skills/a/SKILL.md", SKILL)]),
            Some(vec!["skills/a".to_owned()])
        );
        // A folder of that name need not hold any.
        assert_eq!(shipped(&[manifest, ("skills/fireball.rs", "")]), None);
        let points = "[[package.metadata.symposium.skills]]\npath = \"docs\"\n";
        let text = format!("{MANIFEST}{points}");
        assert_eq!(
            shipped(&[("Cargo.toml", &text), ("docs/b/SKILL.md", SKILL)]),
            Some(vec!["docs/b".to_owned()])
        );
        let text = format!("{MANIFEST}[[package.metadata.symposium.skills]]\ncrate = \"other\"\n");
        assert_eq!(shipped(&[("Cargo.toml", &text)]), Some(Vec::new()));
    }

    #[test]
    fn a_crate_that_opts_out_ships_none() {
        let text = format!("{MANIFEST}[package.metadata.symposium]\nskills = []\n");
        assert_eq!(shipped(&[("Cargo.toml", &text), ("skills/a/SKILL.md", SKILL)]), None);
    }
}
