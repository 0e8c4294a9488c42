//! Looking at plugins, skills and crates: every error, not the first.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::found::Found;
use super::skills::{of_skills, skill};
use super::target::Target;
use super::{descriptions, levels, never, of_crate, scripts};
use crate::Symposium;
use crate::files::{self, Limit};
use crate::plugins::diagnostics::codes;
use crate::plugins::manifest::{Manifest, Place, Strictness, near_miss};
use crate::plugins::model::{Gate, NotTaken, Package, Plugin, SkillSource};
use crate::plugins::packages::file_of;
use crate::plugins::registry::scan;
use crate::report::Event;
use crate::skills::SkillDocument;
use crate::skills::discover::discover_at;
use crate::skills::resolve::read_source;
use crate::skills::scan::scan_invisible;
use crate::text::{Diagnostic, Severity};
use crate::workspace::{Observer, UNOBSERVED};

pub(super) fn check(sym: &Symposium, target: &Target, found: &mut Found) {
    match target {
        Target::Plugin { manifest, root } => lone_manifest(manifest, root, sym, found),
        Target::Skill { dir, alone } => {
            let root = dir.as_path();
            skill(sym, root, dir, &[], found);
            if *alone && let Some(problem) = needs_crates(root, dir, Severity::Warning) {
                found.push(problem.note("in a plugin or a crate it needs none"));
            }
        }
        Target::Crate(dir) => of_crate::check(sym, dir, found),
        Target::Source(dir) => source(sym, dir, found),
    }
}

fn source(sym: &Symposium, dir: &Path, found: &mut Found) {
    let observer = Observer::default();
    let scan = scan("validate", dir, Strictness::Validate, &observer);
    // Manifests that made no plugin have told why; they count as looked at.
    let (looked_at, _) = observer.findings();
    let manifests = looked_at.paths().filter(|path| path.ends_with("SYMPOSIUM.toml"));
    found.plugins.extend(manifests.map(Path::to_path_buf));
    let packages = scan.plugins.iter().filter(|plugin| plugin.package.is_some());
    found.plugins.extend(packages.map(|plugin| plugin.manifest.clone()));
    let is_refused = |problem: &&Diagnostic| problem.code == Some(codes::PACKAGE);
    let refused = scan.diagnostics.iter().filter(is_refused);
    found.plugins.extend(refused.filter_map(|problem| Some(problem.location()?.path)));
    found.diagnostics.extend(scan.diagnostics);
    let mut first: BTreeMap<&str, &Plugin> = BTreeMap::new();
    for plugin in &scan.plugins {
        of_plugin(sym, plugin, found);
        match first.get(plugin.name.as_str()) {
            Some(other) => found.push(
                Diagnostic::error(format!("the plugin `{}` is never used", plugin.name))
                    .code(codes::SHADOWED)
                    .in_file(&plugin.manifest)
                    .note(format!("{} has the same name", other.manifest.display())),
            ),
            None => drop(first.insert(&plugin.name, plugin)),
        }
    }
    for alone in &scan.skills {
        skill(sym, dir, &alone.dir, &[], found);
        found.diagnostics.extend(needs_crates(dir, &alone.dir, Severity::Error));
    }
}

/// One manifest by itself; also one that a scan would not read for its name.
fn lone_manifest(path: &Path, root: &Path, sym: &Symposium, found: &mut Found) {
    found.plugins.insert(path.to_path_buf());
    let source = match files::read_source(path, Limit::MANIFEST) {
        Ok(source) => source,
        Err(error) => {
            return found.push(error.diagnose("this manifest", path).code(codes::SYNTAX));
        }
    };
    // Asked for by its path, it is meant to be one whatever is in it.
    let misnamed = near_miss(path, || Some("name = \"x\"\ncrates = []\n".to_owned()));
    found.diagnostics.extend(misnamed);
    let place = Place { source: "validate", source_root: root, manifest: path };
    let parsed = Manifest::parse(source, &place, Strictness::Validate);
    found.diagnostics.extend(parsed.diagnostics);
    if let Some(plugin) = parsed.plugin {
        of_plugin(sym, &plugin, found);
    }
}

