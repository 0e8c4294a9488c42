//! The user's word on what things of a source are for, where they do not say it themselves.

use crate::Symposium;
use crate::plugins::model::{CrateAtom, Gate, Plugin, Predicate};
use crate::plugins::source::{SourceSpec, in_configuration};
use crate::text::{Diagnostic, Subject, closest, did_you_mean, same_crate};

/// What a `[[plugin-source]]` says of its content.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct UsersGates {
    all: Option<Gate>,
    named: Vec<(String, Gate)>,
}

impl UsersGates {
    /// Reads what the configuration says of a source. An entry that can't be read never widens a gate.
    pub(super) fn read(sym: &Symposium, spec: &SourceSpec, told: &mut Vec<Diagnostic>) -> Self {
        let mut gate = |texts: &[String], key: &'static str| {
            let mut gate = Gate { crates: Some(Vec::new()), predicates: Vec::new() };
            let mut unread = None;
            for text in texts {
                match CrateAtom::parse(text) {
                    Ok(atom) => gate.crates.get_or_insert_default().push(atom),
                    Err(error) => {
                        unread = Some(Predicate::Unsupported(text.clone()));
                        let problem = format!("`{}` is no crate predicate", text.escape_debug());
                        let problem = Diagnostic::warning(problem)
                            .note(error.message)
                            .note("for example `serde`, `tokio>=1.40`, `*`")
                            .about(Subject::Key(key));
                        told.push(in_configuration(sym, spec, problem));
                    }
                }
            }
            if gate.crates.as_ref().is_some_and(Vec::is_empty) {
                gate.predicates.extend(unread);
            }
            gate
        };
        Self {
            all: spec.gates.all.as_ref().map(|texts| gate(texts, "crates")),
            named: spec
                .gates
                .named
                .iter()
                .map(|(name, texts)| (name.clone(), gate(texts, "plugins")))
                .collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_none() && self.named.is_empty()
    }

    /// What the user says of the plugin or skill `name`.
    pub(crate) fn of(&self, name: &str) -> Option<&Gate> {
        let named = self.named.iter().find(|(known, _)| same_crate(known, name));
        named.map(|(_, gate)| gate).or(self.all.as_ref())
    }

    /// Gives the user's gate to a plugin that has none of its own; whether it did.
    pub(super) fn give(&self, plugin: &mut Plugin) -> bool {
        let Some(gate) = self.of(&plugin.name).filter(|_| plugin.gate.is_dormant()) else {
            return false;
        };
        plugin.gate = gate.clone();
        true
    }

    /// What the configuration says of plugins to no effect; `plugins` are the source's, with whether
    /// their gate is the user's, `skills` the names of skills by themselves.
    pub(super) fn check(
        &self,
        (sym, spec): (&Symposium, &SourceSpec),
        plugins: &[(&str, bool)],
        skills: &[String],
        told: &mut Vec<Diagnostic>,
    ) {
        for (name, _) in &self.named {
            let same = |known: &str| same_crate(known, name);
            let plugin = plugins.iter().find(|(known, _)| same(known));
            let mut problem = match plugin {
                Some((_, true)) => continue,
                None if skills.iter().any(|known| same(known)) => continue,
                Some((known, false)) => Diagnostic::warning(format!(
                    "what the configuration says of `{known}` has no effect: it says itself which \
                     crates it is for"
                ))
                .note(format!("`cargo agents plugin show {known}` tells; take this section out")),
                None => Diagnostic::warning(format!(
                    "the source `{}` has no plugin `{}`",
                    spec.name,
                    name.escape_debug()
                )),
            };
            if plugin.is_none() {
                let known = plugins.iter().map(|(known, _)| *known);
                let known = known.chain(skills.iter().map(String::as_str));
                problem.notes.extend(did_you_mean(&closest(name, known)));
            }
            told.push(in_configuration(sym, spec, problem.about(Subject::Key("plugins"))));
        }
    }
}
