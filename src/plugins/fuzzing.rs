//! What holds of every manifest and predicate.

use std::path::Path;

use super::manifest::{Manifest, Place, Strictness};
use super::model::{CrateAtom, Gate, Plugin, Predicate};
use super::predicate::{AtomError, Facts, evaluate_all, parse_crate_list};
use crate::config::Environment;
use crate::report::fuzzing::{text, told};
use crate::text::Source;
use crate::workspace::UNOBSERVED;

/// A predicate and its opposite never hold together; what is wrong with one has its place. A list of
/// crates leaves out only what it tells of.
pub(crate) fn predicate(data: &[u8]) {
    let Some(text) = text(data) else { return };
    match Predicate::parse(text) {
        Ok(predicate) => {
            let holds = |predicate: &Predicate| {
                let gate = Gate { crates: None, predicates: vec![predicate.clone()] };
                let env = Environment::with("/w", [("CI", "true")]);
                let (dependencies, members, observer) = (&[], &[], &UNOBSERVED);
                let facts =
                    Facts { dependencies, newest: &(), members, root: None, env: &env, observer };
                let found = evaluate_all(&[&gate], &facts);
                assert!(!found.reason.is_empty(), "{predicate:?}");
                found.holds
            };
            let opposite = Predicate::Not(Box::new(predicate.clone()));
            assert!(!(holds(&predicate) && holds(&opposite)), "{predicate:?}");
            // Inside another function it is the same, unless it nests too deeply there.
            if let Ok(inside) = Predicate::parse(&format!("not({text})")) {
                assert_eq!(inside, opposite);
            }
        }
        Err(error) => placed(text, &error),
    }
    let list = parse_crate_list(text);
    list.errors.iter().for_each(|error| placed(text, error));
    for atom in list.atoms.iter().chain(&CrateAtom::parse(text)) {
        if let CrateAtom::Crate { name, text, .. } = atom {
            assert!(crate::text::is_crate_name(name), "{name:?}");
            assert_eq!(CrateAtom::parse(text).as_ref(), Ok(atom));
        }
    }
    if let Err(error) = CrateAtom::parse(text) {
        placed(text, &error);
    }
}

fn placed(text: &str, error: &AtomError) {
    assert!(!error.message.is_empty());
    assert!(text.is_char_boundary(error.offset), "{error:?} is not in {text:?}");
}

/// A manifest is read the same twice, whatever is wrong has its place, and a plugin is remembered as
/// what it is.
pub(crate) fn plugin_manifest(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let manifest = Path::new("/w/s/p/SYMPOSIUM.toml");
    let place = Place { source: "s", source_root: Path::new("/w/s"), manifest };
    let source = Source::new(manifest, text);
    for strictness in [Strictness::Load, Strictness::Validate] {
        let parsed = Manifest::parse(source.clone(), &place, strictness);
        let again = Manifest::parse(source.clone(), &place, strictness);
        assert_eq!(format!("{parsed:?}"), format!("{again:?}"));
        told(&parsed.diagnostics);
        assert!(parsed.is_whole || !parsed.diagnostics.is_empty());
        assert!(parsed.diagnostics.iter().all(|problem| problem.code.is_some()));
        let has_errors = parsed.diagnostics.iter().any(crate::text::Diagnostic::is_error);
        match (&parsed.plugin, strictness) {
            (Some(_), Strictness::Load) => assert!(!has_errors, "what is loaded is warned of"),
            (None, _) => assert!(has_errors, "nobody says why there is no plugin"),
            (Some(_), Strictness::Validate) => {}
        }
        if let Some(plugin) = &parsed.plugin {
            remembered(plugin);
        }
    }
}

/// What is kept of sources in force says the same.
pub(super) fn remembered(plugin: &Plugin) {
    let kept = postcard::to_allocvec(plugin).expect("it can be kept");
    let read: Plugin = postcard::from_bytes(&kept).expect("what was kept can be read");
    assert_eq!(&read, plugin);
}
