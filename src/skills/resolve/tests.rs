use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use semver::Version;

use super::*;
use crate::plugins::model::{CrateAtom, Predicate};
use crate::skills::crate_source::{How, Located};

/// Crates that are asked for by name only, in folders `<name>-<version>`.
struct Fake {
    dir: tempfile::TempDir,
    crates: BTreeMap<String, Version>,
    asked: RefCell<Vec<String>>,
}

impl CrateSources for Fake {
    fn locate(&self, request: &CrateRequest) -> Result<Located, NotOnDisk> {
        self.asked.borrow_mut().push(request.name.clone());
        let missing = || NotOnDisk {
            name: request.name.clone(),
            version: request.version.clone(),
            ..NotOnDisk::default()
        };
        let name = request.name.replace('_', "-");
        let version = self.crates.get(&name).ok_or_else(missing)?;
        if request.requirement.as_ref().is_some_and(|wanted| !wanted.matches(version)) {
            return Err(missing());
        }
        let dir = self.dir.path().join(&name);
        Ok(Located { name, version: version.clone(), dir, how: How::Path })
    }
}

/// Gates that hold when every crate in them is called `yes`.
struct Names;

impl Gates for Names {
    fn read(&self, raw: &RawGate, source: &Arc<Source>) -> Result<Gate, Vec<Diagnostic>> {
        let items = raw.crates.iter().flatten();
        if let Some(bad) = items.clone().find(|item| item.value.contains('!')) {
            let error = Diagnostic::error(format!("`{}` is no crate", bad.value));
            return Err(vec![error.at(source, bad.span.clone())]);
        }
        let atom = |item: &crate::text::toml::Located<String>| CrateAtom::Crate {
            name: item.value.clone(),
            requirement: None,
            text: item.value.clone(),
        };
        let predicates = raw.predicates.iter();
        Ok(Gate {
            crates: raw.crates.is_some().then(|| items.map(atom).collect()),
            predicates: predicates.map(|item| Predicate::PathExists(item.value.clone())).collect(),
        })
    }

    fn check(&self, gate: &Gate) -> Result<(), String> {
        let yes = |atom: &CrateAtom| matches!(atom, CrateAtom::Crate { name, .. } if name == "yes");
        let crates = gate.crates.as_ref().is_none_or(|atoms| atoms.iter().any(yes));
        let holds = crates && gate.predicates.is_empty();
        if holds { Ok(()) } else { Err("it is not about this".to_owned()) }
    }
}

impl Fake {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        Self { dir, crates: BTreeMap::new(), asked: RefCell::default() }
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().expect("has a folder")).expect("creates");
        fs::write(path, text).expect("writes");
    }

    fn skill(&self, path: &str, extra: &str) {
        let name = path.rsplit('/').next().expect("has a name");
        let text = format!("---\nname: {name}\ndescription: About {name}\n{extra}---\n");
        self.put(&format!("{path}/SKILL.md"), &text);
    }

    /// A crate whose skills are as its metadata says.
    fn package(&mut self, name: &str, metadata: &str) {
        self.put(
            &format!("{name}/Cargo.toml"),
            &format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\n{metadata}"),
        );
        self.crates.insert(name.to_owned(), Version::new(1, 0, 0));
    }

    fn redirect(&mut self, name: &str, targets: &[&str]) {
        let entries: Vec<_> = targets
            .iter()
            .map(|target| {
                format!(
                    "[[package.metadata.symposium.skills]]\ncrate = {{ name = \"{target}\" }}\n"
                )
            })
            .collect();
        self.package(name, &entries.concat());
    }

    fn plugin(&self) -> Plugin {
        let source_root = self.dir.path().join("source");
        Plugin {
            name: "plug".to_owned(),
            source: "user-plugins".to_owned(),
            manifest: source_root.join("plug/SYMPOSIUM.toml"),
            dir: source_root.join("plug"),
            source_root,
            gate: Gate::default(),
            installations: Vec::new(),
            skills: Vec::new(),
            hooks: Vec::new(),
            servers: Vec::new(),
            subcommands: Vec::new(),
        }
    }

    fn resolve(&self, work: impl FnOnce(&mut Resolver<'_>)) -> Resolution {
        let checkouts = |place: &GitPlace| match place.url.expose() {
            "https://example.com/repo" => Ok(GitFolder {
                root: self.dir.path().join("checkout"),
                start: "skills".to_owned(),
                repo: place.url.to_string(),
                commit: "0123456789".to_owned(),
            }),
            _ => Err(Box::new(Diagnostic::error("no such repository"))),
        };
        let mut resolver = Resolver::new(&Names, self, &checkouts, &crate::workspace::UNOBSERVED);
        work(&mut resolver);
        resolver.finish()
    }

    fn group(&self, source: SkillSource, matched: &[&str]) -> Resolution {
        let matched: Vec<_> = matched
            .iter()
            .map(|name| MatchedCrate {
                name: (*name).to_owned(),
                version: Some(Version::new(1, 0, 0)),
            })
            .collect();
        let group = SkillGroup { gate: Gate::default(), source, span: 0..0 };
        self.resolve(|resolver| resolver.group(&self.plugin(), &group, &matched))
    }

    fn crates(&self, matched: &[&str]) -> Resolution {
        self.group(SkillSource::Crate { tried_first: None }, matched)
    }
}

