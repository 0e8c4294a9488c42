//! Gates of skills, read and decided.

use std::ops::Range;
use std::sync::Arc;

use crate::config::PluginChoices;
use crate::plugins::diagnostics::codes;
use crate::plugins::model::{Gate, Predicate};
use crate::plugins::predicate::{AtomError, Facts, evaluate_all, parse_crate_list};
use crate::plugins::registry::{Registry, StandaloneSkill};
use crate::plugins::source::SourceKind;
use crate::skills::RawGate;
use crate::skills::resolve::{Gates, UsersWord};
use crate::text::toml::Located;
use crate::text::{Diagnostic, Source};

/// Gates are decided by the workspace's facts.
impl Gates for Facts<'_> {
    fn read(&self, raw: &RawGate, source: &Arc<Source>) -> Result<Gate, Vec<Diagnostic>> {
        let mut problems = Vec::new();
        let mut gate = Gate::default();
        if let Some(lists) = &raw.crates {
            let mut atoms = Vec::new();
            for list in lists {
                let read = parse_crate_list(&list.value);
                atoms.extend(read.atoms);
                problems.extend(read.errors.iter().map(|error| {
                    let (part, span) = part_of(list, error, source);
                    Diagnostic::error(format!("`crates`: `{part}` is no crate predicate"))
                        .code(codes::SKILL_GATE)
                        .at(source, span)
                        .label(error.message.clone())
                }));
            }
            gate.crates = Some(atoms);
        }
        for text in &raw.predicates {
            match Predicate::parse(&text.value) {
                Ok(predicate) => gate.predicates.push(predicate),
                Err(error) => problems.push(
                    Diagnostic::error(format!("`predicates`: `{}` is no predicate", text.value))
                        .code(codes::SKILL_GATE)
                        .at(source, text.span.clone())
                        .label(error.message),
                ),
            }
        }
        if problems.is_empty() { Ok(gate) } else { Err(problems) }
    }

    fn check(&self, gate: &Gate) -> Result<(), String> {
        let evaluation = evaluate_all(&[gate], self);
        if evaluation.holds { Ok(()) } else { Err(evaluation.reason) }
    }
}

/// What the user says of a skill that lies in a source by itself.
pub(crate) fn users_word(
    registry: &Registry,
    skill: &StandaloneSkill,
    (choices, facts): (&PluginChoices, &Facts<'_>),
) -> UsersWord {
    let name = skill.folder_name().unwrap_or_default();
    if choices.is_used(name, facts.root) {
        return UsersWord::Yes;
    }
    let Some(gate) = registry.gate_of_skill(&skill.source, name) else {
        let of_source = registry.sources.iter().find(|state| state.name == skill.source);
        let is_others = of_source.is_some_and(|state| state.kind == SourceKind::Git);
        return if is_others { UsersWord::NoneOfOthers } else { UsersWord::None };
    };
    let evaluation = evaluate_all(&[gate], facts);
    if evaluation.holds { UsersWord::Yes } else { UsersWord::No(evaluation.reason) }
}

/// The predicates that would run something, which nothing here does.
pub(crate) fn unsupported(raw: &RawGate, source: &Arc<Source>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for text in &raw.predicates {
        let Ok(predicate) = Predicate::parse(&text.value) else { continue };
        found.extend(predicate.unsupported().into_iter().map(|name| {
            Diagnostic::warning(format!("the predicate `{name}` is not supported"))
                .code(codes::UNSUPPORTED_PREDICATE)
                .at(source, text.span.clone())
                .note("it is never run and counts as not holding")
        }));
    }
    found
}

/// The part of a list between commas that an error is about, and where it stands in the file: the
/// whole list where an escape keeps its characters from being found there.
fn part_of<'a>(
    list: &'a Located<String>,
    error: &AtomError,
    source: &Source,
) -> (&'a str, Range<usize>) {
    let text = list.value.as_str();
    let mut at = error.offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let start = text[..at].rfind(',').map_or(0, |comma| comma + 1);
    let end = text[at..].find(',').map_or(text.len(), |comma| at + comma);
    let part = text[start..end.max(start)].trim();
    let within = source.text.get(list.span.clone()).and_then(|written| written.find(text));
    let Some(within) = within.filter(|_| !part.is_empty()) else {
        return (part, list.span.clone());
    };
    let lead = text[start..].len() - text[start..].trim_start().len();
    let from = list.span.start + within + start + lead;
    (part, from..from + part.len())
}
