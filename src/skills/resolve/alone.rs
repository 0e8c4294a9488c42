//! Skills that lie in a plugin source by themselves.

use std::path::Path;

use super::{Provenance, Resolver};
use crate::plugins::diagnostics::codes;
use crate::report::{Kind, Verdict};
use crate::skills::discover::{FoundSkill, relative};
use crate::skills::model::SkillOrigin;
use crate::text::Diagnostic;

/// What the user says of a skill that lies by itself and does not say what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UsersWord {
    /// It applies here.
    Yes,
    /// What it is for is not here, for this reason.
    No(String),
    /// Nothing, and its author can be told.
    None,
    /// Nothing, and somebody else maintains it: it waits to be asked for.
    NoneOfOthers,
}

impl UsersWord {
    /// Why the skill `name` does not apply.
    pub(crate) fn refusal(&self, name: &str) -> Option<String> {
        match self {
            Self::Yes => None,
            Self::No(reason) => Some(reason.clone()),
            Self::None => Some("it has no `crates`".to_owned()),
            Self::NoneOfOthers => Some(format!(
                "it names no crate that it could be for: `cargo agents use {name}` takes it"
            )),
        }
    }
}

impl Resolver<'_> {
    /// Adds a skill that lies in a plugin source by itself. It must say what it is about, unless
    /// the user does: `word` is what the user says of it.
    pub(crate) fn standalone(&mut self, source: &str, root: &Path, dir: &Path, word: &UsersWord) {
        let origin = |path| SkillOrigin::Source { source: source.to_owned(), path };
        let provenance = Provenance { root, plugin: None, origin: &origin };
        let found = FoundSkill { dir: dir.to_path_buf(), path: relative(root, dir) };
        let Some((document, warnings)) = self.read(&found, provenance) else { return };
        let folder = dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let refusal = word.refusal(folder).filter(|_| document.gate.is_empty());
        if let Some(reason) = refusal {
            let name = document.name;
            if *word == UsersWord::None {
                let warning = Diagnostic::warning("a skill outside of a plugin needs `crates`")
                    .code(codes::NEEDS_CRATES)
                    .at(&document.source, name.span)
                    .note("say which crates it is about, or `crates: \"*\"`");
                self.done.diagnostics.push(warning);
            }
            self.explain(Kind::Skill, &name.value, Verdict::Skipped, reason);
            return;
        }
        self.admit(document, warnings, found, provenance);
    }
}
