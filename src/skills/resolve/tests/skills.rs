//! What a skill says of itself, wherever it comes from.

use super::*;

#[test]
fn f89_a_skills_own_crates_narrow() {
    let mut fake = Fake::new();
    fake.package("a", "");
    fake.skill("a/skills/holds", "crates: yes\n");
    fake.skill("a/skills/misses", "crates: no\n");
    fake.skill("a/skills/predicate", "predicates: env(X)\n");
    fake.skill("a/skills/broken", "crates: 'a!'\n");
    let found = fake.crates(&["a"]);
    assert_eq!(names(&found), ["holds"]);
    assert!(reasons(&found).contains("Skipped misses: it is not about this"));
    assert_eq!(told(&found), ["`a!` is no crate"]);
}

#[test]
fn f71_an_invalid_skill_is_skipped_with_a_warning() {
    let mut fake = Fake::new();
    fake.package("a", "");
    fake.skill("a/skills/good", "");
    fake.put("a/skills/no-description/SKILL.md", "---\nname: x\n---\n");
    fake.put("a/skills/evil/SKILL.md", "---\nname: ../../evil\ndescription: d\n---\n");
    fake.put("a/skills/binary/SKILL.md", "---\n\0\n");
    let found = fake.crates(&["a"]);
    assert_eq!((names(&found), told(&found).len()), (vec!["good"], 3));
    let text = found.problems().nth(1).expect("three").to_string();
    assert!(text.ends_with("the skill is skipped"), "{text}");
}

#[test]
fn flaws_are_told_of_skills_that_apply_only() {
    let mut fake = Fake::new();
    fake.package("a", "");
    fake.skill("a/skills/Odd_One", "crates: yes\nhooks: {Stop: []}\n");
    fake.skill("a/skills/Odd_Two", "crates: no\nhooks: {Stop: []}\n");
    let found = fake.crates(&["a", "a"]);
    assert_eq!((names(&found), told(&found).len()), (vec!["odd-one"], 2));
}

#[test]
fn f63_one_origin_by_two_ways_is_one_skill() {
    let mut fake = Fake::new();
    fake.package("a", "");
    fake.skill("a/skills/one", "");
    let named = SkillSource::NamedCrate { name: "a".to_owned(), requirement: None };
    let by_crate = SkillSource::Crate { tried_first: Some("skills".to_owned()) };
    let matched = [MatchedCrate { name: "a".to_owned(), version: Some(Version::new(1, 0, 0)) }];
    let found = fake.resolve(|resolver| {
        for source in [named, by_crate] {
            let group = SkillGroup { gate: Gate::default(), source, span: 0..0 };
            resolver.group(&fake.plugin(), &group, &matched);
        }
    });
    assert_eq!(names(&found), ["one"]);
}

#[cfg(unix)]
#[test]
fn case_84_a_skill_md_that_leads_out_is_not_read() {
    let mut fake = Fake::new();
    fake.package("a", "");
    fake.skill("secret/s", "");
    fs::create_dir_all(fake.dir.path().join("a/skills/s")).expect("creates");
    std::os::unix::fs::symlink(
        fake.dir.path().join("secret/s/SKILL.md"),
        fake.dir.path().join("a/skills/s/SKILL.md"),
    )
    .expect("links");
    let found = fake.crates(&["a"]);
    assert_eq!((names(&found).len(), told(&found)), (0, vec!["the link leads out".to_owned()]));
}
