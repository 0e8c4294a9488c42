//! Gates, in words.

use crate::plugins::model::{Activation, CrateAtom, Gate, Predicate};

/// What gates ask for, as it is written in manifests; `None` when they ask for nothing.
pub(crate) fn needs(gates: &[&Gate]) -> Option<String> {
    let mut parts = Vec::new();
    for gate in gates {
        let atoms: Vec<_> = gate.crates.iter().flatten().map(atom).collect();
        match atoms.as_slice() {
            [] if gate.is_dormant() => parts.push("to be asked for by `use`".to_owned()),
            [] => {}
            atoms => parts.push(atoms.join(" or ")),
        }
        parts.extend(gate.predicates.iter().map(predicate));
    }
    parts.dedup();
    (!parts.is_empty()).then(|| parts.join(" and "))
}

/// A crate and its versions as they are written.
pub(crate) fn atom(atom: &CrateAtom) -> &str {
    match atom {
        CrateAtom::Any => "*",
        CrateAtom::Crate { text, .. } => text,
    }
}

/// A predicate as it is written.
pub(crate) fn predicate(of: &Predicate) -> String {
    let list = |list: &[Predicate]| list.iter().map(predicate).collect::<Vec<_>>().join(", ");
    match of {
        Predicate::Env { name, value: None } => format!("env({name})"),
        Predicate::Env { name, value: Some(value) } => format!("env({name}={value})"),
        Predicate::PathExists(path) => format!("path_exists({path})"),
        Predicate::DependsOn(crate_) => format!("depends-on({})", atom(crate_)),
        Predicate::WorkspaceMember => "workspace-member()".to_owned(),
        Predicate::Waits { activation: Activation::Suggested, .. } => "your word".to_owned(),
        Predicate::Waits { activation: Activation::Off, .. } => "`use`".to_owned(),
        Predicate::AskedFor => "asked for by `use`".to_owned(),
        Predicate::Not(inner) => format!("not({})", predicate(inner)),
        Predicate::Any(inner) => format!("any({})", list(inner)),
        Predicate::All(inner) => format!("all({})", list(inner)),
        Predicate::Unsupported(text) => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_read_as_they_are_written() {
        let written = ["not(any(env(CI), env(A=b)))", "all(path_exists(x), depends-on(serde>=1))"];
        let predicates = written.map(|text| Predicate::parse(text).expect("parses")).to_vec();
        let gate = Gate { crates: Some(vec![CrateAtom::Any]), predicates };
        let text = needs(&[&gate, &gate]).expect("asks for something");
        assert!(text.starts_with("* and not(any(env(CI), env(A=b))) and all("), "{text}");
        assert_eq!(needs(&[&Gate::default()]), None);
        assert_eq!(
            needs(&[&Gate { crates: Some(vec![]), predicates: vec![] }]).as_deref(),
            Some("to be asked for by `use`")
        );
        let unread = vec![Predicate::Unsupported("serde>>2".to_owned())];
        let gate = Gate { crates: Some(vec![]), predicates: unread };
        assert_eq!(needs(&[&gate]).as_deref(), Some("serde>>2"));
    }
}
