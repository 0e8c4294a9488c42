//! Groups of skills in plugins: folders of the plugin, repositories, and crates.

use std::path::Path;

use super::unread::{Unread, as_warning};
use super::{Provenance, Resolver};
use crate::fetch::git::led_out;
use crate::files::{contained, relative_inside};
use crate::plugins::diagnostics::codes;
use crate::plugins::git::GitPlace;
use crate::plugins::model::{MatchedCrate, Plugin, SkillGroup, SkillSource};
use crate::report::{Event, Kind, Verdict};
use crate::skills::crate_source::CrateRequest;
use crate::skills::discover::discover_at;
use crate::skills::model::SkillOrigin;
use crate::text::Diagnostic;

impl Resolver<'_> {
    /// Adds the skills of one group whose gates, and those of its plugin, hold. `matched` are the
    /// crates that they matched. The answer: why it delivers no skill, where it does not.
    pub(crate) fn group(
        &mut self,
        plugin: &Plugin,
        group: &SkillGroup,
        matched: &[MatchedCrate],
    ) -> Option<String> {
        let (delivered, told) = (self.delivered, self.done.explanations.len());
        self.add_group(plugin, group, matched);
        (self.delivered == delivered).then(|| self.why_nothing(group, told))
    }

    /// Why a group delivers nothing; `told` explanations came before it.
    fn why_nothing(&self, group: &SkillGroup, told: usize) -> String {
        let mut reasons: Vec<String> = Vec::new();
        for event in &self.done.explanations[told..] {
            let Event::Explain { kind, name, verdict, reason } = event else { continue };
            let reason = match kind {
                Kind::Group => reason.clone(),
                _ => format!("{name}: {reason}"),
            };
            if *verdict != Verdict::Matched && !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        if !reasons.is_empty() {
            return reasons.join("; ");
        }
        match &group.source {
            SkillSource::Path(path) => format!("there is no skill in its folder `{path}`"),
            SkillSource::Git(place) => format!("there is no skill in {}", place.url),
            SkillSource::Crate { .. } | SkillSource::NamedCrate { .. } => {
                "there is no skill in what it points to".to_owned()
            }
        }
    }

    fn add_group(&mut self, plugin: &Plugin, group: &SkillGroup, matched: &[MatchedCrate]) {
        match &group.source {
            SkillSource::Path(path) => self.path_group(plugin, path),
            SkillSource::Git(place) => self.git_group(plugin, place),
            SkillSource::Crate { tried_first } => {
                if matched.is_empty() {
                    let reason = "none of the crates it is about is a dependency";
                    self.explain(Kind::Group, &plugin.name, Verdict::Skipped, reason);
                }
                for found in matched {
                    let request = CrateRequest {
                        name: found.name.clone(),
                        version: found.version.clone(),
                        requirement: None,
                    };
                    self.crate_skills(&request, tried_first.as_deref(), Some(&plugin.name));
                }
            }
            SkillSource::NamedCrate { name, requirement } => {
                let request = CrateRequest {
                    name: name.clone(),
                    version: None,
                    requirement: requirement.clone(),
                };
                self.crate_skills(&request, None, Some(&plugin.name));
            }
        }
    }

    fn path_group(&mut self, plugin: &Plugin, path: &str) {
        // Relative to the plugin's folder, and anywhere inside its source.
        let below = plugin.dir.strip_prefix(&plugin.source_root).ok().and_then(Path::to_str);
        let below = below.filter(|below| !below.is_empty());
        let (root, path) = match below {
            // A package's own folder is all there is of it.
            _ if plugin.package.is_some() => (&plugin.dir, path.to_owned()),
            None if plugin.dir == plugin.source_root => (&plugin.source_root, path.to_owned()),
            Some(below) if !Path::new(path).is_absolute() => {
                (&plugin.source_root, format!("{below}/{path}"))
            }
            _ => (&plugin.dir, path.to_owned()),
        };
        let origin = |path: String| {
            let path = match below.filter(|_| plugin.package.is_some()) {
                Some(below) if path.is_empty() => below.to_owned(),
                Some(below) => format!("{below}/{path}"),
                None => path,
            };
            SkillOrigin::Source { source: plugin.source.clone(), path }
        };
        let provenance = Provenance { root, plugin: Some(&plugin.name), origin: &origin };
        if !self.contained_folder(plugin, &path, provenance) {
            let reason = match self.is_away(plugin) {
                true => format!("its source `{}` can't be read now", plugin.source),
                false => format!("there is no folder `{path}`"),
            };
            self.explain(Kind::Group, &plugin.name, Verdict::Skipped, reason);
        }
    }

    /// Adds the skills of a plugin's folder `path` below the root; `false` when there is none. One
    /// that leads out is told.
    fn contained_folder(
        &mut self,
        plugin: &Plugin,
        path: &str,
        provenance: Provenance<'_>,
    ) -> bool {
        match contained(provenance.root, path) {
            Ok(start) if self.observer.is_dir(&start) => {
                let places = (provenance.root, start.as_path());
                let found = discover_at(plugin.skill_depths(), places, self.observer);
                self.found(found, provenance);
            }
            Err(escape) if !self.leads_nowhere(provenance.root, path) => {
                let reason = format!("its folder `{path}` leads out of its source");
                self.explain(Kind::Group, &plugin.name, Verdict::Skipped, reason);
                self.warn_in(&plugin.manifest, escape.to_string());
            }
            Ok(_) | Err(_) => {
                let message = format!("there is no folder `{path}`, where skills should be");
                let problem = Diagnostic::error(message).code(codes::SKILL_FOLDER);
                let problem = Some(problem.in_file(&plugin.manifest));
                // It may have been a link, so its skills may have been anywhere.
                self.done.unread.push(Unread {
                    origin: (provenance.origin)(String::new()),
                    plugin: Some(plugin.name.clone()),
                    is_skill: false,
                    problems: problem.filter(|_| !self.is_away(plugin)).into_iter().collect(),
                });
                return false;
            }
        }
        true
    }

    /// Whether the plugin's whole source is, which is told by itself.
    fn is_away(&self, plugin: &Plugin) -> bool {
        !self.observer.is_dir(&plugin.source_root)
    }

    /// Whether there is nothing at `path` below the root, so that it is not known where a link there
    /// would lead.
    pub(super) fn leads_nowhere(&self, root: &Path, path: &str) -> bool {
        relative_inside(path).is_some_and(|path| {
            let path = root.join(path);
            !self.observer.exists(&path) && !led_out(&path)
        })
    }

    fn git_group(&mut self, plugin: &Plugin, place: &GitPlace) {
        let folder = match (self.checkouts)(place) {
            Ok(folder) => folder,
            Err(problem) => {
                let reason = problem.message.clone();
                self.explain(Kind::Group, &plugin.name, Verdict::Unavailable, reason);
                self.done.diagnostics.push(as_warning(*problem));
                if let Ok(repository) = place.repository() {
                    let repo = repository.identity().to_owned();
                    self.done.unread.push(Unread {
                        origin: SkillOrigin::Git {
                            repo,
                            commit: String::new(),
                            path: String::new(),
                        },
                        plugin: Some(plugin.name.clone()),
                        is_skill: false,
                        problems: Vec::new(),
                    });
                }
                return;
            }
        };
        let origin = |path| SkillOrigin::Git {
            repo: folder.repo.clone(),
            commit: folder.commit.clone(),
            path,
        };
        let provenance =
            Provenance { root: &folder.root, plugin: Some(&plugin.name), origin: &origin };
        if !self.contained_folder(plugin, &folder.start, provenance) {
            let message = format!("{} has no folder `{}`", folder.repo, folder.start);
            self.warn_in(&plugin.manifest, message);
        }
    }
}
