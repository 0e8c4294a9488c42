use semver::Version;

use super::*;
use crate::workspace::{DependencyOrigin, Usage};

struct World {
    dependencies: Vec<Dependency>,
    members: Vec<Member>,
    root: Option<tempfile::TempDir>,
    env: Environment,
    observer: Observer,
}

impl World {
    fn new(dependencies: &[(&str, &str)]) -> Self {
        let dependency = |&(name, version): &(&str, &str)| Dependency {
            name: name.to_owned(),
            version: Version::parse(version).ok(),
            origin: DependencyOrigin::Unresolved(None),
            usage: Usage::default(),
        };
        let mut dependencies: Vec<_> = dependencies.iter().map(dependency).collect();
        dependencies.sort_by(|one, other| one.name.cmp(&other.name));
        Self {
            dependencies,
            members: Vec::new(),
            root: Some(tempfile::tempdir().expect("a temporary folder")),
            env: Environment::with("/", [("CI", "true"), ("EMPTY", "")]),
            observer: Observer::default(),
        }
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            dependencies: &self.dependencies,
            newest: &(),
            members: &self.members,
            root: self.root.as_ref().map(tempfile::TempDir::path),
            env: &self.env,
            observer: &self.observer,
        }
    }

    fn evaluate(&self, crates: Option<&[&str]>, predicates: &[&str]) -> Evaluation {
        evaluate_all(&[&gate(crates, predicates)], &self.facts())
    }
}

fn gate(crates: Option<&[&str]>, predicates: &[&str]) -> Gate {
    Gate {
        crates: crates.map(|crates| {
            crates.iter().map(|text| CrateAtom::parse(text).expect("an atom")).collect()
        }),
        predicates: predicates
            .iter()
            .map(|text| Predicate::parse(text).expect("a predicate"))
            .collect(),
    }
}

fn matched(evaluation: &Evaluation) -> Vec<String> {
    let show = |found: &MatchedCrate| match &found.version {
        Some(version) => format!("{}@{version}", found.name),
        None => found.name.clone(),
    };
    evaluation.matched.iter().map(show).collect()
}

#[test]
fn f98_f99_reasons_and_matches_of_lists() {
    let world = World::new(&[("serde", "1.0.228"), ("tokio", "0.2.1"), ("odd", "")]);
    for (crates, holds, reason, found) in [
        (&["serde>=1.0"][..], true, "serde 1.0.228 ≥ 1.0", &["serde@1.0.228"][..]),
        (&["serde"], true, "serde 1.0.228", &["serde@1.0.228"]),
        (&["bevy"], false, "bevy is not a dependency of this workspace", &[]),
        (&["tokio>=1.40"], false, "tokio 0.2.1 is not ≥ 1.40", &[]),
        (&["bevy", "serde"], true, "serde 1.0.228", &["serde@1.0.228"]),
        (&["a", "b"], false, "neither a nor b is a dependency of this workspace", &[]),
        (&["a", "b", "c"], false, "none of a, b and c is a dependency of this workspace", &[]),
        (
            &["tokio>=1", "bevy"],
            false,
            "tokio 0.2.1 is not ≥ 1; bevy is not a dependency of this workspace",
            &[],
        ),
        (&["*"], true, "applies everywhere", &[]),
        (&["*", "serde"], true, "serde 1.0.228", &["serde@1.0.228"]),
        (&["odd"], true, "odd", &["odd"]),
        (&["odd>=1"], false, "the version of odd is not known; ≥ 1 is needed", &[]),
        (&[], false, "it names no crate that it could be for", &[]),
    ] {
        let evaluation = world.evaluate(Some(crates), &[]);
        assert_eq!((evaluation.holds, evaluation.reason.as_str()), (holds, reason), "{crates:?}");
        assert_eq!(matched(&evaluation), found, "{crates:?}");
    }
}

#[test]
fn f94_names_compare_with_dashes_and_underscores_equal() {
    let world = World::new(&[("serde-json", "1.0.0")]);
    assert_eq!(matched(&world.evaluate(Some(&["serde_json"]), &[])), ["serde-json@1.0.0"]);
}

#[test]
fn f106_any_of_several_versions_satisfies() {
    let world = World::new(&[("syn", "1.0.109"), ("syn", "2.0.90")]);
    let evaluation = world.evaluate(Some(&["syn>=2"]), &[]);
    assert_eq!(matched(&evaluation), ["syn@2.0.90"]);
    assert_eq!(matched(&world.evaluate(Some(&["syn"]), &[])), ["syn@1.0.109", "syn@2.0.90"]);
    let evaluation = world.evaluate(Some(&["syn>=3"]), &[]);
    assert_eq!(evaluation.reason, "syn 1.0.109 and 2.0.90 are not ≥ 3");
}

#[test]
fn outside_a_workspace_only_the_wildcard_holds() {
    let mut world = World::new(&[]);
    world.root = None;
    assert!(world.evaluate(Some(&["*"]), &[]).holds);
    let evaluation = world.evaluate(Some(&["serde", "tokio"]), &[]);
    assert!(!evaluation.holds);
    assert_eq!(evaluation.reason, "serde or tokio is needed, and this is no Rust workspace");
    assert!(!world.evaluate(None, &["path_exists(x)"]).holds);
    assert!(!world.evaluate(Some(&["x"]), &["workspace-member()"]).holds);
}

