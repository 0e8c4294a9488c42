//! What is tried out.

use std::path::{Path, PathBuf};

use crate::Symposium;
use crate::cli::plugin::validate::target::{self, Target};
use crate::files::{Limit, read_text};
use crate::plugins::manifest::Strictness;
use crate::plugins::registry::scan;
use crate::text::Diagnostic;
use crate::workspace::UNOBSERVED;

/// A plugin, a crate with skills, or a skill by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Subject {
    pub(super) kind: Kind,
    pub(super) dir: PathBuf,
    /// The folder that stands for a source of plugins.
    pub(super) source: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// By its manifest.
    Plugin(PathBuf),
    Crate,
    Skill,
}

impl Subject {
    /// Everything at `path`.
    ///
    /// # Errors
    /// There is nothing to try out.
    pub(super) fn all(sym: &Symposium, path: &Path) -> Result<Vec<Self>, Diagnostic> {
        let dir = path.parent().unwrap_or(path).to_path_buf();
        Ok(match target::of(sym, path)? {
            Target::Plugin { manifest, root } => vec![Self::plugin(manifest, root)],
            Target::Crate(dir) => {
                vec![Self { kind: Kind::Crate, source: dir.clone(), dir }]
            }
            Target::Skill { dir, .. } => {
                vec![Self { kind: Kind::Skill, source: dir.clone(), dir }]
            }
            Target::Source(root) => {
                let found = scan("here", &root, Strictness::Load, &UNOBSERVED);
                let plugins = found.plugins.into_iter().map(|plugin| plugin.manifest);
                let plugins = plugins.map(|manifest| Self::plugin(manifest, root.clone()));
                let skills = found.skills.into_iter().map(|skill| skill.dir);
                let skills = skills.map(|dir| Self { kind: Kind::Skill, source: dir.clone(), dir });
                let all: Vec<Self> = plugins.chain(skills).collect();
                if let Some(problem) = found.diagnostics.into_iter().next()
                    && all.is_empty()
                {
                    return Err(problem);
                }
                if all.is_empty() {
                    return Err(Diagnostic::error("there is no plugin and no skill")
                        .in_file(&dir)
                        .note("`cargo agents plugin new` writes one to start from"));
                }
                all
            }
        })
    }

    /// A plugin by itself, unless it leads out of its folder: then all of its source is there.
    fn plugin(manifest: PathBuf, root: PathBuf) -> Self {
        let dir = match manifest.parent() {
            Some(parent) if parent.ends_with(".claude-plugin") => parent.parent(),
            parent => parent,
        };
        let dir = dir.unwrap_or(&manifest).to_path_buf();
        let text = read_text(&manifest, Limit::MANIFEST).unwrap_or_default();
        let source = if text.contains("..") { root } else { dir.clone() };
        Self { kind: Kind::Plugin(manifest), dir, source }
    }
}
