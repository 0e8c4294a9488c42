//! Looking at plugins, skills and crates: every error, not the first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::names::{self, Named};
use super::target::Target;
use crate::Symposium;
use crate::cli::screen::count;
use crate::files::{self, Limit, contained};
use crate::installations::syntax_error;
use crate::plugins::diagnostics::codes;
use crate::plugins::manifest::{Manifest, Place, Strictness, near_miss};
use crate::plugins::model::{Hook, Installation, NotTaken, Package, Plugin, Runnable, SkillSource};
use crate::plugins::packages::file_of;
use crate::plugins::predicate::Facts;
use crate::plugins::registry::scan;
use crate::report::Event;
use crate::skills::discover::{Discovered, discover, discover_at};
use crate::skills::files::inspect;
use crate::skills::metadata::{self, read_crate_skills};
use crate::skills::resolve::{Gates as _, read_source};
use crate::skills::{RawGate, Skill, SkillDocument, SkillOrigin};
use crate::sync::facts::gates::unsupported;
use crate::text::{Diagnostic, Severity, Source};
use crate::workspace::{Observer, UNOBSERVED};

/// What was looked at, and what is wrong with it.
#[derive(Debug, Default)]
pub(super) struct Found {
    plugins: BTreeSet<PathBuf>,
    skills: BTreeSet<PathBuf>,
    crates: usize,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) names: Vec<Named>,
}

impl Found {
    /// Whether there was nothing to look at, not even something broken.
    pub(super) fn is_empty(&self) -> bool {
        self.plugins.is_empty() && self.skills.is_empty() && self.crates == 0
    }

    /// `3 plugins, 5 skills: 2 errors, 1 warning`.
    pub(super) fn summary(&self, errors: usize) -> String {
        let mut what = Vec::new();
        for (number, one) in [(self.plugins.len(), "plugin"), (self.crates, "crate")] {
            if number > 0 {
                what.push(count(number, one));
            }
        }
        if what.is_empty() || !self.skills.is_empty() {
            what.push(count(self.skills.len(), "skill"));
        }
        let warnings = self.diagnostics.len() - errors;
        let mut wrong = Vec::new();
        for (number, one) in [(errors, "error"), (warnings, "warning")] {
            if number > 0 {
                wrong.push(count(number, one));
            }
        }
        let wrong = if wrong.is_empty() { "nothing wrong".to_owned() } else { wrong.join(", ") };
        format!("{}: {wrong}", what.join(", "))
    }

    fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}

pub(super) fn check(sym: &Symposium, target: &Target, found: &mut Found) {
    match target {
        Target::Plugin { manifest, root } => lone_manifest(manifest, root, sym, found),
        Target::Skill { dir, alone } => {
            let root = dir.as_path();
            skill(sym, root, dir, found);
            if *alone && let Some(problem) = needs_crates(root, dir, Severity::Warning) {
                found.push(problem.note("in a plugin or a crate it needs none"));
            }
        }
        Target::Crate(dir) => of_crate(sym, dir, found),
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
        skill(sym, dir, &alone.dir, found);
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
    found.names.extend(names::of_manifest(&manifest));
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
                if folder(sym, plugin, &start, found) == 0 {
                    found.push(problem(format!("there is no skill in `{path}`")));
                }
            }
            Ok(_) => found.push(problem(format!("there is no folder `{path}`"))),
            Err(escape) => found.push(problem(escape.to_string())),
        }
    }
    files(plugin, &manifest, found);
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
            folder(sym, plugin, &start, found);
        }
    }
}

