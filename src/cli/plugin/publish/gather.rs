//! What is in a folder that is to be published.

use std::path::Path;

use super::super::offer::{origin, runs};
use super::super::validate::target::{self, Target};
use super::{Honoured, Offer, Publication, ShippedSkill, honours, steps};
use crate::Symposium;
use crate::agents::Agent;
use crate::files::{Limit, contained, read_source};
use crate::plugins::in_words::needs;
use crate::plugins::manifest::{Manifest, Place, Strictness};
use crate::plugins::model::{Gate, Plugin, SkillSource};
use crate::plugins::predicate::Facts;
use crate::plugins::programs::{Program, programs};
use crate::plugins::registry::scan;
use crate::skills::SkillDocument;
use crate::skills::crate_source::package_id;
use crate::skills::discover::{discover, discover_at};
use crate::skills::metadata::{self, read_crate_skills};
use crate::skills::resolve::{Gates as _, read_source as read_skill};
use crate::text::Diagnostic;
use crate::workspace::{Observer, UNOBSERVED};

pub(super) fn publication(sym: &Symposium, path: &Path) -> anyhow::Result<Publication> {
    let whole = crate::files::canonicalize(sym.cwd()?.join(path)).map_err(|error| {
        Diagnostic::error(format!("there is nothing to publish: {error}")).in_file(path)
    })?;
    let name = whole.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (offers, ways) = match target::of(sym, &whole)? {
        Target::Crate(dir) => {
            let offer = of_crate(sym, &dir)?;
            let ways = steps::of_crate(&offer.name);
            (vec![offer], ways)
        }
        Target::Plugin { manifest, root } => {
            let plugin = read(&manifest, &root)?;
            let ways = steps::of_source(&plugin.name);
            (vec![of_plugin(sym, &plugin)], ways)
        }
        Target::Skill { dir, .. } => {
            let offer = alone(sym, &dir)?;
            let ways = steps::of_source(&offer.name);
            (vec![offer], ways)
        }
        Target::Source(dir) => {
            let found = scan("publish", &dir, Strictness::Load, &Observer::default());
            let mut offers: Vec<Offer> =
                found.plugins.iter().map(|plugin| of_plugin(sym, plugin)).collect();
            for skill in &found.skills {
                offers.push(alone(sym, &skill.dir)?);
            }
            (offers, steps::of_source(&name))
        }
    };
    if offers.is_empty() {
        return Err(Diagnostic::error("there is nothing to publish: no plugin and no skill")
            .in_file(&whole)
            .note("`cargo agents plugin validate` says what is wrong with what is there")
            .into());
    }
    Ok(Publication { offers, ways })
}

fn read(manifest: &Path, root: &Path) -> Result<Plugin, Diagnostic> {
    let source = read_source(manifest, Limit::MANIFEST)
        .map_err(|error| error.diagnose("this manifest", manifest))?;
    let place = Place { source: "publish", source_root: root, manifest };
    Manifest::parse(source, &place, Strictness::Load).plugin.ok_or_else(|| {
        Diagnostic::error("this manifest makes no plugin")
            .in_file(manifest)
            .note("`cargo agents plugin validate` says what is wrong with it")
    })
}

fn of_plugin(sym: &Symposium, plugin: &Plugin) -> Offer {
    let mut may_run = programs(plugin, std::iter::empty());
    let (mut skills, mut from_elsewhere) = (Vec::new(), Vec::new());
    for group in &plugin.skills {
        let SkillSource::Path(path) = &group.source else {
            let condition = needs(&[&group.gate]).map(|text| format!(", for {text}"));
            from_elsewhere.push(format!("{}{}", origin(group), condition.unwrap_or_default()));
            continue;
        };
        let Ok(start) = plugin.resolve(path) else { continue };
        let places = (plugin.boundary(), start.as_path());
        let found = discover_at(plugin.skill_depths(), places, &UNOBSERVED).skills;
        let dirs = found.into_iter().map(|skill| skill.dir);
        let shipped =
            dirs.filter_map(|dir| skill(sym, (plugin.boundary(), &dir), &group.gate, &mut may_run));
        skills.extend(shipped);
    }
    let (files, bytes) = size(&plugin.dir);
    let agents = agents(sym, skills.len() + from_elsewhere.len(), Some(plugin));
    Offer {
        name: plugin.name.clone(),
        kind: "plugin",
        condition: needs(&[&plugin.gate]),
        skills,
        from_elsewhere,
        may_run,
        files,
        bytes,
        agents,
    }
}

