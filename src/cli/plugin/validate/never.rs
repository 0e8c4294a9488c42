//! Conditions that can hold nowhere.

use std::sync::Arc;

use semver::{Comparator, Op, Version, VersionReq};

use super::levels::Level;
use crate::plugins::diagnostics::codes;
use crate::plugins::model::{CrateAtom, Gate, Predicate};
use crate::text::{Diagnostic, Source};

/// What of `level` can hold nowhere, by itself or beside what `above` asks for. `what` names the thing
/// that never applies for it.
pub(super) fn check(
    what: &str,
    level: &Level,
    above: &[&Gate],
    source: &Arc<Source>,
) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let mut tell = |span: &std::ops::Range<usize>, message: String, note: &str| {
        let problem = Diagnostic::warning(message).code(codes::NEVER).at(source, span.clone());
        problems.push(problem.note(note));
    };
    for atom in &level.crates {
        if let CrateAtom::Crate { requirement: Some(requirement), text, .. } = &atom.value
            && !can_be_met(requirement)
        {
            tell(&atom.span, format!("no version meets `{text}`"), "this entry never holds");
        }
    }
    let mut asked: Vec<&Predicate> = Vec::new();
    above.iter().flat_map(|gate| &gate.predicates).for_each(|other| flatten(other, &mut asked));
    let atoms: Vec<Predicate> = above
        .iter()
        .filter_map(|gate| only_crate(gate.crates.as_ref()?))
        .chain(only_crate(&level.crates.iter().map(|atom| atom.value.clone()).collect::<Vec<_>>()))
        .collect();
    asked.extend(&atoms);
    for predicate in &level.predicates {
        let mut own = Vec::new();
        flatten(&predicate.value, &mut own);
        let note = format!("{what} never applies");
        if !can_be(&predicate.value, true) {
            tell(&predicate.span, "this predicate can't hold".to_owned(), &note);
        } else if own.iter().any(|one| asked.iter().any(|other| contradict(one, other))) {
            let message = "this predicate and another one can't hold both".to_owned();
            tell(&predicate.span, message, &note);
        }
        asked.extend(own);
    }
    problems
}

/// The parts all of which must hold.
fn flatten<'p>(predicate: &'p Predicate, into: &mut Vec<&'p Predicate>) {
    match predicate {
        Predicate::All(list) => list.iter().for_each(|inner| flatten(inner, into)),
        other => into.push(other),
    }
}

/// A list of one crate, as the predicate that it is.
fn only_crate(crates: &[CrateAtom]) -> Option<Predicate> {
    match crates {
        [atom @ CrateAtom::Crate { .. }] => Some(Predicate::DependsOn(atom.clone())),
        _ => None,
    }
}

/// Whether one is the other's contrary. `not(depends-on(x))` is that of any version of it.
fn contradict(one: &Predicate, other: &Predicate) -> bool {
    let denies = |no: &Predicate, yes: &Predicate| match (no, yes) {
        (Predicate::Not(inner), yes) if **inner == *yes => true,
        (Predicate::Not(inner), Predicate::DependsOn(yes)) => match &**inner {
            Predicate::DependsOn(CrateAtom::Crate { name, requirement: None, .. }) => {
                yes.crate_name().is_some_and(|yes| crate::text::same_crate(yes, name))
            }
            _ => false,
        },
        _ => false,
    };
    denies(one, other) || denies(other, one)
}

/// Whether a predicate can be `wanted` in some workspace. What is not supported is told elsewhere.
fn can_be(predicate: &Predicate, wanted: bool) -> bool {
    match predicate {
        Predicate::DependsOn(CrateAtom::Crate { requirement: Some(requirement), .. }) => {
            !wanted || can_be_met(requirement)
        }
        Predicate::Not(inner) => can_be(inner, !wanted),
        Predicate::Any(list) if wanted => list.iter().any(|inner| can_be(inner, true)),
        Predicate::All(list) if !wanted => list.iter().any(|inner| can_be(inner, false)),
        Predicate::Any(list) | Predicate::All(list) => {
            let parts: Vec<&Predicate> = list.iter().collect();
            let apart = parts
                .iter()
                .enumerate()
                .all(|(index, one)| parts[index + 1..].iter().all(|other| !contradict(one, other)));
            list.iter().all(|inner| can_be(inner, wanted)) && apart
        }
        _ => true,
    }
}

