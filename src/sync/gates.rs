//! Gates of skills, read and decided.

use std::sync::Arc;

use crate::plugins::diagnostics::codes;
use crate::plugins::model::{Gate, Predicate};
use crate::plugins::predicate::{Facts, evaluate_all, parse_crate_list};
use crate::skills::RawGate;
use crate::skills::resolve::Gates;
use crate::text::{Diagnostic, Source};

/// Decides gates by the workspace's facts.
pub struct ByFacts<'a> {
    /// The facts.
    pub facts: Facts<'a>,
}

impl Gates for ByFacts<'_> {
    fn read(&self, raw: &RawGate, source: &Arc<Source>) -> Result<Gate, Vec<Diagnostic>> {
        let mut problems = Vec::new();
        let mut gate = Gate::default();
        if let Some(lists) = &raw.crates {
            let mut atoms = Vec::new();
            for list in lists {
                let read = parse_crate_list(&list.value);
                atoms.extend(read.atoms);
                problems.extend(read.errors.into_iter().map(|error| {
                    Diagnostic::error(format!("`crates`: {}", error.message))
                        .code(codes::SKILL_GATE)
                        .at(source, list.span.clone())
                }));
            }
            gate.crates = Some(atoms);
        }
        for text in &raw.predicates {
            match Predicate::parse(&text.value) {
                Ok(predicate) => gate.predicates.push(predicate),
                Err(error) => problems.push(
                    Diagnostic::error(format!("`predicates`: {}", error.message))
                        .code(codes::SKILL_GATE)
                        .at(source, text.span.clone()),
                ),
            }
        }
        if problems.is_empty() { Ok(gate) } else { Err(problems) }
    }

    fn check(&self, gate: &Gate) -> Result<(), String> {
        let evaluation = evaluate_all(&[gate], &self.facts);
        if evaluation.holds { Ok(()) } else { Err(evaluation.reason) }
    }
}