/// Programs and scripts that must be on disk already.
fn files(plugin: &Plugin, manifest: &Arc<Source>, found: &mut Found) {
    let of_hook = |hook: &Hook| {
        let installation = plugin.installations.iter().find(|known| known.name == hook.command)?;
        let runnable = hook.runnable.as_ref()?;
        Some((installation, runnable.clone()))
    };
    let own =
        plugin.installations.iter().filter_map(|known| Some((known, known.runnable.clone()?)));
    for (installation, runnable) in own.chain(plugin.hooks.iter().filter_map(of_hook)) {
        let Installation { source: None, install_commands, .. } = installation else { continue };
        let (Runnable::Executable(path) | Runnable::Script(path)) = &runnable else { continue };
        if !install_commands.is_empty() || Path::new(path).is_absolute() {
            continue;
        }
        let file = plugin.dir.join(path);
        if file.is_file() {
            found.diagnostics.extend(unreadable_script(&file, &runnable));
            continue;
        }
        let quoted = [format!("\"{path}\""), format!("'{path}'")];
        let mut places = quoted.iter().filter_map(|text| Some((manifest.text.find(text)?, text)));
        let span = places.next().map_or(0..0, |(start, text)| start..start + text.len());
        found.push(
            Diagnostic::error(format!("there is no file `{path}`"))
                .code(codes::FILE_MISSING)
                .at(manifest, span)
                .note("the path is relative to the plugin's folder"),
        );
    }
}

fn unreadable_script(file: &Path, runnable: &Runnable) -> Option<Diagnostic> {
    let path = file.to_string_lossy().into_owned();
    let argv = match runnable {
        Runnable::Script(_) => vec!["sh".to_owned(), path],
        Runnable::Executable(_) | Runnable::Shell => vec![path],
    };
    let problem = match syntax_error(&argv) {
        Ok(error) => Diagnostic::error("the shell can't read this script").note(error?),
        Err(error) => Diagnostic::warning("this script was not looked through for syntax errors")
            .note(error.to_string()),
    };
    Some(problem.code(codes::SCRIPT_SYNTAX).in_file(file))
}

/// The skills below a plugin's folder; says how many there are.
fn folder(sym: &Symposium, plugin: &Plugin, start: &Path, found: &mut Found) -> usize {
    let places = (plugin.boundary(), start);
    let skills = discover_at(plugin.skill_depths(), places, &UNOBSERVED);
    of_skills(sym, plugin.boundary(), skills, found)
}

fn of_skills(sym: &Symposium, root: &Path, skills: Discovered, found: &mut Found) -> usize {
    let (skills, told) = skills.told();
    found.diagnostics.extend(told);
    for one in &skills {
        skill(sym, root, &one.dir, found);
    }
    skills.len()
}

fn skill(sym: &Symposium, root: &Path, dir: &Path, found: &mut Found) {
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
    let document = checked.document;
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
fn gate(sym: &Symposium, raw: &RawGate, source: &Arc<Source>, found: &mut Found) {
    let facts =
        Facts { dependencies: &[], members: &[], root: None, env: &sym.env, observer: &UNOBSERVED };
    if let Err(problems) = facts.read(raw, source) {
        found.diagnostics.extend(problems);
    }
    found.diagnostics.extend(unsupported(raw, source));
    found.names.extend(names::of_gate(raw, source));
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

fn of_crate(sym: &Symposium, dir: &Path, found: &mut Found) {
    found.crates += 1;
    let said = read_crate_skills(dir, &UNOBSERVED);
    for mut problem in said.warnings {
        problem.severity = Severity::Error;
        found.push(problem);
    }
    let manifest = dir.join("Cargo.toml");
    for entry in &said.entries {
        if let Some(source) = &said.source {
            gate(sym, &entry.gate, source, found);
        }
        let path = match &entry.place {
            metadata::Place::Path(path) => path,
            metadata::Place::Crate { name, .. } => {
                if let Some(source) = &said.source {
                    found.names.push(Named::at(name, source, entry.span.clone()));
                }
                continue;
            }
        };
        let at = |problem: Diagnostic| match &said.source {
            Some(source) if !entry.span.is_empty() => problem.at(source, entry.span.clone()),
            _ => problem.in_file(&manifest),
        };
        let count = match contained(dir, path) {
            Ok(start) => of_skills(sym, dir, discover(dir, &start, &UNOBSERVED), found),
            Err(escape) => {
                found.push(at(Diagnostic::error(escape.to_string()).code(codes::SKILL_FOLDER)));
                continue;
            }
        };
        if count == 0 {
            let mut problem = Diagnostic::error(format!("there is no skill in `{path}`"))
                .code(codes::SKILL_FOLDER);
            // Nobody asked for the folder that is looked into by default.
            if entry.span.is_empty() {
                problem.severity = Severity::Warning;
            }
            found.push(at(problem));
        }
    }
}
