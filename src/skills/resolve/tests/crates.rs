//! Skills of crates: their metadata and its redirects.

use super::*;

#[test]
fn f140_a_crates_skills_folder() {
    let mut fake = Fake::new();
    fake.package("serde", "");
    fake.skill("serde/skills/basics", "");
    fake.skill("serde/elsewhere/no", "");
    let found = fake.crates(&["serde"]);
    assert_eq!(names(&found), ["basics"]);
    let skill = &found.skills[0];
    let path = "skills/basics".to_owned();
    let version = Version::new(1, 0, 0);
    assert_eq!(skill.origin, SkillOrigin::Crate { name: "serde".to_owned(), version, path });
    assert_eq!(skill.description, "About basics");
    assert_eq!(skill.plugin.as_deref(), Some("plug"));
    assert_eq!(skill.root, fake.dir.path().join("serde"));
    expect_test::expect![[r"
        Matched basics: from serde 1.0.0, plugin plug
    "]]
    .assert_eq(&reasons(&found));
}

#[test]
fn f143_path_entries_and_a_missing_folder_is_silent() {
    let mut fake = Fake::new();
    let entry = "[[package.metadata.symposium.skills]]\n";
    fake.package("a", &format!("{entry}path = \"gone\"\n{entry}path = \"guidance\"\n"));
    fake.skill("a/guidance/one", "");
    fake.skill("a/skills/not-this", "");
    let found = fake.crates(&["a"]);
    assert_eq!((names(&found), told(&found)), (vec!["one"], vec![]));
}

#[test]
fn section_2_a_path_that_leads_out_is_told_and_the_rest_goes_on() {
    let mut fake = Fake::new();
    let entry = "[[package.metadata.symposium.skills]]\n";
    fake.package("a", &format!("{entry}path = \"../b/skills\"\n{entry}path = \"s\"\n"));
    fake.skill("b/skills/stolen", "");
    fake.skill("a/s/own", "");
    let found = fake.crates(&["a"]);
    assert_eq!(names(&found), ["own"]);
    assert!(told(&found)[0].contains("leads out"), "{:?}", told(&found));
}

#[test]
fn f141_malformed_metadata_falls_back_with_a_warning() {
    let mut fake = Fake::new();
    fake.package("a", "[package.metadata.symposium]\nskills = 3\n");
    fake.skill("a/skills/one", "");
    let found = fake.crates(&["a"]);
    assert_eq!(names(&found), ["one"]);
    assert_eq!(found.diagnostics.len(), 1);
}

#[test]
fn f142_an_opt_out_is_respected_directly_and_by_redirect() {
    let mut fake = Fake::new();
    fake.package("quiet", "[package.metadata.symposium]\nskills = []\n");
    fake.skill("quiet/skills/one", "");
    fake.redirect("loud", &["quiet"]);
    for root in ["quiet", "loud"] {
        assert_eq!(names(&fake.crates(&[root])), [""; 0]);
    }
}

#[test]
fn f144_f146_redirects_lead_to_any_crate_and_go_on() {
    let mut fake = Fake::new();
    fake.redirect("a", &["b"]);
    fake.redirect("b", &["c"]);
    fake.package("c", "");
    fake.skill("c/skills/one", "");
    let found = fake.crates(&["a"]);
    assert_eq!(names(&found), ["one"]);
    assert!(matches!(&found.skills[0].origin, SkillOrigin::Crate { name, .. } if name == "c"));
}

#[test]
fn f144_the_version_of_a_redirect_counts() {
    let mut fake = Fake::new();
    let entry =
        "[[package.metadata.symposium.skills]]\ncrate = { name = \"b\", version = \"2\" }\n";
    fake.package("a", entry);
    fake.package("b", "");
    fake.skill("b/skills/one", "");
    let found = fake.crates(&["a"]);
    assert_eq!((names(&found).len(), found.missing.len()), (0, 1));
    assert!(reasons(&found).contains("Unavailable b: the sources of b are not on this machine"));
}

#[test]
fn f147_ten_redirects_and_no_more() {
    let mut fake = Fake::new();
    for index in 0..12 {
        fake.redirect(&format!("c{index}"), &[&format!("c{}", index + 1)]);
    }
    fake.package("c12", "");
    fake.skill("c12/skills/far", "");
    let found = fake.crates(&["c1"]);
    assert_eq!(names(&found), [""; 0], "eleven");
    assert!(told(&found)[0].contains("more than 10 redirects"), "{:?}", told(&found));
    assert_eq!(names(&fake.crates(&["c2"])), ["far"], "ten");
}

#[test]
fn f148_f149_a_circle_stops_with_a_warning_whatever_the_spelling() {
    let mut fake = Fake::new();
    fake.redirect("my-crate", &["other"]);
    fake.redirect("other", &["my_crate"]);
    let found = fake.crates(&["my_crate"]);
    assert_eq!(
        told(&found),
        ["the redirects of skills go in circles: my-crate → other → my-crate"]
    );
    fake.redirect("self", &["self"]);
    assert_eq!(told(&fake.crates(&["self"])).len(), 1);
}

#[test]
fn f150_a_diamond_is_taken_once() {
    let mut fake = Fake::new();
    fake.redirect("a", &["b", "c"]);
    fake.redirect("b", &["d"]);
    fake.redirect("c", &["d"]);
    fake.package("d", "");
    fake.skill("d/skills/one", "");
    let found = fake.crates(&["a", "b", "c"]);
    assert_eq!((names(&found), told(&found)), (vec!["one"], vec![]));
}

#[test]
fn f151_only_the_crates_that_matched_are_looked_into() {
    let mut fake = Fake::new();
    for name in ["foo", "bar", "baz"] {
        fake.package(name, "");
        fake.skill(&format!("{name}/skills/of-{name}"), "");
    }
    assert_eq!(names(&fake.crates(&["foo", "bar"])), ["of-foo", "of-bar"]);
    assert_eq!(*fake.asked.borrow(), ["foo", "bar"]);
    assert!(reasons(&fake.crates(&[])).contains("none of the crates"));
}

#[test]
fn a_crate_that_is_not_here_is_named_and_the_rest_goes_on() {
    let mut fake = Fake::new();
    fake.package("b", "");
    fake.skill("b/skills/one", "");
    let found = fake.crates(&["gone", "b"]);
    assert_eq!((names(&found), found.missing.len()), (vec!["one"], 1));
    assert_eq!(found.missing[0].to_string(), "the sources of gone 1.0.0 are not on this machine");
}

#[test]
fn decision_22_a_crate_path_is_tried_first() {
    let mut fake = Fake::new();
    fake.package("a", "");
    fake.skill("a/skills/usual", "");
    let first = || SkillSource::Crate { tried_first: Some("agents".to_owned()) };
    assert_eq!(names(&fake.group(first(), &["a"])), ["usual"]);
    fake.skill("a/agents/special", "");
    assert_eq!(names(&fake.group(first(), &["a"])), ["special"]);
}

#[test]
fn decision_2b_a_named_crate_needs_no_match() {
    let mut fake = Fake::new();
    fake.package("named", "");
    fake.skill("named/skills/one", "");
    let named = |requirement: Option<&str>| SkillSource::NamedCrate {
        name: "named".to_owned(),
        requirement: requirement.map(|text| text.parse().expect("a requirement")),
    };
    assert_eq!(names(&fake.group(named(None), &[])), ["one"]);
    assert_eq!(fake.group(named(Some("2")), &[]).missing.len(), 1);
}

#[test]
fn decision_2b_entries_of_a_crates_metadata_have_gates() {
    let mut fake = Fake::new();
    let entry = "[[package.metadata.symposium.skills]]\n";
    fake.package(
        "a",
        &format!(
            "{entry}path = \"x\"\ndepends-on = \"no\"\n{entry}path = \"y\"\ncrates = [\"yes\"]\n"
        ),
    );
    fake.skill("a/x/one", "");
    fake.skill("a/y/two", "");
    assert_eq!(names(&fake.crates(&["a"])), ["two"]);
}