/// Whether some version meets all comparisons. Each of them changes its mind at its own version or
/// next to it, so that those decide for all.
fn can_be_met(requirement: &VersionReq) -> bool {
    let candidates = requirement.comparators.iter().flat_map(edges);
    requirement.comparators.is_empty() || candidates.into_iter().any(|v| requirement.matches(&v))
}

/// The versions around which a comparison changes its mind.
fn edges(comparator: &Comparator) -> Vec<Version> {
    let Comparator { major, minor, patch, .. } = *comparator;
    let (minor_, patch_) = (minor.unwrap_or(0), patch.unwrap_or(0));
    let mut at = Version::new(major, minor_, patch_);
    at.pre = comparator.pre.clone();
    let mut edges = vec![
        Version::new(major, minor_, patch_),
        Version::new(major, minor_, patch_.saturating_add(1)),
        Version::new(major, minor_.saturating_add(1), 0),
        Version::new(major.saturating_add(1), 0, 0),
        at,
    ];
    // What is just below: any version that is smaller serves, the smallest as well as the nearest.
    if matches!(comparator.op, Op::Less | Op::LessEq) {
        edges.push(Version::new(0, 0, 0));
        edges.push(match (patch_, minor_) {
            (1.., _) => Version::new(major, minor_, patch_ - 1),
            (0, 1..) => Version::new(major, minor_ - 1, u64::MAX),
            (0, 0) => Version::new(major.saturating_sub(1), u64::MAX, u64::MAX),
        });
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::toml::Located;

    fn told(crates: &[&str], predicates: &[&str], above: &Gate) -> Vec<String> {
        let text = "x".repeat(200);
        let source = Source::new("SYMPOSIUM.toml", text);
        let level = Level {
            crates: crates
                .iter()
                .map(|text| CrateAtom::parse(text).expect("an atom"))
                .map(|value| Located { value, span: 0..1 })
                .collect(),
            predicates: predicates
                .iter()
                .map(|text| Predicate::parse(text).expect("a predicate"))
                .map(|value| Located { value, span: 0..1 })
                .collect(),
        };
        let found = check("the skill", &level, &[above], &source);
        found.into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn requirements_that_no_version_meets_are_told_from_those_that_some_does() {
        let none = Gate::default();
        for possible in [
            "a",
            "a>=1",
            "a>=1, <2",
            "a>1.2.3, <1.2.5",
            "a<1",
            "a<=0.0.0",
            "a>=1.2, <1.2.1",
            "a=1.0",
            "a==1.0.219",
            "a>=1.0.0-beta.2, <2",
            "a~1.2, >1.2.7",
            "a>2",
            "a>1.2",
        ] {
            assert_eq!(told(&[possible], &[], &none), [""; 0], "{possible}");
        }
        for impossible in ["a>=2, <1", "a>1.2.3, <1.2.4", "a<0.0.0", "a==1.0.1, ==1.0.2", "a^1, ^2"]
        {
            let message = format!("no version meets `{impossible}`");
            assert_eq!(told(&[impossible], &[], &none), [message], "{impossible}");
        }
    }

    #[test]
    fn predicates_that_exclude_each_other_are_told() {
        let serde = CrateAtom::parse("serde>=1").expect("an atom");
        let above = Gate { crates: Some(vec![serde]), predicates: Vec::new() };
        let none = Gate::default();
        for fine in
            ["env(X)", "not(env(X))", "any(env(X), not(env(X)))", "not(depends-on(serde>=2))"]
        {
            assert_eq!(told(&[], &[fine], &above), [""; 0], "{fine}");
        }
        for wrong in [
            &["all(env(X), not(env(X)))"][..],
            &["env(X)", "not(env(X))"],
            &["depends-on(a>=2, <1)"],
            &["not(any(env(X), not(env(X))))"],
        ] {
            assert_eq!(told(&[], wrong, &none).len(), 1, "{wrong:?}");
        }
        assert_eq!(told(&[], &["not(depends-on(serde))"], &above).len(), 1);
        assert_eq!(told(&["serde"], &["not(depends-on(serde))"], &none).len(), 1);
        assert_eq!(told(&["serde", "tokio"], &["not(depends-on(serde))"], &none), [""; 0]);
    }
}
