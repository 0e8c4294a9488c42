//! What holds of every package in a format of others.

use std::collections::BTreeMap;
use std::path::Path;

use super::folder::{Folder, LEADS_OUT};
use super::{Place, ReadPackage, read, read_index};
use crate::files::relative_inside;
use crate::plugins::fuzzing::remembered;
use crate::plugins::model::SkillSource;
use crate::report::fuzzing::{text, told};

/// What begins a file, with its path behind it.
const FILE: &str = "=== ";

/// A folder of files that are written one below the other.
#[derive(Debug, Default)]
struct Files(BTreeMap<String, String>);

impl Files {
    fn parse(text: &str) -> Self {
        let mut files = BTreeMap::new();
        let mut path = None;
        for line in text.split_inclusive('\n') {
            if let Some(named) = line.strip_prefix(FILE) {
                path = Some(named.trim().to_owned());
            } else if let Some(path) = &path {
                files.entry(path.clone()).or_insert_with(String::new).push_str(line);
            }
        }
        Self(files)
    }

    fn inside(path: &str) -> Option<String> {
        let inside = relative_inside(path)?;
        let names: Vec<_> = inside.iter().map(|name| name.to_string_lossy()).collect();
        Some(names.join("/"))
    }
}

impl Folder for Files {
    fn text(&self, path: &str) -> Result<Option<String>, String> {
        let path = Self::inside(path).ok_or(LEADS_OUT)?;
        Ok(self.0.get(&path).cloned())
    }

    fn names(&self, path: &str) -> Option<Vec<String>> {
        let folder = match Self::inside(path)?.as_str() {
            "" => String::new(),
            inside => format!("{inside}/"),
        };
        let below = self.0.keys().filter_map(|path| path.strip_prefix(&folder));
        let name = |rest: &str| match rest.split_once('/') {
            Some((name, _)) => format!("{name}/"),
            None => rest.to_owned(),
        };
        let mut names: Vec<String> = below.map(name).collect();
        names.sort();
        names.dedup();
        (!names.is_empty()).then_some(names)
    }

    fn contains(&self, path: &str) -> bool {
        relative_inside(path).is_some()
    }
}

/// A package, or an index of some, is read the same twice. What is refused has a reason, and no path
/// of what is taken leads out.
pub(crate) fn package(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let folder = Files::parse(text);
    let dir = Path::new("/w/s/p");
    let place = Place { source: "s", source_root: Path::new("/w/s"), dir, entry: None };
    if let Some(found) = read(&place, &folder) {
        let again = read(&place, &folder);
        assert_eq!(format!("{again:?}"), format!("{:?}", Some(&found)));
        taken(&found);
    }
    match read_index(dir, &folder) {
        Some(Ok(index)) => {
            told(&index.diagnostics);
            for entry in &index.entries {
                let place = Place { entry: Some(entry), ..place };
                let found = read(&place, &folder).expect("the entry stands for a package");
                taken(&found);
            }
        }
        Some(Err(problem)) => told(&[*problem]),
        None => {}
    }
}

fn taken(found: &ReadPackage) {
    told(&found.diagnostics);
    let Some(plugin) = &found.plugin else {
        return assert!(!found.diagnostics.is_empty(), "nobody says why it is left out");
    };
    remembered(plugin);
    assert!(plugin.not_taken().iter().all(|it| !it.what.is_empty() && !it.why.is_empty()));
    for group in &plugin.skills {
        if let SkillSource::Path(path) = &group.source {
            assert!(relative_inside(path).is_some(), "{path:?} leads out");
        }
    }
}