fn names(resolution: &Resolution) -> Vec<&str> {
    resolution.skills.iter().map(|skill| skill.name.as_str()).collect()
}

fn told(resolution: &Resolution) -> Vec<String> {
    assert!(resolution.diagnostics.iter().all(|diagnostic| !diagnostic.is_error()));
    resolution.diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).collect()
}

fn reasons(resolution: &Resolution) -> String {
    let lines = resolution.explanations.iter().map(|event| match event {
        Event::Explain { name, verdict, reason, .. } => format!("{verdict:?} {name}: {reason}\n"),
        other => format!("{other:?}\n"),
    });
    lines.collect()
}

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
    let text = found.diagnostics[1].to_string();
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
fn a_plugins_folder_is_relative_to_its_manifest_and_inside_its_source() {
    let fake = Fake::new();
    fake.skill("source/plug/skills/one", "");
    fake.skill("source/shared/two", "");
    fake.skill("outside/three", "");
    let path = |path: &str| fake.group(SkillSource::Path(path.to_owned()), &[]);
    let found = path("skills");
    assert_eq!(names(&found), ["one"]);
    let (source, inside) = ("user-plugins".to_owned(), "plug/skills/one".to_owned());
    assert_eq!(found.skills[0].origin, SkillOrigin::Source { source, path: inside });
    assert_eq!(names(&path(".")), ["one"]);
    assert_eq!(names(&path("../shared")), ["two"]);
    assert_eq!((names(&path("gone")).len(), told(&path("gone")).len()), (0, 0));
    for bad in ["../../outside", "/etc"] {
        assert!(told(&path(bad))[0].contains("leads out"), "{bad}");
    }
}

#[test]
fn a_git_group_is_known_by_repository_commit_and_path() {
    let fake = Fake::new();
    fake.skill("checkout/skills/one", "");
    let git = |url: &str| {
        let place = GitPlace { url: url.into(), ..GitPlace::default() };
        fake.group(SkillSource::Git(place), &[])
    };
    let found = git("https://example.com/repo");
    let (repo, commit) = ("https://example.com/repo".to_owned(), "0123456789".to_owned());
    let path = "skills/one".to_owned();
    assert_eq!(found.skills[0].origin, SkillOrigin::Git { repo, commit, path });
    assert_eq!(told(&git("https://example.com/other")), ["no such repository"]);
}

#[test]
fn f92_a_standalone_skill_needs_crates_unless_it_was_chosen() {
    let fake = Fake::new();
    fake.skill("source/bare", "");
    fake.skill("source/bound", "crates: yes\n");
    fake.skill("source/misses", "crates: no\n");
    let root: PathBuf = fake.dir.path().join("source");
    let standalone = |name: &str, chosen: bool| {
        fake.resolve(|resolver| resolver.standalone("s", &root, &root.join(name), chosen))
    };
    assert_eq!(names(&standalone("bound", false)), ["bound"]);
    assert_eq!(names(&standalone("misses", false)), [""; 0]);
    let found = standalone("bare", false);
    assert_eq!(names(&found), [""; 0]);
    assert_eq!(told(&found), ["a skill outside of a plugin needs `crates`"]);
    let found = standalone("bare", true);
    let (source, path) = ("s".to_owned(), "bare".to_owned());
    assert_eq!(found.skills[0].origin, SkillOrigin::Source { source, path });
}

#[test]
fn the_workspaces_own_skills_are_those_without_our_marker() {
    let fake = Fake::new();
    fake.skill("ws/.agents/skills/own", "crates: no\n");
    fake.skill("ws/.agents/skills/ours", "");
    fake.put("ws/.agents/skills/ours/.symposium", "");
    let root = fake.dir.path().join("ws");
    let found = fake.resolve(|resolver| resolver.workspace(&root, &root.join(".agents/skills")));
    assert_eq!(names(&found), ["own"]);
    let path = ".agents/skills/own".to_owned();
    assert_eq!(found.skills[0].origin, SkillOrigin::Workspace { path });
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
