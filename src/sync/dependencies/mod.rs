//! What agents are told of the workspace's direct dependencies.
//!
//! [`gather`] says what there is to know of each; [`page`] writes it down as a skill, [`changes`]
//! says what became different since the last sync, and [`published`] when a version came out.
//!
//! May use: nothing else of `sync`. Used by: `facts`, `snapshot` and the `hook` room.

pub(crate) mod changes;
pub(crate) mod page;
pub(crate) mod published;

use std::path::{Path, PathBuf};

use crate::crates::changelog::place;
use crate::skills::crate_source::awaited::locate;
use crate::skills::crate_source::{CrateRequest, CrateSources, Located};
use crate::text::is_crate_name;
use crate::workspace::{Dependency, DependencyOrigin, Observer, Workspace};

/// A direct dependency, at one version.
#[derive(Debug, Clone)]
pub(crate) struct DirectDependency {
    pub dependency: Dependency,
    /// The folder of a dependency that is a member of the workspace, relative to the root.
    pub member: Option<String>,
    /// Where its source is; nothing for a member, which is the workspace's own code.
    pub source: Option<CrateSource>,
}

/// The source of a crate, and what there is to read in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CrateSource {
    pub dir: PathBuf,
    pub readme: Option<String>,
    /// A file, or with `/` at its end a folder of files.
    pub changelog: Option<String>,
    pub has_examples: bool,
}

/// The direct dependencies, in the order of their names and versions.
pub(crate) fn gather(
    workspace: &Workspace,
    on_disk: &dyn CrateSources,
    observer: &Observer,
) -> Vec<DirectDependency> {
    let mut found = Vec::new();
    // A name that no crate can have is somebody's text to the model.
    let named = workspace.dependencies.iter().filter(|known| is_crate_name(&known.name));
    for dependency in named {
        let member = member(workspace, dependency);
        let mut source = None;
        if member.is_none()
            && let Some(version) = &dependency.version
        {
            let (name, version) = (dependency.name.clone(), Some(version.clone()));
            let request = CrateRequest { name, version, requirement: None };
            let located = locate(on_disk, &request, observer).ok();
            source = located.map(|located| look_into(&located, observer));
        }
        found.push(DirectDependency { dependency: dependency.clone(), member, source });
    }
    found
}

/// Where the workspace has the dependency itself.
fn member(workspace: &Workspace, dependency: &Dependency) -> Option<String> {
    let DependencyOrigin::Path(dir) = &dependency.origin else { return None };
    let member = workspace.members.iter().find(|member| member.dir == *dir)?;
    let folder = member.dir.strip_prefix(&workspace.root).ok().and_then(Path::to_str);
    Some(folder.unwrap_or_default().replace('\\', "/"))
}

fn look_into(located: &Located, observer: &Observer) -> CrateSource {
    let dir = located.dir.clone();
    let mut names = Vec::new();
    if let Ok(entries) = observer.entries(&dir) {
        names.extend(entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()));
    }
    names.sort();
    let first = |fits: &dyn Fn(&str) -> bool| names.iter().find(|name| fits(name)).cloned();
    CrateSource {
        readme: first(&is_readme),
        changelog: place(&dir, &located.name),
        has_examples: names.iter().any(|name| name == "examples") && dir.join("examples").is_dir(),
        dir,
    }
}

fn is_readme(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let (stem, ending) = lower.split_once('.').unwrap_or((&lower, ""));
    stem == "readme" && matches!(ending, "" | "md" | "markdown" | "rst" | "txt" | "adoc" | "org")
}