/// What a plugin points at.
fn of_plugin(sym: &Symposium, plugin: &Plugin, found: &mut Found) {
    if let Some(package) = &plugin.package {
        return of_package(sym, (plugin, package), found);
    }
    let Ok(manifest) = files::read_source(&plugin.manifest, Limit::MANIFEST) else { return };
    let hidden = scan_invisible(&manifest.text);
    found.diagnostics.extend(hidden.iter().map(|finding| finding.diagnostic(&manifest)));
    let said = levels::of_manifest(&manifest);
    found.names.extend(said.names);
    for (index, level) in said.levels.iter().enumerate() {
        let above = if index == 0 { &[][..] } else { &[&plugin.gate][..] };
        found.diagnostics.extend(never::check("this", level, above, &manifest));
    }
    let before = found.listed.len();
    for group in &plugin.skills {
        let SkillSource::Path(path) = &group.source else { continue };
        let problem = |message: String| {
            Diagnostic::error(message)
                .code(codes::SKILL_FOLDER)
                .at(&manifest, group.span.clone())
                .note("the path is relative to the plugin's folder")
        };
        match plugin.resolve(path) {
            Ok(start) if start.is_dir() => {
                if folder(sym, plugin, &start, &group.gate, found) == 0 {
                    found.push(problem(format!("there is no skill in `{path}`")));
                }
            }
            Ok(_) => found.push(problem(format!("there is no folder `{path}`"))),
            Err(escape) => found.push(problem(escape.to_string())),
        }
    }
    let cut = descriptions::cut(&found.listed[before..]);
    found.diagnostics.extend(cut.map(|problem| problem.in_file(&plugin.manifest)));
    scripts::check(sym, plugin, &manifest, found);
}

/// What breaks a rule of the package's format, and what of it has no effect here.
fn of_package(sym: &Symposium, (plugin, package): (&Plugin, &Package), found: &mut Found) {
    for NotTaken { what, why, is_mistake } in &package.not_taken {
        if *is_mistake {
            let problem = Diagnostic::error(format!("{what} is not taken: {why}"));
            found.push(problem.code(codes::NOT_TAKEN).in_file(file_of(&plugin.manifest)));
        } else {
            let line = format!("{what} of {}: {why}", plugin.name);
            sym.report.event(&Event::status("Not taken", line));
        }
    }
    for group in &plugin.skills {
        if let SkillSource::Path(path) = &group.source
            && let Ok(start) = plugin.resolve(path)
        {
            folder(sym, plugin, &start, &group.gate, found);
        }
    }
}

/// The skills below a plugin's folder; says how many there are.
fn folder(
    sym: &Symposium,
    plugin: &Plugin,
    start: &Path,
    group: &Gate,
    found: &mut Found,
) -> usize {
    let places = (plugin.boundary(), start);
    let skills = discover_at(plugin.skill_depths(), places, &UNOBSERVED);
    of_skills(sym, plugin.boundary(), skills, &[&plugin.gate, group], found).len()
}

/// A skill outside of a plugin that does not say what it is for.
fn needs_crates(root: &Path, dir: &Path, severity: Severity) -> Option<Diagnostic> {
    let source = read_source(root, dir, &UNOBSERVED).ok()?;
    let (document, _) = SkillDocument::parse(Arc::clone(&source)).ok()?;
    if !document.gate.is_empty() {
        return None;
    }
    let mut problem = Diagnostic::error("a skill outside of a plugin needs `crates`")
        .code(codes::NEEDS_CRATES)
        .at(&source, document.name.span)
        .note("say which crates it is about, or `crates: \"*\"`");
    problem.severity = severity;
    Some(problem)
}
