//! A plugin's own folder, git, standalone skills and the workspace's own.

use super::*;

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
    assert_eq!((names(&path("gone")).len(), told(&path("gone")).len()), (0, 1));
    for bad in ["../../outside", if cfg!(windows) { "C:/windows" } else { "/etc" }] {
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
        let word = if chosen { UsersWord::Yes } else { UsersWord::None };
        fake.resolve(|resolver| resolver.standalone("s", &root, &root.join(name), &word))
    };
    assert_eq!(names(&standalone("bound", false)), ["bound"]);
    assert_eq!(names(&standalone("misses", false)), [""; 0]);
    let found = standalone("bare", false);
    assert_eq!(names(&found), [""; 0]);
    assert_eq!(told(&found), ["a skill outside of a plugin needs `crates`"]);
    // Who only uses what others maintain can't mend it.
    let others = fake.resolve(|resolver| {
        resolver.standalone("s", &root, &root.join("bare"), &UsersWord::NoneOfOthers);
    });
    assert!(names(&others).is_empty() && told(&others).is_empty());
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
