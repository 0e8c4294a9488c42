//! Links in a git source of which only a folder is taken.
#![cfg(unix)]

use std::os::unix::fs::symlink;

use super::{configure, installed, sync};
use crate::{sandbox, skill};

#[test]
fn links_are_followed_inside_the_repository_and_told_where_they_lead_out_or_nowhere() {
    let sandbox = sandbox();
    sandbox.package(&[("widget", "1.0.0")]);
    sandbox.write(
        "repos/acme/p/SYMPOSIUM.toml",
        "name = \"p\"\ncrates = [\"widget\"]\n[[skills]]\nsource.path = \"skills\"\n",
    );
    for name in ["s", "u", "v"] {
        sandbox.write(&format!("repos/acme/p/skills/{name}/SKILL.md"), skill(name, "d"));
    }
    sandbox.write("repos/acme/shared/t/SKILL.md", skill("t", "d"));
    sandbox.write("repos/acme/LICENSE", "MIT");
    let repository = sandbox.dir().join("repos/acme");
    for (target, link) in [
        ("../../../LICENSE", "s/LICENSE"),
        ("../../shared/t", "t"),
        ("/etc/hostname", "u/x"),
        ("missing", "v/y"),
        ("../../shared/gone", "w"),
    ] {
        symlink(target, repository.join("p/skills").join(link)).expect("links");
    }
    sandbox.git_in("repos/acme", &["init", "-q"]);
    sandbox.git_in("repos/acme", &["add", "-A"]);
    sandbox.git_in("repos/acme", &["commit", "-qm", "x"]);
    let url = sandbox.file_url("repos/acme");
    configure(&sandbox, &url, "subdir = \"p\"");
    let run = sync(&sandbox, &["-v"]).ok();
    assert_eq!(installed(&sandbox), ["s", "t", "u", "v"], "{}", run.stderr);
    assert_eq!(sandbox.read("ws/.claude/skills/s/LICENSE"), "MIT");
    for (skill, file) in [("u", "x"), ("v", "y")] {
        assert!(!sandbox.has(&format!("ws/.claude/skills/{skill}/{file}")));
        assert!(run.stderr.contains(&format!("skills/{skill}/{file}")), "{}", run.stderr);
    }
    assert!(run.stderr.contains("skills/w"), "{}", run.stderr);
    let told = |words: &str| -> Vec<String> {
        let lines: Vec<&str> = run.stderr.lines().collect();
        let about = lines.windows(2).filter(|pair| pair[0].contains(words));
        about.filter_map(|pair| Some(pair[1].split_once("/p/skills/")?.1.to_owned())).collect()
    };
    assert_eq!(told("the link leads out"), ["u/x"], "{}", run.stderr);
    let mut nowhere = told("the link leads nowhere");
    nowhere.sort();
    assert_eq!(nowhere, ["v/y", "w"], "{}", run.stderr);
}
