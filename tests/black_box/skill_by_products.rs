//! Files that others put into an installed skill: they are neither edits nor ours.

use crate::{NO_BUILTIN, plugin_with_skill, sandbox, skill};
use symposium_testlib::Sandbox;

const DIR: &str = "ws/.claude/skills/basics";
const FOREIGN: [&str; 4] =
    ["scripts/__pycache__/run.pyc", ".DS_Store", "SKILL.md~", "references/.a.md.swp"];

/// A workspace with the skill `basics` of a plugin, and by-products in the installed copy.
fn with_by_products() -> Sandbox {
    let sandbox = sandbox();
    sandbox.write(
        "home/.symposium/config.toml",
        format!("[[agent]]\nname = \"claude\"\n{NO_BUILTIN}"),
    );
    sandbox.package(&[("widget", "1.0.0")]);
    plugin_with_skill(&sandbox, "widget", "widget", "basics");
    sandbox.user_plugin("widget/skills/basics/scripts/run.py", "print(1)\n");
    sandbox.run(&["sync"]).ok();
    for path in FOREIGN {
        sandbox.write(&format!("{DIR}/{path}"), path);
    }
    sandbox
}

fn assert_foreign_files_stay(sandbox: &Sandbox) {
    for path in FOREIGN {
        assert_eq!(sandbox.read(&format!("{DIR}/{path}")), path);
    }
}

#[test]
fn by_products_of_a_skill_do_not_freeze_its_copy() {
    let sandbox = with_by_products();
    sandbox.run(&["sync", "--check"]).ok();
    sandbox.user_plugin("widget/skills/basics/SKILL.md", &skill("basics", "Newer."));
    sandbox.user_plugin("widget/skills/basics/scripts/other.py", "print(2)\n");
    let script = sandbox.home().join(".symposium/plugins/widget/skills/basics/scripts/run.py");
    std::fs::remove_file(script).expect("removes");
    let run = sandbox.run(&["sync"]).ok();
    assert!(run.stderr.contains("Updated basics"), "{}", run.stderr);
    assert!(sandbox.read(&format!("{DIR}/SKILL.md")).contains("Newer."));
    assert!(sandbox.has(&format!("{DIR}/scripts/other.py")));
    assert!(!sandbox.has(&format!("{DIR}/scripts/run.py")), "one of ours that is no more");
    assert_foreign_files_stay(&sandbox);
    sandbox.run(&["sync", "--check"]).ok();
    // A file of ours that the user deleted comes back beside them when that is asked for.
    std::fs::remove_file(sandbox.dir().join(DIR).join("SKILL.md")).expect("removes");
    let run = sandbox.run(&["sync", "--force"]).ok();
    assert!(run.stderr.contains("Restored basics"), "{}", run.stderr);
    assert_foreign_files_stay(&sandbox);
}

#[test]
fn a_skill_that_comes_again_goes_back_to_the_foreign_files_that_stayed_in_its_folder() {
    let sandbox = with_by_products();
    let skills = || {
        let found = std::fs::read_dir(sandbox.ws().join(".claude/skills")).expect("is there");
        found.map(|entry| entry.expect("reads").file_name()).collect::<Vec<_>>()
    };
    for _ in 0..2 {
        sandbox.package(&[]);
        sandbox.run(&["sync"]).ok();
        assert!(!sandbox.has(&format!("{DIR}/SKILL.md")));
        sandbox.package(&[("widget", "1.0.0")]);
        let run = sandbox.run(&["sync"]).ok();
        assert!(run.stderr.contains("Installed basics"), "{}", run.stderr);
        assert_eq!(skills(), ["basics"]);
        assert_foreign_files_stay(&sandbox);
        sandbox.run(&["sync", "--check"]).ok();
    }
    // What the user puts there meanwhile is no less theirs.
    sandbox.package(&[]);
    sandbox.run(&["sync"]).ok();
    sandbox.write(&format!("{DIR}/scripts/run.py"), "mine");
    sandbox.package(&[("widget", "1.0.0")]);
    let run = sandbox.run(&["sync"]).ok();
    assert!(run.stderr.contains("`scripts/run.py` in it is your own"), "{}", run.stderr);
    assert_eq!(sandbox.read(&format!("{DIR}/scripts/run.py")), "mine");
    // A skill of their own in that place is theirs.
    sandbox.write(&format!("{DIR}/SKILL.md"), skill("basics", "Mine."));
    sandbox.run(&["sync", "--force"]).ok();
    assert!(sandbox.read(&format!("{DIR}/SKILL.md")).contains("Mine."));
}

#[test]
fn a_skill_that_is_no_longer_needed_goes_but_for_foreign_files_which_is_told_once() {
    let sandbox = with_by_products();
    sandbox.package(&[]);
    let run = sandbox.run(&["sync"]).ok();
    assert!(run.stderr.contains("Removed basics"), "{}", run.stderr);
    assert!(run.stderr.contains("files in it that are not ours stay"), "{}", run.stderr);
    assert_foreign_files_stay(&sandbox);
    for ours in ["SKILL.md", "scripts/run.py", ".symposium", ".gitignore", ".ignore"] {
        assert!(!sandbox.has(&format!("{DIR}/{ours}")), "{ours}");
    }
    let run = sandbox.run(&["sync"]).ok();
    assert!(!run.stderr.contains("basics"), "{}", run.stderr);
}

#[test]
fn uninstall_takes_a_skill_but_for_foreign_files() {
    let sandbox = with_by_products();
    let run = sandbox.run(&["uninstall"]).ok();
    assert!(run.stderr.contains("Removed basics"), "{}", run.stderr);
    assert_foreign_files_stay(&sandbox);
    assert!(!sandbox.has(&format!("{DIR}/SKILL.md")));
}

#[test]
fn a_file_of_the_users_in_the_place_of_a_new_one_of_ours_is_not_overwritten() {
    let sandbox = with_by_products();
    sandbox.write(&format!("{DIR}/scripts/mine.py"), "mine");
    sandbox.user_plugin("widget/skills/basics/scripts/mine.py", "theirs");
    let run = sandbox.run(&["sync"]).ok();
    assert!(run.stderr.contains("Kept basics"), "{}", run.stderr);
    assert!(run.stderr.contains("`scripts/mine.py`"), "{}", run.stderr);
    assert_eq!(sandbox.read(&format!("{DIR}/scripts/mine.py")), "mine");
    sandbox.run(&["sync", "--force"]).ok();
    assert_eq!(sandbox.read(&format!("{DIR}/scripts/mine.py")), "theirs");
    assert_foreign_files_stay(&sandbox);
}
