use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use semver::Version;

use super::*;
use crate::plugins::git::GitPlace;
use crate::plugins::model::{CrateAtom, MatchedCrate, Plugin, Predicate, SkillGroup, SkillSource};
use crate::skills::crate_source::{How, Located};

mod crates;
mod plugins;
mod skills;

/// Crates that are asked for by name only, in folders `<name>-<version>`.
struct Fake {
    dir: tempfile::TempDir,
    crates: BTreeMap<String, Version>,
    asked: RefCell<Vec<String>>,
}

impl CrateSources for Fake {
    fn locate(&self, request: &CrateRequest) -> Result<Located, NotOnDisk> {
        self.asked.borrow_mut().push(request.name.clone());
        let missing = || NotOnDisk {
            name: request.name.clone(),
            version: request.version.clone(),
            ..NotOnDisk::default()
        };
        let name = request.name.replace('_', "-");
        let version = self.crates.get(&name).ok_or_else(missing)?;
        if request.requirement.as_ref().is_some_and(|wanted| !wanted.matches(version)) {
            return Err(missing());
        }
        let dir = self.dir.path().join(&name);
        Ok(Located { name, version: version.clone(), dir, how: How::Path })
    }
}

/// Gates that hold when every crate in them is called `yes`.
struct Names;

impl Gates for Names {
    fn read(&self, raw: &RawGate, source: &Arc<Source>) -> Result<Gate, Vec<Diagnostic>> {
        let items = raw.crates.iter().flatten();
        if let Some(bad) = items.clone().find(|item| item.value.contains('!')) {
            let error = Diagnostic::error(format!("`{}` is no crate", bad.value));
            return Err(vec![error.at(source, bad.span.clone())]);
        }
        let atom = |item: &crate::text::toml::Located<String>| CrateAtom::Crate {
            name: item.value.clone(),
            requirement: None,
            text: item.value.clone(),
        };
        let predicates = raw.predicates.iter();
        Ok(Gate {
            crates: raw.crates.is_some().then(|| items.map(atom).collect()),
            predicates: predicates.map(|item| Predicate::PathExists(item.value.clone())).collect(),
        })
    }

    fn check(&self, gate: &Gate) -> Result<(), String> {
        let yes = |atom: &CrateAtom| matches!(atom, CrateAtom::Crate { name, .. } if name == "yes");
        let crates = gate.crates.as_ref().is_none_or(|atoms| atoms.iter().any(yes));
        let holds = crates && gate.predicates.is_empty();
        if holds { Ok(()) } else { Err("it is not about this".to_owned()) }
    }
}

impl Fake {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        Self { dir, crates: BTreeMap::new(), asked: RefCell::default() }
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().expect("has a folder")).expect("creates");
        fs::write(path, text).expect("writes");
    }

    fn skill(&self, path: &str, extra: &str) {
        let name = path.rsplit('/').next().expect("has a name");
        let text = format!("---\nname: {name}\ndescription: About {name}\n{extra}---\n");
        self.put(&format!("{path}/SKILL.md"), &text);
    }

    /// A crate whose skills are as its metadata says.
    fn package(&mut self, name: &str, metadata: &str) {
        self.put(
            &format!("{name}/Cargo.toml"),
            &format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\n{metadata}"),
        );
        self.crates.insert(name.to_owned(), Version::new(1, 0, 0));
    }

    fn redirect(&mut self, name: &str, targets: &[&str]) {
        let entries: Vec<_> = targets
            .iter()
            .map(|target| {
                format!(
                    "[[package.metadata.symposium.skills]]\ncrate = {{ name = \"{target}\" }}\n"
                )
            })
            .collect();
        self.package(name, &entries.concat());
    }

    fn plugin(&self) -> Plugin {
        let source_root = self.dir.path().join("source");
        Plugin {
            name: "plug".to_owned(),
            version: None,
            description: None,
            package: None,
            source: "user-plugins".to_owned(),
            manifest: source_root.join("plug/SYMPOSIUM.toml"),
            dir: source_root.join("plug"),
            source_root,
            gate: Gate::default(),
            installations: Vec::new(),
            skills: Vec::new(),
            hooks: Vec::new(),
            servers: Vec::new(),
            subcommands: Vec::new(),
        }
    }

    fn resolve(&self, work: impl FnOnce(&mut Resolver<'_>)) -> Resolution {
        let checkouts = |place: &GitPlace| match place.url.expose() {
            "https://example.com/repo" => Ok(GitFolder {
                root: self.dir.path().join("checkout"),
                start: "skills".to_owned(),
                repo: place.url.to_string(),
                commit: "0123456789".to_owned(),
            }),
            _ => Err(Box::new(Diagnostic::error("no such repository"))),
        };
        let mut resolver = Resolver::new(&Names, self, &checkouts, &crate::workspace::UNOBSERVED);
        work(&mut resolver);
        resolver.finish()
    }

    fn group(&self, source: SkillSource, matched: &[&str]) -> Resolution {
        let matched: Vec<_> = matched
            .iter()
            .map(|name| MatchedCrate {
                name: (*name).to_owned(),
                version: Some(Version::new(1, 0, 0)),
            })
            .collect();
        let group = SkillGroup { gate: Gate::default(), source, span: 0..0 };
        self.resolve(|resolver| drop(resolver.group(&self.plugin(), &group, &matched)))
    }

    fn crates(&self, matched: &[&str]) -> Resolution {
        self.group(SkillSource::Crate { tried_first: None }, matched)
    }
}

fn names(resolution: &Resolution) -> Vec<&str> {
    resolution.skills.iter().map(|skill| skill.name.as_str()).collect()
}

fn told(resolution: &Resolution) -> Vec<String> {
    assert!(resolution.problems().all(|diagnostic| !diagnostic.is_error()));
    resolution.problems().map(|diagnostic| diagnostic.message).collect()
}

fn reasons(resolution: &Resolution) -> String {
    let lines = resolution.explanations.iter().map(|event| match event {
        Event::Explain { name, verdict, reason, .. } => format!("{verdict:?} {name}: {reason}\n"),
        other => format!("{other:?}\n"),
    });
    lines.collect()
}