fn alone(sym: &Symposium, dir: &Path) -> Result<Offer, Diagnostic> {
    let mut may_run = Vec::new();
    let shipped = skill(sym, (dir, dir), &Gate::default(), &mut may_run).ok_or_else(|| {
        Diagnostic::error("this skill can't be read")
            .in_file(dir)
            .note("`cargo agents plugin validate` says what is wrong with it")
    })?;
    Ok(Offer {
        name: shipped.name.clone(),
        kind: "skill",
        condition: shipped.condition.clone(),
        files: shipped.files,
        bytes: shipped.bytes,
        skills: vec![shipped],
        from_elsewhere: Vec::new(),
        may_run,
        agents: agents(sym, 1, None),
    })
}

/// What users of a crate get: of its skills, those that are in its folder.
fn of_crate(sym: &Symposium, dir: &Path) -> Result<Offer, Diagnostic> {
    let Some(id) = package_id(dir) else {
        return Err(Diagnostic::error("this is no package").in_file(dir.join("Cargo.toml")));
    };
    let said = read_crate_skills(dir, &UNOBSERVED);
    let (mut skills, mut from_elsewhere, mut may_run) = (Vec::new(), Vec::new(), Vec::new());
    let facts = facts(sym);
    for entry in &said.entries {
        let source = said.source.as_ref();
        let gate = source.and_then(|source| facts.read(&entry.gate, source).ok());
        match &entry.place {
            metadata::Place::Crate { name, .. } => from_elsewhere.push(format!("crate {name}")),
            metadata::Place::Path(path) => {
                let Ok(start) = contained(dir, path) else { continue };
                for found in discover(dir, &start, &UNOBSERVED).skills {
                    let gate = gate.clone().unwrap_or_default();
                    skills.extend(skill(sym, (dir, &found.dir), &gate, &mut may_run));
                }
            }
        }
    }
    Ok(Offer {
        name: id.name,
        kind: "crate",
        condition: None,
        files: skills.iter().map(|skill| skill.files).sum(),
        bytes: skills.iter().map(|skill| skill.bytes).sum(),
        agents: agents(sym, skills.len() + from_elsewhere.len(), None),
        skills,
        from_elsewhere,
        may_run,
    })
}

/// A skill that can be read, and what of it runs.
fn skill(
    sym: &Symposium,
    (root, dir): (&Path, &Path),
    above: &Gate,
    may_run: &mut Vec<Program>,
) -> Option<ShippedSkill> {
    let (document, _) = read_skill(root, dir, &UNOBSERVED).and_then(SkillDocument::parse).ok()?;
    let own = facts(sym).read(&document.gate, &document.source).unwrap_or_default();
    for line in runs(&document.source.text) {
        may_run.push(Program { kind: "skill", name: document.install_name.clone(), runs: line });
    }
    let (files, bytes) = size(dir);
    let condition = needs(&[above, &own]);
    Some(ShippedSkill { name: document.install_name, condition, files, bytes })
}

/// Nothing is known where nothing is installed: conditions are shown, not decided.
fn facts(sym: &Symposium) -> Facts<'_> {
    Facts::outside(&sym.env)
}

fn agents(sym: &Symposium, skills: usize, plugin: Option<&Plugin>) -> Vec<Honoured> {
    let parts =
        plugin.map_or((&[][..], &[][..]), |plugin| (&plugin.hooks[..], &plugin.servers[..]));
    Agent::ALL.into_iter().map(|agent| honours::of(sym, agent, skills, parts)).collect()
}

/// The files below a folder, without git's own, and their bytes.
fn size(dir: &Path) -> (usize, u64) {
    let files = walkdir::WalkDir::new(dir)
        .into_iter()
        .filter_entry(|entry| !matches!(entry.file_name().to_str(), Some(".git" | "target")))
        .flatten()
        .filter(|entry| entry.file_type().is_file());
    let sizes: Vec<u64> =
        files.map(|entry| entry.metadata().map_or(0, |metadata| metadata.len())).collect();
    (sizes.len(), sizes.iter().sum())
}
