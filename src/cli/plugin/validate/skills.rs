//! A skill: its document, its condition and its other files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::found::Found;
use super::{descriptions, levels, never};
use crate::Symposium;
use crate::plugins::model::Gate;
use crate::plugins::predicate::Facts;
use crate::skills::discover::Discovered;
use crate::skills::files::inspect;
use crate::skills::resolve::{Gates as _, read_source};
use crate::skills::{RawGate, Skill, SkillDocument, SkillOrigin};
use crate::sync::facts::gates::unsupported;
use crate::text::Source;
use crate::workspace::UNOBSERVED;

/// Looks at skills that were found below one folder, and says where they are.
pub(super) fn of_skills(
    sym: &Symposium,
    root: &Path,
    skills: Discovered,
    above: &[&Gate],
    found: &mut Found,
) -> Vec<PathBuf> {
    let (skills, told) = skills.told();
    found.diagnostics.extend(told);
    for one in &skills {
        skill(sym, root, &one.dir, above, found);
    }
    skills.into_iter().map(|one| one.dir).collect()
}

/// One skill, and whether its condition can hold beside those `above` it.
pub(super) fn skill(sym: &Symposium, root: &Path, dir: &Path, above: &[&Gate], found: &mut Found) {
    if !found.skills.insert(dir.to_path_buf()) {
        return;
    }
    let source = match read_source(root, dir, &UNOBSERVED) {
        Ok(source) => source,
        Err(problem) => return found.push(*problem),
    };
    let checked = SkillDocument::check(&source);
    found.diagnostics.extend(checked.problems);
    gate(sym, &checked.gate, &source, found);
    let level = levels::of_gate(&checked.gate);
    found.diagnostics.extend(never::check("the skill", &level, above, &source));
    let document = checked.document;
    found.listed.extend(document.as_ref().map(descriptions::letters));
    let skill = Skill {
        name: document.map_or_else(String::new, |document| document.install_name),
        description: String::new(),
        dir: dir.to_path_buf(),
        root: root.to_path_buf(),
        origin: SkillOrigin::Workspace { path: String::new() },
        plugin: None,
        written: None,
        same_as: Vec::new(),
    };
    found.diagnostics.extend(inspect(&skill, &UNOBSERVED));
}

/// The conditions in a skill's frontmatter or a crate's metadata, and the crates that they name.
pub(super) fn gate(sym: &Symposium, raw: &RawGate, source: &Arc<Source>, found: &mut Found) {
    let facts = Facts::outside(&sym.env);
    if let Err(problems) = facts.read(raw, source) {
        found.diagnostics.extend(problems);
    }
    found.diagnostics.extend(unsupported(raw, source));
    found.names.extend(levels::of_gate(raw).names(source));
}