#[test]
fn f100_levels_and_predicates_must_all_hold() {
    let world = World::new(&[("serde", "1.0.0")]);
    let (open, shut) = (gate(Some(&["serde"]), &[]), gate(Some(&["bevy"]), &[]));
    assert!(evaluate_all(&[&open, &Gate::default()], &world.facts()).holds);
    assert!(!evaluate_all(&[&open, &shut], &world.facts()).holds);
    assert!(evaluate_all(&[], &world.facts()).holds);
    let evaluation = world.evaluate(Some(&["serde"]), &["env(CI)", "env(NOPE)"]);
    assert_eq!(evaluation.reason, "the variable NOPE is not set");
    let evaluation = world.evaluate(Some(&["serde"]), &["env(CI=true)"]);
    assert_eq!(evaluation.reason, "serde 1.0.0; the variable CI is `true`");
}

#[test]
fn decision_2b_predicates() {
    let mut world = World::new(&[("serde", "1.0.0")]);
    let root = world.root.as_ref().expect("a root").path().to_owned();
    std::fs::write(root.join("here.toml"), "").expect("writes");
    world.members = vec![Member {
        name: "my_app".to_owned(),
        version: None,
        dir: root.join("my_app"),
        names_us: false,
    }];
    for (predicate, holds) in [
        ("env(CI)", true),
        ("env(CI=true)", true),
        ("env(CI=1)", false),
        ("env(EMPTY)", false),
        ("env(EMPTY=)", true),
        ("env(UNSET=)", false),
        ("path_exists(here.toml)", true),
        ("path_exists(gone.toml)", false),
        ("depends-on(serde>=1)", true),
        ("depends-on(bevy)", false),
        ("not(depends-on(bevy))", true),
        ("any(env(NOPE), env(CI))", true),
        ("any(env(NOPE), env(NADA))", false),
        ("all(env(CI), depends-on(serde))", true),
        ("all(env(CI), env(NOPE))", false),
    ] {
        assert_eq!(world.evaluate(None, &[predicate]).holds, holds, "{predicate}");
    }
    for (predicate, reason) in [
        ("env(CI=)", "the variable CI is not empty"),
        ("env(UNSET=)", "the variable UNSET is not set"),
        ("env(EMPTY=)", "the variable EMPTY is empty"),
        ("env(EMPTY)", "the variable EMPTY is not set"),
    ] {
        assert_eq!(world.evaluate(None, &[predicate]).reason, reason);
    }
    assert!(world.evaluate(Some(&["my-app", "*"]), &["workspace-member()"]).holds);
    assert!(!world.evaluate(Some(&["serde"]), &["workspace-member()"]).holds);
    let unnamed = world.evaluate(None, &["workspace-member()"]);
    assert!(!unnamed.holds && unnamed.warnings.len() == 1);
    let (plugin, group) = (gate(Some(&["my-app", "*"]), &[]), gate(None, &["workspace-member()"]));
    assert!(evaluate_all(&[&plugin, &group], &world.facts()).holds);
}

#[test]
fn decision_2b_unsupported_never_holds_not_even_inside_not() {
    let world = World::new(&[]);
    for (predicate, holds) in [
        ("shell(true)", false),
        ("not(shell(true))", false),
        ("not(not(shell(true)))", false),
        ("any(shell(true), env(CI))", true),
        ("not(any(shell(true), env(NOPE)))", false),
        ("all(shell(true), env(CI))", false),
        ("not(all(shell(true), env(NOPE)))", true),
    ] {
        let evaluation = world.evaluate(None, &[predicate]);
        assert_eq!(evaluation.holds, holds, "{predicate}");
        assert_eq!(evaluation.warnings, [""; 0]);
    }
}

#[test]
fn f111_f112_the_matched_crates_are_those_of_all_levels() {
    let world = World::new(&[("bar", "2.0.0"), ("baz", "3.0.0"), ("foo", "1.0.0")]);
    let plugin = gate(Some(&["foo", "*"]), &[]);
    let group = gate(
        Some(&["foo>=1"]),
        &["any(depends-on(bar), depends-on(nope))", "not(all(depends-on(baz), env(NOPE)))"],
    );
    let names: Vec<_> = matched_crates(&[&plugin, &group], &world.facts())
        .into_iter()
        .map(|found| found.name)
        .collect();
    assert_eq!(names, ["bar", "foo"]);
}

#[test]
fn a_gate_tells_what_it_looks_at() {
    let world = World::new(&[]);
    world.evaluate(None, &["not(any(env(A), path_exists(x/y)))", "env(B=1)"]);
    let (fingerprint, variables) = world.observer.findings();
    assert_eq!(variables.into_iter().collect::<Vec<_>>(), ["A", "B"]);
    let root = world.root.as_ref().expect("has one").path();
    // Two spellings of a path are one path.
    let paths: std::collections::BTreeSet<_> = fingerprint.paths().collect();
    assert!(paths.into_iter().eq([root.join("x/y")]));
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_readers_panic(text in "[a-z*()><=^~, .0-9'\"@é-]{0,40}") {
        let _ = CrateAtom::parse(&text);
        let _ = Predicate::parse(&text);
        let _ = parse_crate_list(&text);
    }

    #[test]
    fn an_atom_reads_back_from_its_own_text(
        name in "[a-z][a-z0-9_-]{0,8}",
        operator in "(==|>=|<=|>|<|\\^|~|=)",
        version in "(0|[1-9][0-9]{0,2})(\\.(0|[1-9][0-9]{0,2})){0,2}",
    ) {
        let parsed = CrateAtom::parse(&format!(" {name} {operator} {version} ")).expect("an atom");
        let CrateAtom::Crate { text, .. } = &parsed else { panic!("not a crate") };
        proptest::prop_assert_eq!(CrateAtom::parse(text), Ok(parsed.clone()));
    }
}
