//! Skills of crates: their metadata, and where it redirects to.

use std::sync::Arc;

use super::{Decision, Provenance, Resolver, Unread};
use crate::files::contained;
use crate::report::{Kind, Verdict};
use crate::skills::crate_source::awaited::locate;
use crate::skills::crate_source::{CrateRequest, Located};
use crate::skills::metadata::{CrateSkills, Place, read_crate_skills};
use crate::skills::model::SkillOrigin;
use crate::text::{Diagnostic, Source};

/// Redirects from one crate to the next that are followed at most.
const HOPS: usize = 10;

impl Resolver<'_> {
    /// Adds the skills of a crate; a folder that is `tried_first` counts alone if there is a skill
    /// in it.
    pub(super) fn crate_skills(
        &mut self,
        request: &CrateRequest,
        tried_first: Option<&str>,
        plugin: Option<&str>,
    ) {
        self.follow(request, tried_first, plugin, &mut Vec::new());
    }

    fn follow(
        &mut self,
        request: &CrateRequest,
        tried_first: Option<&str>,
        plugin: Option<&str>,
        chain: &mut Vec<String>,
    ) {
        let key = request.name.replace('_', "-");
        let located = match locate(self.crates, request, self.observer) {
            Ok(located) => located,
            Err(missing) => {
                let name = request.name.as_str();
                self.explain(Kind::Crate, name, Verdict::Unavailable, missing.to_string());
                if !self.done.missing.contains(&missing) {
                    self.done.missing.push(missing);
                }
                return;
            }
        };
        let version = located.version.to_string();
        let visit = (key.clone(), version, tried_first.map(ToOwned::to_owned));
        if let Some(count) = self.visited.get(&visit) {
            self.delivered += count;
            return;
        }
        self.visited.insert(visit.clone(), 0);
        chain.push(key);
        let before = self.delivered;
        self.of_located(&located, tried_first, plugin, chain);
        self.visited.insert(visit, self.delivered - before);
        chain.pop();
    }

    fn of_located(
        &mut self,
        located: &Located,
        tried_first: Option<&str>,
        plugin: Option<&str>,
        chain: &mut Vec<String>,
    ) {
        if let Some(first) = tried_first
            && self.crate_folder(located, first, plugin) > 0
        {
            return;
        }
        let CrateSkills { entries, source, warnings, is_unread } =
            read_crate_skills(&located.dir, self.observer);
        self.done.diagnostics.extend(warnings);
        let name = format!("{} {}", located.name, located.version);
        if is_unread {
            self.done.unread.push(all_unread(located, plugin, Vec::new()));
        }
        if entries.is_empty() {
            self.explain(Kind::Crate, &name, Verdict::Skipped, "it wants none of its skills used");
        }
        let source = source.unwrap_or_else(|| Source::new(located.dir.join("Cargo.toml"), ""));
        for entry in entries {
            match self.decide(&entry.gate, &source, Kind::Crate, &name) {
                Decision::Holds => {}
                Decision::Fails => continue,
                Decision::Unread(problems) => {
                    self.done.unread.push(all_unread(located, plugin, problems));
                    continue;
                }
            }
            match entry.place {
                Place::Path(path) => match contained(&located.dir, &path) {
                    Err(escape) if !self.leads_nowhere(&located.dir, &path) => {
                        self.stopped(&name, escape.to_string(), &source, entry.span);
                    }
                    _ if self.crate_folder(located, &path, plugin) == 0 => {
                        let reason = format!("no skills in its folder `{path}`");
                        self.explain(Kind::Crate, &name, Verdict::Skipped, reason);
                    }
                    _ => {}
                },
                Place::Crate { name: target, requirement } => {
                    let reason = format!("its skills are those of {target}");
                    self.explain(Kind::Crate, &name, Verdict::Matched, reason);
                    if let Some(message) = redirect_problem(chain, &target) {
                        self.stopped(&target, message, &source, entry.span);
                        continue;
                    }
                    let request = CrateRequest { name: target, version: None, requirement };
                    self.follow(&request, None, plugin, chain);
                }
            }
        }
    }

    /// Adds the skills in a folder of a crate; a folder that is not there has none.
    fn crate_folder(&mut self, located: &Located, path: &str, plugin: Option<&str>) -> usize {
        let manifest = located.dir.join("Cargo.toml");
        match contained(&located.dir, path) {
            Ok(start) => {
                let origin = |path| origin_of(located, path);
                let provenance =
                    Provenance { root: located.dir.as_path(), plugin, origin: &origin };
                self.folder(&start, provenance)
            }
            Err(_) if self.leads_nowhere(&located.dir, path) => {
                let message = format!("the folder `{path}` leads nowhere");
                let problem = Diagnostic::error(message).in_file(manifest);
                self.done.unread.push(all_unread(located, plugin, vec![problem]));
                0
            }
            Err(escape) => {
                self.warn_in(&manifest, escape.to_string());
                0
            }
        }
    }

    /// Tells of an entry that is not followed, at its place.
    fn stopped(
        &mut self,
        name: &str,
        message: String,
        source: &Arc<Source>,
        span: std::ops::Range<usize>,
    ) {
        self.explain(Kind::Crate, name, Verdict::Skipped, message.clone());
        let warning = Diagnostic::warning(message);
        // What counts by default stands nowhere.
        let warning =
            if span.is_empty() { warning.in_file(&source.path) } else { warning.at(source, span) };
        self.done.diagnostics.push(warning);
    }
}

/// All skills of a crate, which can't be read for these reasons.
fn all_unread(located: &Located, plugin: Option<&str>, problems: Vec<Diagnostic>) -> Unread {
    Unread {
        origin: origin_of(located, String::new()),
        plugin: plugin.map(ToOwned::to_owned),
        is_skill: false,
        problems,
    }
}

fn origin_of(located: &Located, path: String) -> SkillOrigin {
    SkillOrigin::Crate { name: located.name.clone(), version: located.version.clone(), path }
}

/// Why a redirect to `target` is not followed, after the crates in `chain`.
fn redirect_problem(chain: &[String], target: &str) -> Option<String> {
    let key = target.replace('_', "-");
    let way = || format!("{} → {key}", chain.join(" → "));
    if chain.contains(&key) {
        return Some(format!("the redirects of skills go in circles: {}", way()));
    }
    (chain.len() > HOPS).then(|| format!("more than {HOPS} redirects of skills: {}", way()))
}
